"""Evidence that is kept in a file, so that the next audit goes on from it.

The k-th audit of a mechanism makes an e-process E_k from fresh draws. The wealth of all audits is
S_k = (S_{k-1} + w_k) E_k with w_k = 1 / (k (k + 1)): the old wealth goes on, and in each audit a
part of the first wealth starts anew, so that many audits without a fault do not hide a later one.
S_k and the rest of the first wealth, 1 - w_1 - ... - w_k, are together a test martingale.

If code, inputs, versions or the claim change, a new version begins, whose wealth starts from 1. The
v-th version has w_v of alpha: over all versions for ever, the probability of a false alarm is alpha
at most. An audit holds the lock of its file to its end. A second one waits: the order of two audits
must not depend on their outputs.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from epsilometer.errors import ArgumentError, one_line
from epsilometer_audit.answer import versions
from epsilometer_audit.checks.sampler import Check
from epsilometer_audit.drawing import seed_of
from epsilometer_audit.outcomes.shapes import joined, listing
from epsilometer_audit.question import Question
from epsilometer_audit.rendering.files import put
from epsilometer_audit.serving.errors import Broken
from epsilometer_audit.serving.outputs import Failure, as_json, compact, from_json, plain
from epsilometer_audit.statistics.claims import parts
from epsilometer_audit.statistics.rounds import Evidence
from epsilometer_audit.statistics.wealth import Earlier
from epsilometer_audit.verdict import Verdict

_FORMAT = "evidence of epsilometer, 1"
_OUTPUTS = 2000  # of a side, from which the next audit learns
_SMALLEST = -1e6  # log wealth
_NUMBERED = re.compile(r"(\d{4,})-.+-[0-9a-f]{8}\.json$")
_DIGITS = 1e4  # of a log wealth, which is rounded down


def part_of(number: int) -> float:
    """Return the part of alpha, or of the first wealth, for each of a sequence; all are 1 together.

    >>> part_of(1), part_of(2)
    (0.5, 0.16666666666666666)
    """
    return 1 / (number * (number + 1))


def numbered(folder: Path, name: str) -> tuple[Path, int]:
    """Return the file of a name in a folder of evidence, and its number, from 1.

    The number is the first of the file's name, and stays. A new file gets the next one, and is
    empty. Raise `ArgumentError` if the folder cannot be written.
    """
    import fcntl

    readable = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[-80:]
    end = f"-{readable}-{_sha256(name)[:8]}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            last = 0
            for other in folder.iterdir():
                if match := _NUMBERED.match(other.name):
                    if other.name.endswith(end):
                        return other, int(match[1])
                    last = max(last, int(match[1]))
            file = folder / f"{last + 1:04}{end}"
            file.touch()
            return file, last + 1
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _wrong(folder, f"cannot be written: {error.strerror}") from None


@contextmanager
def opened(
    path: str | os.PathLike[str], waits: Callable[[], None] = lambda: None
) -> Iterator[EvidenceFile]:
    """Lock a file of evidence, and read it; call ``waits`` if another audit has the lock.

    Raise `ArgumentError` if it cannot be read or written, is damaged, or is another kind of file.
    """
    import fcntl

    file = Path(os.path.realpath(path))
    try:
        while True:
            stream = file.open("a+", encoding="utf-8")
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waits()
                fcntl.flock(stream, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(stream.fileno()), file.stat()):
                    break
            stream.close()  # another audit has written the file in the meantime
    except OSError as error:
        raise _wrong(path, f"cannot be opened: {error.strerror}") from None
    with stream:
        try:
            stream.seek(0)
            yield EvidenceFile(file, _contents(file, stream.read()))
        finally:
            with suppress(OSError):
                if not file.stat().st_size:
                    file.unlink()


def _wrong(path: str | os.PathLike[str], problem: str) -> ArgumentError:
    return ArgumentError("evidence", f"{os.fspath(path)!r} {problem}")


def _contents(path: Path, text: str) -> dict[str, Any]:
    if not text:
        return {}
    if _FORMAT not in text[:100]:
        raise _wrong(path, "does not hold evidence of epsilometer; name another file")
    contents: Any = None
    with suppress(ValueError, RecursionError):
        contents = json.loads(text)
    if type(contents) is not dict or contents.pop("sha256", None) != _sha256(contents):
        raise _wrong(path, "is damaged; restore it, or delete it and with it the evidence")
    return contents


def _sha256(plain: Any) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


@dataclass
class EvidenceFile:
    """The evidence in a file, for one audit: ``before`` it, and ``after``.

    `begin`, `kept`, `record` and `end` are called in this order.
    """

    path: Path
    before: dict[str, Any]
    after: dict[str, Any] = field(default_factory=dict)

    @property
    def _named(self) -> bool:
        """Whether it was `numbered`, so that its name tells what it is about."""
        return _NUMBERED.match(self.path.name) is not None

    def begin(self, question: Question) -> Question:
        """Return the question with its part of alpha and with a seed of its own.

        Raise `ArgumentError` if the evidence is about another mechanism or has another alpha, or if
        the code of the mechanism is unknown.
        """
        if not set(question.digest) - {"python"}:
            raise _wrong(self.path, "cannot be used: the code of the mechanism is unknown")
        facts = {"mechanism": question.source.partition("(")[0], "alpha": question.alpha}
        for key, value in facts.items() if self.before else ():
            if (known := self.before[key]) != value and not (key == "mechanism" and self._named):
                problem = f"is of {key} {known}, not {value}"
                raise _wrong(self.path, f"{problem}; keep that, name another file, or delete it")
        identity = {"mechanism": facts["mechanism"], **_identity(question)}
        if not self.before or self.before["identity"] != identity:
            version = self.before.get("version", 0) + 1
            self.before = {"version": version, "audits": 0, "draws": 0, "checked": False}
        version, audits = self.before["version"], self.before["audits"] + 1
        checked = self.before["checked"]
        self.after = {"format": _FORMAT, **facts, "version": version, "audits": audits}
        self.after["checked"] = checked or question.check_sampler
        self.after["identity"] = identity
        return replace(
            question,
            alpha=question.alpha * part_of(version),
            seed=seed_of(question.seed, "evidence", version, audits),
            check_sampler=question.check_sampler and not checked,
        )

    def kept(self, question: Question) -> dict[str, Any]:
        """Return ``earlier`` and ``past`` of the evidence to which this audit adds."""
        claims, before = parts(question.claim), self.before
        earlier = [Earlier(anew=math.log(part_of(self.after["audits"])))] * len(claims)
        past, pair = {}, None
        if before["audits"]:
            if before["pair"] in question.names:
                pair = question.names.index(before["pair"])
                past = {pair: tuple(map(_from_json, before["outputs"]))}
            earlier = [
                replace(each, **_earlier(wealth), pair=pair)
                for each, wealth in zip(earlier, before["wealth"], strict=True)
            ]
        return {"earlier": dict(zip(claims, earlier, strict=True)), "past": past}

    def record(self, evidence: Evidence, names: tuple[str, ...]) -> None:
        """Add the evidence of the audit of pairs of these names."""
        pair = evidence.best
        sides = (joined(side)[-_OUTPUTS:] for side in evidence.so_far(pair))
        self.after |= {
            "draws": self.before["draws"] + evidence.drawn,
            "pair": names[pair],
            "wealth": [_plain(each.at_the_end()) for each in evidence.wealths.values()],
            "outputs": [[as_json(output) for output in listing(side)] for side in sides],
        }

    def end(self, verdict: Verdict) -> Verdict:
        """Write the file; return the verdict with the whole alpha, and with a note.

        The file stays as it is if the audit was invalid or made no draws.
        """
        after, version = self.after, self.after["version"]
        part = part_of(version)
        if verdict.verdict == "invalid" or "wealth" not in after:
            text = f"{self.path.name} stays as it was: this audit has no evidence"
        else:
            after["verdict"] = verdict.verdict
            lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in after.items()]
            lines.append(f'"sha256": "{_sha256(json.loads(json.dumps(after)))}"')
            try:
                put(self.path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
            except OSError as error:
                raise _wrong(self.path, f"cannot be written: {error.strerror}") from None
            text = (
                f"{self.path.name}: audit {after['audits']} of version {version}, after "
                f"{self.before['draws']} draws a side; this version has {part:.3g} of alpha"
            )
            if self.before.get("verdict") == "violated":
                text += "; those draws refuted the claim"
        note = Check("evidence", "note", text).to_plain()
        p_value = verdict.p_value if verdict.p_value is None else min(verdict.p_value / part, 1.0)
        return replace(
            verdict, alpha=after["alpha"], p_value=p_value, checks=[*verdict.checks, note]
        )


def _identity(question: Question) -> dict[str, Any]:
    """Return the identity of a version of a mechanism: if it changes, a new version begins."""
    inputs = [[name, *map(_input, pair or ())] for name, pair in question.pairs.items()]
    return {
        "claim": question.claim.to_plain(),
        "as_reals": question.as_reals,
        "inputs": _sha256(inputs),
        "code": dict(question.digest),
        "versions": versions(),
    }


def _input(x: Any) -> Any:
    try:
        return as_json(plain(x))
    except Broken:
        return one_line(repr(x))


def _plain(earlier: Earlier) -> dict[str, Any]:
    """Return the evidence against a part of the claim for JSON."""
    logs = {
        quantity: [levels.tolist(), _down(wealth)]
        for quantity, (levels, wealth) in earlier.logs.items()
    }
    largest = _down(earlier.largest)
    return {"largest": largest, "bounds": earlier.bounds, "levels and log wealth": logs}


def _earlier(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `Earlier` that `_plain` made plain."""
    logs = {
        quantity: (np.array(levels), np.array(wealth))
        for quantity, (levels, wealth) in plain["levels and log wealth"].items()
    }
    return {"logs": logs, "bounds": plain["bounds"], "largest": plain["largest"]}


def _down(logs: Any) -> Any:
    return (np.floor(np.maximum(logs, _SMALLEST) * _DIGITS) / _DIGITS).tolist()


def _from_json(outputs: list[Any]) -> Any:
    """Return raw outputs that `as_json` made plain."""

    def value(plain: dict[str, Any]) -> Any:
        if plain and set(plain) <= {"error", "message"}:
            return Failure(plain["error"], plain.get("message", ""))
        return from_json(plain)

    return compact(json.loads(json.dumps(outputs), object_hook=value))
