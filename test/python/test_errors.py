"""The error gallery: for each bad program the kind, the op, what was expected and given, the Python line, and the cure.

Every program of GALLERY is one line, so that its own line number is the one the message must show. Programs with tensors
whose contents decide (DATA_GALLERY) also run traced and compiled: the first line of the error must be the same there.
"""

import re

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, line_of


def x23():
    return tc.tensor(np.arange(6, dtype="float32").reshape(2, 3))


def int3():
    return tc.tensor([1, 2, 3])


# (program, kind, words that the message must hold; "a|b" asks for one of them)
GALLERY = [
    (lambda: x23() + tc.ones((4,)), ValueError, ["add", "(2, 3)", "(4,)"]),
    (lambda: tc.mul(x23(), tc.ones((3, 2))), ValueError, ["mul", "(2, 3)", "(3, 2)"]),
    (lambda: x23() < tc.ones((2,)), ValueError, ["(2, 3)", "(2,)"]),
    (lambda: tc.where(x23() > 1, x23(), tc.ones((4,))), ValueError, ["where", "(2, 3)", "(4,)"]),
    (lambda: tc.matmul(x23(), x23()), ValueError, ["matmul", "3", "2"]),
    (lambda: x23() @ tc.tensor(1.0), ValueError, ["matmul", "rank|()"]),
    (lambda: x23().reshape((4, 2)), ValueError, ["reshape", "6", "(4, 2)"]),
    (lambda: x23().reshape((-1, -1)), ValueError, ["reshape", "-1"]),
    (lambda: x23().transpose((0, 0)), ValueError, ["permute|transpose", "0"]),
    (lambda: tc.broadcast_to(x23(), (3, 3)), ValueError, ["broadcast_to", "(2, 3)", "(3, 3)"]),
    (lambda: tc.concat([x23(), tc.ones((2, 2))]), ValueError, ["concat", "3", "2"]),
    (lambda: tc.concat([]), ValueError, ["concat"]),
    (lambda: x23().sum(axis=2), ValueError, ["sum", "axis 2", "2"]),
    (lambda: x23().mean(axis=(1, -1)), ValueError, ["mean", "axis"]),
    (lambda: tc.zeros((0,)).max(), ValueError, ["max"]),
    (lambda: tc.tensor([True]) - tc.tensor([True]), TypeError, ["sub", "bool"]),
    (lambda: int3().__iadd__(1.5), TypeError, ["float32", "int32"]),
    (lambda: int3().__iadd__(tc.ones((2, 3), dtype="int32")), ValueError, ["(3,)", "(2, 3)"]),
    (lambda: int3().astype("uint8") + 300, OverflowError, ["300", "uint8"]),
    (lambda: tc.tensor([2**31]), OverflowError, ["2147483648", "int32", "dtype=tc.int64"]),
    (lambda: tc.tensor([[1, 2], [3]]), ValueError, ["tensor", "ragged"]),
    (lambda: tc.tensor(["a"]), TypeError, ["tensor", "str"]),
    (lambda: tc.tensor([1.0], dtype="complex256"), TypeError, ["complex256"]),
    (lambda: tc.cond_take(tc.tensor([1, 0]), tc.tensor([1, 2])), TypeError, ["cond_take", "bool", "int32"]),
    (lambda: tc.cond_take(tc.tensor([True]), int3()), ValueError, ["cond_take", "(1,)", "(3,)"]),
    (lambda: bool(x23()), ValueError, ["bool", "(2, 3)"]),
    (lambda: x23().item(), ValueError, ["item", "6"]),
    (lambda: tc.arange(0, 5, 0), ValueError, ["arange", "step"]),
    (lambda: int3()[5], IndexError, ["index 5", "axis 0", "size 3"]),
    (lambda: x23()[1, -4], IndexError, ["index -4", "axis 1", "size 3"]),
    (lambda: x23()[[0, 7]], IndexError, ["index 7", "axis 0", "size 2"]),
    (lambda: x23()[0, 0, 0], IndexError, ["too many", "3", "2"]),
    (lambda: x23()[..., ...], IndexError, ["Ellips"]),
    (lambda: x23()[1.0], IndexError, ["float"]),
    (lambda: x23()[[0, 1], [0, 1, 2]], IndexError, ["(2,)", "(3,)"]),
    (lambda: x23()[tc.tensor([True, False, True])], IndexError, ["mask", "(3,)", "2"]),
    (lambda: x23()[::0], ValueError, ["step"]),
    (lambda: x23()[0.5:], TypeError, ["slice", "float"]),
    (lambda: x23().__setitem__(0, tc.ones((2,))), ValueError, ["could not broadcast value of shape (2,) to indexed shape (3,)"]),
    (lambda: int3().__setitem__(0, float("nan")), ValueError, ["NaN", "int32"]),
    (lambda: int3().__setitem__(0, 2**31), OverflowError, ["2147483648", "int32"]),
    (lambda: tc.broadcast_to(int3(), (2, 3)).__setitem__(0, 1), ValueError, ["read-only"]),
    (lambda: int3().__delitem__(0), ValueError, ["del"]),
]


def compact(text):
    """Case and the spaces and last commas of shapes do not matter."""
    return text.lower().replace(" ", "").replace(",)", ")")


def check_parts(error, words, line):
    text = str(error)
    assert re.search(r"\bTC\d{4}\b", text), f"no code: {text}"
    assert line in text, f"no {line}: {text}"
    for word in words:
        assert any(compact(choice) in compact(text) for choice in word.split("|")), f"no {word!r}: {text}"
    assert not re.search(r"\.(cpp|h|td|so)\b|0x[0-9a-f]{6}|std::|tracert::|Assertion", text), text
    # The cure: a sentence that tells the user what to write.
    assert re.search(r"\b(use|write|pass|reshape|cast|convert|give|check|make|choose|try|call|index|add)\b", text, re.I), f"no cure: {text}"


@pytest.mark.parametrize("program, kind, words", GALLERY, ids=[f"{i}-{kind.__name__}" for i, (_, kind, _) in enumerate(GALLERY)])
def test_gallery(program, kind, words):
    with pytest.raises(kind) as caught:
        program()
    assert not isinstance(caught.value, tc.TraceError)
    check_parts(caught.value, words, f"test_errors.py:{program.__code__.co_firstlineno}")
    assert_same(tc.tensor([1]) + 1, np.int32([2]))


@pytest.mark.parametrize("program, kind, words", GALLERY, ids=[f"{i}-{kind.__name__}" for i, (_, kind, _) in enumerate(GALLERY)])
def test_gallery_while_recording(program, kind, words):
    """A bad program inside a traced function gives the same error, and the trace stays usable."""
    bad = True

    def body(a):
        b = a * 2
        if bad:
            program()
        return b + 1

    function = tc.trace(body)
    with pytest.raises(kind) as eager:
        program()
    with pytest.raises(kind) as recorded:
        function(tc.tensor([1.0]))
    assert str(recorded.value).splitlines()[0] == str(eager.value).splitlines()[0]
    assert function.state == "untraced"
    bad = False
    for _ in range(3):
        assert_same(function(tc.tensor([1.0])), np.float32([3]))


# ---------------------------------------------------------------------------------------------- errors decided by data


def gather(x, at):
    return x[at] * 2


def gather_of_a_slice(x, at):
    return (x[1:] + 1)[at]


def scatter(x, at):
    y = x * 1
    y[at] = 5
    return y


def scatter_values_by_mask(x, at):
    y = x * 1
    y[at > 1] = x[:2]
    return y


def mask_meets_dim(x, at):
    return x[at > 1] + x[:2]


def max_of_selected(x, at):
    return x[at > 1].max()


# (body, indices that work, indices that fail, kind, words)
DATA_GALLERY = [
    (gather, [0, 3, -4], [0, 9, 4], IndexError, ["index 9", "axis 0", "size 4"]),
    (gather, [0, 3, -4], [-5, 0, 0], IndexError, ["index -5", "axis 0", "size 4"]),
    (gather_of_a_slice, [0, 2, -3], [0, 7, 0], IndexError, ["index 7", "axis 0", "size 3"]),
    (scatter, [0, 1, 2], [0, 1, 1000], IndexError, ["index 1000", "axis 0", "size 4"]),
    (scatter_values_by_mask, [2, 2, 0, 0], [2, 2, 2, 0], ValueError, ["2", "3"]),
    (mask_meets_dim, [0, 2, 2, 0], [2, 2, 2, 0], ValueError, ["add", "2", "3"]),
    (mask_meets_dim, [2, 2, 0, 0], [0, 0, 0, 0], ValueError, ["add", "0", "2"]),
    (max_of_selected, [2, 2, 0, 0], [0, 0, 0, 0], ValueError, ["max"]),
]


@pytest.mark.parametrize("body, good, bad, kind, words", DATA_GALLERY, ids=[f"{i}-{row[0].__name__}" for i, row in enumerate(DATA_GALLERY)])
def test_data_errors_are_the_same_eagerly_and_compiled(body, good, bad, kind, words):
    x = tc.tensor([1.0, 2.0, 3.0, 4.0])
    good, bad = tc.tensor(good), tc.tensor(bad)
    with pytest.raises(kind) as eager:
        body(x, bad)
    lines = range(body.__code__.co_firstlineno, body.__code__.co_firstlineno + 5)
    shown = re.search(r"test_errors\.py:(\d+)", str(eager.value))
    assert shown and int(shown[1]) in lines, str(eager.value)
    check_parts(eager.value, words, shown[0])
    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(x, good), body(x, good))
    assert function.state == "compiled"
    for _ in range(2):
        with pytest.raises(kind) as compiled:
            function(x, bad)
        assert type(compiled.value) is type(eager.value)
        assert str(compiled.value).splitlines()[0] == str(eager.value).splitlines()[0]
        check_parts(compiled.value, words, shown[0])
        assert_same(function(x, good), body(x, good))
    assert_same(x, np.float32([1, 2, 3, 4]))


def test_first_error_in_program_order():
    def body(x, first, second):
        a = x[first]  # @first
        b = x[second]
        return a + b

    x, good = tc.tensor([1.0, 2.0]), tc.tensor([0, 1])
    function = tc.trace(body)
    for _ in range(3):
        function(x, good, good)
    with pytest.raises(IndexError, match="77") as caught:
        function(x, tc.tensor([0, 77]), tc.tensor([0, 88]))
    assert line_of(body, "first") in str(caught.value)
    with pytest.raises(IndexError, match="88"):
        function(x, good, tc.tensor([0, 88]))


def test_the_line_is_the_users_even_through_helpers():
    def helper(t):
        return t[5]  # @bad

    with pytest.raises(IndexError) as caught:
        helper(int3())
    assert line_of(helper, "bad") in str(caught.value)


# ---------------------------------------------------------------------------------------------- options and wrong calls


def test_unknown_options_are_value_errors():
    with pytest.raises(ValueError, match="sse2"):
        with tc.options(section="sse2"):
            pass
    with pytest.raises((TypeError, ValueError), match="no_such_option"):
        with tc.options(no_such_option=1):
            pass
    with pytest.raises(ValueError):
        with tc.options(threads=0):
            pass


@pytest.mark.parametrize(
    "apply",
    [
        lambda: tc.add(),
        lambda: tc.add(int3()),
        lambda: tc.add(int3(), int3(), int3()),
        lambda: tc.sum(),
        lambda: tc.sum(int3(), axes=0),
        lambda: tc.where(int3() > 1, int3()),
        lambda: tc.exp("a"),
        lambda: tc.concat(5),
        lambda: tc.reshape(int3(), "a"),
        lambda: tc.full((2.5,), 1),
        lambda: tc.zeros(("a",)),
        lambda: tc.arange("a"),
        lambda: tc.matmul(int3(), None),
        lambda: tc.Tensor.sum(5),
        lambda: tc.trace(5),
    ],
)
def test_wrong_arguments_are_type_errors(apply):
    with pytest.raises(TypeError) as caught:
        apply()
    assert str(caught.value)


def test_negative_and_huge_sizes():
    for shape in ((-1,), (2, -3)):
        with pytest.raises(ValueError):
            tc.zeros(shape)
    for shape in ((2**62, 2**62), (2**40, 2**20)):
        with pytest.raises((MemoryError, ValueError, OverflowError)):
            tc.zeros(shape)
    with pytest.raises(ValueError):
        tc.ones((1,) * 65)
    assert tc.ones((1,) * 64).ndim == 64
