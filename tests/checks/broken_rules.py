"""One broken rule for each property; all are sound but for that."""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.data.examples import Doubles, Ints
from paraactive.rules import PaperMargin, SignedMargin


class Peeping(PaperMargin):
    """It has a place for labels, and does not say so."""

    def probability(self, score: Doubles, seen: Ints, y: Any = None) -> Doubles:
        return super().probability(score, seen)


class Vague(PaperMargin):
    needs_labels = 0  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]


class Blindfolded(SignedMargin):
    """It says that it needs labels, and takes what comes."""

    def probability(self, score: Doubles, seen: Ints, *labels: Any) -> Doubles:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().probability(score, seen, *labels)


class Tall(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return super().probability(score, seen)[:, None]


class Single(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Any:
        return super().probability(score, seen).astype(np.float32)


class Bottomless(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        p = super().probability(score, seen)
        return np.where(p < 1e-9, 0.0, p)


class Eager(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return 1.5 * super().probability(score, seen)


class Undefined(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return np.where(seen == 0, np.nan, super().probability(score, seen))


class Careless(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        return super().probability(np.abs(score, out=score), seen)


class Fickle(PaperMargin):
    """It says something else every second time."""

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        object.__setattr__(self, "asked", 1 - self.__dict__.get("asked", 0))
        return np.maximum(super().probability(score, seen) * (1.0 if self.__dict__["asked"] else 0.9), 2.0**-53)


class Ranking(PaperMargin):
    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        p = super().probability(score, seen)
        return np.maximum(p / p.max(initial=2.0**-53), 2.0**-53)


class Modest(PaperMargin):
    """It says that it needs no scores, and looks at them."""

    needs_scores = False


class Reticent(PaperMargin):
    def describe(self) -> dict[str, Any]:
        return {}


class Homebound(PaperMargin):
    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "later", lambda: None)


class Changing(PaperMargin):
    """What arrives is another."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Changing, (2 * self.eta,)
