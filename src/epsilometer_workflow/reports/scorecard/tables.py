"""The scorecard: statements of the papers, and whether the project's tables agree."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pandas as pd

from epsilometer.errors import ArgumentError
from epsilometer_workflow.reports.scorecard.claims import (
    ANY_SCALE,
    lines_of,
    read_claims,
    read_rules,
)
from epsilometer_workflow.reports.scorecard.judging import columns, judge
from epsilometer_workflow.reports.scorecard.outcomes import ERRATUM, NOT_HERE, VERDICTS, YES

Tables = Mapping[str, pd.DataFrame]

_SETTINGS = "scorecard/settings"


def scorecard(tables: Tables, *, claims: str, rules: list[str]) -> pd.DataFrame:
    """Hold every claim against the tables, by its line of the rules.

    A row a claim: paper, artifact, quantity, key and printed as in the claims; ours, and where it
    may lie, from low to high (empty: open, or a word); agrees (see `judging`) and the
    reason; its id, the tables that ours is from, and how it follows from them.
    """
    rows = []
    reached = _scales_reached(tables)
    known = {name: columns(table) for name, table in tables.items()}
    for claim, line in lines_of(read_claims(claims), {file: read_rules(file) for file in rules}):
        judged = judge(claim, line, known, decides=claim.scale in reached)
        rule = line.rule
        rows.append(
            {
                "paper": claim.paper,
                "artifact": claim.artifact,
                "quantity": claim.quantity,
                "key": claim.key,
                "printed": claim.printed,
                **vars(judged),
                "id": claim.id,
                "from": " ".join(rule.tables(claim.paper).values()),
                "how": str(rule.holds if rule.ours is None else rule.ours),
            }
        )
    return pd.DataFrame(rows).astype({"low": float, "high": float})


def _scales_reached(tables: Tables) -> set[str]:
    """Return the scales that decide no more than this one, in the order of the configuration."""
    if _SETTINGS not in tables:
        raise ArgumentError("tables", f"must have {_SETTINGS}, which says at which scale this is")
    values = tables[_SETTINGS].set_index("setting")["value"]
    scale, scales = (json.loads(values[f"main.{name}"]) for name in ("scale", "scales"))
    return {ANY_SCALE, *scales[: scales.index(scale) + 1]}


def shares(tables: Tables) -> pd.DataFrame:
    """Count the verdicts of each paper's artifacts, and of each paper and all papers (``all``).

    ``share`` is that of yes and erratum among the claims that this scale decides.
    """
    if len(tables) != 1:
        raise ArgumentError("tables", "must be one, a scorecard")
    (card,) = tables.values()
    card = card.assign(artifact=card["artifact"].where(~card["artifact"].str.contains(":"), "text"))
    listed = pd.concat(
        [card, card.assign(artifact="all"), card.assign(paper="all", artifact="all")]
    )
    table = pd.crosstab([listed["paper"], listed["artifact"]], listed["agrees"])
    table = table.reindex(
        index=pd.MultiIndex.from_frame(listed[["paper", "artifact"]].drop_duplicates()),
        columns=list(VERDICTS),
        fill_value=0,
    )
    claims = table.sum(axis=1)
    decided = claims - table[NOT_HERE]
    table = table.assign(claims=claims, decided=decided)
    table["share"] = (table[YES] + table[ERRATUM]) / decided.where(decided > 0)
    return table.rename_axis(columns=None).reset_index()


def settings(settings: pd.DataFrame) -> pd.DataFrame:
    """List every value of the configuration, as JSON, with the keys that lead to it."""
    return settings
