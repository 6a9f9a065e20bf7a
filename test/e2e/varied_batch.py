"""Runs a batch of random programs in a process of its own and reports as one JSON line.

Usage: `python varied_batch.py --seed 7 --count 50 [--errors] [--path "file v3"] [--verbose]`, PYTHONPATH with the package and test/python.
With --verbose each failing program is printed as a script, cut to the smallest that fails alike.

Each program runs on some of PATHS: all of them come round within a batch.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np

import known_faults
import tracec as tc
import tracec._check_file
import varied_paths
import varied_programs
from shrink_script import shrink
from varied_paths import Path

REPLAYS = [
    Path("replay", "portable"), Path("replay"), Path("replay", "v3", threads=2), Path("replay", "portable", opt_level=0, threads=2),
    Path("replay", threads=2, opt_level=0), Path("replay", "v3", opt_level=0), Path("replay", "portable", write_results=True),
    Path("replay", threads=2, write_results=True), Path("replay", "portable", backwards=True), Path("replay", backwards=True, opt_level=0),
]
FILES = [
    Path("file", "portable"), Path("file", "portable", dynamic=True), Path("file"), Path("file", "v3", threads=2, dynamic=True),
    Path("file", "portable", opt_level=0), Path("file", threads=2, dynamic=True, opt_level=0), Path("file", "v3", opt_level=0),
    Path("file", "portable", write_results=True), Path("file", write_results=True),
]
# More work would rarely make a program smaller.
SHRINK_TRIES = 250


def no_child(path):
    """dump() then checks its file in this process: thousands of children would take most of the time."""
    raise tracec._check_file._NoChild("random programs are many")


def runnable(path):
    return path.section == "best" or path.section in tc.stats.runnable_sections()


def disagreement(script, path, folder, counts=None):
    """The Disagreement that the path shows, or None; also None for a program that call 0 does not finish."""
    function, _ = script.function(lambda body: body)
    try:
        function(*script.arguments(0)[0])
        varied_paths.check(script, path, folder, collections.Counter() if counts is None else counts)
    except varied_paths.Disagreement as found:
        return found
    except Exception:
        # A program that the shrinker cut too far; whole programs have no such errors.
        if counts is not None:
            raise
    return None


class Batch:
    def __init__(self, folder, verbose=False, known=False):
        self.folder, self.verbose, self.reports_known = folder, verbose, known
        self.counts, self.failures = collections.Counter(), []
        self.known = collections.Counter()

    def program(self, seed, errors, paths):
        # Where a crash happened is known from the last line.
        print(f"# seed {seed}", file=sys.stderr, flush=True)
        try:
            script = varied_programs.VariedProgram(seed, errors).grow()
        except varied_programs.Disagreement as found:
            self.failures.append({"seed": seed, "path": "eager against NumPy", "text": str(found)})
            return
        self.counts["programs"] += 1
        self.counts["lines"] += len(script.lines)
        for path in paths:
            if not runnable(path):
                continue
            found = disagreement(script, path, self.folder, self.counts)
            if found is not None:
                self.fault(seed, script, path, found)

    def fault(self, seed, script, path, found):
        def fails(script, path):
            other = disagreement(script, path, self.folder)
            return other is not None and other.kind == found.kind

        small, path = shrink(script, path, fails, SHRINK_TRIES if path.kind == "replay" else SHRINK_TRIES // 4)
        found = disagreement(small, path, self.folder) or found
        name = known_faults.name_of(small, path, found)
        if name is not None and not self.reports_known:
            self.known[name] += 1
            return
        text = f"{found}\n\n{small.text(path)}"
        self.failures.append({"seed": seed, "path": str(path), "text": text, "kind": found.kind})
        if self.verbose:
            print(f"=== seed {seed}: {text}", flush=True)


def paths_of(seed, text):
    """The paths of a program: one kind of replay and one of files, or those whose name has all words of the text."""
    if text:
        return [path for path in REPLAYS + FILES if all(word in str(path).split() for word in text.split())]
    return [REPLAYS[seed % len(REPLAYS)], FILES[seed % len(FILES)]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--errors", action="store_true", help="programs with many data errors")
    parser.add_argument("--path", default="", help='words of the paths to take, as "file v3"')
    parser.add_argument("--verbose", action="store_true", help="print failing programs as scripts")
    parser.add_argument("--known", action="store_true", help="report known faults, too")
    arguments = parser.parse_args()
    assert hasattr(tracec._check_file, "_run_child")
    tracec._check_file._run_child = no_child
    np.seterr(all="ignore")
    warnings.simplefilter("ignore", RuntimeWarning)
    with tempfile.TemporaryDirectory() as folder:
        batch = Batch(pathlib.Path(folder), arguments.verbose, arguments.known)
        for seed in range(arguments.seed, arguments.seed + arguments.count):
            batch.program(seed, arguments.errors, paths_of(seed, arguments.path))
    counts = [[list(key) if isinstance(key, tuple) else [key], count] for key, count in batch.counts.items()]
    print(json.dumps({"counts": counts, "failures": batch.failures, "known": batch.known}))


if __name__ == "__main__":
    main()
