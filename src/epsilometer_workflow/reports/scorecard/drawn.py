"""The content of figures: every line, area and set of points that a renderer draws."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from epsilometer.errors import ArgumentError
from epsilometer_workflow.reports import style
from epsilometer_workflow.reports.askin2022 import figures as askin2022
from epsilometer_workflow.reports.gorla2022 import figures as gorla2022
from epsilometer_workflow.reports.kutta2022 import figures as kutta2022
from epsilometer_workflow.reports.lu2022 import figures as lu2022

_RENDERERS = {
    "gorla2022": gorla2022,
    "askin2022": askin2022,
    "kutta2022": kutta2022,
    "lu2022": lu2022,
}
_SETTINGS = "scorecard/settings"
_ABOUT = ["kind", "label", "colour", "style", "along", "points"]


def drawn(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Draw figures from their tables, as the configuration says, and list what is in each panel.

    ``kind`` is line, area or points; ``along`` is horizontal or vertical for what has one y or one
    x; ``colour`` is of the line, or else the face; ``points`` are the vertices.
    """
    from matplotlib import pyplot as plt

    if _SETTINGS not in tables:
        raise ArgumentError("tables", f"must have {_SETTINGS}, which names the renderers")
    settings = tables[_SETTINGS].set_index("setting")["value"]
    rows = []
    for name, table in tables.items():
        if name == _SETTINGS:
            continue
        report, _, artifact = name.partition("/")
        renderer = json.loads(settings[f"reports.{report}.artifacts.{artifact}.figure"])
        if report not in _RENDERERS or renderer is None:
            raise ArgumentError("tables", f"has {name}, which is not a paper's figure")
        figure = getattr(_RENDERERS[report], renderer)(table)
        for panel, axes in enumerate(figure.axes):
            rows += [(name, panel, *artist) for artist in _artists(axes)]
        plt.close(figure)
    return pd.DataFrame(rows, columns=["figure", "panel", *_ABOUT])


def _artists(axes: style.Axes) -> Iterator[tuple[str, str, str, str, str, int]]:
    """Yield the artists of one panel, as `_ABOUT` says."""
    from matplotlib.collections import PathCollection
    from matplotlib.colors import to_hex

    for line in axes.get_lines():
        x, y = (np.asarray(values, float) for values in line.get_data())
        along = "horizontal" if np.unique(y).size == 1 else ""
        along = "vertical" if np.unique(x).size == 1 else along
        kind = "points" if line.get_linestyle() in ("None", "none", "") else "line"
        look = to_hex(line.get_color()), str(line.get_linestyle())
        yield kind, str(line.get_label()), *look, along, x.size
    parts: list[Any] = [*axes.collections, *axes.patches]
    for part in parts:
        face = np.atleast_2d(part.get_facecolor())
        edge = np.atleast_2d(part.get_edgecolor())
        paths = part.get_paths() if hasattr(part, "get_paths") else [part.get_path()]
        filled = face.size > 0 and face[0, -1] > 0
        points = isinstance(part, PathCollection)
        offsets = len(part.get_offsets()) if points else sum(len(p.vertices) for p in paths)
        colour = face[0] if filled else edge[0] if edge.size else (0, 0, 0)
        kind = "points" if points else "area" if filled else "line"
        yield kind, str(part.get_label()), to_hex(colour), "", "", offsets
