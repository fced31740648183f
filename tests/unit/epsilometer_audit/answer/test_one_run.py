"""Audits of one run: their verdicts, checks and mistakes, from Python, files and commands."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, mannwhitneyu, norm

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, ConfigError, MechanismError
from epsilometer.seeds import generator
from epsilometer_audit.answer.one_run import draw_canaries
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.cli.main import main
from epsilometer_audit.cli.running import audited
from epsilometer_audit.outputs.callables import load
from epsilometer_audit.statistics import guessing

CLAIM = ea.pure(1.0)
INCLUDED = np.random.default_rng(1).random(300) < 0.5
SCORES = INCLUDED + np.random.default_rng(2).normal(0, 0.1, 300)
EVERY_OTHER = np.arange(300) % 2

# --- verdicts -------------------------------------------------------------------------------------


def test_a_verdict_has_the_rule_and_its_right_guesses():
    verdict = ea.audit_one_run(SCORES, INCLUDED, ea.pure(0.5), guesses=100)
    assert (verdict.verdict, verdict.method) == ("violated", "one run")
    rule = "100 of 100 are right: the 50 highest scores as in, the 50 lowest as out"
    assert f"  guesses     {rule}\n" in str(verdict)
    assert verdict.guesses["included"] == INCLUDED.sum()
    assert verdict.bound > 3


@pytest.mark.parametrize(
    ("right", "epsilon", "detect", "verdict"),
    [
        (300, 1.0, None, "violated"),
        (300, 1.0, 100.0, "violated"),  # whatever else would have been found
        (150, 1.0, None, "not refuted"),
        (150, 1.0, 100.0, "not refuted"),
        (150, 1.0, 1.001, "undecided"),
        (150, 9.0, None, "undecided"),
    ],
)
def test_a_verdict_on_one_run(right, epsilon, detect, verdict):
    guesses = np.where(np.arange(300) < right, EVERY_OTHER, 1 - EVERY_OTHER)
    options = {"guesses": 300, "detect": detect}
    answer = ea.audit_one_run(guesses, EVERY_OTHER, ea.pure(epsilon), **options)
    assert answer.verdict == verdict
    assert bool(answer.reasons) == (verdict == "undecided")


@pytest.mark.parametrize(("below", "verdict"), [(0.0, "violated"), (1e-12, "not refuted")])
def test_a_claim_is_violated_where_its_own_level_is_refuted(below, verdict, monkeypatch):
    monkeypatch.setattr(guessing, "refuted", lambda *_: 1.0 - below)
    assert ea.audit_one_run(SCORES, INCLUDED, CLAIM).verdict == verdict


@pytest.mark.parametrize(("less", "verdict"), [(0.0, "not refuted"), (1e-9, "undecided")])
def test_a_level_that_is_just_detectable_is_enough(less, verdict):
    level = ea.audit_one_run(np.zeros(300), EVERY_OTHER, CLAIM).detectable
    answer = ea.audit_one_run(np.zeros(300), EVERY_OTHER, CLAIM, detect=level - less)
    assert answer.verdict == verdict


def test_of_several_rules_the_largest_delta_is_the_bound():
    claim = ea.approximate(0.2, 1e-3)
    answer = ea.audit_one_run(SCORES, INCLUDED, claim)
    rules = guessing.rules_of(300, claim, 0.05)
    counted = guessing.count(SCORES, INCLUDED, rules, 0)
    deltas = [rule.delta(0.2, 0.05) for rule in counted]
    assert answer.bounds[1].lower == max(deltas) > min(deltas)
    assert answer.p_value == min(rule.p_value_of(claim) for rule in counted)


def test_a_verdict_on_gaussian_privacy():
    noisy = INCLUDED + np.random.default_rng(3).normal(0, 1, 300)
    verdict = ea.audit_one_run(noisy, INCLUDED, ea.gdp(0.2), guesses=100)
    assert (verdict.verdict, verdict.claim["notion"]) == ("violated", "gdp")
    assert 0.2 < verdict.bound < 1
    assert verdict.p_value < 0.05
    estimate = guessing.independent_mu(noisy, INCLUDED, 0.05, 0)
    assert verdict.guesses["independent_mu"] == estimate
    few = ea.audit_one_run(noisy, INCLUDED, ea.gdp(1.0), guesses=4)
    assert (few.verdict, few.detectable) == ("undecided", None)


# --- checks of coins and scores -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "included", "verdict", "words"),
    [
        (np.arange(300), np.arange(300) < 60, "invalid", "60 of 300 canaries were in, by fair"),
        (np.arange(300), np.arange(300) < 120, "not refuted", "120 of 300 canaries"),
        (-SCORES, INCLUDED, "not refuted", "give the scores another sign"),
        (np.zeros(300), INCLUDED, "not refuted", "all scores are equal"),
    ],
)
def test_a_fault_of_coins_or_scores_is_told(scores, included, verdict, words):
    answer = ea.audit_one_run(scores, included, CLAIM, guesses=100)
    assert answer.verdict == verdict
    assert words in str(answer)


def checked(scores, included):
    """Return the results of the checks by name."""
    answer = ea.audit_one_run(scores, included, CLAIM, guesses=10)
    return {check["name"]: check["result"] for check in answer.checks}


def test_equal_scores_have_no_direction():
    assert checked(np.zeros(300), INCLUDED) == {"fair coins": "passed", "scores": "note"}
    for place in (0, -1):
        scores = np.zeros(300)
        scores[place] = 1.0
        assert "scores" not in checked(scores, INCLUDED)


@pytest.mark.parametrize("inside", range(420, 452))
def test_coins_are_doubted_below_a_thousandth_and_invalid_below_a_millionth(inside):
    """By the two-sided probability of so many canaries that were in, of all counts."""
    chances = binom.pmf(np.arange(1001), 1000, 0.5)
    chance = chances[chances <= chances[inside] * (1 + 1e-9)].sum()
    wanted = "passed"
    if chance < 1e-3:
        wanted = "note"
    if chance < 1e-6:
        wanted = "failed"
    assert checked(np.arange(1000), np.arange(1000) < inside)["fair coins"] == wanted


@pytest.mark.parametrize("shift", np.linspace(0.3, 1.3, 30))
def test_scores_are_said_to_be_reversed_below_five_standard_deviations(shift):
    """Of the sum of ranks of the canaries that were in, by the test of Mann and Whitney."""
    included = np.arange(200) < 90
    noise = np.random.default_rng(0).normal(0, 1, 200)
    scores = np.round(noise - shift * included, 1)  # with equal ones
    z = norm.isf(mannwhitneyu(scores[included], scores[~included], False, "less").pvalue)
    assert ("direction" in checked(scores, included)) == (z > 5)


@pytest.mark.parametrize(("canaries", "told"), [(34, False), (36, True)])
def test_the_least_canaries_whose_reversed_order_is_told(canaries, told):
    """Of m in reversed order the statistic is m sqrt(3) / (2 sqrt(m + 1)): 4.98 and 5.13."""
    assert ("direction" in checked(np.arange(canaries), np.arange(canaries) < canaries / 2)) == told


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim": ea.zcdp(1.0)}, "claim must be of epsilon or gdp"),
        ({"scores": np.zeros((5, 2))}, r"scores must have shape \(m,\), got \(5, 2\)"),
        ({"scores": [np.nan, *range(299)]}, "scores hold nan, at place 0"),
        ({"scores": ["a"] * 300}, "scores must be numbers, one for each canary"),
        ({"scores": range(299)}, "included must be as many as the scores, 299, got 300"),
        ({"scores": range(9), "included": [0] * 9}, "must be of 10 canaries or more, got 9"),
        ({"guesses": 301}, "guesses must be 1 to 300, as many as there are canaries, got 301"),
        ({"detect": 0.5}, "detect must be above the claim, 1"),
        ({"included": [1, 0, -1] * 100}, "must be true or false, 1 or 0, or 1 or -1"),
        ({"included": [2, 1] * 150}, "must be true or false, 1 or 0, or 1 or -1"),
        ({"included": ["a"] * 300}, "must be true or false, 1 or 0, or 1 or -1"),
    ],
)
def test_a_mistake_is_a_line(change, message):
    with pytest.raises(ArgumentError, match=message):
        ea.audit_one_run(**{"scores": SCORES, "included": INCLUDED, "claim": CLAIM, **change})


@pytest.mark.parametrize("coins", [[True, False], [1, 0], [1, -1], [1.0, -1.0]])
def test_coins_may_be_written_in_three_ways_and_ten_are_enough(coins):
    answer = ea.audit_one_run(np.arange(10), coins * 5, CLAIM)
    assert (answer.guesses["canaries"], answer.guesses["included"]) == (10, 5)


# --- a mechanism that gets our coins --------------------------------------------------------------


class Source:
    description = "f(coins)"

    def draw(self, coins, size, seed):
        self.seed = seed
        return [coins]


def test_coins_and_training_have_seeds_of_their_own():
    seeds = set()
    for seed in range(20):
        source = Source()
        coins, scores = draw_canaries(source, 50, seed)
        assert scores.tolist() == coins.tolist()
        assert source.seed != int(generator(seed, "one run", "coins").integers(2**31))
        assert (np.random.default_rng(source.seed).integers(0, 2, 50) != coins).any()
        seeds.add(source.seed)
    assert len(seeds) == 20
    assert 2**30 <= max(seeds) < 2**31  # all are below 2^30 with probability 2^-20


def test_from_ten_canaries_to_a_million_are_drawn():
    for number in (10, 10**6):
        assert draw_canaries(Source(), number, 0)[1].size == number
    for number, words in ((9, "at least 10"), (10**6 + 1, "at most 1000000")):
        with pytest.raises(ArgumentError, match=f"canaries must be {words}, got {number}"):
            draw_canaries(Source(), number, 0)


MECHANISM = """
import numpy as np
def scores(included, rng): return np.array(included) + rng.normal(0, 0.5, len(included))
def many(included, size, rng): return np.array(included) + rng.normal(0, 0.5, (size, len(included)))
def plain(included, rng): return [bit + rng.normal(0, 0.5) for bit in included]
def few(included): return [1.0, 2.0]
def word(included): return "a"
def nan(included): return [float("nan")] * len(included)
def array(included: np.ndarray, rng): return included - 0.5 + rng.normal(0, 0.5, included.shape)
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with mechanisms, and with the same canaries in files of every kind."""
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(MECHANISM)
    table = pd.DataFrame({"canary": range(300), "score": SCORES, "included": INCLUDED})
    table.to_csv("c.csv", index=False)
    np.savetxt("signs.csv", np.column_stack([SCORES, 2 * INCLUDED - 1]), delimiter=",")
    np.save("c.npy", np.column_stack([SCORES, INCLUDED]))


@pytest.mark.parametrize("function", ["scores", "many", "plain", "array"])
def test_the_mechanism_gets_coins_once(here, function):
    source = load(f"own.py:{function}")
    coins, scores = draw_canaries(source, 400, seed=3)
    assert scores.shape == coins.shape == (400,)
    assert set(coins) == {0, 1}
    assert np.array_equal(draw_canaries(source, 400, seed=3)[1], scores)
    assert not np.array_equal(draw_canaries(source, 400, seed=4)[0], coins)
    assert ea.audit_one_run(scores, coins, CLAIM, guesses=100).verdict == "violated"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("few", "own.py:few returned 2 scores of 50 canaries"),
        ("word", "own.py:word returned no numbers"),
        ("nan", "own.py:nan returned a score that is not a number"),
    ],
)
def test_invalid_scores_are_reported(here, function, message):
    with pytest.raises(MechanismError, match=message):
        draw_canaries(load(f"own.py:{function}"), 50, seed=0)


# --- commands and files of audits -----------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["c.csv", "--columns", "score", "included"], ["signs.csv"], ["c.npy"]]
)
def test_files_of_canaries_give_the_answer_of_the_same_rows(here, capsys, words):
    code = main(["audit", "--one-run", *words, "--epsilon", "1", "--json", "-"])
    answer = json.loads(capsys.readouterr().out)
    wanted = ea.audit_one_run(SCORES, INCLUDED, CLAIM)
    assert (code, answer["verdict"], answer["bound"]) == (1, "violated", wanted.bound)
    assert answer["guesses"] == wanted.guesses
    assert [*answer["provenance"]["made of"]] == words[:1]


def test_a_mechanism_at_the_command_line(here, capsys):
    words = ["audit", "own.py:scores", "--canaries", "500", "--epsilon", "1", "--seed", "3"]
    assert main(words) == 1
    first = capsys.readouterr().out
    assert first.startswith("VIOLATED: epsilon = 1 is claimed, epsilon is at least")
    main(words)
    assert capsys.readouterr().out == first


def case_of(mechanism, more=""):
    """Return the only case of a file of audits."""
    text = f"audits: {{one: {{mechanism: {mechanism}, claim: {{epsilon: 1}}, {more}}}}}"
    Path("small.yaml").write_text(text)
    (case,) = AuditsFile(Path("small.yaml"), seed=1).cases.values()
    return case


RECORDED = "{one_run: c.csv, columns: [score, included]}"


def test_canaries_of_a_file_of_audits(here):
    case = case_of("own.py:scores", "canaries: 300, guesses: [30, 30]")
    answer = audited(case.request(), ".", print)
    source = load("own.py:scores")
    coins, scores = draw_canaries(source, 300, seed=case.seed)
    wanted = ea.audit_one_run(scores, coins, CLAIM, seed=case.seed, guesses=(30, 30))
    assert (answer.verdict, answer.bounds) == ("violated", wanted.bounds)
    assert answer.guesses == wanted.guesses
    assert answer.source == source.description
    assert answer.provenance["made of"] == source.digest()


def test_recorded_canaries_of_a_file_of_audits(here):
    answer = audited(case_of(RECORDED, "guesses: 100").request(), ".", print)
    wanted = ea.audit_one_run(SCORES, INCLUDED, CLAIM, guesses=100)
    assert (answer.verdict, answer.bounds) == ("violated", wanted.bounds)
    assert answer.source == "recorded in c.csv"
    wrong = case_of(RECORDED.replace("included", "canary"))
    answer = audited(wrong.request(), ".", print)
    assert answer.verdict == "failed"
    assert answer.reasons[0].startswith("included must be true or false")


@pytest.mark.parametrize(
    ("mechanism", "more", "message"),
    [
        ("own.py:scores", "", "one.pairs: must be given"),
        ("own.py:scores", "guesses: 3, pairs: [[0, 1]]", "guesses: cannot be used with draws"),
        ("own.py:scores", "canaries: 90, pairs: [[0, 1]]", "pairs: cannot be used with canar"),
        (RECORDED, "canaries: 90", "one.canaries: cannot be used with what is recorded"),
    ],
)
def test_a_mistake_in_a_file_is_a_line_with_file_and_key(here, mechanism, more, message):
    with pytest.raises(ConfigError, match=f"small.yaml: audits.*{message}"):
        case_of(mechanism, more)
