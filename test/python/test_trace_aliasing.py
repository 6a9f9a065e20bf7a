"""Aliasing, writes and replay: what a traced function must share with the eager one.

Each case in CASES is a body that runs on three twins: NumPy arrays, eager tensors and a traced function. A case
returns (body, captured, arguments): the captured tensors are compared after every call, and so are the arguments and
all results of earlier calls. Five calls: the record, the first replay and later ones. The cases that end in an error
are in test_trace_commit.py, because there the traced function differs from the eager one on purpose: it commits nothing.
"""

import numpy as np
import pytest

import alias_cell_cases
import alias_write_cases
import tracec as tc
from checks import all_sides, assert_same, bits_equal, snapshot

CALLS = 5
CASES = alias_write_cases.CASES + alias_cell_cases.CASES


class Run:
    """One twin: the state of a case on one side, its results so far."""

    def __init__(self, side, make):
        self.side = side
        self.body, self.captured, self.arguments = make(side)
        self.function = side.trace(self.body)
        self.results = []

    def call(self, number):
        arguments = self.arguments(number)
        self.results.append(self.function(*arguments))
        return snapshot([self.results[-1], list(arguments), list(self.captured)])


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_replay_equals_eager(make):
    numpy_run, eager_run, traced_run = (Run(side, make) for side in all_sides())
    for number in range(CALLS):
        by_numpy = numpy_run.call(number)
        by_eager = eager_run.call(number)
        by_trace = traced_run.call(number)
        assert_same(by_eager, by_numpy, f"eager call {number}")
        assert_same(by_trace, by_eager, f"traced call {number}")
    # Results of earlier calls, read late: a replay that reuses memory shows here.
    assert_same(snapshot(traced_run.results), snapshot(eager_run.results), "results read after all calls")
    assert traced_run.function.state == "compiled"


def test_there_are_thirty_cases_and_they_compute_something():
    """A case whose results and captures never change over the calls would not notice a stale replay."""
    assert len(CASES) >= 30
    for make in CASES:
        run = Run(all_sides()[0], make)
        seen = [run.call(number) for number in range(2)]
        with pytest.raises(AssertionError):
            assert_same(seen[0], seen[1])


def test_writing_a_result_does_not_reach_the_next_call():
    function = tc.trace(lambda a: (a * 2, a + 1))
    argument = tc.tensor([1.0, 2.0])
    kept = []
    for call in range(5):
        doubled, plus_one = function(argument)
        assert_same([doubled, plus_one], [np.float32([2, 4]), np.float32([2, 3])], f"call {call}")
        doubled[0] = 99.0
        plus_one += doubled
        kept.append((doubled, plus_one))
    for doubled, plus_one in kept:
        assert_same([doubled, plus_one], [np.float32([99, 4]), np.float32([101, 7])])


def test_exported_buffer_keeps_its_value_through_replays():
    x = tc.tensor([1.0, 2.0])

    def body(a):
        x[0] += a
        return x * 1

    function = tc.trace(body)
    exports = []
    for call in range(5):
        exports.append((x.numpy(), 1.0 + call))
        result = function(tc.tensor(1.0))
        exports.append((result.numpy(), 2.0 + call))
        result[0] = -1.0
    for array, first in exports:
        assert bits_equal(array, np.float32([first, 2]))


def test_two_traces_share_a_captured_cell():
    x = tc.tensor([1.0, 2.0])

    def add(a):
        x[0] += a
        return x + 0.0

    def scale(a):
        x[...] *= a
        return x + 0.0

    added, scaled = tc.trace(add), tc.trace(scale)
    expected = np.float32([1, 2])
    for call in range(5):
        expected[0] += call
        assert_same(added(tc.tensor(float(call))), expected)
        expected *= 2
        assert_same(scaled(tc.tensor(2.0)), expected)
    assert_same(x, expected)


def test_result_outlives_its_function_and_inputs():
    def make():
        x = tc.tensor([1.0, 2.0])
        function = tc.trace(lambda a: x * a)
        return [function(tc.tensor(float(call))) for call in range(4)]

    results = make()
    for call, result in enumerate(results):
        assert_same(result, np.float32([1, 2]) * np.float32(call))
