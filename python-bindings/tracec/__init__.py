"""tracec: eager tensors whose execution is recorded, compiled, dumped and replayed bit for bit.

Usage: `import tracec as tc; x = tc.tensor([1.0, 2.0]); (x * 2).sum()`.

NumPy is loaded only when an array comes in or goes out, the compiler when a trace is first compiled.
"""

from . import _stats as stats
from ._core import (
    AxisError,
    CompileError,
    LoadError,
    Size,
    Tensor,
    TraceError,
    _rebuild,
    add,
    arange,
    bool,
    broadcast_to,
    cast,
    concat,
    cond_take,
    div,
    dtype,
    eq,
    exclude_from_trace,
    exp,
    expand_dims,
    flip,
    float16,
    float32,
    float64,
    full,
    ge,
    gt,
    int32,
    int64,
    le,
    logical_and,
    logical_not,
    logical_or,
    lt,
    matmul,
    max,
    maximum,
    mean,
    minimum,
    moveaxis,
    mul,
    ne,
    ones,
    permute,
    reshape,
    sqrt,
    square,
    squeeze,
    sub,
    sum,
    swapaxes,
    tanh,
    tensor,
    transpose,
    uint8,
    where,
    zeros,
)
from .load import Model, load
from .options import options
from .trace import Dim, TracedFunction, dim, trace

__version__ = "0.1.0"

# Every public name above; the list is not written twice.
__all__ = [name for name in globals() if not name.startswith("_")]
