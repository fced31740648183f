"""The panels of figures: the mechanisms that have a title, in the order of the configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

import pandas as pd
from pydantic import Field

from epsilometer.errors import ArgumentError

Builder = TypeVar("Builder", bound=Callable[..., pd.DataFrame])
Titles = Annotated[dict[str, str], Field(min_length=1)]


def of_panels(runs: list[pd.DataFrame], panels: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs of the mechanisms that have a panel, with its title in a column ``panel``."""
    frame = pd.concat(runs, ignore_index=True)
    missing = sorted(set(panels) - set(frame["mechanism"]))
    if missing:
        raise ArgumentError("panels", f"has {missing[0]!r}, which is not in the data")
    return frame.assign(panel=frame["mechanism"].map(panels)).dropna(subset="panel")


def in_order(panels: Mapping[str, str]) -> Callable[[pd.Series], pd.Series]:
    """Return a sort key under which panels keep the order of the configuration."""
    ranks = {title: i for i, title in enumerate(dict.fromkeys(panels.values()))}
    return lambda column: column.map(ranks) if column.name == "panel" else column


def with_curve(
    options: Callable[[Any, Mapping[str, Any]], Mapping[str, Any]],
) -> Callable[[Builder], Builder]:
    """Let a builder also make a table at many points, for the exact lines of its figure.

    ``options`` returns, from the builder's data and options, those of that table.
    """

    def declare(builder: Builder) -> Builder:
        builder.curve = options  # type: ignore[attr-defined]
        return builder

    return declare
