"""What a module imports, such as the stage of a job: found out in an interpreter of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

STAGES = Path("src/epsilometer_workflow/stages").absolute()
EVERY_STAGE = sorted(path.stem for path in STAGES.glob("[a-z]*.py"))

_EACH_IN_A_FORK = """
import json, os, sys
{before}
for module in {modules}:
    if os.fork() == 0:
        __import__(module)
        print(json.dumps({{n: getattr(m, "__file__", None) for n, m in sys.modules.items()}}))
        sys.stdout.flush()
        os._exit(0)
    assert os.wait()[1] == 0
"""


def printed(code: str, **environment: str) -> str:
    """Return what some code prints in an interpreter of its own."""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": "src", **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def loaded_by(modules: Iterable[str], before: str = "") -> dict[str, dict[str, str | None]]:
    """Return for each module all that is imported with it, by name, with its file."""
    modules = list(modules)
    lines = printed(_EACH_IN_A_FORK.format(before=before, modules=modules)).splitlines()
    return dict(zip(modules, map(json.loads, lines), strict=True))
