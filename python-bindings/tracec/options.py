"""Options of the calling thread's evaluation.

Usage: `with tc.options(section="portable", threads=1): ...`.
"""

from __future__ import annotations

from . import _core

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from types import TracebackType


class options:
    """A context in which ops and replays run on a chosen section and number of threads.

    Args: section: "best", "portable", "v3" or "avx512" (also "x86-64-v3", "x86-64-v4"); None leaves it.
        threads: how many threads kernels may use; None leaves it.

    Raises: ValueError for an option or a section that does not exist, a section that this processor lacks, or threads
        below 1.

    Results never depend on these options:

    >>> import tracec as tc
    >>> with tc.options(section="portable", threads=1):
    ...     (tc.tensor([1.0, 2.0]) + 1).tolist()
    [2.0, 3.0]
    """

    def __init__(self, *, section: str | None = None, threads: int | None = None, **unknown: object) -> None:
        if unknown:
            raise ValueError(f"TC0101 unknown option {', '.join(unknown)}; use section and threads")
        self._section = section
        self._threads = threads
        self._previous: list[_core.EvalOptions] = []

    def __enter__(self) -> "options":
        self._previous.append(_core.swap_options(self._section, self._threads))
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 traceback: TracebackType | None) -> None:
        _core.restore_options(self._previous.pop())
