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
    ("include/tracec/Tensor.h", '"kernels/Reduce.h"', "runtime"),
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
    ("lib/Serialization/Writer.cpp", "<nanobind/nanobind.h>", "Python"),
    ("lib/Serialization/Writer.cpp", '"Pipelines/Stages.h"', "lib/Pipelines"),
    ("python-bindings/src/Module.cpp", '"Eager/Tensor.h"', "lib/Eager"),
    ("tools/tracec/Main.cpp", '"Compiler/Compile.h"', "lib/Compiler"),
    ("tools/tracert-run/Main.cpp", '"tracec/Tensor.h"', "include/tracec"),
    ("examples/c/main.c", '"ops/Reduce.h"', "runtime"),
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
    assert "runtime must not include lib/Eager" in output


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
