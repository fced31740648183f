"""A drawn point comes from one row: edits of the papers' grids that would mix two are refused."""

import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from epsilometer.errors import ConfigError
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.stages.render import two_rows_of_a_point

PAPERS = ["askin2022", "gorla2022", "kutta2022", "lu2022"]
EDITS = {  # an edit of a paper's grid, and what is said of it
    "two epsilons of some mechanisms": (
        "kutta2022",
        "epsilon: [0.2]\n        inputs: [first-person]\n        lambda: [2, 5, 7]",
        "epsilon: [0.2, 0.5]\n        inputs: [first-person]\n        lambda: [2, 5, 7]",
        "fig1.figure: the table has 2 rows for one point (panel=(ii) subsampled Gaussian, "
        "lambda=2.0, tau=0.0025, run=0), which differ in epsilon (0.2, 0.5)",
    ),
    "two epsilons of the bounds of many orders": (
        "kutta2022",
        "epsilon: [0.2]\n        inputs: [first-person]\n        lambda: [inf]",
        "epsilon: [0.2, 0.5]\n        inputs: [first-person]\n        lambda: [inf]",
        "estimator=local-loss-floor=0.001), which differ in epsilon (0.2, 0.5)",
    ),
    "two classifiers": (
        "lu2022",
        "lambda: [inf]\n        estimator: [spectrum-knn]",
        "lambda: [inf]\n        estimator: [spectrum-knn, spectrum-knn-power=0.75]",
        "claim=0.01), which differ in estimator (spectrum-knn, spectrum-knn-power=0.75); keep one",
    ),
    "two promises": (
        "askin2022",
        "mechanism: [continuous-noisy-max-3, exponential-half-line]\n        epsilon: [1.5]",
        "mechanism: [continuous-noisy-max-3, exponential-half-line]\n        epsilon: [0.7, 1.5]",
        "(panel=Continuous Noisy Max, n=200), which differ in epsilon (0.7, 1.5)",
    ),
    "two sizes": (
        "lu2022",
        "curves: {runs: 1, n: 5000}",
        "curves: {runs: 1, n: [500, 5000]}",
        "(panel=Laplace, claim=0.01), which differ in n (500, 5000)",
    ),
}


def refused(folder: Path, report: str, name: str, old: str, new: str) -> str:
    """Return what is said of an edit of a file of a paper's configuration."""
    others = [f"{paper}.yaml" for paper in PAPERS if paper != report]
    shutil.copytree("config", folder / "config", ignore=shutil.ignore_patterns(*others))
    file = folder / "config" / name
    text = file.read_text(encoding="utf-8")
    assert old in text, "the case no longer applies"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        checked(folder / "config", {"scale": "smoke"})
    assert "\n" not in str(error.value)
    return str(error.value).removeprefix(f"{folder}/config/")


@pytest.mark.parametrize(("report", "old", "new", "said"), EDITS.values(), ids=EDITS)
def test_an_edit_that_would_mix_points_is_refused(report, old, new, said, tmp_path):
    assert f"reports/{report}.yaml: " in (
        error := refused(tmp_path, report, f"reports/{report}.yaml", old, new)
    )
    assert said in error


def test_a_table_with_two_rows_for_a_point_is_not_drawn():
    table = pd.DataFrame(
        {"panel": "a", "n": [1, 2, 2], "epsilon": [1, 1, 2], "mean": [0.1, 0.2, 0]}
    )
    assert two_rows_of_a_point(table, ["panel", "n", "epsilon"]) is None
    said = two_rows_of_a_point(table, ["panel", "n"])
    assert said == (
        "the table has 2 rows for one point (panel=a, n=2), which differ in epsilon (1, 2), "
        "mean (0.2, 0.0); keep one, or tell them apart by a colour, a panel or a figure of their "
        "own"
    )


def test_points_without_a_value_of_a_key_are_told_apart_by_the_others():
    table = pd.DataFrame({"claim": [None, None], "n": [1, 1], "mean": [0.1, 0.2]}, dtype=float)
    assert "which differ in mean (0.1, 0.2)" in two_rows_of_a_point(table, ["claim", "n"])


def test_every_figure_of_a_paper_says_what_tells_its_points_apart():
    from epsilometer.registry import load
    from epsilometer_workflow.configuration.functions import RENDERERS

    for report in [*PAPERS, "plain"]:
        for name in RENDERERS.known(report):
            assert load(RENDERERS.target(report, name)).points, (report, name)


def test_the_papers_as_they_are_mix_nothing():
    assert Path("config/reports").is_dir()
    for scale in ("smoke", "quick", "paper"):
        checked("config", {"scale": scale})


@pytest.mark.parametrize("report", PAPERS)
def test_an_edit_of_an_experiment_changes_that_experiment_only(report):
    text = Path(f"config/reports/{report}.yaml").read_text(encoding="utf-8")
    shared = (yaml.AnchorToken, yaml.AliasToken)
    assert not [token.start_mark.line + 1 for token in yaml.scan(text) if isinstance(token, shared)]
