"""Small programs of every kind of fault that random programs have found; those not yet repaired are expected to fail.

Usage: `PROGRAMS["size_stored"].script` runs on every path; `reason` says why a program is expected to fail, and `name_of` which
of those kinds a shrunk random program shows. A reason goes when its programs pass: the tests are strict xfails.
"""

import dataclasses
from typing import Callable

import numpy as np

from scripts import Call, Script


@dataclasses.dataclass
class Program:
    script: Script
    # A key of KINDS, or None for a program that passes.
    fault: str | None = None


@dataclasses.dataclass
class Kind:
    reason: str
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
    return Script(list(calls[0]), lines.split("; "), list(outputs), made, captured or {}, dynamic)


KINDS = {}


ones, zeros, f32 = np.ones, np.zeros, np.float32
true, false = [True, True], [False, False]
PROGRAMS = {
    "write before an index error": Program(script(
        "x += 1; y = x[i]", {"x": ones(2), "i": [0]}, {"x": ones(1), "i": [1]})),
    "write before a size as a number and an index error": Program(script(
        "x += 1; y = x[-x.shape[0] :]; z = x[i]", {"x": ones(2), "i": [0]}, {"x": ones(2, "float32"), "i": [5]})),
    "index error before a shape error": Program(script(
        "y = x[[0, 0]]; z = x - i", {"x": ones(2), "i": [1, 2]}, {"x": ones(0), "i": [0, 0]})),
    "index error before the shape error of the write": Program(script(
        "x[i] += y", {"x": ones((2, 2)), "i": [0, 1], "y": ones((2, 2))}, {"x": ones((2, 1)), "i": [0, 5], "y": ones((2, 2))})),
    "growth at a masked place": Program(script(
        "x[m] -= y", {"x": ones(3), "m": [True, True, True], "y": ones(3)}, {"x": ones(3), "m": [False, False, True], "y": ones(2)})),
    "unused maximum of a count": Program(script(
        "x[0] = -5.; p = x[x > 0].max(); y = x * 2", {"x": ones(3)}, {"x": -ones(3)}, outputs=["y"])),
    "unused sum of a count and a length": Program(script(
        "y = x[m] + z", {"x": ones(2), "m": true, "z": ones(2)}, {"x": ones(3), "m": [True, True, True], "z": ones(2)})),
    "unused reshape of a count": Program(script(
        "y = x[m].reshape(2, -1)", {"x": ones(2), "m": true}, {"x": ones(2), "m": [True, False]})),
    "unused sum of sizes": Program(script(
        "z = x + y", {"x": ones((2, 2)), "y": ones((2, 2))}, {"x": ones((2, 3)), "y": ones((3, 2))})),
    "unused reshape of sizes": Program(script("y = x.reshape(2, -1)", {"x": ones(4)}, {"x": ones(5)})),
    "index out of range over no rows": Program(script(
        "y = (x[:, i] * 2).sum()", {"x": ones((2, 3)), "i": [1, 2]}, {"x": ones((0, 3)), "i": [1, 3]}, outputs=["y"])),
    "index out of range over no columns": Program(script(
        "y = x[:, :0][i].sum()", {"x": ones((2, 3)), "i": [1, 0]}, {"x": ones((2, 3)), "i": [1, 2]}, outputs=["y"])),
    "one hit squeezed": Program(script("y = x[m].squeeze()", {"x": ones(2), "m": [True, False]}, outputs=["y"])),
    "some hits squeezed, then one": Program(script(
        "y = x[x > 0].squeeze()", {"x": ones(3)}, {"x": [1.0, -1, -1]}, {"x": zeros(3)}, outputs=["y"])),
    "squeezed axis of a named size": Program(script(
        "y = x.squeeze(axis=0)", {"x": ones((1, 3))}, {"x": ones((4, 3))}, outputs=["y"], dynamic="{'x': {0: tc.dim('n')}}")),
    "squeezed axes": Program(script("y = x.squeeze() * 2", {"x": ones((3, 2))}, {"x": ones((1, 2))}, outputs=["y"])),
    "size one with a name": Program(script(
        "y = z + x.shape[0]", {"x": ones(1), "z": ones(1)}, {"x": ones(0), "z": ones(1)}, outputs=["y"], dynamic="{'x': {0: tc.dim('n')}}")),
    "whole rows reshaped": Program(script(
        "p = x[..., :3].reshape(-1); p *= 2; y = x.sum()", {"x": ones((2, 2, 3))}, {"x": ones((2, 2, 4))}, outputs=["y"])),
    "whole rows of a result reshaped": Program(script(
        "w = x * 2; w[:, :4].reshape(-1)[:] = 0; y = w.sum(axis=0)", {"x": ones((2, 4))}, {"x": ones((2, 5))}, outputs=["y"])),
    "tensor bound reshaped": Program(script(
        "w = x[:, :k].reshape(-1); w += 100; y = x.sum()", {"x": zeros((4, 3)), "k": 3}, {"x": zeros((4, 3)), "k": 2}, outputs=["y"])),
    "reversed rows reshaped": Program(script(
        "x[:, ::-1].reshape(-1)[...] = 0", {"x": ones((2, 2))}, {"x": ones((1, 1))}, {"x": ones((2, 1))})),
    "in place at another size": Program(script(
        "x -= y", {"x": ones(4), "y": ones(4)}, {"x": ones(1), "y": ones(4)}, outputs=["x"])),
    "in place with a count": Program(script("x += x[x > 0]", {"x": ones(3)}, {"x": [1.0, -1, 1]}, {"x": [1.0, -1, -1]}, outputs=["x"])),
    "size stored in a small dtype": Program(script(
        "x[0] = x.shape[0]", {"x": np.uint8([1, 2])}, {"x": zeros(300, "uint8")}, outputs=["x"])),
    "copy of a captured tensor": Program(script("v = c.copy(); c.reshape(-1)[0] = 7", {"x": ones(1)}, {"x": ones(2)}, outputs=["v"],
                                                captured={"c": ones((2, 2))})),
    "argument that is a view": Program(script("y = x[::2]; x[0] = 2", {"x": (ones(3), "[1:]")}, {"x": ones(4)}, outputs=["y"])),
    "one tensor twice": Program(script(
        "z = x[0] * 2 + y", {"x": ones(3), "y": "x"}, {"x": ones(4), "y": zeros(4)}, outputs=["z"])),
    "a tensor and its part": Program(script(
        "x[0] = 5; z = y * 2", {"y": ones(3), "x": "y[1:]"}, {"x": ones(2), "y": zeros(3)}, outputs=["z"])),
    "a row and its tensor": Program(script(
        "x[0] = 5", {"y": ones((2, 3)), "x": "y[0, ...]"}, {"x": ones(3), "y": zeros((2, 3))})),
}


def name_of(one, path, found):
    """The name of the known kind of fault that a shrunk program shows, or None."""
    text = "; ".join(one.lines)
    unrepaired = {program.fault for program in PROGRAMS.values()}
    return next((name for name, kind in KINDS.items() if name in unrepaired and kind.matches(text, path, found, one)), None)
