"""dpmm: selections and noisy marginals of its models, of tables of three columns."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from dpmm.models.aim import AIM, AIMGM, compile_workload
from dpmm.models.base.mbi import Dataset, Domain, FactoredInference
from dpmm.models.mst import MST, MSTGM
from dpmm.models.priv_bayes import PrivBayes, PrivBayesGM
from scipy import sparse

Rng = np.random.Generator
COLUMNS = ("a", "b", "c")
DELTA = 1e-5
PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))
MODELS = {"PrivBayesGM": PrivBayesGM, "MSTGM": MSTGM, "AIMGM": AIMGM}


def random_state(rng: Rng) -> np.random.RandomState:
    """Return a generator of the kind that the library takes."""
    return np.random.RandomState(rng.integers(2**32))


def frame(rows: list[Any], columns: tuple[str, ...] = COLUMNS) -> pd.DataFrame:
    """Return rows as the library takes them."""
    return pd.DataFrame(np.asarray(rows, int).reshape(-1, len(columns)), columns=list(columns))


def dataset(rows: list[Any]) -> Dataset:
    """Return rows with their public domain of two values a column."""
    return Dataset(frame(rows), Domain(list(COLUMNS), [2] * len(COLUMNS)))


@cache
def selector(epsilon: float) -> PrivBayes:
    """Return PrivBayes; half of its epsilon is for the selection. To make it takes a second."""
    return PrivBayes(epsilon=2 * epsilon, delta=DELTA, n_jobs=1)


def counted_once(rows: list[Any]) -> Dataset:
    """Return rows whose tables of counts are kept, as each draw needs the same ones."""
    data = dataset(rows)

    @cache
    def projected(*columns: str) -> Dataset:
        table = Dataset.project(data, list(columns))
        table.datavector = cache(table.datavector)
        return table

    data.project = lambda columns: projected(*columns)
    return data


def bayes_selected(rows: list[Any], size: int, rng: Rng, epsilon: float) -> list[str]:
    """Draw the cliques that PrivBayes selects."""
    data, model = counted_once(rows), selector(epsilon)
    model.set_random_state(random_state(rng))
    return [" ".join("".join(clique) for clique in model.select(data)) for _ in range(size)]


def worst_selected(rows: list[Any], size: int, rng: Rng, epsilon: float) -> list[str]:
    """Draw the clique that AIM finds worst approximated by a public, uniform model."""
    data, prng = dataset(rows), random_state(rng)
    model = AIM(epsilon=1, delta=DELTA, n_jobs=1, prng=prng)
    candidates = compile_workload(list(PAIRS))
    answers = {clique: data.project(clique).datavector() for clique in candidates}
    public = [(sparse.eye(2), np.ones(2), 1.0, (column,)) for column in COLUMNS]
    uniform = FactoredInference(data.domain, iters=1).estimate(public)
    draws = range(size)
    return [
        "".join(model.worst_approximated(candidates, answers, uniform, epsilon, 1.0)) for _ in draws
    ]


def tree_selected(rows: list[Any], size: int, rng: Rng, epsilon: float) -> list[int]:
    """Draw the edge that MST selects first, by the distance of pairs of columns from uniform."""
    data = dataset(rows)
    model = MST(epsilon=1, delta=DELTA, n_jobs=1, prng=random_state(rng))
    tables = [data.project(list(pair)).datavector() for pair in PAIRS]
    weights = np.array([np.abs(table - 1).sum() for table in tables])
    return [int(model.exponential_mechanism(weights, epsilon, 1.0)) for _ in range(size)]


@cache
def unfitted(model: str, epsilon: float, compress: bool, given: bool) -> tuple[Any, Any]:
    """Return a model and its columns; to make it takes longer than to fit it."""
    columns = COLUMNS if model == "PrivBayesGM" else COLUMNS[:1]
    domain = dict.fromkeys(columns, 2) if given else None
    options = {"epsilon": epsilon, "delta": DELTA, "compress": compress, "domain": domain}
    return MODELS[model](**options, n_jobs=1), columns


def measured(
    rows: list[Any],
    rng: Rng,
    model: str,
    epsilon: float,
    compress: bool,
    given: bool,
) -> list[Any]:
    """Fit marginals; return the selected cliques and the noisy counts, rounded to six digits."""
    made, columns = unfitted(model, epsilon, compress, given)
    made = deepcopy(made)
    made.set_random_state(random_state(rng))
    made.fit(frame([row[: len(columns)] for row in rows], columns), marginals_only=True)
    parts = [(proj, np.round(y, 6).ravel().tolist()) for _, y, _, proj in made.generator.measures]
    return [" ".join("".join(proj) for proj, _ in parts), *[x for _, y in parts for x in y]]
