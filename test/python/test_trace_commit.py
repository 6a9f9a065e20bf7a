"""The commit rule of checked replay: what a call that ends in an error leaves behind, and that the trace works on.

Writes to arguments and captures are committed together when the comparison of the call has passed; on any exception
they hold the values of the last commit. A host read or an excluded region commits what was written before it.
"""

import numpy as np
import pytest

import tracec as tc
from checks import assert_same


def warmed(body, *arguments, calls=3):
    """A traced function after its record and two replays."""
    function = tc.trace(body)
    for _ in range(calls):
        function(*arguments)
    assert function.state == "compiled"
    return function


def test_mismatch_after_a_set_leaves_the_last_commit():
    x = tc.tensor([1.0, 2.0, 3.0])
    argument = tc.tensor([10.0, 20.0])
    negate = False

    def body(a):
        x[:2] += a
        a[0] += 1.0
        return x * a[1] if not negate else x / a[1]

    function = warmed(body, argument)
    x_before, argument_before = x.numpy(), argument.numpy()
    negate = True
    with pytest.raises(tc.TraceError) as caught:
        function(argument)
    assert caught.value.reason == "operator"
    assert_same([x, argument], [x_before, argument_before])
    negate = False
    assert_same(function(argument), (x_before + np.float32([10, 20, 0]) + np.float32([3, 0, 0])) * np.float32(20))
    assert_same(x, x_before + np.float32([13, 20, 0]))


def test_index_error_after_a_set_leaves_the_last_commit():
    x = tc.tensor([1.0, 2.0, 3.0])

    def body(a, at):
        x[0] = a
        a += 1.0
        y = x[at]
        x[1] = 50.0
        return y * 2

    good = tc.tensor([0, 2], dtype=tc.int64)
    function = warmed(body, tc.tensor(5.0), good)
    x_before, argument = x.numpy(), tc.tensor(9.0)
    for _ in range(2):
        with pytest.raises(IndexError, match=r"\b3\b"):
            function(argument, tc.tensor([0, 3], dtype=tc.int64))
        assert_same([x, argument], [x_before, np.float32(9)])
    assert_same(function(argument, good), np.float32([18, 6]))
    assert_same([x, argument], [np.float32([9, 50, 3]), np.float32(10)])


def test_index_error_in_the_set_itself_writes_nothing():
    x = tc.tensor([1.0, 2.0, 3.0])

    def body(at, a):
        x[at] = a
        return x.sum()

    function = warmed(body, tc.tensor([0, 1], dtype=tc.int64), tc.tensor([4.0, 5.0]))
    with pytest.raises(IndexError):
        function(tc.tensor([0, -4], dtype=tc.int64), tc.tensor([8.0, 9.0]))
    assert_same(x, np.float32([4, 5, 3]))
    assert_same(function(tc.tensor([2, -3], dtype=tc.int64), tc.tensor([8.0, 9.0])), np.float32(22))


def test_mask_count_error_writes_nothing():
    x = tc.tensor([1.0, 2.0, 3.0, 4.0])

    def body(mask, a):
        x[0] = -1.0
        x[mask] = a
        return x + 0.0

    two = tc.tensor([False, True, True, False])
    function = warmed(body, two, tc.tensor([7.0, 8.0]))
    x[0] = 1.0
    with pytest.raises(ValueError):
        function(tc.tensor([True, True, True, False]), tc.tensor([5.0, 6.0]))
    assert_same(x, np.float32([1, 7, 8, 4]))
    assert_same(function(two, tc.tensor([5.0, 6.0])), np.float32([-1, 5, 6, 4]))


def test_exception_in_the_body_after_a_set_leaves_the_last_commit():
    x = tc.tensor([1.0, 2.0])
    fail = False

    def body(a):
        x[0] += a
        a *= 2.0
        if fail:
            raise KeyError("from the body")
        x[1] += a
        return x * 2

    function = warmed(body, tc.tensor(1.0))
    x_before, argument = x.numpy(), tc.tensor(3.0)
    fail = True
    with pytest.raises(KeyError, match="from the body"):
        function(argument)
    assert_same([x, argument], [x_before, np.float32(3)])
    fail = False
    assert_same(function(argument), (x_before + np.float32([3, 6])) * np.float32(2))
    assert_same(argument, np.float32(6))


def test_exception_while_recording_leaves_the_trace_untraced():
    x = tc.tensor([1.0, 2.0])
    fail = True

    def body(a):
        y = x * a
        if fail:
            raise KeyError("from the body")
        return y + 1

    function = tc.trace(body)
    with pytest.raises(KeyError):
        function(tc.tensor(2.0))
    assert function.state == "untraced"
    # Nothing may stay active: this op is outside any trace.
    assert_same(x + 1, np.float32([2, 3]))
    fail = False
    for factor in (2.0, 3.0, 4.0, 5.0):
        assert_same(function(tc.tensor(factor)), np.float32([1, 2]) * np.float32(factor) + np.float32(1))
    assert function.state == "compiled"


def test_host_read_commits_the_writes_before_it():
    x = tc.tensor([1.0, 2.0])
    fail = False

    def body(a):
        x[0] += a
        seen = x.tolist()
        x[1] += a
        if fail:
            raise KeyError(seen)
        return x + 0.0

    function = warmed(body, tc.tensor(1.0))
    assert_same(x, np.float32([4, 5]))
    fail = True
    with pytest.raises(KeyError) as caught:
        function(tc.tensor(10.0))
    # The read saw the pending write, so that write stays; the one after the read is dropped.
    assert caught.value.args[0] == [14.0, 5.0]
    assert_same(x, np.float32([14, 5]))


def test_excluded_region_commits_the_writes_before_it():
    x = tc.tensor([1.0, 2.0])
    fail = False

    def body(a):
        x[0] += a
        with tc.exclude_from_trace():
            seen = (x * 2).tolist()
        x[1] += a
        if fail:
            raise KeyError(seen)
        return x + 0.0

    function = warmed(body, tc.tensor(1.0))
    fail = True
    with pytest.raises(KeyError) as caught:
        function(tc.tensor(10.0))
    assert caught.value.args[0] == [28.0, 10.0]
    assert_same(x, np.float32([14, 5]))


def test_exception_inside_an_excluded_region_leaves_no_state():
    x = tc.tensor([1.0, 2.0])
    fail = False

    def body(a):
        y = x * a
        with tc.exclude_from_trace():
            with tc.exclude_from_trace():
                if fail:
                    raise KeyError("inside")
                z = y + 1
        return z * y

    function = warmed(body, tc.tensor(2.0))
    fail = True
    with pytest.raises(KeyError, match="inside"):
        function(tc.tensor(2.0))
    fail = False
    assert_same(function(tc.tensor(3.0)), np.float32([12, 42]))


def test_changed_constant_after_a_set_is_an_error_not_a_stale_value():
    x = tc.tensor([1.0, 2.0])
    rate = 0.5

    def body(a):
        x[0] = a
        return x * rate

    function = warmed(body, tc.tensor(3.0))
    rate = 0.25
    with pytest.raises(tc.TraceError) as caught:
        function(tc.tensor(8.0))
    assert caught.value.reason == "constant"
    assert_same(x, np.float32([3, 2]))
    rate = 0.5
    assert_same(function(tc.tensor(8.0)), np.float32([4, 1]))


def test_arguments_that_begin_to_alias_are_never_answered_stale():
    """Recorded with two cells, called with one: either a TraceError or the eager result, and no half commit."""
    def body(a, b):
        a += 1.0
        return a + b

    function = warmed(body, tc.tensor([1.0]), tc.tensor([2.0]))
    both = tc.tensor([5.0])
    try:
        result = function(both, both)
    except tc.TraceError as error:
        assert error.reason in ("operand identity", "external", "argument structure")
        assert_same(both, np.float32([5]))
    else:
        assert_same([result, both], [np.float32([12]), np.float32([6])])
    assert_same(function(tc.tensor([1.0]), tc.tensor([2.0])), np.float32([4]))


def test_a_size_as_a_number_commits_nothing_while_recording():
    """A replay knows the size without computing, so it is no host read there either."""
    x = tc.ones((3,))

    def body(x, index):
        x += 1
        return x[index] * int(x.shape[0])

    function = tc.trace(body)
    with pytest.raises(IndexError):
        function(x, tc.tensor([7]))
    assert x.tolist() == [1, 1, 1]
    function(x, tc.tensor([1]))
    with pytest.raises(IndexError):
        function(x, tc.tensor([7]))
    assert x.tolist() == [2, 2, 2]
