"""Tasks by name: the paper's two on the bundled digits, and all ten digits, with the settings of the paper and ours."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.basics.validation import one_of
from paraactive.streams import Digits


@dataclass(frozen=True)
class Task:
    """Groups of digits to tell apart."""

    name: str
    groups: tuple[tuple[int, ...], ...]
    """Two, those of the label -1 first; or more."""
    learner: str
    """The learner that the paper uses on it."""

    def stream(self, learner: str, seed: int) -> Digits:
        """Its digits, pixels as the learner likes them: [-1, 1] for the SVM, [0, 1] for the network."""
        low = -1.0 if learner == "svm" else 0.0
        if len(self.groups) == 2:
            return Digits(*self.groups, seed=seed, low=low)
        return Digits(groups=self.groups, seed=seed, low=low)


TASKS = {
    task.name: task
    for task in (
        Task("digits-31v57", ((5, 7), (3, 1)), learner="svm"),
        Task("digits-3v5", ((5,), (3,)), learner="network"),
        Task("digits-10", tuple((digit,) for digit in range(10)), learner="svm"),
    )
}

GAMMA = 0.012
"""Of the SVM on digits."""

ETA = {
    ("svm", "margin"): 0.1,
    ("svm", "signed"): 0.05,
    ("svm", "least"): 0.1,
    ("network", "margin"): 0.0005,
    ("network", "signed"): 0.0005,
    ("network", "least"): 0.0005,
}
"""By learner and rule: the paper's for margin, ours for signed."""

GAP = {("svm", rule): 0.2 for rule in ("margin", "signed", "least", "iwal")}
"""By learner and rule: to which gap the SVM reprocesses after each round. The paper does not; without it, a heavy
example at the end of a round can leave the bias rough, and the mistakes of one checkpoint half as many again."""


def find_task(name: str) -> Task:
    """The task of that name.

    >>> find_task("digits-3v5").stream("network", seed=0).classes
    ('5', '3')
    """
    return TASKS[one_of("task", name, TASKS, otherwise="name one of these, or give a file")]
