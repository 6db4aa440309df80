"""The learner that is checked, and the examples that it is checked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from paraactive.basics.state import pack, unpack
from paraactive.data.examples import Floats, Selected
from paraactive.data.labels import labels_of
from paraactive.learners.base import Learner, capabilities_of

MakeLearner: TypeAlias = Callable[[], Learner]

ROWS = 200
# The examples are cut in two at an odd place, which is no multiple of any block size.
HALF = 120
REPLICAS = "each node learns the log by itself, and the models of all nodes must agree to the bit"


@dataclass(frozen=True)
class LearnerCase:
    """A learner, and the examples that it is checked with.

    Parameters
    ----------
    given : callable
        Makes an untrained learner.
    width : int
        Number of features.
    seed : int
        Seed of the examples.
    classes : int
        Number of classes.
    """

    given: MakeLearner
    width: int
    seed: int
    classes: int

    @cached_property
    def examples(self) -> Selected:
        """Examples of overlapping classes, with weights from 1 to 20."""
        rng = np.random.default_rng(self.seed)
        number = rng.integers(0, self.classes, ROWS)
        centers = rng.normal(scale=1.5, size=(self.classes, self.width))
        x = rng.normal(size=(ROWS, self.width)) + centers[number]
        return Selected.weighted(x.astype(np.float32), labels_of(number, self.classes), rng.uniform(1.0, 20.0, ROWS))

    @property
    def x(self) -> Floats:
        """Features of all examples."""
        return self.examples.examples.x

    @property
    def first(self) -> Selected:
        """The first part of the examples."""
        return self.examples.take(slice(0, HALF))

    @property
    def rest(self) -> Selected:
        """The second part of the examples."""
        return self.examples.take(slice(HALF, None))

    def make(self) -> Learner:
        """Make an untrained learner and set its number of classes, as a run does.

        Returns
        -------
        Learner
            The learner.
        """
        learner = self.given()
        if capabilities_of(learner).classes is None:
            learner.classes = self.classes  # pyright: ignore[reportAttributeAccessIssue]
        return learner

    def trained(self) -> Learner:
        """Make a learner that has learned the first part of the examples.

        Returns
        -------
        Learner
            The learner.
        """
        learner = self.make()
        learner.update(self.first)
        return learner

    def loaded(self, saved: Learner) -> Learner:
        """Make a learner with the state of another one. The state passes through bytes, as in a run file.

        Parameters
        ----------
        saved : Learner
            The learner whose state is saved.

        Returns
        -------
        Learner
            The new learner.
        """
        learner = self.make()
        learner.load(unpack(pack(saved.save())))
        return learner


LearnerProperty: TypeAlias = Callable[[LearnerCase], None]
