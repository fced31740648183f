"""The products of audits: the verdicts on all claims of a case, and the table of a file of audits.

The code and data of an audit are read when the DAG is made, from files and without running any of
them (`made_of`); it is one of the job's parameters, so that a changed line in a
mechanism, or in what it imports from its folder, makes its audits again.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.grids.cases import Audits, Case
from epsilometer_audit.grids.verdicts import counts_of
from epsilometer_audit.serving.digests import sha256
from epsilometer_audit.serving.loading import parsed
from epsilometer_audit.sources.callables import digests
from epsilometer_audit.sources.worker import WorkerSource
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.products import Needs, Product, Spec, entry

_TEMPLATE = Path(__file__).parents[3] / "workflow/report/audits.html.j2"
_BAD, _SHOWN = ("violated", "failed", "missing", "invalid"), 12


@dataclass(frozen=True)
class Environment(Product, rule="environment"):
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
class _OfFile(Product):
    """A product of one file of audits."""

    audits: str

    def check(self) -> None:
        entry(self.study.audits, "file of audits", self.audits)

    @property
    def file_of_audits(self) -> Audits:
        """The file, read."""
        return self.study.audits[self.audits]


@dataclass(frozen=True)
class Audit(_OfFile, rule="audit"):
    """The verdicts on all claims of a case: one mechanism on one set of pairs."""

    entry: str
    parameters: str
    pairs: str

    def check(self) -> None:
        super().check()
        part: Any = self.file_of_audits.cases
        for kind in ("entry", "parameters", "pairs"):
            title = {"entry": "audit"}.get(kind, f"{kind} of {self.entry}")
            part = entry(part, title, getattr(self, kind))

    @property
    def case(self) -> Case:
        """Its case in the file."""
        return self.file_of_audits.cases[self.entry][self.parameters][self.pairs]

    def folder(self) -> str:
        """Return the folder that paths in the file are relative to."""
        return os.path.relpath(self.file_of_audits.folder)

    def replay(self) -> str:
        """Return the command that makes it again."""
        file = os.path.relpath(self.file_of_audits.path)
        settings = f"scale={self.study.scale} seed={self.study.main.seed}"
        audits = shlex.quote(f"audits={file}")
        return f"snakemake --cores 1 --force {self.path} --config {settings} {audits}"

    def needs(self) -> Needs:
        """Return its environment, if it has one; otherwise it needs no other product."""
        mechanism = self.case.mechanism
        if "environment" not in mechanism:
            return {"environment": []}
        key = "{environment}~{lock}".format(**mechanism)
        return {"environment": [Environment(self.study, key)]}

    def spec(self) -> Spec:
        seed = self.study.main.seed
        return self.common | self.file_of_audits.spec(self.case, self.audits, seed)

    def made_of(self) -> str:
        """Return digests of all files that it is made of, and versions of libraries."""
        options = self.file_of_audits.file.audits[self.entry]
        files = (*files_of(self.case), *options.reads)
        folder = str(self.file_of_audits.folder)
        return made_of(json.dumps(self.case.mechanism, sort_keys=True), files, folder)

    def member(self) -> Spec:
        """Return its path, identity and facts, for a table of verdicts."""
        known = {"about": dict(self.case.about), "expected": self.case.expected}
        return {"path": self.path, "identity": self.spec() | {"made_of": self.made_of()}, **known}


@dataclass(frozen=True)
class Conclusion(_OfFile, rule="conclude"):
    """A table of all verdicts of a file, and its page."""

    @cached_property
    def cases(self) -> list[Audit]:
        """All of the file, in its order."""
        return [
            Audit(self.study, self.audits, case.entry, case.parameters, case.pairs)
            for case in self.file_of_audits.all_cases()
        ]

    def needs(self) -> Needs:
        return {"verdicts": list(self.cases)}

    def spec(self) -> Spec:
        members = [audit.member() for audit in self.cases]
        file = self.file_of_audits
        spec = {
            "title": file.title,
            "alpha": file.file.alpha,
            "template": digest_of(_TEMPLATE.read_text(encoding="utf-8")),
            "members": members,
        }
        identity = {"audits": self.audits, "made_of": digest_of(spec)}
        return {"identity": self.common | identity, **spec}


AUDITED: tuple[type[Product], ...] = (Environment, Audit, Conclusion)


def verdict_lines(study: Study, name: str) -> list[str]:
    """Return a line about a file of audits that was made: how many verdicts of which kind."""
    conclusion = Conclusion(study, name)
    page = Path(conclusion.templates["page"].format(**conclusion.wildcards))
    try:
        rows = rows_of(conclusion.path)
        verdicts = [row["verdict"] for row in rows]
        bad = [line_of(row) for row in rows if _is_bad(row)]
    except (OSError, KeyError, ValueError):
        return []
    counts = counts_of(verdicts, sum(row["as_expected"] == "no" for row in rows))
    more = [f"    ... and {len(bad) - _SHOWN} more"] if len(bad) > _SHOWN else []
    return [f"  audits: {counts}: {page}", *bad[:_SHOWN], *more]


def rows_of(path: str | Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _is_bad(row: Mapping[str, str]) -> bool:
    return row["as_expected"] == "no" or (row["verdict"] in _BAD and row["as_expected"] != "yes")


def line_of(row: Mapping[str, str]) -> str:
    """Return a line about a row of a table."""
    case = ", ".join(filter(None, (row["audit"], row["parameters"], row["pairs"])))
    text = row["error"]
    if row["bound"] and not text:
        text = f"{row['quantity']} is at least {float(row['bound']):.3g}"
    unlike = f" ({row['expected']} was expected)" if row["as_expected"] == "no" else ""
    return f"    {row['verdict']}{unlike}: {case}: {row['claim']}: {text}"


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
    paths = {file: Path(folder, file) for file in files}
    parts |= {file: sha256(p) if p.is_file() else "missing" for file, p in paths.items()}
    return " ".join(f"{key}={_short(value)}" for key, value in sorted(parts.items()))


def files_of(case: Case) -> list[str]:
    """Return the files of data that a case names."""
    tables = [case.inputs[k] for k in ("remove", "replace") if case.inputs and k in case.inputs]
    return [*tables, *case.mechanism.get("outputs", ())]


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


def digest_of(spec: object) -> str:
    """Return a short digest of a spec."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]
