"""The beginning of every script of the workflow; it imports very little."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from epsilometer_workflow.runtime.forkserver import handed_over


@contextmanager
def job(
    snakemake: Any, stopped: Callable[[str], None] | None = None
) -> Iterator[Callable[[str], None]]:
    """Run the body of a script, watched; gives a function that reports progress.

    Where the run has a server that forks processes with everything imported already, the body is
    run there, and this process only waits for the end. See `epsilometer_workflow.runtime.keeping`.

    If the body crashes, or exceeds the limits of the job, ``stopped`` gets the cause and writes a
    substitute for the outputs; without it the job fails.
    """
    code = handed_over(snakemake)
    if code is not None:
        raise SystemExit(code)
    from epsilometer_workflow.runtime.keeping import kept

    with kept(snakemake, stopped) as progress:
        yield progress
