"""Programs that are right on the data they are recorded with and an error on other data, for test_checks.py.

Usage: `case.make(captured)` is the function, `case.good` and `case.bad` are arrays per argument, `case.captured` one array or
None. The bodies are real functions, so that errors carry lines of this file.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

import tracec as tc


@dataclasses.dataclass
class Case:
    """`make(c)` gives the function to trace; `error` is what eager raises on `bad`."""

    name: str
    make: Callable
    good: list
    bad: list
    error: type
    captured: np.ndarray | None = None


CASES: list[Case] = []


def floats(*shape):
    return (np.arange(np.prod(shape, dtype=int), dtype=np.float32) + 1).reshape(shape)


def ints(*values):
    return np.array(values, dtype=np.int64)


def bools(*values):
    return np.array(values, dtype=bool)


def case(good, bad, error, captured=None):
    def add(make):
        CASES.append(Case(make.__name__, make, good, bad, error, captured))
        return make

    return add


# An index out of range.


@case([floats(3, 5), ints(0, 4)], [floats(3, 5), ints(0, 5)], IndexError)
def index_used(c):
    def body(x, i):
        return (x[:, i] * 2).sum()
    return body


@case([floats(3, 5), ints(0, 4)], [floats(0, 5), ints(0, 7)], IndexError)
def index_on_no_rows(c):
    def body(x, i):
        return (x[:, i] * 2).sum()
    return body


@case([floats(5, 3), ints(0, 4)], [floats(4, 2), ints(-9)], IndexError)
def index_of_empty_columns(c):
    def body(x, i):
        return x[:, :0][i].sum()
    return body


@case([floats(5, 3), ints(0, 4)], [floats(4, 3), ints(4)], IndexError)
def index_then_slice_to_nothing(c):
    def body(x, i):
        return (x[i][:, 3:] + 1).sum()
    return body


@case([floats(5, 3), ints(0, 4)], [floats(4, 3), ints(4, 0)], IndexError)
def index_unused(c):
    def body(x, i):
        y = x[i] * 3  # noqa: F841
        return x + 1
    return body


@case([floats(5, 3), ints(0, 4)], [floats(4, 2), ints(1, 7, 0)], IndexError)
def index_whose_size_alone_is_used(c):
    def body(x, i):
        return x * x[i].shape[0]
    return body


@case([floats(4, 5), ints(0, 4), ints(0, 3)], [floats(4, 5), ints(), ints(4)], IndexError)
def two_index_arrays_that_broadcast_to_nothing(c):
    def body(x, i, j):
        return (x[j[:, None], i] * 2).sum()
    return body


@case([floats(4, 5), np.int64(2)], [floats(4, 5), np.int64(5)], IndexError)
def position_behind_an_int(c):
    def body(x, k):
        return x[0][1:][k] * 2
    return body


@case([floats(3, 4, 5), np.int64(3)], [floats(3, 2, 5), np.int64(2)], IndexError)
def position_on_a_later_axis(c):
    def body(x, k):
        return (x * 2)[1][k].sum()
    return body


@case([floats(5)], [floats(3)], IndexError)
def constant_position_unused(c):
    def body(x):
        y = x[4]  # noqa: F841
        return x * 2
    return body


@case([floats(5, 3)], [floats(5, 1) * np.ones((1, 2), np.float32)], IndexError)
def constant_position_of_a_part(c):
    def body(x):
        return x[1:][0][2] + 1
    return body


@case([floats(4, 6), ints(3, 0)], [floats(4, 6), ints(4, 0)], IndexError)
def index_then_a_column(c):
    def body(x, i):
        return x[:, 1:][i][:, 2] * 2
    return body


@case([floats(6, 4), ints(3, 0)], [floats(6, 4), ints(3, 4)], IndexError)
def index_of_columns_then_a_row(c):
    def body(x, i):
        return (x[:, i] + 1)[2] * 2
    return body


# Sizes of two inputs.


@case([floats(4), floats(4)], [floats(4), floats(5)], ValueError)
def sizes_unused(c):
    def body(x, y):
        z = x * y  # noqa: F841
        return x * 2
    return body


@case([floats(4), floats(4)], [floats(4), floats(5)], ValueError)
def sizes_of_which_a_part_is_used(c):
    def body(x, y):
        return (x + y)[:2] * 2
    return body


@case([floats(4, 3), floats(3)], [floats(4, 3), floats(2)], ValueError)
def sizes_of_a_sum_unused(c):
    def body(x, y):
        z = x.sum(axis=0) + y  # noqa: F841
        return y * 2
    return body


# Masks and counts.


@case([floats(3) - 1, floats(2)], [floats(4) - 1, floats(2)], ValueError)
def count_meets_a_size(c):
    def body(x, y):
        return x[x > 0] + y
    return body


@case([floats(3) - 1, floats(2)], [floats(4) - 1, floats(2)], ValueError)
def count_meets_a_size_unused(c):
    def body(x, y):
        z = x[x > 0] + y  # noqa: F841
        return x * 2
    return body


@case([bools(1, 0, 1), bools(0, 1, 1), floats(3)], [bools(1, 1, 1), bools(0, 1, 1), floats(3)], ValueError)
def two_counts_unused(c):
    def body(m, k, x):
        z = x[m] * x[k]  # noqa: F841
        return x.sum()
    return body


@case([bools(1, 0, 1), bools(0, 1, 1), floats(3, 3)], [bools(1, 1, 1), bools(0, 1, 1), floats(3, 3)], IndexError)
def two_masks_in_one_index(c):
    def body(m, k, x):
        return x[m, k] + 1
    return body


@case([bools(1, 0, 1), bools(0, 1, 1), floats(3, 3)], [bools(1, 1, 1), bools(0, 1, 1), floats(3, 3)], IndexError)
def two_masks_in_one_index_unused(c):
    def body(m, k, x):
        z = x[m, k] + 1  # noqa: F841
        return x + 1
    return body


@case([floats(4) - 2], [-floats(3)], ValueError)
def max_of_nothing(c):
    def body(x):
        return x[x > 0].max()
    return body


@case([floats(4) - 2], [-floats(3)], ValueError)
def max_of_nothing_unused(c):
    def body(x):
        p = x[x > 0].max()  # noqa: F841
        return x * 2
    return body


@case([floats(4) - 2], [-floats(7)], ValueError)
def min_of_nothing_unused(c):
    def body(x):
        p = -((-(x[x > 0] * 2)).max())  # noqa: F841
        return x.sum()
    return body


@case([floats(4, 3)], [floats(0, 3)], ValueError)
def max_of_no_rows_unused(c):
    def body(x):
        p = x.max(axis=0)  # noqa: F841
        return x * 2
    return body


@case([floats(5) - 1], [floats(6) - 1], ValueError)
def reshape_of_a_count(c):
    def body(x):
        return x[x > 0].reshape(2, -1) * 2
    return body


@case([floats(5) - 1], [floats(6) - 1], ValueError)
def reshape_of_a_count_unused(c):
    def body(x):
        y = x[x > 0].reshape(2, 2) + 1  # noqa: F841
        return x * 2
    return body


@case([floats(4)], [floats(5)], ValueError)
def reshape_of_a_size_unused(c):
    def body(x):
        y = x.reshape(2, -1)  # noqa: F841
        return x * 2
    return body


@case([floats(4)], [floats(6)], ValueError)
def reshape_of_a_reshape(c):
    def body(x):
        return x.reshape(2, 2).reshape(4) * 2
    return body


@case([floats(5) - 1, floats(2, 4)], [floats(6) - 1, floats(2, 4)], ValueError)
def concat_of_a_count(c):
    def body(x, y):
        return tc.concat([x[x > 0].reshape(1, -1), y], axis=0)
    return body


@case([floats(5) - 1, floats(2, 4)], [floats(6) - 1, floats(2, 4)], ValueError)
def concat_of_a_count_unused(c):
    def body(x, y):
        z = tc.concat([x[x > 0].reshape(1, -1), y], axis=0)  # noqa: F841
        return y * 2
    return body


@case([floats(5) - 1], [floats(6) - 1], ValueError)
def broadcast_of_a_count_unused(c):
    def body(x):
        z = tc.broadcast_to(x[x > 0], (3, 4))  # noqa: F841
        return x * 2
    return body


@case([floats(5) - 1, floats(4, 2)], [floats(6) - 1, floats(4, 2)], ValueError)
def matmul_of_a_count_unused(c):
    def body(x, y):
        z = x[x > 0] @ y  # noqa: F841
        return y * 2
    return body


@case([floats(4) - 2], [-floats(4)], ValueError)
def zeros_of_a_count_less_one(c):
    def body(x):
        return tc.zeros(x[x > 0].shape[0] - 1) + x.sum()
    return body


@case([floats(4) - 2], [-floats(4)], ValueError)
def full_of_a_count_less_one_unused(c):
    def body(x):
        y = tc.full((x[x > 0].shape[0] - 1, 4), x)  # noqa: F841
        return x * 2
    return body


@case([floats(4) - 2, np.int64(2)], [floats(4) - 2, np.int64(-2)], ValueError)
def reshape_to_a_number_unused(c):
    def body(x, k):
        y = x.reshape(k, -1)  # noqa: F841
        return x * 2
    return body


@case([floats(4), bools(1, 0, 1, 0), floats(2)], [floats(4), bools(1, 1, 1, 0), floats(2)], ValueError)
def set_of_a_count(c):
    def body(x, m, v):
        y = x * 2
        y[m] = v
        return y.sum()
    return body


@case([floats(4), bools(1, 0, 1, 0), floats(2)], [floats(4), bools(1, 1, 1, 0), floats(2)], ValueError)
def set_of_a_count_unused(c):
    def body(x, m, v):
        y = x * 2
        y[m] = v
        return x.sum()
    return body


@case([floats(4, 3), bools(1, 0, 1, 0), floats(3)], [floats(4, 3), bools(1, 1, 1, 0), floats(2)], ValueError)
def set_of_rows(c):
    def body(x, m, v):
        y = x * 2
        y[m] = v
        return y.sum()
    return body


@case([floats(4, 3), ints(1, 2), floats(2, 3)], [floats(4, 3), ints(1, 4), floats(2, 3)], IndexError)
def set_out_of_range_overwritten(c):
    def body(x, i, v):
        y = x * 2
        y[i] = v
        y[...] = 0.0
        return y + 1
    return body


@case([floats(5), floats(3)], [floats(6), floats(3)], ValueError)
def set_of_all_to_a_count(c):
    def body(x, v):
        y = v * 2
        y[:] = x[x > 2]
        return y.sum() + x
    return body


# Writes before and after an error.


@case([floats(4) - 2], [-floats(3)], ValueError)
def write_before_an_unused_max(c):
    def body(x):
        x[0] = -5.0
        p = x[x > 0].max()  # noqa: F841
        return x * 2
    return body


@case([floats(4) - 2, ints(1)], [floats(3), ints(3)], IndexError, captured=floats(3))
def writes_around_an_error(c):
    def body(x, i):
        c[0] = 7.0
        x[1] = -1.0
        y = x[i] + 1
        c[1] += 5.0
        x += 1.0
        return y.sum()
    return body


@case([floats(4), ints(1)], [floats(5), ints(5)], IndexError, captured=floats(3))
def writes_after_an_unused_error(c):
    def body(x, i):
        x[i]
        c[:] = 0.0
        x[...] = 1.0
        return c + 1
    return body


@case([floats(4), ints(2)], [floats(4), ints(4)], IndexError, captured=floats(3))
def write_at_a_bad_position(c):
    def body(x, i):
        c[1:] *= 2.0
        x[i] = c.sum()
        return x * 2
    return body


# Two errors: the first in program order counts.


@case([floats(4) - 2, ints(1)], [-floats(3), ints(7)], IndexError)
def index_before_max(c):
    def body(x, i):
        y = x[i] * 2
        z = x[x > 0].max()
        return y.sum() + z
    return body


@case([floats(4) - 2, ints(1)], [-floats(3), ints(7)], ValueError)
def max_before_index(c):
    def body(x, i):
        z = x[x > 0].max()
        y = x[i] * 2
        return y.sum() + z
    return body


@case([floats(4) - 2, ints(1), floats(4)], [floats(4) - 2, ints(7), floats(5)], IndexError)
def index_before_sizes(c):
    def body(x, i, y):
        a = x[i] * 2
        return (x + y).sum() + a.sum()
    return body


@case([floats(4) - 2, ints(1), floats(6)], [-floats(4), ints(7), floats(5)], IndexError)
def index_before_a_reshape(c):
    def body(x, i, y):
        a = x[i] * 2
        return y.reshape(2, -1).sum() + a.sum()
    return body


@case([floats(4) - 2, ints(1), ints(2)], [floats(4) - 2, ints(9), ints(7)], IndexError)
def two_gathers_in_one_sum(c):
    def body(x, i, j):
        b = x[j]
        a = x[i]
        return a + b * 2
    return body


@case([floats(4), ints(1, 2), bools(1, 1, 0, 0), floats(2)], [floats(4), ints(1, 9), bools(1, 1, 1, 0), floats(2)], ValueError)
def unused_count_before_an_index(c):
    def body(x, i, m, y):
        x[m] + y
        return x[i] * 2
    return body


@case([floats(4), ints(1, 2), bools(1, 1, 0, 0), floats(2)], [floats(4), ints(1, 9), bools(1, 1, 1, 0), floats(2)], IndexError)
def index_before_an_unused_count(c):
    def body(x, i, m, y):
        z = x[i] * 2
        x[m] + y
        return z
    return body


@case([floats(4), ints(1, 2), floats(3)], [floats(4), ints(1, 9), floats(2)], IndexError)
def index_before_a_constant_position(c):
    def body(x, i, y):
        z = x[i] * 2
        return z.sum() + y[2]
    return body


@case([floats(4), ints(1, 2), floats(3)], [floats(4), ints(1, 9), floats(2)], IndexError)
def constant_position_before_an_index(c):
    def body(x, i, y):
        z = y[2] + 1
        return x[i].sum() + z
    return body


@case([floats(4, 3), ints(1)], [floats(4, 3), ints(4)], IndexError)
def column_before_an_index(c):
    def body(x, i):
        y = x[i][:, 1:2]
        z = (x * 2)[2:][1][1]
        return y.sum() + z
    return body
