"""The pages of docs/gallery: their commands print what stands there."""

import shutil

import pytest

from tests.gallery import PAGES, again

SLOW = {"pandas"}  # a frame for each draw


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.examples] if page.stem in SLOW else [], id=page.stem)
        for page in PAGES
    ],
)
def test_commands_print_what_stands_there(page, tmp_path):
    text = page.read_text()
    if "$ cc " in text and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    assert again(page, tmp_path) == text, "run `python -m tests.gallery`"
