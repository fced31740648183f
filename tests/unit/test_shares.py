"""By every door, the parts of alpha that audits get are at most alpha together."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epsilometer_audit.canaries.guessing import count, rules_of
from epsilometer_audit.grids.cases import Audits
from epsilometer_audit.pytest_plugin import _TEST, _Suite
from epsilometer_audit.shares import share_of
from epsilometer_audit.statistics.claims import Pure, renyi
from epsilometer_audit.statistics.rounds import Evidence

ALPHAS = st.floats(1e-12, 0.999)
SEVERAL = st.integers(1, 4)
SOME = settings(
    max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


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
@given(ALPHAS, st.lists(st.tuples(SEVERAL, SEVERAL, SEVERAL), min_size=1, max_size=4))
def test_files_of_audits(tmp_path, alpha, entries):
    audits = {
        f"a{i}": {
            "mechanism": "m.py:f",
            "parameters": {"scale": list(range(parameters))},
            "pairs": [{f"p{k}": [[0], [k + 1]]} for k in range(pairs)],
            "claims": [{"epsilon": k} for k in range(claims)],
        }
        for i, (parameters, pairs, claims) in enumerate(entries)
    }
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump({"alpha": alpha, "audits": audits}))
    specs = [case.spec for case in Audits(path).all_cases()]
    parts = [spec["alpha"] for spec in specs for _ in spec["claims"]]
    assert len(parts) == sum(map(math.prod, entries))
    assert within(parts, alpha)


@SOME
@given(ALPHAS, st.lists(st.integers(0, 200), min_size=1, max_size=9))
def test_sessions_of_pytest(alpha, calls):
    items = [
        SimpleNamespace(fixturenames=["audit"], stash=pytest.Stash(), nodeid=f"test_{i}")
        for i in range(len(calls))
    ]
    _Suite(alpha, 0).pytest_collection_finish(SimpleNamespace(items=[*items, SimpleNamespace()]))
    tests = [item.stash[_TEST] for item in items]
    parts = [
        test.next_call()[0] for test, many in zip(tests, calls, strict=True) for _ in range(many)
    ]
    assert within([*parts, 1e-300], alpha)


@SOME
@given(ALPHAS, st.integers(1, 9), SEVERAL)
def test_the_orders_of_a_claim_on_several_pairs(alpha, orders, pairs):
    """The wealth that refutes an order is 1 over its part; pairs share one wealth."""
    claim = renyi({order + 1.5: 1.0 for order in range(orders)})
    wealths = Evidence(claim, pairs, alpha).wealths
    assert len(wealths) == orders
    assert within([math.exp(-wealth.needed) for wealth in wealths.values()], alpha)


@pytest.mark.parametrize("canaries", [10, 100, 3000])
def test_the_rules_of_one_run(canaries):
    rules = rules_of(canaries, Pure(1.0), 0.05)
    counted = count(np.arange(float(canaries)), np.arange(canaries) % 2 > 0, rules, seed=0)
    assert within([rule.share for rule in counted], 1.0)
