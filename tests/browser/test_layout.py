"""Reports and documentation fit the screen: nothing is broken, hidden, or over something else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver.common.by import By

from browser.measuring import broken_words, cut_off, holes, overlapping_texts
from paraactive import Arrays, LaSVM, ParaActiveClassifier, train
from paraactive.report import write_report
from paraactive.rules import SignedMargin, floored
from report.runs import digits_run

Show = Callable[..., Any]
ROOT = Path(__file__).parents[2]
DOCUMENTATION = sorted(page.stem for page in (ROOT / "docs").glob("*.md"))
WIDTHS = [320, 390, 768, 1280]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of one run, of three beside each other, of rows with many features, and of an estimator."""
    folder = tmp_path_factory.mktemp("layout")
    digits_run(folder / "digits.db")
    digits_run(folder / "guarded.db", guard=True, nodes=1, schedule="asynchronous")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 20))
    y = np.where(x[:, 0] + x[:, 1] ** 2 > 1, "satisfactory", "unsatisfactory")
    train(LaSVM(gamma=0.1), Arrays(x, y), rule=SignedMargin(0.5), out=folder / "features.db", nodes=2)
    estimator = ParaActiveClassifier(LaSVM(gamma=0.1), rule=floored(SignedMargin(0.5), 0.05), random_state=0).fit(x, y)
    return {
        "one": write_report([folder / "digits.db"], folder / "one.html"),
        "three": write_report([folder / f"{name}.db" for name in ("digits", "guarded", "features")], folder / "3.html"),
        "features": write_report([folder / "features.db"], folder / "features.html"),
        "estimator": estimator.report(folder / "estimator.html"),
    }


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["one", "three", "features", "estimator"])
def test_a_report_has_no_broken_words_no_texts_over_each_other_and_no_holes(
    show: Show, reports: dict[str, Path], screenshots: Path, name: str, width: int
) -> None:
    browser = show(reports[name], width=width, height=2400)
    browser.save_screenshot(str(screenshots / f"layout-{name}-{width}.png"))
    assert broken_words(browser) == []
    assert overlapping_texts(browser) == []
    assert holes(browser) == []
    assert cut_off(browser) == []
    assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [320, 390])
def test_a_caption_of_the_gallery_has_one_line_for_each_thing_that_it_says(
    show: Show, reports: dict[str, Path], width: int
) -> None:
    browser = show(reports["one"], width=width)
    lines = browser.find_elements(By.CSS_SELECTOR, "#heaviest-0 li span")
    assert len(lines) == 3 * 24
    assert max(line.size["height"] for line in lines) < 30
    assert min(line.size["width"] for line in lines) > 90


def test_a_report_names_its_parts_as_people_do(show: Show, reports: dict[str, Path]) -> None:
    text = show(reports["three"], width=1280).find_element(By.ID, "summary").text
    assert "signed margin, eta 0.15, p at least 1/sqrt(n)" in text
    assert "SVM, rbf kernel, guarded against wrong labels" in text
    assert "digits, {3,1} v {5,7}" in text
    assert "floored" not in text


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("page", DOCUMENTATION)
def test_a_page_of_the_documentation_shows_all_its_code_and_breaks_no_word_in_a_table(
    show: Show, site: Path, screenshots: Path, page: str, width: int
) -> None:
    browser = show(site / f"{page}.html", width=width, height=2400)
    browser.save_screenshot(str(screenshots / f"docs-{page}-{width}.png"))
    assert cut_off(browser) == []
    for table in browser.find_elements(By.CSS_SELECTOR, "article table"):
        browser.execute_script("arguments[0].id = 'measured'", table)
        assert broken_words(browser, "#measured") == []
        browser.execute_script("arguments[0].removeAttribute('id')", table)
    for signature in browser.find_elements(By.CSS_SELECTOR, ".doc-signature code"):
        assert signature.get_property("scrollWidth") <= signature.get_property("clientWidth") + 1, signature.text
