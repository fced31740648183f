"""What the script of a job, or a module, imports: found out in an interpreter of its own."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

SCRIPTS = Path("workflow/scripts").absolute()
EVERY_SCRIPT = sorted(path.stem for path in SCRIPTS.glob("*.py"))

_PRINT_MODULES = """
import json, sys
print(json.dumps({n: getattr(m, "__file__", None) for n, m in sys.modules.items()}))
"""


def loaded_by_script(script: str) -> dict[str, str | None]:
    """Return what is imported, by name, with its file, once a script's own imports are done."""
    tree = ast.parse((SCRIPTS / f"{script}.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports, f"{script} imports nothing"
    return _modules_after("\n".join(map(ast.unparse, imports)))


@cache
def loaded_by(module: str) -> dict[str, str | None]:
    """Return the same once a module is imported."""
    return _modules_after(f"import {module}")


def _modules_after(code: str) -> dict[str, str | None]:
    environment = os.environ | {"PYTHONPATH": "src"}
    command = [sys.executable, "-c", f"{code}\n{_PRINT_MODULES}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
