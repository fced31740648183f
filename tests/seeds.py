"""The seeds of an example of an audit: the first in `make test`, the others in `make examples`."""

from typing import Any

import pytest


def with_five_seeds(*values: Any) -> list[Any]:
    """Return parameters of a test: values and a seed, for each of five seeds."""
    later = (pytest.param(*values, seed, marks=pytest.mark.examples) for seed in range(1, 5))
    return [pytest.param(*values, 0), *later]


FIVE = with_five_seeds()
