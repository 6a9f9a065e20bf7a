"""Lines of the random programs: each maker writes one statement in terms of variables that exist.

Usage: `LineMaker(program).line("slice")`. LINES says how often each kind is chosen. A line may be wrong on purpose or by chance;
the program finds out by running it on NumPy.
"""

import math

import numpy as np

from checks import FLOAT_DTYPES, INTEGER_DTYPES, integer_range
from reference_arrays import Reference

LINES = {
    "binary": 12, "scalar": 8, "unary": 5, "cast": 5, "compare": 6, "logical": 2, "where": 4, "slice": 8, "gather": 6, "mask": 6,
    "set_slice": 6, "set_gather": 4, "set_mask": 6, "incr": 3, "in_place": 5, "in_place_part": 6, "reduce": 9, "reshape": 5, "axes": 5,
    "broadcast": 2, "concat": 4, "matmul": 4, "create": 3, "cond_take": 2, "alias": 1, "copy": 1, "read": 1,
}


class LineMaker:
    def __init__(self, program):
        self.program = program
        self.random = program.random
        self.counter = 0

    def line(self, kind):
        """A statement of that kind, or None if no variable fits."""
        return getattr(self, kind)()

    # Variables.

    def new(self):
        self.counter += 1
        return f"v{self.counter}"

    def names(self, test=lambda array: True):
        """Variables that pass the test in each call; recent ones count twice."""
        worlds = [reference for reference, _ in self.program.worlds]
        names = [name for name in self.program.variables() if all(test(world.names[name].array) for world in worlds)]
        return names + names[-4:]

    def pick(self, test=lambda array: True):
        names = self.names(test)
        return self.random.choice(names) if names else None

    def arrays(self, name):
        """The reference arrays of a variable, one per call."""
        return [reference.names[name].array for reference, _ in self.program.worlds]

    def shapes(self, name):
        return [array.shape for array in self.arrays(name)]

    def fitting(self, shapes, test=lambda array: True):
        """A variable that broadcasts with these shapes, mostly; any other to see the error, or None."""
        fit = [name for name in self.names(test)
               if all(broadcasts(one, other) for one, other in zip(self.shapes(name), shapes))]
        if self.random.random() < 0.06:
            fit = [name for name in self.names(test) if all(math.prod(shape) < 100 for shape in self.shapes(name))]
        return self.random.choice(fit) if fit else None

    def constant(self, whole=False):
        choices = ["2", "3", "-1", "0", "7", "1", "True", "False", "300"]
        if not whole:
            choices += ["0.5", "1.5", "-2.0", "1e-3", "float('nan')", "3.0", "np.float32(1.25)", "np.int64(3)"]
        return self.random.choice(choices)

    # Pointwise.

    def binary(self):
        left = self.pick()
        right = self.fitting(self.shapes(left))
        if right is None:
            return None
        form = self.random.choice(["{} + {}", "{} - {}", "{} * {}", "{} / {}", "tc.maximum({}, {})", "tc.minimum({}, {})"])
        return f"{self.new()} = " + form.format(left, right)

    def scalar(self):
        operands = [self.pick(), self.constant()]
        self.random.shuffle(operands)
        form = self.random.choice(["{} + {}", "{} - {}", "{} * {}", "{} / {}", "tc.maximum({}, {})", "tc.minimum({}, {})"])
        return f"{self.new()} = " + form.format(*operands)

    def unary(self):
        form = self.random.choice(["-{}", "tc.exp({})", "tc.tanh({})", "tc.sqrt({})", "tc.square({})", "tc.logical_not({})"])
        operand = self.pick(lambda array: array.dtype == bool) if "not" in form else self.pick()
        return operand and f"{self.new()} = {form.format(operand)}"

    def dtype(self):
        return f"tc.{self.program.dtype()}"

    def cast(self):
        return f"{self.new()} = {self.pick()}.astype({self.dtype()})"

    def compare(self):
        left = self.pick()
        right = self.constant() if self.random.random() < 0.5 else self.fitting(self.shapes(left))
        return right and f"{self.new()} = {left} {self.random.choice(['<', '<=', '>', '>=', '==', '!='])} {right}"

    def logical(self):
        left = self.pick(lambda array: array.dtype == bool)
        right = left and self.fitting(self.shapes(left), lambda array: array.dtype == bool)
        return right and f"{self.new()} = tc.logical_{self.random.choice(['and', 'or'])}({left}, {right})"

    def where(self):
        condition = self.pick(lambda array: array.dtype == bool)
        left = condition and self.fitting(self.shapes(condition))
        if left is None:
            return None
        joint = [np.broadcast_shapes(*pair) if broadcasts(*pair) else () for pair in zip(self.shapes(condition), self.shapes(left))]
        right = self.constant() if self.random.random() < 0.4 else self.fitting(joint)
        return right and f"{self.new()} = tc.where({condition}, {left}, {right})"

    # Indexing.

    def bound(self, sizes):
        """A slice bound as text: a number, a size or a tensor."""
        choice = self.random.random()
        if choice < 0.35:
            return ""
        if choice < 0.9:
            return str(self.random.randint(-4, 5))
        if choice < 0.95:
            name = self.pick(lambda array: array.ndim > 0)
            return f"{name}.shape[0] - 1" if name else ""
        return self.pick(lambda array: array.ndim == 0 and array.dtype.kind in "iu") or ""

    def slice_item(self, sizes):
        step = self.random.choice(["", "", "", "2", "-1", "-1", "-2", "3", "7"])
        return f"{self.bound(sizes)}:{self.bound(sizes)}" + (f":{step}" if step else "")

    def basic_items(self, rank, sizes):
        """Items for the leading axes; an int mostly inside the smallest size."""
        items = []
        for axis in range(self.random.randint(1, rank) if rank else 0):
            smallest = min(shape[axis] for shape in sizes)
            if self.random.random() < 0.25 and (smallest or self.random.random() < 0.1):
                last = smallest if self.random.random() < 0.05 else max(smallest - 1, 0)
                items.append(str(self.random.randint(-smallest, last)))
            else:
                items.append(self.slice_item(sizes))
        if self.random.random() < 0.15:
            items.insert(self.random.randint(0, len(items)), "None")
        if not items or self.random.random() < 0.15:
            items.insert(self.random.randint(0, len(items)), "...")
        return items

    def basic(self, name):
        shapes = self.shapes(name)
        return ", ".join(self.basic_items(len(shapes[0]), shapes))

    def slice(self):
        name = self.pick()
        return f"{self.new()} = {name}[{self.basic(name)}]"

    def index_argument(self, sizes, shapes):
        """A new argument with legal indices: `sizes` and `shapes` per call."""
        dtype = self.random.choice(("int64", "int64", "int32") + INTEGER_DTYPES)
        arrays = []
        for size, shape in zip(sizes, shapes):
            low, high = integer_range(dtype, size)
            arrays.append(np.asarray(self.program.data.integers(low, max(high, low + 1), shape)).astype(dtype))
        if self.random.random() < 0.06 and arrays[-1].size:
            # One bad index, in the last call only: mostly the error of a replay.
            arrays[-1].reshape(-1)[-1] = min(sizes[-1], np.iinfo(dtype).max)
        return self.program.add_argument(arrays)

    def gather_items(self, name):
        """Integer arrays, slices and ints over the axes, or None."""
        shapes = self.shapes(name)
        rank = len(shapes[0])
        if rank == 0 or any(0 in shape for shape in shapes):
            return None
        form = self.random.choice([(), (3,), (4,), (2, 1), (2, 3), ("n",), (1,)])
        counts = [tuple(self.program.sizes[call][0] if size == "n" else size for size in form) for call in range(len(shapes))]
        items, used = [], False
        for axis in range(self.random.randint(1, rank)):
            kind = self.random.random()
            sizes = [shape[axis] for shape in shapes]
            if kind < 0.55 or not used and axis == rank - 1:
                items.append(self.index_argument(sizes, counts))
                used = True
            elif kind < 0.65:
                items.append(str(self.random.randint(-min(sizes), min(sizes) - 1)))
            elif kind < 0.7:
                items.append(str([self.random.randint(0, min(sizes) - 1) for _ in range(counts[0][-1] if len(form) == 1 and form != ("n",) else 1)]))
            else:
                items.append(self.slice_item(shapes))
        if self.random.random() < 0.15:
            items.insert(self.random.randint(0, len(items)), "None")
        return ", ".join(items)

    def gather(self):
        name = self.pick()
        items = self.gather_items(name)
        return items and f"{self.new()} = {name}[{items}]"

    def mask_items(self, name):
        """A mask over leading axes, perhaps after a slice and before an int, or None."""
        shapes = self.shapes(name)

        def leads(mask_shapes, skip):
            return all(mask and shape[skip : skip + len(mask)] == mask for mask, shape in zip(mask_shapes, shapes))

        skip = self.random.choice([0, 0, 0, 1])
        masks = [mask for mask in self.names(lambda array: array.dtype == bool) if leads(self.shapes(mask), skip)]
        if not masks:
            # A new mask argument for the first axes.
            rank = len(shapes[0])
            if rank <= skip:
                return None
            end = self.random.randint(skip + 1, rank)
            masks = [self.program.add_argument([self.program.array(shape[skip:end], "bool") for shape in shapes])]
        mask = self.random.choice(masks)
        items = [self.slice_item(shapes)] * skip + [mask]
        rest = skip + len(self.shapes(mask)[0])
        if rest < len(shapes[0]) and self.random.random() < 0.4:
            items.append(self.slice_item(shapes) if self.random.random() < 0.6 else str(0))
        return ", ".join(items)

    def mask(self):
        name = self.pick(lambda array: array.ndim > 0)
        items = name and self.mask_items(name)
        return items and f"{self.new()} = {name}[{items}]"

    # Writes.

    def stored(self, name, items):
        """Something to write into name[items]."""
        choice = self.random.random()
        if choice < 0.4:
            return self.constant()
        try:
            selected = [reference.names[name].array[eval(f"np.s_[{items}]", plain(reference.names))].shape
                        for reference, _ in self.program.worlds]
        except (IndexError, ValueError, TypeError):
            return self.constant()
        fit = [other for other in self.names()
               if all(np.broadcast_shapes(one, other_shape) == one if broadcasts(one, other_shape) else False
                      for one, other_shape in zip(selected, self.shapes(other)))]
        return self.random.choice(fit) if fit and choice < 0.95 else self.pick()

    def store(self, name, items):
        return items and f"{name}[{items}] = {self.stored(name, items)}"

    def set_slice(self):
        name = self.pick()
        items = self.basic(name)
        if self.random.random() < 0.2:
            # Overlapping source and target.
            return f"{name}[{self.random.choice(['1:] = {0}[:-1]', '::-1] = {0}', ':-1] = {0}[1:]', ':] = {0}[::-1]'])}".format(name)
        return self.store(name, items)

    def set_gather(self):
        name = self.pick()
        return self.store(name, self.gather_items(name))

    def set_mask(self):
        name = self.pick(lambda array: array.ndim > 0)
        return name and self.store(name, self.mask_items(name))

    def incr(self):
        name = self.pick()
        items = self.random.choice([self.basic, self.gather_items, self.mask_items])(name)
        return items and f"{name}.incr(np.s_[{items}], {self.stored(name, items)})"

    def operator(self):
        return self.random.choice(["+=", "-=", "*=", "/="])

    def in_place(self):
        name = self.pick()
        value = self.constant() if self.random.random() < 0.4 else self.fitting(self.shapes(name))
        return value and f"{name} {self.operator()} {value}"

    def in_place_part(self):
        name = self.pick()
        makers = [self.basic, self.gather_items, self.mask_items]
        items = self.random.choice(makers)(name)
        return items and f"{name}[{items}] {self.operator()} {self.stored(name, items)}"

    # Reductions, shapes and the rest.

    def axis(self, rank, several=True):
        if rank == 0:
            return "None"
        choice = self.random.random()
        if choice < 0.25 and several:
            return "None"
        if choice < 0.4 and several and rank > 1:
            return str(tuple(self.random.sample(range(rank), self.random.randint(1, rank))))
        if choice < 0.43:
            return str(rank)
        return str(self.random.randint(-rank, rank - 1))

    def reduce(self):
        name = self.pick()
        keepdims = ", keepdims=True" if self.random.random() < 0.3 else ""
        function = self.random.choice(["sum", "sum", "mean", "max"])
        return f"{self.new()} = {name}.{function}(axis={self.axis(len(self.shapes(name)[0]))}{keepdims})"

    def reshape(self):
        name = self.pick()
        rank = len(self.shapes(name)[0])
        choices = ["-1", "1, -1", "-1, 1", "-1, 2", "3, -1"]
        if rank >= 1:
            choices += ["{0}.shape[0], -1", "{0}.shape[-1], -1", "{0}.shape"]
        if rank == 2:
            choices += ["{0}.shape[1], {0}.shape[0]", "{0}.shape[0] * {0}.shape[1]", "1, {0}.shape[0], {0}.shape[1]"]
        return f"{self.new()} = {name}.reshape({self.random.choice(choices).format(name)})"

    def axes(self):
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        rank = len(self.shapes(name)[0])
        order = self.random.sample(range(rank), rank)
        form = self.random.choice([
            ".T", f".transpose({', '.join(map(str, order))})", f".swapaxes({self.axis(rank, False)}, {self.axis(rank, False)})",
            f".expand_dims({self.axis(rank, False)})", ".squeeze()", f".flip({self.axis(rank)})"])
        return f"{self.new()} = {name}{form}"

    def broadcast(self):
        name = self.pick()
        other = self.fitting(self.shapes(name))
        return other and f"{self.new()} = {name}.broadcast_to(*{other}.shape)"

    def concat(self):
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        rank = len(self.shapes(name)[0])
        axis = self.random.randint(-rank, rank - 1)

        def joins(other):
            return all(len(one) == len(two) and all(a == b or i == axis % rank for i, (a, b) in enumerate(zip(one, two)))
                       for one, two in zip(self.shapes(name), self.shapes(other)))

        fit = [other for other in self.names() if joins(other)]
        parts = [name] + [self.random.choice(fit) for _ in range(self.random.randint(0, 2))]
        return f"{self.new()} = tc.concat([{', '.join(parts)}], {axis})"

    def matmul(self):
        left = self.pick(lambda array: array.ndim > 0)
        if left is None:
            return None

        def inner(shape):
            return shape[-1] if len(shape) == 1 else shape[-2]

        fit = [name for name in self.names(lambda array: array.ndim > 0)
               if all(one[-1] == inner(two) and math.prod(one) * math.prod(two) < 1_000_000
                      for one, two in zip(self.shapes(left), self.shapes(name)))]
        return fit and f"{self.new()} = {left} @ {self.random.choice(fit)}"

    def create(self):
        name = self.pick(lambda array: array.ndim > 0)
        if name is None:
            return None
        form = self.random.choice(["tc.arange({0}.shape[0], dtype={1})", "tc.full({0}.shape, {2}, dtype={1})",
                                   "tc.full(({0}.shape[0], 2), {2}, dtype={1})", "tc.arange(4, dtype={1})"])
        dtype = self.random.choice(("float32", "float64", "int32", "int64") + INTEGER_DTYPES + FLOAT_DTYPES)
        return f"{self.new()} = " + form.format(name, f"tc.{dtype}", self.random.choice(["0", "1", "7"]))

    def cond_take(self):
        mask = self.pick(lambda array: array.dtype == bool)
        fit = mask and [name for name in self.names() if self.shapes(name) == self.shapes(mask)]
        return fit and f"{self.new()}, {self.new()} = tc.cond_take({mask}, {self.random.choice(fit)})"

    def alias(self):
        return f"{self.new()} = {self.pick()}"

    def copy(self):
        return f"{self.new()} = {self.pick()}.copy()"

    def read(self):
        return f"_ = {self.pick()}.numpy()"


def broadcasts(one, other):
    """Whether shapes broadcast, to a result that is not huge."""
    try:
        return math.prod(np.broadcast_shapes(one, other)) < 100_000
    except ValueError:
        return False


def plain(names):
    """The variables as arrays, for eval of an index."""
    return {name: value.array if isinstance(value, Reference) else value for name, value in names.items()}
