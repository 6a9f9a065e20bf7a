"""The extension module itself: what importing it does, and what its types let Python do."""

import copy
import importlib
import os
import pickle
import subprocess
import sys
import weakref

import pytest

import tracec as tc


def test_a_module_imported_again_has_the_same_types(monkeypatch):
    first = sys.modules["tracec._core"]
    monkeypatch.delitem(sys.modules, "tracec._core")
    again = importlib.import_module("tracec._core")
    assert again.Tensor is first.Tensor and again.TraceError is first.TraceError and again.Trace is first.Trace
    assert again.tensor([1.0]).tolist() == [1.0]


def test_a_wrong_level_is_said_at_import():
    done = subprocess.run([sys.executable, "-c", "import tracec"], capture_output=True, text=True, check=False,
                          env={**os.environ, "TRACERT_MAX_ISA": "sse"})
    assert done.returncode == 1
    assert "\nValueError: TC0101 the environment variable TRACERT_MAX_ISA is 'sse'; known: portable" in done.stderr


def test_nothing_is_said_at_exit_about_what_is_still_there(tmp_path):
    code = f"""
import tracec as tc
f = tc.trace(lambda x: x + 1)
f(tc.tensor([1.0])), f(tc.tensor([1.0]))
f.dump({str(tmp_path / "a.trc")!r}, targets=())
model = tc.load({str(tmp_path / "a.trc")!r})
cycle = [f, model, tc.options(threads=1).__enter__()]
cycle.append(cycle)
import builtins
builtins.kept = cycle
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def saved_options():
    with tc.options(threads=1) as options:
        return options._previous[0]


@pytest.mark.parametrize("make", [tc.exclude_from_trace, lambda: tc.trace(lambda x: x)._state.core, saved_options],
                         ids=["region", "trace", "options"])
def test_what_belongs_to_the_process_is_not_copied(make):
    for refused in (pickle.dumps, copy.copy, copy.deepcopy, weakref.ref):
        with pytest.raises(TypeError):
            refused(make())


@pytest.mark.parametrize("level", [2.0, "2", None])
def test_an_opt_level_is_an_int(level):
    with pytest.raises((TypeError, ValueError), match="cannot be interpreted as an integer|opt_level must be"):
        tc.trace(lambda x: x, opt_level=level)


def test_a_stage_is_a_str():
    function = tc.trace(lambda x: x + 1)
    function(tc.tensor([1.0]))
    with pytest.raises(TypeError, match="TC0102 expected a str, got int"):
        function.lowered(3)


def test_flags_of_load_are_anything_true_or_false(tmp_path):
    function = tc.trace(lambda x: x + 1)
    function(tc.tensor([1.0]))
    function.dump(tmp_path / "a.trc", targets=())
    assert tc.load(tmp_path / "a.trc", verify_all=1, copy=[0])(tc.tensor([1.0])).tolist() == [2.0]
    assert tc.load(tmp_path / "a.trc", verify_all=0, copy=None)(tc.tensor([1.0])).tolist() == [2.0]


def test_counters_pickle_as_functions_do():
    for counter in (tc.stats.compile_count, tc.stats.shared_loops, tc.stats.runnable_sections):
        assert pickle.loads(pickle.dumps(counter)) is counter and copy.deepcopy(counter) is counter
