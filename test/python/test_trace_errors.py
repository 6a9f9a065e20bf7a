"""TraceError: every reason that a one-device program can reach, its op number, both Python lines, and what stays usable.

Ops are numbered from 0 in program order. Marker comments (`# @then`, `# @now`) name the two lines a mismatch must show.
"""

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, line_of, to_numpy

X = np.float32([1, 2, 3])
Y = np.float32([10, 20, 30])


class Mode:
    """What the body does now; the body reads it as a Python value, so it is not part of the trace."""

    value = None


def expect_trace_error(body, recorded, now, *, reason, op_index=None, then_line=None, now_line=None, arguments=None):
    """Record and replay under mode `recorded`, then call under mode `now`: the error; then the trace works again."""
    arguments = arguments or (lambda: (tc.tensor(X), tc.tensor(Y)))
    Mode.value = recorded
    expected = body(*arguments())
    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(*arguments()), expected)
    Mode.value = now
    for _ in range(2):
        with pytest.raises(tc.TraceError) as caught:
            function(*arguments())
        error = caught.value
        assert error.reason == reason
        check_message(error)
        if op_index is not None:
            assert error.op_index == op_index
            assert str(op_index) in str(error)
        if then_line is not None:
            assert error.then_line.endswith(line_of(body, then_line))
            assert line_of(body, then_line) in str(error)
        if now_line is not None:
            assert error.now_line.endswith(line_of(body, now_line))
            assert line_of(body, now_line) in str(error)
    # No recorder may be left on the stack, and the recorded program must still run.
    assert_same(tc.tensor(X) + tc.tensor(Y), X + Y)
    Mode.value = recorded
    assert_same(function(*arguments()), expected)
    assert function.state == "compiled"
    return error


def check_message(error):
    assert isinstance(error.code, str) and error.code.startswith("TC") and len(error.code) == 6 and error.code[2:].isdigit()
    text = str(error)
    assert error.code in text
    # It must say what to do, so more than the fact that something differs.
    assert any(word in text for word in ("write", "use", "trace ", "pass", "make", "move", "call")), text
    assert "0x" not in text and ".cpp" not in text, text


# ---------------------------------------------------------------------------------------------- op against op


def test_operator():
    def body(x, y):
        a = x + y
        if Mode.value == "mul":
            b = a * y  # @then
        else:
            b = a / y  # @now
        return b - x

    error = expect_trace_error(body, "mul", "div", reason="operator", op_index=1, then_line="then", now_line="now")
    assert "mul" in str(error) and "div" in str(error)


def test_operator_at_the_first_op():
    def body(x, y):
        if Mode.value:
            return x + y  # @then
        return x < y  # @now

    expect_trace_error(body, True, False, reason="operator", op_index=0, then_line="then", now_line="now")


def test_operator_when_a_set_becomes_an_add():
    def body(x, y):
        a = x * y
        if Mode.value:
            a[1:] = 2.0  # @then
        else:
            a += 2.0  # @now
        return a + 0.0

    expect_trace_error(body, True, False, reason="operator", op_index=1, then_line="then", now_line="now")


def test_attribute_of_a_reduction():
    def body(x, y):
        m = x.reshape((3, 1)) * y
        if Mode.value == 0:
            s = m.sum(axis=0)  # @then
        else:
            s = m.sum(axis=1)  # @now
        return s + y

    error = expect_trace_error(body, 0, 1, reason="attribute", then_line="then", now_line="now")
    assert "sum" in str(error) and "0" in str(error) and "1" in str(error)


@pytest.mark.parametrize(
    "recorded, now, apply",
    [
        (False, True, lambda m, mode: m.sum(axis=0, keepdims=mode)),
        ((1, 0, 2), (2, 0, 1), lambda m, mode: m.transpose(mode) * 2),
        (0, 1, lambda m, mode: tc.concat([m, m], axis=mode)),
        ("int32", "int64", lambda m, mode: m.astype(mode)),
        (1, 2, lambda m, mode: m[mode]),
        (1, 2, lambda m, mode: m[mode:]),
        (2, -1, lambda m, mode: m[::mode]),
        (None, slice(None), lambda m, mode: m[mode, 0]),
    ],
    ids=["keepdims", "permute", "concat-axis", "cast-dtype", "int-item", "slice-begin", "slice-step", "new-axis"],
)
def test_attribute(recorded, now, apply):
    def body(x, y):
        m = x.reshape((3, 1, 1)) * y
        return apply(m, Mode.value)

    expect_trace_error(body, recorded, now, reason="attribute")


def test_input_count():
    def body(x, y):
        a = x + y
        parts = [a] * Mode.value
        joined = tc.concat(parts)  # @same
        return joined * 2.0

    error = expect_trace_error(body, 2, 3, reason="input count", op_index=1, then_line="same", now_line="same")
    assert "2" in str(error) and "3" in str(error) and "concat" in str(error)


def test_operand_identity_of_two_results():
    def body(x, y):
        a = x + y
        b = x * y
        if Mode.value:
            c = a - y  # @then
        else:
            c = b - y  # @now
        return c

    expect_trace_error(body, True, False, reason="operand identity", op_index=2, then_line="then", now_line="now")


def test_operand_identity_of_swapped_operands():
    def body(x, y):
        first, second = (x, y) if Mode.value else (y, x)
        a = first - second  # @same
        return a

    expect_trace_error(body, True, False, reason="operand identity", op_index=0, then_line="same", now_line="same")


def test_operand_identity_of_two_captures():
    first, second = tc.tensor(X), tc.tensor(Y)

    def body(x, y):
        captured = first if Mode.value else second
        a = x * captured  # @same
        return a + y

    expect_trace_error(body, True, False, reason="operand identity", op_index=0, then_line="same", now_line="same")


def test_operand_identity_after_a_write_that_was_not_recorded_there():
    """The write is the same op on the same operands, but it lands in another cell."""
    def body(x, y):
        a, b = x * 1.0, x * 1.0
        target = a if Mode.value else b
        target[0] = y[0]
        return a + b * 2.0

    expect_trace_error(body, True, False, reason="operand identity")


def test_external_now_recorded_internal():
    captured = tc.tensor(Y)

    def body(x, y):
        a = x + y
        if Mode.value:
            b = a * y  # @then
        else:
            b = captured * y  # @now
        return b

    expect_trace_error(body, True, False, reason="external", op_index=1, then_line="then", now_line="now")


def test_internal_now_recorded_external():
    captured = tc.tensor(Y)

    def body(x, y):
        a = x + y
        if Mode.value:
            b = captured * y  # @then
        else:
            b = a * y  # @now
        return b

    expect_trace_error(body, True, False, reason="external", op_index=1, then_line="then", now_line="now")


def test_too_many_ops():
    def body(x, y):
        a = x + y
        b = a * y
        if Mode.value == "more":
            b = b - x  # @now
        return b

    expect_trace_error(body, "less", "more", reason="too many ops", op_index=2, now_line="now")


def test_too_few_ops():
    def body(x, y):
        a = x + y
        if Mode.value == "less":
            return a
        return a * y  # @then

    expect_trace_error(body, "more", "less", reason="too few ops", op_index=1, then_line="then")


# ---------------------------------------------------------------------------------------------- constants


@pytest.mark.parametrize(
    "recorded, now",
    [
        (0.5, 0.25),
        (1, 2),
        (1, True),
        (1, 1.0),
        (True, 1.0),
        (0.0, -0.0),
        (float("nan"), 1.0),
        (1.0, float("nan")),
        (np.float32(2), np.float32(3)),
        (np.float32(1), np.int32(1)),
    ],
)
def test_constant(recorded, now):
    def body(x, y):
        a = x + y
        b = a * Mode.value  # @same
        return b

    expect_trace_error(body, recorded, now, reason="constant", op_index=1, then_line="same", now_line="same")


@pytest.mark.parametrize("value", [float("nan"), -0.0, float("inf"), True, 3, np.float32("nan")])
def test_equal_constants_are_no_error(value):
    """A fresh object of the same type and bits is the same constant; NaN equals itself."""
    def body(x, y):
        constant = type(value)(value)
        return x * constant + y

    function = tc.trace(body)
    for _ in range(4):
        assert_same(function(tc.tensor(X), tc.tensor(Y)), body(tc.tensor(X), tc.tensor(Y)))
    assert function.state == "compiled"


@pytest.mark.parametrize("change", ["value", "dtype", "nan"])
def test_constant_array(change):
    """A NumPy array operand is a constant that is compared on every call."""
    arrays = {
        "recorded": np.float32([1, np.nan, 3]),
        "value": np.float32([1, np.nan, 4]),
        "dtype": np.float64([1, np.nan, 3]),
        "nan": np.float32([1, 2, 3]),
    }

    def body(x, y):
        return x * arrays[Mode.value].copy() + y

    error = expect_trace_error(body, "recorded", change, reason="constant", op_index=0)
    assert error.then_line == error.now_line


def test_tensor_made_in_the_body_is_a_constant():
    """Data that Python hands to tc.tensor() inside the body is part of the record, compared on every call."""
    def body(x, y):
        table = tc.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, Mode.value]])
        at = tc.tensor([1, 0])
        return table[at] * x + y

    expect_trace_error(body, 6.0, 7.0, reason="constant")


def test_tensor_of_tensors_in_the_body_is_a_stack():
    def body(x, y):
        return tc.tensor([x, y * 2.0, x]) + 1.0

    function = tc.trace(body)
    for call in range(4):
        x, y = tc.tensor(X + np.float32(call)), tc.tensor(Y)
        assert_same(function(x, y), np.stack([to_numpy(x), to_numpy(y) * 2, to_numpy(x)]) + np.float32(1))


def test_constant_of_a_set():
    x = tc.tensor([1.0, 2.0, 3.0])

    def body(a, b):
        x[0] = Mode.value  # @same
        return x * a + b

    expect_trace_error(body, 7.0, 8.0, reason="constant", then_line="same", now_line="same")
    assert_same(x, np.float32([7, 2, 3]))


def test_constant_that_came_from_a_host_read():
    """The classic frozen value: a number read from a tensor goes back in as a Python number."""
    def body(x, y):
        total = x.sum().item()
        return y * total  # @same

    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(tc.tensor(X), tc.tensor(Y)), Y * np.float32(6))
    with pytest.raises(tc.TraceError) as caught:
        function(tc.tensor(X * 2), tc.tensor(Y))
    assert caught.value.reason == "constant"
    assert caught.value.now_line.endswith(line_of(body, "same"))
    check_message(caught.value)
    assert_same(function(tc.tensor(X), tc.tensor(Y)), Y * np.float32(6))


# ---------------------------------------------------------------------------------------------- dtype, reads, structure


def test_dtype_of_an_argument():
    def body(x, y):
        return x + y  # @same

    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(tc.tensor(X), tc.tensor(Y)), X + Y)
    with pytest.raises(tc.TraceError) as caught:
        function(tc.tensor(X.astype("float64")), tc.tensor(Y.astype("float64")))
    assert caught.value.reason == "dtype"
    assert "float32" in str(caught.value) and "float64" in str(caught.value)
    check_message(caught.value)
    assert_same(function(tc.tensor(X), tc.tensor(Y)), X + Y)


def test_dtype_of_an_excluded_result():
    def body(x, y):
        with tc.exclude_from_trace():
            outside = x.astype(Mode.value)
        a = outside * 2  # @same
        return a, y * 3.0

    expect_trace_error(body, "int32", "int64", reason="dtype", then_line="same", now_line="same")


@pytest.mark.parametrize("read", ["item", "tolist", "numpy", "__bool__", "__float__"])
def test_unrecorded_read(read):
    def body(x, y):
        a = (x * y).sum()
        if Mode.value:
            getattr(a, read)()  # @now
        return a + y

    expect_trace_error(body, False, True, reason="unrecorded read", now_line="now")


def test_read_of_an_argument_is_not_a_read_of_a_result():
    """Reading what was there before the call needs nothing from the Program, so it is always allowed."""
    def body(x, y):
        if Mode.value:
            assert x.tolist() == [1.0, 2.0, 3.0]
        return x + y

    function = tc.trace(body)
    for Mode.value in (False, False, True, True, False):
        assert_same(function(tc.tensor(X), tc.tensor(Y)), X + Y)


@pytest.mark.parametrize(
    "recorded, now",
    [
        (lambda x, y: [x, y], lambda x, y: [x]),
        (lambda x, y: [x, y], lambda x, y: (x, y)),
        (lambda x, y: {"a": x, "b": y}, lambda x, y: {"a": x, "c": y}),
        (lambda x, y: [x, None], lambda x, y: [x, y]),
        (lambda x, y: [x, y], lambda x, y: [x, [y]]),
        (lambda x, y: [x, y], lambda x, y: [x, 1.0]),
    ],
    ids=["length", "list-tuple", "dict-key", "none", "nest", "tensor-number"],
)
def test_argument_structure(recorded, now):
    def body(nest):
        first = nest["a"] if isinstance(nest, dict) else nest[0]
        return first * 2.0

    function = tc.trace(body)
    for _ in range(3):
        assert_same(function(recorded(tc.tensor(X), tc.tensor(Y))), X * np.float32(2))
    with pytest.raises(tc.TraceError) as caught:
        function(now(tc.tensor(X), tc.tensor(Y)))
    assert caught.value.reason == "argument structure"
    check_message(caught.value)
    assert "nest" in str(caught.value)
    assert_same(function(recorded(tc.tensor(X), tc.tensor(Y))), X * np.float32(2))


def test_dict_order_defaults_and_keywords_are_no_structure():
    def body(nest, scale=2.0, *, shift=1.0):
        return nest["a"] * scale + nest["b"] + shift

    function = tc.trace(body)
    x, y = tc.tensor(X), tc.tensor(Y)
    expected = X * np.float32(2) + Y + np.float32(1)
    assert_same(function({"a": x, "b": y}), expected)
    assert_same(function({"b": y, "a": x}), expected)
    assert_same(function({"a": x, "b": y}, 2.0, shift=1.0), expected)
    assert_same(function(shift=1.0, nest={"b": y, "a": x}), expected)
    assert function.state == "compiled"


def test_wrong_call_signature_is_a_type_error():
    function = tc.trace(lambda x: x + 1.0)
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(tc.tensor(X), other=1)
    assert function.state == "untraced"
    assert_same(function(tc.tensor(X)), X + np.float32(1))


# ---------------------------------------------------------------------------------------------- state and shape of the object


def test_states():
    function = tc.trace(lambda x: x + 1.0)
    assert function.state == "untraced"
    function(tc.tensor(X))
    assert function.state == "traced"
    function(tc.tensor(X))
    assert function.state == "compiled"


def test_trace_error_is_not_another_kind():
    for kind in (TypeError, ValueError, IndexError, OverflowError):
        assert not issubclass(tc.TraceError, kind)
    assert issubclass(tc.TraceError, Exception)


def test_eager_error_in_a_replay_keeps_its_kind():
    """A shape error of the body is what eager gives, not a TraceError."""
    def body(x, y):
        return x + y

    function = tc.trace(body)
    for _ in range(3):
        function(tc.tensor(X), tc.tensor(Y))
    with pytest.raises(ValueError, match=r"\(?3,?\)?.*\(?4,?\)?"):
        function(tc.tensor(X), tc.tensor(np.zeros(4, "float32")))
    assert_same(function(tc.tensor(X), tc.tensor(Y)), X + Y)


def test_graph_shows_ops_and_python_lines():
    def body(x, y):
        a = x + y  # @add
        return tc.exp(a)  # @exp

    function = tc.trace(body)
    function(tc.tensor(X), tc.tensor(Y))
    text = str(function.graph)
    assert "trace.add" in text and "trace.exp" in text
    assert text.index("trace.add") < text.index("trace.exp")
    for marker in ("add", "exp"):
        name, line = line_of(body, marker).split(":")
        assert name in text and line in text
    explained = function.explain()
    assert isinstance(explained, str) and "body" in explained


def test_decorator_forms():
    @tc.trace
    def plain(x):
        """Doc."""
        return x * 2.0

    @tc.trace(symbolic=False)
    def with_options(x):
        return x * 3.0

    class Model:
        def __init__(self, factor):
            self.factor = tc.tensor(factor)

        @tc.trace
        def step(self, x):
            return x * self.factor

    assert plain.__name__ == "plain" and plain.__doc__ == "Doc."
    model = Model(5.0)
    for _ in range(3):
        assert_same(plain(tc.tensor(X)), X * np.float32(2))
        assert_same(with_options(tc.tensor(X)), X * np.float32(3))
        assert_same(model.step(tc.tensor(X)), X * np.float32(5))
    with pytest.raises(TypeError, match="no_such_option"):
        tc.trace(no_such_option=True)
