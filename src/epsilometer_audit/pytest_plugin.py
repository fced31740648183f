"""Audits in pytest: a fixture ``audit``, and one alpha for the whole suite (docs/pytest.md).

    def test_noisy_count(audit):
        audit(noisy_count, pairs=[([0, 0, 1], [0, 1, 1])], epsilon=1, samples=20_000)

The selected tests that take ``audit`` share alpha, and the calls of each (see `shares`). All draws
follow from the seed, the test's id and the number of the call. pytest loads this module wherever
the package is installed: it imports nothing that costs time.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from epsilometer_audit.question.shares import share_of

if TYPE_CHECKING:
    from epsilometer.claims import AnyClaim
    from epsilometer_audit.answer.verdict import Verdict
    from epsilometer_audit.drawing import Progress
    from epsilometer_audit.question.request import Pairs

_EXPECTED = "not refuted"  # or better
_ORDER = ("violated", "invalid", "undecided", "not refuted", "unfinished", "refused")
_REPORTED = "privacy_audit"  # a property of reports, which xdist sends over, for each audit


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add alpha and seed to the configuration; on the command line ``-o`` sets them."""
    kinds: Any = ("float", "int") if pytest.version_tuple >= (8, 4) else ("string", "string")
    text = "probability of any false violation, over all audits of the session"
    parser.addini("privacy_alpha", text, kinds[0], 0.05)
    parser.addini("privacy_seed", "what the draws of all audits follow from", kinds[1], 0)


def pytest_configure(config: pytest.Config) -> None:
    """Check alpha and seed, and register the suite."""
    try:
        alpha = float(config.getini("privacy_alpha"))
        seed = int(config.getini("privacy_seed"))
    except (TypeError, ValueError) as error:
        raise pytest.UsageError(f"privacy_alpha and privacy_seed: {error}") from None
    if not 0 < alpha < 1:
        raise pytest.UsageError(f"privacy_alpha must lie strictly between 0 and 1, got {alpha}")
    if seed < 0:
        raise pytest.UsageError(f"privacy_seed must be 0 or more, got {seed}")
    config.pluginmanager.register(_Suite(alpha, seed), "epsilometer-suite")


@pytest.fixture
def audit(request: pytest.FixtureRequest) -> Auditor:
    """Audit mechanisms of differential privacy: ``audit(mechanism, pairs=[...], claim=...)``.

    It returns the verdict; the test fails unless that is "not refuted", or equals
    ``expect``. It takes the options of `epsilometer.audit` except alpha and seed, which are the
    suite's (``privacy_alpha``, ``privacy_seed``), and claims also as ``epsilon=1, delta=1e-5``,
    ``gdp=1`` or ``renyi={2: .5}``.
    """
    test: Auditor | None = request.node.stash.get(_TEST, None)
    if test is None:
        text = "audit must be an argument of the test, or of a fixture that it takes: the tests "
        _fail(f"{text}that share alpha are counted before any is run")
    test.requested = True
    return test


@dataclass
class Auditor:
    """The fixture ``audit`` of a test, with its state."""

    item: pytest.Item
    suite: _Suite
    requested: bool = False
    called: bool = False  # in this attempt
    again: bool = False  # whether an earlier attempt has audited
    calls: int = 0
    message: str = ""

    def fail(self, lines: list[str]) -> NoReturn:
        """Fail the test with these lines, which a second attempt shows again."""
        __tracebackhide__ = True
        self.message = "\n".join(lines)
        _fail(self.message)

    def next_call(self) -> tuple[float, int]:
        """Return alpha and seed of the next audit; refuse it in a second attempt."""
        __tracebackhide__ = True
        if self.again:
            refused = {"test": self.item.nodeid, "verdict": "refused"}
            self.item.user_properties.append((_REPORTED, refused))
            first = f". The first time it said:\n{self.message}" if self.message else ""
            text = "REFUSED: this test has been audited before in this session, and an audit that "
            _fail(f"{text}is run until it passes has no level; run it once, without reruns{first}")
        self.calls += 1
        identity = json.dumps([self.suite.seed, "pytest", self.item.nodeid, self.calls])
        seed = int.from_bytes(hashlib.sha256(identity.encode()).digest()[:4], "big") >> 1
        return share_of(self.suite.alpha, self.suite.tests, self.calls), seed

    def __call__(
        self,
        mechanism: Any,
        pairs: Pairs | None = None,
        claim: AnyClaim | None = None,
        *,
        expect: str = _EXPECTED,
        progress: Progress | None = None,
        **options: Any,
    ) -> Verdict:
        """Audit a mechanism as `epsilometer.audit` does; fail unless the verdict is as expected."""
        __tracebackhide__ = True
        from epsilometer.errors import EpsilometerError, suggest
        from epsilometer_audit.answer.verdict import EXIT_CODES, as_expected
        from epsilometer_audit.auditing import run
        from epsilometer_audit.question.request import Request, options_of, request_of

        suite = self.suite
        test = self.item.nodeid
        for name, option in options_of(Request).items():
            if option.shared and name in options:
                _fail(f"audit: {name} is one for the whole suite; set privacy_{name}")
        if expect not in EXIT_CODES:
            _fail(f"audit: expect must be a verdict, got {expect!r}{suggest(expect, EXIT_CODES)}")
        alpha, seed = self.next_call()
        frame = sys._getframe(1)
        root = self.item.config.rootpath
        file = Path(frame.f_code.co_filename)
        shown = file.relative_to(root) if file.is_relative_to(root) else file
        place = f"  place       {shown}:{frame.f_lineno}"
        record: dict[str, Any] = {"test": test, "alpha": alpha}
        record |= {"verdict": "unfinished", "expected": False, "seeded": True}
        self.item.user_properties.append((_REPORTED, record))
        try:
            if claim is not None:
                options["claim"] = claim
            shared = {"alpha": alpha, "seed": seed}
            request = request_of(options, mechanism=mechanism, pairs=pairs, **shared)
            verdict = run(request, progress)
        except EpsilometerError as error:
            lines = [str(error)]
            verdict = None
        if verdict is None:  # outside the handler, whose traceback would be shown
            self.fail([*lines, place])
        record["seeded"] = verdict.follows_seed
        record |= {"verdict": verdict.verdict, "caught": _caught(verdict)}
        record["expected"] = verdict.verdict == expect != _EXPECTED
        if record["seeded"]:
            share = share_of(suite.alpha, suite.tests)
            options_of_all = f"-o privacy_alpha={share!r} -o privacy_seed={suite.seed}"
            verdict = replace(verdict, replay=f"pytest {shlex.quote(test)} {options_of_all}")
        if as_expected(verdict.verdict, expect) == "no":
            first, *others = verdict.lines()
            if expect != _EXPECTED:
                first += f" ({expect} was expected)"
            part = f"{alpha:.3g} for audit {self.calls} of this test, {suite.alpha:g} for all tests"
            self.fail([first, *others, f"  alpha       {part}", place])
        return verdict


_TEST = pytest.StashKey[Auditor]()


def _caught(verdict: Verdict) -> tuple[float, str] | None:
    """Return the detectable level in multiples of the claim and in words, of a claim that holds."""
    from epsilometer_audit.outputs.formats import short

    if not verdict.bounds or verdict.verdict not in ("not refuted", "undecided"):
        return None
    claimed = verdict.bounds[0].claimed
    least = math.inf
    level = "at an unknown level"
    if verdict.detectable:
        least = verdict.detectable
        level = f">= {short(least, claimed)}"
    text = f"{verdict.bounds[0].quantity} {level} where {short(claimed)} is claimed"
    return least / max(claimed, 1e-12), text


@dataclass(eq=False)
class _Suite:
    """Alpha and seed of a session, the number of its tests, and records of their audits."""

    alpha: float
    seed: int
    tests: int = 0
    records: list[dict[str, Any]] = field(default_factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests that were selected and take the fixture: they share alpha."""
        items = [item for item in session.items if "audit" in getattr(item, "fixturenames", ())]
        self.tests = len(items)
        for item in items:
            item.stash[_TEST] = Auditor(item, self)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin an attempt."""
        if test := item.stash.get(_TEST, None):
            test.again = test.calls > 0
            test.called = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Fail a test that takes ``audit`` itself, passes, and has audited nothing."""
        test = item.stash.get(_TEST, None)
        if test is not None:  # a second call without a setup is another attempt, too
            test.again = test.again or (test.called and test.calls > 0)
            test.called = True
        result = yield
        function = getattr(item, "function", None)  # which may take it by another fixture only
        direct = function is not None and "audit" in inspect.signature(function).parameters
        if test is not None and test.requested and not test.calls and direct:
            _fail("takes the fixture audit and never called it: nothing is audited")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Collect the audits of a test, in the process of the summary; retries repeat them."""
        for name, record in report.user_properties if report.when == "teardown" else ():
            if name == _REPORTED and record not in self.records:
                self.records.append(record)  # type: ignore[arg-type]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the number of audits, their alpha and verdicts."""
        for line in self.lines() if self.records else ():
            terminalreporter.write_line(f"privacy: {line}")

    def lines(self) -> Iterator[str]:
        """Yield the lines of the summary."""
        from epsilometer_audit.serving.errors import counted

        audits = [record for record in self.records if record["verdict"] != "refused"]
        tests = {record["test"] for record in audits}
        smallest = min((record["alpha"] for record in audits), default=self.alpha)
        text = f"{counted(len(audits), 'audit')} of {counted(len(tests), 'test')}"
        shares = f"smallest share {smallest:.3g}, seed {self.seed}"
        yield f"{text} at alpha = {self.alpha:g} together: {self._verdicts()}; {shares}"
        caught = []
        anew = set()
        for record in audits:
            if record.get("caught"):
                caught.append((*record["caught"], record["test"]))
            if not record["seeded"]:
                anew.add(record["test"])
        if caught:
            _, level, test = max(caught)
            yield f"the least sensitive test would catch {level}: {test}"
        if anew:
            text = min(anew)
            if len(anew) > 1:
                text += f" and {len(anew) - 1} more"
            text += ": draws do not follow the seed, so every session draws "
            yield f"{text}anew and has an alpha of its own; do not repeat it until it passes"

    def _verdicts(self) -> str:
        """Return how many audits have each verdict, the worst first."""
        counts: Counter[tuple[int, bool]] = Counter()
        for record in self.records:
            counts[_ORDER.index(record["verdict"]), record.get("expected", False)] += 1
        texts = []
        for (place, expected), number in sorted(counts.items()):
            text = f"{number} {_ORDER[place]}"
            texts.append(f"{text} as expected" if expected else text)
        return ", ".join(texts)


def _fail(text: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(text, pytrace=False)
