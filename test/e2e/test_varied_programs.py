"""Random programs whose later calls differ in sizes, counts, strides, aliasing and numbers: eager's result or a refusal.

Batches run in two processes beside each other (see varied_batch.py). Half of the seeds are the same in every run; the others
follow from a base seed that is new in every run and is printed: `TRACEC_SEED=17 pytest ...` or `pytest --seed 17` runs them
again. One program: `python test/e2e/varied_batch.py --seed N --verbose`.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

import known_faults
import varied_batch
import varied_paths

BATCH = 100
COMMITTED = [("committed", BATCH * number) for number in range(10)]
FRESH = [("fresh", BATCH * number) for number in range(10)]
ERRORS = [("errors", BATCH * number) for number in range(4)]
BATCHES = COMMITTED + FRESH + ERRORS
SECONDS_ALLOWED = 240
HERE = pathlib.Path(__file__).parent


def run_batch(kind, start, base_seed):
    """The report of a batch; a crash is a failure with the seed that ran."""
    seed = start if kind == "committed" else base_seed + start + (500_000 if kind == "errors" else 0)
    command = [sys.executable, str(HERE / "varied_batch.py"), "--seed", str(seed), "--count", str(BATCH)] + ["--errors"] * (kind == "errors")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(HERE.parent / "python")])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1200, check=False)
    if done.returncode:
        return {"counts": [], "known": {}, "failures": [{"seed": seed, "path": "?", "text": f"exit status {done.returncode}: {done.stderr[-3000:]}"}]}
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def reports(base_seed):
    """A future per batch."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        yield {batch: pool.submit(run_batch, *batch, base_seed) for batch in BATCHES}


@pytest.mark.parametrize("batch", BATCHES, ids=[f"{kind}-{start}" for kind, start in BATCHES])
def test_batch(reports, batch, base_seed):
    failures = reports[batch].result()["failures"]
    texts = [f"seed {one['seed']} (base seed {base_seed}), {one['path']}:\n{one['text']}" for one in failures[:3]]
    assert not failures, f"{len(failures)} programs fail; the first:\n" + "\n\n".join(texts)


@pytest.mark.parametrize("name", known_faults.PROGRAMS)
def test_known_program(name, tmp_path, request):
    program = known_faults.PROGRAMS[name]
    if program.fault is not None:
        reason = known_faults.KINDS[program.fault].reason
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True, raises=varied_paths.Disagreement))
    for path in varied_batch.REPLAYS + varied_batch.FILES:
        if varied_batch.runnable(path):
            varied_paths.check(program.script, path, tmp_path, collections.Counter())


def test_known_kinds_are_needed():
    assert {program.fault for program in known_faults.PROGRAMS.values()} - {None} == set(known_faults.KINDS)


def test_every_path_is_taken(reports):
    """The suite proves little if calls are refused, recorded anew or fail, or if programs stay short."""
    counts = collections.Counter()
    for report in reports.values():
        for key, count in report.result()["counts"]:
            counts[tuple(key)] += count
    assert counts["programs",] >= 2000
    assert counts["lines",] > 4 * counts["programs",]
    replayed, other = counts["replay", "replayed"], counts["replay", "other replayed"]
    assert replayed > 2 * counts["programs",] and other > counts["programs",]
    assert counts["replay", "error"] > 100 and counts["file", "error"] > 50
    assert counts["replay", "refused"] < 0.2 * replayed
    assert counts["file", "other ran"] > counts["programs",]
    assert counts["file", "refused"] < 0.4 * counts["file", "other ran"]
    assert counts["file", "no dump"] < 0.15 * counts["programs",]
    for path in varied_batch.REPLAYS + varied_batch.FILES:
        if varied_batch.runnable(path):
            assert counts["path", str(path)] > 50, path
    for section in ("best", "v3"):
        for opt_level in (0, 2):
            assert not varied_batch.runnable(varied_paths.Path("replay", section)) or counts["launches", section, opt_level] > 500
    assert counts["launches", "portable", 2] == 0
    assert counts["shared loops", "replay"] > 20 and counts["shared loops", "file"] > 20


def test_time_budget(processor_seconds):
    assert processor_seconds() < SECONDS_ALLOWED
