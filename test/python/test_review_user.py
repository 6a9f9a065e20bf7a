"""Faults that a new user would meet, found by random programs and by typing wrong things; one test per fault."""

import numpy as np
import pytest

import tracec as tc
from checks import assert_same


def test_write_through_a_reshaped_view_follows_the_size():
    """The base's sizes on the way back were recorded as numbers."""

    @tc.trace
    def body(x):
        doubled = x * 2
        flat = doubled.reshape(-1)
        flat[1:3] = 7.0
        return doubled

    for rows, columns in ((2, 3), (2, 3), (4, 2), (5, 6)):
        x = np.arange(rows * columns, dtype="float32").reshape(rows, columns)
        want = x * 2
        want.reshape(-1)[1:3] = 7
        assert_same(body(tc.tensor(x)), want)


@pytest.fixture
def doubled():
    function = tc.trace(lambda x: x * 2)
    for _ in range(2):
        function(tc.tensor([1.0, 2.0, 3.0]))
    return function


def test_dump_to_a_bytes_path(doubled, tmp_path):
    path = tmp_path / "model.trc"
    doubled.dump(str(path).encode())
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.trc"]
    assert_same(tc.load(path)(tc.tensor([4.0, 5.0])), np.float32([8, 10]))


def test_dump_replaces_no_device_and_no_pipe(doubled, tmp_path):
    import os
    import stat

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="TC0303.*no regular file"):
        doubled.dump(pipe)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="TC0303"):
        doubled.dump("")


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"arg_names": "x"}, TypeError, "TC0102 arg_names"),
        ({"targets": 3}, TypeError, "TC0102 targets"),
        ({"dynamic": {"x": 3}}, TypeError, "TC0102 dynamic"),
        ({"dynamic": {"x": {0: 3}}}, TypeError, "TC0102 dynamic"),
        ({"dynamic": {"x": {"0": tc.dim("n")}}}, TypeError, "TC0102 dynamic"),
        ({"dynamic": {"x": {0: tc.dim("n", min=5)}}}, ValueError, "from 5 to .* recorded call has 3"),
        ({"user_info": float("nan")}, ValueError, "TC0101 user_info"),
        ({"user_info": {"a": object()}}, TypeError, "TC0102 user_info"),
    ],
)
def test_wrong_dump_options_say_what_is_wrong(doubled, tmp_path, options, error, text):
    with pytest.raises(error, match=text):
        doubled.dump(tmp_path / "model.trc", **options)
    assert not list(tmp_path.iterdir())


def test_errors_of_the_python_half_have_codes():
    for code, wrong in (
        ("TC0102", lambda: tc.trace(3)),
        ("TC0102", lambda: tc.trace(lambda x: x, unknown=1)),
        ("TC0101", lambda: tc.trace(lambda x: x, opt_level="a")),
        ("TC0101", lambda: tc.dim("1x")),
        ("TC0102", lambda: tc.dim("n", min="a")),
    ):
        with pytest.raises((TypeError, ValueError), match="^" + code):
            wrong()


@pytest.mark.parametrize("first, later", [([1, 0, 0, 0], [1, 1, 0, 1]), ([1, 1, 0, 1], [0, 0, 1, 0])])
def test_size_that_is_one_by_chance_is_no_constant(first, later):
    """The count of a mask and the length of a slice may be 1 in the recorded call only, or in a later one only."""

    @tc.trace
    def body(x, mask, y):
        taken, tail = x[mask], y[3:]
        return taken.reshape(taken.shape[0], 1) * tc.full(tail.shape, 2.0), tail.reshape(tail.shape), taken.sum()

    x = np.float32([1, 2, 3, 4])
    for bits, length in ((first, 4), (first, 4), (later, 6), (first, 5), (later, 4)):
        mask, y = np.array(bits, bool), np.arange(length, dtype="float32")
        taken, tail = x[mask], y[3:]
        want = taken.reshape(-1, 1) * np.full(tail.shape, 2, "float32"), tail, taken.sum()
        assert_same(body(tc.tensor(x), tc.tensor(mask), tc.tensor(y)), want)


def test_dump_of_a_mean_whose_sizes_are_fixed(tmp_path):
    """Sizes of weights and of inputs without a named dim are fixed; the ops that mean is made of inferred that, its result did not."""
    weight = tc.tensor([[1, 2, 3], [4, 5, 6]], dtype=tc.uint8)
    function = tc.trace(lambda x: (weight.mean(axis=0), x.mean(axis=1)))
    x = tc.tensor([[1.0, 2.0, 6.0], [3.0, 4.0, 5.0]])
    for _ in range(2):
        want = [one.numpy() for one in function(x)]
    for number, dynamic in enumerate((None, {"x": {0: tc.dim("n")}})):
        path = tmp_path / f"{number}.trc"
        function.dump(path, dynamic=dynamic)
        assert_same(list(tc.load(path)(x)), want)
        more = tc.tensor(np.ones((5, 3), "float32"))
        assert_same(list(tc.load(path)(more)), [want[0], np.ones(5, "float32")])


def test_count_of_a_masked_read_whose_elements_nobody_uses():
    """The kernel stored nothing, so it counted nothing, and the size was 0."""

    @tc.trace
    def body(x):
        return tc.full((x[x > 2].shape[0],), 1.0)

    for values in ([1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [0, 0, 9], [0, 1]):
        want = np.ones(sum(value > 2 for value in values), "float32")
        assert_same(body(tc.tensor(np.float32(values))), want)


def rows_of(mask):
    return tc.tensor(np.array(mask, bool))


def test_in_place_with_a_value_as_long_as_the_count():
    def body(x, mask, value):
        x[mask] += value
        return x * 1

    function = tc.trace(body)
    x, value = np.float32([1, 2, 3, 4]), tc.tensor([10.0, 20.0])
    for mask in ([1, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 1]):
        assert_same(function(tc.tensor(x), rows_of(mask), value), body(tc.tensor(x), rows_of(mask), value))
    for mask in ([1, 0, 0, 0], [1, 1, 1, 0]):
        argument = tc.tensor(x)
        with pytest.raises(ValueError):
            function(argument, rows_of(mask), value)
        assert_same(argument, x)


def test_in_place_between_two_counts_never_grows():
    @tc.trace
    def body(x, one, other):
        taken = x[one]
        taken += x[other]
        return taken

    x = tc.tensor([1.0, 2.0, 3.0, 4.0])
    for _ in range(2):
        body(x, rows_of([1, 1, 0, 0]), rows_of([0, 0, 1, 1]))
    with pytest.raises(ValueError):
        body(x, rows_of([1, 0, 0, 0]), rows_of([1, 1, 1, 0]))


def test_shapes_of_an_unused_result_are_checked():
    @tc.trace
    def body(x, mask):
        x + x[mask]
        return x * 2

    x = tc.tensor([1.0, 2.0, 3.0])
    for _ in range(2):
        body(x, rows_of([1, 1, 1]))
    with pytest.raises(ValueError, match="do not broadcast"):
        body(x, rows_of([1, 1, 0]))
