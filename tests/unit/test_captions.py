"""Captions say what the grid says; printed numbers join the rows of their own identity."""

import re
from pathlib import Path

import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.settings.models import parse
from epsilometer_workflow.configuration.config import Artifact
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import PaperNumbers
from epsilometer_workflow.products import captions
from epsilometer_workflow.products.reports import Table
from epsilometer_workflow.stages.tabulate import join_paper

GRID = [
    {"mechanism": m, "epsilon": epsilon, "inputs": "ends", "lambda": "2", "n": 5000, "fresh": 0}
    for m in ("laplace", "gaussian")
    for epsilon in (0.3, 1.0, 2.0)
]


def filled(caption, **options):
    artifact = {"caption": caption, "table": {"builder": "any", "options": options}}
    made = parse(Artifact, artifact, "here")
    return captions.filled(made, [captions.Shown(axes, {"gamma": 0.5}) for axes in GRID])


@pytest.mark.parametrize(
    ("caption", "options", "text"),
    [
        ("At {epsilon}.", {}, "At epsilon from 0.3 to 2. In all: ends, lambda = 2, n = 5,000."),
        (
            "{mechanism}, {n}.",
            {"epsilon": 1},
            "laplace, gaussian, n = 5,000. In all: epsilon = 1, ",
        ),
        ("{mechanism}: {gamma}", {"panels": {"laplace": "L"}}, "laplace: gamma = 0.5 In all: ends"),
        ("{delta} in {0, 1}, epsilon' = 1", {"delta": 0.1}, "delta = 0.1 in {0, 1}, epsilon' = 1"),
    ],
)
def test_a_caption_is_filled_from_the_grid(caption, options, text):
    assert filled(caption, **options).startswith(text)


@pytest.mark.parametrize(
    ("caption", "message"),
    [
        ("At epsilon = 1.", "caption says 'epsilon = 1.'; write {epsilon}, for what the grid says"),
        ("At {epsilom}.", "caption has {epsilom}, which is none; did you mean 'epsilon'?"),
    ],
)
def test_a_caption_cannot_say_what_the_grid_does_not(caption, message):
    with pytest.raises(ArgumentError) as refused:
        filled(caption)
    assert str(refused.value) == message


def test_printed_numbers_join_the_rows_of_their_identity():
    ours = pd.DataFrame({"mechanism": ["a", "b"], "gamma": [0.5, 0.5], "n": [4, 6]})
    paper = PaperNumbers(keys=["gamma"], columns=["gamma", "n"], rows=[[0.5, 5]])
    with pytest.raises(ConfigError) as refused:
        join_paper(ours, paper, Place("file", "key"))
    assert str(refused.value) == (
        "file: key.keys: 2 rows of the table have gamma=0.5 (mechanism: a, b; n: 4, 6); say "
        "which in paper.of"
    )
    of_b = paper.model_copy(update={"of": {"mechanism": "b"}})
    joined = join_paper(ours, of_b, Place("file", "key"))
    assert joined["paper_n"].isna().tolist() == [True, False]


@pytest.mark.parametrize("study", ["config", *sorted(map(str, Path("studies").glob("*/config")))])
def test_every_caption_of_the_studies_is_a_template(study):
    """Of all scales and artifacts: none says a value that its grid could contradict."""
    folder = Path(study).resolve()
    if not (folder / "reports").is_dir():
        return
    for scale in ("smoke", "quick", "paper"):
        made = Study(folder, {"scale": scale})
        for report, entry in made.reports.items():
            for artifact in entry.artifacts:
                assert "{" not in re.sub(r"\{[0-9]", "", Table(made, report, artifact).caption)
