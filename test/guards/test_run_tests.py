"""tools/run-tests counts what ran and can fail: each way in which a suite goes wrong is a failure."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
TOOL = REPOSITORY / "tools/run-tests"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("run_tests", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    sys.modules["run_tests"] = module
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


run_tests = load_tool()


def python(code):
    return [sys.executable, "-c", code]


def outcome(tmp_path, commands, report=None, **more):
    suite = run_tests.Suite("sample", "a sample", commands, tmp_path / report if report else None, **more)
    return run_tests.run_suite(suite, tmp_path / "log", run_tests.Progress())


def writes(report, *cases, code=0):
    """A command that writes a junit file and exits."""
    text = "<testsuite>" + "".join(cases) + "</testsuite>"
    return python(f"import sys, pathlib; pathlib.Path({str(report)!r}).write_text({text!r}); sys.exit({code})")


PASSED = '<testcase name="a"/>'
FAILED = '<testcase name="b"><failure message="no"/></testcase>'
SKIPPED = '<testcase name="c"><skipped message="this machine lacks it"/></testcase>'


def test_each_command_is_a_case_without_a_report(tmp_path):
    result = outcome(tmp_path, [python("pass"), python("pass")])
    assert (result.passed, result.failures, result.skips) == (2, [], [])


@pytest.mark.parametrize("commands, words", [
    ([python("raise SystemExit(3)")], "exit code 3"),
    ([python("import os; os.abort()")], "exit code -6"),
    ([["/nonexistent/tool"]], "exit code 127"),
    ([python("raise SystemExit(1)"), python("pass")], "exit code 1"),
], ids=["exit code", "crash", "no such program", "first of two"])
def test_a_command_that_fails_is_a_failure_and_ends_the_suite(tmp_path, commands, words):
    result = outcome(tmp_path, commands)
    assert result.passed == 0 and len(result.failures) == 1 and words in result.failures[0]


def test_a_command_beyond_its_time_is_killed_and_a_failure(tmp_path):
    result = outcome(tmp_path, [python("import time; time.sleep(60)")], timeout_seconds=1)
    assert len(result.failures) == 1 and "not done after 1 s" in result.failures[0] and result.seconds < 30


def test_cases_are_counted_from_the_report(tmp_path):
    report = tmp_path / "r.xml"
    result = outcome(tmp_path, [writes(report, PASSED, FAILED, SKIPPED, code=1)], "r.xml")
    assert (result.passed, result.failures) == (1, ["b"]) and result.skips == ["c: this machine lacks it"]


@pytest.mark.parametrize("cases, code, words", [
    ((), 0, "no test case found"),
    ((PASSED,), 1, "exit code 1 without a failed case"),
    ((PASSED, '<testcase name="d" status="notrun"/>'), 0, "d: notrun"),
    ((PASSED, "<broken"), 0, "no usable report"),
], ids=["empty", "failed beyond its cases", "could not start", "broken report"])
def test_a_report_that_proves_nothing_is_a_failure(tmp_path, cases, code, words):
    result = outcome(tmp_path, [writes(tmp_path / "r.xml", *cases, code=code)], "r.xml")
    assert any(words in failure for failure in result.failures), result


def test_a_report_of_an_earlier_run_does_not_count(tmp_path):
    (tmp_path / "r.xml").write_text(f"<testsuite>{PASSED}</testsuite>")
    result = outcome(tmp_path, [python("pass")], "r.xml")
    assert result.passed == 0 and "no usable report" in result.failures[0]


def test_a_build_that_fails_before_the_report_is_a_failure(tmp_path):
    result = outcome(tmp_path, [python("raise SystemExit(2)"), writes(tmp_path / "r.xml", PASSED)], "r.xml")
    assert result.passed == 0 and "exit code 2" in result.failures[0]


def test_an_unknown_suite_is_refused(tmp_path):
    done = subprocess.run([sys.executable, TOOL, "--build", tmp_path, "nosuch"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "no suite nosuch" in done.stderr


def test_every_folder_of_tests_belongs_to_a_suite(tmp_path):
    """A folder that no suite names would never run."""
    commands = [str(part) for suite in run_tests.suites(tmp_path) for command in suite.commands for part in command]
    for folder in sorted((REPOSITORY / "test").iterdir()):
        if list(folder.rglob("test_*.py")):
            name = f"test/{folder.name}"
            assert any(name in command for command in commands), f"{name} has tests and no suite in tools/run-tests"


def test_the_numbers_of_all_suites_are_added_up():
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run([sys.executable, TOOL, "generated"], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed" and done.returncode == 0, done.stdout
