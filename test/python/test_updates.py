"""Sets that combine elements with a value (`x.incr`, `tc.incr_subtensor`) against a Python loop in index order."""

import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, assert_same, dtype_object
from paths import really_on

SECTIONS = tc.stats.runnable_sections()

INDICES = {
    "repeats": lambda n: np.arange(3 * n) % max(n, 1) if n else np.zeros(0, int),
    "negative": lambda n: -1 - np.arange(n),
    "slice": lambda n: slice(None, None, -2),
    "mask": lambda n: np.arange(n) % 3 == 0,
    "list": lambda n: [0, 0, -1] if n else [],
    "new axis": lambda n: (np.arange(n), None),
    "everything": lambda n: Ellipsis,
}


def added_in_order(x, index, value):
    """One element after the other, as the semantics say it."""
    positions = np.arange(x.size).reshape(x.shape)[index]
    values = np.broadcast_to(value, positions.shape)
    flat = x.copy().reshape(-1)
    with np.errstate(all="ignore"):
        for position, one in zip(positions.ravel(), values.ravel()):
            flat[position] = np.add(flat[position], one, dtype=x.dtype)
    return flat.reshape(x.shape)


def example(dtype, *shape):
    values = np.resize([1, 0, 3, 100, 7, 90, 2], shape) if shape else np.array(5)
    return values.astype(dtype_object(dtype))


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_adds_once_per_occurrence(dtype, index):
    for shape in ((6,), (1,), (0,), (5, 3), (4, 0)):
        x = example(dtype, *shape)
        at = INDICES[index](shape[0])
        expected = added_in_order(x, at, x[at][::-1])
        value = tc.tensor(x[at][::-1].copy())
        t = tc.tensor(x)
        assert_same(tc.incr_subtensor(t, at, value), expected)
        assert_same(t, x)
        assert t.incr(at, value) is None
        assert_same(t, expected)


def test_integers_wrap_and_bools_are_ored():
    t = tc.tensor(np.int8([100, 1]))
    t.incr([0, 0, 1], np.int8([100, 100, 1]))
    assert t.tolist() == [44, 2]
    b = tc.tensor([False, True])
    b.incr([0, 0, 1], [True, False, False])
    assert b.tolist() == [True, True]


def test_the_order_is_that_of_the_index():
    big = np.float32([1e8])
    for values in ([1, -1e8, 1], [-1e8, 1, 1], [1, 1, -1e8]):
        t = tc.tensor(big)
        t.incr([0, 0, 0], np.float32(values))
        assert_same(t, added_in_order(big, [0, 0, 0], np.float32(values)))


@pytest.mark.parametrize("view, part", [
    (lambda x: x[1:], lambda x: x[1:]),
    (lambda x: x[::-2], lambda x: x[::-2]),
    (lambda x: x.T, lambda x: x.T),
    (lambda x: x.reshape(-1), lambda x: x.reshape(-1)),
    (lambda x: x.T.reshape(-1), lambda x: x.T.reshape(-1)),
])
def test_a_view_changes_its_base(view, part):
    x = example("float32", 4, 3)
    t = tc.tensor(x)
    view(t).incr([0, 0, 1], 2)
    expected = x.copy()
    target = part(expected)
    changed = added_in_order(np.ascontiguousarray(target), [0, 0, 1], np.float32(2))
    if np.shares_memory(target, expected):
        target[...] = changed
    assert_same(t, expected)


def test_value_and_index_may_be_the_tensor_itself():
    x = np.int64([1, 0, 2, 1])
    t = tc.tensor(x)
    t.incr(t, t)
    assert_same(t, added_in_order(x, x, x))
    t = tc.tensor(x)
    t.incr(slice(1, None), t[:-1])
    assert_same(t, added_in_order(x, slice(1, None), x[:-1]))
    t = tc.tensor(x)
    other = t.copy()
    kept = t + 0
    t.incr(0, 5)
    assert_same(other, x)
    assert_same(kept, x)


@pytest.mark.parametrize("dtype, value, error, text", [
    ("int32", 1.5, TypeError, "float"),
    ("int32", np.float32([1]), TypeError, "float"),
    ("bool", 2, TypeError, "int"),
    ("uint8", 300, OverflowError, "300"),
    ("float32", [1, 2, 3, 4], ValueError, "shape"),
    ("float32", 1j, TypeError, None),
    ("float32", None, TypeError, None),
    ("float32", "x", TypeError, None),
])
def test_values_that_do_not_fit(dtype, value, error, text):
    x = example(dtype, 3)
    t = tc.tensor(x)
    for call in (lambda: t.incr(slice(None), value), lambda: tc.incr_subtensor(t, slice(None), value)):
        with pytest.raises(error, match=text):
            call()
    assert_same(t, x)


def test_same_kind_values_are_cast():
    t = tc.tensor(np.int8([1, 2]))
    t.incr([0, 1], tc.tensor(np.int64([300, -1])))
    assert t.tolist() == [1 + 300 - 256, 1]
    t = tc.tensor(np.float16([1, 2]))
    t.incr(0, np.float64(0.5))
    assert t.dtype == tc.float16 and t.tolist() == [1.5, 2]


def test_indices_out_of_range_change_nothing():
    x = example("float32", 3)
    t = tc.tensor(x)
    with pytest.raises(IndexError, match="index 3 is out of range for axis 0 of size 3"):
        t.incr([0, 3, -4], 1)
    assert_same(t, x)


def test_what_cannot_be_written():
    with pytest.raises(ValueError, match="const"):
        tc.tensor([1, 2], const=True).incr(0, 1)
    with pytest.raises(ValueError, match="read-only"):
        tc.tensor([1]).broadcast_to(3).incr(0, 1)
    with pytest.raises(TypeError, match="number"):
        tc.incr_subtensor(3, 0, 1)
    with pytest.raises(TypeError):
        tc.tensor([1]).incr(0)


def traced_body(x, rows, mask, v):
    y = tc.incr_subtensor(x + x, rows, v[:1])
    y.incr(mask, v[0])
    z = y[::2]
    z.incr(slice(None), z)
    x.incr((rows, None), v[0])
    return y, z + y[::2]


# The first is recorded: then other data, fewer, none, one, more.
CALLS = [
    (5, [0, 0, 4], [True] * 5), (5, [1], [False] * 5), (5, [], [True, False] * 2 + [True]), (2, [-1] * 9, [False, True]),
    (3, [0], [True, True, False]), (8, [7, 0, 7], [True] * 8), (0, [], []), (1, [0, 0], [True]),
]


def arguments(dtype, n, rows, mask, strided=False):
    x = example(dtype, 2 * n)
    first = tc.tensor(x)[::2] if strided else tc.tensor(x[:n])
    return first, tc.tensor(np.array(rows, dtype="int64")), tc.tensor(np.array(mask, dtype=bool)), tc.tensor(example(dtype, 3))


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "uint64"])
def test_replays_with_other_sizes_counts_and_repeats(section, dtype, strided):
    function = tc.trace(traced_body)
    function(*arguments(dtype, *CALLS[0], strided))
    with really_on(function, section):
        finished = 0
        for call in CALLS:
            mine, eager = arguments(dtype, *call, strided), arguments(dtype, *call, strided)
            expected = traced_body(*eager)
            before = mine[0].tolist()
            try:
                got = function(*mine)
            except tc.TraceError:
                # The recorded sizes were no 1; one that is takes another trace.
                assert 1 in (call[0], len(call[1])) and mine[0].tolist() == before
                continue
            finished += 1
            assert_same(got, expected)
            assert_same(mine[0], eager[0])
        assert finished >= 5


@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "bfloat16", "uint64"])
def test_files_with_other_sizes_counts_and_repeats(section, dtype, strided, tmp_path):
    function = tc.trace(traced_body)
    function(*arguments(dtype, *CALLS[0]))
    n, k = tc.dim("n"), tc.dim("k")
    function.dump(tmp_path / "update.trc", dynamic={"x": {0: n}, "rows": {0: k}, "mask": {0: n}})
    model = tc.load(tmp_path / "update.trc", section=section)
    with really_on(model, section):
        finished = 0
        for call in CALLS:
            eager = arguments(dtype, *call, strided)
            expected = traced_body(*eager)
            try:
                got = model(*arguments(dtype, *call, strided))
            except ValueError:
                assert 1 in (call[0], len(call[1]))
                continue
            finished += 1
            # The written argument follows the results.
            assert_same(list(got), [*expected, eager[0]])
        assert finished >= 5


@pytest.mark.parametrize("section", SECTIONS)
def test_a_replay_whose_value_and_index_are_the_tensor(section):
    def body(x):
        x.incr(x, x)
        y = tc.incr_subtensor(x, x[::-1] * 0, x)
        return y, x + y

    function = tc.trace(body)
    function(tc.tensor(np.int64([1, 0, 2, 1])))
    with really_on(function, section):
        for values in ([0, 1, 1, 0], [3, 3, 3, 3], [1, 0], [0] * 7, []):
            mine, eager = (tc.tensor(np.array(values, "int64")) for _ in range(2))
            expected = body(eager)
            assert_same(function(mine), expected)
            assert_same(mine, eager)
    x = np.int64([1, 0, 2, 1])
    assert_same(body(tc.tensor(x))[0], added_in_order(added_in_order(x, x, x), x * 0, added_in_order(x, x, x)))
