"""The pages of docs/gallery: their files are written, and their commands run again.

`python -m tests.gallery` puts the outputs into the pages.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

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


def output(command: str, folder: Path) -> str:
    """Run a command as a user does; measured seconds are replaced."""
    paths = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=os.environ | paths | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    if not done.stdout and done.returncode:
        raise AssertionError(f"{command}\n{done.stderr}")
    return re.sub(r"[0-9.]+ s, seed", "1.0 s, seed", done.stdout)


if __name__ == "__main__":
    for path in PAGES:
        with tempfile.TemporaryDirectory() as name:
            path.write_text(again(path, Path(name)))
