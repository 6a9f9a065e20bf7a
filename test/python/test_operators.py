"""Operators with what is no tensor: masks, foreign objects, complex numbers, NumPy's ufuncs; and that each error has a code and a cure."""

import collections
import decimal
import fractions
import operator
import re
from unittest import mock

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, stable_id

MASKS = [np.array([True, True, False, False]), np.array([True, False, True, False])]
LOGICAL = [operator.and_, operator.or_, operator.xor]
IN_PLACE = [operator.iand, operator.ior, operator.ixor]


def check_message(error, *words):
    """A code, the line of this file, each word, and a second line with a cure."""
    first, second = str(error).split("\n", 1)
    assert re.match(r"TC0\d{3} ", first) and "test_operators.py:" in first, first
    for word in words:
        assert word in str(error), (word, str(error))
    assert re.search(r"\b(use|write|pass|convert|compare|give|key|add|check|import|format)\b", second), second


# ---------------------------------------------------------------------------------------------- masks


@pytest.mark.parametrize("apply", LOGICAL)
def test_masks_combine(apply):
    a, b = MASKS
    x, y = tc.tensor(a), tc.tensor(b)
    for left, right in ((x, y), (x, b), (b, x), (x, b.tolist()), (b.tolist(), x), (x, True), (False, x), (x, np.True_), (np.False_, x)):
        expected = apply(np.asarray(left), np.asarray(right))
        result = apply(left, right)
        assert type(result) is tc.Tensor
        assert_same(result, expected)
    assert_same(apply(tc.tensor(a).reshape(2, 2), tc.tensor(b[:2])), apply(a.reshape(2, 2), b[:2]))
    assert_same(~x, ~a)
    with pytest.raises(ValueError, match="TC0101"):
        apply(x, tc.tensor([True, False, True]))


@pytest.mark.parametrize("apply", IN_PLACE)
def test_masks_combine_in_place(apply):
    a, b = MASKS
    for right in (tc.tensor(b), b, b.tolist(), True, np.True_):
        base = tc.tensor(a)
        x = view = base[1:] if not isinstance(right, (bool, np.bool_)) else base[:]
        right = right[1:] if x.shape[0] == 3 else right
        expected = a.copy()
        part = expected[1:] if x.shape[0] == 3 else expected[:]
        apply(part, np.asarray(right))
        x = apply(x, right)
        assert x is view
        assert_same(base, expected)
    with pytest.raises(ValueError, match="shape"):
        apply(tc.tensor(True), tc.tensor(b))


@pytest.mark.parametrize("apply", LOGICAL + IN_PLACE)
@pytest.mark.parametrize("pair", [("int32", "int32"), ("bool", "int32"), ("uint8", "bool"), ("float32", "bool"), ("bool", "float64")])
def test_integers_and_floats_have_no_bitwise_operators_yet(apply, pair):
    left, right = (tc.ones(3, dtype) for dtype in pair)
    with pytest.raises(TypeError) as caught:
        apply(left, right)
    check_message(caught.value, "logical_and")
    with pytest.raises(TypeError) as caught:
        apply(left, 3)
    check_message(caught.value, "logical_and")
    assert_same(left, np.ones(3, pair[0]))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32"])
def test_only_masks_invert(dtype):
    with pytest.raises(TypeError) as caught:
        ~tc.ones(3, dtype)
    check_message(caught.value, "logical_not", dtype)


def test_masks_combine_in_traces_and_files(tmp_path):
    @tc.trace
    def pick(x, y):
        inside = (x > 0) & ~(y > 2) | (x == -1) ^ (y == 0)
        inside &= x < 9
        return x[inside] * 2, inside

    calls = [([-1.0, 1, 2, 10], [0.0, 1, 3, 1]), ([1.0, 2, 3, 4], [9.0, 9, 9, 9]), ([5.0, -1], [1.0, 0])]
    expected = []
    for x, y in calls:
        x, y = np.float32(x), np.float32(y)
        inside = ((x > 0) & ~(y > 2) | (x == -1) ^ (y == 0)) & (x < 9)
        expected.append((x[inside] * 2, inside))
        for _ in range(2):
            for got, want in zip(pick(tc.tensor(x), tc.tensor(y)), expected[-1]):
                assert_same(got, want)
    assert pick.state == "compiled"
    path = str(tmp_path / "pick.trc")
    pick.dump(path, dynamic={"x": {0: tc.dim("n")}, "y": {0: tc.dim("n")}})
    for section in tc.stats.runnable_sections():
        model = tc.load(path, section=section)
        for (x, y), want in zip(calls, expected):
            for got, part in zip(model(np.float32(x), np.float32(y)), want):
                assert_same(got, part)


# ---------------------------------------------------------------------------------------------- foreign operands

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.matmul, operator.and_, operator.or_, operator.xor]
MISSING = [operator.floordiv, operator.mod, operator.pow, operator.lshift, operator.rshift, divmod]
ORDERS = [operator.lt, operator.le, operator.gt, operator.ge]
FOREIGN = [None, "a", b"a", 1j, {}, {1}, object(), fractions.Fraction(1, 2), decimal.Decimal(1), int, len, np.str_("a"), ...]


@pytest.mark.parametrize("foreign", FOREIGN, ids=stable_id)
@pytest.mark.parametrize("apply", ARITHMETIC + ORDERS, ids=lambda apply: apply.__name__)
def test_foreign_operands(apply, foreign):
    x = tc.ones(3)
    for left, right in ((x, foreign), (foreign, x)):
        if apply is operator.mul and isinstance(foreign, (str, bytes)):
            continue
        with pytest.raises(TypeError) as caught:
            apply(left, right)
        check_message(caught.value, type(foreign).__name__)


@pytest.mark.parametrize("apply", [operator.iadd, operator.isub, operator.itruediv, operator.iand], ids=lambda apply: apply.__name__)
def test_foreign_operands_in_place(apply):
    for foreign in FOREIGN:
        with pytest.raises(TypeError) as caught:
            apply(tc.ones(3), foreign)
        check_message(caught.value, type(foreign).__name__)


@pytest.mark.parametrize("apply", MISSING, ids=lambda apply: apply.__name__)
def test_operators_that_do_not_exist(apply):
    for left, right in ((tc.ones(3), 2), (2, tc.ones(3)), (tc.ones(3), tc.ones(3)), (np.ones(3), tc.ones(3)), (tc.ones(3), None)):
        with pytest.raises(TypeError) as caught:
            apply(left, right)
        check_message(caught.value)
    with pytest.raises(TypeError) as caught:
        abs(tc.ones(3))
    check_message(caught.value, "maximum")


def test_a_rank_0_integer_repeats_text():
    assert "ab" * tc.tensor(2) == "abab" and tc.tensor(2) * b"ab" == b"abab"
    for bad in (tc.ones(2), tc.tensor(1.5), tc.tensor([2, 3])):
        with pytest.raises(TypeError, match="TC0102"):
            "ab" * bad


class Own:
    """Answers each operator by itself."""

    def answer(self, other):
        return "mine"

    __add__ = __radd__ = __mul__ = __rmul__ = __rsub__ = __rmatmul__ = __rand__ = __rfloordiv__ = __eq__ = __lt__ = __gt__ = answer
    __hash__ = None


class Declines:
    def answer(self, other):
        return NotImplemented

    __add__ = __radd__ = __eq__ = __ne__ = __lt__ = __gt__ = answer
    __hash__ = None


class Fails:
    def answer(self, other):
        raise KeyError("mine")

    __radd__ = __eq__ = __gt__ = answer
    __hash__ = None


def test_foreign_types_with_operators_of_their_own():
    x = tc.ones(2)
    for apply in (operator.add, operator.sub, operator.mul, operator.matmul, operator.and_, operator.floordiv, operator.eq, operator.lt):
        assert apply(x, Own()) == "mine"
    assert Own() + x == "mine" and (Own() == x) == "mine"
    x += Own()
    assert x == "mine"
    x = tc.ones(2)
    for apply in (operator.add, operator.lt):
        with pytest.raises(TypeError, match="TC0102.*Declines"):
            apply(x, Declines())
    assert_same(x == Declines(), np.array([False, False]))
    assert_same(x != Declines(), np.array([True, True]))
    for apply in (operator.add, operator.eq, operator.lt):
        with pytest.raises(KeyError, match="mine"):
            apply(x, Fails())


# ---------------------------------------------------------------------------------------------- equality


class Colour:
    pass


@pytest.mark.parametrize("foreign", [None, "a", b"a", np.str_("a"), {}, set(), Colour(), Colour, ..., len, 1j, 2 + 1j, complex("nan+1j")], ids=stable_id)
def test_nothing_equals_what_is_no_number(foreign):
    """As in NumPy: elementwise, never one bool."""
    for a in (np.float32([1, 2]), np.int32([[1], [2]]), np.array([True]), np.zeros((0, 2)), np.float64(1)):
        x = tc.tensor(a)
        no, yes = np.zeros(a.shape, bool), np.ones(a.shape, bool)
        for got, want in ((x == foreign, no), (foreign == x, no), (x != foreign, yes), (foreign != x, yes)):
            assert type(got) is tc.Tensor, foreign
            assert_same(got, want)
    assert foreign not in tc.ones(3)


def test_complex_numbers_on_the_real_axis():
    for a in (np.float32([1, 2, np.nan]), np.int32([1, 2, 3]), np.array([True, False, True])):
        for number in (1 + 0j, 2 + 0j, 0j, complex(float("nan"), 0), complex(float("inf"), 0)):
            assert_same(tc.tensor(a) == number, a == number)
            assert_same(number != tc.tensor(a), a != number)


def test_numbers_that_are_no_python_numbers():
    """Fractions and decimals may equal an element, so they must be converted."""
    for number in (fractions.Fraction(1, 2), decimal.Decimal("0.5")):
        for apply in (operator.eq, operator.ne):
            with pytest.raises(TypeError) as caught:
                apply(tc.tensor([0.5]), number)
            check_message(caught.value, "compare")
    assert_same(tc.tensor([0.5]) == float(fractions.Fraction(1, 2)), np.array([True]))


def test_a_matcher_still_matches():
    assert (tc.ones(2) == mock.ANY) is True and (mock.ANY == tc.ones(2)) is True


@pytest.mark.parametrize("mode", ["a", None, 1.0, 1 + 0j, 1 + 1j])
def test_equality_in_traces(mode, tmp_path):
    """The answer has the size of the call, in replays and in files, too."""
    @tc.trace
    def function(x):
        return (x == mode) | (x == None), x != "b"  # noqa: E711

    function(tc.ones(3))
    function.dump(tmp_path / "f.trc", dynamic={"x": {0: tc.dim("n")}})
    model = tc.load(tmp_path / "f.trc")
    for size in (3, 3, 5, 2):
        x = np.arange(size, dtype="float32")
        for call in (function, model):
            first, second = call(tc.tensor(x))
            assert_same(first, x == (np.nan if mode is None or mode == "a" else mode))
            assert_same(second, np.ones(size, bool))


# ---------------------------------------------------------------------------------------------- NumPy


@pytest.mark.parametrize("ufunc, words", [(np.sin, ["np.sin", "numpy()"]), (np.exp, ["np.exp", "tc.exp"]), (np.tanh, ["tc.tanh"]), (np.negative, ["np.negative"]),
                                          (np.square, ["tc.square"]), (np.logical_not, ["tc.logical_not"]), (np.isnan, ["np.isnan"])])
def test_ufuncs_name_the_function_to_use(ufunc, words):
    with pytest.raises(TypeError) as caught:
        ufunc(tc.ones(3))
    check_message(caught.value, *words)


def test_ufuncs_of_two_operands():
    for ufunc, words in ((np.maximum, ["tc.maximum"]), (np.logical_and, ["tc.logical_and"]), (np.arctan2, ["np.arctan2"])):
        for pair in ((tc.ones(3), np.ones(3)), (np.ones(3), tc.ones(3))):
            with pytest.raises(TypeError) as caught:
                ufunc(*pair)
            check_message(caught.value, *words)
    for call in (lambda: np.add.reduce(tc.ones(3)), lambda: np.add.outer(tc.ones(3), np.ones(3)), lambda: np.add.at(np.ones(3), [0], tc.ones(1)),
                 lambda: np.add(np.ones(3), tc.ones(3), out=np.ones(3)), lambda: np.add(np.ones(3), tc.ones(3), where=False),
                 lambda: np.modf(tc.ones(3)), lambda: np.exp(np.ones(3), out=tc.ones(3))):
        with pytest.raises(TypeError) as caught:
            call()
        check_message(caught.value, "np.")


@pytest.mark.parametrize("apply", [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv, operator.ipow, operator.iand],
                         ids=lambda apply: apply.__name__)
def test_arrays_do_not_take_tensors_in_place(apply):
    array = np.ones(3) if apply is not operator.iand else np.ones(3, bool)
    kept = array.copy()
    with pytest.raises(TypeError) as caught:
        apply(array, tc.tensor(array))
    check_message(caught.value, "numpy()")
    assert np.array_equal(array, kept)


@pytest.mark.parametrize("apply", [operator.add, operator.sub, operator.mul, operator.truediv, operator.eq, operator.ne, *ORDERS], ids=lambda apply: apply.__name__)
def test_arrays_and_numpy_scalars_meet_tensors(apply):
    a, b = np.array([1.0, 2, 3]), np.array([3.0, 2, 1])
    x = tc.tensor(b)
    for left in (a, np.float64(2), np.array(2.0)):
        for pair in ((left, x), (x, left)):
            result = apply(*pair)
            assert type(result) is tc.Tensor
            assert_same(result, apply(*(np.asarray(side) for side in pair)))
    assert_same(np.ones((2, 3)) @ x, np.ones((2, 3)) @ b)
    assert_same(np.add(a, x), a + b)


def test_a_ufunc_hook_called_by_hand():
    x = tc.ones(2)
    for arguments in ((), (np.add,), (np.add, "__call__"), (None, None, None), ("a", "b", "c", "d"), (np.add, "__call__", x, x, x, x)):
        with pytest.raises((TypeError, ValueError, AttributeError)):
            x.__array_ufunc__(*arguments)


# ---------------------------------------------------------------------------------------------- other messages


def test_tensors_have_no_hash():
    for use in (hash, lambda x: {x}, lambda x: {x: 1}):
        with pytest.raises(TypeError) as caught:
            use(tc.ones(2))
        check_message(caught.value, "hash")
    assert not isinstance(tc.ones(2), collections.abc.Hashable) and tc.Tensor.__hash__ is None


def test_unknown_options():
    for keywords in ({"foo": 1}, {"section": "portable", "thread": 2}):
        with pytest.raises(ValueError, match=r"TC0101.*(foo|thread).*section.*threads"):
            tc.options(**keywords)


WRONG_CALLS = [
    (lambda: tc.add(1), ["add()", "2", "1"]),
    (lambda: tc.where(1, 2), ["where()"]),
    (lambda: tc.zeros(), ["zeros()", "shape"]),
    (lambda: tc.zeros(1, 2, 3), ["zeros()", "at most 2"]),
    (lambda: tc.sum(1, axes=0), ["sum()", "axes"]),
    (lambda: tc.sum(1, x=1), ["sum()", "two values"]),
    (lambda: tc.ones(3).squeeze(0, 1), ["squeeze()"]),
    (lambda: tc.ones(3).expand_dims(), ["expand_dims()"]),
    (lambda: tc.ones(3).flip(axes=0), ["flip()", "axes"]),
    (lambda: tc.concat(5), ["concat()", "int"]),
    (lambda: tc.ones("a"), ["str"]),
]


@pytest.mark.parametrize("call, words", WRONG_CALLS, ids=range(len(WRONG_CALLS)))
def test_wrong_calls_are_not_told_to_convert(call, words):
    with pytest.raises(TypeError) as caught:
        call()
    check_message(caught.value, *words)
    assert "astype" not in str(caught.value)


@pytest.mark.parametrize("name", ["bad\udcff.py", "caf\u00e9.py", "a\nb.py", "<x (op #3 at y:1)>"])
def test_files_with_odd_names(name):
    code = compile("def f(x): return x + None", "x.py", "exec").replace(co_filename=name)
    scope = {}
    exec(code, scope)
    function = scope["f"]
    function.__code__ = function.__code__.replace(co_filename=name)
    for _ in range(2):
        with pytest.raises(TypeError, match="TC0102"):
            function(tc.ones(1))
    traced = tc.trace(lambda x: function(x) if x.ndim == 5 else x + 1)
    assert_same(traced(tc.ones(1)), np.float32([2]))


def test_names_with_odd_characters():
    with pytest.raises(TypeError, match="TC0102"):
        tc.sum(1, **{"a\udcff": 1})
    with pytest.raises((TypeError, ValueError), match="TC010"):
        tc.zeros(1, dtype="\udcff")
    with pytest.raises(TypeError, match="TC0102"):
        tc.ones(1) + type("A\udcff".encode("utf-8", "surrogatepass").decode("latin-1"), (), {})()
