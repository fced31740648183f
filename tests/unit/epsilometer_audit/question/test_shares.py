"""By every door, the parts of alpha that audits get are at most alpha together."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

from epsilometer.claims import Pure
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.pytest_plugin import _TEST, _Suite
from epsilometer_audit.question.claims import renyi
from epsilometer_audit.question.shares import share_of
from epsilometer_audit.statistics.guessing import count, rules_of
from epsilometer_audit.statistics.rounds import Evidence


def within(parts, alpha):
    """Tell whether parts of alpha are no more than it together, but for rounding."""
    return min(parts) > 0 and math.fsum(parts) <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("members", [1, 4])
def test_the_tests_of_all_members_of_a_family_spend_alpha_together(members):
    """The tail of the sum of 6 / (pi i)^2 beyond n is 6 / pi^2 / (n + 1/2), nearly."""
    assert members * share_of(0.05, members) == pytest.approx(0.05)
    spent = members * sum(share_of(0.05, members, i) for i in range(1, 1001))
    assert spent == pytest.approx(0.05 * (1 - 6 / math.pi**2 / 1000.5), rel=1e-9)


@pytest.mark.parametrize("number", [1, 30])
def test_the_audits_of_a_file_share_its_alpha(tmp_path, number):
    case = {"mechanism": "m.py:f", "pairs": [[0, 1]], "claim": {"epsilon": 1}}
    path = tmp_path / "a.yaml"
    audits = {f"a{i}": case for i in range(number)}
    path.write_text(yaml.safe_dump({"alpha": 0.1, "audits": audits}))
    parts = [case.request().alpha for case in AuditsFile(path).cases.values()]
    assert len(parts) == number
    assert within(parts, 0.1)


@pytest.mark.parametrize("calls", [[1], [200, 1, 3]])
def test_the_audits_of_a_session_of_pytest_share_its_alpha(calls):
    items = [
        SimpleNamespace(fixturenames=["audit"], stash=pytest.Stash(), nodeid=f"test_{i}")
        for i in range(len(calls))
    ]
    _Suite(0.1, 0).pytest_collection_finish(SimpleNamespace(items=[*items, SimpleNamespace()]))
    parts = []
    for item, many in zip(items, calls, strict=True):
        parts += [item.stash[_TEST].next_call()[0] for _ in range(many)]
    assert within(parts, 0.1)


@pytest.mark.parametrize(("orders", "pairs"), [(1, 1), (9, 4)])
def test_the_orders_of_a_claim_share_alpha_and_pairs_share_one_wealth(orders, pairs):
    """The wealth that refutes an order is 1 over its part."""
    wealths = Evidence(renyi({order + 1.5: 1.0 for order in range(orders)}), pairs, 0.1).wealths
    assert len(wealths) == orders
    assert within([math.exp(-wealth.needed) for wealth in wealths.values()], 0.1)


@pytest.mark.parametrize("canaries", [10, 3000])
def test_the_rules_of_one_run_share_alpha(canaries):
    rules = rules_of(canaries, Pure(1.0), 0.05)
    counted = count(np.arange(float(canaries)), np.arange(canaries) % 2 > 0, rules, seed=0)
    assert within([rule.share for rule in counted], 1.0)
