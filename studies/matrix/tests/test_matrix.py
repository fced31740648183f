"""The matrix: methods by one signature, methods that do not apply, and the tables over runs."""

import math
import re
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.unit.stages import samples_of

from auditors import listed
from epsilometer.claims import Pure
from epsilometer.errors import ArgumentError
from epsilometer.estimators.base import Claims
from epsilometer.exact.real_line import ExactLaplace
from epsilometer.mechanisms.base import OUTPUT_KINDS
from epsilometer.mechanisms.finite import RandomizedResponse
from epsilometer.mechanisms.real_line import Laplace
from epsilometer.seeds import generator
from epsilometer_audit.auditing import audit_outputs
from epsilometer_audit.question.claims import Renyi
from epsilometer_audit.statistics.rounds import shuffled
from epsilometer_workflow.files.identities import Inputs
from epsilometer_workflow.files.storage import SampleFile, SampleWriter
from matrix import figures
from matrix import tables as matrix
from matrix.methods import Exact, Method, Pair

STUDY = Path(__file__).parents[1]
LISTED = [auditor.name for auditor in listed()]
CLAIMS = Claims(outcomes=2)
ORDERS = [2.0, math.inf]


@cache
def configured() -> dict[str, Method]:
    """The methods of the real matrix."""
    return {name: Method(**entry) for name, entry in options()["methods"].items()}


def report():
    return yaml.safe_load((STUDY / "config/reports/matrix.yaml").read_text())


def options():
    return report()["artifacts"]["answers-0.7"]["table"]["options"]


def coins(n=6000, seed=3):
    """A bit that is released with probability 2/3: the pure level is log 2."""
    rng = np.random.default_rng(seed)
    x, x_prime = ((rng.random(n) < p).astype(np.int32) for p in (1 / 3, 2 / 3))
    return Pair(x, x_prime, "index", CLAIMS, math.log(2))


def truth(order, delta):
    """Of these coins, at either direction, as they are symmetric."""
    if delta is not None:
        return math.log((2 / 3 - delta) / (1 / 3))
    if math.isinf(order):
        return math.log(2)
    p, q = np.array([1, 2]) / 3, np.array([2, 1]) / 3
    return math.log((p**order * q ** (1 - order)).sum()) / (order - 1)


@pytest.mark.parametrize("name", sorted(configured()))
@pytest.mark.parametrize("order", ORDERS)
def test_every_method_answers_for_coins_or_gives_a_reason(name, order):
    method, pair = configured()[name], coins()
    if reason := method.refusal("index", CLAIMS, order):
        assert "must be" in reason
        return
    exact, answer = truth(order, method.delta), method.answer(pair, order)
    assert answer == pytest.approx(exact, abs=0.2)
    if method.promise("index").startswith("a bound"):
        assert 0.5 * exact < answer < exact


def test_a_method_of_finite_orders_does_not_apply_to_the_pure_level_nor_the_other_way():
    refused = {
        (name, order): method.refusal("index", CLAIMS, order)
        for name, method in configured().items()
        for order in ORDERS
    }
    assert "must be finite" in refused["renyi-bound", math.inf]
    assert "must be inf" in refused["berger-boos", 2.0]
    assert not refused["audit", 2.0]
    assert not refused["audit", math.inf]
    assert "must be inf" in refused["audit-delta", 2.0]


def test_a_histogram_needs_claims_and_a_local_loss_one_kind_of_outputs():
    methods = configured()
    assert "lipschitz" in methods["histogram"].refusal("scalar", Claims(), math.inf)
    assert "mixed" in methods["mpl"].refusal("mixed", Claims(), math.inf)
    assert "mixed" in methods["spectrum"].refusal("mixed", Claims(), math.inf)
    assert not methods["berger-boos"].refusal("mixed", Claims(), math.inf)


@pytest.mark.parametrize("order", ORDERS)
def test_the_audits_bound_is_that_of_an_audit_of_the_recorded_outputs(order):
    pair = coins(1000)
    rng = generator(0, "order", "")
    promised = min(pair.epsilon, order * pair.epsilon**2 / 2)
    claim = Pure(pair.epsilon) if math.isinf(order) else Renyi(order, promised)
    verdict = audit_outputs((pair.x, pair.x_prime), claim, as_reals=True)
    mixed = Pair(shuffled(pair.x, rng), shuffled(pair.x_prime, rng), "index", CLAIMS, pair.epsilon)
    answer = Method(estimator="audit").answer(mixed, order)
    assert answer == pytest.approx(verdict.bounds[0].lower)


def test_exact_values_are_of_the_larger_direction_and_of_the_spectrum():
    exact = Exact(ExactLaplace(Laplace(1.0)), 0.0, 1.0)
    assert exact.level(math.inf, None) == pytest.approx(1.0)
    epsilon = exact.level(math.inf, 0.1)  # delta(e) = 1 - exp((e - 1)/2)
    assert epsilon == pytest.approx(1 + 2 * math.log(0.9))
    assert math.isnan(Exact(None, 0, 1).level(2.0, None))


def test_prefixes_are_the_first_draws():
    pair = coins(100)
    part = pair.first(10)
    assert part.n == 10
    past, fresh = part.split(0.3)
    np.testing.assert_array_equal(np.concatenate([past[0], fresh[0]]), pair.x[:10])
    assert len(past[0]) == 3


# --- the tables -----------------------------------------------------------------------------------


@pytest.fixture
def drawn(tmp_path):
    """Two runs of randomised response with two outcomes, at epsilon = log 2."""
    return [[written(tmp_path, "response", "epsilometer.mechanisms.finite:RandomizedResponse")]]


@pytest.fixture
def unknown(drawn, tmp_path, monkeypatch):
    """The same draws, of a mechanism of which no exact value is known."""
    monkeypatch.setitem(sys.modules, "own", SimpleNamespace(Mechanism=RandomizedResponse))
    return written(tmp_path, "unknown", "own:Mechanism")


def written(folder, name, registered):
    about = {"registered": registered, "parameters": {"outcomes": 2}, "epsilon": math.log(2)}
    about |= {"inputs": Inputs(id="both", sides=[0, 1]), "seed": 1}
    identity = samples_of(name, [0, 1], n=400, runs=[0, 1], **about)
    file = folder / f"{name}.parquet"
    with SampleWriter(file, "index", None, identity) as writer:
        for seed in (1, 2):
            pair = coins(400, seed)
            writer.write(pair.x)
            writer.write(pair.x_prime)
    return SampleFile(str(file), identity, Claims(outcomes=2))


@pytest.fixture
def answered(drawn):
    return matrix.answers(drawn, methods=configured(), orders=ORDERS, leave_out=LISTED)


def test_the_grid_is_full_and_a_method_that_does_not_apply_has_one_row_and_a_reason(answered):
    cells = answered.groupby(["order", "estimator"]).size()
    assert set(cells.index) == {(order, name) for order in ORDERS for name in configured()}
    refused = answered[~answered["applies"]]
    assert (refused["run"] == matrix.NO_RUN).all()
    assert refused["reason"].str.len().gt(0).all()
    applied = answered[answered["applies"]].groupby(["order", "estimator"])["run"]
    assert set(applied.apply(tuple)) == {(0, 1)}
    assert refused.groupby(["order", "estimator"]).size().eq(1).all()


def test_methods_get_the_same_draws_in_any_order(answered, drawn):
    again = matrix.answers(drawn, methods=configured(), orders=ORDERS, leave_out=LISTED)
    pd.testing.assert_frame_equal(answered, again)


def test_the_matrix_has_a_row_a_cell(answered):
    table = matrix.matrix({"a": answered})
    assert len(table) == len(ORDERS) * len(configured())
    row = table[(table["estimator"] == "audit") & (table["order"] == 2)].iloc[0]
    answers = answered[(answered["estimator"] == "audit") & (answered["order"] == 2)]
    assert row["mean"] == pytest.approx(answers["answer"].mean())
    assert row["bias"] == pytest.approx(row["mean"] - truth(2.0, None))
    assert (row["runs"], row["failures"], row["reason"]) == (2, 0, "")
    assert not table.loc[~table["applies"], "reason"].eq("").any()
    assert set(table.loc[~table["applies"], "runs"]) == {0}


def frame(**rows):
    """Answers of two methods on one mechanism, whose exact value is 1."""
    common = {
        "mechanism": "m",
        "epsilon": 1.0,
        "inputs": "i",
        "outputs": "index",
        "order": math.inf,
        "quantity": "divergence",
        "n": 10,
        "exact": 1.0,
        "failed": False,
        "applies": True,
        "reason": "",
    }
    every = [
        common | {"estimator": name, "promises": "a bound at every n", "run": run, "answer": answer}
        for name, answers in rows.items()
        for run, answer in enumerate(answers)
    ]
    table = pd.DataFrame(every)
    table["failed"] = table["answer"].isna()
    table.loc[table["failed"], "reason"] = "too few draws"
    return table


def test_coverage_tightness_and_failures_are_counted():
    table = {"a": frame(low=[0.5, 0.7, 0.9, 1.1], high=[0.8, math.nan, 2.0, 3.0])}
    low, high = matrix.matrix(table).to_dict("records")
    assert (low["coverage"], low["failures"], low["mean"]) == (0.75, 0, pytest.approx(0.8))
    assert low["coverage_low"] == pytest.approx(0.194, abs=1e-3)  # Clopper-Pearson, 3 of 4
    assert low["rmse"] == pytest.approx(math.sqrt((0.25 + 0.09 + 0.01 + 0.01) / 4))
    assert (high["coverage"], high["failures"]) == (pytest.approx(1 / 3), 1)
    assert high["reason"] == "too few draws"
    low, high = matrix.cells(table).to_dict("records")
    assert low["tightness"] == pytest.approx(0.8)
    low, high = matrix.pooled(table).to_dict("records")
    assert (low["nearest"], high["nearest"]) == (1, 0)
    assert (low["tightest"], high["tightest"]) == (0, 1)
    assert (low["answers"], high["answers"]) == (4, 3)


def test_a_method_that_always_answers_0_is_neither_nearest_nor_tightest():
    low, high = matrix.pooled({"a": frame(low=[0.0, 0.0], high=[0.0, 0.1])}).to_dict("records")
    assert (low["nearest"], low["tightest"]) == (0, 0)
    assert (high["nearest"], high["tightest"]) == (1, 1)
    (alone,) = matrix.pooled({"a": frame(low=[0.0, 0.0])}).to_dict("records")
    assert (alone["nearest"], alone["tightest"]) == (0, 0)


def test_an_infinite_level_has_no_error_and_is_not_pooled():
    table = frame(low=[0.5, 0.7]).assign(exact=math.inf)
    (row,) = matrix.matrix({"a": table}).to_dict("records")
    assert math.isnan(row["rmse"])
    assert math.isnan(row["coverage"])
    assert row["mean"] == pytest.approx(0.6)
    (row,) = matrix.pooled({"a": table}).to_dict("records")
    assert row["answers"] == 0


def test_errors_are_of_prefixes_and_join_their_seconds(drawn):
    some = {name: configured()[name] for name in ("berger-boos", "renyi-bound")}
    arguments = {"orders": ORDERS, "mechanisms": ["response"], "shares": [0.5, 1.0]}
    errors = matrix.by_draws(drawn, methods=some, leave_out=LISTED, **arguments)
    assert sorted(errors["n"]) == [200, 200, 400, 400]
    whole = matrix.answers(drawn, methods=some, orders=[math.inf], leave_out=LISTED)
    mean = whole.loc[whole["estimator"] == "berger-boos", "answer"].mean()
    last = errors[(errors["estimator"] == "berger-boos") & (errors["n"] == 400)].iloc[0]
    assert last["mean"] == pytest.approx(mean)
    spent = matrix.timed(drawn, methods=some, runs=1, leave_out=LISTED, **arguments)
    joined = matrix.seconds({"a": errors, "b": spent})
    assert len(joined) == 4
    assert (joined["seconds"] >= 0).all()
    with pytest.raises(ArgumentError, match="mechanisms has 'laplace', which is not in the data"):
        matrix.by_draws(
            drawn, methods=some, leave_out=LISTED, **arguments | {"mechanisms": ["laplace"]}
        )


@pytest.mark.slow(seconds=1)
def test_without_an_exact_value_methods_are_compared_with_each_other(drawn, unknown):
    drawn[0].append(unknown)
    answered = matrix.answers(drawn, methods=configured(), orders=ORDERS, leave_out=LISTED)
    cells = matrix.cells({"a": answered}).set_index(["mechanism", "order", "estimator"])
    beside = cells["beside"]
    pd.testing.assert_series_equal(beside["response"], beside["unknown"])  # the same draws
    bounds = cells["promises"].str.startswith("a bound")
    assert (beside[bounds & (cells["quantity"] == "divergence")].dropna() <= 1).all()
    assert beside["unknown", math.inf, "local-loss"] > 1
    assert cells["contradicted"]["unknown", math.inf, "local-loss"] == 0
    some = {name: configured()[name] for name in ("berger-boos", "histogram")}
    arguments = {"methods": some, "orders": ORDERS, "shares": [0.5, 1.0], "leave_out": LISTED}
    for mechanisms in (["unknown"], ["response", "unknown"]):
        table = matrix.by_draws(drawn, mechanisms=mechanisms, **arguments)
        of_unknown = table[table["mechanism"] == "unknown"]
        assert of_unknown["error"].isna().all()
        assert (of_unknown["mean"] > 0).all()
        axes = figures.against_draws(table).axes
        assert not axes[0].get_shared_y_axes().joined(axes[0], axes[-1])
        assert {ax.get_ylabel() for ax in axes} >= {"answer, nats"}
        assert all(len(ax.lines[0].get_xdata()) == 2 for ax in axes)  # the histogram


def test_estimates_below_a_bound_of_the_same_draws_are_counted():
    table = frame(bound=[0.5, 0.7, 0.9], low=[0.6, 0.6, 0.6]).assign(exact=math.nan)
    table.loc[table["estimator"] == "low", "promises"] = "an estimate"
    bound, low = matrix.matrix({"a": table}).to_dict("records")
    assert math.isnan(bound["contradicted"])
    assert low["contradicted"] == pytest.approx(2 / 3)
    assert (bound["beside"], low["beside"]) == (1, pytest.approx(0.6 / 0.7))


def test_more_than_a_pair_of_inputs_is_refused(drawn):
    file = drawn[0][0]
    file.identity.inputs.sides.append(0)
    with pytest.raises(ArgumentError, match="data must hold pairs of inputs"):
        matrix.answers(drawn, methods=configured(), orders=ORDERS, leave_out=LISTED)


def test_figures_are_drawn_of_full_and_of_empty_cells(answered):
    import matplotlib.pyplot as plt

    for figure in (
        figures.heat_maps(matrix.cells({"a": answered})),
        figures.against_draws(
            pd.DataFrame(
                {
                    "mechanism": ["m"] * 2,
                    "order": [math.inf] * 2,
                    "estimator": ["audit"] * 2,
                    "n": [10, 20],
                    "error": [0.5, 0.0],
                }
            )
        ),
    ):
        assert figure.axes
        plt.close(figure)


# --- the report and its page ----------------------------------------------------------------------


def test_every_epsilon_has_the_same_mechanisms_and_methods():
    entry = report()
    for scale in entry["scales"].values():
        assert len({tuple(size.items()) for size in scale.values()}) == 1  # equal budgets
    pairs = []
    for experiment in entry["experiments"].values():
        members = {(m, i) for b in experiment["grid"] for m in b["mechanism"] for i in b["inputs"]}
        pairs.append(members)
    assert pairs[0] == pairs[1] == pairs[2]
    epsilons = {e for x in entry["experiments"].values() for b in x["grid"] for e in b["epsilon"]}
    assert epsilons == {0.2, 0.7, 1.5}
    tables = [entry["artifacts"][f"answers-{epsilon}"]["table"] for epsilon in sorted(epsilons)]
    assert tables[0]["options"] == tables[1]["options"] == tables[2]["options"]
    assert [float(order) for order in tables[0]["options"]["orders"]] == [2, 5, 7, math.inf]


def test_classifiers_are_of_known_kinds_of_outputs():
    for method in configured().values():
        assert set(method.by_outputs) <= set(OUTPUT_KINDS)


def test_every_sentence_of_the_page_names_rows_that_there_are():
    """`mechanism/order/method` of the table `cells`, or `order/method` of `methods`."""
    grid = report()["experiments"]["at-0.7"]["grid"]
    mechanisms = {mechanism for block in grid for mechanism in block["mechanism"]}
    page = (STUDY / "README.md").read_text()
    named = re.findall(r"`((?:[\w.=-]+/)?(?:2|5|7|inf)/[\w.=-]+)`", page)
    assert len(named) > 25
    for row in named:
        *mechanism, _, method = row.split("/")
        assert set(mechanism) <= mechanisms, row
        assert method in configured(), row
