"""Every record of TraceOps.td has what the layers above the runtime need of it; a failure names what is missing and where.

Type rules, library kernels and decompositions: test/unit/registry.
"""

import pathlib

import pytest

import matrix_cases
import tracec as tc
from matrix_checks import check_against_numpy
from checks import to_numpy
from paths import launches_between, needs_kernels
from tracec._ops import OPS

DOCS = (pathlib.Path(__file__).parents[2] / "docs/ops.md").read_text()
RECORD = "dialects/trace/IR/TraceOps.td"


def small_case(op, info):
    """A case of the op's last driver with a few thousand elements at most, in the op's last dtype."""
    driver = matrix_cases.drivers(op, info, info.dtypes[-1])[-1]
    sizes = {case: sum(array.size for array in case.arrays) for case in driver.cases}
    return driver, max((case for case in sizes if sizes[case] < 10_000), key=sizes.get)


def oracle_problem(op, info):
    try:
        driver, case = small_case(op, info)
        wanted = driver.reference(*case.arrays)
    except (AttributeError, KeyError, TypeError) as error:
        return f"no oracle: name a NumPy function in {RECORD}, or add a reference to test/e2e/matrix_cases.py ({error!r})"
    for got, want in zip(driver.body(*case.tensors), wanted, strict=True):
        check_against_numpy(to_numpy(got), want, info.ulp, op)
    return None


def lowering_problem(op, info):
    if info.is_composite or info.no_kernel:
        return None
    driver, case = small_case(op, info)
    function = tc.trace(driver.body, opt_level=0)
    function(*case.tensors)
    before = function.stats()
    function(*case.tensors)
    launches, replaced, _ = launches_between(before, function.stats())
    if launches > 0 and replaced == 0:
        return None
    return f"no lowering: add it to lib/Conversion/TraceToKernel, or say why as noKernel in {RECORD}"


def problems(op, info):
    found = []
    if info.gradient not in ("rule", "decomposition", "none"):
        found.append(f"no gradient marker in {RECORD}")
    if f"| `{op}` |" not in DOCS or not info.summary:
        found.append("no row in docs/ops.md: run tools/gen-ops")
    found.append(oracle_problem(op, info))
    if not found[-1]:
        found.append(lowering_problem(op, info))
    return [problem for problem in found if problem]


@needs_kernels
@pytest.mark.parametrize("op", OPS)
def test_record_is_complete(op):
    assert not problems(op, OPS[op])


@needs_kernels
def test_what_is_missing_is_named():
    exp, matmul = OPS["exp"], OPS["matmul"]
    assert problems("exp", exp._replace(gradient="")) == [f"no gradient marker in {RECORD}"]
    assert problems("exp", exp._replace(summary="")) == ["no row in docs/ops.md: run tools/gen-ops"]
    assert problems("sin", exp)[0] == "no row in docs/ops.md: run tools/gen-ops"
    assert "no oracle" in problems("exp", exp._replace(numpy="no_such_function"))[0]
    assert "no oracle" in problems("exp", exp._replace(family="transform"))[0]
    assert "no lowering" in problems("matmul", matmul._replace(no_kernel=None))[0]
