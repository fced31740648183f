"""What is asked of an audit, checked before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from epsilometer import checks
from epsilometer.audit.claims import AnyClaim, Claim, Curve, EventClaim, parts
from epsilometer.audit.sources import Source, callable_source, load
from epsilometer.audit.upper import Outcomes, Smooth
from epsilometer.audit.verdict import input_words
from epsilometer.errors import ArgumentError

Pairs = Sequence[tuple[Any, Any]] | Mapping[str, tuple[Any, Any]]
Method = Literal["anytime", "exact"]


@dataclass(frozen=True)
class Plan:
    """What is asked for, checked."""

    claim: AnyClaim
    names: tuple[str, ...]
    inputs: tuple[tuple[Any, Any], ...] | None
    alpha: float
    seed: int
    detect: float | None
    known: Outcomes | Smooth | None
    method: Method | Literal["one run"]
    details: bool
    as_reals: bool
    started: float
    source: str = ""
    digest: Mapping[str, str] | None = None


def source_of(mechanism: Any, failures: bool) -> Source:
    """Return what is drawn from: a source as it is, a callable, or the place of one."""
    if isinstance(mechanism, str):
        return load(mechanism, failures=failures)
    if all(hasattr(mechanism, name) for name in ("draw", "digest", "description", "seeded")):
        return mechanism  # type: ignore[no-any-return]
    return callable_source(mechanism, failures=failures)


def named_pairs(pairs: Pairs) -> dict[str, tuple[Any, Any]]:
    """Return pairs by their names, numbers if they have none."""
    named = dict(pairs) if isinstance(pairs, Mapping) else {}
    if not isinstance(pairs, Mapping):
        for i, pair in enumerate(pairs):
            named[f"pair {i + 1}" if len(pairs) > 1 else ""] = pair
    if not named:
        raise ArgumentError("pairs", "must name at least one pair of inputs")
    for name, pair in named.items():
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            what = f"pairs {name!r}" if name else "pairs"
            raise ArgumentError(what, f"must be pairs (x, x'), got {input_words(pair)}")
    refuse_equal(named.values(), "pairs")
    return named


def refuse_equal(pairs: Iterable[tuple[Any, Any]], argument: str) -> None:
    """Refuse pairs that are all of equal inputs: nothing can be told apart."""
    if all(_equal(x, y) for x, y in pairs):
        message = "must have inputs that differ: no claim is refuted where x and x' are equal"
        raise ArgumentError(argument, message)


def _equal(x: Any, y: Any) -> bool:
    if x is y:
        return True
    try:
        return type(x) is type(y) and repr(x) == repr(y) and bool(np.all(x == y))
    except Exception:  # of what cannot be compared
        return False


def claim_of(claim: AnyClaim) -> AnyClaim:
    """Return a claim, if it is one."""
    if not isinstance(claim, Claim | Curve):
        choices = "pure(...), approximate(...), renyi(...), gdp(...) or zcdp(...)"
        raise ArgumentError("claim", f"must be {choices}, got {claim!r}")
    return claim


def of_events(claim: AnyClaim) -> bool:
    """Tell whether a claim is about events."""
    return isinstance(claim, EventClaim)


def method_of(method: Method, claim: AnyClaim) -> Method:
    """Return a method, if it applies."""
    if method not in ("anytime", "exact"):
        raise ArgumentError("method", f"must be anytime or exact, got {method!r}")
    if method == "exact" and not of_events(claim):
        raise ArgumentError("method", "must be anytime for claims about Rényi divergences")
    return method


def detect_of(detect: float | None, claim: AnyClaim) -> float | None:
    """Return the level that is to be found, if it exceeds what is claimed."""
    if detect is None:
        return None
    claims = parts(claim_of(claim))
    if len(claims) > 1:
        raise ArgumentError("detect", "needs a claim of one order")
    if checks.real("detect", detect) <= claims[0].level:
        message = f"must be above the claim, {claims[0].level:g}, got {detect:g}"
        raise ArgumentError("detect", message)
    return float(detect)


def as_reals_of(as_reals: bool, known: Outcomes | Smooth | None) -> bool:
    """Tell whether outputs stand for reals: where asked for, and where they have densities."""
    if not isinstance(as_reals, bool):
        raise ArgumentError("as_reals", f"must be true or false, got {as_reals!r}")
    return as_reals or isinstance(known, Smooth)


def known_of(
    outcomes: int | None, support: tuple[float, float] | None, lipschitz: float | None
) -> Outcomes | Smooth | None:
    """Return what the provider says of the outputs."""
    if outcomes is not None and support is not None:
        raise ArgumentError("outcomes", "and support must not both be given")
    if outcomes is not None:
        return Outcomes(outcomes)
    if (support is None) != (lipschitz is None):
        raise ArgumentError("support", "and lipschitz must be given together")
    if support is None or lipschitz is None:
        return None
    return Smooth((support[0], support[1]), lipschitz)
