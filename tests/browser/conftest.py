"""A real browser, without a window: Debian's chromium and chromium-driver."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

SWITCHES = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Generator[Any]:
    """One browser for all tests."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    driver = shutil.which("chromedriver")
    if driver is None:
        missing = "chromedriver is not here: apt-get install chromium chromium-driver, as .ci/run does"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    options: Any = webdriver.ChromeOptions()
    for switch in (*SWITCHES, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(driver))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture
def show(chromium: Any) -> Callable[..., Any]:
    """Open an address in a window of some size, in light or dark."""

    def opened(address: str | Path, width: int = 1100, height: int = 900, dark: bool = False) -> Any:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        chromium.get_log("browser")  # What was said before is nobody's.
        chromium.get(address.as_uri() if isinstance(address, Path) else address)
        return chromium

    return opened


@pytest.fixture
def screenshots(request: pytest.FixtureRequest) -> Path:
    """Where pictures of the pages go, to be looked at."""
    folder = Path(str(request.config.rootpath)) / ".pytest_cache" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
