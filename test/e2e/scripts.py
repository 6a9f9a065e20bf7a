"""A program as plain text and data: what the random programs are, what the shrinker cuts, what a person can run.

Usage: `script = Script(parameters=["x"], lines=["y = x * 2"], outputs=["y"], calls=[Call({"b0": array}, {"x": "b0"})])`,
`function, captured = script.function(tc.trace)`, `function(*script.arguments(0))`, `print(script.text())`.

A call says how its arguments are made: `bases` are arrays, `made` has one expression over their tensors per parameter (views,
the same tensor twice, Python numbers), so that calls differ in data, sizes, strides, aliasing and numbers.
"""

import dataclasses

import numpy as np

import tracec as tc
# Arrays of more than eight times this size repeat their first elements.
PATTERN = 257


@dataclasses.dataclass
class Call:
    bases: dict
    made: dict
    what: str = ""


@dataclasses.dataclass
class Script:
    parameters: list
    lines: list
    outputs: list
    calls: list
    captured: dict = dataclasses.field(default_factory=dict)
    # The `dynamic` argument of dump() as text, or None.
    dynamic: str = "None"

    @property
    def source(self):
        # An in-place operator assigns to the name, which must be the captured one.
        lines = [f"global {', '.join(self.captured)}"] * bool(self.captured) + self.lines
        body = "".join(f"    {line}\n" for line in lines)
        return f"def body({', '.join(self.parameters)}):\n{body}    return ({''.join(name + ', ' for name in self.outputs)})\n"

    @property
    def reads_values(self):
        """True if Python reads values in the body: each read commits, and such a trace cannot be dumped."""
        return any(".numpy()" in line for line in self.lines)

    def function(self, wrap):
        """(wrapped body, captured tensors): a fresh function with captures of its own."""
        captured = {name: tc.tensor(array) for name, array in self.captured.items()}
        names = {"tc": tc, "np": np, **captured}
        exec(compile(self.source, "<program>", "exec"), names)
        return wrap(names["body"]), captured

    def arguments(self, call):
        """Fresh (arguments, base tensors) of a call."""
        names = {"tc": tc, "np": np}
        bases = {name: tc.tensor(array) for name, array in self.calls[call].bases.items()}
        names.update(bases)
        made = []
        for name in self.parameters:
            # A later parameter may be an expression over an earlier one.
            names[name] = eval(self.calls[call].made[name], names)
            made.append(names[name])
        return made, list(bases.values())

    def evaluated_dynamic(self):
        return eval(self.dynamic, {"tc": tc})

    def text(self, path):
        """The program as a script that shows eager's results beside those of a replay or a file."""
        lines = ["import numpy as np", "import tracec as tc", "nan, inf = float('nan'), float('inf')", ""]
        lines += [f"{name} = {tensor_text(array)}" for name, array in self.captured.items()]
        lines += ["", self.source]
        for number, call in enumerate(self.calls):
            lines.append(f"def call_{number}():  # {call.what}")
            lines += [f"    {name} = {tensor_text(array)}" for name, array in call.bases.items()]
            lines += [f"    {name} = {call.made[name]}" for name in self.parameters]
            lines.append(f"    return [{', '.join(self.parameters)}]\n")
        options = dict(calls=len(self.calls), section=path.section, threads=path.threads, opt_level=path.opt_level, targets=path.targets,
                       dynamic=self.dynamic if path.dynamic else None)
        # A file is dumped after two calls of its record.
        use = USE.replace("{calls}", "1") + USE_FILE if path.kind == "file" else USE
        return "\n".join(lines) + use.format(**options)


# What a printed program does: each call eagerly, then on the path that failed.
USE = """def show(function, arguments):
    try:
        print("   ", function(*arguments))
    except Exception as error:
        print("   ", repr(error))
    print("    arguments", arguments, "captured", [globals()[name] for name in captures])


captures = {{name: value.numpy().copy() for name, value in globals().items() if isinstance(value, tc.Tensor)}}
with tc.options(section="{section}", threads={threads}):
    traced = tc.trace(body, opt_level={opt_level})
    for function in (body, traced):
        globals().update({{name: tc.tensor(value) for name, value in captures.items()}})
        for number in [0, 0, *range(1, {calls})]:
            print("eager" if function is body else "traced", "call", number)
            show(function, globals()[f"call_{{number}}"]())
"""

USE_FILE = """
    traced.dump("/tmp/program.trc", targets={targets!r}, dynamic={dynamic})
    print(tc.load("/tmp/program.trc").signature)
    for number in range({calls}):
        # A file's inputs share nothing.
        arguments = [tc.tensor(one.numpy().copy()) for one in globals()[f"call_{{number}}"]() if isinstance(one, tc.Tensor)]
        print("file call", number)
        show(tc.load("/tmp/program.trc", section="{section}"), arguments)
"""


def tensor_text(array):
    """An expression that makes the tensor."""
    pattern = array.reshape(-1)[:PATTERN]
    if array.size > PATTERN and np.array_equal(array, np.resize(pattern, array.shape), equal_nan=array.dtype.kind == "f"):
        return tensor_text(pattern).replace("tc.tensor(", "tc.tensor(np.resize(", 1)[:-1] + f", {array.shape}))"
    text = np.array2string(array, separator=",", threshold=10**6, floatmode="unique", max_line_width=10**6).replace("\n", "")
    if array.dtype == bool:
        text = text.replace(" ", "")
    if 0 in array.shape:
        return f"tc.tensor(np.zeros({array.shape}, '{array.dtype}'))"
    return f"tc.tensor(np.array({text}, '{array.dtype}'))"
