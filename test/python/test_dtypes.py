"""Each dtype at Python's border: numbers, text, arrays, buffers, pickles, files; bfloat16 with and without ml_dtypes."""

import copy
import pickle
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, INTEGER_DTYPES, NARROW_DTYPES, SUM, assert_same, dtype_object, special_values
from paths import is_runnable

SECTIONS = ["portable", "v3", "avx512"]


def python_list(array):
    return array.astype("float64").tolist() if array.dtype.name == "bfloat16" else array.tolist()


def test_every_dtype_is_public():
    for name in DTYPES:
        object_ = dtype_object(name)
        assert (str(object_), object_.name, object_.itemsize) == (name, name, np.dtype(name).itemsize)
        assert object_ == name and object_ == np.dtype(name) and object_ == np.dtype(name).type and hash(object_) == hash(name)
        assert np.dtype(object_) == np.dtype(name)
        assert pickle.loads(pickle.dumps(object_)) is object_
        assert name in tc.__all__
    assert tc.dtype and len({dtype_object(name) for name in DTYPES}) == len(DTYPES) == 13


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_come_and_go(dtype):
    array = special_values(dtype)
    x = tc.tensor(array)
    assert x.dtype == dtype_object(dtype)
    assert_same(x, array)
    assert_same(tc.tensor(array[::-2]), array[::-2])
    assert_same(tc.tensor(array.reshape(1, -1).T), array.reshape(1, -1).T)
    assert_same(tc.tensor(array[:1].reshape(())), array[0])
    for number in (array[0], array[-1]):
        assert tc.tensor(number).dtype == dtype_object(dtype)
    got, want = x.tolist(), python_list(array)
    assert all(type(one) is type(other) and (one == other or one != one) for one, other in zip(got, want, strict=True)), got
    finite = np.array([value for value in array if np.isfinite(float(value))], dtype)
    assert_same(tc.tensor(python_list(finite), dtype=dtype), finite)
    for one in finite:
        assert x.dtype == dtype_object(dtype) and tc.tensor(np.array(one)).item() == (one.item() if dtype != "bfloat16" else float(one))
    for other in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert_same(other, array)
    assert_same(np.asarray(x), array)
    assert_same(np.array(x, dtype="float64"), array.astype("float64"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_text_reads_back(dtype):
    array = special_values(dtype)
    text = repr(tc.tensor(array))
    body = text[len("tensor("):].rsplit("]", 1)[0] + "]"
    values = eval(body, {"nan": float("nan"), "inf": float("inf")})
    with np.errstate(all="ignore"):
        read = np.array(values, "float64" if dtype in FLOAT_DTYPES else dtype).astype(dtype)
    if dtype not in ("float32", "float64"):
        # At most eight digits after the point are shown, which is enough for these.
        assert_same(read, array)
    assert ("dtype=" + dtype in text) == (dtype not in ("bool", "int32", "float32"))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_integers_at_the_ends_of_their_range(dtype):
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.max], dtype)
    assert_same(tc.tensor([int(info.min), int(info.max)], dtype=dtype), ends)
    for outside in (int(info.min) - 1, int(info.max) + 1, 2**70, -(2**70)):
        for make in (lambda: tc.tensor([outside], dtype=dtype), lambda: tc.full((2,), outside, dtype=dtype), lambda: tc.zeros(2, dtype=dtype) + outside):
            with pytest.raises(OverflowError):
                make()
        x = tc.zeros(2, dtype=dtype)
        with pytest.raises(OverflowError):
            x[0] = outside
    x = tc.zeros(2, dtype=dtype)
    x[0], x[1] = int(info.min), int(info.max)
    assert_same(x, ends)
    assert_same(tc.full((2,), int(info.max), dtype=dtype), np.full(2, info.max, dtype))
    assert int(x[1]) == info.max and [10, 20, 30][tc.tensor(1, dtype=dtype)] == 20
    assert_same(tc.arange(int(info.max) - 2, int(info.max), dtype=dtype), np.array([info.max - 2, info.max - 1], dtype))
    with pytest.raises(OverflowError):
        tc.arange(int(info.max), int(info.max) + 2, dtype=dtype)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_sums_do_not_wrap_in_their_own_dtype(dtype):
    info = np.iinfo(dtype)
    array = np.full(1000, info.max, dtype)
    with np.errstate(all="ignore"):
        expected = array.sum(dtype=SUM[dtype])
    for run in (lambda x: x.sum(), tc.trace(lambda x: x.sum())):
        for _ in range(3):
            assert_same(run(tc.tensor(array)), expected)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_file_of_all_dtypes(section, tmp_path):
    """Inputs, constants, casts, results of every dtype through one file."""
    if not is_runnable(section):
        pytest.skip(f"this machine cannot run {section}")
    arrays = {f"x_{name}": special_values(name) for name in DTYPES}

    def body(**xs):
        results = []
        for name in DTYPES:
            x = xs[f"x_{name}"]
            constant = tc.tensor(special_values(name)[::-1].copy(), const=True)
            results += [tc.where(x == x, x, constant), tc.maximum(x, constant), x < constant, x + constant, x[::2], x.max(), x.sum()]
            results += [x.astype(target) for target in DTYPES]
        return tuple(results)

    tensors = {name: tc.tensor(array) for name, array in arrays.items()}
    expected = body(**tensors)
    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(**tensors), expected)
    function.dump(tmp_path / "m.trc", test_inputs=None)
    model = tc.load(tmp_path / "m.trc", section=section)
    for one, other in zip(model(**{f"xs['{name}']": x for name, x in tensors.items()}), expected, strict=True):
        assert_same(one, other)


def test_bfloat16_has_no_buffer_but_an_array():
    x = tc.tensor([1.0, -2.5], dtype="bfloat16")
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(x)
    assert x.numpy().dtype == ml_dtypes.bfloat16
    assert not x.numpy().flags.writeable
    assert_same(tc.tensor(np.array([1.0, -2.5], ml_dtypes.bfloat16)) + x, np.array([2, -5], ml_dtypes.bfloat16))
    assert tc.tensor([1.0]).astype(ml_dtypes.bfloat16).dtype == tc.bfloat16


def test_without_ml_dtypes_all_but_numpy_works():
    script = """
import sys
sys.modules["ml_dtypes"] = None
import tracec as tc
x = tc.tensor([1.0, 2.5], dtype=tc.bfloat16)
assert (x + 1).tolist() == [2.0, 3.5] and str(x.dtype) == "bfloat16", x
assert x.astype("float32").numpy().tolist() == [1.0, 2.5]
for read in (lambda: x.numpy(), lambda: tc.bfloat16.dtype, lambda: x.__array__()):
    try:
        read()
    except TypeError as error:
        assert "ml_dtypes" in str(error) and "float32" in str(error), error
    else:
        raise AssertionError("no error")
print("done")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("dtype", NARROW_DTYPES)
def test_narrow_floats_round_after_each_op(dtype):
    """Fused or not: the two are told apart by what one rounding at the end would give."""
    random = np.random.default_rng(3)
    arrays = [(random.standard_normal(500) * 3).astype(dtype) for _ in range(3)]

    def body(x, y, z):
        return (x * y + z) / (x - z)

    expected = body(*arrays)
    once = body(*[array.astype("float32") for array in arrays]).astype(dtype)
    assert (expected.view("uint16") != once.view("uint16")).sum() > 50
    tensors = [tc.tensor(array) for array in arrays]
    function = tc.trace(body)
    assert_same(body(*tensors), expected)
    for section in SECTIONS:
        if is_runnable(section):
            with tc.options(section=section):
                for _ in range(3):
                    assert_same(function(*tensors), expected)


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_a_size_is_an_operand_of_every_integer_dtype(dtype):
    """Replayed with another size; one the dtype does not hold is refused as eager refuses it."""
    function = tc.trace(lambda x, y: x[:2] + y.shape[0])
    for size in (5, 5, 7, 0, 1, 127):
        expected = np.arange(2, dtype=dtype) + np.array(size, dtype)
        assert_same(function(tc.arange(4, dtype=dtype), tc.zeros((size,))), expected)
    assert function.stats().replays >= 4
    if np.iinfo(dtype).bits == 8:
        with pytest.raises(OverflowError):
            tc.arange(4, dtype=dtype) + tc.trace(lambda y: y)(tc.zeros((300,))).shape[0]
        with pytest.raises(OverflowError):
            function(tc.arange(4, dtype=dtype), tc.zeros((300,)))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
def test_a_size_beside_a_small_dtype_ends_no_segment(dtype):
    """The size was once read as a number here, and the replay of what follows ran into itself."""

    def body(y, z, mask, bound):
        part = z.reshape(-1)[1:]
        kept = tc.logical_not(mask)
        _ = y + kept.shape[0]
        flat = part[:bound].reshape(-1)
        y[kept, 0] = bound
        return (flat,)

    function = tc.trace(body)
    for _ in range(3):
        y, z = tc.ones((5, 5), dtype=dtype), tc.arange(5, dtype="int32")
        (flat,) = function(y, z, tc.zeros((5,), dtype="bool"), tc.tensor(2, dtype=dtype))
        assert_same(flat, np.array([1, 2], "int32"))
