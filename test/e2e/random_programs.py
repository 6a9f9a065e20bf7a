"""A seeded generator of programs over the whole op set, checked line by line against NumPy while they grow.

Usage: `program = Program(seed).grow(); program.source; program.run(tc.trace)`.

A program is source text: one op per line, run on `Reference` arrays and on tensors for several calls whose sizes differ.
After each line every variable of both sides is compared; then the reference takes over the tensor's value, so that an
allowed rounding difference never reaches a later comparison. A line that NumPy refuses must be refused by tracec.
"""

import random

import ml_dtypes
import numpy as np

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, bits_equal, integer_range
from reference_arrays import Reference, ReferenceModule
from random_lines import LINES, LineMaker

ERRORS = (ValueError, TypeError, IndexError, OverflowError)
LARGEST = 60_000
# Sizes of n and m per call. A plan keeps the 1-ness class or changes it.
PLANS = [
    [(5, 3), (8, 4), (2, 7)], [(5, 5), (7, 7), (4, 4)], [(16, 2), (17, 3), (33, 2)], [(3, 4), (1, 4), (6, 4)],
    [(4, 3), (0, 3), (9, 3)], [(0, 2), (3, 2), (5, 2)], [(1, 1), (4, 5), (1, 5)], [(100, 3), (31, 4), (64, 2)],
    [(4096, 2), (4097, 3), (9001, 2)], [(7, 3), (7, 3), (7, 3)],
]


class Disagreement(AssertionError):
    """A line on which tracec and NumPy differ; the text has the program."""


class World:
    """Variables of one call on one side."""

    def __init__(self, module):
        self.names = {"tc": module, "np": np}

    def run(self, line):
        exec(compile(line, "<program>", "exec"), self.names)


class Program:
    """One random program. `calls` are the arguments per call, `captured` the initial values of captured tensors."""

    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.data = np.random.default_rng(seed)
        self.sizes = self.random.choice(PLANS)
        self.arguments, self.captured = {}, {}
        self.preamble, self.lines = [], []
        self.outputs, self.agreed_errors = [], 0
        self.last_fails = False
        self.worlds = []

    # Data.

    def array(self, shape, dtype):
        """Random values with some special ones."""
        shape = tuple(shape)
        if dtype == "bool":
            return np.asarray(self.data.random(shape) < self.random.choice([0.0, 0.3, 0.6, 1.0]))
        if dtype in FLOAT_DTYPES:
            values = np.asarray(self.data.standard_normal(shape) * 2).astype(dtype)
            if values.size and self.random.random() < 0.2:
                special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, ml_dtypes.finfo(dtype).max, ml_dtypes.finfo(dtype).tiny], dtype)
                values.reshape(-1)[self.data.integers(0, values.size, 3)] = special[self.data.integers(0, 7, 3)]
            return values
        low, high = integer_range(dtype, self.random.choice([9, 1000, 2**31, 2**64]))
        return self.data.integers(low, high, shape, dtype=dtype)

    def shape_form(self):
        """A shape in n, m and constants."""
        forms = [["n"], ["n"], ["n", "m"], ["n", "m"], ["m"], ["m", "n"], ["n", 1], ["m", 1], [], [3], ["n", 3], [2, "n"],
                 [2, "m", 3], ["n", "m", 2], [1, "n"], ["m", "m"]]
        return self.random.choice(forms)

    def concrete(self, form, call):
        n, m = self.sizes[call]
        return tuple({"n": n, "m": m}.get(size, size) for size in form)

    def dtype(self):
        return self.random.choice(DTYPES + ("float32", "float32", "int32", "float64"))

    def add_argument(self, arrays):
        """A further argument with one array per call; returns its name."""
        name = f"a{len(self.arguments)}"
        self.arguments[name] = arrays
        for (reference, tensor), array in zip(self.worlds, arrays):
            reference.names[name], tensor.names[name] = Reference(array.copy()), tc.tensor(array)
        return name

    # Growth.

    def grow(self):
        for _ in range(self.random.randint(2, 3)):
            form, dtype = self.shape_form(), self.dtype()
            self.add_argument([self.array(self.concrete(form, call), dtype) for call in range(len(self.sizes))])
        for number in range(self.random.randint(0, 2)):
            self.captured[f"c{number}"] = self.array(self.random.choice([(), (3,), (1,), (2, 3), (3, 1)]), self.dtype())
        if self.random.random() < 0.2:
            name, arrays = self.random.choice(list(self.arguments.items()))
            items = self.random.choice(["...", "::-1", "1:", "None", "..., ::2"]) if arrays[0].ndim else "..."
            self.preamble.append(f"b0 = {name}[{items}]")
        self.rebuild()
        maker, wanted = LineMaker(self), self.random.randint(4, 14)
        for _ in range(wanted * 3):
            if len(self.lines) >= wanted or self.last_fails:
                break
            line = maker.line(self.random.choices(list(LINES), LINES.values())[0])
            if line:
                self.try_line(line)
        names = self.variables()
        self.outputs = self.random.sample(names, min(len(names), self.random.randint(1, 3)))
        # The last result carries most of the program.
        self.outputs += [name for name in names[-1:] if name not in self.outputs]
        return self

    def variables(self):
        """Names of tensors, in the order of their definition; after a line that fails, those of any call."""
        names = {name: value for reference, _ in self.worlds for name, value in reference.names.items()}
        return [name for name, value in names.items() if isinstance(value, Reference)]

    def rebuild(self):
        """The worlds again from nothing; all lines so far are known to agree."""
        self.worlds = [(World(ReferenceModule), World(tc)) for _ in self.sizes]
        for call, (reference, tensor) in enumerate(self.worlds):
            for name, arrays in self.arguments.items():
                reference.names[name], tensor.names[name] = Reference(arrays[call].copy()), tc.tensor(arrays[call])
            for name, array in self.captured.items():
                reference.names[name], tensor.names[name] = Reference(array.copy()), tc.tensor(array)
            for line in self.preamble + self.lines:
                reference.run(line)
                tensor.run(line)
                self.adopt(reference, tensor)

    def try_line(self, line):
        """Run a line on all worlds; keep it if it runs on each."""
        failed = 0
        for call, (reference, tensor) in enumerate(self.worlds):
            wanted = self.outcome(reference, line)
            got = self.outcome(tensor, line)
            # A write may have two faults at once; which one is told is open.
            if (wanted is None) != (got is None) or (wanted is not None and not same_kind(wanted, got) and not is_write(line)):
                self.fail(line, call, f"NumPy {wanted!r}, tracec {got!r}")
            if got is not None and not str(got).startswith("TC0"):
                self.fail(line, call, f"an error without a code: {got!r}")
            failed += wanted is not None
            self.compare(line, call, reference, tensor)
            self.adopt(reference, tensor)
        unfit = self.unfit()
        if not failed and not unfit:
            self.lines.append(line)
            return
        self.agreed_errors += bool(failed)
        if 0 < failed < len(self.worlds) and not unfit and self.random.random() < 0.3:
            # Fails at some sizes only: as the last line it tests the errors of replays.
            self.lines.append(line)
            self.last_fails = True
            return
        self.rebuild()

    def unfit(self):
        """True if a variable became too large, or its rank depends on the sizes: that is another program."""
        for name in self.variables():
            arrays = [reference.names[name].array for reference, _ in self.worlds if name in reference.names]
            if any(array.size > LARGEST or array.ndim != arrays[0].ndim for array in arrays):
                return True
        return False

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
                got = np.array(tensor.names[name].numpy())
                difference = unlike(got, want)
                if difference:
                    self.fail(line, call, f"{name}: {difference}")

    @staticmethod
    def adopt(reference, tensor):
        for name, value in reference.names.items():
            if isinstance(value, Reference) and value.slack is not None:
                got = tensor.names[name].numpy()
                value.slack = None
                if value.array.flags.writeable:
                    value.array[...] = got

    def fail(self, line, call, text):
        raise Disagreement(f"seed {self.seed}, call {call}, line `{line}`: {text}\n{self.listing()}")

    def listing(self):
        """The program and its arguments' types, for people."""
        shapes = {name: [f"{one.dtype}{one.shape}" for one in arrays] for name, arrays in self.arguments.items()}
        captured = {name: f"{one.dtype}{one.shape}" for name, one in self.captured.items()}
        return f"arguments {shapes}\ncaptured {captured}\n" + "\n".join(self.preamble) + "\n" + self.source

    # The whole program as one function.

    @property
    def source(self):
        names = list(self.arguments) + [line.split(" = ")[0] for line in self.preamble]
        # An in-place operator assigns to the name, which must be the captured one.
        lines = [f"global {', '.join(self.captured)}"] * bool(self.captured) + self.lines
        body = "".join(f"    {line}\n" for line in lines)
        return f"def body({', '.join(names)}):\n{body}    return ({''.join(name + ', ' for name in self.outputs)})\n"

    @property
    def reads_values(self):
        """True if Python reads values in the body: such a trace has several segments and cannot be dumped."""
        return any(".numpy()" in line for line in self.lines)

    def function(self, wrap):
        """(wrapped body, captured tensors): a fresh function with captures of its own."""
        names = {"tc": tc, "np": np}
        captured = {name: tc.tensor(array) for name, array in self.captured.items()}
        names.update(captured)
        exec(compile(self.source, "<program>", "exec"), names)
        return wrap(names["body"]), captured

    def tensors_of(self, call):
        """Fresh argument tensors of a call, views made from them included."""
        world = World(tc)
        for name, arrays in self.arguments.items():
            world.names[name] = tc.tensor(arrays[call])
        for line in self.preamble:
            world.run(line)
        return [value for name, value in world.names.items() if name not in ("tc", "np", "__builtins__")]


def same_kind(one, other):
    """Whether two errors are of one family; an AxisError is both a ValueError and an IndexError."""
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in ERRORS)


def is_write(line):
    return "] = " in line or any(f" {operator} " in line for operator in ("+=", "-=", "*=", "/="))


def unlike(got, want):
    """What differs between a result and its reference, or None."""
    array = want.array
    if got.dtype != array.dtype or got.shape != array.shape:
        return f"{got.dtype}{got.shape}, NumPy {array.dtype}{array.shape}"
    if bits_equal(got, array):
        return None
    if want.slack is None:
        return f"{got!r}, NumPy {array!r}"
    with np.errstate(all="ignore"):
        near = np.abs(got.astype(np.longdouble) - array.astype(np.longdouble)) <= want.slack
    # An infinite bound: partial sums may overflow, so infinities and NaN may come out of either order.
    fine = near | (got == array) | (np.isnan(got) & np.isnan(array)) | np.isinf(want.slack) | np.isnan(want.slack)
    return None if fine.all() else f"{got!r}, NumPy {array!r}, allowed {want.slack!r}"
