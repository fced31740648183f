"""The example of a session with a budget (docs/examples/session.py)."""

from pathlib import Path

import epsilometer_audit as ea

FILE = Path(__file__).parents[2] / "docs/examples/session.py"
PAIRS = [([1, 1, 0], [1, 1, 0, 1])]


def audit(function, **options):
    place = f"{FILE}:{function}"
    common = {"alpha": 0.001, "check_sampler": False}
    return ea.audit(place, PAIRS, ea.pure(1.0), **common, **options)


def test_the_answers_of_a_session_are_one_output_within_its_budget():
    verdict = audit("session", samples=8000)
    assert verdict.verdict == "not refuted"
    assert verdict.outputs.startswith("vectors of 2")


def test_queries_that_are_not_counted_are_found():
    assert audit("forgetful", samples=30_000, stop=True).verdict == "violated"
