"""Runs the commands of docs/gallery; `python -m tests.gallery` puts outputs into the pages.

`python -m tests.gallery pictures` draws the pictures of docs/pictures.md, each by its own code.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epsilometer_audit.cli.main import main
from tests.unit.processes import ran

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs/pictures.md"
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


def drawn() -> Iterator[tuple[str, Any]]:
    """Yield the name of each picture of docs/pictures.md, and the axes that its code makes."""
    import matplotlib as mpl

    mpl.use("Agg")
    first = True
    space: dict[str, Any] = {}
    for language, title, body in _BLOCK.findall(PICTURES.read_text()):
        assert language == "python"
        assert first != bool(title), "only the first block has no picture"
        exec(compile(body, str(PICTURES), "exec"), space)  # noqa: S102
        first = False
        if title:
            yield title, space.pop("axes")


def draw() -> None:
    """Write the pictures of docs/pictures.md."""
    folder = PICTURES.with_suffix("")
    folder.mkdir(exist_ok=True)
    for name, axes in drawn():
        axes.figure.savefig(folder / name, dpi=100)


if __name__ == "__main__":
    if sys.argv[1:] == ["pictures"]:
        draw()
        raise SystemExit
    for path in PAGES:
        with tempfile.TemporaryDirectory() as name:
            path.write_text(again(path, Path(name)))
