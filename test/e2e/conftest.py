"""Makes the helpers of test/python importable, keeps references quiet, and measures what the whole matrix used."""

import pathlib
import resource
import sys
import warnings

import numpy as np
import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "python")]


def processor_seconds_used():
    """Processor seconds of this process and the children it waited for; unlike the clock, other load does not add to it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


@pytest.fixture(scope="module", autouse=True)
def processor_seconds():
    """A function that says what the module has used since its first test; other test folders of the session do not count."""
    start = processor_seconds_used()
    return lambda: processor_seconds_used() - start


@pytest.fixture(autouse=True)
def quiet_numpy():
    """The references divide by zero and overflow on purpose; tracec itself never warns."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield
