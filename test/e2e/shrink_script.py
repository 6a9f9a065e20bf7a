"""Makes a failing program small: fewer calls, lines, results, parameters, smaller and plainer arrays.

Usage: `small, path = shrink(script, path, fails)`, where `fails(script, path)` is true if the same kind of fault shows.
"""

import copy
import dataclasses

import numpy as np

import tracec as tc
from scripts import Call


def shrink(script, path, fails, tries=600):
    """The smallest program found, and the plainest path on which it fails. `tries` bounds the calls of `fails`."""
    search = Search(script, path, fails, tries)
    search.plain_path()
    while search.tries > 0 and search.round():
        pass
    return search.script, search.path


class Search:
    def __init__(self, script, path, fails, tries):
        self.script, self.path, self.fails, self.tries = copy.deepcopy(script), path, fails, tries

    def keep(self, candidate, path=None):
        """Take the candidate if it still fails."""
        if self.tries <= 0:
            return False
        self.tries -= 1
        if not self.fails(candidate, path or self.path):
            return False
        self.script, self.path = candidate, path or self.path
        return True

    def plain_path(self):
        for change in ({"section": "portable", "threads": 1}, {"threads": 1}, {"opt_level": 2}, {"write_results": False}, {"dynamic": False}):
            self.keep(self.script, dataclasses.replace(self.path, **change))

    def round(self):
        """One pass of all reductions; true if any did something."""
        steps = (self.fewer_calls, self.split_lines, self.fewer_lines, self.fewer_outputs, self.fewer_parameters, self.plain_made,
                 self.smaller_arrays, self.plain_arrays)
        return any([step() for step in steps])

    def candidate(self, **changes):
        return dataclasses.replace(copy.deepcopy(self.script), **changes)

    def fewer(self, field):
        """Leave out one entry of a list at a time, from its end."""
        worked = False
        for place in reversed(range(len(getattr(self.script, field)))):
            rest = list(getattr(self.script, field))
            del rest[place]
            worked |= self.keep(self.candidate(**{field: rest}))
        return worked

    def fewer_calls(self):
        worked = False
        for place in reversed(range(1, len(self.script.calls))):
            worked |= self.keep(self.candidate(calls=self.script.calls[:place] + self.script.calls[place + 1 :]))
        return worked

    def split_lines(self):
        lines = [part for line in self.script.lines for part in line.split("; ")]
        return lines != self.script.lines and self.keep(self.candidate(lines=lines))

    def fewer_lines(self):
        count = len(self.script.lines)
        for start in range(count):
            if count - start > 1 and self.keep(self.candidate(lines=self.script.lines[:start])):
                break
        return self.fewer("lines") or count != len(self.script.lines)

    def fewer_outputs(self):
        return self.fewer("outputs")

    def fewer_parameters(self):
        worked = False
        for name in list(self.script.captured):
            worked |= self.keep(self.candidate(captured={one: array for one, array in self.script.captured.items() if one != name}))
        for name in reversed(list(self.script.parameters)):
            worked |= self.keep(without_unused_bases(self.candidate(parameters=[one for one in self.script.parameters if one != name])))
        if self.script.dynamic != "None":
            worked |= self.keep(self.candidate(dynamic="None"), dataclasses.replace(self.path, dynamic=False))
        return worked

    def plain_made(self):
        """Arguments that are plain tensors instead of views."""
        worked = False
        for number, call in enumerate(self.script.calls):
            arguments = dict(zip(self.script.parameters, self.script.arguments(number)[0]))
            for name, text in call.made.items():
                value = arguments.get(name)
                if isinstance(value, tc.Tensor) and text not in call.bases:
                    base = next(f"{name}_array{tail}" for tail in ("", "_") if f"{name}_array{tail}" not in call.bases)
                    plain = Call({**call.bases, base: value.numpy().copy()}, {**call.made, name: base}, call.what)
                    if self.keep(without_unused_bases(self.with_call(number, plain))):
                        worked, call = True, self.script.calls[number]
        return worked

    def with_call(self, number, call):
        calls = list(self.script.calls)
        calls[number] = call
        return self.candidate(calls=calls)

    def arrays(self):
        """(name, place) of each array: the place is a call's number or None for captures."""
        return [(name, None) for name in self.script.captured] + [(name, number) for number, call in enumerate(self.script.calls) for name in call.bases]

    def array(self, name, place):
        return self.script.captured[name] if place is None else self.script.calls[place].bases[name]

    def replaced(self, changes):
        """A candidate with other arrays: {(name, place): array}."""
        candidate = copy.deepcopy(self.script)
        for (name, place), array in changes.items():
            (candidate.captured if place is None else candidate.calls[place].bases)[name] = array
        return candidate

    def smaller_arrays(self):
        """Cut an axis of one array, or that axis of the same array in all calls, or all equal sizes of a call."""
        worked = False
        for name, place in self.arrays():
            for axis in range(self.array(name, place).ndim):
                size = self.array(name, place).shape[axis]
                for wanted in [1, 2, size // 2, size - 1]:
                    if not 0 <= wanted < size:
                        continue
                    groups = [[(name, place)]]
                    if place is not None:
                        groups += [[one for one in self.arrays() if one[1] == place], [one for one in self.arrays() if one[0] == name]]
                    for group in groups:
                        if self.keep(self.replaced({one: cut(self.array(*one), size, wanted, None if len(group) > 1 else axis) for one in group})):
                            worked = True
                            break
                    else:
                        continue
                    break
        return worked

    def plain_arrays(self):
        worked = False
        for name, place in self.arrays():
            array = self.array(name, place)
            candidates = [np.arange(1, array.size + 1).reshape(array.shape).astype(array.dtype), np.ones_like(array), np.zeros_like(array)]
            if any(np.array_equal(array, one) for one in candidates):
                continue
            worked |= any(self.keep(self.replaced({(name, place): one})) for one in candidates)
        return worked


def cut(array, size, wanted, axis):
    """The array with that axis, or all axes of that size if None, cut to the wanted size."""
    axes = [axis] if axis is not None else [number for number, one in enumerate(array.shape) if one == size]
    for one in axes:
        array = np.take(array, range(wanted), one)
    return array


def without_unused_bases(script):
    """Drop bases that no argument is made of, and expressions of parameters that are gone."""
    for call in script.calls:
        call.made = {name: text for name, text in call.made.items() if name in script.parameters}
        call.bases = {name: array for name, array in call.bases.items() if any(name in text for text in call.made.values())}
    return script
