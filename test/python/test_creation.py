"""arange, concat, copies, axes, sizes and index errors at their limits, against NumPy."""

import itertools
import math

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, stable_id

NUMBERS = [0, 1, -1, 3, 7, -5, 0.5, -0.5, 2.5, 0.7, -1.3, 1e-3, 10]


def close_counts(start, stop, step):
    return abs((stop - start) / step) < 2000 if step else False


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
def test_integer_arange_of_all_kinds_of_bounds(dtype):
    """NumPy truncates the first two elements and goes on by their distance."""
    seen = 0
    for start, stop, step in itertools.product(NUMBERS, NUMBERS + [3.0], NUMBERS):
        if not close_counts(start, stop, step):
            continue
        wide = np.arange(start, stop, step, dtype="int64")
        if wide.size and (wide.min() < np.iinfo(dtype).min or wide.max() > np.iinfo(dtype).max):
            with pytest.raises(OverflowError, match=f"TC0104.*{dtype}"):
                tc.arange(start, stop, step, dtype=dtype)
            continue
        assert_same(tc.arange(start, stop, step, dtype=dtype), wide.astype(dtype)), (start, stop, step)
        seen += wide.size > 1
    assert seen > 100


def test_float_arange_has_as_many_elements():
    for start, stop, step in itertools.product(NUMBERS, NUMBERS, NUMBERS + [math.inf, -math.inf, 1e300, 1e-320]):
        if step == 1e-320 and start != stop or step not in (math.inf, -math.inf) and not close_counts(start, stop, step):
            continue
        expected = np.arange(start, stop, step, dtype="float64")
        got = tc.arange(start, stop, step, dtype="float64")
        assert got.shape == expected.shape, (start, stop, step)
    assert_same(tc.arange(0.0, 1.0, math.inf), np.float32([0]))


@pytest.mark.parametrize("arguments", [(2**31 - 2, 2**31 + 2), (2**31 - 1, 2**31 + 1), (2**31,  2**31 + 1), (-(2**31) - 1, 0, 2**30),
                                       (0, -(2**31) - 2, -(2**31) - 1), (2**40, 2**40 + 3), (2**31 - 2.0, 2**31 + 2.0)])
def test_arange_does_not_wrap(arguments):
    kind = {"dtype": "int32"} if any(isinstance(a, float) for a in arguments) else {}
    with pytest.raises(OverflowError, match="TC0104.*int32.*dtype=tc.int64"):
        tc.arange(*arguments, **kind)
    assert_same(tc.arange(*arguments, dtype="int64"), np.arange(*arguments, dtype="int64"))


def test_arange_up_to_the_limits():
    assert_same(tc.arange(2**31 - 2, 2**31), np.int32([2**31 - 2, 2**31 - 1]))
    assert_same(tc.arange(-(2**31), -(2**31) + 2), np.int32([-(2**31), -(2**31) + 1]))
    assert_same(tc.arange(-(2**31), 2**31, 2**32 - 1), np.int32([-(2**31), 2**31 - 1]))
    assert_same(tc.arange(2**31 - 1, -(2**31) - 1, -(2**32) + 1), np.int32([2**31 - 1, -(2**31)]))
    assert_same(tc.arange(254, 256, dtype="uint8"), np.uint8([254, 255]))
    assert_same(tc.arange(3, -1, -1, dtype="uint8"), np.uint8([3, 2, 1, 0]))
    assert_same(tc.arange(0, 10, 2**40), np.int32([0]))
    assert_same(tc.arange(2**63 - 3, 2**63 - 1, dtype="int64"), np.int64([2**63 - 3, 2**63 - 2]))
    assert_same(tc.arange(5, 5, 2**40), np.int32([]))
    for bad in (lambda: tc.arange(257, dtype="uint8"), lambda: tc.arange(-1, 2, dtype="uint8"), lambda: tc.arange(2**63 - 1, 2**63 + 1, dtype="int64"),
                lambda: tc.arange(2**63 - 2, 2**63, dtype="int64"), lambda: tc.arange(0, 10, 2**70),
                lambda: tc.arange(2**70, 2**70 + 2, dtype="int64"), lambda: tc.arange(2**70, 0), lambda: tc.arange(2**70, 2**71, 2**70)):
        with pytest.raises(OverflowError, match="TC0104"):
            bad()


def test_arange_in_traces():
    @tc.trace
    def function(x, stop):
        return tc.arange(x.shape[0]) * x, tc.arange(0.5, stop, 0.5, dtype="int32")

    for size in (3, 3, 5, 200):
        first, second = function(tc.ones(size), 3)
        assert_same(first, np.arange(size, dtype="float32"))
        assert_same(second, np.int32([0, 1, 2, 3, 4]))


def test_arange_of_bytes_in_traces():
    """That all elements fit is decided by the size, which is part of the record then."""
    def body(x):
        return tc.arange(x.shape[0], dtype="uint8") + 1

    for size in (3, 256):
        function = tc.trace(body)
        for _ in range(3):
            assert_same(function(tc.ones(size)), np.arange(size).astype("uint8") + np.uint8(1))
        with pytest.raises((OverflowError, tc.TraceError), match="TC0104.*uint8|TC020"):
            function(tc.ones(257))
    with pytest.raises(OverflowError, match="TC0104.*uint8"):
        tc.trace(body)(tc.ones(257))


@pytest.mark.parametrize("bad", ["3", b"3", None, [3], np.array([1, 2]), 1j, math.nan], ids=stable_id)
def test_arange_of_what_is_no_number(bad):
    with pytest.raises((TypeError, ValueError), match="TC010"):
        tc.arange(bad)
    with pytest.raises((TypeError, ValueError), match="TC010"):
        tc.arange(0, 3, bad) if bad is not None else tc.arange({})


# ---------------------------------------------------------------------------------------------- concat and copies


@pytest.mark.parametrize("parts", [
    [np.float32([[1, 2], [3, 4]]), np.float32([5])],
    [np.int32([[1, 2]]), np.float64(3), np.zeros((0, 3), "float32")],
    [np.float32([[[1], [2]]]).T, np.float32(7)],
    [np.zeros((2, 0), bool)],
    [np.bool_(True), np.uint8([[1, 2]])],
])
def test_concat_without_axis(parts):
    dtype = np.result_type(*parts) if not {p.dtype for p in parts} == {np.dtype("int32"), np.dtype("float64"), np.dtype("float32")} else "float64"
    expected = np.concatenate(parts, axis=None).astype(dtype)
    assert_same(tc.concat([tc.tensor(p) for p in parts], axis=None), expected)
    assert_same(tc.concat(parts, axis=None), expected)
    function = tc.trace(lambda *xs: tc.concat([*xs, xs[0].T], axis=None))
    for _ in range(3):
        assert_same(function(*[tc.tensor(p) for p in parts]), np.concatenate([*parts, parts[0].T], axis=None).astype(dtype))


def test_concat_without_axis_of_counts_and_views():
    @tc.trace
    def function(x):
        return tc.concat([x[x > 0], x[::2], 5.0, x.reshape(2, -1)[:, ::-1].T], axis=None)

    for data in ([1, -2, 3, -4], [1, 2, 3, 4], [-1, -2, -3, -4, 5, 6], []):
        x = np.float32(data)
        if x.size == 0:
            continue
        expected = np.concatenate([x[x > 0], x[::2], [5], x.reshape(2, -1)[:, ::-1].T], axis=None).astype("float32")
        for _ in range(2):
            assert_same(function(tc.tensor(x)), expected)


def test_copies_of_constants_are_writable():
    x = tc.tensor([1.0, 2.0], const=True, name="w")
    with pytest.raises(ValueError, match="TC0101"):
        x[0] = 5
    y = x.copy()
    y[0] = 5
    assert y.name == "w"
    assert_same(y, np.float32([5, 2]))
    assert_same(x, np.float32([1, 2]))
    y += 1
    assert_same(y, np.float32([6, 3]))


# ---------------------------------------------------------------------------------------------- axes, sizes, indices


@pytest.mark.parametrize("flag", [True, False, np.True_, tc.tensor(True)], ids=stable_id)
def test_a_bool_is_no_axis_and_no_size(flag):
    x = tc.ones((1, 1))
    for use in (tc.zeros, lambda f: tc.zeros((f,)), lambda f: tc.full((2, f), 1), lambda f: x.reshape(f), lambda f: x.reshape(1, f),
                lambda f: tc.broadcast_to(x, (f, 1)), lambda f: x.sum(axis=f), lambda f: x.max(axis=(f,)), lambda f: x.mean(axis=f),
                lambda f: x.squeeze(f), lambda f: x.expand_dims(f), lambda f: x.flip(f), lambda f: x.swapaxes(0, f),
                lambda f: x.transpose(f, 1), lambda f: tc.moveaxis(x, f, 0), lambda f: tc.concat([x], axis=f), lambda f: tc.permute(x, (0, f))):
        with pytest.raises(TypeError, match="TC0102"):
            use(flag)


INDICES = [
    (slice(0.0, None), 0.0), (0.0, slice(0.0, None)), (slice(0.0, None), 0, 0), (slice(None, None, 0), 0, 0), (slice("a", None), "a"),
    (slice(0.0, None), ..., ...), (slice(0.0, None), [0.5]), (slice(None, None, 0.5), None, 1.5), (slice(0.0, None), slice(0.0, None), 1, 1),
]


@pytest.mark.parametrize("index", INDICES, ids=stable_id)
def test_what_is_no_index_wins_over_a_bad_slice(index):
    a = np.ones((2, 2))
    with pytest.raises(IndexError):
        a[index]
    for use in (lambda: tc.tensor(a)[index], lambda: tc.tensor(a).__setitem__(index, 1)):
        with pytest.raises(IndexError, match="TC0103"):
            use()


@pytest.mark.parametrize("index, kind", [((slice(0.0, None), 0), TypeError), ((slice(0.0, None),), TypeError), ((slice(None, None, 0), 0), ValueError),
                                         ((slice(0.0, None), [5]), TypeError), ((slice(1j, None), slice(0.0, None)), TypeError)], ids=stable_id)
def test_bad_slices_keep_their_error(index, kind):
    for a in (np.ones((2, 2)), tc.ones((2, 2))):
        with pytest.raises(kind):
            a[index]


RANKS = [(64, (True,) * 64), (64, (None,)), (64, (True,)), (3, (None,) * 62), (3, (None,) * 61), (64, (..., None)), (63, (None, 0)), (63, (None, [0])),
         (63, ([[[0]]],)), (62, ([[[0]]],)), (63, (None, None)), (64, (0,) * 64), (3, (True, None, 0) + (None,) * 61), (3, (True, None, 0) + (None,) * 60)]


@pytest.mark.parametrize("rank, index", RANKS, ids=stable_id)
def test_the_rank_limit_of_an_index(rank, index):
    a = np.ones((1,) * rank)
    try:
        expected = a[index]
    except IndexError:
        for use in (lambda: tc.tensor(a)[index], lambda: tc.tensor(a).__setitem__(index, 1), lambda: tc.trace(lambda x: x[index])(tc.tensor(a))):
            with pytest.raises(IndexError, match="TC0103.*65|TC0103.*66|TC0103.*limit"):
                use()
    else:
        assert_same(tc.tensor(a)[index], np.asarray(expected))


def test_the_rank_limit_elsewhere():
    x = tc.ones((1,) * 64)
    for use in (lambda: tc.expand_dims(x, 0), lambda: x.reshape((1,) * 65), lambda: tc.broadcast_to(x, (1,) * 65), lambda: tc.zeros((1,) * 65),
                lambda: tc.tensor([x]), lambda: tc.expand_dims(tc.ones(1), range(64))):
        with pytest.raises(ValueError, match="TC0101"):
            use()
    assert x.copy().ndim == x.numpy().ndim == memoryview(x).ndim == 64
