"""The verdict on a case of a file of audits: a row, and a page."""

from epsilometer_workflow.runtime.job import Progress, start

# As a job: runs `main` and exits; imported: nothing.
start(globals(), package="exhibition", substitute=True)

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.backends.backend_svg  # noqa: F401 (the server imports once what is used late)
import numba  # noqa: F401
import scipy.special  # noqa: F401

from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.answer.conclusion import without
from epsilometer_audit.answer.verdict import Verdict
from epsilometer_audit.cli.cases import Case
from epsilometer_audit.cli.running import audited
from epsilometer_audit.outputs.formats import as_plain, input_text
from epsilometer_audit.question.request import Request
from epsilometer_workflow.files.storage import atomic, write_columns
from exhibition.verdicts import html_of

_SHOWN = 400  # characters of an input that is kept in full
_log = logging.getLogger("epsilometer")


class _MissingError(EpsilometerError):
    """There is no environment to draw in."""


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `audit`."""
    params, output = snakemake.params, snakemake.output
    case = params.spec, params.made_of, params.folder, params.replay
    environment = next(iter(snakemake.input.environment), None)
    run(output.verdicts, output.page, *case, progress, environment)


def stopped(snakemake: Any, cause: str) -> None:
    """Write why there is no result."""
    params, output = snakemake.params, snakemake.output
    write_failure(output.verdicts, output.page, params.spec, params.made_of, cause)


def run(
    output: str,
    page: str,
    spec: Mapping[str, Any],
    made_of: str,
    folder: str,
    replay: str,
    progress: Progress,
    environment: str | None = None,
) -> None:
    """Write the verdict on the case that ``spec`` is, about a mechanism of ``folder``.

    ``environment`` is the file of the job that made the interpreter of the mechanism.
    """
    request = Case.of_plain(spec).request()
    try:
        placed = request if environment is None else _placed(request, environment, folder)
    except _MissingError as error:
        verdict = without(request, one_line(error), "missing")
    else:
        verdict = audited(placed, folder, progress)
        if environment is not None:  # its interpreter has the environment's name
            place, name = placed.mechanism.python, request.mechanism.environment
            source = verdict.source.replace(f"in {place}", f"in {name}")
            verdict = replace(verdict, source=source)
    _write(request, replace(verdict, replay=replay), output, page, spec, made_of)


def write_failure(
    output: str, page: str, spec: Mapping[str, Any], made_of: str, cause: str
) -> None:
    """Write that there is no verdict, and why: of a job that had to be stopped."""
    request = Case.of_plain(spec).request()
    _write(request, without(request, cause), output, page, spec, made_of)


def _placed(request: Request, environment: str, folder: str) -> Request:
    """Return the request with the interpreter of its environment."""
    record = json.loads(Path(environment).read_text(encoding="utf-8"))
    if record["problem"] is not None:
        raise _MissingError(record["problem"])
    python = os.path.relpath(record["python"], folder)
    return replace(request, mechanism=replace(request.mechanism, environment=None, python=python))


def _write(
    request: Request,
    verdict: Verdict,
    output: str,
    page: str,
    spec: Mapping[str, Any],
    made_of: str,
) -> None:
    try:
        text = html_of(verdict, request.claim)
    except Exception:  # the verdict is written all the same
        _log.exception("no page")
        text = html_of(verdict, request.claim, in_words=True)
    with atomic(page) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
    plain = _plain(verdict)
    columns = {name: [plain[name]] for name in ("verdict", "claimed")}
    columns["json"] = [json.dumps(plain)]
    write_columns(columns, output, "verdict", {**spec, "made_of": made_of})


def _plain(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON values, with long inputs shortened."""
    pair = None if verdict.pair is None else [_shown(x) for x in verdict.pair]
    return verdict.to_plain() | {"pair": pair}


def _shown(x: Any) -> Any:
    """Return a short input as it is, a long one as a shortened text."""
    plain = as_plain(x)
    return plain if len(json.dumps(plain)) <= _SHOWN else input_text(x, _SHOWN)
