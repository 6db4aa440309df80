from __future__ import annotations

import pickle

import pytest

from paraactive import errors


def test_every_error_says_the_fact_the_reason_and_the_remedy_and_crosses_processes() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ParaActiveError)
    ]
    assert len(kinds) >= 5
    for kind in kinds:
        error = pickle.loads(pickle.dumps(kind("fact", why="reason", remedy="remedy")))
        assert type(error) is kind
        assert str(error) == "fact: reason; remedy."


def test_what_scikit_learn_users_catch_catches_ours() -> None:
    with pytest.raises(ValueError, match="fact"):
        raise errors.InputError("fact", why="reason", remedy="remedy")
    with pytest.raises(OSError, match="fact"):
        raise errors.RunFileLockedError("fact", why="reason", remedy="remedy")
