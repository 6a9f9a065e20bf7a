"""A file's inputs are the function's parameters, whatever was aliased or viewed in the recorded call."""

import dataclasses

import numpy as np
import pytest

import tracec as tc

SECTIONS = tc.stats.runnable_sections()


def array(*shape):
    return (np.arange(np.prod(shape, dtype=int)) % 7 + 1).reshape(shape).astype("float32")


def call_file(path, arrays, section):
    results = tc.load(path, section=section)(*(tc.tensor(one) for one in arrays))
    return [one.numpy() for one in (results if isinstance(results, tuple) else (results,))]


def eager(function, arrays):
    """Results, then written arguments in order."""
    tensors = [tc.tensor(one) for one in arrays]
    results = function(*tensors)
    results = list(results) if isinstance(results, tuple) else [results]
    written = [tensor for tensor, one in zip(tensors, arrays) if tensor.numpy().tobytes() != one.tobytes()]
    return [one.numpy() for one in results + written]


def same(left, right):
    return len(left) == len(right) and all(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes() for a, b in zip(left, right))


def add(x, y):
    return x + y * 2


def add_in_place(x, y):
    x += y
    return x * y


def first_row(x):
    return x[0] * 2


def write_row(x):
    x[0] = 5
    return x.sum(axis=0)


def write_flat(x):
    x.reshape(-1)[1:3] = 7
    return x + 1


def both(x, y):
    x[:1] = 3
    return x.sum(), y + x.shape[0]


def transposed(x):
    y = x.reshape(-1)
    y += 1
    return x * 2


# function, arguments of the recorded call made from one base, shapes of later calls
CASES = [
    (add, lambda b: (b, b), [(3, 4), (3, 4)]),
    (add, lambda b: (b[1:], b[:-1]), [(2, 4), (2, 4)]),
    (add_in_place, lambda b: (b, b), [(3, 4), (3, 4)]),
    (add_in_place, lambda b: (b[0], b), None),
    (add_in_place, lambda b: (b, b[0]), [(3, 4), (4,)]),
    (add_in_place, lambda b: (b[:2], b[1:]), [(2, 4), (2, 4)]),
    (first_row, lambda b: (b[1:],), [(2, 4)]),
    (first_row, lambda b: (b.T,), [(4, 3)]),
    (write_row, lambda b: (b[1:],), [(2, 4)]),
    (write_row, lambda b: (b.T,), [(4, 3)]),
    (write_row, lambda b: (b[::-1, 1:],), [(3, 3)]),
    (write_flat, lambda b: (b[1:],), [(2, 4)]),
    (write_flat, lambda b: (b[:, :2],), [(3, 2)]),
    (both, lambda b: (b, b), [(3, 4), (3, 4)]),
    (both, lambda b: (b[1:], b), [(2, 4), (3, 4)]),
    (transposed, lambda b: (b.T,), [(4, 3)]),
]
IDS = [f"{function.__name__}-{number}" for number, (function, _, _) in enumerate(CASES)]


@pytest.mark.parametrize("opt_level", [0, 2])
@pytest.mark.parametrize("function, arguments, shapes", CASES, ids=IDS)
def test_signature_follows_the_parameters(function, arguments, shapes, opt_level, tmp_path):
    traced = tc.trace(function, opt_level=opt_level)
    base = tc.tensor(array(3, 4))
    if shapes is None:
        with pytest.raises(ValueError):
            traced(*arguments(base))
        return
    traced(*arguments(base))
    before = base.numpy().copy()
    path = tmp_path / "signature.trc"
    traced.dump(path)
    assert base.numpy().tobytes() == before.tobytes(), "dump() has written"
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    assert [entry.name for entry in tc.load(path).signature.inputs] == list(names)
    for section in SECTIONS:
        for extra in (0, 3):
            arrays = [array(shape[0] + extra, *shape[1:]) if len(shape) > 1 else array(*shape) for shape in shapes]
            arrays = [one + number for number, one in enumerate(arrays)]
            assert same(call_file(path, arrays, section), eager(function, arrays)), section
    # The trace goes on as it was.
    again = tc.tensor(array(3, 4))
    want = tc.tensor(array(3, 4))
    got, expected = traced(*arguments(again)), function(*arguments(want))
    assert same([again.numpy()], [want.numpy()])
    assert same([one.numpy() for one in (got if isinstance(got, tuple) else (got,))],
                [one.numpy() for one in (expected if isinstance(expected, tuple) else (expected,))])


def test_captures_and_python_state_after_a_dump(tmp_path):
    state, calls = tc.ones((2,)), []

    @tc.trace
    def body(x, y):
        nonlocal state
        calls.append(len(calls))
        state += x
        return state * y

    x = tc.tensor([1.0, 2.0])
    body(x, x)
    body.dump(tmp_path / "state.trc")
    # The body ran once more, and what it wrote to tensors is gone.
    assert len(calls) == 2 and state.tolist() == [2, 3]
    body.dump(tmp_path / "again.trc")
    assert len(calls) == 2
    assert (tmp_path / "state.trc").read_bytes() == (tmp_path / "again.trc").read_bytes()
    model = tc.load(tmp_path / "state.trc")
    assert [entry.name for entry in model.signature.inputs if not entry.is_state] == ["x", "y"]
    assert model(tc.tensor([1.0, 1.0]), tc.tensor([2.0, 10.0])).tolist() == [6, 40]
    assert body(x, x).tolist() == [3, 10] and state.tolist() == [3, 5]


@dataclasses.dataclass
class Pair:
    first: tc.Tensor
    rest: dict


def test_nests_of_shared_tensors(tmp_path):
    @tc.trace
    def body(pair, scale=2, *, more=()):
        return pair.first * scale + pair.rest["b"] - pair.rest["a"][0] + more[0]

    x = tc.tensor([1.0, 2.0])
    body(Pair(x, {"b": x, "a": [x]}), more=(x,))
    body.dump(tmp_path / "nest.trc")
    model = tc.load(tmp_path / "nest.trc")
    assert [entry.name for entry in model.signature.inputs] == ["pair.first", "pair.rest['a'][0]", "pair.rest['b']", "more[0]"]
    values = [tc.tensor([v, v]) for v in (1.0, 20.0, 300.0, 4000.0)]
    assert model(*values).tolist() == [2 + 300 - 20 + 4000] * 2


def test_error_of_the_second_run_says_why(tmp_path):
    runs = []

    @tc.trace
    def body(x, y):
        runs.append(1)
        if len(runs) > 1:
            raise RuntimeError("not twice")
        return x + y

    x = tc.ones((2,))
    body(x, x)
    with pytest.raises(RuntimeError, match="not twice") as caught:
        body.dump(tmp_path / "no.trc")
    assert "recorded the function once more" in caught.value.__notes__[0]
    assert not (tmp_path / "no.trc").exists()


def test_large_shared_tensor_that_is_gone(tmp_path):
    @tc.trace
    def body(x, y):
        return x + y

    x = tc.zeros((1 << 20,))
    body(x, x)
    del x
    with pytest.raises(ValueError, match="share memory.*'x' is gone"):
        body.dump(tmp_path / "gone.trc")
    body(tc.zeros((4,)), tc.zeros((4,)))
    body.dump(tmp_path / "gone.trc")
