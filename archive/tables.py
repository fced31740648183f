"""The tables of a scale as one small archive, and tables made later compared with it.

``make freeze SCALE=quick`` writes ``archive/quick.zip``: all tables of the reports as CSV,
their hashes in ``SHA256SUMS``, and in ``about.json`` the commit and the versions that made them.
``make verify SCALE=quick`` compares ``results/quick`` with it.

A text must be the same. A number may differ by a relative tolerance, as another processor or
library rounds in another order; two numbers below 1e-12 count as zeros. Measured seconds are not
compared. To compare needs the standard library only.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import math
import platform
import signal
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from epsilometer.errors import DataError, EpsilometerError

if TYPE_CHECKING:  # a comparison needs the standard library only
    from epsilometer_workflow.configuration.study import Study

TOLERANCE = 1e-9
SAME = "the same to the byte"
_ZERO = 1e-12
_MEASURED = {"seconds", "sampling", "estimating", "minutes"}
_LIBRARIES = ("numpy", "scipy", "numba", "pandas", "pyarrow", "scikit-learn", "matplotlib")
_SUMS, _ABOUT = "SHA256SUMS", "about.json"
_TIME = (1980, 1, 1, 0, 0, 0)  # of every file of an archive: the same tables are the same bytes

Tables = Mapping[str, bytes]
"""CSV by ``report/artifact``."""


def write(path: Path, tables: Tables, about: Mapping[str, Any]) -> None:
    """Write an archive, whose bytes depend on nothing but these."""
    files = {f"{name}.csv": tables[name] for name in sorted(tables)}
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()]
    files[_SUMS] = "".join(sums).encode()
    files[_ABOUT] = (json.dumps(about, indent=1) + "\n").encode()
    from epsilometer_workflow.files.storage import atomic

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as part, zipfile.ZipFile(part, "w") as archive:
        for name, content in files.items():
            file = zipfile.ZipInfo(f"{path.stem}/{name}", _TIME)
            archive.writestr(file, content, zipfile.ZIP_DEFLATED, 9)


def read(path: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the tables of an archive, whose hashes are checked, and how they were made."""
    try:
        with zipfile.ZipFile(path) as archive:
            files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
        about, sums = json.loads(files.pop(_ABOUT)), files.pop(_SUMS).decode().splitlines()
    except FileNotFoundError:
        raise DataError(path, f"does not exist; make freeze SCALE={path.stem} writes it") from None
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(path, f"is not an archive of tables, or damaged: {error}") from None
    hashes = [f"{hashlib.sha256(content).hexdigest()}  {name}" for name, content in files.items()]
    if sorted(hashes) != sorted(sums):
        raise DataError(path, f"is damaged: its tables do not match its {_SUMS}")
    return {name.removesuffix(".csv"): content for name, content in files.items()}, about


class Comparison(NamedTuple):
    """One table that was made again, beside the archived one."""

    name: str
    outcome: str
    differs: bool = False


def compare(made: Tables, archived: Tables, tolerance: float = TOLERANCE) -> list[Comparison]:
    """Compare each archived table with the one that was made again."""
    comparisons = []
    for name, table in archived.items():
        if name not in made:
            comparisons.append(Comparison(name, "is missing", differs=True))
        elif made[name] == table:
            comparisons.append(Comparison(name, SAME))
        else:
            try:
                outcome = _compared(made[name], table, tolerance)
            except (ValueError, csv.Error) as error:  # cut off, or no text
                outcome = f"differs: cannot be read as a table ({error})", True
            comparisons.append(Comparison(name, *outcome))
    return comparisons


def _compared(new: bytes, old: bytes, tolerance: float) -> tuple[str, bool]:
    head, *rows = _rows(new) or [[]]
    old_head, *old_rows = _rows(old)
    if head != old_head:
        changed = sorted(set(head) ^ set(old_head)) or ["another order"]
        return f"differs: in its columns ({', '.join(changed)})", True
    if len(rows) != len(old_rows):
        return f"differs: {len(rows)} rows, archived {len(old_rows)}", True
    apart, times = [], 0
    for i, (row, old_row) in enumerate(zip(rows, old_rows, strict=True), 1):
        for column, cell, old_cell in zip(head, row, old_row, strict=True):
            if column in _MEASURED:
                times += 1
            elif distance := _distance(cell, old_cell):
                apart.append((distance, f"{column}, row {i}: {cell}, archived {old_cell}"))
    left_out = f"; {times} cells of measured times not compared" if times else ""
    most, where = max(apart, default=(0.0, ""), key=lambda one: one[0])
    if most > tolerance:
        beyond = sum(distance > tolerance for distance, _ in apart)
        size = "text" if most == math.inf else f"up to {most:.2g} relative"
        return f"differs: {beyond} cells, {size} ({where}){left_out}", True
    within = f" within {most:.1e} relative ({where})" if apart else ""
    return f"the same{within}{left_out}", False


def _rows(table: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table.decode())))


def _distance(cell: str, old: str) -> float:
    """Return the relative difference of two numbers; infinity for texts that differ."""
    if cell == old:
        return 0.0
    try:
        values = float(cell), float(old)
    except ValueError:
        return math.inf
    largest = max(map(abs, values))
    if values[0] == values[1] or largest < _ZERO:
        return 0.0
    distance = abs(values[0] - values[1]) / largest
    return distance if math.isfinite(distance) else math.inf


def versions() -> dict[str, str]:
    """Return what the numbers depend on beside the configuration and the seed."""
    try:
        command = ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        commit = "unknown"
    result = {"commit": commit, "python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            result[name] = metadata.version(name)
    system = f"{sys.platform.capitalize()} {platform.machine()}, {' '.join(platform.libc_ver())}"
    return result | {"system": system}


def freeze(study: Study, path: Path) -> str:
    """Write the archive of finished results, unless it holds the same tables already."""
    made = {}
    for report in study.wanted:
        for name in study.reports[report].artifacts:
            file = Path("results", study.scale, "tables", report, f"{name}.csv")
            if not file.is_file():
                raise DataError(file, f"does not exist; make figures SCALE={study.scale} makes it")
            made[f"{report}/{name}"] = file.read_bytes()
    if path.is_file():
        old, about = read(path)
        if set(old) == set(made) and not any(table.differs for table in compare(made, old)):
            return f"{path} stays: it holds these tables, from commit {about['versions']['commit']}"
    write(path, made, {"scale": study.scale, "seed": study.main.seed, "versions": versions()})
    return f"{path}: {len(made)} tables, {path.stat().st_size / 1e6:.1f} MB"


def verify(tables: Path, path: Path, tolerance: float = TOLERANCE) -> tuple[list[str], bool]:
    """Return the lines on a folder of tables beside an archive, and whether none differs."""
    archived, about = read(path)
    if not tables.is_dir():
        raise DataError(tables, "is not a folder of tables")
    files = {name: tables / f"{name}.csv" for name in archived}
    made = {name: file.read_bytes() for name, file in files.items() if file.is_file()}
    comparisons = compare(made, archived, tolerance)
    lines = [f"{table.name}: {table.outcome}" for table in comparisons]
    lines += ["", f"{'':<14}{'archived':<48}here"]
    now = versions()
    lines += [f"{name:<14}{old:<48}{now.get(name, '-')}" for name, old in about["versions"].items()]
    lines.append("")
    same, differ = sum(t.outcome == SAME for t in comparisons), sum(t.differs for t in comparisons)
    lines.append(
        f"{len(comparisons)} tables: {same} {SAME}, {len(comparisons) - same - differ} within "
        f"{tolerance:g} or except measured times, {differ} differ or are missing"
    )
    return lines, not differ


def main() -> None:
    """Write an archive, or compare with one."""
    parser = argparse.ArgumentParser(prog="archive", description=__doc__.partition("\n")[0])
    parser.add_argument("action", choices=("freeze", "verify"))
    parser.add_argument("--scale", default="quick", help="smoke, quick or paper")
    parser.add_argument("--results", type=Path, help="verify a folder, not results/<scale>")
    parser.add_argument("--tolerance", type=float, default=TOLERANCE, help="relative")
    options = parser.parse_args()
    if not 0 <= options.tolerance < math.inf:
        parser.error(f"--tolerance must be a number of at least 0, got {options.tolerance}")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # read by head: end in silence
    path, same = Path("archive", f"{options.scale}.zip"), True
    try:
        if options.action == "verify":
            results = options.results or Path("results", options.scale)
            lines, same = verify(results / "tables", path, options.tolerance)
        else:
            from epsilometer_workflow.products.checking import checked

            lines = [freeze(checked("config", {"scale": options.scale}), path)]
    except EpsilometerError as error:
        print(f"epsilometer: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    print("\n".join(lines))
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
