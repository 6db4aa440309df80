"""Where a row is in its file, as an error message says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraactive.errors import InputError
from paraactive.streams import Table


def test_lines_are_counted_as_an_editor_does(tmp_path: Path):
    rows = 'a,note,y\n1,"two\nlines",0\n\n2,"say ""hi""",1\n3,plain,1\nnan,"x",0\n'
    (tmp_path / "a.csv").write_text(rows)
    with pytest.raises(InputError, match="has no value at line 7, column 'a'"):
        Table(tmp_path / "a.csv", features=["a"])
    (tmp_path / "b.csv").write_text(rows.replace("nan", "4").replace('"x",0', '"x",'))
    with pytest.raises(InputError, match=r"b\.csv has no label at line 7:"):
        Table(tmp_path / "b.csv", features=["a"])
