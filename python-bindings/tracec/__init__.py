"""tracec: eager tensors whose execution is recorded, compiled, dumped and replayed bit for bit.

Usage: `import tracec as tc; x = tc.tensor([1.0, 2.0]); (x * 2).sum()`.

NumPy is loaded only when an array comes in or goes out, the compiler when a trace is first compiled.
"""

from . import _core
from . import _stats as stats
from ._core import (
    AxisError,
    CompileError,
    LoadError,
    Size,
    Tensor,
    TraceError,
    _rebuild,
    bfloat16,
    bool,
    dtype,
    exclude_from_trace,
    expand_dims,
    flip,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    moveaxis,
    ones,
    squeeze,
    swapaxes,
    tensor,
    transpose,
    uint8,
    uint16,
    uint32,
    uint64,
    zeros,
)
from ._core import (
    # begin generated names
    add,
    arange,
    argmax,
    broadcast_to,
    cast,
    concat,
    cond_take,
    div,
    eq,
    exp,
    full,
    ge,
    gt,
    incr_subtensor,
    le,
    log,
    logical_and,
    logical_not,
    logical_or,
    lt,
    matmul,
    max,
    maximum,
    mean,
    min,
    minimum,
    mul,
    ne,
    permute,
    reshape,
    sqrt,
    square,
    sub,
    sum,
    tanh,
    where,
    # end generated names
)
from .load import Model, load
from .options import options
from .trace import Dim, TracedFunction, dim, trace

# A wrong TRACERT_MAX_ISA is said here.
_core.check_target_limit()

__version__ = "0.1.0"

# Every public name above; the list is not written twice.
__all__ = [name for name in globals() if not name.startswith("_")]
