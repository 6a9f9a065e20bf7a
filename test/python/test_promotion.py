"""dtype promotion: the printed table for all dtypes, the must-hold list, and arithmetic at its edges."""

import enum
import itertools

import ml_dtypes
import numpy as np
import pytest

import tracec as tc
from checks import CATEGORY, DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, assert_same, dtype_object, result_type, to_numpy

# Rows and columns in the order of DTYPES; the last three columns are a Python bool, int and float.
TABLE = """
bool     bool     uint8    uint16   uint32   uint64   int8     int16    int32    int64    float16  bfloat16 float32  float64  | bool    int32   float32
uint8    uint8    uint8    uint16   uint32   uint64   int16    int16    int32    int64    float16  bfloat16 float32  float64  | uint8   uint8   float32
uint16   uint16   uint16   uint16   uint32   uint64   int32    int32    int32    int64    float16  bfloat16 float32  float64  | uint16  uint16  float32
uint32   uint32   uint32   uint32   uint32   uint64   int64    int64    int64    int64    float16  bfloat16 float32  float64  | uint32  uint32  float32
uint64   uint64   uint64   uint64   uint64   uint64   float64  float64  float64  float64  float16  bfloat16 float32  float64  | uint64  uint64  float64
int8     int8     int16    int32    int64    float64  int8     int16    int32    int64    float16  bfloat16 float32  float64  | int8    int8    float32
int16    int16    int16    int32    int64    float64  int16    int16    int32    int64    float16  bfloat16 float32  float64  | int16   int16   float32
int32    int32    int32    int32    int64    float64  int32    int32    int32    int64    float16  bfloat16 float32  float64  | int32   int32   float32
int64    int64    int64    int64    int64    float64  int64    int64    int64    int64    float16  bfloat16 float32  float64  | int64   int64   float64
float16  float16  float16  float16  float16  float16  float16  float16  float16  float16  float16  float32  float32  float64  | float16 float16 float16
bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float32  bfloat16 float32  float64  | bfloat16 bfloat16 bfloat16
float32  float32  float32  float32  float32  float32  float32  float32  float32  float32  float32  float32  float32  float64  | float32 float32 float32
float64  float64  float64  float64  float64  float64  float64  float64  float64  float64  float64  float64  float64  float64  | float64 float64 float64
"""
ROWS = {line.split()[0]: line.replace("|", "").split()[1:] for line in TABLE.strip().splitlines()}
TENSOR_PAIRS = [(left, right, ROWS[left][DTYPES.index(right)]) for left in DTYPES for right in DTYPES]
SCALARS = (True, 1, 1.5)
SCALAR_PAIRS = [(left, SCALARS[i], ROWS[left][len(DTYPES) + i]) for left in DTYPES for i in range(3)]


def one(dtype):
    return tc.tensor(np.ones(3, dtype=dtype))


def check(result, dtype, values=None):
    assert result.dtype == dtype_object(dtype), f"{result.dtype} instead of {dtype}"
    assert result.numpy().dtype == np.dtype(dtype)
    if values is not None:
        assert_same(result, np.array(values, dtype=dtype))


# ---------------------------------------------------------------------------------------------- the table


def test_table_equals_numpy_inside_a_category():
    pairs = [(left, right, result) for left, right, result in TENSOR_PAIRS if CATEGORY[left] == CATEGORY[right]]
    assert len(pairs) == 1 + 8 * 8 + 4 * 4
    for left, right, result in pairs:
        if {left, right} == {"float16", "bfloat16"}:
            # NumPy has none; float32 is the smallest that holds both.
            assert result == "float32"
        else:
            assert np.result_type(np.dtype(left), np.dtype(right)) == result


@pytest.mark.parametrize("left, right, expected", TENSOR_PAIRS)
def test_tensor_with_tensor(left, right, expected):
    a, b = one(left), one(right)
    two = [True] * 3 if expected == "bool" else [2] * 3
    check(a + b, expected, two)
    check(a * b, expected, [1] * 3)
    check(tc.add(a, b), expected, two)
    check(tc.mul(a, b), expected, [1] * 3)
    check(tc.maximum(a, b), expected, [1] * 3)
    check(tc.minimum(a, b), expected, [1] * 3)
    check(tc.where(tc.tensor([True, False, True]), a, b), expected, [1] * 3)
    check(tc.concat([a, b]), expected, [1] * 6)
    check(a == b, "bool", [True] * 3)
    # An array and a NumPy scalar are as strong as a tensor, on both sides.
    array = np.ones(3, dtype=right)
    check(a + array, expected, two)
    check(array + a, expected, two)
    check(a + array[0], expected, two)
    check(array[0] + a, expected, two)


@pytest.mark.parametrize("left, scalar, expected", SCALAR_PAIRS)
def test_tensor_with_python_scalar(left, scalar, expected):
    a = one(left)
    total = np.array([1], expected) + np.array([scalar]).astype(expected)
    check(a + scalar, expected, np.repeat(total, 3))
    check(scalar + a, expected, np.repeat(total, 3))
    check(tc.mul(scalar, a), expected, [scalar] * 3)
    check(tc.maximum(a, scalar), expected)
    check(tc.where(tc.tensor([True, False, True]), a, scalar), expected)
    # A rank-0 tensor is a tensor, not a scalar.
    check(a + tc.tensor(1, dtype=left), left)


@pytest.mark.parametrize("names", list(itertools.combinations(DTYPES, 3)), ids="-".join)
def test_concat_promotes_all_operands_at_once(names):
    top = max(CATEGORY[name] for name in names)
    expected = result_type(*[name for name in names if CATEGORY[name] == top])
    for order in itertools.permutations(names):
        check(tc.concat([one(name) for name in order]), expected, [1] * 9)


def test_must_hold():
    check(one("int32") + 1.0, "float32")
    check(one("float16") + 1.0, "float16")
    check(one("float16") + one("float32"), "float32")
    check(one("bool") + 2, "int32", [3] * 3)
    check(one("bool") + one("bool"), "bool", [True] * 3)
    check(one("float16") + one("int32"), "float16")
    check(one("float16") + np.float64(1), "float64")
    check(one("int32") + np.array([1, 1, 1]), "int64")
    check(one("bool") + 1.5, "float32", [2.5] * 3)
    check(one("int64") + 1.0, "float64")
    check(one("int8") + 1, "int8", [2] * 3)
    check(one("uint8") + one("int8"), "int16", [2] * 3)
    check(one("int8") + np.array([1, 1, 1]), "int64")
    check(one("uint64") + one("int8"), "float64", [2] * 3)
    check(one("uint64") + 1.0, "float64")
    check(one("bfloat16") + one("float16"), "float32")
    check(one("bfloat16") + one("uint64"), "bfloat16")


def test_scalar_subclasses_count_as_their_base():
    class Whole(int):
        pass

    class Real(float):
        pass

    class Colour(enum.IntEnum):
        RED = 3

    check(one("uint8") + Whole(2), "uint8", [3] * 3)
    check(one("int32") + Real(0.5), "float32", [1.5] * 3)
    check(one("int64") + Colour.RED, "int64", [4] * 3)
    check(one("float16") + np.bool_(True), "float16", [2] * 3)
    check(one("float32") + np.float64(0.5), "float64", [1.5] * 3)


def test_lists_are_tensors():
    check(one("uint8") + [1, 2, 3], "int32", [2, 3, 4])
    check([1.5, 2.5, 3.5] + one("int64"), "float32", [2.5, 3.5, 4.5])
    check(one("bool") + [True, False, True], "bool", [True] * 3)


def test_no_operand_with_a_dtype():
    for function in (tc.add, tc.mul, tc.maximum, tc.div):
        with pytest.raises(ValueError):
            function(1, 2.0)


@pytest.mark.parametrize("bad", [None, "a", object(), {}, b"x"])
def test_operands_that_are_no_numbers(bad):
    for apply in (lambda: one("float32") + bad, lambda: bad - one("float32"), lambda: one("int32") * bad):
        with pytest.raises(TypeError):
            apply()
    x = one("float32")
    with pytest.raises(TypeError):
        x += bad


# ---------------------------------------------------------------------------------------------- bool, division, elementary


def test_bool_arithmetic():
    a, b = tc.tensor([False, False, True, True]), tc.tensor([False, True, False, True])
    check(a + b, "bool", [False, True, True, True])
    check(a * b, "bool", [False, False, False, True])
    check(a + True, "bool", [True] * 4)
    check(tc.maximum(a, b), "bool", [False, True, True, True])
    check(tc.minimum(a, b), "bool", [False, False, False, True])
    check(a < b, "bool", [False, True, False, False])
    check(tc.logical_and(a, b), "bool", [False, False, False, True])
    check(tc.logical_or(a, b), "bool", [False, True, True, True])
    check(tc.logical_not(a), "bool", [True, True, False, False])
    check(a - 1, "int32", [-1, -1, 0, 0])
    for apply in (lambda: a - b, lambda: a - True, lambda: tc.sub(a, b)):
        with pytest.raises(TypeError, match="bool"):
            apply()


DIVISION = {name: "float64" if name in ("int64", "uint64") else "float32" for name in ("bool", *INTEGER_DTYPES)}


@pytest.mark.parametrize("left, right, promoted", TENSOR_PAIRS)
def test_true_division(left, right, promoted):
    expected = DIVISION.get(promoted, promoted)
    a = tc.tensor(np.array([0, 1, 1]).astype(left))
    b = tc.tensor(np.array([1, 0, 1]).astype(right))
    check(a / b, expected, [0, np.inf, 1])
    check(tc.div(a, b), expected, [0, np.inf, 1])


def test_division_by_zero_and_by_python_scalars():
    check(tc.tensor([0, 1, -1]) / 0, "float32", [np.nan, np.inf, -np.inf])
    check(1 / tc.tensor([2, 4]), "float32", [0.5, 0.25])
    check(tc.tensor([1, 2], dtype="int64") / 2, "float64", [0.5, 1])
    check(tc.tensor([1, 2], dtype="int64") / 0.5, "float64", [2, 4])
    check(tc.tensor([1, 2], dtype="int32") / 0.5, "float32", [2, 4])
    check(tc.tensor([0.0, -1.0]) / -0.0, "float32", [np.nan, np.inf])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt"])
def test_elementary_functions_of_each_dtype(name, dtype):
    expected = DIVISION.get(dtype, dtype)
    result = getattr(tc, name)(tc.tensor(np.array([0, 1]).astype(dtype)))
    check(result, expected)
    reference = getattr(np, name)(np.float64([0, 1]))
    np.testing.assert_allclose(to_numpy(result).astype("float64"), reference, rtol=4 * float(ml_dtypes.finfo(expected).eps), atol=0)


# ---------------------------------------------------------------------------------------------- ranges


@pytest.mark.parametrize(
    "dtype, scalar",
    [("uint8", 256), ("uint8", -1), ("int32", 2**31), ("int32", -(2**31) - 1), ("int64", 2**63), ("bool", 2**40)]
    + [("int8", 128), ("int8", -129), ("int16", 2**15), ("uint16", 2**16), ("uint32", 2**32), ("uint64", 2**64)]
    + [(name, -1) for name in ("uint16", "uint32", "uint64")],
)
def test_python_int_that_does_not_fit(dtype, scalar):
    for apply in (lambda: one(dtype) + scalar, lambda: scalar * one(dtype), lambda: tc.maximum(one(dtype), scalar)):
        with pytest.raises(OverflowError, match=str(abs(scalar))):
            apply()


def test_python_int_that_just_fits():
    check(tc.tensor([0, 1], dtype="uint8") + 255, "uint8", [255, 0])
    check(tc.tensor([0, 1]) + (2**31 - 1), "int32", [2**31 - 1, -(2**31)])
    check(tc.tensor([0, -1], dtype="int64") + -(2**63), "int64", [-(2**63), 2**63 - 1])
    check(tc.tensor([0, 1], dtype="int8") + 127, "int8", [127, -128])
    check(tc.tensor([0, 1], dtype="uint64") + (2**64 - 1), "uint64", [2**64 - 1, 0])
    check(tc.tensor([1], dtype="uint64") * (2**63 + 5), "uint64", [2**63 + 5])
    check(one("bfloat16") + 2**64, "bfloat16", [2.0**64] * 3)
    check(one("bfloat16") + 10**39, "bfloat16", [np.inf] * 3)
    check(one("float16") + 70000, "float16", [np.inf] * 3)
    check(one("float32") + 10**40, "float32", [np.inf] * 3)
    check(one("float16") + 1e-9, "float16", [1] * 3)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_integers_wrap(dtype):
    info = np.iinfo(dtype)
    low, high = tc.tensor(np.array([info.min], dtype)), tc.tensor(np.array([info.max], dtype))
    check(high + 1, dtype, [info.min])
    check(low - 1, dtype, [info.max])
    wrapped = (info.max * info.max) % (info.max - info.min + 1)
    check(high * high, dtype, [wrapped if wrapped <= info.max else wrapped - (info.max - info.min + 1)])


def test_comparisons_with_python_ints_are_exact():
    small = tc.tensor([0, 255], dtype="uint8")
    check(small < 300, "bool", [True, True])
    check(small > -1, "bool", [True, True])
    check(small == 256, "bool", [False, False])
    check(small != -1, "bool", [True, True])
    check(300 >= small, "bool", [True, True])
    check(tc.tensor([2**31 - 1]) < 2**31, "bool", [True])
    check(tc.tensor([-(2**31)]) == 2**31, "bool", [False])
    check(tc.tensor([2**63 - 1], dtype="int64") < 2**70, "bool", [True])
    check(tc.tensor([2**53 + 1], dtype="int64") == 2**53, "bool", [False])
    check(tc.tensor([2**62 + 1], dtype="int64") > tc.tensor([2**62], dtype="int64"), "bool", [True])
    wide = tc.tensor([0, 2**63, 2**64 - 1], dtype="uint64")
    check(wide > -1, "bool", [True] * 3)
    check(-1 < wide, "bool", [True] * 3)
    check(wide == -1, "bool", [False] * 3)
    check(wide < 2**64, "bool", [True] * 3)
    check(wide == 2**63, "bool", [False, True, False])
    check(wide >= 2**64 - 1, "bool", [False, False, True])
    check(tc.tensor([-1], dtype="int8") < 2**63, "bool", [True])


@pytest.mark.parametrize("signed", ["int8", "int16", "int32", "int64"])
def test_uint64_with_signed_compares_exactly(signed):
    """Not in float64, to which the two promote."""
    info = np.iinfo(signed)
    right = np.array([info.min, -1, 0, 1, info.max - 1, info.max], signed)
    left = np.array([0, 1, info.max - 1, info.max, 2**63 - 1, 2**63, 2**64 - 1], "uint64")[:, None]
    functions = {"eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__"}
    for name, method in functions.items():
        expected = np.array([[getattr(int(a), method)(int(b)) for b in right] for a in left[:, 0]])
        mirrored = np.array([[getattr(int(b), method)(int(a)) for b in right] for a in left[:, 0]])
        function = getattr(tc, name)
        for one, other, wanted in ((left, right, expected), (right, left, mirrored)):
            for run in (function, tc.trace(lambda x, y, function=function: function(x, y))):
                for _ in range(3):
                    assert_same(run(tc.tensor(one), tc.tensor(other)), wanted)


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_comparisons_and_extremes_with_nan_and_zeros(dtype):
    x, nan = tc.tensor(np.array([1, np.nan, -0.0, 0.0], dtype)), float("nan")
    y = tc.tensor(np.array([np.nan, 1, 0.0, -0.0], dtype))
    check(x == y, "bool", [False, False, True, True])
    check(x != y, "bool", [True, True, False, False])
    check(x < y, "bool", [False] * 4)
    check(x <= y, "bool", [False, False, True, True])
    check(x > y, "bool", [False] * 4)
    check(x >= y, "bool", [False, False, True, True])
    check(tc.maximum(x, y), dtype, [nan, nan, 0.0, 0.0])
    check(tc.minimum(x, y), dtype, [nan, nan, -0.0, -0.0])
    check(x.max(), dtype, nan)
    check(tc.tensor(np.array([-0.0, 0.0, -0.0], dtype)).max(), dtype, 0.0)
    check(tc.tensor(np.array([-0.0, -0.0], dtype)).max(), dtype, -0.0)


@pytest.mark.parametrize(
    "target, other",
    [("int32", 1.5), ("uint8", "int32"), ("uint8", "int64"), ("bool", 1), ("bool", "uint8"), ("int64", "float16"), ("bool", 1.0)],
)
def test_in_place_needs_a_same_kind_cast(target, other):
    x = one(target)
    before = x.numpy()
    with pytest.raises(TypeError, match=target):
        x += one(other) if isinstance(other, str) else other
    assert_same(x, before)


@pytest.mark.parametrize(
    "target, other",
    [("int32", "int64"), ("int64", "uint8"), ("float16", "float64"), ("float32", "int64"), ("bool", "bool"), ("int32", True)],
)
def test_in_place_keeps_its_dtype(target, other):
    x = one(target)
    same = x
    x += one(other) if isinstance(other, str) else other
    check(x, target, [True] * 3 if target == "bool" else [2] * 3)
    assert same is x
    with pytest.raises(TypeError):
        integers = one("int32")
        integers /= 2
