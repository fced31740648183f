"""The tables of the limit: what audits need and find, beside the least and the most that can be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, PositiveFloat, PositiveInt

from auditors import PROGRAMS, Auditor, listed
from epsilometer.errors import ArgumentError
from epsilometer.settings.models import Fractional
from limit import methods as audits
from limit.kl_inf.draws import floor, least_draws
from limit.methods import ALPHA, ANYTIME, Claimed, Run
from limit.projection import ceiling, limit
from matrix.methods import Method
from matrix.tables import NO_RUN, Draws, File, Tables

__all__ = ["PROGRAMS", "answers", "combinations", "statements"]

Some = Annotated[list[Claimed], Field(min_length=1)]
Row = dict[str, Any]

COMBINATION = ["mechanism", "epsilon", "inputs", "claim"]
EVERY = "all"
"""In place of a claim: the combinations of all claims together."""

_LIMITS = ["level", "claimed", "kl_inf", "floor", "half", "ceiling", "n"]
_ANSWER = ["method", "applies", "reason", "run", "draws", "refuted", "bound"]
_ROUNDING = 1e-9  # of a level that a bound meets exactly


def answers(
    draws: Draws,
    *,
    claims: Some,
    share: Fractional,
    methods: dict[str, Method],
    bits: dict[str, PositiveInt],
    least: PositiveInt,
    leave_out: Sequence[str] = (),
) -> pd.DataFrame:
    """Ask every method about every claim, from the draws of every run.

    Parameters
    ----------
    draws
        A pair of inputs of each mechanism and epsilon.
    claims
        Claims at ``share`` of the exact level.
    methods
        Bounds of the matrix, by their names.
    bits
        How many bits the outputs of a mechanism are.
    least
        With fewer draws of a side than this, a mechanism is left out: a small scale has few.
    leave_out
        Auditors of the list that are not asked.
    """
    asked = listed(leave_out)
    rows = [
        row
        for files in draws
        for drawn in files
        if drawn.identity.n >= least
        for claim in claims
        for row in _of_claim(File(drawn), claim, share, methods, bits, asked)
    ]
    return pd.DataFrame(rows, columns=[*COMBINATION, *_LIMITS, *_ANSWER])


def _of_claim(
    file: File,
    claim: Claimed,
    share: float,
    others: Mapping[str, Method],
    bits: Mapping[str, int],
    asked: Sequence[Auditor],
) -> Iterator[Row]:
    """Yield the rows of a combination: one for each run, or one if a method does not apply."""
    level = claim.level(file.levels)
    if file.law is None or not 0 < level < math.inf:
        text = f"{claim.name} has no finite level above 0 for {file.name}"
        raise ArgumentError("claims", text)
    claimed = claim.at(share * level)
    x, x_prime = file.both
    kl_inf = limit(file.law, x, x_prime, claimed).kl_inf
    common = {
        "mechanism": file.name,
        "epsilon": file.epsilon,
        "inputs": file.inputs,
        "claim": claim.name,
        "level": level,
        "claimed": claimed.level,
        "kl_inf": kl_inf,
        "floor": floor(kl_inf, ALPHA),
        "half": least_draws(kl_inf, ALPHA, 0.5),
        "ceiling": min(ceiling(file.law, x, x_prime, claimed, file.n, ALPHA), level),
        "n": file.n,
    }
    runs = [
        (run, Run(pair, claimed, int(pair.seed().integers(2**31)), bits.get(file.name, 0)))
        for run, pair in file.pairs()
    ]
    for method, answer in audits.methods(runs[0][1].pair, claim, others, asked):
        row = common | {"method": method, "applies": not isinstance(answer, str), "reason": ""}
        if isinstance(answer, str):
            yield row | {"reason": answer, "run": NO_RUN, "draws": math.nan, "refuted": False}
            continue
        for run, of_run in runs:
            yield row | {"run": run, **vars(answer(of_run))}


def combinations(tables: Tables) -> pd.DataFrame:
    """Summarise over runs: a row for every combination and method.

    ``draws`` are the mean until the claim is refuted, if a method is valid at any time, beside the
    floor; otherwise the median of the fewest that refute it, beside the least n that can refute it
    in half of the runs. A run that does not refute counts with n: ``missed`` says how many.
    """
    runs, keys = _together(tables), [*COMBINATION, "method"]
    runs = runs.assign(
        ran=runs["run"] != NO_RUN,
        missed=runs["applies"] & ~runs["refuted"],
        above=runs["bound"] > runs["level"] * (1 + _ROUNDING),
        median=runs["draws"],
    )
    kinds = dict.fromkeys([*_LIMITS, "applies", "reason"], "first")
    kinds |= {"ran": "sum", "missed": "sum", "above": "sum"}
    kinds |= {"draws": "mean", "median": "median", "bound": "median"}
    table = runs.groupby(keys, sort=False).agg(kinds).reset_index()
    table = table.rename(columns={"ran": "runs"})
    sequential = table["method"] == ANYTIME
    table["draws"] = table["draws"].where(sequential, table["median"])
    table["limit"] = table["floor"].where(sequential, table["half"])
    table["times"] = table["draws"] / table["limit"]
    table["at_least"] = table["missed"] > np.where(sequential, 0, table["runs"] / 2)
    table["of_ceiling"] = table["bound"] / table["ceiling"]
    table["of_level"] = table["bound"] / table["level"]
    counts = ["runs", "draws", "limit", "times", "missed", "at_least"]
    bounds = ["bound", "ceiling", "level", "of_ceiling", "of_level", "above"]
    return table[[*keys, "claimed", "n", *counts, *bounds, "applies", "reason"]]


def statements(
    tables: Tables, *, times: list[PositiveFloat], shares: list[PositiveFloat]
) -> pd.DataFrame:
    """Count the combinations, by method and claim, for which a statement holds.

    ``times`` are of draws, as multiples of the least; ``shares`` of bounds, of the ceiling.
    """
    (table,) = tables.values()
    table = table[table["applies"]]
    kinds = table.assign(kind=table["claim"].str.partition(",")[0])
    listed = pd.concat([kinds.assign(kind=EVERY), kinds], ignore_index=True)
    rows = []
    for (method, kind), part in listed.groupby(["method", "kind"], sort=False):
        reached = part["times"].where(~part["at_least"], math.inf)
        holds = {f"draws at most {most:g} times the least": reached <= most for most in times}
        holds |= {
            f"median bound at least {share:g} of the ceiling": part["of_ceiling"] >= share
            for share in shares
        }
        holds["draws not below the least"] = part["times"] >= 1
        holds["median bound not above the ceiling"] = part["of_ceiling"] <= 1 + _ROUNDING
        for text, yes in holds.items():
            rows.append((text, method, kind, int(yes.sum()), len(part)))
        right = int((part["runs"] - part["above"]).sum())
        rows.append(("bound of a run not above the level", method, kind, right, part["runs"].sum()))
    return pd.DataFrame(rows, columns=["statement", "method", "claim", "holds", "of"])


def _together(tables: Tables) -> pd.DataFrame:
    """Return the rows of all tables; those of a small scale may be empty."""
    filled = [table for table in tables.values() if len(table)]
    if not filled:
        raise ArgumentError("tables", "must have answers")
    return pd.concat(filled, ignore_index=True)
