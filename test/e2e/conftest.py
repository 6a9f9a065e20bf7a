"""Makes the helpers of test/python importable, keeps references quiet, and measures what the whole matrix used."""

import os
import pathlib
import random
import resource
import sys
import warnings

import numpy as np
import pytest

sys.path[:0] = [str(pathlib.Path(__file__).parent), str(pathlib.Path(__file__).parent.parent / "python")]


def pytest_addoption(parser):
    parser.addoption("--seed", type=int, help="base seed of the random programs, as an earlier run printed it")


def pytest_configure(config):
    given = config.getoption("--seed", None) or os.environ.get("TRACEC_SEED")
    config.base_seed = int(given or random.SystemRandom().randrange(10**6, 10**9))
    # The processes that a run is shared among draw none of their own.
    os.environ["TRACEC_SEED"] = str(config.base_seed)


def pytest_terminal_summary(terminalreporter, config):
    terminalreporter.write_line(f"random programs: base seed {config.base_seed} (again: TRACEC_SEED={config.base_seed})")


@pytest.fixture(scope="session")
def base_seed(request):
    return request.config.base_seed


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
