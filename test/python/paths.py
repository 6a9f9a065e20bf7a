"""Sections and thread counts that tests run on, and proof that a test's calls really took them.

Usage: `with really_on(traced_or_model, "v3"): traced(x)` fails unless all of the block's runs were on that section.
"""

import contextlib

import pytest

import tracec as tc

LEVEL_NAMES = {"portable": "portable", "v3": "x86-64-v3", "avx512": "x86-64-v4"}


needs_kernels = pytest.mark.skipif(tc.stats.runnable_sections() == ["portable"], reason="this machine runs no compiled kernels")


def is_runnable(section):
    return section == "best" or section in tc.stats.runnable_sections()


def level_of(section):
    """What statistics call the section."""
    return LEVEL_NAMES[tc.stats.runnable_sections()[-1] if section == "best" else section]


def runs_on_levels(stats):
    """Runs by section of a traced function's or a model's stats."""
    return stats.runs_by_section if hasattr(stats, "runs_by_section") else {stats.section: stats.runs}


def runs_between(before, after):
    earlier = runs_on_levels(before)
    return {level: runs - earlier.get(level, 0) for level, runs in runs_on_levels(after).items() if runs > earlier.get(level, 0)}


def launches_between(before, after):
    """(kernels launched, launches replaced by their ops, library kernels run)"""
    return tuple(getattr(after, name) - getattr(before, name) for name in ("launches", "launches_replaced", "library_kernels"))


@contextlib.contextmanager
def really_on(function, section, threads=1):
    """Runs the block with these options and checks that `function` ran in it, on no other section."""
    with tc.options(section=section, threads=threads):
        before = function.stats()
        yield
        runs = runs_between(before, function.stats())
    assert set(runs) == {level_of(section)}, f"on {section} the runs were {runs}, expected some and all on {level_of(section)}"
