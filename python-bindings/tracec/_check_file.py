"""The last step of dump(): a complete file is loaded and its test vectors run in every section, in a child process.

Usage: `report = check_file("model.trc.partial")`. The child starts isolated from the user's folder and environment; where
no interpreter can be started (embedding, frozen programs, no processes left) the check runs in this process.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys

from . import _core

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

# Printed before the file is touched: what fails earlier is the interpreter, not the file.
_READY = "tracec: checking"
_CHILD = "import sys; sys.path.append(sys.argv[2]); from tracec._check_file import main; sys.exit(main(sys.argv[1]))"


class _NoChild(Exception):
    """No interpreter with this package can be started; the text says why."""


def _report(path: str) -> dict[str, Any]:
    model = _core.Model(os.fsencode(path), "best", True)
    return {"sections": model.verify(), "vectors": model.vector_count(),
            "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def main(path: str) -> int:
    """What the child runs."""
    print(_READY, flush=True)
    print(json.dumps(_report(path)))
    return 0


def _run_child(path: str) -> dict[str, Any]:
    executable = sys.executable or ""
    # In an embedding or frozen program this may be the program itself.
    if getattr(sys, "frozen", False) or not os.path.basename(executable).startswith("python"):
        raise _NoChild(f"sys.executable is {executable!r}")
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    # -I: no PYTHON variables, no folder of the user; -S: no site packages, whose hooks would run.
    command = [executable, "-I", "-S", "-c", _CHILD, os.path.abspath(path), package]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              env=environment, cwd="/", check=False)
    except (OSError, RuntimeError, MemoryError) as error:
        raise _NoChild(str(error)) from None
    lines = done.stdout.splitlines()
    if not lines or lines[0] != _READY:
        raise _NoChild((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    if done.returncode == 0 and len(lines) == 2:
        report: dict[str, Any] = json.loads(lines[1])
        return report
    if done.returncode < 0:
        raise _core.CompileError(f"TC0402 the dumped file ended the child process that checks it with signal {-done.returncode} "
                                 "and was removed\n  report this as a bug, with the function")
    raise _core.CompileError("TC0402 the dumped file does not load and was removed: "
                             f"{done.stderr.strip()[-500:]}\n  report this as a bug, with the function")


def check_file(path: str) -> dict[str, Any]:
    """Load and verify. Returns sections checked, number of vectors, peak memory, where it was checked; CompileError."""
    try:
        report = {**_run_child(path), "checked_in": "child process"}
    except _NoChild as why:
        report = {**_report(path), "checked_in": f"this process ({why})"}
    wrong = "; ".join(f"{name}: {text}" for name, text in report["sections"].items() if text)
    if "test_inputs[" in wrong:
        raise _core.CompileError(f"TC0402 the dumped file does not do what the function does and was removed ({wrong})\n"
                                 "  the function goes another way for these test inputs than in the recorded call; "
                                 "call it with inputs of that kind before dump()")
    if wrong:
        raise _core.CompileError(f"TC0402 the dumped file does not reproduce eager and was removed ({wrong})\n"
                                 "  report this as a bug, with the function")
    return report
