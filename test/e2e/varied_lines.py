"""Further lines of the random programs: views of views, writes through them, sizes as values, numbers, checks of unused values.

Usage: `VariedLines(program).any_line()`. Lines that only the record's sizes make legal are wanted, too.
"""

from random_lines import LINES, LineMaker

# How often each kind is chosen beside those of LINES.
VARIED = {
    "view": 14, "fitting_view": 8, "write_view": 14, "read_base": 5, "size_value": 6, "size_index": 4, "store_size": 3, "python_number": 6,
    "data_slice": 5, "hazard": 9, "squeeze_axis": 4, "permute": 3, "in_place_whole": 6, "repeat_write": 4, "captured_write": 4,
    "masked_pair": 3, "computed_mask": 4, "dead_check": 4,
}
# What is safe on large tensors: no line makes one out of two.
LARGE = ("binary", "scalar", "unary", "cast", "compare", "logical", "where", "slice", "mask", "set_slice", "set_mask", "in_place_part", "reduce",
         "read_base", "size_value", "computed_mask", "concat", "copy")


class VariedLines(LineMaker):
    def __init__(self, program):
        super().__init__(program)
        kinds = {**LINES, **VARIED, "read": 0.3}
        if program.errors:
            kinds.update(dict.fromkeys(("hazard", "dead_check", "masked_pair", "data_slice", "gather", "repeat_write"), 25))
        if program.is_large:
            kinds = {kind: kinds[kind] for kind in LARGE}
        # Each program likes some kinds and does without others, so that lines which belong together meet.
        self.kinds = list(kinds)
        self.weights = [weight * self.random.choice([0, 0.3, 1, 1, 5]) for weight in kinds.values()]

    def any_line(self):
        return self.line(self.random.choices(self.kinds, self.weights)[0])

    def constant(self, whole=False):
        numbers = self.program.numbers()
        if numbers and self.random.random() < 0.3:
            return self.random.choice(numbers)
        return super().constant(whole)

    # Indices and masks are parameters, so that every call has its own.

    def index_argument(self, sizes, shapes):
        names = self.program.of_role("index")
        if names and self.random.random() < 0.8:
            return names[0]
        return str(self.random.choice([[0], [0, 0], [-1, 0], [0, 1, 0], [1, 1, 1, 0]]))

    def mask_items(self, name):
        shapes = self.shapes(name)
        masks = [mask for mask in self.names(lambda array: array.dtype == bool and array.ndim > 0)
                 if all(shape[: len(mask_shape)] == mask_shape for mask_shape, shape in zip(self.shapes(mask), shapes))]
        if not masks:
            return f"{name} > 0" if self.random.random() < 0.5 else None
        mask = self.random.choice(masks)
        rest = len(shapes[0]) - len(self.shapes(mask)[0])
        items = [mask]
        if rest > 0 and self.random.random() < 0.4:
            items.append(self.slice_item(shapes) if self.random.random() < 0.6 else str(0))
        return ", ".join(items)

    # Views of views.

    def view_form(self, name):
        """A view of the variable, as text after its name."""
        rank = len(self.shapes(name)[0])
        forms = [".reshape(-1)", ".reshape(-1)", "[...]", ".reshape(1, -1)", ".reshape(-1, 1)", ".squeeze()", "[None]"]
        if rank:
            forms += ["[::-1]", "[1:]", "[:-1]", "[::2]", "[..., :2]", "[..., ::-1]", f"[{self.basic(name)}]", f"[{self.basic(name)}]",
                      "[:3]", "[..., 1:]", ".T"]
        if rank > 1:
            forms += ["[0]", "[:, 0]", "[-1]", ".reshape({0}.shape[0], -1)", "[:, :2].reshape(-1)", "[:, ::-1].reshape(-1)",
                      ".T.reshape(-1)", "[..., :3].reshape(-1)", ".swapaxes(0, -1)", ".reshape({0}.shape[1], -1)", "[1:].reshape(-1)"]
        return self.random.choice(forms).format(name)

    def view(self):
        name = self.pick()
        text = name + self.view_form(name)
        return f"{self.new()} = {text}"

    def fitting_view(self):
        """A part that is the whole of some axes in call 0: what NumPy makes a view there and a copy at other sizes, or the other way round."""
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        items = []
        for size in self.shapes(name)[0]:
            bound = max(size + self.random.choice([-1, 0, 0, 0, 1]), 0)
            step = max(size - self.random.choice([0, 0, 1]), 1)
            items.append(self.random.choice([":", ":", f":{bound}", f":{bound}", f"::{step}", f"{max(size - 2, 0)}:"]))
        new, part = self.new(), f"{name}[{', '.join(items)}]"
        shape = self.random.choice([".reshape(-1)", ".reshape(-1)", ".reshape(-1)", ".T.reshape(-1)", f".reshape({part}.shape[-1], -1)", ".reshape(1, -1)", ""])
        use = self.random.choice([f"{new} {self.operator()} {self.constant()}", f"{new}[...] = {self.constant()}", f"{new}[:1] = {self.constant()}",
                                  f"{name} {self.operator()} {self.constant()}"])
        return f"{new} = {part}{shape}; {use}"

    def write_view(self):
        """A write through a view of a variable, mostly one that has views itself."""
        name = self.pick()
        form = self.view_form(name)
        value = self.constant() if self.random.random() < 0.5 else self.pick()
        if self.random.random() < 0.4:
            return f"{name}{form}[...] = {value}"
        new = self.new()
        return f"{new} = {name}{form}; {new} {self.operator()} {value}"

    def read_base(self):
        """A use of an early variable after later ones were written."""
        name = self.random.choice(self.program.variables()[:3])
        return f"{self.new()} = {self.random.choice(['{} * 2', '{}.sum()', '{}.copy()', '-{}', '{}.sum(axis=0)', '{}.max()']).format(name)}"

    # Sizes and numbers.

    def size(self):
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        axis = self.random.choice([0, 0, -1])
        return self.random.choice([f"{name}.shape[{axis}]", f"{name}.shape[{axis}]", f"{name}.size"])

    def size_value(self):
        """A size as a value, or as a Python number that decides or counts."""
        size, name = self.size(), self.pick()
        form = self.random.choice([
            "{0} + {1}", "{0} * ({1} - 1)", "{1} - {0}", "{0} / {1}", "{0} < {1}", "tc.full((2,), {1}, dtype=tc.uint8) + {0}",
            "tc.maximum({0}, {1} * 100)", "tc.where({0} > {1}, {0}, {1})", "tc.full(({1},), {1}, dtype=tc.float32)",
            "{0} * 2 if {1} > 3 else {0} + 1", "{0} * int({1})", "{0} + sum(range({1}))", "{0}.reshape(-1)[int({1} == 2) :]"])
        return size and f"{self.new()} = {form.format(name, size)}"

    def store_size(self):
        size, name = self.size(), self.pick()
        scale = self.random.choice(["", " * 100", " - 1", " * 2 + 1"])
        return size and f"{name}[{self.random.choice(['...', '...', '0', ':1'])}] = {size}{scale}"

    def size_index(self):
        size, name = self.size(), self.pick(lambda array: array.ndim > 0)
        if size is None or name is None:
            return None
        form = self.random.choice(["{0}[:{1} // 2]", "{0}[{1} - 1]", "{0}[{1} - 2:]", "{0}[:{1}]", "{0}[-{1}:]", "{0}.reshape({1}, -1)",
                                   "tc.arange({1}, dtype=tc.int32)", "{0}[:{1} - 1].sum(axis=0)"])
        return f"{self.new()} = {form.format(name, size)}"

    def python_number(self):
        numbers = self.program.numbers()
        if not numbers:
            return None
        name, number = self.pick(), self.random.choice(numbers)
        form = self.random.choice(["v = {0} * {1}", "v = {1} - {0}", "{0}[...] = {1}", "{0} += {1}", "v = {0} == {1}", "v = {0}[int({1} == 0):]",
                                   "v = {0} * 2 if {1} == 2 else {0} * 3"])
        return form.replace("v = ", f"{self.new()} = ").format(name, number)

    def data_slice(self):
        bounds = self.program.of_role("bound")
        name = self.pick(lambda array: array.ndim > 0)
        if not bounds or name is None:
            return None
        form = self.random.choice(["{0}[:{1}]", "{0}[{1}:]", "{0}[{1}]", "{0}[..., :{1}]", "{0}[:{1}].reshape(-1)", "{0}[{1}:{1} + 2]",
                                   "{0}[:{1}:-1]", "{0}[..., :{1}].reshape(-1)"])
        new, text = self.new(), form.format(name, bounds[0])
        if self.random.random() < 0.3:
            return f"{text}[...] = {self.constant()}" if "reshape" in text else f"{text} = {self.constant()}"
        return f"{new} = {text}" + (f"; {new} += 1" if self.random.random() < 0.3 else "")

    # Shapes.

    def squeeze_axis(self):
        name = self.pick(lambda array: array.ndim > 0)
        rank = len(self.shapes(name)[0]) if name else 0
        ones = [axis for axis in range(rank) if self.shapes(name)[0][axis] == 1] if name else []
        return ones and f"{self.new()} = {name}.squeeze(axis={self.random.choice(ones)})" or name and f"{self.new()} = {name}.squeeze()"

    def permute(self):
        name = self.pick(lambda array: array.ndim > 1)
        if name is None:
            return None
        rank = len(self.shapes(name)[0])
        return f"{self.new()} = {name}.transpose({', '.join(map(str, self.random.sample(range(rank), rank)))})"

    # Writes.

    def in_place_whole(self):
        name, value = self.pick(), self.pick()
        return f"{name} {self.operator()} {value}"

    def repeat_write(self):
        name = self.pick(lambda array: array.ndim > 0)
        index = self.index_argument(None, None)
        value = self.constant() if self.random.random() < 0.4 else self.pick()
        return name and self.random.choice([f"{name}[{index}] = {value}", f"{name}[{index}] += {value}", f"{name}[..., {index}] = {value}"])

    def captured_write(self):
        names = list(self.program.captured)
        if not names:
            return None
        name = self.random.choice(names)
        value = self.constant() if self.random.random() < 0.5 else self.pick()
        return self.random.choice([f"{name} += {value}", f"{name}[...] = {value}", f"{name}.reshape(-1)[0] = {self.constant()}", f"{self.new()} = {name}.copy()",
                                   f"{name}[:1] = {value}", f"{self.new()} = {name} * 1"])

    # Counts.

    def computed_mask(self):
        name = self.pick(lambda array: array.ndim > 0)
        return name and f"{self.new()} = {name}[{name} {self.random.choice(['> 0', '< 1', '!= 0', '== 1'])}]"

    def masked_pair(self):
        name = self.pick(lambda array: array.ndim > 0)
        items = name and self.mask_items(name)
        other = name and self.pick()
        if not items:
            return None
        return self.random.choice([f"{self.new()} = {name}[{items}] + {other}", f"{name}[{items}] = {other}", f"{self.new()} = tc.concat([{name}[{items}], {name}])",
                                   f"{self.new()} = {name}[{items}].squeeze()", f"{self.new()} = {name}[{items}].reshape(-1)"])

    # Checks that other calls may fail.

    def hazard(self):
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        index, other = self.index_argument(None, None), self.pick()
        masks = self.program.of_role("mask")
        mask = self.random.choice(masks) if masks else f"{name} > 0"
        form = self.random.choice([
            "v = {0}[{1}]", "v = {0}[{1}] * 2", "v = {0}[{2}].max()", "v = {0}[{2}] + {3}", "v = {0}.reshape(3, -1)", "v = {0}.reshape(2, -1)",
            "v = ({0}[..., {1}] * 2).sum()", "v = {0}[:0][..., {1}].sum()", "v = {0}.max(axis=0)", "v = {0}[0]", "v = {0}[2]", "v = {0} + {3}",
            "{0}[{1}] = {3}", "v = {0}[{2}].mean(axis=0)", "v = {0}[{2}].max(axis=0)", "v = {0}[{2}][{1}]", "v = {0}[{2}][0]", "v = {0}[{2}].reshape(2, -1)"])
        return form.replace("v = ", f"{self.new()} = ").format(name, index, mask, other)

    def dead_check(self):
        """A check whose value nobody uses, then something else."""
        line = self.hazard()
        return line and "v" in line.split(" = ")[0] and f"{line}; {self.new()} = {self.pick()} * 2" or line
