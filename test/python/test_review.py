"""Traces whose second call differs from the recorded one in a size, a value or a place that the record must not rely
on. Each case ended in a wrong result, an error or a crash once.
"""

import numpy as np
import pytest

import tracec as tc
from checks import assert_same


def numbers(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def mask(*bits):
    return np.array(bits, bool)


def check_calls(body, *calls):
    """Each call must give what the body gives without the trace."""
    function = tc.trace(body)
    for arguments in calls:
        expected = body(*[tc.tensor(a) for a in arguments])
        assert_same(list(function(*[tc.tensor(a) for a in arguments])), [e.numpy() for e in expected])
    return function


# A sum of a value that was as large as the kernel's domain while recording and is only broadcast onto it now.


@pytest.mark.parametrize("axis", [None, 1])
def test_reduction_of_a_value_that_shrinks_to_one_column(axis):
    def body(x, y):
        z = x[:, 2::2] + 1
        w = z * y
        return z.sum(axis=axis), w.sum(axis=axis), w.max(axis=axis)

    calls = [(numbers(4, 2 * n + 2), numbers(4, n)) for n in (3, 5)]
    check_calls(body, *calls, (numbers(4, 4), numbers(4, 5)))


def test_reduction_over_the_outer_axis_of_a_value_that_shrinks_to_one_row():
    def body(x, y):
        z = x[2:] + 1
        w = z * y
        return z.sum(axis=0), w.sum(axis=0)

    check_calls(body, (numbers(8, 9), numbers(6, 9)), (numbers(12, 9), numbers(10, 9)), (numbers(3, 9), numbers(5, 9)))


# A size that was 1 while recording is not always 1.


def test_slice_that_had_one_element_while_recording():
    def body(x):
        y = x[1:]
        return y * 2 + 1, (y + y).sum()

    function = check_calls(body, (numbers(2),), (numbers(2),), (numbers(5),), (numbers(9),))
    assert function.stats().specialisations == 1
    assert "tensor<1xf32>" not in function.graph


def test_mask_that_had_one_hit_while_recording():
    def body(x, first, second):
        v, u = x[first] * 2, x[second] + 1
        return v * u, v.sum(), (v + u).sum()

    check_calls(
        body,
        (numbers(5), mask(1, 0, 0, 0, 0), mask(1, 1, 0, 0, 0)),
        (numbers(5), mask(1, 1, 1, 0, 0), mask(1, 1, 0, 0, 1)),
        (numbers(5), mask(1, 1, 0, 0, 0), mask(0, 1, 0, 0, 0)),
        (numbers(5), mask(0, 0, 0, 0, 0), mask(0, 0, 0, 0, 0)),
    )


@pytest.mark.parametrize("recorded", [1, 3])
def test_count_that_becomes_one_behind_a_host_read(recorded):
    def body(x, selected, y):
        v = x[selected] * 2
        float(v.sum())
        return v + y * 2, (v * y).sum()

    one, three = mask(1, 0, 0, 0, 0), mask(1, 1, 1, 0, 0)
    masks = [one, three] if recorded == 1 else [three, one]
    check_calls(body, *[(numbers(5), masks[i % 2], numbers(3)) for i in range(5)])


def test_reduction_of_one_element():
    check_calls(lambda x: ((x + x).sum(), (x * 2).max(), x.sum(axis=0, keepdims=True)), *[(numbers(1),)] * 3)
    check_calls(lambda x: ((x + x).sum(), (x * 2).max()), *[(numbers(1, 1),)] * 3)


def test_copy_of_unknown_size_that_is_written():
    def body(x, selected):
        z = x[selected] * 1
        y = z.T.reshape(-1)
        y[0] = 5.0
        w = z.reshape(-1)
        w[1] = 7.0
        return y * 2, z + 0, w + 0

    masks = [mask(1, 1, 0, 1, 0), mask(1, 1, 0, 1, 0), mask(1, 1, 0, 1, 1), mask(0, 1, 1, 0, 0)]
    check_calls(body, *[(numbers(5, 3), m) for m in masks])


def test_write_through_a_reshape_of_one_hit():
    def body(x, selected):
        z = x[selected] * 1
        y = z.reshape(-1)
        y[0] = 5.0
        return y * 2, z + 0

    check_calls(body, *[(numbers(5, 3), mask(*bits)) for bits in [(1, 0, 0, 0, 0)] * 3 + [(1, 1, 0, 0, 1)] * 2])


@pytest.mark.parametrize("recorded, now", [("11010", "01000"), ("10000", "01100")])
def test_reshape_that_turns_from_a_copy_to_a_view_is_no_wrong_result(recorded, now):
    def body(x, selected):
        z = x[selected] * 1
        y = z.T.reshape(-1)
        z[0] = 5.0
        return y * 2, z + 0

    function = tc.trace(body)
    recorded, now = [mask(*map(int, bits)) for bits in (recorded, now)]
    x = tc.tensor(numbers(5, 3))
    expected = [e.numpy() for e in body(x, tc.tensor(recorded))]
    for _ in range(2):
        assert_same(list(function(x, tc.tensor(recorded))), expected)
    with pytest.raises(tc.TraceError, match="view"):
        function(x, tc.tensor(now))
    assert_same(list(function(x, tc.tensor(recorded))), expected)


# What an excluded region makes or writes is new on each call.


def test_excluded_region_writes_a_captured_tensor_before_it_is_read():
    state = tc.tensor([1.0, 2.0])

    @tc.trace
    def body(x):
        with tc.exclude_from_trace():
            state[0] = float(x.numpy()[0])
        return x + state

    for i in range(4):
        assert_same(body(tc.tensor([i, 1.0], dtype=tc.float32)), np.float32([2 * i, 3]))


def test_excluded_region_writes_a_captured_tensor_that_the_trace_then_writes():
    state = tc.tensor([1.0, 2.0])

    @tc.trace
    def body(x):
        with tc.exclude_from_trace():
            state[...] = 10.0
        state[0] += x[0]
        return state * 2

    for i in range(4):
        assert_same(body(tc.tensor([i, 0.0], dtype=tc.float32)), np.float32([20 + 2 * i, 20]))
        assert_same(state, np.float32([10 + i, 10]))


def test_excluded_region_makes_tensors_of_other_shapes():
    shape = (3,)

    def body(x):
        with tc.exclude_from_trace():
            other = tc.ones(shape)
        return x * 2 + other

    function = tc.trace(body)
    x = numbers(3)
    for shape in [(3,), (3,), (1,), (2, 3), (), (3,), (1,)]:
        assert_same(function(tc.tensor(x)), x * 2 + np.ones(shape, np.float32))


# Borrowed arrays as constants.


@pytest.mark.parametrize("view", [lambda a: a.T, lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[:1].repeat(3, 0)])
def test_borrowed_array_with_strides_is_a_constant(view):
    table = numbers(3, 3)
    check_calls(lambda x: (x + tc.tensor(view(table), copy=False),), *[(numbers(3),)] * 3)


def test_borrowed_array_that_changes_is_another_constant():
    table = np.float32([1, 2, 3])
    function = tc.trace(lambda x: x + tc.tensor(table, copy=False))
    zeros = tc.zeros(3)
    for _ in range(3):
        assert_same(function(zeros), table)
    table[0] = 5
    with pytest.raises(tc.TraceError) as caught:
        function(zeros)
    assert caught.value.reason == "constant"
    table[0] = 1
    assert_same(function(zeros), table)


# Which arguments are the same tensor is part of a record.


def test_one_view_given_twice_is_another_record_than_two_views():
    base = tc.tensor([1.0, 2.0, 3.0, 4.0, 5.0])
    first, second = base[:2], base[2:4]
    function = tc.trace(lambda a, b: a * 2 + b)
    for a, b in [(first, second), (first, second), (first, first), (second, second), (first, second)] * 2:
        assert_same(function(a, b), a.numpy() * 2 + b.numpy())
        base[0] += 1.0
    assert function.stats().specialisations == 2
