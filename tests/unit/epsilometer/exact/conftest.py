"""Decimals of so many digits that what doubles lose is left."""

from decimal import localcontext

import pytest


@pytest.fixture(autouse=True)
def _many_digits():
    with localcontext(prec=120):
        yield
