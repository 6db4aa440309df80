"""What a user would pick instead, each as one way to fit and to predict; and ours in the same form.

A contender is given the data and yields what it has done: first that it has fitted, with the seconds, then that it has
predicted. Two linear learners on the same features are one contender: the features are made once, and their time counts
for both. Everything runs in one thread.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, LinearSVC

from benchmarks.measuring import peak_memory, seconds
from paraactive import Digits, LaSVM, Network, ParaActiveClassifier, train
from paraactive.data.examples import Floats
from paraactive.data.labels import decide
from paraactive.rules import Gradient, LeastMargin, Rule, SignedMargin

PASSES = 10
"""Of torch's minibatches over the rows."""


@dataclass(frozen=True)
class Data:
    """Rows to learn, rows to try, and what all kernels are given."""

    x: Floats
    y: Any
    test_x: Floats
    test_y: Any
    C: float
    gamma: float
    stream: Digits | None = None
    """Of digits: they go on, deformed."""
    examples: int = 0
    """How many of the stream our SVM sees."""
    network_examples: int = 0
    """And our network."""
    divisor: int = 1
    """To try whether all works: features and passes are so much fewer."""


Contender: TypeAlias = Callable[[Data, tuple[str, ...]], Iterator[dict[str, Any]]]
"""Is given the data and the names of those that are wanted."""


def tried(name: str, data: Data, fit: Callable[[], object], predict: Callable[[], Any], seen: int) -> Iterator[Any]:
    """Fit and predict, and say so after each."""
    yield {"name": name, "seen": seen, "fit": seconds(fit)}
    start = time.perf_counter()
    said = predict()
    spent = time.perf_counter() - start
    yield {
        "name": name, "predict": spent, "error": float(np.mean(np.asarray(said) != data.test_y)),
        "memory": peak_memory(),
    }  # fmt: skip


# Scikit-learn and ThunderSVM -------------------------------------------------------------------------------------


def plain(name: str, make: Callable[[Data], Any]) -> dict[str, Contender]:
    """A classifier with fit and predict."""

    def contend(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
        warnings.simplefilter("ignore", ConvergenceWarning)  # MLPClassifier, of the passes that it was given
        model = make(data)
        yield from tried(
            name, data, partial(model.fit, data.x, data.y), partial(model.predict, data.test_x), len(data.x)
        )

    return {name: contend}


def on_features(kind: str, make: Callable[[Data], Any]) -> dict[str, Contender]:
    """SGDClassifier and LinearSVC on features that come close to the kernel."""
    names = f"SGDClassifier on {kind}", f"LinearSVC on {kind}"

    def contend(data: Data, wanted: tuple[str, ...]) -> Iterator[Any]:
        warnings.simplefilter("ignore", ConvergenceWarning)
        features = make(data)
        made: dict[str, Any] = {}
        spent = seconds(lambda: made.update(z=features.fit_transform(data.x)))
        for name, linear in zip(names, (SGDClassifier(random_state=0), LinearSVC(random_state=0)), strict=True):
            if name not in wanted:
                continue
            model: Any = linear
            steps = tried(
                name, data, partial(model.fit, made["z"], data.y),
                lambda model=model: model.predict(features.transform(data.test_x)), len(data.x),
            )  # fmt: skip
            fitted = next(steps)
            yield fitted | {"fit": spent + fitted["fit"]}
            yield from steps

    return dict.fromkeys(names, contend)


def thunder(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
    """ThunderSVM on the processor, if it is installed: pip install thundersvm-cpu."""
    if importlib.util.find_spec("thundersvm") is None:
        yield {"name": "ThunderSVM", "why": "not installed"}
        return
    made: Any = importlib.import_module("thundersvm")
    model = made.SVC(C=data.C, gamma=data.gamma, n_jobs=1)
    yield from tried(
        "ThunderSVM", data, partial(model.fit, data.x, data.y), partial(model.predict, data.test_x), len(data.x)
    )


# torch -----------------------------------------------------------------------------------------------------------


def torch_mlp(data: Data, name: str, pieces: Callable[[int], tuple[Floats, Any]]) -> Iterator[Any]:
    """784-256-256-classes, ReLU, Adam 0.001, minibatches of 128; `pieces` gives the rows of each pass."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    classes = np.unique(data.y)
    module = nn.Sequential(
        nn.Linear(data.x.shape[1], 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, len(classes))
    )
    optimizer, loss = torch.optim.Adam(module.parameters(), lr=1e-3), nn.CrossEntropyLoss()
    passes = max(1, PASSES // data.divisor)

    def fit() -> None:
        for number in range(passes):
            x, y = pieces(number)
            target = torch.from_numpy(np.searchsorted(classes, y))
            for rows in torch.randperm(len(x)).split(128):
                optimizer.zero_grad()
                loss(module(torch.from_numpy(x)[rows]), target[rows]).backward()
                optimizer.step()

    def predict() -> Any:
        with torch.no_grad():
            return classes[module(torch.from_numpy(data.test_x)).argmax(1).numpy()]

    yield from tried(name, data, fit, predict, passes * len(data.x))


TORCH, TORCH_DEFORMED = f"torch MLP, {PASSES} passes", "torch MLP, deformed stream"


def torch_on_rows(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
    """The same rows in each pass."""
    yield from torch_mlp(data, TORCH, lambda _: (data.x, data.y))


def torch_on_stream(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
    """Fresh deformed digits in each pass, as ours have them."""
    stream, count = data.stream, len(data.x)
    if stream is None:
        yield {"name": TORCH_DEFORMED, "left_out": True}
        return

    def piece(number: int) -> tuple[Floats, Any]:
        fresh = stream.read(number * count, (number + 1) * count)
        return np.asarray(fresh.x), fresh.y

    yield from torch_mlp(data, TORCH_DEFORMED, piece)


# Ours ------------------------------------------------------------------------------------------------------------

OURS_SVM, OURS_NETWORK = "ours: LaSVM, deformed stream", "ours: Network, deformed stream"
OURS_FIT, OURS_FIT_NETWORK = "ours: ParaActiveClassifier(LaSVM)", "ours: ParaActiveClassifier(Network)"


def _streamed(name: str, data: Data, learner: Any, rule: Rule, low: float, examples: int) -> Iterator[Any]:
    if data.stream is None:
        yield {"name": name, "left_out": True}
        return
    stream = Digits(seed=0, low=low, **_groups(data.stream))
    classes, test = np.unique(data.y), stream.test().x[: len(data.test_x)]

    def fit() -> None:
        train(learner, stream, rule=rule, examples=examples, engine="threads", nodes=1)

    yield from tried(name, data, fit, lambda: classes[decide(learner.score(test))], examples)


def _groups(stream: Digits) -> dict[str, Any]:
    if stream.groups is None:
        return {"negative": stream.negative, "positive": stream.positive}
    return {"groups": stream.groups}


def svm_on_stream(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
    """`train` with the rule that suits the number of classes."""
    rule = SignedMargin(0.05) if len(np.unique(data.y)) == 2 else LeastMargin(0.1)
    learner = LaSVM(C=data.C, gamma=data.gamma, gap=0.2)
    yield from _streamed(OURS_SVM, data, learner, rule, -1.0, data.examples)


def network_on_stream(data: Data, _wanted: tuple[str, ...]) -> Iterator[Any]:
    """`train` with the gradient rule; pixels from 0 to 1."""
    yield from _streamed(OURS_NETWORK, data, Network(), Gradient(), 0.0, data.network_examples)


def network_on_rows(data: Data, wanted: tuple[str, ...]) -> Iterator[Any]:
    """The estimator with the network; not on digits, whose pixels from -1 to 1 suit kernels."""
    if data.stream is not None:
        yield {"name": OURS_FIT_NETWORK, "left_out": True}
        return
    way = plain(OURS_FIT_NETWORK, lambda _: ParaActiveClassifier(Network(), epochs=3, random_state=0))
    yield from way[OURS_FIT_NETWORK](data, wanted)


PEERS: dict[str, Contender] = {
    **plain("SVC, 4 GB cache", lambda data: SVC(C=data.C, gamma=data.gamma, cache_size=4000)),  # pyright: ignore[reportArgumentType]
    "ThunderSVM": thunder,
    **on_features(
        "Nystroem 1000",
        lambda data: Nystroem(gamma=data.gamma, n_components=1000 // data.divisor, random_state=0),
    ),
    **on_features(
        "Nystroem 4000",
        lambda data: Nystroem(gamma=data.gamma, n_components=4000 // data.divisor, random_state=0),
    ),
    **on_features(
        "RBFSampler 4000",
        lambda data: RBFSampler(gamma=data.gamma, n_components=4000 // data.divisor, random_state=0),
    ),
    **plain("HistGradientBoosting", lambda _: HistGradientBoostingClassifier(random_state=0)),
    **plain("MLPClassifier, 20 passes", lambda data: _mlp(data)),
    TORCH: torch_on_rows,
    TORCH_DEFORMED: torch_on_stream,
    **plain(
        OURS_FIT, lambda data: ParaActiveClassifier(LaSVM(C=data.C, gamma=data.gamma, gap=0.2), random_state=0)
    ),
    OURS_FIT_NETWORK: network_on_rows,
    OURS_SVM: svm_on_stream,
    OURS_NETWORK: network_on_stream,
}  # fmt: skip
"""By the name of each row of the table."""


def _mlp(data: Data) -> MLPClassifier:
    return MLPClassifier((256,), max_iter=max(1, 20 // data.divisor), random_state=0)
