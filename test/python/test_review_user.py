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
