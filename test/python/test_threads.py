"""Traced functions in several Python threads: nobody waits for ever, and a compilation stops nobody else."""

import os
import pathlib
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import tracec as tc


def test_other_threads_run_while_one_compiles():
    def body(x):
        for i in range(60):
            x = (x * (1.0 + i)).sum(axis=0, keepdims=True) + x
        return x

    function = tc.trace(body)
    x = tc.tensor(np.ones((3, 4), np.float32))
    function(x)
    span = []

    def replay():
        start = time.perf_counter()
        function(x)
        span.extend((start, time.perf_counter()))

    thread = threading.Thread(target=replay)
    thread.start()
    ticks = []
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    inside = [span[0], *(tick for tick in ticks if span[0] < tick < span[1]), span[1]]
    longest = max(after - before for before, after in zip(inside, inside[1:]))
    assert longest < (span[1] - span[0]) / 2, f"stopped for {longest:.3f} s of {span[1] - span[0]:.3f} s"


# Each thread of one kind; a finalizer of the kind that runs at any allocation takes a lock of its own.
STRESS = """
import faulthandler, gc, pathlib, random, sys, threading, time
import numpy as np
import tracec as tc

faulthandler.dump_traceback_later(float(sys.argv[2]), exit=True)
folder = pathlib.Path(sys.argv[1])
until = time.monotonic() + float(sys.argv[3])
sys.setswitchinterval(1e-5)
errors = []
user_lock = threading.Lock()

class Loop:
    "Garbage whose end runs Python code and lets other threads in."
    def __init__(self, array):
        self.me, self.array = self, array
    def __del__(self):
        with user_lock:
            time.sleep(0)

class Array(np.ndarray):
    def __del__(self):
        with user_lock:
            time.sleep(0)

def borrowed(first, count=4):
    array = np.arange(first, first + count, dtype=np.float32).view(Array)
    Loop(array)
    return tc.tensor(array, copy=False)

@tc.trace
def shared(x):
    return x * 3.0 + x

def check(x, result, factor):
    if result.tolist() != [factor * value for value in x.tolist()]:
        errors.append((x.tolist(), result.tolist()))

def trace(seed):
    factor = float(seed + 2)
    captured = borrowed(0.0, 1)
    function = tc.trace(lambda x: x * factor + captured)
    for count in (3, 4, 1):
        x = borrowed(float(seed % 7), count)
        check(x, function(x), factor)
        check(x, function(x), factor)

def replay(seed):
    for count in range(1, 4 + seed % 5):
        x = borrowed(float(seed % 9), count)
        check(x, shared(x), 4.0)

def dump(seed):
    # The file's check runs in a child process; what matters is done before.
    function = tc.trace(lambda x: x + x)
    x = borrowed(1.0)
    function(x)
    path = folder / f"{threading.get_ident()}.trc"
    function.dump(path, targets=(), test_inputs=[(x,)])
    check(x, tc.load(path)(x), 2.0)

def drop(seed):
    # More kinds of calls than are kept, so that records go while others replay them.
    for ones in range(8):
        shape = [1 if ones >> axis & 1 else 2 for axis in range(3)]
        shared(tc.tensor(np.ones(shape, np.float32).view(Array), copy=False))
    shared.stats(), shared.explain()
    gc.collect()

def mismatch(seed):
    try:
        shared(tc.tensor([1, 2], dtype=tc.int64))
    except tc.TraceError:
        pass
    shared.graph, shared.state

def run(kind, seed):
    try:
        while time.monotonic() < until:
            kind(seed)
            seed += 1
    except BaseException as error:
        errors.append((kind.__name__, repr(error)))

shared(tc.tensor([1.0, 2.0]))
threads = [threading.Thread(target=run, args=(kind, 100 * i))
           for i, kind in enumerate((trace, trace, replay, replay, dump, drop, mismatch))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not errors, errors[:3]
print("done")
"""


@pytest.mark.parametrize("seconds", [5])
def test_threads_that_trace_replay_dump_and_drop_at_once(tmp_path, seconds):
    script = tmp_path / "stress.py"
    script.write_text(textwrap.dedent(STRESS))
    watchdog = 20 * seconds
    folder = pathlib.Path(tc.__file__).parent.parent
    child = subprocess.run(
        [sys.executable, script, tmp_path, str(watchdog), str(seconds)],
        env={**os.environ, "PYTHONPATH": str(folder), "TRACERT_THREADS": "2"},
        capture_output=True, text=True, timeout=2 * watchdog, check=False,
    )
    assert child.returncode == 0 and child.stdout == "done\n", child.stdout + child.stderr


FORKS = """
import os, signal, threading
import numpy as np
import tracec as tc

x = tc.tensor(np.ones((3, 4), np.float32))

def compiled(factor):
    function = tc.trace(lambda x: (x * factor).sum(axis=0, keepdims=True) + x)
    function(x)
    return function(x).tolist() == (np.ones((3, 4)) * (3 * factor + 1)).tolist()

isOver = False

def compileAll():
    factor = 100.0
    while not isOver:
        compiled(factor)
        factor += 1

thread = threading.Thread(target=compileAll)
thread.start()
statuses = []
for factor in range(1, 13):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if compiled(float(factor)) else 1)
    statuses.append(os.waitpid(child, 0)[1])
isOver = True
thread.join()
print(statuses)
"""


def test_a_fork_beside_a_compilation_leaves_the_child_a_compiler(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    folder = pathlib.Path(tc.__file__).parent.parent
    child = subprocess.run([sys.executable, script], env={**os.environ, "PYTHONPATH": str(folder)},
                           capture_output=True, text=True, timeout=300, check=False)
    assert child.stdout == f"{[0] * 12}\n", child.stdout + child.stderr
