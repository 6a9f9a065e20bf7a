#!/usr/bin/env python3
"""The speed table: tracec beside NumPy, interleaved in one run.

    ./dev bench              all rows
    ./dev bench --json       the same as JSON
    ./dev bench --only mask  rows whose name contains "mask"

Each ratio is the median over rounds of paired ratios: a round times tracec, NumPy, tracec, NumPy, so that
drift of the machine meets both. The A/A spread (NumPy against itself in neighbouring rounds) is printed
beside it; a ratio whose spread is over 5 % says so. Everything runs on one thread.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# OpenBLAS picks a slower kernel when these are set, and it must not use more threads than we do.
BLAS_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
if os.environ.get("TRACEC_BENCH_CHILD") != "1":
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    environment.update(BLAS_ENVIRONMENT, TRACEC_BENCH_CHILD="1")
    os.execve(sys.executable, [sys.executable, *sys.argv], environment)

import numpy as np  # noqa: E402

import tracec as tc  # noqa: E402

ROWS = []


class Row:
    """One line of the table: what was measured, against which bound."""

    def __init__(self, name, goal, value, unit, spread=None, detail=""):
        self.name, self.goal, self.value, self.unit = name, goal, value, unit
        self.spread, self.detail = spread, detail

    @property
    def met(self):
        kind, bound = self.goal.split()
        return self.value <= float(bound) if kind == "<=" else self.value >= float(bound)

    def as_dict(self):
        return {"name": self.name, "goal": self.goal, "value": self.value, "unit": self.unit,
                "met": self.met, "aa_spread": self.spread, "detail": self.detail}


def row(function):
    ROWS.append(function)
    return function


def seconds_per_call(function, calls):
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def interleaved(ours, peer, rounds=21, target_seconds=0.02):
    """(median ours, median peer, median of paired peer/ours, A/A spread of the peer)."""
    for function in (ours, peer):
        for _ in range(3):
            function()
    calls_ours = max(1, int(target_seconds / max(seconds_per_call(ours, 1), 1e-9)))
    calls_peer = max(1, int(target_seconds / max(seconds_per_call(peer, 1), 1e-9)))
    calls_ours, calls_peer = min(calls_ours, 200_000), min(calls_peer, 200_000)
    a, b = [], []
    for _ in range(rounds):
        a.append(seconds_per_call(ours, calls_ours))
        b.append(seconds_per_call(peer, calls_peer))
    ratios = [y / x for x, y in zip(a, b)]
    spread = statistics.median(abs(y / x - 1) for x, y in zip(b, b[1:]))
    return statistics.median(a), statistics.median(b), statistics.median(ratios), spread


def time_text(seconds):
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def faster_row(name, goal, ours, peer, slower_is_ratio=False, **options):
    mine, theirs, ratio, spread = interleaved(ours, peer, **options)
    value = 1 / ratio if slower_is_ratio else ratio
    return Row(name, goal, value, "x", spread, f"tracec {time_text(mine)}, NumPy {time_text(theirs)}")


@row
def eager_add_small():
    x, y = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    a, b = tc.tensor(x), tc.tensor(y)
    return faster_row("eager x + y, 8 float32: time against NumPy", "<= 1.0",
                      lambda: a + b, lambda: x + y, slower_is_ratio=True, rounds=31)


def ten_ops(m, x, y):
    a = x * y + 0.5
    b = m.exp(a * -0.25)
    c = m.maximum(a - b, 0.0)
    d = c * c + b
    return d * 0.5 - x


@row
def checked_replay():
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(1_000_000).astype(np.float32) for _ in range(2))
    a, b = tc.tensor(x), tc.tensor(y)
    traced = tc.trace(lambda p, q: ten_ops(tc, p, q))
    traced(a, b)
    np.testing.assert_array_equal(traced(a, b).numpy(), ten_ops(tc, a, b).numpy())
    return faster_row("checked replay, 10 ops on 1 M float32", ">= 3.0",
                      lambda: traced(a, b), lambda: ten_ops(np, x, y))


@row
def eager_mask():
    rng = np.random.default_rng(2)
    x = rng.standard_normal(1_000_000).astype(np.float32)
    mask = x > 0
    a, m = tc.tensor(x), tc.tensor(mask)
    np.testing.assert_array_equal(a[m].numpy(), x[mask])
    return faster_row("eager x[mask], 1 M float32, 50 % true", ">= 5.0",
                      lambda: a[m], lambda: x[mask])


@row
def traced_masked_sum():
    rng = np.random.default_rng(3)
    x = rng.standard_normal(1_000_000).astype(np.float32)
    mask = x > 0
    a, m = tc.tensor(x), tc.tensor(mask)
    traced = tc.trace(lambda v, s: (v[s] * 2 + 1).sum())
    eager = (a[m] * 2 + 1).sum().numpy()
    for _ in range(3):
        assert traced(a, m).numpy().tobytes() == eager.tobytes()
    return faster_row("traced (x[m]*2+1).sum(), 1 M float32", ">= 8.0",
                      lambda: traced(a, m), lambda: (x[mask] * 2 + 1).sum())


@row
def matmul_512():
    rng = np.random.default_rng(4)
    x, y = (rng.standard_normal((512, 512)).astype(np.float32) for _ in range(2))
    a, b = tc.tensor(x), tc.tensor(y)
    result = faster_row("matmul 512^3 float32, one thread, against NumPy's BLAS", ">= 0.8",
                        lambda: tc.matmul(a, b), lambda: x @ y)
    flops = 2 * 512**3
    mine, theirs = (seconds_per_call(f, 20) for f in (lambda: tc.matmul(a, b), lambda: x @ y))
    result.detail += f" ({flops / mine / 1e9:.0f} and {flops / theirs / 1e9:.0f} GFLOP/s)"
    return result


def run_python(code):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


@row
def import_time():
    bare, ours, numpy = [], [], []
    for _ in range(15):
        bare.append(run_python("pass"))
        ours.append(run_python("import tracec"))
        numpy.append(run_python("import numpy"))
    base = statistics.median(bare)
    mine, theirs = statistics.median(ours) - base, statistics.median(numpy) - base
    spread = statistics.median(abs(y / x - 1) for x, y in zip(numpy, numpy[1:]))
    return Row("import tracec against import numpy (over bare Python)", "<= 0.5", mine / theirs, "x",
               spread, f"tracec {time_text(mine)}, NumPy {time_text(theirs)}, bare Python "
               f"{time_text(base)}")


FIRST_COMPILE = """
import time, tracec as tc
def body(x, y):
    a = x * y + 0.5
    b = tc.exp(a * -0.25)
    c = tc.maximum(a - b, 0.0)
    d = c * c + b
    return d * 0.5 - x
f = tc.trace(body)
x, y = tc.arange(1000, dtype="float32"), tc.ones(1000)
f(x, y)
begin = time.perf_counter()
f(x, y)
print(time.perf_counter() - begin)
"""


@row
def first_compile():
    times = []
    for _ in range(7):
        out = subprocess.run([sys.executable, "-c", FIRST_COMPILE], check=True, capture_output=True)
        times.append(float(out.stdout))
    return Row("first compile of a 10-op function, loading the compiler included", "<= 150",
               statistics.median(times) * 1e3, "ms", None,
               f"first {time_text(times[0])}, best {time_text(min(times))}")


@row
def load_time():
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples/demo"))
    import demo

    with tempfile.TemporaryDirectory() as folder:
        path = demo.dump_model(Path(folder))
        times = []
        for _ in range(50):
            begin = time.perf_counter()
            model = tc.load(path)
            times.append(time.perf_counter() - begin)
            del model
        size = os.path.getsize(path)
    return Row("loading the demo's file", "<= 1.0", statistics.median(times) * 1e3, "ms", None,
               f"{size / 1e3:.0f} kB, best {time_text(min(times))}")


@row
def runtime_size():
    build = Path(tc.__file__).absolute().parents[2]
    library = next(build.rglob("libtracert.so*")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(library, folder)
        subprocess.run(["strip", copy], check=True)
        size = os.path.getsize(copy)
    return Row("libtracert core, stripped", "<= 512", size / 1024, "KB", None, library.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    parser.add_argument("--only", default="", help="only rows whose function name contains this")
    options = parser.parse_args()
    results = []
    with tc.options(threads=1):
        for function in ROWS:
            if options.only in function.__name__:
                if not options.json:
                    print(f"... {function.__name__}", end="\r", file=sys.stderr, flush=True)
                results.append(function())
    if options.json:
        print(json.dumps([r.as_dict() for r in results], indent=2))
        return
    print(f"NumPy {np.__version__}, Python {sys.version.split()[0]}, one thread\n")
    print(f"{'row':66} {'goal':>8} {'measured':>12}  {'A/A':>5}")
    for r in results:
        spread = "" if r.spread is None else f"{r.spread * 100:.0f} %"
        mark = "ok" if r.met else "MISSED"
        if r.spread is not None and r.spread > 0.05:
            mark += " (noisy)"
        print(f"{r.name:66} {r.goal:>8} {r.value:>9.3g} {r.unit:2}  {spread:>5}  {mark}\n"
              f"    {r.detail}")


if __name__ == "__main__":
    main()
