"""torch modules as learners: the public checks, and equality with a loop written by hand."""

from __future__ import annotations

import copy
import pickle
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_limits
from torch import nn

from paraactive import Arrays, Digits, train
from paraactive.basics.state import State, pack, unpack
from paraactive.checks import check_learner
from paraactive.data.examples import Selected
from paraactive.data.labels import decide, labels_of, numbers_of
from paraactive.errors import InputError
from paraactive.learners import TorchLearner
from paraactive.learners.wrappers.small_cnn import small_cnn

SGD = partial(torch.optim.SGD, lr=0.01, momentum=0.9)
ADAM = partial(torch.optim.Adam, lr=0.01)


def linear(outputs: int) -> nn.Module:
    return nn.Linear(5, outputs)


def dropout(outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, outputs))


def normalized(outputs: int) -> nn.Module:
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.Tanh(), nn.Linear(16, outputs))


def conv(outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, padding=1), nn.Flatten(),
        nn.Linear(54, outputs),
    )  # fmt: skip


LEARNERS: dict[str, tuple[int, Callable[[int], TorchLearner]]] = {
    "linear, momentum": (5, lambda outputs: TorchLearner(partial(linear, outputs), SGD)),
    "linear, four by four": (5, lambda outputs: TorchLearner(partial(linear, outputs), SGD, minibatch=4)),
    "dropout": (5, lambda outputs: TorchLearner(partial(dropout, outputs), ADAM)),
    "batch normalization": (5, lambda outputs: TorchLearner(partial(normalized, outputs), ADAM, minibatch=16)),
    "convolutions": (36, lambda outputs: TorchLearner(partial(conv, outputs), ADAM, shape=(1, 6, 6))),
    "row by row": (5, lambda outputs: TorchLearner(partial(dropout, outputs), tile=1)),
}


def problem(count: int, classes: int, width: int = 5) -> Selected:
    """Classes that overlap, with weights."""
    rng = np.random.default_rng(3)
    number = rng.integers(0, classes, count)
    x = rng.normal(size=(count, width)) + rng.normal(scale=2.0, size=(classes, width))[number]
    return Selected.weighted(x, labels_of(number, classes), rng.uniform(1.0, 5.0, count))


# Two outputs for two classes are computed as three are, so a few tell.
@pytest.mark.parametrize(
    ("name", "classes", "outputs"),
    [
        *((name, 2, 1) for name in LEARNERS),
        *((name, 2, 2) for name in ("linear, momentum", "dropout")),
        *((name, 3, 3) for name in LEARNERS if name != "linear, four by four"),
    ],
)
def test_it_passes_the_public_checks(name: str, classes: int, outputs: int) -> None:
    width, make = LEARNERS[name]
    check_learner(lambda: make(outputs), width=width, classes=classes)


@pytest.mark.parametrize("make", [small_cnn, partial(nn.Linear, 784, 10), lambda: nn.Linear(784, 10).double()])
def test_scores_of_digits_do_not_depend_on_other_rows(make: Any) -> None:
    learner = TorchLearner(make, classes=10)
    x = Digits.all().read(0, 100).x
    whole = learner.score(x)
    for first in (1, 13, 70):
        assert np.array_equal(learner.score(x[first:]), whole[first:])


@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_a_loop_written_by_hand(classes: int) -> None:
    selected, size = problem(70, classes), 16
    learner = TorchLearner(partial(linear, 1 if classes == 2 else classes), SGD, classes=classes, minibatch=size)
    module = copy.deepcopy(learner.module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9)
    learner.update(selected)
    learner.end_round()
    x, y = torch.tensor(selected.examples.x), torch.tensor(selected.examples.y)
    weight = torch.tensor(selected.weight, dtype=torch.float32)
    for first in range(0, 70, size):
        rows = slice(first, first + size)
        if classes == 2:
            losses = nn.functional.softplus(-y[rows] * module(x[rows])[:, 0])
        else:
            losses = nn.functional.cross_entropy(module(x[rows]), y[rows].long(), reduction="none")
        optimizer.zero_grad()
        ((weight[rows] * losses).sum() / size).backward()
        optimizer.step()
    assert learner.steps == 5
    for ours, plain in zip(learner.module.parameters(), module.parameters(), strict=True):
        assert torch.allclose(ours, plain, rtol=1e-6, atol=1e-7)


def test_two_outputs_of_two_classes_are_scored_by_their_difference() -> None:
    learner = TorchLearner(partial(linear, 2))
    x = problem(10, 2).examples.x
    output = learner.module(torch.tensor(x)).detach().double().numpy()
    assert learner.score(x) == pytest.approx(output[:, 1] - output[:, 0], abs=1e-6)


def test_a_loss_of_ones_own_gets_outputs_and_labels() -> None:
    met: list[tuple[tuple[int, ...], set[float]]] = []

    def squared(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        met.append((tuple(output.shape), set(target.tolist())))
        return (output - target) ** 2

    TorchLearner(partial(linear, 1), loss=squared, minibatch=20).update(problem(20, 2))
    assert met == [((20,), {-1.0, 1.0})]


def test_bits_do_not_depend_on_the_threads_that_others_allow() -> None:
    selected = problem(320, 3, width=784)

    def model() -> str:
        learner = TorchLearner(partial(nn.Linear, 784, 3), classes=3)
        learner.update(selected)
        return learner.digest()

    before = torch.get_num_threads()
    with threadpool_limits(limits=1):
        limited = model()
    assert model() == limited
    assert torch.get_num_threads() == before


@pytest.fixture
def two_threads() -> Iterator[None]:
    """Torch's number of threads, whatever the machine has."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def numbers_of_threads() -> tuple[int, int]:
    """Here, and in a thread to come."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return torch.get_num_threads(), found[0]


class _Waits(nn.Module):
    """Says that it is scoring, and waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)
        self.met: list[int] = []
        self.scoring, self.may_go_on = threading.Event(), threading.Event()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.scoring.set()
        assert self.may_go_on.wait(60)
        self.met.append(torch.get_num_threads())
        return self.layer(x)


@pytest.mark.usefixtures("two_threads")
def test_scoring_in_several_threads_at_once_leaves_their_number_as_it_was() -> None:
    modules, x = [_Waits(), _Waits()], problem(4, 2).examples.x
    threads = [threading.Thread(target=TorchLearner(module).score, args=(x,)) for module in modules]
    for thread, module in zip(threads, modules, strict=True):
        thread.start()
        assert module.scoring.wait(60)
    for thread, module in zip(threads, modules, strict=True):
        module.may_go_on.set()
        thread.join()
        assert set(module.met) == {1}
    assert numbers_of_threads() == (2, 2)


@pytest.mark.usefixtures("two_threads")
def test_scoring_where_others_allow_one_thread_leaves_the_number_as_it_was() -> None:
    learner = TorchLearner(partial(linear, 1))
    with threadpool_limits(limits=1):
        learner.score(problem(4, 2).examples.x)
        assert numbers_of_threads() == (1, 2)
    assert numbers_of_threads() == (2, 2)


@pytest.mark.usefixtures("two_threads")
def test_a_loss_that_scores_leaves_the_step_on_one_thread() -> None:
    other, met = TorchLearner(partial(linear, 1)), []

    def loss(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        other.score(np.zeros((1, 5)))
        met.append(torch.get_num_threads())
        return (output - target) ** 2

    TorchLearner(partial(linear, 1), loss=loss, minibatch=4).update(problem(4, 2))
    assert met == [1]
    assert numbers_of_threads() == (2, 2)


class _Draws(nn.Module):
    """Draws random numbers again and again, and lets other threads in between."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.dropout = nn.Linear(5, 1), nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(10):
            x = self.dropout(x)
            time.sleep(0)
        return self.layer(x)


def test_learning_in_several_threads_at_once_is_learning_alone() -> None:
    selected, alone = problem(640, 2), TorchLearner(_Draws)
    learners = [copy.deepcopy(alone) for _ in range(3)]
    alone.update(selected)
    before = torch.random.get_rng_state()
    threads = [threading.Thread(target=learner.update, args=(selected,)) for learner in learners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {learner.digest() for learner in learners} == {alone.digest()}
    assert torch.equal(torch.random.get_rng_state(), before)


def test_random_numbers_of_others_are_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    TorchLearner(partial(dropout, 1)).update(problem(64, 2))
    assert torch.equal(torch.rand(3), expected)


def test_the_seed_decides_the_first_weights_of_a_module_that_is_made_and_dropout() -> None:
    def digest(seed: int, module: Any) -> str:
        learner = TorchLearner(module, seed=seed)
        learner.update(problem(64, 2))
        return learner.digest()

    assert digest(1, partial(dropout, 1)) == digest(1, partial(dropout, 1)) != digest(2, partial(dropout, 1))
    module = dropout(1)
    assert digest(1, copy.deepcopy(module)) != digest(2, copy.deepcopy(module))


def test_batch_normalization_leaves_a_single_example_to_the_next_round() -> None:
    learner = TorchLearner(partial(normalized, 1), minibatch=4)
    learner.update(problem(5, 2))
    learner.end_round()
    assert learner.steps == 1
    learner.update(problem(2, 2))
    learner.end_round()
    assert learner.steps == 2
    with pytest.raises(InputError, match="batch normalization, and minibatch is 1"):
        TorchLearner(partial(normalized, 1), minibatch=1)


@pytest.mark.parametrize("kind", [nn.LazyBatchNorm1d, partial(nn.BatchNorm1d, 5), partial(nn.SyncBatchNorm, 5)])
def test_batch_normalization_of_every_kind_needs_several_examples(kind: Any) -> None:
    with pytest.raises(InputError, match="batch normalization, and minibatch is 1"):
        TorchLearner(nn.Sequential(kind(), nn.Linear(5, 1)), minibatch=1)


def test_parts_that_are_given_in_eval_mode_stay_so() -> None:
    module: Any = normalized(1)
    module[1].eval()
    learner: Any = copy.deepcopy(TorchLearner(module, minibatch=1))
    learner.update(problem(6, 2))
    assert learner.module[1].num_batches_tracked == 0
    assert not learner.module[1].running_mean.any()
    assert not learner.module.training
    used: Any = TorchLearner(normalized(1).eval(), minibatch=3)
    used.update(problem(6, 2))
    assert used.module[1].num_batches_tracked == 2


class _Bits(nn.Module):
    """With a tensor of a type that numpy does not have."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)
        self.register_buffer("scale", torch.tensor([[1.5, -2.25]], dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def test_tensors_that_numpy_does_not_have_are_saved_to_the_bit() -> None:
    learner, other = TorchLearner(_Bits), TorchLearner(_Bits)
    other.module.get_buffer("scale").zero_()
    other.load(unpack(pack(learner.save())))
    assert other.module.get_buffer("scale").tolist() == [[1.5, -2.25]]
    assert other.module.get_buffer("scale").dtype == torch.bfloat16
    assert other.digest() == learner.digest()


def test_states_of_another_module_are_refused() -> None:
    state = TorchLearner(partial(linear, 1)).save()
    with pytest.raises(InputError, match="not one of this module"):
        TorchLearner(partial(dropout, 1)).load(state)
    with pytest.raises(InputError, match="cannot be read"):
        TorchLearner(partial(linear, 1)).load({})


def test_states_of_another_optimizer_are_refused() -> None:
    learner, other = TorchLearner(partial(linear, 1), SGD), TorchLearner(partial(linear, 1), ADAM, seed=1)
    learner.update(problem(64, 2))
    before = other.digest()
    with pytest.raises(InputError, match=r"not one of this module and optimizer.*other options"):
        other.load(learner.save())
    assert other.digest() == before


@pytest.mark.parametrize(
    "text",
    [
        b"1",
        b'{"list": []}',
        b"[" * 100_000,
        b'{"dict": [["steps", 1]]}',
        b'{"dict": [["module", 1], ["optimizer", 1], ["steps", 1]]}',
        b'{"dict": [["module", {"dict": []}], ["optimizer", {"dict": [["param_groups", 1]]}], ["steps", "x"]]}',
        b'{"dict": [["a", {"object": "torch.float32", "of": 3}]]}',
        b'{"dict": [["a", {"object": "os.system", "of": 3}]]}',
    ],
)
def test_damaged_states_are_refused(text: bytes) -> None:
    with pytest.raises(InputError):
        TorchLearner(partial(linear, 1)).load({"json": np.frombuffer(text, np.uint8)})


def test_a_state_whose_waiting_examples_are_damaged_is_refused() -> None:
    learner = TorchLearner(partial(linear, 1))
    learner.update(problem(5, 2))
    state: State = learner.save() | {"waiting.y": np.ones(4, np.int8)}
    with pytest.raises(InputError, match="the waiting examples of the saved state"):
        learner.load(state)


def test_a_lambda_can_be_copied_but_not_sent() -> None:
    learner = TorchLearner(partial(linear, 1), lambda parameters: torch.optim.SGD(parameters, lr=0.1))
    learner.update(problem(40, 2))
    assert copy.deepcopy(learner).digest() == learner.digest()
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(learner)


def test_it_has_no_description() -> None:
    assert not hasattr(TorchLearner(partial(linear, 1)), "describe")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TorchLearner(3), "the module is 3"),  # pyright: ignore[reportArgumentType]
        (lambda: TorchLearner(lambda: "net"), "the module is 'net'"),  # pyright: ignore[reportArgumentType]
        (lambda: TorchLearner(nn.ReLU()), "no parameters"),
        (
            lambda: TorchLearner(linear(1), torch.optim.SGD(linear(1).parameters())),  # pyright: ignore[reportArgumentType]
            "optimizer is SGD.*functools.partial",
        ),
        (lambda: TorchLearner(linear(1), lambda _: 3), "the optimizer is int"),  # pyright: ignore[reportArgumentType]
        (lambda: TorchLearner(linear(1), device="abacus"), "no device 'abacus'"),
        (lambda: TorchLearner(linear(1), device="cuda:77"), "no device 'cuda:77'"),
        (lambda: TorchLearner(linear(1), torch.optim.LBFGS), "the optimizer is LBFGS.*several times"),
        (lambda: TorchLearner(linear(1), partial(torch.optim.SGD, lr=-1.0)), "optimizer cannot be built.*-1"),
        (lambda: TorchLearner(linear(1), minibatch=0), "minibatch is 0"),
    ],
)
def test_what_cannot_be_a_learner_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_outputs_of_another_shape_are_refused() -> None:
    x = problem(4, 2).examples.x
    with pytest.raises(InputError, match=r"shape \(64, 3\).*2 classes.*\(64, 1\) or \(64, 2\)"):
        TorchLearner(linear(3)).score(x)
    with pytest.raises(InputError, match=r"shape \(64, 3\).*10 classes.*\(64, 10\)"):
        TorchLearner(linear(3), classes=10).score(x)
    with pytest.raises(InputError, match="4 examples of shape"):
        TorchLearner(nn.Linear(7, 1), minibatch=4).update(problem(4, 2))
    with pytest.raises(InputError, match=r"5 features.*\(1, 6\) has 6"):
        TorchLearner(linear(1), shape=(1, 6)).score(x)


def test_a_loss_that_is_one_number_for_all_is_refused() -> None:
    learner = TorchLearner(linear(3), loss=nn.CrossEntropyLoss(), classes=3, minibatch=4)
    with pytest.raises(InputError, match=r'has shape \(\).*reduction="none"'):
        learner.update(problem(4, 3))


class _Pair(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor, more: int | None = None) -> Any:
        return self.layer(x), more


class _TakesTwo(_Pair):
    def forward(self, x: torch.Tensor, more: int) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.layer(x)


def test_a_module_that_takes_or_gives_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="output for 64 rows is a tuple, not a tensor"):
        TorchLearner(_Pair()).score(problem(4, 2).examples.x)
    with pytest.raises(InputError, match=r"the module failed on 64 examples.*TypeError.*'more'"):
        TorchLearner(_TakesTwo()).score(problem(4, 2).examples.x)


def _number(output: torch.Tensor, target: torch.Tensor) -> float:
    return 1.0


def _detached(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return ((output - target) ** 2).detach()


def _beyond(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return output[99]


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (_number, "the loss of 4 examples is a float, not a tensor"),
        (_detached, "the loss of step 1 has no gradient"),
        (_beyond, r"the loss failed on output of shape \(4,\).*IndexError"),
        (torch.square, "the loss failed.*TypeError"),
    ],
)
def test_a_loss_that_cannot_be_learnt_by_is_refused(loss: Any, message: str) -> None:
    learner = TorchLearner(linear(1), loss=loss, minibatch=4)
    with pytest.raises(InputError, match=message):
        learner.update(problem(4, 2))
    assert learner.steps == 0


def test_a_loss_that_is_not_finite_is_refused_before_the_step() -> None:
    learner = TorchLearner(linear(1), minibatch=4)
    before = [each.clone() for each in learner.module.parameters()]
    with pytest.raises(InputError, match="loss of step 1 is not finite"):
        learner.update(Selected.weighted(np.full((4, 5), np.inf), [1, -1, 1, -1]))
    assert all(torch.equal(*pair) for pair in zip(before, learner.module.parameters(), strict=True))
    assert not learner.module.training


class _Mixing(nn.Module):
    """Rows that see each other."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x - x.mean(0))


@pytest.mark.parametrize("rows", [1, 2, 64, 100])
def test_a_module_whose_rows_see_each_other_is_refused(rows: int) -> None:
    x = problem(rows, 2).examples.x
    with pytest.raises(InputError, match=r"depends on the rows.*tile=1"):
        TorchLearner(_Mixing).score(x)
    assert len(TorchLearner(_Mixing, tile=1).score(x)) == rows


ENGINES = [("simulated", 1), ("simulated", 3), ("threads", 2), ("processes", 2)]


@pytest.mark.parametrize(("rule", "engines"), [("gradient", ENGINES), ("signed", ENGINES[:3])])
def test_a_run_has_one_model_on_every_engine(rule: str, engines: list[tuple[str, int]]) -> None:
    selected = problem(2000, 3)
    stream = Arrays(selected.examples.x, selected.examples.y)
    digests: set[str] = set()
    for engine, nodes in engines:
        learner = TorchLearner(partial(dropout, 3), ADAM, minibatch=16)
        run = train(learner, stream, rule=rule, warmstart=300, batch=500, engine=engine, nodes=nodes)
        assert run.learner is learner
        assert run.sampling_rate < 0.9
        digests.add(learner.digest())
        score = learner.score(selected.examples.x)
        assert np.mean(decide(score) != numbers_of(selected.examples.y, 3)) < 0.2
    assert len(digests) == 1
