"""tools/check-dtypes: nothing lists dtypes beside DTypes.inc, and each of its rules can fail."""

import pathlib
import shutil
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
NAMING = ["runtime/include/tracert/DTypes.inc", "runtime/include/tracert/tracert.h", "python-bindings/tracec/_core.pyi",
          "python-bindings/tracec/__init__.py"]


def run(root):
    done = subprocess.run([sys.executable, REPOSITORY / "tools/check-dtypes", "--root", root], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path):
    for name in NAMING:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    return tmp_path


def test_repository_has_no_violation():
    code, output = run(REPOSITORY)
    assert code == 0, output


def test_a_copy_of_the_lists_is_accepted(tree):
    assert run(tree) == (0, "")


@pytest.mark.parametrize("body", [
    "switch (d) {\n  case DType::Int8:\n    return 1;\n  default:\n    return 0;\n  }",
    "switch (view.dtype) {\n  case tracert::DType::Bool: {\n    return 1;\n  }\n  }",
    "switch (dtypeSize(dtype)) {\n  case 1:\n    return 1;\n  }",
    "switch (kind) {\n  case TRT_UINT8:\n    return 1;\n  default:\n    return 0;\n  }",
])
def test_a_switch_over_dtypes_is_refused(tree, body):
    file = tree / "lib/Eager/Some.cpp"
    file.parent.mkdir(parents=True)
    file.write_text(f"int f() {{\n  {body}\n}}\n")
    code, output = run(tree)
    assert code == 1 and "lib/Eager/Some.cpp:2: a switch" in output


def test_another_switch_is_accepted(tree):
    file = tree / "lib/Eager/Some.cpp"
    file.parent.mkdir(parents=True)
    file.write_text("int f() {\n  switch (attr.kind()) {\n  case AttrKind::DType:\n    return 1;\n  default:\n    return 0;\n  }\n}\n")
    assert run(tree) == (0, "")


@pytest.mark.parametrize("name, old, new", [
    (NAMING[1], "TRT_UINT16 = 6", "TRT_UINT16 = 5"),
    (NAMING[2], "\nbfloat16: dtype\n", "\n"),
    (NAMING[3], "    int8,\n", ""),
])
def test_a_missing_dtype_is_named(tree, name, old, new):
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))
    code, output = run(tree)
    assert code == 1 and name in output
