"""A short log with the model of each of its places, for tests of what holds several copies of a model."""

from __future__ import annotations

from making import two_moons
from paraactive import Arrays, LaSVM
from paraactive.data.examples import Entries, Place, Stretch
from paraactive.learners import Learner
from paraactive.rules import PaperMargin
from paraactive.sifting.node import Node

X, Y = two_moons(900, noise=0.3, seed=0)
MOONS = Arrays(X, Y, seed=1, passes=4)


def svm() -> LaSVM:
    """A learner to which it matters where rounds end."""
    return LaSVM(gamma=1.0, gap=0.2)


def replica(learner: Learner) -> Node:
    """A replica that has learned nothing."""
    return Node(learner, PaperMargin(0.2), MOONS, seed=4)


def _stretches(count: int) -> list[Stretch]:
    """A log in pieces: some empty, some ending a round."""
    node, seen = replica(svm()), 60
    stretches = [Stretch(Entries(0, node.take(0, 60).selected), 0, 60)]
    node.learn(stretches[0])
    for number in range(1, count):
        last = seen + (8, 0, 15)[number % 3]
        selected = node.sift(seen, last, seen).selected
        stretches.append(Stretch(Entries(node.version, selected), node.rounds, last, ends_round=number % 4 == 0))
        node.learn(stretches[-1])
        seen = last
    return stretches


STRETCHES = _stretches(30)


def _digests() -> dict[Place, str]:
    node, digests = replica(svm()), dict[Place, str]()
    for stretch in STRETCHES:
        node.learn(stretch)
        digests[node.place] = node.learner.digest()
    return digests


DIGESTS = _digests()
"""The model of each place."""
