"""The op matrix: op x dtype x shape class, on every way to run an op, bit for bit, and against NumPy within the op's error.

The rows come from the generated table `tracec._ops`. Per row: eager is compared with NumPy, then checked replay on the
best section with one and two threads, on v3 and on the portable section is compared with eager. A loaded file is compared
per op, with all dtypes of the op in one file. After the first replay of a rank and 1-ness class nothing may compile.
"""

import numpy as np
import pytest

import matrix_cases
import tracec as tc
from checks import bits_equal, to_numpy
from tracec._ops import OPS

ROWS = [(op, dtype) for op, info in OPS.items() for dtype in info.dtypes]
# (section, threads, whether replay on it may compile at all beyond what an earlier entry compiled)
RUNS = [("best", 1, True), ("best", 2, False), ("v3", 1, True), ("portable", 1, False)]
SECONDS_ALLOWED = 240


def ulps_apart(got, want):
    """Distance in units in the last place of the dtype; 0 for two NaNs, huge for a NaN against a number."""
    signed = {2: np.int16, 4: np.int32, 8: np.int64}[got.dtype.itemsize]

    def ordered(x):
        bits = np.ascontiguousarray(x).view(signed).astype(np.float128)
        return np.where(bits < 0, np.float128(np.iinfo(signed).min) - bits, bits)

    apart = np.abs(ordered(got) - ordered(want))
    nans = np.isnan(got).astype(int) + np.isnan(want).astype(int)
    return np.where(nans == 2, 0, np.where(nans == 1, np.inf, apart))


def check_against_numpy(got, want, ulp, where):
    """`want` is an array, to be met within `ulp`, or (array, absolute error allowed per element)."""
    want, allowed = want if isinstance(want, tuple) else (np.asarray(want), None)
    assert got.dtype == want.dtype, f"{where}: dtype {got.dtype}, NumPy {want.dtype}"
    assert got.shape == want.shape, f"{where}: shape {got.shape}, NumPy {want.shape}"
    if got.dtype.kind != "f" or (ulp == 0 and allowed is None):
        assert bits_equal(got, want), f"{where}: {describe_difference(got, want)}"
        return
    if allowed is None:
        assert (ulps_apart(got, want) <= ulp).all(), f"{where}: {ulps_apart(got, want).max()} ulp; {describe_difference(got, want)}"
        return
    near = np.abs(got.astype(np.longdouble) - want.astype(np.longdouble)) <= allowed
    assert (near | (got == want) | (np.isnan(got) & np.isnan(want))).all(), f"{where}: {describe_difference(got, want)}"


def describe_difference(got, want):
    """The first place that differs and both values."""
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype} {got.shape} against {want.dtype} {want.shape}"
    for place in np.ndindex(got.shape):
        if not bits_equal(got[place], want[place]):
            return f"at {place}: {got[place]!r} against {want[place]!r}"
    return "no difference"


def check_bits(got, want, where):
    got = [one.numpy() for one in got]
    assert len(got) == len(want), f"{where}: {len(got)} results against {len(want)}"
    for number, (one, other) in enumerate(zip(got, want)):
        assert bits_equal(one, other), f"{where}, result {number}: {describe_difference(one, other)}"


def eager_results(driver, info):
    """Eager results of all cases as arrays, each checked against NumPy."""
    results = []
    for case in driver.cases:
        got = [to_numpy(one) for one in driver.body(*case.tensors)]
        wanted = driver.reference(*case.arrays)
        assert len(got) == len(wanted)
        for number, (one, want) in enumerate(zip(got, wanted)):
            check_against_numpy(one, want, info.ulp, f"{driver.name} {case.name}, result {number}")
        results.append(got)
    return results


def by_class(driver, results):
    """Case and result lists grouped by rank and 1-ness class, in order of first appearance."""
    classes = {}
    for case, result in zip(driver.cases, results):
        classes.setdefault(case.key, []).append((case, result))
    return classes


def check_replays(driver, results):
    """Replay all cases on every section; count compiles per class."""
    function = tc.trace(driver.body)
    compiled_something = False
    for section, threads, may_compile in RUNS:
        with tc.options(section=section, threads=threads):
            for key, members in by_class(driver, results).items():
                before = tc.stats.compile_count()
                # Twice: the first call of a class may record, the second one certainly replays.
                for case, result in members[:1] * 2:
                    check_bits(function(*case.tensors), result, f"{driver.name} {case.name} on {section}, {threads} threads")
                after_first = tc.stats.compile_count()
                compiled_something |= after_first > before
                assert may_compile or after_first == before, f"{driver.name} {key}: {section}, {threads} threads compiled again"
                for case, result in members[1:]:
                    check_bits(function(*case.tensors), result, f"{driver.name} {case.name} on {section}, {threads} threads")
                    assert tc.stats.compile_count() == after_first, f"{driver.name} {case.name} on {section} compiled; class {key} was known"
    assert function.state == "compiled"
    return compiled_something


@pytest.mark.parametrize("op, dtype", ROWS, ids=[f"{op}-{dtype}" for op, dtype in ROWS])
def test_row(op, dtype):
    info = OPS[op]
    for driver in matrix_cases.drivers(op, info, dtype):
        results = eager_results(driver, info)
        assert max(sum(one.size for one in result) for result in results) > 0
        check_replays(driver, results)


def file_class(driver):
    """The class of the driver with most cases: that is what its file serves."""
    classes = by_class(driver, [None] * len(driver.cases))
    key = max(classes, key=lambda key: (len(classes[key]), "n" in str(key)))
    return [case for case, _ in classes[key]]


@pytest.mark.parametrize("op", OPS)
def test_file(op, tmp_path):
    """One file per op with every dtype in it; run from the file on each section, on all cases of one class."""
    info = OPS[op]
    per_dtype = [matrix_cases.drivers(op, info, dtype) for dtype in info.dtypes]
    # The driver with the largest class, the same one for each dtype.
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

    function = tc.trace(body)
    calls = [[tensor for case in cases for tensor in case.tensors] for cases in zip(*columns)]
    assert len(calls) >= 2
    for _ in range(2):
        function(*calls[0])
    path = tmp_path / f"{op}.trc"
    function.dump(path)
    loaded = tc.load(path)
    compiled = tc.stats.compile_count()
    for number, arguments in enumerate(calls):
        expected = [to_numpy(one) for one in body(*arguments)]
        for section, threads, _ in RUNS:
            with tc.options(section=section, threads=threads):
                result = loaded(*arguments)
            # One output comes as a tensor, several as a tuple.
            result = result if len(expected) > 1 else (result,)
            assert isinstance(result, tuple)
            check_bits(result, expected, f"{op} from a file, call {number}, on {section}, {threads} threads")
    assert tc.stats.compile_count() == compiled


def test_fused_elementwise_rows_compile():
    """The matrix would prove little if replay never compiled: this structure is new, so it must."""
    driver = matrix_cases.Driver(
        "chain",
        lambda x, y: (tc.tanh(x * y + 1) - tc.exp(y) / 3,),
        matrix_cases.same_shape_cases(["float32", "float32"], special=False),
        None,
    )
    results = [[to_numpy(one) for one in driver.body(*case.tensors)] for case in driver.cases]
    assert check_replays(driver, results)


def test_every_op_and_dtype_is_in_the_matrix():
    assert {info.family for info in OPS.values()} <= set(matrix_cases.FAMILIES)
    assert len(ROWS) == sum(len(info.dtypes) for info in OPS.values()) and len(OPS) >= 36
    for op, dtype in ROWS:
        cases = [case for driver in matrix_cases.drivers(op, OPS[op], dtype) for case in driver.cases]
        assert len(cases) >= 5, (op, dtype)
        assert any("n" in sizes for case in cases for sizes in case.key), (op, dtype)
        largest = max(array.size for case in cases for array in case.arrays)
        assert largest >= 300_000 or OPS[op].family == "matmul" or (op, dtype) in (("arange", "uint8"), ("arange", "float16")), (op, dtype)


def test_time_budget(processor_seconds):
    """Last in the file: the whole matrix must fit in four minutes on two cores, whatever else the machine does."""
    assert processor_seconds() < SECONDS_ALLOWED
