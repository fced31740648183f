"""The tables of the matrix: every method on every mechanism, from the same draws."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import Field, PositiveInt

import auditors
from epsilometer import seeds
from epsilometer.errors import ArgumentError, one_line
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.numerics.proportions import clopper_pearson
from epsilometer.settings.models import Order
from epsilometer.settings.registry import load
from epsilometer_workflow.files.storage import SampleFile
from matrix.methods import (
    PROMISES,
    Exact,
    Method,
    Pair,
    with_auditors,
)

PROGRAMS = auditors.PROGRAMS

Tables = Mapping[str, pd.DataFrame]
Draws = list[list[SampleFile]]
Methods = Annotated[dict[str, Method], Field(min_length=1)]
Orders = Annotated[list[Order], Field(min_length=1)]
Share = Annotated[float, Field(gt=0, le=1)]
Shares = Annotated[list[Share], Field(min_length=1)]
Names = Annotated[list[str], Field(min_length=1)]

NO_RUN = -1
"""The run of a row that says why a method does not apply."""

_CELL = ["mechanism", "epsilon", "inputs", "order", "estimator"]
_COVERAGE = ["coverage", "coverage_low", "coverage_high"]
_POOLED = ["answers", *_COVERAGE, "tightness", "beside", "contradicted"]
_SAME_DRAWS = ["mechanism", "epsilon", "inputs", "order", "quantity", "run"]
_ROUNDING = 1e-9  # relative tolerance for an estimate that equals the level


def answers(
    draws: Draws, *, methods: Methods, orders: Orders, leave_out: Sequence[str] = ()
) -> pd.DataFrame:
    """Apply every method to the draws of every run, at every order.

    A row a mechanism, epsilon, order, method and run: ``answer`` and ``exact`` in nats, ``failed``
    where there is no answer, and why; a row of run `NO_RUN` where a method does not apply, and why.
    ``leave_out`` names auditors of the list that are not asked.
    """
    rows, methods = [], with_auditors(methods, auditors.listed(leave_out))
    for file in map(File, chain.from_iterable(draws)):
        cells = [(o, name, method) for o in orders for name, method in methods.items()]
        applying = []
        for order, name, method in cells:
            reason = method.refusal(file.outputs, file.claims, order)
            if reason:
                rows.append(file.row(order, name, method) | {"applies": False, "reason": reason})
            else:
                applying.append((order, name, method))
        for run, pair in file.pairs():
            for order, name, method in applying:
                rows.append(file.row(order, name, method) | _answer_row(method, pair, order, run))
    return pd.DataFrame(rows)


def matrix(tables: Tables) -> pd.DataFrame:
    """Summarise over runs: a row for every mechanism, epsilon, order and method.

    ``mean``, ``bias`` and ``rmse`` are over the runs with an answer, the last two where the exact
    value is known and finite; ``coverage`` is the share of these answers that are at most exact.
    ``contradicted`` is the share of an estimate's answers below the largest bound of a run.
    """
    table = _over_runs(_together(tables), _CELL)
    unknown = table["applies"] & table["exact"].isna() & (table["reason"] == "")
    table.loc[unknown, "reason"] = "no exact value is known"
    columns = ["quantity", "promises", "n", "runs", "exact", "mean", "bias", "rmse"]
    beside = ["beside", "contradicted", "failures", "applies", "reason"]
    return table[[*_CELL, *columns, *_COVERAGE, *beside]]


def cells(tables: Tables) -> pd.DataFrame:
    """Summarise over runs and epsilons: a row for every mechanism, order and method.

    ``answers`` are those with a finite exact value to hold them to; ``tightness`` is the median of
    answer / exact, where that is above 0; ``beside`` that of answer / the largest bound of all
    methods in the same run, which needs no exact value.
    """
    keys = ["mechanism", "order", "estimator"]
    table = _over_runs(_together(tables), keys)
    return table[[*keys, "quantity", "promises", "applies", "failures", *_POOLED]]


def pooled(tables: Tables) -> pd.DataFrame:
    """Summarise over everything: a row for every order and method; see the caption."""
    runs, keys = _together(tables), ["order", "estimator"]
    runs = runs[runs["applies"]]
    table = _over_runs(runs, keys)
    of_cells = _over_runs(runs, _CELL)
    of_cells = of_cells[of_cells["rmse"].notna()]
    alike = ["mechanism", "epsilon", "order", "quantity"]
    bounds = of_cells[of_cells["promises"] != PROMISES["none"]]
    nearest = of_cells["rmse"] <= of_cells.groupby(alike)["rmse"].transform("min")
    tightest = bounds["mean"] >= bounds.groupby(alike)["mean"].transform("max")
    for name, rows in (
        ("cells", of_cells),
        ("nearest", of_cells[nearest & (of_cells["mean"] > 0)]),  # an answer of 0 finds nothing
        ("tightest", bounds[tightest & (bounds["mean"] > 0)]),
    ):
        counted = rows.groupby(keys).size().rename(name).reset_index()
        table = table.merge(counted, on=keys, how="left")
        table[name] = table[name].fillna(0).astype(int)
    columns = ["quantity", "promises", "mechanisms", "cells", "failures", *_POOLED]
    return table[[*keys, *columns, "nearest", "tightest"]]


def by_draws(
    draws: Draws,
    *,
    methods: Methods,
    orders: Orders,
    mechanisms: Names,
    shares: Shares,
    leave_out: Sequence[str] = (),
) -> pd.DataFrame:
    """Tabulate the error of some mechanisms against draws, from prefixes of the same runs.

    ``error`` is the root mean square error as a share of the exact value, NaN where that is not
    known or infinite.
    """
    rows, methods = [], with_auditors(methods, auditors.listed(leave_out))
    for file, pairs, order, name, method in _applying(draws, methods, orders, mechanisms):
        exact = file.exact(order, method)
        if exact <= 0:
            continue
        for share in shares:
            results = [
                _answer_row(method, pair.first(_part(pair, share)), order, run)
                for run, pair in pairs
            ]
            values = np.array([result["answer"] for result in results if not result["failed"]])
            known = values.size > 0 and math.isfinite(exact)
            error = np.sqrt(np.mean((values - exact) ** 2)) if known else math.nan
            rows.append(
                file.row(order, name, method)
                | {
                    "n": _part(file, share),
                    "runs": len(results),
                    "failures": len(results) - values.size,
                    "mean": values.mean() if values.size else math.nan,
                    "error": error / exact if known else math.nan,
                }
            )
    if not rows:
        raise ArgumentError("mechanisms", "have no level above 0")
    return pd.DataFrame(rows).drop(columns=["run", "answer", "failed", "applies", "reason"])


def timed(
    draws: Draws,
    *,
    methods: Methods,
    orders: Orders,
    mechanisms: Names,
    shares: Shares,
    runs: PositiveInt,
    leave_out: Sequence[str] = (),
) -> pd.DataFrame:
    """Measure the seconds of CPU of one answer: the median of so many runs, after one more."""
    rows, methods = [], with_auditors(methods, auditors.listed(leave_out))
    for file, pairs, order, name, method in _applying(draws, methods, orders, mechanisms):
        for share in shares:
            n = _part(file, share)
            _answer_row(method, pairs[0][1].first(n), order, 0)
            spent = []
            for _, pair in pairs[:runs]:
                start = time.process_time()
                _answer_row(method, pair.first(n), order, 0)
                spent.append(time.process_time() - start)
            key = {"mechanism": file.name, "epsilon": file.epsilon, "order": order}
            rows.append(key | {"estimator": name, "n": n, "seconds": float(np.median(spent))})
    return pd.DataFrame(rows)


def seconds(tables: Tables) -> pd.DataFrame:
    """Join errors (`by_draws`) and seconds (`timed`) of the same draws."""
    if len(tables) != 2:
        raise ArgumentError("tables", "must be two, of errors and of seconds")
    errors, spent = tables.values()
    keys = ["mechanism", "epsilon", "order", "estimator", "n"]
    return errors.merge(spent, on=keys, how="inner", validate="one_to_one")


# --- draws ----------------------------------------------------------------------------------------


class File:
    """A file of draws, with the exact law and values of the pair and the provider's claims."""

    def __init__(self, drawn: SampleFile) -> None:
        identity = drawn.identity
        self._drawn, self.name, self.epsilon = drawn, identity.mechanism, identity.epsilon
        self.inputs, self.n = identity.inputs.id, identity.n
        self.both = identity.inputs.sides
        if len(self.both) != 2:
            raise ArgumentError("data", f"must hold pairs of inputs; {self.inputs} are more")
        registered = identity.registered
        mechanism = identity.load()
        self.outputs = str(mechanism.outputs)
        known = {MECHANISMS[name]: law for name, law in EXACT.items()}.get(registered)
        self.law = None if known is None else load(known)(mechanism)
        self.levels = Exact(self.law, *self.both)
        self.claims = drawn.claims
        region = drawn.region
        self._region = None if region is None else (region[0], region[1])

    def exact(self, order: float, method: Method) -> float:
        """Return the exact value of a method's answer."""
        return self.levels.level(order, method.delta if math.isinf(order) else None)

    def row(self, order: float, name: str, method: Method) -> dict[str, Any]:
        """Return the row of a cell, without an answer."""
        return {
            "mechanism": self.name,
            "epsilon": self.epsilon,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "order": order,
            "estimator": name,
            "quantity": method.quantity,
            "promises": method.promise(self.outputs),
            "n": self.n,
            "run": NO_RUN,
            "exact": self.exact(order, method),
            "answer": math.nan,
            "failed": False,
            "applies": True,
            "reason": "",
        }

    def pairs(self) -> Iterator[tuple[int, Pair]]:
        """Yield each run with its draws."""
        keys = (self.name, f"epsilon={self.epsilon!r}", self.inputs, "matrix")
        for run, (x, x_prime) in self._drawn.runs():
            seed = partial(seeds.generator, self._drawn.identity.seed, *keys, f"run={run}")
            provided = self.outputs, self.claims, self.epsilon, self._region
            yield run, Pair(x, x_prime, *provided, seed)


def _applying(
    draws: Draws, methods: Methods, orders: Orders, mechanisms: Names
) -> Iterator[tuple[File, list[tuple[int, Pair]], float, str, Method]]:
    """Yield the methods that apply to some mechanisms, with all runs of each."""
    files = {file.name: file for file in map(File, chain.from_iterable(draws))}
    for name in mechanisms:
        if name not in files:
            raise ArgumentError("mechanisms", f"has {name!r}, which is not in the data")
        file = files[name]
        pairs = list(file.pairs())
        for order in orders:
            for called, method in methods.items():
                if not method.refusal(file.outputs, file.claims, order):
                    yield file, pairs, order, called, method


def _answer_row(method: Method, pair: Pair, order: float, run: int) -> dict[str, Any]:
    try:
        return {"run": run, "answer": method.answer(pair, order), "failed": False}
    except ArgumentError as error:
        return {"run": run, "answer": math.nan, "failed": True, "reason": one_line(error)}


def _part(of: Any, share: float) -> int:
    return max(int(share * of.n), 1)


# --- over runs ------------------------------------------------------------------------------------


def _together(tables: Tables) -> pd.DataFrame:
    if not tables:
        raise ArgumentError("tables", "must be some, of answers")
    rows = pd.concat(tables.values(), ignore_index=True)
    bounds = rows["answer"].where(rows["promises"].str.startswith("a bound"))
    rows["largest"] = rows.assign(bound=bounds).groupby(_SAME_DRAWS)["bound"].transform("max")
    return rows


def _over_runs(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Summarise over the runs of the rows that agree in some columns.

    Errors and coverage are over the answers that have a finite exact value to be held to.
    """
    ran = rows["run"] != NO_RUN
    known = ran & ~rows["failed"] & np.isfinite(rows["exact"])
    error = (rows["answer"] - rows["exact"]).where(known)
    frame = rows.assign(
        ran=ran,
        answer=rows["answer"].where(ran & ~rows["failed"]),
        known=known,
        held=known & (rows["answer"] <= rows["exact"] * (1 + _ROUNDING)),
        error=error,
        squared=error**2,
        ratio=(rows["answer"] / rows["exact"].where(rows["exact"] > 0)).where(known),
        beside=(rows["answer"] / rows["largest"].where(rows["largest"] > 0)).where(ran),
        below=(rows["answer"] < rows["largest"] * (1 - _ROUNDING)).where(
            ran & ~rows["failed"] & (rows["promises"] == PROMISES["none"])
        ),
        reason=rows["reason"].where(rows["reason"] != ""),
        named=rows["mechanism"],
    )
    table = (
        frame.groupby(keys, sort=False)
        .agg(
            quantity=("quantity", "first"),
            promises=("promises", "first"),
            mechanisms=("named", "nunique"),
            n=("n", "first"),
            runs=("ran", "sum"),
            exact=("exact", "first"),
            mean=("answer", "mean"),
            bias=("error", "mean"),
            rmse=("squared", "mean"),
            answers=("known", "sum"),
            held=("held", "sum"),
            failures=("failed", "sum"),
            tightness=("ratio", "median"),
            beside=("beside", "median"),
            contradicted=("below", "mean"),
            applies=("applies", "any"),
            reason=("reason", "first"),
        )
        .reset_index()
    )
    low, high = clopper_pearson(table["held"], table["answers"])
    has_answers = table["answers"] > 0
    table["coverage"] = (table["held"] / table["answers"].where(has_answers)).astype(float)
    table["coverage_low"], table["coverage_high"] = np.where(has_answers, [low, high], math.nan)
    table["rmse"] = np.sqrt(table["rmse"])
    return table.assign(reason=table["reason"].fillna("").astype(str))
