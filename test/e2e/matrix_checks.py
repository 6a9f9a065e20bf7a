"""How the op matrix compares results and replays drivers; what the rows are is in matrix_cases.py."""

import numpy as np

import tracec as tc
from checks import bits_equal, is_float, to_numpy
from paths import is_runnable, launches_between, level_of, runs_between
from tracec._ops import OPS

ROWS = [(op, dtype) for op, info in OPS.items() for dtype in info.dtypes]
ROW_NAMES = [f"{op}-{dtype}" for op, dtype in ROWS]
# (section, threads, whether a replay on it may compile at all beyond what an earlier entry compiled)
RUNS = [run for run in [("best", 1, True), ("best", 2, False), ("v3", 1, True), ("portable", 1, False)] if is_runnable(run[0])]


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
    if not is_float(got) or (ulp == 0 and allowed is None):
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


def check_class(function, driver, members, section, threads, check_path):
    """Replays a class of cases: the first one twice, since its first call may record; after that nothing may compile."""
    for number, (case, result) in enumerate(members[:1] + members):
        before, compiled = function.stats(), tc.stats.compile_count()
        where = f"{driver.name} {case.name} on {section}, {threads} threads"
        check_bits(function(*case.tensors), result, where)
        if number < 2:
            compiled = tc.stats.compile_count()
        assert tc.stats.compile_count() == compiled, f"{where} compiled; class {case.key} was known"
        if number:
            after = function.stats()
            assert set(runs_between(before, after)) == {level_of(section)}, f"{where}: ran on {runs_between(before, after)}"
            launches, replaced, library = launches_between(before, after)
            assert section != "portable" or launches == replaced == 0, f"{where}: {launches} compiled kernels"
            check_path(case, launches, replaced, library, where)


def check_replays(driver, results, check_path, opt_level=2, runs=RUNS):
    """Replays all cases on every section and compares them with `results` bit for bit.

    `check_path(case, launches, replaced, library kernels, where)` judges each replay by what it ran. Returns the number of loops
    that two threads shared.
    """
    function = tc.trace(driver.body, opt_level=opt_level)
    shared = 0
    for section, threads, may_compile in runs:
        with tc.options(section=section, threads=threads):
            loops = tc.stats.shared_loops()
            for key, members in by_class(driver, results).items():
                compiled = tc.stats.compile_count()
                check_class(function, driver, members, section, threads, check_path)
                assert may_compile or tc.stats.compile_count() == compiled, f"{driver.name} {key}: {section}, {threads} threads compiled again"
            shared += tc.stats.shared_loops() - loops
    assert function.state == "compiled"
    return shared
