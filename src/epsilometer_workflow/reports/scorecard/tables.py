"""The scorecard: statements of the papers, and whether the project's tables agree."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from epsilometer.errors import ArgumentError
from epsilometer_workflow.reports.askin2022.statements import CRITERIA as ASKIN2022
from epsilometer_workflow.reports.gorla2022.statements import CRITERIA as GORLA2022
from epsilometer_workflow.reports.kutta2022.statements import CRITERIA as KUTTA2022
from epsilometer_workflow.reports.lu2022.statements import CRITERIA as LU2022
from epsilometer_workflow.reports.scorecard.judging import Criteria, verdicts
from epsilometer_workflow.reports.scorecard.outcomes import ERRATUM, NOT_HERE, VERDICTS, YES

Tables = Mapping[str, pd.DataFrame]

CRITERIA: Criteria = {
    "gorla2022": GORLA2022,
    "askin2022": ASKIN2022,
    "kutta2022": KUTTA2022,
    "lu2022": LU2022,
}


def scorecard(tables: Tables, *, statements: list[str]) -> pd.DataFrame:
    """Compare every statement with the tables, by its criterion; ``statements`` are files.

    A row a statement: paper, artifact, quantity, key and printed as in the files; ours, and where
    it may lie, from low to high (empty: open, or a text); agrees (see `judging`) and the reason;
    its id, and the tables that ours is from.
    """
    return verdicts(tables, statements, CRITERIA)


def shares(tables: Tables) -> pd.DataFrame:
    """Count the verdicts of each paper's artifacts, and of each paper and all papers (``all``).

    ``share`` is that of yes and erratum among the statements that this scale decides.
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
    statements = table.sum(axis=1)
    decided = statements - table[NOT_HERE]
    table = table.assign(claims=statements, decided=decided)
    table["share"] = (table[YES] + table[ERRATUM]) / decided.where(decided > 0)
    return table.rename_axis(columns=None).reset_index()


def settings(settings: pd.DataFrame) -> pd.DataFrame:
    """List every value of the configuration, as JSON, with the keys that lead to it."""
    return settings
