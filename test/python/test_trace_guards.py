"""Decisions that hang on sizes: no replay and no file may take another way than eager; it may refuse.

Each function is recorded with one set of sizes, counts and strides and then called with others: replayed at both levels
of optimisation, and from its file in every section this machine can run. Every call gives eager's bits, or an error
and nothing is written.
"""

import numpy as np
import pytest

import tracec as tc
from paths import level_of

SECTIONS = tc.stats.runnable_sections()


def array(*shape, dtype="float32"):
    return (np.arange(np.prod(shape, dtype=int)) % 7 + 1).reshape(shape).astype(dtype)


def write_flat_slice(x):
    y = x[..., :3].reshape(-1)
    y *= 2
    return x.sum()


def write_flat_slice_of_result(x):
    w = x * 2
    w[:, :4].reshape(-1)[:] = 0
    return w.sum(axis=0)


def write_bounded(x, k):
    w = x[:, :k].reshape(-1)
    w += 100
    return x.sum(), w


def write_steps(x):
    w = x[:, ::2].reshape(-1)
    w += 1
    return x + 0, w


def write_transposed(x):
    w = x.T.reshape(-1)
    w += 1
    return x + 0, w + 0


def write_base_read_view(x):
    w = (x + 0)[:, :2]
    base = x * 1
    view = base[:, :2].reshape(-1)
    base[0] = 9
    return view + 0, w


def write_view_of_view(x):
    w = x[:, :3].reshape(-1)[1:]
    w += 1
    return x + 0, w + 0


def write_flat_count(x):
    kept = x[x > 2]
    z = kept.reshape(1, -1)[:, :2].reshape(-1)
    z += 50
    return kept + 0, z + 0


def read_flat_slice(x):
    """Nobody writes: a view or a copy is all the same, and no size is refused."""
    return x[..., :3].reshape(-1) * 2


def write_after_view_died(x):
    total = (x[..., :3].reshape(-1) * 2).sum()
    x[0] = total
    return x + 0


def squeeze_first(x):
    return x.squeeze(axis=0) * 2


def squeeze_all(x):
    return x.squeeze() * 2


def squeeze_hits(x):
    return x[x > 2].squeeze()


def squeeze_mask(x, m):
    return x[m].squeeze() * 2


def subtract(x, y):
    x -= y
    return x + 0


def add_hits(x):
    x += x[x > 2]
    return x + 0


def store_size(x):
    x[0] = x.shape[0]
    return x + 0


def add_size(x, y):
    return y + x.shape[0] * x.shape[0] * 100000


def store_count(x, y):
    y[0] = x[x > 2].shape[0]
    return y + 0


def read_shape(x):
    rows, columns = x.shape
    return x * columns + rows


X = array
# function, recorded arguments, arguments of later calls, and whether each must work (True), be refused
# (False) or is an error of eager itself ("error") - in a file.
CASES = [
    (write_flat_slice, [X(2, 2, 3)], [([X(2, 2, 4)], False), ([X(3, 5, 3)], True), ([X(0, 5, 3)], True), ([X(1, 5, 4)], False), ([X(1, 1, 4)], True)]),
    (write_flat_slice, [X(2, 2, 4)], [([X(2, 2, 3)], False), ([X(3, 5, 9)], True), ([X(3, 5, 2)], False), ([X(1, 1, 9)], False)]),
    (write_flat_slice_of_result, [X(2, 4)], [([X(2, 5)], False), ([X(3, 4)], True), ([X(3, 2)], True), ([X(1, 9)], True)]),
    (write_bounded, [X(4, 3), np.int32(3)], [([X(4, 3), np.int32(2)], False), ([X(4, 3), np.int32(7)], True), ([X(1, 3), np.int32(2)], True), ([X(4, 3), np.int32(0)], None)]),
    (write_bounded, [X(4, 3), np.int64(2)], [([X(4, 3), np.int64(3)], False), ([X(4, 4), np.int64(3)], True)]),
    (write_steps, [X(3, 4)], [([X(3, 1)], True), ([X(3, 5)], False), ([X(3, 6)], True), ([X(1, 5)], True), ([X(0, 6)], True)]),
    (write_steps, [X(3, 5)], [([X(3, 4)], False), ([X(3, 7)], True), ([X(3, 1)], False), ([X(1, 5)], False)]),
    (write_transposed, [X(2, 3)], [([X(1, 3)], False), ([X(3, 1)], False), ([X(4, 5)], True), ([X(0, 5)], None)]),
    (write_base_read_view, [X(3, 4)], [([X(3, 2)], False), ([X(3, 5)], True), ([X(1, 5)], False)]),
    (write_base_read_view, [X(3, 2)], [([X(3, 3)], False), ([X(5, 2)], True), ([X(4, 1)], None)]),
    (write_view_of_view, [X(3, 3)], [([X(3, 4)], False), ([X(2, 3)], True), ([X(2, 2)], True)]),
    (write_flat_count, [X(3, 3)], [([X(1, 3)], None), ([X(7, 3)], True), ([X(1, 4)], None)]),
    (read_flat_slice, [X(2, 2, 3)], [([X(2, 2, 4)], True), ([X(1, 1, 4)], True), ([X(0, 2, 4)], True)]),
    (write_after_view_died, [X(2, 2, 3)], [([X(2, 2, 4)], True), ([X(3, 5, 2)], True)]),
    (squeeze_first, [X(1, 3)], [([X(4, 3)], "error"), ([X(1, 5)], True), ([X(0, 3)], "error")]),
    (squeeze_all, [X(3, 2)], [([X(1, 2)], False), ([X(3, 1)], False), ([X(5, 4)], True), ([X(0, 2)], True)]),
    (squeeze_all, [X(1, 2)], [([X(3, 2)], False), ([X(1, 5)], True)]),
    (squeeze_hits, [X(3)], [([X(2)], False), ([X(5)], False), ([X(9)[4:]], None)]),
    (squeeze_hits, [X(4)], [([X(3)], False), ([X(6)], True), ([X(2)], True)]),
    (squeeze_mask, [X(3, 2), np.array([True, True, False])], [([X(3, 2), np.array([False, True, False])], False), ([X(4, 3), np.array([True] * 4)], True), ([X(3, 2), np.zeros(3, bool)], True)]),
    (squeeze_mask, [X(3, 2), np.array([False, True, False])], [([X(3, 2), np.array([True, True, False])], False), ([X(4, 3), np.array([True] + [False] * 3)], True)]),
    (subtract, [X(4), X(4)], [([X(1), X(4)], "error"), ([X(4), X(1)], True), ([X(1), X(1)], True), ([X(0), X(1)], True), ([X(1), X(0)], "error")]),
    (subtract, [X(3, 4), X(4)], [([X(1, 4), X(4)], True), ([X(3, 1), X(4)], "error")]),
    (add_hits, [X(5)[2:]], [([X(5)], "error"), ([X(3)], True), ([X(2)], "error")]),
    (add_hits, [X(3)], [([X(5)[2:]], True), ([X(2)[:1]], "error")]),
    (store_size, [X(2, dtype="uint8")], [([X(255, dtype="uint8")], True), ([X(256, dtype="uint8")], "error"), ([X(1, dtype="uint8")], True)]),
    (add_size, [X(3), X(2, dtype="int32")], [([X(100), X(2, dtype="int32")], True), ([X(200), X(2, dtype="int32")], "error")]),
    (store_count, [X(3), X(2, dtype="uint8")], [([X(2), X(3, dtype="uint8")], True), ([X(400), X(3, dtype="uint8")], "error"), ([X(250), X(1, dtype="uint8")], True)]),
    (read_shape, [X(3, 2)], [([X(5, 4)], True), ([X(1, 4)], None), ([X(0, 4)], True)]),
    (read_shape, [X(1, 2)], [([X(5, 2)], False), ([X(1, 4)], True)]),
]
IDS = [f"{function.__name__}-{'-'.join(str(np.shape(a)) for a in recorded)}" for function, recorded, _ in CASES]


def tensors(arrays):
    return [tc.tensor(np.array(one)) for one in arrays]


def outcome(function, arguments):
    """Results and what became of the arguments, or the error's type and first line."""
    try:
        results = function(*arguments)
    except Exception as error:
        return type(error), str(error).splitlines()[0].split(" (at ")[0], [one.numpy().copy() for one in arguments]
    results = results if isinstance(results, tuple) else (results,)
    return [one.numpy().copy() for one in results], None, [one.numpy().copy() for one in arguments]


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def all_same(left, right):
    return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right))


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("function, recorded, later", CASES, ids=IDS)
@pytest.mark.parametrize("section", SECTIONS)
def test_replay_is_eager_or_refused(function, recorded, later, opt_level, section):
    with tc.options(section=section):
        check_replays(function, recorded, [recorded, recorded, *(case[0] for case in later)], opt_level, section)


def check_replays(function, recorded, calls, opt_level, section):
    for number, arguments in enumerate(calls):
        traced = tc.trace(function, opt_level=opt_level)
        traced(*tensors(recorded))
        before = tensors(arguments)
        want = outcome(function, tensors(arguments))
        got = outcome(traced, before)
        runs = set(traced.stats().runs_by_section)
        assert runs <= {level_of(section)} and (runs or number > 1), f"on {section} the runs were {runs}"
        if got[0] is tc.TraceError:
            assert arguments is not recorded, f"the same data again: {got[1]}"
            assert all_same(got[2], [np.array(one) for one in arguments]), "a refused call has written"
            continue
        if want[1] is not None:
            assert got[:2] == want[:2]
            continue
        assert got[1] is None, got
        assert all_same(got[0], want[0]) and all_same(got[2], want[2])


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("function, recorded, later", CASES, ids=IDS)
def test_file_is_eager_or_refused(function, recorded, later, opt_level, tmp_path):
    traced = tc.trace(function, opt_level=opt_level)
    traced(*tensors(recorded))
    path = tmp_path / "guards.trc"
    names = list(function.__code__.co_varnames[: function.__code__.co_argcount])
    dynamic = {name: {axis: tc.dim(f"{name}{axis}") for axis in range(np.ndim(one))}
               for name, one in zip(names, recorded) if np.ndim(one)}
    traced.dump(path, dynamic=dynamic)
    for section in SECTIONS:
        model = tc.load(path, section=section)
        for arguments, works in [(recorded, True), *later]:
            want = outcome(function, tensors(arguments))
            inputs = tensors(arguments)
            try:
                got = model(*inputs)
            except ValueError as error:
                assert works is not True, f"refused: {error}"
                assert want[1] is None or type(error) is want[0]
                continue
            except OverflowError as error:
                assert works == "error" and want[0] is OverflowError and str(error).startswith(want[1])
                continue
            assert works is not False, "a guard of the file must refuse this call"
            assert want[1] is None, f"eager raised {want[1]}"
            got = [one.numpy() for one in (got if isinstance(got, tuple) else (got,))]
            # Written arguments follow the results.
            assert all_same(got[: len(want[0])], want[0])
            written = [after for before, after in zip(arguments, want[2]) if not same(np.array(before), after)]
            assert all(any(same(one, other) for other in got[len(want[0]):]) for one in written)
        assert model.stats().section == level_of(section)


def strided(arrays):
    """The same values, the axes of each in reverse order in memory; of rank 1 every second element."""
    made = []
    for one in map(np.array, arrays):
        if one.ndim == 1:
            made.append(tc.tensor(np.repeat(one, 2))[::2])
        else:
            made.append(tc.tensor(np.ascontiguousarray(one.T)).T if one.ndim else tc.tensor(one))
    return made


@pytest.mark.parametrize("function, recorded, later", CASES, ids=IDS)
def test_strided_arguments_of_a_file_are_eager_or_refused(function, recorded, later, tmp_path):
    traced = tc.trace(function)
    traced(*tensors(recorded))
    traced.dump(tmp_path / "strided.trc")
    for section in SECTIONS:
        model = tc.load(tmp_path / "strided.trc", section=section)
        assert model(*tensors(recorded)) is not None and model.stats().section == level_of(section)
        for arguments in [recorded, *(case[0] for case in later)]:
            want = outcome(function, strided(arguments))
            try:
                got = model(*strided(arguments))
            except (ValueError, OverflowError):
                # By a guard, by the door, or as eager.
                continue
            assert want[1] is None, f"eager raised {want[1]}"
            got = [one.numpy() for one in (got if isinstance(got, tuple) else (got,))]
            assert all_same(got[: len(want[0])], want[0])


def bounded_after_a_read_size(x, mask, bound):
    """The guard of the last reshape reads the chain of views from before the read."""
    part = x.reshape(-1)[1:]
    kept = tc.logical_not(mask)
    total = x + int(kept.shape[0])
    flat = part[:bound].reshape(-1)
    x[kept, 0] = bound
    return flat, total


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("dtype", ["int8", "uint64", "bfloat16", "float32"])
def test_a_guard_reads_what_a_segment_before_it_computed(dtype, section):
    def made(rows, bound):
        mask = np.arange(rows) % 2 == 1
        return tc.tensor(np.arange(rows * 3).reshape(rows, 3), dtype=dtype), tc.tensor(mask), tc.tensor(bound, dtype="int64")

    function = tc.trace(bounded_after_a_read_size)
    finished = 0
    with tc.options(section=section):
        for rows, bound in [(5, 2), (5, 2), (5, 4), (3, 1), (8, 0), (1, 2), (0, 1), (5, 2)]:
            mine, eager = made(rows, bound), made(rows, bound)
            expected = bounded_after_a_read_size(*eager)
            before = mine[0].tolist()
            try:
                got = function(*mine)
            except tc.TraceError:
                # The number of rows became a constant: another one is another trace, or is refused.
                assert mine[0].tolist() == before
                continue
            finished += 1
            for one, other in zip((*got, mine[0]), (*expected, eager[0])):
                assert one.tolist() == other.tolist() and one.dtype == other.dtype
    assert finished >= 4 and function.stats().replays >= 2
    assert section == "auto" or sum(function.stats().runs_by_section.values()) >= 2


def test_refused_reshape_names_both_lines():
    def body(x, k):
        w = x[:, :k].reshape(-1)
        w += 1
        return x.sum()

    traced = tc.trace(body)
    traced(tc.zeros((4, 3)), tc.tensor(3))
    with pytest.raises(tc.TraceError, match=r"TC0212 .*reshape of shape \(4, 2\) to \(8,\) is a copy and was a view"):
        traced(tc.zeros((4, 3)), tc.tensor(2))


def test_mismatch_behind_a_reshape_tells_of_the_reshape():
    def body(x):
        x[:, :2].reshape(-1)[:] = 0
        return x.sum()

    traced = tc.trace(body)
    traced(tc.ones((3, 2)))
    with pytest.raises(tc.TraceError, match="reshape at .* is now a copy and was a view"):
        traced(tc.ones((3, 4)))


def test_copy_of_a_tensor_that_was_written_through_a_reshape():
    state = tc.ones((3, 2))

    def body():
        before = state.copy()
        state.reshape(-1)[0] = 7
        return before

    traced = tc.trace(body)
    assert traced().tolist() == [[1, 1]] * 3
    for _ in range(3):
        assert traced().tolist() == [[7, 1], [1, 1], [1, 1]]
    other = tc.trace(lambda x: x.copy() + 1)
    for _ in range(3):
        assert other(state).tolist() == [[8, 2], [2, 2], [2, 2]]


CONSTANTS = [
    (lambda x, n: x * 2 if n else x - 1, 1, 0, "recorded 'mul', now 'sub'"),
    (lambda x, n: x * n.value, 1e-9, 2e-9, r"was 1e-09 \(float\) and is 2e-09 \(float\)"),
    (lambda x, n: x * n.value, 1, True, r"was 1 \(int\) and is True"),
    (lambda x, n: x * n.value, np.array([1, 2], "float32"), np.array([1, 3], "float32"), r"float32\[2\] with 2 at \[1\] and has 3 there"),
    (lambda x, n: x * n.value, np.array([[1, 2]]), np.array([[5, 2]]), r"with 1 at \[0, 0\] and has 5 there"),
    (lambda x, n: x * n.value, np.array([1.0, 2]), np.array([1, 2]), r"was an array float64\[2\] and is an array int64\[2\]"),
]


class Box:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return bool(self.value)


@pytest.mark.parametrize("body, then, now, message", CONSTANTS)
def test_messages_say_what_differs(body, then, now, message):
    box = Box(then)
    traced = tc.trace(lambda x: body(x, box))
    traced(tc.ones((1, 2)))
    box.value = now
    with pytest.raises(tc.TraceError, match=message):
        traced(tc.ones((1, 2)))
    box.value = then
    traced(tc.ones((1, 2)))
