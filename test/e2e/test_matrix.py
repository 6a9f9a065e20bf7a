"""The op matrix: op x dtype x shape class, on every way to run an op, bit for bit, and against NumPy within the op's error.

The rows come from the generated table `tracec._ops`. Per row: eager is compared with NumPy, then checked replay on the
best section with one and two threads, on v3 and on the portable section is compared with eager. Here each row is an op
alone, which at the default level runs as its library kernel; test_matrix_compiled.py compiles it, test_matrix_files.py
runs it from a file. After the first replay of a rank and 1-ness class nothing may compile.
"""

import numpy as np
import pytest

import matrix_cases
import tracec as tc
from checks import to_numpy
from matrix_checks import ROW_NAMES, ROWS, check_replays, eager_results
from tracec._ops import OPS

SECONDS_ALLOWED = 240


@pytest.mark.parametrize("section", ["v3", "avx512"])
def test_this_machine_runs(section):
    """What the whole matrix leaves out on a lesser machine is one visible skip per level."""
    if section not in tc.stats.runnable_sections():
        pytest.skip(f"this machine cannot run {section}: no row of the matrix ran on it")


@pytest.mark.parametrize("op, dtype", ROWS, ids=ROW_NAMES)
def test_row(op, dtype):
    info = OPS[op]
    for driver in matrix_cases.drivers(op, info, dtype):
        results = eager_results(driver, info)
        assert max(sum(one.size for one in result) for result in results) > 0
        check_replays(driver, results, lambda *ran: None)


def test_every_op_and_dtype_is_in_the_matrix():
    assert {info.family for info in OPS.values()} <= set(matrix_cases.FAMILIES)
    assert len(ROWS) == sum(len(info.dtypes) for info in OPS.values()) and len(OPS) >= 36
    for op, dtype in ROWS:
        cases = [case for driver in matrix_cases.drivers(op, OPS[op], dtype) for case in driver.cases]
        assert len(cases) >= 5, (op, dtype)
        assert any("n" in sizes for case in cases for sizes in case.key), (op, dtype)
        largest = max(array.size for case in cases for array in case.arrays)
        assert largest >= 300_000 or OPS[op].family == "matmul" or (op == "arange" and np.dtype(dtype).itemsize <= 2), (op, dtype)


def test_time_budget(processor_seconds):
    """Last in the file: the whole matrix must fit in four minutes on two cores, whatever else the machine does."""
    assert processor_seconds() < SECONDS_ALLOWED
