"""Stability of transformations: distances, counterexamples, and what random ones can show."""

import json
import math
import random
import sys
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.rendering.junit import xml_of
from epsilometer_audit.rendering.page import html_of
from epsilometer_audit.sources.worker import python_worker
from epsilometer_audit.stability import METRICS, Stability, _p_value, claim_of, distance

TABLES = ea.domain({"rows": {"values": [0, 9], "whole": True}, "length": [0, 6]}, limit=40)


# --- distances ------------------------------------------------------------------------------------


def edits(a, b):
    """The least number of insertions and deletions, by the textbook's recursion."""
    if not a or not b:
        return len(a) + len(b)
    if a[0] == b[0]:
        return edits(a[1:], b[1:])
    return 1 + min(edits(a[1:], b), edits(a, b[1:]))


def test_distances_of_lists_are_those_by_brute_force():
    rng = random.Random(0)
    for _ in range(300):
        a, b = ([rng.randrange(3) for _ in range(rng.randrange(7))] for _ in range(2))
        assert distance("insert-delete", a, b) == edits(a, b)
        assert distance("symmetric", a, b) == sum(abs(a.count(v) - b.count(v)) for v in range(3))


def test_distances_of_numbers_are_exact():
    assert distance("absolute", 2**60 + 1, 2**60) == 1
    assert distance("absolute", 0.3, 0.1) == float(Fraction(0.3) - Fraction(0.1))
    assert distance("absolute", np.float64(2), True) == 1
    assert distance("L1", [1e16, 1.0], [0.0, 0.0]) == 1e16  # 1e16 + 1, rounded once
    assert distance("L2", (3.0,) * 49, (0.0,) * 49) == 21
    for d in np.random.default_rng(0).random(200):  # never above d by rounding
        assert distance("L2", [d * 0.6, d * 0.8], [0, 0]) <= math.sqrt(
            float(Fraction(d * 0.6) ** 2 + Fraction(d * 0.8) ** 2)
        )


@pytest.mark.parametrize("metric", METRICS)
def test_missing_numbers_equal_themselves_only(metric):
    as_output = float if metric == "absolute" else lambda value: (value,)
    assert distance(metric, as_output(math.nan), as_output(math.nan)) == 0
    assert distance(metric, as_output(math.nan), as_output(1.0)) > 1
    assert distance(metric, as_output(math.inf), as_output(math.inf)) == 0


def test_vectors_of_unlike_lengths_and_missing_keys():
    assert distance("L1", [1, 2], [1]) == math.inf
    assert distance("L2", {"a": 3, "b": 4}, {}) == 5
    assert distance("L1", [[1, 2], [3, 4]], [[1, 2], [3, 5]]) == 1


@pytest.mark.parametrize(
    ("metric", "x", "y", "words"),
    [
        ("symmetric", 1, 2, "of lists and tables, not of int"),
        ("insert-delete", "ab", "b", "of lists and tables, not of str"),
        ("absolute", [1, 2], [1, 2], "'absolute' is of numbers"),
        ("L1", ["a"], ["b"], "of numbers, not of str"),
        ("L2", None, 1, "of numbers, not of NoneType"),
    ],
)
def test_outputs_of_another_kind_are_refused(metric, x, y, words):
    with pytest.raises(MechanismError, match=words):
        distance(metric, x, y)


def test_tables_are_compared_by_rows():
    pandas = pytest.importorskip("pandas")

    def without_first(x):
        return pandas.DataFrame(x, columns=["a", "b"]).iloc[1:]

    pairs = [([[1, 2.0], [3, math.nan], [4, 5.0]], [[1, 2.0], [3, math.nan]])]
    verdict = ea.check_stability(without_first, pairs, 1, 0)
    assert verdict.bound == 1
    assert ea.check_stability(without_first, pairs, 1, 1).verdict == "not refuted"


# --- deterministic transformations ----------------------------------------------------------------


def clamped(x):
    return [min(value, 5) for value in x]


def doubled(x):
    return x + x


def total(x):
    return sum(x)


def histogram(x):
    return {str(value): x.count(value) for value in x}


def halves(x):
    return np.array([sum(x[::2]), sum(x[1::2])])


@pytest.mark.parametrize(
    ("f", "metric", "d_out"),
    [
        (clamped, "symmetric", 1),
        (clamped, "insert-delete", 1),
        (doubled, "symmetric", 2),
        (doubled, "insert-delete", 2),
        (total, "absolute", 9),
        (histogram, "L1", 1),
        (histogram, "symmetric", 2),
        (halves, "L1", 54),
    ],
)
def test_a_counterexample_is_found_just_below_the_distance_and_none_at_it(f, metric, d_out):
    verdict = ea.check_stability(f, TABLES, 1, d_out, metric=metric)
    assert (verdict.verdict, verdict.bound, verdict.pairs) == ("not refuted", 0, len(TABLES))
    if f is not halves:  # the distance above is loose
        verdict = ea.check_stability(f, TABLES, 1, d_out - 0.5, metric=metric, alpha=1e-6)
        assert (verdict.verdict, verdict.bound) == ("violated", d_out)


def test_the_verdict_names_inputs_outputs_and_distance():
    verdict = ea.check_stability(doubled, TABLES, 1, 1)
    assert str(verdict).splitlines()[0] == (
        "VIOLATED: outputs at most 1 apart (symmetric) where inputs are 1 apart is claimed, "
        "distance is at least 2 (95 % confidence)"
    )
    x, y = verdict.pair
    assert (list(x), list(y)) in [tuple(map(list, pair)) for pair in TABLES.values()]
    ranges = verdict.witness.ranges
    assert (ranges["outputs"], ranges["distance"]) == ([doubled(x), doubled(y)], 2)
    assert verdict.name in TABLES
    plain = json.loads(verdict.to_json())
    assert plain["claim"] == {"notion": "stability", "d_in": 1, "d_out": 1, "metric": "symmetric"}
    assert plain["bounds"][0]["quantity"] == "distance"
    page = html_of((verdict, Stability(1, 1)))
    assert "200 of 200 fresh draws lie in it" in " ".join(page.split())
    assert "violated" in xml_of(verdict)


def test_few_calls_are_made_where_nothing_is_wrong():
    calls = []

    def counted(x):
        calls.append(x)
        return clamped(x)

    verdict = ea.check_stability(counted, dict(TABLES), 1, 1)
    assert len(calls) == 4 * len(TABLES)
    assert verdict.draws == 2 * len(TABLES)


def test_the_same_seed_gives_the_same_verdict():
    verdicts = [ea.check_stability(shuffled, TABLES, 1, 1, metric="insert-delete") for _ in "ab"]
    assert verdicts[0].witness == verdicts[1].witness
    assert verdicts[0].pair == verdicts[1].pair


# --- random transformations -----------------------------------------------------------------------


def shuffled(x, rng):
    return rng.permutation(x).tolist() if len(x) == 6 else x


def sampled(x, rng):
    """A row, or none: stable in 2, but independent draws are often farther apart than same ones."""
    return [x[int(rng.integers(len(x)))]] if x else []


def up_to_two(x, rng):
    """Two random rows: replacing a row changes both only if both draws are of other rows."""
    return sorted(rng.permutation(x)[:2].tolist())


def noisy(x, rng):
    return sum(x) + rng.normal()


def test_a_shuffle_at_one_length_is_refuted():
    verdict = ea.check_stability(shuffled, TABLES, 1, 1, metric="insert-delete", alpha=1e-6)
    assert verdict.verdict == "violated"
    assert max(map(len, verdict.pair)) == 6
    assert verdict.bound > 1


@pytest.mark.parametrize(
    ("f", "metric", "d_out"),
    [(shuffled, "symmetric", 1), (sampled, "symmetric", 2), (up_to_two, "symmetric", 4)],
)
def test_a_random_transformation_that_is_stable_is_not_refuted(f, metric, d_out):
    for seed in range(2):
        verdict = ea.check_stability(f, TABLES, 1, d_out, metric=metric, seed=seed, alpha=1e-6)
        assert verdict.verdict == "not refuted"
    assert ("coupling" in str(verdict)) == (f is not shuffled)  # its outputs are the same multiset


def test_far_draws_of_a_stable_transformation_refute_nothing():
    """Equal distributions have a coupling at distance 0, though two draws are 1000 apart."""

    def coin(x, rng):
        return 1000 * int(rng.integers(2))

    verdict = ea.check_stability(coin, TABLES, 1, 0, metric="absolute", alpha=1e-6)
    assert verdict.verdict == "not refuted"


def test_distributions_that_differ_are_refuted_though_draws_may_be_equal():
    def coin(x, rng):
        return int(rng.random() < (0.8 if x else 0.2))

    for seed in range(3):
        verdict = ea.check_stability(coin, [([1], [])], 1, 0.5, metric="absolute", seed=seed)
        assert (verdict.verdict, verdict.bound) == ("violated", 1)


def test_outputs_that_never_repeat_decide_nothing():
    verdict = ea.check_stability(noisy, [([100], [])], 1, 1, metric="absolute")
    assert verdict.verdict == "not refuted"
    assert [check["name"] for check in verdict.checks] == ["random"]


def test_false_alarms_are_as_rare_as_stated():
    """At the very edge: half of the outputs on one side have no partner within the distance 0."""

    def coin(x, rng):
        return [int(rng.integers(2))]

    verdicts = [
        ea.check_stability(coin, [([1], [])], 1, 0, seed=seed, alpha=0.2, samples=50)
        for seed in range(30)
    ]
    alarms = sum(verdict.verdict == "violated" for verdict in verdicts)
    assert alarms <= stats.binom.isf(1e-4, 30, 0.2)


def test_the_p_value_is_fishers():
    for n, k, other in product((5, 12), range(6), range(6)):
        table = [[k, n - k], [other, n - other]]
        expected = stats.fisher_exact(table, alternative="greater").pvalue
        assert _p_value(k, other, n) == pytest.approx(expected)


# --- arguments, and other sources -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metric": "hamming"}, "metric must be one of symmetric, insert-delete, absolute, L1, L2"),
        ({"d_in": -1}, "d_in must be at least 0, got -1"),
        ({"d_out": math.inf}, "d_out must be a finite number, got inf"),
        ({"samples": 0}, "samples must be at least 1, got 0"),
        ({"alpha": 1}, "alpha must lie strictly between 0 and 1"),
        ({"pairs": []}, "pairs must name at least one pair of inputs"),
    ],
)
def test_wrong_arguments(options, words):
    arguments = {"pairs": TABLES, "d_in": 1, "d_out": 1, **options}
    with pytest.raises(ArgumentError) as caught:
        ea.check_stability(clamped, **arguments)
    assert words in str(caught.value)


def test_inputs_that_one_side_refuses_are_an_error():
    def first(x):
        return [x[0]]

    with pytest.raises(MechanismError, match="IndexError"):
        ea.check_stability(first, TABLES, 1, 2)


def test_a_transformation_of_another_interpreter(tmp_path, monkeypatch):
    (tmp_path / "survey.py").write_text("def doubled(x):\n    return x + x\n")
    monkeypatch.chdir(tmp_path)
    assert ea.check_stability("survey.py:doubled", TABLES, 1, 1).verdict == "violated"
    source = python_worker(sys.executable, "survey.py:doubled")
    try:
        assert ea.check_stability(source, TABLES, 1, 1).verdict == "violated"
    finally:
        source.close()


def test_the_claim_of_plain_levels():
    claim = claim_of({"stability": 2.0, "d_in": 1, "metric": "L1"})
    assert claim == Stability(1, 2.0, "L1")
    assert claim_of({"epsilon": 1.0}) == ea.pure(1.0)
