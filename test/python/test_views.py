"""Views: which operations share a cell, how writes travel, and random chains of views against NumPy."""

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, to_numpy

VIEWS = {
    "slice": lambda x: x[1:],
    "step": lambda x: x[::2, 1::2],
    "reverse": lambda x: x[::-1, ::-1],
    "int": lambda x: x[1],
    "int-last": lambda x: x[..., -1],
    "new-axis": lambda x: x[:, None, 1:3],
    "ellipsis": lambda x: x[...],
    "whole": lambda x: x[:],
    "rank-0": lambda x: x[1, 2, ...],
    "empty": lambda x: x[2:2],
    "T": lambda x: x.T,
    "transpose": lambda x: x.transpose((1, 0)),
    "transpose-slice": lambda x: x.T[1:, ::-1],
    "reshape": lambda x: x.reshape((2, 6)),
    "reshape-flat": lambda x: x.reshape((-1,)),
    "reshape-inner": lambda x: x[:, :2].reshape((3, 1, 2)),
    "reshape-split": lambda x: x.T.reshape((2, 2, 3)),
    "reshape-reversed": lambda x: x[::-1].reshape((3, 2, 2)),
    "reshape-of-step": lambda x: x[:, ::2].reshape((2, 3)),
    "view-of-view": lambda x: x[1:][:, ::-1].T[1:3][0],
}
COPIES = {
    "ints": lambda x: x[1, 2],
    "array": lambda x: x[np.array([0, 1])],
    "list": lambda x: x[[0, 2]],
    "mask": lambda x: x[np.array([True, False, True])],
    "array-and-slice": lambda x: x[1:, np.array([0, 1])],
    "bool-scalar": lambda x: x[True],
    "rank-0-array": lambda x: x[np.array(1)],
    "reshape-of-T": lambda x: x.T.reshape((12,)),
    "reshape-of-slice": lambda x: x[:, :3].reshape((9,)),
    "astype": lambda x: x.astype("int32"),
    "arithmetic": lambda x: x + 0,
}


def twins():
    array = np.arange(12, dtype="int32").reshape(3, 4)
    return array, tc.tensor(array)


@pytest.mark.parametrize("name", VIEWS)
def test_writes_travel_both_ways_through_a_view(name):
    array, x = twins()
    array_view, view = VIEWS[name](array), VIEWS[name](x)
    assert np.shares_memory(array, array_view) or array_view.size == 0
    assert_same(view, np.array(array_view))
    array_view[...] = 100
    view[...] = 100
    assert_same([x, view], [array, np.array(array_view)])
    array[...] = np.arange(12).reshape(3, 4) * 3
    x[...] = tc.arange(12).reshape((3, 4)) * 3
    assert_same([x, view], [array, np.array(array_view)])
    array[1] += 7
    x[1] += 7
    array_view += 1
    view += 1
    assert_same([x, view], [array, np.array(array_view)])


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_independent(name):
    array, x = twins()
    copy = COPIES[name](x)
    assert_same(copy, np.asarray(COPIES[name](array)))
    kept = to_numpy(copy)
    x[...] = -1
    assert_same(copy, kept)
    copy[...] = 55
    assert_same(x, np.full((3, 4), -1, "int32"))


def test_a_rank_0_integer_tensor_index_gives_a_copy():
    array, x = twins()
    row = x[tc.tensor(1)]
    assert_same(row, array[1])
    row[...] = 0
    assert_same(x, array)


def test_functions_of_views():
    array, x = twins()
    for function in (lambda t: tc.transpose(t, (1, 0)), lambda t: tc.permute(t, (1, 0)), lambda t: tc.reshape(t, (4, 3))):
        function(x)[0, 0] = 9
        array[0, 0] = 9
        assert_same(x, array)
        x[0, 0] = array[0, 0] = 0


def test_broadcast_to_is_a_read_only_view():
    x = tc.tensor([1, 2, 3])
    wide = tc.broadcast_to(x, (2, 3))
    for write in (lambda: wide.__setitem__(0, 1), lambda: wide.__setitem__((), 1), lambda: wide[0].__setitem__(0, 1), lambda: wide.__iadd__(1)):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert_same(x, np.int32([1, 2, 3]))
    x[1] = 50
    assert_same(wide, np.int32([[1, 50, 3], [1, 50, 3]]))
    assert_same(wide + 1, np.int32([[2, 51, 4], [2, 51, 4]]))


def test_names_are_handles():
    s = tc.tensor([1, 2])
    t = s
    s += 1
    assert t is s
    assert_same(t, np.int32([2, 3]))
    s = s + 1
    assert_same([t, s], [np.int32([2, 3]), np.int32([3, 4])])


def test_iteration_gives_views_of_rows_and_values_of_elements():
    array, x = twins()
    for row, view in zip(array, x):
        row[0] *= 10
        view[0] *= 10
    assert_same(x, array)
    flat = tc.tensor([1, 2, 3])
    for element in flat:
        element += 5
    assert_same(flat, np.int32([1, 2, 3]))


def test_swaps():
    x = tc.tensor([1, 2, 3])
    x[0], x[1] = x[1], x[0]
    assert_same(x, np.int32([2, 1, 3]))
    array, x = twins()
    array[0], array[1] = array[1], array[0]
    x[0], x[1] = x[1], x[0]
    assert_same(x, array)
    x[0], x[1] = x[1] + 0, x[0] + 0
    array[0], array[1] = array[1] + 0, array[0] + 0
    assert_same(x, array)


@pytest.mark.parametrize(
    "statement",
    ["x[1:] = x[:-1]", "x[:-1] = x[1:]", "x[::-1] += x", "x[...] = x[::-1]", "x[:3] *= x[2:]", "x[::2] = x[1:4]", "x[1:] += x[:-1]"]
    + ["x[1:][::2] = x[:2]", "x[1:4][1] = x[0]", "x[2:] = x[2:]", "x[[0, 1, 2]] = x[[2, 0, 1]]", "x[x > 2] = x[:3]"],
)
def test_overlapping_statements(statement):
    array = np.arange(1, 6, dtype="int32")
    x = tc.tensor(array)
    for _ in range(3):
        exec(statement, {"x": array})
        exec(statement, {"x": x})
        assert_same(x, array)
        array[0] += 1
        x[0] += 1
        if "x > 2" in statement:
            break


def test_the_view_keeps_the_bounds_read_at_creation():
    x, end = tc.tensor([1, 2, 3, 4]), tc.tensor(2)
    view = x[:end]
    end[...] = 4
    assert_same(view, np.int32([1, 2]))
    x[0] = 9
    assert_same(view, np.int32([9, 2]))
    assert_same(x[:end], np.int32([9, 2, 3, 4]))


def test_a_view_keeps_its_base_alive():
    view = tc.tensor([1, 2, 3])[1:]
    view[0] = 7
    assert_same(view, np.int32([7, 3]))


# ---------------------------------------------------------------------------------------------- random chains


def random_view(random, array, x):
    """The same random view or reshape of both twins, or None if there is none here."""
    kind = random.integers(0, 6)
    if kind <= 2:
        items = []
        for size in array.shape:
            choice = random.integers(0, 5)
            if choice == 0 and size and array.ndim > 1 and len(items) < array.ndim - 1:
                items.append(int(random.integers(-size, size)))
            elif choice == 1:
                items.append(slice(None, None, -1))
            elif choice == 2:
                items.append(slice(*(int(v) for v in np.sort(random.integers(0, size + 1, 2)))))
            elif choice == 3:
                items.append(slice(int(random.integers(0, size + 1)), None, int(random.integers(1, 4))))
            else:
                items.append(slice(None))
        items += [Ellipsis] * int(random.integers(0, 2))
        if random.integers(0, 3) == 0:
            items.insert(int(random.integers(0, len(items) + 1)), None)
        return array[tuple(items)], x[tuple(items)]
    if kind == 3:
        axes = tuple(int(axis) for axis in random.permutation(array.ndim))
        return array.transpose(axes), x.transpose(axes)
    if kind == 4:
        options = [(array.size,), (1, array.size), (-1, 1)] if array.size else [(array.size,)]
        options += [(array.size // part, part) for part in (2, 3, 4) if array.size and array.size % part == 0]
        new = options[random.integers(0, len(options))]
        return array.reshape(new), x.reshape(new)
    new = (2, *array.shape)
    return np.broadcast_to(array, new), tc.broadcast_to(x, new)


@pytest.mark.parametrize("seed", range(60))
def test_random_chains_of_views(seed):
    """After each of 25 random writes through random views every view agrees with its NumPy twin."""
    random = np.random.default_rng(seed)
    shape = [(24,), (4, 6), (2, 3, 4), (1, 8, 3), (2, 1, 3, 4)][seed % 5]
    base = np.arange(24, dtype="int32").reshape(shape)
    pairs = [(base, tc.tensor(base))]
    for step in range(25):
        pair = random_view(random, *pairs[random.integers(0, len(pairs))])
        if pair[0].ndim <= 6 and pair[0].size <= 200:
            pairs.append(pair)
        array, x = pairs[random.integers(0, len(pairs))]
        number = int(random.integers(-50, 50))
        if not array.flags.writeable:
            with pytest.raises(ValueError):
                x[...] = number
        elif random.integers(0, 2):
            array[...] = number
            x[...] = number
        else:
            value = random.integers(-50, 50, array.shape).astype("int32")
            array += value
            x += tc.tensor(value)
        for position, (array, x) in enumerate(pairs):
            assert_same(x, np.array(array), f"step {step}, view {position}")
    assert len(pairs) > 10
