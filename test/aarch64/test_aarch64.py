"""The runtime on 64-bit ARM, cross-built and run under qemu-user: files that this machine wrote give its bits there.

Files carry what eager execution gave here; `tracert-run verify` without tolerances compares bits (two NaNs are equal).
"""

import json
import pathlib
import subprocess

import numpy as np
import pytest

import demo
import tracec as tc
from test_matrix_files import one_body_for_all_dtypes
from tracec._ops import OPS

BUILD = pathlib.Path(__file__).resolve().parents[2] / "build/aarch64"
EMULATOR = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
#: Of one operand on average; larger calls take the emulator seconds.
MAX_ELEMENTS = 20_000
#: Fewer would mean that the generator of files lost cases.
LEAST_ELEMENTS = 2_000_000
SECTIONS = ["portable", "aarch64-neon"]
PROGRAMS = ["OpsFloatModeTest", "OpsGuardTest", "OpsIndexNormalizerTest", "OpsMatmulOrderTest", "OpsTargetTest", "OpsThreadPoolTest",
            "OpsTypeRulesTest", "OpsViewRulesTest"]


def emulated(*command, **options):
    return subprocess.run([*EMULATOR, *map(str, command)], capture_output=True, text=True, **options)


def dump_op(op, folder):
    body, calls = one_body_for_all_dtypes(op)
    # A kernel of each op that can be one.
    function = tc.trace(body, opt_level=0)
    function(*calls[0])
    small = [call for call in calls if sum(one.size for one in call) <= MAX_ELEMENTS * len(call)]
    path = folder / f"{op}.trc"
    function.dump(path, targets="cpu:aarch64", test_inputs=[tuple(call) for call in small])
    return path


def verified(path):
    """Elements compared by section, none of which differs."""
    return {section: verified_on(path, section) for section in SECTIONS}


def verified_on(path, section):
    done = emulated(BUILD / "bin/tracert-run", "verify", path, f"--section={section}", "--json")
    assert done.returncode in (0, 2), f"{path.name}: exit code {done.returncode}: {done.stderr}"
    outputs = json.loads(done.stdout)
    assert outputs and all(output["section"] == section for output in outputs)
    bad = [output for output in outputs if output["mismatches"] or not output["same_type"]]
    assert not bad, f"{path.name} on {section}: {bad[0]}"
    return sum(output["elements"] for output in outputs)


@pytest.fixture(scope="module")
def compared():
    """What the tests of the module compared: file to elements by section."""
    return {}


@pytest.mark.parametrize("op", OPS)
def test_op_has_the_same_bits(op, tmp_path, compared):
    compared[op] = verified(dump_op(op, tmp_path))
    assert all(compared[op].values())


def test_the_demo_has_the_same_bits(tmp_path, compared):
    photo = tc.tensor(demo.load_inputs()[0])
    model = demo.traced_model()
    model(photo)
    path = tmp_path / "develop.trc"
    model.dump(path, output_names=demo.OUTPUT_NAMES, targets="cpu:aarch64")
    compared["demo"] = verified(path)
    assert all(elements >= photo.size for elements in compared["demo"].values())


@pytest.mark.parametrize("program", PROGRAMS)
def test_unit_tests(program):
    # qemu-user 7.2 itself aborts in the forked child of a process that has threads (cpu_exec: cpu == current_cpu); the
    # test is about fork, and runs on x86-64.
    done = emulated(BUILD / "bin" / program, "--gtest_filter=-ThreadPool.aForkedChildRunsOnItsOwnThread")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " PASSED " in done.stdout


def dump_square(folder, x, body=lambda x: x * x):
    function = tc.trace(body)
    function(tc.tensor(x))
    function.dump(folder / "square.trc", targets="cpu:aarch64", arg_names=["x"], output_names=["y"])
    np.save(folder / "x.npy", x)


@pytest.mark.parametrize("section, launches", [("portable", 0), ("aarch64-neon", 1)])
def test_the_native_section_runs_compiled_kernels(tmp_path, section, launches):
    # An op alone would be the library's.
    dump_square(tmp_path, np.arange(1000, dtype=np.float32), lambda x: x * x + 1)
    done = emulated(BUILD / "bin/tracert-run", "run", tmp_path / "square.trc", f"--input=x=@{tmp_path / 'x.npy'}",
                    f"--section={section}", "--print-statistics")
    assert done.returncode == 0, done.stderr
    assert f"section {section}," in done.stdout and f"launches run {launches}, launches replaced 0," in done.stdout


def test_a_wrong_bit_is_seen(tmp_path):
    x = np.float32([1.5, -0.0, np.nan])
    dump_square(tmp_path, x)
    for wrong_bits, code in ((0, 0), (1, 2)):
        np.save(tmp_path / "y.npy", ((x * x).view(np.uint32) ^ np.uint32([wrong_bits, 0, 0])).view(np.float32))
        done = emulated(BUILD / "bin/tracert-run", "run", tmp_path / "square.trc", f"--input=x=@{tmp_path / 'x.npy'}",
                        f"--expected-output=y=@{tmp_path / 'y.npy'}")
        assert done.returncode == code, done.stdout + done.stderr


def test_everything_was_compared(compared, record_property):
    assert set(compared) == {*OPS, "demo"}
    for section in SECTIONS:
        total = sum(elements[section] for elements in compared.values())
        print(f"aarch64, {section}: {len(compared)} files, {total:,} elements compared, none differs")
        assert total >= LEAST_ELEMENTS
