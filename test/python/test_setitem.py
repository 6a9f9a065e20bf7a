"""Assignment: casts of the value, broadcasting of the value, repeated positions, masks, growth, errors that write nothing."""

import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, assert_same, sample

# ---------------------------------------------------------------------------------------------- the value


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_tensors_and_arrays_are_cast_unsafely(target, source):
    value = np.array([0, 1, 3]).astype(source)
    expected = np.zeros(5, target)
    expected[1:4] = value.astype(target)
    for given in (tc.tensor(value), value):
        x = tc.zeros((5,), dtype=target)
        x[1:4] = given
        assert_same(x, expected)
        x = tc.zeros((5,), dtype=target)
        x[[1, 2, 3]] = given
        assert_same(x, expected)
        x = tc.zeros((5,), dtype=target)
        x[np.array([False, True, True, True, False])] = given
        assert_same(x, expected)


def test_unsafe_casts_saturate_and_wrap():
    x = tc.zeros((3,), dtype="uint8")
    x[...] = tc.tensor([300.5, -5.0, float("nan")])
    assert_same(x, np.uint8([255, 0, 0]))
    x[...] = tc.tensor([256, 257, -1])
    assert_same(x, np.uint8([0, 1, 255]))


@pytest.mark.parametrize(
    "target, value, expected",
    [
        ("uint8", 255, 255),
        ("uint8", True, 1),
        ("int32", 2.9, 2),
        ("int32", -2.9, -2),
        ("int64", 2**40, 2**40),
        ("bool", 2, True),
        ("bool", 0.5, True),
        ("bool", float("nan"), True),
        ("float16", 70000, np.inf),
        ("float16", 0.1, 0.1),
        ("float32", float("nan"), np.nan),
        ("float64", 1, 1.0),
        ("float32", True, 1.0),
    ],
)
def test_python_scalars(target, value, expected):
    for index in (1, slice(1, 2), [1], np.array([False, True, False]), (Ellipsis, 1)):
        x = tc.zeros((3,), dtype=target)
        x[index] = value
        assert_same(x, np.array([0, expected, 0]).astype(target))


@pytest.mark.parametrize(
    "target, value, kind",
    [
        ("uint8", 256, OverflowError),
        ("uint8", -1, OverflowError),
        ("int32", 2**31, OverflowError),
        ("int64", 2**63, OverflowError),
        ("int32", float("nan"), ValueError),
        ("uint8", float("inf"), OverflowError),
        ("int64", -float("inf"), OverflowError),
        ("float32", 1j, TypeError),
        ("int32", 1j, TypeError),
        ("float32", None, TypeError),
        ("float32", "1", TypeError),
        ("float32", object(), TypeError),
    ],
)
def test_python_scalars_that_do_not_fit(target, value, kind):
    for index in (0, slice(None), [0, 1], np.array([True, False, True])):
        x = tc.ones((3,), dtype=target)
        with pytest.raises(kind):
            x[index] = value
        assert_same(x, np.ones(3, target))


@pytest.mark.parametrize(
    "index, shape",
    [
        (slice(None), ()),
        (slice(None), (1,)),
        (slice(None), (4,)),
        (slice(None), (3, 1)),
        (slice(None), (1, 3, 4)),
        (slice(None), (1, 1, 1, 1)),
        (1, (4,)),
        (1, (1, 1, 4)),
        ((1, 2), ()),
        ((1, 2), (1,)),
        ((1, 2), (1, 1)),
        ((slice(0, 0), slice(None)), (4,)),
        ((slice(0, 0), slice(None)), (0, 4)),
        ([0, 2], (2, 4)),
        ([0, 2], (2, 1)),
        ([0, 2], (1, 1, 4)),
        ((slice(None), [0, 3, 1]), (3, 3)),
        ((slice(None), [0, 3, 1]), (3, 1)),
        (([0, 2], [1, 3]), (2,)),
        ((None, slice(None), [1]), (3, 1)),
        (np.array([True, False, True]), (2, 4)),
        (np.array([True, False, True]), (1, 4)),
        (np.array([False, False, False]), (0, 4)),
        (np.array([False, False, False]), (4,)),
    ],
)
def test_value_broadcasts_to_the_indexed_shape(index, shape):
    array = np.zeros((3, 4), "float32")
    value = np.arange(1, np.prod(shape, dtype=int) + 1, dtype="float32").reshape(shape)
    x = tc.tensor(array)
    # NumPy refuses extra leading 1s only for an index of ints that uses up every axis; we have one rule.
    array[(*index, Ellipsis) if isinstance(index, tuple) and index[0] == 1 else index] = value
    x[index] = tc.tensor(value)
    assert_same(x, array)


@pytest.mark.parametrize(
    "index, shape, indexed",
    [
        (slice(None), (3, 5), (3, 4)),
        (slice(None), (2, 3, 4), (3, 4)),
        (slice(0, 2), (3, 4), (2, 4)),
        (1, (3,), (4,)),
        ((1, 2), (2,), ()),
        ([0, 2], (3, 4), (2, 4)),
        ((slice(None), [0, 1, 2]), (3, 2), (3, 3)),
        ((slice(0, 0), slice(None)), (2, 4), (0, 4)),
        (slice(None), (0,), (3, 4)),
    ],
)
def test_value_that_does_not_broadcast(index, shape, indexed):
    x = tc.ones((3, 4))
    with pytest.raises(ValueError) as caught:
        x[index] = tc.zeros(shape)
    text = str(caught.value).replace(" ", "").replace(",)", ")")
    want = f"could not broadcast value of shape {shape} to indexed shape {indexed}".replace(" ", "").replace(",)", ")")
    assert want in text
    assert_same(x, np.ones((3, 4), "float32"))


def test_lists_as_values():
    x = tc.zeros((2, 3))
    x[0] = [1, 2, 3]
    x[:, 1] = [7.5, 8.5]
    assert_same(x, np.float32([[1, 7.5, 3], [0, 8.5, 0]]))
    with pytest.raises(ValueError):
        x[0] = [1, 2]
    with pytest.raises(ValueError):
        x[...] = [[1, 2, 3], [4]]


# ---------------------------------------------------------------------------------------------- positions


@pytest.mark.parametrize("dtype", DTYPES)
def test_last_of_repeated_positions_wins(dtype):
    random = np.random.default_rng(3)
    for count in (2, 17, 1000, 5000):
        at = random.integers(-7, 7, count)
        value = sample((count,), dtype)
        expected = np.zeros(7, dtype)
        for position, element in zip(at, value):
            expected[position] = element
        x = tc.zeros((7,), dtype=dtype)
        x[tc.tensor(at)] = tc.tensor(value)
        assert_same(x, expected)


def test_last_of_repeated_positions_wins_in_c_order_of_the_broadcast_index():
    rows, columns = np.array([[0], [1], [0]]), np.array([1, 1, 2])
    value = np.arange(1, 10, dtype="int32").reshape(3, 3)
    expected = np.zeros((2, 3), "int32")
    for i in range(3):
        for j in range(3):
            expected[rows[i, 0], columns[j]] = value[i, j]
    for given in (tc.tensor(value), tc.tensor(np.asfortranarray(value)), tc.tensor(value.T.copy()).T):
        x = tc.zeros((2, 3), dtype="int32")
        x[tc.tensor(rows), tc.tensor(columns)] = given
        assert_same(x, expected)
    transposed = tc.zeros((3, 2), dtype="int32")
    transposed.T[tc.tensor(rows), tc.tensor(columns)] = tc.tensor(value)
    assert_same(transposed.T, expected)


def test_in_place_operators_on_repeated_positions_add_once():
    x = tc.tensor([0, 0, 0])
    x[[1, 1, 2, 1]] += 5
    assert_same(x, np.int32([0, 5, 5]))
    x[[0, 0]] += tc.tensor([1, 10])
    assert_same(x, np.int32([10, 5, 5]))


# ---------------------------------------------------------------------------------------------- masks


@pytest.mark.parametrize("mask", [[True] * 4, [False] * 4, [True, False, True, False], [False, False, False, True]])
def test_mask_assignment(mask):
    for value in (7, [7], np.arange(sum(mask)), np.arange(sum(mask))[::-1]):
        array = np.arange(4, dtype="int32")
        x = tc.tensor(array)
        array[np.array(mask)] = value
        x[tc.tensor(mask)] = value if isinstance(value, (int, list)) else tc.tensor(value)
        assert_same(x, array)


def test_mask_assignment_with_a_wrong_count_writes_nothing():
    x = tc.tensor([1, 2, 3, 4])
    for count in (0, 2, 4):
        with pytest.raises(ValueError) as caught:
            x[tc.tensor([True, True, False, True])] = tc.zeros((count,))
        assert str(count) in str(caught.value) and "3" in str(caught.value)
    assert_same(x, np.int32([1, 2, 3, 4]))
    x[tc.tensor([False] * 4)] = tc.zeros((1,))
    with pytest.raises(ValueError):
        x[tc.tensor([False] * 4)] = tc.zeros((2,))
    assert_same(x, np.int32([1, 2, 3, 4]))


def test_masked_in_place_operators():
    array = sample((5, 6), "float32")
    x = tc.tensor(array)
    x[x < 0] *= -1
    x[x > 1] -= x[x > 1] - 1.0
    array = np.minimum(np.abs(array), np.float32(1))
    assert_same(x, array)


# ---------------------------------------------------------------------------------------------- shape of the target


def test_a_tensor_never_grows():
    x = tc.ones((3,))
    for value in (tc.ones((2, 3)), tc.ones((1, 3))):
        with pytest.raises(ValueError):
            x += value
    with pytest.raises(ValueError):
        scalar = tc.tensor(1.0)
        scalar += x
    assert_same(x, np.ones(3, "float32"))


def test_index_errors_of_assignment_write_nothing():
    x = tc.tensor([[1, 2], [3, 4]])
    for index, kind in [
        (2, IndexError),
        ((0, -3), IndexError),
        ([0, 5], IndexError),
        (([0, 1], [0, 2]), IndexError),
        ((0, 0, 0), IndexError),
        ("a", IndexError),
        (1.0, IndexError),
        (np.array([True, False, True]), IndexError),
        (slice(None, None, 0), ValueError),
        (slice(0.5), TypeError),
    ]:
        with pytest.raises(kind):
            x[index] = 9
    assert_same(x, np.int32([[1, 2], [3, 4]]))


def test_assignment_to_everything():
    for index in ((), Ellipsis, slice(None), (slice(None), slice(None)), (Ellipsis, slice(None)), True, None):
        x = tc.zeros((2, 2))
        x[index] = tc.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert_same(x, np.float32([[1, 2], [3, 4]]))
    x = tc.tensor(1.0)
    x[()] = 5
    assert_same(x, np.float32(5))
    x[...] = 6
    assert_same(x, np.float32(6))
    x[False] = 7
    assert_same(x, np.float32(6))
