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
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import epsilometer_audit as ea
from epsilometer.claims import Pure
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit import auditing
from epsilometer_audit.answer import conclusion
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.outputs.formats import percent_sure
from epsilometer_audit.pytest_plugin import _TEST, _Suite
from epsilometer_audit.question.claims import renyi
from epsilometer_audit.question.question import Question
from epsilometer_audit.question.request import (
    Kind,
    RecordedOutputs,
    RecordedScores,
    request_of,
)
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics.guessing import count, rules_of
from epsilometer_audit.statistics.rounds import Evidence, Step, schedule

ONE = [([0, 0, 1], [0, 1, 1])]


def rounded(reals):
    """Multiples of 2^-20, whose low bits carry no information."""
    return np.round(reals * 2**20) / 2**20


def noisy_sum(x, size, rng, scale=1.0):
    return rounded(sum(x) + rng.laplace(0, scale, size))


@pytest.mark.parametrize(("columns", "draws"), [(1, 200), (2, 300)])
def test_more_draws_choose_events_of_several_columns(columns, draws, monkeypatch):
    seen, choose = [], auditing.choose_events

    def counted(past, *more):
        return seen.append(len(past.x)) or choose(past, *more)

    monkeypatch.setattr(auditing, "choose_events", counted)
    outputs = np.random.default_rng(0).random((2, 1000, columns))
    assert ea.audit_outputs(tuple(outputs), ea.pure(1)).draws == 1000
    assert seen == [draws]


def too_little_noise(x, size, rng):
    return noisy_sum(x, size, rng, 0.5)


@pytest.mark.parametrize("pairs", [{"": (0, 1)}, {"few": (0, 1), "many": (0, 2)}])
def test_a_verdict_has_the_name_of_its_pair(pairs):
    verdict = ea.audit(lambda x, size, rng: rng.normal(5 * x, 1, size), pairs, ea.pure(1.0))
    assert verdict.name == ("many" if len(pairs) > 1 else None)
    assert list(verdict.pair) == [0, 2 if len(pairs) > 1 else 1]


@pytest.mark.parametrize("n", [49, 50])
def test_fifty_recorded_draws_of_a_side_are_enough(n):
    outputs = tuple(np.random.default_rng(0).normal(size=(2, n)))
    if n < 50:
        with pytest.raises(ArgumentError, match="must be 50 or more a side, got 49"):
            ea.audit_outputs(outputs, ea.pure(1.0))
    else:
        assert ea.audit_outputs(outputs, ea.pure(1.0)).draws == 50


@pytest.mark.parametrize(("samples", "checked"), [(399, False), (400, True)])
def test_a_sampler_is_checked_from_four_hundred_draws_on(samples, checked):
    verdict = ea.audit(noisy_sum, ONE, ea.pure(1.0), samples=samples)
    note = "it was not checked whether this is a sampler: 400 draws a side are needed"
    assert (note in " ".join(str(verdict).split())) != checked


@pytest.mark.parametrize(
    ("samples", "draws"), [(400, 40), (19_999, 1999), (20_000, 2000), (100_000, 2000)]
)
def test_a_tenth_of_the_draws_check_a_sampler_up_to_two_thousand(samples, draws, monkeypatch):
    asked = []
    passed = [Check("same seed", "passed", "")]
    monkeypatch.setattr(auditing, "check", lambda *_, draws, **__: asked.append(draws) or passed)
    source = SimpleNamespace(draw=None, seeded=True, constant="the seed is 7")
    checks = auditing.check_source(source, [0, 1], samples, 0, 0.05)
    assert asked == [draws]
    assert [check.name for check in checks] == ["same seed", "default seed"]
    assert checks[-1].text.startswith("the seed is 7 unless it is given")


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
    assert found == [*checks, other] if asked else checks


def test_an_audit_takes_a_hundred_thousand_draws_if_nothing_else_is_said(monkeypatch):
    def scheduled(samples, pairs):
        raise ArgumentError("samples", f"{samples} of {pairs}")

    monkeypatch.setattr(auditing.rounds, "schedule", scheduled)
    with pytest.raises(ArgumentError, match="100000 of 1"):
        ea.audit(noisy_sum, ONE, ea.pure(1.0))


@pytest.mark.parametrize("pairs", [1, 2, 5])
@pytest.mark.parametrize("draws", [800, 1000, 9973])
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
    verdict = ea.audit(noisy_sum, ONE, ea.pure(0.1), samples=400, check_sampler=False)
    shares = [look["share"] for look in verdict.evidence]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    largest = max(look["log10 e-value"] for look in verdict.evidence)
    assert verdict.p_value == pytest.approx(10**-largest)


def test_of_several_orders_the_evidence_is_that_of_the_one_that_is_exceeded_most():
    claim = renyi({2: 0.001, 8: 50.0})
    options = {"samples": 200, "check_sampler": False}
    verdict = ea.audit(lambda x, size, rng: np.full(size, x), [(0, 1)], claim, **options)
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
    options = {"samples": 400, "check_sampler": False, "stop": stop}
    verdict = ea.audit(lambda x, size, rng: np.full(size, x), [(0, 1)], ea.pure(epsilon), **options)
    assert (verdict.verdict == "violated") == (epsilon < 1)
    assert bool(calls) == sharpened


def test_a_violation_keeps_its_witness_where_a_sharper_bet_has_none(monkeypatch):
    monkeypatch.setattr(auditing, "first_visible", lambda _: None)
    options = {"samples": 400, "check_sampler": False}
    verdict = ea.audit(lambda x, size, rng: np.full(size, x), [(0, 1)], ea.pure(0.1), **options)
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


@pytest.mark.parametrize("alpha", [0.05, 1e-4])
def test_the_checks_of_a_sampler_take_a_part_of_alpha(alpha, monkeypatch):
    alphas, check = [], auditing.check

    def noted(*arguments, **options):
        alphas.append(options["alpha"])
        return check(*arguments, **options)

    monkeypatch.setattr(auditing, "check", noted)
    ea.audit(lambda x, rng: x + rng.laplace(), [(0, 1)], ea.pure(1.0), samples=400, alpha=alpha)
    assert alphas == pytest.approx([alpha / 10])


def test_a_violation_has_a_witness():
    verdict = ea.audit(too_little_noise, ONE, ea.pure(1.0), samples=4000)
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


def test_the_direction_is_from_the_input_where_the_event_is_likelier():
    for pair, direction in (((0, 1), "1 against 0"), ((1, 0), "1 against 0")):
        verdict = ea.audit(lambda x, rng: int(rng.random() < 0.7 * x), [pair], ea.pure(0.1))
        assert verdict.direction == direction
        assert verdict.witness.event in ("output = 1", "output >= 1")


def test_a_claim_that_is_not_refuted_has_a_detectable_level():
    verdict = ea.audit(noisy_sum, ONE, ea.pure(1.0), samples=4000)
    assert verdict.verdict == "not refuted"
    assert verdict.exit_code == 0
    assert 1.1 < verdict.detectable < 1.5
    assert 0.5 < verdict.bound < 1


@pytest.mark.parametrize(
    ("alpha", "words"),
    [(0.05, "95"), (0.001 / 26, "99.9961"), (2.03e-8, "99.9999979"), (1e-40, f"99.{'9' * 38}")],
)
def test_no_confidence_is_all(alpha, words):
    assert percent_sure(alpha) == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pairs": []}, "pairs must name at least one pair"),
        ({"pairs": [1, 2]}, r"pairs must be a list of pairs \(x, x'\), got 1 as 'pair 1'"),
        ({"pairs": [(1, 2, 3)]}, r"pairs must be a list of pairs \(x, x'\), got \[1, 2, 3\]"),
        ({"pairs": ([0, 1], [1, 1])}, r"pairs must be a list of pairs, \[\(x, x'\)\] for one pair"),
        ({"pairs": zip([0], [1], strict=True)}, r"pairs must be a list of pairs, .*zip object"),
        ({"claim": 1.0}, r"claim must be a claim, such as pure\(1.0\)"),
        ({"claim": None, "delta": 1e-5}, "delta needs epsilon, which is missing"),
        ({"claim": None, "gdp": 1, "delta": 1e-5}, "delta needs epsilon, which is missing"),
        ({"claim": None, "gdp": 1, "epsilon": 1}, "gdp cannot be used with epsilon; choose one"),
        ({"samples": 1e5}, "samples must be an integer"),
        ({"samples": 10**9 + 1}, "samples must be at most 1000000000, got 1000000001"),
        ({"smaples": 9}, "smaples is no option; did you mean 'samples'"),
        ({"event": 0.5, "canaries": 20, "pairs": None}, "samples cannot be used with canaries"),
        (
            {"mechanism": {"functoin": "f"}},
            "mechanism.functoin is no field; did you mean 'function'",
        ),
        ({"mechanism": {"command": "f", "python": "p"}}, "python needs function, which is missing"),
        ({"mechanism": 3}, "must be a function, got an object of type int"),
    ],
)
def test_errors_of_arguments_are_one_line(change, words):
    """Those that the command line can show are in cli/test_main.py."""
    right = {"mechanism": noisy_sum, "pairs": ONE, "claim": ea.pure(1.0), "samples": 4000}
    with pytest.raises((ArgumentError, MechanismError), match=words) as caught:
        ea.audit(**{**right, **change})
    assert "\n" not in str(caught.value)


def test_canaries_are_for_mechanisms_that_are_run():
    claim = ea.pure(1.0)
    options = {"canaries": 20, "timeout": 3.0}
    assert request_of(options, mechanism=noisy_sum, claim=claim).kind is Kind.ONE_RUN
    many = request_of({"samples": 10**9}, mechanism=noisy_sum, pairs=ONE, claim=claim)
    assert many.kind is Kind.DRAWS
    recorded = RecordedScores(np.arange(20.0), np.arange(20) % 2, "", {})
    assert request_of({}, mechanism=recorded, claim=claim).kind is Kind.ONE_RUN
    for name, value in options.items():
        with pytest.raises(ArgumentError, match=f"{name} cannot be used with what is recorded"):
            request_of({name: value}, mechanism=recorded, claim=claim)


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


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize(("samples", "pairs"), [(100, 1), (2000, 1), (1000, 2)])
@pytest.mark.parametrize("many", [True, False])
def test_samples_are_a_promise(samples, many, pairs):
    """Over all pairs, with a fifth at most for the checks of the sampler."""
    drawn = [0, 0]

    def together(x, size, rng):
        drawn[x > 0] += size
        return x + rng.laplace(0, 1, size)

    def single(x, rng):
        drawn[x > 0] += 1
        return x + rng.laplace()

    inputs = {f"pair {i}": (0.0, 1.0 + i) for i in range(pairs)}
    draw = together if many else single
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples)
    assert max(drawn) <= 1.2 * samples
    drawn[:] = 0, 0
    ea.audit(draw, inputs, ea.pure(1.0), samples=samples, check_sampler=False)
    assert max(drawn) <= samples


# --- by every door, the parts of alpha that audits get are at most alpha together -----------------

ALPHAS = st.floats(1e-12, 0.999)
SEVERAL = st.integers(1, 4)
SOME = settings(max_examples=40, suppress_health_check=list(HealthCheck), derandomize=True)


def within(parts, alpha):
    """Tell whether parts of alpha are no more than it together, but for rounding."""
    return min(parts) > 0 and math.fsum(parts) <= alpha * (1 + 1e-12)


@SOME
@given(ALPHAS, st.lists(st.one_of(st.none(), st.integers(1, 300)), min_size=1, max_size=20))
def test_the_rule(alpha, calls):
    """Each member makes one test, or so many that their number is not known beforehand."""
    parts = []
    for number in calls:
        numbers = [None] if number is None else range(1, number + 1)
        parts += [share_of(alpha, len(calls), i) for i in numbers]
    assert within(parts, alpha)


@SOME
@given(ALPHAS, st.integers(1, 30))
def test_files_of_audits(tmp_path, alpha, number):
    case = {"mechanism": "m.py:f", "pairs": [[0, 1]], "claim": {"epsilon": 1}}
    path = tmp_path / "a.yaml"
    audits = {f"a{i}": case for i in range(number)}
    path.write_text(yaml.safe_dump({"alpha": alpha, "audits": audits}))
    parts = [case.request().alpha for case in AuditsFile(path).cases.values()]
    assert len(parts) == number
    assert within(parts, alpha)


@SOME
@given(ALPHAS, st.lists(st.integers(0, 200), min_size=1, max_size=9))
def test_sessions_of_pytest(alpha, calls):
    items = [
        SimpleNamespace(fixturenames=["audit"], stash=pytest.Stash(), nodeid=f"test_{i}")
        for i in range(len(calls))
    ]
    _Suite(alpha, 0).pytest_collection_finish(SimpleNamespace(items=[*items, SimpleNamespace()]))
    parts = [1e-300]
    for item, many in zip(items, calls, strict=True):
        parts += [item.stash[_TEST].next_call()[0] for _ in range(many)]
    assert within(parts, alpha)


@SOME
@given(ALPHAS, st.integers(1, 9), SEVERAL)
def test_the_orders_of_a_claim_on_several_pairs(alpha, orders, pairs):
    """The wealth that refutes an order is 1 over its part; pairs share one wealth."""
    wealths = Evidence(renyi({order + 1.5: 1.0 for order in range(orders)}), pairs, alpha).wealths
    assert len(wealths) == orders
    assert within([math.exp(-wealth.needed) for wealth in wealths.values()], alpha)


@pytest.mark.parametrize("canaries", [10, 100, 3000])
def test_the_rules_of_one_run(canaries):
    rules = rules_of(canaries, Pure(1.0), 0.05)
    counted = count(np.arange(float(canaries)), np.arange(canaries) % 2 > 0, rules, seed=0)
    assert within([rule.share for rule in counted], 1.0)


# --- tables and pictures --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "pair"),
    [
        (lambda x, size, rng: x + rng.laplace(0, 0.5, size), (0, 1)),
        (lambda x, size, rng: x + rng.geometric(0.9, size), (0, 1)),
        (lambda x, rng: x if rng.random() < 0.9 else "no", ("yes", "no")),
        (lambda x, size, rng: rng.normal(x, 0.5, (size, 4)), (0.0, 1.0)),
    ],
)
def test_a_verdict_is_a_table_and_a_picture(mechanism, pair):
    verdict = ea.audit(mechanism, [pair], ea.pure(0.5), samples=2000, as_reals=True)
    assert verdict.verdict == "violated"
    (row,) = verdict.to_frame(run=3).to_dict("records")
    assert (row["run"], row["verdict"], row["low"]) == (3, "violated", verdict.bound)
    witness = verdict.witness
    for side in (witness.histogram.counts, witness.histogram.counts_prime):
        assert sum(side) == witness.draws
    axes = verdict.plot(Figure().subplots())
    assert f"{witness.count} of {witness.draws}" in axes.get_title()
    assert "histogram" not in verdict.to_plain()["witness"]


def test_a_verdict_without_a_witness_has_a_picture():
    verdict = ea.audit(lambda x, rng: rng.random(), [(0, 1)], ea.pure(1.0), samples=1000)
    assert verdict.verdict.upper() in verdict.plot(Figure().subplots()).get_title()
