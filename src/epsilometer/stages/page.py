"""The page of a report: every figure and table with its caption, in one HTML file.

It needs no network: figures are linked beside it, tables are in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd

from epsilometer.storage import atomic, read_table


def run(output: str, template: str | Path, spec: Mapping[str, Any]) -> None:
    """Write the page for the artifacts in ``spec`` from a Jinja template."""
    root = Path(output).parent
    artifacts = []
    for artifact in spec["artifacts"]:
        place = f"{artifact['identity']['report']}/{artifact['id']}"
        table = read_table(str(root / f"tables/{place}.parquet"), "table", artifact["identity"])
        artifacts.append(
            artifact
            | {
                "rows": len(table),
                "shown": min(len(table), artifact["rows_shown"]),
                "html": _html(table.head(artifact["rows_shown"])),
                "csv": f"tables/{place}.csv",
                "image": f"figures/{place}",
            }
        )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    text = environment.from_string(Path(template).read_text(encoding="utf-8")).render(
        **{**spec, "artifacts": artifacts}
    )
    with atomic(output) as part:
        part.write_text(text, encoding="utf-8")


def _html(table: pd.DataFrame) -> str:
    shown = table.astype(object).map(cell)
    html: str = shown.to_html(index=False, border=0, justify="right")
    return html


def cell(value: object) -> str:
    """Return a cell as a reader wants it: whole numbers grouped, others to five digits."""
    if pd.isna(value):
        return ""
    if isinstance(value, str | bool | np.bool_):
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if number.is_integer() and abs(number) < 1e13:
        return f"{int(number):,}"
    return f"{number:.5g}"
