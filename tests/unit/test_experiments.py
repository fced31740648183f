"""Every edit of docs/experiments.md: a study that is sound, or the one line that the page shows."""

import re
import sys
from pathlib import Path

import pytest

from epsilometer import testing
from epsilometer.errors import ConfigError
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration import functions
from epsilometer_workflow.products import sources
from epsilometer_workflow.products.checking import checked
from tests.following import PAGE, steps
from tests.products import all_products
from tests.unit.test_plugins import forget
from tests.unit.test_sources import REMEMBERED


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, function in REMEMBERED.items():
        monkeypatch.setattr(sources, name, function)
    monkeypatch.setattr(sys, "path", [*sys.path])
    forget()
    yield tmp_path / "mine"
    functions.look_in([])
    for name in ("ratings", "knn", "comparison", "comparison.figures"):
        sys.modules.pop(name, None)
    forget()


def said(file, old, new):
    """Return the line about a file after an edit, which is undone."""
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))
    for name in ("knn", "comparison.figures"):
        sys.modules.pop(name, None)
    forget()
    with pytest.raises(ConfigError) as refused:
        checked()
    Path(file).write_text(text)
    sys.modules.pop("knn", None)
    return str(refused.value)


def test_each_edit_is_sound_or_refused_in_the_line_of_the_page(folder, monkeypatch):
    lines, jobs = [], {}
    for section, _ in steps(folder):
        monkeypatch.chdir(folder)
        forget()
        try:
            study = checked()
        except ConfigError as error:
            lines.append(str(error))
        else:
            jobs[section] = len(list(all_products(study))) + 1  # and `all`
    for section, number in jobs.items():
        assert [int(n) for n in re.findall(r"(\d+) jobs", section)] in ([], [number]), section[:80]
    report = "config/reports/comparison.yaml"
    lines.append(said("code/knn.py", "SampleMethod):\n", 'SampleMethod):\n    reads = "sample"\n'))
    lines.append(
        said(report, "methods: {runs: 10, n: 2000}", "methods: {runs: 10, n: [2000, 4000]}")
    )
    shown = re.findall(r"^```\n(config/.*)\n```$", PAGE, re.MULTILINE)
    assert len(shown) == 3
    assert set(shown) <= set(lines)
    testing.check_mechanism(MECHANISMS.load("ratings.NoisyMean")(1.0), [[0, 0.5, 1], [1, 0.5, 1]])
    grid = checked().combinations("comparison", "methods")
    assert [len({getattr(c, key) for c in grid}) for key in ("epsilon", "order", "estimator")] == [
        3,
        2,
        6,
    ]
