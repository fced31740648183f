"""Candidates: pairs that are joined keep what is said of both."""

import epsilometer_audit as ea
from epsilometer_audit.question.pairs import Candidates
from tests.unit.epsilometer_audit.question.declared import COUNTED, TABLE


def test_joined_pairs_keep_what_is_said_of_both():
    first, second = (ea.domain(declared, limit=2) for declared in (TABLE, COUNTED))
    both = first | second
    assert dict(both) == {**first, **second}
    for kept in ("untried", "relations", "searches"):
        assert getattr(both, kept) == getattr(first, kept) + getattr(second, kept) != []


def test_pairs_of_any_other_mapping_are_required():
    domain, mine = ea.domain(TABLE, limit=2), {"mine": ([1.0], [2.0])}
    for both in (domain | mine, mine | domain):
        assert isinstance(both, Candidates)
        assert dict(both) == {**domain, **mine}
        assert both.required == {"mine"}
        assert both.searches == domain.searches
