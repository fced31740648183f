"""The pairs that a mechanism accepts: notes on those it refuses, errors, and seeds of trials."""

from types import SimpleNamespace

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import MechanismError
from epsilometer_audit.checks.accepted_pairs import accepted
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.question.pairs import Candidates
from tests.unit.test_audit_domains import COUNTED, REPLACED, TABLE, joined


def noisy_sum(x, size, rng):
    return float(np.sum(x)) + rng.laplace(0, 5, size)


def of_three_or_more(x, size, rng):
    if len(x) < 3:
        raise ValueError("three rows are needed")
    return noisy_sum(x, size, rng)


def test_pairs_with_both_inputs_refused_are_left_out_and_noted():
    pairs, claim = ea.domain(REPLACED), ea.pure(1.0)
    short = [name for name, (x, _) in pairs.items() if len(x) < 3]
    verdict = ea.audit(of_three_or_more, pairs, claim, samples=1700, as_reals=True)
    assert verdict.verdict == "not refuted"
    assert verdict.pairs == len(pairs) - len(short) + joined(verdict.checks)
    (words,) = (check["words"] for check in verdict.checks if check["name"] == "inputs")
    relation = next(check["words"] for check in verdict.checks if check["name"] == "relation")
    assert relation == f"neighbours are {pairs.relations[0]}"
    assert all(note in str(verdict) for note in pairs.untried)
    assert words.startswith(f"{len(short)} of {len(pairs)} pairs are left out")
    assert repr(short[0]) in words
    assert "ValueError: three rows are needed (test_accepted_pairs.py:" in words
    assert words in str(verdict)


@pytest.mark.parametrize("refused", [3, 4, 6])
def test_three_refused_pairs_are_named_and_the_others_counted(refused):
    def draw(x, size, rng):
        if abs(x) <= refused:
            raise ValueError("too small")
        return rng.random(size)

    pairs = Candidates({str(x): (x, -x) for x in range(1, 8)})
    kept, (note,) = accepted(callable_source(draw), pairs, 0)
    assert list(kept) == [str(x) for x in range(refused + 1, 8)]
    more = f" and {refused - 3} more" if refused > 3 else ""
    assert f"it refuses both inputs: '1', '2', '3'{more}; " in note.text


def test_joined_pairs_keep_what_is_said_of_both():
    first, second = (ea.domain(declared, limit=2) for declared in (TABLE, COUNTED))
    both = first | second
    assert dict(both) == {**first, **second}
    for kept in ("untried", "relations", "searches"):
        assert getattr(both, kept) == getattr(first, kept) + getattr(second, kept) != []


def test_a_pair_with_one_input_refused_is_an_error_or_a_violation():
    pairs = ea.domain({**TABLE, "length": [0, 4]}, limit=12)
    words = r" on \[.*\]: ValueError: three rows are needed .*, but not on its neighbour \[.*\]"
    with pytest.raises(MechanismError, match=words) as error:
        ea.audit(of_three_or_more, pairs, ea.pure(1.0))
    assert "of 3 rows, others" in str(error.value)
    assert "\n" not in str(error.value)

    def single(x, rng):
        return float(of_three_or_more(x, 1, rng)[0])

    verdict = ea.audit(single, pairs, ea.pure(1.0), failures=True, samples=4000, stop=True)
    assert verdict.verdict == "violated"
    assert sorted(map(len, verdict.pair)) == [2, 3]
    assert not [check for check in verdict.checks if check["name"] == "inputs"]
    assert not [check for check in verdict.checks if check["result"] == "failed"]


def test_refusals_of_all_pairs_or_of_a_named_pair_are_errors():
    def never(x, size, rng):
        raise KeyError("nothing")

    mine = {"mine": ([1.0], [2.0])}
    domain = ea.domain(REPLACED)
    assert isinstance(mine | domain, Candidates)
    named = r"three rows are needed .*: pair 'mine'"
    for mechanism, pairs, checked, words in (
        (never, domain, True, "KeyError: 'nothing'"),
        (of_three_or_more, domain | mine, True, named),
        (of_three_or_more, mine | domain, True, named),
        (of_three_or_more, {"other": ([1.0] * 3, [2.0] * 3), **mine}, False, named),
    ):
        with pytest.raises(MechanismError, match=words):
            ea.audit(mechanism, pairs, ea.pure(1.0), check_sampler=checked)


def test_each_input_is_tried_once_with_a_seed_of_its_own():
    """Seeds of 31 bits: that all of 32 are below 2^28 has a chance of 8^-32."""
    tried = {0: [], 1: []}
    pairs = ea.domain({"values": [0, 19], "whole": True}, limit=1000)
    inputs = sorted({x for pair in pairs.values() for x in pair})
    for audit_seed, calls in tried.items():

        def draw(x, size, seed, calls=calls):
            calls.append((x, size, seed))
            return np.zeros(size)

        kept, notes = accepted(SimpleNamespace(draw=draw), pairs, audit_seed)
        assert kept == dict(pairs)
        assert [note.text for note in notes[:-1]] == pairs.untried
        assert [note.name for note in notes[-2:]] == ["range", "relation"]
        assert sorted((x, size) for x, size, _ in calls) == [(x, 1) for x in inputs]
    seeds = {seed for calls in tried.values() for *_, seed in calls}
    assert len(seeds) == 2 * len(inputs) == 32
    assert 2**28 < max(seeds) < 2**31


def test_failures_that_are_outcomes_come_last():
    def single(x):
        if len(x) > 18:
            raise ValueError("too many")
        return 1.0

    pairs = ea.domain({**TABLE, "length": [1, 20]})
    kept, _ = accepted(callable_source(single, failures=True), pairs, 0)
    failing = [len(max(pair, key=len)) > 18 for pair in kept.values()]
    assert any(failing)
    assert failing == sorted(failing)
    assert kept == dict(pairs)
