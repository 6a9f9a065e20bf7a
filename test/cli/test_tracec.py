"""tracec's verbs, exit codes and messages."""

import json
import os
import pathlib
import re
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("TRACEC_BUILD", pathlib.Path(__file__).parents[2] / "build/dev"))
TRACEC = BUILD / "bin/tracec"
INPUT = pathlib.Path(__file__).parent / "Inputs" / "masked-mean.mlir"


def tracec(*arguments, env=None, stdin=None):
    return subprocess.run([TRACEC, *map(str, arguments)], capture_output=True, text=True,
                          input=stdin, env={**os.environ, **(env or {})}, timeout=100)


def expect(condition, what, result=None):
    detail = f": exit {result.returncode}\n{result.stdout}\n{result.stderr}" if result else ""
    assert condition, what + detail


def expect_error(result, code, *words):
    expect(result.returncode == code, f"exit {code} for {words}", result)
    lines = result.stderr.strip().splitlines()
    expect(len(lines) == 1 and lines[0].startswith("tracec: error"), f"one line for {words}", result)
    for word in words:
        expect(word in result.stderr, f"'{word}' in the message", result)


@pytest.fixture
def folder(tmp_path):
    return tmp_path


@pytest.fixture
def out(tmp_path):
    """The example compiled for two levels."""
    path = tmp_path / "m.trc"
    result = tracec("compile", INPUT, "-o", path, "--target=cpu", "--target=cpu:x86-64-v3")
    expect(result.returncode == 0, "compile", result)
    return path


def test_compile_and_run(folder, out):
    for section in ("portable", "best"):
        result = tracec("run", out, "--input", "x=4xf32=1,0,2,0.25", "--section", section, "--print-statistics")
        expect(result.returncode == 0 and "1.5" in result.stdout, f"run {section}", result)
        used, launches = re.search(r"section (\S+), .* launches run (\d+)", result.stdout).groups()
        expect((int(launches) > 0) == (used != "portable"), f"kernels on {section}", result)
        expect(section == "best" or used == "portable", f"the section is {section}", result)
    again = folder / "again.trc"
    tracec("compile", INPUT, "-o", again, "--target=cpu", "--target=cpu:x86-64-v3")
    expect(out.read_bytes() == again.read_bytes(), "the same bytes for the same input")


def test_run_mismatch(out):
    result = tracec("run", out, "--input", "x=2xf32=1,2", "--expected-output", "mean=f32=7")
    expect(result.returncode == 2, "exit 2 for a mismatch", result)


def test_inspect(out):
    text = tracec("inspect", out).stdout
    expect("input x: float32[s0]" in text, "inspect names the input and its size: " + text)
    expect("output mean: float32[]" in text, "inspect names the output")
    expect("section x86-64-v3: 2 kernels" in text, "inspect lists sections")
    kernels = tracec("inspect", out, "--kernels").stdout.split("\nkernel ")
    masked = [kernel for kernel in kernels if "indexing_multi_axis_vec" in kernel]
    expect(masked and all("reduce-store" in kernel and "compact-store" not in kernel
                          for kernel in masked), "one masked reduction, no temporary: " + str(kernels))
    text = tracec("inspect", out, "--ops", "--locs").stdout
    expect(re.search(r"#2 +model\.py:7", text), "ops keep numbers and lines: " + text)
    result = tracec("inspect", out, "--signature", "--ops", "--kernels", "--locs", "--sizes",
                    "--segments", "--json")
    parsed = json.loads(result.stdout)
    expect(parsed["inputs"][0]["name"] == "x" and parsed["kernels"] and parsed["file_bytes"] > 0,
           "inspect --json", result)


def test_stages(folder):
    for stage, word in [("trace", "trace.mean"), ("canonical", "trace.axis_size"),
                        ("fused", "trace.group"), ("kernel", "kernel.func"), ("llvm", "define"),
                        ("asm", "ret")]:
        result = tracec("compile", INPUT, f"--compile-to={stage}", "--target=cpu:x86-64-v3")
        expect(result.returncode == 0 and word in result.stdout, f"--compile-to={stage}", result)
    fused = tracec("compile", INPUT, "--compile_to=canonical").stdout
    result = tracec("compile", "-", "-o", folder / "again.trc", stdin=fused)
    expect(result.returncode == 0, "a printed stage compiles", result)
    result = tracec("compile", INPUT, "-o", folder / "e.trc", "--emit=canonical,fused", "--timing")
    expect((folder / "e.fused.mlir").exists() and "fused" in result.stderr, "--emit", result)


def test_errors(folder, out):
    expect_error(tracec("compile", INPUT), 1, "no output file")
    expect_error(tracec("compile", folder / "none.mlir", "-o", folder / "x"), 1, "none.mlir")
    expect_error(tracec("compile", INPUT, "-o", "x", "--target=cpu:i386"), 1, "i386")
    expect_error(tracec("compile", INPUT, "-o", "x", "--target=nvptx:sm_90"), 4, "nvptx")
    expect_error(tracec("compile", INPUT, "--compile-to=ptx"), 1, "ptx", "canonical")
    expect_error(tracec("compile", INPUT, "-o", folder / "no" / "such" / "x.trc"), 1, "no/such")
    expect_error(tracec("compile", INPUT, "-o", "x", env={"TRACEC_COMPILER_LIBRARY": "/none.so"}),
                 1, "/none.so")
    expect_error(tracec("frobnicate"), 1)
    bad = folder / "bad.mlir"
    bad.write_text("func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y\n}\n")
    expect_error(tracec("compile", bad, "-o", "x"), 1, "bad.mlir:2")
    broken = folder / "broken.trc"
    broken.write_bytes(out.read_bytes()[:200])
    expect_error(tracec("inspect", broken), 3)
    expect_error(tracec("run", broken), 3)

