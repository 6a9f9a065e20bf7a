"""Nests of tuples, lists, dicts and dataclasses: the arguments and results of traced functions.

Usage: `flat = Flattener(); flat.add("x", value); flat.tensors, flat.names, flat.structure()`.

The structure text holds everything but the tensors: kinds, keys, Python values with their types. Two calls match
if it is equal, so values are written exactly (repr of a float is exact; True, 1 and 1.0 differ).
"""

from __future__ import annotations

import itertools
import types

from ._core import Size, Tensor, dtype

TYPE_CHECKING = False  # typing and dataclasses are slow to import
if TYPE_CHECKING:
    from typing import Any, Callable

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice)


def _fields(value: Any) -> list[str] | None:
    """The field names of a dataclass instance, else None."""
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None:
        return None
    import dataclasses

    return [field.name for field in dataclasses.fields(value)]


def _ordered(value: dict[Any, Any]) -> list[Any]:
    """The keys of a dict, whose order is no structure."""
    return sorted(value, key=lambda key: (type(key).__qualname__, repr(key)))


class Flattener:
    """Collects the tensors of a nest in order, their names, and the text of the rest."""

    def __init__(self) -> None:
        self.tensors: list[Tensor] = []
        self.names: list[str] = []
        self.baked: list[Any] = []
        self._parts: list[str] = []

    def add(self, name: str, value: Any) -> None:
        """Add a named argument."""
        self._parts.append(f"{name}={self._visit(name, value)}")

    def structure(self) -> str:
        """The text that must be equal from call to call."""
        return ", ".join(self._parts)

    def _visit(self, path: str, value: Any) -> str:
        if type(value) is Tensor:
            self.tensors.append(value)
            self.names.append(path)
            return "tensor"
        if isinstance(value, (list, tuple)):
            items = [self._visit(f"{path}[{i}]", item) for i, item in enumerate(value)]
            text = ", ".join(items)
            if type(value) is list:
                return f"[{text}]"
            return f"({text},)" if type(value) is tuple else f"{type(value).__qualname__}({text})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key!r}: {self._visit(f'{path}[{key!r}]', value[key])}" for key in _ordered(value)) + "}"
        fields = _fields(value)
        if fields is not None:
            items = [f"{f}={self._visit(f'{path}.{f}', getattr(value, f))}" for f in fields]
            return f"{type(value).__qualname__}({', '.join(items)})"
        return self._leaf(value)

    def _leaf(self, value: Any) -> str:
        if isinstance(value, Size):
            value = int(value)
        kind = type(value)
        if kind in _PLAIN:
            return f"{value!r} ({kind.__name__})" if kind in (int, float, complex) else repr(value)
        if kind is dtype:
            return repr(value)
        if kind.__module__ == "numpy" and hasattr(value, "dtype"):
            # The contents of an array are compared where it meets an op.
            return "array" if hasattr(value, "__setitem__") else f"{value!r} ({kind.__name__})"
        # Any other object is the same only if it is the same object, so it must stay alive.
        self.baked.append(value)
        return f"{kind.__qualname__} object #{id(value)}"


# Their items are computed when the call is over, where no trace sees it.
_LAZY = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, map, filter)


class _Hole:
    """Where a tensor was: its number in the order of a Flattener."""

    def __init__(self, number: int) -> None:
        self.number = number


def _map(value: Any, is_leaf: Callable[[Any], bool], replace: Callable[[Any], Any]) -> Any:
    """The nest with its leaves replaced, visited in the order of a Flattener."""
    if is_leaf(value):
        return replace(value)
    if isinstance(value, (list, tuple)):
        items = [_map(item, is_leaf, replace) for item in value]
        if type(value) in (list, tuple):
            return type(value)(items)
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        made = {key: _map(value[key], is_leaf, replace) for key in _ordered(value)}
        return {key: made[key] for key in value}
    fields = _fields(value)
    if fields is None:
        return value
    import copy

    twin = copy.copy(value)
    for field in fields:
        object.__setattr__(twin, field, _map(getattr(value, field), is_leaf, replace))
    return twin


def hollow(arguments: Any) -> dict[str, Any]:
    """Named arguments with numbered holes in place of their tensors, which are not kept alive."""
    count = itertools.count()
    return {name: _map(value, lambda leaf: type(leaf) is Tensor, lambda _: _Hole(next(count))) for name, value in arguments}


def fill(arguments: dict[str, Any], tensors: list[Tensor]) -> dict[str, Any]:
    """What hollow() was given, with these tensors."""
    return {name: _map(value, lambda leaf: type(leaf) is _Hole, lambda hole: tensors[hole.number]) for name, value in arguments.items()}


def result_tensors(value: Any, found: list[Tensor]) -> list[Tensor]:
    """The tensors in what a traced function returned."""
    if type(value) is Tensor:
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            result_tensors(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            result_tensors(item, found)
    elif isinstance(value, _LAZY):
        raise TypeError(f"TC0102 a traced function returned a {type(value).__name__}, whose ops would not be traced; "
                        "return a list or a tuple")
    else:
        for field in _fields(value) or ():
            result_tensors(getattr(value, field), found)
    return found
