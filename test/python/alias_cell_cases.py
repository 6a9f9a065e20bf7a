"""Cases of test_trace_aliasing.py about arguments that share cells, nests, host reads and excluded regions."""

import dataclasses

CASES = []


def case(make):
    """Register a case."""
    CASES.append(make)
    return make


# ---------------------------------------------------------------------------------------------- arguments and cells


@case
def same_cell_passed_twice(side):
    def body(a, b):
        a[0] = 5
        b[1] = a[0] + b[2]
        a += b
        return a + b

    def arguments(call):
        both = side.tensor([call, 1, 2 + call])
        return both, both

    return body, [], arguments


@case
def argument_is_also_captured(side):
    x = side.tensor([1, 2, 3])

    def body(a):
        x[0] += 1
        a[1] = x[0] * 2
        return a + x

    return body, [x], lambda call: (x,)


@case
def argument_is_a_view_of_another(side):
    def body(a, b):
        b += 1
        a[1] *= 10
        return a + 0, b * 2

    def arguments(call):
        whole = side.tensor([call, 2, 3, 4])
        return whole, whole[1:]

    return body, [], arguments


@case
def counter_over_many_replays(side):
    x = side.tensor([0, 100])
    step = side.tensor(0, "int64")

    def body(a):
        nonlocal x, step
        for _ in range(6):
            x += 1
        step += 1
        x *= a
        return step * 1

    return body, [x, step], lambda call: (side.tensor(1 + call % 2),)


@case
def write_between_calls_is_seen(side):
    x = side.tensor([0, 0, 0])

    def body(a):
        x[1] += a
        return x * 2

    def arguments(call):
        x[0] = call
        x[2:] = x[:1] + 1
        return (side.tensor(call + 1),)

    return body, [x], arguments


@case
def results_never_share_storage(side):
    def body(a):
        y = a + 1
        return y, y * 2, (a * 3)[1:]

    return body, [], lambda call: (side.tensor([call, 2 * call, 7]),)


@case
def result_returned_twice_and_its_view(side):
    def body(a):
        y = a * 2
        view = y[1:]
        view[0] = 9
        return y, y, view

    return body, [], lambda call: (side.tensor([call, 1, 2]),)


@case
def result_fed_back_as_argument(side):
    kept = []

    def body(a):
        a[0] += 1
        y = a * 2
        kept[:] = [y]
        return y

    return body, kept, lambda call: (kept[0] if kept else side.tensor([1, 2, 3]),)


@dataclasses.dataclass
class Pair:
    first: object
    second: object


@case
def nested_structures(side):
    weights = {"w": [side.tensor([1, 2]), side.tensor([3, 4])], "none": None}

    def body(batch, pair, *, scale):
        batch["x"][0][0] = pair.first[1]
        weights["w"][1][...] += batch["x"][1]
        pair.second += weights["w"][1]
        return {"y": [batch["x"][0] * scale, (pair.second + 0, None)], "pair": Pair(pair.first * 1, scale * 2)}

    def with_keyword(batch, pair):
        return body(batch, pair, scale=3)

    def arguments(call):
        batch = {"x": (side.tensor([call, 1]), side.tensor([2, call])), "flag": None}
        return batch, Pair(side.tensor([5, call]), side.tensor([0, 1]))

    return with_keyword, weights["w"], arguments


@case
def nested_traced_call_writes_a_capture(side):
    x = side.tensor([1, 2, 3])

    @side.trace
    def inner(b):
        x[0] = b[0]
        b[1] = x[2]
        return x * b

    def body(a):
        y = a + 1
        first = inner(y)
        x[2] += 1
        second = inner(first)
        return first, second, y

    return body, [x], lambda call: (side.tensor([call, 1, 2]),)


# ---------------------------------------------------------------------------------------------- reads and regions


@case
def host_read_between_writes(side):
    x = side.tensor([0, 0, 0], "int64")

    def body(a):
        x[0] = a[0]
        first = x.sum().item()
        x[1] = a[1]
        x[2] = x[0] + x[1]
        second = x.tolist()
        x[...] = x * 2
        return first, second, x + 0

    return body, [x], lambda call: (side.tensor([call, call + 2], "int64"),)


@case
def excluded_region_between_writes(side):
    x = side.tensor([1, 2, 3])
    calls = []

    def body(a):
        calls.append(1)
        x[0] = a
        with side.exclude_from_trace():
            # The factor changes on every call; that is allowed only because the region is excluded.
            outside = x * len(calls)
            x[1] = outside[0] + 1
        x[2] = x[1] + x[0]
        return outside + x

    return body, [x], lambda call: (side.tensor(call + 1),)


@case
def nan_and_signed_zero_constants(side):
    x = side.tensor([1, 2, 3])

    def body(a):
        x[0] = float("nan")
        x[1] = -0.0
        return a * float("nan"), a * -0.0, x * a, x[1] + -0.0

    return body, [x], lambda call: (side.tensor([call, -1, call + 2]),)
