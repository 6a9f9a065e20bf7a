"""Objects whose methods misbehave while tracec reads them: never a crash, never a wrong read, and the process goes on."""

import array
import ctypes
import gc
import pickle
from collections import UserDict, UserList, deque

import numpy as np
import pytest

import tracec as tc
from checks import INTEGER_DTYPES, assert_same, stable_id

HOOKS = ("__index__", "__float__", "__bool__", "__array__")


class Emptying:
    """A number that changes the list it lies in when it is read."""

    def __init__(self, items, value=1, change=list.clear):
        self.items, self.value, self.change = items, value, change

    def _read(self):
        self.change(self.items)
        gc.collect()
        return self.value

    def __index__(self):
        return self._read()

    def __float__(self):
        return float(self._read())

    def __array__(self, dtype=None, copy=None):
        return np.array(self._read(), dtype="int64")

    ndim = 0
    dtype = np.dtype("int64")


def grow(items):
    items += [object()] * 1000


def shrink(items):
    del items[1:]


def deepen(items):
    for i in range(len(items)):
        items[i] = [1, [2, 3]]


CHANGES = [list.clear, grow, shrink, deepen]


def a_list(change, count=4, value=1):
    items = []
    items += [Emptying(items, value, change) for _ in range(count)]
    return items


def x23():
    return tc.tensor(np.arange(6, dtype="float32").reshape(2, 3))


READERS = {
    "zeros": lambda items: tc.zeros(items),
    "full": lambda items: tc.full(items, 1),
    "reshape": lambda items: tc.ones((1, 1)).reshape(items),
    "reshape by size": lambda items: tc.ones((1, 1)).reshape(*items),
    "broadcast_to": lambda items: tc.broadcast_to(1.0, items),
    "sum": lambda items: x23().sum(axis=items),
    "max": lambda items: tc.max(x23(), axis=items),
    "mean": lambda items: x23().mean(axis=items),
    "permute": lambda items: tc.permute(x23(), items),
    "transpose": lambda items: x23().transpose(items),
    "squeeze": lambda items: tc.ones((1, 1, 1)).squeeze(items),
    "expand_dims": lambda items: tc.expand_dims(x23(), items),
    "flip": lambda items: tc.flip(x23(), items),
    "moveaxis": lambda items: tc.moveaxis(x23(), items, items),
    "tensor": lambda items: tc.tensor(items),
    "tensor of nests": lambda items: tc.tensor([items, items]),
    "tensor of dtype": lambda items: tc.tensor([items, [1] * len(items)], dtype="float64"),
    "stack": lambda items: tc.tensor([tc.tensor(1.0), *items][:3]),
    "stack of nests": lambda items: tc.tensor([[tc.tensor(1), tc.tensor(2)], items]),
    "index": lambda items: x23()[items],
    "index tuple": lambda items: x23()[items, items],
    "index nest": lambda items: x23()[[items]],
    "slice": lambda items: x23()[items[0]:items[1]],
    "setitem": lambda items: x23().__setitem__(items, 1),
    "assigned": lambda items: x23().__setitem__(0, items),
    "concat": lambda items: tc.concat(items, axis=None),
    "concat of lists": lambda items: tc.concat([items, items]),
    "add": lambda items: x23() + items,
    "compare": lambda items: x23() == items,
    "where": lambda items: tc.where(items, items, items),
    "arange": lambda items: tc.arange(items[0], items[1], items[2]),
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", READERS)
def test_lists_that_change_while_they_are_read(name, change):
    items = a_list(change)
    try:
        READERS[name](items)
    except (TypeError, ValueError, IndexError):
        pass
    gc.collect()
    assert_same(x23() + 1, np.arange(1, 7, dtype="float32").reshape(2, 3))


def test_what_is_read_is_what_the_list_held():
    assert tc.zeros(a_list(list.clear, 3, value=2)).shape == (2, 2, 2)
    assert tc.zeros(a_list(grow, 3, value=2)).shape == (2, 2, 2)
    assert_same(tc.ones((2, 3, 4)).sum(axis=a_list(list.clear, 1)), np.ones((2, 3, 4), "float32").sum(axis=1))
    assert_same(tc.tensor(a_list(list.clear, 3, value=5)), np.int64([5, 5, 5]))


@pytest.mark.parametrize("change", [list.clear, shrink, grow, deepen], ids=lambda change: change.__name__)
def test_inner_lists_that_change_before_they_are_read_again(change):
    """The shape is found in one walk and the values are written in a second one."""
    inner = [1, 2, 3]
    with pytest.raises((ValueError, TypeError)):
        tc.tensor([[Emptying(inner, 1, change), 2, 3], inner])


class Sequence:
    """The duck type: __len__ and __getitem__."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, position):
        return self.items[position]


@pytest.mark.parametrize("kind", [deque, Sequence, UserList, lambda items: array.array("l", items), np.array], ids=stable_id)
def test_sequences_of_all_kinds_count_as_sequences(kind):
    a = np.arange(6.0).reshape(2, 3)
    x = tc.tensor(a)
    assert_same(tc.tensor(kind([1, 2])), np.array([1, 2], dtype=tc.tensor(kind([1, 2])).numpy().dtype))
    assert tc.zeros(kind([2, 3])).shape == (2, 3)
    assert x.reshape(kind([3, 2])).shape == (3, 2)
    assert tc.broadcast_to(1, kind([2, 2])).shape == (2, 2)
    assert_same(x.sum(axis=kind([0, 1])), a.sum())
    assert_same(x.transpose(kind([1, 0])), a.T)
    assert_same(x[kind([1, 0])], a[[1, 0]])
    assert_same(x[:, kind([2, 0])], a[:, [2, 0]])
    x[kind([1])] = kind([7, 8, 9])
    assert_same(x, np.array([[0, 1, 2], [7, 8, 9.0]]))


def test_nested_sequences_of_all_kinds():
    expected = np.int32([[1, 2], [3, 4]])
    for nest in (deque([[1, 2], deque([3, 4])]), Sequence([Sequence([1, 2]), (3, 4)]), [UserList([1, 2]), range(3, 5)]):
        assert_same(tc.tensor(nest), expected)
        assert_same(tc.tensor([[0, 0], [0, 0]]) + nest, expected)
    assert_same(tc.tensor(deque([tc.tensor([1]), tc.tensor([2])])), np.int32([[1], [2]]))
    assert_same(tc.concat(deque([tc.tensor([1]), [2]])), np.int32([1, 2]))


@pytest.mark.parametrize("thing", [{0: 1}, {1, 2}, frozenset([1]), UserDict({0: 1}), {0: 1}.keys(), "ab", b"ab", object(), iter([1]),
                                   (i for i in range(2)), int, type("T", (), {"__class_getitem__": 1})], ids=stable_id)
def test_what_is_no_sequence_stays_a_type_error(thing):
    for read in (tc.tensor, tc.zeros, lambda t: tc.tensor([1]).sum(axis=t), tc.concat, lambda t: tc.tensor([1]) + t, tc.exp):
        with pytest.raises(TypeError, match="TC0102"):
            read(thing)
    with pytest.raises(IndexError, match="TC0103"):
        tc.tensor([1])[thing]


class Liar(Sequence):
    def __init__(self, items, length):
        super().__init__(items)
        self.length = length

    def __len__(self):
        return self.length


@pytest.mark.parametrize("length", [0, 1, 3, 10**6, 2**62])
def test_lengths_that_lie(length):
    for read in (tc.tensor, tc.zeros, lambda t: x23()[t], lambda t: x23().sum(axis=t), lambda t: tc.concat(t, axis=None)):
        with pytest.raises((ValueError, IndexError), match="TC010"):
            read(Liar([1, 0], length))


def test_endless_sequences_and_nests_end():
    class Endless:
        def __len__(self):
            return 2

        def __getitem__(self, position):
            return Endless()

    class EndlessStack:
        calls = 0

        def __len__(self):
            return 2

        def __getitem__(self, position):
            EndlessStack.calls += 1
            if position > 1:
                raise IndexError
            return tc.tensor(1.0) if position == 0 else EndlessStack()

    nest = []
    nest.append(nest)
    for thing in (Endless(), EndlessStack(), nest, [[nest, 1]]):
        for read in (tc.tensor, lambda t: tc.tensor([1]) + t, lambda t: tc.tensor([1])[t], lambda t: tc.concat([t])):
            with pytest.raises((ValueError, IndexError, RecursionError)):
                read(thing)


class Stop(BaseException):
    """Like KeyboardInterrupt, which would end the test run."""


class Raising:
    """Every hook raises an exception of its own."""

    def __init__(self, kind=KeyError):
        self.kind = kind

    def _raise(self, *args, **kwargs):
        raise self.kind("mine")

    __index__ = __float__ = __bool__ = __int__ = __len__ = __iter__ = __getitem__ = __array__ = __str__ = __repr__ = _raise
    __eq__ = __lt__ = __gt__ = __radd__ = _raise
    __hash__ = None


@pytest.mark.parametrize("kind", [KeyError, Stop, MemoryError, ZeroDivisionError])
@pytest.mark.parametrize("name", READERS)
def test_exceptions_of_the_users_objects_pass_through(name, kind):
    with pytest.raises((kind, TypeError, ValueError, IndexError)):
        READERS[name]([Raising(kind), Raising(kind), Raising(kind)])


@pytest.mark.parametrize("kind", [KeyError, Stop])
def test_index_that_raises_is_not_called_a_type_error(kind):
    class Index:
        def __index__(self):
            raise kind("mine")

    for read in (lambda i: tc.zeros((i,)), lambda i: tc.zeros(i), lambda i: x23().sum(axis=i), lambda i: x23()[i],
                 lambda i: x23()[i:], lambda i: x23()[:, ::i], lambda i: x23()[i:, 0], lambda i: tc.arange(i)):
        with pytest.raises(kind, match="mine"):
            read(Index())


class Junk:
    """__array__ and attributes that give what they must not."""

    def __init__(self, gives, **attributes):
        self.gives = gives
        self.__dict__.update(attributes)

    def __array__(self, dtype=None, copy=None):
        return self.gives


@pytest.mark.parametrize("gives", [None, 5, "ab", b"ab", bytearray(b"ab"), [1, 2], np.array(["a"]), np.array([None]), np.zeros(2, "c8")],
                         ids=stable_id)
def test_arrays_that_are_none(gives):
    for attributes in ({}, {"ndim": 0}, {"ndim": 0, "dtype": "float32"}, {"ndim": "x", "dtype": 3}):
        thing = Junk(gives, **attributes)
        for read in (tc.tensor, lambda t: tc.tensor([t]), lambda t: tc.tensor([1.0]) + t, lambda t: tc.exp(t), lambda t: tc.zeros(t)):
            with pytest.raises((TypeError, ValueError)):
                read(thing)
        with pytest.raises((IndexError, TypeError)):
            tc.tensor([1, 2])[thing]


# ---------------------------------------------------------------------------------------------- buffers


CTYPES = {"bool": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double}
CTYPES |= {name: getattr(ctypes, f"c_{name}") for name in INTEGER_DTYPES}


@pytest.mark.parametrize("dtype", CTYPES)
def test_buffers_without_strides_or_shape(dtype):
    """ctypes leaves strides null, and for a single number shape, too."""
    kind = CTYPES[dtype]
    row, table = (kind * 3)(1, 0, 1), ((kind * 3) * 2)((1, 0, 1), (0, 1, 1))
    expected = np.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    for wrap in (lambda b: b, pickle.PickleBuffer, memoryview):
        assert_same(tc.tensor(wrap(row)), expected[0])
        assert_same(tc.tensor(wrap(table)), expected)
        assert_same(tc.tensor(wrap(kind(1))), expected[0, 0])
    assert_same(tc.tensor(row, dtype="float64"), expected[0].astype("float64"))
    assert_same(tc.tensor((kind * 0)()), expected[0, :0])
    assert_same(tc.tensor(((kind * 0) * 2)()), expected[:, :0])
    assert_same(tc.tensor([row, row]), np.array([expected[0]] * 2))
    assert_same(tc.where(table, 1, 2), np.where(expected, 1, 2).astype("int32"))
    if dtype != "bool":
        assert_same(tc.zeros(3, dtype) + row, expected[0])
        assert_same(row + tc.zeros(3, dtype), expected[0])
        assert_same(tc.tensor(table, copy=False), expected)
    x = tc.zeros((2, 3), dtype)
    x[:] = table
    assert_same(x, expected)


def test_buffers_as_indices():
    x = tc.arange(5)
    assert_same(x[(ctypes.c_int64 * 2)(3, 1)], np.int32([3, 1]))
    assert_same(x[(ctypes.c_int8 * 2)(-1, 1)], np.int32([4, 1]))
    assert_same(x[(ctypes.c_uint16 * 2)(0, 1)], np.int32([0, 1]))
    assert_same(x[(ctypes.c_bool * 5)(0, 1, 0, 0, 1)], np.int32([1, 4]))


def test_big_endian_buffers_without_strides():
    table = (ctypes.c_float.__ctype_be__ * 3)(1, 2, 3)
    assert_same(tc.tensor(table), np.float32([1, 2, 3]))


class PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p),
                ("shape", ctypes.POINTER(ctypes.c_ssize_t)), ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
                ("suboffsets", ctypes.POINTER(ctypes.c_ssize_t)), ("internal", ctypes.c_void_p)]


def test_buffers_whose_rows_are_pointers():
    rows = [(ctypes.c_float * 5)(*range(i * 10, i * 10 + 5)) for i in range(3)]
    pointers = (ctypes.c_void_p * 3)(*[ctypes.addressof(row) for row in rows])
    three = lambda a, b: (ctypes.c_ssize_t * 2)(a, b)  # noqa: E731
    info = PyBuffer(ctypes.addressof(pointers), None, 48, 4, 1, 2, b"f", three(3, 4), three(8, 4), three(4, -1), None)
    ctypes.memset(ctypes.byref(info, PyBuffer.obj.offset), 0, 8)  # a null object, not None
    make = ctypes.pythonapi.PyMemoryView_FromBuffer
    make.argtypes, make.restype = [ctypes.POINTER(PyBuffer)], ctypes.py_object
    view = make(info)
    expected = np.float32([[i * 10 + j + 1 for j in range(4)] for i in range(3)])
    assert view.tolist() == expected.tolist()
    assert_same(tc.tensor(view), expected)
    assert_same(tc.ones((3, 4)) + view, expected + 1)
    with pytest.raises(ValueError, match="copy=False"):
        tc.tensor(view, copy=False)


def test_buffers_of_too_many_axes():
    kind = ctypes.c_float
    for _ in range(64):
        kind = kind * 1
    assert tc.tensor(kind()).ndim == 64
    for copy in (True, False):
        with pytest.raises(ValueError, match="65 axes, the limit is 64"):
            tc.tensor((kind * 1)(), copy=copy)


@pytest.mark.parametrize("thing", [(ctypes.c_longdouble * 2)(), (ctypes.c_char * 2)(), (ctypes.c_void_p * 2)(), (ctypes.py_object * 1)(1),
                                   array.array("u", "ab"), np.zeros(2, [("a", "f4")]), np.zeros(2, "c8"), np.zeros(2, "S3"),
                                   np.zeros(2, "M8[s]"), np.zeros(2, "g")], ids=stable_id)
def test_formats_that_have_no_dtype(thing):
    for read in (tc.tensor, lambda t: tc.tensor([1.0, 2.0]) + t, lambda t: tc.tensor(t, copy=False)):
        with pytest.raises((TypeError, ValueError), match="TC010"):
            read(thing)
    with pytest.raises((IndexError, TypeError), match="TC010"):
        tc.tensor([1, 2])[thing]


def test_released_buffers():
    view = memoryview(array.array("f", [1, 2]))
    view.release()
    for read in (tc.tensor, lambda t: tc.tensor([1.0, 2.0]) + t):
        with pytest.raises((TypeError, ValueError)):
            read(view)


def test_damaged_pickles():
    for state in ((b"", "float32", (2**32, 2**32), None, 0), (b"", "float32", (-1,), None, 0), (b"1234", "nosuch", (1,), None, 0),
                  (b"12", "float32", (1,), None, 0), (b"1234", "float32", (1,) * 65, None, 0), (b"", "float32", (0, 2**63 - 1, 8), None, 0),
                  (b"1234", "float32", ("a",), None, 0), (b"1234", "float32", (Raising(),), None, 0)):
        with pytest.raises((ValueError, TypeError, KeyError)):
            tc._rebuild(*state)


@pytest.mark.parametrize("spec", [[0], None, b".3f", 5, Raising()], ids=lambda spec: type(spec).__name__)
def test_formats_that_are_no_text(spec):
    for x in (tc.tensor(1.5), tc.ones(3)):
        with pytest.raises(TypeError, match="TC0102"):
            x.__format__(spec)
