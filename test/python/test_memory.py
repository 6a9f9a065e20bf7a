"""Memory stays flat however many functions are traced, shapes called, options used and calls failed.

Every loop runs long enough that what it would leave behind is a multiple of what is allowed; `GROWTH` is what the C
library's heap and Python's own caches may add by chance.
"""

import gc
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import tracec as tc

GROWTH = 1 << 20


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def mappings():
    with open("/proc/self/maps", encoding="ascii") as maps:
        return sum(1 for _ in maps)


def growth(body, warm, count):
    """Bytes and mappings that `count` calls body(i) add after `warm` ones."""
    for i in range(warm):
        body(i)
    gc.collect()
    before = resident_bytes(), mappings()
    for i in range(warm, warm + count):
        body(i)
    gc.collect()
    return resident_bytes() - before[0], mappings() - before[1]


def assert_flat(body, warm, count, allowed=GROWTH):
    grown, new_mappings = growth(body, warm, count)
    assert grown <= allowed, f"{count} rounds left {grown} bytes"
    assert new_mappings <= 8, f"{count} rounds left {new_mappings} mappings"


def run_alone(code, **environment):
    """The output of a program of its own."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def large_function(i, length=240):
    """A chain of ops that no other i has, all in one kernel."""
    ops = (lambda v, c: v + c, lambda v, c: v - c, lambda v, c: v * c, tc.maximum)

    @tc.trace
    def chain(x):
        for k in range(length):
            x = ops[(i >> 2 * k) & 3 if k < 8 else k % 3](x, 1.5)
        return x

    return chain


def test_functions_and_their_kernels():
    x = tc.ones((64,))

    def body(i):
        function = large_function(i)
        function(x)
        function(x)

    before = tc._core.compile_count()
    # The cache of compiled kernels is full after the first part, so that each one takes another's place; the second
    # part is as long as a compiler context is used, so that both begin and end at the same age of it.
    assert_flat(body, warm=400, count=256, allowed=2 * GROWTH)
    assert tc._core.compile_count() - before == 656


def test_shapes():
    @tc.trace
    def f(x):
        y = x * 2 + 1
        return (y[y > 3] * 3).sum()

    def body(i):
        f(tc.ones((2 + i % 997, 2 + i // 997)))

    assert_flat(body, warm=500, count=4000)
    assert f.stats().specialisations == 1


def test_specialisations():
    @tc.trace
    def f(x):
        return x * 2 + 1

    shapes = [tuple(1 if bits >> axis & 1 else 2 for axis in range(5)) for bits in range(32)]

    def body(i):
        for _ in range(2):
            f(tc.ones(shapes[i % len(shapes)]))

    assert_flat(body, warm=64, count=640)
    assert f.stats().specialisations == 8


def test_segments_with_inputs_of_many_kinds():
    @tc.trace
    def f(x, counts):
        y = x[: counts[0], : counts[1], : counts[2], : counts[3]]
        float(x.sum())
        return (y * 2).sum()

    x = tc.ones((2, 2, 2, 2))

    def body(i):
        counts = [1 + (i >> axis & 1) for axis in range(4)]
        assert float(f(x, tc.tensor(counts))) == 2 * np.prod(counts)

    assert_flat(body, warm=64, count=320)


def test_errors():
    @tc.trace
    def f(x, y):
        return x[y] + (1 if len(x.shape) == 1 else 2)

    x = tc.ones((4,))
    f(x, tc.tensor([1, 2]))

    def body(i):
        with pytest.raises(IndexError):
            f(x, tc.tensor([1, 100 + i]))
        with pytest.raises(tc.TraceError):
            f(x, tc.tensor([1.0, i]))
        with pytest.raises(ValueError):
            tc.ones((3,)) + tc.ones((5 + i,))

    assert_flat(body, warm=500, count=5000)


def test_calls_in_an_excluded_region_keep_no_argument():
    class Config:
        pass

    @tc.trace
    def inner(x, config):
        return x + 1

    @tc.trace
    def outer(x, configs):
        with tc.exclude_from_trace():
            for config in configs.made():
                inner(x, config)
        return x * 2

    class Configs:
        seen = []

        def made(self):
            config = Config()
            self.seen.append(weakref.ref(config))
            return [config]

    configs = Configs()
    for _ in range(20):
        outer(tc.ones((3,)), configs)
    gc.collect()
    assert [reference() for reference in configs.seen] == [None] * 20


def test_methods_of_instances_that_die():
    class Model:
        def __init__(self):
            self.weight = tc.ones((1000,))

        @tc.trace
        def run(self, x):
            return x * self.weight

    x = tc.ones((1000,))

    def body(i):
        model = Model()
        model.run(x)
        model.run(x)

    assert_flat(body, warm=100, count=1000)


def test_loaded_files(tmp_path):
    @tc.trace
    def f(x):
        return tc.exp(x * 2) + 1

    f(tc.ones((8,)))
    f.dump(tmp_path / "f.trc")

    def body(i):
        model = tc.load(tmp_path / "f.trc")
        model(tc.ones((8,)))
        model.verify()

    files = len(os.listdir("/proc/self/fd"))
    assert_flat(body, warm=100, count=1500)
    assert len(os.listdir("/proc/self/fd")) == files


def test_threads_that_come_and_go():
    @tc.trace
    def f(x):
        return x * 2 + 1

    f(tc.ones((5,)))
    wrong = []

    def work():
        for size in (2, 3, 4):
            if f(tc.ones((size,))).tolist() != [3.0] * size:
                wrong.append(size)

    def body(i):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert_flat(body, warm=50, count=200)
    assert not wrong


def test_numbers_of_threads():
    output = run_alone("""
        import os
        import tracec as tc
        x = tc.ones((2_000_000,))
        f = tc.trace(lambda x: x * 2 + 1)
        for threads in range(2, 16):
            with tc.options(threads=threads):
                for _ in range(3):
                    assert float(f(x)[5]) == 3.0
        del f
        for threads in range(2, 16):
            with tc.options(threads=threads):
                (x * 2 + 1).sum()
        print(len(os.listdir("/proc/self/task")))
    """, TRACERT_THREADS="2")
    # Four pools of at most 15 threads, each without the caller's; all of them would have 105 and one of the process.
    assert int(output) <= 1 + 1 + 4 * 14


def test_one_thread_is_one_thread():
    output = run_alone("""
        import os
        import tracec as tc
        f = tc.trace(lambda x: x * 2 + 1)
        with tc.options(threads=1):
            x = tc.ones((2_000_000,))
            for _ in range(3):
                f(x)
            (x + x).sum()
        print(len(os.listdir("/proc/self/task")))
    """, TRACERT_THREADS="4")
    assert int(output) == 1
