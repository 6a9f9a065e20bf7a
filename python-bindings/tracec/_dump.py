"""The Python half of TracedFunction.dump: arguments checked, test inputs run, the written file checked.

Usage: `dump(traced_function, "model.trc", ...)`. The core writes beside the path and renames after the check.
"""

from __future__ import annotations

import inspect
import json
import os
from typing import TYPE_CHECKING, Any

from ._check_file import check_file
from ._core import is_tracing
from ._nest import Flattener, fill, result_tensors
from ._paths import check_path
from .trace import Dim

if TYPE_CHECKING:
    from ._core import Tensor
    from .trace import TracedFunction

_TARGETS = {
    "cpu": ["x86-64-v3", "x86-64-v4"],
    "cpu:x86-64-v3": ["x86-64-v3"],
    "cpu:v3": ["x86-64-v3"],
    "cpu:x86-64-v4": ["x86-64-v4"],
    "cpu:avx512": ["x86-64-v4"],
    "cpu:portable": [],
    "cpu:aarch64": ["aarch64-neon"],
}


def _check_names(names: list[str] | None, what: str, count: int | None) -> list[str]:
    if names is None:
        return []
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise TypeError(f"TC0102 {what} must be a list of non-empty strings, got {names!r}")
    names = list(names)
    for name in names:
        if not name.isprintable():
            raise ValueError(f"TC0101 {what} has {name!r}; a name must be printable text\n  leave out control characters")
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


def _copies(tensors: list[Tensor]) -> list[Tensor]:
    return [tensor.copy() for tensor in tensors]


def _undo(tensors: list[Tensor], saved: list[Tensor]) -> None:
    for tensor, old in zip(tensors, saved):
        # Bytes, dtype and shape.
        if tensor.__reduce__()[1][:3] != old.__reduce__()[1][:3]:
            tensor[...] = old


def _split_call(call: Any, origin: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(call, dict):
        return (), call
    if isinstance(call, (tuple, list)):
        return tuple(call), {}
    raise TypeError(f"TC0102 {origin} must be a tuple of arguments or a dict of named ones, got {type(call).__name__}\n"
                    "  write test_inputs=[(x, y), (x2, y2)], one entry per call")


def _run_test_inputs(traced: TracedFunction, test_inputs: Any) -> list[Any]:
    """Calls of the function without the trace; what it writes is put back as it was."""
    if test_inputs is None:
        return []
    if not isinstance(test_inputs, (list, tuple)):
        raise TypeError(f"TC0102 test_inputs must be a list of calls, got {type(test_inputs).__name__}\n"
                        "  write test_inputs=[(x, y), (x2, y2)], one entry per call")
    if not test_inputs:
        raise ValueError("TC0101 test_inputs is empty\n  give at least one call, or test_vectors=False for a file without any")
    captures = traced._state.core.written_captures()
    calls = []
    for number, call in enumerate(test_inputs):
        origin = f"test_inputs[{number}]"
        args, kwargs = _split_call(call, origin)
        flat = traced._flatten(args, kwargs)
        if flat.structure() != traced._state.structure:
            raise ValueError(f"TC0101 {origin} has the arguments ({flat.structure()}), the recorded call had ({traced._state.structure})\n"
                             "  give what was a tensor in the recorded call as a tensor, and the same Python values")
        before, captures_before = _copies(flat.tensors), _copies(captures)
        try:
            results = _copies(result_tensors(traced._function(*args, **kwargs), []))
            calls.append((origin, before, _copies(flat.tensors), results, _copies(captures)))
        except Exception as error:
            error.add_note(f"while running {origin} of dump() eagerly")
            raise
        finally:
            _undo(flat.tensors, before)
            _undo(captures, captures_before)
    return calls


def _record_separately(traced: TracedFunction) -> None:
    """Records the call again with tensors that share nothing, as a file's inputs do; commits nothing."""
    arguments = fill(traced._state.shared_call, traced._state.core.recorded_arguments())
    flat = Flattener()
    for name, value in arguments.items():
        flat.add(name, value)
    bound = inspect.BoundArguments(traced._state.signature, arguments)  # type: ignore[arg-type]
    call = traced._state.core.begin_for_dump(flat.tensors, flat.names, flat.structure())
    try:
        tensors = result_tensors(traced._function(*bound.args, **bound.kwargs), [])
    except BaseException as error:
        call.abandon(False)
        error.add_note("while dump() recorded the function once more: tensors of the recorded call shared memory, which "
                       "a file's inputs do not")
        raise
    call.finish(tensors)


def dump(traced: TracedFunction, path: Any, *, arg_names: list[str] | None, output_names: list[str] | None, dynamic: Any,
         targets: Any, test_inputs: Any, test_vectors: bool, keep_locs: bool, user_info: Any) -> dict[str, Any]:
    """See TracedFunction.dump."""
    if is_tracing():
        raise ValueError("TC0101 dump() inside a traced call\n  call it after the traced function has returned")
    if traced.state == "untraced":
        raise ValueError("TC0101 this function has not been traced yet; call it once before dump()")
    name = check_path(path)
    recorded_names = traced._state.names
    inputs = _check_names(arg_names, "arg_names", len(recorded_names))
    outputs = _check_names(output_names, "output_names", None)
    isas = _check_targets(targets)
    symbols = _check_dynamic(dynamic, inputs or recorded_names)
    info = "" if user_info is None else _check_user_info(user_info)
    if traced._state.core.shares_arguments():
        _record_separately(traced)
    calls = _run_test_inputs(traced, test_inputs)
    reports: list[dict[str, Any]] = []

    def check(partial: str) -> None:
        reports.append({"bytes": os.path.getsize(partial), **check_file(partial)})

    traced._state.core.dump(os.fsencode(name), inputs, outputs, isas, bool(keep_locs), info, symbols, calls, bool(test_vectors), check)
    # Without vectors the sections of the trial count: that file had them.
    report = {**reports[-1], "sections": reports[0]["sections"], "vectors": reports[0]["vectors"]}
    return report
