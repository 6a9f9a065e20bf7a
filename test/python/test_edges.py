"""The places where one more or one less, a half or the last one shows: bounds of indices, ends of constants, late axes."""

import numpy as np
import pytest

import tracec as tc
from checks import INTEGER_DTYPES, UNSIGNED_DTYPES, assert_same
from paths import is_runnable, really_on

SECTIONS = ["portable", "v3", "avx512"]


@pytest.fixture(params=SECTIONS)
def section(request):
    if not is_runnable(request.param):
        pytest.skip(f"this machine cannot run {request.param}")
    return request.param


@pytest.mark.parametrize("dtype", INTEGER_DTYPES)
@pytest.mark.parametrize("opt_level", [0, 2])
def test_the_first_index_beyond_either_end_is_refused(section, dtype, opt_level, tmp_path):
    """The last good index and the first bad one, alone and at the end of many."""
    size = 120 if dtype == "int8" else 200
    x = tc.arange(size, dtype=tc.float32)

    def body(x, at):
        return x[at] * 2 + 1

    lowest = 0 if dtype in UNSIGNED_DTYPES else -size
    good = [[lowest], [size - 1], [0] * 99 + [size - 1], [size - 1] * 99 + [lowest]]
    bad = [[size], [0] * 99 + [size]] + ([] if dtype in UNSIGNED_DTYPES else [[-size - 1], [0] * 99 + [-size - 1]])
    function = tc.trace(body, opt_level=opt_level)
    tensors = [tc.tensor(np.array(at, dtype)) for at in good + bad]
    function(x, tensors[2])
    function(x, tensors[2])
    function.dump(tmp_path / "m.trc")
    model = tc.load(tmp_path / "m.trc", section=section)
    for number, at in enumerate(tensors):
        if number < len(good):
            with really_on(function, section):
                for _ in range(2):
                    assert_same(function(x, at), body(x, at), f"{at.tolist()}")
            if at.shape[0] > 1:
                assert_same(model(x, at), body(x, at), f"{at.tolist()} from the file")
            continue
        outside = at.tolist()[-1]
        with tc.options(section=section):
            for run in (body, function, model) if at.shape[0] > 1 else (body, function):
                with pytest.raises(IndexError, match=f"index {outside} is out of range"):
                    run(x, at)


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("beyond", [2**63, 2**64 - 1])
def test_an_index_beyond_int64_is_out_of_range(section, beyond, opt_level, tmp_path):
    """And never the last element, which its bits would mean in int64."""
    x = tc.arange(5, dtype=tc.float32)

    def body(x, at):
        return x[at] * 2 + 1

    function = tc.trace(body, opt_level=opt_level)
    good, bad = (tc.tensor(np.array([0, 4, last], "uint64")) for last in (3, beyond))
    function(x, good)
    function.dump(tmp_path / "m.trc")
    model = tc.load(tmp_path / "m.trc", section=section)
    with tc.options(section=section):
        for run in (body, function, model):
            assert_same(run(x, good), np.float32([1, 9, 7]))
            with pytest.raises(IndexError, match="out of range"):
                run(x, bad)

    def written(x, at):
        y = x.copy()
        y[at] = 0
        return y

    for run in (written, tc.trace(written, opt_level=opt_level)):
        with tc.options(section=section), pytest.raises(IndexError, match="out of range"):
            run(x, bad)


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("beyond", [2**63, 2**64 - 1])
def test_a_bound_beyond_int64_clamps(section, beyond, opt_level):
    def body(x, begin, end):
        y = x.copy()
        y[begin:end] = -1
        return x[begin:end] * 2, x[:end:2] + 1, y

    function = tc.trace(body, opt_level=opt_level)
    function(tc.ones(6), *(tc.tensor(np.array(bound, "uint64")) for bound in (1, 3)))
    with really_on(function, section):
        for size, begin, end in ((6, 1, 3), (6, 2, beyond), (6, beyond, beyond), (9, 3, beyond), (2, 0, beyond), (0, 1, beyond)):
            array = np.arange(size, dtype=np.float32)
            x = tc.tensor(array)
            written = array.copy()
            written[begin:end] = -1
            bounds = [tc.tensor(np.array(bound, "uint64")) for bound in (begin, end)]
            for run in (body, function):
                assert_same(run(x, *bounds), (array[begin:end] * 2, array[:end:2] + 1, written))


@pytest.mark.parametrize("then, now", [(0.0, -0.0), (1.0, np.nextafter(1.0, 2.0)), (float("nan"), 0.0), (1, 1.0), (True, 1), (2**40, 2**40 + 1)])
def test_constants_that_hardly_differ_are_noticed(then, now):
    value = [then]
    function = tc.trace(lambda x: x * value[0])
    x = tc.ones((3,), dtype="float64")
    for _ in range(3):
        assert_same(function(x), x * then)
    value[0] = now
    with pytest.raises(tc.TraceError, match="TC0208"):
        function(x)
    value[0] = then
    assert_same(function(x), x * then)


@pytest.mark.parametrize("place", [0, 49, 99])
def test_a_constant_array_that_differs_anywhere_is_noticed(place):
    array = np.arange(100, dtype="float32")
    function = tc.trace(lambda x: x + array)
    x = tc.ones((100,))
    for _ in range(3):
        assert_same(function(x), x + array)
    array[place] += 1
    with pytest.raises(tc.TraceError, match="TC0208"):
        function(x)


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_an_axis_of_size_one_is_told_apart_wherever_it_is(section, rank):
    """Broadcasting and reductions over an axis that is 1 in one call and more in the next."""
    def body(x, y):
        return x * 2 + y, (x + y).sum(axis=-1), (x * y).max(axis=tuple(range(rank)))

    function = tc.trace(body)
    shapes = [(3,) * rank] + [(3,) * axis + (1,) + (3,) * (rank - axis - 1) for axis in range(rank)]
    with tc.options(section=section):
        for _ in range(2):
            for left in shapes:
                for right in (shapes[0], left):
                    random = np.random.default_rng(len(left))
                    x, y = (tc.tensor(random.standard_normal(shape).astype("float32")) for shape in (left, right))
                    for _ in range(2):
                        assert_same(function(x, y), body(x, y), f"{left} and {right}")
