"""The page of a paper: every figure and table with its caption, in one HTML file.

It needs no network: figures are linked beside it, tables are in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from epsilometer.storage import atomic, read_table

_ROWS_SHOWN = 40


def write_page(path: str, template: str, spec: Mapping[str, Any]) -> None:
    """Write the page for the artifacts in ``spec`` from a Jinja template."""
    root = Path(path).parent
    artifacts = []
    for artifact in spec["artifacts"]:
        base = f"tables/{spec['paper']}/{artifact['id']}"
        identity = {**spec["identity"], "paper": spec["paper"], "artifact": artifact["id"]}
        table = read_table(str(root / f"{base}.parquet"), "table", identity)
        artifacts.append(
            artifact
            | {
                "rows": len(table),
                "shown": min(len(table), _ROWS_SHOWN),
                "html": _html(table.head(_ROWS_SHOWN)),
                "csv": f"{base}.csv",
                "image": f"figures/{spec['paper']}/{artifact['id']}",
            }
        )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = environment.from_string(Path(template).read_text(encoding="utf-8")).render(
        title=spec["title"], artifacts=artifacts, **spec["identity"]
    )
    with atomic(path) as part:
        part.write_text(text, encoding="utf-8")


def _html(table: pd.DataFrame) -> str:
    html: str = table.to_html(
        index=False, border=0, na_rep="", float_format=lambda value: f"{value:.6g}", justify="right"
    )
    return html
