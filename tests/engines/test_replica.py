"""The state of a replica, sent to another one."""

from __future__ import annotations

from engines.stretches import STRETCHES, replica, svm
from paraactive.engines.replica import ReplicaState


def test_a_replica_that_loads_a_state_is_equal_to_the_one_that_it_is_of() -> None:
    one, other = replica(svm()), replica(svm())
    for stretch in STRETCHES[:7]:
        one.learn(stretch)
    state = ReplicaState.of(one)
    state.load_into(other)
    assert other.learner.digest() == one.learner.digest()
    assert (other.place, other.seen) == (one.place, one.seen)
    arrays = [*state.state.values(), *state.measured.values()]
    assert state.nbytes == sum(array.nbytes for array in arrays) > 0
