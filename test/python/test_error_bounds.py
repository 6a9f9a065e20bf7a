"""The error bounds of Numbers.md hold, by tools/measure-ulp in its short form, and the tool sees when one does not."""

import json
import math
import pathlib
import re
import subprocess
import sys

import pytest

import tracec as tc
from tracec._ops import OPS

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = ROOT / "runtime/scalar/Numbers.md"


def measure(*arguments):
    return subprocess.run([sys.executable, ROOT / "tools/measure-ulp", *arguments], capture_output=True, text=True)


def with_row(tmp_path, op, row):
    """Numbers.md with another row for one op; None removes it."""
    lines = NUMBERS.read_text().splitlines(keepends=True)
    place = next(i for i, line in enumerate(lines) if line.startswith(f"| {op} |"))
    lines[place : place + 1] = [] if row is None else [row + "\n"]
    path = tmp_path / "Numbers.md"
    path.write_text("".join(lines))
    return path


def test_every_stated_bound_holds():
    run = measure("--short", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    rows = json.loads(run.stdout)
    names = {op for op, info in OPS.items() if info.family == "elementwise" and "float32" in info.dtypes}
    assert {(row["op"], row["dtype"]) for row in rows} == {(op, dtype) for op in names for dtype in ("float16", "bfloat16", "float32", "float64")}
    for row in rows:
        # A measurement that finds nothing would prove nothing.
        assert row["bound"] == 0 or 0.49 < row["ulp"] <= row["bound"], row


def test_a_bound_that_is_too_low_fails(tmp_path):
    lower = with_row(tmp_path, "exp", "| exp | 0.501 | 0.501 | 0.99 | 0.948 |")
    run = measure("exp", "--short", "--bounds", lower)
    assert run.returncode == 1, run.stdout + run.stderr
    assert re.findall(r"^exp +(\w+) .*EXCEEDED$", run.stdout, re.M) == ["float64"]


def test_a_missing_bound_fails(tmp_path):
    run = measure("exp", "--short", "--bounds", with_row(tmp_path, "tanh", None))
    assert run.returncode != 0 and "without a bound: ['tanh']" in run.stderr


def test_a_bound_of_no_op_fails(tmp_path):
    run = measure("exp", "--short", "--bounds", with_row(tmp_path, "tanh", "| tanh, tahn | 1 | 1 | 1 | 1 |"))
    assert run.returncode != 0 and "no elementwise float op: ['tahn']" in run.stderr


def test_an_unknown_op_is_named():
    run = measure("exq", "--short")
    assert run.returncode != 0 and "exq" in run.stderr


# Arguments with the largest errors that long searches found, and the true values' bits around them.
@pytest.mark.parametrize("op, argument", [("exp", -206.89795383807876), ("exp", -269.9392075618382), ("exp", -4.455687308527147), ("tanh", 0.54653930411776863), ("tanh", -0.5471772111935101)])
def test_known_bad_arguments_keep_the_bound(op, argument):
    mpmath = pytest.importorskip("mpmath")
    bound = float(re.search(rf"^\| {op} \|.*\| ([0-9.]+) \|$", NUMBERS.read_text(), re.M)[1])
    with mpmath.workprec(200):
        true = getattr(mpmath, op)(mpmath.mpf(argument))
        got = getattr(tc, op)(tc.tensor([argument], dtype="float64")).numpy()[0]
        error = abs(mpmath.mpf(float(got)) - true) / mpmath.mpf(math.ulp(float(true)))
    assert 0.7 < error <= bound


def test_the_matrix_is_no_looser_than_the_bounds():
    """The op matrix allows whole ulps from the rounded truth: not more than the bound leaves."""
    for names, *limits in re.findall(r"^\| ([a-z, ]+) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9.]+) \|$", NUMBERS.read_text(), re.M):
        for op in names.split(", "):
            assert OPS[op].ulp <= max(math.floor(float(limit) + 0.5) for limit in limits), op
