"""A seeded generator of programs whose calls differ in everything but dtypes and ranks, checked line by line against NumPy.

Usage: `script = VariedProgram(seed).grow()`; see scripts.py for what a script is and varied_paths.py for what it must do.

A line must run in call 0. In the other calls it may fail: such a call ends there with that error, and the lines after it are
chosen without it. Lines are chosen to suit all calls or call 0 alone, so that sizes agree by chance and later do not.
"""


import random
import re

import numpy as np

import tracec as tc
from checks import DTYPES, INTEGER_DTYPES
from random_lines import broadcasts
from random_programs import ERRORS, World, is_write, same_kind, unlike
from reference_arrays import Reference, ReferenceModule
from scripts import Script
from varied_calls import CallMaker, Parameter
from varied_lines import VariedLines
from varied_paths import Path

LARGEST = 6000
# Enough for two threads; only lines that cannot multiply sizes are made then.
THREADED_SIZES = [20_001, 30_000]
LARGEST_THREADED = 70_000
FORMS = [("n",), ("n",), ("n", "m"), ("n", "m"), ("m",), ("m", "n"), ("n", 1), (1, "n"), (), (3,), ("n", 3), (2, "n"), (2, "m", 3), ("n", "m", 2), ("n", "n")]
SIZES = [0, 1, 1, 2, 3, 4, 5, 6, 7, 9]
LARGE_SIZES = [16, 17, 33, 70, 130]
# A record has mostly none of size 0 or 1: then most other sizes are replays, not further records.
RECORD_SIZES = [2, 3, 3, 4, 5, 6]


class Disagreement(AssertionError):
    """A line on which tracec and NumPy differ; `script` is the program up to it."""

    def __init__(self, text, script):
        super().__init__(f"{text}\n{script.text(Path('replay'))}")
        self.script = script



class VariedProgram:
    """One random program. `errors`: the other calls fail more often than not, at several lines if they could go on."""

    def __init__(self, seed, errors=False, calls=3):
        self.seed = seed
        self.random = random.Random(seed)
        self.data = np.random.default_rng(self.random.getrandbits(64))
        self.errors = errors
        # How often an index is out of range in another call than the recorded one.
        self.fault_rate = 0.4 if errors else 0.05
        self.grown = False
        self.calls_wanted = calls
        self.parameters, self.captured = {}, {}
        self.calls, self.lines, self.outputs = [], [], []
        self.every_world, self.every_sizes, self.dead = [], [], set()
        self.is_large = self.random.random() < 0.03
        # Whether lines are made to suit call 0 only.
        self.alone = False
        self.agreed_errors = 0

    # What the line makers ask for.

    @property
    def worlds(self):
        """Worlds that a line is made to suit."""
        return [self.every_world[call] for call in self.in_view]

    @property
    def in_view(self):
        return [0] if self.alone else [call for call in range(len(self.every_world)) if call not in self.dead]

    @property
    def sizes(self):
        return [self.every_sizes[call] for call in self.in_view]

    def variables(self):
        """Names of tensors that have the same rank in all worlds in view, in the order of their definition."""
        first, bases = self.worlds[0][0].names, {name for call in self.calls for name in call.bases}
        worlds = [reference.names for reference, _ in self.worlds]
        return [name for name, value in first.items() if isinstance(value, Reference) and name not in bases
                and all(name in names and names[name].ndim == value.ndim for names in worlds)]

    def numbers(self):
        return [name for name, parameter in self.parameters.items() if parameter.role == "number"]

    def of_role(self, role):
        return [name for name, parameter in self.parameters.items() if parameter.role == role]

    def dtype(self):
        return self.random.choice(DTYPES + ("float32", "float32", "int32", "float64"))

    def array(self, shape, dtype):
        return CallMaker(self).numbers(tuple(shape), dtype)

    # Growth.

    def some_sizes(self):
        choice = self.random.random()
        if self.is_large:
            return self.random.choice([*THREADED_SIZES, 5, 0]) if self.grown else self.random.choice(THREADED_SIZES), 2
        if choice < 0.06:
            return self.random.choice(LARGE_SIZES), self.random.choice([1, 2, 3])
        sizes = SIZES if choice < 0.4 else RECORD_SIZES
        n, m = self.random.choice(sizes), self.random.choice(sizes)
        # Equal by chance when recorded, later not.
        return (n, n) if self.random.random() < 0.25 else (n, m)

    def make_parameters(self):
        if self.is_large:
            for name in "xy":
                self.parameters[name] = Parameter("data", self.dtype(), self.random.choice([("n",), ("n",), ("n", 2)]))
            self.parameters["mask"] = Parameter("mask", "bool", ("n",))
            self.parameters["index"] = Parameter("index", "int64", ("n",))
            return
        add = iter("xyzwvu")
        for _ in range(self.random.choice([1, 2, 2, 3])):
            self.parameters[next(add)] = Parameter("data", self.dtype(), self.random.choice(FORMS))
        if self.random.random() < 0.3:
            # A twin, so that arguments can alias.
            first = self.parameters["x"]
            self.parameters[next(add)] = Parameter("data", first.dtype, first.form if self.random.random() < 0.7 else first.form[1:])
        chance = self.random.random
        if chance() < 0.5:
            self.parameters["mask"] = Parameter("mask", "bool", self.random.choice([("n",), ("n",), ("n", "m"), ("m",)]))
        if chance() < 0.15:
            self.parameters["mask2"] = Parameter("mask", "bool", self.parameters.get("mask", Parameter("mask", "bool", ("n",))).form)
        if chance() < 0.4:
            form = self.random.choice([(3,), ("n",), (2, 2), (1,), ("m",)])
            self.parameters["index"] = Parameter("index", self.random.choice(("int64", "int64", "int32") + INTEGER_DTYPES), form)
        if chance() < 0.3:
            self.parameters["bound"] = Parameter("bound", self.random.choice(("int64", "int32") + INTEGER_DTYPES), ())
        if chance() < 0.35:
            self.parameters["k"] = Parameter("number", "", ())

    def grow(self):
        self.make_parameters()
        for number in range(self.random.choice([0, 0, 1, 1, 2])):
            self.captured[f"c{number}"] = self.array(self.random.choice([(), (3,), (1,), (2, 3), (3, 1), (4, 4)]), self.dtype())
        maker = CallMaker(self)
        sizes = self.some_sizes()
        record = maker.call(sizes, {kind for kind in ("strides", "aliasing") if self.random.random() < 0.2})
        self.grown = True
        self.calls, self.every_sizes = [record], [sizes]
        for _ in range(self.calls_wanted):
            what = maker.variations()
            others = self.some_sizes() if "sizes" in what else sizes
            if "sizes" in what and self.random.random() < 0.5:
                others = self.random.choice([(others[0], sizes[1]), (sizes[0], others[1]), (1, sizes[1]), (sizes[0], 1)])
            self.every_sizes.append(others)
            self.calls.append(maker.call(others, what, like=record))
        self.rebuild()
        lines, wanted = VariedLines(self), self.random.choice([1, 2, 3, 4, 5, 6, 7, 8, 10])
        for _ in range(wanted * 3):
            if len(self.lines) >= wanted:
                break
            self.alone = self.random.random() < (0.7 if self.errors else 0.35)
            # Without a variable of one rank in all calls, call 0 alone decides.
            self.alone = self.alone or not self.variables()
            line = lines.any_line()
            if line and not self.multiplies(line):
                self.try_line(line)
        self.alone = True
        names = [name for name in self.variables() if name not in self.captured] or self.variables()
        self.outputs = self.random.sample(names, min(len(names), self.random.choice([0, 1, 2, 3, 5])))
        # The last result carries most of the program, except where unused values are the point.
        if not self.outputs or self.random.random() < 0.8:
            self.outputs += [name for name in names[-1:] if name not in self.outputs]
        return self.script()

    def script(self):
        script = Script(list(self.parameters), list(self.lines), list(self.outputs), self.calls, self.captured)
        script.dynamic = self.dynamic()
        return script

    def dynamic(self):
        """Named dims for the axes of size n and m, as text."""
        ranges = {name: self.random.choice(["", "", f", min={min(size, 2)}", f", max={size + 2}", f", min={size}, max={size}"])
                  for name, size in zip("nm", self.every_sizes[0])}
        entries = []
        for name, parameter in self.parameters.items():
            axes = [f"{axis}: tc.dim('{size}'{ranges[size]})" for axis, size in enumerate(parameter.form) if isinstance(size, str)]
            entries += [f"'{name}': {{{', '.join(axes)}}}"] * bool(axes)
        return f"{{{', '.join(entries)}}}" if entries else "None"

    # Running.

    def rebuild(self):
        """The worlds again from nothing; all lines so far are known to agree."""
        self.every_world = [self.new_world(call) for call in self.calls]
        for call, (reference, tensor) in enumerate(self.every_world):
            for line in self.lines:
                if self.outcome(reference, line) is not None:
                    break
                self.outcome(tensor, line)
                self.adopt(reference, tensor)

    def new_world(self, call):
        reference, tensor = World(ReferenceModule), World(tc)
        for name, array in {**call.bases, **self.captured}.items():
            reference.names[name], tensor.names[name] = Reference(array.copy()), tc.tensor(array)
        for name in self.parameters:
            for world in (reference, tensor):
                world.run(f"{name} = {call.made[name]}")
        return reference, tensor

    def try_line(self, line):
        """Run a line on all worlds; keep it if it runs on the first and fails on few others."""
        failed = []
        for call, (reference, tensor) in enumerate(self.every_world):
            if call in self.dead:
                continue
            wanted, got = self.outcome(reference, line), self.outcome(tensor, line)
            # A write may have two faults at once; which one is told is open.
            if (wanted is None) != (got is None) or (wanted is not None and not same_kind(wanted, got) and not is_write(line)):
                self.fail(line, call, f"NumPy {wanted!r}, tracec {got!r}")
            if got is not None and not str(got).startswith("TC0") and str(got) != str(wanted):
                self.fail(line, call, f"an error without a code: {got!r}")
            self.compare(line, call, reference, tensor)
            self.adopt(reference, tensor)
            if wanted is not None:
                failed.append(call)
                if call == 0:
                    self.agreed_errors += 1
                    if ";" in line:
                        # Its first statement may have run; a single statement that fails changes nothing.
                        self.rebuild()
                    return
        alive = len(self.every_world) - len(self.dead) - 1
        keeps = not failed or self.errors or self.random.random() < (0.8 if len(failed) < alive else 0.25)
        if self.too_large() or not keeps:
            self.rebuild()
            return
        self.lines.append(line)
        self.dead.update(failed)

    def multiplies(self, line):
        """Whether variables of a line of a large program broadcast to something much larger."""
        names = self.every_world[0][0].names
        shapes = [names[name].shape for name in re.findall(r"\w+", line) if isinstance(names.get(name), Reference)]
        return self.is_large and not all(broadcasts(one, other) for one in shapes for other in shapes)

    def too_large(self):
        largest = LARGEST_THREADED if self.is_large else LARGEST
        return any(value.array.size > largest for call, (reference, _) in enumerate(self.every_world) if call not in self.dead
                   for value in reference.names.values() if isinstance(value, Reference))

    @staticmethod
    def outcome(world, line):
        try:
            world.run(line)
        except ERRORS as error:
            return error
        return None

    def compare(self, line, call, reference, tensor):
        for name, want in reference.names.items():
            if isinstance(want, Reference):
                different = unlike(np.array(tensor.names[name].numpy()), want)
                if different:
                    self.fail(line, call, f"{name}: {different}")

    @staticmethod
    def adopt(reference, tensor):
        for name, value in reference.names.items():
            if isinstance(value, Reference) and value.slack is not None:
                value.slack = None
                if value.array.flags.writeable:
                    value.array[...] = tensor.names[name].numpy()

    def fail(self, line, call, text):
        script = self.script()
        script.lines = [*self.lines, line]
        raise Disagreement(f"seed {self.seed}, call {call}, line `{line}`: {text}", script)
