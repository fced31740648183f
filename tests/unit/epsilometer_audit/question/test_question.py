"""A question: its method and checks by what it rests on, and where draws come from."""

from types import SimpleNamespace

import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.question.question import Question, source_of
from epsilometer_audit.question.request import RecordedOutputs, RecordedScores, request_of


def question(claim, mechanism=None, **options):
    if mechanism is None:
        mechanism = print
        options = {"pairs": [(0, 1)], **options}
    request = request_of(options, mechanism=mechanism, claim=claim)
    return Question(request=request, pairs=request.pairs or {"": None})


OUTPUTS, SCORES = RecordedOutputs({}), RecordedScores([], [])


@pytest.mark.parametrize(
    ("asked", "method", "checks"),
    [
        (question(ea.pure(1.0)), "anytime", True),
        (question(ea.pure(1.0), check_sampler=False), "anytime", False),
        (question(ea.gdp(1.0), OUTPUTS), "exact", False),
        (question(ea.zcdp(1.0), OUTPUTS), "anytime", False),
        (question(ea.pure(1.0), SCORES), "one run", False),
        (question(ea.pure(1.0), print, canaries=9), "one run", False),
    ],
)
def test_recorded_outputs_are_tested_exactly_if_the_claim_allows_it(asked, method, checks):
    assert (asked.method, asked.checks_sampler) == (method, checks)


def test_inputs_are_those_of_the_pairs_that_are_known():
    assert question(ea.pure(1.0)).inputs == ((0, 1),)
    assert question(ea.pure(1.0), OUTPUTS).inputs is None


def request_for(mechanism, **options):
    return question(ea.pure(1.0), mechanism, pairs=[(0, 1)], **options).request


@pytest.mark.parametrize("option", [{"timeout": 3.0}, {"failures": True}])
def test_a_source_has_options_of_its_maker_only(option):
    source = SimpleNamespace(draw=None, digest=None, description="", seeded=True)
    assert source_of(request_for(source)) is source
    with pytest.raises(ArgumentError, match="is for the maker of a source, such as `load`"):
        source_of(request_for(source, **option))
    del source.digest
    with pytest.raises(Exception, match="must be a function"):
        source_of(request_for(source))
