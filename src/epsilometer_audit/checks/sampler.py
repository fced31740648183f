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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilometer import checks
from epsilometer.arrays import Bools, Floats
from epsilometer.seeds import generator
from epsilometer_audit.checks import permutations as shuffled
from epsilometer_audit.checks.calls import Calls, Draw, Sample, draw_calls

Result = Literal["passed", "failed", "note", "skipped"]

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
_STRETCH, _LONG = 512, 2048  # successive rows, recorded and drawn
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
    result: Result
    text: str

    def to_plain(self) -> dict[str, Any]:
        """Return the check as plain values for JSON."""
        return {"name": self.name, "result": self.result, "words": self.text}


def _result(name: str, text: str = "") -> Check:
    """Return a check that failed with this text, or passed without one."""
    return Check(name, "failed", text) if text else Check(name, "passed", _PASSED[name])


def check(
    draw: Draw,
    inputs: Sequence[Any],
    *,
    draws: int,
    seed: int,
    seeded: bool,
    alpha: float = ALPHA,
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
    checks.integer("draws", draws, minimum=_LEAST)
    if not inputs:
        return []
    rng = generator(seed, "checks of the sampler")
    samples = draw_calls(draw, inputs, draws, rng)
    share = _share(alpha)
    replayed = _same_seed(draw, inputs, samples, seeded)
    serial = _independent(samples, rng, share)
    other = _other_seed(samples, rng, serial.result != "failed", share)
    text = "not looked at, as draws are not independent"  # they would fail for the same cause
    repeated, order = (Check(name, "skipped", text) for name in ("repetitions", "order of calls"))
    if other.result != "failed":
        repeated = _result("repetitions", _repetitions(samples, _REPETITIONS * share))
    if "failed" not in (serial.result, other.result, repeated.result):
        order = _order(samples, share)
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
    sides = [
        Sample([side[:_ROWS]], f"outputs on {name}")
        for side, name in ((x, "x"), (x_prime, "x'"))
        if len(side) >= _LEAST
    ]
    repeated = _result("repetitions", _recorded_repetitions(sides))
    return [repeated] if repeated.result == "failed" else [repeated, _recorded_order(sides, rng)]


def check_drawn(
    x: Sequence[Any],
    x_prime: Sequence[Any],
    *,
    alpha: float = ALPHA,
    calls: Sequence[Sequence[int]] = ((), ()),
) -> Check:
    """Check all draws of an audit: whether calls share noise, or the distribution drifts.

    A drift too small for two thousand draws may be a violation after a hundred thousand. Each side
    has batches of outputs, raw or encoded, in the order of the draws. ``alpha`` is that of all
    checks, of which this has 15 %; 0.001 at most. ``calls`` are the sizes of the calls of each
    side; without them it is not tested whether they differ from each other.
    """
    name, share = "order of calls", _share(alpha)
    limit, rng = _DRAWN * share / 4, np.random.default_rng(0)
    sides = [Sample(batches, f"on {x}") for batches, x in ((x, "x"), (x_prime, "x'"))]
    if text := _repetitions(sides, limit):
        return _result("repetitions", text)
    for side in sides:
        p_values = [
            shuffled.by_time(score) * len(side.scores) * len(sides) for score in side.scores
        ]
        if min(p_values, default=1.0) <= limit:
            text = f"{side.name}, late outputs differ from early ones"
            return _result(name, f"{text}: state is kept between calls")
    if shuffled.calls_p([side.scores for side in sides], calls, rng, limit) <= limit:
        text = "outputs of different calls differ more than those of one call: draws of a call "
        return _result(name, f"{text}share noise, or state is kept between calls")
    for side in sides:
        serial = limit / max(len(side.scores), 1) / len(sides)
        if any(
            shuffled.serial_p(pieces, rng, serial) <= serial for pieces in _stretches(side, _LONG)
        ):
            text = f"{side.name}, outputs of a call depend on those before: its draws share noise"
            return _result("independent draws", text)
    return Check(name, "passed", "early and late outputs of the audit have the same law")


def _same_seed(draw: Draw, inputs: Sequence[Any], samples: Sequence[Calls], seeded: bool) -> Check:
    name = "same seed"
    skipped = Check(name, "skipped", "takes no seed: this audit cannot be replayed to the draw")
    for x, sample in zip(inputs, samples, strict=True):
        same = _repeats(draw, x, sample, sample.first)
        if not seeded:  # few outputs may be the same by chance
            if not same.all() or not _repeats(draw, x, sample, sample.longest).all():
                return skipped
        elif not same.all():
            size = sample.calls[sample.first].size
            text = "draws do not follow the seed: this audit cannot be replayed to the draw "
            text += f"({np.count_nonzero(~same)} of {size} differ {sample.name})"
            return Check(name, "note", text)
    return _result(name)


def _repeats(draw: Draw, x: Any, sample: Calls, i: int) -> Bools:
    """Tell which outputs of a call are the same when it is repeated."""
    call = sample.calls[i]
    first = sample.table[sample.rows(i)].reshape(call.size, -1)
    again = sample.layout.encode(draw(x, call.size, call.seed)).reshape(call.size, -1)
    same: Bools = ((first == again) | (np.isnan(first) & np.isnan(again))).all(axis=1)
    return same


def _share(alpha: float) -> float:
    """Return the part of the usual probability of each check."""
    return min(checks.between_0_and_1("alpha", alpha) / ALPHA, 1.0)


def _pieces(share: float) -> int:
    return shuffled.PIECES if share > _SMALL_SHARE else 2 * shuffled.PIECES


def _other_seed(
    samples: Sequence[Calls], rng: np.random.Generator, within: bool, share: float
) -> Check:
    """``within`` tells whether outputs within a call seem independent."""
    name = "other seed"
    for sample in samples:
        match = shuffled.agreement(sample.codes, sample.short)
        alike = match.count == match.of and match.lag == sample.short.shape[1]
        if match.p * len(samples) <= _MATCHES * share and (within or alike):
            text = f"{sample.name}, {match.count} of {match.of} outputs are those of an earlier "
            text += "call at another seed: a constant seed inside, or noise that is kept for "
            return _result(name, f"{text}further calls")
        scores = sample.scores if within else []
        limit = _POSITIONS * share / len(samples) / max(len(scores), 1)
        pieces = _pieces(share)
        if any(
            shuffled.places_p(score[sample.short], rng, pieces, limit) <= limit for score in scores
        ):
            text = f"{sample.name}, outputs at the same place of different calls go together: some "
            return _result(name, f"{text}of the randomness has a constant seed")
    for sample in samples:
        if sample.kinds == 1:
            text = f"{sample.name}, all outputs are the same: there is no noise, or one constant "
            return Check(name, "note", f"{text}seed for every draw")
    return _result(name)


def _repetitions(sides: Sequence[Sample], limit: float) -> str:
    """Return that draws of a call are repeated in it, or share noise; "" if they do not."""
    for side in sides:
        if shuffled.clustered(side.codes, side.batches) * len(sides) <= limit:
            text = f"{side.name}, equal outputs are of the same call more often than by chance: "
            return f"{text}its draws share noise, or each is handed out several times"
    return ""


def _independent(samples: Sequence[Calls], rng: np.random.Generator, share: float) -> Check:
    for sample in samples:
        limit = _SERIAL * share / len(samples) / max(len(sample.scores), 1)
        for score in sample.scores:
            pieces = np.array_split(score[sample.long], _pieces(share))
            if shuffled.serial_p(pieces, rng, limit) <= limit:
                text = f"{sample.name}, outputs of a call depend on those before: noise is reused, "
                return _result("independent draws", f"{text}or draws are those of a chain")
    return _result("independent draws")


def _order(samples: Sequence[Calls], share: float) -> Check:
    name = "order of calls"
    tests: list[tuple[float, Calls, str]] = []
    for sample in samples:
        names, inside = zip(*sample.groups(), strict=True)
        for score in sample.scores:
            p_values = shuffled.unlikely(score, np.array(inside, float)).tolist()
            tests += [(p, sample, group) for p, group in zip(p_values, names, strict=True)]
    if not tests or (best := min(tests, key=lambda test: test[0]))[0] * len(tests) > _ORDER * share:
        return _result(name)
    _, sample, group = best
    text = f"{sample.name}, {group} differ from the others: state is kept between calls, or the law"
    return _result(name, f"{text} depends on how many draws are asked for")


def _recorded_repetitions(sides: Sequence[Sample]) -> str:
    for side in sides:
        codes = side.codes
        ends = np.flatnonzero(np.append(codes[1:] != codes[:-1], True))
        runs = np.diff(ends)[:-1]  # without the first and the last, which may be cut
        for counts, least, text in (
            (runs, _RUNS, "each is written {} times in a row"),
            (np.bincount(codes), _KINDS, "each is there {} times, or a multiple of that"),
        ):
            times = math.gcd(*counts.tolist()) if counts.size >= least else 1
            if times > 1:
                found = f"{side.name}: {text.format(times)}"
                return f"{found}; independent draws are needed, each once"
    return ""


def _recorded_order(sides: Sequence[Sample], rng: np.random.Generator) -> Check:
    name = "independent draws"
    for side in sides:
        for pieces, score in zip(_stretches(side, _STRETCH), side.scores, strict=True):
            limit = _DOUBT / len(side.scores)
            if min(shuffled.serial_p(pieces, rng, limit), shuffled.by_time(score)) <= limit:
                text = f"{side.name} are in an order of their own: sorted, or each depends on "
                text += "those before; the shuffle before use does not help if they are dependent"
                return Check(name, "note", text)
    return Check(name, "passed", "outputs are in no order")


def _stretches(side: Sample, longest: int) -> list[list[Floats]]:
    """Return some stretches of successive draws, of each score."""
    stretch = min(side.size // shuffled.PIECES, longest)
    starts = np.linspace(0, side.size - stretch, shuffled.PIECES).astype(int).tolist()
    return [[score[i : i + stretch] for i in starts] for score in side.scores]
