"""``epsilometer new``: a folder with a starting point."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from epsilometer.errors import ArgumentError, suggest

_STARTERS = Path(__file__).parent / "starters"
_CLONE = Path(__file__).parents[3]
_NEXT = {
    "audit": "epsilometer audit {folder}/release.py:noisy_count --pair '[0, 1]' '[1, 1]' "
    "--epsilon 1\n  pytest {folder}\n  epsilometer audits {folder}/audits.yaml\n\n"
    "pip install pytest for the second, pydantic and PyYAML for the third.",
    "study": "cd {folder}\n  snakemake --cores 2",
}
_USAGE = "epsilometer new audit FOLDER, or new study FOLDER [CLONE]"


def new(argv: Sequence[str]) -> str:
    """Write a starting point, whole or not at all; return what to do next."""
    kind, *rest = argv or [""]
    problems = [(option, "is not an option") for option in rest if option.startswith("-")]
    if kind not in _NEXT:
        text = f"is not a kind{suggest(kind, _NEXT)}" if kind else "is missing"
        problems = [(repr(kind) if kind else "KIND", text)]
    elif not 1 <= len(rest) <= 1 + (kind == "study"):
        problems += [("FOLDER", "must be one" if rest else "is missing")]
    for name, text in problems:
        raise ArgumentError(name, f"{text}; write {_USAGE}")
    folder, clone = (Path(path).expanduser() for path in [*rest, str(_CLONE)][:2])
    workflow = (clone / "workflow/Snakefile").resolve()
    if kind == "study" and not workflow.is_file():
        message = f"{clone} is not a clone of epsilometer, which a study needs; write its path"
        raise ArgumentError("CLONE", message)
    try:
        _write(_STARTERS / kind, folder, workflow)
    except OSError as error:
        raise ArgumentError(str(folder), f"cannot be written: {error.strerror}") from None
    return f"{folder} is written. Next:\n\n  {_NEXT[kind].format(folder=shlex.quote(str(folder)))}"


def _write(starter: Path, folder: Path, workflow: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ArgumentError(str(folder), "exists, and is not an empty folder")
    if folder.resolve() == Path.cwd():
        raise ArgumentError(str(folder), "is the folder that you are in; name a new one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".epsilometer-") as temporary:
        for file in sorted(starter.rglob("*.txt")):
            path = Path(temporary, "new", file.relative_to(starter)).with_suffix("")
            path.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8").replace("{workflow}", str(workflow))
            path.write_text(text, encoding="utf-8")
        if starter.name == "study":
            shutil.copytree(workflow.parents[1] / "profiles", Path(temporary, "new/profiles"))
        Path(temporary, "new").replace(folder)  # all at once
