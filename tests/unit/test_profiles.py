"""A claim may be a privacy profile or a trade-off curve: one audit, and the failing point."""

import json
import math

import numpy as np
import pytest
from scipy.stats import norm

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.cli.main import main
from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.statistics.claims import gaussian_deltas
from tests.unit.audits import audited, seldom


def gaussian(x, size, rng):
    return x + rng.normal(0, 1, size)


def response(x, size, rng):
    """Randomised response: epsilon is 1, and delta at 0 is .462."""
    return (rng.random(size) < 1 / (1 + math.e)) != x


def delta_of(mu):
    return lambda epsilon: float(gaussian_deltas(np.array([epsilon]), mu)[0])


def beta_of(mu):
    return lambda alpha: float(norm.cdf(norm.isf(alpha) - mu))


CURVES = {  # a claim that just holds, by mechanism
    "profile": (response, ea.profile({0: math.tanh(0.5), 0.5: 0.2891, 1: 0})),
    "tradeoff": (gaussian, ea.tradeoff({0.1: beta_of(1.0)(0.1), 0.3: beta_of(1.0)(0.3)})),
}


@pytest.mark.parametrize("name", CURVES)
def test_a_curve_that_holds_is_refuted_with_probability_alpha_at_most(name):
    mechanism, claim = CURVES[name]

    def wrong(seed):
        return audited(mechanism, claim, 400, seed, alpha=0.1).verdict == "violated"

    assert seldom(wrong, 0.1)


@pytest.mark.parametrize(
    ("mechanism", "claim", "delta"),
    [
        (response, ea.profile({0: 0.3, 1: 0.01, 2: 0}), 0.3),
        (response, ea.profile({0: 0.47, 0.8: 0.02, 1: 0}), 0.02),
        (gaussian, ea.profile({0: 0.39, 2: 1e-3}), 1e-3),
    ],
)
def test_the_point_that_fails_is_named(mechanism, claim, delta):
    verdict = audited(mechanism, claim, 20_000, 0)
    assert verdict.verdict == "violated"
    assert f"epsilon at delta = {delta:g} is at least" in str(verdict).partition("\n")[0]
    assert verdict.worst.delta == delta
    assert [bound.claimed for bound in verdict.bounds] == [c.epsilon for c in claim.claims]


@pytest.mark.parametrize("claim", [ea.profile(delta_of(0.5)), ea.tradeoff(beta_of(0.5))])
def test_a_function_may_be_an_accountants(claim):
    assert audited(gaussian, claim, 10_000, 0).verdict == "violated"
    for point in claim.claims:  # it claims a little less than the function
        assert 1 - 1e-6 <= point.delta / delta_of(0.5)(point.epsilon) <= 1.15


def test_a_table_of_errors_claims_no_more_than_its_points():
    """The curve from (0, 1) over the points to (1, 0) is that of a mechanism that keeps them."""
    points = {0.0: 1.0, 0.05: 0.9, 0.5: 0.4, 1.0: 0.0}
    for point in ea.tradeoff({0.05: 0.9, 0.5: 0.4}).claims:
        scale = math.exp(point.epsilon)
        assert point.delta >= max(1 - b - scale * a for a, b in points.items()) - 1e-9


def test_points_that_lie_close_stay_apart_in_json():
    profile = ea.profile({1.0: 0.2, 1 + 1e-7: 0.1}).to_plain()
    renyi = ea.renyi({2.0: 0.3, 2 + 1e-9: 0.4}).to_plain()
    assert list(profile["deltas"].items()) == [("1", 0.2), ("1.0000001", 0.1)]
    assert list(renyi["orders"]) == ["2", "2.000000001"]


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (lambda: ea.profile({}), "profile must have 1 to 20 points"),
        (lambda: ea.profile({1: 1.0}), "delta must lie in"),
        (lambda: ea.profile({-1: 0.1}), "epsilon must lie in"),
        (lambda: ea.tradeoff({0.5: 2}), "tradeoff must map errors"),
    ],
)
def test_mistakes_are_named(curve, message):
    with pytest.raises(ArgumentError, match=message):
        curve()
    with pytest.raises(ArgumentError, match="cannot be used with"):
        audited(gaussian, ea.profile({1: 0.1}), 500, 0, method="exact")


def test_the_command_and_files_of_audits_take_curves(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(
        "def f(x, size, rng):\n    return x + rng.normal(0, 1, size)\n"
    )
    (tmp_path / "p.csv").write_text("epsilon,delta\n0,.3\n2,.5\n")
    (tmp_path / "t.csv").write_text("alpha,beta\n.1,.8\n.2,.7\n")
    few = ["--pair", "0", "1", "--samples", "4000", "--no-checks", "--as-reals", "--quiet"]
    for name, first in (("p.csv", 0.3), ("t.csv", 0.337)):
        assert main(["audit", "own.py:f", *few, "--profile", name, "--json", "-"]) == 1
        verdict = json.loads(capsys.readouterr().out)
        assert next(iter(verdict["claim"]["deltas"].values())) == pytest.approx(first, abs=0.02)
        assert name in verdict["provenance"]["made of"]
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    assert main(["audit", "own.py:f", *few, "--profile", "x.csv"]) == 2
    assert "must be CSV of two columns of numbers" in capsys.readouterr().err
    entry = (
        "audits: {a: {mechanism: 'own.py:f', pairs: [[0, 1]], claims: [{profile: {1: .1, 0: .4}}]}}"
    )
    (tmp_path / "a.yaml").write_text(entry)
    (case,) = Audits(tmp_path / "a.yaml", "").all_cases()
    assert case.spec["claims"][0]["claim"] == {"profile": [[0.0, 0.4], [1.0, 0.1]]}
