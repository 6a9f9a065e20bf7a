"""Limits of loaded files, and files that are not trusted."""

import os
import time

import numpy as np
import pytest

import tracec as tc


def dump(function, tmp_path, *arguments):
    function(*arguments)
    path = tmp_path / "model.trc"
    function.dump(path)
    return path


@tc.trace
def smooth(x):
    y = x[:-1] + x[1:]
    return y * 2, y[y > 3].sum()


def test_an_untrusted_file_runs_its_portable_section_on_a_copy(tmp_path):
    x = tc.arange(20, dtype=tc.float32)
    path = dump(smooth, tmp_path, x)
    expected = [np.asarray(value) for value in smooth(x)]
    model = tc.load(path, untrusted=True)
    assert model.sections == ["portable"]
    with open(path, "r+b") as file:
        file.write(b"\xff" * os.path.getsize(path))
        file.truncate(100)
    for got, want in zip(model(x), expected):
        np.testing.assert_array_equal(np.asarray(got), want)
    assert model.verify() == {"portable": ""}


def test_a_copy_keeps_native_code(tmp_path):
    x = tc.arange(20, dtype=tc.float32)
    path = dump(smooth, tmp_path, x)
    model = tc.load(path, copy=True)
    assert len(model.sections) > 1
    os.truncate(path, 0)
    np.testing.assert_array_equal(np.asarray(model(x)[0]), np.asarray(smooth(x)[0]))


def test_an_untrusted_file_has_no_native_section(tmp_path):
    path = dump(smooth, tmp_path, tc.arange(20, dtype=tc.float32))
    with pytest.raises(ValueError, match="TC0101 an untrusted file runs its portable section only, not 'v3'"):
        tc.load(path, untrusted=True, section="v3")


@pytest.mark.parametrize("limit", ["load_limit", "memory_limit", "time_limit"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_more_than_nothing(tmp_path, limit, value):
    path = dump(smooth, tmp_path, tc.arange(20, dtype=tc.float32))
    with pytest.raises(ValueError, match=f"TC0101 {limit} is {value}, must be more than 0"):
        tc.load(path, **{limit: value})


def test_a_load_stays_in_its_limit(tmp_path):
    path = dump(smooth, tmp_path, tc.arange(20, dtype=tc.float32))
    with pytest.raises(MemoryError, match="TC0404 .*more than the load's limit of 100 bytes"):
        tc.load(path, untrusted=True, load_limit=100)
    tc.load(path, untrusted=True, load_limit=2**20)


def test_a_run_stays_in_its_memory_limit(tmp_path):
    x = tc.arange(1 << 20, dtype=tc.float32)
    path = dump(smooth, tmp_path, x)
    model = tc.load(path, memory_limit=1 << 20)
    with pytest.raises(MemoryError, match="TC0404 the run needs more than its limit of 1048576 bytes of memory"):
        model(x)
    small = tc.arange(1000, dtype=tc.float32)
    # Results that the caller keeps do not count.
    kept = [model(small) for _ in range(1000)]
    np.testing.assert_array_equal(np.asarray(kept[0][0]), np.asarray(kept[-1][0]))


def expect_timeout(model, *arguments):
    start = time.monotonic()
    with pytest.raises(TimeoutError, match="TC0405 the run took longer than its limit of 50 ms"):
        model(*arguments)
    # Generous, for a busy machine; without the limit it is longer.
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("untrusted", [False, True])
def test_a_library_kernel_stays_in_its_time_limit(tmp_path, untrusted):
    @tc.trace
    def program(x, y):
        return tc.matmul(x, y)

    path = dump(program, tmp_path, tc.ones((2, 2)), tc.ones((2, 2)))
    model = tc.load(path, untrusted=untrusted, time_limit=0.05)
    expect_timeout(model, tc.ones((6000, 6000)), tc.ones((6000, 6000)))
    np.testing.assert_array_equal(np.asarray(model(tc.ones((3, 2)), tc.ones((2, 3)))), np.full((3, 3), 2.0))


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_compiled_kernel_stays_in_its_time_limit(tmp_path, axis):
    """The product lives in registers only; a kernel that cannot be ended half way is not begun."""
    @tc.trace
    def program(x, y):
        return (x.reshape(-1, 1) * y).sum(axis=axis)

    path = dump(program, tmp_path, tc.ones(3), tc.ones(4))
    model = tc.load(path, time_limit=0.05)
    expect_timeout(model, tc.ones(400_000), tc.ones(400_000))
    np.testing.assert_array_equal(np.asarray(model(tc.ones(5), tc.ones(7))), np.ones((5, 7), "float32").sum(axis=axis))


def test_a_long_limit_is_no_limit(tmp_path):
    path = dump(smooth, tmp_path, tc.arange(20, dtype=tc.float32))
    tc.load(path, time_limit=1e300, memory_limit=2**200)(tc.arange(5, dtype=tc.float32))
