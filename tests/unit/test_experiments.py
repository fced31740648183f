"""Every edit of docs/experiments.md: a study that is sound, or the one line that the page shows."""

import re
import sys
from pathlib import Path

import pytest

from epsilometer import testing
from epsilometer.errors import ConfigError
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration import functions
from epsilometer_workflow.products.checking import checked
from tests.following import PAGE, steps
from tests.products import all_products
from tests.unit.test_plugins import forget, jobs


@pytest.fixture
def folder(tmp_path, monkeypatch):
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


def test_an_edit_of_code_makes_again_what_uses_it(folder, monkeypatch):
    for _ in steps(folder):
        pass
    monkeypatch.chdir(folder)
    before = jobs()
    for file, old, new, kinds in (
        ("knn.py", "bias = 2", "bias = 3", {"answers", "estimates", "timings"}),
        ("ratings.py", "standard_t(3", "standard_t(4", {"samples", "timings"}),
        ("comparison/figures.py", "height=2.5", "height=3", {"figures"}),
    ):
        path = Path("code", file)
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        after = jobs()
        path.write_text(text)
        changed = {job for job in before if before[job] != after[job]}
        assert {job.split("/")[2] for job in changed} - {"comparison.html"} == kinds, file
        assert all("comparison" in job or "ratings" in job for job in changed)


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
    checked("config", {"scale": "paper"})
    grid = checked().combinations("comparison", "methods")
    assert [len({getattr(c, key) for c in grid}) for key in ("epsilon", "order", "estimator")] == [
        3,
        2,
        6,
    ]
