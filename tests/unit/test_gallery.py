"""The pages of docs/gallery: their commands print what stands there."""

import shutil

import pytest

from tests.gallery import PAGES, again


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_stands_there(page, tmp_path):
    text = page.read_text()
    if "$ cc " in text and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    assert again(page, tmp_path) == text, "run `python -m tests.gallery`"
