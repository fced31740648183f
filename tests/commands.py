"""The commands of the pages, as they stand there."""

import re
import shlex
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "results/README.md")),
    *sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "config").rglob("*.md")]),
]
_FENCED = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def _of_page(page: Path) -> list[str]:
    """Return the commands of blocks, of indented lines and of inline code."""
    text = page.read_text()
    lines = [
        line.removeprefix("$ ")
        for _, block in _FENCED.findall(text)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    text = _FENCED.sub("", text)
    lines += re.findall(r"^ {4}(\S.*)", text, re.MULTILINE)
    lines += re.findall(r"`([^`]+)`", re.sub(r"^ {4}.*", "", text, flags=re.MULTILINE))
    return [" ".join(re.sub(r"\s#\s.*", "", line).split()) for line in lines]


def _name_of(command: str) -> str:
    """Return the program of a command, without the variables before it."""
    return Path(re.sub(r"^(\w+=\S+ )+", "", command).partition(" ")[0]).name


def commands(program: str) -> list[str]:
    """Return the commands of all pages that start a program, each once."""
    found = dict.fromkeys(line for page in _PAGES for line in _of_page(page))
    return [line for line in found if _name_of(line) == program and line[-1] != "/"]


def words(command: str) -> list[str]:
    """Return the arguments of a command."""
    return shlex.split(re.sub(r"^(\w+=\S+ )+", "", command))[1:]
