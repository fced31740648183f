"""All claims of a case are audited on the same draws, as if each were audited alone."""

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import MechanismError
from epsilometer_audit.grids import verdicts
from epsilometer_audit.sources.callables import load

MODULE = """
import numpy as np

def laplace(x, size, rng, scale=1.0):
    return sum(x) + rng.laplace(0, scale, size)

def words(x, rng):
    u = rng.random()
    if u < 0.1:
        return None
    if u < 0.2:
        return float("nan")
    if u < 0.3:
        return ("a", 1, {"k": 2.5, 3: b"bytes"})
    if u < 0.4:
        raise KeyError("x")
    return "yes" if rng.random() < (0.7 if sum(x) else 0.4) else "no"

def vector(x, size, rng):
    return np.asarray(x) + rng.laplace(0, 1, (size, len(x)))

def stuck(x, size, rng):
    return sum(x) + np.random.default_rng(7).laplace(0, 1, size)

def raises(x, rng):
    raise ValueError("no budget\\nleft")
"""
PAIRS = [["first", [0, 0], [0, 1]], ["second", [0], [1]], ["third", [1, 1], [0, 1]]]


def spec_of(function="laplace", claims=({"epsilon": 1.0},), pairs=PAIRS, **changed):
    """Return the spec of a case."""
    return {
        **{"mechanism": {"function": f"own.py:{function}"}, "pairs": {"pairs": list(pairs)}},
        **{"samples": 2000, "method": None, "failures": False, "timeout": 60.0, "given": {}},
        **{"as_reals": False, "audit_seed": 5, "alpha": 0.05, "explain": False},
        "claims": [{"claim": claim, "detect": None} for claim in claims],
        **changed,
    }


@pytest.fixture
def audited(tmp_path):
    """Return a function that audits all claims about a mechanism, and returns the verdicts."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(MODULE)

    def run(spec):
        return [v.to_plain() for v in verdicts.audited(spec, str(folder), lambda _: None)]

    run.folder = folder
    return run


@pytest.mark.parametrize(
    ("function", "claims"),
    [
        ("laplace", [{"epsilon": 0.2}, {"gdp": 0.3}]),
        ("words", [{"epsilon": 0.2}]),
        ("vector", [{"renyi": [[2.0, 0.1]]}]),
    ],
)
def test_the_verdict_is_that_of_an_audit_of_the_mechanism(audited, function, claims):
    spec = spec_of(function, claims, failures=function == "words", samples=1000)
    source = load(f"own.py:{function}", folder=audited.folder, failures=spec["failures"])
    for claim, answer in zip(claims, audited(spec), strict=True):
        live = ea.audit(
            source,
            {name: (x, y) for name, x, y in PAIRS},
            verdicts.claim_of(claim),
            samples=1000,
            seed=5,
        ).to_plain()
        for key in ("verdict", "bound", "bounds", "witness", "pair", "direction", "name"):
            assert answer[key] == live[key], key
        for key in ("detectable", "p_value", "draws", "outputs", "source", "checks"):
            assert answer[key] == live[key], key
        assert answer["provenance"]["made of"] == source.digest()


class Counting:
    """A source that counts its calls, and fails at one of them."""

    description, seeded = "counts", True

    def __init__(self, fails_at=None):
        self.calls, self.fails_at = 0, fails_at

    def draw(self, x, size, seed):
        self.calls += 1
        if self.calls == self.fails_at:
            raise MechanismError("no more")
        return np.random.default_rng(self.calls).laplace(x, 1, size).round()

    def digest(self):
        return {}

    def close(self):
        pass


@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[1:2]])
def test_claims_share_draws_that_follow_no_seed(audited, monkeypatch, pairs):
    """Claims that follow the same pairs take as many draws as one of them."""
    sources = []

    def counting(*_):
        sources.append(Counting())
        return sources[-1]

    monkeypatch.setattr(verdicts, "source_of", counting)
    pairs = [[name, float(i), float(i + 1)] for i, (name, *_) in enumerate(pairs)]
    claims = [{"epsilon": 0.5}, {"epsilon": 0.5, "delta": 1e-9}, {"epsilon": 0.500001}]
    answers = audited(spec_of(claims=claims, pairs=pairs))
    assert [answer["draws"] for answer in answers] == [2000] * 3
    audited(spec_of(claims=claims[:1], pairs=pairs))
    assert sources[0].calls == sources[1].calls


def test_a_claim_that_cannot_be_audited_fails_alone(audited):
    claims = [{"epsilon": 1.0}, {"zcdp": 0.5}, {"epsilon": 3.0}]
    answers = audited(spec_of(claims=claims, method="exact", as_reals=True))
    assert [answer["verdict"] for answer in answers] == ["not refuted", "failed", "not refuted"]
    assert "method exact cannot be used with zcdp" in answers[1]["reasons"][0]
    assert [answer["claimed"][:3] for answer in answers] == ["eps", "rho", "eps"]
    assert answers[0]["seconds"] > 0


@pytest.mark.parametrize(
    ("changed", "word", "message"),
    [
        ({"function": "raises"}, "failed", "own.py:raises: ValueError: no budget left (own.py:"),
        ({"function": "stuck"}, "invalid", "a constant seed inside"),
        ({"function": "lapalce"}, "failed", "own.py has no function 'lapalce'; did you mean 'lap"),
        ({"given": {"skale": 1}}, "failed", "takes no parameter 'skale'; did you mean 'scale'?"),
        ({"mechanism": {"command": "./gone"}}, "failed", "command './gone' is not there"),
        (
            {"mechanism": {"python": "gone", "function": "own.py:laplace"}},
            "failed",
            "'gone' is not a program",
        ),
        ({"mechanism": {"outputs": ["gone.csv"], "columns": None}}, "failed", "gone.csv is not th"),
    ],
)
def test_the_failure_of_a_mechanism_takes_the_place_of_its_verdict(audited, changed, word, message):
    claims = [{"epsilon": 1.0}, {"gdp": 1.0}]
    spec = spec_of(changed.pop("function", "laplace"), claims) | changed
    for answer in audited(spec):
        assert answer["verdict"] == word
        (reason,) = [reason for reason in answer["reasons"] if message in reason]
        assert "\n" not in reason
        assert answer["bound"] is None
