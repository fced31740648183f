"""Verdicts in a notebook: a table with its figure, `plot`, and a bar of progress."""

import sys
import types

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.rendering import progress
from epsilometer_audit.verdict import Verdict

RNG = np.random.default_rng(1)
OUTPUTS = RNG.integers(0, 5, 400), RNG.integers(1, 6, 400)
VERDICTS = {
    "anytime": lambda: ea.audit_outputs(OUTPUTS, ea.renyi({2: 0.1, 4: 5.0}), as_reals=True),
    "exact": lambda: ea.audit_outputs(OUTPUTS, ea.gdp(0.1), method="exact"),
}


@pytest.mark.parametrize("kind", VERDICTS)
def test_a_verdict_is_a_table_with_its_figure(kind, monkeypatch):
    from matplotlib import pyplot

    verdict = VERDICTS[kind]()
    ax = verdict.plot()
    assert ax.get_ylabel() == ("log10 of the e-value" if kind == "anytime" else "")
    assert verdict.plot(ax) is ax
    pyplot.close(ax.figure)
    page = verdict._repr_html_()
    assert page.count("<tr>") == len(verdict.lines()) - 1
    assert "&lt;" in page or "<=" not in str(verdict)
    assert 'src="data:image/svg+xml;base64,' in page
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "<img" not in verdict._repr_html_()


def test_a_verdict_without_a_figure_says_so():
    verdict = Verdict("invalid", {"notion": "pure"}, "epsilon = 1 <b>", 0.05, "exact")
    assert "<img" not in verdict._repr_html_()
    assert "<b>" not in verdict._repr_html_()
    with pytest.raises(ArgumentError, match="plot needs a verdict with evidence or a witness"):
        verdict.plot()


def test_only_a_notebook_shows_a_bar_and_only_if_it_lasts(monkeypatch, capsys):
    def tell(part: float, line: str) -> None: ...

    for name in ("rich", "ipywidgets", "ipykernel"):
        with progress.shown(None) as shown:
            assert shown is progress.no_progress
        if name != "rich":
            module = types.ModuleType(name)
            module.__spec__ = types.SimpleNamespace()
            monkeypatch.setitem(sys.modules, name, module)
    with progress.shown(tell) as shown:
        assert shown is tell
    for pause in (60.0, 0.0):
        monkeypatch.setattr(progress, "_PAUSE", pause)
        with progress.shown(None) as shown:
            shown(0.25, "[b]half[/b] of the draws")
            shown(0.5, "[b]half[/b] of the draws")
            assert (shown._bar is None) == (pause > 0)
            assert pause or shown._bar.tasks[0].completed == 0.5
    capsys.readouterr()


@pytest.mark.parametrize("method", ["start", "stop"])
def test_a_bar_that_cannot_be_shown_ends_no_audit(monkeypatch, method):
    bars = pytest.importorskip("rich.progress")
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    monkeypatch.setattr(bars.Progress, method, lambda _: 1 / 0)
    bar = progress._Bar()
    bar(0.5, "half")
    bar.end()
