"""The grids of a file of audits: mechanism x parameters x sets of pairs x claims.

The first three make a `Case`, a job for all claims. No code of a mechanism is run or imported here.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from epsilometer.errors import ArgumentError, ConfigError, one_line, suggest
from epsilometer.models import parse
from epsilometer.seeds import generator
from epsilometer.yaml_files import read_yaml
from epsilometer_audit.grids import keys as audits
from epsilometer_audit.inputs.declarations import DOMAIN_KINDS
from epsilometer_audit.inputs.domains import domain
from epsilometer_audit.question import Question, check_together, claim_of, named_pairs
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.shares import share_of
from epsilometer_audit.sources.callables import argument_errors
from epsilometer_audit.statistics.rounds import least_samples

_MOST_VERDICTS = 10_000  # of a file
_IN_BRACES = re.compile(r"\{(\w+)\}")
_OPTIONS = ("pairs", "samples", "failures", "canaries", "guesses", "as_reals")
_OF_QUESTIONS = {"as_reals"}
_OF_JOBS = _OF_QUESTIONS | {"failures", "timeout", "guesses"}  # as they are


@dataclass(frozen=True)
class Case:
    """One job: a mechanism with its parameters, on a set of pairs.

    ``entry``, ``parameters`` and ``pairs`` are parts of paths. ``spec`` is plain data from which
    its verdicts follow; see `grids.verdicts`.
    """

    entry: str
    parameters: str
    pairs: str
    spec: dict[str, Any]
    about: Mapping[str, str | None]
    expected: str | None

    @property
    def name(self) -> str:
        """Its name in the file."""
        return f"{self.entry}/{self.parameters}/{self.pairs}"


class Audits:
    """One file of audits, in YAML, and its ``cases`` by name, in the order of the file.

    The numbers of draws are those of a scale, of ``scales`` or by default of the file's own.
    ``lock_of`` returns the lock of an environment, by its name and the file's folder.
    """

    def __init__(
        self,
        path: Path,
        scale: str | None = None,
        seed: int = 0,
        scales: Collection[str] | None = None,
        lock_of: Callable[[str, Path], Any] | None = None,
    ) -> None:
        self.path, self.folder = path, path.parent  # paths in the file are relative to it
        self._scale, self._scales, self._seed, self._lock_of = scale, scales, seed, lock_of
        self.locks: dict[str, Any] = {}  # of environments, by name
        self.file = parse(audits.AuditsFile, read_yaml(path), str(path))
        self.cases: dict[str, Case] = {}
        self.verdicts = 0
        for name, entry in self.file.audits.items():
            try:
                for case in self._cases_of(name, entry):
                    self.cases[case.name] = case
                    self.verdicts += len(case.spec["claims"])
                    if self.verdicts > _MOST_VERDICTS:
                        message = f"ask for too many verdicts: at most {_MOST_VERDICTS} in a file"
                        raise ArgumentError("parameters", message)
            except ArgumentError as error:
                key = f"audits.{name}.{error.argument}"
                message = str(error).removeprefix(f"{error.argument} ")
                raise ConfigError(str(path), key, message) from None
        for case in self.cases.values():
            case.spec["alpha"] = share_of(self.file.alpha, self.verdicts)

    def _cases_of(self, name: str, entry: audits.AuditEntry) -> Iterator[Case]:
        """Yield the cases of an entry; an `ArgumentError` names the key that is wrong."""
        _check(entry)
        samples, known = self._samples(name, entry), set[str]()
        sets = _sets(entry, samples)
        common = {**entry.model_dump(include=_OF_JOBS), "audits": self.path.stem, "entry": name}
        for point in product(*entry.parameters.values()):
            arguments = dict(zip(entry.parameters, point, strict=True))
            key = "_".join(f"{k}={_safe(_text_of(value))}" for k, value in arguments.items())
            key = key or "default"
            if key in known:
                raise ArgumentError("parameters", f"asks twice for {key}")
            known.add(key)
            mechanism, given = self._mechanism(entry, arguments)
            spec = {**common, "mechanism": mechanism, "arguments": arguments, "given": given}
            spec |= {"samples": samples, "claims": _claims(entry, arguments)}
            about: dict[str, Any] = entry.about.model_dump()
            for fact, text in about.items():
                if text is not None and re.fullmatch(r"\$\w+", text):
                    about[fact] = _text_of(_parameter(f"about.{fact}", text, arguments))
            for pairs, inputs in sets.items():
                rng = generator(self._seed, "audits", self.path.stem, name, key, pairs)
                own = {"set": pairs, "pairs": inputs, "audit_seed": int(rng.integers(2**31))}
                yield Case(name, key, pairs, spec | own, about, entry.expected)

    def _mechanism(
        self, entry: audits.AuditEntry, arguments: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the source of draws, braces filled, and the remaining arguments."""
        texts = entry.mechanism.model_dump(exclude={"columns"}, exclude_none=True)
        used = _IN_BRACES.findall(str([*texts.values()]))
        for name in used:
            if name not in arguments:
                near = suggest(name, arguments)
                raise ArgumentError("mechanism", f"unknown parameter {name!r} in braces{near}")
        plain = {key: _filled(text, arguments) for key, text in texts.items()}
        rest = {key: value for key, value in arguments.items() if key not in used}
        if "function" in plain:
            with _at("mechanism"), argument_errors():
                parsed(plain["function"])
            return plain | self._environment(plain.get("environment")), rest
        claims = json.dumps([claim.model_dump() for claim in entry.claims])
        for name in sorted(rest):
            if not re.search(rf"\${name}\b", claims):
                part = "command" if "command" in plain else "outputs"
                message = f"{name!r} is used nowhere; write {{{name}}} into the {part}"
                raise ArgumentError("parameters", message)
        if "one_run" in plain:
            plain = {"outputs": [plain["one_run"]], "one_run": True}
        if "outputs" in plain:
            plain["columns"] = entry.mechanism.columns
        return plain, {}

    def _environment(self, name: str | None) -> dict[str, Any]:
        """Return what jobs know about an environment."""
        if name is None:
            return {}
        key = "mechanism.environment"
        if self._lock_of is None:
            raise ArgumentError(key, "is made by studies only; name a python")
        if name not in self.locks:
            try:
                self.locks[name] = self._lock_of(name, self.folder)
            except KeyError as error:
                raise ArgumentError(key, error.args[0]) from None
        return {"environment": self.locks[name].name, "lock": self.locks[name].digest}

    def _samples(self, name: str, entry: audits.AuditEntry) -> int:
        own, sizes = entry.samples is not None, entry.samples or self.file.samples
        if isinstance(sizes, int):
            return sizes
        key = f"audits.{name}.samples" if own else "samples"
        for scale in sizes:
            if scale not in (self._scales or sizes):
                wrong = f"unknown scale{suggest(scale, self._scales or ())}"
                raise ConfigError(str(self.path), f"{key}.{scale}", wrong)
        if self._scale is None:
            raise ConfigError(str(self.path), key, f"has {', '.join(sizes)}; choose one by --scale")
        if self._scale not in sizes:
            missing = f"is missing{suggest(self._scale, sizes)}"
            raise ConfigError(str(self.path), f"{key}.{self._scale}", missing)
        return sizes[self._scale]


def _check(entry: audits.AuditEntry) -> None:
    """Check the options of an entry together."""
    mechanism = entry.mechanism
    options = {key: key for key in _OPTIONS if getattr(entry, key)}
    for key in mechanism.model_dump(exclude_none=True):
        options["source" if key == "function" else key] = f"mechanism.{_spelled(key)}"
    check_together(options, _spelled)
    if not {"source", "command", "outputs", "one_run"} & set(options):
        raise ArgumentError("mechanism", "must have function, command, outputs or one run")
    if mechanism.one_run is not None and len(mechanism.columns or ("", "")) != 2:
        raise ArgumentError("mechanism.columns", "must be two")
    if entry.pairs is None and not {"outputs", "one_run", "canaries"} & set(options):
        raise ArgumentError("pairs", "is missing")


def _spelled(option: str) -> str:
    return "function" if option == "source" else option.replace("_", " ")


def _sets(entry: audits.AuditEntry, samples: int) -> dict[str, dict[str, Any] | None]:
    """Return the sets of pairs by the names that paths have; refuse too few ``samples``."""
    if entry.canaries is not None:
        return {f"canaries={entry.canaries}": {"canaries": entry.canaries}}
    if entry.pairs is None:
        return {"recorded": None}
    sets: dict[str, dict[str, Any] | None] = {}
    for pairs in entry.pairs:
        with _at("pairs"):
            key, plain, number = _plain_set(pairs)
        if plain in sets.values():
            raise ArgumentError("pairs", f"names {key} twice")
        if samples < (least := least_samples(number)):
            message = f"must be at least {least} for {number} pairs, got {samples}"
            raise ArgumentError("samples", message)
        times = sum(re.sub(r"~\d+$", "", other) == key for other in sets)
        sets[f"{key}~{times + 1}" if times else key] = plain
    return sets


def _plain_set(entry: Any) -> tuple[str, dict[str, Any], int]:
    """Return the name of a set of pairs in paths, the set as jobs get it, and its size."""
    if isinstance(entry, audits.Inputs):
        limit = {} if entry.limit is None else {"limit": entry.limit}
        declared = entry.domain | limit
        kind = next((kind for kind in DOMAIN_KINDS if kind in declared), "")
        return f"domain-{kind}", {"domain": declared}, len(domain(declared))
    by_name = named_pairs(entry)
    pairs = [[name, *pair] for name, pair in by_name.items()]
    first = (isinstance(entry, dict) and _left(next(iter(by_name)))) or "pair"
    name = first if len(pairs) == 1 else f"{first}+{len(pairs) - 1}"
    return name, {"pairs": pairs}, len(pairs)


def _claims(entry: audits.AuditEntry, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the claims as jobs get them, each with the level to be detected."""
    one_run = entry.canaries is not None or entry.mechanism.one_run is not None
    recorded = entry.mechanism.outputs is not None
    audited: Any = "one run" if one_run else "recorded outputs" if recorded else "mechanism"
    options = entry.model_dump(include=_OF_QUESTIONS)
    claims: list[dict[str, Any]] = []
    for i, claim_entry in enumerate(entry.claims):
        key, plain = f"claims.{i}", claim_entry.model_dump(exclude_none=True)
        levels = {notion: _level(key, level, arguments) for notion, level in plain.items()}
        asked = {"detect": levels.pop("detect", None)}
        if "event" in levels:
            asked["event"] = levels.pop("event")
        with _at(key):  # or raise why there is no such audit
            Question(audited=audited, claim=claim_of(levels), **asked, **options)
        for j, other in enumerate(claims):
            if other["claim"] == levels:
                raise ArgumentError(key, f"is the same as claims.{j}")
        claims.append({"claim": levels} | asked)
    return claims


def _level(key: str, level: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a number, the value of a parameter, or a list of points."""
    if isinstance(level, dict):
        return [[at, _level(key, level[at], arguments)] for at in sorted(level)]
    value = _parameter(key, level, arguments) if isinstance(level, str) else level
    if isinstance(value, bool | str):
        raise ArgumentError(key, f"{level} is {value!r}, not a number")
    return float(value)


def _parameter(key: str, reference: str, arguments: Mapping[str, Any]) -> Any:
    """Return the value of the parameter that ``$name`` refers to."""
    if reference[1:] not in arguments:
        near = suggest(reference[1:], arguments)
        raise ArgumentError(key, f"unknown parameter {reference[1:]!r}{near}")
    return arguments[reference[1:]]


@contextmanager
def _at(key: str) -> Iterator[None]:
    """Name the key in an error about what it holds."""
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(key, one_line(error)) from None


def _filled(text: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a text, or each of several, with parameters in the place of their names in braces."""
    if not isinstance(text, str):
        return [_filled(part, arguments) for part in text]
    return _IN_BRACES.sub(lambda match: _text_of(arguments[match[1]]), text)


def _text_of(value: Any) -> str:
    """Return a parameter as an argument of a command."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    """Return a text as a part of a path: itself, or its allowed characters with a digest."""
    whole = re.fullmatch(r"[A-Za-z0-9.+-]{1,40}", text)
    return text if whole else f"{_left(text)}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _left(text: str) -> str:
    """Return the part of a text that may stand in a path."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text)[:40].strip("-.")
