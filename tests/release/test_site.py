"""The site, in a browser: its pages load nothing from elsewhere, and fit a telephone and a desk."""

from pathlib import Path

import pytest
from selenium import webdriver

from tests.workflow.conftest import ROOT
from tests.workflow.test_report import WIDTHS, Reader, browser, pytestmark

__all__ = ["browser", "pytestmark"]
PAGES = sorted(path.relative_to(ROOT / "site") for path in (ROOT / "site").rglob("*.html"))
PAGES = [page for page in PAGES if page.name != "404.html"]  # only a server shows it


def test_every_page_of_the_documentation_is_there():
    pages = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    outside = {"index.html", "pages.html", "changelog.html", "contributing.html"}
    wanted = {str(page.with_suffix(".html")).replace("README", "index") for page in pages} | outside
    assert wanted <= {str(page) for page in PAGES}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES, ids=str)
def test_a_page_loads_nothing_from_elsewhere_and_fits(
    browser: webdriver.Chrome, page: Path, width: str
):
    reader = Reader(browser, ROOT / "site" / page, *WIDTHS[width])
    site = (ROOT / "site").as_uri()
    assert [url for url in reader.requests() if not url.startswith((site, "data:", "blob:"))] == []
    assert reader.fits()
