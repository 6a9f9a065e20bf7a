"""The trace decorator: records a function's ops once, then replays them compiled and checked.

Usage: `@tc.trace` on a function, `tc.trace(fn, opt_level=2)`, or `@tc.trace(opt_level=2)`.
"""

from __future__ import annotations

import functools
import sys
import types
import weakref
from collections import namedtuple

from . import _core
from ._nest import Flattener, hollow, result_tensors

TYPE_CHECKING = False  # typing and inspect are slow to import
if TYPE_CHECKING:
    from typing import Any, Callable

Dim = namedtuple("Dim", ["name", "min", "max"])
Dim.__doc__ = """A named size that may change: see dim()."""

Stats = namedtuple(
    "Stats",
    ["ops", "segments", "kernels", "specialisations", "arena_bytes", "replays", "launches", "launches_replaced",
     "library_kernels", "runs_by_section"],
)
Stats.__doc__ = """Numbers about a traced function, over all its specialisations.

Of the replays: compiled kernels launched, launches whose ops ran with library kernels instead (their strides did not
fit the code), library kernels called, and runs of segments by the section that ran.
"""


def dim(name: str, *, min: int = 0, max: int = 2**63 - 1) -> Dim:
    """A named size with a range, for dump's `dynamic`; equal names are equal sizes.

    >>> import tracec as tc
    >>> tc.dim("n", min=1, max=4096)
    Dim(name='n', min=1, max=4096)
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"TC0101 a dim's name must be an identifier, got {name!r}")
    if not (isinstance(min, int) and isinstance(max, int)):
        raise TypeError(f"TC0102 a dim's range must be integers, got min={min!r}, max={max!r}")
    if not 0 <= min <= max:
        raise ValueError(f"TC0101 a dim's range must be 0 <= min <= max, got min={min}, max={max}")
    return Dim(name, min, max)


# Options of the full design: value -> what this version accepts.
_OPTIONS: dict[str, Any] = {
    "symbolic": False,
    "without_host": False,
    "capture_as_const": False,
    "record_only": False,
    "record_input_shapes": False,
    "profiling": False,
    "opt_level": 2,
    "dynamic": None,
    "verify": None,
    "array_comparator": None,
    "target": "cpu",
}
_IMPLEMENTED = ("opt_level", "dynamic")

# Instances without weak references whose records a traced method keeps.
_KEPT_INSTANCES = 64


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in _OPTIONS:
            raise TypeError(f"TC0102 trace() got an unknown option '{name}'; use one of {', '.join(_OPTIONS)}")
        if name not in _IMPLEMENTED and value != _OPTIONS[name]:
            raise ValueError(f"TC0101 trace option {name}={value!r} is not implemented yet; leave it at {_OPTIONS[name]!r}")
    if options.get("opt_level", 2) not in (0, 1, 2, 3):
        raise ValueError(f"TC0101 opt_level must be 0, 1, 2 or 3, got {options['opt_level']!r}")


def _check_callable(function: Any) -> None:
    """Refuse what is no function, and functions that only begin when they are called: their ops would not be traced."""
    import inspect

    called = function
    while isinstance(called, (functools.partial, staticmethod)):
        called = called.func if isinstance(called, functools.partial) else called.__func__
    if not callable(function):
        raise TypeError(f"TC0102 trace() expects a function, got {type(function).__name__}")
    kinds = (("an async generator", inspect.isasyncgenfunction), ("an async", inspect.iscoroutinefunction),
             ("a generator", inspect.isgeneratorfunction))
    for kind, is_kind in kinds:
        # Of an instance, its class says what a call does.
        if is_kind(called) or is_kind(getattr(type(called), "__call__", None)):
            name = getattr(called, "__qualname__", type(called).__qualname__)
            raise TypeError(f"TC0102 trace() expects a function that returns its results, got {kind} function {name}; "
                            "trace a plain function and call it from there")


class _State:
    """What a traced function keeps between calls; a traced method keeps one for each instance."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        import inspect

        try:
            self.signature = inspect.signature(function)
        except ValueError:
            raise TypeError(f"TC0102 trace() cannot read the parameters of {function!r}; trace a function of your own "
                            "that calls it") from None
        simple = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = self.signature.parameters.values()
        # Names for calls with all arguments by position; None when there is more to it.
        self.positional = [p.name for p in parameters] if all(p.kind in simple for p in parameters) else None
        name = getattr(function, "__name__", type(function).__name__)
        self.core = _core.Trace(name, options.get("opt_level", 2))
        # Objects whose identity is part of a recorded structure, names and structure of the last call's arguments.
        self.kept: dict[str, list[Any]] = {}
        self.names: list[str] = []
        self.structure = ""
        # The last recorded call whose tensors shared memory, without the tensors.
        self.shared_call: dict[str, Any] = {}


class TracedFunction:
    """What trace() returns. Calls record at first and then compare with the record while compiled code runs.

    Pickles and copies as functions do: by its name where it can be imported, a method with its instance. What was
    traced elsewhere is traced anew from its function. Records are not pickled.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        _check_options(options)
        _check_callable(function)
        functools.update_wrapper(self, function, updated=())
        self._function = function
        self._options = options
        self._state = _State(function, options)
        # Of a method read from an instance.
        self._instance: Any = None
        # By id: instances need not hash, and equal ones are not the same.
        self._states: dict[int, tuple[Callable[[], Any], _State]] = {}

    def __get__(self, instance: Any, owner: type | None = None) -> TracedFunction:
        """A traced method: one record per instance. Like a bound method, the result keeps its instance alive."""
        if instance is None or not hasattr(type(self._function), "__get__"):
            return self
        function = self._function.__get__(instance, owner)
        state = self._state_of(instance, function)
        bound = object.__new__(TracedFunction)
        bound.__dict__.update(self.__dict__, __wrapped__=function, _function=function, _state=state, _instance=instance)
        return bound

    def _state_of(self, instance: Any, function: Callable[..., Any]) -> _State:
        key, states = id(instance), self._states
        entry = states.get(key)
        if entry is None or entry[0]() is not instance:
            reference: Callable[[], Any]
            try:
                reference = weakref.ref(instance, lambda _: states.pop(key, None))
            except TypeError:
                # Its end cannot be watched, so it is kept, and the oldest goes.
                def reference() -> Any:
                    return instance

                for old in list(states)[: 1 - _KEPT_INSTANCES]:
                    states.pop(old, None)
            entry = states[key] = (reference, _State(function, self._options))
        return entry[1]

    def __eq__(self, other: object) -> bool:
        # Each read of a method gives a new object.
        return isinstance(other, TracedFunction) and self._state is other._state and self._instance is other._instance

    def __hash__(self) -> int:
        return hash((id(self._state), id(self._instance)))

    def __reduce__(self) -> Any:
        import pickle

        if self._instance is not None:
            return getattr, (self._instance, self._function.__name__)
        name = getattr(self, "__qualname__", type(self._function).__qualname__)
        if _is_importable(self):
            return name
        if isinstance(self._function, types.FunctionType) and not _is_importable(self._function):
            raise pickle.PicklingError(f"TC0102 cannot pickle traced function {name}: its module has no such "
                                       "name; define it at the top level of a module")
        return _retrace, (self._function, self._options)

    def __copy__(self) -> TracedFunction:
        return self

    def __deepcopy__(self, memo: Any) -> TracedFunction:
        import copy

        if self._instance is not None:
            instance = copy.deepcopy(self._instance, memo)
            return getattr(instance, self._function.__name__)
        function = copy.deepcopy(self._function, memo)
        return self if function is self._function else TracedFunction(function, self._options)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        state = self._state
        flat = Flattener()
        if not kwargs and state.positional is not None and len(args) == len(state.positional):
            arguments: Any = zip(state.positional, args)
        else:
            arguments = self._bind(args, kwargs)
        if _core.is_tracing():
            return self._function(*args, **kwargs)
        for name, value in arguments:
            flat.add(name, value)
        structure = flat.structure()
        call = state.core.begin(flat.tensors, flat.names, structure)
        try:
            result = self._function(*args, **kwargs)
            tensors = result_tensors(result, [])
        except BaseException as error:
            # An op before may have failed in eager code; then its error is raised instead.
            call.abandon(isinstance(error, Exception))
            raise
        if call.finish(tensors):
            # dump() records such a call once more with copies of its tensors.
            state.shared_call = hollow(self._bind(args, kwargs))
        if flat.baked:
            state.kept.setdefault(structure, flat.baked)
        state.names = flat.names
        state.structure = structure
        return result

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = self._state.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments.items()

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Flattener:
        """The arguments of a call as a call would see them."""
        flat = Flattener()
        for name, value in self._bind(args, kwargs):
            flat.add(name, value)
        return flat

    @property
    def state(self) -> str:
        """'untraced', 'traced' (recorded, not yet replayed) or 'compiled'."""
        return self._state.core.state

    @property
    def graph(self) -> str:
        """The recorded ops in the trace dialect, with the Python lines as locations."""
        return self._state.core.graph("trace")

    def lowered(self, stage: str) -> str:
        """The program after a compiler stage: trace, canonical, fused, kernel, vector, llvm or asm."""
        return self._state.core.graph(stage)

    def explain(self) -> str:
        """What was recorded and compiled, and why the last call did not fit, for people to read."""
        return self._state.core.explain()

    def stats(self) -> Stats:
        """What was recorded and compiled, and what replays have run since."""
        return Stats(*self._state.core.stats())

    def dump(
        self,
        path: Any,
        *,
        arg_names: list[str] | None = None,
        output_names: list[str] | None = None,
        dynamic: dict[str, dict[int, Dim]] | None = None,
        targets: str | tuple[str, ...] = ("cpu",),
        test_inputs: Any = None,
        test_vectors: bool = True,
        keep_locs: bool = True,
        user_info: Any = None,
    ) -> dict[str, Any]:
        """Write the latest record as a file, load it in a child process and check it there.

        Args: path: where to. arg_names, output_names: names in the signature. dynamic: {"x": {0: tc.dim("n")}}.
            targets: "cpu", "cpu:x86-64-v3", "cpu:x86-64-v4", "cpu:aarch64"; () for the portable section only. test_inputs: a list of
            calls, each a tuple of arguments or a dict of named ones; the function is run on them without the trace, and
            they and its results are the file's test vectors in place of the recorded call. test_vectors: False checks
            the file with its vectors and then leaves them out. keep_locs: keep source lines. user_info: JSON data kept
            in the file.

        The signature follows the function's parameters. When tensors of the recorded call shared memory (`f(x, x)`, or
        views that the function writes), the function is run once more on copies of them, and nothing that it writes to
        tensors is kept.

        Symbolic links are followed. The path may be str, bytes or os.PathLike; it must name a regular file or nothing.

        Returns: a report: bytes of the file, sections and number of test vectors checked, peak memory, where it was
            checked.

        Raises: ValueError for names that do not fit and traces that need Python, OSError for the path, CompileError.
        """
        from ._dump import dump

        return dump(
            self, path, arg_names=arg_names, output_names=output_names,
            dynamic=dynamic if dynamic is not None else self._options.get("dynamic"), targets=targets,
            test_inputs=test_inputs, test_vectors=test_vectors, keep_locs=keep_locs, user_info=user_info,
        )

    def __repr__(self) -> str:
        return f"<tracec.TracedFunction {getattr(self, '__name__', '?')} ({self.state})>"


def _is_importable(function: Any) -> bool:
    """Whether its module holds this very object under its name."""
    found: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    for part in getattr(function, "__qualname__", "?").split("."):
        found = getattr(found, part, None)
    return found is function


def _retrace(function: Callable[..., Any], options: dict[str, Any]) -> TracedFunction:
    return TracedFunction(function, options)


def trace(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Trace a function: the first call records it, later calls run it compiled and compare it with the record.

    Args: function: a function, method or callable. options: opt_level, dynamic; the other options of the design must
        have their defaults in this version.

    Raises: TypeError for unknown options and for generator and async functions, ValueError for options that are not
        implemented.

    >>> import tracec as tc
    >>> @tc.trace
    ... def double(x):
    ...     return x * 2
    >>> double(tc.tensor([1.0, 2.0])).tolist()
    [2.0, 4.0]
    """
    if function is None:
        _check_options(options)
        return lambda decorated: TracedFunction(decorated, options)
    return TracedFunction(function, options)
