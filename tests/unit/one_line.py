"""Errors of one line."""

from contextlib import contextmanager

import pytest


@contextmanager
def error_in_one_line(kind, words):
    """Expect an error with some words in a short line."""
    with pytest.raises(kind) as caught:
        yield
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    for word in words:
        assert word in text, text
