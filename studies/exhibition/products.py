"""Audits as jobs of Snakemake: environments, and the verdicts on all claims of a case.

The code and data of an audit are read when the DAG is made, from files and without running any of
them (`made_of`); it is one of the job's parameters, so that a changed line in a
mechanism, or in what it imports from its folder, makes its audits again.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from epsilometer.errors import ConfigError, EpsilometerError, one_line
from epsilometer_audit.cli.cases import AuditsFile, Case
from epsilometer_audit.outputs.callables import digests
from epsilometer_audit.outputs.worker import WorkerSource
from epsilometer_audit.question.request import NamedMechanism
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.loading import parsed
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products import code_digests
from epsilometer_workflow.products.jobs import Jobs
from epsilometer_workflow.products.products import Needs, Product, Spec, digest_of, entry
from exhibition.locks import Lock, find_lock

HERE = Path(__file__).parent


class AuditStudy(Study):
    """A study, the files of audits in its ``config/audits``, and the locks of environments.

    A lock lies in ``envs/`` beside a file of audits or beside ``config``, or in ``locks/`` here.
    Raises `ConfigError` if a file is invalid.
    """

    def __init__(
        self, folder: str | Path = "config", overrides: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(folder, overrides)
        places = [Path(folder).parent / "envs", HERE / "locks"]

        self.audits: dict[str, AuditsFile] = {}
        self.locks: dict[str, Lock] = {}
        self._lock_of: dict[tuple[Path, str], Lock] = {}  # by the folder of a file, and the name
        for path in sorted(self.file("audits").glob("*.yaml")):
            file = AuditsFile(path, self.main.seed, environments=True)
            self.audits[path.stem] = file
            self._find_locks(file, places)
        for path in places[0].glob("*.txt"):
            lock = find_lock(path.stem, places)
            self.locks[lock.key] = lock

    def _find_locks(self, file: AuditsFile, places: list[Path]) -> None:
        """Read the locks of the environments that a file of audits names."""
        for case in file.cases.values():
            name = case.mechanism.environment
            if name is None or (file.folder, name) in self._lock_of:
                continue
            try:
                lock = find_lock(name, [file.folder / "envs", *places])
            except KeyError as error:
                key = f"audits.{case.name}.mechanism.environment"
                raise ConfigError(str(file.path), key, error.args[0]) from None
            self._lock_of[file.folder, name] = lock
            self.locks[lock.key] = lock

    def lock_of(self, file: AuditsFile, case: Case) -> Lock | None:
        """Return the lock of a case's environment, if it has one."""
        name = case.mechanism.environment
        return None if name is None else self._lock_of[file.folder, name]


@dataclass(frozen=True)
class _Audited(Product):
    """A product of audits; its stage lies in this folder."""

    study: AuditStudy

    def code(self) -> str:
        page = (HERE / "verdicts.py", HERE / "evidence.py") if self.rule == "audit" else ()
        return code_digests.digest(HERE / f"{self.rule}.py", *page)

    def stopped(self) -> str:
        """Return the reasons why its jobs had to be stopped; one more reason makes it again."""
        try:
            return Path(paths.log(self.path)).with_suffix(".stopped").read_text(encoding="utf-8")
        except OSError:
            return ""


@dataclass(frozen=True)
class Environment(_Audited, rule="environment", rules=HERE):
    """A folder with an interpreter and the packages of a lock; or the reason why there is none.

    Its name holds a digest of the lock, so that another lock is another environment.
    """

    environment: str

    def check(self) -> None:
        entry(self.study.locks, "environment", self.environment)

    def job(self) -> Spec:
        requirements = list(self.study.locks[self.environment].statements)
        return {"requirements": requirements, "python": platform.python_version()}


@dataclass(frozen=True)
class Audit(_Audited, rule="audit", rules=HERE):
    """The verdict on a case of a file of audits."""

    audits: str
    name: str

    def check(self) -> None:
        cases = entry(self.study.audits, "file of audits", self.audits).cases
        entry(cases, "audit", self.name)

    @property
    def _file(self) -> AuditsFile:
        return self.study.audits[self.audits]

    @property
    def case(self) -> Case:
        """Its case in the file."""
        return self._file.cases[self.name]

    def folder(self) -> str:
        """Return the folder that paths in the file are relative to."""
        return os.path.relpath(self._file.folder)

    def replay(self) -> str:
        """Return the command that makes it again."""
        settings = f"scale={self.study.scale} seed={self.study.main.seed}"
        return f"snakemake --cores 1 --force {self.path} --config {settings}"

    def needs(self) -> Needs:
        """Return its environment, if it has one; otherwise it needs no other product."""
        lock = self.study.lock_of(self._file, self.case)
        return {"environment": [] if lock is None else [Environment(self.study, lock.key)]}

    def job(self) -> Spec:
        lock = self.study.lock_of(self._file, self.case)
        known = {} if lock is None else {"lock": lock.digest}
        return {**self.common, "audits": self.audits, **self.case.to_plain(), **known}

    def made_of(self) -> str:
        """Return digests of all files that it is made of, and versions of libraries."""
        mechanism, lock = self.case.mechanism, self.study.lock_of(self._file, self.case)
        files = (*mechanism.files, *self.case.entry.reads)
        text = json.dumps(asdict(mechanism), sort_keys=True)
        digest = "" if lock is None else lock.digest
        return made_of(text, digest, files, str(self._file.folder))

    def member(self) -> Spec:
        """Return its path, identity and facts, for a table of verdicts."""
        entry = self.case.entry
        known = {"about": entry.about.model_dump(), "expected": entry.expected}
        return {"path": self.path, "identity": self.spec() | {"made_of": self.made_of()}, **known}


class AuditJobs(Jobs):
    """What the rules of `audits.smk` ask of Python."""

    def __init__(self, study: AuditStudy) -> None:
        super().__init__(study, (Environment, Audit))

    def of_audit(self, fact: str) -> Callable[[Any], str]:
        """Return a function: a fact about an audit, by the name of a method of `Audit`."""
        return lambda wildcards: str(getattr(self.product("audit", wildcards), fact)())

    def stopped(self, rule: str) -> Callable[[Any], str]:
        """Return a function: the reasons why jobs were stopped; one more makes it again."""
        return lambda wildcards: cast(_Audited, self.product(rule, wildcards)).stopped()


# --- the sources of an audit ----------------------------------------------------------------------


@cache
def made_of(mechanism: str, lock: str, files: tuple[str, ...], folder: str) -> str:
    """Return digests of a mechanism's code and of files, relative to a folder, on one line.

    The mechanism is given in JSON, with the digest of its environment's lock, if any. Missing files
    are named: an audit of them fails until they exist.
    """
    parts: dict[str, str] = {}
    try:
        parts |= _code(NamedMechanism(**json.loads(mechanism)), lock, folder)
    except (EpsilometerError, OSError) as error:
        parts["missing"] = one_line(error)
    data = {file: Path(folder, file) for file in files}
    parts |= {file: sha256(p) if p.is_file() else "missing" for file, p in data.items()}
    return " ".join(f"{key}={_short(value)}" for key, value in sorted(parts.items()))


def _code(mechanism: NamedMechanism, lock: str, folder: str) -> dict[str, str]:
    if mechanism.command is not None:
        return WorkerSource(mechanism.command, folder=folder).digest()
    function = mechanism.function
    if function is None:
        return {}
    if mechanism.environment is not None:
        environment = {"environment": mechanism.environment, "lock": lock}
        return _local_files(function, folder) | environment | {"python": platform.python_version()}
    if mechanism.python is None:
        return digests(function, folder=folder)
    return _local_files(function, folder) | _elsewhere(mechanism.python, folder)


def _local_files(spec: str, folder: str) -> dict[str, str]:
    """Return digests of the files here that a function in another interpreter is made of."""
    module, _, is_file = parsed(spec)
    if not is_file and not Path(folder, module.replace(".", "/")).with_suffix(".py").is_file():
        return {}
    files = digests(spec, folder=folder)
    return {name: value for name, value in files.items() if name.endswith(".py")}


def _elsewhere(interpreter: str, folder: str) -> dict[str, str]:
    """Return the path of another interpreter, and a digest of its packages."""
    python = Path(folder, interpreter) if os.sep in interpreter else Path(interpreter)
    installed = sorted(
        path.name
        for kind in ("*.dist-info", "*.egg-info")
        for path in python.parent.parent.glob(f"lib/python*/site-packages/{kind}")
    )
    return {"interpreter": interpreter, "installed": digest_of(installed)}


def _short(text: str) -> str:
    is_digest = len(text) == 64 and set(text) <= set("0123456789abcdef")
    return text[:16] if is_digest else one_line(text)
