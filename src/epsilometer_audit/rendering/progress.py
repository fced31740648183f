"""A bar of progress in a notebook, for an audit that lasts; with rich and ipywidgets."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any

Progress = Callable[[float, str], None]
"""Gets the part of the draws that is done, from 0 to 1, and a line about it."""

_PAUSE = 2.0  # seconds before there is a bar


def no_progress(part: float, line: str) -> None:
    """Show nothing."""


@contextmanager
def shown(progress: Progress | None) -> Iterator[Progress]:
    """Yield the progress, in its place a bar in a notebook, or else one that shows nothing."""
    in_notebook = "ipykernel" in sys.modules and find_spec("rich") and find_spec("ipywidgets")
    if progress is not None or not in_notebook:
        yield progress or no_progress
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.end()


class _Bar:
    def __init__(self) -> None:
        self._began = time.monotonic()
        self._bar: Any = None

    def __call__(self, part: float, line: str) -> None:
        if time.monotonic() < self._began + _PAUSE:
            return
        with suppress(Exception):  # an audit does not end because a bar cannot be shown
            if self._bar is None:
                from rich import progress

                text = progress.TextColumn("{task.description}", markup=False)
                columns = progress.BarColumn(), progress.TaskProgressColumn(), text
                # no thread that refreshes it: an audit may fork
                self._bar = progress.Progress(*columns, auto_refresh=False, transient=True)
                self._bar.add_task("", total=1.0)
                self._bar.start()
            self._bar.update(0, completed=part, description=line, refresh=True)

    def end(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            with suppress(Exception):
                self._bar.stop()
