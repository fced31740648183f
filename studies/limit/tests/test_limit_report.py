"""The report `limit`: draws and bounds of audits beside the limit, and what is counted of them."""

import math
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.unit.stages import samples_of

from auditors import listed
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims
from epsilometer.exact.real_line import ExactGaussian, ExactLaplace
from epsilometer.mechanisms.real_line import Gaussian, Laplace
from epsilometer_audit.question.claims import pure
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.identities import Inputs
from epsilometer_workflow.files.storage import SampleFile, SampleWriter
from epsilometer_workflow.products import code_digests, reports
from limit import figures, methods
from limit import tables as limit
from limit.kl_inf.draws import floor, least_draws
from limit.kl_inf.project import project
from limit.methods import ANYTIME, Claimed, Run
from matrix.methods import Exact, Method, Pair

STUDY = Path(__file__).parents[1]
FIXED = "ours, fixed n"
PUBLISHED = ["DP-Sniper", "jax-privacy", "StatDP"]
LEFT_OUT = ["hockey stick", "histogram tester", "MMD tester", "Rényi tester", "textbook MPL"]
PURE = Claimed(notion="pure")


def report():
    return yaml.safe_load((STUDY / "config/reports/limit.yaml").read_text())


def others():
    options = report()["artifacts"]["answers-few"]["table"]["options"]
    return {name: Method(**entry) for name, entry in options["methods"].items()}


def coins(n, seed=3, chances=(0.25, 0.75)):
    """A bit of which the pure level is log 3."""
    rng = np.random.default_rng(seed)
    x, x_prime = ((rng.random(n) < chance).astype(np.int32) for chance in chances)
    return Pair(x, x_prime, "index", Claims(outcomes=2), math.log(3))


# --- claims ---------------------------------------------------------------------------------------


def test_levels_are_exact():
    laplace = Exact(ExactLaplace(Laplace(1.0)), 0.0, 1.0)
    assert PURE.level(laplace) == pytest.approx(1)
    approximate = Claimed(notion="approximate", delta=0.1)
    assert approximate.level(laplace) == pytest.approx(1 + 2 * math.log(0.9))
    gaussian = Exact(ExactGaussian(Gaussian(5.0)), 0.0, 1.0)
    mu = 1 / Gaussian(5.0).sigma
    assert Claimed(notion="gdp").level(gaussian) == pytest.approx(mu)
    assert Claimed(notion="zcdp").level(gaussian) == pytest.approx(mu**2 / 2)
    assert Claimed(notion="renyi", order=3).level(gaussian) == pytest.approx(1.5 * mu**2)
    with pytest.raises(ArgumentError, match="gdp needs Gaussian noise"):
        Claimed(notion="gdp").level(laplace)


@pytest.mark.parametrize(
    "claim",
    [
        Claimed(notion="approximate"),
        Claimed(notion="renyi"),
        Claimed(notion="pure", delta=0.1),
        Claimed(notion="gdp", order=2),
        Claimed(notion="renyi", order=2, delta=0.1),
    ],
)
def test_a_claim_takes_its_own_numbers_only(claim):
    with pytest.raises(ArgumentError, match=f"claims {claim.notion} takes"):
        claim.at(1.0)


# --- methods --------------------------------------------------------------------------------------


def test_an_audit_that_stops_uses_fewer_draws_for_the_same_claim():
    def answer_of(run):
        ((_, method),) = methods.methods(run.pair, PURE, {}, [ours])
        return method(run)

    (ours,) = [auditor for auditor in listed() if auditor.name == ANYTIME]
    answer = answer_of(Run(coins(4000), pure(0.5), 1))
    assert answer.refuted
    assert 20 < answer.draws < 1000
    assert 0.9 < answer.bound < math.log(3)
    answer = answer_of(Run(coins(400, chances=(0.5, 0.5)), pure(0.5), 1))
    assert (answer.refuted, answer.draws) == (False, 400)


@pytest.mark.parametrize(("needed", "fewest"), [(0, 64), (700, 706), (4000, 4000)])
def test_the_fewest_draws_that_refute_are_found_by_bisection(needed, fewest):
    sizes = []

    def bound(run):
        sizes.append(run.pair.n)
        if run.pair.n < needed / 2:
            raise ArgumentError("n", "too few")
        return 1.0 if run.pair.n >= needed else 0.0

    answer = methods.fixed(Run(coins(4000), pure(0.5), 1), bound)
    assert answer == methods.Answer(fewest, True, 1.0)
    assert len(sizes) <= 5


def test_a_test_that_does_not_refute_with_all_draws_is_not_asked_again():
    sizes = []
    answer = methods.fixed(Run(coins(400), pure(0.5), 1), lambda run: sizes.append(run) or 0.5)
    assert answer == methods.Answer(400, False, 0.5)
    assert len(sizes) == 1


@pytest.mark.slow(seconds=2)
def test_every_method_refutes_or_has_a_reason():
    pair = coins(4000)
    for claim, level in ((PURE, 0.5), (Claimed(notion="renyi", order=2), 0.3)):
        run = Run(pair, claim.at(level), 1)
        every = dict(methods.methods(pair, claim, others(), listed(LEFT_OUT)))
        assert set(every) == {ANYTIME, FIXED, *others(), *PUBLISHED}
        reasons = {name for name, method in every.items() if isinstance(method, str)}
        assert reasons == ({"Rényi bound"} if claim is PURE else {FIXED, "MPL", *PUBLISHED})
        for name in set(every) - reasons:
            answer = every[name](run)
            assert answer.bound > (0.1 if name == "DP-Sniper" else level), name
            assert answer.bound < math.log(3)


def test_one_score_is_needed_by_the_published():
    vectors = Pair(np.zeros((9, 2)), np.zeros((9, 2)), "vector", Claims(), 1.0)
    every = dict(methods.methods(vectors, PURE, {}, listed()))
    assert "not vector" in every["jax-privacy"]


def test_an_edit_of_an_auditor_makes_the_tables_again():
    table = reports.Table(Study(STUDY / "config", {"scale": "smoke"}), "limit", "answers-few")
    assert table.code() != code_digests.digest(table.rule, *table.modules())


# --- tables ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Two runs of randomised response with two outcomes, at epsilon = log 3."""
    about = {"registered": "epsilometer.mechanisms.finite:RandomizedResponse", "seed": 1}
    about |= {"parameters": {"outcomes": 2}, "epsilon": math.log(3)}
    identity = samples_of("response", [0, 1], n=400, runs=[0, 1], **about)
    file = tmp_path_factory.mktemp("limit") / "samples.parquet"
    with SampleWriter(file, "index", None, identity) as writer:
        for seed in (1, 2):
            writer.write(coins(400, seed).x)
            writer.write(coins(400, seed).x_prime)
    return [[SampleFile(str(file), identity, Claims(outcomes=2))]]


OPTIONS = {"share": 0.5, "methods": {}, "bits": {}, "least": 100, "leave_out": ["textbook MPL"]}


@pytest.fixture(scope="module")
def answered(drawn):
    claims = [PURE, Claimed(notion="renyi", order=2)]
    return limit.answers(drawn, claims=claims, **OPTIONS | {"methods": others()})


def test_the_limits_are_those_of_the_exact_laws(answered):
    row = answered.iloc[0]
    assert row["level"] == pytest.approx(math.log(3))
    assert row["claimed"] == pytest.approx(math.log(3) / 2)
    p = np.array([0.75, 0.25])
    kl_inf = project(p, p[::-1], pure(math.log(3) / 2)).kl_inf
    assert row["floor"] == pytest.approx(floor(kl_inf, 0.05))
    assert row["half"] == pytest.approx(least_draws(kl_inf, 0.05, 0.5))
    assert row["claimed"] < row["ceiling"] < row["level"]
    at_ceiling = project(p, p[::-1], pure(row["ceiling"])).kl_inf
    assert 400 * at_ceiling == pytest.approx(least_draws(1.0, 0.05, 0.5), rel=1e-3)


@pytest.mark.slow(seconds=2)
def test_every_run_has_a_row_or_a_method_has_a_reason(answered, drawn):
    sizes = answered.groupby(["claim", "method", "applies"]).size()
    for (_, _, applies), size in sizes.items():
        assert size == (2 if applies else 1)
    assert answered.loc[~answered["applies"], "reason"].str.len().gt(0).all()
    again = limit.answers(drawn, claims=[PURE], **OPTIONS | {"methods": others()})
    first = answered[answered["claim"] == "pure"]
    pd.testing.assert_frame_equal(first.reset_index(drop=True), again)


def test_few_draws_are_left_out(drawn):
    table = limit.answers(drawn, claims=[PURE], **OPTIONS | {"least": 401})
    assert table.empty
    assert "floor" in table
    with pytest.raises(ArgumentError, match="tables must have answers"):
        limit.combinations({"a": table})


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([0, 1, 0], "must hold pairs of inputs"),
        ([0, 0], "pure has no finite level above 0"),
    ],
)
def test_what_has_no_limit_is_refused(drawn, inputs, message):
    file = drawn[0][0]
    identity = replace(file.identity, inputs=Inputs(id="others", sides=inputs))
    changed = replace(file, identity=identity)
    with pytest.raises(ArgumentError, match=message):
        limit.answers([[changed]], claims=[PURE], **OPTIONS)


def frame(method, draws, bounds, claim="pure"):
    """Runs of one method, with a floor of 10, a half of 4 and n = 100."""
    common = {"mechanism": "m", "epsilon": 1.0, "inputs": "i", "claim": claim, "level": 1.0}
    common |= {"claimed": 0.5, "kl_inf": 0.3, "floor": 10.0, "half": 4.0, "ceiling": 0.8, "n": 100}
    common |= {"method": method, "applies": True, "reason": ""}
    return pd.DataFrame(
        [
            common | {"run": i, "draws": used, "refuted": used < 100, "bound": bound}
            for i, (used, bound) in enumerate(zip(draws, bounds, strict=True))
        ]
    )


def test_draws_are_means_until_refuted_or_medians_at_a_fixed_n():
    tables = {
        "a": frame(ANYTIME, [12, 18, 30], [0.4, 0.6, 1.1]),
        "b": frame(FIXED, [12, 100, 100], [0.0, 0.1, 0.2]),
        "empty": frame(FIXED, [], []),
    }
    sequential, fixed = limit.combinations(tables).to_dict("records")
    assert (sequential["draws"], sequential["limit"], sequential["times"]) == (20, 10, 2)
    assert (sequential["missed"], sequential["at_least"], sequential["above"]) == (0, False, 1)
    assert sequential["of_ceiling"] == pytest.approx(0.75)
    assert sequential["of_level"] == pytest.approx(0.6)
    assert (fixed["draws"], fixed["limit"], fixed["times"]) == (100, 4, 25)
    assert (fixed["missed"], fixed["at_least"], fixed["runs"]) == (2, True, 3)


def test_statements_are_counted_by_method_and_claim():
    tables = {
        "a": frame(ANYTIME, [12, 18, 30], [0.4, 0.6, 1.1]),
        "b": frame(ANYTIME, [15, 15, 100], [0.7, 0.7, 0.7], "renyi, order 2"),
        "c": frame(FIXED, [8, 8, 8], [0.9, 0.9, 0.9]),
    }
    combinations = limit.combinations(tables)
    table = limit.statements({"a": combinations}, times=[2.0, 5.0], shares=[0.5, 0.8])
    counted = {
        (row["method"], row["claim"], row["statement"]): (row["holds"], row["of"])
        for row in table.to_dict("records")
    }
    twice = "draws at most 2 times the least"
    assert counted[ANYTIME, "all", twice] == (1, 2)
    assert counted[ANYTIME, "renyi", "draws at most 5 times the least"] == (0, 1)  # one run missed
    assert counted[FIXED, "pure", twice] == (1, 1)
    assert counted[ANYTIME, "all", "median bound at least 0.8 of the ceiling"] == (1, 2)
    assert counted[FIXED, "all", "median bound not above the ceiling"] == (0, 1)
    assert counted[ANYTIME, "all", "bound of a run not above the level"] == (5, 6)


def test_the_figure_has_the_limit_and_twice_the_limit(answered):
    import matplotlib.pyplot as plt

    figure = figures.against_the_limit(limit.combinations({"a": answered}))
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"the limit", "twice the limit", "pure", FIXED} <= set(labels)
    for axes in figure.axes:
        assert axes.get_xscale() == axes.get_yscale() == "log"
    plt.close(figure)


# --- the report and its page ----------------------------------------------------------------------


def test_there_are_sixty_combinations():
    entry, combinations = report(), []
    for artifact in entry["artifacts"].values():
        for experiment in artifact["table"].get("data", []):
            claims = artifact["table"]["options"]["claims"]
            for block in entry["experiments"][experiment]["grid"]:
                drawn = product(block["mechanism"], block["epsilon"], block["inputs"])
                combinations += [(*d, str(claim)) for d, claim in product(drawn, claims)]
    assert len(combinations) == len(set(combinations)) == 60


def test_every_column_and_artifact_that_the_page_names_there_is(answered):
    page = (STUDY / "README.md").read_text()
    combinations = limit.combinations({"a": answered})
    named = set(re.findall(r"`([a-z_]+)`", page))
    known = {*combinations, *report()["artifacts"], "answers-few", "holds", "of", "least"}
    assert named <= known | {"as_reals", "audit_outputs", "smoke"}, named - known
    texts = limit.statements({"a": combinations}, times=[2.5], shares=[0.9])["statement"]
    for text in re.findall(r"\*([a-z]+ [^*]+)\*", page):
        assert text in set(texts), text
