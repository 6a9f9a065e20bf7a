"""What NumPy's ufuncs do with tensors: operators of an array and a tensor are the tensor's, all else is refused.

Usage: `array_ufunc((np.add, "__call__", array, tensor), True)`, from Tensor.__array_ufunc__.
"""

from __future__ import annotations

from . import _core
from ._ops import OPS

TYPE_CHECKING = False  # typing itself is slow to import
if TYPE_CHECKING:
    from typing import Any

# Python's operators by NumPy's names: the tensor's method when it is the left operand, and when it is the right one.
_OPERATORS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "divmod": ("__divmod__", "__rdivmod__"),
    "power": ("__pow__", "__rpow__"),
    "left_shift": ("__lshift__", "__rlshift__"),
    "right_shift": ("__rshift__", "__rrshift__"),
    "bitwise_and": ("__and__", "__rand__"),
    "bitwise_or": ("__or__", "__ror__"),
    "bitwise_xor": ("__xor__", "__rxor__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
}


def array_ufunc(call: tuple[Any, ...], is_plain: bool) -> Any:
    """Answer ufunc.method(*inputs); `is_plain`: without keywords (out=, where=, dtype=)."""
    ufunc, method, *inputs = call
    name = ufunc.__name__
    if method == "__call__" and is_plain and name in _OPERATORS and len(inputs) == 2:
        forward, backward = _OPERATORS[name]
        left, right = inputs
        if type(left) is _core.Tensor:
            return getattr(left, forward)(right)
        return getattr(right, backward)(left)
    ours = next((op for op, info in OPS.items() if info.numpy == name), None)
    if method == "__call__" and not is_plain and name in _OPERATORS:
        advice = "write a = a + x, which gives a tensor, or a += x.numpy() to change the array"
    elif ours is not None and method == "__call__":
        advice = f"use tc.{ours}"
    else:
        advice = "tracec has no such function yet: use NumPy on x.numpy() outside of traced functions"
    what = f"np.{name}" if method == "__call__" else f"np.{name}.{method}"
    if method == "__call__" and not is_plain:
        what += " into an array or with keywords"
    return _core._raise_type_error(f"{what} does not take tensors", advice)
