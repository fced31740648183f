"""The grids of a file of audits: mechanism x parameters x sets of pairs x claims.

Each point of a grid but for its claims is a `Case`: drawn once, for all claims about it. Nothing of
a mechanism is run or imported here.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from epsilometer.audit.accounting import (
    check_place,
    functions,
    of_any_level,
    unanswered,
    with_given,
)
from epsilometer.audit.claims import EventClaim, parts
from epsilometer.audit.schedule import least_samples
from epsilometer.audit.serving.errors import Misuse
from epsilometer.audit.serving.loading import parsed
from epsilometer.audit.sources import as_argument_error
from epsilometer.errors import ArgumentError, ConfigError, one_line, suggest
from epsilometer.options import ID
from epsilometer.stages.draw import claim_of
from epsilometer.study import audits, config
from epsilometer.study.locks import Lock, find_lock
from epsilometer.study.naming import (
    check_detect,
    claim_name,
    grid_of,
    is_referred,
    listed,
    number_of,
    parameters_name,
    plain_set,
    text_of,
    texts_of,
)

_IN_BRACES = re.compile(r"\{(\w+)\}")
_FILLED = ("input", "size", "seed")  # by who runs a program
_OF_PAIRS = (
    *("pairs", "samples", "method", "failures", "as_reals"),
    *("outcomes", "support", "lipschitz"),
)


@dataclass(frozen=True)
class Case:
    """What is drawn once: a mechanism with its parameters, on a set of pairs.

    All parts are plain, as jobs are told them. ``entry``, ``parameters``, ``pairs`` and the keys of
    ``claims`` are parts of paths. Of the ``arguments``, those that were not filled in elsewhere are
    ``given`` to the function. A claim is what it is, and the level to be detected.
    """

    entry: str
    parameters: str
    pairs: str
    mechanism: Mapping[str, Any]
    arguments: Mapping[str, Any]
    given: Mapping[str, Any]
    inputs: Mapping[str, Any] | None
    samples: int
    claims: Mapping[str, Mapping[str, Any]]
    about: Mapping[str, str | None] = field(default_factory=dict)
    expected: str | None = None

    @property
    def many_pairs(self) -> bool:
        """Whether how often each pair is drawn from follows from what they show."""
        if self.inputs is None or "canaries" in self.inputs:
            return False
        return len(self.inputs.get("pairs", "..")) > 1

    @property
    def accounts(self) -> list[Mapping[str, Any]]:
        """The claims of which accountants answer a level."""
        return [one["claim"] for one in self.claims.values() if unanswered(one["claim"])]

    @property
    def accountants(self) -> list[dict[str, Any]]:
        """The functions that answer levels, in the interpreter of the mechanism."""
        where = ("python", "environment", "lock")
        there = {key: self.mechanism[key] for key in where if key in self.mechanism}
        return [{**there, "function": function} for function in functions(self.accounts)]

    @property
    def files(self) -> list[str]:
        """The files of data that it names."""
        tables = [self.inputs[k] for k in ("remove", "replace") if self.inputs and k in self.inputs]
        return [*tables, *self.mechanism.get("outputs", ())]


class Audits:
    """One file of audits at one scale.

    Parameters
    ----------
    path
        The YAML file; all that it names is relative to its folder.
    scale, scales
        Which of several sizes is meant, and which there are.
    locks
        The folder of locks beside ``envs`` in the file's own folder.
    """

    def __init__(self, path: Path, scale: str, scales: Collection[str], locks: Path) -> None:
        self.path, self.scale = path, scale
        self._folders_of_locks = [path.parent / "envs", locks]
        self._locks: dict[str, Lock] = {}
        self.file = config.read(path, audits.AuditsFile)
        self.title = self.file.title or path.stem
        for key, sizes in self._sizes.items():
            for unknown in [name for name in sizes if name not in scales]:
                wrong = f"unknown scale{suggest(unknown, scales)}"
                raise ConfigError(str(path), f"{key}.{unknown}", wrong)

    @property
    def has_sizes(self) -> bool:
        """Whether it says how much is to be drawn at this scale."""
        return all(self.scale in sizes for sizes in self._sizes.values())

    @property
    def _sizes(self) -> dict[str, dict[str, int]]:
        """How much is to be drawn, by key, where that depends on the scale."""
        sizes: dict[str, Any] = {"samples": self.file.samples}
        sizes |= {f"audits.{name}.samples": one.samples for name, one in self.file.audits.items()}
        return {key: size for key, size in sizes.items() if isinstance(size, dict)}

    @property
    def folder(self) -> Path:
        """What paths in the file are relative to."""
        return self.path.parent

    @cached_property
    def cases(self) -> dict[str, dict[str, dict[str, Case]]]:
        """All cases, by entry, parameters and pairs, in the order of the file."""
        found: dict[str, dict[str, dict[str, Case]]] = {}
        for name, entry in self.file.audits.items():
            self._check(name, entry)
            sets = self._sets(name, entry)
            for arguments in grid_of(entry):
                of = {
                    key: self._case(name, entry, arguments, key, plain)
                    for key, plain in sets.items()
                }
                key = parameters_name(arguments)
                if key in found.setdefault(name, {}):
                    raise self._wrong(name, "parameters", f"asks twice for {key}")
                found[name][key] = of
        return found

    def all_cases(self) -> list[Case]:
        """Return them in a row."""
        return [
            case
            for by_parameters in self.cases.values()
            for by_pairs in by_parameters.values()
            for case in by_pairs.values()
        ]

    @cached_property
    def verdicts(self) -> int:
        """How many there are, over which alpha is split evenly."""
        return sum(len(case.claims) for case in self.all_cases())

    @property
    def locks(self) -> dict[str, Lock]:
        """The locks that its environments are made from, by what paths call these."""
        self.all_cases()
        return {lock.key: lock for lock in self._locks.values()}

    @property
    def alpha(self) -> float:
        """What each verdict gets of the file's alpha."""
        return self.file.alpha / self.verdicts

    def _wrong(self, name: str, key: str, message: str) -> ConfigError:
        return ConfigError(str(self.path), f"audits.{name}.{key}", message)

    def _check(self, name: str, entry: audits.AuditEntry) -> None:
        """Check what an entry says as a whole."""
        one_run = self._is_one_run(name, entry)
        if isinstance(entry.mechanism, audits.Recorded):
            if len(listed(entry.mechanism.outputs)) > 2:
                raise self._wrong(name, "mechanism.outputs", "must be one file or two")
            for key in ("pairs", "samples", "failures"):
                if getattr(entry, key):
                    raise self._wrong(name, key, "does not go with recorded outputs")
        elif entry.pairs is None and not one_run:
            raise self._wrong(name, "pairs", "is missing")
        self._check_known(name, entry)
        self._check_braces(name, entry)

    def _is_one_run(self, name: str, entry: audits.AuditEntry) -> bool:
        """Tell whether an entry is about canaries of one run; check what goes with that."""
        recorded = isinstance(entry.mechanism, audits.OneRun)
        if entry.canaries is None and not recorded:
            if entry.guesses is not None:
                raise self._wrong(name, "guesses", "goes with canaries or one run only")
            return False
        what = "one run" if recorded else "canaries"
        if isinstance(entry.mechanism, audits.Recorded):
            raise self._wrong(name, "canaries", "does not go with recorded outputs; name one run")
        for key in ("canaries",) * recorded + _OF_PAIRS:
            if getattr(entry, key):
                raise self._wrong(name, key, f"does not go with {what}")
        for i, claim in enumerate(entry.claims):
            if claim.epsilon is None:
                message = f"must be epsilon, with delta or without: it is of {what}"
                raise self._wrong(name, f"claims.{i}", message)
        return True

    def _check_known(self, name: str, entry: audits.AuditEntry) -> None:
        """Check what is said of the outputs."""
        if (entry.support is None) != (entry.lipschitz is None):
            raise self._wrong(name, "support", "and lipschitz must be given together")
        if entry.outcomes is not None and entry.support is not None:
            raise self._wrong(name, "outcomes", "and support must not both be given")
        if entry.support is not None and not entry.support[0] < entry.support[1]:
            raise self._wrong(name, "support", f"must have lower < upper, got {entry.support}")

    def _check_braces(self, name: str, entry: audits.AuditEntry) -> None:
        """Check that what stands in braces will be filled in."""
        for key in entry.parameters:
            if key in _FILLED and isinstance(entry.mechanism, audits.Command):
                message = f"{key!r} is filled in for every batch; take another name"
                raise self._wrong(name, "parameters", message)
        for key, text in texts_of(entry.mechanism):
            for place in _IN_BRACES.findall(text):
                filled = _FILLED if isinstance(entry.mechanism, audits.Command) else ()
                if place not in (*entry.parameters, *filled):
                    near = suggest(place, entry.parameters)
                    raise self._wrong(name, key, f"unknown parameter {place!r} in braces{near}")

    def _case(
        self,
        name: str,
        entry: audits.AuditEntry,
        arguments: Mapping[str, Any],
        pairs: str,
        inputs: Mapping[str, Any] | None,
    ) -> Case:
        mechanism, rest = self._mechanism(name, entry, arguments)
        samples = self._samples(name, entry)
        if inputs is not None and not {"remove", "replace", "canaries"} & set(inputs):
            number = number_of(inputs)
            if samples < (least := least_samples(number)):
                message = f"must be at least {least} for {number} pairs, got {samples}"
                raise self._wrong(name, "samples", message)
        return Case(
            entry=name,
            parameters=parameters_name(arguments),
            pairs=pairs,
            mechanism=mechanism,
            arguments=arguments,
            given=rest,
            inputs=inputs,
            samples=samples,
            claims=self._claims(name, entry, arguments),
            about=self._about(name, entry, arguments),
            expected=entry.expected,
        )

    def _about(
        self, name: str, entry: audits.AuditEntry, arguments: Mapping[str, Any]
    ) -> dict[str, str | None]:
        """Return what is known of a mechanism, with the values of the parameters it names."""
        said = entry.about.model_dump()
        for key, text in said.items():
            if text is not None and re.fullmatch(r"\$\w+", text):
                if text[1:] not in arguments:
                    near = suggest(text[1:], arguments)
                    message = f"unknown parameter {text[1:]!r}{near}"
                    raise self._wrong(name, f"about.{key}", message)
                said[key] = text_of(arguments[text[1:]])
        return said

    def _mechanism(
        self, name: str, entry: audits.AuditEntry, arguments: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return where draws come from, braces filled, and the arguments that are left to give."""

        def filled(text: str) -> str:
            return _IN_BRACES.sub(
                lambda m: text_of(arguments[m[1]]) if m[1] in arguments else m[0], text
            )

        used = {m for _, text in texts_of(entry.mechanism) for m in _IN_BRACES.findall(text)}
        rest = {key: value for key, value in arguments.items() if key not in used}
        given = entry.mechanism
        if isinstance(given, audits.Command | audits.Recorded | audits.OneRun):
            if rest := {key: value for key, value in rest.items() if not is_referred(entry, key)}:
                where = "command" if isinstance(given, audits.Command) else "outputs"
                message = f"{min(rest)!r} is used nowhere; write {{{min(rest)}}} into the {where}"
                raise self._wrong(name, "parameters", message)
            if isinstance(given, audits.Command):
                several = isinstance(given.command, list)
                command: Any = [filled(word) for word in listed(given.command)]
                return {"command": command if several else command[0]}, {}
            if isinstance(given, audits.OneRun):
                file = filled(given.one_run)
                return {"outputs": [file], "columns": given.columns, "one_run": True}, {}
            outputs = [filled(file) for file in listed(given.outputs)]
            return {"outputs": outputs, "columns": given.columns}, {}
        spec = filled(given if isinstance(given, str) else given.function)
        try:
            parsed(spec)
        except Misuse as error:
            raise self._wrong(name, "mechanism", str(as_argument_error(error))) from None
        if isinstance(given, str):
            return {"function": spec}, rest
        if isinstance(given, audits.Environment):
            lock = self._lock(name, filled(given.environment))
            return {"environment": lock.name, "lock": lock.digest, "function": spec}, rest
        return {"python": filled(given.python), "function": spec}, rest

    def _lock(self, name: str, environment: str) -> Lock:
        """Return the lock that an entry names."""
        try:
            if environment not in self._locks:
                self._locks[environment] = find_lock(environment, self._folders_of_locks)
        except KeyError as error:
            raise self._wrong(name, "mechanism.environment", error.args[0]) from None
        return self._locks[environment]

    def _samples(self, name: str, entry: audits.AuditEntry) -> int:
        key, sizes = f"audits.{name}.samples", entry.samples
        if sizes is None:
            key, sizes = "samples", self.file.samples
        if isinstance(sizes, int):
            return sizes
        if self.scale not in sizes:
            raise ConfigError(str(self.path), f"{key}.{self.scale}", "is missing")
        return sizes[self.scale]

    def _sets(self, name: str, entry: audits.AuditEntry) -> dict[str, dict[str, Any] | None]:
        """Return the sets of pairs by the names that paths have, as jobs are told them."""
        if entry.canaries is not None:
            return {f"canaries={entry.canaries}": {"canaries": entry.canaries}}
        if entry.pairs is None:
            return {"recorded": None}
        several = isinstance(entry.pairs, list) and not isinstance(entry.pairs[0], list)
        found: dict[str, dict[str, Any] | None] = {}
        for one in entry.pairs if several else [entry.pairs]:
            try:
                key, plain = plain_set(one)
            except ArgumentError as error:
                raise self._wrong(name, "pairs", one_line(error)) from None
            if plain in found.values():
                raise self._wrong(name, "pairs", f"names {key} twice")
            times = sum(re.sub(r"~\d+$", "", other) == key for other in found)
            found[f"{key}~{times + 1}" if times else key] = plain
        return found

    def _claims(
        self, name: str, entry: audits.AuditEntry, arguments: Mapping[str, Any]
    ) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {}
        for i, claim in enumerate(entry.claims):
            key = f"claims.{i}"
            said = claim.model_dump(exclude_none=True)
            said = {what: self._level(name, key, level, arguments) for what, level in said.items()}
            detect = said.pop("detect", None)
            if isinstance(detect, Mapping):
                raise self._wrong(name, f"{key}.detect", "must be a number, or $name of one")
            if "renyi" in said:
                said["renyi"] = [[order, said["renyi"][order]] for order in sorted(said["renyi"])]
            said = with_given(said, arguments)
            try:
                made = parts(claim_of(of_any_level(said)))
                if entry.method == "exact" and not isinstance(made[0], EventClaim):
                    raise ArgumentError("method", "must be anytime for Rényi divergences and zcdp")
                check_detect(detect, made, known=not unanswered(said))
            except ArgumentError as error:
                raise self._wrong(name, key, one_line(error)) from None
            called = claim_name(said)
            if any(one["claim"] == said for one in found.values()):
                raise self._wrong(name, key, f"claims {called} twice")
            times = sum(re.sub(r"~\d+$", "", other) == called for other in found)
            found[f"{called}~{times + 1}" if times else called] = {"claim": said, "detect": detect}
        return found

    def _level(self, name: str, key: str, level: Any, arguments: Mapping[str, Any]) -> Any:
        """Return a number, that of the parameter that is referred to, or the function to ask."""
        if isinstance(level, dict):
            return {o: self._level(name, key, one, arguments) for o, one in level.items()}
        if not isinstance(level, str):
            return level
        if ":" in level:
            try:
                check_place(level)
            except ArgumentError as error:
                raise self._wrong(name, key, str(error)) from None
            return {"function": level}
        if level[1:] not in arguments:
            near = suggest(level[1:], arguments)
            raise self._wrong(name, key, f"unknown parameter {level[1:]!r}{near}")
        value = arguments[level[1:]]
        if isinstance(value, bool | str):
            raise self._wrong(name, key, f"{level} is {value!r}, no number")
        return float(value)


def read_audits(
    place: Path, scale: str, scales: Collection[str], locks: Path, *, asked: bool
) -> dict[str, Audits]:
    """Return the files of a folder, or the one file that is named, by their names.

    Where none was ``asked`` for, those are left out that are not made at this scale.

    Raises
    ------
    ConfigError
        If ``place`` was asked for and is not there, or a file says what cannot be.
    """
    files = sorted(place.glob("*.yaml")) if place.is_dir() or not asked else [place]
    if asked and not place.exists():
        known = [str(p) for p in place.parent.glob("*") if p.is_dir() or p.suffix == ".yaml"]
        raise ConfigError("--config", "audits", f"{str(place)!r} is not there{_near(place, known)}")
    if asked and not files:
        raise ConfigError("--config", "audits", f"{str(place)!r} holds no file *.yaml")
    for file in files:
        if not re.fullmatch(ID, file.stem):
            raise ConfigError(str(file), "", "a file's name has letters, digits and ._=- only")
    found = {file.stem: Audits(file, scale, scales, locks) for file in files}
    return {name: one for name, one in found.items() if asked or one.has_sizes}


def _near(place: Path, known: Iterable[str]) -> str:
    found = suggest(str(place), known)
    return found if "did you mean" in found else ""
