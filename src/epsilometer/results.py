"""What all results have in common: they print in lines, and make a table and a picture.

A table has a row for each number that a result tells, and its columns are the same for all results,
so that those of several can be put together and grouped:

| quantity | at | estimate | low | high | holds | method |
|---|---|---|---|---|---|---|
| delta | 0.5 | 0.11 | 0.10 | 0.12 | every n | limits of rising sets |
"""

from __future__ import annotations

import html
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from epsilometer.errors import ArgumentError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Holds = Literal["at any time", "every n", "large n", "no promise"]
_SHOWN = 12  # rows of a table in a notebook


@dataclass(frozen=True)
class Row:
    """A number that a result tells of a ``quantity``, in nats where it is a level.

    ``at`` is the epsilon, the order or the output that it is for, None if for none. The limits
    ``low`` and ``high`` are NaN where there are none; they hold at any time one looks, at every
    number of draws that was fixed before, for large n, or without a promise.
    """

    quantity: str
    at: Any = None
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    holds: Holds = "no promise"
    method: str = ""


class Result(ABC):
    """A base of results, which are frozen dataclasses with a text of a few lines."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield the numbers that the result tells."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """Return what tells the result from others: its numbers of draws, pair, confidence."""

    def __repr__(self) -> str:
        return str(self)

    def to_frame(self, **labels: Any) -> pd.DataFrame:
        """Return a pandas data frame with a row for each number.

        ``labels`` are further columns in front, by which results that are put together can be
        grouped, as ``to_frame(mechanism="laplace", run=3)``. Then come `facts` and the fields of
        `Row`. Raise `ArgumentError` without pandas.
        """
        try:
            import pandas as pd
        except ImportError:
            message = "needs pandas: pip install 'epsilometer[plots]'"
            raise ArgumentError("to_frame", message) from None
        facts = {"result": type(self).__name__, **self.facts()}
        return pd.DataFrame([{**labels, **facts, **asdict(row)} for row in self.rows()])

    def _repr_html_(self) -> str:
        """Return the text and the first rows, for a notebook."""
        rows = list(self.rows())
        names = list(Row.__dataclass_fields__)
        lines = ["<tr>" + "".join(f"<th>{name}</th>" for name in names) + "</tr>"]
        for row in rows[:_SHOWN]:
            cells = "".join(f"<td>{_cell(getattr(row, name))}</td>" for name in names)
            lines.append(f"<tr>{cells}</tr>")
        more = f"<p>and {len(rows) - _SHOWN} more rows</p>" if len(rows) > _SHOWN else ""
        return f"<pre>{html.escape(str(self))}</pre><table>{''.join(lines)}</table>{more}"

    @abstractmethod
    def plot(self, ax: Axes | None = None, *, claim: float | None = None) -> Axes:
        """Draw the result and return the axes: those given, or new ones.

        Confidence is an area, and the level of a ``claim`` a dashed line.
        """


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return html.escape(f"{value:.4g}" if isinstance(value, float) else str(value))
