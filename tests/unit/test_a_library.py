"""A library of a dozen functions, audited by pytest: its five faults are found, and no others."""

import subprocess
import sys
from pathlib import Path

LIBRARY = Path("tests/data/library").absolute()
FAULTS = {"total", "histogram", "Meter", "level", "mean"}


def test_all_planted_faults_are_found_and_nothing_else(tmp_path):
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += ["--rootdir", str(LIBRARY), f"--junitxml={report}", str(LIBRARY)]
    run = subprocess.run(command, cwd=LIBRARY, capture_output=True, text=True, check=False)
    failed = {
        line.partition("[")[2].partition("-")[0]
        for line in run.stdout.splitlines()
        if line.startswith("FAILED")
    }
    assert failed == FAULTS, run.stdout
    assert "7 passed" in run.stdout
