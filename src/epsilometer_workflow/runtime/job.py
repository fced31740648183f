"""The beginning of the modules that do a job (`stages`); it imports very little."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from epsilometer_workflow.runtime.forkserver import handed_over

Progress = Callable[[str], None]


def start(
    module: Mapping[str, Any],
    *,
    package: str = "epsilometer_workflow.stages",
    substitute: bool = False,
) -> None:
    """Return at once in a module that is imported; as a script of Snakemake, run it and exit.

    A stage calls it with ``globals()`` before it imports anything else. As a script it is handed
    over to the run's server, which has everything imported already (`forkserver`). Without a server
    it is imported here, from its ``package``. Its function ``main(snakemake, progress)`` then runs
    (`supervision`). With ``substitute``, its function ``stopped(snakemake, cause)`` writes the
    cause in place of the outputs if ``main`` crashes.
    """
    snakemake = module.get("snakemake")
    if snakemake is None:
        return
    name = f"{package}.{Path(module['__file__']).stem}"
    code = handed_over(snakemake, name)
    if code is not None:
        raise SystemExit(code)
    from epsilometer_workflow.runtime.supervision import kept

    def stopped(cause: str) -> None:
        import_module(name).stopped(snakemake, cause)

    with kept(snakemake, stopped if substitute else None) as progress:
        import_module(name).main(snakemake, progress)
