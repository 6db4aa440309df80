"""Reports and the live page as a person sees them, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from disk import wait_until
from paraactive.experiments.paper.experiment import ExperimentResult
from paraactive.report import Axis, Chart, Claim, Curve, page_of, read_run_records, write_page, write_report
from paraactive.report.server import Server
from paraactive.runs.run import Run
from report.runs import NASTY, digits_run, nasty_run

Show = Callable[..., Any]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    paths = {"digits": folder / "digits.db", "other": folder / "other.db", "nasty": folder / "nasty.db"}
    digits_run(paths["digits"])
    digits_run(paths["other"], seed=1, nodes=1, schedule="asynchronous")
    nasty_run(paths["nasty"])
    return paths


@pytest.fixture(scope="module")
def page(runs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report([runs["digits"], runs["other"]], tmp_path_factory.mktemp("page") / "two.html")


def curves(browser: Any, section: str) -> list[str]:
    return [
        each.get_attribute("data-curve") for each in browser.find_elements(By.CSS_SELECTOR, f"#{section} [data-curve]")
    ]


def complaints(browser: Any) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser")]


def test_a_report_loads_without_a_complaint_and_every_chart_has_its_curves(
    show: Show, page: Path, runs: dict[str, Path], screenshots: Path
) -> None:
    browser = show(page, height=2400)
    assert complaints(browser) == []
    expected = page_of(read_run_records([runs["digits"], runs["other"]]))
    charts = [section for section in expected.sections if isinstance(section, Chart)]
    assert len(charts) >= 5
    for chart in charts:
        assert curves(browser, chart.id) == [curve.name for curve in chart.curves]
        lines = browser.find_elements(By.CSS_SELECTOR, f"#{chart.id} polyline.curve")
        drawn = [len(line.get_attribute("points").split()) for line in lines]
        assert drawn == [len(curve.points) for curve in chart.curves]
    assert len(browser.find_elements(By.CSS_SELECTOR, "section")) == len(expected.sections)
    assert len(browser.find_elements(By.CSS_SELECTOR, "#heaviest-0 img")) == 24
    assert browser.find_elements(By.CSS_SELECTOR, "#timeline-0 rect")
    assert browser.find_elements(By.CSS_SELECTOR, "#weights [data-bar]")
    browser.save_screenshot(str(screenshots / "report.png"))


def test_pointing_at_a_curve_says_where_one_is(show: Show, page: Path) -> None:
    browser = show(page)
    plot = browser.find_element(By.CSS_SELECTOR, "#rate svg.plot")
    tip = browser.find_element(By.CSS_SELECTOR, "#rate .tip")
    assert not tip.is_displayed()
    ActionChains(browser).move_to_element(plot).perform()
    assert tip.is_displayed()
    name, seen, rate = tip.text.split("\n")
    assert name in ("digits", "other")
    assert seen.startswith("examples seen: ")
    assert 0 < float(rate.removeprefix("sampling rate: ")) < 1
    ActionChains(browser).move_to_element(browser.find_element(By.TAG_NAME, "h1")).perform()
    assert not tip.is_displayed()


def test_everything_can_be_reached_by_keys(show: Show, page: Path) -> None:
    browser = show(page)
    plot = browser.find_element(By.CSS_SELECTOR, "#error-seen svg.plot")
    tip = browser.find_element(By.CSS_SELECTOR, "#error-seen .tip")
    plot.send_keys(Keys.ARROW_RIGHT)
    first = tip.text
    plot.send_keys(Keys.ARROW_RIGHT)
    second = tip.text
    plot.send_keys(Keys.ARROW_DOWN)
    assert len({first, second, tip.text}) == 3
    assert tip.text.startswith("other")
    plot.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()
    button = browser.find_element(By.CSS_SELECTOR, "#error-seen .legend button")
    button.send_keys(Keys.ENTER)
    assert curves(browser, "error-seen") == ["other"]
    button = browser.switch_to.active_element
    assert button.get_attribute("aria-pressed") == "false"
    button.send_keys(Keys.SPACE)
    assert curves(browser, "error-seen") == ["digits", "other"]
    summary = browser.find_element(By.CSS_SELECTOR, "#error-seen details summary")
    summary.send_keys(Keys.ENTER)
    marks = len(browser.find_elements(By.CSS_SELECTOR, "#error-seen .mark"))
    rows = "#error-seen details tbody tr"
    WebDriverWait(browser, 30).until(lambda _: len(browser.find_elements(By.CSS_SELECTOR, rows)) == marks)


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_window_need_not_be_scrolled_sideways(show: Show, page: Path, screenshots: Path, width: int) -> None:
    browser = show(page, width=width, height=2000)
    inner, whole = browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
    assert whole <= inner
    for plot in browser.find_elements(By.CSS_SELECTOR, "svg.plot"):
        assert plot.size["width"] <= width
    browser.save_screenshot(str(screenshots / f"report-{width}.png"))


def luminance(colour: str) -> float:
    """Of rgb(r, g, b), as WCAG counts it."""
    parts = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_curves_stand_out_in_light_and_in_dark(show: Show, page: Path, screenshots: Path, dark: bool) -> None:
    browser = show(page, dark=dark, height=1600)
    style = "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]"
    ground = luminance(browser.execute_script(style, "section", "backgroundColor"))
    assert (ground < 0.2) == dark

    def contrast(selector: str, name: str) -> float:
        other = luminance(browser.execute_script(style, selector, name))
        return (max(ground, other) + 0.05) / (min(ground, other) + 0.05)

    assert contrast("h2", "color") >= 7
    assert contrast(".note", "color") >= 4.5
    assert contrast("svg.plot text", "fill") >= 4.5
    assert contrast("#error-seen .curve", "stroke") >= 3
    if dark:
        browser.save_screenshot(str(screenshots / "report-dark.png"))


def test_markup_in_labels_is_shown_as_text(show: Show, runs: dict[str, Path], tmp_path: Path) -> None:
    browser = show(write_report([runs["nasty"]], tmp_path / "nasty.html"))
    assert complaints(browser) == []
    assert browser.execute_script("return document.querySelectorAll('img, script').length") == 2
    shown = {cell.text for cell in browser.find_elements(By.CSS_SELECTOR, "#heaviest-0 tbody td:nth-child(2)")}
    assert shown
    assert shown <= {label.replace("\u2028", "").strip() for label in NASTY} | set(NASTY)


def test_the_live_page_gains_points_while_a_run_goes_on(show: Show, tmp_path: Path, screenshots: Path) -> None:
    path, go_on, seen = tmp_path / "live.db", threading.Semaphore(0), list[int]()

    def wait(run: Run) -> bool:
        seen.append(run.seen)
        if len(run.rounds) in (4, 8):
            assert go_on.acquire(timeout=120)
        return False

    failures: list[BaseException] = []

    def train() -> None:
        try:
            digits_run(path, stop=wait, snapshot_seconds=0.0)
        except BaseException as error:
            failures.append(error)

    training = threading.Thread(target=train)
    training.start()
    patience = 120
    try:
        wait_until(lambda: len(seen) >= 4 or bool(failures))
        with Server([path]) as server:
            serving = threading.Thread(target=server.serve_forever, args=(0.05,))
            serving.start()
            try:
                browser = show(server.address, height=1600)
                before = points(browser)
                assert before >= 1
                link = browser.find_element(By.CSS_SELECTOR, "#contents a")
                browser.execute_script("arguments[0].focus()", link)
                go_on.release()
                WebDriverWait(browser, patience).until(lambda _: points(browser) > before)
                assert browser.switch_to.active_element == link, "who uses keys stays where they are"
                middle = points(browser)
                go_on.release()
                WebDriverWait(browser, patience).until(
                    lambda _: "5,000 of 5,000 examples seen, done" in browser.find_element(By.ID, "status").text
                )
                assert points(browser) > middle
                assert complaints(browser) == []
                shown = [each.get_attribute("id") for each in browser.find_elements(By.TAG_NAME, "section")]
                assert shown == [section.id for section in page_of(read_run_records([path])).sections]
                browser.save_screenshot(str(screenshots / "live.png"))
            finally:
                server.shutdown()
                serving.join()
        WebDriverWait(browser, patience).until(lambda _: "has ended" in browser.find_element(By.ID, "status").text)
    finally:
        go_on.release()
        go_on.release()
        training.join()
    assert failures == []


def points(browser: Any) -> int:
    lines = browser.find_elements(By.CSS_SELECTOR, "#rate polyline.curve")
    return sum(len(line.get_attribute("points").split()) for line in lines)


def test_the_page_of_an_experiment_shows_claims_and_charts(show: Show, tmp_path: Path, screenshots: Path) -> None:
    chart = Chart("time", "Time", Axis("s", log=True), Axis("mistakes", log=True), [Curve("a", [(1, 9), (2, 5)])])
    claims = [
        Claim("It is faster.", "yes", "2 times"),
        Claim("It is flat.", "no", "it is not"),
        Claim("?", "open", "-"),
    ]
    browser = show(
        write_page(ExperimentResult("An experiment", [chart], claims, notes=["Note."]).page(), tmp_path / "page.html")
    )
    assert complaints(browser) == []
    shown = browser.find_elements(By.CSS_SELECTOR, "#claims li")
    assert [each.get_attribute("class") for each in shown] == ["yes", "no", "open"]
    assert "holds here: 2 times" in shown[0].text
    assert curves(browser, "time") == ["a"]
    browser.save_screenshot(str(screenshots / "experiment.png"))
