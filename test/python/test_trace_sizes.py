"""Calls with other sizes than the recorded ones: what symbols leave undecided is checked while running."""

import numpy as np
import pytest
from checks import assert_same
from paths import is_runnable, needs_kernels

import tracec as tc

SECTIONS = [name for name in ("portable", "v3", "avx512") if is_runnable(name)]


def numbers(*shape):
    return (np.arange(np.prod(shape), dtype=np.float32) * 0.37 + 0.5).reshape(shape)


def outcome(function, *arrays):
    """What a call gives: arrays, or the class and text of its error."""
    try:
        results = function(*(tc.tensor(array) for array in arrays))
    except Exception as error:  # noqa: BLE001 - errors are compared
        return type(error), str(error)
    return [result.numpy() for result in (results if isinstance(results, tuple) else (results,))]


def assert_same_outcome(got, expected):
    if isinstance(expected, tuple):
        assert got == expected
        return
    assert isinstance(got, list), got
    for one, other in zip(got, expected, strict=True):
        assert_same(tc.tensor(one), tc.tensor(other))


def tail(x):
    y = x[2:]
    return tc.exp(y) + tc.tanh(y), y.sum(), tc.concat([y, x]) * 2.0


def tail_from_both_sides(x):
    return (tc.exp(x[2:]) + tc.tanh(x[:-2])).sum(), x[1:-1] * x[2:]


def middle(x):
    return (x[2:5] * 2.0 - x[-3:].sum(), x[::2] + 1.0, (x[:3] * 3.0)[1:] - 1.0)


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("function", [tail, tail_from_both_sides, middle])
def test_short_slices_after_a_long_record(function, section):
    traced = tc.trace(function)
    with tc.options(section=section):
        for size in (10, 0, 1, 2, 3, 4, 10):
            assert_same_outcome(outcome(traced, numbers(size)), outcome(function, numbers(size)))


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("function", [tail, middle])
def test_short_slices_of_a_file(function, section, tmp_path):
    traced = tc.trace(function)
    traced(tc.tensor(numbers(10)))
    traced.dump(tmp_path / "m.trc", dynamic={"x": {0: tc.dim("n")}})
    model = tc.load(tmp_path / "m.trc")
    with tc.options(section=section):
        for size in (0, 2, 3, 4, 10):
            assert_same_outcome(outcome(model, numbers(size)), outcome(function, numbers(size)))


def meets(x, y):
    """x[2:] and y have one size while recording, and a size of 1 against a larger one later."""
    e = tc.exp(x[2:])
    s = e + y
    return s, s.sum(), e.sum(), e.max()


@pytest.mark.parametrize("section", SECTIONS)
def test_sizes_that_were_equal_by_chance(section):
    traced = tc.trace(meets)
    with tc.options(section=section):
        for x, y in ((10, 8), (3, 8), (10, 8), (5, 3), (3, 7), (2, 0)):
            arrays = numbers(x), numbers(y)
            assert_same_outcome(outcome(traced, *arrays), outcome(meets, *arrays))


@needs_kernels
def test_the_kernel_of_a_chance_is_replaced_when_it_does_not_hold():
    traced = tc.trace(meets)
    traced(tc.tensor(numbers(10)), tc.tensor(numbers(8)))
    traced(tc.tensor(numbers(10)), tc.tensor(numbers(8)))
    before = traced.stats()
    assert before.launches > 0 and before.launches_replaced == 0
    arrays = numbers(3), numbers(8)
    assert_same_outcome(outcome(traced, *arrays), outcome(meets, *arrays))
    assert traced.stats().launches_replaced > 0


def test_sizes_that_never_meet_are_free():
    traced = tc.trace(lambda x, y: (tc.exp(x) * 2.0, tc.tanh(y[1:]) + 1.0))
    for x, y in ((8, 9), (8, 3), (2, 9)):
        arrays = numbers(x), numbers(y)
        expected = [np.exp(arrays[0]) * 2.0, np.tanh(arrays[1][1:]) + 1.0]
        for one, other in zip(outcome(traced, *arrays), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)
