"""Makes an environment for mechanisms, with the packages of a lock and nothing else.

If it cannot be made, as there is no wheel for this Python, the reason is kept in its place.
"""

from epsilometer_workflow.runtime.job import Progress, start

# As a job: runs `main` and exits; imported: nothing.
start(globals(), package="exhibition", substitute=True)

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PASSES = re.compile(  # errors that may disappear later
    r"Retrying \(|ConnectionError|timed out|name resolution|unreachable|No space left",
    re.IGNORECASE,
)
_KEPT = 100_000  # characters
_HELPS = ": the network or the disk failed, and the same command tries again"


def main(snakemake: Any, progress: Progress) -> None:
    """Do the job of rule `environment`."""
    notes = Path(snakemake.log[0]).with_suffix(".stopped")
    run(snakemake.output[0], snakemake.params.spec, notes, progress)


def stopped(snakemake: Any, cause: str) -> None:
    """Write why there is no result."""
    write_failure(snakemake.output[0], cause)


def run(
    output: str,
    spec: Mapping[str, Any],
    notes: str | os.PathLike[str],
    progress: Progress,
) -> None:
    """Make an environment beside ``output``, a file of JSON with its contents.

    A half-made one is removed before, and after a failure. A cause that may pass, such as a missing
    network, is also added to the file ``notes``.
    """
    folder = Path(output).parent / "venv"
    shutil.rmtree(folder, ignore_errors=True)
    progress("making an environment")
    try:
        errors = _make(folder, spec["requirements"])
    except (OSError, subprocess.SubprocessError) as error:
        errors = str(error)
    if errors is None:
        _write(output, _python(folder), installed(folder), None)
        return
    problem = _last(errors)
    if _PASSES.search(errors):
        problem += _HELPS
        with Path(notes).open("a", encoding="utf-8") as file:
            file.write(f"{problem}\n")
    write_failure(output, problem)


def write_failure(output: str, cause: str) -> None:
    """Write that there is no environment, and why."""
    shutil.rmtree(Path(output).parent / "venv", ignore_errors=True)
    _write(output, None, {}, cause)


def installed(folder: Path) -> dict[str, str]:
    """Return the versions of the packages in an environment, by name."""
    folders = [str(path) for path in folder.glob("lib/python*/site-packages")]
    packages = distributions(path=folders)
    return dict(sorted((package.metadata["Name"], package.version) for package in packages))


def _write(output: str, python: str | None, packages: dict[str, str], problem: str | None) -> None:
    content = {"python": python, "packages": packages, "problem": problem}
    Path(output).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _make(folder: Path, requirements: Sequence[str]) -> str | None:
    """Make an environment; return the errors of pip if it cannot."""
    has_pip = find_spec("pip") is not None  # then pip need not be in the environment
    venv.EnvBuilder(symlinks=True, with_pip=not has_pip).create(folder)
    if not requirements:
        return None
    file = folder / "requirements.txt"
    file.write_text("\n".join([*requirements, ""]), encoding="utf-8")
    python = _python(folder)
    pip = [sys.executable, "-m", "pip", "--python", python] if has_pip else [python, "-m", "pip"]
    options = ["--no-input", "--disable-pip-version-check"]
    install = ["install", "--no-deps", "--no-compile", "--progress-bar", "off", "-r", str(file)]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    process = subprocess.run(  # noqa: S603
        [*pip, *options, *install], env=environment, capture_output=True, text=True, check=False
    )
    print(process.stdout[-_KEPT:], process.stderr[-_KEPT:], sep="\n")  # which the log keeps
    return process.stderr or f"pip ended with {process.returncode}" if process.returncode else None


def _python(folder: Path) -> str:
    return str(folder / "bin" / "python")


def _last(text: str) -> str:
    """Return the last error of pip, or its last line, in one short line."""
    lines = text.strip().splitlines() or ["it cannot be made"]
    errors = [line for line in lines if re.match(r"\s*error:", line, re.IGNORECASE)]
    last = re.sub(r"^\s*error:\s*", "", (errors or lines)[-1], flags=re.IGNORECASE)
    return " ".join(last.split())[:300]
