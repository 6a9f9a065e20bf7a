"""Counters of this process, as `tc.stats`.

Usage: `before = tc.stats.compile_count(); fn(x); assert tc.stats.compile_count() == before`.
"""

from ._core import compile_count, runnable_sections, shared_loops

__all__ = ["compile_count", "runnable_sections", "shared_loops"]
