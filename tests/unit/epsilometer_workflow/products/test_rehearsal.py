"""What needs no data is checked before the first job: edits of the papers' files, and one line."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from epsilometer.errors import ConfigError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.products import rehearsal
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.stages import summarise

MECHANISMS, ESTIMATORS = "mechanisms.yaml", "estimators.yaml"
KUTTA, GORLA, LU, ASKIN = (f"reports/{name}2022.yaml" for name in ("kutta", "gorla", "lu", "askin"))
SPARSE = "mechanism: [{}]\n        epsilon: [0.5]\n        inputs: [simple, random]"

EDITS = {  # file (of a report, or with the report that shows it), old text, new text, what is said
    "an order that the paper does not print": (
        *(KUTTA, "lambda: [2, 5, 7]", "lambda: [2, 3, 7]"),
        "artifacts.alpha_hat.paper.rows: no row of the table has mechanism=noisy-sum-gaussian",
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
        "artifacts.fig4a.table.options: claims has 0.015, which is not in the data",
    ),
    "mechanisms without the parameter of a table": (
        *(ASKIN, "[rare-match-3, rare-match-6,", "[rare-match-3, laplace, rare-match-6,"),
        "unknown inputs of laplace 'match'",
    ),
    "n at the floor": (
        *(KUTTA, "bounds: {runs: 3, n: 20000}", "bounds: {runs: 3, n: 50}"),
        "draws=50 on noisy-sum-gaussian-subsampled at epsilon=0.2, lambda=2: n must be above "
        "draws_at_floor",
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
    # what a figure cannot show
    "a mechanism without a title": (
        LU,
        SPARSE.format("svt1-first"),
        SPARSE.format("svt1-first, svt4-first"),
        "experiments.sparse-vector.grid: no artifact shows mechanism = svt4-first, epsilon = 0.5, "
        "inputs = simple, lambda = inf, estimator = spectrum-counting, n = 5000, fresh = 0; choose "
        "or title it in artifacts.fig7.table.options, as in panels",
    ),
    "more epsilons than rows of panels": (
        *(LU, "epsilon: [1]", "epsilon: [1, 2, 3, 4, 5, 6, 7]"),
        "artifacts.fig4a.figure: the figure shows 6, as rows of panels, at most of the 7 values of "
        "epsilon (1.0, 2.0, 3.0, 4.0, ...)",
    ),
    "two searches of the same n": (
        *(GORLA, "search-1: {runs: 5, n: 1..16384}", "search-1: {runs: 5, n: [1..16384, 1..99]}"),
        "scales.smoke.search-1.n: has 2 searches, 1..16384, 1..99, of the same n; keep one",
    ),
    "an n that a search has": (
        *(GORLA, "search-1: {runs: 5, n: 1..16384}", "search-1: {runs: 5, n: [1..16384, 1024]}"),
        "artifacts.fig3a.table: data have two rows of mechanism truncated-laplace, estimator "
        "histogram-gamma=1, n 1024; keep one",
    ),
}


def edited(folder: Path, file: str, old: str, new: str, said: str) -> None:
    """Copy the configuration of a paper, edited; of its artifacts the one that a line is about."""
    name, _, shown = file.partition(" ")
    shutil.copytree("config", folder, ignore=shutil.ignore_patterns("reports"))
    report = folder / (shown or name)
    report.parent.mkdir()
    shutil.copy(Path("config", shown or name), report)
    text = (folder / name).read_text(encoding="utf-8")
    assert old in text, "the case no longer applies"
    (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")
    entries = yaml.safe_load(report.read_text(encoding="utf-8"))
    kept = (re.findall(r"artifacts[.](\w+)", said) or list(entries["artifacts"]))[0]
    entries["artifacts"] = {kept: entries["artifacts"][kept]}
    report.write_text(json.dumps(entries), encoding="utf-8")


@pytest.mark.parametrize(("file", "old", "new", "said"), EDITS.values(), ids=EDITS)
def test_an_edit_is_refused_before_the_first_job(file, old, new, said, tmp_path):
    edited(tmp_path / "config", file, old, new, said)
    with pytest.raises(ConfigError) as refused:
        checked(tmp_path / "config", {"scale": "smoke"})
    assert "\n" not in str(refused.value)
    assert said in str(refused.value)


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


def test_a_builder_that_neither_builds_nor_refuses_ends_in_one_line(monkeypatch):
    def broken(rows, *_, **__):
        return rows["what it does not have"]

    study = Study("config", {"scale": "smoke"})
    table = rehearsal.Table(study, "kutta2022", "maxima")
    monkeypatch.setattr(
        rehearsal.tabulate.grouping, "by_group", lambda build, rows, *_: broken(rows)
    )
    with pytest.raises(ConfigError) as refused:
        rehearsal.built_of(table, Place("file", "key"))
    said = "file: key.table.builder: maxima ends in KeyError: 'what it does not have'"
    assert str(refused.value) == said
