"""The page of all reports in a browser: a click through at the width of a telephone and of a desk.

It needs Chromium and its driver (Debian: ``chromium chromium-driver``), and is skipped elsewhere.
"""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.workflow.conftest import Project

WIDTHS = {"telephone": (400, 800), "desk": (1280, 900)}
LARGEST = 25_000_000  # bytes
PROGRAMS = [shutil.which(name) for name in ("chromium", "chromedriver")]

pytestmark = pytest.mark.skipif(
    not all(PROGRAMS),
    reason="no chromium and chromedriver; apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def report(finished: Project) -> Path:
    """The page, where the smoke scale is done."""
    return finished.folder / "results/smoke/report.html"


@pytest.fixture(scope="module")
def alone(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page in a folder of its own, as one sends it."""
    return Path(shutil.copy(report, tmp_path_factory.mktemp("alone") / "report.html"))


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    """A browser without a window that logs all requests."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(PROGRAMS[0])
    arguments = ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage"]
    if os.geteuid() == 0:
        arguments.append("--no-sandbox")  # which Chromium requires of root
    for argument in arguments:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(PROGRAMS[1])))
    driver.set_page_load_timeout(120)
    yield driver
    driver.quit()


class Reader:
    """A reader of the page, in a browser."""

    def __init__(self, browser: webdriver.Chrome, page: Path, width: int, height: int) -> None:
        self.browser = browser
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get("about:blank")
        browser.get_log("performance")
        browser.get_log("browser")
        browser.get(page.as_uri())
        self.until(lambda: self.evaluate("document.readyState") == "complete")

    def all(self, css: str) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, css)

    def find(self, css: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, css)

    def evaluate(self, script: str, *arguments):
        return self.browser.execute_script(f"return {script}", *arguments)

    def shown(self, css: str) -> int:
        """Count elements that have a place on the page."""
        count = (
            "[...document.querySelectorAll(arguments[0])].filter(e => e.getClientRects().length)"
        )
        return self.evaluate(f"{count}.length", css)

    def until(self, condition) -> None:
        WebDriverWait(self.browser, 30).until(lambda _: condition())

    def search(self, text: str) -> None:
        """Type words, and wait for the results."""
        field = self.find("#search")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        self.until(lambda: self.find("#found").get_attribute("data-words") == text)

    def chip(self, text: str) -> WebElement:
        if not self.find("#filters").is_displayed():
            self.find("#more").click()
        return next(chip for chip in self.all(".chip") if chip.text == text)

    def clear(self) -> None:
        self.find("#clear").click()
        self.until(lambda: not self.find("#found").is_displayed())

    def fits(self) -> bool:
        """Tell whether the page is no wider than the window."""
        return self.evaluate("document.documentElement.scrollWidth <= innerWidth")

    def requests(self) -> list[str]:
        """Return all URLs requested since the last call, but for data within the page."""
        messages = [
            json.loads(e["message"])["message"] for e in self.browser.get_log("performance")
        ]
        sent = [
            m["params"]["request"]["url"]
            for m in messages
            if m["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith("data:")]


@pytest.fixture(params=WIDTHS)
def reader(request, browser: webdriver.Chrome, alone: Path) -> Iterator[Reader]:
    """Any action loads nothing but the page, which is not too wide, and logs no error."""
    reader = Reader(browser, alone, *WIDTHS[request.param])
    yield reader
    assert {url.partition("#")[0] for url in reader.requests()} <= {alone.as_uri()}
    assert browser.get_log("browser") == []
    assert reader.fits()


def test_it_is_one_file_of_reasonable_size(report: Path):
    assert 500_000 < report.stat().st_size < LARGEST


def test_every_figure_is_there_and_loads(reader: Reader, report: Path):
    figures = list((report.parent / "figures").rglob("*.png"))
    sizes = reader.evaluate(
        "[...document.images].map(i => [i.complete, i.naturalWidth, i.clientWidth])"
    )
    assert len(sizes) == len(figures) > 30
    assert all(complete and natural > 300 for complete, natural, _ in sizes)
    assert all(width > 200 for *_, width in sizes)
    assert reader.fits()


def test_words_find_captions_names_and_rows(reader: Reader):
    everything = reader.shown(".item")
    reader.search("fig3a")
    assert 0 < reader.shown(".item") < everything / 4
    assert reader.find("[id='gorla2022/fig3a']").is_displayed()
    assert not reader.find("[id='kutta2022/fig1']").is_displayed()
    assert not reader.find("#top").is_displayed()
    reader.search("Rényi kutta2022 violins")  # of a caption: all words must be there
    assert not reader.find("[id='gorla2022/fig3a']").is_displayed()
    reader.search("counting-exponential")  # of rows
    shown = reader.evaluate(
        "[...document.querySelectorAll('.item:not([hidden]) .data > tbody > tr:not([hidden])')]"
        ".map(r => [r.textContent, r.closest('.item').textContent])"
    )
    assert shown
    assert all("counting-exponential" in (row + item).lower() for row, item in shown)
    reader.search("no such thing anywhere")
    assert reader.find("#none").is_displayed()
    assert reader.shown(".item") == 0
    reader.clear()
    assert reader.shown(".item") == everything
    assert not reader.find("#none").is_displayed()


def test_chips_filter_by_paper_and_kind(reader: Reader):
    reader.chip("lu2022").click()
    assert reader.chip("lu2022").get_attribute("aria-pressed") == "true"
    papers = "[...document.querySelectorAll('.item:not([hidden])')].map(i => i.dataset.paper || '')"
    assert set(reader.evaluate(papers)) == {"lu2022"}
    reader.chip("figures").click()
    assert set(reader.evaluate(papers)) == {"lu2022"}
    assert set(reader.evaluate(papers.replace("paper", "kind"))) == {"figure"}
    reader.find("#search").send_keys(Keys.ESCAPE)
    assert not reader.find("#found").is_displayed()


def test_tables_open_and_scroll_within_themselves(reader: Reader):
    item = reader.find("[id='gorla2022/table3']")
    for details in item.find_elements(By.TAG_NAME, "details"):
        if not details.get_attribute("open"):
            details.find_element(By.TAG_NAME, "summary").click()
    assert item.find_element(By.CSS_SELECTOR, "table.data").is_displayed()
    assert "--config scale=smoke seed=2022" in item.text
    assert "made of" in item.text.lower()
    reader.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert reader.fits()
    wide = reader.evaluate(
        "[...document.querySelectorAll('table')]"
        ".filter(t => t.getBoundingClientRect().right > innerWidth)"
        ".filter(t => getComputedStyle(t.parentElement).overflowX !== 'auto')"
        ".map(t => t.textContent)"
    )
    assert wide == []


def test_a_column_sorts_by_keyboard(reader: Reader):
    reader.until(lambda: len(reader.all("#run thead th")) > 1)
    head = reader.all("#run thead th")[1]
    cells = "[...document.querySelectorAll('#run tbody tr')].map(row => row.cells[1].textContent)"
    numbers = f"{cells}.map(text => +text.replaceAll(',', ''))"
    head.send_keys(Keys.ENTER)
    rising = reader.evaluate(numbers)
    assert rising == sorted(rising)
    head.send_keys(Keys.ENTER)
    assert reader.evaluate(numbers) == rising[::-1] or reader.evaluate(numbers) == sorted(
        rising, reverse=True
    )
    assert head.get_attribute("aria-sort") == "descending"


def test_every_link_leads_somewhere_and_shows_it(reader: Reader, report: Path):
    links = reader.evaluate("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    inside = {unquote(link[1:]) for link in links if link.startswith("#")}
    missing = reader.evaluate(
        "arguments[0].filter(id => !document.getElementById(id))", sorted(inside)
    )
    assert missing == []
    beside = {link for link in links if not link.startswith("#")}
    assert beside
    assert [link for link in sorted(beside) if not (report.parent / link).is_file()] == []


def test_it_can_be_used_without_a_mouse(reader: Reader):
    reader.find("body").send_keys("/")
    assert reader.evaluate("document.activeElement.id") == "search"
    reader.search("laplace")
    reader.browser.switch_to.active_element.send_keys(Keys.TAB)
    assert reader.evaluate("document.activeElement.id") == "more"
    scrolled = reader.evaluate(
        "[...document.querySelectorAll('.table, .picture')]"
        ".every(e => e.tabIndex === 0 && e.ariaLabel)"
    )
    assert scrolled
    reader.browser.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not reader.find("#found").is_displayed()
