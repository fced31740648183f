"""Commands of pages print what stands there; on pages outside the gallery `...` is any lines."""

import re
import shutil
from pathlib import Path

import pytest

from tests.gallery import PAGES, ROOT, again, output

SLOW = {"count", "keys", "pandas", "sparse-vector"}  # seconds of CPU each


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.examples] if page.stem in SLOW else [], id=page.stem)
        for page in PAGES
    ],
)
def test_the_gallery_prints_what_stands_there(page, tmp_path):
    text = page.read_text()
    if "$ cc " in text and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    assert again(page, tmp_path) == text, "run `python -m tests.gallery`"


FOLDERS = {"audit": ".", "ci": ".", "explain": ".", "training": "docs/examples/training"}
FILES = {"audit": "survey.py", "explain": "ages.py"}  # that a page takes for granted, or shows


@pytest.mark.parametrize("page", FOLDERS)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path):
    text = (ROOT / f"docs/{page}.md").read_text()
    blocks = re.findall("```console\n\\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert blocks
    shutil.copytree(ROOT / "docs/examples", tmp_path / "docs/examples")
    (module, *_) = re.findall("```python\n(.*?)```", text, re.DOTALL) or [""]
    if page in FILES:
        (tmp_path / FILES[page]).write_text("def word(x): ..." if page == "audit" else module)
    for command, shown in blocks:
        pattern = re.escape(shown).replace(re.escape("  ...\n"), "(?:.*\n)*")
        errors = page == "audit"  # elsewhere it is progress
        printed = output(command, tmp_path / FOLDERS[page], errors)
        assert re.fullmatch(pattern, printed), printed
