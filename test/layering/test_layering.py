"""tools/check-layering: the repository obeys the include table, and each rule can fail."""

import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


def run(root):
    done = subprocess.run([sys.executable, REPOSITORY / "tools/check-layering", "--root", root],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def write(root, name, text):
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_repository_has_no_violation():
    code, output = run(REPOSITORY)
    assert code == 0, output


@pytest.mark.parametrize("file, include, goal", [
    ("runtime/src/Executor.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("runtime/src/Executor.cpp", '"tracec/Tensor.h"', "include/tracec"),
    ("runtime/src/Executor.cpp", '"mlir/IR/Value.h"', "MLIR"),
    ("runtime/kernels/Reduce.cpp", "<llvm/ADT/SmallVector.h>", "LLVM"),
    ("runtime/include/tracert/Status.h", "<Python.h>", "Python"),
    ("include/tracec/Tensor.h", '"mlir/IR/Value.h"', "MLIR"),
    ("include/tracec/Tensor.h", '"kernels/Reduce.h"', "runtime/kernels"),
    ("lib/Ops/Reduce.cpp", '"mlir/IR/Value.h"', "MLIR"),
    ("lib/Ops/Reduce.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("lib/Eager/Tensor.cpp", '"llvm/ADT/ArrayRef.h"', "LLVM"),
    ("lib/Eager/Tensor.cpp", '"Compiler/Compile.h"', "lib/Compiler"),
    ("lib/Eager/Transforms/Trace/Recorder.cpp", '"trace/IR/TraceOps.h"', "dialects/trace"),
    ("dialects/trace/IR/TraceOps.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("dialects/trace/IR/TraceOps.cpp", '"kernel/IR/KernelOps.h"', "dialects/kernel"),
    ("dialects/kernel/IR/KernelOps.cpp", "<Python.h>", "Python"),
    ("lib/Conversion/TraceToKernel/Reduce.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("lib/Conversion/TraceToKernel/Reduce.cpp", '"Codegen/CPU/Emit.h"', "lib/Codegen"),
    ("lib/Codegen/CPU/Emit.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("lib/Serialization/Writer.cpp", '"Codegen/CPU/CompileKernels.h"', "lib/Codegen"),
    ("runtime/src/FileMap.cpp", "<sys/mman.h>", "the operating system"),
    ("runtime/kernels/Copy.cpp", "<pthread.h>", "the operating system"),
    ("lib/Serialization/Writer.cpp", "<nanobind/nanobind.h>", "Python"),
    ("lib/Serialization/Writer.cpp", '"Pipelines/Stages.h"', "lib/Pipelines"),
    ("python-bindings/src/Module.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("tools/tracec/Main.cpp", '"Compiler/Compile.h"', "lib/Compiler"),
    ("tools/tracert-run/Main.cpp", '"tracec/Tensor.h"', "include/tracec"),
    ("examples/c/main.c", '"ops/Reduce.h"', "runtime/ops"),
    ("python-bindings/src/Module.cpp", '"scalar/Math.h"', "runtime/scalar"),
    ("tools/tracec/Main.cpp", '"kernels/LoopNest.h"', "runtime/kernels"),
    ("lib/Import/Import.cpp", '"Conversion/Lower.h"', "lib/Conversion"),
    ("lib/Pipelines/Stages.cpp", '"Compiler/Compile.h"', "lib/Compiler"),
    ("lib/Compiler/Compile.cpp", "<Python.h>", "Python"),
    ("tools/tracec-opt/Main.cpp", '"Compiler/Compile.h"', "lib/Compiler"),
])
def test_violation_is_reported_with_place_rule_and_advice(tmp_path, file, include, goal):
    write(tmp_path, file, f"// first line\n#include {include}\n")
    code, output = run(tmp_path)
    assert code == 1
    assert f"{file}:2: " in output
    assert f"must not include {goal} " in output
    assert "it may include" in output


def test_include_that_climbs_into_another_folder_is_reported(tmp_path):
    write(tmp_path, "lib/Eager/Tensor.h", "")
    write(tmp_path, "runtime/src/Executor.cpp", '#include "../../lib/Eager/Tensor.h"\n')
    code, output = run(tmp_path)
    assert code == 1
    assert "runtime/src must not include lib/Eager" in output


# What the folders of runtime/ may include of each other, as the design draws it.
RUNTIME = {
    "include": {"generated"},
    "generated": {"include"},
    "schema": set(),
    "scalar": {"generated"},
    "ops": {"include", "generated"},
    "kernels": {"include", "generated", "ops", "scalar"},
    "devices": {"include", "generated", "ops", "scalar", "kernels"},
    "src": {"include", "generated", "ops", "scalar", "kernels", "schema", "devices"},
}
# How each of them is included; src by its files only, so by a bare name.
SPELLINGS = {
    "include": ['"tracert/Status.h"', "<tracert/Status.h>"],
    "generated": ['"generated/OpAttrs.h"', '"tracert/generated/Ops.inc"'],
    "schema": ['"schema/program_generated.h"', '"tracert/schema/program_generated.h"'],
    "scalar": ['"scalar/Math.h"', '"tracert/scalar/Math.h"', '"Math.h"'],
    "ops": ['"ops/TypeRules.h"', '"tracert/ops/TypeRules.h"', '"TypeRules.h"', '"../ops/TypeRules.h"'],
    "kernels": ['"kernels/LoopNest.h"', '"LoopNest.h"', '"cores/Rows.h"'],
    "devices": ['"devices/cpu/Cpu.h"', '"cpu/Cpu.h"', '"Cpu.h"'],
    "src": ['"src/Plan.h"', '"Plan.h"', '<Plan.h>', '"../src/Plan.h"'],
}
RUNTIME_FILES = ["scalar/Math.h", "ops/TypeRules.h", "kernels/LoopNest.h", "kernels/cores/Rows.h",
                 "devices/cpu/Cpu.h", "src/Plan.h"]


@pytest.mark.parametrize("folder", RUNTIME)
def test_folders_of_the_runtime(tmp_path, folder):
    for file in RUNTIME_FILES:
        write(tmp_path, f"runtime/{file}", "")
    includes = [(target, spelling) for target, spellings in SPELLINGS.items()
                for spelling in spellings]
    write(tmp_path, f"runtime/{folder}/Probe.cpp",
          "".join(f"#include {spelling}\n" for _, spelling in includes))
    code, output = run(tmp_path)
    wrong = []
    for line, (target, spelling) in enumerate(includes, 1):
        message = (f"runtime/{folder}/Probe.cpp:{line}: runtime/{folder} must not include "
                   f"runtime/{target} ('{spelling[1:-1]}')")
        allowed = target == folder or target in RUNTIME[folder]
        if (message in output) == allowed or output.count(f"Probe.cpp:{line}:") != (not allowed):
            wrong.append(message)
    assert not wrong, output
    assert code == (folder != "src")


def test_bare_name_beside_the_file_is_its_own_folder(tmp_path):
    write(tmp_path, "runtime/src/Plan.h", "")
    write(tmp_path, "runtime/kernels/Plan.h", "")
    write(tmp_path, "runtime/kernels/Matmul.cpp", '#include "Plan.h"\n')
    code, output = run(tmp_path)
    assert code == 0, output


def test_bare_name_that_only_another_layer_has_is_reported(tmp_path):
    write(tmp_path, "lib/Eager/Transforms/TraceRecord.h", "")
    write(tmp_path, "python-bindings/src/Module.cpp", '#include "TraceRecord.h"\n')
    write(tmp_path, "runtime/src/Executor.cpp", '#include "Transforms/TraceRecord.h"\n')
    code, output = run(tmp_path)
    assert code == 1
    assert "python-bindings/src/Module.cpp:1: python-bindings must not include lib/Eager" in output
    assert "runtime/src/Executor.cpp:1: runtime/src must not include lib/Eager" in output


@pytest.mark.parametrize("folder", ["lib/Ops", "lib/Eager", "lib/Codegen", "python-bindings/src",
                                    "tools/tracec", "tools/tracert-run", "dialects/trace/IR"])
def test_nobody_outside_the_runtime_reaches_its_src(tmp_path, folder):
    write(tmp_path, "runtime/src/Plan.h", "")
    write(tmp_path, f"{folder}/Probe.cpp", '#include "Plan.h"\n')
    code, output = run(tmp_path)
    assert code == 1
    assert "must not include runtime/src " in output


def test_unknown_bare_name_is_the_systems(tmp_path):
    write(tmp_path, "runtime/kernels/Matmul.cpp", '#include "immintrin.h"\n#include <cpuid.h>\n')
    code, output = run(tmp_path)
    assert code == 0, output


@pytest.mark.parametrize("file, text", [
    ("runtime/src/Executor.cpp", '#include "ops/Reduce.h"\n#include <vector>\n'),
    ("lib/Eager/Tensor.cpp", '#include "Ops/Registry.h"\n#include "tracert/Status.h"\n'),
    ("lib/Conversion/TraceToKernel/Reduce.cpp", '#include "trace/IR/TraceOps.h"\n'),
    ("lib/Compiler/Compile.cpp", '#include "Pipelines/Stages.h"\n'),
    ("python-bindings/src/Module.cpp", '#include <Python.h>\n#include "tracec/Tensor.h"\n'),
    ("lib/Ops/Reduce.cpp", '/* long ago:\n#include "mlir/IR/Value.h"\n*/\n'),
])
def test_allowed_include_is_silent(tmp_path, file, text):
    write(tmp_path, file, text)
    code, output = run(tmp_path)
    assert code == 0, output


@pytest.mark.parametrize("text, code", [
    ("import numpy as np\n", 1),
    ("try:\n    from numpy import ndarray\nexcept ImportError:\n    pass\n", 1),
    ("class A:\n    import numpy\n", 1),
    ("def f():\n    import numpy\n", 0),
    ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy\n", 0),
])
def test_import_of_numpy_at_package_start(tmp_path, text, code):
    write(tmp_path, "python-bindings/tracec/__init__.py", text)
    assert run(tmp_path)[0] == code


def test_empty_tree_is_an_error_not_a_success(tmp_path):
    assert run(tmp_path)[0] == 1
