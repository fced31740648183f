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
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.grids.cases import Audits, Case
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.sources.callables import digests
from epsilometer_audit.sources.worker import WorkerSource
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

        def lock_of(name: str, beside: Path) -> Lock:
            return find_lock(name, [beside / "envs", *places])

        self.audits: dict[str, Audits] = {}
        self.locks: dict[str, Lock] = {}
        for path in sorted(self.file("audits").glob("*.yaml")):
            file = Audits(path, self.scale, self.main.seed, self.main.scales, lock_of)
            self.audits[path.stem] = file
            self.locks |= {lock.key: lock for lock in file.locks.values()}
        self.locks |= {
            lock.key: lock
            for file in places[0].glob("*.txt")
            for lock in [find_lock(file.stem, places)]
        }


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

    def spec(self) -> Spec:
        requirements = list(self.study.locks[self.environment].statements)
        return {"requirements": requirements, "python": platform.python_version()}


@dataclass(frozen=True)
class Audit(_Audited, rule="audit", rules=HERE):
    """The verdicts on all claims of a case: one mechanism on one set of pairs."""

    audits: str
    entry: str
    parameters: str
    pairs: str

    def check(self) -> None:
        cases = entry(self.study.audits, "file of audits", self.audits).cases
        entry(cases, "audit", self._case)

    @property
    def _case(self) -> str:
        return f"{self.entry}/{self.parameters}/{self.pairs}"

    @property
    def _file(self) -> Audits:
        return self.study.audits[self.audits]

    @property
    def case(self) -> Case:
        """Its case in the file."""
        return self._file.cases[self._case]

    def folder(self) -> str:
        """Return the folder that paths in the file are relative to."""
        return os.path.relpath(self._file.folder)

    def replay(self) -> str:
        """Return the command that makes it again."""
        settings = f"scale={self.study.scale} seed={self.study.main.seed}"
        return f"snakemake --cores 1 --force {self.path} --config {settings}"

    def needs(self) -> Needs:
        """Return its environment, if it has one; otherwise it needs no other product."""
        mechanism = self.case.spec["mechanism"]
        if "environment" not in mechanism:
            return {"environment": []}
        key = "{environment}~{lock}".format(**mechanism)
        return {"environment": [Environment(self.study, key)]}

    def spec(self) -> Spec:
        return self.common | self.case.spec

    def made_of(self) -> str:
        """Return digests of all files that it is made of, and versions of libraries."""
        recorded = self.case.spec["mechanism"].get("outputs", ())
        files = (*recorded, *self._file.file.audits[self.entry].reads)
        mechanism = json.dumps(self.case.spec["mechanism"], sort_keys=True)
        return made_of(mechanism, files, str(self._file.folder))

    def member(self) -> Spec:
        """Return its path, identity and facts, for a table of verdicts."""
        known = {"about": dict(self.case.about), "expected": self.case.expected}
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
def made_of(mechanism: str, files: tuple[str, ...], folder: str) -> str:
    """Return digests of a mechanism's code and of files, relative to a folder, on one line.

    The mechanism is given in JSON, as its case has it. Missing files are named: an audit of them
    fails until they exist.
    """
    parts: dict[str, str] = {}
    try:
        parts |= _code(json.loads(mechanism), folder)
    except (EpsilometerError, OSError) as error:
        parts["missing"] = one_line(error)
    data = {file: Path(folder, file) for file in files}
    parts |= {file: sha256(p) if p.is_file() else "missing" for file, p in data.items()}
    return " ".join(f"{key}={_short(value)}" for key, value in sorted(parts.items()))


def _code(mechanism: Mapping[str, Any], folder: str) -> dict[str, str]:
    if "command" in mechanism:
        return WorkerSource(mechanism["command"], folder=folder).digest()
    if "function" not in mechanism:
        return {}
    function = mechanism["function"]
    if "environment" in mechanism:
        environment = {key: mechanism[key] for key in ("environment", "lock")}
        return _local_files(function, folder) | environment | {"python": platform.python_version()}
    if "python" not in mechanism:
        return digests(function, folder=folder)
    return _local_files(function, folder) | _elsewhere(mechanism["python"], folder)


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
