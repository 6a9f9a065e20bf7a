"""Faults that are known and not yet repaired: a small program each, expected to fail, and how to recognise others of its kind.

Usage: `FAULTS["dead_check"].script`; `name_of(script, path, found)` says which known fault a shrunk program shows. An entry goes
when its program passes: its test is a strict xfail.
"""

import dataclasses
from typing import Callable

import numpy as np

from scripts import Call, Script
from varied_paths import Path

PORTABLE, FILE = Path("replay", "portable"), Path("file", "portable")


@dataclasses.dataclass
class Fault:
    reason: str
    path: Path
    script: Script
    # (lines as one text, path, Disagreement, script) -> whether it is of this kind.
    matches: Callable


def script(lines, *calls, outputs=(), captured=None, dynamic="None"):
    """A program whose calls are given as {parameter: array, (array, text of a view of it), or expression over earlier ones}."""
    made = []
    for arguments in calls:
        call = Call({}, {})
        for name, value in arguments.items():
            array, view = value if isinstance(value, tuple) else (value, "")
            if isinstance(value, str):
                call.made[name] = value
            else:
                call.bases[f"{name}_array"], call.made[name] = np.asarray(array), f"{name}_array{view}"
        made.append(call)
    return Script(list(calls[0]), lines.split("\n"), list(outputs), made, captured or {}, dynamic)


def aliased(one):
    """Whether an argument of call 0 is a view or is made of another one."""
    return any(text not in one.calls[0].bases for text in one.calls[0].made.values())


def both_fail(found):
    return found.kind == "error" and not found.text.startswith(("None,", "no error")) and "eager None" not in found.text


def lost_error(found):
    return found.kind == "error" and found.text.startswith(("None, eager", "no error, eager"))


ones, zeros = np.ones, np.zeros
FAULTS = {
    "commit_while_recording": Fault(
        "a call that fails while recording has committed its writes", PORTABLE,
        script("x += 1\ny = x[i]", {"x": ones(2), "i": [0]}, {"x": ones(1), "i": [1]}),
        lambda text, path, found, one: found.kind == "commit" and " after " in found.text),
    "order_of_errors": Fault(
        "a later op's shape error wins over an earlier data error", PORTABLE,
        script("y = x[[0, 0]]\nz = x - i", {"x": ones(2), "i": [1, 2]}, {"x": ones(0), "i": [0, 0]}),
        lambda text, path, found, one: both_fail(found)),
    "unused_check": Fault(
        "the check of an op goes with its unused value", PORTABLE,
        script("y = x[m].max()", {"x": ones(2), "m": [True, True]}, {"x": ones(2), "m": [False, False]}),
        lambda text, path, found, one: lost_error(found)),
    "squeezed_count": Fault(
        "a replay refuses the squeeze of a count that was one", PORTABLE,
        script("y = x[m].squeeze()", {"x": ones(2), "m": [True, False]}),
        lambda text, path, found, one: "squeeze" in text and (found.kind == "refused" or "size -1" in found.text)),
    "signature": Fault(
        "views and aliases among the arguments of the recorded call change a file's inputs", FILE,
        script("y = x[::2]", {"x": (ones(3), "[1:]")}),
        lambda text, path, found, one: path.kind == "file" and (
            found.kind in ("signature", "bug") or found.kind in ("value", "refused") and aliased(one))),
    "squeezed_axes": Fault(
        "squeezed axes are those of the recorded call", FILE,
        script("y = x.squeeze()", {"x": ones((3, 2))}, {"x": ones((1, 2))}, outputs=["y"]),
        lambda text, path, found, one: found.kind == "value" and "squeeze" in text),
    "size_one": Fault(
        "a size that was 1 when recorded is a constant of the file", Path("file", "portable", dynamic=True),
        script("y = z + x.shape[0]", {"x": ones(1), "z": ones(1)}, {"x": ones(0), "z": ones(1)}, outputs=["y"],
               dynamic="{'x': {0: tc.dim('n')}}"),
        lambda text, path, found, one: path.kind == "file" and found.kind == "value" and (".shape" in text or ".size" in text)),
    "view_or_copy": Fault(
        "a reshape stays the view or the copy that it was when recorded", FILE,
        script("w = x * 2\nv = w[:, :3].reshape(-1)\nv *= 2", {"x": ones((2, 3))}, {"x": ones((2, 4))}, outputs=["w"]),
        lambda text, path, found, one: found.kind == "value" and "reshape" in text),
    "in_place_growth": Fault(
        "an in-place operator may change its tensor's shape in a file", FILE,
        script("x += y", {"x": ones(4), "y": ones(4)}, {"x": ones(1), "y": ones(4)}, outputs=["x"]),
        lambda text, path, found, one: found.kind in ("value", "error") and any(f" {operator}= " in text for operator in "+-*/")),
}


def name_of(script, path, found):
    """The name of the known fault that a shrunk program shows, or None."""
    text = "; ".join(script.lines)
    return next((name for name, fault in FAULTS.items() if fault.matches(text, path, found, script)), None)
