"""Draws are kept as they are, and an audit that is played them again says what it said."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import epsilometer as em
from epsilometer.audit.sources import Failure, load
from epsilometer.audit.words import Other
from epsilometer.errors import DataError
from epsilometer.stages import audit, draw
from epsilometer.storage import read_columns, read_draws

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
COMMON = {"seed": 1, "scale": "smoke", "version": em.__version__}


def spec_of(function="laplace", claims=({"epsilon": 1.0},), pairs=PAIRS, **changed):
    """Return what a job of draws is told."""
    return COMMON | {
        **{"audits": "a", "entry": "e", "set": "s", "arguments": {}, "given": {}},
        **{"mechanism": {"function": f"own.py:{function}"}, "pairs": {"pairs": list(pairs)}},
        **{"samples": 2000, "method": None, "failures": False, "timeout": 60.0},
        **{"as_reals": False},
        **{"audit_seed": 5, "claims": list(claims), "alpha": 0.05},
        **changed,
    }


def verdict_of(drawn, claim, draws, tmp_path, **changed):
    """Return what the job of one claim makes of draws."""
    spec = COMMON | {"claim": claim, "detect": None, "alpha": drawn["alpha"], "outcomes": None}
    spec |= {"support": None, "lipschitz": None, "draws": drawn, **changed}
    made, page = str(tmp_path / "verdict.parquet"), str(tmp_path / "verdict.html")
    audit.run(draws, made, page, spec, "again", lambda _: None)
    assert Path(page).read_text().startswith("<!DOCTYPE html>")
    return json.loads(read_columns(made, "verdict", spec)["json"][0])


@pytest.fixture
def drawn(tmp_path):
    """Return what draws, in a folder with mechanisms, and gives the file."""
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "own.py").write_text(MODULE)

    def run(spec):
        output = str(tmp_path / "draws.parquet")
        draw.run(output, spec, "of nothing", str(folder), lambda _: None)
        return output

    run.folder = folder
    return run


@pytest.mark.parametrize("function", ["laplace", "words", "vector", "whole"])
@pytest.mark.parametrize("claims", [[{"epsilon": 0.2}, {"gdp": 0.3}], [{"renyi": [[2.0, 0.1]]}]])
def test_the_verdict_is_that_of_an_audit_of_the_mechanism(drawn, tmp_path, function, claims):
    spec = spec_of(function, claims, failures=function == "words")
    draws = drawn(spec)
    source = load(f"own.py:{function}", folder=drawn.folder, failures=spec["failures"])
    for claim in claims:
        found = verdict_of(spec, claim, draws, tmp_path)
        live = em.audit(
            source,
            {name: (x, y) for name, x, y in PAIRS},
            draw.claim_of(claim),
            samples=2000,
            seed=5,
        ).to_plain()
        for key in ("verdict", "bound", "bounds", "witness", "pair", "direction", "name"):
            assert found[key] == live[key], key
        for key in ("detectable", "p_value", "draws", "outputs", "estimates", "source", "checks"):
            assert found[key] == live[key], key
        assert found["provenance"]["made of"] == source.digest()
        assert found["replay"] == "again"


def test_claims_share_draws_and_pairs_are_followed_as_they_ask(drawn):
    few = spec_of(claims=[{"epsilon": 1.0}])
    _, one = read_draws(drawn(few), few)
    more = spec_of(claims=[{"epsilon": 1.0}, {"gdp": 1.0}, {"zcdp": 0.5}])
    _, all_of_them = read_draws(drawn(more), more)
    held = {(pair, side, len(out)): out for pair, side, out in all_of_them}
    assert all(np.array_equal(held[pair, side, len(out)], out) for pair, side, out in one)
    sizes = [sum(len(out) for p, s, out in one if (p, s) == (pair, 0)) for pair in range(3)]
    assert max(sizes) > 3 * min(sizes)  # the hopeless are dropped
    assert sum(sizes) <= 2000


def test_a_file_of_draws_has_a_row_an_output(drawn):
    spec = spec_of("vector", pairs=PAIRS[:1])
    file = pq.ParquetFile(drawn(spec))
    assert file.schema_arrow.names == ["pair", "side", "output"]
    table = file.read().to_pandas()
    assert len(table) == 2 * 2000
    assert set(table["side"]) == {0, 1}
    assert {len(output) for output in table["output"]} == {2}
    words = spec_of("words", failures=True)
    table = pq.read_table(drawn(words)).to_pandas()
    assert {'"yes"', '"no"', "null", "NaN", '{"$failure": "KeyError"}'} < set(table["output"])


def test_draws_follow_the_seed_of_a_mechanism_that_takes_none(drawn):
    spec = spec_of("own_state", pairs=PAIRS[:1])
    first, second = ([b[2] for b in read_draws(drawn(spec), spec)[1]] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    other = spec_of("own_state", pairs=PAIRS[:1], audit_seed=6)
    assert not np.array_equal(first[0], read_draws(drawn(other), other)[1][0][2])


@pytest.mark.parametrize(
    ("changed", "word", "message"),
    [
        ({"function": "raises"}, "failed", "own.py:raises: ValueError: no budget left (own.py:"),
        ({"function": "stuck"}, "invalid", "a constant seed inside"),
        ({"function": "lapalce"}, "failed", "own.py has no function 'lapalce'; did you mean 'lap"),
        ({"given": {"skale": 1}}, "failed", "takes no parameter 'skale'; did you mean 'scale'?"),
        ({"mechanism": {"function": "gone.py:f"}}, "failed", "gone.py is not there"),
        ({"mechanism": {"command": "./gone"}}, "failed", "command './gone' is not there"),
        ({"mechanism": {"python": "gone", "function": "own.py:laplace"}}, "failed", "'gone' is no"),
        ({"mechanism": {"outputs": ["gone.csv"], "columns": None}}, "failed", "gone.csv is not th"),
        ({"pairs": {"remove": "gone.csv", "limit": 3}}, "failed", "gone.csv is not there"),
        ({"samples": 30}, "failed", "samples must be at least"),
    ],
)
def test_what_is_wrong_with_a_mechanism_takes_the_place_of_its_verdict(
    drawn, tmp_path, changed, word, message
):
    function = changed.pop("function", "laplace")
    spec = spec_of(function) | changed
    found = verdict_of(spec, {"epsilon": 1.0}, drawn(spec), tmp_path)
    assert found["verdict"] == word
    (reason,) = [reason for reason in found["reasons"] if message in reason]
    assert "\n" not in reason
    assert found["bound"] is None


def test_recorded_outputs_are_read_once(drawn, tmp_path):
    rng = np.random.default_rng(3)
    recorded = {"x": rng.normal(0, 1, 3000), "y": rng.normal(0.7, 1, 3000)}
    np.save(drawn.folder / "both.npy", np.stack(list(recorded.values())))
    place = {"outputs": ["both.npy"], "columns": None}
    spec = spec_of(mechanism=place) | {"pairs": None}
    found = verdict_of(spec, {"epsilon": 0.5}, drawn(spec), tmp_path)
    live = em.audit_outputs(tuple(recorded.values()), em.pure(0.5), seed=5).to_plain()
    for key in ("verdict", "bounds", "witness", "detectable", "draws", "method", "checks"):
        assert found[key] == live[key], key
    assert found["verdict"] == "violated"
    assert found["source"] == "recorded in both.npy"
    assert list(found["provenance"]["made of"]) == ["both.npy"]


def test_a_job_that_was_stopped_leaves_its_cause(tmp_path):
    spec, path = spec_of(), str(tmp_path / "draws.parquet")
    draw.write_failure(path, spec, "of nothing", "took longer than its limit of 3 minutes")
    found = verdict_of(spec, {"epsilon": 1.0}, path, tmp_path)
    assert (found["verdict"], found["draws"]) == ("failed", 0)
    assert found["reasons"] == ["took longer than its limit of 3 minutes"]


def test_a_page_that_cannot_be_drawn_costs_no_verdict(drawn, tmp_path, monkeypatch):
    def broken(found, claim):
        raise ValueError("no figure")

    monkeypatch.setattr(audit, "html_of", broken)
    spec = spec_of(as_reals=True)
    found = verdict_of(spec, {"epsilon": 1.0}, drawn(spec), tmp_path)
    assert found["verdict"] == "not refuted"
    assert "<pre>NOT REFUTED" in (tmp_path / "verdict.html").read_text()


def test_outputs_may_stand_for_reals(drawn, tmp_path):
    for as_reals, verdict in ((False, "violated"), (True, "not refuted")):
        spec = spec_of(as_reals=as_reals)
        found = verdict_of(spec, {"epsilon": 1.1}, drawn(spec), tmp_path)
        assert found["verdict"] == verdict
        assert ("--as-reals" in str(found["witness"]["note"])) == (not as_reals)


def test_draws_of_another_spec_are_refused(drawn, tmp_path):
    draws = drawn(spec_of())
    with pytest.raises(DataError, match="is stale: samples is 2000, not 3000"):
        verdict_of(spec_of(samples=3000), {"epsilon": 1.0}, draws, tmp_path)


def test_a_tape_has_no_more_than_is_on_it():
    tape = draw.Tape(batches=[(0, 0, np.zeros(3))])
    side = draw.Side(0, 0)
    assert tape.draw(side, 3, seed=1).tolist() == [0, 0, 0]
    with pytest.raises(DataError, match="fewer than are asked for"):
        tape.draw(side, 3, seed=1)


@pytest.mark.parametrize(
    ("batches", "kind"),
    [
        ([np.array([0.5, np.nan]), np.array([np.inf])], np.float64),
        ([np.array([0.5], np.float32), np.array([2**53])], np.float64),
        ([np.array([0.5]), np.array([2**53 + 1])], str),
        ([np.array([1, 2], np.uint8), np.array([-(2**63)])], np.int64),
        ([np.array([True]), np.array([False])], np.bool_),
        ([np.array([True]), np.array([3])], np.int64),
        ([np.array([2**63], np.uint64)], str),
        ([np.ones((3, 2)), np.zeros((1, 2))], np.float64),
        ([np.ones((3, 2)), np.zeros(3)], str),
        ([np.array([1.5]), [None, "a"]], str),
        ([["a", "é", "\ud800", '"', "$x"]], str),
        ([[None, True, 1, 1.5, float("inf"), 2**80, b"\xff", Failure("E")]], str),
        ([[(1, ("a",)), {"k": 1, "$o": 2}, {1: {"a": ()}}, {"$failure": "no"}, {}]], str),
        ([[Decimal("0.1"), Fraction(1, 3), Other("value", "2020-01-01")]], str),
    ],
)
def test_outputs_come_back_as_they_were(tmp_path, batches, kind):
    held = [draw.plain(batch) for batch in batches]
    columns, forms = draw.together(held)
    assert all(isinstance(c, list) if kind is str else c.dtype == kind for c in columns)
    path = str(tmp_path / "draws.parquet")
    draw.write_draws([(i, 0, c) for i, c in enumerate(columns)], path, COMMON)
    _, read = read_draws(path, COMMON)
    for (pair, _, column), form, before, given in zip(read, forms, held, batches, strict=True):
        after = draw.apart(column, form)
        assert type(after) is type(before)
        assert str(list(after)) == str(list(before)), pair
        if isinstance(before, np.ndarray):
            assert after.dtype == before.dtype
            assert np.array_equal(after, given, equal_nan=before.dtype.kind == "f")
