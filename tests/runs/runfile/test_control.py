from __future__ import annotations

from pathlib import Path

import pytest

from making import run_spec
from paraactive.errors import InputError
from paraactive.runs.runfile import RunFile, request_nodes


def test_a_live_asynchronous_run_is_given_another_number_of_nodes(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec(schedule="asynchronous", nodes=1)) as file:
        request_nodes(path, 3)
        assert file.spec.nodes == 3
        with pytest.raises(InputError):
            request_nodes(path, 0)
        assert file.spec.nodes == 3


def test_a_file_that_no_run_is_writing_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    RunFile.create(path, run_spec(schedule="asynchronous")).close()
    with pytest.raises(InputError, match=rf"no run is writing .*'paraactive resume {path} --nodes 3'"):
        request_nodes(path, 3)
    assert RunFile.read(path).spec.nodes == 1


def test_a_run_in_rounds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.db"
    with RunFile.create(path, run_spec()) as file, pytest.raises(InputError, match="is synchronous: nodes can join"):
        request_nodes(path, 3)
    assert file.path == path
