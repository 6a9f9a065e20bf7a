"""Dumped files, loaded and called from Python.

Usage: `model = tc.load("model.trc"); y = model(x)`. Neither the compiler nor the traced function is needed.
"""

from __future__ import annotations

import os
from collections import namedtuple

from . import _core
from ._paths import check_path

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

Value = namedtuple("Value", ["name", "dtype", "shape", "is_state"])
Value.__doc__ = """One input or output of a model. Sizes that may change are names; "?" depends on data."""

Symbol = namedtuple("Symbol", ["name", "min", "max"])
Symbol.__doc__ = """A size that may change from call to call, and its range."""

Signature = namedtuple("Signature", ["inputs", "outputs", "symbols"])
Signature.__doc__ = """Inputs, outputs and the named sizes of a model, as tuples."""


ModelStats = namedtuple(
    "ModelStats", ["section", "runs", "plans", "launches", "launches_replaced", "library_kernels", "arena_bytes"]
)
ModelStats.__doc__ = """The section that a model runs, and what its calls have run: see TracedFunction.stats()."""


class Model:
    """A loaded file; call it with its inputs in order or by name.

    One output is returned as a tensor, several as a tuple. Session state lives as long as the model. Pickles and copies
    load the file again from its absolute path; a model with session state refuses, as the state would be lost.
    """

    def __init__(
        self,
        path: str | bytes | os.PathLike[Any],
        *,
        section: str = "best",
        verify_all: bool = False,
        copy: bool = False,
        untrusted: bool = False,
        load_limit: int | None = None,
        memory_limit: int | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.path = check_path(path)
        defaults = (0, 0, 0)
        if untrusted:
            if section not in ("best", "portable"):
                raise ValueError(f"TC0101 an untrusted file runs its portable section only, not {section!r}\n  leave section out")
            section, copy, defaults = "portable", True, _core.Model.untrusted_limits()
        self._model = _core.Model(
            os.fsencode(self.path),
            section,
            bool(verify_all),
            bool(copy),
            _limit("load_limit", load_limit, 1, defaults[0]),
            _limit("memory_limit", memory_limit, 1, defaults[1]),
            _limit("time_limit", time_limit, 1000, defaults[2]),
        )
        limits = {"load_limit": load_limit, "memory_limit": memory_limit, "time_limit": time_limit}
        self._origin = (
            os.path.abspath(self.path),
            {"section": section, "verify_all": verify_all, "copy": copy, "untrusted": untrusted, **limits},
        )
        inputs, outputs, symbols = self._model.signature()
        self.signature = Signature(
            tuple(Value(*entry) for entry in inputs),
            tuple(Value(*entry) for entry in outputs),
            tuple(Symbol(*entry) for entry in symbols),
        )
        self._names = [entry.name for entry in self.signature.inputs if not entry.is_state]

    @property
    def sections(self) -> list[str]:
        """Names of the sections in the file."""
        return self._model.sections()

    @property
    def user_info(self) -> Any:
        """What dump() was given as user_info, or None."""
        text = self._model.user_info()
        if not text:
            return None
        import json

        try:
            return json.loads(text)
        except ValueError as error:
            raise _core.LoadError(f"TC0301 the user info of {self.path!r} is no JSON: {error}\n  make the file again with dump()") from None

    def verify(self) -> dict[str, str]:
        """Run the file's test vectors in each section this machine can run: section -> "" or what is wrong.

        Raises: ValueError for a file without test vectors.
        """
        if self._model.vector_count() == 0:
            raise ValueError(f"TC0101 {self.path!r} has no test vectors to verify\n  dump it without test_vectors=False")
        return self._model.verify()

    def stats(self) -> ModelStats:
        """The section in use, and numbers of runs, plans, kernel launches and library kernels."""
        return ModelStats(*self._model.stats())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = self._bind(args, kwargs)
        results = self._model.run(args)
        return results[0] if len(results) == 1 else tuple(results)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        rest = self._names[len(args):]
        unknown = [name for name in kwargs if name not in rest]
        missing = [name for name in rest if name not in kwargs]
        if unknown or missing:
            raise TypeError(f"TC0102 this model takes {', '.join(self._names)}; unknown or given twice: {unknown}, missing: {missing}")
        return (*args, *(kwargs[name] for name in rest))

    def __reduce__(self) -> Any:
        if any(entry.is_state for entry in self.signature.inputs):
            raise TypeError("TC0102 a model with session state cannot be pickled or copied; load its file again instead")
        return _reload, self._origin

    def __repr__(self) -> str:
        return f"<tracec.Model {self.path!r} ({', '.join(self._names)})>"


def _reload(path: str, options: dict[str, Any]) -> Model:
    """What pickles of models call."""
    return Model(path, **options)


def _limit(name: str, value: float | None, unit: int, default: int) -> int:
    if value is None:
        return default
    if not value > 0:
        raise ValueError(f"TC0101 {name} is {value!r}, must be more than 0\n  leave it out for no limit")
    # Larger than any machine or any patience is no limit.
    return max(1, min(int(min(value * unit, 2.0**62)), 2**62))


def load(
    path: str | bytes | os.PathLike[Any],
    *,
    section: str = "best",
    verify_all: bool = False,
    copy: bool = False,
    untrusted: bool = False,
    load_limit: int | None = None,
    memory_limit: int | None = None,
    time_limit: float | None = None,
) -> Model:
    """Load a dumped file. A file with native code is trusted like a shared library, unless `untrusted` is set.

    Args: path: the file. section: "best", "portable", "v3" or "avx512". verify_all: check the weights' hashes, too. copy: work
    on a copy, so that the file may change while the model lives (it is mapped otherwise). untrusted: run the portable section
    only, on a copy, with limits (256 MiB to load, 4 GiB and 60 s to run) where none are given. load_limit, memory_limit: bytes
    that loading and a run may take. time_limit: seconds that a run may take.

    Raises: LoadError for a damaged file or one that needs what this machine lacks, OSError for one that cannot be read,
    MemoryError and (when called) TimeoutError for one that needs more than its limits.
    """
    return Model(
        path,
        section=section,
        verify_all=verify_all,
        copy=copy,
        untrusted=untrusted,
        load_limit=load_limit,
        memory_limit=memory_limit,
        time_limit=time_limit,
    )
