"""The Python interface of the audit: verdicts, errors, and promises of draws and alpha."""

import ast
import importlib
import inspect
import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit import auditing
from epsilometer_audit.answer import conclusion
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.question.claims import renyi
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import RecordedOutputs, request_of
from epsilometer_audit.statistics.rounds import Evidence, Step, schedule
from tests.unit.audits import audited

ONE = [([0, 0, 1], [0, 1, 1])]


def noisy_sum(x, size, rng, scale=1.0):
    """A sum in multiples of 2^-20: low bits tell nothing."""
    return np.round((sum(x) + rng.laplace(0, scale, size)) * 2**20) / 2**20


def itself(x, size, rng):
    return np.full(size, x)


@pytest.mark.parametrize(("columns", "draws"), [(1, 200), (2, 300)])
def test_more_draws_choose_events_of_several_columns(columns, draws, monkeypatch):
    seen, choose = [], auditing.choose_events

    def counted(past, *more):
        return seen.append(len(past.x)) or choose(past, *more)

    monkeypatch.setattr(auditing, "choose_events", counted)
    outputs = np.random.default_rng(0).random((2, 1000, columns))
    assert ea.audit_outputs(tuple(outputs), ea.pure(1)).draws == 1000
    assert seen == [draws]


@pytest.mark.parametrize(
    ("pairs", "name"), [({"": (0, 1)}, None), ({"few": (0, 1), "many": (0, 2)}, "many")]
)
def test_a_verdict_has_the_name_of_its_pair(pairs, name):
    options = {"samples": 1000, "check_sampler": False}
    verdict = ea.audit(lambda x, size, rng: x + rng.random(size), pairs, ea.pure(1.0), **options)
    assert verdict.name == name
    assert verdict.pair == pairs[name or ""]


def test_fifty_recorded_draws_of_a_side_are_enough():
    outputs = np.random.default_rng(0).normal(size=(2, 50))
    assert ea.audit_outputs(tuple(outputs), ea.pure(1.0)).draws == 50
    for fewer in (outputs[:, 1:], (outputs[0][1:], outputs[1]), (outputs[0], outputs[1][1:])):
        with pytest.raises(ArgumentError, match="must be 50 or more a side, got 49"):
            ea.audit_outputs(tuple(fewer), ea.pure(1.0))


@pytest.mark.parametrize("claim", [ea.pure(1.0), ea.zcdp(1.0)], ids=["exact", "sequential"])
@pytest.mark.parametrize("sizes", [(300, 400), (400, 300)])
def test_the_larger_side_is_cut_to_the_other_in_random_order(sizes, claim, monkeypatch):
    seen = []

    def noted(recorded, *_):
        seen.extend(recorded)

    monkeypatch.setattr(auditing, "_exact", noted)
    monkeypatch.setattr(auditing.rounds, "successive", noted)
    monkeypatch.setattr(auditing, "_answer", lambda *_: None)
    sides = [np.random.default_rng(size).random(size) for size in sizes]
    ea.audit_outputs(tuple(sides), claim)
    for taken, side in zip(seen[0], sides, strict=True):
        assert len({*taken.tolist()}) == len(taken) == 300
        assert {*taken.tolist()} <= {*side.tolist()}
        assert taken.tolist() != side[:300].tolist()


@pytest.mark.parametrize(
    ("samples", "draws"), [(399, None), (400, 40), (19_999, 1999), (20_000, 2000), (10**9, 2000)]
)
def test_a_tenth_of_the_draws_check_a_sampler_with_a_tenth_of_alpha(samples, draws, monkeypatch):
    """From 400 draws on, and 2,000 at most."""
    asked = []

    def noted(*_, draws, alpha, **__):
        asked.append((draws, alpha))
        return [Check("same seed", "passed", "")]

    monkeypatch.setattr(auditing, "check", noted)
    source = SimpleNamespace(draw=None, seeded=True, constant="the seed is 7")
    first, constant = auditing.check_source(source, [0, 1], samples, 0, 0.05)
    if draws is None:
        assert not asked
        assert first.text.endswith("whether this is a sampler: 400 draws a side are needed")
    else:
        assert asked == [(draws, pytest.approx(0.005))]
        assert first.name == "same seed"
    assert constant.name == "default seed"
    assert constant.text.startswith("the seed is 7 unless it is given")


@pytest.mark.parametrize(
    ("results", "asked"),
    [
        (["passed", "passed"], False),
        (["note", "passed"], True),
        (["skipped", "passed"], True),
        (["note", "failed"], False),
    ],
)
def test_another_process_draws_where_the_seed_is_not_followed(results, asked, monkeypatch):
    checks = [Check(str(i), result, "") for i, result in enumerate(results)]
    other = Check("other", "passed", "")
    monkeypatch.setattr(auditing, "check", lambda *_, **__: list(checks))
    monkeypatch.setattr(auditing, "other_process", lambda *_: other)
    source = SimpleNamespace(draw=None, seeded=True)
    found = auditing.check_source(source, [0, 1], 1000, 0, 0.05)
    assert found == ([*checks, other] if asked else checks)


def test_an_audit_takes_a_hundred_thousand_draws_if_nothing_else_is_said(monkeypatch):
    def scheduled(samples, pairs):
        raise ArgumentError("samples", f"{samples} of {pairs}")

    monkeypatch.setattr(auditing.rounds, "schedule", scheduled)
    with pytest.raises(ArgumentError, match="100000 of 1"):
        ea.audit(noisy_sum, ONE, ea.pure(1.0))


@pytest.mark.parametrize(("pairs", "draws"), [(1, 9973), (2, 800), (5, 1000)])
def test_recorded_outputs_are_taken_in_rounds_of_nearly_all(pairs, draws):
    """Each pair has so many draws; the one that is kept to the end takes most of its own."""
    request = request_of({}, mechanism=RecordedOutputs({}), claim=ea.zcdp(1.0))
    question = Question(request=request, pairs=dict.fromkeys(map(str, range(pairs))))
    steps = auditing._steps(draws * pairs, question, joining=False)
    assert 0.95 * draws <= sum(step.draws for step in steps) <= draws
    assert steps[0].pairs == pairs
    drawn = Question(request=request, pairs={str(i): (0, i) for i in range(pairs)})
    for joining in (False, True):
        steps = auditing._steps(draws * pairs, drawn, joining=joining)
        assert steps == schedule(draws * pairs, pairs, joining=joining)


def test_few_recorded_outputs_of_many_pairs_are_an_error():
    sides = {str(i): (np.zeros(50), np.ones(50)) for i in range(300)}
    with pytest.raises(ArgumentError, match="outputs 50 a side are too few for 300 pairs"):
        ea.audit_outputs(sides, ea.zcdp(1.0))


def test_evidence_is_the_wealth_by_the_share_of_the_draws():
    verdict = audited(lambda x, rng: x + rng.laplace(), ea.pure(0.1), 400)
    shares = [look["share"] for look in verdict.evidence]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    stopped = audited(lambda x, rng: x + rng.laplace(), ea.pure(0.1), 400, stop=True)
    largest = max(look["log10 e-value"] for look in stopped.evidence)
    assert largest > math.log10(1 / 0.05)
    assert stopped.p_value == pytest.approx(10**-largest)  # where it stops, no look is the last


def test_of_several_orders_the_evidence_is_that_of_the_one_that_is_exceeded_most():
    verdict = audited(itself, renyi({2: 0.001, 8: 50.0}), 200)
    assert verdict.verdict == "violated"
    assert verdict.evidence[-1]["log10 e-value"] > math.log10(2 / 0.05)
    assert "last look" not in {check["name"] for check in verdict.checks}


def test_equal_inputs_are_noted():
    pairs = {"same": (1, 1), "other": (1, 2), "too": (2, 2)}
    verdict = ea.audit(lambda x, rng: rng.random(), pairs, ea.pure(1.0), samples=700)
    (note,) = [check["words"] for check in verdict.checks if check["name"] == "inputs"]
    assert note.startswith("x and x' are equal in 2 of 3 pairs")


def test_of_recorded_pairs_all_choose_and_one_is_tested(monkeypatch):
    """A fifth of the draws of each pair choose, and all others of one pair test."""
    forecasts = []
    monkeypatch.setattr(conclusion, "detectable", lambda _, steps, **__: forecasts.append(steps))
    rng = np.random.default_rng(1)
    far = np.add(rng.random((2, 1200)), [[0], [0.5]])
    outputs = {"near": rng.random((2, 1000)), "far": far}
    verdict = ea.audit_outputs(outputs, ea.approximate(0.1, 0.01), as_reals=True)
    assert (verdict.name, verdict.draws) == ("far", 2 * 200 + 800)
    assert [pair["draws"] for pair in verdict.tried] == [200, 1000]
    assert verdict.witness.draws == verdict.witness.draws_prime == 800
    assert forecasts == [[Step(2, 200, 800), Step(1, 800, 800)]] * 4
    assert [bound.quantity for bound in verdict.bounds] == ["epsilon", "delta"]
    assert verdict.bounds[1].lower > 0.01


@pytest.mark.parametrize("bound", [0.0, 0.5])
def test_an_exact_test_names_the_event_of_the_largest_bound(bound, monkeypatch):
    """Without a bound above 0, the first."""
    first, named = [], []

    def largest(counted, *_):
        first[:] = [counted[0].chosen.event]
        chosen = replace(counted[0].chosen, event="the best")
        return bound, replace(counted[0], chosen=chosen) if bound else None

    def count(chosen, *_, **__):
        named.append(chosen.event)

    monkeypatch.setattr(auditing.exact_test, "largest_bound", largest)
    monkeypatch.setattr(auditing, "count_event", count)
    outputs = np.random.default_rng(0).normal([[0], [1]], 1, (2, 400))
    ea.audit_outputs(tuple(outputs), ea.pure(0.1), as_reals=True)
    assert named == (["the best"] if bound else first)


@pytest.mark.parametrize("varied", [None, 0, 1])
def test_recorded_outputs_are_constant_if_those_of_no_side_of_a_pair_vary(varied):
    first = [[5] * 60, [5] * 60]
    if varied is not None:
        first[varied] = [5, 6] * 30
    outputs = {"first": tuple(first), "tested": ([3] * 60, [4] * 60)}
    verdict = ea.audit_outputs(outputs, ea.pure(20.0))
    assert verdict.name == "tested"
    assert any("no output varied" in reason for reason in verdict.reasons) == (varied is None)
    (*_, reason) = ea.audit_outputs(outputs["tested"], ea.pure(20.0)).reasons
    assert "all outputs are 3 on x and 4 on x'" in reason


@pytest.mark.parametrize("side", [0, 1])
def test_outputs_of_either_side_that_are_written_three_times_are_invalid(side):
    sides = list(np.random.default_rng(0).random((2, 300)))
    sides[side] = np.repeat(sides[side][:100], 3)
    assert ea.audit_outputs(tuple(sides), ea.pure(1.0)).verdict == "invalid"


def test_all_recorded_pairs_take_as_many_draws_as_the_shortest_has(monkeypatch):
    monkeypatch.setattr(auditing, "_answer", lambda _, samples, *__: samples)
    sides = {"short": np.zeros((2, 300)), "long": np.zeros((2, 900))}
    assert ea.audit_outputs(sides, ea.zcdp(1.0)) == 2 * 300


@pytest.mark.parametrize(
    ("epsilon", "stop", "sharpened"), [(0.1, False, True), (0.1, True, False), (9, False, False)]
)
def test_bounds_are_sharpened_after_a_violation_by_all_draws(epsilon, stop, sharpened, monkeypatch):
    calls = []
    monkeypatch.setattr(Evidence, "sharpened", lambda _, lower: calls.append(1) or (lower, {}))
    verdict = audited(itself, ea.pure(epsilon), 400, stop=stop)
    assert (verdict.verdict == "violated") == (epsilon < 1)
    assert bool(calls) == sharpened


def test_a_violation_keeps_its_witness_where_a_sharper_bet_has_none(monkeypatch):
    monkeypatch.setattr(auditing, "first_visible", lambda _: None)
    verdict = audited(itself, ea.pure(0.1), 400)
    assert verdict.verdict == "violated"
    assert verdict.witness is not None


def test_pairs_join_in_audits_of_domains_only(monkeypatch):
    seen = []

    def noted(samples, question, joining):
        seen.append(joining)
        raise ArgumentError("samples", "noted")

    monkeypatch.setattr(auditing, "_steps", noted)
    for pairs in (ONE, ea.domain({"values": [0, 1]}, limit=2)):
        with pytest.raises(ArgumentError, match="noted"):
            ea.audit(lambda x, rng: rng.random(), pairs, ea.pure(1.0), check_sampler=False)
    assert seen == [False, True]


@pytest.mark.parametrize(("choices", "joined"), [(2, 0), (3, 1)])
def test_pairs_that_joined_are_counted(choices, joined):
    """Of three choices two pairs are listed, and one is left; of two there is one pair in all."""
    pairs = ea.domain({"choices": [*range(choices)]}, limit=2)
    options = {"samples": 700, "check_sampler": False}
    verdict = ea.audit(lambda x, size, rng: rng.random(size), pairs, ea.pure(1.0), **options)
    notes = [check["words"] for check in verdict.checks if "more pairs" in check["words"]]
    assert [note.split()[0] for note in notes] == [str(joined)] * joined
    assert len(verdict.tried) == len(pairs) + joined


def test_a_violation_has_a_witness():
    verdict = ea.audit(
        lambda x, size, rng: noisy_sum(x, size, rng, 0.5), ONE, ea.pure(1.0), samples=4000
    )
    assert verdict.verdict == "violated"
    assert verdict.exit_code == 1
    assert 1 < verdict.bound < 2
    assert verdict.pair == ONE[0]
    assert verdict.direction in ("[0, 0, 1] against [0, 1, 1]", "[0, 1, 1] against [0, 0, 1]")
    witness = verdict.witness
    assert "output" in witness.event
    assert witness.count / witness.draws > 2 * witness.count_prime / witness.draws_prime
    assert str(verdict).startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least 1.")
    assert "many draws a call" in verdict.source
    (row,) = verdict.to_frame(run=3).to_dict("records")
    assert (row["run"], row["verdict"], row["low"]) == (3, "violated", verdict.bound)


@pytest.mark.parametrize("likelier", [0, 1])
def test_the_direction_is_from_the_input_where_the_event_is_likelier(likelier):
    def seldom_one(x, rng):
        return int(rng.random() < 0.7 * (x == likelier))

    verdict = audited(seldom_one, ea.pure(0.1), 2000)
    assert verdict.direction == f"{likelier} against {1 - likelier}"
    assert verdict.witness.event in ("output = 1", "output >= 1")


def test_a_claim_that_is_not_refuted_has_a_detectable_level():
    verdict = ea.audit(noisy_sum, ONE, ea.pure(1.0), samples=4000)
    assert verdict.verdict == "not refuted"
    assert verdict.exit_code == 0
    assert 1.1 < verdict.detectable < 1.5
    assert 0.5 < verdict.bound < 1


def test_type_checkers_and_python_load_the_same_names():
    """The names that only type checkers import are those of `__all__`, from the same modules."""
    tree = ast.parse(Path(ea.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    modules = {name.name: node.module for node in block.body for name in node.names}
    assert sorted(modules) == sorted(ea.__all__) == dir(ea)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ea.nothing  # noqa: B018
    for name, module in modules.items():
        assert getattr(importlib.import_module(module), name) is getattr(ea, name)


@pytest.mark.parametrize("function", [ea.audit, ea.audit_outputs], ids=lambda f: f.__name__)
def test_help_has_every_parameter(function):
    lines = inspect.getdoc(function).splitlines()
    start = lines.index("Parameters")
    assert ">>> " in "\n".join(lines[:start])
    heads = [line for line in lines[start:] if not line.startswith(" ")]
    assert set(inspect.signature(function).parameters) <= set(", ".join(heads).split(", "))


# --- numbers of draws are promises ---------------------------------------------------------------


@pytest.mark.parametrize(("samples", "pairs"), [(100, 1), (1000, 2)])
@pytest.mark.parametrize("many", [True, False])
def test_samples_are_a_promise(samples, many, pairs):
    """Over all pairs, with a fifth at most for the checks of the sampler."""
    drawn = [0, 0]

    def together(x, size, rng):
        drawn[x > 0] += size
        return x + rng.laplace(0, 1, size)

    def single(x, rng):
        return together(x, 1, rng)[0]

    draw = together if many else single
    inputs = [(0.0, 1.0 + i) for i in range(pairs)]
    for checks, most in ((True, 1.2 * samples), (False, samples)):
        drawn[:] = 0, 0
        ea.audit(draw, inputs, ea.pure(1.0), samples=samples, check_sampler=checks)
        assert max(drawn) <= most
