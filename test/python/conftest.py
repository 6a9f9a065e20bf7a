"""Makes the helper modules of this folder importable and keeps NumPy quiet where a reference overflows on purpose."""

import pathlib
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(autouse=True)
def quiet_numpy():
    """The references divide by zero and overflow on purpose; tracec itself never warns."""
    with np.errstate(all="ignore"):
        yield
