"""Helpers shared by the Python tests: bit comparison, the three sides a body runs on, source lines.

Usage: `assert_same(traced_result, eager_result)`, `for side in all_sides(): ...`.
"""

import contextlib
import dataclasses
import inspect
import itertools
import re

import ml_dtypes
import numpy as np

import tracec as tc

UNSIGNED_DTYPES = ("uint8", "uint16", "uint32", "uint64")
SIGNED_DTYPES = ("int8", "int16", "int32", "int64")
INTEGER_DTYPES = UNSIGNED_DTYPES + SIGNED_DTYPES
NARROW_DTYPES = ("float16", "bfloat16")
FLOAT_DTYPES = (*NARROW_DTYPES, "float32", "float64")
DTYPES = ("bool", *INTEGER_DTYPES, *FLOAT_DTYPES)
CATEGORY = {"bool": 1} | dict.fromkeys(INTEGER_DTYPES, 2) | dict.fromkeys(FLOAT_DTYPES, 3)
# Of a true quotient.
QUOTIENT = {name: name if name in FLOAT_DTYPES else "float64" if name in ("int64", "uint64") else "float32" for name in DTYPES}
# Of a sum.
SUM = {name: name if name in FLOAT_DTYPES else "uint64" if name in UNSIGNED_DTYPES else "int64" for name in DTYPES}


def result_type(*names):
    """NumPy's, which knows no common dtype of float16 and bfloat16."""
    names = ["float32" if "float16" in names and name == "bfloat16" else name for name in names]
    return np.result_type(*[np.dtype(name) for name in names]).name


def integer_range(dtype, size):
    """[low, high) of a dtype's integers from -size to size - 1."""
    info = np.iinfo(dtype)
    return max(info.min, -size), min(info.max, size - 1) + 1


def is_float(array):
    """ml_dtypes' bfloat16 is of another kind than NumPy's floats."""
    return array.dtype.name in FLOAT_DTYPES


def spacing(array):
    """Units in the last place, as float64."""
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return np.spacing(array.astype("float32")).astype("float64") * 2.0**16
    return np.spacing(array).astype("float64")


def round_to_bfloat16(values):
    """Nearest, ties to even, in one step from any dtype; ml_dtypes goes through float32."""
    exact = np.asarray(values).astype(np.longdouble)
    exponent = np.maximum(np.frexp(exact)[1], -125)
    with np.errstate(all="ignore"):
        rounded = np.ldexp(np.rint(np.ldexp(exact, 8 - exponent)), exponent - 8)
        return rounded.astype("float32").astype("bfloat16")


def stable_name(parameter):
    """The repr of a test's parameter without addresses: processes that share the tests must name them alike."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(parameter))


def dtype_object(name):
    """The tracec dtype object of that name."""
    return getattr(tc, "bool" if name == "bool" else name)


def to_numpy(value):
    """A NumPy array with the value of a tensor, array or Python scalar; never a view of a tensor's memory."""
    if isinstance(value, tc.Tensor):
        return np.array(value.numpy())
    return np.array(value)


def bits_equal(left, right):
    """True if dtype, shape and every bit agree; a NaN equals any NaN (sign and payload are unspecified)."""
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if not is_float(left):
        return bool(np.array_equal(left, right))
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[left.dtype.itemsize]
    if np.array_equal(np.ascontiguousarray(left).view(bits), np.ascontiguousarray(right).view(bits)):
        return True
    # Values alone would let -0.0 pass for +0.0.
    both_nan = np.isnan(left) & np.isnan(right)
    same = (left == right) & (np.signbit(left) == np.signbit(right))
    return bool(np.all(both_nan | same))


def assert_same(got, want, where="value"):
    """Compare two nests of tensors, arrays and Python values bit for bit."""
    if isinstance(want, dict):
        assert isinstance(got, dict) and list(got) == list(want), f"{where}: {got!r} against {want!r}"
        for key in want:
            assert_same(got[key], want[key], f"{where}[{key!r}]")
        return
    if isinstance(want, (list, tuple)):
        assert type(got) is type(want) and len(got) == len(want), f"{where}: {got!r} against {want!r}"
        for position, (one, other) in enumerate(zip(got, want)):
            assert_same(one, other, f"{where}[{position}]")
        return
    if dataclasses.is_dataclass(want):
        assert type(got) is type(want), f"{where}: {got!r} against {want!r}"
        for field in dataclasses.fields(want):
            assert_same(getattr(got, field.name), getattr(want, field.name), f"{where}.{field.name}")
        return
    if want is None or isinstance(want, (str, bytes)):
        assert got == want, f"{where}: {got!r} against {want!r}"
        return
    one, other = to_numpy(got), to_numpy(want)
    assert one.dtype == other.dtype, f"{where}: dtype {one.dtype} against {other.dtype}"
    assert one.shape == other.shape, f"{where}: shape {one.shape} against {other.shape}"
    assert bits_equal(one, other), f"{where}: {one!r} against {other!r}"


def snapshot(nest):
    """The present values of a nest, detached from later writes."""
    if isinstance(nest, dict):
        return {key: snapshot(value) for key, value in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(snapshot(value) for value in nest)
    if isinstance(nest, (tc.Tensor, np.ndarray)):
        return to_numpy(nest)
    return nest


class NumpySide:
    """Runs a test body on NumPy arrays: says what the aliasing rules of NumPy give."""

    name = "numpy"
    where = staticmethod(np.where)
    sum = staticmethod(np.sum)
    maximum = staticmethod(np.maximum)
    minimum = staticmethod(np.minimum)
    broadcast_to = staticmethod(np.broadcast_to)
    matmul = staticmethod(np.matmul)
    concat = staticmethod(np.concatenate)

    @staticmethod
    def tensor(data, dtype="float32"):
        return np.array(data, dtype=dtype)

    @staticmethod
    def trace(body):
        return body

    @staticmethod
    def exclude_from_trace():
        return contextlib.nullcontext()


class EagerSide:
    """Runs a test body on tensors, without a trace."""

    name = "eager"

    def __getattr__(self, name):
        return getattr(tc, name)

    @staticmethod
    def tensor(data, dtype="float32"):
        return tc.tensor(data, dtype=dtype)

    @staticmethod
    def trace(body):
        return body


class TracedSide(EagerSide):
    """Runs a test body as a traced function."""

    name = "traced"

    @staticmethod
    def trace(body):
        return tc.trace(body)


def all_sides():
    """NumPy, eager and traced, in this order."""
    return NumpySide(), EagerSide(), TracedSide()


def line_of(function, marker):
    """The 'file:line' tail of the one source line of `function` that ends in the comment `# @marker`."""
    lines, first = inspect.getsourcelines(function)
    found = [number for number, text in enumerate(lines, first) if text.rstrip().endswith("# @" + marker)]
    assert len(found) == 1, f"marker {marker} found {len(found)} times"
    return f"{inspect.getsourcefile(function).rsplit('/', 1)[-1]}:{found[0]}"


def sample(shape, dtype, seed=0):
    """Deterministic ordinary values of a dtype: both signs where there are any, no NaN, no overflow in a product."""
    random = np.random.default_rng([seed, *shape, len(dtype)])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype in INTEGER_DTYPES:
        info = np.iinfo(dtype)
        return random.integers(max(info.min, -1000), min(info.max, 999) + 1, shape).astype(dtype)
    return (random.standard_normal(shape) * 2).astype(dtype)


def special_values(dtype):
    """Rank-1 array with the values at which implementations tend to differ."""
    if dtype == "bool":
        return np.array([False, True])
    info = np.iinfo(dtype) if dtype in INTEGER_DTYPES else ml_dtypes.finfo(dtype)
    if dtype in INTEGER_DTYPES:
        middle = [0, 1, 2, 3, 7, 100] + ([] if dtype in UNSIGNED_DTYPES else [-1, -2, -7, -100])
        return np.array(middle + [info.min, info.max, info.max - 1, info.max // 2 + 1], dtype=dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 3.0, np.inf, -np.inf, np.nan]
    values += [info.max, -info.max, info.tiny, -info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
    values += [info.eps, 1 + float(info.eps), 10.25, -9.75, 88.0, -88.0]
    return np.array([float(value) for value in values], dtype=dtype)


def all_pairs(values):
    """Two rank-1 arrays that hold every ordered pair of `values`."""
    pairs = list(itertools.product(range(len(values)), repeat=2))
    return values[[left for left, _ in pairs]], values[[right for _, right in pairs]]


def ordered_extreme(left, right, largest):
    """maximum/minimum by tracec's rule: NaN propagates, -0.0 is below +0.0 (NumPy leaves zeros open)."""
    pick = np.maximum if largest else np.minimum
    result = pick(left, right)
    if not is_float(result):
        return result
    left, right = np.broadcast_arrays(left, right)
    zeros = (left == 0) & (right == 0)
    negative = (np.signbit(left) & np.signbit(right)) if largest else (np.signbit(left) | np.signbit(right))
    return np.where(zeros, np.where(negative, -0.0, 0.0).astype(result.dtype), result)


def reference_cast(values, target):
    """The cast by tracec's rule: floats to ints truncate and saturate, NaN gives 0; everything else as NumPy."""
    if values.dtype.name == "bfloat16":
        values = values.astype("float32")
    if target == "bfloat16":
        return round_to_bfloat16(values)
    if not is_float(values) or target not in INTEGER_DTYPES:
        return values.astype(target)
    info = np.iinfo(target)
    whole = np.trunc(values.astype("float64"))
    # 2.0**63 is not an int64; the largest float64 below it is, so the borders are compared as floats.
    high, low = whole >= float(info.max), whole <= float(info.min)
    inside = np.where(high | low | np.isnan(whole), 0.0, whole).astype("uint64" if target == "uint64" else "int64").astype(target)
    return np.where(high, info.max, np.where(low, info.min, inside)).astype(target)


def stable_id(value):
    """A name for a parameter that is the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+|[^ -~]", "", repr(value))[:60]
