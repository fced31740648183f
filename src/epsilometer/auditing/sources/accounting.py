"""Claims by an accountant: a level may be what a function answers, in place of a number.

In a plain claim such a level is a mapping: the ``function`` and what it is ``given``, of which it
takes what it names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from epsilometer.auditing.serving.accounting import account
from epsilometer.auditing.serving.errors import Broken, Misuse
from epsilometer.auditing.serving.loading import parsed
from epsilometer.auditing.sources.callables import Origin, as_argument_error, digests
from epsilometer.auditing.sources.worker import python_account
from epsilometer.auditing.verdict import Verdict
from epsilometer.errors import ArgumentError, MechanismError, one_line


@dataclass(frozen=True)
class Answer:
    """A level, the function that answered it, and what that is made of."""

    level: float
    place: str
    digest: Mapping[str, str]


def check_place(spec: str) -> None:
    """Raise `ArgumentError` unless a text can name a function, which is not looked for."""
    try:
        parsed(spec)
    except Misuse as error:
        raise as_argument_error(error) from None


def ask(
    place: str,
    given: Mapping[str, Any],
    *,
    interpreter: str | None = None,
    timeout: float = 60.0,
    folder: str | os.PathLike[str] = ".",
) -> Answer:
    """Ask an accountant for a level.

    Parameters
    ----------
    place
        ``file.py:function`` or ``package.module:function``.
    given
        Parameters by name; it takes those that it names.
    interpreter
        That of the mechanism, where it is another.
    timeout
        Seconds within which another interpreter must have answered.
    folder
        What files are relative to.

    Raises
    ------
    ArgumentError
        If there is no such function.
    MechanismError
        If it fails, or answers with what is not one finite positive number.
    """
    if interpreter is not None:
        origin = Origin(place, folder, interpreter=interpreter)
        level, made_of = python_account(origin, given, timeout=timeout)
        return Answer(level, place, made_of)
    try:
        level = account(place, folder, given)
    except Misuse as error:
        raise as_argument_error(error) from error.__cause__
    except Broken as error:
        raise MechanismError(f"{place}: {error}") from error.__cause__
    return Answer(level, place, digests(place, folder=folder))


def told(verdict: Verdict, answers: Mapping[str, Answer]) -> Verdict:
    """Return a verdict that says where its claim is from: levels by name, and who answered."""
    if not answers:
        return verdict
    places = {name: answer.place for name, answer in answers.items()}
    made_of = dict(verdict.provenance.get("made of", {}))
    for answer in answers.values():
        made_of = {**answer.digest, **made_of}
    return replace(
        verdict,
        claim={**verdict.claim, "from": places},
        claimed=f"{verdict.claimed} {_from(places.values())}",
        provenance={**verdict.provenance, "made of": made_of},
    )


def _from(places: Iterable[str]) -> str:
    return f"(from {' and '.join(dict.fromkeys(places))})"


# --- plain claims ---------------------------------------------------------------------------------


def with_given(claim: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim whose functions are given parameters, and what is claimed beside them.

    For an epsilon that is the ``delta``, for a delta the ``epsilon``, if it is a number; for a
    Rényi divergence the ``order``.
    """
    numbers = {
        key: claim[key] for key in ("epsilon", "delta") if isinstance(claim.get(key), int | float)
    }

    def given(_: str, level: Mapping[str, Any], order: float | None) -> dict[str, Any]:
        beside = numbers if order is None else {"order": order}
        return {**level, "given": {**parameters, **beside}}

    return _replaced(claim, given)


def of_any_level(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim with some number where another will be answered."""
    return _replaced(claim, lambda name, *_: 0.5 if name == "delta" else 1.0)


def ask_all(claims: Sequence[Mapping[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """Return the answers to all that plain claims ask for, each once, as JSON holds it.

    ``options`` are those of `ask`. An accountant that is wrong has a ``problem`` for a level.
    """
    answers: dict[str, dict[str, Any]] = {}
    for level in (level for claim in claims for level in _asked(claim).values()):
        if _key(level) in answers:
            continue
        try:
            answer = ask(level["function"], level["given"], **options)
            said = {"level": answer.level, "digest": dict(answer.digest)}
        except (ArgumentError, MechanismError) as error:
            said = {"problem": one_line(error)}
        answers[_key(level)] = {"asked": level, **said}
    return list(answers.values())


def filled(
    claim: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, Answer]]:
    """Return a plain claim with numbers from `ask_all`, and who answered them, by their names.

    Raises
    ------
    MechanismError
        If an accountant is wrong.
    """
    by_key = {_key(answer["asked"]): answer for answer in answers}
    levels: dict[str, Answer] = {}
    for name, level in _asked(claim).items():
        answer = by_key[_key(level)]
        if "problem" in answer:
            raise MechanismError(answer["problem"])
        levels[name] = Answer(answer["level"], level["function"], answer["digest"])
    return _replaced(claim, lambda name, *_: levels[name].level), levels


def functions(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the functions that plain claims ask for levels."""
    return list(dict.fromkeys(x["function"] for claim in claims for x in _asked(claim).values()))


def unanswered(claim: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """Return what is said of a plain claim without its levels, for programs and for people.

    None where it asks nobody.
    """
    places = {name: level["function"] for name, level in _asked(claim).items()}
    if not places:
        return None
    notion = next(key for key in claim if key != "delta")
    return {"notion": notion, "from": places}, f"{' and '.join(places)} {_from(places.values())}"


def _asked(claim: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the levels of a plain claim that are to be answered, by their names."""
    levels: dict[str, Mapping[str, Any]] = {}
    _replaced(claim, lambda name, level, _: levels.setdefault(name, level))
    return levels


def _replaced(claim: Mapping[str, Any], number: Callable[..., Any]) -> dict[str, Any]:
    """Return a plain claim with ``number(name, level, order)`` where it names functions."""

    def new(name: str, level: Any, order: float | None = None) -> Any:
        return number(name, level, order) if isinstance(level, Mapping) else level

    return {
        key: [[order, new(f"order {order:g}", level, order)] for order, level in said]
        if key == "renyi"
        else new(key, said)
        for key, said in claim.items()
    }


def _key(level: Mapping[str, Any]) -> str:
    return json.dumps(level, sort_keys=True)
