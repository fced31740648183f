"""Captions say what the grid says."""

from pathlib import Path

import pytest

from epsilometer.errors import ArgumentError
from epsilometer.settings.models import parse
from epsilometer_workflow.configuration.config import Artifact
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products import captions
from epsilometer_workflow.products.reports import Table

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


STUDIES = [folder.parent for folder in Path("studies").glob("*/config/reports")]


@pytest.mark.parametrize("config", [Path("config"), *sorted(STUDIES)], ids=str)
def test_every_caption_of_the_studies_is_a_template(config):
    """Of all scales and artifacts: none says a value that its grid could contradict."""
    for scale in ("smoke", "quick", "paper"):
        made = Study(config.resolve(), {"scale": scale})
        for report, entry in made.reports.items():
            for artifact in entry.artifacts:
                assert Table(made, report, artifact).caption
