"""The pytest plugin, tried on suites in miniature."""

import json
import math
import re
import shlex
from pathlib import Path

import numba
import pytest
import scipy.special  # noqa: F401 - loaded once, and not by every suite in miniature

import epsilometer_audit.auditing  # noqa: F401

pytest_plugins = ["pytester"]

# To compile loads Numba whole: a suite forgets its imports, and a second Numba fails.
numba.njit(lambda: 0)()
PAGE = Path("docs/pytest.md").read_text()
FIRST = 6 / math.pi**2
HEADER = """
import json
import pathlib

import numpy as np
import pytest

import epsilometer_audit as ea

PAIRS = [(0.0, 1.0)]
CLAIM = {"epsilon": 1, "pairs": PAIRS, "samples": 500, "check_sampler": False}


def rounded(reals):
    return np.round(reals * 2**20) / 2**20


def good(x, size, rng):
    return rounded(rng.laplace(x, 1.0, size))


def bad(x, size, rng):
    return rounded(rng.laplace(x, 0.2, size))


def unseeded(x, size):
    return rounded(np.random.default_rng().laplace(x, 1.0, size))


def stuck(x, size, rng):
    return np.random.default_rng(1).laplace(x, 1.0, size)


def keep(name, verdict):
    facts = {"alpha": verdict.alpha, "seed": verdict.seed, "bound": verdict.bound}
    pathlib.Path(f"{name}.json").write_text(json.dumps(facts))
"""
THREE = """
@pytest.mark.parametrize("name", ["a", "b"])
def test_one(audit, name):
    keep(f"one-{name}", audit(good, **CLAIM))

def test_three(audit):
    for i in range(3):
        keep(f"three-{i}", audit(good, **CLAIM))

def test_other():
    pass
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """Run a suite of these tests with this plugin alone, or in a process with all there are."""
    # Where these say that it is CI, pytest prints every failure a second time, in its summary.
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)

    def run(text, *options, conftest="", apart=False):
        pytester.makepyfile(test_it=HEADER + text)
        if conftest:
            pytester.makeconftest(conftest)
        options = ("-p", "no:cacheprovider", *options)
        if apart:
            return pytester.runpytest_subprocess("-p", "no:hypothesispytest", *options)
        with monkeypatch.context() as patch:
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            return pytester.runpytest_inprocess("-p", "epsilometer_audit.pytest_plugin", *options)

    return run


def kept(pytester):
    return {path.stem: json.loads(path.read_text()) for path in pytester.path.glob("*.json")}


def test_each_verdict_passes_or_fails_with_the_verdict_alone(suite):
    result = suite("""
def test_good(audit):
    assert audit(good, **CLAIM).verdict == "not refuted"

def test_expected(audit):
    assert audit(bad, expect="violated", **CLAIM).verdict == "violated"

def test_bad(audit):
    audit(bad, PAIRS, ea.pure(1.0), samples=500)

@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        (good, {"expect": "violated"}),
        (good, {"detect": 9, "event": 1e-9}),
        (stuck, {"check_sampler": True}),
    ],
)
def test_others(audit, mechanism, options):
    audit(mechanism, **CLAIM | options)
""")
    result.assert_outcomes(passed=2, failed=4)
    result.stdout.fnmatch_lines(
        [
            "VIOLATED: epsilon = 1 is claimed, epsilon is at least*",
            "  witness *",
            "  alpha       0.00507 for audit 1 of this test, 0.05 for all tests",
            "  place       test_it.py:*",
            "NOT REFUTED: epsilon = 1 (violated was expected)",
            "UNDECIDED: *",
            "INVALID: *",
            "privacy: 6 audits of 6 tests at alpha = 0.05 together: 1 violated, 1 violated as "
            "expected, 1 invalid, 1 undecided, 2 not refuted; smallest share 0.00507, seed 0",
            "FAILED test_it.py::test_bad - *VIOLATED*",
        ]
    )
    result.stdout.no_fnmatch_line("*auditing.py*")


@pytest.mark.slow(seconds=3)
def test_every_notion_can_be_claimed_and_draws_without_a_seed_are_told(suite):
    result = suite("""
def test_claims(audit):
    verdict = audit(good, PAIRS, epsilon=3, delta=1e-3, samples=2000)
    assert (verdict.claimed, verdict.pairs) == ("(epsilon, delta) = (3, 0.001)", 1)
    verdict = audit(good, [(0, 1), (1, 0)], gdp=2, samples=600)
    assert (verdict.claim, verdict.pairs) == ({"notion": "gdp", "mu": 2}, 2)
    verdict = audit(good, PAIRS, renyi={2: 1}, samples=500)
    assert verdict.claim == {"notion": "renyi", "order": 2, "epsilon": 1}

def test_anew(audit):
    assert not audit(unseeded, PAIRS, epsilon=2, samples=2000).replay  # far from the claim
""")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["privacy: test_it.py::test_anew: draws do not follow the seed, *"])


WRONG = {
    "audit(good, PAIRS)": "claim is missing; write epsilon or renyi *",
    "audit(good, PAIRS, epsilon=1, gdp=1)": "gdp cannot be used with epsilon; choose one",
    "audit(good, PAIRS, epsilon=-1)": "epsilon must *",
    "audit(good, PAIRS, epsilon=1, alpha=.1)": "audit: alpha is one for the whole suite; *",
    "audit(good, PAIRS, epsilon=1, sample=9)": "sample is no option; did you mean 'samples'?",
    "audit(good, PAIRS, epsilon=1, expect='violation')": "audit: expect must be a verdict, *",
    "audit(lambda x: 1 / 0, PAIRS, epsilon=1)": "*ZeroDivisionError*",
}


def test_wrong_use_is_an_error_of_one_line(suite):
    calls = [f"def test_{i}(audit): {call}" for i, call in enumerate([*WRONG, "audit"])]
    result = suite(
        "\n".join(calls)
        + """

def test_late(request):
    request.getfixturevalue("audit")

"""
    )
    result.assert_outcomes(failed=len(WRONG) + 2)
    result.stdout.fnmatch_lines(
        [
            *WRONG.values(),
            "takes the fixture audit and never called it: nothing is audited",
            "audit must be an argument of the test, *",
        ]
    )
    result.stdout.no_fnmatch_line("During handling of the above exception*")


def test_tests_and_their_audits_share_alpha_and_have_seeds_of_their_own(suite, pytester):
    pytester.makeini("[pytest]\nprivacy_seed = 5\nprivacy_alpha = 0.3")
    suite(THREE).assert_outcomes(passed=4)
    first = kept(pytester)
    shares = {name: 0.1 * FIRST / facts["alpha"] for name, facts in first.items()}
    wanted = {"one-a": 1, "one-b": 1, "three-0": 1, "three-1": 2**2, "three-2": 3**2}
    assert shares == pytest.approx(wanted)
    assert len({facts["seed"] for facts in first.values()}) == 5
    result = suite(THREE, "-o", "privacy_alpha=0.2", "-o", "privacy_seed=6", "-k", "one")
    result.stdout.fnmatch_lines(["privacy: 2 audits of 2 tests at alpha = 0.2 together: 2 not *"])
    again = kept(pytester)["one-a"]
    assert again["alpha"] == pytest.approx(0.1 * FIRST)
    assert again["seed"] != first["one-a"]["seed"]
    suite(THREE, "-k", "other").stdout.no_fnmatch_line("*privacy*")


@pytest.mark.slow(seconds=3)
def test_shares_and_seeds_are_the_same_in_any_process(suite, pytester):
    pytest.importorskip("xdist")
    suite(THREE).assert_outcomes(passed=4)
    first = kept(pytester)
    result = suite(THREE.replace("def test_other", "def test_another"), "-n1", apart=True)
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["privacy: 5 audits of 3 tests at alpha = 0.05 together: 5 not *"])
    assert kept(pytester) == first


def told(result):
    """Return the first line and the bound of each verdict that a session shows."""
    return [line for line in result.stdout.lines if line.startswith(("VIOLATED", "  bound"))]


def test_a_failure_shows_the_command_to_replay_it(suite):
    text = """
@pytest.mark.parametrize("name", ["a", "b c"])
def test_bad(audit, name):
    audit(good, **CLAIM)
    audit(bad, **CLAIM)
"""
    first = suite(text, "-o", "privacy_seed=4")
    first.assert_outcomes(failed=2)
    *_, command = [line for line in first.stdout.lines if line.startswith("  replay")]
    _, name, test, *options = shlex.split(command)
    assert (name, test) == ("pytest", "test_it.py::test_bad[b c]")
    assert told(suite(text, test, *options)) == told(first)[2:]


RERUN = """
AGAIN = {again!r}

from _pytest.runner import call_and_report

def pytest_runtest_protocol(item, nextitem):
    for when in ["setup", *AGAIN, "teardown"]:
        call_and_report(item, when, nextitem=nextitem)
    return True
"""


@pytest.mark.parametrize("again", [["call", "call"], ["call", "setup", "call"]])
def test_a_retry_is_refused(suite, again):
    text = """
times = []

def test_bad(audit):
    times.append(0)
    audit(good if len(times) > 1 else bad, **CLAIM)
"""
    result = suite(text, conftest=RERUN.format(again=again))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "REFUSED: this test has been audited before in this session, *",
            "VIOLATED: *",
            "privacy: 1 audit of 1 test at alpha = 0.05 together: 1 violated, 1 refused; *",
        ]
    )


@pytest.mark.parametrize("option", ["privacy_alpha=1", "privacy_seed=-1"])
def test_an_invalid_alpha_or_seed_stops_the_session(suite, option):
    result = suite("def test_it():\n    pass", "-o", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {option.split('=')[0]} must *"])


@pytest.mark.slow(seconds=1)
def test_the_example_of_the_page_has_the_output_of_the_page(suite, pytester):
    (code,) = re.findall("```python\n(.*?)```", PAGE, re.DOTALL)
    (lines,) = re.findall("\\$ pytest\n(.*?)\n```", PAGE, re.DOTALL)
    (options,) = re.findall("```toml\n(.*?)```", PAGE, re.DOTALL)
    result = suite(code)
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(re.sub(r"test_it\.py", "*.py", lines).splitlines())
    pytester.makefile(".toml", pyproject=options)
    suite(code, "-k", "count").stdout.fnmatch_lines(["privacy: * alpha = 0.01 *, seed 7"])


def test_the_summary_names_the_least_sensitive_test(suite):
    result = suite("""
FEW = {"samples": 1000, "check_sampler": False}

def test_large(audit):
    audit(good, PAIRS, epsilon=1, **FEW)

def test_small(audit):
    audit(good, [(0.0, 0.1)], epsilon=0.1, **FEW)

def test_of_a_fault(audit):
    audit(bad, [(0, 3)], epsilon=0.01, expect="violated", **FEW)
""")
    result.assert_outcomes(passed=3)
    (line,) = [line for line in result.outlines if "least sensitive" in line]
    assert line.endswith("where 0.1 is claimed: test_it.py::test_small")
    assert float(line.partition("would catch epsilon >= ")[2].split()[0]) > 0.2
