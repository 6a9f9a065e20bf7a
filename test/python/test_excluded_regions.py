"""exclude_from_trace() that is not left where it was entered: generators, exit stacks, other threads, wrong orders."""

import contextlib
import gc
import threading

import numpy as np
import pytest

import tracec as tc
from checks import assert_same


def region():
    with tc.exclude_from_trace():
        yield


def use_tracec():
    """Ops that crash when a dead trace is installed, on this thread and in a traced call."""
    gc.collect()
    for _ in range(3):
        assert_same(tc.tensor([1.0, 2.0]) * 2 + 1, np.float32([3, 5]))
    function = tc.trace(lambda x: x * 3 + 1)
    for i in range(3):
        assert_same(function(tc.tensor([float(i)])), np.float32([i * 3 + 1]))
    assert function.state == "compiled"


class Body:
    """A traced function that leaves an excluded region open; `kept` holds it."""

    def __init__(self, enter, before_end=lambda: None):
        self.kept = []
        self.enter, self.before_end = enter, before_end

        @tc.trace
        def body(x):
            y = x + 1
            self.enter(self.kept)
            z = y * 2
            self.before_end()
            return z - 1

        self.body = body

    def check(self, times=3):
        for i in range(times):
            assert_same(self.body(tc.tensor([float(i), 5.0])), np.float32([i * 2 + 1, 11]))


def open_generator(kept):
    kept.append(region())
    next(kept[-1])


def open_stack(kept):
    kept.append(contextlib.ExitStack())
    kept[-1].enter_context(tc.exclude_from_trace())


def open_by_hand(kept):
    kept.append(tc.exclude_from_trace())
    kept[-1].__enter__()


OPENERS = [open_generator, open_stack, open_by_hand]


def close(thing):
    thing.close() if hasattr(thing, "close") else thing.__exit__(None, None, None)


@pytest.mark.parametrize("opener", OPENERS)
def test_closed_after_the_call(opener):
    body = Body(opener)
    body.check()
    for thing in body.kept:
        close(thing)
        use_tracec()
    body.check()


@pytest.mark.parametrize("opener", OPENERS)
def test_dropped_after_the_call(opener):
    body = Body(opener)
    body.check()
    body.kept.clear()
    use_tracec()


@pytest.mark.parametrize("opener", OPENERS)
def test_closed_in_a_later_call(opener):
    """It belongs to the call in which it was entered: the later call is traced as if nothing happened."""
    body = Body(opener)
    body.check(1)

    @tc.trace
    def later(x):
        y = x * 2
        if body.kept:
            close(body.kept.pop())
        return y + 1

    for i in range(3):
        assert_same(later(tc.tensor([float(i)])), np.float32([i * 2 + 1]))
    assert later.state == "compiled"
    use_tracec()


@pytest.mark.parametrize("opener", OPENERS)
def test_the_call_fails_while_the_region_is_open(opener):
    def fail():
        raise KeyError("mine")

    body = Body(opener, fail)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            body.check(1)
        use_tracec()
    for thing in body.kept:
        close(thing)
    use_tracec()
    body.before_end = lambda: None
    body.check()


@pytest.mark.parametrize("opener", OPENERS)
def test_entered_before_the_call_and_closed_inside(opener):
    """Outside of traced calls nothing is excluded, and leaving inside of one changes nothing there."""
    kept = []
    opener(kept)

    @tc.trace
    def body(x):
        y = x * 2
        if kept:
            close(kept.pop())
        return y + 1

    for i in range(3):
        assert_same(body(tc.tensor([float(i)])), np.float32([i * 2 + 1]))
    assert body.state == "compiled"
    assert "excluded" not in body.explain()


def count_ops(function):
    return function.stats().ops


@pytest.mark.parametrize("order", ["nested", "crossed"])
def test_two_regions(order):
    """Excluded is what lies between the first entry and the last exit."""

    @tc.trace
    def body(x):
        a, b = tc.exclude_from_trace(), tc.exclude_from_trace()
        y = x + 1
        a.__enter__()
        b.__enter__()
        y = y + 1
        (a if order == "crossed" else b).__exit__(None, None, None)
        y = y + 1
        (b if order == "crossed" else a).__exit__(None, None, None)
        return y + 1

    for i in range(3):
        assert_same(body(tc.tensor([float(i)])), np.float32([i + 4]))
    assert count_ops(body) == 2
    use_tracec()


def test_one_object_entered_twice():
    @tc.trace
    def body(x):
        scope = tc.exclude_from_trace()
        with scope:
            with scope:
                y = x + 1
            y = y + 1
        return y * 2

    for i in range(3):
        assert_same(body(tc.tensor([float(i)])), np.float32([(i + 2) * 2]))
    assert count_ops(body) == 1


def test_left_more_often_than_entered():
    scope = tc.exclude_from_trace()
    for prepare in (lambda: None, lambda: scope.__enter__() and scope.__exit__(None, None, None)):
        prepare()
        with pytest.raises(tc.TraceError, match="TC0213") as caught:
            scope.__exit__(None, None, None)
        assert caught.value.code == "TC0213" and caught.value.reason == "excluded region"

    @tc.trace
    def body(x):
        with tc.exclude_from_trace():
            y = x + 1
            with pytest.raises(tc.TraceError, match="TC0213"):
                scope.__exit__(None, None, None)
            y = y + 1
        return y * 2

    for i in range(3):
        assert_same(body(tc.tensor([float(i)])), np.float32([(i + 2) * 2]))
    assert count_ops(body) == 1


def in_thread(action):
    errors = []

    def run():
        try:
            action()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors


@pytest.mark.parametrize("opener", OPENERS)
def test_left_in_another_thread(opener):
    """The other thread is told, and neither thread loses or gets a trace; the region ends with its call."""
    found = []

    def close_elsewhere():
        found.extend(in_thread(lambda: close(body.kept[-1])))
        found.extend(in_thread(use_tracec))

    body = Body(opener, close_elsewhere)
    body.check()
    assert len(found) == 3 and all(isinstance(error, tc.TraceError) for error in found), found
    assert "another thread" in str(found[0])
    assert ("contextlib.py" if opener is open_stack else "test_excluded_regions.py") in str(found[0])
    use_tracec()


@pytest.mark.parametrize("opener", OPENERS)
def test_left_in_another_thread_after_the_call(opener):
    body = Body(opener)
    body.check()
    assert in_thread(lambda: [close(thing) for thing in body.kept]) == []
    assert in_thread(use_tracec) == []
    use_tracec()


def test_dropped_in_another_thread():
    body = Body(open_by_hand, lambda: in_thread(lambda: (body.kept.clear(), use_tracec())))
    body.check()
    use_tracec()


def test_one_object_in_two_threads():
    """Each thread leaves its own entry, in whatever order."""
    scope, entered, left = tc.exclude_from_trace(), threading.Event(), threading.Event()
    errors = []

    @tc.trace
    def body(x):
        y = x + 1
        with scope:
            y = y + 1
            entered.set()
            left.wait(20)
        return y * 2

    def other():
        entered.wait(20)
        try:
            with scope:
                use_tracec()
        except BaseException as error:
            errors.append(error)
        left.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert_same(body(tc.tensor([1.0])), np.float32([6]))
    thread.join()
    assert errors == [] and count_ops(body) == 2
    use_tracec()


def test_generators_that_yield_inside_stay_excluded():
    """The region is the thread's, not the generator's: ops between its steps are excluded, too."""

    def steps(x):
        with tc.exclude_from_trace():
            for i in range(3):
                yield x + i

    @tc.trace
    def body(x):
        y = x * 2
        for part in steps(x):
            y = y + part
        return y - 1

    for i in range(3):
        assert_same(body(tc.tensor([float(i)])), np.float32([i * 5 + 2]))
    assert count_ops(body) == 2
