"""tools/lint-changed: what it lints, what it prints, and that it does not lint the same twice."""

import json
import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CLEAN = "int {name}(int a) {{\n  if (a > 0) {{\n    return 1;\n  }}\n  return 0;\n}}\n"
WITHOUT_BRACES = "int {name}(int a) {{\n  if (a > 0)\n    return 1;\n  return 0;\n}}\n"


class Project:
    """A repository with sources a.cpp and b.cpp, both with shared.h, built by ninja."""

    def __init__(self, root):
        self.root = root
        self.calls = root.parent / "calls"
        self.tidy = root.parent / "tidy"
        self.tidy.write_text(f'#!/bin/sh\necho "$@" >> {self.calls}\nexec clang-tidy-22 "$@"\n')
        self.tidy.chmod(0o755)
        self.git("init", "-q")
        self.write(".clang-tidy", "Checks: '-*,readability-braces-around-statements'\n"
                                  "HeaderFilterRegex: '.*'\n")
        self.write(".gitignore", "build/\n")
        self.write("shared.h", "inline " + CLEAN.format(name="shared"))
        for name in ("a", "b"):
            self.write(f"{name}.cpp", '#include "shared.h"\n' + CLEAN.format(name=name))
        self.commit()

    def write(self, name, text):
        (self.root / name).parent.mkdir(exist_ok=True)
        (self.root / name).write_text(text)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.root,
                       check=True, capture_output=True)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")

    def build(self):
        folder = self.root / "build/dev"
        folder.mkdir(parents=True, exist_ok=True)
        rules = "rule cc\n command = clang++-22 -MD -MF $out.d -c $in -o $out\n deps = gcc\n depfile = $out.d\n"
        commands = []
        for source in sorted(self.root.rglob("*.cpp")):
            name = source.stem
            rules += f"build {name}.o: cc {source}\n"
            commands.append({"directory": str(folder), "file": str(source),
                             "command": f"clang++-22 -o {name}.o -c {source}"})
        (folder / "build.ninja").write_text(rules)
        (folder / "compile_commands.json").write_text(json.dumps(commands))
        subprocess.run(["ninja", "-C", folder], capture_output=True, check=False)

    def lint(self, commits=1):
        """(exit code, output, the sources that clang-tidy was run on)"""
        self.build()
        self.calls.write_text("")
        done = subprocess.run(
            [sys.executable, REPOSITORY / "tools/lint-changed", "--root", self.root, "--commits",
             str(commits), "--clang-tidy", self.tidy], capture_output=True, text=True, check=False)
        linted = [pathlib.Path(line.split()[-1]).name for line in self.calls.read_text().splitlines()
                  if line.endswith(".cpp")]
        return done.returncode, done.stdout + done.stderr, sorted(linted)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    return Project(root)


def test_only_changed_files_are_linted(project):
    project.write("a.cpp", WITHOUT_BRACES.format(name="a"))
    project.commit()
    project.write("b.cpp", CLEAN.format(name="b2"))
    project.commit()
    assert project.lint(commits=1) == (0, "", ["b.cpp"])
    code, output, linted = project.lint(commits=2)
    assert code == 1
    assert output.startswith("a.cpp:2:13: error: statement should be inside braces")
    assert linted == ["a.cpp"]  # b.cpp is as it was


def test_what_is_not_committed_counts(project):
    project.commit()
    project.write("b.cpp", WITHOUT_BRACES.format(name="b"))
    code, output, linted = project.lint()
    assert code == 1 and "b.cpp:2:13" in output and linted == ["b.cpp"]


def test_a_changed_header_is_linted_in_one_source(project):
    project.write("shared.h", "inline " + WITHOUT_BRACES.format(name="shared"))
    project.commit()
    code, output, linted = project.lint()
    assert code == 1 and output.startswith("shared.h:2:13: error: ") and linted == ["a.cpp"]


def test_a_finding_of_a_header_is_printed_once(project):
    project.write("shared.h", "inline " + WITHOUT_BRACES.format(name="shared"))
    for name in ("a", "b"):
        project.write(f"{name}.cpp", '#include "shared.h"\n' + CLEAN.format(name=name + "2"))
    project.commit()
    code, output, linted = project.lint()
    assert code == 1 and output.count("shared.h:2:13: error") == 1 and linted == ["a.cpp", "b.cpp"]


def test_a_history_that_is_too_short_means_all_files(project):
    assert project.lint(commits=30) == (0, "", ["a.cpp", "b.cpp"])


def test_committed_files_that_a_program_wrote_are_not_linted(project):
    project.write("generated/table.cpp", WITHOUT_BRACES.format(name="table"))
    project.commit()
    assert project.lint(commits=1) == (0, "", [])


def test_nothing_changed_means_nothing_to_lint(project):
    project.commit()
    project.commit()
    assert project.lint() == (0, "", [])


def test_a_result_is_kept_until_something_of_it_changes(project):
    project.write("a.cpp", '#include "shared.h"\n' + WITHOUT_BRACES.format(name="a"))
    project.commit()
    first = project.lint()
    assert first[0] == 1 and first[2] == ["a.cpp"]
    # The same findings again, without linting.
    assert project.lint() == (1, first[1], [])
    project.write("shared.h", "// more\ninline " + CLEAN.format(name="shared"))
    assert project.lint() == (1, first[1], ["a.cpp"])
    assert project.lint() == (1, first[1], [])
    project.write(".clang-tidy", "Checks: '-*,misc-unused-using-decls'\nHeaderFilterRegex: '.*'\n")
    assert project.lint() == (0, "", ["a.cpp"])


def test_results_that_no_run_uses_are_forgotten(project):
    for number in range(4):
        project.write("a.cpp", CLEAN.format(name=f"a{number}"))
        project.commit()
        project.lint()
    assert len(list((project.root / "build/dev/lint-cache").iterdir())) <= 3


def test_code_that_does_not_compile_is_reported_and_not_kept(project):
    project.write("a.cpp", '#include "no-such-header.h"\n')
    project.commit()
    for _ in range(2):
        code, output, linted = project.lint()
        assert code == 1 and "no-such-header.h" in output and linted == ["a.cpp"]


def test_a_folder_without_a_build_is_an_error(tmp_path):
    done = subprocess.run([sys.executable, REPOSITORY / "tools/lint-changed", "--build", tmp_path],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not configured" in done.stderr
