"""How the calls of one program differ: data, sizes, mask counts, strides, aliasing of arguments, Python numbers.

Usage: `call = CallMaker(program).call(sizes, {"data"})`: bases with an expression over them per parameter.

A parameter has a role, a dtype and a form of shape in n, m and constants; dtype and rank rarely change between the calls.
"""

import dataclasses
import math

import ml_dtypes
import numpy as np

from checks import FLOAT_DTYPES, UNSIGNED_DTYPES, integer_range
from scripts import PATTERN, Call

# What may differ from call 0; the first one is always tried somewhere.
VARIATIONS = ("data", "sizes", "sizes", "sizes", "strides", "strides", "aliasing", "aliasing", "numbers", "numbers", "counts", "counts", "type")
NUMBERS = ("2", "0", "-1", "3", "True", "0.5", "-0.0", "1.0", "300", "float('nan')", "1e-9")


@dataclasses.dataclass
class Parameter:
    # "data", "mask", "index", "bound" (a rank-0 integer) or "number" (Python's).
    role: str
    dtype: str
    form: tuple


class CallMaker:
    def __init__(self, program):
        self.program = program
        self.random = program.random
        self.data = program.data

    def concrete(self, form, sizes):
        return tuple({"n": sizes[0], "m": sizes[1]}.get(size, size) for size in form)

    # Values.

    def values(self, parameter, sizes, counts):
        """An array for the parameter; `counts` is the share of a mask's elements that are true, or "one"."""
        shape = self.concrete(parameter.form, sizes)
        if parameter.role == "mask":
            return self.mask(shape, counts)
        if parameter.role in ("index", "bound"):
            return self.indices(parameter, shape, max(sizes[0], 1))
        return self.numbers(shape, parameter.dtype)

    def other_type(self, parameter):
        """The parameter with another dtype or one axis more."""
        if self.random.random() < 0.5:
            return dataclasses.replace(parameter, dtype=self.program.dtype())
        return dataclasses.replace(parameter, form=(*parameter.form, 2))

    def mask(self, shape, counts):
        if math.prod(shape) > PATTERN * 8 and counts != "one":
            return np.resize(self.mask((PATTERN,), counts), shape)
        if counts != "one":
            return np.asarray(self.data.random(shape) < counts)
        array = np.zeros(shape, bool)
        if array.size:
            array.reshape(-1)[self.data.integers(0, array.size)] = True
        return array

    def indices(self, parameter, shape, size):
        """Indices into n, mostly in range, repeats included."""
        if math.prod(shape) > PATTERN * 8:
            return np.resize(self.indices(parameter, (PATTERN,), size), shape)
        low = 0 if parameter.dtype in UNSIGNED_DTYPES else -size
        array = np.asarray(self.data.integers(low, size, shape)).astype(parameter.dtype)
        if array.size and self.program.grown and self.random.random() < self.program.fault_rate:
            array.reshape(-1)[self.data.integers(0, array.size)] = min(size + self.random.choice([0, 1, 100]), np.iinfo(parameter.dtype).max)
        return array

    def numbers(self, shape, dtype):
        if math.prod(shape) > PATTERN * 8:
            # Large arrays repeat themselves, so that a printed program stays readable.
            return np.resize(self.numbers((PATTERN,), dtype), shape)
        if dtype == "bool":
            return self.mask(shape, self.random.choice([0.0, 0.3, 0.6, 1.0]))
        if dtype in FLOAT_DTYPES:
            array = np.asarray(self.data.standard_normal(shape) * 2).astype(dtype)
            if self.random.random() < 0.4:
                array = np.asarray(np.round(array))
            if array.size and self.random.random() < 0.3:
                special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, ml_dtypes.finfo(dtype).max, ml_dtypes.finfo(dtype).tiny], dtype)
                array.reshape(-1)[self.data.integers(0, array.size, 3)] = special[self.data.integers(0, 7, 3)]
            return array
        low, high = integer_range(dtype, self.random.choice([3, 9, 1000, 2**31, 2**64]))
        return self.data.integers(low, high, shape, dtype=dtype)

    # Strides: an expression whose value is the array.

    def laid_out(self, array, base):
        """(base array, expression) with other strides than the array's own."""
        if array.ndim == 0:
            return np.stack([array, array]), f"{base}[1, ...]"
        junk = np.ones_like(array[:1]) if array.shape[0] else np.ones((1, *array.shape[1:]), array.dtype)
        choices = ["reversed", "stepped", "offset", "transposed", "broadcast"]
        kind = self.random.choice(choices)
        if kind == "reversed":
            return array[::-1].copy(), f"{base}[::-1]"
        if kind == "stepped":
            return np.repeat(array, 2, 0), f"{base}[::2]"
        if kind == "offset":
            return np.concatenate([junk, array, junk]), f"{base}[1:-1]"
        if kind == "transposed" and array.ndim > 1:
            return array.T.copy(), f"{base}.T"
        if kind == "broadcast" and array.shape[0] and self.random.random() < 0.4:
            return array[0].copy(), f"{base}.broadcast_to({', '.join(map(str, array.shape))})"
        return np.stack([array, array], -1), f"{base}[..., 1]"

    def aliased(self, parameters, made, sizes):
        """Expressions that make two parameters share memory, or {} if none may."""
        pairs = []
        for one, left in parameters.items():
            for other, right in parameters.items():
                if one != other and left.role == right.role == "data" and left.dtype == right.dtype:
                    same = self.concrete(left.form, sizes) == self.concrete(right.form, sizes)
                    pairs += [(one, other, "same")] * same
                    pairs += [(one, other, "overlap")] * (same and len(left.form) > 0)
                    pairs += [(one, other, "row")] * (len(left.form) == len(right.form) + 1 and sizes[0] > 0)
        if not pairs:
            return {}
        one, other, kind = self.random.choice(pairs)
        if list(parameters).index(one) > list(parameters).index(other) and kind != "row":
            one, other = other, one
        if kind == "same":
            return {other: self.random.choice([one, one, f"{one}[...]", f"{one}[::-1]" if parameters[one].form else one])}
        if kind == "row":
            shape = self.concrete(parameters[one].form, sizes)
            if shape[1:] != self.concrete(parameters[other].form, sizes) or not shape[0]:
                return {}
            order = list(parameters)
            return {other: f"{one}[0, ...]"} if order.index(one) < order.index(other) else {}
        return {one: "shared[1:]", other: "shared[:-1]"} if self.random.random() < 0.5 else {one: "shared[:-1]", other: "shared[1:]"}

    # A call.

    def call(self, sizes, what, like=None):
        """A Call. `what`: the variations from the call `like`, whose layout and numbers the others keep."""
        parameters = self.program.parameters
        bases, made = {}, {}
        counts = self.random.choice([0.0, "one", 1.0]) if "counts" in what else self.random.choice([0.3, 0.6])
        for name, parameter in parameters.items():
            if parameter.role == "number":
                changed = like is None or "numbers" in what
                made[name] = self.random.choice(NUMBERS) if changed else like.made[name]
                continue
            base = f"b{list(parameters).index(name)}"
            if "type" in what and parameter.role == "data" and self.random.random() < 0.5:
                parameter = self.other_type(parameter)
            array = self.values(parameter, sizes, counts)
            bases[base], made[name] = array, base
            if "strides" in what and self.random.random() < 0.6:
                bases[base], made[name] = self.laid_out(array, base)
        if "aliasing" in what:
            alias = self.aliased(parameters, made, sizes)
            if any("shared" in text for text in alias.values()):
                shape = self.concrete(parameters[next(iter(alias))].form, sizes)
                bases["shared"] = self.numbers((shape[0] + 1, *shape[1:]), parameters[next(iter(alias))].dtype)
            made.update(alias)
        return Call(bases, made, f"{', '.join(sorted(what)) or 'record'}; n={sizes[0]}, m={sizes[1]}")

    def variations(self):
        """The variations of one further call."""
        return {"data", *self.random.sample(VARIATIONS, self.random.choice([1, 1, 2, 2, 3]))}
