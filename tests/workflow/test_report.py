"""The pages of the papers in a browser, at the width of a telephone and of a desk.

It needs Chromium and its driver (Debian: ``chromium chromium-driver``), and is skipped elsewhere.
"""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from tests.workflow.conftest import Project

PAPERS = ("askin2022", "gorla2022", "kutta2022", "lu2022")
WIDTHS = {"telephone": (400, 800), "desk": (1280, 900)}
LARGEST = 10_000_000  # bytes
PROGRAMS = [shutil.which(name) for name in ("chromium", "chromedriver")]

pytestmark = pytest.mark.skipif(
    not all(PROGRAMS),
    reason="no chromium and chromedriver; apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """A browser without a window that logs all requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(PROGRAMS[0])
    root = ["--no-sandbox"] * (os.geteuid() == 0)  # which Chromium requires of root
    for argument in ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage", *root]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(PROGRAMS[1])))
    driver.set_page_load_timeout(120)
    yield driver
    driver.quit()


class Reader:
    """A page in a browser."""

    def __init__(self, browser: webdriver.Chrome, page: Path, width: int, height: int) -> None:
        self.browser = browser
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get("about:blank")
        browser.get_log("performance")
        browser.get_log("browser")
        browser.get(page.as_uri())
        WebDriverWait(browser, 30).until(
            lambda _: self.evaluate("document.readyState") == "complete"
        )

    def evaluate(self, script: str, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def fits(self) -> bool:
        """Tell whether the page is no wider than the window."""
        return self.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def requests(self) -> set[str]:
        """Return all URLs requested so far, but for data within the page."""
        logged = [json.loads(e["message"])["message"] for e in self.browser.get_log("performance")]
        sent = [m["params"] for m in logged if m["method"] == "Network.requestWillBeSent"]
        urls = {message["request"]["url"].partition("#")[0] for message in sent}
        return {url for url in urls if not url.startswith("data:")}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("paper", PAPERS)
def test_a_page_alone_in_a_folder(
    paper: str, width: str, browser: webdriver.Chrome, finished: Project, tmp_path: Path
):
    """It loads nothing else, is not too wide, logs no error, and needs no mouse."""
    results = finished.folder / "results/smoke"
    page = Path(shutil.copy(results / f"{paper}.html", tmp_path))
    assert page.stat().st_size < LARGEST
    reader = Reader(browser, page, *WIDTHS[width])
    every_figure_loads(reader, len(list((results / "figures" / paper).glob("*.png"))))
    what_is_wider_says_so(reader)
    every_table_scrolls_within_itself(reader, (results / "tables" / paper).glob("*.csv"))
    assert reader.evaluate(
        "[...document.querySelectorAll('.table, .picture')]"
        ".every(e => e.tabIndex === 0 && e.ariaLabel)"
    )
    assert reader.requests() <= {page.as_uri()}
    assert browser.get_log("browser") == []
    assert reader.fits()


def every_figure_loads(reader: Reader, figures: int):
    sizes = reader.evaluate(
        "[...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth])"
    )
    assert len(sizes) == figures > 0
    assert all(done and natural > 300 and width > 200 for done, natural, width in sizes)


def what_is_wider_says_so(reader: Reader):
    """A figure that is cut has letters that can be read, and a line on how to see the rest."""
    cut = reader.evaluate(
        "[...document.querySelectorAll('.picture')].filter(p => p.scrollWidth > p.clientWidth + 1)"
        ".map(p => [getComputedStyle(p, '::before').content, p.querySelector('img')])"
        ".map(([hint, i]) => [hint, i.clientWidth / i.getAttribute('width')])"
    )
    assert all("Scroll sideways" in hint and scale >= 0.85 for hint, scale in cut), cut


def every_table_scrolls_within_itself(reader: Reader, tables: Iterable[Path]):
    reader.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    items = reader.evaluate(
        "[...document.querySelectorAll('.item')]"
        ".filter(i => i.querySelector('table.data tbody tr').getClientRects().length)"
        ".map(i => i.id)"
    )
    shown = {table.stem for table in tables} - {"agreement"}  # the first lines of the page
    assert sorted(items) == sorted(shown)
    wide = reader.evaluate(
        "[...document.querySelectorAll('table')]"
        ".filter(t => t.getBoundingClientRect().right > innerWidth)"
        ".filter(t => getComputedStyle(t.parentElement).overflowX !== 'auto')"
        ".map(t => t.textContent)"
    )
    assert wide == []
    scrolled = reader.evaluate(
        "[...document.querySelectorAll('.rows .table:not(.always)')]"
        ".filter(t => t.scrollWidth > t.clientWidth + 1).map(t => t.ariaLabel)"
    )
    assert scrolled == [] or reader.evaluate("innerWidth") < WIDTHS["desk"][0]
