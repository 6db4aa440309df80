"""A page is one HTML file that needs nothing else and runs no foreign script."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from full_disk import little_room
from paraactive.errors import InputError
from paraactive.report import page_of, read_run_record, write_page, write_report
from report.conftest import Recorded
from report.runs import NASTY


def data_in(page: str) -> dict[str, Any]:
    """What a browser would read."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found)


class _Reader(HTMLParser):
    """Which elements and addresses a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_file_asks_for_nothing_else(digits: Recorded, tmp_path: Path) -> None:
    page = write_report([digits.path], tmp_path / "page.html").read_text()
    reader = _Reader()
    reader.feed(page)
    assert set(reader.addresses) == {"data:,", "#page"}
    assert len(page) < 1_000_000


@pytest.mark.parametrize("text", NASTY)
def test_strings_of_the_data_are_never_markup(nasty: Recorded, tmp_path: Path, text: str) -> None:
    page = write_report([nasty.path], tmp_path / "page.html").read_text()
    reader = _Reader()
    reader.feed(page)
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert "b" not in reader.tags
    assert text not in page
    assert text in json.dumps(data_in(page), ensure_ascii=False).replace('\\"', '"')


def test_only_the_script_of_the_page_may_run(digits: Recorded, tmp_path: Path) -> None:
    page = write_report([digits.path], tmp_path / "page.html").read_text()
    (allowed,) = re.findall(r"script-src 'sha256-([^']+)'", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() == allowed


def test_a_page_that_cannot_be_written_is_one_clear_error(digits: Recorded, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_report([digits.path], tmp_path / "nowhere" / "page.html")


def test_a_full_disk_leaves_the_old_report_as_it_was(digits: Recorded, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("the old page")
    page = page_of([read_run_record(digits.path)])
    with little_room(), pytest.raises(InputError, match=r"cannot write .*page\.html"):
        write_page(page, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "the old page"
    assert os.listdir(tmp_path) == ["page.html"]
