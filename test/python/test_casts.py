"""Casts: truncation and saturation of floats, wrapping of ints, rounding; the oracle is exact Python arithmetic."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import tracec as tc
from checks import (
    DTYPES,
    FLOAT_DTYPES,
    INTEGER_DTYPES,
    NARROW_DTYPES,
    assert_same,
    bits_equal,
    reference_cast,
    special_values,
)

# Values at and around the borders of the integer types; unrepresentable ones round on the way into a float dtype.
POWERS = (0, 127, 128, 255, 256, 2**15, 2**16, 2**31, 2**32, 2**53, 2**63, 2**64)
BORDERS = [b + d for b in POWERS for d in (-2, -1.5, -1, -0.5, 0, 0.5, 1)]
# Half way between two floats of 8, 11, 24 and 53 bits, and beside it.
BORDERS += [2**p + 2 ** (p - bits) + d for p in (15, 30, 62) for bits in (8, 11, 24, 53) if p >= bits for d in (-1, 0, 1)]
BORDERS += [-border for border in BORDERS] + [1e10, -1e10, 1e19, -1e19, 1e30, -1e30, 1e300, 65504.0, 65519.9, 65520.0]


def source_values(dtype):
    if dtype in FLOAT_DTYPES:
        with np.errstate(all="ignore"):
            return np.concatenate([special_values(dtype), reference_cast(np.array(BORDERS, dtype="float64"), dtype)])
    if dtype == "bool":
        return np.array([False, True])
    info = np.iinfo(dtype)
    inside = sorted({int(b) for b in BORDERS if info.min <= int(b) <= info.max} | {info.min, info.max})
    return np.array(inside, dtype=dtype)


def exact_cast(value, target):
    """One element by the rule of the semantics."""
    if target == "bool":
        return bool(value != 0) or value != value
    if target in INTEGER_DTYPES:
        info = np.iinfo(target)
        if not isinstance(value, (np.integer, np.bool_)):
            value = float(value)
            if value != value:
                return 0
            if np.isinf(value):
                return info.max if value > 0 else info.min
            return min(max(int(value), info.min), info.max)
        wrapped = (int(value) - info.min) % (info.max - info.min + 1) + info.min
        return wrapped
    return value


def nearest_bfloat16(value):
    """By exact arithmetic: ties to even, as Python rounds fractions."""
    number = int(value) if isinstance(value, (np.integer, np.bool_)) else float(value)
    if isinstance(number, float) and not (math.isfinite(number) and number):
        return number
    exact = Fraction(number)
    exponent = max(math.frexp(float(exact))[1], -125)
    if exact and abs(exact) >= Fraction(2) ** exponent:
        exponent += 1  # float() rounded up to a power of two
    if exact and exponent > -125 and abs(exact) < Fraction(2) ** (exponent - 1):
        exponent -= 1
    unit = Fraction(2) ** (exponent - 8)
    rounded = round(exact / unit) * unit
    return math.copysign(math.inf if abs(rounded) >= 2**128 else float(abs(rounded)), number)


def exact_casts(values, target):
    if target == "bfloat16":
        return np.array([nearest_bfloat16(value) for value in values], "float32").astype(target)
    if target in FLOAT_DTYPES:
        # NumPy rounds to nearest even here, as IEEE says.
        return values.astype(target)
    return np.array([exact_cast(value, target) for value in values], dtype=target)


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_cast(source, target):
    values = source_values(source)
    expected = exact_casts(values, target)
    # The vectorised reference of the op matrix must agree with exact arithmetic too.
    assert_same(reference_cast(values, target), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = tc.tensor(values)
        results = {
            "astype": x.astype(getattr(tc, target)),
            "astype by name": x.astype(target),
            "cast": tc.cast(x, target),
            "tensor": tc.tensor(values, dtype=target),
            "strided": tc.tensor(np.repeat(values, 2))[::-2].astype(target)[::-1],
        }
        traced = tc.trace(lambda a: a.astype(target))
        for call in range(3):
            results[f"traced {call}"] = traced(x)
        assigned = tc.zeros(len(values), dtype=target)
        assigned[...] = x
        results["assigned"] = assigned
    for how, result in results.items():
        got = result.numpy()
        wrong = [(v, g, e) for v, g, e in zip(values, got, expected) if not bits_equal(np.asarray(g), np.asarray(e))]
        assert got.dtype == target and not wrong, f"{how}: value, got, expected: {wrong[:5]}"


def test_stated_examples():
    x = tc.tensor([-1.9, -0.5, 300.7, float("nan"), float("inf"), -float("inf")])
    assert_same(x.astype("uint8"), np.uint8([0, 0, 255, 0, 255, 0]))
    assert_same(x.astype("int32"), np.int32([-1, 0, 300, 0, 2**31 - 1, -(2**31)]))
    assert_same(x.astype("bool"), np.array([True] * 6))
    assert_same(tc.tensor([256, 257, -1]).astype("uint8"), np.uint8([0, 1, 255]))
    assert_same(tc.tensor([0.0, -0.0, 1e-40]).astype("bool"), np.array([False, False, True]))


def test_python_types_name_the_small_dtypes():
    x = tc.tensor([0.0, 1.5])
    assert x.astype(int).dtype == tc.int32
    assert x.astype(float).dtype == tc.float32
    assert x.astype(bool).dtype == tc.bool
    assert x.astype(np.dtype("float64")).dtype == tc.float64
    assert x.astype("float64").dtype == tc.float64
    assert x.astype(np.int64).dtype == tc.int64


@pytest.mark.parametrize("bad", ["float33", object, "datetime64[s]", "U3", np.longdouble, 7, "O"])
def test_unsupported_dtypes(bad):
    with pytest.raises(TypeError):
        tc.tensor([1.0]).astype(bad)
    with pytest.raises(TypeError):
        tc.tensor([1.0], dtype=bad)


def test_a_cast_to_the_same_dtype_is_a_copy():
    x = tc.tensor([1.0, 2.0])
    y = x.astype("float32")
    y[0] = 5.0
    assert_same(x, np.float32([1, 2]))


@pytest.mark.parametrize("dtype", NARROW_DTYPES)
def test_every_narrow_float_to_every_dtype_and_back(dtype):
    everything = np.arange(2**16, dtype=np.uint16).view(dtype)
    x = tc.tensor(everything)
    for target in ("float32", "float64"):
        assert_same(x.astype(target), everything.astype(target))
        assert_same(x.astype(target).astype(dtype), everything)
    for target in ("bool", *INTEGER_DTYPES):
        assert_same(x.astype(target), exact_casts(everything, target))


def test_double_rounding_is_not_allowed():
    """float64 to float16 in one step: through float32 these would round up."""
    x = np.float64([1 + 2**-11 + 2**-40, 1 + 2**-11, 1 + 3 * 2**-11 - 2**-40])
    assert_same(tc.tensor(x).astype("float16"), np.float16([1 + 2**-10, 1, 1 + 2**-10]))
    # To bfloat16: a tie of its own, above one, below one, and among numbers that float32 holds as subnormals only.
    values = [1 + 2**-8, 1 + 2**-8 + 2**-40, 1 + 3 * 2**-8 - 2**-40, 2.0**-134, 2.0**-134 + 2.0**-170]
    expected = np.float32([1, 1 + 2**-7, 1 + 2**-7, 0, 2.0**-133])
    assert_same(tc.tensor(np.float64(values)).astype("bfloat16"), expected.astype("bfloat16"))
    for dtype in ("int64", "uint64"):
        ties = np.array([2**62 + 2**54, 2**62 + 2**54 + 1, 2**62 + 3 * 2**54 - 1], dtype)
        expected = np.float32([2.0**62, 2.0**62 + 2.0**55, 2.0**62 + 2.0**55])
        assert_same(tc.tensor(ties).astype("bfloat16"), expected.astype("bfloat16"))
