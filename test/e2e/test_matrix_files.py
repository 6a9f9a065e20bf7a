"""The op matrix from files: one file per op with all of its dtypes, loaded for each section and thread count.

At opt_level 0 the native sections hold a kernel per op, at the default level mostly calls of library kernels.
"""

import pytest

import matrix_cases
import tracec as tc
from checks import to_numpy
from matrix_checks import RUNS, by_class, check_bits
from paths import launches_between, really_on
from tracec._ops import OPS

SECONDS_ALLOWED = 120


def file_class(driver):
    """The class of the driver with most cases: that is what its file serves."""
    classes = by_class(driver, [None] * len(driver.cases))
    key = max(classes, key=lambda key: (len(classes[key]), "n" in str(key)))
    return [case for case, _ in classes[key]]


def one_body_for_all_dtypes(op):
    """The body and its calls: the driver with the largest class, the same one for each dtype."""
    info = OPS[op]
    per_dtype = [matrix_cases.drivers(op, info, dtype) for dtype in info.dtypes]
    place = max(range(len(per_dtype[0])), key=lambda i: len(file_class(per_dtype[0][i])))
    chosen = [drivers[place] for drivers in per_dtype]
    columns = [file_class(driver) for driver in chosen]
    widths = [len(cases[0].operands) for cases in columns]

    def body(*tensors):
        results, start = [], 0
        for driver, width in zip(chosen, widths):
            results += driver.body(*tensors[start : start + width])
            start += width
        return tuple(results)

    return body, [[tensor for case in cases for tensor in case.tensors] for cases in zip(*columns)]


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("op", OPS)
def test_file(op, opt_level, tmp_path):
    body, calls = one_body_for_all_dtypes(op)
    assert len(calls) >= 2
    function = tc.trace(body, opt_level=opt_level)
    for _ in range(2):
        function(*calls[0])
    path = tmp_path / f"{op}.trc"
    function.dump(path)
    compiled = tc.stats.compile_count()
    expected = [[to_numpy(one) for one in body(*arguments)] for arguments in calls]
    for section, threads, _ in RUNS:
        with tc.options(threads=threads):
            loaded = tc.load(path, section=section)
        before = loaded.stats()
        with really_on(loaded, section):
            for number, arguments in enumerate(calls):
                result = loaded(*arguments)
                # One output comes as a tensor, several as a tuple.
                result = result if len(expected[number]) > 1 else (result,)
                assert isinstance(result, tuple)
                check_bits(result, expected[number], f"{op} from a file, call {number}, on {section}, {threads} threads")
        launches, replaced, _ = launches_between(before, loaded.stats())
        assert section != "portable" or launches == 0, f"{op} on {section}: {launches} compiled kernels ran"
        needs_kernels = opt_level == 0 and section != "portable" and OPS[op].no_kernel is None
        assert launches > 0 or not needs_kernels, f"{op} on {section}: no compiled kernel ran"
        assert replaced == 0, f"{op} on {section}: {replaced} launches were replaced by their ops"
    assert tc.stats.compile_count() == compiled


def test_time_budget(processor_seconds):
    assert processor_seconds() < SECONDS_ALLOWED
