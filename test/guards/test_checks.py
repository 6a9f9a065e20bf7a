"""The checks of form and types find what they are for."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def tree(tmp_path):
    """A repository with the tool, the style and one well-formed file."""
    for name in ("tools/format", ".clang-format"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "Good.cpp").write_text("int answer() { return 42; }\n")
    return tmp_path


def check_format(tree, *arguments):
    done = subprocess.run([tree / "tools/format", *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_format_check_passes_and_fails(tree):
    assert check_format(tree, "--check")[0] == 0
    (tree / "Bad.h").write_text("int  answer( ){return 42;}\n")
    code, text = check_format(tree, "--check")
    assert code != 0 and "Bad.h:1:" in text
    assert check_format(tree)[0] == 0 and check_format(tree, "--check")[0] == 0


def test_format_without_a_file_to_check_is_an_error(tree):
    (tree / "Good.cpp").unlink()
    assert check_format(tree, "--check")[0] != 0


def mypy(code):
    environment = {**os.environ, "MYPYPATH": os.environ.get("TRACEC_BUILD", str(REPOSITORY / "build/dev")) + "/python"}
    command = [sys.executable, "-m", "mypy", "--config-file", "", "--cache-dir", os.devnull, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout


def test_types_of_the_package_are_seen():
    assert mypy("import tracec as tc\ntc.tensor([1.0]).sum().tolist()\n")[0] == 0
    code, text = mypy("import tracec as tc\ntc.tensor([1.0]).no_such_method()\n")
    assert code == 1 and "no_such_method" in text
