"""The hot loops of the kernel cache: rows of kernel values of live vectors, brought up to date when they are needed.

A vector lies in a slot. Each change of a slot (a vector is born in it, or moves into it) is an event with a number,
`born` of that slot. A row is valid for the slots that were born up to the event that it was `updated` at; what came
later is fetched when the row is next needed. So an insertion writes one row, and a move none but its own.

Kernel values are symmetric to the bit, so K(i, t) that row i lacks is read from row t. That one has it: a vector's row
is up to date at its birth and when it moves, so that born[i] <= updated[i] < born[t] <= updated[t]. And it is there, as
the row that was not used for longest is the first to go, and row t was used since row i. Only a vector that moved while
it had no row leaves a value to be computed; it is the same to the bit, as every kernel value is (see `kernels`).
"""

# pyright: basic, reportCallIssue=false

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paraactive.basics.compiled import njit
from paraactive.learners.lasvm.kernels import LINEAR, POLYNOMIAL, RBF
from paraactive.learners.lasvm.vector_loops import compute, value

NONE = -1
EVENTS, USES, SPARE = 0, 1, 2
"""Places in `Rows.numbers`: the number of the last event, of the last use of a row, and how many rows are spare."""


class Rows(NamedTuple):
    """The cache, as the loops see it."""

    values: Any
    """(rows, slots) kernel values."""
    place: Any
    """Of each slot: its row, or NONE."""
    owner: Any
    """Of each row: its slot, or NONE."""
    updated: Any
    """Of each row: the last event that it knows of."""
    used: Any
    """Of each row: its last use."""
    spare: Any
    """A stack of rows without an owner."""
    born: Any
    """Of each slot: the event that put its vector there."""
    journal: Any
    """The slots of the latest events, event e at e modulo its length, a power of two."""
    numbers: Any


@njit(cache=True, nogil=True)
def bring(wanted, count, cache, vectors):
    """Have the rows of these slots (or NONE) in the cache and up to date; those that it lacks are computed together."""
    missing = np.int64(0)
    for s in wanted:
        if s != NONE:
            if cache.place[s] == NONE:
                missing += 1
            else:
                _bring_up_to_date(s, count, cache, vectors)
                _use(cache.place[s], cache)
    if missing:
        _compute(wanted, missing, count, cache, vectors)


@njit(cache=True, nogil=True)
def _use(row, cache):
    cache.numbers[USES] += 1
    cache.used[row] = cache.numbers[USES]


@njit(cache=True, nogil=True)
def _bring_up_to_date(i, count, cache, vectors):
    """Fetch what the row of slot i lacks. Slots from `count` on are empty."""
    values, place, born, journal = cache.values, cache.place, cache.born, cache.journal
    row, now, last = place[i], cache.numbers[EVENTS], len(journal) - 1
    since, own = cache.updated[row], values[row]
    rowless = 0
    if now - since <= last:
        for event in range(since + 1, now + 1):
            t = journal[event & last]
            if t < count and born[t] == event:
                if place[t] != NONE:
                    own[t] = values[place[t], i]
                else:
                    rowless += 1
    else:
        for t in range(count):
            if born[t] > since:
                if place[t] != NONE:
                    own[t] = values[place[t], i]
                else:
                    rowless += 1
    if rowless:
        for t in range(count):
            if born[t] > since and place[t] == NONE:
                own[t] = value(i, t, vectors)
    cache.updated[row] = now


@njit(cache=True, nogil=True)
def _compute(wanted, missing, count, cache, vectors):
    """The whole rows of those slots that have none, all of them together."""
    slots, into, known = np.empty(missing, np.int64), np.empty(missing, np.int64), np.int64(0)
    for s in wanted:
        if s != NONE and cache.place[s] == NONE:  # A slot may be wanted twice.
            slots[known], into[known] = s, own(s, cache)
            known += 1
    values = cache.values
    compute(slots[:known], into[:known], count, values, vectors)
    if vectors.kind == RBF:
        for k in range(known):
            values[into[k], slots[k]] = np.float32(1)


@njit(cache=True, nogil=True)
def own(s, cache):
    """A row for slot s that counts as up to date: a spare one, or the one that was not used for longest."""
    if cache.numbers[SPARE]:
        cache.numbers[SPARE] -= 1
        row = cache.spare[cache.numbers[SPARE]]
    else:
        row, used = 0, cache.used
        for r in range(len(used)):
            row = r if used[r] < used[row] else row
        cache.place[cache.owner[row]] = NONE
    cache.place[s], cache.owner[row], cache.updated[row] = row, s, cache.numbers[EVENTS]
    _use(row, cache)
    return row


@njit(cache=True, nogil=True)
def bear(s, cache):
    """A vector is born in slot s. Returns its row, which the caller must fill for all slots before it and itself."""
    _note(s, cache)
    return own(s, cache)


@njit(cache=True, nogil=True)
def _note(s, cache):
    cache.numbers[EVENTS] += 1
    event = cache.numbers[EVENTS]
    cache.born[s] = event
    cache.journal[event & (len(cache.journal) - 1)] = s


@njit(cache=True, nogil=True)
def leave(s, count, cache, vectors):
    """The vector of slot s goes, and the last one moves into its slot. Call it while both still lie in `vectors`."""
    last, row = count - 1, cache.place[s]
    if row != NONE:
        cache.place[s], cache.owner[row] = NONE, NONE
        cache.spare[cache.numbers[SPARE]] = row
        cache.numbers[SPARE] += 1
    cache.born[s] = 0  # Nothing needs to be fetched for it any more.
    if s == last:
        return
    row = cache.place[last]
    if row != NONE:
        _bring_up_to_date(last, count, cache, vectors)  # So that other rows can fetch from it.
        cache.values[row, s] = cache.values[row, last]
        cache.place[last], cache.place[s], cache.owner[row] = NONE, row, s
    _note(s, cache)
    if row != NONE:
        cache.updated[row] = cache.numbers[EVENTS]


@njit(cache=True, nogil=True)
def squared_length(norm, kind, gamma, coef0, degree):
    """K of a vector of that squared norm with itself, near enough to compare."""
    if kind == RBF:
        return 1.0
    value = np.float64(norm) if kind == LINEAR else 1.0
    if kind == POLYNOMIAL:
        for _ in range(degree):
            value *= gamma * norm + coef0
    return value
