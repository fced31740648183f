"""The texts of an entry of a file of audits, and the names of its parts in paths."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from itertools import product
from typing import Any

from epsilometer.auditing.inputs.domains import KINDS, domain
from epsilometer.auditing.question import named_pairs
from epsilometer_workflow.configuration import audits
from epsilometer_workflow.files.parsing import spell

_SAFE = re.compile(r"[A-Za-z0-9.+-]{1,40}")
_PATTERNS = 10


def grid_of(entry: audits.AuditEntry) -> list[dict[str, Any]]:
    """Return all combinations of parameters."""
    values = [v if isinstance(v, list) else [v] for v in entry.parameters.values()]
    return [dict(zip(entry.parameters, point, strict=True)) for point in product(*values)]


def listed(texts: str | list[str]) -> list[str]:
    """Return one text or several as a list."""
    return [texts] if isinstance(texts, str) else texts


def texts_of(mechanism: Any) -> list[tuple[str, str]]:
    """Return the texts of a mechanism that may have braces, with their keys."""
    if isinstance(mechanism, str):
        return [("mechanism", mechanism)]
    return [
        (f"mechanism.{key}", text)
        for key in ("command", "python", "environment", "function", "outputs", "one_run")
        if hasattr(mechanism, key)
        for text in listed(getattr(mechanism, key))
    ]


def is_referred(entry: audits.AuditEntry, parameter: str) -> bool:
    """Tell whether a claim refers to a parameter; an accountant may."""
    claims = json.dumps([claim.model_dump() for claim in entry.claims])
    if re.search(r'"[^"\s]+:[^"\s]+"', claims):
        return True
    return re.search(rf"\${parameter}\b", claims) is not None


def text_of(value: Any) -> str:
    """Return a parameter as an argument of a command."""
    if isinstance(value, bool):
        return str(value).lower()
    return spell(value) if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    """Return a text as a part of a path: itself, or what is left of it with a digest of it all."""
    if _SAFE.fullmatch(text):
        return text
    return f"{_left(text)}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _left(text: str) -> str:
    """Return the part of a text that may stand in a path."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text)[:40].strip("-.")


def parameters_name(arguments: Mapping[str, Any]) -> str:
    """Return the name of a combination of parameters in paths."""
    return (
        "_".join(f"{key}={_safe(text_of(value))}" for key, value in arguments.items()) or "default"
    )


def number_of(inputs: Mapping[str, Any]) -> int:
    """Return the number of pairs of a set that names no table."""
    if "domain" in inputs:
        return len(domain(inputs["domain"]))
    return len(inputs["pairs"]) if "pairs" in inputs else _PATTERNS


def plain_set(entry: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of a set of pairs in paths, and the set as jobs get it."""
    if isinstance(entry, audits.Domain):
        declared = entry.domain if entry.limit is None else {**entry.domain, "limit": entry.limit}
        domain(declared)
        kind = next(kind for kind in KINDS if kind in declared)
        return f"domain-{kind}", {"domain": declared}
    if isinstance(entry, audits.Patterns):
        return f"patterns={entry.patterns}", {"patterns": entry.patterns}
    if isinstance(entry, audits.Rows):
        kind, table = ("remove", entry.remove) if entry.remove else ("replace", entry.replace)
        return f"{kind}-a-row", {kind: table, "limit": entry.limit}
    by_name = named_pairs(entry)
    pairs = [[name, *pair] for name, pair in by_name.items()]
    first = (isinstance(entry, dict) and _left(next(iter(by_name)))) or "pair"
    return first if len(pairs) == 1 else f"{first}+{len(pairs) - 1}", {"pairs": pairs}
