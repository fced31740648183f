"""What tests of audits share: an audit, how often a claim is refuted, events, errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import pytest
from scipy.stats import binom

import epsilometer_audit as ea
from epsilometer.claims import Claim
from epsilometer.events.events import Event, Table, View
from epsilometer.events.vectors import Formula
from epsilometer_audit.question.claims import kinds


def audited(mechanism: Any, claim: Any, samples: int, seed: int = 0, **options: Any) -> Any:
    """Audit a sampler of reals on the inputs 0 and 1."""
    options = {"check_sampler": False, "as_reals": True, **options}
    return ea.audit(mechanism, [(0, 1)], claim, samples=samples, seed=seed, **options)


def seldom(wrong: Callable[[int], bool], alpha: float, seeds: int = 60) -> bool:
    """Tell whether something goes wrong for a share alpha of the seeds at most, but for chance.

    12 seeds do if 2 or fewer go wrong: at alpha = .1 with probability .89, at .5 with .02.
    """
    many = 0
    for seed in range(seeds):
        many += wrong(seed)
        if seed == 11 and many <= 2:
            return True
    return bool(many <= binom.ppf(0.9999, seeds, alpha))


def single_claims() -> list[Claim]:
    """Return a claim of one level of each registered kind, and its further levels.

    Also those that are stated by the first option of several.
    """
    found = []
    for kind in kinds().values():
        first, *others = [option.example for option in kind.options]
        names = [option.name for option in kind.options[1:]]
        claims = [kind.claimed(first, **dict(zip(names, others, strict=True)))]
        claims += [kind.claimed(first)] if others else []
        for claim in claims:
            found += claim.levels if len(claim.parts) == 1 else claim.parts[:1]
    return found


def event_of(plain: dict[str, Any]) -> Event:
    """Return the event of `Event.to_plain`."""
    fields = {
        name: _frozen(plain[name])
        for name in ("entry", "rows", "modulus", "other", "factor", "summary", "groups", "steps")
        if name in plain
    }
    if "formula" in plain:
        fields["formula"] = Formula(**{name: _frozen(v) for name, v in plain["formula"].items()})
    fields["tables"] = tuple(Table(*_frozen(table)) for table in plain.get("tables", ()))
    parts = tuple(map(event_of, plain.get("parts", ())))
    if "inner" in plain:
        fields["inner"] = event_of({"ranges": [], **plain["inner"]}).view
    view = View(plain.get("view", "output"), parts=parts, **fields)
    ranges = [[float(e) if isinstance(e, str) else e for e in ends] for ends in plain["ranges"]]
    return Event(_frozen(ranges), plain.get("missing", False), view)


def again(event: Event) -> Event:
    """Return an event that was written down and read."""
    restored = event_of(json.loads(json.dumps(event.to_plain(), allow_nan=False)))
    assert restored == event
    return restored


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@contextmanager
def error_in_one_line(kind, words):
    """Expect an error with some words in a short line."""
    with pytest.raises(kind) as caught:
        yield
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400
    for word in words:
        assert word in text, text
