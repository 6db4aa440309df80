"""TensorBoard reads the figures of a run, and the run does not change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from paraactive.errors import InputError, MissingExtraError
from paraactive.trackers import TensorBoard
from trackers.small_run import run


def test_tensorboard_reads_what_was_written(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    ended = run(TensorBoard(tmp_path))
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    tags: Any = read.Tags()["scalars"]
    assert {"paraactive/sampling_rate", "paraactive/mistakes", "paraactive/loss"} <= set(tags)
    mistakes = [(event.step, event.value) for event in read.Scalars("paraactive/mistakes")]
    assert mistakes == [(each.seen, each.mistakes) for each in ended.evaluations]


def test_a_run_is_the_same_with_a_tracker(tmp_path: Path) -> None:
    assert run(TensorBoard(tmp_path)).learner.digest() == run().learner.digest()


def test_a_missing_library_is_reported_with_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(MissingExtraError, match=r"paraactive\[tensorboard\]"):
        TensorBoard("x")


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        TensorBoard(tmp_path / "file")
