"""Claims by an accountant: a level may be what a function answers, in place of a number.

In a plain claim such a level is a mapping: the ``function`` and what it is ``given``, of which it
takes what it names.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from epsilometer.audit.serving.accounting import account
from epsilometer.audit.serving.errors import Broken, Misuse
from epsilometer.audit.serving.loading import parsed
from epsilometer.audit.sources import as_argument_error, digests
from epsilometer.audit.verdict import Verdict
from epsilometer.audit.worker import python_account
from epsilometer.errors import ArgumentError, MechanismError, one_line

_ANY_LEVEL = {"delta": 0.5}


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
        level, made_of = python_account(interpreter, place, given, timeout=timeout, folder=folder)
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
    who = {name: answer.place for name, answer in answers.items()}
    made_of = dict(verdict.provenance.get("made of", {}))
    for answer in answers.values():
        made_of = {**answer.digest, **made_of}
    return replace(
        verdict,
        claim={**verdict.claim, "from": who},
        claimed=f"{verdict.claimed} {_from(who)}",
        provenance={**verdict.provenance, "made of": made_of},
    )


# --- plain claims ---------------------------------------------------------------------------------


def with_given(claim: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim whose functions are given parameters, and what is claimed beside them.

    For an epsilon that is the ``delta``, for a delta the ``epsilon``, if it is a number; for a
    Rényi divergence the ``order``.
    """
    numbers = {key: claim[key] for key in ("epsilon", "delta") if _is_number(claim.get(key))}

    def given(_: str, level: Mapping[str, Any], beside: Mapping[str, Any]) -> dict[str, Any]:
        return {**level, "given": {**parameters, **beside}}

    return _replaced(claim, given, numbers)


def of_any_level(claim: Mapping[str, Any]) -> dict[str, Any]:
    """Return a plain claim with some number where another will be answered."""
    return _replaced(claim, lambda name, *_: _ANY_LEVEL.get(name, 1.0))


def ask_all(claims: Sequence[Mapping[str, Any]], **options: Any) -> list[dict[str, Any]]:
    """Return who answers what to all that plain claims ask for, each once, as JSON holds it.

    ``options`` are those of `ask`. An accountant that is wrong has a ``problem`` for a level.
    """
    found: dict[str, dict[str, Any]] = {}
    for claim in claims:
        for level in _asked(claim).values():
            if (key := _key(level)) not in found:
                found[key] = {"asked": level, **_answered(level, options)}
    return list(found.values())


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
    who: dict[str, Answer] = {}
    for name, level in _asked(claim).items():
        answer = by_key[_key(level)]
        if "problem" in answer:
            raise MechanismError(answer["problem"])
        who[name] = Answer(answer["level"], level["function"], answer["digest"])
    return _replaced(claim, lambda name, *_: who[name].level), who


def functions(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the functions that plain claims ask for levels."""
    return list(dict.fromkeys(x["function"] for claim in claims for x in _asked(claim).values()))


def unanswered(claim: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """Return what is said of a plain claim without its levels, for programs and for people.

    None where it asks nobody.
    """
    who = {name: level["function"] for name, level in _asked(claim).items()}
    if not who:
        return None
    words = f"{' and '.join(who)} {_from(who)}"
    return {"notion": next(key for key in claim if key != "delta"), "from": who}, words


def _from(who: Mapping[str, str]) -> str:
    return f"(from {' and '.join(dict.fromkeys(who.values()))})"


def _answered(level: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        answer = ask(level["function"], level["given"], **options)
    except (ArgumentError, MechanismError) as error:
        return {"problem": one_line(error)}
    return {"level": answer.level, "digest": dict(answer.digest)}


def _asked(claim: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the levels of a plain claim that are to be answered, by their names."""
    found: dict[str, Mapping[str, Any]] = {}
    _replaced(claim, lambda name, level, _: found.setdefault(name, level))
    return found


def _replaced(
    claim: Mapping[str, Any], number: Callable[..., Any], beside: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return a plain claim with other levels where it names functions.

    ``number`` is given the level's name, the level, and what is claimed beside it.
    """
    made: dict[str, Any] = {}
    for key, said in claim.items():
        if key == "renyi":
            made[key] = [
                [order, number(f"order {order:g}", level, {"order": order})]
                if isinstance(level, Mapping)
                else [order, level]
                for order, level in said
            ]
        else:
            made[key] = number(key, said, beside or {}) if isinstance(said, Mapping) else said
    return made


def _is_number(level: Any) -> bool:
    return isinstance(level, int | float)


def _key(level: Mapping[str, Any]) -> str:
    return json.dumps(level, sort_keys=True)
