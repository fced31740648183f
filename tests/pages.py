"""What pages tell a reader to do: commands, files of docs/extending.md, edits of experiments.md."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
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


EXTENDING = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
PACKAGE = "epsilometer_logistic"
FILE_OR_COMMANDS = re.compile(
    r"^`(?P<name>[\w./-]+)`:\n\n```\w+\n(?P<text>.*?)^```$|(?P<commands>(?:^ {4}\S[^\n]*\n)+)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Pasted:
    """What a reader of docs/extending.md pastes: a file's name and text, or lines of commands."""

    name: str | None
    text: str

    def write(self, folder: Path) -> None:
        """Write the file into a folder."""
        assert self.name is not None
        file = folder / self.name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.text, encoding="utf-8")


def extending() -> list[Pasted]:
    """Return the files and commands of docs/extending.md in the order of the page."""
    found = [match.groupdict() for match in FILE_OR_COMMANDS.finditer(EXTENDING)]
    return [Pasted(part["name"], part["text"] or part["commands"]) for part in found]


def write_extending(folder: Path, under: str = "") -> None:
    """Write the files of docs/extending.md whose names begin with ``under``."""
    for part in extending():
        if part.name is not None and part.name.startswith(under):
            part.write(folder)


PAGE = (ROOT / "docs/experiments.md").read_text(encoding="utf-8")
KINDS = ("answers", "estimates", "tables", "figures")
EDIT = re.compile(r"(Add to )?`([\w./=-]+)`:\n((?:\n```\w+\n.*?```\n)+)", re.DOTALL)


def begin_study(folder: Path) -> None:
    """Copy the study of the page to a folder outside the clone."""
    shutil.copytree(ROOT / "docs/examples/study", folder)
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    file = folder / "Snakefile"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("../workflow", str(ROOT / "workflow")), encoding="utf-8")


def steps(folder: Path) -> Iterator[tuple[str, str]]:
    """Begin a study and make the edits of the page in order; yield section and file after each."""
    begin_study(folder)
    begin, *sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    yield begin, ""
    for section in sections:
        if "`knn.py`, into `code/`" in section:
            (folder / "code").mkdir(exist_ok=True)
            (copied,) = (part for part in extending() if part.name == f"{PACKAGE}/knn.py")
            (folder / "code/knn.py").write_text(copied.text, encoding="utf-8")
        for added, name, blocks in EDIT.findall(section):
            for language, block in re.findall(r"```(\w+)\n(.*?)```", blocks, re.DOTALL):
                _edit(folder / name, language, block, added=bool(added))
                yield section, name


def small_study(folder: Path) -> Path:
    """Return the study at the end of the page, with few draws."""
    for _ in steps(folder):
        pass
    report = folder / "config/reports/comparison.yaml"
    text = report.read_text(encoding="utf-8")
    report.write_text(text.replace("runs: 10, n: 2000", "runs: 2, n: 400"), encoding="utf-8")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Return every file of estimates, every table and figure; measured seconds are left out."""
    base = folder / "results/quick"
    files = [f for kind in KINDS for f in sorted((base / kind).rglob("*.*")) if f.is_file()]
    return {str(f.relative_to(base)): f.read_bytes() for f in files if f.stem != "cost"}


def _edit(file: Path, language: str, block: str, *, added: bool) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if language == "diff":
        old, new = (
            "".join(line[1:] for line in block.splitlines(keepends=True) if line[0] in kinds)
            for kinds in (" -", " +")
        )
        assert text.count(old) == 1, f"{file} has not one {old!r}"
        file.write_text(text.replace(old, new), encoding="utf-8")
        return
    assert bool(text) == added, file
    file.write_text(f"{text}{block}", encoding="utf-8")
