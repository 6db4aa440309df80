"""A small, sound learner, and one broken learner for each property."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any, Self

import numpy as np

from paraactive.basics.state import State, digest
from paraactive.data.examples import Doubles, Floats, Selected, SparseRows
from paraactive.learners.base import Proxy

_NUMBERS = itertools.count()


class Linear:
    """Logistic regression, example by example; sums are taken feature by feature, so no bit depends on the shape."""

    def __init__(self, step: float = 0.1) -> None:
        self.step = step
        self.w = np.zeros(0)

    def score(self, x: Floats) -> Doubles:
        out = np.zeros(len(x))
        for j, w in enumerate(self.w):
            out += x[:, j] * w
        return out

    def update(self, selected: Selected) -> None:
        if not len(self.w):
            self.w = np.zeros(selected.examples.width)
        for row in range(len(selected)):
            x, y = selected.examples.x[row : row + 1], float(selected.examples.y[row])
            self.step_by(x[0], y, float(selected.weight[row]), Linear.score(self, x)[0])

    def step_by(self, x: Any, y: float, weight: float, f: float) -> None:
        self.w += self.step * weight * y / (1 + np.exp(np.clip(y * f, -500, 500))) * x

    def end_round(self) -> None:
        self.w *= 0.999

    def save(self) -> State:
        return {"w": self.w.copy()}

    def load(self, state: State) -> None:
        self.w = np.array(state["w"])

    def digest(self) -> str:
        return digest({"w": self.w})

    def describe(self) -> dict[str, Any]:
        return {"step": self.step}


class Dumb(Linear):
    score = None  # pyright: ignore[reportAssignmentType]


class Proxied(Linear):
    """Sound: its cheap score leaves out all but the first feature."""

    def proxy(self) -> Proxy:
        return Proxy(self.cheap_score, error_bound=float(np.abs(self.w[1:]).sum()), cost=1 / len(self.w))

    def cheap_score(self, x: Floats) -> Doubles:
        return np.asarray(x[:, 0] * self.w[0], np.float64)


class Guessing(Proxied):
    def proxy(self) -> Proxy:
        return Proxy(self.cheap_score, error_bound=float(next(_NUMBERS)), cost=0.5)


class Averaging(Proxied):
    def cheap_score(self, x: Floats) -> Doubles:
        return super().cheap_score(x) - super().cheap_score(x).mean()


class Forgetting(Proxied):
    def __init__(self, step: float = 0.1) -> None:
        super().__init__(step)
        self.guard = 1.0

    def update(self, selected: Selected) -> None:
        super().update(selected)
        self.guard = 2.0

    def proxy(self) -> Proxy:
        return Proxy(self.cheap_score, self.guard, 0.5)


ONLY = Linear()


class Signed(Linear):
    """Its digest is that of the object, not of the model."""

    def __init__(self, step: float = 0.1) -> None:
        super().__init__(step)
        self.number = next(_NUMBERS)

    def digest(self) -> str:
        return f"{super().digest()}-{self.number}"


class Unready(Linear):
    def score(self, x: Floats) -> Doubles:
        return super().score(x) if len(self.w) else np.full(len(x), np.nan)


class Flat(Linear):
    def score(self, x: Floats) -> Doubles:
        return super().score(x) if len(self.w) else np.zeros((len(x), 1))


class Counting(Linear):
    """It counts what it scores, in its state."""

    scored = 0

    def score(self, x: Floats) -> Doubles:
        self.scored += 1
        return super().score(x)

    def digest(self) -> str:
        return f"{super().digest()}-{self.scored}"

    def save(self) -> State:
        return super().save() | {"scored": np.array(self.scored)}

    def load(self, state: State) -> None:
        super().load(state)
        self.scored = int(state["scored"])


class Scaling(Linear):
    """It centres the rows that it is given in place."""

    def score(self, x: Floats) -> Doubles:
        out = super().score(x)
        x += np.float32(1.0)
        return out


class Sociable(Linear):
    def score(self, x: Floats) -> Doubles:
        out = super().score(x)
        return out - 1e-9 * out.sum()


class Moody(Linear):
    def step_by(self, x: Any, y: float, weight: float, f: float) -> None:
        super().step_by(x, y, weight * np.random.default_rng().uniform(0.5, 1.0), f)


class Batching(Linear):
    """Its step is smaller in a larger batch."""

    def update(self, selected: Selected) -> None:
        whole, self.step = self.step, self.step / max(len(selected), 1)
        super().update(selected)
        self.step = whole


class Restless(Linear):
    def end_round(self) -> None:
        self.w += np.random.default_rng().normal(size=len(self.w))


class Anonymous(Linear):
    def digest(self) -> str:
        return "a learner"


class Objects(Linear):
    def save(self) -> State:
        return super().save() | {"note": np.array([None], object)}


class Window(Linear):
    """What it saves is its own state, not a copy."""

    def save(self) -> State:
        return {"w": self.w}


class Shifted(Linear):
    """Once loaded it scores otherwise; its digest does not know."""

    offset = 0.0

    def score(self, x: Floats) -> Doubles:
        return super().score(x) + self.offset

    def load(self, state: State) -> None:
        super().load(state)
        self.offset = 1e-9


class Momentum(Linear):
    """It does not save its momentum."""

    def __init__(self, step: float = 0.1) -> None:
        super().__init__(step)
        self.velocity = 0.0

    def step_by(self, x: Any, y: float, weight: float, f: float) -> None:
        before = self.w.copy()
        super().step_by(x, y, weight, f)
        self.w += 0.1 * self.velocity
        self.velocity = self.w - before


class Borrowing(Linear):
    """It learns in the arrays that it was loaded from."""

    def load(self, state: State) -> None:
        self.w = state["w"]


class Clinging(Linear):
    def __deepcopy__(self, memo: Any) -> Self:
        return self


class Homebound(Linear):
    def __init__(self, step: float = 0.1) -> None:
        super().__init__(step)
        self.later = lambda: None


class Weightless(Linear):
    def step_by(self, x: Any, y: float, weight: float, f: float) -> None:
        super().step_by(x, y, 1.0, f)


class Fragile(Linear):
    def step_by(self, x: Any, y: float, weight: float, f: float) -> None:
        super().step_by(x, y, np.inf if weight > 1000 else weight, 0.0 if weight > 1000 else f)

    def score(self, x: Floats) -> Doubles:
        with np.errstate(invalid="ignore"):
            return super().score(x)


class Reticent(Linear):
    def describe(self) -> dict[str, Any]:
        return {}


class Crowded(Linear):
    """The scores of sparse rows depend on how many there are."""

    sparse = True

    def score(self, x: Any) -> Any:
        return super().score(x.dense()) + len(x) if isinstance(x, SparseRows) else super().score(x)

    def update(self, selected: Selected) -> None:
        examples = selected.examples
        if isinstance(examples.x, SparseRows):
            selected = replace(selected, examples=replace(examples, x=examples.x.dense()))
        super().update(selected)
