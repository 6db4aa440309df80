"""`Unlabelled`: rows whose labels an oracle knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from paraactive.errors import InputError
from paraactive.streams import Unlabelled

X = np.arange(21, dtype=np.float64).reshape(7, 3)


def test_unlabelled_rows_may_be_sparse():
    sparse: Any = scipy.sparse.csr_matrix(np.eye(3))
    stream = Unlabelled(sparse, ("a", "b"), shuffle=False)
    assert stream.read(1, 3).x.dense().tolist() == [[0, 1, 0], [0, 0, 1]]
    assert stream.fingerprint == Unlabelled(scipy.sparse.coo_array(np.eye(3)), ("a", "b")).fingerprint  # pyright: ignore[reportArgumentType]
    # A learner may take them otherwise.
    assert stream.fingerprint != Unlabelled(np.eye(3), ("a", "b")).fingerprint
    with pytest.raises(InputError, match="x has 0 dimensions"):
        Unlabelled(3.0, ("a", "b"))


def test_unlabelled_rows_of_a_file_are_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    np.save(tmp_path / "rows.npy", X)
    monkeypatch.chdir(tmp_path)
    assert Unlabelled.load("rows.npy", ("a", "b")).source == str(tmp_path / "rows.npy")
