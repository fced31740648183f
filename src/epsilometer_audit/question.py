"""The arguments of an audit, a `Question` from every door, built and checked before any draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from epsilometer import checks
from epsilometer.claims import EventClaim, Gaussian, Pure
from epsilometer.errors import ArgumentError
from epsilometer_audit.checks.accepted_pairs import Pair
from epsilometer_audit.formats import input_text
from epsilometer_audit.sources.callables import Source, callable_source, load
from epsilometer_audit.statistics import claims
from epsilometer_audit.statistics.claims import AnyClaim, parts

Pairs = Sequence[Pair] | Mapping[str, Pair]
Method = Literal["anytime", "exact", "one run"]

MOST_DRAWS = 10**9  # of a side, which are kept in memory
MOST_CANARIES = 1_000_000
NOTIONS = ("epsilon", "renyi", "gdp", "zcdp", "profile", "tradeoff")
_ONE_OF = (("claim", *NOTIONS), ("source", "command", "outputs", "one_run"))
_NEEDS = {  # an option, and the options of which it needs one
    "delta": ("epsilon",),
    **dict.fromkeys(("python", "environment"), ("source",)),
    "set": ("source",),
    "columns": ("outputs", "one_run"),
    "guesses": ("one_run", "canaries"),
    "canaries": ("source", "command"),
    "timeout": ("source", "command"),
}
_OF_DRAWS = ("pairs", "samples", "stop", "failures", "check_sampler")
_OF_OUTPUTS = ("event", "as_reals", "renyi", "zcdp", "profile", "tradeoff")
_EXCLUDES = {
    "outputs": (*_OF_DRAWS, "canaries"),
    "one_run": (*_OF_DRAWS, *_OF_OUTPUTS, "canaries"),
    "canaries": (*_OF_DRAWS, *_OF_OUTPUTS),
    "python": ("environment",),
}


def check_together(present: Mapping[str, str], spelled: Callable[[str], str] = str) -> None:
    """Refuse options that exclude each other, or need a missing one: no other code states these.

    ``present`` has the user's name for each; ``spelled`` returns that of a missing one.
    """
    exclusive = [*_EXCLUDES.items()]
    exclusive += [(name, names[i + 1 :]) for names in _ONE_OF for i, name in enumerate(names)]
    for name, others in exclusive:
        for other in [o for o in others if {name, o} <= {*present}]:
            raise ArgumentError(present[other], f"cannot be used with {present[name]}; choose one")
    for name, others in _NEEDS.items():
        if name in present and not set(others) & set(present):
            missing = " or ".join(map(spelled, others))
            raise ArgumentError(present[name], f"needs {missing}, which is missing")


@dataclass(frozen=True, kw_only=True)
class Question:
    """The mechanism, inputs, claim and options of an audit; `audit` describes most of them.

    Raise `ArgumentError` if a value is not possible, or options exclude each other.
    """

    claim: AnyClaim
    audited: Literal["mechanism", "recorded outputs", "one run"] = "mechanism"
    pairs: Mapping[str, Pair | None] = field(default_factory=lambda: {"": None})  # None: unknown
    samples: int | None = None
    alpha: float = 0.05
    seed: int = 0
    detect: float | None = None
    event: float | None = None  # the probability of the event in which it is to be detected
    stop: bool = False
    as_reals: bool = False
    check_sampler: bool = True
    source: str = ""  # a description of the mechanism
    digest: Mapping[str, str] = field(default_factory=dict)  # of its files
    started: float = 0.0  # by `time.perf_counter`

    def __post_init__(self) -> None:
        if not isinstance(self.claim, AnyClaim):
            choices = "pure(...), approximate(...), renyi(...), gdp(...), zcdp(...) or profile(...)"
            raise ArgumentError("claim", f"must be {choices}, got {self.claim!r}")
        if self.audited == "one run" and not isinstance(self.claim, Pure | Gaussian):
            choices = "pure(...), approximate(...) or gdp(...)"
            raise ArgumentError("claim", f"must be {choices}, in an audit of one run")
        check_together(self._present())
        if not isinstance(self.as_reals, bool):
            raise ArgumentError("as_reals", f"must be true or false, got {self.as_reals!r}")
        if self.samples is not None:
            checks.integer("samples", self.samples, maximum=MOST_DRAWS)
        alpha = checks.between_0_and_1("alpha", self.alpha)
        seed = checks.integer("seed", self.seed, minimum=0)
        values: dict[str, Any] = {"alpha": alpha, "seed": seed}
        if self.event is not None:
            values["event"] = checks.between_0_and_1("event", self.event)
        if self.detect is not None:
            first, *others = parts(self.claim)
            if others:
                raise ArgumentError("detect", "needs a claim of one order or point")
            values["detect"] = claims.checked_detect(self.detect, first)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _present(self) -> dict[str, str]:
        """Return the present options that may exclude others."""
        notion, kinds = self.claim.to_plain()["notion"], {"recorded outputs": "outputs"}
        names = [name for name in ("samples", "stop", "event") if getattr(self, name)]
        present = {name: name for name in [*names, *({notion} & {*NOTIONS})]}
        kind = kinds.get(self.audited, self.audited.replace(" ", "_"))
        return present | {kind: self.audited}

    @property
    def method(self) -> Method:
        """The test: an exact one, if all outputs exist already and the claim allows it."""
        if self.audited == "one run":
            return "one run"
        exact = self.audited == "recorded outputs" and isinstance(self.claim, EventClaim)
        return "exact" if exact else "anytime"

    @property
    def inputs(self) -> tuple[Pair, ...] | None:
        """The inputs of the pairs, if they are known."""
        return tuple(pair for pair in self.pairs.values() if pair is not None) or None


def check_claim(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levels of a plain claim; raise `ArgumentError` unless they are of one notion."""
    names = ("claim", "delta", *NOTIONS)
    levels = {name: plain[name] for name in names if plain.get(name) is not None}
    check_together({name: name for name in levels})
    if not levels:
        choices = f"{', '.join(NOTIONS)}; epsilon perhaps with delta"
        raise ArgumentError("claim", f"must be one of {choices}")
    return levels


def claim_of(plain: Mapping[str, Any]) -> AnyClaim:
    """Return the claim of levels: ``epsilon`` and ``delta``, or another of `NOTIONS`.

    It may also be a ``claim`` itself. Raise `ArgumentError` if it names none or several, or the
    claim is impossible.
    """
    levels = check_claim(plain)
    if "epsilon" in levels:
        return Pure(levels["epsilon"], levels.get("delta", 0.0))
    ((name, level),) = levels.items()
    return level if name == "claim" else getattr(claims, name)(level)  # type: ignore[no-any-return]


def source_of(
    mechanism: Any,
    failures: bool = False,
    timeout: float | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Source:
    """Return the source of a mechanism: a source itself, a callable, a text or a mapping.

    A text is ``file.py:function``; a mapping has a ``command``, or a ``function`` and perhaps the
    ``python`` that runs it. A worker may have been started.
    """
    if isinstance(mechanism, str):
        mechanism = {"function": mechanism}
    if isinstance(mechanism, Mapping):
        from epsilometer_audit.sources.worker import WorkerSource, python_worker

        options: dict[str, Any] = {"failures": failures}
        options |= {} if timeout is None else {"timeout": timeout}
        if "command" in mechanism:
            return WorkerSource(mechanism["command"], **options)
        function, options["parameters"] = mechanism["function"], parameters
        if "python" in mechanism:
            return python_worker(mechanism["python"], function, **options)
        return load(function, **options)
    if all(hasattr(mechanism, name) for name in ("draw", "digest", "description", "seeded")):
        return mechanism  # type: ignore[no-any-return]
    return callable_source(mechanism, failures=failures, timeout=timeout)


def pairs_of(plain: Mapping[str, Any]) -> Mapping[str, Pair]:
    """Return pairs of inputs by their names: ``pairs`` of name, x and x', and of a ``domain``."""
    from epsilometer_audit.inputs.domains import domain

    pairs: dict[str, Pair] = {name: (x, y) for name, x, y in plain.get("pairs", ())}
    return pairs | domain(plain["domain"]) if "domain" in plain else pairs


def named_pairs(pairs: Pairs) -> Mapping[str, Pair]:
    """Return pairs by their names, numbers if they have none; refuse them if all are equal."""
    lone = isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple)
    if lone or not isinstance(pairs, Mapping | list | tuple):
        text = f"must be a list of pairs, [(x, x')] for one pair, got {input_text(pairs)}"
        raise ArgumentError("pairs", text)
    names = [""] if len(pairs) == 1 else [f"pair {i + 1}" for i in range(len(pairs))]
    named = pairs if isinstance(pairs, Mapping) else dict(zip(names, pairs, strict=True))
    if not named:
        raise ArgumentError("pairs", "must name at least one pair of inputs")
    for name, pair in named.items():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            text = f"must be a list of pairs (x, x'), got {input_text(pair)}"
            raise ArgumentError("pairs", f"{text} as {name!r}" if name else text)
    if all(equal(x, y) for x, y in named.values()):
        message = "must have inputs that differ: no claim is refuted where x and x' are equal"
        raise ArgumentError("pairs", message)
    return named


def equal(x: Any, y: Any) -> bool:
    """Tell whether two inputs are surely equal."""
    if x is y:
        return True
    try:
        return type(x) is type(y) and repr(x) == repr(y) and bool(np.all(x == y))
    except Exception:  # they cannot be compared
        return False
