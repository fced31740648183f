"""What a module imports, such as the stage of a job: found out in an interpreter of its own."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

STAGES = Path("src/epsilometer_workflow/stages").absolute()
EVERY_STAGE = sorted(path.stem for path in STAGES.glob("[a-z]*.py"))

_PRINT_MODULES = """
import json, sys
print(json.dumps({n: getattr(m, "__file__", None) for n, m in sys.modules.items()}))
"""


def printed(code: str, **environment: str) -> str:
    """Return what some code prints in an interpreter of its own."""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": "src", **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@cache
def loaded_by(module: str) -> dict[str, str | None]:
    """Return all modules, by name, with their files, once a module is imported."""
    return json.loads(printed(f"import {module}\n{_PRINT_MODULES}"))
