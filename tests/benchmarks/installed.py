"""What an installation takes: megabytes, and seconds of its first audit and of later ones.

`python -m tests.benchmarks.installed --base COMMIT` installs this folder's last commit and COMMIT
by `pip install .`, each into an environment of its own, and runs the README's audit from the shell
in turns. Wall times are those of an idle machine only.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.scripts import head, line, unpack

LATER = 7  # audits after the first, of which the median counts
MECHANISM = """
import numpy as np

def noisy_count(x, size, rng):
    p = 1 - np.exp(-1.6)
    return sum(x) + rng.geometric(p, size) - rng.geometric(p, size)
"""


@dataclass(frozen=True)
class Audited:
    """Seconds of an audit in a process of its own."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Installed:
    """A commit in an environment of its own."""

    folder: Path

    @classmethod
    def of(cls, commit: str, folder: Path) -> Installed:
        unpack(commit, folder / "source")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        install = [folder / "bin/pip", "install", "--quiet", folder / "source"]
        subprocess.run(install, check=True)
        (folder / "release.py").write_text(MECHANISM)
        return cls(folder)

    def megabytes(self) -> float:
        """Return the size of the packages, without pip and setuptools."""
        total = 0
        for package in self.folder.glob("lib/*/site-packages/*"):
            if package.name.startswith(("pip", "setuptools")):
                continue
            files = package.rglob("*") if package.is_dir() else [package]
            total += sum(file.stat().st_size for file in files if file.is_file())
        return total / 1e6

    def audited(self) -> Audited:
        command = [self.folder / "bin/epsilometer", "audit", "release.py:noisy_count"]
        pair = ["--pair", "[0, 0, 1]", "[0, 1, 1]", "--epsilon", "1"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        environment = os.environ | {"NUMBA_CACHE_DIR": str(self.folder / "compiled")}
        done = subprocess.run(
            [*command, *pair], cwd=self.folder, env=environment, capture_output=True, check=False
        )
        wall = time.perf_counter() - started
        assert done.returncode == 1, done.stderr.decode()  # violated
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Audited(wall, cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", metavar="COMMIT", required=True, help="compare with this commit")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = Installed.of("HEAD", Path(folder) / "ours")
        base = Installed.of(options.base, Path(folder) / "base")
        first = ours.audited(), base.audited()
        later: tuple[list[Audited], list[Audited]] = ([], [])
        for _ in range(LATER):
            later[0].append(ours.audited())
            later[1].append(base.audited())
        head("| now | base")
        line("packages, MB", ours.megabytes(), base.megabytes())
        line("first audit, wall seconds", *[audit.wall for audit in first])
        line("first audit, CPU seconds", *[audit.cpu for audit in first])
        walls = [statistics.median(audit.wall for audit in audits) for audits in later]
        line("a later audit, wall seconds", *walls)
        cpus = [statistics.median(audit.cpu for audit in audits) for audits in later]
        line("a later audit, CPU seconds", *cpus)


if __name__ == "__main__":
    main()
