"""Random programs: NumPy, eager, replays on each section and thread count, and files, all with the same bits.

Growing a program compares eager with NumPy line by line (see random_programs.py). Then the whole body runs eagerly and traced
over calls whose sizes change; results, arguments and captured tensors are compared bit for bit after each call. A call that
ends in an error must end in the same error and leave arguments and captures as they were. More programs:
`PYTHONPATH=$PYTHONPATH:test/python python test/e2e/test_random_programs.py FIRST COUNT`.
"""

import collections
import sys

import numpy as np
import pytest

import tracec as tc
from checks import bits_equal
from paths import is_runnable, level_of, runs_on_levels
from random_programs import ERRORS, PLANS, Program

CALLS = [0, 0, 1, 2, 0, 2]
# (section, threads, calls); every configuration has a record and at least three replays.
RUNS = [("portable", 1, CALLS), ("v3", 2, CALLS), ("avx512", 1, CALLS), ("best", 2, CALLS)]
SEEDS = range(200)
FILE_SEEDS = range(200, 260)
# Seeds that follow from the base seed of the run.
FRESH = 60
SECONDS_ALLOWED = 50

# (section, what) -> how often it ran in this process
RAN = collections.Counter()

Outcome = collections.namedtuple("Outcome", ["results", "arguments", "captured", "error"])


def values(tensors):
    return [np.array(one.numpy()) for one in tensors]


def first_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def separate(tensors):
    """The inputs of a file share nothing."""
    return [tc.tensor(tensor.numpy().copy()) for tensor in tensors]


def run_call(program, function, captured, call, prepare=list):
    """One call with fresh arguments; after an error captures are put back, as a replay leaves them."""
    arguments = prepare(program.tensors_of(call))
    before = values(captured.values())
    try:
        results, error = values(function(*arguments)), None
    except ERRORS as caught:
        results, error = [], first_line(caught)
    after = Outcome(results, values(arguments), values(captured.values()), error)
    if error:
        for tensor, value in zip(captured.values(), before):
            tensor[...] = tc.tensor(value)
    return after


def compare(program, got, want, where):
    for kind in ("results", "arguments", "captured"):
        one, other = getattr(got, kind), getattr(want, kind)
        assert len(one) == len(other), f"{where}: {len(one)} {kind}, eager {len(other)}\n{program.listing()}"
        for number, (left, right) in enumerate(zip(one, other)):
            assert bits_equal(left, right), f"{where}, {kind} {number}: {left!r}, eager {right!r}\n{program.listing()}"


def expected(program, calls):
    """Outcomes of eager calls in sequence, except that a call that ends in an error leaves arguments and captures as they were."""
    function, captured = program.function(lambda body: body)
    outcomes = []
    for call in calls:
        before = values(program.tensors_of(call)), values(captured.values())
        outcome = run_call(program, function, captured, call)
        outcomes.append(outcome if outcome.error is None else Outcome([], *before, outcome.error))
    return outcomes


def check_replays(program, runs=RUNS):
    wanted = expected(program, CALLS)
    for section, threads, calls in runs:
        if not is_runnable(section):
            continue
        function, captured = program.function(tc.trace)
        with tc.options(section=section, threads=threads):
            for number, (call, want) in enumerate(zip(calls, wanted)):
                where = f"seed {program.seed}, {section}, {threads} threads, call {number} (sizes {program.sizes[call]})"
                got = run_call(program, function, captured, call)
                assert got.error == want.error, f"{where}: {got.error}, eager {want.error}\n{program.listing()}"
                if want.error is None or not program.reads_values:
                    # A read in the body commits what was written before it, which `want` does not know.
                    compare(program, got, want, where)
        note_runs(function.stats(), section, runs_on_levels(function.stats()), f"seed {program.seed} on {section}")


def note_runs(stats, section, runs, where):
    """All runs were on the section; what they ran is added up."""
    assert set(runs) <= {level_of(section)}, f"{where}: ran on {runs}"
    for name in ("launches", "launches_replaced", "library_kernels"):
        RAN[section, name] += getattr(stats, name)


def class_of(program, call):
    """Which arguments' sizes are 1: a file serves one such class."""
    return [[size == 1 for size in one.shape] for one in values(program.tensors_of(call))]


def check_file(program, path):
    """Dump after a replay (if captures allow one), load, and compare with eager calls that start from the same captures. Returns calls compared."""
    function, captured = program.function(tc.trace)
    eager, eager_captured = program.function(lambda body: body)
    first = next(call for call, outcome in enumerate(expected(program, [0, 1, 2])) if outcome.error is None)
    recorded = []
    for outcome in expected(program, [first, first]):
        if outcome.error is None:
            # Kept until the dump, whose test vector needs them.
            recorded.append(program.tensors_of(first))
            function(*recorded[-1])
            eager(*program.tensors_of(first))
    function.dump(path)
    compared = 0
    for section in ("portable", "v3", "avx512", "best"):
        if not is_runnable(section):
            continue
        model = tc.load(path, section=section)
        state = {name: value for name, value in zip(eager_captured, values(eager_captured.values()))}
        for call in (0, 1, 2, 0):
            if class_of(program, call) != class_of(program, first):
                continue
            where = f"seed {program.seed}, file on {section}, call sizes {program.sizes[call]}"
            arguments, before = separate(program.tensors_of(call)), values(program.tensors_of(call))
            want = run_call(program, eager, eager_captured, call, separate)
            try:
                results, error = model(*arguments), None
            except ERRORS as caught:
                results, error = (), first_line(caught)
            results = results if isinstance(results, tuple) else (results,)
            assert error == want.error, f"{where}: {error}, eager {want.error}\n{program.listing()}"
            # Written arguments are further results of a file, which never writes its inputs.
            compare(program, Outcome(values(results)[: len(want.results)], values(arguments), [], error),
                    Outcome(want.results, before, [], None), where)
            compared += 1
        note_runs(model.stats(), section, runs_on_levels(model.stats()), f"seed {program.seed}, file on {section}")
        for name, value in state.items():
            eager_captured[name][...] = tc.tensor(value)
    return compared


@pytest.mark.parametrize("seed", SEEDS)
def test_program(seed):
    check_replays(Program(seed).grow())


@pytest.mark.parametrize("number", range(FRESH))
def test_fresh_program(number, base_seed):
    check_replays(Program(base_seed + number).grow())


@pytest.mark.parametrize("seed", FILE_SEEDS)
def test_file(seed, tmp_path):
    program = Program(seed).grow()
    try:
        compared = check_file(program, tmp_path / "program.trc")
    except ValueError as error:
        # Python may read arguments and captures, but nothing that the body computes.
        assert program.reads_values and "host read" in str(error), error
    else:
        assert compared > 0


def test_programs_reach_every_kind_of_line():
    """The suite proves little if programs stay short or all candidates are refused."""
    programs = [Program(seed).grow() for seed in list(SEEDS) + list(FILE_SEEDS)]
    text = "\n".join(line for program in programs for line in program.lines)
    for part in ("tc.exp", "tc.where", ".astype", "::-1", "+=", "*=", ".sum(", ".mean(", ".max(", ".reshape(", ".transpose(",
                 "tc.concat", " @ ", "tc.arange", "tc.full", "tc.cond_take", "keepdims", "None", ".numpy()", "broadcast_to"):
        assert part in text, part
    assert sum(len(program.lines) for program in programs) > 6 * len(programs)
    assert sum(program.agreed_errors for program in programs) > len(programs) / 2
    assert {tuple(program.sizes) for program in programs} >= {tuple(plan) for plan in PLANS[:4]}


def test_the_programs_ran_on_every_section():
    """After the programs: native sections launched kernels and replaced few, the portable one launched none."""
    for section in ("portable", "v3", "avx512", "best"):
        if not is_runnable(section) or level_of(section) == "portable":
            assert RAN[section, "launches"] == 0
            continue
        launches, replaced = RAN[section, "launches"], RAN[section, "launches_replaced"]
        assert launches > 500 and replaced < launches / 4, f"{section}: {launches} launches, {replaced} replaced"
    assert RAN["portable", "library_kernels"] > 1000


def test_time_budget(processor_seconds):
    assert processor_seconds() < SECONDS_ALLOWED


def main(first, count):
    """Run many seeds; prints one block per fault."""
    import pathlib
    import tempfile
    import traceback

    faults = compared = 0
    with tempfile.TemporaryDirectory() as folder, np.errstate(all="ignore"):
        for seed in range(first, first + count):
            print(f"# seed {seed}", file=sys.stderr, flush=True)
            try:
                program = Program(seed).grow()
                check_replays(program)
                if seed % 3 == 0 and not program.reads_values:
                    compared += check_file(program, pathlib.Path(folder) / "program.trc")
            except Exception:
                faults += 1
                print(f"=== seed {seed}\n{traceback.format_exc(limit=-2)}", flush=True)
    print(f"{count} programs, {compared} file calls compared, {faults} faults")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
