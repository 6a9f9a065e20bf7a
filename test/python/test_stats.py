"""Statistics tell which way calls really took; other tests rely on them."""

import os
import subprocess
import sys
import textwrap

import pytest

import tracec as tc
from checks import assert_same
from paths import is_runnable, launches_between, level_of, needs_kernels, really_on


def fused(x):
    return tc.exp(x) * 2 + 1


def traced(x):
    function = tc.trace(fused)
    function(x)
    return function


@needs_kernels
def test_a_replay_counts_its_kernels():
    x = tc.arange(1000, dtype=tc.float32) / 100
    function = traced(x)
    assert function.stats().launches == 0 and function.stats().runs_by_section == {}
    for section in tc.stats.runnable_sections():
        before = function.stats()
        with really_on(function, section):
            assert_same(function(x), fused(x), section)
        wanted = (0, 0, 3) if section == "portable" else (1, 0, 0)
        assert launches_between(before, function.stats()) == wanted


@needs_kernels
def test_a_launch_that_does_not_fit_is_counted_and_so_are_its_ops(tmp_path):
    """A file has code for contiguous inputs only."""
    x = tc.ones((25, 40))
    function = traced(x)
    function.dump(tmp_path / "m.trc")
    model = tc.load(tmp_path / "m.trc")
    strided = tc.permute(tc.reshape(tc.arange(1000, dtype=tc.float32) / 100, (40, 25)), (1, 0))
    before = model.stats()
    assert_same(model(strided), fused(strided), "strided")
    assert launches_between(before, model.stats()) == (0, 1, 3)


@needs_kernels
def test_strides_that_were_not_seen_before_are_compiled_for():
    """Replays take arguments with any strides into compiled code, for at most four classes of strides."""
    def body(x, y):
        return (x * 2 + y).sum(axis=1), x - y

    function = tc.trace(body)
    base = tc.arange(60 * 90, dtype=tc.float32).reshape((60, 90)) / 7
    views = [
        lambda x: tc.reshape(x[:30, :].copy()[:, :40].copy(), (30, 40)),
        lambda x: x[:30, :40],
        lambda x: tc.permute(x[:40, :30], (1, 0)),
        lambda x: x[::2, ::2][:, 1:41],
        lambda x: x[29::-1, 39::-1],
        lambda x: tc.broadcast_to(x[:, :1][:30], (30, 40)),
    ]
    for left in views:
        for right in views:
            x, y = left(base), right(base)
            for _ in range(3):
                before = function.stats()
                assert_same(function(x, y), body(x, y), "strided")
            launches, replaced, library = launches_between(before, function.stats())
            assert launches > 0 and replaced == 0
    compiled = tc.stats.compile_count()
    for left in views:
        for right in views:
            function(left(base), right(base))
    assert tc.stats.compile_count() == compiled


def test_a_block_on_another_section_is_noticed():
    x = tc.ones((4,))
    function = traced(x)
    with pytest.raises(AssertionError, match="expected some and all on portable"):
        with really_on(function, "portable"):
            pass
    with pytest.raises(AssertionError, match="expected some and all on portable"):
        with really_on(function, "portable"), tc.options(section=tc.stats.runnable_sections()[-1]):
            if not is_runnable("v3"):
                pytest.skip("there is only the portable section")
            function(x)


def test_a_model_counts_and_names_its_section(tmp_path):
    x = tc.arange(1000, dtype=tc.float32) / 100
    function = traced(x)
    function.dump(tmp_path / "m.trc")
    for section in ["best", *tc.stats.runnable_sections()]:
        model = tc.load(tmp_path / "m.trc", section=section)
        assert model.stats().section == level_of(section) and model.stats().runs == 0
        assert_same(model(x), fused(x), section)
        assert_same(model(x[:7]), fused(x[:7]), section)
        stats = model.stats()
        assert (stats.runs, stats.plans, stats.launches_replaced) == (2, 2, 0)
        assert (stats.launches, stats.library_kernels) == ((0, 6) if section == "portable" else (2, 0)) or not is_runnable("v3")


def test_loops_shared_by_threads_are_counted():
    x = tc.ones((1_000_000,))
    with tc.options(threads=1):
        assert tc.stats.shared_loops() == 0
    with tc.options(threads=2):
        before = tc.stats.shared_loops()
        tc.exp(x)
        assert tc.stats.shared_loops() > before


def test_what_dropped_records_ran_stays_counted():
    function = tc.trace(lambda x: x + 1)
    for rank in range(20):
        for _ in range(2):
            function(tc.ones((2,) * rank))
    assert function.stats().replays == 20 and function.stats().specialisations == 8


def test_one_thread_means_one_thread(tmp_path):
    """Eager, replay and loaded models with threads=1 start no other thread."""
    script = f"""
        import os, sys
        sys.path[:0] = {sys.path!r}
        import tracec as tc
        tc.options(threads=1).__enter__()
        x = tc.ones((1_000_000,))
        function = tc.trace(lambda x: (tc.exp(x) * 2, x.sum(), x @ x))
        for _ in range(3):
            function(x)
        print(len(os.listdir("/proc/self/task")), function.stats().replays)
        function.dump({str(tmp_path / "m.trc")!r})
        tc.load({str(tmp_path / "m.trc")!r})(x)
        print(len(os.listdir("/proc/self/task")))
        with tc.options(threads=3):
            function(x)
        print(len(os.listdir("/proc/self/task")))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60, env=dict(os.environ), check=False)
    assert done.stdout.split() == ["1", "2", "1", "3"], done.stdout + done.stderr
