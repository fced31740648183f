"""Checks of the sampler: an audit needs independent draws of one distribution.

A constant seed, noise kept from call to call, or repeated draws would look like evidence. If draws
are independent and of one distribution, all orders of the draws on an input are equally likely.
The checks use the order only, given the values. So they hold for any distribution: discrete,
heavy-tailed, constant or of words. Each input has a dozen short calls, a long one and some of one
draw; the calls of all inputs are in random order.

- ``same seed``: a repeated call gives the same draws. If not, this is only noted.
- ``other seed``: short calls at different seeds do not agree position by position.
- ``repetitions``: equal outputs are not in the same call more often than by chance.
- ``independent draws``: the ranks of draws do not depend on those before.
- ``order of calls``: no group of draws differs from all others: by time, size of the call, or input
  of the previous call. In all draws of the audit, calls differ no more than chance allows.

For correct draws, the probability that any check fails is at most ``alpha``, by default 0.001;
`permutations` has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from epsilometer.numerics.arrays import Bools, Floats
from epsilometer.seeds import generator
from epsilometer_audit.checks import permutations
from epsilometer_audit.checks.calls import Calls, Draw, Sample, draw_calls
from epsilometer_audit.checks.permutations import Scores

_LEAST = 40  # draws of an input
ALPHA = 1e-3  # of all checks
# probabilities of a false failure over all inputs, .001 in all
_POSITIONS = 1e-4
_REPETITIONS = _DRAWN = 1.5e-4
_MATCHES = OTHERS = 5e-5
_SERIAL = 2e-4
_ORDER = 3e-4
_RUNS = 40  # runs of equal outputs with a common divisor of lengths: by chance 2^-40
_KINDS = 64  # different outputs with a common divisor of counts: by chance 3 sqrt(n) 2^-64 at most
_ROWS = 1_000_000  # recorded outputs that are checked
_STRETCH = 512  # successive rows of recorded outputs that are compared
_LONG = 2048  # the same of drawn outputs
_DEPENDS = "outputs of a call depend on those before"
_DOUBT = 1e-4  # of notes about recorded outputs
_SMALL_SHARE = 1e-2  # of the usual probability: it needs permutations of more pieces
_PASSED = {
    "same seed": "the same seed gives the same draws",
    "other seed": "other seeds give other draws",
    "repetitions": "no output is repeated more often than by chance",
    "independent draws": "outputs of a call do not depend on those before",
    "order of calls": "calls in another order give the same law",
}


@dataclass(frozen=True)
class Check:
    """A check, its result, and a line of explanation."""

    name: str
    result: Literal["passed", "failed", "note", "skipped"]
    text: str

    def to_plain(self) -> dict[str, Any]:
        """Return the check as plain values for JSON."""
        return {"name": self.name, "result": self.result, "words": self.text}


def check(
    draw: Draw, inputs: Sequence[Any], *, draws: int, seed: int, seeded: bool, alpha: float = ALPHA
) -> list[Check]:
    """Check whether draws are independent and of one distribution; see the module.

    There are so many ``draws`` of each input, 40 or more; 2000 detect a constant seed, kept state,
    repetitions and an autocorrelation of one half. A mechanism that is not ``seeded``, because it
    takes no seed or generator, may follow the global generators. ``alpha`` is the probability that
    any check fails if nothing is wrong, 0.001 at most.

    >>> def stuck(x, size, seed): return np.random.default_rng(7).laplace(x, 1, size)
    >>> checks = check(stuck, [0.0, 1.0], draws=400, seed=1, seeded=True)
    >>> [each.name for each in checks if each.result == "failed"]
    ['other seed']
    """
    rng = generator(seed, "checks of the sampler")
    share = min(alpha / ALPHA, 1.0)
    parts = permutations.PIECES if share > _SMALL_SHARE else 2 * permutations.PIECES
    samples = draw_calls(draw, inputs, draws, rng)
    replayed = _same_seed(draw, inputs, samples, seeded)
    serial = _serial(samples, parts, rng, _SERIAL * share)
    other = _other_seed(samples, parts, rng, serial.result != "failed", share)
    text = "not looked at, as draws are not independent"  # they would fail for the same cause
    repeated = Check("repetitions", "skipped", text)
    order = Check("order of calls", "skipped", text)
    if other.result != "failed":
        repeated = _repetitions(samples, _REPETITIONS * share)
    if "failed" not in (serial.result, other.result, repeated.result):
        order = _order(samples, _ORDER * share)
    return [replayed, other, repeated, serial, order]


def check_recorded(x: Any, x_prime: Any) -> list[Check]:
    """Check recorded outputs in the order of their files.

    Only repetitions that cannot be an accident fail: every output is there 2, 3, ... times. An
    order is noted, as outputs are shuffled before use.

    >>> draws = np.random.default_rng(1).laplace(0, 1, (2, 3000))
    >>> [each.result for each in check_recorded(np.repeat(draws[0], 3), draws[1])]
    ['failed']
    """
    rng = np.random.default_rng(0)
    named = {"outputs on x": x, "outputs on x'": x_prime}.items()
    sides = [Sample([side[:_ROWS]], name) for name, side in named if len(side) >= _LEAST]
    if fault := _multiplied(sides):
        return [Check("repetitions", "failed", fault)]
    repeated = Check("repetitions", "passed", _PASSED["repetitions"])
    for side in sides:
        for score, limit in _limited(side, _DOUBT):
            serial = permutations.serial_p(_stretches(score, _STRETCH), rng, limit)
            if min(serial, permutations.by_time(score)) <= limit:
                text = f"{side.name} are in an order of their own: sorted, or each depends on "
                text += "those before; the shuffle before use does not help if they are dependent"
                return [repeated, Check("independent draws", "note", text)]
    return [repeated, Check("independent draws", "passed", "outputs are in no order")]


def check_drawn(
    *outputs: Sequence[Any], alpha: float = ALPHA, calls: Sequence[Sequence[int]] = ((), ())
) -> Check:
    """Check all draws of an audit: whether calls share noise, or the distribution drifts.

    A drift too small for two thousand draws may be a violation after a hundred thousand. Each side
    has batches of ``outputs``, raw or encoded, in the order of the draws. ``alpha`` is that of all
    checks, of which this has 15 %; 0.001 at most. ``calls`` are the sizes of the calls of each
    side; without them it is not tested whether they differ from each other.
    """
    limit = _DRAWN * min(alpha / ALPHA, 1.0) / 4
    rng = np.random.default_rng(0)
    fault = ""
    parts = []
    tested = []
    for name, batches, sizes in zip(("on x", "on x'"), outputs, calls, strict=True):
        side = Sample(batches, name)
        repeated = _repetitions([side], limit / 2)
        if repeated.result == "failed":
            return repeated
        for score, most in _limited(side, limit / 2):
            if not fault and permutations.by_time(score) <= most:
                fault = f"{name}, late outputs differ from early ones: state is kept between calls"
            tested.append((name, _stretches(score, _LONG), most))
        parts.append(permutations.pieces(side.scores, sizes))
        del side  # in memory
    if not fault and permutations.calls_p(parts, rng, limit) <= limit:
        fault = "outputs of different calls differ more than those of one call: draws of a call "
        fault += "share noise, or state is kept between calls"
    if fault:
        return Check("order of calls", "failed", fault)
    for name, stretches, most in tested:
        if permutations.serial_p(stretches, rng, most) <= most:
            text = f"{name}, {_DEPENDS}: its draws share noise"
            return Check("independent draws", "failed", text)
    text = "early and late outputs of the audit have the same law"
    return Check("order of calls", "passed", text)


def _same_seed(draw: Draw, inputs: Sequence[Any], samples: Sequence[Calls], seeded: bool) -> Check:
    name = "same seed"
    skipped = Check(name, "skipped", "takes no seed: this audit cannot be replayed to the draw")
    for x, sample in zip(inputs, samples, strict=True):
        same = _repeats(draw, x, sample, sample.first)
        if not seeded:  # few outputs may be the same by chance
            if not same.all() or not _repeats(draw, x, sample, sample.longest).all():
                return skipped
        elif not same.all():
            text = "draws do not follow the seed: this audit cannot be replayed to the draw "
            text += f"({np.count_nonzero(~same)} of {same.size} differ {sample.name})"
            return Check(name, "note", text)
    return Check(name, "passed", _PASSED[name])


def _repeats(draw: Draw, x: Any, sample: Calls, i: int) -> Bools:
    """Tell which outputs of a call are the same when it is repeated."""
    size = sample.batches[i]
    first = sample.tables[0][sample.rows(i)].reshape(size, -1)
    again = sample.layout.encode(draw(x, size, sample.seeds[i])).reshape(size, -1)
    same: Bools = ((first == again) | (np.isnan(first) & np.isnan(again))).all(axis=1)
    return same


def _serial(samples: Sequence[Calls], parts: int, rng: np.random.Generator, limit: float) -> Check:
    for sample in samples:
        for score, most in _limited(sample, limit / len(samples)):
            if permutations.serial_p(np.array_split(score[sample.long], parts), rng, most) <= most:
                text = f"{sample.name}, {_DEPENDS}: noise is reused, or draws are those of a chain"
                return Check("independent draws", "failed", text)
    return Check("independent draws", "passed", _PASSED["independent draws"])


def _limited(sample: Sample, limit: float) -> Iterator[tuple[Scores, float]]:
    """Yield the scores, each with its part of a limit."""
    for score in sample.scores:
        yield score, limit / len(sample.scores)


def _other_seed(
    samples: Sequence[Calls], parts: int, rng: np.random.Generator, within: bool, share: float
) -> Check:
    """``within`` tells whether outputs within a call seem independent."""
    name = "other seed"
    for sample in samples:
        match = permutations.agreement(sample.codes, sample.short)
        alike = match.same == match.every and match.lag == sample.short.shape[1]
        if match.p * len(samples) <= _MATCHES * share and (within or alike):
            text = f"{sample.name}, {match.same} of {match.every} outputs are those of an earlier "
            text += "call at another seed: a constant seed inside, or noise that is kept for "
            return Check(name, "failed", f"{text}further calls")
        if not within:
            continue
        for score, limit in _limited(sample, _POSITIONS * share / len(samples)):
            if permutations.places_p(score[sample.short], rng, parts, limit) <= limit:
                text = f"{sample.name}, outputs at the same place of different calls go together: "
                return Check(name, "failed", f"{text}some of the randomness has a constant seed")
    for sample in samples:
        if sample.times.size == 1:
            text = f"{sample.name}, all outputs are the same: there is no noise, or one constant "
            return Check(name, "note", f"{text}seed for every draw")
    return Check(name, "passed", _PASSED[name])


def _repetitions(sides: Sequence[Sample], limit: float) -> Check:
    """Check whether draws of a call are repeated in it, or share noise."""
    for side in sides:
        if permutations.clustered(side.codes, side.times, side.batches) * len(sides) <= limit:
            text = f"{side.name}, equal outputs are of the same call more often than by chance: "
            text += "its draws share noise, or each is handed out several times"
            return Check("repetitions", "failed", text)
    return Check("repetitions", "passed", _PASSED["repetitions"])


def _order(samples: Sequence[Calls], limit: float) -> Check:
    tests: list[tuple[float, str]] = []
    for sample in samples:
        names, inside = zip(*sample.groups(), strict=True)
        texts = [f"{sample.name}, {name} differ from the others" for name in names]
        groups = np.array(inside, float)
        for score in sample.scores:
            p_values = permutations.unlikely(score, groups.sum(axis=1), groups @ score[:])
            tests += zip(p_values.tolist(), texts, strict=True)
    p, text = min(tests, key=itemgetter(0), default=(1.0, ""))
    if p * len(tests) <= limit and tests:
        law = "state is kept between calls, or the law depends on how many draws are asked for"
        return Check("order of calls", "failed", f"{text}: {law}")
    return Check("order of calls", "passed", _PASSED["order of calls"])


def _multiplied(sides: Sequence[Sample]) -> str:
    """Return on which side every recorded output is there 2, 3, ... times, or nothing."""
    for side in sides:
        ends = np.flatnonzero(np.append(side.codes[1:] != side.codes[:-1], True))
        runs = np.diff(ends)[:-1]  # without the first and the last, which may be cut
        in_a_row = math.gcd(*runs.tolist())
        times = math.gcd(*side.times.tolist())
        fault = ""
        if runs.size >= _RUNS and in_a_row > 1:
            fault = f"each is written {in_a_row} times in a row"
        elif side.times.size >= _KINDS and times > 1:
            fault = f"each is there {times} times, or a multiple of that"
        if fault:
            return f"{side.name}: {fault}; independent draws are needed, each once"
    return ""


def _stretches(score: Scores, longest: int) -> list[Floats]:
    """Return the scores of as many stretches of successive draws as the tests take pieces."""
    size = score.classes.size
    stretch = min(size // permutations.PIECES, longest)
    starts = np.linspace(0, size - stretch, permutations.PIECES).astype(int).tolist()
    return [score[i : i + stretch] for i in starts]
