"""The pairs that a mechanism accepts: notes on those it refuses, errors, and seeds of trials."""

from types import SimpleNamespace

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import MechanismError
from epsilometer_audit.checks.accepted_pairs import accepted
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.question.pairs import Candidates
from tests.unit.epsilometer_audit.question.declared import REPLACED, TABLE


def of_three_or_more(x, size, rng):
    if len(x) < 3:
        raise ValueError("three rows are needed")
    return float(np.sum(x)) + rng.laplace(0, 5, size)


def single(x, rng):
    return float(of_three_or_more(x, 1, rng)[0])


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
    named = f"it refuses both inputs: '1', '2', '3'{more}; "
    assert f"{refused} of 7 pairs are left out, of which {named}" in note.text
    assert "ValueError: too small (test_accepted_pairs.py:" in note.text


def test_a_verdict_is_on_accepted_pairs_and_has_the_notes_of_the_domain():
    pairs = ea.domain(REPLACED)
    short = [name for name, (x, _) in pairs.items() if len(x) < 3]
    verdict = ea.audit(of_three_or_more, pairs, ea.pure(1.0), samples=1700, as_reals=True)
    assert verdict.verdict == "not refuted"
    tried = [pair["name"] for pair in verdict.to_plain()["tried"]]
    assert [name for name in pairs if name not in tried] == short != []
    notes = [check["words"] for check in verdict.checks]
    assert {*pairs.untried, f"neighbours are {pairs.relations[0]}"} <= {*notes}
    assert all(note in str(verdict) for note in pairs.untried)


def test_a_pair_with_one_input_refused_is_an_error_or_a_violation():
    pairs = ea.domain({**TABLE, "length": [0, 4]}, limit=12)
    words = r" on \[.*\]: ValueError: three rows are needed .*, but not on its neighbour \[.*\]"
    with pytest.raises(MechanismError, match=words) as error:
        ea.audit(of_three_or_more, pairs, ea.pure(1.0))
    assert "of 3 rows, others" in str(error.value)
    assert "\n" not in str(error.value)
    verdict = ea.audit(single, pairs, ea.pure(1.0), failures=True, samples=4000, stop=True)
    assert verdict.verdict == "violated"
    assert sorted(map(len, verdict.pair)) == [2, 3]
    assert "inputs" not in {check["name"] for check in verdict.checks}


DOMAIN, MINE = ea.domain(REPLACED), {"mine": ([1.0], [2.0])}
OTHERS = {"other": ([1.0] * 3, [2.0] * 3)}


@pytest.mark.parametrize("pairs", [DOMAIN | MINE, MINE | DOMAIN, OTHERS | MINE])
def test_the_refusal_of_a_named_pair_is_an_error(pairs):
    with pytest.raises(MechanismError, match=r"three rows are needed .*: pair 'mine'"):
        ea.audit(of_three_or_more, pairs, ea.pure(1.0), check_sampler=isinstance(pairs, Candidates))


def test_the_refusal_of_all_pairs_is_an_error():
    def never(x, size, rng):
        raise KeyError("nothing")

    with pytest.raises(MechanismError, match="KeyError: 'nothing'"):
        ea.audit(never, DOMAIN, ea.pure(1.0))


def test_each_input_is_tried_once_with_a_seed_of_its_own():
    """Seeds of 31 bits: that all of 32 are below 2^28 has a chance of 8^-32."""
    pairs = ea.domain({"values": [0, 19], "whole": True}, limit=1000)
    inputs = {x for pair in pairs.values() for x in pair}
    seeds = set()
    for audit_seed in (0, 1):
        tried = []

        def draw(x, size, seed, tried=tried):
            tried.append((x, size))
            seeds.add(seed)
            return np.zeros(size)

        kept, _ = accepted(SimpleNamespace(draw=draw), pairs, audit_seed)
        assert kept == dict(pairs)
        assert sorted(tried) == [(x, 1) for x in sorted(inputs)]
    assert len(seeds) == 2 * len(inputs) == 32
    assert 2**28 < max(seeds) < 2**31


def test_failures_that_are_outcomes_come_last():
    pairs = ea.domain({**TABLE, "length": [1, 9]})
    kept, _ = accepted(callable_source(single, failures=True), pairs, 0)
    failing = [min(map(len, pair)) < 3 for pair in kept.values()]
    assert any(failing)
    assert failing == sorted(failing)
    assert kept == dict(pairs)
