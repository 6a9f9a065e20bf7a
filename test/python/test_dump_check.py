"""The check at the end of dump(): where it runs, what it must not run, and what it says."""

import json
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tracec as tc
from checks import assert_same

SCRIPT = """
import json, sys
sys.path[:0] = {paths!r}
import tracec as tc
function = tc.trace(lambda x: x * 2)
for _ in range(2):
    function(tc.tensor([1.0, 2.0]))
{before}
report = function.dump({path!r})
print("report", json.dumps(report))
"""


def dump_in(folder, tmp_path, before="", env=None, flags=()):
    """Dumps in a fresh process whose current folder is `folder`; the report."""
    path = str(tmp_path / "m.trc")
    paths = [p for p in sys.path if p and os.path.isdir(p)]
    script = SCRIPT.format(paths=paths, before=textwrap.dedent(before), path=path)
    done = subprocess.run([sys.executable, *flags, "-c", script], cwd=folder, capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    lines = [line for line in done.stdout.splitlines() if line.startswith("report ")]
    assert done.returncode == 0 and len(lines) == 1, done.stdout + done.stderr
    report = json.loads(lines[0][7:])
    assert report["sections"] and not any(report["sections"].values()) and report["vectors"] == 1
    assert report["bytes"] == os.path.getsize(path)
    return report


HOSTILE = ["json", "os", "sys", "resource", "subprocess", "tracec", "encodings", "sitecustomize", "usercustomize", "site", "re", "codecs"]


@pytest.fixture
def hostile(tmp_path):
    """A folder whose modules leave a mark when they run."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in HOSTILE:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\nraise SystemExit(3)\n")
    return folder


def test_modules_in_the_current_folder_do_not_run(hostile, tmp_path):
    report = dump_in(hostile, tmp_path, flags=["-P"])
    assert report["checked_in"] == "child process"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("variables", [
    {"PYTHONPATH": "hostile"}, {"PYTHONINSPECT": "1"}, {"PYTHONSTARTUP": "hostile/json.py"}, {"PYTHONHOME": "/nonexistent"},
    {"PYTHONPLATLIBDIR": "nonexistent"}, {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"}, {"PYTHONIOENCODING": "utf-16"},
    {"PYTHONUNBUFFERED": "1", "PYTHONVERBOSE": "1"}, {"PYTHONSAFEPATH": "1"}, {"PYTHONCASEOK": "1", "PYTHONNOUSERSITE": ""}],
    ids=lambda variables: next(iter(variables)))
def test_the_users_python_variables_do_not_reach_the_child(hostile, tmp_path, variables):
    """They are set in the process that dumps, as a shell or a launcher would have done."""
    changed = {name: str(tmp_path / value) if value.startswith("hostile") else value for name, value in variables.items()}
    report = dump_in(tmp_path, tmp_path, before=f"import os; os.environ.update({changed!r})")
    assert report["checked_in"] == "child process"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("before", [
    "sys.executable = ''", "sys.executable = None", "sys.executable = '/bin/true'", "sys.executable = '/nonexistent/python3'",
    "sys.frozen = True",
    "import subprocess\ndef no(*a, **k): raise BlockingIOError(11, 'Resource temporarily unavailable')\nsubprocess.run = no",
    "import subprocess\ndef no(*a, **k): raise RuntimeError('cannot fork')\nsubprocess.run = no",
    "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (len(__import__('os').listdir('/proc/self/fd')) + 1,) * 2)",
], ids=["empty", "none", "true", "missing", "frozen", "no-processes", "no-fork", "no-descriptors"])
def test_without_an_interpreter_the_check_runs_here(tmp_path, before):
    report = dump_in(tmp_path, tmp_path, before=before)
    assert report["checked_in"].startswith("this process (")


def test_a_python_without_the_package_is_no_interpreter(tmp_path):
    fake = tmp_path / "python3-other"
    fake.write_text("#!/bin/sh\necho 'no module named tracec' >&2\nexit 1\n")
    fake.chmod(0o755)
    report = dump_in(tmp_path, tmp_path, before=f"sys.executable = {str(fake)!r}")
    assert report["checked_in"] == "this process (no module named tracec)"


EMBED = r"""
#include <Python.h>
int main(int argc, char **argv) {
  Py_Initialize();
  int failed = PyRun_SimpleString(argv[1]);
  return Py_FinalizeEx() < 0 || failed;
}
"""


def test_an_embedding_program(tmp_path):
    config = shutil.which("python3-config")
    compiler = shutil.which("cc") or shutil.which("gcc-12") or shutil.which("clang-22")
    if not config or not compiler:
        pytest.skip("needs python3-dev and a C compiler")
    flags = subprocess.run([config, "--includes", "--ldflags", "--embed"], capture_output=True, text=True, check=True).stdout.split()
    (tmp_path / "embed.c").write_text(EMBED)
    subprocess.run([compiler, str(tmp_path / "embed.c"), "-o", str(tmp_path / "embed"), *flags], check=True)
    paths = [p for p in sys.path if p and os.path.isdir(p)]
    script = SCRIPT.format(paths=paths, before="", path=str(tmp_path / "m.trc"))
    done = subprocess.run([str(tmp_path / "embed"), script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout.split("report ")[1])
    assert report["vectors"] == 1 and not any(report["sections"].values())


def traced():
    function = tc.trace(lambda x: x * 2)
    for _ in range(2):
        function(tc.tensor([1.0, 2.0]))
    return function


def test_a_file_that_ends_the_child_is_an_error(tmp_path, monkeypatch):
    from tracec import _check_file

    monkeypatch.setattr(_check_file, "_CHILD", f"print({_check_file._READY!r}, flush=True); import os; os.kill(os.getpid(), 11)")
    with pytest.raises(tc.CompileError, match="signal 11"):
        traced().dump(tmp_path / "m.trc")
    assert not list(tmp_path.iterdir())


def test_a_file_that_differs_is_an_error(tmp_path, monkeypatch):
    from tracec import _check_file

    monkeypatch.setattr(_check_file, "_report", lambda path: {"sections": {"portable": "", "x86-64-v3": "output 'y' differs"}})
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(tc.CompileError, match="x86-64-v3: output 'y' differs"):
        traced().dump(tmp_path / "m.trc")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------------------------------- test vectors


def vectors_of(path):
    return tc.load(path)._model.vector_count()


def test_without_vectors_the_file_is_checked_and_smaller(tmp_path):
    function = tc.trace(lambda x: x * 2)
    x = tc.ones((5000,))
    function(x)
    function(x)
    full = function.dump(tmp_path / "full.trc")
    bare = function.dump(tmp_path / "bare.trc", test_vectors=False)
    assert full["vectors"] == bare["vectors"] == 1 and full["sections"] == bare["sections"]
    assert full["bytes"] - bare["bytes"] >= 40000
    assert (vectors_of(tmp_path / "full.trc"), vectors_of(tmp_path / "bare.trc")) == (1, 0)
    assert sorted(os.listdir(tmp_path)) == ["bare.trc", "full.trc"]
    assert_same(tc.load(tmp_path / "bare.trc")(np.float32([3])), np.float32([6]))
    with pytest.raises(ValueError, match="no test vectors"):
        tc.load(tmp_path / "bare.trc").verify()


def test_test_inputs_become_vectors(tmp_path):
    function = traced()
    calls = [(tc.tensor([1.0]),) for _ in range(2)] + [(tc.zeros((0,)),), {"x": tc.arange(5, dtype=tc.float32)}]
    with pytest.raises(ValueError, match="recorded as"):
        function.dump(tmp_path / "m.trc", test_inputs=calls)  # size 1 where it was 2
    report = function.dump(tmp_path / "m.trc", test_inputs=calls[2:] + [(tc.tensor([3.0, 4.0, 5.0]),)])
    assert report["vectors"] == 3 and vectors_of(tmp_path / "m.trc") == 3
    assert not any(tc.load(tmp_path / "m.trc").verify().values())


def test_test_inputs_are_run_by_the_function_itself(tmp_path):
    """Another way through Python shows: the vectors are not computed from the record."""

    factors = [2.0]
    function = tc.trace(lambda x: x * factors[-1])
    for _ in range(2):
        function(tc.tensor([1.0, 2.0]))
    factors.append(3.0)
    with pytest.raises(tc.CompileError, match=r"(?s)test_inputs\[0\].*differs in 3 of 3 elements, first in element 0.*another way") as caught:
        function.dump(tmp_path / "m.trc", test_inputs=[(tc.ones((3,)),), (tc.ones((6,)),)])
    assert "bug" not in str(caught.value) and not list(tmp_path.iterdir())


def test_what_test_inputs_write_is_put_back(tmp_path):
    state = tc.zeros((3,))

    def step(x):
        state[...] = state + x
        x[0] = 7.0
        return state * 2

    function = tc.trace(step)
    for _ in range(2):
        function(tc.tensor([1.0, 2.0, 3.0]))
    given = tc.tensor([4.0, 5.0, 6.0])
    report = function.dump(tmp_path / "m.trc", test_inputs=[(given,), {"x": given}])
    assert report["vectors"] == 2
    assert given.tolist() == [4.0, 5.0, 6.0] and state.tolist() == [2.0, 4.0, 6.0]
    model = tc.load(tmp_path / "m.trc")
    result = model(given)
    assert_same(result[0], np.float32([12, 18, 24]))


@pytest.mark.parametrize("given, kind, word", [
    (5, TypeError, "list of calls"), ("ab", TypeError, "list of calls"), ([], ValueError, "empty"), ([5], TypeError, "tuple"),
    ([(1, 2)], TypeError, "too many"), ([{"y": 1}], TypeError, "missing"), ([(np.float32([1, 2]),)], ValueError, "tensor"),
    ([([1.0, 2.0],)], ValueError, "tensor")],
    ids=["number", "text", "empty", "no-tuple", "too-many", "unknown", "array", "list"])
def test_bad_test_inputs(tmp_path, given, kind, word):
    with pytest.raises(kind, match=word):
        traced().dump(tmp_path / "m.trc", test_inputs=given)
    assert not list(tmp_path.iterdir())


def test_an_error_in_test_inputs_says_where(tmp_path):
    function = tc.trace(lambda x, i: x[i])
    function(tc.tensor([1.0, 2.0]), tc.tensor([0, 1]))
    with pytest.raises(IndexError) as caught:
        function.dump(tmp_path / "m.trc", test_inputs=[(tc.tensor([1.0, 2.0]), tc.tensor([5, 5]))])
    assert "test_inputs[0]" in caught.value.__notes__[0]


# ---------------------------------------------------------------------------------------------- memory of a trace


LARGE = 16 << 20  # elements; 64 MiB of float32


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def expect_reuse():
    """Freed memory stays with the allocator: the next tensor of that size must not need more."""
    before = resident()
    again = tc.ones((LARGE,))
    assert resident() - before < 16 << 20, "the old tensor is still alive"
    return again


@pytest.mark.parametrize("is_view", [False, True])
def test_a_trace_keeps_no_large_argument_alive(tmp_path, is_view):
    argument = tc.ones((LARGE,))
    if is_view:
        argument = argument[1:]
    function = tc.trace(lambda x: x[:10] * 2)
    for _ in range(2):
        function(argument)
    assert function.dump(tmp_path / "alive.trc", targets=())["vectors"] == 1
    del argument
    again = expect_reuse()
    with pytest.raises(ValueError, match="'x'.*gone") as caught:
        function.dump(tmp_path / "gone.trc", targets=())
    assert "test_inputs" in str(caught.value) and "test_vectors=False" in str(caught.value)
    small = again[:100]
    assert function.dump(tmp_path / "given.trc", targets=(), test_inputs=[(small[1:] if is_view else tc.ones((100,)),)])["vectors"] == 1
    assert function.dump(tmp_path / "none.trc", targets=(), test_vectors=False)["vectors"] == 0
    assert sorted(os.listdir(tmp_path)) == ["alive.trc", "given.trc", "none.trc"]


def test_a_small_view_of_a_large_tensor_is_kept_alone(tmp_path):
    function = tc.trace(lambda x: x * 2)
    big = tc.ones((LARGE,))
    function(big[:10])
    del big
    expect_reuse()
    assert function.dump(tmp_path / "m.trc", targets=())["vectors"] == 1
