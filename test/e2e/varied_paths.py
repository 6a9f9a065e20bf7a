"""One program on one path, call by call: every result is eager's bit for bit, or the call is refused and changed nothing.

Usage: `check(script, Path("replay", section="v3"), counts)`; raises Disagreement, whose `kind` says what was wrong.
"""

import collections
import dataclasses
import re

import numpy as np

import tracec as tc
from checks import bits_equal

ERRORS = (ValueError, TypeError, IndexError, OverflowError, tc.TraceError)


class Disagreement(AssertionError):
    """`kind`: "value", "refused" (without reason), "error", "commit", "signature", "path" or "bug"; `where`: path and call."""

    def __init__(self, kind, where, text):
        super().__init__(f"{kind} on {where}: {text}")
        self.kind, self.where, self.text = kind, where, text


@dataclasses.dataclass(frozen=True)
class Path:
    """`kind`: "replay" or "file". `dynamic`: dump with the program's named dims."""

    kind: str
    section: str = "best"
    threads: int = 1
    opt_level: int = 2
    dynamic: bool = False
    # Whether results are written after the call, to see what they share memory with.
    write_results: bool = False
    # Whether the last call, which may fail, is the recorded one and call 0 the last one.
    backwards: bool = False

    @property
    def targets(self):
        """Of the dump: what the section needs and no more."""
        return {"portable": (), "v3": "cpu:x86-64-v3", "avx512": "cpu:x86-64-v4"}.get(self.section, "cpu")

    @property
    def section_name(self):
        """What the runtime calls the section."""
        section = tc.stats.runnable_sections()[-1] if self.section == "best" else self.section
        return {"v3": "x86-64-v3", "avx512": "x86-64-v4"}.get(section, section)

    def __str__(self):
        parts = [self.kind, self.section, f"{self.threads} threads", f"opt_level {self.opt_level}"]
        return " ".join(parts + ["dynamic"] * self.dynamic + ["results written"] * self.write_results + ["backwards"] * self.backwards)


Outcome = collections.namedtuple("Outcome", ["results", "arguments", "captured", "error"])


def values(tensors):
    return [np.array(one.numpy()) for one in tensors if isinstance(one, tc.Tensor)]


def first_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def write_through(results):
    """Write each result; what a write does to the others and to the arguments shows what shares memory."""
    for number, result in enumerate(results):
        try:
            result[...] = number + 2
        except ERRORS:
            pass


def run(function, captured, arguments, bases, write_results=False):
    """The outcome of one call. `arguments` in the outcome are the bases, which show every write."""
    try:
        results, error = function(*arguments), None
        read = values(results)
        if write_results:
            write_through(results)
            read += values(results)
    except ERRORS as caught:
        read, error = [], first_line(caught)
    return Outcome(read, values([*bases, *arguments]), values(captured.values()), error)


def restore(captured, arrays):
    for tensor, array in zip(captured.values(), arrays):
        tensor[...] = tc.tensor(array)


def difference(got, want):
    """What differs between two lists of arrays, or None."""
    if len(got) != len(want):
        return f"{len(got)} values, eager {len(want)}"
    for number, (one, other) in enumerate(zip(got, want)):
        if not bits_equal(one, other):
            return f"number {number}: {one.dtype}{one.shape} {one!r}, eager {other.dtype}{other.shape} {other!r}"
    return None


def is_refusal(error):
    return error is not None and error.startswith("TraceError")


def check_outcome(got, want, before, where, may_refuse):
    """Compare; `before`: (arguments, captured) as they were. Returns True if the call was refused."""
    refused = is_refusal(got.error) and not is_refusal(want.error)
    if refused and not may_refuse:
        raise Disagreement("refused", where, got.error)
    if not refused and got.error != want.error:
        raise Disagreement("error", where, f"{got.error}, eager {want.error}")
    if got.error is not None:
        # Nothing may be committed.
        want = Outcome([], *before, None)
    for kind, name in (("results", "value"), ("arguments", "commit"), ("captured", "commit")):
        text = difference(getattr(got, kind), getattr(want, kind))
        if text:
            raise Disagreement(name, where, f"{kind} {text}" + (f" after {got.error}" if got.error else ""))
    return refused


def has_ops(traced):
    return traced.stats().ops > 0


def check_replays(script, path, counts):
    """Record call 0, replay it, then the other calls, then call 0 again; or all calls backwards and forwards."""
    eager, eager_captured = script.function(lambda body: body)
    traced, captured = script.function(lambda body: tc.trace(body, opt_level=path.opt_level))
    others = list(range(1, len(script.calls)))
    order = [*reversed(others), 0, *others] if path.backwards else [0, 0, *others, 0]
    finished = {}
    for number, call in enumerate(order):
        where = f"{path}, call {number} ({script.calls[call].what or call})"
        arguments, bases = script.arguments(call)
        before = values([*bases, *arguments]), values(captured.values())
        want = run(eager, eager_captured, *script.arguments(call), path.write_results)
        replays = traced.stats().replays
        got = run(traced, captured, arguments, bases, path.write_results)
        is_replay = traced.stats().replays > replays
        if script.reads_values and want.error is not None:
            # What was written before a read is committed; which writes those are eager does not tell.
            if got.error != want.error and not is_refusal(got.error):
                raise Disagreement("error", where, f"{got.error}, eager {want.error}")
            return
        # A call that recorded or was replayed may not be refused with the same arguments and captured values.
        known = number == 0 or call in finished and difference(before[1], finished[call]) is None
        refused = check_outcome(got, want, before, where, may_refuse=not known)
        if want.error is not None or refused:
            restore(eager_captured, before[1])
        else:
            finished[call] = before[1]
        if not path.backwards and number == 1 and want.error is None and not refused and not is_replay and has_ops(traced):
            raise Disagreement("path", where, "the second call of the same arguments was no replay")
        what = "refused" if refused else "error" if want.error else "replayed" if is_replay else "recorded"
        counts["replay", what] += 1
        counts["replay", "other " + what] += call != 0
    stats = traced.stats()
    if not set(stats.runs_by_section) <= {path.section_name}:
        raise Disagreement("path", str(path), f"replays ran on {stats.runs_by_section}")
    counts["path", str(path)] += 1
    counts["launches", path.section, path.opt_level] += stats.launches
    counts["launches replaced",] += stats.launches_replaced


def run_file(model, arguments, count, write_results):
    """(outcome, further outputs) of a file's call; a file has no captures and its results share nothing with its inputs or state."""
    try:
        results, error = model(*arguments), None
        results = results if isinstance(results, tuple) else (results,)
        read = values(results)
        if write_results:
            write_through(results)
    except ERRORS as caught:
        read, error = [], first_line(caught)
    return Outcome(read[:count], values(arguments), [], error), read[count:]


def tensors_apart(arguments):
    """Arguments that share nothing, as a file's inputs are."""
    return [tc.tensor(one.numpy().copy()) if isinstance(one, tc.Tensor) else one for one in arguments]


def is_file_refusal(error):
    """Whether a file refused an input or sizes for which the recorded function takes another way; other errors are an op's."""
    return error is not None and re.search(r"TC0106 |TC\d+ input '", error) is not None


def check_file(script, path, folder, counts):
    """Dump after a record and a replay of call 0; run all calls from the file, whose inputs share nothing."""
    traced, captured = script.function(lambda body: tc.trace(body, opt_level=path.opt_level))
    eager, eager_captured = script.function(lambda body: body)
    for _ in range(2):
        arguments, bases = script.arguments(0)
        if run(traced, captured, arguments, bases).error is not None:
            counts["file", "call 0 fails"] += 1
            return
        run(eager, eager_captured, *script.arguments(0))
    name = folder / "program.trc"
    try:
        traced.dump(name, targets=path.targets, dynamic=script.evaluated_dynamic() if path.dynamic else None)
    except (ValueError, tc.TraceError) as error:
        counts["file", "no dump"] += 1
        counts["no dump", str(error).splitlines()[0][:90]] += 1
        return
    except ERRORS as error:
        # Arguments of the recorded call shared memory; with data of their own eager must fail alike.
        want = run(eager, eager_captured, tensors_apart(script.arguments(0)[0]), []).error
        if "recorded the function once more" not in "".join(getattr(error, "__notes__", [])) or want != first_line(error):
            raise Disagreement("dump", str(path), f"{first_line(error)}, eager {want}") from error
        counts["file", "no dump"] += 1
        return
    model = tc.load(name, section=path.section)
    inputs = [entry for entry in model.signature.inputs if not entry.is_state]
    tensors = [one for one in script.arguments(0)[0] if isinstance(one, tc.Tensor)]
    if len(inputs) != len(tensors):
        raise Disagreement("signature", str(path), f"{len(inputs)} inputs {[entry.name for entry in inputs]} for {len(tensors)} tensor parameters")
    for number, call in enumerate([0, *range(1, len(script.calls)), 0]):
        where = f"{path}, call {number} ({script.calls[call].what or call})"
        arguments = script.arguments(call)[0]
        # Python numbers are part of the file.
        wanted = [other if isinstance(one, tc.Tensor) else one for one, other in zip(script.arguments(0)[0], tensors_apart(arguments))]
        arguments = [one for one in arguments if isinstance(one, tc.Tensor)]
        before, state = values(arguments), values(eager_captured.values())
        want = run(eager, eager_captured, wanted, [])
        got, more = run_file(model, tensors_apart(arguments), len(script.outputs), path.write_results)
        refused = got.error is not None and (want.error is None or is_file_refusal(got.error))
        if refused and call == 0 and difference(state, list(script.captured.values())) is None:
            raise Disagreement("refused", where, got.error)
        if not refused and got.error != want.error:
            raise Disagreement("error", where, f"{got.error or 'no error'}, eager {want.error}")
        text = difference(got.results, want.results if got.error is None else [])
        if text:
            raise Disagreement("value", where, f"results {text}")
        text = difference(got.arguments, before)
        if text:
            raise Disagreement("commit", where, f"arguments {text}")
        if got.error is None:
            written = [one for one, other in zip(want.arguments, before) if not bits_equal(one, other)]
            lost = [one for one in written if not any(bits_equal(one, other) for other in more)]
            if lost:
                raise Disagreement("value", where, f"further outputs {more!r} lack what was written, {lost!r}")
        else:
            restore(eager_captured, state)
        what = "refused" if refused else "error" if want.error else "ran"
        counts["file", what] += 1
        counts["file", "other " + what] += call != 0
    stats = model.stats()
    if stats.section != path.section_name:
        raise Disagreement("path", str(path), f"the file ran on {stats.section}")
    counts["path", str(path)] += 1
    counts["launches", path.section, path.opt_level] += stats.launches


def check(script, path, folder, counts):
    """See the module."""
    try:
        with tc.options(section=path.section, threads=path.threads):
            shared = tc.stats.shared_loops()
            if path.kind == "replay":
                check_replays(script, path, counts)
            else:
                check_file(script, path, folder, counts)
            counts["shared loops", path.kind] += tc.stats.shared_loops() - shared
    except (RuntimeError, MemoryError, OSError, tc.CompileError, tc.LoadError) as error:
        # No program may cause one of these.
        raise Disagreement("bug", str(path), first_line(error)) from error
