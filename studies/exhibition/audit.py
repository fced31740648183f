"""The verdicts on all claims about one mechanism on one set of pairs: a row each, and a page."""

from epsilometer_workflow.runtime.job import Progress, start

# As a job: runs `main` and exits; imported: nothing.
start(globals(), package="exhibition", substitute=True)

import json
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.backends.backend_svg  # noqa: F401 (the server imports once what is used late)
import numba  # noqa: F401
import scipy.special  # noqa: F401

import epsilometer_audit.auditing  # noqa: F401
from epsilometer.errors import EpsilometerError, one_line
from epsilometer_audit.formats import as_plain, input_text
from epsilometer_audit.grids.verdicts import audited, without
from epsilometer_audit.question import claim_of
from epsilometer_audit.verdict import Verdict
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
    """Write the verdict on each claim of ``spec``, about a mechanism of ``folder``.

    ``environment`` is the file of the job that made the interpreter of the mechanism.
    """
    try:
        placed = spec if environment is None else _placed(spec, environment, folder)
    except _MissingError as error:
        verdicts = without(spec, one_line(error), "missing")
    else:
        verdicts = audited(placed, folder, progress)
    _write(verdicts, output, page, spec, made_of, replay)


def write_failure(
    output: str, page: str, spec: Mapping[str, Any], made_of: str, cause: str
) -> None:
    """Write that there is no verdict, and why: of a job that had to be stopped."""
    _write(without(spec, cause), output, page, spec, made_of)


def _placed(spec: Mapping[str, Any], environment: str, folder: str) -> dict[str, Any]:
    """Return the spec with the interpreter of its environment."""
    record = json.loads(Path(environment).read_text(encoding="utf-8"))
    if record["problem"] is not None:
        raise _MissingError(record["problem"])
    python = os.path.relpath(record["python"], folder)
    return {**spec, "mechanism": {**spec["mechanism"], "python": python}}


def _write(
    verdicts: Sequence[Verdict],
    output: str,
    page: str,
    spec: Mapping[str, Any],
    made_of: str,
    replay: str = "",
) -> None:
    verdicts = [replace(verdict, replay=replay) for verdict in verdicts]
    claims = [claim_of(entry["claim"]) for entry in spec["claims"]]
    pairs = list(zip(verdicts, claims, strict=True))
    try:
        text = html_of(*pairs)
    except Exception:  # the verdicts are written all the same
        _log.exception("no page")
        text = html_of(*pairs, in_words=True)
    with atomic(page) as part:
        part.write_text(text, encoding="utf-8", errors="backslashreplace")
    plain_rows = [_plain(verdict) for verdict in verdicts]
    columns = {name: [plain[name] for plain in plain_rows] for name in ("verdict", "claimed")}
    columns["json"] = [json.dumps(plain) for plain in plain_rows]
    write_columns(columns, output, "verdict", {**spec, "made_of": made_of})


def _plain(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as JSON values, with long inputs shortened."""
    pair = None if verdict.pair is None else [_shown(x) for x in verdict.pair]
    return verdict.to_plain() | {"pair": pair}


def _shown(x: Any) -> Any:
    """Return a short input as it is, a long one as a shortened text."""
    plain = as_plain(x)
    return plain if len(json.dumps(plain)) <= _SHOWN else input_text(x, _SHOWN)
