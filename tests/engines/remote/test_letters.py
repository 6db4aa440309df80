"""Letters that a transport delays, repeats and reorders."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from paraactive.engines.remote.letters import Incoming, Outgoing


@given(letters=st.lists(st.integers(0, 12), max_size=40), order=st.randoms(use_true_random=False))
def test_letters_are_read_once_and_in_the_order_written(letters: list[int], order: random.Random):
    outgoing, incoming = Outgoing[str](), Incoming[str]()
    written = [outgoing.letter(f"message {number}") for number in range(13)]
    delivered = written + [written[number] for number in letters]
    order.shuffle(delivered)
    read = [message for letter in delivered for message in incoming.accept(letter)]
    assert read == [letter.message for letter in written]
