"""Ten grids with a further value, run in whole: old rows stay to the byte, new ones are told apart.

Each of these edits once gave a wrong table or figure, without a word.
"""

from pathlib import Path

import pandas as pd
import pytest

from tests.sharing import build_once
from tests.workflow.conftest import Project, done, undisturbed

GORLA, ASKIN, LU, KUTTA = (
    f"config/reports/{name}2022.yaml" for name in ("gorla", "askin", "lu", "kutta")
)
MECHANISMS = "config/mechanisms.yaml"
BOTH = "mechanism: [truncated-laplace, truncated-gaussian]"


def of(experiment: str, old: str, new: str, *, before: str = "") -> tuple[str, str]:
    """Return an edit of the first such line of an experiment."""
    head = f"  {experiment}:\n{before}    grid:\n      - "
    return head + old, head + new


PLANS = {
    "all-pairs": "    plan: {delta: 0.8, as_published: true}\n",
    "algorithm-4": "    plan: {delta: 0.9486832980505138, as_published: true} # sqrt(0.9)\n",
    "safety": "    # both checks see the same samples\n"
    "    plan: {delta: 0.8, estimator: safety-check-claimed, as_published: true}\n",
    "finite": "    plan: {delta: 0.8, as_published: true}\n",
}
LAPLACE = "mechanism: [truncated-laplace]"
RESPONSE = "mechanism: [randomized-response-5]\n        epsilon: [1]\n        inputs: [first-two]"
NM = "mechanism: [nm{}, nm{}]\n        epsilon: [{}]"
RENYI = (
    "epsilon: [1/5, 1/3, 1/2, 2/3] # B = 5, 3, 2, 1.5\n        inputs: [ends]\n        lambda: [2"
)
NOISY = "exponential-half-line]\n        epsilon: [0.2, 0.7, 1.5"
EDITS = [  # file, old text, new text
    (GORLA, *of("search-below-1", LAPLACE, BOTH)),
    (GORLA, RENYI + "]", RENYI + ", 3]"),
    (GORLA, *of("algorithm-4", LAPLACE, BOTH, before=PLANS["algorithm-4"])),
    (GORLA, *of("all-pairs", LAPLACE, BOTH, before=PLANS["all-pairs"])),
    (GORLA, *of("safety", LAPLACE, BOTH, before=PLANS["safety"])),
    (GORLA, *of("cells", LAPLACE, BOTH)),
    (GORLA, *of("finite", RESPONSE, RESPONSE.replace("two]", "two, all]"), before=PLANS["finite"])),
    (ASKIN, NOISY + "]", NOISY + ", 3]"),
    (LU, NM.format(2, 4, 0.3), NM.format(2, 4, "0.3, 0.6")),
    (LU, NM.format(1, 3, 0.3), NM.format(1, 3, "0.3, 0.6")),
    (
        LU,
        *of(
            "curves",
            "mechanism: [laplace, gaussian]\n        epsilon: [1]",
            "mechanism: [laplace, gaussian]\n        epsilon: [1, 0.5]",
        ),
    ),
    (
        MECHANISMS,
        "  claims: {support: [0.0, 1.0], lipschitz: exact}\n  inputs:\n    ends: [0.0, 1.0]\n\n",
        "  claims: {support: [0.0, 1.0], lipschitz: exact}\n  inputs:\n    ends: [0.0, 1.0]\n"
        "    grid-91: {from: 0.0, to: 1.0, points: 91}\n"
        "    midpoints-9: {from: 0.0, to: 1.0, points: 9, at: midpoints}\n\n",
    ),
]
SHOWN = {  # tables of these grids; the axis that varies now, and its further value
    "gorla2022/table3": ("mechanism", "truncated-gaussian"),
    "gorla2022/table5": ("lambda", "3"),
    "gorla2022/algorithm4": ("mechanism", "truncated-gaussian"),
    "gorla2022/table2": ("mechanism", "truncated-gaussian"),
    "gorla2022/fig4": ("mechanism", "truncated-gaussian"),
    "gorla2022/cells": ("mechanism", "truncated-gaussian"),
    "gorla2022/finite": ("inputs", "all"),
    "askin2022/fig4": ("epsilon", "3.0"),
    "lu2022/fig9c": ("epsilon", "0.6"),
    "lu2022/fig4a": ("epsilon", "0.5"),
}


def edited(folder: Path) -> Project:
    """Return a copy of the smoke scale with these edits, run again."""
    project = undisturbed(folder)
    for file, old, new in EDITS:
        project.replace(file, old, new)
    targets = [f"results/smoke/tables/{name}.csv" for name in SHOWN]
    figures = ["gorla2022/algorithm4", "gorla2022/fig4", "askin2022/fig4", "lu2022/fig9c"]
    targets += [f"results/smoke/figures/{name}.pdf" for name in [*figures, "lu2022/fig4a"]]
    targets += [f"results/smoke/latex/gorla2022/{name}.tex" for name in ("table2", "table3")]
    return done(project, "--config", "scale=smoke", "--", *targets)


@pytest.fixture(scope="module")
def again(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(build_once(edited, "edited", tmp_path_factory))


@pytest.mark.parametrize(("table", "added"), SHOWN.items())
def test_old_rows_stay_and_new_ones_are_told_apart(again: Project, finished: Project, table, added):
    path = f"results/smoke/tables/{table}.csv"
    old, new = (
        pd.read_csv(project.folder / path, dtype=str, keep_default_na=False)
        for project in (finished, again)
    )
    axis, further = added
    stays = new[axis] != further
    pd.testing.assert_frame_equal(new.loc[stays, list(old)].reset_index(drop=True), old)
    assert not stays.all()


def test_a_layout_says_which(again: Project):
    text = (again.folder / "results/smoke/latex/gorla2022/table2.tex").read_text()
    assert "truncated-laplace" in text
    assert "truncated-gaussian" in text
