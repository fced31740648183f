"""Draws are refused before they are made where they would not fit into the memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.drawing import free_memory


def numbers(x: float, size: int, rng: np.random.Generator) -> Any:
    return rng.laplace(x, 1, size)


def texts(x: float, size: int, rng: np.random.Generator) -> Any:
    return [f"{number:.1f}" for number in rng.laplace(x, 1, size)]


@pytest.mark.parametrize("mechanism", [numbers, texts, lambda x, rng: {"a": rng.normal(x)}])
def test_draws_beyond_the_memory_are_refused_before_they_are_made(monkeypatch, mechanism):
    monkeypatch.setattr("epsilometer_audit.drawing.free_memory", lambda: 1000)
    with pytest.raises(ArgumentError, match=r"must be fewer: 500 draws a side .* GB are free"):
        ea.audit(mechanism, [(0, 1)], ea.pure(1.0), samples=500)


def write(file: Path, text: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


@pytest.mark.parametrize(
    ("kind", "limit", "used", "of"),
    [
        ("", "memory.max", "memory.current", ""),
        ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_"),
    ],
)
def test_the_limit_of_a_container_or_a_job_is_less_free_memory(tmp_path, kind, limit, used, of):
    """The least of all groups around it, beside files that may go; in both versions of cgroups."""
    group = tmp_path / "sys/fs/cgroup" / kind
    write(tmp_path / "proc/meminfo", "MemAvailable:  8 kB")
    write(tmp_path / "proc/self/cgroup", f"4:cpu:/\n3:{kind}:/job/step")
    for folder in ("job/step", "job", "."):
        write(group / folder / "memory.stat", f"{of}active_file 0\n{of}inactive_file 1000")
        write(group / folder / used, 3000)
    free = []
    for folder, most in (("job/step", "max"), ("job", 6000), (".", 1000)):
        write(group / folder / limit, most)
        free.append(free_memory(tmp_path))
    assert free == [8192, 4000, -1000]
