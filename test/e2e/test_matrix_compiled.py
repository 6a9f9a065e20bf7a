"""The op matrix with each op compiled: at opt_level 0 every op is a kernel of its own, and none may fall back unseen.

A row whose op has no kernel of its own says why in dialects/trace/IR/TraceOps.td (`noKernel`); it is checked to have none
and counted as skipped with that reason.
"""

import functools

import pytest

import matrix_cases
import tracec as tc
from checks import to_numpy
from matrix_checks import ROW_NAMES, ROWS, RUNS, check_replays
from paths import is_runnable
from tracec._ops import OPS

SECONDS_ALLOWED = 300
NATIVE_RUNS = [run for run in RUNS if run[0] != "portable"]
# Families whose rows are nothing but the op, so that no library kernel may run beside the compiled one.
LONE_FAMILIES = ("elementwise", "compare", "logical", "select", "cast", "reduce")


def check_path(info, case, launches, replaced, library, where):
    """What a replay of the row may run."""
    if all(array.ndim == 0 for array in case.arrays):
        # A number costs less than a launch.
        assert launches == replaced == 0, f"{where}: {launches} launches"
        return
    assert launches > 0 and replaced == 0, f"{where}: {launches} kernels ran, {replaced} were replaced by their ops"
    if info.family in LONE_FAMILIES and not info.is_composite:
        # One of the casts, to the operand's own dtype, is a copy when the operand is strided.
        copies = 1 if info.family == "cast" else 0
        assert library <= copies, f"{where}: {library} library kernels ran beside the compiled ones"


@pytest.mark.skipif(not is_runnable("v3"), reason="this machine runs no compiled kernels")
@pytest.mark.parametrize("op, dtype", ROWS, ids=ROW_NAMES)
def test_compiled_row(op, dtype):
    info = OPS[op]
    shared = 0
    for driver in matrix_cases.drivers(op, info, dtype):
        results = [[to_numpy(one) for one in driver.body(*case.tensors)] for case in driver.cases]
        check = (lambda *ran: None) if info.no_kernel else functools.partial(check_path, info)
        shared += check_replays(driver, results, check, opt_level=0, runs=NATIVE_RUNS)
    if info.no_kernel:
        pytest.skip(f"{op} has no kernel of its own: {info.no_kernel}")
    assert shared > 0, "no loop was shared by two threads"


def test_a_fused_chain():
    """Several ops in one kernel over all shape classes, at the default level."""
    driver = matrix_cases.Driver(
        "chain",
        lambda x, y: (tc.tanh(x * y + 1) - tc.exp(y) / 3,),
        matrix_cases.same_shape_cases(["float32", "float32"], special=False),
        None,
    )
    results = [[to_numpy(one) for one in driver.body(*case.tensors)] for case in driver.cases]
    assert check_replays(driver, results, functools.partial(check_path, OPS["add"]), runs=NATIVE_RUNS) > 0


def ops_in_groups(text):
    """Names of the ops inside trace.group regions of the fused stage."""
    names, depth = set(), None
    for line in text.splitlines():
        words, indent = line.split(), len(line) - len(line.lstrip())
        if depth is not None and indent <= depth and line.strip().startswith("}"):
            depth = None
        elif depth is not None:
            names |= {word.removeprefix("trace.") for word in words if word.startswith("trace.")}
        elif "trace.group" in words:
            depth = indent
    return names


@pytest.mark.parametrize("op", [op for op, info in OPS.items() if not info.is_composite])
def test_the_reason_for_no_kernel_is_true(op):
    """An op is compiled alone if and only if its record does not say why not."""
    inside = set()
    for driver in matrix_cases.drivers(op, OPS[op], OPS[op].dtypes[0]):
        function = tc.trace(driver.body, opt_level=0)
        function(*max(driver.cases, key=lambda case: case.arrays[0].ndim).tensors)
        inside |= {name.split("[")[0] for name in ops_in_groups(function.lowered("fused"))}
    assert (op in inside) == (OPS[op].no_kernel is None), f"in groups: {inside}; noKernel is {OPS[op].no_kernel!r}"


def test_time_budget(processor_seconds):
    """Last in the file."""
    assert processor_seconds() < SECONDS_ALLOWED
