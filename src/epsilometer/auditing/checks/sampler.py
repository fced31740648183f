"""Is it a sampler at all? An audit needs draws that are independent and of one law.

A constant seed inside, noise that is kept from call to call, or each draw handed out ten times look
like evidence. Where draws are independent and of one law, those on an input are as likely in any
order: all that is looked at is where which value stands, given the values. So nothing is asked of
the law, which may be discrete, heavy-tailed, constant or made of words. Each input is asked in a
dozen short calls, a long one and some of one draw, all inputs in random order.

- ``same seed``: a call that is repeated gives the same draws. If not, it is only noted.
- ``other seed``: short calls at different seeds do not agree place by place.
- ``repetitions``: equal outputs are not of the same call more often than by chance, in pairs and
  all together.
- ``independent draws``: nor do their ranks go along with those before.
- ``order of calls``: no group of draws differs from all: by time, by how many were asked for, by
  the input that was asked before.
- ``x against x``: the audit itself does not tell early draws from late ones.

All of them together fail with probability 0.001 at most where nothing is wrong, or with a smaller
one that is asked for; `tails` says why.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from epsilometer import checks
from epsilometer.auditing.checks.calls import Calls, Draw, Group, Sample, draw_calls
from epsilometer.auditing.checks.permutations import (
    PIECES,
    agreement,
    autocovariances,
    by_time,
    clustered,
    correlation_p,
    places_p,
    serial_p,
    shared,
    unlikely,
)
from epsilometer.auditing.statistics.claims import pure
from epsilometer.auditing.statistics.rounds import Evidence, gather, successive
from epsilometer.auditing.statistics.schedule import least_samples, schedule
from epsilometer.seeds import generator

Result = Literal["passed", "failed", "note", "skipped"]

_LEAST = 40  # draws of an input
ALPHA = 1e-3  # of all checks
# how likely each is to fail where nothing is wrong, over all inputs: .001 in all
_PLACES = _REPETITIONS = _ITSELF = _DRAWN = 1e-4
_MATCHES = OTHERS = _CLUSTERED = 5e-5  # the last of the checks, and again of all that is drawn
_SERIAL = _ORDER = 2e-4
_RUNS = 40  # runs of equal outputs whose lengths all have a divisor: by chance 2^-40
_KINDS = 64  # different outputs whose numbers all have: by chance 3 sqrt(n) 2^-64 at most
_ROWS = 1_000_000  # recorded, that are looked at
_HEAD, _BLOCK = 8192, 64  # rows in whose blocks repetitions are noted
_STRETCH = 512  # rows one after another
_DOUBT = 1e-4  # of notes about recorded outputs
_FINE = 1e-2  # of the usual probability: permutations of more pieces are needed to tell


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, what came of it, and a line that says what was seen."""

    name: str
    result: Result
    words: str

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)


def check(
    draw: Draw,
    inputs: Sequence[Any],
    *,
    draws: int,
    seed: int,
    seeded: bool,
    tried: bool = False,
    alpha: float = ALPHA,
) -> list[Check]:
    """Find out whether draws are independent and of one law; see the module.

    Parameters
    ----------
    draw
        Returns raw outputs for ``(x, size, seed)``.
    inputs
        Those to be asked.
    draws
        Of each input, in all: 40 or more. 2000 find a constant seed, kept state, repetitions and
        an autocorrelation of one half.
    seed
        Of the order of calls, and of their seeds.
    seeded
        Whether the mechanism takes a seed or a generator at all.
    tried
        Whether it may follow the seed all the same, by global generators.
    alpha
        How likely any is to fail where nothing is wrong, 0.001 at most.

    >>> def stuck(x, size, seed): return np.random.default_rng(7).laplace(x, 1, size)
    >>> found = check(stuck, [0.0, 1.0], draws=400, seed=1, seeded=True)
    >>> [one.name for one in found if one.result == "failed"]
    ['other seed']
    """
    checks.integer("draws", draws, minimum=_LEAST)
    if not inputs:
        return []
    rng = generator(seed, "checks of the sampler")
    samples = draw_calls(draw, inputs, draws, rng)
    share = _share(alpha)
    replayed = _same_seed(draw, inputs, samples, seeded, tried)
    repeated, serial = (
        _repetitions(samples, _REPETITIONS * share),
        _independent(samples, rng, share),
    )
    within = "failed" not in (repeated.result, serial.result)
    other = _other_seed(samples, rng, within, share)
    if within and other.result != "failed":  # or else all that follows has the same cause
        later = [_order(samples, share), _against_itself(samples, share)]
        if all(check.result != "failed" for check in later):
            repeated = _shared_noise(samples, _CLUSTERED * share) or repeated
        return [replayed, other, repeated, serial, *later]
    first = [replayed, other, repeated, serial]
    words = "not looked at, as draws are not independent"
    return [*first, *(Check(name, "skipped", words) for name in ("order of calls", "x against x"))]


def check_recorded(x: Any, x_prime: Any) -> list[Check]:
    """Look at recorded outputs in the order of their files.

    Only what no accident explains fails: every output is there 2, 3, ... times. An order of their
    own is noted, as they are shuffled before use; and if both files seem to be made with the same
    random numbers.

    Parameters
    ----------
    x, x_prime
        The outputs of either side: arrays, the outputs along the first axis, or lists.

    >>> draws = np.random.default_rng(1).laplace(0, 1, (2, 3000))
    >>> [one.result for one in check_recorded(np.repeat(draws[0], 3), draws[1])]
    ['failed']
    """
    rng = np.random.default_rng(0)
    sides = [
        Sample([side[:_ROWS]], f"outputs on {name}")
        for side, name in ((x, "x"), (x_prime, "x'"))
        if len(side) >= _LEAST
    ]
    twice = _recorded_twice(sides)
    if twice.result == "failed":
        return [twice]
    return [twice, _recorded_order(sides, rng), _recorded_alike(sides, rng)]


def check_drawn(x: Sequence[Any], x_prime: Sequence[Any], *, alpha: float = ALPHA) -> Check:
    """Look at all that an audit has drawn: whether calls share noise, or differ in law by time.

    A drift that two thousand draws do not show may be a violation after a hundred thousand. This
    fails with probability 0.00015 at most where draws are independent and of one law.

    Parameters
    ----------
    x, x_prime
        Batches of outputs on either side, raw or encoded, in the order in which they were drawn.
    alpha
        Of all checks, of which this has 15 %; 0.001 at most.
    """
    name, limit = "order of calls", _DRAWN * _share(alpha) / 2
    sides = [Sample(batches, f"on {x}") for batches, x in ((x, "x"), (x_prime, "x'"))]
    repeated = _repetitions(sides, limit)
    if repeated.result == "failed":
        return repeated
    for side in sides:
        looks = [by_time(score) * len(side.scores) * len(sides) for score in side.scores]
        if min(looks, default=1.0) <= limit:
            words = f"{side.words}, late outputs differ from early ones"
            return Check(name, "failed", f"{words}: state is kept between calls")
    if shared_noise := _shared_noise(sides, _CLUSTERED * _share(alpha)):
        return shared_noise
    return Check(name, "passed", "early and late outputs of the audit have the same law")


# --- what is looked at ----------------------------------------------------------------------------


def _same_seed(
    draw: Draw, inputs: Sequence[Any], samples: Sequence[Calls], seeded: bool, tried: bool
) -> Check:
    name, anew = "same seed", "takes no seed: this audit cannot be replayed to the draw"
    if not (seeded or tried):
        return Check(name, "skipped", anew)
    for x, sample in zip(inputs, samples, strict=True):
        same = _again(draw, x, sample, sample.first)
        if not seeded:  # few outputs may be the same by chance
            if not same.all() or not _again(draw, x, sample, sample.longest).all():
                return Check(name, "skipped", anew)
        elif not same.all():
            call = sample.calls[sample.first]
            differ = f"{np.count_nonzero(~same)} of {call.size} differ {sample.words}"
            return Check(
                name,
                "note",
                "draws do not follow the seed: this audit cannot be replayed to the draw "
                f"({differ})",
            )
    return Check(name, "passed", "the same seed gives the same draws")


def _again(draw: Draw, x: Any, sample: Calls, i: int) -> NDArray[np.bool_]:
    """Tell which outputs of a call are the same when it is repeated."""
    call = sample.calls[i]
    first = sample.table[sample.places(i)].reshape(call.size, -1)
    again = sample.layout.encode(draw(x, call.size, call.seed)).reshape(call.size, -1)
    same: NDArray[np.bool_] = ((first == again) | (np.isnan(first) & np.isnan(again))).all(axis=1)
    return same


def _share(alpha: float) -> float:
    """Return which part of the usual probability of each check is asked for."""
    return min(checks.between_0_and_1("alpha", alpha) / ALPHA, 1.0)


def _pieces(share: float) -> int:
    return PIECES if share > _FINE else 2 * PIECES


def _other_seed(
    samples: Sequence[Calls], rng: np.random.Generator, within: bool, share: float
) -> Check:
    """``within`` tells whether outputs within a call are independent as far as was seen."""
    name = "other seed"
    for sample in samples:
        found = agreement(sample.codes, sample.short)
        alike = found.count == found.of and found.lag == sample.short.shape[1]
        if found.p * len(samples) <= _MATCHES * share and (within or alike):
            return Check(
                name,
                "failed",
                f"{sample.words}, {found.count} of {found.of} outputs are those of an earlier call "
                "at another seed: a constant seed inside, or noise that is kept for further calls",
            )
        scores = sample.scores if within else []
        together = [places_p(score[sample.short], rng, _pieces(share)) for score in scores]
        if any(p * len(scores) * len(samples) <= _PLACES * share for p in together):
            return Check(
                name,
                "failed",
                f"{sample.words}, outputs at the same place of different calls go together: some "
                "of the randomness has a constant seed",
            )
    constant = [sample for sample in samples if sample.kinds == 1]
    if constant:
        return Check(
            name,
            "note",
            f"{constant[0].words}, all outputs are the same: there is no noise, or one constant "
            "seed for every draw",
        )
    return Check(name, "passed", "other seeds give other draws")


def _repetitions(sides: Sequence[Sample], limit: float) -> Check:
    """Tell whether draws of a call are handed out again in it, or share noise."""
    for side in sides:
        found = shared(side.codes, side.batches)
        if found.p * len(sides) <= limit:
            words = f"{side.words}, {found.count} of {found.of} pairs of equal outputs are of the "
            words += "same call: its draws share noise, or each is handed out several times"
            return Check("repetitions", "failed", words)
    return Check("repetitions", "passed", "no output is repeated more often than by chance")


def _shared_noise(sides: Sequence[Sample], limit: float) -> Check | None:
    """Return a failed check where equal outputs are in too few calls."""
    for side in sides:
        if clustered(side.codes, side.batches) * len(sides) <= limit:
            words = f"{side.words}, equal outputs are of the same call more often than by chance: "
            words += "its draws share noise, or each is handed out several times"
            return Check("repetitions", "failed", words)
    return None


def _independent(samples: Sequence[Calls], rng: np.random.Generator, share: float) -> Check:
    name = "independent draws"
    for sample in samples:
        for score in sample.scores:
            long = score[sample.long]
            p = serial_p(np.array_split(long, _pieces(share)), rng)
            if p * len(sample.scores) * len(samples) <= _SERIAL * share:
                covariances = autocovariances(long[None])[0]
                lag = int(np.argmax(np.abs(covariances) >= 0.95 * np.abs(covariances).max()))
                share = covariances[lag] / (long.var() * long.size)
                return Check(
                    name,
                    "failed",
                    f"{sample.words}, outputs of a call depend on {_before(lag + 1)} (rank "
                    f"correlation {share:.2f}): noise is reused, or draws are those of a chain",
                )
    return Check(name, "passed", "outputs of a call do not depend on those before")


def _order(samples: Sequence[Calls], share: float) -> Check:
    name = "order of calls"
    best: tuple[float, Calls, Group] | None = None
    for family in (Calls.by_request, Calls.by_time):  # half of the probability each
        looks = [
            (unlikely(score, group.inside), one, group)
            for one in samples
            for group in family(one)
            for score in one.scores
        ]
        for p, one, group in looks:
            if best is None or p * 2 * len(looks) < best[0]:
                best = p * 2 * len(looks), one, group
    if best is None or best[0] > _ORDER * share:
        return Check(name, "passed", "calls in another order give the same law")
    _, sample, found = best
    words = f"{sample.words}, {found.words} differ from the others: {found.cause}"
    return Check(name, "failed", words)


def _against_itself(samples: Sequence[Calls], share: float) -> Check:
    name = "x against x"
    half = samples[0].size // 2
    if half < least_samples(1):
        return Check(name, "skipped", f"{half} draws against as many are too few")
    for sample in samples:
        sides = successive([(sample.table[:half], sample.table[half:])])
        evidence = Evidence(pure(0.0), 1, _ITSELF * share / len(samples))
        if gather(sides, schedule(half, 1), evidence, as_reals=True).refuted():
            return Check(
                name,
                "failed",
                f"{sample.words}, late outputs differ in law from early ones: state is kept "
                "between calls",
            )
    return Check(name, "passed", "early and late outputs on the same input are not told apart")


def _before(lag: int) -> str:
    return "the one before" if lag == 1 else f"the one {lag} places before"


# --- what was recorded ----------------------------------------------------------------------------


def _recorded_twice(sides: Sequence[Sample]) -> Check:
    name = "repetitions"
    for side in sides:
        codes = side.codes
        ends = np.flatnonzero(np.append(codes[1:] != codes[:-1], True))
        runs = np.diff(ends)[:-1]  # but the first and the last, which may be cut
        for counts, least, words in (
            (runs, _RUNS, "each is written {} times in a row"),
            (np.bincount(codes), _KINDS, "each is there {} times, or a multiple of that"),
        ):
            times = math.gcd(*counts.tolist()) if counts.size >= least else 1
            if times > 1:
                what = f"{side.words}: {words.format(times)}"
                return Check(name, "failed", f"{what}; independent draws are needed, each once")
    for side in sides:
        head = side.codes[:_HEAD]
        found = shared(head, np.bincount(np.arange(head.size) // _BLOCK).tolist())
        if found.p <= _DOUBT:
            words = f"{side.words}: {found.count} of {found.of} pairs of equal ones are close by"
            return Check(name, "note", f"{words}; if draws were written twice, no bound holds")
    return Check(name, "passed", "no output is repeated more often than by chance")


def _recorded_order(sides: Sequence[Sample], rng: np.random.Generator) -> Check:
    name = "independent draws"
    for side in sides:
        stretch = min(side.size // PIECES, _STRETCH)
        starts = np.linspace(0, side.size - stretch, PIECES).astype(int).tolist()
        for score in side.scores:
            p = serial_p([score[start : start + stretch] for start in starts], rng)
            if min(p, by_time(score)) * len(side.scores) <= _DOUBT:
                return Check(
                    name,
                    "note",
                    f"{side.words} are in an order of their own: sorted, or each depends on those "
                    "before; they are shuffled before use, which is no help if they are dependent",
                )
    return Check(name, "passed", "outputs are in no order")


def _recorded_alike(sides: Sequence[Sample], rng: np.random.Generator) -> Check:
    name = "other seed"
    rows = min([PIECES * _STRETCH, *(side.size for side in sides)])
    scores = [side.scores[0][:rows] for side in sides if side.scores]
    if len(scores) == 2 and correlation_p(scores[0], scores[1], rng) <= _DOUBT:
        return Check(
            name,
            "note",
            "outputs on x and on x' go together row by row: made with the same random numbers? "
            "Both sides have to be independent",
        )
    return Check(name, "passed", "outputs on x and on x' do not go together")
