"""Options of the calling thread's evaluation.

Usage: `with tc.options(section="portable", threads=1): ...`.
"""

from types import TracebackType
from typing import Optional, Type

from . import _core


class options:
    """A context in which ops and replays run on a chosen section and number of threads.

    Args: section: "best", "portable", "v3" or "avx512" (also "x86-64-v3", "x86-64-v4"); None leaves it.
        threads: how many threads kernels may use; None leaves it.

    Raises: ValueError for a section that does not exist or that this processor lacks, or threads below 1.

    Results never depend on these options:

    >>> import tracec as tc
    >>> with tc.options(section="portable", threads=1):
    ...     (tc.tensor([1.0, 2.0]) + 1).tolist()
    [2.0, 3.0]
    """

    def __init__(self, *, section: Optional[str] = None, threads: Optional[int] = None) -> None:
        self._section = section
        self._threads = threads
        self._previous: list[object] = []

    def __enter__(self) -> "options":
        self._previous.append(_core.swap_options(self._section, self._threads))
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        _core.restore_options(self._previous.pop())
