"""The grids of a file of audits: mechanism x parameters x sets of pairs x claims.

Mechanism, parameters and pairs make a `Case`: one job, which audits all claims about it. No code of
a mechanism is run or imported here.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from epsilometer.errors import ArgumentError, ConfigError, one_line, suggest
from epsilometer.models import parse
from epsilometer.seeds import generator
from epsilometer.yaml_files import read_yaml
from epsilometer_audit.grids import keys as audits
from epsilometer_audit.inputs.domains import DOMAIN_KINDS, domain
from epsilometer_audit.question import Question, check_together, claim_of, named_pairs
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.shares import share_of
from epsilometer_audit.sources.callables import argument_errors
from epsilometer_audit.statistics.rounds import least_samples

_PATTERNS = 10
_MOST_VERDICTS = 10_000  # of a file
_TOO_MANY = f"ask for {{}} verdicts; at most {_MOST_VERDICTS} in a file"
_IN_BRACES = re.compile(r"\{(\w+)\}")
_OPTIONS = ("pairs", "samples", "failures", "canaries", "guesses", "as_reals")
_OF_QUESTIONS = {"method", "as_reals"}
_OF_JOBS = _OF_QUESTIONS | {"failures", "timeout", "guesses", "explain"}  # as they are


@dataclass(frozen=True)
class Case:
    """The subject of one job: a mechanism with its parameters, on a set of pairs.

    All parts are plain data, as jobs get them. ``entry``, ``parameters`` and ``pairs`` are parts of
    paths. The ``arguments`` that were not filled in elsewhere are ``given`` to the function.
    """

    entry: str
    parameters: str
    mechanism: Mapping[str, Any]
    arguments: Mapping[str, Any]
    given: Mapping[str, Any]
    samples: int
    claims: Sequence[Mapping[str, Any]]
    pairs: str = ""
    inputs: Mapping[str, Any] | None = None
    about: Mapping[str, str | None] = field(default_factory=dict)
    expected: str | None = None


class Audits:
    """One file of audits, in YAML, at one of the ``scales``: by default, the file's own.

    ``lock_of`` returns the lock of an environment, by its name and the file's folder.
    """

    def __init__(
        self,
        path: Path,
        scale: str,
        scales: Collection[str] | None = None,
        lock_of: Callable[[str, Path], Any] | None = None,
    ) -> None:
        self.path, self.scale = path, scale
        self.name, self.folder = path.stem, path.parent  # paths in the file are relative to it
        self._lock_of = lock_of
        self._locks: dict[str, Any] = {}
        self.file = parse(audits.AuditsFile, read_yaml(path), str(path))
        self.title = self.file.title or path.stem
        sizes: dict[str, Any] = {"samples": self.file.samples}
        sizes |= {f"audits.{key}.samples": entry.samples for key, entry in self.file.audits.items()}
        named = [
            (key, name) for key, size in sizes.items() if isinstance(size, dict) for name in size
        ]
        self.scales = list(dict.fromkeys(name for _, name in named))  # of numbers of draws
        for key, name in named:
            if name not in (scales or self.scales):
                wrong = f"unknown scale{suggest(name, scales or ())}"
                raise ConfigError(str(path), f"{key}.{name}", wrong)

    @cached_property
    def cases(self) -> dict[str, dict[str, dict[str, Case]]]:
        """All cases, by entry, parameters and pairs, in the order of the file."""
        cases: dict[str, dict[str, dict[str, Case]]] = {}
        for name, entry in self.file.audits.items():
            try:
                cases[name] = self._cases_of(name, entry)
            except ArgumentError as error:
                key = f"audits.{name}.{error.argument}"
                message = str(error).removeprefix(f"{error.argument} ")
                raise ConfigError(str(self.path), key, message) from None
        return cases

    def _cases_of(self, name: str, entry: audits.AuditEntry) -> dict[str, dict[str, Case]]:
        """Return the cases of an entry; an `ArgumentError` names the key that is wrong."""
        self._check(entry)
        number = math.prod(map(len, entry.parameters.values())) * len(entry.claims)
        if number > _MOST_VERDICTS:
            raise ArgumentError("parameters", _TOO_MANY.format(number))
        samples = self._samples(name, entry)
        sets = _sets(entry, samples)
        cases: dict[str, dict[str, Case]] = {}
        for point in product(*entry.parameters.values()):
            arguments = dict(zip(entry.parameters, point, strict=True))
            key = "_".join(f"{k}={_safe(_text_of(value))}" for k, value in arguments.items())
            key = key or "default"
            if key in cases:
                raise ArgumentError("parameters", f"asks twice for {key}")
            mechanism, rest = self._mechanism(entry, arguments)
            claims = _claims(entry, arguments)
            about: dict[str, Any] = entry.about.model_dump()
            for fact, text in about.items():
                if text is not None and re.fullmatch(r"\$\w+", text):
                    about[fact] = _text_of(_parameter(f"about.{fact}", text, arguments))
            common = (name, key, mechanism, arguments, rest, samples, claims)
            cases[key] = {
                pairs: Case(*common, pairs, plain, about, entry.expected)
                for pairs, plain in sets.items()
            }
        return cases

    def all_cases(self) -> list[Case]:
        """Return all cases in one list."""
        grids = [by_pairs for cases in self.cases.values() for by_pairs in cases.values()]
        return [case for by_pairs in grids for case in by_pairs.values()]

    @cached_property
    def verdicts(self) -> int:
        """The number of verdicts, among which alpha is split evenly."""
        number = sum(len(case.claims) for case in self.all_cases())
        if number > _MOST_VERDICTS:
            raise ConfigError(str(self.path), "audits", _TOO_MANY.format(number))
        return number

    @property
    def locks(self) -> dict[str, Any]:
        """The locks of its environments, by the names of these in paths."""
        self.all_cases()
        return {lock.key: lock for lock in self._locks.values()}

    @property
    def alpha(self) -> float:
        """The share of each verdict in the file's alpha."""
        return share_of(self.file.alpha, self.verdicts)

    def spec(self, case: Case, name: str, seed: int) -> dict[str, Any]:
        """Return all that the verdicts on a case follow from, by the file's name and the seed."""
        own = generator(seed, "audits", name, case.entry, case.parameters, case.pairs)
        same = ("entry", "mechanism", "arguments", "given", "samples", "claims")
        return {
            **self.file.audits[case.entry].model_dump(include=_OF_JOBS),
            **{key: getattr(case, key) for key in same},
            **{"audits": name, "set": case.pairs, "pairs": case.inputs, "alpha": self.alpha},
            "audit_seed": int(own.integers(2**31)),
        }

    def _check(self, entry: audits.AuditEntry) -> None:
        """Check the options of an entry together."""
        options = {key: key for key in _OPTIONS if getattr(entry, key)}
        mechanism = entry.mechanism
        options[mechanism.kind] = audits.KINDS.get(mechanism.kind, "a function")
        if entry.method == "exact":
            options["exact"] = "method"
        check_together(options, lambda key: key.replace("_", " "))
        if entry.pairs is None and not {"outputs", "one_run", "canaries"} & set(options):
            raise ArgumentError("pairs", "is missing")
        for key, texts in _texts_of(mechanism).items():
            for parameter in _IN_BRACES.findall(str(texts)):
                if parameter not in entry.parameters:
                    where = "mechanism" if key == "function" else f"mechanism.{key}"
                    near = suggest(parameter, entry.parameters)
                    raise ArgumentError(where, f"unknown parameter {parameter!r} in braces{near}")

    def _mechanism(
        self, entry: audits.AuditEntry, arguments: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the source of draws, braces filled, and the remaining arguments."""
        used = set[str]()

        def fill(match: re.Match[str]) -> str:
            used.add(match[1])
            return _text_of(arguments[match[1]]) if match[1] in arguments else match[0]

        def filled(text: Any) -> Any:
            if isinstance(text, str):
                return _IN_BRACES.sub(fill, text)
            return [filled(part) for part in text]

        plain = {key: filled(text) for key, text in _texts_of(entry.mechanism).items()}
        rest = {key: value for key, value in arguments.items() if key not in used}
        if "function" in plain:
            with _at("mechanism"), argument_errors():
                parsed(plain["function"])
            if (name := plain.get("environment")) is not None:
                if self._lock_of is None:
                    message = "is made by studies only; name a python"
                    raise ArgumentError("mechanism.environment", message)
                try:
                    lock = self._locks[name] = self._locks.get(name) or self._lock_of(
                        name, self.folder
                    )
                except KeyError as error:
                    raise ArgumentError("mechanism.environment", error.args[0]) from None
                plain |= {"environment": lock.name, "lock": lock.digest}
            return plain, rest
        claims = json.dumps([claim.model_dump() for claim in entry.claims])
        for name in sorted(rest):
            if not re.search(rf"\${name}\b", claims):
                part = "command" if "command" in plain else "outputs"
                message = f"{name!r} is used nowhere; write {{{name}}} into the {part}"
                raise ArgumentError("parameters", message)
        if "one_run" in plain:
            plain = {"outputs": [plain["one_run"]], "one_run": True}
        if entry.mechanism.kind != "command":
            plain["columns"] = entry.mechanism.columns
        return plain, {}

    def _samples(self, name: str, entry: audits.AuditEntry) -> int:
        own, sizes = entry.samples is not None, entry.samples or self.file.samples
        if isinstance(sizes, int):
            return sizes
        if self.scale not in sizes:
            key = f"audits.{name}.samples" if own else "samples"
            raise ConfigError(str(self.path), f"{key}.{self.scale}", "is missing")
        return sizes[self.scale]


def _sets(entry: audits.AuditEntry, samples: int) -> dict[str, dict[str, Any] | None]:
    """Return the sets of pairs by the names that paths have; refuse too few ``samples``."""
    if entry.canaries is not None:
        return {f"canaries={entry.canaries}": {"canaries": entry.canaries}}
    if entry.pairs is None:
        return {"recorded": None}
    several = isinstance(entry.pairs, list) and not isinstance(entry.pairs[0], list)
    sets: dict[str, dict[str, Any] | None] = {}
    for pairs in entry.pairs if several else [entry.pairs]:
        with _at("pairs"):
            key, plain, number = _plain_set(pairs)
        if plain in sets.values():
            raise ArgumentError("pairs", f"names {key} twice")
        if number and samples < (least := least_samples(number)):
            message = f"must be at least {least} for {number} pairs, got {samples}"
            raise ArgumentError("samples", message)
        times = sum(re.sub(r"~\d+$", "", other) == key for other in sets)
        sets[f"{key}~{times + 1}" if times else key] = plain
    return sets


def _claims(entry: audits.AuditEntry, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the claims as jobs get them, each with the level to be detected."""
    one_run = entry.canaries is not None or entry.mechanism.kind == "one_run"
    recorded = entry.mechanism.kind == "outputs"
    audited: Any = "one run" if one_run else "recorded outputs" if recorded else "mechanism"
    options = entry.model_dump(include=_OF_QUESTIONS)
    claims: list[dict[str, Any]] = []
    for i, claim_entry in enumerate(entry.claims):
        key = f"claims.{i}"
        levels = claim_entry.model_dump(exclude_none=True)
        levels = {notion: _level(key, level, arguments) for notion, level in levels.items()}
        detect = levels.pop("detect", None)
        for notion, level in levels.items():
            if isinstance(level, dict):
                levels[notion] = [[at, level[at]] for at in sorted(level)]
        with _at(key):  # or raise why there is no such audit
            Question(audited=audited, claim=claim_of(levels), detect=detect, **options)
        for j, other in enumerate(claims):
            if other["claim"] == levels:
                raise ArgumentError(key, f"is the same as claims.{j}")
        claims.append({"claim": levels, "detect": detect})
    return claims


def _level(key: str, level: Any, arguments: Mapping[str, Any]) -> Any:
    """Return a number, or the value of a parameter."""
    if isinstance(level, dict):
        return {order: _level(key, each, arguments) for order, each in level.items()}
    value = _parameter(key, level, arguments) if isinstance(level, str) else level
    if isinstance(value, bool | str):
        raise ArgumentError(key, f"{level} is {value!r}, not a number")
    return float(value) if isinstance(level, str) else value


@contextmanager
def _at(key: str) -> Iterator[None]:
    """Name the key in an error about what it holds."""
    try:
        yield
    except ArgumentError as error:
        raise ArgumentError(key, one_line(error)) from None


def _parameter(key: str, reference: str, arguments: Mapping[str, Any]) -> Any:
    """Return the value of the parameter that ``$name`` refers to."""
    if reference[1:] not in arguments:
        near = suggest(reference[1:], arguments)
        raise ArgumentError(key, f"unknown parameter {reference[1:]!r}{near}")
    return arguments[reference[1:]]


def _texts_of(mechanism: Any) -> dict[str, Any]:
    """Return the texts of a mechanism that may have braces, by key."""
    return mechanism.model_dump(exclude={"columns"}, exclude_none=True)  # type: ignore[no-any-return]


def _text_of(value: Any) -> str:
    """Return a parameter as an argument of a command."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _safe(text: str) -> str:
    """Return a text as a part of a path: itself, or its allowed characters with a digest."""
    left = _left(text)
    whole = re.fullmatch(r"[A-Za-z0-9.+-]{1,40}", text)
    return text if whole else f"{left}~{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _left(text: str) -> str:
    """Return the part of a text that may stand in a path."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "-", text)[:40].strip("-.")


def _plain_set(entry: Any) -> tuple[str, dict[str, Any], int]:
    """Return the name of a set of pairs in paths, the set as jobs get it, and its size if known."""
    if isinstance(entry, audits.Inputs):
        if entry.patterns is not None:
            return f"patterns={entry.patterns}", {"patterns": entry.patterns}, _PATTERNS
        limit = {} if entry.limit is None else {"limit": entry.limit}
        if entry.domain is not None:
            declared = entry.domain | limit
            kind = next((kind for kind in DOMAIN_KINDS if kind in declared), "")
            return f"domain-{kind}", {"domain": declared}, len(domain(declared))
        kind, table = ("remove", entry.remove) if entry.remove else ("replace", entry.replace)
        return f"{kind}-a-row", {kind: table, "limit": 100} | limit, 0
    by_name = named_pairs(entry)
    pairs = [[name, *pair] for name, pair in by_name.items()]
    first = (isinstance(entry, dict) and _left(next(iter(by_name)))) or "pair"
    name = first if len(pairs) == 1 else f"{first}+{len(pairs) - 1}"
    return name, {"pairs": pairs}, len(pairs)
