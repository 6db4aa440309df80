"""TorchLearner: any torch module as a learner. torch is imported when a learner is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.state import State, digest
from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Features, Floats, Selected, SparseRows, dense
from paraactive.data.labels import numbers_of, score_shape
from paraactive.errors import InputError
from paraactive.learners.wrappers.fixed_batches import DEFAULT_ROWS, FixedBatches
from paraactive.learners.wrappers.foreign import reraise_as_input_error
from paraactive.learners.wrappers.minibatches import Minibatch, Minibatches
from paraactive.learners.wrappers.nested import REMEDY, from_state, to_state
from paraactive.learners.wrappers.torch_modules import (
    RANDOM,
    Loss,
    MakeOptimizer,
    cross_entropy,
    device_of,
    dtype_of,
    logistic,
    make_module,
    make_optimizer,
    normalizes_batches,
    one_thread,
    shape_in_words,
    shape_of,
    torch_module,
)
from paraactive.learners.wrappers.torch_state import compare_groups, put_together, take_apart

if TYPE_CHECKING:
    import torch
    from torch import nn


class TorchLearner:
    """A torch module as a learner.

    All computing uses one thread of the processor: nodes sift in parallel. A module with batch normalization cannot
    learn from a single example; a single example that is left at the end of a round waits for the next round.
    Schedulers of learning rates are not supported, nor optimizers whose step calls the loss again, such as LBFGS.

    Parameters
    ----------
    module : torch.nn.Module or callable
        Returns the scores of a batch of rows: (n,), (n, 1) or (n, 2) for two classes, (n, classes) for more. Or a
        function without parameters that makes the module; it is called with torch's generator seeded by `seed`. The
        module itself learns, not a copy; between updates it is in eval mode. Parts that are in eval mode when a module
        in train mode is given stay in eval mode while learning, such as a batch normalization that should keep its
        mean and variance.
    optimizer : callable, optional
        Makes the optimizer of a list of parameters, such as `functools.partial(torch.optim.SGD, lr=0.1)`. A lambda
        cannot be sent to nodes in other processes. Default: AdamW with lr=0.001.
    loss : callable, optional
        Function of (output, target) that returns one number for each example. With one output for a row, output has
        shape (n,), target is -1.0 or 1.0 (not 0.0 or 1.0, as in BCEWithLogitsLoss), and the default is
        log(1 + exp(-target * output)). With more, output has shape (n, C), target is 0 to C-1, and the default is
        the cross entropy. For class weights, use class_weight of `train` instead of the loss.
    minibatch : int, default=32
        Number of examples in each gradient step. The step is on sum(weight * loss) / minibatch, also for the examples
        that are left at the end of a round. So it is unbiased, and the effect of an example does not depend on others.
    device : str or torch.device, default="cpu"
        Where the module computes.
    classes : int, optional
        Number of classes. Default: the number of classes of the stream, or 2 without a stream.
    shape : sequence of int, optional
        Shape of one example for the module, such as (1, 28, 28). Default: plain rows.
    seed : int, default=0
        Seed of dropout and the like; each step has its own random numbers.
    tile : int, default=64
        Number of rows in each call of the module for scores. Each call has exactly this number of rows, padded with
        zeros, so that scores do not depend on the other rows (see `fixed_batches`). 1 is safe with every module, and
        several times slower. If the last bits would depend on other rows, 1 is used, with a warning.

    Attributes
    ----------
    steps : int
        Number of optimizer steps taken.

    Examples
    --------
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
        tile: int = DEFAULT_ROWS,
    ) -> None:
        self.classes = None if classes is None else whole("classes", classes, 2)
        self.minibatch, self.tile = whole("minibatch", minibatch, 1), whole("tile", tile, 1)
        self.seed = whole("seed", seed, 0)
        self.shape = None if shape is None else tuple(whole("shape", each, 1) for each in shape)
        self.device = device_of(device)
        self.module = make_module(module, self.seed).to(self.device)
        self._stays_in_eval = [each for each in self.module.modules() if self.module.training and not each.training]
        self.module.eval()
        self.steps = 0
        self._make_optimizer = optimizer or partial(torch_module().optim.AdamW, lr=1e-3)
        self._optimizer = make_optimizer(self._make_optimizer, self.module)
        self._loss = loss
        self._gather, self._batches = Minibatches(self.minibatch), FixedBatches(self.tile)
        self._normalizes = normalizes_batches(self.module, self._stays_in_eval)
        if self._normalizes and self.minibatch == 1:
            raise InputError(
                "the module has batch normalization, and minibatch is 1",
                why="a single example has no variance to normalize by",
                remedy="give minibatch > 1, or a module with another normalization, such as LayerNorm",
            )

    def __repr__(self) -> str:
        names = ("minibatch", "classes", "shape", "seed", "tile")
        parameters = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"TorchLearner({type(self.module).__name__}(...), {parameters})"

    @property
    def log_odds(self) -> bool:
        """Whether scores are log-odds: with the default losses they are."""
        return self._loss is None

    # There is no `describe`: a module is code, and a run file names no code. The contract has it, so types need it.
    if TYPE_CHECKING:

        def describe(self) -> dict[str, Any]: ...

    # Scoring -----------------------------------------------------------------------------------------------------

    def score(self, x: ArrayLike | SparseRows) -> Doubles:
        """Return the module's output for each row; with two outputs for two classes, the second minus the first.

        Parameters
        ----------
        x : array-like or SparseRows
            Rows of features.

        Returns
        -------
        ndarray of float64, shape (n,) or (n, classes)
            The scores.

        Raises
        ------
        InputError
            If the module fails, or returns another shape.
        """
        rows = np.ascontiguousarray(dense(x), np.float32)
        if rows.ndim != 2:
            raise InputError(f"examples have shape {rows.shape}", why="each example is a row", remedy="give a matrix")
        columns = score_shape(0, self._classes)[1:]
        with one_thread(), torch_module().no_grad():
            return self._batches.score(self._score_batch, rows, columns)

    def _score_batch(self, batch: Features) -> Doubles:
        output = self._output(dense(batch)).to(torch_module().float64).cpu().numpy()
        return output[:, 1] - output[:, 0] if output.ndim == 2 and self._classes == 2 else output

    def _output(self, rows: Floats) -> torch.Tensor:
        """Return the output of the module as (n,) or (n, classes)."""
        given = self._tensor(rows, dtype_of(self.module))
        fact = f"the module failed on {len(rows)} examples of shape {self.shape or rows.shape[1:]}"
        remedy = "give shape=..., the shape of one example for the module, or another module"
        with reraise_as_input_error(fact, remedy):
            output = self.module(self._shaped(given))
        return self._checked(output, len(rows))

    def _shaped(self, rows: torch.Tensor) -> torch.Tensor:
        if self.shape is None:
            return rows
        if math.prod(self.shape) != rows.shape[1]:
            raise InputError(
                f"examples have {rows.shape[1]} features",
                why=f"shape {self.shape} has {math.prod(self.shape)}",
                remedy="give a shape with that number of features",
            )
        return rows.reshape(-1, *self.shape)

    def _checked(self, output: torch.Tensor, rows: int) -> torch.Tensor:
        shape = shape_of(output)
        if shape == (rows, self._classes):
            return output
        if self._classes == 2 and shape in ((rows,), (rows, 1)):
            return output.reshape(rows)
        wanted = f"({rows}, 1) or ({rows}, 2)" if self._classes == 2 else f"({rows}, {self._classes})"
        raise InputError(
            f"the module's output for {rows} rows {shape_in_words(output)}",
            why=f"with {self._classes} classes it must have shape {wanted}",
            remedy=f"give a module whose last layer has {'1 or 2' if self._classes == 2 else self._classes} outputs",
        )

    def _tensor(self, values: NDArray[np.generic], dtype: torch.dtype) -> torch.Tensor:
        # A copy: memory of torch is aligned, and the bits of some products depend on that.
        return torch_module().from_numpy(np.ascontiguousarray(values)).to(self.device, dtype, copy=True)

    @property
    def _classes(self) -> int:
        return self.classes or 2

    # Learning ----------------------------------------------------------------------------------------------------

    def update(self, selected: Selected) -> None:
        """See `Learner.update`. Takes one step for each complete minibatch."""
        for minibatch in self._gather.add(selected):
            self._step(minibatch)

    def end_round(self) -> None:
        """Take one step on the waiting examples, if any."""
        if self._gather.waiting > (1 if self._normalizes else 0):
            self._step(self._gather.rest())

    def _step(self, batch: Minibatch) -> None:
        fact, remedy = f"step {self.steps + 1} failed", "give another loss or optimizer"
        with one_thread(), torch_module().enable_grad(), self._training(), reraise_as_input_error(fact, remedy):
            self._optimizer.zero_grad()
            self._total_loss(batch).backward()
            self._optimizer.step()
            self._optimizer.zero_grad()
        self.steps += 1

    @contextmanager
    def _training(self) -> Generator[None]:
        """Put the module into train mode, with random numbers that depend on the seed and the step alone."""
        torch = torch_module()
        devices = [self.device] if self.device.type == "cuda" else []
        with RANDOM, torch.random.fork_rng(devices):
            torch.manual_seed(int(np.random.SeedSequence([self.seed, self.steps]).generate_state(1)[0]))
            self.module.train()
            for each in self._stays_in_eval:
                each.training = False
            try:
                yield
            finally:
                self.module.eval()

    def _total_loss(self, batch: Minibatch) -> torch.Tensor:
        """Return sum(weight * loss) / minibatch."""
        torch = torch_module()
        output = self._output(dense(batch.x))
        if output.ndim == 1:
            target = self._tensor(batch.y, output.dtype)
        else:
            target = self._tensor(numbers_of(batch.y, self._classes), torch.int64)
        loss = self._loss or (logistic if output.ndim == 1 else cross_entropy)
        fact = f"the loss failed on output of shape {tuple(output.shape)} and target of {tuple(target.shape)}"
        with reraise_as_input_error(fact, "give a loss that accepts these shapes"):
            losses = loss(output, target)
        if shape_of(losses) != (len(batch),):
            raise InputError(
                f"the loss of {len(batch)} examples {shape_in_words(losses)}",
                why="each example has its own weight 1/p, so each needs its own loss",
                remedy='give a loss with reduction="none", which returns one number for each example',
            )
        total = (losses * self._tensor(batch.weight, losses.dtype)).sum() / self.minibatch
        if not total.requires_grad:
            raise InputError(
                f"the loss of step {self.steps + 1} has no gradient",
                why="it does not depend on the module's parameters, or was detached from them",
                remedy="compute it from the output with functions of torch",
            )
        if not bool(torch.isfinite(total)):
            raise InputError(
                f"the loss of step {self.steps + 1} is not finite",
                why="features, weights 1/p or the learning rate were too large, or not finite",
                remedy="scale the features, floor p, or give the optimizer a smaller learning rate",
            )
        return total

    # State -------------------------------------------------------------------------------------------------------

    def save(self) -> State:
        """Return the states of module and optimizer, the steps and the waiting examples."""
        module, optimizer = dict(self.module.state_dict()), self._optimizer.state_dict()
        return self._gather.save() | to_state(
            {"steps": self.steps, "module": module, "optimizer": optimizer}, take_apart
        )

    def load(self, state: State) -> None:
        """See `Learner.load`. The learner must have an equal module and optimizer.

        Raises
        ------
        InputError
            If the state is that of another module or optimizer.
        """
        saved = from_state(state, put_together)
        with reraise_as_input_error("the saved state is not one of this module and optimizer", REMEDY):
            steps, optimizer = whole("steps", saved["steps"], 0), make_optimizer(self._make_optimizer, self.module)
            compare_groups(saved["optimizer"]["param_groups"], optimizer.state_dict()["param_groups"])
            optimizer.load_state_dict(saved["optimizer"])
            self.module.load_state_dict(saved["module"])
        self._gather.load(state)
        self._optimizer, self.steps = optimizer, steps

    def digest(self) -> str:
        """Return a digest of the state: equal digests mean equal models."""
        return digest(self.save())

    def __getstate__(self) -> dict[str, Any]:
        # An optimizer refers to its parameters by identity. A copy makes a new optimizer and loads its state.
        return {**vars(self), "_optimizer": self._optimizer.state_dict()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._optimizer = make_optimizer(self._make_optimizer, self.module)
        self._optimizer.load_state_dict(state["_optimizer"])
