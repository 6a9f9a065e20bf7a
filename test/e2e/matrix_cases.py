"""What the op matrix runs: per op family the traced bodies, the argument cases, and the NumPy references.

`drivers(op, info, dtype)` gives a list of Driver. A family whose attributes do not depend on the rank has one driver, so
one trace for all ranks; the others have one per rank. A Case is one argument list; its `key` is what a
trace is recorded for, inside which a replay may compile only once: ranks, axes of size 1, and which operands are views.
"""

import dataclasses
import functools
import zlib
from typing import Callable

import numpy as np

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, NARROW_DTYPES, QUOTIENT, SUM, UNSIGNED_DTYPES, is_float
from checks import ordered_extreme, reference_cast, spacing, special_values

TAILS = [*range(2, 41), 63, 64, 65, 127, 128, 129, 1000]
BIG = 300_007


@dataclasses.dataclass(frozen=True, eq=False)
class Operand:
    """A contiguous base array and the view of it that the op gets, applied alike to the array and to the tensor."""

    base: np.ndarray
    view: Callable = lambda x: x

    def array(self):
        return self.view(self.base)

    def tensor(self):
        return self.view(tc.tensor(self.base))

    def is_view(self):
        return self.array() is not self.base


@dataclasses.dataclass(eq=False)
class Case:
    operands: tuple

    @functools.cached_property
    def key(self):
        return tuple(
            ("view" if operand.is_view() else "whole", *("1" if size == 1 else "n" for size in operand.array().shape))
            for operand in self.operands
        )

    @functools.cached_property
    def name(self):
        return " and ".join(str(array.shape) for array in self.arrays)

    @functools.cached_property
    def arrays(self):
        return [operand.array() for operand in self.operands]

    @functools.cached_property
    def tensors(self):
        """Made once: no body of the matrix writes to its arguments."""
        return [operand.tensor() for operand in self.operands]


@dataclasses.dataclass(frozen=True)
class Driver:
    """`body` works on tensors and returns a tuple; `reference` gives, per result, an array or (array, allowed error)."""

    name: str
    body: Callable
    cases: list
    reference: Callable


@functools.lru_cache(maxsize=512)
def values(shape, dtype, seed, special=True):
    """Values of one operand: ordinary ones mixed with all special ones, or only moderate finite ones."""
    random = np.random.default_rng(zlib.crc32(repr((shape, dtype, seed)).encode()))
    if dtype == "bool":
        pool = np.array([False, True])
    elif dtype in FLOAT_DTYPES:
        pool = (random.standard_normal(400) * 3).astype(dtype)
    else:
        pool = random.integers(0 if dtype in UNSIGNED_DTYPES else -120, 120, 400).astype(dtype)
    if special:
        pool = np.concatenate([pool[:80], special_values(dtype)])
    result = pool[random.integers(0, len(pool), shape)]
    result = np.asarray(result)
    result.flags.writeable = False
    return result


def plain(*shapes_and_dtypes, special=True):
    """A case of contiguous operands."""
    return Case(tuple(Operand(values(shape, dtype, seed, special)) for seed, (shape, dtype) in enumerate(shapes_and_dtypes)))


def viewed(view, base_shape, dtypes, special=True):
    """A case in which every operand is the same kind of view of a base of that shape."""
    return Case(tuple(Operand(values(base_shape, dtype, seed, special), view) for seed, dtype in enumerate(dtypes)))


WHOLE = lambda x: x  # noqa: E731
STEP = lambda x: x[::2]  # noqa: E731
REVERSED = lambda x: x[::-1]  # noqa: E731
TRANSPOSED = lambda x: x.T  # noqa: E731
STEPS_2D = lambda x: x[::2, ::-3]  # noqa: E731
INNER_STEP_3D = lambda x: x.transpose((2, 0, 1))[:, ::-1, ::2]  # noqa: E731


def same_shape_cases(dtypes, special=True, empty=True, ranks=(0, 1, 2, 3)):
    """The shape classes for operands of one shape: rank 0, 1, tails, empty, strided, 3-d, big."""
    shapes = {
        0: [(), ()],
        1: [(1,), (1,), *((size,) for size in TAILS), (BIG,)],
        2: [(5, 7), (2, 3), (40, 33), (700, 431), (1, 9), (1, 20), (6, 1), (17, 1), (1, 1)],
        3: [(3, 4, 5), (2, 9, 17), (3, 1, 4), (5, 1, 33)],
    }
    empties = {0: [], 1: [(0,)], 2: [(0, 3), (3, 0), (0, 0)], 3: [(2, 0, 3)]}
    views = {
        0: [],
        1: [(STEP, (33,)), (STEP, (2000,)), (REVERSED, (37,)), (REVERSED, (BIG,))],
        2: [(TRANSPOSED, (9, 14)), (TRANSPOSED, (431, 700)), (STEPS_2D, (11, 22)), (STEPS_2D, (90, 301))],
        3: [(INNER_STEP_3D, (4, 9, 5)), (INNER_STEP_3D, (7, 40, 6))],
    }
    cases = []
    for rank in ranks:
        for shape in shapes[rank] + (empties[rank] if empty else []):
            cases.append(plain(*[(shape, dtype) for dtype in dtypes], special=special))
        cases += [viewed(view, base, dtypes, special) for view, base in views[rank]]
    return cases


def broadcast_cases(dtypes):
    """Operands of different shapes; each pattern at two sizes."""
    patterns = [[((), (7,)), ((), (500,))], [((1,), (9,)), ((1,), (64,))], [((5, 1), (1, 7)), ((17, 1), (1, 33))]]
    patterns += [[((6,), (4, 6)), ((130,), (21, 130))], [((4, 1), (4, 6)), ((300, 1), (300, 1001))], [((3, 4, 5), (4, 5)), ((2, 9, 17), (9, 17))]]
    # Rows long enough to be cut for threads.
    patterns += [[((), (40_000,)), ((), (40_007,))], [((3, 1), (3, 40_000)), ((2, 1), (2, 50_001))]]
    patterns += [[((1,), (0,)), ((1,), (0,))], [((4, 1, 3), (1, 5, 1)), ((2, 1, 40), (1, 6, 1))]]
    cases = []
    for left, right in (shapes for pattern in patterns for shapes in pattern):
        if len(dtypes) == 2:
            cases += [plain((left, dtypes[0]), (right, dtypes[1])), plain((right, dtypes[0]), (left, dtypes[1]))]
        else:
            cases.append(plain((left, dtypes[0]), (right, dtypes[1]), (left, dtypes[2])))
            cases.append(plain((right, dtypes[0]), (left, dtypes[1]), (left, dtypes[2])))
    return cases


# ---------------------------------------------------------------------------------------------- families


def wider(dtype):
    return np.longdouble if dtype == "float64" else np.float64


def pointwise_reference(op, info, dtype):
    """Exact ops in their own dtype; functions with an error bound in a wider dtype, rounded once."""
    if op in ("minimum", "maximum"):
        return lambda x, y: [ordered_extreme(x, y, largest=op == "maximum")]
    function = getattr(np, info.numpy)
    if info.ulp == 0 or dtype not in FLOAT_DTYPES:
        return lambda *arrays: [function(*arrays)]
    return lambda *arrays: [function(*[a.astype(wider(dtype)) for a in arrays]).astype(dtype)]


def pointwise(op, info, dtype):
    function = getattr(tc, op)
    dtypes = [dtype] * info.arity
    cases = same_shape_cases(dtypes) + (broadcast_cases(dtypes) if info.arity > 1 else [])
    return [Driver(op, lambda *xs: (function(*xs),), cases, pointwise_reference(op, info, dtype))]


def select(op, info, dtype):
    dtypes = ["bool", dtype, dtype]
    cases = same_shape_cases(dtypes) + broadcast_cases(dtypes)
    return [Driver(op, lambda *xs: (getattr(tc, op)(*xs),), cases, lambda *xs: [getattr(np, info.numpy)(*xs)])]


def cast(op, info, dtype):
    def body(x):
        return tuple(tc.cast(x, target) for target in DTYPES)

    return [Driver(op, body, same_shape_cases([dtype]), lambda x: [reference_cast(x, target) for target in DTYPES])]


AXES = {0: [None], 1: [None, 0], 2: [None, 0, 1, (0, 1)], 3: [None, 1, (0, 2), -1]}
BLOCKS = [4095, 4096, 4097, 8193]


def reduce_reference(op, info, dtype, axis, keepdims):
    function = getattr(np, info.numpy)

    def chosen(x):
        result = function(x, axis=axis, keepdims=True)
        if is_float(x):
            # NumPy takes whichever zero comes first; here -0.0 is below +0.0.
            has = {sign: np.any((x == 0) & (np.signbit(x) == sign), axis=axis, keepdims=True) for sign in (False, True)}
            zero = np.where(has[False], 0.0, -0.0) if info.combiner == "maximum" else np.where(has[True], -0.0, 0.0)
            result = np.where(result == 0, zero.astype(dtype), result)
        return result if keepdims else result.reshape(np.max(x, axis=axis).shape)

    def position(x):
        """In C order over the reduced axes; NumPy takes one axis, or all."""
        axes = tuple(range(x.ndim)) if axis is None else tuple(a % x.ndim for a in np.atleast_1d(axis))
        kept = [a for a in range(x.ndim) if a not in axes]
        rows = x.transpose(*kept, *axes).reshape([x.shape[a] for a in kept] + [-1])
        result = function(rows, axis=-1)
        return result.reshape([1 if a in axes else x.shape[a] for a in range(x.ndim)]) if keepdims else result

    def added(x):
        result_dtype = (QUOTIENT if op == "mean" else SUM)[dtype]
        if result_dtype not in FLOAT_DTYPES:
            return function(x.astype(result_dtype), axis=axis, keepdims=keepdims)
        wide = x.astype(wider(result_dtype))
        # Rounding errors scale with the sum of the magnitudes, not with the sum, which may cancel.
        scale = np.asarray(function(np.abs(wide), axis=axis, keepdims=keepdims)).astype(result_dtype)
        return np.asarray(function(wide, axis=axis, keepdims=keepdims)).astype(result_dtype), info.ulp * spacing(scale)

    return position if info.is_indexed else chosen if info.needs_elements else added


def outlier(size, place, dtype):
    """All elements alike but one: a part that a reduction leaves out shows only if it decides."""
    array = np.zeros(size, dtype)
    array[place] = 1
    return Case((Operand(array),))


def reduce(op, info, dtype):
    result = []
    for rank, axes in AXES.items():
        settings = [(axis, keepdims) for axis in axes for keepdims in (False, True)]

        def body(x, settings=settings):
            return tuple(getattr(tc, op)(x, axis=axis, keepdims=keepdims) for axis, keepdims in settings)

        references = [reduce_reference(op, info, dtype, *setting) for setting in settings]
        chooses = info.needs_elements
        cases = same_shape_cases([dtype], special=chooses, empty=not chooses, ranks=[rank])
        if rank == 1:
            cases += [plain(((size,), dtype), special=chooses) for size in BLOCKS]
            cases += [outlier(size, place, dtype) for size in (5, 4097, 70_000) for place in (0, -1)]
        if rank == 2:
            cases += [plain((shape, dtype), special=chooses) for shape in [(3, 4097), (4097, 3), (2, 9000), (9000, 2), (12_500, 33)]]
        result.append(Driver(f"{op} rank {rank}", body, cases, lambda x, references=references: [r(x) for r in references]))
    return result


def size(op, info, dtype):
    def body(x):
        return (tc.zeros((), dtype="int64") + x.shape[0] * x.shape[1], tc.zeros((), dtype="int64") + x.shape[1])

    cases = same_shape_cases([dtype], ranks=[2])
    return [Driver(op, body, cases, lambda x: [np.int64(x.size), np.int64(x.shape[1])])]


def guard_bodies(dtype):
    """Per guard, a body that records it, and its reference."""

    def squeezed(x):
        return x[:, None].squeeze(axis=1), x.squeeze()

    def in_place(x):
        total = x.copy()
        total += x
        return (total,)

    def through_view(x):
        written = x.copy()
        part = written[:, :2].reshape(-1)
        part[1:] = 1
        return written, part

    def stored(x):
        sizes = tc.zeros((2,), dtype=dtype)
        sizes[0] = x.shape[0]
        return (sizes,)

    def view_reference(x):
        written = x.copy()
        written.reshape(-1)[1:] = 1
        return [written, written.reshape(-1)]

    def sum_reference(x):
        return [np.add(x, x)]

    return {
        "guard_one": (squeezed, lambda x: [x, x]),
        "guard_same_shape": (in_place, sum_reference),
        "guard_view": (through_view, view_reference),
        "guard_fits": (stored, lambda x: [np.array([x.shape[0], 0], dtype)]),
    }


def guard(op, info, dtype):
    body, reference = guard_bodies(dtype)[op]
    shapes = [(5, 2), (2, 2), (40, 2), (0, 2), (120, 3000) if op == "guard_fits" else (170_001, 2)]
    return [Driver(op, body, [plain((shape, dtype)) for shape in shapes], reference)]


SHAPE_BODIES = {
    "reshape": {
        0: [(lambda x: tc.reshape(x, (1, 1)), lambda x: x.reshape((1, 1)))],
        1: [(lambda x: tc.reshape(x, (x.shape[0], 1)), lambda x: x.reshape((-1, 1)))],
        2: [(lambda x: tc.reshape(x, (x.shape[1], x.shape[0])), lambda x: x.reshape(x.shape[::-1]))],
        3: [(lambda x: tc.reshape(x, (x.shape[0] * x.shape[1], x.shape[2])), lambda x: x.reshape((x.shape[0] * x.shape[1], x.shape[2])))],
    },
    "broadcast_to": {
        0: [(lambda x: tc.broadcast_to(x, (2, 3)), lambda x: np.broadcast_to(x, (2, 3)))],
        1: [(lambda x: tc.broadcast_to(x, (3, x.shape[0])), lambda x: np.broadcast_to(x, (3, *x.shape)))],
        2: [(lambda x: tc.broadcast_to(x[:, :1], (x.shape[0], 5)), lambda x: np.broadcast_to(x[:, :1], (x.shape[0], 5)))],
        3: [(lambda x: tc.broadcast_to(x, (2, *x.shape)), lambda x: np.broadcast_to(x, (2, *x.shape)))],
    },
    "permute": {
        1: [(lambda x: tc.permute(x, (0,)), lambda x: x)],
        2: [(lambda x: tc.permute(x, (1, 0)), lambda x: x.T)],
        3: [
            (lambda x: tc.permute(x, (2, 0, 1)), lambda x: x.transpose((2, 0, 1))),
            (lambda x: tc.permute(x, (1, 0, 2)), lambda x: x.transpose((1, 0, 2))),
            (lambda x: tc.permute(x, (0, 2, 1)), lambda x: x.transpose((0, 2, 1))),
        ],
    },
}


def shape(op, info, dtype):
    result = []
    for rank, pairs in SHAPE_BODIES[op].items():
        def body(x, pairs=pairs):
            # The view itself, and the view read by another op: an index map in a kernel.
            views = [ours(x) for ours, _ in pairs]
            return (*views, *(tc.concat([view, view]) if view.ndim else view for view in views))

        def reference(x, pairs=pairs):
            views = [theirs(x) for _, theirs in pairs]
            return [*views, *(np.concatenate([view, view]) if view.ndim else view for view in views)]

        cases = same_shape_cases([dtype], ranks=[rank])
        if op == "broadcast_to" and rank == 2:
            cases = [case for case in cases if case.arrays[0].shape[1]]
        # Whether reshape gives a view depends on the strides, and that is part of the trace: one trace for each kind.
        strided = [case for case in cases if op == "reshape" and not case.arrays[0].flags.c_contiguous]
        result.append(Driver(f"{op} rank {rank}", body, [case for case in cases if case not in strided], reference))
        if strided:
            result.append(Driver(f"{op} rank {rank} strided", body, strided, reference))
    return result


def join(op, info, dtype):
    result = []
    for rank, axis in ((1, 0), (2, 0), (2, 1), (3, 1)):
        def body(x, y, axis=axis):
            return (getattr(tc, op)([x, y, x], axis=axis), getattr(tc, op)([y], axis=axis))

        def reference(x, y, axis=axis):
            return [np.concatenate([x, y, x], axis=axis), y]

        cases = same_shape_cases([dtype, dtype], ranks=[rank])
        if rank == 1:
            cases += [plain(((left,), dtype), ((right,), dtype)) for left, right in [(3, 40), (40, 3), (0, 5), (5, 0)]]
        result.append(Driver(f"{op} rank {rank} axis {axis}", body, cases, reference))
    return result


def python_number(value):
    return float(value) if value.dtype.name in FLOAT_DTYPES else value.item()


def create(op, info, dtype):
    if op == "full":
        numbers = [python_number(value) for value in special_values(dtype)[:12]]

        def body(x):
            return tuple(tc.full(x.shape, number, dtype=dtype) for number in numbers)

        cases = [plain((shape, "float32")) for shape in [(5, 7), (2, 3), (0, 3), (40, 33), (700, 431)]]
        return [Driver(op, body, cases, lambda x: [np.full(x.shape, number, dtype) for number in numbers])]

    def body(x):
        return (tc.arange(x.shape[0], dtype=dtype), tc.arange(3, 40, 4, dtype=dtype), tc.arange(x.shape[0], dtype=dtype)[::-1])

    def reference(x):
        count = np.arange(x.shape[0]).astype(dtype)
        return [count, np.arange(3, 40, 4).astype(dtype), count[::-1]]

    # Counts that every dtype holds exactly; larger ones only where the dtype does.
    sizes = [0, *TAILS[:46]] if dtype in NARROW_DTYPES else [0, *TAILS, BIG]
    most = np.iinfo(dtype).max + 1 if dtype in INTEGER_DTYPES else BIG
    return [Driver(op, body, [plain(((size,), "float32")) for size in sizes if size <= most], reference)]


MATMULS = {
    "matrix": [((5, 7), (7, 3)), ((2, 3), (3, 4)), ((33, 70), (70, 19)), ((9, 48), (48, 96)), ((129, 257), (257, 65)), ((4, 0), (0, 5)), ((0, 3), (3, 4))],
    "row": [((1, 9), (9, 17)), ((1, 65), (65, 4)), ((9, 17), (17, 1)), ((65, 4), (4, 1))],
    "vectors": [((9,), (9,)), ((40,), (40,)), ((0,), (0,)), ((9001,), (9001,)), ((BIG,), (BIG,))],
    "matrix and vector": [((9, 4), (4,)), ((65, 129), (129,)), ((7, 5000), (5000,)), ((0, 4), (4,)), ((4, 0), (0,))],
    "column": [((9, 4), (4, 1)), ((65, 129), (129, 1)), ((3, 4097), (4097, 1)), ((33, 64), (64, 1))],
    "one by one": [((1, 9), (9, 1)), ((1, 4097), (4097, 1)), ((1, 0), (0, 1))],
    "vector and matrix": [((4,), (4, 9)), ((129,), (129, 65))],
    "batch": [((3, 5, 7), (3, 7, 4)), ((2, 33, 9), (2, 9, 20)), ((3, 5, 7), (7, 4)), ((4, 33, 9), (9, 20))],
    "batch of columns": [((3, 5, 7), (3, 7, 1)), ((2, 33, 129), (2, 129, 1))],
    "batch and vector": [((3, 5, 7), (7,)), ((2, 33, 129), (129,))],
}


def matmul_reference(info, dtype):
    def reference(x, y):
        if dtype not in FLOAT_DTYPES:
            return [np.matmul(x, y)]
        wide_x, wide_y = x.astype(wider(dtype)), y.astype(wider(dtype))
        scale = np.asarray(np.matmul(np.abs(wide_x), np.abs(wide_y))).astype(dtype)
        return [(np.asarray(np.matmul(wide_x, wide_y)).astype(dtype), info.ulp * spacing(scale))]

    return reference


LEFT_VIEWS = [(TRANSPOSED, (129, 65), (129,)), (TRANSPOSED, (5000, 7), (5000,)), (STEPS_2D, (90, 301), (101,)), (REVERSED, (33, 40), (40,))]


def viewed_left(view, base_shape, right_shape, dtype):
    """A case whose left matrix is a view."""
    left = Operand(values(base_shape, dtype, 0, special=False), view)
    return Case((left, Operand(values(right_shape, dtype, 1, special=False))))


def matmul(op, info, dtype):
    result = []
    for name, pairs in MATMULS.items():
        # The sum of magnitudes that the allowed error is taken from must stay finite.
        pairs = [pair for pair in pairs if dtype != "float16" or BIG not in pair[0]]
        cases = [plain((left, dtype), (right, dtype), special=False) for left, right in pairs]
        if name == "matrix and vector":
            cases += [viewed_left(view, base, right, dtype) for view, base, right in LEFT_VIEWS]
        if name == "matrix":
            cases += [viewed(TRANSPOSED, (side, side), [dtype, dtype], special=False) for side in (12, 65)]
        result.append(Driver(f"{op} {name}", lambda x, y: (getattr(tc, op)(x, y),), cases, matmul_reference(info, dtype)))
    return result


# Index forms per rank. Ints need an element, so forms with ints do not run on empty cases.
BASIC = {
    1: [(slice(1, None),), (slice(None, None, -2),), (slice(-3, None),), (slice(None, 5), None), (slice(3, 30, 4),)],
    2: [(slice(1, None), slice(None, None, 2)), (slice(None, None, -1), slice(1, -1)), (Ellipsis, None, slice(-2, None)), (slice(None), slice(0, 0))],
    3: [(slice(1, None), slice(None), slice(None, None, -1)), (Ellipsis, slice(1, None, 2)), (slice(None, 2), None, slice(-1, None))],
}
WITH_INTS = {1: [(0,), (-1, None)], 2: [(0,), (slice(None), -1), (-1, slice(None, None, -1))], 3: [(0, slice(None), -1), (Ellipsis, 0)]}


def basic_indexing(op, info, dtype):
    result = []
    for forms_by_rank, empty in ((BASIC, True), (WITH_INTS, False)):
        for rank, forms in forms_by_rank.items():
            def read(x, forms=forms):
                return tuple(tc.concat([x[form][None]]) for form in forms)

            def read_reference(x, forms=forms):
                return [np.array(x[form])[None] for form in forms]

            def write(x, v, forms=forms):
                return tuple(written(x.astype(dtype), v, form) for form in forms)

            def write_reference(x, v, forms=forms):
                return [written(x.copy(), v, form) for form in forms]

            cases = same_shape_cases([dtype] * info.arity, empty=empty, ranks=[rank])
            name = f"{op} rank {rank}{'' if empty else ' with ints'}"
            if op == "subtensor":
                result.append(Driver(name, read, cases, read_reference))
            else:
                result.append(Driver(name, write, cases, write_reference))
    return result


def written(y, v, form):
    """`y` after y[form] = the same part of the reversed value."""
    y[form] = v[::-1][form]
    return y


def advanced_cases(dtype, rank, arity):
    """x (and a value of its shape), an index array for axis 0 with both signs and repeats, one for the last axis, a mask."""
    shapes = {1: [(1,), *((n,) for n in TAILS), (BIG,), (0,)], 2: [(5, 7), (2, 3), (40, 33), (700, 431), (0, 3)], 3: [(3, 4, 5), (2, 9, 17)]}
    views = {1: [(STEP, (33,)), (REVERSED, (2000,))], 2: [(TRANSPOSED, (9, 14)), (STEPS_2D, (90, 301))], 3: [(INNER_STEP_3D, (7, 40, 6))]}
    cases = []
    for view, base in [*((WHOLE, base) for base in shapes[rank]), *views[rank]]:
        operands = [Operand(values(base, dtype, seed), view) for seed in range(arity)]
        shape = operands[0].array().shape
        random = np.random.default_rng(zlib.crc32(repr(shape).encode()))
        count = min(shape[0] + 3, 50_000) if shape[0] else 0
        rows = random.integers(-shape[0], shape[0], count) if count else np.zeros(0, "int64")
        columns = random.integers(-shape[-1], shape[-1], count) if count else np.zeros(0, "int64")
        density = [0.5, 0.0, 1.0, 0.1, 0.5][len(cases) % 5]
        cases.append(Case((*operands, Operand(rows), Operand(columns), Operand(np.asarray(random.random(shape) < density)))))
    return cases


def advanced_forms(rank, rows, columns, mask):
    """Index forms in terms of the index operands; works on arrays and tensors."""
    if rank == 1:
        return [(rows,), (mask,), (rows, None)]
    if rank == 2:
        return [(rows,), (slice(None), columns), (rows, columns), (rows[:, None], columns[:3]), (mask,), (mask[:, 0],), (slice(None, None, -1), columns)]
    return [(rows, slice(None), columns), (slice(1, None), slice(None), columns), (mask,), (mask[:, :, 0], slice(1, None)), (rows, 0, columns)]


def advanced_indexing(op, info, dtype):
    result = []
    for rank in (1, 2, 3):
        def read(x, rows, columns, mask, rank=rank):
            return tuple(x[form] for form in advanced_forms(rank, rows, columns, mask))

        def read_reference(x, rows, columns, mask, rank=rank):
            return [x[form] for form in advanced_forms(rank, rows, columns, mask)]

        def write(x, v, rows, columns, mask, rank=rank):
            results = []
            for form in advanced_forms(rank, rows, columns, mask):
                y = x.astype(dtype)
                y[form] = v[form]
                results.append(y)
            return tuple(results)

        def write_reference(x, v, rows, columns, mask, rank=rank):
            return [set_in_order(x, form, v[form]) for form in advanced_forms(rank, rows, columns, mask)]

        cases = advanced_cases(dtype, rank, info.arity)
        if op == "indexing_multi_axis_vec":
            result.append(Driver(f"{op} rank {rank}", read, cases, read_reference))
        else:
            result.append(Driver(f"{op} rank {rank}", write, cases, write_reference))
    return result


def set_in_order(x, form, value):
    """x with the positions of the form replaced in C order: the last of repeated positions wins."""
    positions = np.ravel(np.arange(x.size).reshape(x.shape)[form])
    flat, value = np.ravel(x).copy(), np.ravel(value)
    # Of each position keep its last occurrence; assigning those is free of repeats.
    unique, from_the_end = np.unique(positions[::-1], return_index=True)
    flat[unique] = value[len(value) - 1 - from_the_end]
    return flat.reshape(x.shape)


def incremented(op, info, dtype):
    """The function for each form alone, and the method for all of them on one tensor."""
    result = []
    for rank in (1, 2, 3):
        def forms_of(rows, columns, mask, rank=rank):
            return [*BASIC[rank], *advanced_forms(rank, rows, columns, mask)]

        def body(x, v, rows, columns, mask, forms_of=forms_of):
            forms = forms_of(rows, columns, mask)
            y = x.astype(dtype)
            for form in forms:
                y.incr(form, v[form])
            return (*(getattr(tc, op)(x, form, v[form]) for form in forms), y)

        def reference(x, v, rows, columns, mask, forms_of=forms_of):
            forms = forms_of(rows, columns, mask)
            y = x
            for form in forms:
                y = updated_in_order(info.update, y, form, v[form])
            return [*(updated_in_order(info.update, x, form, v[form]) for form in forms), y]

        result.append(Driver(f"{op} rank {rank}", body, advanced_cases(dtype, rank, info.arity), reference))
    return result


def updated_in_order(op, x, form, value):
    """x with each element that the form names combined with its value, in C order: NumPy's own order on one axis."""
    positions = np.ravel(np.arange(x.size).reshape(x.shape)[form])
    flat = np.ravel(x).copy()
    with np.errstate(all="ignore"):
        getattr(np, op).at(flat, positions, np.ravel(value))
    return flat.reshape(x.shape)


def compress(op, info, dtype):
    def body(mask, x):
        return tuple(getattr(tc, op)(mask, x))

    def reference(mask, x):
        return [x[mask], np.flatnonzero(mask).astype("int64")]

    cases = same_shape_cases(["bool", dtype])
    for density in (0.0, 0.01, 0.99, 1.0):
        for n in (5, 64, 1000, BIG):
            random = np.random.default_rng(n)
            cases.append(Case((Operand(random.random(n) < density), Operand(values((n,), dtype, 1)))))
    return [Driver(op, body, cases, reference)]


def indexing(op, info, dtype):
    if info.update:
        return incremented(op, info, dtype)
    return (advanced_indexing if "multi_axis_vec" in op else basic_indexing)(op, info, dtype)


FAMILIES = {
    "elementwise": pointwise,
    "compare": pointwise,
    "logical": pointwise,
    "select": select,
    "cast": cast,
    "reduce": reduce,
    "size": size,
    "guard": guard,
    "shape": shape,
    "join": join,
    "create": create,
    "matmul": matmul,
    "indexing": indexing,
    "compress": compress,
}


def drivers(op, info, dtype):
    """The drivers of one row of the matrix."""
    return FAMILIES[info.family](op, info, dtype)
