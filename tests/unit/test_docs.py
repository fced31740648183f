"""The documentation: index, links, the examples of docs/api.md, and of estimators."""

import doctest
import re
from pathlib import Path

import pytest

from epsilometer import __version__
from epsilometer.estimators import ESTIMATORS

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
STUDIES = sorted((ROOT / "studies").rglob("README.md"))
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def prose(page: Path) -> str:
    return re.sub(r"^ *```.*?```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the names that headings get."""
    heads = re.findall(r"^#+ (.*)", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page", [*DOCS, *STUDIES, *TOP], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_to_files_and_headings(page: Path):
    for address, anchor in LINK.findall(prose(page)):
        target = (page.parent / address).resolve() if address else page
        assert target.is_file(), address
        assert not anchor or anchor in anchors(target), f"{address}#{anchor}"


def test_the_index_lists_every_page():
    folders = [ROOT / "docs/README.md", ROOT / "docs/gallery/README.md"]
    listed = {
        (page.parent / link[0]).resolve() for page in folders for link in LINK.findall(prose(page))
    }
    assert {*DOCS} - {folders[0]} <= listed


def test_the_examples_of_the_functions_are_right():
    failed, tried = doctest.testfile(str(ROOT / "docs/api.md"), module_relative=False)
    assert (failed, tried > 10) == (0, True)


def test_the_changes_of_this_version_have_a_heading():
    assert f"\n## {__version__}\n" in TOP[1].read_text()


def test_the_readmes_estimates_are_what_it_says(capsys):
    code = TOP[0].read_text().split("```python\n")[1].split("```")[0]
    run_code = compile(code, "README.md", "exec")
    printed = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    eval(run_code, {})  # noqa: S307
    assert capsys.readouterr().out.splitlines() == printed


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_registered_estimator_has_a_worked_example(name):
    assert ">>>" in ESTIMATORS.load(name).__doc__
