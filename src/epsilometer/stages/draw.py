"""Draws all that the audits of one mechanism on some pairs will ask for, for all claims.

An audit asks for more of those pairs that show most, so that nobody but the audit knows what it
will ask for: it is made here, for each claim, and what it is given is kept on a `Tape`. Another
job plays that to it again. Foreign code runs here and nowhere else in the workflow.
"""

from __future__ import annotations

import base64
import json
import logging
import math
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.audit import claims
from epsilometer.audit.accounting import ask_all, filled
from epsilometer.audit.candidates import accepted
from epsilometer.audit.claims import AnyClaim
from epsilometer.audit.domains import domain
from epsilometer.audit.neighbours import neighbours, patterns
from epsilometer.audit.recorded import digest, read, read_scores
from epsilometer.audit.sampler import Check
from epsilometer.audit.sources import Failure, Source, load
from epsilometer.audit.verdict import as_plain, input_words
from epsilometer.audit.words import Other
from epsilometer.audit.worker import WorkerSource, python_worker
from epsilometer.errors import (
    ArgumentError,
    DataError,
    EpsilometerError,
    MechanismError,
    one_line,
)
from epsilometer.storage import write_draws

_EXACT = 2**53  # whole numbers up to here are reals, too
_SHOWN = 400  # letters of an input that is kept as it is
_log = logging.getLogger("epsilometer")

Batch = tuple[int, int, Any]


def run(
    output: str,
    spec: Mapping[str, Any],
    made_of: str,
    folder: str,
    progress: Callable[[str], None],
    environment: str | None = None,
) -> None:
    """Draw what ``spec`` asks for, with a mechanism of ``folder``, into one file.

    What goes wrong with the mechanism is kept in its place: it is an answer, too. So is that there
    is no such ``environment``, which is what the job that makes them wrote of it.
    """
    began = time.perf_counter()
    batches: list[Batch] = []
    answers: list[dict[str, Any]] = []
    try:
        placed = spec if environment is None else _placed(spec, environment, folder)
        with chdir(folder):
            answers = _accounted(placed)
            batches, facts = _drawn(placed, answers, progress)
    except _MissingError as error:
        facts = {"missing": one_line(error)}
    except EpsilometerError as error:
        facts = {"failed": one_line(error)}
    except Exception as error:
        _log.exception("failed")
        facts = {"failed": f"{type(error).__name__}: {one_line(error)} (traceback in the log)"}
    facts |= {"accounts": answers} if answers else {}
    facts["seconds"] = round(time.perf_counter() - began, 3)
    _write(batches, output, spec, made_of, facts)


def write_failure(output: str, spec: Mapping[str, Any], made_of: str, cause: str) -> None:
    """Write that there are no draws, and why: of a job that had to be stopped."""
    _write([], output, spec, made_of, {"failed": cause, "seconds": 0.0})


class _MissingError(EpsilometerError):
    """There is no environment to draw in."""


def _placed(spec: Mapping[str, Any], environment: str, folder: str) -> dict[str, Any]:
    """Return what is to be drawn with the interpreter of its environment."""
    made = json.loads(Path(environment).read_text(encoding="utf-8"))
    if made["problem"] is not None:
        raise _MissingError(made["problem"])
    python = os.path.relpath(made["python"], folder)
    return {**spec, "mechanism": {**spec["mechanism"], "python": python}}


def _write(
    batches: Sequence[Batch],
    output: str,
    spec: Mapping[str, Any],
    made_of: str,
    facts: Mapping[str, Any],
) -> None:
    columns, forms = together([outputs for _, _, outputs in batches])
    written = [(*place[:2], column) for place, column in zip(batches, columns, strict=True)]
    write_draws(written, output, {**spec, "made_of": made_of, "facts": {**facts, "forms": forms}})


def _accounted(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what accountants answer, in the mechanism's own interpreter."""
    interpreter = spec["mechanism"].get("python")
    return ask_all(spec.get("accounts", ()), interpreter=interpreter, timeout=spec["timeout"])


def _with_numbers(
    said: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield claims with the levels that accountants answered; of others their own job tells."""
    for claim in said:
        with suppress(MechanismError):
            yield filled(claim, answers)[0]


def _drawn(
    spec: Mapping[str, Any],
    answers: Sequence[Mapping[str, Any]],
    progress: Callable[[str], None],
) -> tuple[list[Batch], dict[str, Any]]:
    """Return batches, and what is to be known of them."""
    from epsilometer.audit.auditing import audit, check_source  # the Snakefile needs the rest

    place = spec["mechanism"]
    if "one_run" in place or "canaries" in (spec["pairs"] or {}):
        return _canaries(spec)
    if "outputs" in place:
        sides = read(place["outputs"], place["columns"])
        files = " and ".join(Path(file).name for file in place["outputs"])
        about = {"source": f"recorded in {files}", "digest": digest(place["outputs"])}
        return [(0, side, plain(outputs)) for side, outputs in enumerate(sides)], about
    pairs = list(pairs_of(spec["pairs"]))
    source = source_of(spec)
    random.seed(spec["audit_seed"])  # for mechanisms that take no seed, but draw from these
    np.random.seed(spec["audit_seed"])  # noqa: NPY002
    try:
        progress(f"drawing from {source.description}")
        refused: list[Check] = []
        if "domain" in spec["pairs"]:
            kept, refused = accepted(source, domain(spec["pairs"]["domain"]), spec["audit_seed"])
            pairs = [(name, x, y) for name, (x, y) in kept.items()]
        facts: dict[str, Any] = {
            "source": source.description,
            "digest": source.digest(),
            "pairs": [[name, *map(_shown, pair)] for name, *pair in pairs],
        }
        seen = check_source(source, pairs[0][1:], spec["samples"], spec["audit_seed"])
        seen = [*refused, *seen]
        facts["checks"] = [found.to_plain() for found in seen]
        if any(found.result == "failed" for found in seen):
            return [], facts
        tape = Tape(source)
        for said in _with_numbers(spec["claims"], answers):
            tape.rewind()
            try:
                audit(
                    tape,
                    tape.sides(pairs),
                    claim_of(said),
                    samples=spec["samples"],
                    alpha=spec["alpha"],
                    seed=spec["audit_seed"],
                    method=spec["method"] or "anytime",
                    as_reals=spec["as_reals"],
                    check_sampler=False,
                    details=False,
                    progress=lambda part, line: progress(f"{part:.0%}: {line}"),
                )
            except ArgumentError:
                if tape.error is not None or len(spec["claims"]) == 1:
                    raise
                _log.exception("a claim that its own job will tell of")
        return tape.batches, facts
    finally:
        source.close()


def _canaries(spec: Mapping[str, Any]) -> tuple[list[Batch], dict[str, Any]]:
    """Return scores of canaries and which were included, of one run, and what is to be known."""
    from epsilometer.audit.one_run import draw_canaries

    place = spec["mechanism"]
    if "one_run" in place:
        (file,) = place["outputs"]
        scores, coins = read_scores(file, place["columns"])
        about = {"source": f"recorded in {Path(file).name}", "digest": digest([file])}
    else:
        source = source_of(spec)
        random.seed(spec["audit_seed"])
        np.random.seed(spec["audit_seed"])  # noqa: NPY002
        try:
            coins, scores = draw_canaries(source, spec["pairs"]["canaries"], spec["audit_seed"])
            about = {"source": source.description, "digest": source.digest()}
        finally:
            source.close()
    return [(0, 0, plain(scores)), (0, 1, plain(coins))], {**about, "one run": True}


def source_of(spec: Mapping[str, Any]) -> Source:
    """Return where draws come from; a worker may have been started."""
    place, failures = spec["mechanism"], spec["failures"]
    if "command" in place:
        return WorkerSource(place["command"], timeout=spec["timeout"], failures=failures)
    given = dict(spec["given"])
    if "python" in place:
        worker = python_worker(
            place["python"],
            place["function"],
            timeout=spec["timeout"],
            failures=failures,
            parameters=given,
        )
        name = place.get("environment", place["python"])
        worker.description = worker.description.replace(f"in {place['python']}", f"in {name}")
        return worker
    return load(place["function"], failures=failures, parameters=given)


def pairs_of(inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, x and x' of each pair of a set."""
    if "pairs" in inputs:
        yield from (tuple(pair) for pair in inputs["pairs"])
    elif "patterns" in inputs:
        yield from patterns(inputs["patterns"])
    elif "domain" in inputs:
        yield from ((name, x, y) for name, (x, y) in domain(inputs["domain"]).items())
    else:
        kind = "remove" if "remove" in inputs else "replace"
        for x, y, label in neighbours(inputs[kind], kind, limit=inputs["limit"]):
            yield label, x, y


def claim_of(plain: Mapping[str, Any]) -> AnyClaim:
    """Return the claim of an entry; raise `ArgumentError` if there can be no such."""
    if "renyi" in plain:
        return claims.renyi((order, level) for order, level in plain["renyi"])
    if "epsilon" in plain:
        return claims.Pure(plain["epsilon"], plain.get("delta", 0.0))
    return claims.gdp(plain["gdp"]) if "gdp" in plain else claims.zcdp(plain["zcdp"])


def _shown(x: Any) -> Any:
    """Return an input as it is where it is short, else in words."""
    held = as_plain(x)
    return held if len(json.dumps(held)) <= _SHOWN else input_words(x, _SHOWN)


# --- what an audit is given -----------------------------------------------------------------------


class Side:
    """One input of one pair, in place of the input itself."""

    def __init__(self, pair: int, side: int, value: Any = None) -> None:
        self.pair, self.side, self.value = pair, side, value

    def __repr__(self) -> str:
        return "x'" if self.side else "x"


class Tape:
    """A source that keeps what it gave, and gives it again, in the order it is asked for.

    Parameters
    ----------
    source
        Where more comes from; none where all is on the tape.
    batches
        What is on it: pair, side and outputs.
    """

    def __init__(self, source: Source | None = None, batches: Sequence[Batch] = ()) -> None:
        self._source = source
        self._held: dict[tuple[int, int], list[Any]] = {}
        for pair, side, outputs in batches:
            self._held.setdefault((pair, side), []).append(outputs)
        self._next: Counter[tuple[int, int]] = Counter()
        self.seeded, self.description = True, ""
        self.error: EpsilometerError | None = None

    @staticmethod
    def sides(pairs: Sequence[Sequence[Any]]) -> dict[str, tuple[Side, Side]]:
        """Return pairs of (name, x, x') as this source knows them."""
        return {name: (Side(i, 0, x), Side(i, 1, y)) for i, (name, x, y) in enumerate(pairs)}

    @property
    def batches(self) -> list[Batch]:
        """All that is on it, by pair and side."""
        return [(*place, outputs) for place, held in sorted(self._held.items()) for outputs in held]

    def rewind(self) -> None:
        """Begin again."""
        self._next.clear()

    def draw(self, x: Side, size: int, seed: int) -> Any:
        """Return what is next for a side of a pair."""
        place = x.pair, x.side
        held, at = self._held.setdefault(place, []), self._next[place]
        self._next[place] += 1
        if at == len(held):
            if self._source is None:
                raise DataError("draws", "are fewer than are asked for; delete them and run again")
            try:
                held.append(plain(self._source.draw(x.value, size, seed)))
            except EpsilometerError as error:
                self.error = error
                raise
        return held[at]

    def digest(self) -> dict[str, str]:
        """Return nothing: who made the tape knows."""
        return {}

    def close(self) -> None:
        """Nothing is open."""


# --- outputs in files -----------------------------------------------------------------------------


def plain(outputs: Any) -> Any:
    """Return outputs as a file gives them back: truth values, integers, reals or a list."""
    if isinstance(outputs, np.ndarray):
        if outputs.dtype.kind == "f":
            return np.ascontiguousarray(outputs, np.float64)
        if outputs.dtype.kind == "b":
            return np.ascontiguousarray(outputs)
        if outputs.dtype.kind in "iu" and _fits(outputs):
            return np.ascontiguousarray(outputs, np.int64)
        outputs = outputs.tolist()
    return [_read(json.loads(_text(value))) for value in outputs]


def _fits(outputs: Any) -> bool:
    return outputs.dtype != np.uint64 or not outputs.size or bool(outputs.max() < 2**63)


def together(batches: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """Return what `plain` returned as columns of one type, and the type that each had."""
    forms = [str(b.dtype) if isinstance(b, np.ndarray) else "list" for b in batches]
    shapes = {b.shape[1:] if isinstance(b, np.ndarray) else None for b in batches}
    if "list" in forms or len(shapes) > 1 or not _are_reals(batches, forms):
        return [[_text(v) for v in _values(b)] for b in batches], forms
    kind = np.float64 if "float64" in forms else bool if set(forms) == {"bool"} else np.int64
    return [np.asarray(b, kind) for b in batches], forms


def apart(column: Any, form: str) -> Any:
    """Return a column as what it was before `together`."""
    if form == "list":
        return [_read(json.loads(text)) for text in column]
    values = [json.loads(text) for text in column] if isinstance(column, list) else column
    return np.asarray(values, form)


def _are_reals(batches: Sequence[Any], forms: Sequence[str]) -> bool:
    """Tell whether integers, where there are reals, are reals, too."""
    whole = [b for b, form in zip(batches, forms, strict=True) if form == "int64" and b.size]
    return "float64" not in forms or all(-_EXACT <= b.min() <= b.max() <= _EXACT for b in whole)


def _values(batch: Any) -> list[Any]:
    return batch.tolist() if isinstance(batch, np.ndarray) else list(batch)


def _text(value: Any) -> str:
    return json.dumps(_written(value))


def _written(value: Any) -> Any:  # noqa: PLR0911
    """Return an output as JSON has it; what JSON has not is an object with a key ``$...``."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_written(entry) for entry in value]
    if isinstance(value, Mapping):
        items = [[_written(key), _written(entry)] for key, entry in value.items()]
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return dict(items)
        return {"$items": items}
    if isinstance(value, set | frozenset):
        return {"$set": sorted((_written(member) for member in value), key=json.dumps)}
    if isinstance(value, Failure):
        return {"$failure": value.type_name}
    if isinstance(value, bytes):
        return {"$bytes": base64.b64encode(value).decode()}
    if isinstance(value, Decimal | Fraction):
        return {"$ratio": str(Fraction(value))} if math.isfinite(value) else float(value)
    if isinstance(value, np.generic):
        return _written(value.item())
    if isinstance(value, Other):
        return {"$other": [value.sort, value.name]}
    return {"$other": ["value", f"{type(value).__name__} {value}"]}


def _read(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_read(entry) for entry in value)
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or not next(iter(value)).startswith("$"):
        return {key: _read(entry) for key, entry in value.items()}
    ((what, held),) = value.items()
    return _READS[what](held)


_READS: Mapping[str, Callable[[Any], Any]] = {
    "$items": lambda items: {_read(key): _read(entry) for key, entry in items},
    "$set": lambda members: frozenset(map(_read, members)),
    "$failure": Failure,
    "$bytes": base64.b64decode,
    "$ratio": Fraction,
    "$other": lambda held: Other(*held),
}
