"""reshape, transpose, broadcast_to, concat, matmul and cond_take, eagerly, against NumPy."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, assert_same, dtype_object, sample, to_numpy


@pytest.mark.parametrize(
    "shape, new",
    [((6,), (2, 3)), ((2, 3), (6,)), ((2, 3), -1), ((2, 3), (3, -1)), ((4,), (1, 4, 1)), ((1,), ()), ((), (1, 1))]
    + [((0, 3), (3, 0)), ((0, 3), (-1, 3)), ((2, 3, 4), (4, 6)), ((2, 3, 4), (6, -1)), ((2, 3), (2, 3))],
)
def test_reshape(shape, new):
    array = sample(shape, "int32")
    assert_same(tc.tensor(array).reshape(new), array.reshape(new))
    assert_same(tc.reshape(tc.tensor(array), new), array.reshape(new))
    assert_same(tc.tensor(array.T).T.reshape(new), array.reshape(new))
    if isinstance(new, tuple) and new:
        assert_same(tc.tensor(array).reshape(*new), array.reshape(new))


@pytest.mark.parametrize("shape, new", [((6,), (4,)), ((6,), (4, -1)), ((6,), (-1, -1)), ((0,), (1,)), ((0, 3), (-1, 0)), ((6,), (-2, -3))])
def test_bad_reshape(shape, new):
    with pytest.raises(ValueError):
        tc.zeros(shape).reshape(new)


def test_transpose_and_permute():
    array = sample((2, 3, 4), "float32")
    x = tc.tensor(array)
    assert_same([x.T, x.transpose()], [array.T, array.T])
    for axes in itertools.permutations(range(3)):
        expected = array.transpose(axes)
        assert_same([x.transpose(axes), x.transpose(*axes)], [expected, expected])
        assert_same([tc.transpose(x, axes), tc.permute(x, axes)], [expected, expected])
    assert_same(x.transpose((-1, 0, -2)), array.transpose((-1, 0, -2)))
    assert_same(tc.tensor(5).T, np.int32(5))
    for axes in ((0, 1), (0, 0, 1), (0, 1, 3), (0, 1, 2, 3)):
        with pytest.raises(ValueError):
            x.transpose(axes)


def test_broadcast_to():
    for shape, new in [((), (2, 3)), ((3,), (2, 3)), ((2, 1), (2, 3)), ((1,), (0,)), ((3,), (3,)), ((1, 1), (4, 1, 5)), ((0, 1), (0, 2))]:
        array = sample(shape, "int64")
        assert_same(tc.broadcast_to(tc.tensor(array), new), np.array(np.broadcast_to(array, new)))
    for shape, new in [((3,), (2,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2,), (0,)), ((0,), (1,))]:
        with pytest.raises(ValueError) as caught:
            tc.broadcast_to(tc.zeros(shape), new)
        assert "broadcast_to" in str(caught.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_concat(dtype):
    for shapes, axis in [([(2,), (3,)], 0), ([(2, 3), (2, 1)], 1), ([(2, 3), (1, 3), (0, 3)], 0), ([(2, 3), (2, 3)], -1), ([(0,)], 0)]:
        arrays = [sample(shape, dtype, seed) for seed, shape in enumerate(shapes)]
        assert_same(tc.concat([tc.tensor(a) for a in arrays], axis=axis), np.concatenate(arrays, axis=axis))
    array = sample((4, 6), dtype)
    x = tc.tensor(array)
    assert_same(tc.concat([x.T, x.T[::-1], x.T[:, ::-1]]), np.concatenate([array.T, array.T[::-1], array.T[:, ::-1]]))


def test_bad_concat():
    x = tc.zeros((2, 3))
    for parts, axis in [([], 0), ([x, tc.zeros((2, 2))], 0), ([x, tc.zeros((3,))], 0), ([x, x], 2), ([tc.tensor(1.0), tc.tensor(2.0)], 0)]:
        with pytest.raises(ValueError):
            tc.concat(parts, axis=axis)


MATMULS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 2, 3), (5, 3, 4)), ((2, 3), (5, 3, 4))]
MATMULS += [((4, 1, 2, 3), (5, 3, 2)), ((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 3), (3, 0)), ((1, 1), (1, 1)), ((33, 70), (70, 19))]


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bool"])
def test_matmul(dtype):
    for left, right in MATMULS:
        a, b = sample(left, dtype, 1), sample(right, dtype, 2)
        if dtype in FLOAT_DTYPES:
            # Small integers: exact in every order, so the chain of FMAs must give exactly this.
            a, b = np.round(a).astype(dtype), np.round(b).astype(dtype)
            expected = np.matmul(a.astype("float64"), b.astype("float64")).astype(dtype)
        else:
            expected = np.matmul(a, b)
        assert_same(tc.matmul(tc.tensor(a), tc.tensor(b)), np.asarray(expected))
        assert_same(tc.tensor(a) @ tc.tensor(b), np.asarray(expected))
        if len(right) == 2:
            assert_same(tc.tensor(a) @ tc.tensor(np.ascontiguousarray(b.T)).T, np.asarray(expected))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_matmul_of_ordinary_values(dtype):
    a, b = sample((65, 130), dtype, 1), sample((130, 37), dtype, 2)
    got = to_numpy(tc.tensor(a) @ tc.tensor(b)).astype(np.longdouble)
    exact = np.matmul(a.astype(np.longdouble), b.astype(np.longdouble))
    scale = np.matmul(np.abs(a), np.abs(b))
    assert (np.abs(got - exact) <= 130 * float(ml_dtypes.finfo(dtype).eps) * scale).all()


def test_bad_matmul():
    for left, right in [((2, 3), (4, 2)), ((3,), (4,)), ((2, 2, 3), (3, 3, 4)), ((), (3,)), ((3,), ())]:
        with pytest.raises(ValueError) as caught:
            tc.matmul(tc.ones(left), tc.ones(right))
        assert "matmul" in str(caught.value)


@pytest.mark.parametrize("dtype", DTYPES)
def test_cond_take(dtype):
    for shape in [(0,), (1,), (7,), (3, 4), (2, 0), (2, 3, 4), ()]:
        array = sample(shape, dtype)
        for mask in (sample(shape, "bool", 3), np.zeros(shape, bool), np.ones(shape, bool)):
            values, positions = tc.cond_take(tc.tensor(mask), tc.tensor(array))
            assert_same(values, array[mask].reshape(-1))
            assert_same(positions, np.flatnonzero(mask).astype("int64"))
    # Positions count in the logical order of the tensor, not in that of its memory.
    array, mask = sample((4, 3), dtype), sample((4, 3), "bool")
    values, positions = tc.cond_take(tc.tensor(mask).T, tc.tensor(array).T)
    assert_same([values, positions], [array.T[mask.T], np.flatnonzero(np.ascontiguousarray(mask.T)).astype("int64")])


def test_bad_cond_take():
    with pytest.raises(ValueError):
        tc.cond_take(tc.tensor([True, False]), tc.tensor([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError):
        tc.cond_take(tc.tensor([True, False, True]), tc.tensor([[1.0, 2.0, 3.0]]))
    with pytest.raises(TypeError):
        tc.cond_take(tc.tensor([1, 0]), tc.tensor([1.0, 2.0]))


def test_method_and_function_agree_on_dtype_objects():
    x = tc.tensor([1, 2])
    for name in DTYPES:
        assert x.astype(dtype_object(name)).dtype == tc.cast(x, name).dtype == dtype_object(name)
