"""Tensors: creation, export, the Python protocol, reductions, shape functions and matmul, eagerly, against NumPy."""

import itertools
import operator

import ml_dtypes
import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, QUOTIENT, SUM, assert_same, dtype_object, ordered_extreme, sample, special_values, stable_name, to_numpy

# ---------------------------------------------------------------------------------------------- creation


@pytest.mark.parametrize(
    "data, dtype",
    [
        (True, "bool"),
        ([True, False], "bool"),
        (1, "int32"),
        ([True, 2], "int32"),
        ([1, 2.5], "float32"),
        ([[True], [2]], "int32"),
        ([[1, 2], [3, 4.0]], "float32"),
        ([], "float32"),
        ([[], []], "float32"),
        ((1, 2, 3), "int32"),
        ([np.float64(1)], "float64"),
        ([np.float16(1), np.float16(2)], "float16"),
        ([np.uint8(1), np.int32(2)], "int32"),
        (np.float32(1.5), "float32"),
        (-(2**31), "int32"),
    ],
)
def test_dtype_of_nested_data(data, dtype):
    result = tc.tensor(data)
    assert result.dtype == dtype_object(dtype)
    assert_same(result, np.array(data, dtype=dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_keep_their_dtype(dtype):
    for shape in [(), (0,), (1,), (5,), (2, 3), (2, 0, 3), (2, 1, 2, 2)]:
        array = sample(shape, dtype)
        x = tc.tensor(array)
        assert_same(x, array)
        assert tuple(x.shape) == shape and x.ndim == len(shape) and x.size == array.size
        assert x.nbytes == array.nbytes and x.dtype == dtype_object(dtype)
        assert x.tolist() == array.tolist()
    assert_same(tc.tensor(special_values(dtype)), special_values(dtype))


def test_explicit_dtypes():
    assert_same(tc.tensor([1, 2], dtype=tc.float64), np.float64([1, 2]))
    assert_same(tc.tensor([1.7, -1.7], dtype="int32"), np.int32([1, -1]))
    assert_same(tc.tensor([1, 0], dtype=bool), np.array([True, False]))
    assert_same(tc.tensor([1, 0], dtype=int), np.int32([1, 0]))
    assert_same(tc.tensor([1, 0], dtype=float), np.float32([1, 0]))
    assert_same(tc.tensor([2**40], dtype=tc.int64), np.int64([2**40]))
    assert_same(tc.tensor([1, 2], dtype=np.dtype("float16")), np.float16([1, 2]))
    assert_same(tc.tensor(0.1, dtype="float64"), np.float64(0.1))


def test_int_outside_int32_names_the_cure():
    for data in (2**31, [-(2**31) - 1], [[1, 2**40]], [True, 2**31]):
        with pytest.raises(OverflowError, match=r"dtype=tc\.int64"):
            tc.tensor(data)
    with pytest.raises(OverflowError):
        tc.tensor([2**63], dtype=tc.int64)
    with pytest.raises(OverflowError):
        tc.tensor([256], dtype=tc.uint8)
    with pytest.raises(OverflowError):
        tc.tensor([-1], dtype=tc.uint8)


@pytest.mark.parametrize("ragged", [[[1, 2], [3]], [1, [2]], [[1], 2], [[[1]], [[2, 3]]], [[], [1]]])
def test_ragged(ragged):
    with pytest.raises(ValueError):
        tc.tensor(ragged)


@pytest.mark.parametrize(
    "bad",
    ["text", ["a"], [None], None, object(), [object()], np.array(["a"]), np.array([1, None], dtype=object)]
    + [np.zeros(2, "datetime64[s]"), np.zeros(2, [("a", "i4")]), np.zeros(2, np.longdouble), {"a": 1}, {1, 2}],
    ids=stable_name,
)
def test_unsupported_data(bad):
    with pytest.raises(TypeError):
        tc.tensor(bad)


def test_unusual_arrays_are_converted():
    base = np.arange(24, dtype="float32").reshape(2, 3, 4)
    for array in (
        base[:, ::-1, ::2],
        base.T,
        base[::-1, ::-1, ::-1],
        np.broadcast_to(base[0, 0], (5, 4)),
        base.astype(">f4"),
        np.frombuffer(b"\0" + base.tobytes(), dtype=np.uint8)[1:].view("float32"),
        base[:, :, 1:1],
    ):
        assert_same(tc.tensor(array), array.astype("float32"))


def test_data_is_copied():
    array = np.float32([1, 2, 3])
    x = tc.tensor(array)
    y = tc.tensor(x)
    array[0] = 100
    assert_same(x, np.float32([1, 2, 3]))
    y[1] = 50.0
    assert_same([x, y], [np.float32([1, 2, 3]), np.float32([1, 50, 3])])
    x[2] = 7.0
    assert_same([array, y], [np.float32([100, 2, 3]), np.float32([1, 50, 3])])


def test_list_of_tensors_is_a_stack():
    rows = [tc.tensor([1.0, 2.0]), tc.tensor([3.0, 4.0])]
    stacked = tc.tensor(rows)
    assert_same(stacked, np.float32([[1, 2], [3, 4]]))
    stacked[0] = 9.0
    assert_same(rows[0], np.float32([1, 2]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_fills(dtype):
    for shape in [(), (0,), (3,), (2, 0), (2, 3)]:
        assert_same(tc.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
        assert_same(tc.ones(shape, dtype=dtype), np.ones(shape, dtype))
        assert_same(tc.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    assert_same(tc.full((2,), tc.tensor(1, dtype=dtype)), np.full((2,), 1, dtype))


def test_default_dtypes_of_fills_and_arange():
    assert_same(tc.zeros((2,)), np.float32([0, 0]))
    assert_same(tc.ones(2), np.float32([1, 1]))
    assert_same(tc.full((2,), 7), np.int32([7, 7]))
    assert_same(tc.full((2,), 1.5), np.float32([1.5, 1.5]))
    assert_same(tc.full((2,), True), np.array([True, True]))
    assert_same(tc.full((2,), np.float64(2)), np.float64([2, 2]))
    assert_same(tc.arange(4), np.int32([0, 1, 2, 3]))
    assert_same(tc.arange(1, 4), np.int32([1, 2, 3]))
    assert_same(tc.arange(7, 0, -2), np.int32([7, 5, 3, 1]))
    assert_same(tc.arange(0), np.zeros(0, "int32"))
    assert_same(tc.arange(3, 1), np.zeros(0, "int32"))
    assert_same(tc.arange(0.0, 2.0, 0.5), np.float32([0, 0.5, 1, 1.5]))
    assert_same(tc.arange(3, dtype="float64"), np.float64([0, 1, 2]))
    assert_same(tc.arange(5, dtype=tc.uint8), np.uint8([0, 1, 2, 3, 4]))


# ---------------------------------------------------------------------------------------------- export


@pytest.mark.parametrize("dtype", DTYPES)
def test_exports_pin_their_value_and_are_read_only(dtype):
    array = sample((3, 4), dtype)
    x = tc.tensor(array)
    row = x[1]
    exports = [x.numpy(), np.asarray(x), row.numpy(), x.T.numpy(), x[::-1, ::2].numpy()]
    expected = [array, array, array[1], array.T, array[::-1, ::2]]
    x[...] = 1
    row[0] = 0
    x += tc.ones((3, 4), dtype=dtype)
    assert_same(exports, [np.array(value) for value in expected])
    for export in exports:
        assert not export.flags.writeable
    copied = np.array(x)
    copied[...] = 0
    assert to_numpy(x).any()
    assert np.asarray(x, dtype="float64").dtype == np.float64


def test_arrays_and_numpy_scalars_meet_tensors():
    x = tc.tensor([1.0, 2.0])
    for result in (np.float32([1, 2]) + x, np.float32(1) + x, x + np.float32([1, 2]), np.float64(3) * x):
        assert isinstance(result, tc.Tensor)
    assert_same(np.float32([3, 4]) - x, np.float32([2, 2]))
    assert isinstance(np.float32([1, 5]) < x, tc.Tensor)
    # The operator of an array is this ufunc, and cannot be told from it.
    assert_same(np.add(np.float32([1, 2]), x), np.float32([2, 4]))
    for apply in (lambda: np.exp(x), lambda: np.maximum(np.float32([1, 2]), x), lambda: operator.iadd(np.float32([1, 2]), x)):
        with pytest.raises(TypeError):
            apply()


# ---------------------------------------------------------------------------------------------- Python protocol


def test_conversions_of_one_element():
    for shape in [(), (1,), (1, 1)]:
        for value, dtype in [(3, "int32"), (0, "uint8"), (True, "bool"), (-1.5, "float64"), (0.0, "float16")]:
            x = tc.tensor(np.full(shape, value, dtype))
            assert bool(x) is bool(value)
            assert x.item() == value and type(x.item()) is type(np.full((), value, dtype).item())
            if shape:
                for convert in (int, float, operator.index):
                    with pytest.raises(TypeError):
                        convert(x)
            else:
                assert int(x) == int(value) and float(x) == float(value)
    assert [10, 20, 30][tc.tensor(1)] == 20
    assert list(range(tc.tensor(3, dtype="int64"))) == [0, 1, 2]
    for not_index in (tc.tensor(True), tc.tensor(1.0)):
        with pytest.raises(TypeError):
            operator.index(not_index)
    assert bool(tc.tensor(float("nan"))) is True


@pytest.mark.parametrize("shape", [(0,), (2,), (1, 0), (2, 2)])
def test_conversions_of_other_counts(shape):
    x = tc.zeros(shape)
    for convert in (bool, lambda t: t.item()):
        with pytest.raises(ValueError):
            convert(x)


def test_equality_hash_and_membership():
    x = tc.tensor([1, 2, 3])
    with pytest.raises(TypeError):
        hash(x)
    with pytest.raises(ValueError, match=r"3.*2"):
        x == tc.tensor([1, 2])
    assert_same(x == None, np.array([False] * 3))  # noqa: E711
    assert_same(x != None, np.array([True] * 3))  # noqa: E711
    assert 2 in x and 5 not in x
    assert float("nan") not in tc.tensor([float("nan")])
    assert 1 not in tc.zeros((0,))


def test_length_iteration_and_deletion():
    x = tc.tensor([[1, 2], [3, 4], [5, 6]])
    assert len(x) == 3 and len(tc.zeros((0, 2))) == 0
    assert_same([row for row in x], [np.int32([1, 2]), np.int32([3, 4]), np.int32([5, 6])])
    assert_same(list(tc.tensor([7, 8])), [np.int32(7), np.int32(8)])
    first, second, third = x
    assert_same(third, np.int32([5, 6]))
    for apply in (len, iter, list):
        with pytest.raises(TypeError):
            apply(tc.tensor(1))
    with pytest.raises(ValueError):
        del x[0]


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 2), (2, 0, 3), (50, 60)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_repr_shows_values_and_never_raises(shape, dtype):
    text = repr(tc.tensor(np.ones(shape, dtype)))
    assert dtype in text or dtype in ("bool", "int32", "float32")
    if 0 not in shape:
        assert "1" in text or "True" in text
    assert len(text) < 5000
    assert isinstance(str(tc.tensor(special_values(dtype))), str)


def test_reflected_operators_and_negation():
    x = tc.tensor([1.0, 2.0])
    assert_same([1 - x, 2 * x, 2 / x, 1 + x], [np.float32([0, -1]), np.float32([2, 4]), np.float32([2, 1]), np.float32([2, 3])])
    assert_same([1 < x, 2 <= x, 1 == x, 1 != x], [np.array(v) for v in ([False, True], [False, True], [True, False], [False, True])])


@pytest.mark.parametrize("apply", [operator.add, operator.mul, operator.lt, tc.maximum, operator.truediv])
def test_broadcasting(apply):
    reference = {tc.maximum: np.maximum}.get(apply, apply)
    shapes = [(), (1,), (3,), (2, 1), (2, 3), (4, 1, 3), (0, 3), (1, 0, 1)]
    for left, right in itertools.product(shapes, repeat=2):
        a, b = sample(left, "float32", 1), sample(right, "float32", 2)
        try:
            expected = reference(a, b)
        except ValueError:
            with pytest.raises(ValueError):
                apply(tc.tensor(a), tc.tensor(b))
            continue
        assert_same(apply(tc.tensor(a), tc.tensor(b)), np.asarray(expected))


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_maximum_minimum_with_special_values(dtype):
    values = special_values(dtype)
    left, right = np.meshgrid(values, values)
    mask = sample(left.shape, "bool")
    a, b, m = tc.tensor(left), tc.tensor(right), tc.tensor(mask)
    assert_same(tc.where(m, a, b), np.where(mask, left, right))
    assert_same(tc.maximum(a, b), ordered_extreme(left, right, largest=True))
    assert_same(tc.minimum(a, b), ordered_extreme(left, right, largest=False))


# ---------------------------------------------------------------------------------------------- reductions


AXES = {(): [None, ()], (5,): [None, 0, -1], (3, 4): [None, 0, 1, -1, (0, 1), (-1, 0), ()], (2, 3, 4): [None, 1, (0, 2), (2, -2)]}


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype, keepdims):
    for shape, axes in AXES.items():
        array = sample(shape, dtype)
        if dtype in FLOAT_DTYPES:
            # Multiples of 1/4 of small size: every order of additions gives the same exact sum.
            # Without -0.0, of which NumPy's sum along no axis is 0.0.
            array = (np.round(array * 4) / 4 + 0.0).astype(dtype)
        x = tc.tensor(array)
        for axis in axes:
            total = array.astype("float64").sum(axis=axis, keepdims=keepdims)
            assert_same(x.sum(axis=axis, keepdims=keepdims), np.asarray(total).astype(SUM[dtype]))
            assert_same(tc.sum(x, axis=axis, keepdims=keepdims), x.sum(axis=axis, keepdims=keepdims))
            assert_same(tc.max(x, axis=axis, keepdims=keepdims), np.asarray(array.max(axis=axis, keepdims=keepdims)))
            mean = x.mean(axis=axis, keepdims=keepdims)
            mean_dtype = QUOTIENT[dtype]
            reference = np.asarray(array.astype("float64").mean(axis=axis, keepdims=keepdims))
            assert mean.dtype == dtype_object(mean_dtype) and mean.shape == reference.shape
            np.testing.assert_allclose(to_numpy(mean).astype("float64"), reference, rtol=2 * float(ml_dtypes.finfo(mean_dtype).eps), atol=0)


def test_sum_dtypes_and_ranges():
    assert_same(tc.full((1000,), 255, dtype="uint8").sum(dtype="int64"), np.int64(255000))
    assert_same(tc.full((3,), 2**31 - 1).sum(), np.int64(3 * (2**31 - 1)))
    assert_same(tc.full((3,), 100, dtype="uint8").sum(dtype="uint8"), np.uint8(44))
    assert_same(tc.tensor([2**62, 2**62], dtype="int64").sum(), np.int64(-(2**63)))
    assert_same(tc.tensor([1.5, 2.5], dtype="float16").sum(dtype="float64"), np.float64(4))
    # float16 sums in float32 and rounds once: 4096 ones past 2048 would stick in float16.
    assert_same(tc.ones((4096,), dtype="float16").sum(), np.float16(4096))
    assert_same(tc.full((70000,), 1.0, dtype="float16").mean(), np.float16(1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_of_nothing(dtype):
    sum_dtype, mean_dtype = SUM[dtype], QUOTIENT[dtype]
    x = tc.zeros((0, 3), dtype=dtype)
    assert_same(x.sum(), np.zeros((), sum_dtype))
    assert_same(x.sum(axis=0), np.zeros(3, sum_dtype))
    assert_same(x.sum(axis=1), np.zeros(0, sum_dtype))
    assert_same(x.mean(axis=0), np.full(3, np.nan, mean_dtype))
    assert_same(x.mean(axis=1), np.zeros(0, mean_dtype))
    assert_same(x.max(axis=1), np.zeros(0, dtype))
    for axis in (None, 0):
        with pytest.raises(ValueError, match="max"):
            x.max(axis=axis)


@pytest.mark.parametrize("reduce", [tc.sum, tc.mean, tc.max])
def test_bad_axes(reduce):
    x = tc.ones((2, 3))
    for axis in (2, -3, (0, 2)):
        with pytest.raises(ValueError) as caught:
            reduce(x, axis=axis)
        assert isinstance(caught.value, IndexError)
        assert "2" in str(caught.value)
    for axis in ((0, 0), (1, -1)):
        with pytest.raises(ValueError):
            reduce(x, axis=axis)
    with pytest.raises(TypeError):
        reduce(x, axis=0.5)
