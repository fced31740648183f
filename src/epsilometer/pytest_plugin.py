"""Audits in pytest: a fixture ``audit``, and one alpha for the whole suite.

    def test_noisy_count(audit):
        audit(noisy_count, pairs=[([0, 0, 1], [0, 1, 1])], claim=em.pure(1.0))

The test fails where the audit says "violated", "invalid" or "undecided". What calls have in common
can stand in a mark, on a test, a class or a module; the nearest mark, and the call itself, win:

    @pytest.mark.privacy(epsilon=1, pairs=[([0, 0, 1], [0, 1, 1])], samples=20_000)
    def test_noisy_count(audit):
        audit(noisy_count)

**Alpha.** Where every claim holds, the probability that any audit of a session says "violated" is
``privacy_alpha`` at most (Bonferroni). The tests that were selected and take ``audit`` get equal
shares. How often a test will call it is not known beforehand: its i-th call gets 6 / (pi i)^2 of
its share, .61 for the first and 1 in all. Processes of pytest-xdist collect the same tests and so
find the same shares. Parts of a suite that run in sessions of their own have an alpha each.

**Seed.** All draws follow from ``privacy_seed``, the test's id and the number of the call, in
whatever order and process tests run. A failure shows the command that replays it to the draw.

**Retries** are refused: a test that is run again until it passes has no level. A new session at the
same seed is none, as it makes the same draws; of mechanisms that take no seed the summary warns.

pytest loads this module wherever the package is installed: it imports nothing that costs time.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar

import pytest

if TYPE_CHECKING:
    from epsilometer.auditing.question import Pairs
    from epsilometer.auditing.statistics.claims import AnyClaim
    from epsilometer.auditing.verdict import Verdict, Word

_MARK = (
    "privacy(epsilon, delta, gdp, zcdp, renyi, claim, pairs, samples, detect, expect, ...): what "
    "the fixture audit is to take where a call does not say it; any option of epsilometer.audit."
)
_Number = TypeVar("_Number", int, float)
_CLAIMS = ("claim", "epsilon", "delta", "gdp", "zcdp", "renyi")
_OF_THE_SUITE = ("alpha", "seed")
_EXPECTED = "not refuted"  # or better
_SENSITIVE = ("not refuted", "holds", "undecided")  # of which it is of use what would be violated
_ORDER = ("violated", "invalid", "undecided", "holds", "not refuted", "unfinished", "refused")
_REPORTED = "privacy_audits"  # where a report, which xdist sends over, holds its audits


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add alpha and seed, to the command line and to the configuration."""
    group = parser.getgroup("privacy", "audits of differential privacy (epsilometer)")
    real: Literal["float", "string"] = "float" if pytest.version_tuple >= (8, 4) else "string"
    whole: Literal["int", "string"] = "int" if pytest.version_tuple >= (8, 4) else "string"
    alpha = "probability of any false violation, over all audits of the session"
    parser.addini("privacy_alpha", alpha, real, 0.05)
    group.addoption("--privacy-alpha", type=float, metavar="ALPHA", help=f"{alpha}, default 0.05")
    seed = "what the draws of all audits follow from"
    parser.addini("privacy_seed", seed, whole, 0)
    group.addoption("--privacy-seed", type=int, metavar="SEED", help=f"{seed}, default 0")


def pytest_configure(config: pytest.Config) -> None:
    """Check what is asked for, and begin to keep count."""
    config.addinivalue_line("markers", _MARK)
    alpha = _option(config, "privacy_alpha", float)
    if not 0 < alpha < 1:
        raise pytest.UsageError(f"privacy_alpha must lie strictly between 0 and 1, got {alpha!r}")
    seed = _option(config, "privacy_seed", int)
    if seed < 0:
        raise pytest.UsageError(f"privacy_seed must be 0 or more, got {seed!r}")
    config.pluginmanager.register(_Suite(alpha, seed), "epsilometer-suite")


def _option(config: pytest.Config, name: str, kind: Callable[[Any], _Number]) -> _Number:
    given = config.getoption(name)
    try:
        return kind(config.getini(name) if given is None else given)
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"{name}: {error}") from None


@pytest.fixture
def audit(request: pytest.FixtureRequest) -> Auditor:
    """Audit mechanisms of differential privacy: ``audit(mechanism, pairs=[...], claim=...)``.

    The verdict is returned; the test fails unless it is "not refuted" or "holds", or what
    ``expect`` says. Takes the options of `epsilometer.audit`, but for alpha and seed, which are the
    suite's (``--privacy-alpha``, ``--privacy-seed``), and claims as ``epsilon=1, delta=1e-5``,
    ``gdp=1``, ``zcdp=.5`` or ``renyi={2: .5}``, too. ``audit.outputs`` audits recorded outputs.
    """
    test = request.node.stash.get(_TEST, None)
    if test is None:
        _fail(
            "audit must be an argument of the test, or of a fixture that it takes: the tests that "
            "share alpha are counted before any is run"
        )
    test.taken = True
    return Auditor(test)


@dataclass
class _Test:
    """What is known of one test that takes ``audit``."""

    item: pytest.Item
    share: float
    suite: _Suite
    attempt: int = 0
    phase: str = ""
    audited_in: int | None = None
    calls: int = 0
    taken: bool = False
    said: str = ""
    pending: list[dict[str, Any]] = field(default_factory=list)

    def enters(self, phase: str) -> None:
        """Notice when a test is run again, from its setup or from its call."""
        if phase == "setup" or self.phase != "setup":
            self.attempt += 1
        self.phase = phase

    def next_call(self) -> tuple[int, float, int]:
        """Return number, alpha and seed of the next audit; refuse it in a second attempt."""
        __tracebackhide__ = True
        if self.audited_in not in (None, self.attempt):
            self.pending.append({"test": self.item.nodeid, "verdict": "refused"})
            first = f". The first time it said:\n{self.said}" if self.said else ""
            _fail(
                "REFUSED: this test has been audited before in this session, and an audit that is "
                f"run until it passes has no level; run it once, without reruns{first}"
            )
        self.audited_in = self.attempt
        self.calls += 1
        words = json.dumps([self.suite.seed, "pytest", self.item.nodeid, self.calls])
        seed = int.from_bytes(hashlib.sha256(words.encode()).digest()[:4], "big") >> 1
        return self.calls, self.share * 6 / (math.pi * self.calls) ** 2, seed


_TEST = pytest.StashKey[_Test]()


class Auditor:
    """The fixture ``audit``."""

    def __init__(self, test: _Test) -> None:
        self._test = test

    def __call__(
        self,
        mechanism: Any,
        pairs: Pairs | None = None,
        claim: AnyClaim | None = None,
        *,
        expect: Word | None = None,
        **options: Any,
    ) -> Verdict:
        """Audit a mechanism; the options are those of `epsilometer.audit`.

        ``expect`` is the verdict without which the test fails: "not refuted" (or "holds") if not
        given, "violated" where a violation is to be shown.
        """
        __tracebackhide__ = True
        from epsilometer.auditing.audit import audit

        given = {"pairs": pairs, "claim": claim, "expect": expect} | options
        return self._run(audit, mechanism, given)

    def outputs(
        self,
        outputs: Any,
        claim: AnyClaim | None = None,
        *,
        expect: Word | None = None,
        **options: Any,
    ) -> Verdict:
        """Audit recorded outputs; the options are those of `epsilometer.audit_outputs`."""
        __tracebackhide__ = True
        from epsilometer.auditing.audit import audit_outputs

        return self._run(audit_outputs, outputs, {"claim": claim, "expect": expect} | options)

    def _run(
        self, function: Callable[..., Verdict], what: Any, given: Mapping[str, Any]
    ) -> Verdict:
        __tracebackhide__ = True
        from epsilometer.auditing.formats import short
        from epsilometer.auditing.verdict import EXIT_CODES
        from epsilometer.errors import EpsilometerError, suggest

        caller = sys._getframe(2)
        test, suite = self._test, self._test.suite
        options = _merged(test.item, function, given)
        expect = options.pop("expect", None) or _EXPECTED
        if expect not in EXIT_CODES:
            _fail(f"audit: expect must be a verdict, got {expect!r}{suggest(expect, EXIT_CODES)}")
        number, alpha, seed = test.next_call()
        told: dict[str, Any] = {
            "test": test.item.nodeid,
            "tests": suite.tests,
            "alpha": alpha,
            "verdict": "unfinished",
            "expected": expect != _EXPECTED,
            "seeded": True,
        }
        test.pending.append(told)
        verdict, error = None, ""
        try:
            claim = _claim(options)
            verdict = function(what, claim=claim, alpha=alpha, seed=seed, **options)
        except EpsilometerError as found:
            error = "\n".join([str(found), *getattr(found, "__notes__", ())])
        if verdict is None:
            test.said = f"{error}\n{_row('place', _place(caller, test.item))}"
            _fail(test.said)
        told["verdict"] = verdict.verdict
        if (worst := verdict.worst) and verdict.verdict in _SENSITIVE:
            level, claimed = verdict.detectable or math.inf, worst.claimed
            least = "at an unknown level" if level == math.inf else f">= {short(level, claimed)}"
            words = f"{worst.quantity} {least} where {short(claimed)} is claimed"
            told["caught"] = level / max(claimed, 1e-12), words
        told["seeded"] = not any(
            check["name"] == "same seed" and check["result"] != "passed" for check in verdict.checks
        )
        if told["seeded"]:
            name = shlex.quote(test.item.nodeid)
            command = f"pytest {name} --privacy-alpha={test.share!r} --privacy-seed={suite.seed}"
            verdict = replace(verdict, replay=command)
        if verdict.verdict != expect and (verdict.verdict, expect) != ("holds", _EXPECTED):
            first, *rest = verdict.lines()
            demanded = f" ({expect} was expected)" if told["expected"] else ""
            share = f"{alpha:.3g} for audit {number} of this test, {suite.alpha:g} for all tests"
            rows = [*rest, _row("alpha", share), _row("place", _place(caller, test.item))]
            test.said = "\n".join([first + demanded, *rows])
            _fail(test.said)
        return verdict


class _Suite:
    """Alpha and seed of a session, its tests, and what came of them."""

    def __init__(self, alpha: float, seed: int) -> None:
        self.alpha = alpha
        self.seed = seed
        self.tests = 0
        self.told: list[dict[str, Any]] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Split alpha over the tests that were selected and take the fixture."""
        items = [item for item in session.items if "audit" in getattr(item, "fixturenames", ())]
        self.tests = len(items)
        for item in items:
            item.stash[_TEST] = _Test(item, self.alpha / len(items), self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Fail a marked test that audits nothing."""
        marked = any(mark.name == "privacy" for mark in item.own_markers)
        if marked and "audit" not in getattr(item, "fixturenames", ()):
            _fail("is marked privacy, but does not take the fixture audit: nothing is audited")
        if test := item.stash.get(_TEST, None):
            test.enters("setup")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fail a test that takes ``audit`` itself, passes, and has audited nothing."""
        test = item.stash.get(_TEST, None)
        if test is not None:
            test.enters("call")
        result = yield
        if test is not None and test.taken and not test.calls and _is_argument(item):
            _fail("takes the fixture audit and never called it: nothing is audited")
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Let the report hold what was audited since the one before."""
        report = yield
        test = item.stash.get(_TEST, None)
        if test is not None and test.pending:
            vars(report)[_REPORTED], test.pending = test.pending, []
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take it out again, where the summary is made."""
        self.told += vars(report).get(_REPORTED, [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how often, at which alpha, and what came of it."""
        for line in self.lines():
            terminalreporter.write_line(line)

    def lines(self) -> list[str]:
        """Return the lines of the summary; none where nothing was audited."""
        if not self.told:
            return []
        audits = [told for told in self.told if told["verdict"] != "refused"]
        tests = {told["test"] for told in audits}
        found = Counter((told["verdict"], told.get("expected", False)) for told in self.told)
        words = [
            f"{count} {verdict}{' as expected' * expected}"
            for (verdict, expected), count in sorted(found.items(), key=_place_in_order)
        ]
        sharing = max((told["tests"] for told in audits), default=0)
        of = f" ({sharing} share alpha)" if sharing > len(tests) else ""
        smallest = min((told["alpha"] for told in audits), default=self.alpha)
        lines = [
            f"privacy: {_many(len(audits), 'audit')} of {_many(len(tests), 'test')}{of} at alpha = "
            f"{self.alpha:g} together: {', '.join(words)}; smallest share {smallest:.3g}, "
            f"seed {self.seed}"
        ]
        caught = [(*told["caught"], told["test"]) for told in audits if "caught" in told]
        for _, level, test in sorted(caught)[-1:]:
            lines.append(f"privacy: the least sensitive test would catch {level}: {test}")
        anew = sorted({told["test"] for told in audits if not told["seeded"]})
        if anew:
            more = f" and {len(anew) - 1} more" if len(anew) > 1 else ""
            lines.append(
                f"privacy: {anew[0]}{more}: draws do not follow the seed, so every session draws "
                "anew and has an alpha of its own; do not repeat it until it passes"
            )
        return lines


def _place_in_order(found: tuple[tuple[str, bool], int]) -> tuple[int, bool]:
    (verdict, expected), _ = found
    return _ORDER.index(verdict), expected


def _many(number: int, name: str) -> str:
    return f"{number} {name}{'s' * (number != 1)}"


def _merged(
    item: pytest.Item, function: Callable[..., Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a call: its own, then those of the nearest mark that has them."""
    __tracebackhide__ = True
    from epsilometer.auditing.audit import audit, audit_outputs

    known = {"expect", *_CLAIMS, *list(inspect.signature(function).parameters)[1:]}
    either = known.union(*(inspect.signature(one).parameters for one in (audit, audit_outputs)))
    options: dict[str, Any] = {"details": False}
    marks = []
    for mark in reversed(list(item.iter_markers("privacy"))):
        if mark.args:
            _fail(f"mark privacy takes its options by name, got {mark.args[0]!r}")
        _refuse(mark.kwargs, either, "mark privacy")
        marks.append({name: value for name, value in mark.kwargs.items() if name in known})
    own = {name: value for name, value in given.items() if value is not None}
    _refuse(own, known, "audit")
    for layer in (*marks, own):
        if any(name in layer for name in _CLAIMS):  # one claim takes the place of another
            options = {name: value for name, value in options.items() if name not in _CLAIMS}
        options |= layer
    if "pairs" in known and "pairs" not in options:
        _fail("pairs of neighbouring inputs are missing: audit(mechanism, pairs=[(x, x'), ...])")
    return options


def _refuse(given: Mapping[str, Any], known: set[str], where: str) -> None:
    from epsilometer.errors import suggest

    for name in given:
        if name in _OF_THE_SUITE:
            _fail(f"{where}: {name} is one for the whole suite; set privacy_{name}")
        if name not in known:
            _fail(f"{where}: no option {name!r}{suggest(name, known - set(_OF_THE_SUITE))}")


def _claim(options: dict[str, Any]) -> AnyClaim:
    """Take the claim out of the options."""
    __tracebackhide__ = True
    from epsilometer.auditing.question import claim_of

    given = {name: options.pop(name) for name in _CLAIMS if name in options}
    if "claim" in given and len(given) == 1:
        return given["claim"]  # type: ignore[no-any-return]
    if not given or "claim" in given:
        _fail(
            "one claim is needed: claim=em.pure(1.0), epsilon=1 (with delta=1e-5), gdp=1, zcdp=.5 "
            f"or renyi={{2: .5}}; got {' and '.join(given) or 'none'}"
        )
    return claim_of(given)


def _is_argument(item: pytest.Item) -> bool:
    """Tell whether the test itself takes ``audit``, and not only a fixture that it takes."""
    function = getattr(item, "function", None)
    return function is not None and "audit" in inspect.signature(function).parameters


def _place(frame: Any, item: pytest.Item) -> str:
    file = Path(frame.f_code.co_filename)
    root = item.config.rootpath
    shown = file.relative_to(root) if file.is_relative_to(root) else file
    return f"{shown}:{frame.f_lineno}"


def _row(name: str, text: str) -> str:
    return f"  {name:12}{text}"


def _fail(text: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(text, pytrace=False)
