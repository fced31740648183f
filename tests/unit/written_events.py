"""A reader of events as JSON has them: what a user of `witness.ranges` would write."""

from __future__ import annotations

import json
from typing import Any

from epsilometer_audit.events.events import Event, Table, View
from epsilometer_audit.events.formula import Formula


def event_of(plain: dict[str, Any]) -> Event:
    """Return the event of `Event.to_plain`."""
    fields = {
        name: _frozen(plain[name])
        for name in ("entry", "rows", "modulus", "other", "factor", "summary", "groups")
        if name in plain
    }
    if "formula" in plain:
        fields["formula"] = Formula(**{name: _frozen(v) for name, v in plain["formula"].items()})
    fields["tables"] = tuple(Table(*_frozen(table)) for table in plain.get("tables", ()))
    parts = tuple(map(event_of, plain.get("parts", ())))
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
