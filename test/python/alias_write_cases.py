"""Cases of test_trace_aliasing.py about sets and views.

A case is a function of a side (NumPy, eager, traced) that returns (body, captured tensors, arguments of call n).
"""

import numpy as np

CASES = []


def case(make):
    """Register a case."""
    CASES.append(make)
    return make


# ---------------------------------------------------------------------------------------------- sets


@case
def chained_set(side):
    x = side.tensor([0, 0, 0, 0])

    def body(a):
        x[0] = a[0]
        x[1] = x[0] * 2
        x[2] = x[1] + x[0]
        x[3] = x[2] - x[1]
        return x * 1

    return body, [x], lambda call: (side.tensor([call + 1, 0]),)


@case
def chained_set_on_a_temporary(side):
    def body(a):
        y = a * 2
        y[0] = 5
        y[1:] = y[0] + a[1:]
        y[2] = y[1]
        return y, y + 1

    return body, [], lambda call: (side.tensor([1, call, 3, 4 + call]),)


@case
def overlapping_set_forward(side):
    x = side.tensor([1, 2, 3, 4, 5])

    def body(a):
        x[0] = a
        x[1:] = x[:-1]
        return x + 0

    return body, [x], lambda call: (side.tensor(10 * call),)


@case
def overlapping_set_backward(side):
    x = side.tensor([1, 2, 3, 4, 5])

    def body(a):
        x[:-1] = x[1:]
        x[-1] = a
        return x + 0

    return body, [x], lambda call: (side.tensor(10 * call + 1),)


@case
def add_a_reversed_view_to_itself(side):
    x = side.tensor([1, 2, 3, 4, 5, 6])

    def body(a):
        x[::-1] += x
        x[0] = a
        return x + 0

    return body, [x], lambda call: (side.tensor(call),)


@case
def shifted_add_in_two_dimensions(side):
    x = side.tensor(np.arange(16).reshape(4, 4))

    def body(a):
        x[1:, 1:] += x[:-1, :-1]
        x[:, 0] = a
        return x.sum(axis=0)

    return body, [x], lambda call: (side.tensor(np.arange(4) + call),)


@case
def add_the_transpose_to_itself(side):
    x = side.tensor(np.arange(9).reshape(3, 3))

    def body(a):
        x[...] += x.T
        x.T[0] = a
        return x - 1

    return body, [x], lambda call: (side.tensor([call, 1, 2]),)


@case
def row_from_own_column(side):
    x = side.tensor(np.arange(9).reshape(3, 3))

    def body(a):
        x[0] = x[:, 0]
        x[:, 1] = x[0]
        x[2, 2] = a
        return x * 2

    return body, [x], lambda call: (side.tensor(call),)


@case
def swap_elements(side):
    x = side.tensor([1, 2, 3])

    def body(a):
        x[2] = a
        x[0], x[1] = x[1], x[0]
        return x + 0

    return body, [x], lambda call: (side.tensor(call),)


@case
def swap_rows_are_views(side):
    # The rows are views, so as in NumPy both end with the old second row.
    x = side.tensor([[1, 2], [3, 4], [5, 6]])

    def body(a):
        x[0], x[1] = x[1], x[0]
        x[1] += a
        return x + 0

    return body, [x], lambda call: (side.tensor([call, 2 * call]),)


@case
def dead_write_then_real_write(side):
    x = side.tensor([1, 2, 3])

    def body(a):
        x[...] = a * 100
        x[...] = a
        x[1] = 7
        return x.sum()

    return body, [x], lambda call: (side.tensor([call, 0, call + 1]),)


@case
def gather_scatter_on_the_same_tensor(side):
    x = side.tensor([10, 11, 12, 13, 14])
    to, source = side.tensor([0, 2, 4], "int64"), side.tensor([4, 0, 2], "int64")

    def body(a):
        x[to] = x[source]
        x[1] = a
        return x + 0

    return body, [x, to, source], lambda call: (side.tensor(call),)


@case
def repeated_positions_last_wins_and_add_counts_once(side):
    x = side.tensor([0, 0, 0, 0])
    at = side.tensor([1, 1, 3, 1], "int64")

    def body(a):
        x[at] = a
        x[at] += 1
        return x * 1

    return body, [x], lambda call: (side.tensor([call, 10, 20, 30 + call]),)


@case
def index_tensor_written_through_itself(side):
    at = side.tensor([1, 2, 0, 3], "int64")

    def body(a):
        at[at] = at[::-1]
        return at * a

    return body, [at], lambda call: (side.tensor(call + 1, "int64"),)


@case
def mask_written_through_itself(side):
    def body(mask, a):
        kept = a[mask]
        mask[mask] = False
        mask[0] = True
        return kept, a[mask], mask

    def arguments(call):
        return side.tensor([call % 2, 1, 0, call > 2, 1], "bool"), side.tensor([1, 2, 3, 4, 5 + call])

    return body, [], arguments


@case
def masked_assignment_on_a_capture(side):
    x = side.tensor([1, -2, 3, -4, 5])

    def body(a):
        x[x < a] = 0
        x[x > 2] += a
        return x.sum(), x + 0

    return body, [x], lambda call: (side.tensor(call - 1),)


# ---------------------------------------------------------------------------------------------- views


@case
def captured_view_is_written(side):
    x = side.tensor([1, 2, 3, 4])
    view = x[1:3]

    def body(a):
        nonlocal view
        view += a
        return x * 2

    return body, [x, view], lambda call: (side.tensor([call, 5]),)


@case
def captured_view_sees_a_write_to_its_base(side):
    x = side.tensor([1, 2, 3, 4])
    view = x[::2]

    def body(a):
        before = view * 1
        x[...] = x + a
        return before, view * 2

    return body, [x, view], lambda call: (side.tensor([call, 1, call, 2]),)


@case
def two_captured_views_overlap(side):
    x = side.tensor([1, 2, 3, 4, 5])
    head, tail = x[:4], x[1:]

    def body(a):
        head[...] = tail
        tail[...] = head * a
        head[0] += tail[-1]
        return x + 0

    return body, [x, head, tail], lambda call: (side.tensor(call + 1),)


@case
def write_through_a_view_of_a_view(side):
    x = side.tensor(np.arange(12).reshape(3, 4))

    def body(a):
        inner = x[1:][:, ::2]
        inner[0] = a
        x[1:][1][1:] += inner[0, 0]
        inner.T[1] += 100
        return x + 0, inner

    return body, [x], lambda call: (side.tensor([call, call + 1]),)


@case
def view_taken_before_a_write_and_read_after(side):
    def body(a):
        y = a + 1
        view = y[1:]
        early = view * 1
        y[1] = 50
        late = view * 1
        y[...] = 3
        return early, late, view, y

    return body, [], lambda call: (side.tensor([call, 2, 3]),)


@case
def reshape_view_and_reshape_copy(side):
    x = side.tensor(np.arange(6).reshape(2, 3))

    def body(a):
        flat = x.reshape((6,))
        copied = x.T.reshape((6,))
        flat[0] = a
        copied[1] = -1
        return copied, x + 0

    return body, [x], lambda call: (side.tensor(call * 7),)


@case
def view_of_an_argument_is_written(side):
    def body(a):
        tail = a[1:]
        tail[...] = tail * 2
        tail[0] = a[0]
        return a.sum()

    return body, [], lambda call: (side.tensor([call + 1, 2, 3]),)


@case
def returned_view_of_a_capture(side):
    x = side.tensor([1, 2, 3, 4])

    def body(a):
        x[0] = a
        return x[:2]

    return body, [x], lambda call: (side.tensor(call),)


@case
def rows_from_iteration_are_views(side):
    x = side.tensor(np.zeros((3, 2)))

    def body(a):
        for row in x:
            row += a
            a = a * 2
        for element in a:
            element += 1
        return x.sum(axis=0), a

    return body, [x], lambda call: (side.tensor([call, 1]),)


@case
def rank_0_view_against_rank_0_copy(side):
    x = side.tensor([1, 2, 3])

    def body(a):
        view, value = x[0, ...], x[0]
        x[0] = a
        view += 1
        return view * 1, value * 1

    return body, [x], lambda call: (side.tensor(call * 3),)
