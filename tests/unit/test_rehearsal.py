"""What needs no data is checked before the first job: edits of the papers' files, and one line."""

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products import rehearsal
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.stages import summarise, tabulate
from tests.unit.test_points import refused

MECHANISMS, ESTIMATORS = "mechanisms.yaml", "estimators.yaml"
KUTTA, GORLA, LU, ASKIN = (f"reports/{name}2022.yaml" for name in ("kutta", "gorla", "lu", "askin"))

EDITS = {  # file (of a report, or with the report that shows it), old text, new text, what is said
    "an order that the paper does not print": (
        *(KUTTA, "lambda: [2, 5, 7]", "lambda: [2, 3, 7]"),
        "artifacts.alpha_hat.paper.rows: no row of the table has mechanism=noisy-sum-gaussian lam",
    ),
    "a floor that the paper does not print": (
        *(KUTTA, "[renyi-bound-as-published-draws=25]", "[renyi-bound-draws=50]"),
        "artifacts.alpha_hat.paper.rows: no row of the table has mechanism=randomized-bits-shuffl",
    ),
    "a scale that the paper does not print": (
        *(GORLA, "epsilon: [1/5, 1/3,", "epsilon: [1/4, 1/3,"),
        "artifacts.table5.paper.rows: no row of the table has scale=5.0 gamma=0.1",
    ),
    "a printed pair that is not shown": (
        *(GORLA, "[0.00, 1.00], [0.06, 0.49], ", "[0.00, 1.00], "),
        "artifacts.table2.paper.rows: no row of the table has pair=0.06 0.49",
    ),
    "a pair that no grid has": (
        *(GORLA, "[0.06, 0.49], [0.11", "[0.065, 0.49], [0.11"),
        "artifacts.table2.table.options: pairs has [0.065, 0.49], which is not a pair of the grid",
    ),
    "a layout of a column that the table has not": (
        *(KUTTA, "minutes: [runtime in minutes, .2g]", "minuts: [runtime in minutes, .2g]"),
        "artifacts.table1: layout has no column 'minuts'; did you mean 'minutes'?",
    ),
    "several runs of one table": (
        *(GORLA, "all-pairs: {runs: 1", "all-pairs: {runs: 3"),
        "artifacts.table2.table.options: data must hold one run",
    ),
    "printed numbers of a table without data": (
        *(GORLA, "scales: [0.5, 0.8, 1, 2, 5]", "scales: [0.5, 0.8, 1, 2]"),
        "artifacts.table1.paper.rows: no row of the table has mechanism=truncated Laplace para",
    ),
    "a claim that the classifier is not asked for": (
        *(LU, "[0.01, 0.02,", "[0.015, 0.02,"),
        "table.options: claims has 0.015, which is not in the data",
    ),
    "inputs that have no curve": (
        *(LU, "gaussian-50 one-entry: ", "gaussian-50 one: "),
        "artifacts.fig5b.table.options: panels has 'gaussian-50 one', which is not in the data",
    ),
    "another mechanism than the figure's": (
        *(
            ASKIN,
            "mechanism: [laplace]\n        epsilon: [1]",
            "mechanism: [gaussian]\n        epsilon: [1]",
        ),
        "artifacts.fig1.table.options: data must hold samples of the plain Laplace mechanism only",
    ),
    "mechanisms without the parameter of a table": (
        *(ASKIN, "[rare-match-3, rare-match-6,", "[rare-match-3, laplace, rare-match-6,"),
        "unknown inputs of laplace 'match'",
    ),
    "n at the floor": (
        *(KUTTA, "bounds: {runs: 3, n: 20000}", "bounds: {runs: 3, n: 50}"),
        "draws=50 on noisy-sum-gaussian-subsampled at epsilon=0.2: n must be above draws_at_floor",
    ),
    "too few draws to train": (
        *(LU, "curves: {runs: 1, n: 5000}", "curves: {runs: 1, n: 1}"),
        "estimators.yaml: spectrum-knn on laplace at epsilon=1: n must be 2 or more, got 1",
    ),
    "a second stage with too few draws": (
        *(ASKIN, "noisy: {runs: 4, n: 2000+5000}", "noisy: {runs: 4, n: 2000+1}"),
        "mpl-floor=0.001 on laplace at epsilon=0.2: n must be 2 or more, got 2000+1",
    ),
    "a claim that is missing": (
        *(f"{MECHANISMS} {GORLA}", "lipschitz: exact", "lipschitz: null"),
        "mechanisms.yaml: truncated-laplace.claims: lipschitz must be claimed to choose the number",
    ),
    "an option out of scikit-learn's range": (
        *(f"{ESTIMATORS} {LU}", "alpha: 10.0", "alpha: -1.0"),
        "spectrum-network on gaussian-50 at epsilon=1: options sklearn.neural_network.MLPClassifier"
        " refuses: The 'alpha' parameter",
    ),
}


@pytest.mark.parametrize(("file", "old", "new", "said"), EDITS.values(), ids=EDITS)
def test_an_edit_is_refused_before_the_first_job(file, old, new, said, tmp_path):
    name, _, shown = file.partition(" ")
    report = (shown or name).removeprefix("reports/").removesuffix(".yaml")
    assert said in refused(tmp_path, report, name, old, new)


def test_made_up_rows_have_the_columns_of_real_ones():
    study = Study("config", {"scale": "smoke"})
    (first, *_) = study.combinations("kutta2022", "bounds")
    (member, *_) = rehearsal.Summary(study, "kutta2022", "bounds").members()
    made = pd.DataFrame(rehearsal._estimates(study, first, member))
    added = ["pair", "x", "x_prime", "truth", "truth_reverse", "level", "parameters", "settings"]
    added.append("guarantee")
    real = summarise.with_truth(made.drop(columns=added), member)
    assert set(made) == set(real)
    assert made.drop(columns=["truth", "truth_reverse", "level"]).equals(
        real[made.columns].drop(columns=["truth", "truth_reverse", "level"])
    )


@pytest.mark.parametrize("error", [ArgumentError("k", "must not be negative"), KeyError("n")])
def test_only_what_a_builder_refuses_counts(error, monkeypatch):
    def build(*_: object) -> pd.DataFrame:
        raise error

    study = Study("config", {"scale": "smoke"})
    table = Table(study, "kutta2022", "maxima")
    monkeypatch.setattr(rehearsal, "load", lambda _: build)
    monkeypatch.setattr(tabulate, "reads", lambda _: "runs")
    monkeypatch.setattr(tabulate, "_takes", lambda _: "one")
    monkeypatch.setattr(tabulate, "_parse", lambda *_: {})
    if isinstance(error, KeyError):  # of made-up numbers
        rehearsal.rehearse(table, None, "file", "key")
        return
    with pytest.raises(ConfigError, match=r"file: key.table.options: k must not be negative"):
        rehearsal.rehearse(table, None, "file", "key")
