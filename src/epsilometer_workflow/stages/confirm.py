"""Fresh samples of the pair that each run selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from epsilometer_workflow.stages.sample import write_sides
from epsilometer_workflow.stages.screen import selected


def run(losses: str, output: str, spec: Mapping[str, Any], progress: Callable[[str], None]) -> None:
    """Draw fresh samples of the selected pair of every run of one batch."""
    chosen = selected(losses, spec["selected_by"])
    write_sides(output, spec, lambda run: chosen[run][0], progress)
