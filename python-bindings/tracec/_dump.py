"""The Python half of TracedFunction.dump: arguments checked, the file written beside its place, checked, renamed.

Usage: `dump(core_trace, "model.trc", recorded_names=["x"], ...)`.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from typing import Any

from ._core import CompileError
from .trace import Dim

_TARGETS = {
    "cpu": ["x86-64-v3", "x86-64-v4"],
    "cpu:x86-64-v3": ["x86-64-v3"],
    "cpu:v3": ["x86-64-v3"],
    "cpu:x86-64-v4": ["x86-64-v4"],
    "cpu:avx512": ["x86-64-v4"],
}


def _check_names(names: list[str] | None, what: str, count: int | None) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"TC0102 {what} must be a list of non-empty strings, got {names!r}")
    names = list(names)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"TC0101 {what} has {repeated[0]!r} twice; give each its own name")
    if count is not None and len(names) != count:
        raise ValueError(f"TC0101 {what} has {len(names)} names, but the trace has {count} tensor arguments")
    return names


def _check_targets(targets: Any) -> list[str]:
    chosen: list[str] = []
    if not isinstance(targets, (str, tuple, list)):
        raise TypeError(f"TC0102 targets must be a name or a tuple of names, got {targets!r}")
    for target in [targets] if isinstance(targets, str) else targets:
        if target not in _TARGETS:
            raise ValueError(f"TC0101 unknown target {target!r}; use one of {', '.join(_TARGETS)}")
        chosen += [isa for isa in _TARGETS[target] if isa not in chosen]
    return chosen


def _check_dynamic(dynamic: Any, names: list[str]) -> list[tuple[int, int, str, int, int]]:
    entries: list[tuple[int, int, str, int, int]] = []
    if dynamic is None:
        return entries
    if not isinstance(dynamic, dict) or not all(isinstance(axes, dict) for axes in dynamic.values()):
        raise TypeError(f'TC0102 dynamic must look like {{"x": {{0: tc.dim("n")}}}}, got {dynamic!r}')
    for name, axes in dynamic.items():
        if name not in names:
            raise ValueError(f"TC0101 dynamic names the input {name!r}; the inputs are {', '.join(names)}")
        for axis, dim in axes.items():
            if not isinstance(axis, int) or not isinstance(dim, Dim):
                raise TypeError(f"TC0102 dynamic needs an axis and a tc.dim(...) for {name!r}, got {axis!r}: {dim!r}")
            if axis < 0:
                raise ValueError(f"TC0101 dynamic axes must not be negative, got {axis} for {name!r}")
            entries.append((names.index(name), axis, dim.name, dim.min, dim.max))
    return entries


def _check_user_info(user_info: Any) -> str:
    try:
        return json.dumps(user_info, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{'TC0102' if isinstance(error, TypeError) else 'TC0101'} user_info must be JSON data: {error}") from None


def _check_in_child(path: str) -> dict[str, Any]:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join([package, *filter(None, [environment.get("PYTHONPATH")])])
    done = subprocess.run([sys.executable, "-m", "tracec._check_file", path], capture_output=True, text=True,
                          env=environment, check=False)
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        report = {"sections": {}}
    if done.returncode != 0:
        wrong = {name: text for name, text in report["sections"].items() if text}
        detail = "; ".join(f"{name}: {text}" for name, text in wrong.items()) or done.stderr.strip()[-500:]
        raise CompileError(f"TC0402 the dumped file does not reproduce eager and was removed ({detail}); report this as a bug")
    return report


def dump(trace: Any, path: Any, *, recorded_names: list[str], arg_names: list[str] | None,
         output_names: list[str] | None, dynamic: Any, targets: Any, test_inputs: Any, keep_locs: bool,
         user_info: Any) -> dict[str, Any]:
    """See TracedFunction.dump."""
    if test_inputs is not None:
        raise ValueError("TC0101 test_inputs is not implemented yet; the recorded call is the test vector")
    if trace.state == "untraced":
        raise ValueError("TC0101 this function has not been traced yet; call it once before dump()")
    path = os.fsdecode(path)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "TC0303 cannot dump to a folder", path)
    # The file is renamed to its place: a device or a pipe there would be replaced.
    if not path or (os.path.exists(path) and not os.path.isfile(path)):
        raise OSError(errno.EINVAL, "TC0303 cannot dump to what is no regular file", path)
    inputs = _check_names(arg_names, "arg_names", len(recorded_names))
    outputs = _check_names(output_names, "output_names", None)
    isas = _check_targets(targets)
    symbols = _check_dynamic(dynamic, inputs or recorded_names)
    info = "" if user_info is None else _check_user_info(user_info)
    partial = f"{path}.{os.getpid()}.partial"
    try:
        trace.dump(partial, inputs, outputs, isas, keep_locs, info, symbols)
        report = _check_in_child(partial)
        size = os.path.getsize(partial)
        os.replace(partial, path)
    except BaseException:
        try:
            os.unlink(partial)
        except OSError:
            pass
        raise
    return {"bytes": size, **report}
