"""Index forms against an oracle: about 2,000 generated ones, read and assigned, eagerly and traced, and a hypothesis search."""

import collections

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies

import tracec as tc
from checks import DTYPES, assert_same, sample, stable_name
from index_forms import (
    as_tensors,
    faulty_forms,
    is_integer_array,
    is_mask,
    legal_forms,
    out_of_range,
    random_form,
    reference_read,
    reference_set,
    with_fault,
)

CHUNK = 100
LEGAL = legal_forms(1700, seed=1)
FAULTY = faulty_forms(400, seed=2)
TRACED = legal_forms(240, seed=3)


def chunks(forms):
    return [pytest.param(forms[i : i + CHUNK], id=f"{i}-{i + CHUNK}") for i in range(0, len(forms), CHUNK)]


def show(shape, items):
    return f"shape {shape}, index {items!r}"


def ordered_values(shape, dtype, place):
    """Values that name their position, so that a wrong element cannot look right; bool and uint8 repeat of course."""
    size = int(np.prod(shape))
    if dtype == "bool":
        return sample(shape, dtype, place)
    return (np.arange(size) % 251).reshape(shape).astype(dtype)


def test_generator_covers_the_kinds():
    """The generated set must keep its breadth: a slip in the generator would quietly empty a kind."""
    seen = collections.Counter()
    for shape, items in LEGAL:
        arrays = [i for i, item in enumerate(items) if is_integer_array(item) or is_mask(item)]
        seen["empty dim"] += 0 in shape
        seen["rank 4"] += len(shape) == 4
        seen["ellipsis"] += any(item is Ellipsis for item in items)
        seen["new axis"] += any(item is None for item in items)
        seen["negative step"] += any(isinstance(item, slice) and (item.step or 1) < 0 for item in items)
        seen["bool scalar"] += any(isinstance(item, bool) for item in items)
        seen["mask of rank 2 or more"] += any(is_mask(item) and item.ndim > 1 for item in items)
        seen["mask not first"] += any(is_mask(item) for item in items[1:])
        seen["array of rank 2 or more"] += any(is_integer_array(item) and item.ndim > 1 for item in items)
        seen["rank-0 array"] += any(is_integer_array(item) and item.ndim == 0 for item in items)
        seen["mask beside array"] += any(is_mask(i) for i in items) and any(is_integer_array(i) for i in items)
        seen["two advanced"] += len(arrays) > 1
        seen["separated"] += len(arrays) > 1 and any(not isinstance(i, (int, np.ndarray)) for i in items[arrays[0] : arrays[-1]])
        seen["negative index"] += any(is_integer_array(item) and (item.astype("int64") < 0).any() for item in items)
        seen["basic"] += not arrays
    assert min(seen.values()) >= 25 and len(seen) == 15, seen
    assert {fault for _, _, fault in FAULTY} == {"range", "rank", "ellipsis", "mask", "broadcast"}


@pytest.mark.parametrize("forms", chunks(LEGAL))
def test_read(forms):
    for place, (shape, items) in enumerate(forms):
        array = ordered_values(shape, DTYPES[place % len(DTYPES)], place)
        got = tc.tensor(array)[as_tensors(items)]
        assert_same(got, reference_read(array, items), show(shape, items))


@pytest.mark.parametrize("forms", chunks(LEGAL))
def test_read_of_a_strided_view(forms):
    for place, (shape, items) in enumerate(forms):
        array = ordered_values(tuple(2 * size for size in shape[::-1]), "int32", place)
        view = array.T[tuple(slice(None, None, -2) for _ in shape)]
        x = tc.tensor(array).T[tuple(slice(None, None, -2) for _ in shape)]
        assert_same(x[as_tensors(items)], reference_read(view, items), show(shape, items))


@pytest.mark.parametrize("forms", chunks(LEGAL))
def test_set(forms):
    random = np.random.default_rng(len(forms))
    for place, (shape, items) in enumerate(forms):
        dtype = DTYPES[place % len(DTYPES)]
        array = ordered_values(shape, dtype, place)
        indexed = array[items].shape if isinstance(array[items], np.ndarray) else ()
        value_shape = [indexed, indexed, indexed[1:], (), tuple(1 for _ in indexed)][random.integers(0, 5)]
        value = sample(value_shape, dtype, place)
        expected = reference_set(array, items, value)
        x = tc.tensor(array)
        x[as_tensors(items)] = tc.tensor(value)
        assert_same(x, expected, show(shape, items))
        # Through a transposed view the same positions are written.
        base = tc.tensor(np.ascontiguousarray(array.T))
        base.T[as_tensors(items)] = tc.tensor(value)
        assert_same(base.T, expected, "transposed, " + show(shape, items))


def check_fault(x, items, fault, where):
    """The read and the assignment raise IndexError and the assignment writes nothing."""
    before = x.numpy()
    with pytest.raises(IndexError) as caught:
        x[as_tensors(items)]
    assert len(str(caught.value)) > 10, where
    if fault == "range":
        assert "axis" in str(caught.value) and "test_indexing_oracle.py" in str(caught.value), where
    with pytest.raises(IndexError):
        x[as_tensors(items)] = 1
    assert_same(x, before, where)


@pytest.mark.parametrize("forms", chunks(FAULTY))
def test_faults(forms):
    for place, (shape, items, fault) in enumerate(forms):
        if fault == "range":
            assert out_of_range(shape, items)
        x = tc.tensor(ordered_values(shape, "float32", place))
        check_fault(x, items, fault, f"{fault}, {show(shape, items)}")


def moved(items):
    """The same form with other contents of its arrays: reversed arrays and masks with the same count."""
    return tuple(item[::-1].copy() if isinstance(item, np.ndarray) and item.ndim == 1 else item for item in items)


@pytest.mark.parametrize("forms", [pytest.param(TRACED[i : i + 40], id=f"{i}-{i + 40}") for i in range(0, len(TRACED), 40)])
def test_traced_read_and_set(forms):
    """Index tensors are arguments, so their contents change from call to call; the structure of the index does not."""
    for place, (shape, items) in enumerate(forms):
        def body(x, value, *tensors):
            remaining = list(tensors)
            index = tuple(remaining.pop(0) if isinstance(item, np.ndarray) else item for item in items)
            read = x[index]
            y = x * 2
            y[index] = value
            return read, y

        function = tc.trace(body)
        for call in range(3):
            array = ordered_values(shape, "int32", place) + np.int32(call)
            now = moved(items) if call == 1 else items
            value = np.int32(1000 + call)
            tensors = [tc.tensor(item) for item in now if isinstance(item, np.ndarray)]
            read, y = function(tc.tensor(array), tc.tensor(value), *tensors)
            where = f"call {call}, {show(shape, now)}"
            assert_same(read, reference_read(array, now), where)
            assert_same(y, reference_set(array * np.int32(2), now, value), where)
        assert function.state == "compiled"


@pytest.mark.parametrize("forms", [pytest.param([f for f in FAULTY if f[2] == "range"][:40], id="range")])
def test_traced_out_of_range(forms):
    """A bad index is found in compiled code too, with the user's line, also when the result is empty or unused."""
    checked = 0
    for place, (shape, items, _) in enumerate(forms):
        if not any(is_integer_array(item) for item in items) or 0 in shape:
            continue
        good = tuple(np.zeros_like(item) if is_integer_array(item) else item for item in items)
        if out_of_range(shape, good):
            continue

        def body(x, *tensors):
            remaining = list(tensors)
            index = tuple(remaining.pop(0) if isinstance(item, np.ndarray) else item for item in items)
            x[index] * 2
            return x + 1

        function = tc.trace(body)
        x = tc.tensor(ordered_values(shape, "int64", place))
        for _ in range(3):
            function(x, *[tc.tensor(item) for item in good if isinstance(item, np.ndarray)])
        with pytest.raises(IndexError, match="test_indexing_oracle.py"):
            function(x, *[tc.tensor(item) for item in items if isinstance(item, np.ndarray)])
        checked += 1
    assert checked >= 10


# ---------------------------------------------------------------------------------------------- forms with a rule of their own


X = np.arange(24, dtype="int64").reshape(2, 3, 4)


@pytest.mark.parametrize(
    "index, reference",
    [
        ([], np.zeros(0, "int64")),
        ([True, False], np.array([True, False])),
        ([True, 1], np.array([1, 1])),
        (range(2), np.array([0, 1])),
        ([[0, 1], [1, 0]], np.array([[0, 1], [1, 0]])),
        ((0, [0, 2]), (0, np.array([0, 2]))),
        (([0, 1], slice(None), [1, 2]), (np.array([0, 1]), slice(None), np.array([1, 2]))),
        (([0, 1], None, [1, 2]), (np.array([0, 1]), None, np.array([1, 2]))),
        (([0, 1], [1, 2], Ellipsis, [0, 3]), (np.array([0, 1]), np.array([1, 2]), Ellipsis, np.array([0, 3]))),
        ((slice(None), 0, [1, 2]), (slice(None), 0, np.array([1, 2]))),
        ((0, slice(None), [1, 2]), (0, slice(None), np.array([1, 2]))),
        (np.uint8([0, 1, 1]), np.array([0, 1, 1])),
        (np.int32(1), 1),
        ((np.int64(1), np.uint8(2)), (1, 2)),
        (True, True),
        (np.True_, True),
        (False, False),
        ((True, False), (True, False)),
        ((0, True, [1, 2]), (0, True, np.array([1, 2]))),
        ((), ()),
    ],
    ids=repr,
)
def test_particular_forms(index, reference):
    assert_same(tc.tensor(X)[index], np.array(X[reference]))
    x = tc.tensor(X)
    x[index] = -7
    assert_same(x, reference_set(X, reference, np.int64(-7)))


def test_rank_0_tensor_acts_as_an_int_for_placement():
    one, two = tc.tensor(1), tc.tensor(2, dtype="uint8")
    x = tc.tensor(X)
    assert_same(x[one], X[1])
    assert_same(x[one, :, two], X[1, :, 2])
    assert_same(x[:, one, [0, 1]], X[:, 1, [0, 1]])
    assert_same(x[one, two, tc.tensor(3)], X[1, 2, 3])
    assert_same(x[one:, :two], X[1:, :2])


@pytest.mark.parametrize(
    "index",
    [1.0, "a", [0.5], [slice(None)], object(), 1j, (0, 1.5), np.float32([0]), ([0, 1], [0, 1, 2]), (Ellipsis, Ellipsis), (0, 0, 0, 0)]
    + [["a"], [None], 2, -3, (0, 3), [2], [-3], (slice(None), [0, 3])]
    + [np.ones((2, 4), bool), np.ones(3, bool), (slice(None), np.ones(2, bool)), [True, False, True]],
    ids=stable_name,
)
def test_bad_index_is_an_index_error(index):
    x = tc.tensor(X)
    with pytest.raises(IndexError):
        x[index]
    with pytest.raises(IndexError):
        x[index] = 0
    assert_same(x, X)


def test_ragged_index():
    with pytest.raises((IndexError, ValueError)):
        tc.tensor(X)[[[0], [0, 1]]]


@pytest.mark.parametrize("bound", [0.5, "a", [1], 1.0, np.float32(1)])
def test_slice_bounds_must_be_integers(bound):
    for bad in (slice(bound, None), slice(None, bound), slice(None, None, bound)):
        with pytest.raises(TypeError):
            tc.tensor(X)[bad]
    with pytest.raises(ValueError):
        tc.tensor(X)[::0]


def test_huge_slice_bounds_clamp_and_huge_indices_do_not():
    big = 10**30
    x = tc.tensor(X)
    assert_same([x[:big], x[-big:], x[big:], x[:, ::big]], [X, X, X[2:], X[:, :1]])
    for index in (big, -big, 2**63, 2**31):
        with pytest.raises(IndexError):
            x[index]


def test_range_is_checked_when_the_result_is_empty():
    empty = tc.zeros((0, 4))
    for index in ((slice(None), [4]), (slice(None), 4), (slice(None), [0, -5])):
        with pytest.raises(IndexError):
            empty[index]
        with pytest.raises(IndexError):
            empty[index] = 1.0
    with pytest.raises(IndexError):
        tc.zeros((3, 4))[[3], np.zeros(0, "int64")]


def test_first_bad_position_in_c_order_is_reported():
    at = tc.tensor([[0, 1], [77, 1], [55, 99]])
    with pytest.raises(IndexError, match="77"):
        tc.zeros((3,))[at]
    big = np.zeros(100_000, "int64")
    big[[40_000, 90_000]] = [1234, 4321]
    with pytest.raises(IndexError, match="1234"):
        tc.zeros((3,))[tc.tensor(big)]


def test_mask_counts_that_do_not_broadcast():
    x = tc.tensor(X)
    two, three = np.array([True, True]), np.array([True, True, True])
    with pytest.raises(IndexError, match=r"2.*3"):
        x[two, three]
    one = np.array([False, True, False])
    assert_same(x[two, one], X[two, one])


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(seed=strategies.integers(0, 2**32 - 1), dtype=strategies.sampled_from(DTYPES))
def test_search(seed, dtype):
    """Hypothesis looks for a failing seed; unlike the lists above it also takes forms that NumPy refuses."""
    random = np.random.default_rng(seed)
    shape, items = random_form(random)
    array = ordered_values(shape, dtype, seed % 97)
    x = tc.tensor(array)
    try:
        expected = reference_read(array, items)
    except IndexError:
        with pytest.raises(IndexError):
            x[as_tensors(items)]
        return
    assert_same(x[as_tensors(items)], expected, show(shape, items))
    broken = with_fault(random, shape, items)
    if broken is not None:
        check_fault(x, *broken, show(shape, broken[0]))
