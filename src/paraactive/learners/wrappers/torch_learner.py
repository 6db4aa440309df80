"""TorchLearner: any torch module as a learner. torch is imported when one is made."""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.optional import require
from paraactive.basics.state import State, digest
from paraactive.basics.threads import OneTorchThread
from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Selected, SparseRows, dense
from paraactive.data.labels import numbers_of, score_shape
from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import told
from paraactive.learners.wrappers.minibatches import Minibatch, Minibatches
from paraactive.learners.wrappers.nested import REMEDY, from_state, to_state
from paraactive.learners.wrappers.tiles import TILE, Tiles

if TYPE_CHECKING:
    import torch
    from torch import nn

Loss: TypeAlias = "Callable[[torch.Tensor, torch.Tensor], torch.Tensor]"
MakeOptimizer: TypeAlias = "Callable[[list[nn.Parameter]], torch.optim.Optimizer]"

_RANDOM = threading.RLock()
"""Who holds it may seed torch's generator, which is one for all threads."""


class TorchLearner:
    """A torch module as a learner.

    Parameters
    ----------
    module : gives scores of a batch of rows: of two classes (n,), (n, 1) or (n, 2), of more (n, classes). Or a function
        without parameters that makes it, which is called with torch's generator seeded by `seed`. The module itself
        learns, and no copy; between updates it is in eval mode. Parts that are in eval mode when it is given, while it
        is not as a whole, stay so in learning too, as a batch normalization that is to keep its mean and variance.
    optimizer : makes the optimizer of a list of parameters, as `functools.partial(torch.optim.SGD, lr=0.1)`; a lambda
        cannot be sent to nodes in other processes. By default AdamW with lr=0.001.
    loss : of (output, target), one number for each example. For one output a row, output is (n,), target -1.0 or 1.0
        (not 0.0 or 1.0, as BCEWithLogitsLoss has it), and the default log(1 + exp(-target output)); for more, output is
        (n, C), target 0 to C-1, and the default cross entropy. Weights of classes are not the loss's to know: give
        `train` a class_weight.
    minibatch : examples of the log that one step takes. The step is on sum(weight loss) / minibatch, also for
        the rest that a round ends with: so it is unbiased, and what an example counts does not depend on the others.
    device : where the module is put.
    classes : how many; None until a run tells.
    shape : of one example as the module takes it, as (1, 28, 28); None for plain rows.
    seed : of dropout and the like; each step has random numbers of its own.
    tile : rows of one call of the module in scoring, always so many, filled up with zeros: then scores do not depend on
        the other rows (see `learners.tiles`). 1 is safe with every module, and several times slower; where more would
        depend on each other in their last bits, it is 1, with a warning.

    All computing is done by one thread of the processor: sifting is what goes on side by side. A module with batch
    normalization leaves a single example that a round ends with to the next round, for it cannot learn from one.
    Schedulers of learning rates are not supported, nor optimizers whose step calls the loss again, as LBFGS.

    >>> import numpy as np
    >>> import torch
    >>> from paraactive import Arrays, train
    >>> from paraactive.learners import TorchLearner
    >>> x = np.random.default_rng(0).normal(size=(20000, 2))
    >>> y = np.hypot(x[:, 0], x[:, 1]) > 1.2
    >>> def module():
    ...     return torch.nn.Sequential(torch.nn.Linear(2, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    >>> learner = TorchLearner(module, partial(torch.optim.Adam, lr=0.03))
    >>> run = train(learner, Arrays(x, y), rule="gradient", warmstart=4000, batch=1000)
    >>> print(f"sampling rate {run.sampling_rate:.1f}, error below 3%: {np.mean((learner.score(x) > 0) != y) < 0.03}")
    sampling rate 0.2, error below 3%: True
    """

    releases_gil = True

    def __init__(
        self,
        module: nn.Module | Callable[[], nn.Module],
        optimizer: MakeOptimizer | None = None,
        loss: Loss | None = None,
        *,
        minibatch: int = 32,
        device: str | torch.device = "cpu",
        classes: int | None = None,
        shape: Sequence[int] | None = None,
        seed: int = 0,
        tile: int = TILE,
    ) -> None:
        self.classes = None if classes is None else whole("classes", classes, 2)
        self.minibatch, self.tile = whole("minibatch", minibatch, 1), whole("tile", tile, 1)
        self.seed = whole("seed", seed, 0)
        self.shape = None if shape is None else tuple(whole("shape", each, 1) for each in shape)
        self.device = _device(device)
        self.module = _made(module, self.seed).to(self.device)
        self._stays_in_eval = [each for each in self.module.modules() if self.module.training and not each.training]
        self.module.eval()
        self.steps = 0
        """Steps taken."""
        self._make_optimizer = optimizer or partial(_torch().optim.AdamW, lr=1e-3)
        self._optimizer = _optimizer_of(self._make_optimizer, self.module)
        self._loss = loss
        self._gather, self._tiles = Minibatches(self.minibatch), Tiles(self.tile)
        self._normalizes = _normalizes_batches(self.module, self._stays_in_eval)
        if self._normalizes and self.minibatch == 1:
            raise InputError(
                "the module has batch normalization, and minibatch is 1",
                why="one example has no variance to be normalized by",
                remedy="give minibatch > 1, or a module with another normalization, as LayerNorm",
            )

    def __repr__(self) -> str:
        names = ("minibatch", "classes", "shape", "seed", "tile")
        parameters = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"TorchLearner({type(self.module).__name__}(...), {parameters})"

    @property
    def log_odds(self) -> bool:
        """True with the losses by default, which make scores log-odds."""
        return self._loss is None

    # There is none: a module is code, and a run file names no code. Types know only the contract, which has it.
    if TYPE_CHECKING:

        def describe(self) -> dict[str, Any]: ...

    # Scoring -----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """The module's output; of two columns, the second minus the first."""
        rows = np.ascontiguousarray(dense(x), np.float32)
        if rows.ndim != 2:
            raise InputError(f"examples have shape {rows.shape}", why="each is a row", remedy="give a matrix")
        columns = score_shape(0, self._classes)[1:]
        with _one_thread(), _torch().no_grad():
            return self._tiles.score(self._score_tile, rows, columns)

    def _score_tile(self, tile: NDArray[Any]) -> Doubles:
        output = self._output(tile).to(_torch().float64).cpu().numpy()
        return output[:, 1] - output[:, 0] if output.ndim == 2 and self._classes == 2 else output

    def _output(self, rows: NDArray[Any]) -> torch.Tensor:
        """(n,), or (n, classes), of the module as it is."""
        given = self._tensor(rows, _dtype_of(self.module))
        fact = f"the module failed on {len(rows)} examples of shape {self.shape or rows.shape[1:]}"
        remedy = "give shape=..., the one that the module takes an example in, or another module"
        with told(fact, remedy=remedy):
            output = self.module(self._shaped(given))
        return self._checked(output, len(rows))

    def _shaped(self, rows: torch.Tensor) -> torch.Tensor:
        if self.shape is None:
            return rows
        if math.prod(self.shape) != rows.shape[1]:
            raise InputError(
                f"examples have {rows.shape[1]} features",
                why=f"shape {self.shape} has {math.prod(self.shape)}",
                remedy="give the shape that the features make",
            )
        return rows.reshape(-1, *self.shape)

    def _checked(self, output: Any, rows: int) -> torch.Tensor:
        shape = _shape_of(output)
        if shape == (rows, self._classes):
            return output
        if self._classes == 2 and shape in ((rows,), (rows, 1)):
            return output.reshape(rows)
        wanted = f"({rows}, 1) or ({rows}, 2)" if self._classes == 2 else f"({rows}, {self._classes})"
        raise InputError(
            f"the module's output for {rows} rows {_has_shape(output)}",
            why=f"with {self._classes} classes it must have shape {wanted}",
            remedy=f"let its last layer have {'1 or 2' if self._classes == 2 else self._classes} outputs",
        )

    def _tensor(self, values: NDArray[Any], dtype: torch.dtype) -> torch.Tensor:
        # A copy: torch's own memory is aligned, which some products' bits depend on.
        return _torch().from_numpy(np.ascontiguousarray(values)).to(self.device, dtype, copy=True)

    @property
    def _classes(self) -> int:
        return self.classes or 2

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """One step for each minibatch that is whole."""
        for minibatch in self._gather.add(selected):
            self._step(minibatch)

    def end_round(self) -> None:
        """One step for the examples that wait, if any do."""
        if self._gather.waiting > (1 if self._normalizes else 0):
            self._step(self._gather.rest())

    def _step(self, batch: Minibatch) -> None:
        fact, remedy = f"step {self.steps + 1} failed", "give another loss or optimizer"
        with _one_thread(), _torch().enable_grad(), self._training(), told(fact, remedy=remedy):
            self._optimizer.zero_grad()
            self._total_loss(batch).backward()
            self._optimizer.step()
            self._optimizer.zero_grad()
        self.steps += 1

    @contextmanager
    def _training(self) -> Generator[None]:
        """In train mode, with random numbers that are a function of the seed and the step alone."""
        torch = _torch()
        devices = [self.device] if self.device.type == "cuda" else []
        with _RANDOM, torch.random.fork_rng(devices):
            torch.manual_seed(int(np.random.SeedSequence([self.seed, self.steps]).generate_state(1)[0]))
            self.module.train()
            for each in self._stays_in_eval:
                each.training = False
            try:
                yield
            finally:
                self.module.eval()

    def _total_loss(self, batch: Minibatch) -> torch.Tensor:
        """Sum(weight loss) / minibatch."""
        torch = _torch()
        output = self._output(dense(batch.x))
        if output.ndim == 1:
            target = self._tensor(batch.y, output.dtype)
        else:
            target = self._tensor(numbers_of(batch.y, self._classes), torch.int64)
        loss = self._loss or (_logistic if output.ndim == 1 else _cross_entropy)
        fact = f"the loss failed on output of shape {tuple(output.shape)} and target of {tuple(target.shape)}"
        with told(fact, remedy="give a loss that takes these"):
            losses: Any = loss(output, target)
        if _shape_of(losses) != (len(batch),):
            raise InputError(
                f"the loss of {len(batch)} examples {_has_shape(losses)}",
                why="each has its own weight 1/p, so each needs its own loss",
                remedy='give a loss with reduction="none", which returns one number for each example',
            )
        total = (losses * self._tensor(batch.weight, losses.dtype)).sum() / self.minibatch
        if not total.requires_grad:
            raise InputError(
                f"the loss of step {self.steps + 1} has no gradient",
                why="it does not depend on the module's parameters, or was detached from them",
                remedy="compute it of the output by torch's own functions",
            )
        if not bool(torch.isfinite(total)):
            raise InputError(
                f"the loss of step {self.steps + 1} is not finite",
                why="features, weights 1/p or steps were too large, or not finite",
                remedy="scale the features, floor p, or give the optimizer a smaller learning rate",
            )
        return total

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Module, optimizer, steps, and the examples that wait, as plain arrays."""
        module, optimizer = dict(self.module.state_dict()), self._optimizer.state_dict()
        return self._gather.save() | to_state(
            {"steps": self.steps, "module": module, "optimizer": optimizer}, _take_apart
        )

    def load(self, state: State) -> None:
        """Become the learner that was saved, of an equal module and optimizer."""
        saved = from_state(state, _put_together)
        with told("the saved state is not one of this module and optimizer", remedy=REMEDY):
            steps, optimizer = whole("steps", saved["steps"], 0), _optimizer_of(self._make_optimizer, self.module)
            _compare_groups(saved["optimizer"]["param_groups"], optimizer.state_dict()["param_groups"])
            optimizer.load_state_dict(saved["optimizer"])
            self.module.load_state_dict(saved["module"])
        self._gather.load(state)
        self._optimizer, self.steps = optimizer, steps

    def digest(self) -> str:
        """Equal digests, equal models."""
        return digest(self.save())

    def __getstate__(self) -> dict[str, Any]:
        # An optimizer holds on to parameters by identity: in a copy it is made again, and told its state.
        return {**vars(self), "_optimizer": self._optimizer.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._optimizer = _optimizer_of(self._make_optimizer, self.module)
        self._optimizer.load_state_dict(state["_optimizer"])


def small_cnn(classes: int = 10) -> nn.Module:
    """A small convolutional network for digits of 28 x 28 pixels, given as rows of 784; one output for two classes.

    >>> sum(weight.numel() for weight in small_cnn().parameters())
    56714
    """
    nn = _torch().nn
    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 1 if classes == 2 else classes),
    )  # fmt: skip


# What was given ----------------------------------------------------------------------------------------------------


def _torch() -> Any:
    return require("torch", extra="torch", what="TorchLearner")


def _device(name: Any) -> Any:
    torch = _torch()
    with told(f"no device {name!r}", remedy="give one that torch has here, as 'cpu'"):
        # A name may be right, and the device not there.
        return torch.empty(0, device=torch.device(name)).device


def _made(module: Any, seed: int) -> nn.Module:
    torch = _torch()
    made: Any = module
    if callable(module) and not isinstance(module, torch.nn.Module):
        with _RANDOM, torch.random.fork_rng([]):
            torch.manual_seed(seed)
            made = module()
    if isinstance(made, torch.nn.Module):
        return made
    raise InputError(
        f"the module is {made!r}",
        why="it must be a torch.nn.Module, or a function that makes one",
        remedy="give one, as TorchLearner(torch.nn.Linear(784, 1))",
    )


def _optimizer_of(make: Any, module: nn.Module) -> torch.optim.Optimizer:
    parameters = [each for each in module.parameters() if each.requires_grad]
    if not parameters:
        raise InputError(
            "the module has no parameters that can be learnt",
            why="none of them requires a gradient",
            remedy="give a module with some",
        )
    with told("the optimizer cannot be made", remedy="give a function of a list of parameters that makes one"):
        optimizer: Any = make(parameters) if callable(make) else make
    if callable(make) and isinstance(optimizer, _torch().optim.Optimizer):
        return _stepping(optimizer)
    raise InputError(
        f"the optimizer is {type(optimizer).__name__}",
        why="each replica makes its own, of its own parameters",
        remedy="give a function that makes it, as functools.partial(torch.optim.SGD, lr=0.1)",
    )


def _stepping(optimizer: Any) -> Any:
    """It, if it takes a step without being told how to compute the loss again."""
    closure = inspect.signature(optimizer.step).parameters.get("closure")
    if closure is None or closure.default is not inspect.Parameter.empty:
        return optimizer
    raise InputError(
        f"the optimizer is {type(optimizer).__name__}",
        why="its step computes the loss several times, and here each minibatch has one",
        remedy="give one that does not, as torch.optim.SGD or AdamW",
    )


def _compare_groups(saved: Any, own: Any) -> None:
    """An optimizer of another kind has other options, and torch would take them all the same."""
    if [set(group) for group in saved] != [set(group) for group in own]:
        raise ValueError("the optimizer has other options")


def _normalizes_batches(module: nn.Module, except_in: list[nn.Module]) -> bool:
    nn = _torch().nn
    kinds = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
    lazy = (nn.LazyBatchNorm1d, nn.LazyBatchNorm2d, nn.LazyBatchNorm3d)
    learning = (each for each in module.modules() if not any(each is other for other in except_in))
    return any(isinstance(each, kinds + lazy) for each in learning)


def _dtype_of(module: nn.Module) -> torch.dtype:
    kinds = (each.dtype for each in module.parameters() if each.is_floating_point())
    return next(kinds, _torch().float32)


# How it is computed ------------------------------------------------------------------------------------------------


@cache
def _one_thread() -> OneTorchThread:
    return OneTorchThread(_torch())


def _logistic(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return _torch().nn.functional.softplus(-target * output)


def _cross_entropy(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return _torch().nn.functional.cross_entropy(output, target, reduction="none")


def _shape_of(value: Any) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, _torch().Tensor) else None


def _has_shape(value: Any) -> str:
    shape = _shape_of(value)
    return f"is a {type(value).__name__}, and no tensor" if shape is None else f"has shape {shape}"


# Tensors as arrays -------------------------------------------------------------------------------------------------


def _take_apart(value: Any) -> tuple[str, Any] | None:
    """A tensor as an array; one of a type that numpy does not have, as the bytes of it."""
    torch = _torch()
    if not isinstance(value, torch.Tensor):
        # What module.state_dict() is.
        return ("dict", dict(value)) if isinstance(value, dict) else None
    plain = value.detach().cpu().contiguous()
    try:
        array = plain.numpy()
    except TypeError:
        array = plain.reshape(-1).view(torch.uint8).numpy().reshape(*plain.shape, plain.element_size())
    return str(plain.dtype), array


def _put_together(kind: str, inner: Any) -> Any:
    if kind == "dict":
        return inner
    torch = _torch()
    dtype = getattr(torch, kind.removeprefix("torch."), None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"no tensor is of {kind}")
    # Cloned, to lie in torch's own memory.
    tensor = torch.from_numpy(inner).clone()
    return tensor if tensor.dtype == dtype else tensor.reshape(-1).view(dtype).reshape(inner.shape[:-1])
