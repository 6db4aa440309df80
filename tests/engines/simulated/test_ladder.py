"""Models at several places of the log."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.stretches import DIGESTS, STRETCHES, replica, svm
from paraactive.engines.simulated import ladder
from paraactive.engines.simulated.ladder import Ladder


@given(data=st.data(), kept=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_ladder_has_the_model_of_every_place_that_is_asked_for(data: st.DataObject, kept: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "_RUNGS", kept)
        top = replica(svm())
        top.learn(STRETCHES[0])
        models, everywhere = Ladder(top, keep=True), 0
        for number in range(1, len(STRETCHES)):
            top.learn(STRETCHES[number])
            models.announce(STRETCHES[number])
            for _ in range(data.draw(st.integers(0, 2))):
                everywhere = data.draw(st.integers(everywhere, number))
                place = STRETCHES[data.draw(st.integers(everywhere, number))].ends
                model = models.at(place, STRETCHES[everywhere].ends)
                assert model.place == place
                assert model.learner.digest() == DIGESTS[place]
        assert models.drained() == top.learner.digest()


def test_a_ladder_forgets_what_everybody_has_learnt() -> None:
    top = replica(svm())
    top.learn(STRETCHES[0])
    models = Ladder(top, keep=True)
    for before, stretch in pairwise(STRETCHES):
        top.learn(stretch)
        models.announce(stretch)
        models.at(before.ends, before.ends)
        assert len(models._stretches) <= 4
        assert len(models._rungs) <= 2
