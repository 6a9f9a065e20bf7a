"""A check that eager makes is made on every path: used or not, on empty data, the first error in program order, in one text.

Each case of check_cases.py is recorded with good data and called with bad data of other sizes, on every section at both ends of
opt_level, from its file and by tracert-run: the same exception type and first line as eager, and nothing is committed.
"""

import itertools
import os
import pathlib
import subprocess

import numpy as np
import pytest

import tracec as tc
from check_cases import CASES, floats
from checks import assert_same

SECTIONS = [section for section in ("portable", "v3", "avx512") if section in tc.stats.runnable_sections()]
ERRORS = (ValueError, TypeError, IndexError, OverflowError, tc.TraceError)
cases = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def tensors(arrays):
    return [tc.tensor(array) for array in arrays]


def call(function, arguments):
    """(results, None) or (None, the error)."""
    try:
        return function(*arguments), None
    except ERRORS as error:
        return None, error


def described(error):
    return error and (type(error), str(error).splitlines()[0])


def captured_of(case):
    return None if case.captured is None else tc.tensor(case.captured)


def eager_error(case):
    _, error = call(case.make(captured_of(case)), tensors(case.bad))
    assert type(error) is case.error, f"eager: {error!r}"
    return error


def check_fails_without_commit(case, function, captured, wanted):
    """A bad call raises what eager raises, and its writes are nowhere."""
    arguments = tensors(case.bad)
    before = None if captured is None else captured.numpy().copy()
    _, error = call(function, arguments)
    assert described(error) == described(wanted)
    assert_same(arguments, list(case.bad))
    if captured is not None:
        assert_same(captured, before)


@cases
def test_recording(case):
    captured = captured_of(case)
    function = tc.trace(case.make(captured))
    check_fails_without_commit(case, function, captured, eager_error(case))
    assert function.state == "untraced"


@pytest.mark.parametrize("section, opt_level", list(itertools.product(SECTIONS, (0, 2))))
@cases
def test_replay(case, section, opt_level):
    wanted = eager_error(case)
    eager_captured, captured = captured_of(case), captured_of(case)
    eager, function = case.make(eager_captured), tc.trace(case.make(captured), opt_level=opt_level)
    with tc.options(section=section):
        for _ in range(2):
            assert_same(function(*tensors(case.good)), eager(*tensors(case.good)))
        assert function.state == "compiled"
        for _ in range(2):
            check_fails_without_commit(case, function, captured, wanted)
            assert_same(function(*tensors(case.good)), eager(*tensors(case.good)))
            if captured is not None:
                assert_same(captured, eager_captured)


def fails_later(how):
    """A body whose op fails on bad data, and which then ends in another way when `how` says so."""
    captured = tc.tensor([1.0, 2.0])

    def body(x, i):
        captured[0] = 5.0
        y = x[i] * 2
        captured[1] += 1.0
        if how["ends"] == "raise":
            raise KeyError("of the body")
        if how["ends"] == "convert":
            return tc.zeros(object())
        if how["ends"] == "diverge":
            return y / 3
        if how["ends"] == "sizes":
            return y + x.reshape(7)
        return y * x.sum()

    return body, captured


@pytest.mark.parametrize("ends", ["raise", "convert", "diverge", "sizes", "well"])
def test_an_earlier_error_wins_over_whatever_ends_the_call(ends):
    how = {"ends": "well"}
    body, captured = fails_later(how)
    function = tc.trace(body)
    good, bad = [tc.tensor([1.0, 2.0, 3.0]), tc.tensor([0, 2])], [tc.tensor([1.0, 2.0, 3.0]), tc.tensor([0, 3])]
    for _ in range(2):
        function(*good)
    before = captured.numpy().copy()
    how["ends"] = ends
    _, wanted = call(body, bad)
    captured[...] = tc.tensor(before)
    _, error = call(function, bad)
    assert isinstance(wanted, IndexError)
    assert described(error) == described(wanted)
    assert_same(captured, before)
    how["ends"] = "well"
    function(*good)


def test_recording_commits_at_a_host_read_and_an_excluded_region():
    x = tc.tensor([1.0, 2.0, 3.0])

    def body(i):
        x[0] = 10.0
        x.sum().item()
        x[1] = 20.0
        with tc.exclude_from_trace():
            assert x.tolist()[:2] == [10.0, 20.0]
            x[2] = 30.0
        x[0] = -1.0
        return x[i]

    function = tc.trace(body)
    with pytest.raises(IndexError):
        function(tc.tensor(3))
    assert x.tolist() == [10.0, 20.0, 30.0]
    assert function(tc.tensor(2)).item() == 30.0
    assert x.tolist() == [-1.0, 20.0, 30.0]


@pytest.fixture
def dumped(tmp_path):
    def dump(case):
        function = tc.trace(case.make(captured_of(case)))
        function(*tensors(case.good))
        function(*tensors(case.good))
        path = tmp_path / "model.trc"
        function.dump(path)
        return path

    return dump


@cases
def test_file(case, dumped):
    path, wanted = dumped(case), eager_error(case)
    for section in SECTIONS:
        model = tc.load(path, section=section)
        arguments = tensors(case.bad)
        good = model(*tensors(case.good))
        model = tc.load(path, section=section)
        _, error = call(model, arguments)
        assert described(error) == described(wanted), section
        assert_same(arguments, list(case.bad))
        # A session whose call failed has the state it had before.
        assert_same(model(*tensors(case.good)), good)


def test_sizes_below_zero_mean_what_ints_mean(tmp_path):
    def body(x):
        count = x[x > 0].shape[0]
        return tc.arange(count - 2).sum() + x, x.reshape(count - 2, 4) * 2

    function = tc.trace(body)
    good, none, one = tc.tensor([1.0, 2.0, 3.0, 0.0]), tc.tensor([-1.0, -2.0, -3.0, -4.0]), tc.tensor([-1.0, -2.0, 7.0, -4.0])
    for _ in range(2):
        assert_same(function(good), body(good))
    assert_same(function(one), body(one))
    _, wanted = call(body, [none])
    assert described(call(function, [none])[1]) == described(wanted)
    function.dump(tmp_path / "model.trc")
    for section in SECTIONS:
        model = tc.load(tmp_path / "model.trc", section=section)
        assert_same(model(one), body(one))
        assert described(call(model, [none])[1]) == described(wanted)


def test_a_file_takes_sizes_that_broadcast(tmp_path):
    def body(x, y):
        z = x * y  # noqa: F841
        return (x + y)[2] * 2, x[:1] - y

    function = tc.trace(body)
    for _ in range(2):
        function(tc.ones(4), tc.ones(4))
    function.dump(tmp_path / "model.trc")
    for section in SECTIONS:
        model = tc.load(tmp_path / "model.trc", section=section)
        for one, other in ((floats(1), floats(4)), (floats(4), floats(1)), (floats(7), floats(7))):
            assert_same(model(*tensors([one, other])), body(*tensors([one, other])))


@cases
def test_tracert_run(case, dumped, tmp_path):
    tool = pathlib.Path(os.environ.get("TRACEC_BUILD", "build/dev")) / "bin" / "tracert-run"
    arguments = []
    for number, array in enumerate(case.bad):
        np.save(tmp_path / f"{number}.npy", np.asarray(array))
        arguments += ["--input", f"@{tmp_path / f'{number}.npy'}"]
    done = subprocess.run([tool, "run", dumped(case), *arguments], capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    message = str(eager_error(case)).splitlines()[0]
    text, _, place = message.partition(" ")[2].rpartition(" (at ")
    assert text in done.stderr and place.removesuffix(")") in done.stderr
