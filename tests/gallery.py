"""Runs the commands of docs/gallery; `python -m tests.gallery` puts outputs into the pages."""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path

from epsilometer_audit.cli.main import main
from tests.unit.processes import ran

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs/gallery").glob("*.md"))
_BLOCK = re.compile(r'```(\w+)(?: title="([^"]+)")?\n(.*?)```\n', re.DOTALL)


def again(page: Path, folder: Path) -> str:
    """Return the text of a page, with the outputs of its commands as they are now."""

    def block(match: re.Match[str]) -> str:
        language, title, body = match.groups()
        if title:
            (folder / title).write_text(body)
        if language != "console":
            return match[0]
        commands = [line for line in body.splitlines() if line.startswith("$ ")]
        printed = "".join(f"{command}\n{output(command[2:], folder)}" for command in commands)
        return f"```console\n{printed}```\n"

    return _BLOCK.sub(block, page.read_text())


def output(command: str, folder: Path, errors: bool = False) -> str:
    """Run a command, ours in this process; measured seconds are replaced.

    With ``errors``, standard error is part of the output.
    """
    name, *words = shlex.split(command)
    if name == "epsilometer":
        printed = io.StringIO()
        with contextlib.ExitStack() as stack:
            stack.enter_context(contextlib.chdir(folder))
            stack.enter_context(contextlib.redirect_stdout(printed))
            if errors:
                stack.enter_context(contextlib.redirect_stderr(printed))
            main(words)
        return _without_time(printed.getvalue())
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment = os.environ | paths | {"PYTHONPATH": str(ROOT / "src")}
    done = ran("bash", "-c", command, cwd=folder, env=environment)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return _without_time(done.stdout)


def _without_time(text: str) -> str:
    return re.sub(r"[0-9.]+ s, seed", "1.0 s, seed", text)


if __name__ == "__main__":
    for path in PAGES:
        with tempfile.TemporaryDirectory() as name:
            path.write_text(again(path, Path(name)))
