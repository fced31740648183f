"""The pairs that a mechanism accepts.

Pairs of two refused inputs, such as empty tables, are left out, and the verdict says so. If it
refuses one input only, this alone distinguishes the two, and is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from epsilometer.errors import MechanismError
from epsilometer.seeds import generator
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.outputs.callables import Source
from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.question.pairs import Candidates, Pair
from epsilometer_audit.serving.outputs import Failure

_NAMED = 3  # pairs that are left out


@dataclass(frozen=True)
class _Trial:
    """Whether the draw of an input is a failure, or the error if there is no draw."""

    failed: bool
    error: MechanismError | None = None


def accepted(source: Source, pairs: Candidates, seed: int) -> tuple[dict[str, Pair], list[Check]]:
    """Return the pairs that a mechanism accepts, and notes on the others.

    There is one draw of each input, with a seed of its own, so that the choice does not depend on
    the draws of the audit. Pairs with a failure as an outcome come last. Raise `MechanismError` if
    the mechanism refuses one input of a pair, or all pairs.
    """
    trials: dict[str, _Trial] = {}

    def trial(x: Any, name: str) -> _Trial:
        if name in pairs.required:  # its inputs may not be JSON
            return _trial(source, x, seed, name)
        key = json.dumps(x)
        if key not in trials:
            trials[key] = _trial(source, x, seed, key)
        return trials[key]

    drawn: dict[str, Pair] = {}
    failing: dict[str, Pair] = {}
    refused: dict[str, MechanismError] = {}
    for name, (x, y) in pairs.items():
        on_x = trial(x, name)
        on_y = trial(y, name)
        if on_x.error is None and on_y.error is None:
            chosen = failing if on_x.failed or on_y.failed else drawn
            chosen[name] = (x, y)
        elif on_x.error is None or on_y.error is None:
            drawn_on = x if on_x.error is None else y
            text = f"{on_x.error or on_y.error}, but not on its neighbour "
            text += f"{input_text(drawn_on, 40)}, which may distinguish them ({name}); let "
            text += "failures be outcomes, or declare inputs on which it draws"
            raise MechanismError(text)
        elif name in pairs.required:
            raise named_error(on_x.error, name)
        else:
            refused[name] = on_x.error
    if refused and not drawn and not failing:
        raise next(iter(refused.values()))
    notes = []
    if refused:
        notes.append(_left_out(refused, len(pairs)))
    for text in pairs.untried:
        notes.append(Check("range", "note", text))
    for text in pairs.relations:
        notes.append(Check("relation", "note", f"neighbours are {text}"))
    return drawn | failing, notes


def _trial(source: Source, x: Any, seed: int, key: str) -> _Trial:
    """Draw once on an input, with a seed that follows from its key."""
    call_seed = int(generator(seed, "audit", "candidates", key).integers(2**31))
    try:
        (output,) = source.draw(x, 1, call_seed)
    except MechanismError as error:
        return _Trial(False, error)
    return _Trial(isinstance(output, Failure))


def _left_out(refused: Mapping[str, MechanismError], number: int) -> Check:
    """Return a note on refused pairs, of this number of pairs."""
    names = ", ".join(map(repr, list(refused)[:_NAMED]))
    if len(refused) > _NAMED:
        names += f" and {len(refused) - _NAMED} more"
    text = f"{len(refused)} of {number} pairs are left out, of which it refuses both inputs"
    cause = next(iter(refused.values()))
    return Check("inputs", "note", f"{text}: {names}; {cause}")


def named_error(error: MechanismError, name: str) -> MechanismError:
    """Return an error that names its pair, if pairs have names."""
    if name:
        error.args = (f"{error}: pair {name!r}",)
    return error
