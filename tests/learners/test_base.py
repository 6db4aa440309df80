from __future__ import annotations

import numpy as np

from making import two_moons
from paraactive import LaSVM, Network
from paraactive.data.examples import Doubles, Floats, Selected
from paraactive.learners import Guarded
from paraactive.learners.base import Capabilities, Proxy, can_finish, capabilities_of, finish_learner, proxy_of


def test_a_learner_that_declares_nothing_has_the_defaults() -> None:
    assert capabilities_of(object()) == Capabilities(2, False, False, False, False, 0, None, True)


def test_what_a_learner_declares_is_read_and_other_uses_of_a_name_are_ignored() -> None:
    class Own:
        classes, steps, log_odds = None, np.int64(7), True
        vectors = np.zeros((3, 2))
        sparse = "no"

    assert capabilities_of(Own()) == Capabilities(classes=None, steps=7, log_odds=True)


def test_our_learners_declare_what_they_can_do() -> None:
    assert capabilities_of(LaSVM()) == Capabilities(None, releases_gil=True, sparse=True, vectors=0)
    assert capabilities_of(Network(classes=3)).classes == 3
    assert capabilities_of(Network()).log_odds


def test_a_learner_offers_a_proxy_or_none() -> None:
    def cheap(x: Floats) -> Doubles:
        return np.zeros(len(x))

    class Offers(LaSVM):
        def proxy(self) -> Proxy:
            return Proxy(cheap, 0.5, 0.1)

    assert proxy_of(Offers()) == Proxy(cheap, 0.5, 0.1)
    assert proxy_of(LaSVM()) is None
    assert proxy_of(Network()) is None


def test_a_learner_without_a_finishing_step_stays_as_it_is() -> None:
    x, y = two_moons(300, noise=0.3, seed=0)
    for learner, finishes in ((LaSVM(gamma=1.0), True), (Guarded(LaSVM(gamma=1.0)), True), (Network(hidden=3), False)):
        everything = Selected.weighted(x, y, 1.0)
        learner.update(everything)
        before = learner.digest()
        finish_learner(learner, everything)
        assert can_finish(learner) == finishes == (learner.digest() != before)
    assert not can_finish(Guarded(Network(hidden=3)))
