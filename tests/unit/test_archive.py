"""Archived tables: what is the same, what is within rounding, and what differs."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from archive import tables as archive
from archive.tables import SAME, compare, freeze, read, verify, write

from epsilometer.errors import DataError
from epsilometer_workflow.configuration.study import Study
from tests.unit.processes import ran

ROOT = Path(__file__).parents[2]
ABOUT = {"scale": "quick", "seed": 1, "versions": {"commit": "c0ffee", "numpy": "2.0.0"}}
OLD = b"name,n,mean\na,10,0.25\nb,20,1e-16\n"


def outcome(new: bytes, old: bytes = OLD, tolerance: float = 1e-9) -> tuple[str, bool]:
    (comparison,) = compare({"r/t": new}, {"r/t": old}, tolerance)
    return comparison.outcome, comparison.differs


@pytest.mark.parametrize(
    ("old", "new"),
    [("0.25", "0.2500000000001"), ("1e-16", "-3e-16"), ("10", "10.0"), ("0.25", "0.250")],
    ids=["rounding", "zero", "spelling", "digits"],
)
def test_numbers_within_rounding(old: str, new: str):
    said, differs = outcome(OLD.replace(old.encode(), new.encode()))
    assert said.startswith("the same")
    assert said != SAME
    assert not differs


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("0.25", "0.26", "differs: 1 cells, up to 0.038 relative (mean, row 1: 0.26, archived 0.2"),
        ("10", "11", "(n, row 1: 11, archived 10)"),
        ("\na", "\nc", "differs: 1 cells, text (name, row 1: c, archived a)"),
        ("0.25", "nan", "(mean, row 1: nan, archived 0.25)"),
        ("mean", "median", "differs: in its columns (mean, median)"),
        ("b,20,1e-16\n", "", "differs: 1 rows, archived 2"),
        (OLD.decode(), "", "differs"),  # damage
        ("name", "\xff", "differs"),
    ],
)
def test_what_differs(old: str, new: str, says: str):
    said, differs = outcome(OLD.replace(old.encode(), new.encode("latin-1"), 1))
    assert says in said
    assert differs


def test_the_tolerance_is_relative_and_seconds_are_not_compared():
    assert outcome(b"x\n100.5\n", b"x\n100\n", tolerance=0.01)[0].startswith("the same within 5.0e")
    assert outcome(b"x\n1e9\n", b"x\n1.1e9\n", tolerance=0.01)[1]
    said, differs = outcome(b"n,seconds\n10,0.7\n", b"n,seconds\n10,0.1\n")
    assert not differs
    assert "1 cells of measured times not compared" in said


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """An archive of two tables."""
    write(tmp_path / "quick.zip", {"r/u": OLD, "r/t": OLD}, ABOUT)
    return tmp_path / "quick.zip"


def test_the_same_tables_are_the_same_bytes(quick: Path, tmp_path: Path):
    write(tmp_path / "two/quick.zip", {"r/t": OLD, "r/u": OLD}, ABOUT)
    assert quick.read_bytes() == (tmp_path / "two/quick.zip").read_bytes()
    assert read(quick) == ({"r/t": OLD, "r/u": OLD}, ABOUT)


def test_a_damaged_archive_is_refused(quick: Path):
    with zipfile.ZipFile(quick) as file:
        members = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(quick, "w") as file:
        for name, content in members.items():
            file.writestr(name, content.replace(b"0.25", b"0.35"))
    with pytest.raises(DataError, match="do not match its SHA256SUMS"):
        read(quick)
    quick.write_bytes(b"nothing")
    with pytest.raises(DataError, match="is not an archive of tables"):
        read(quick)
    quick.unlink()
    with pytest.raises(DataError, match="does not exist; make freeze SCALE=quick writes it"):
        read(quick)


def test_verify_has_a_line_for_each_table_and_the_versions_side_by_side(
    quick: Path, tmp_path: Path
):
    table = tmp_path / "tables/r/t.csv"
    table.parent.mkdir(parents=True)
    table.write_bytes(OLD)
    lines, same = verify(tmp_path / "tables", quick)
    assert lines[:2] == ["r/t: the same to the byte", "r/u: is missing"]
    assert any(line.split()[:2] == ["numpy", "2.0.0"] for line in lines)
    assert lines[-1].startswith("2 tables: 1 the same to the byte, 0 within 1e-09")
    assert not same
    shutil.copy(table, table.with_name("u.csv"))
    assert verify(tmp_path / "tables", quick)[1]


def test_freeze_keeps_an_archive_of_the_same_tables(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "tests/data/config", "config")
    path, study = Path("archive/smoke.zip"), Study("config", {"scale": "smoke"})
    with pytest.raises(DataError, match="does not exist; make figures SCALE=smoke makes it"):
        freeze(study, path)
    names = []
    for report in study.wanted:
        for name in study.reports[report].artifacts:
            table = Path(f"results/smoke/tables/{report}/{name}.csv")
            table.parent.mkdir(parents=True, exist_ok=True)
            table.write_bytes(OLD)
            names.append(f"{report}/{name}")
    assert freeze(study, path) == f"{path}: {len(names)} tables, 0.0 MB"
    assert sorted(names) == list(read(path)[0])
    before = path.read_bytes()
    monkeypatch.setattr(archive, "versions", lambda: {"commit": "another"})
    assert freeze(study, path).startswith(f"{path} stays: it holds these tables, from commit ")
    assert path.read_bytes() == before
    table.write_bytes(OLD.replace(b"10", b"12"))
    freeze(study, path)
    assert read(path)[1]["versions"] == {"commit": "another"}


def test_the_archive_of_the_repository_is_whole_and_small():
    path = ROOT / "archive/quick.zip"
    tables, about = read(path)
    assert path.stat().st_size < 5e6
    assert about["scale"] == "quick"
    papers = {"gorla2022", "askin2022", "kutta2022", "lu2022"}
    assert {name.partition("/")[0] for name in tables} == papers
    assert not about["versions"]["commit"].endswith("-dirty")


def test_to_compare_needs_no_installed_package(tmp_path: Path):
    """In ten years these may no longer install."""
    write(tmp_path / "archive/quick.zip", {"r/t": OLD}, ABOUT)
    (tmp_path / "results/quick/tables").mkdir(parents=True)
    command = [sys.executable, "-S", str(ROOT / "archive/tables.py"), "verify"]
    done = ran(*command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT / "src")})
    assert done.stdout.startswith("r/t: is missing\n")
    assert done.returncode == 1
