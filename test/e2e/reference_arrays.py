"""NumPy arrays with tracec's rules of promotion, casts and in-place operators: the oracle of the random programs.

Usage: `ReferenceModule()` stands for the module `tc`, `Reference(array)` for a tensor, so one source text runs on both.
A result that another order of summation or another libm may round differently has `slack`, the absolute error allowed.
"""

import numpy as np

from checks import CATEGORY, DTYPES, FLOAT_DTYPES, NARROW_DTYPES, QUOTIENT, SIGNED_DTYPES, SUM, UNSIGNED_DTYPES
from checks import is_float, ordered_extreme, reference_cast, result_type, spacing
from tracec._ops import OPS


def is_python_number(value):
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


def array_of(value):
    return value.array if isinstance(value, Reference) else np.asarray(value)


def promoted(operands):
    """The dtype name by docs/promotion.md."""
    names = [array_of(one).dtype.name for one in operands if not is_python_number(one)]
    top = max(CATEGORY[name] for name in names)
    python_top = max([{bool: 1, int: 2, float: 3}[type(one)] for one in operands if is_python_number(one)], default=0)
    if python_top > top:
        common = result_type(*[name for name in names if CATEGORY[name] == top])
        return {2: "int32", 3: QUOTIENT[common]}[python_top]
    return result_type(*[name for name in names if CATEGORY[name] == top])


def as_float(name):
    """The dtype of true division and of exp."""
    return QUOTIENT[name]


def to_dtype(value, name):
    """An operand as an array of the result's dtype."""
    if is_python_number(value):
        if CATEGORY[name] == 2 and not np.iinfo(name).min <= value <= np.iinfo(name).max:
            raise OverflowError(f"{value} does not fit {name}")
        return reference_cast(np.array(value, "float64" if name in FLOAT_DTYPES else None), name)
    return reference_cast(array_of(value), name)


def arithmetic(function, left, right):
    name = promoted([left, right])
    if function is np.divide:
        name = as_float(name)
    if name == "bool" and function is np.subtract:
        raise TypeError("sub of bools")
    left, right = to_dtype(left, name), to_dtype(right, name)
    if function in (np.maximum, np.minimum):
        return ordered_extreme(left, right, function is np.maximum)
    return np.asarray(function(left, right))


def compare(function, left, right):
    name = promoted([left, right])
    names = [array_of(one).dtype.name for one in (left, right) if not is_python_number(one)]
    whole = [not isinstance(one, float) for one in (left, right) if is_python_number(one)]
    if all(CATEGORY[one] == 2 for one in names) and all(whole):
        # Of integers exactly, whatever they promote to.
        arrays = [np.array(one if is_python_number(one) else array_of(one), object) for one in (left, right)]
        return Reference(np.asarray(function(*arrays), bool))
    return Reference(np.asarray(function(to_dtype(left, name), to_dtype(right, name))))


def units(array, count):
    """`count` units in the last place of each element, as float64."""
    return count * spacing(np.abs(array))


def transcendental(function, operand, ulp):
    array = array_of(operand)
    name = as_float(array.dtype.name)
    exact = function(to_dtype(operand, name).astype(np.longdouble))
    result = np.asarray(exact.astype(name))
    return Reference(result, slack=units(result, ulp))


def is_same_kind(source, target):
    """NumPy's same_kind casting, for bfloat16 too."""
    if CATEGORY[source] != CATEGORY[target]:
        return CATEGORY[source] < CATEGORY[target]
    return not (source in SIGNED_DTYPES and target in UNSIGNED_DTYPES)


class Reference:
    """An array with the operators of a tensor. `slack`: see the module."""

    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, array, slack=None):
        # NumPy keeps the memory order of operands; here a new tensor is row-major, which decides what a reshape of it is.
        self.array = np.asarray(array, order="C")
        self.slack = slack

    @classmethod
    def view(cls, array):
        """A reference that shares the array's memory, whatever its strides."""
        result = cls(())
        result.array = array
        return result

    shape = property(lambda self: self.array.shape)
    ndim = property(lambda self: self.array.ndim)
    size = property(lambda self: self.array.size)
    T = property(lambda self: Reference.view(self.array.T))

    def __index__(self):
        if self.array.dtype.kind not in "iu" or self.array.ndim:
            raise TypeError("only a rank-0 integer is an index")
        return int(self.array)

    def numpy(self):
        return self.array.copy()

    def copy(self):
        return Reference(self.array.copy())

    def astype(self, dtype):
        return Reference(np.array(reference_cast(self.array, dtype)))

    def __neg__(self):
        if self.array.dtype == bool:
            raise TypeError("minus of bools")
        return Reference(np.negative(self.array))

    def update(self, result):
        """What an in-place operator does with the result of its pure form."""
        if not is_same_kind(result.dtype.name, self.array.dtype.name):
            raise TypeError(f"{result.dtype} into {self.array.dtype}")
        if result.shape != self.array.shape:
            raise ValueError("an in-place operator never grows its target")
        self.array[...] = reference_cast(result, self.array.dtype.name)
        return self

    def __getitem__(self, items):
        items = plain_index(items)
        check_masks(items, self.array.shape)
        result = np.array(self.array[items], copy=None)
        return Reference.view(result) if np.may_share_memory(result, self.array) else Reference(result)

    def __setitem__(self, items, value):
        items = plain_index(items)
        if not self.array.flags.writeable:
            raise ValueError("read-only")
        check_masks(items, self.array.shape)
        positions = np.arange(self.array.size).reshape(self.array.shape)[items]
        if is_python_number(value):
            value = np.array(element_of(value, self.array.dtype.name))
        else:
            value = reference_cast(array_of(value), self.array.dtype.name)
        while value.ndim > np.ndim(positions) and value.shape[0] == 1:
            value = value[0]
        value = np.broadcast_to(value, np.shape(positions))
        # One flat axis: there NumPy lets the last of equal positions win.
        changed = self.array.flatten()
        changed[np.ravel(positions)] = np.ravel(value)
        self.array[...] = changed.reshape(self.array.shape)

    def incr(self, items, value):
        items = plain_index(items)
        name = self.array.dtype.name
        common = promoted([self, value])
        if not is_same_kind(common, name):
            raise TypeError(f"{common} into {name}")
        if not self.array.flags.writeable:
            raise ValueError("read-only")
        value = to_dtype(value, name)
        check_masks(items, self.array.shape)
        positions = np.arange(self.array.size).reshape(self.array.shape)[items]
        while value.ndim > np.ndim(positions) and value.shape[0] == 1:
            value = value[0]
        # One flat axis: there NumPy adds in the order of the index.
        changed = self.array.flatten()
        np.add.at(changed, np.ravel(positions), np.ravel(np.broadcast_to(value, np.shape(positions))))
        self.array[...] = changed.reshape(self.array.shape)

    def check_axis(self, axis):
        """NumPy lets sums of rank 0 have an axis."""
        if axis is not None and not self.array.ndim:
            raise np.exceptions.AxisError("rank 0 has no axis")

    def sum(self, axis=None, keepdims=False):
        self.check_axis(axis)
        name = self.array.dtype.name
        if name not in FLOAT_DTYPES:
            return Reference(np.sum(self.array, axis=axis, keepdims=keepdims, dtype=SUM[name]))
        return Reference(*self.accumulate(name, axis, keepdims))

    def accumulate(self, name, axis, keepdims):
        """Sum and its allowed error, in a wider dtype."""
        array = reference_cast(self.array, name)
        total = np.sum(array.astype(np.longdouble), axis=axis, keepdims=keepdims)
        sizes = np.sum(np.abs(array.astype(np.longdouble)), axis=axis, keepdims=keepdims)
        with np.errstate(all="ignore"):
            result = np.asarray(total.astype(name))
        inner = "float32" if name in NARROW_DTYPES else name
        # An infinite bound says that partial sums may overflow in one order and not in another.
        bound = np.where(sizes < np.finfo(inner).max, self.array.size * np.finfo(inner).eps * sizes, np.inf)
        return result, np.asarray(bound + units(result, 1 if name in NARROW_DTYPES else 0), "float64")

    def mean(self, axis=None, keepdims=False):
        self.check_axis(axis)
        name = as_float(self.array.dtype.name)
        inner = "float32" if name in NARROW_DTYPES else name
        total, slack = Reference(self.array.astype(inner)).accumulate(inner, axis, keepdims)
        count = np.sum(np.ones(self.array.shape, "int64"), axis=axis, keepdims=keepdims)
        result = np.asarray((total.astype(np.longdouble) / count).astype(name))
        return Reference(result, slack=np.asarray(slack / np.maximum(count, 1) + units(result, 2)))

    def max(self, axis=None, keepdims=False):
        self.check_axis(axis)
        shape = np.sum(self.array.astype(bool), axis=axis, keepdims=keepdims).shape
        if 0 in shape:
            # NumPy refuses an empty axis even then.
            return Reference(np.empty(shape, self.array.dtype))
        result = np.max(self.array, axis=axis, keepdims=keepdims)
        if not is_float(self.array):
            return Reference(result)
        plus_zero = np.any((self.array == 0) & ~np.signbit(self.array), axis=axis, keepdims=keepdims)
        return Reference(np.where(result == 0, np.where(plus_zero, 0.0, -0.0), result).astype(self.array.dtype))

    def reshape(self, *shape):
        return Reference.view(self.array.reshape(*shape))

    def broadcast_to(self, *shape):
        return Reference.view(np.broadcast_to(self.array, shape))

    def transpose(self, *axes):
        return Reference.view(self.array.transpose(*axes))

    def swapaxes(self, one, other):
        return Reference.view(self.array.swapaxes(one, other))

    def squeeze(self, axis=None):
        return Reference.view(np.squeeze(self.array, axis))

    def expand_dims(self, axis):
        return Reference.view(np.expand_dims(self.array, axis))

    def flip(self, axis=None):
        return Reference.view(np.flip(self.array, axis))

    def __matmul__(self, other):
        name = promoted([self, other])
        left, right = to_dtype(self, name), to_dtype(other, name)
        if name not in FLOAT_DTYPES:
            return Reference(np.matmul(left, right))
        exact = np.matmul(left.astype(np.longdouble), right.astype(np.longdouble))
        sizes = np.matmul(np.abs(left).astype(np.longdouble), np.abs(right).astype(np.longdouble))
        result = np.asarray(exact.astype(name))
        inner = "float32" if name in NARROW_DTYPES else name
        bound = np.where(sizes < np.finfo(inner).max, left.shape[-1] * np.finfo(inner).eps * sizes, np.inf)
        tiny = left.shape[-1] * float(np.finfo(inner).smallest_subnormal)
        return Reference(result, slack=np.asarray(bound + tiny + units(result, 1), "float64"))


def plain_index(items):
    """The index with arrays for references, copied so that the write cannot change them."""
    def plain(item):
        if isinstance(item, slice):
            ends = [end.__index__() if isinstance(end, Reference) else end for end in (item.start, item.stop)]
            return slice(*ends, item.step)
        if not isinstance(item, Reference):
            return item
        if item.array.dtype == np.uint64 and (item.array > np.iinfo("int64").max).any():
            # NumPy would take it for a negative one.
            raise IndexError("an index that int64 cannot hold")
        return item.array.copy()

    return tuple(plain(item) for item in items) if isinstance(items, tuple) else plain(items)


def check_masks(items, shape):
    """NumPy lets an empty mask have any shape."""
    items = items if isinstance(items, tuple) else (items,)
    used = [one.ndim if isinstance(one, np.ndarray) and one.dtype == bool else 0 if one is None or one is Ellipsis else 1 for one in items]
    axis = 0
    for item, axes in zip(items, used):
        if item is Ellipsis:
            axis += len(shape) - sum(used)
        elif isinstance(item, np.ndarray) and item.dtype == bool and shape[axis : axis + axes] != item.shape:
            raise IndexError(f"mask of shape {item.shape} at axis {axis} of {shape}")
        axis += axes


def element_of(value, name):
    """A Python number as setitem converts it."""
    if CATEGORY[name] == 2:
        if isinstance(value, float) and np.isnan(value):
            raise ValueError("NaN into an integer")
        value = int(value)
        if not np.iinfo(name).min <= value <= np.iinfo(name).max:
            raise OverflowError(f"{value} does not fit {name}")
    return np.array(value).astype(name)


def add_operators():
    """The operators that differ only in the NumPy function."""
    for word, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("truediv", np.divide)):
        def pure(self, other, function=function):
            return Reference(arithmetic(function, self, other))

        def reflected(self, other, function=function):
            return Reference(arithmetic(function, other, self))

        def in_place(self, other, function=function):
            return self.update(arithmetic(function, self, other))

        setattr(Reference, f"__{word}__", pure)
        setattr(Reference, f"__r{word}__", reflected)
        setattr(Reference, f"__i{word}__", in_place)
    for word, function in (("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal),
                           ("eq", np.equal), ("ne", np.not_equal)):
        setattr(Reference, f"__{word}__", lambda self, other, function=function: compare(function, self, other))


add_operators()


class ReferenceModule:
    """The functions of `tc` on references; dtypes are their names."""

    bool, uint8, uint16, uint32, uint64, int8, int16, int32, int64, float16, bfloat16, float32, float64 = DTYPES

    @staticmethod
    def maximum(x, y):
        return Reference(arithmetic(np.maximum, x, y))

    @staticmethod
    def minimum(x, y):
        return Reference(arithmetic(np.minimum, x, y))

    @staticmethod
    def exp(x):
        return transcendental(np.exp, x, OPS["exp"].ulp)

    @staticmethod
    def tanh(x):
        return transcendental(np.tanh, x, OPS["tanh"].ulp)

    @staticmethod
    def sqrt(x):
        # Correctly rounded in its own dtype; a wider one would round twice.
        return Reference(np.sqrt(to_dtype(x, as_float(x.array.dtype.name))))

    @staticmethod
    def square(x):
        if x.array.dtype == bool:
            raise TypeError("square of bools")
        return Reference(arithmetic(np.multiply, x, x))

    @staticmethod
    def logical_not(x):
        return Reference(np.logical_not(truth(x)))

    @staticmethod
    def logical_and(x, y):
        return Reference(np.logical_and(truth(x), truth(y)))

    @staticmethod
    def logical_or(x, y):
        return Reference(np.logical_or(truth(x), truth(y)))

    @staticmethod
    def where(condition, x, y):
        name = promoted([x, y])
        return Reference(np.where(truth(condition), to_dtype(x, name), to_dtype(y, name)))

    @staticmethod
    def concat(tensors, axis=0):
        name = promoted(tensors)
        return Reference(np.concatenate([to_dtype(one, name) for one in tensors], axis))

    @staticmethod
    def cond_take(mask, x):
        if mask.shape != x.shape:
            raise ValueError("shapes differ")
        return Reference(x.array[only_bool(mask)]), Reference(np.flatnonzero(mask.array))

    @staticmethod
    def full(shape, value, dtype):
        return Reference(np.full(shape, value, dtype))

    @staticmethod
    def arange(stop, dtype):
        if np.dtype(dtype).kind in "iu" and stop - 1 > np.iinfo(dtype).max:
            raise OverflowError(f"{stop - 1} does not fit {dtype}")
        return Reference(np.arange(stop, dtype=dtype))


def truth(operand):
    """Conditions of another dtype mean `!= 0`."""
    return reference_cast(operand.array, "bool")


def only_bool(operand):
    if operand.array.dtype != bool:
        raise TypeError("a bool tensor is needed")
    return operand.array
