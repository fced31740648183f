"""Writes the scorecard of the papers: each statement beside our number, and how many agree."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from scorecard import checks
from scorecard.judging import CRITERIA, shares, summary, verdicts

SETTINGS = "scorecard/settings"


def tables_of(paths: Iterable[str], settings: Mapping[str, str]) -> dict[str, pd.DataFrame]:
    """Return all that criteria read: tables of the papers by ``report/table``, checks, settings."""
    files = {"/".join(Path(path).with_suffix("").parts[-2:]): path for path in paths}
    tables = {name: pd.read_parquet(path) for name, path in files.items()}
    configured = pd.DataFrame(settings.items(), columns=["setting", "value"])
    return {**tables, **checks.tables(), SETTINGS: configured}


if job := globals().get("snakemake"):
    tables = tables_of([*job.input.tables, job.input.own], job.params.settings)
    card = verdicts(tables, job.input.statements, CRITERIA)
    card.to_csv(job.output.card, index=False)
    shares(card).to_csv(job.output.shares, index=False)
    Path(job.output.line).write_text(f"{summary(card)}\n", encoding="utf-8")
