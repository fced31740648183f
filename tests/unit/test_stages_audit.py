"""All claims of a case are audited in a job on the same draws, as if each were audited alone."""

import json

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer import __version__
from epsilometer.errors import DataError, MechanismError
from epsilometer_audit.grids import verdicts
from epsilometer_audit.sources.callables import load
from epsilometer_workflow.files.storage import read_columns
from epsilometer_workflow.stages import audit, conclude

MODULE = """
import ctypes, random
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

def whole(x, size, rng):
    return sum(x) + rng.integers(0, 9, size)

def own_state(x):
    return sum(x) + random.gauss(0, 1) + np.random.laplace()

def stuck(x, size, rng):
    return sum(x) + np.random.default_rng(7).laplace(0, 1, size)

def raises(x, rng):
    raise ValueError("no budget\\nleft")
"""
PAIRS = [["first", [0, 0], [0, 1]], ["second", [0], [1]], ["third", [1, 1], [0, 1]]]
COMMON = {"seed": 1, "scale": "smoke", "version": __version__}


def spec_of(function="laplace", claims=({"epsilon": 1.0},), pairs=PAIRS, **changed):
    """Return the spec of a job of a case."""
    return COMMON | {
        **{"audits": "a", "entry": "e", "set": "s", "arguments": {}, "given": {}},
        **{"mechanism": {"function": f"own.py:{function}"}, "pairs": {"pairs": list(pairs)}},
        **{"samples": 2000, "method": None, "failures": False, "timeout": 60.0},
        **{"as_reals": False, "outcomes": None, "support": None, "lipschitz": None},
        **{"guesses": None, "audit_seed": 5, "alpha": 0.05, "explain": False},
        "claims": [{"claim": claim, "detect": None} for claim in claims],
        **changed,
    }


def verdicts_of(file, spec, made_of="of nothing"):
    """Return the verdicts that a job wrote, in the order of the claims."""
    columns = read_columns(file, "verdict", {**spec, "made_of": made_of})
    answers = [json.loads(text) for text in columns["json"]]
    assert [answer["verdict"] for answer in answers] == list(columns["verdict"])
    assert [answer["claimed"] for answer in answers] == list(columns["claimed"])
    return answers


@pytest.fixture
def audited(tmp_path, monkeypatch):
    """Return a function that audits all claims about a mechanism, and returns the verdicts.

    Its pages are without pictures, which take as long as the audit; test_cli.py looks at these.
    """
    monkeypatch.setattr("epsilometer_audit.rendering.page.image", lambda *_: "")
    folder, file, page = (tmp_path / name for name in ("own", "case.parquet", "case.html"))
    folder.mkdir()
    (folder / "own.py").write_text(MODULE)

    def run(spec, environment=None):
        arguments = (spec, "of nothing", str(folder), "again")
        audit.run(str(file), str(page), *arguments, lambda _: None, environment)
        text = page.read_text()
        assert text.startswith("<!DOCTYPE html>")
        answers = verdicts_of(str(file), spec)
        assert text.count("<h1 id=") in (0, len(answers))
        return answers

    run.folder, run.file, run.page = folder, file, page
    return run


@pytest.mark.parametrize(
    ("function", "claims"),
    [
        ("laplace", [{"epsilon": 0.2}, {"gdp": 0.3}]),
        ("words", [{"epsilon": 0.2}]),
        ("vector", [{"renyi": [[2.0, 0.1]]}]),
        ("whole", [{"renyi": [[2.0, 0.1]]}]),
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
        assert answer["replay"] == "again"


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


def test_equal_requests_get_the_same_draws():
    source = Counting()
    remembered = verdicts.Remembered(source)
    x, y = 1000, 2000
    first = remembered.draw(x, 5, 7)
    assert remembered.draw(x, 5, 7) is first
    others = [remembered.draw(*call) for call in ((y, 5, 7), (x, 6, 7), (x, 5, 8))]
    assert all(not np.array_equal(first, other) for other in others)
    assert source.calls == 4


def test_a_mechanism_that_failed_is_not_called_again():
    source = Counting(fails_at=2)
    remembered = verdicts.Remembered(source)
    remembered.draw(0, 5, 7)
    for _ in range(2):
        with pytest.raises(MechanismError, match="no more"):
            remembered.draw(0, 5, 8)
    assert source.calls == 2


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


def test_draws_follow_the_seed_of_a_mechanism_that_takes_none(audited):
    def counts(**changed):
        (answer,) = audited(spec_of("own_state", pairs=PAIRS[:1], **changed))
        return answer["witness"]

    assert counts() == counts() != counts(audit_seed=6)


@pytest.mark.parametrize(
    ("changed", "word", "message"),
    [
        ({"function": "raises"}, "failed", "own.py:raises: ValueError: no budget left (own.py:"),
        ({"function": "stuck"}, "invalid", "a constant seed inside"),
        ({"function": "lapalce"}, "failed", "own.py has no function 'lapalce'; did you mean 'lap"),
        ({"given": {"skale": 1}}, "failed", "takes no parameter 'skale'; did you mean 'scale'?"),
        ({"mechanism": {"function": "gone.py:f"}}, "failed", "gone.py is not there"),
        ({"mechanism": {"command": "./gone"}}, "failed", "command './gone' is not there"),
        (
            {"mechanism": {"python": "gone", "function": "own.py:laplace"}},
            "failed",
            "'gone' is not a program",
        ),
        ({"mechanism": {"outputs": ["gone.csv"], "columns": None}}, "failed", "gone.csv is not th"),
        ({"pairs": {"remove": "gone.csv", "limit": 3}}, "failed", "gone.csv is not there"),
        ({"samples": 30}, "failed", "samples must be at least"),
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


def test_recorded_outputs_are_audited(audited):
    rng = np.random.default_rng(3)
    recorded = {"x": rng.normal(0, 1, 3000), "y": rng.normal(0.7, 1, 3000)}
    np.save(audited.folder / "both.npy", np.stack(list(recorded.values())))
    place = {"outputs": ["both.npy"], "columns": None}
    answer, other = audited(
        spec_of(claims=[{"epsilon": 0.5}, {"zcdp": 1.0}], mechanism=place) | {"pairs": None}
    )
    assert (other["verdict"], other["method"]) == ("not refuted", "anytime")
    live = ea.audit_outputs(tuple(recorded.values()), ea.pure(0.5), seed=5).to_plain()
    for key in ("verdict", "bounds", "witness", "detectable", "draws", "method", "checks"):
        assert answer[key] == live[key], key
    assert answer["verdict"] == "violated"
    assert answer["source"] == "recorded in both.npy"
    assert list(answer["provenance"]["made of"]) == ["both.npy"]


def test_a_job_that_was_stopped_leaves_its_cause(tmp_path):
    spec, file = spec_of(claims=[{"epsilon": 1.0}, {"gdp": 1.0}]), str(tmp_path / "case.parquet")
    cause = "crashed: Segmentation fault (signal 11)"
    audit.write_failure(file, str(tmp_path / "case.html"), spec, "of nothing", cause)
    answers = verdicts_of(file, spec)
    assert [(answer["verdict"], answer["draws"]) for answer in answers] == [("failed", 0)] * 2
    assert [answer["reasons"] for answer in answers] == [[cause]] * 2


def test_a_page_that_cannot_be_drawn_costs_no_verdict(audited, monkeypatch):
    def broken(*_):
        raise ValueError("no figure")

    monkeypatch.setattr("epsilometer_audit.rendering.page.image", broken)
    (answer,) = audited(spec_of(as_reals=True))
    assert answer["verdict"] == "not refuted"
    assert "<pre>NOT REFUTED" in audited.page.read_text()


def test_long_inputs_are_kept_in_words(audited):
    pairs = [["long", [0] * 300, [0] * 299 + [1]]]
    (answer,) = audited(spec_of(pairs=pairs, claims=[{"epsilon": 0.1}]))
    assert all(len(x) <= 400 and x.endswith("...]") for x in answer["pair"])


def test_outputs_may_stand_for_reals(audited):
    for as_reals, verdict in ((False, "violated"), (True, "not refuted")):
        (answer,) = audited(spec_of(as_reals=as_reals, claims=[{"epsilon": 1.1}]))
        assert answer["verdict"] == verdict
        assert ("--as-reals" in str(answer["witness"]["note"])) == (not as_reals)


def test_a_violated_verdict_has_its_cause_if_requested(audited):
    (answer,) = audited(spec_of("laplace", [{"epsilon": 0.01}], explain=True))
    assert answer["verdict"] == "violated"
    assert "own.py" in conclude.cause(answer["cause"])
    (answer,) = audited(spec_of("laplace", [{"epsilon": 0.01}]))
    assert conclude.cause(answer["cause"]) is None


def test_verdicts_of_another_spec_are_refused(audited):
    audited(spec_of())
    with pytest.raises(DataError, match="is stale: samples is 2000, not 3000"):
        verdicts_of(str(audited.file), spec_of(samples=3000))
    with pytest.raises(DataError, match="is stale: made_of"):
        verdicts_of(str(audited.file), spec_of(), "of something else")
