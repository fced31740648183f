"""The beginning of the modules that do a job (`stages`); it imports very little."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from epsilometer_workflow.runtime.forkserver import handed_over

Progress = Callable[[str], None]


def start(module: Mapping[str, Any], *, substitute: bool = False) -> None:
    """Return at once in a module that is imported; as a script of Snakemake, run it and exit.

    A stage calls it with ``globals()`` before it imports anything else. As a script it is handed
    over to the run's server, which has everything imported already (`forkserver`). Without a server
    it is imported here. Its function ``main(snakemake, progress)`` then runs, watched (`keeping`).
    With ``substitute``, its function ``stopped(snakemake, cause)`` writes the cause in place of the
    outputs if ``main`` crashes.
    """
    snakemake = module.get("snakemake")
    if snakemake is None:
        return
    name = Path(module["__file__"]).stem

    def stopped(cause: str) -> None:
        import_module(f"epsilometer_workflow.stages.{name}").stopped(snakemake, cause)

    with job(snakemake, stopped if substitute else None, name) as progress:
        import_module(f"epsilometer_workflow.stages.{name}").main(snakemake, progress)


@contextmanager
def job(
    snakemake: Any, stopped: Callable[[str], None] | None = None, name: str = ""
) -> Iterator[Progress]:
    """Run the body of a script, watched, and exit; gives a function that reports progress.

    ``name`` is the stage that the server imports for it. If the body crashes, ``stopped`` gets the
    cause and writes a substitute for the outputs; without it the job fails.
    """
    code = handed_over(snakemake, name or snakemake.rule)
    if code is not None:
        raise SystemExit(code)
    from epsilometer_workflow.runtime.keeping import kept

    with kept(snakemake, stopped) as progress:
        yield progress
