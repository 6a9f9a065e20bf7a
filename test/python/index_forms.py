"""A seeded generator of index forms, and the oracle for them: NumPy where it is an oracle, a Python loop elsewhere.

A form is (shape, items): `items` is the tuple between the brackets, with NumPy arrays where a tensor is meant.
`as_tensors(items)` is what the tensor under test gets. Forms are legal or carry one fault on purpose.
"""

import numpy as np

import tracec as tc
from checks import INTEGER_DTYPES, UNSIGNED_DTYPES

SHAPES = [(5,), (1,), (0,), (12,), (3, 4), (1, 5), (4, 1), (0, 3), (3, 0), (3, 2), (2, 3, 4), (3, 1, 2), (2, 0, 3), (4, 3, 2)]
SHAPES += [(3, 3, 3), (2, 3, 5), (2, 3, 2, 3), (1, 2, 1, 3), (3, 2, 2, 4), (2, 2, 3, 3), (2, 3, 0, 2), (3, 3, 2, 1)]
BROADCASTABLE = [(), (1,), (2,), (3,), (1, 1), (2, 1), (1, 3), (2, 3), (0,), (1, 0), (2, 1, 3)]


def random_slice(random, size):
    """Bounds inside, at and outside the axis; any step but 0."""
    def bound():
        return None if random.integers(0, 3) == 0 else int(random.integers(-size - 3, size + 4))

    step = [None, 1, 1, 2, 3, -1, -1, -2, -3, 7, -7][random.integers(0, 11)]
    return slice(bound(), bound(), step)


def integer_array(random, size, shape):
    """Indices of both signs inside an axis of that size, in one of the integer dtypes."""
    values = random.integers(-size, size, shape) if size else np.zeros(shape, int)
    dtypes = [name for name in ("int64", *INTEGER_DTYPES) if size <= np.iinfo(name).max]
    dtype = dtypes[random.integers(0, len(dtypes))]
    return np.asarray(np.abs(values) % max(size, 1) if dtype in UNSIGNED_DTYPES else values).astype(dtype)


def random_mask(random, shape):
    return np.asarray(random.random(shape) < random.choice([0.0, 0.3, 0.5, 1.0]))


def advanced_shapes(random, how_many):
    """Shapes of several index arrays that broadcast together; mostly not empty."""
    while True:
        shapes = [BROADCASTABLE[random.integers(0, len(BROADCASTABLE))] for _ in range(how_many)]
        try:
            result = np.broadcast_shapes(*shapes)
        except ValueError:
            continue
        if 0 not in result or random.integers(0, 6) == 0:
            return shapes


def random_form(random):
    """One legal form: a shape and a tuple of items that uses at most its axes."""
    shape = SHAPES[random.integers(0, len(SHAPES))]
    flavour = random.integers(0, 5) % 4 or random.integers(0, 4)  # 0 basic, 1 integer arrays, 2 masks, 3 everything
    count = int(random.integers(1, 5))
    shapes = advanced_shapes(random, 4)
    items, axis = [], 0
    last = int(random.integers(0, len(shape) + 1)) if random.integers(0, 2) else len(shape)
    while axis < last:
        choice = random.integers(0, 10)
        size = shape[axis]
        mask_now = flavour == 2 or (flavour == 3 and choice % 2)
        if choice < 6 and flavour and count and not mask_now:
            count -= 1
            # An axis of size 0 has no legal index, so only an empty array fits there.
            items.append(integer_array(random, size, shapes.pop() if size else (0,)))
        elif choice < 6 and flavour and count:
            count -= 1
            rank = int(random.integers(1, last - axis + 1))
            items.append(random_mask(random, shape[axis : axis + rank]))
            axis += rank - 1
        elif choice < 8 or not size:
            items.append(random_slice(random, size) if choice else slice(None))
        else:
            items.append(int(random.integers(-size, size)))
        axis += 1
    if flavour == 3 and random.integers(0, 6) == 0:
        items.insert(int(random.integers(0, len(items) + 1)), bool(random.integers(0, 4)))
    if random.integers(0, 3) == 0:
        items.insert(int(random.integers(0, len(items) + 1)), None)
    if random.integers(0, 3) == 0 or last < len(shape):
        # Later axes are whole unless an Ellipsis moves the items to the back.
        if last == len(shape):
            items.insert(int(random.integers(0, len(items) + 1)), Ellipsis)
        elif random.integers(0, 2):
            items.append(Ellipsis)
    return shape, tuple(items)


def axes_of(shape, items):
    """(axis, item) for every item that uses axes: the mapping that the faults and the bounds check need."""
    used = sum(item.ndim if is_mask(item) else 0 if is_axisless(item) else 1 for item in items)
    axis, result = 0, []
    for item in items:
        if item is Ellipsis:
            axis += len(shape) - used
        elif not is_axisless(item):
            result.append((axis, item))
            axis += item.ndim if is_mask(item) else 1
    return result


def is_mask(item):
    return isinstance(item, np.ndarray) and item.dtype == bool


def is_axisless(item):
    return item is None or item is Ellipsis or isinstance(item, bool)


def is_integer_array(item):
    return isinstance(item, np.ndarray) and item.dtype != bool


def out_of_range(shape, items):
    """True if an int or an element of an index array is outside its axis, also when the result is empty."""
    for axis, item in axes_of(shape, items):
        if isinstance(item, slice) or is_mask(item):
            continue
        values = np.asarray(item).astype("int64")
        if ((values < -shape[axis]) | (values >= shape[axis])).any():
            return True
    return False


def with_fault(random, shape, items):
    """The form with one fault: (items, fault name), or None if this form has no place for the chosen fault."""
    fault = ["range", "range", "rank", "ellipsis", "mask", "broadcast"][random.integers(0, 6)]
    items = list(items)
    if fault == "range":
        places = [i for i, item in enumerate(items) if is_integer_array(item) or (isinstance(item, int) and not isinstance(item, bool))]
        if not places:
            return None
        place = places[random.integers(0, len(places))]
        before = sum(not is_axisless(item) for item in items[:place])
        size = shape[axes_of(shape, items)[before][0]]
        bad = [size, -size - 1, size + 100][random.integers(0, 3)]
        if is_integer_array(items[place]):
            if not items[place].size or not np.iinfo(items[place].dtype).min <= bad <= np.iinfo(items[place].dtype).max:
                return None
            items[place] = items[place].copy()
            items[place].reshape(-1)[random.integers(0, items[place].size)] = bad
        else:
            items[place] = bad
    elif fault == "rank":
        used = sum(item.ndim if is_mask(item) else 0 if is_axisless(item) else 1 for item in items)
        items += [slice(None)] * (len(shape) - used) + [0]
    elif fault == "ellipsis":
        items = [Ellipsis, *(item for item in items if item is not Ellipsis), Ellipsis]
    elif fault == "mask":
        places = [i for i, item in enumerate(items) if is_mask(item)]
        if not places:
            return None
        mask = items[places[0]]
        items[places[0]] = np.ones((mask.shape[0] + 1, *mask.shape[1:]), bool)
    else:
        if len(shape) < 2 or 0 in shape:
            return None
        items = [np.zeros(2, "int64"), np.zeros(3, "int64")]
    return tuple(items), fault


def as_tensors(items):
    """The items with tensors for the arrays; every third array stays a list, as a user would write it."""
    result = []
    for place, item in enumerate(items):
        if not isinstance(item, np.ndarray):
            result.append(item)
        elif place % 3 == 2 and item.ndim == 1 and item.size and item.dtype == np.int64:
            result.append(item.tolist())
        else:
            result.append(tc.tensor(item))
    return tuple(result)


def reference_read(array, items):
    """What the read gives, as an array of rank 0 or more."""
    return np.array(array[items])


def reference_set(array, items, value):
    """`array` with the indexed positions replaced one by one in C order: the last of repeated positions wins."""
    result = array.copy()
    positions = np.arange(array.size).reshape(array.shape)[items]
    flat = result.reshape(-1)
    for position, element in zip(np.ravel(positions), np.ravel(np.broadcast_to(value, np.shape(positions)))):
        flat[position] = element
    return result


def legal_forms(count, seed):
    """`count` legal forms that NumPy accepts; counts of masks may fail to broadcast, and those are left out."""
    random = np.random.default_rng(seed)
    forms = []
    while len(forms) < count:
        shape, items = random_form(random)
        try:
            np.zeros(shape)[items]
        except IndexError as error:
            assert "broadcast" in str(error) or out_of_range(shape, items), (shape, items, error)
            continue
        forms.append((shape, items))
    return forms


def faulty_forms(count, seed):
    """`count` forms with one fault each, as (shape, items, fault)."""
    random = np.random.default_rng(seed)
    forms = []
    while len(forms) < count:
        shape, items = random_form(random)
        broken = with_fault(random, shape, items)
        if broken is not None:
            forms.append((shape, *broken))
    return forms
