"""Traced against eager, bit for bit: every op of the set, changing sizes without a compile, data-dependent counts.

NumPy stands beside where exact arithmetic allows; elsewhere the eager result, which other files check, is the reference.
"""

import threading

import numpy as np
import pytest

import tracec as tc
from checks import DTYPES, FLOAT_DTYPES, assert_same, sample, snapshot, special_values
from paths import launches_between, needs_kernels, really_on

FOUR = tc.tensor([0, -1, 1, 0])
SIZES = [(3, 4), (5, 4), (2, 9), (6, 6), (40, 3), (2, 2), (17, 33)]


def check_calls(body, calls):
    """Run the body eagerly and traced on each argument list; all results must agree, also when read after all calls."""
    function = tc.trace(body)
    results = []
    for number, arguments in enumerate(calls):
        expected = body(*[tc.tensor(a) for a in arguments])
        results.append((function(*[tc.tensor(a) for a in arguments]), expected))
        assert_same(snapshot(results[-1][0]), snapshot(expected), f"call {number}")
    for number, (got, expected) in enumerate(results):
        assert_same(got, expected, f"call {number}, read at the end")
    assert function.state == "compiled"
    return function


def arguments_of(dtype, sizes=SIZES):
    return [[sample(size, dtype, 1), sample(size, dtype, 2), sample(size, "bool", 3)] for size in sizes]


# ---------------------------------------------------------------------------------------------- every op


def arithmetic(x, y, m):
    if x.dtype == tc.bool:
        return x + y, x * y, x / y
    return x + y, x - y, x * y, x / y, 1 - x, x * 2, (x + y) * (x - y)


def comparisons(x, y, m):
    return x == y, x != y, x < y, x <= y, x > y, x >= y, x == 1, (x < y) == m


def logic(x, y, m):
    a, b = x > y, x == y
    return tc.logical_and(a, m), tc.logical_or(b, m), tc.logical_not(a), tc.logical_or(tc.logical_not(m), a)


def elementary(x, y, m):
    return tc.exp(x), tc.tanh(y), tc.sqrt(x * x), tc.tanh(tc.exp(x) * 0.25)


def selection(x, y, m):
    return tc.where(m, x, y), tc.minimum(x, y), tc.maximum(x, y), tc.where(x < y, x, 1)


def casts(x, y, m):
    return [x.astype(name) for name in DTYPES] + [(x * y).astype("float32").astype("uint8")]


def reductions(x, y, m):
    rows = [x.sum(axis=1), x.mean(axis=0), x.max(axis=1, keepdims=True), x.sum(), x.mean(), x.max(), m.sum(axis=0)]
    return rows + [(x * y).sum(axis=0), x.sum(axis=(0, 1), keepdims=True)]


def shapes(x, y, m):
    flat = x.reshape((-1,))
    return flat, x.T, x.transpose((1, 0)) * y.T, tc.broadcast_to(x, (3, *x.shape)) + 1, tc.concat([x, y, x]), tc.concat([x, y.T[:0].T, y], axis=1)


def creation(x, y, m):
    return x + tc.full((1,), 1, dtype=x.dtype), tc.arange(5), tc.arange(2.0, 4.0, 0.25), tc.zeros((2, 3)), tc.ones((2,), dtype="int64")


def products(x, y, m):
    return tc.matmul(x, y.T), x.T @ y, x @ y[0], y[0] @ x[0]


def basic_indexing(x, y, m):
    return x[1:], x[::-1, ::2], x[-1], x[:, None, 1], x[0, 1], x[..., -2:], x[1:, 1:] * y[:-1, :-1], x[:0]


def basic_sets(x, y, m):
    z = x * 1
    z[0] = y[1]
    z[:, -1] = 3
    z[1:, 1:] = z[:-1, :-1]
    z[::-1] = z
    return z


def advanced_indexing(x, y, m):
    reads = x[FOUR], x[:, [1, 0]], x[FOUR, [1, 0, -1, 1]], x[FOUR[:, None], [1, 0]]
    return *reads, x[m], y[m][:1], x[m[:, 0]], x[:, m[0]], x[m[:, 0], 1]


def advanced_sets(x, y, m):
    z, w = x * 1, y * 1
    z[[0, -1]] = y[:2]
    z[m] = 0
    w[m] = x[m]
    w[:, [0, 1, 0]] = x[:, 1:2]
    return z, w


def taking(x, y, m):
    values, positions = tc.cond_take(m, x)
    return values, positions, values + values, positions * 2


BODIES = [arithmetic, comparisons, logic, elementary, selection, casts, reductions, shapes, creation, products]
BODIES += [basic_indexing, basic_sets, advanced_indexing, advanced_sets, taking]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.__name__)
def test_traced_equals_eager_over_sizes(body, dtype):
    check_calls(body, arguments_of(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("body", [arithmetic, comparisons, elementary, selection, casts], ids=lambda body: body.__name__)
def test_special_values(body, dtype):
    left, right = np.meshgrid(special_values(dtype), special_values(dtype))
    masks = [sample(left.shape, "bool", seed) for seed in range(3)]
    check_calls(body, [[left, right, mask] for mask in masks])


def test_a_long_chain_of_every_kind():
    def body(x, at, m):
        y = tc.exp(x * 0.125) - tc.tanh(x)
        z = y[at]
        z[m] = tc.minimum(z[m], 0.5)
        total = z.sum(axis=0, keepdims=True)
        scaled = z / tc.maximum(total, 1.0)
        joined = tc.concat([scaled, scaled[::-1] * 2], axis=0)
        picked = joined[joined[:, 0] > 0.1]
        return joined.mean(), picked.sum(axis=0), (joined @ joined.T).max(axis=1)

    calls = []
    for rows, seed in [(6, 0), (6, 1), (9, 2), (30, 3), (4, 4)]:
        at = np.random.default_rng(seed).integers(-rows, rows, rows + 2)
        calls.append([sample((rows, 5), "float32", seed), at, sample((rows + 2, 5), "bool", seed)])
    check_calls(body, calls)


def test_operands_of_every_layout():
    def body(x, y):
        return (x * 2 + y).sum(axis=0), x[1:] - y[:-1], tc.where(x > y, x, y)

    function = tc.trace(body)
    for call in range(4):
        base = tc.tensor(sample((8, 6), "float32", call))
        for x, y in [(base, base), (base[::2], base[1::2]), (base[:, ::-1], base), (base[:6].T, base[2:]), (base[::-2, ::2], base[:4, 3:])]:
            assert_same(function(x, y), body(x, y))


# ---------------------------------------------------------------------------------------------- sizes and compiles


@needs_kernels
def test_new_size_compiles_nothing():
    def body(x, y, at):
        z = tc.tanh(x * 0.75 - y) * 1.0625
        z[1:] += x[:-1] * 3.0
        w = z[at] + z[::-1][at]
        return w.sum(axis=1), z.max(), (z[z > 0.25] * 2 + 1).sum(), x @ y.T

    function = tc.trace(body)

    def call(rows, columns):
        arguments = [tc.tensor(sample((rows, columns), "float32", seed)) for seed in (1, 2)]
        arguments.append(tc.tensor(np.arange(rows) % 3 - 1))
        assert_same(function(*arguments), body(*arguments), f"{rows} x {columns}")

    start = tc.stats.compile_count()
    call(5, 7)
    call(5, 7)
    compiled = tc.stats.compile_count()
    assert compiled > start, "the first replay of a new structure must compile"
    for rows, columns in [(6, 7), (5, 8), (2, 2), (100, 3), (3, 100), (64, 64), (129, 257), (5, 7), (600, 500)]:
        call(rows, columns)
    assert tc.stats.compile_count() == compiled


def test_size_zero_needs_no_compile():
    def body(x, y):
        return (x * 1.03125 + y).sum(axis=0), x[:0] - 1, tc.concat([x, y])

    function = tc.trace(body)
    for rows in (3, 3, 4):
        x = tc.tensor(sample((rows, 4), "float32", rows))
        assert_same(function(x, x), body(x, x))
    compiled = tc.stats.compile_count()
    for shape in ((0, 4), (3, 0), (0, 0)):
        x = tc.zeros(shape)
        assert_same(function(x, x), body(x, x))
    assert tc.stats.compile_count() == compiled


def test_size_one_is_a_specialisation_with_the_right_values():
    def body(x, y):
        return x + y, (x * y).sum(axis=0), tc.maximum(x, 0.5 * y)

    function = tc.trace(body)
    shapes = [((4, 3), (4, 3)), ((4, 3), (1, 3)), ((1, 3), (4, 3)), ((4, 1), (1, 3)), ((1, 1), (5, 6)), ((6, 3), (6, 3)), ((1, 1), (1, 1))]
    # Recorded in the first round, compiled in the second: the third compiles nothing.
    for _ in range(3):
        compiled = tc.stats.compile_count()
        for left, right in shapes:
            x, y = tc.tensor(sample(left, "float32", 1)), tc.tensor(sample(right, "float32", 2))
            assert_same(function(x, y), body(x, y), f"{left} with {right}")
    assert tc.stats.compile_count() == compiled
    for rows in (2, 7, 30):
        x, y = tc.tensor(sample((rows, 5), "float32", 1)), tc.tensor(sample((1, 5), "float32", 2))
        assert_same(function(x, y), body(x, y))
    assert tc.stats.compile_count() == compiled


def test_sizes_stay_symbolic():
    def body(x):
        rows, columns = x.shape
        kinds.add((type(rows), type(columns), type(rows * columns), type(rows // 2)))
        half = rows // 2
        centred = x - x.sum(axis=0) / rows
        return centred, x[:half], x[half:] * columns, x.reshape((rows * columns,)), tc.arange(rows) + 1, tc.zeros((columns, rows + 1))

    kinds = set()
    function = tc.trace(body)
    for rows, columns in [(6, 4), (6, 4), (8, 4), (7, 5), (100, 3), (2, 2)]:
        x = tc.tensor(sample((rows, columns), "float32", rows))
        assert_same(function(x), body(x), f"{rows} x {columns}")
    assert kinds == {(tc.Size,) * 4, (int,) * 4}
    compiled = tc.stats.compile_count()
    x = tc.tensor(sample((31, 9), "float32"))
    assert_same(function(x), body(x))
    assert tc.stats.compile_count() == compiled


def test_a_size_used_as_a_number_is_never_stale():
    """range() and int() bake the size: a new size may be refused or traced anew, but never answered with the old one."""
    def body(x):
        total = x[0] * 0
        for row in range(x.shape[0]):
            total += x[row] * (row + 1)
        return total

    function = tc.trace(body)
    for rows in (3, 3, 3, 4, 2, 3, 5):
        x = tc.tensor(sample((rows, 4), "float32", rows))
        try:
            result = function(x)
        except tc.TraceError:
            assert rows != 3
            continue
        assert_same(result, body(x), f"{rows} rows")


# ---------------------------------------------------------------------------------------------- data-dependent counts


def masks_of(size):
    """Densities 0, one, some, all, and changing places."""
    one, other = np.zeros(size, bool), np.zeros(size, bool)
    one[size // 2], other[-1] = True, True
    some = np.arange(size) % 3 == 0
    return [some, some[::-1].copy(), np.zeros(size, bool), one, other, np.ones(size, bool), sample((size,), "bool", 5)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [7, 100, 9001])
def test_masked_reads_and_reductions(dtype, size):
    def body(x, m):
        kept = x[m]
        return kept, kept.sum(), kept.mean(), (kept * 2 + 1).sum(), kept.astype("float32").mean(), x[m][::-1], kept == kept

    check_calls(body, [[sample((size,), dtype, seed), m] for seed, m in enumerate(masks_of(size))])


@pytest.mark.parametrize("dtype", DTYPES)
def test_masked_assignment(dtype):
    def body(x, y, m):
        a, b, c, d = x * 1, x * 1, x * 1, x * 1
        a[m] = 1
        b[m] = y[m]
        c[m] = (y * y)[m][::-1]
        d[tc.logical_not(m)] = d[0]
        return a, b, c, d, (a + b).sum()

    check_calls(body, [[sample((60,), dtype, seed), sample((60,), dtype, 50 + seed), m] for seed, m in enumerate(masks_of(60))])


def test_masks_of_higher_rank_and_beside_other_items():
    def body(x, m2, m1, at):
        y = x * 1
        y[m2] = -1.0
        y[:, m1[:3]] *= 2.0
        return x[m2], x[m2].sum(axis=0), y, x[m1[:4]][:, 0], x[:, :, at], x[0][m1[:3], :][:, at]

    calls = []
    for seed in range(6):
        density = [0.5, 0.5, 0.0, 1.0, 0.2, 0.8][seed]
        m2 = np.random.default_rng(seed).random((4, 3)) < density
        m1 = np.random.default_rng(seed + 50).random(4) < density
        calls.append([sample((4, 3, 5), "float32", seed), m2, m1, np.random.default_rng(seed).integers(-5, 5, 3)])
    check_calls(body, calls)


def test_gathers_with_changing_indices():
    def body(x, rows, columns):
        y = x * 1
        y[rows, columns] = 0.0
        return x[rows], x[rows, columns], x[:, columns], x[rows][:, columns], x[rows[:, None], columns[:3]], y, x[rows].sum(axis=0)

    calls = []
    for seed, count in enumerate([4, 4, 9, 4, 30, 3]):
        random = np.random.default_rng(seed)
        calls.append([sample((6, 8), "float64", seed), random.integers(-6, 6, count), random.integers(-8, 8, count)])
    check_calls(body, calls)


def outcome(body, *arguments):
    """The result, or the kind of the error."""
    try:
        return snapshot(body(*arguments))
    except (ValueError, IndexError) as error:
        return type(error).__name__


def test_a_count_meets_another_dim():
    """Eager's rule decides: equal sizes, or a count of 1 broadcasts; everything else is a ValueError at run time."""
    def body(x, m, y):
        return x[m] * y, (x[m] + y).sum()

    function = tc.trace(body)
    x = tc.tensor(sample((6,), "float32"))
    seen = set()
    for count, size in [(3, 3), (3, 3), (4, 4), (1, 4), (3, 3), (4, 3), (0, 3), (2, 2), (0, 0), (6, 6), (6, 5), (3, 3)]:
        m = tc.tensor(np.arange(6) < count)
        y = tc.tensor(sample((size,), "float32", size))
        expected = outcome(body, x, m, y)
        assert_same(outcome(function, x, m, y), expected, f"count {count} with size {size}")
        seen.add(expected if isinstance(expected, str) else count)
    assert seen == {"ValueError", 0, 1, 2, 3, 4, 6}


def test_two_counts_meet():
    def body(x, first, second):
        return x[first] - x[second]

    function = tc.trace(body)
    x = tc.tensor(sample((6,), "float32"))
    for left, right in [(2, 2), (2, 2), (5, 5), (1, 4), (4, 1), (0, 0), (2, 3), (0, 2), (1, 0), (3, 3)]:
        first, second = tc.tensor(np.arange(6) < left), tc.tensor(np.arange(6) >= 6 - right)
        assert_same(outcome(function, x, first, second), outcome(body, x, first, second), f"{left} with {right}")
    assert outcome(function, x, tc.tensor(np.arange(6) < 2), tc.tensor(np.arange(6) < 3)) == "ValueError"


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_max_of_nothing_raises_at_run_time(dtype):
    def body(x, m):
        return x[m].max(), x.sum()

    function = tc.trace(body)
    x = tc.tensor(sample((50,), dtype))
    for m in masks_of(50) * 2:
        if m.any():
            assert_same(function(x, tc.tensor(m)), body(x, tc.tensor(m)))
        else:
            for run in (body, function):
                with pytest.raises(ValueError, match="max"):
                    run(x, tc.tensor(m))


def test_max_over_an_axis_of_a_count():
    def body(x, m):
        return x[m].max(axis=1), x[m].max(axis=0)

    function = tc.trace(body)
    x = tc.tensor(sample((4, 3), "float32"))
    for count in (2, 2, 4, 1, 0, 3):
        m = tc.tensor(np.arange(4) < count)
        assert_same(outcome(function, x, m), outcome(body, x, m), f"count {count}")
    only_rows = tc.trace(lambda x, m: x[m].max(axis=1))
    for count in (2, 2, 0, 3):
        m = tc.tensor(np.arange(4) < count)
        assert_same(only_rows(x, m), x[m].max(axis=1))


def test_the_size_of_a_count():
    def body(x, m):
        kept = x[m]
        return kept.sum() / kept.shape[0], tc.arange(kept.shape[0]) * 2

    check_calls(body, [[sample((30,), "float32", seed), m] for seed, m in enumerate(masks_of(30)) if m.any()])


def test_masked_sum_is_the_sum_of_the_compacted_elements():
    """The order of additions is that of x[m] as a tensor of its own, at sizes around the block of 4,096 too."""
    function = tc.trace(lambda x, m: (x[m] * 2 + 1).sum())
    for size in (10, 127, 128, 129, 4095, 4096, 4097, 8192, 12289, 300_000):
        for dtype in ("float32",):
            x, m = sample((size,), dtype, size), sample((size,), "bool", size)
            alone = (tc.tensor(x[m]) * 2 + 1).sum()
            for _ in range(2):
                assert_same(function(tc.tensor(x), tc.tensor(m)), alone, f"size {size}")


# ---------------------------------------------------------------------------------------------- calls


@pytest.mark.parametrize("dtype", FLOAT_DTYPES)
def test_python_scalars_and_promotion_inside_a_trace(dtype):
    def body(x, i):
        return x + 1, x * 0.1, 2 / (x * x + 1), i + 1, i * 0.5, i + x, i / 3, (x > 0.5) + 1, tc.where(x > 0, x, 0)

    calls = [[sample((9,), dtype, seed), sample((9,), "int64", seed)] for seed in range(4)]
    check_calls(body, calls)


def test_nested_calls_inline():
    @tc.trace
    def inner(a, b):
        return a * b + 1

    def body(x, y):
        return inner(x, y) - inner(y, x[::-1])

    def by_hand(x, y):
        return (x * y + 1) - (y * x[::-1] + 1)

    outer = tc.trace(body)
    for call in range(4):
        x, y = (tc.tensor(sample((7,), "float32", 10 * call + seed)) for seed in (1, 2))
        assert_same(outer(x, y), by_hand(x, y))
    assert inner.state == "untraced"
    assert_same(inner(x, y), x * y + 1)


def test_threads_trace_and_replay_at_once():
    errors = []
    shared = tc.trace(lambda x: (tc.tanh(x) * 3).sum(axis=0))
    x = tc.tensor(sample((50, 20), "float32"))
    shared_result = shared(x).numpy()

    def work(number):
        try:
            own = tc.trace(lambda a: (a * number + 1)[a > 0].sum())
            for call in range(20):
                a = tc.tensor(sample((100 + call,), "float32", number))
                assert_same(own(a), (a * number + 1)[a > 0].sum())
                assert_same(shared(x), shared_result)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors and not any(thread.is_alive() for thread in threads)


def test_threads_and_sections_do_not_change_a_bit():
    def body(x, at, m):
        return tc.exp(x) * 0.5, x[at].sum(axis=0), x.sum(axis=1), (x[m] * 2 + 1).sum(), x.T @ x, x.mean()

    rows = 40_000
    x, m = tc.tensor(sample((rows, 8), "float32")), tc.tensor(sample((rows, 8), "bool"))
    at = tc.tensor(np.random.default_rng(0).integers(-rows, rows, rows))
    expected = snapshot(body(x, at, m))
    function = tc.trace(body)
    function(x, at, m)
    for section in tc.stats.runnable_sections():
        for threads in (1, 2):
            before = function.stats()
            with really_on(function, section, threads):
                shared = tc.stats.shared_loops()
                for _ in range(2):
                    assert_same(function(x, at, m), expected, f"{section}, {threads} threads")
                assert (tc.stats.shared_loops() > shared) == (threads == 2)
            launches, replaced, library = launches_between(before, function.stats())
            assert replaced == 0 and (launches > 0) == (section != "portable") and library > 0


def test_an_axis_that_becomes_one_keeps_the_order_of_eager():
    """A slice makes the innermost axis 1 at run time: the kept axis decides the order of a sum, not its class."""
    def body(x):
        part = x[:, 1:] * 3.0
        return part.sum(axis=0), part.sum(axis=1), (part * part).sum(axis=(0, 1))

    function = tc.trace(body)
    for columns in (6, 6, 2, 40, 2):
        x = tc.tensor(np.random.default_rng(columns).standard_normal((9000, columns)).astype("float32"))
        assert_same(function(x), body(x), f"{columns} columns")
