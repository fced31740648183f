"""Claims by an accountant: a function that returns a level, in place of a number.

In a plain claim such a level is a mapping: the ``function`` and the parameters that it may take,
as ``given``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from epsilometer.errors import ArgumentError, MechanismError, one_line
from epsilometer_audit.serving.accounting import account
from epsilometer_audit.serving.errors import Broken
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.sources.callables import Origin, argument_errors, digests
from epsilometer_audit.sources.worker import PythonProgram
from epsilometer_audit.verdict import Verdict


@dataclass(frozen=True)
class Answer:
    """A level, the function that returned it, and digests of that function's files."""

    value: float
    spec: str
    digest: Mapping[str, str]


Answers = Mapping[str, Answer | MechanismError]
"""The answers of several accountants, or their errors, by level in JSON."""


def check_spec(spec: str) -> None:
    """Raise `ArgumentError` unless a text can name a function; it need not exist."""
    with argument_errors():
        parsed(spec)


def ask(
    spec: str,
    parameters: Mapping[str, Any],
    *,
    interpreter: str | None = None,
    timeout: float = 60.0,
    folder: str | os.PathLike[str] = ".",
) -> Answer:
    """Call an accountant, ``file.py:function`` or ``package.module:function``, for a level.

    It gets those of the ``parameters`` that it names. It runs in the ``interpreter`` of the
    mechanism, where that is another, which must answer within ``timeout`` seconds; files are
    relative to ``folder``. Raise `ArgumentError` if there is no such function. Raise
    `MechanismError` if it fails, or returns anything but one finite positive number.
    """
    if interpreter is not None:
        origin = Origin(spec, folder, interpreter=interpreter)
        with closing(PythonProgram(origin, timeout=timeout)) as program:
            answer = program.ask(json.dumps({"account": dict(parameters)}))
        return Answer(float(answer["number"]), spec, answer["digest"])
    try:
        with argument_errors():
            value = account(spec, folder, parameters)
    except Broken as error:
        raise MechanismError(f"{spec}: {error}") from error.__cause__
    return Answer(value, spec, digests(spec, folder=folder))


def with_accountants(verdict: Verdict, answers: Mapping[str, Answer]) -> Verdict:
    """Return a verdict that names the accountants of its claim, from answers by level."""
    if not answers:
        return verdict
    specs = {name: answer.spec for name, answer in answers.items()}
    made_of = dict(verdict.provenance.get("made of", {}))
    for answer in answers.values():
        made_of = {**answer.digest, **made_of}
    return replace(
        verdict,
        claim={**verdict.claim, "from": specs},
        claimed=f"{verdict.claimed} {_from(specs.values())}",
        provenance={**verdict.provenance, "made of": made_of},
    )


def _from(specs: Iterable[str]) -> str:
    return f"(from {' and '.join(dict.fromkeys(specs))})"


# --- plain claims ---------------------------------------------------------------------------------


def with_parameters(claim: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim whose functions get parameters, and the rest of the claim.

    That is ``delta`` for an epsilon and ``epsilon`` for a delta, if it is a number; ``order`` for a
    Rényi divergence; ``d_in`` for a stability.
    """
    keys = ("epsilon", "delta", "d_in")
    numbers = {key: claim[key] for key in keys if isinstance(claim.get(key), int | float)}

    def completed(_: str, level: Mapping[str, Any], order: float | None) -> dict[str, Any]:
        rest = numbers if order is None else {"order": order}
        return {**level, "given": {**parameters, **rest}}

    return replaced(claim, completed)


def with_placeholders(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim with a placeholder number for each function."""
    return replaced(claim, lambda name, *_: 0.5 if name == "delta" else 1.0)


def ask_all(claims: Sequence[Mapping[str, Any]], **options: Any) -> Answers:
    """Ask for all levels of plain claims that name functions, each once, with options of `ask`."""
    answers: dict[str, Answer | MechanismError] = {}
    for level in (level for claim in claims for level in function_levels(claim).values()):
        if _key(level) not in answers:
            try:
                answers[_key(level)] = ask(level["function"], level["given"], **options)
            except (ArgumentError, MechanismError) as error:
                answers[_key(level)] = MechanismError(one_line(error))
    return answers


def with_answers(
    claim: Mapping[str, Any], answers: Answers
) -> tuple[dict[str, Any], dict[str, Answer]]:
    """Return a plain claim with the numbers of `ask_all`, and the answers by level.

    Raise `MechanismError` if an accountant failed.
    """
    by_name: dict[str, Answer] = {}
    for name, level in function_levels(claim).items():
        answer = answers[_key(level)]
        if isinstance(answer, MechanismError):
            raise answer
        by_name[name] = answer
    return replaced(claim, lambda name, *_: by_name[name].value), by_name


def without_levels(claim: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """Return a plain claim without its levels, as JSON and as text; None without functions."""
    specs = {name: level["function"] for name, level in function_levels(claim).items()}
    if not specs:
        return None
    notion = next(key for key in claim if key != "delta")
    return {"notion": notion, "from": specs}, f"{' and '.join(specs)} {_from(specs.values())}"


def function_levels(claim: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the levels of a plain claim that name functions, by name."""
    levels: dict[str, Mapping[str, Any]] = {}
    replaced(claim, lambda name, level, _: levels.setdefault(name, level))
    return levels


def replaced(claim: Mapping[str, Any], number: Callable[..., Any]) -> dict[str, Any]:
    """Return a plain claim with ``number(name, level, order)`` where it names functions."""

    def new(name: str, level: Any, order: float | None = None) -> Any:
        return number(name, level, order) if isinstance(level, Mapping) else level

    return {
        key: [[order, new(f"order {order:g}", level, order)] for order, level in value]
        if key == "renyi"
        else new(key, value)
        for key, value in claim.items()
    }


def _key(level: Mapping[str, Any]) -> str:
    return json.dumps(level, sort_keys=True)
