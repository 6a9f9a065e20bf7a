"""Counters of this process, as `tc.stats`.

Usage: `before = tc.stats.compile_count(); fn(x); assert tc.stats.compile_count() == before`.
"""

from . import _core

__all__ = ["compile_count", "runnable_sections", "shared_loops"]


def compile_count() -> int:
    """Kernels compiled in this process."""
    return _core.compile_count()


def shared_loops() -> int:
    """Loops that were shared among the threads of the pool in use."""
    return _core.shared_loops()


def runnable_sections() -> list[str]:
    """Names of the sections that this processor can run."""
    return _core.runnable_sections()
