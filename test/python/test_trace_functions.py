"""What can be traced and how it behaves as a Python object: methods, generators, async functions, pickles, copies."""

import asyncio
import contextlib
import copy
import functools
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import tracec as tc
from checks import assert_same, stable_id


def t(*values):
    return tc.tensor([float(value) for value in values])


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @tc.trace
    def apply(self, x=None):
        return self.factor * (2 if x is None else x)

    @tc.trace
    def add(self, x):
        """Adds the factor."""
        return x + self.factor

    @staticmethod
    @tc.trace
    def double(x):
        return x * 2

    @tc.trace
    @staticmethod
    def triple(x):
        return x * 3

    @classmethod
    @tc.trace
    def named(cls, x):
        return x * len(cls.__name__)

    __call__ = tc.trace(lambda self, x: x - self.factor)


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    @tc.trace
    def add(self, x):
        return x + self.factor


class Same:
    """All instances are equal and cannot be told apart by their hash."""

    def __init__(self, factor):
        self.factor = factor

    def __eq__(self, other):
        return isinstance(other, Same)

    def __hash__(self):
        return 7

    @tc.trace
    def add(self, x):
        return x + self.factor


class Unhashable(Same):
    __hash__ = None


@tc.trace
def module_function(x):
    return x * 2 + 1


def plain_function(x):
    return x * 3


traced_elsewhere = tc.trace(plain_function, opt_level=1)


# ---------------------------------------------------------------------------------------------- methods


def test_methods_of_temporaries():
    for _ in range(3):
        assert_same(Scale(3.0).add(t(1, 2)), np.float32([4, 5]))
        assert_same(Scale(5.0).apply(t(1, 2)), np.float32([5, 10]))
        assert_same(Scale(t(3)).apply(), np.float32([6]))
        method = Scale(4.0).add
        gc.collect()
        assert_same(method(t(1)), np.float32([5]))
        assert_same(getattr(Scale(2.0), "add")(x=t(1)), np.float32([3]))
    assert method.state == "traced"


def test_a_method_keeps_its_instance_and_a_record_does_not():
    scale = Scale(2.0)
    reference = weakref.ref(scale)
    method = scale.add
    for _ in range(3):
        method(t(1))
    del scale
    gc.collect()
    assert reference() is not None
    del method
    gc.collect()
    assert reference() is None
    assert Scale.__dict__["add"]._states == {}


@pytest.mark.parametrize("kind", [Scale, Same, Unhashable, Slotted])
def test_each_instance_has_its_own_record(kind):
    scales = [kind(1.0), kind(10.0), kind(100.0)]
    for _ in range(3):
        for scale in scales:
            assert_same(scale.add(t(1, 2)), np.float32([1, 2]) + np.float32(scale.factor))
    if kind is not Slotted:
        assert all(scale.add.state == "compiled" for scale in scales)
        assert scales[0].add == scales[0].add != scales[1].add
        assert hash(scales[0].add) == hash(scales[0].add)
        assert scales[0].add.stats().specialisations == 1
        scales[0].factor = 2.0
        with pytest.raises(tc.TraceError, match="TC0208"):
            scales[0].add(t(1, 2))


def test_methods_of_all_kinds():
    scale = Scale(2.0)
    for _ in range(3):
        for owner in (scale, Scale):
            assert_same(owner.double(t(1)), np.float32([2]))
            assert_same(owner.triple(t(1)), np.float32([3]))
            assert_same(owner.named(t(1)), np.float32([5]))
        assert_same(Scale.add(scale, t(1)), np.float32([3]))
        assert_same(scale(t(3)), np.float32([1]))
    assert scale.add.__doc__ == "Adds the factor." and scale.add.__name__ == "add"
    assert list(inspect.signature(scale.add).parameters) == ["x"]


def test_instances_that_reuse_an_address():
    for i in range(200):
        assert_same(Scale(float(i)).add(t(1)), np.float32([1 + i]))


def test_a_subclass_calls_the_method_it_overrides():
    class Twice(Scale):
        @tc.trace
        def add(self, x):
            return super().add(x) + self.factor

    twice = Twice(2.0)
    for _ in range(3):
        assert_same(twice.add(t(1)), np.float32([5]))
        assert_same(Twice(3.0).add(t(1)), np.float32([7]))


def test_a_traced_callable_as_a_class_attribute():
    class Call:
        def __call__(self, x):
            return x + 1

    class Holder:
        call = tc.trace(Call())

    for _ in range(3):
        assert_same(Holder().call(t(1)), np.float32([2]))


def test_dump_of_a_method(tmp_path):
    scale = Scale(2.0)
    scale.add(t(1))
    scale.add.dump(tmp_path / "add.trc")
    assert_same(tc.load(tmp_path / "add.trc")(t(5)), np.float32([7]))


# ---------------------------------------------------------------------------------------------- what cannot be traced


def generator(x):
    yield x * 2


async def coroutine(x):
    return x * 2


async def async_generator(x):
    yield x * 2


def decorated(function):
    @functools.wraps(function)
    def wrapper(x):
        return list(function(x))

    return wrapper


def make_callable(function):
    return type("Callable", (), {"__call__": lambda self, x: None} | {"__call__": function})()


def method_of(function):
    class Holder:
        pass

    Holder.method = function
    return Holder().method


async def async_call(self, x):
    return x


def generator_call(self, x):
    yield x


@pytest.mark.parametrize("function", [
    generator, coroutine, async_generator, functools.partial(generator), functools.partial(functools.partial(coroutine), 1),
    make_callable(async_call), make_callable(generator_call), method_of(generator_call), method_of(async_call), functools.partial(method_of(async_call)),
    staticmethod(generator), contextlib.contextmanager(generator) if False else functools.partial(make_callable(generator_call), 1),
    lambda x: (yield x),
], ids=stable_id)
def test_functions_that_only_begin_are_refused(function):
    for trace in (tc.trace, lambda f: tc.trace(opt_level=1)(f), tc.trace(opt_level=2)):
        with pytest.raises(TypeError, match="TC0102.*(generator|async)"):
            trace(function)


def test_a_wrapper_that_uses_the_generator_up_is_traced():
    function = tc.trace(decorated(generator))
    for _ in range(3):
        assert_same(function(t(1))[0], np.float32([2]))
    assert function.state == "compiled"


LAZY = [
    lambda x: (y * 2 for y in [x]), lambda x: map(lambda y: y * 2, [x]), lambda x: filter(None, [x]), lambda x: {"a": [x, (generator(x),)]},
    lambda x: async_generator(x),
]


@pytest.mark.parametrize("body", LAZY, ids=range(len(LAZY)))
def test_results_that_are_computed_later_are_refused(body):
    function = tc.trace(body)
    for _ in range(2):
        with pytest.raises(TypeError, match="TC0102.*return a list"):
            function(t(1))
    assert function.state == "untraced"
    assert_same(t(1) * 2, np.float32([2]))


def test_a_coroutine_as_the_result():
    function = tc.trace(lambda x: started.append(coroutine(x)) or started[-1])
    started = []
    with pytest.raises(TypeError, match="TC0102.*coroutine"):
        function(t(1))
    assert_same(asyncio.run(started[0]), np.float32([2]))


@pytest.mark.parametrize("thing", [5, None, "f", [], classmethod(generator)], ids=stable_id)
def test_what_is_no_function(thing):
    if thing is not None:
        with pytest.raises(TypeError, match="TC0102"):
            tc.trace(thing)


# ---------------------------------------------------------------------------------------------- pickles and copies


def test_functions_pickle_by_reference():
    module_function(t(1))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(module_function, protocol)) is module_function
    for same in (copy.copy(module_function), copy.deepcopy(module_function), copy.deepcopy([module_function])[0]):
        assert same is module_function
    assert pickle.loads(pickle.dumps(Scale.add)) is Scale.__dict__["add"]


def test_functions_traced_under_another_name_pickle_as_new_traces():
    traced_elsewhere(t(1))
    again = pickle.loads(pickle.dumps(traced_elsewhere))
    assert again is not traced_elsewhere and again.state == "untraced"
    assert_same(again(t(1)), np.float32([3]))
    assert again._options == {"opt_level": 1}
    assert copy.deepcopy(traced_elsewhere) is traced_elsewhere


def test_methods_pickle_with_their_instance():
    scale = Scale(2.0)
    for again in (pickle.loads(pickle.dumps(scale.add)), copy.deepcopy(scale.add)):
        scale.factor = 3.0
        assert_same(again(t(1)), np.float32([3]))
        scale.factor = 2.0
    again = pickle.loads(pickle.dumps(scale))
    assert_same(again.add(t(1)), np.float32([3]))
    both = copy.deepcopy({"scale": scale, "method": scale.add})
    both["scale"].factor = 9.0
    assert_same(both["method"](t(1)), np.float32([10]))


def test_a_traced_method_kept_by_its_instance_is_copied_with_it():
    class Model:
        def __init__(self):
            self.factor = 2.0
            self.step = tc.trace(self._step)

        def _step(self, x):
            return x * self.factor

    model = Model()
    assert_same(model.step(t(1)), np.float32([2]))
    other = copy.deepcopy(model)
    other.factor = 5.0
    assert_same(other.step(t(1)), np.float32([5]))
    assert_same(model.step(t(1)), np.float32([2]))


def test_local_functions_do_not_pickle_and_say_why():
    @tc.trace
    def local(x):
        return x

    for function in (local, tc.trace(lambda x: x)):
        with pytest.raises(pickle.PicklingError, match="TC0102.*top level"):
            pickle.dumps(function)
        assert copy.deepcopy(function) is function


def test_models_pickle_by_path(tmp_path, monkeypatch):
    module_function(t(1, 2))
    monkeypatch.chdir(tmp_path)
    module_function.dump("model.trc", user_info={"a": 1})
    model = tc.load("model.trc", section="portable", verify_all=True)
    data = pickle.dumps(model)
    monkeypatch.chdir("/")
    for again in (pickle.loads(data), copy.deepcopy(model), copy.copy(model)):
        assert_same(again(t(1, 2)), np.float32([3, 5]))
        assert again.user_info == {"a": 1} and again is not model
    (tmp_path / "model.trc").unlink()
    with pytest.raises(OSError, match="TC0303"):
        pickle.loads(data)


def test_models_with_state_do_not_pickle(tmp_path):
    total = t(0)

    @tc.trace
    def step(x):
        total[:] = total + x
        return total * 1

    step(t(1))
    step.dump(tmp_path / "step.trc")
    model = tc.load(tmp_path / "step.trc")
    model(t(1))
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="TC0102.*state"):
            use(model)
