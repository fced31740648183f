"""A disk that is full, cannot be written, or lost a bit: an error of one line, no wrong number."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.workflow.conftest import Project, copy_project, our_lines

SMOKE = ("--config", "scale=smoke")
TABLE = "results/smoke/tables/gorla2022/fig4.csv"
KINDS = ("samples", "histograms", "densities", "verdicts", "losses", "confirmations", "evidence")
KINDS += ("estimates", "summaries", "runs", "tables")


def mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"cannot mount a small disk here: {done.stderr.strip()}")


@pytest.fixture
def small_disk(tmp_path: Path):
    """A disk of two megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount("-t", "tmpfs", "-o", "size=2m", "epsilometer-test", str(folder))
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def on_small_disk(small_disk: Path, tmp_path: Path) -> Project:
    """A project whose results lie on the small disk."""
    (tmp_path / "project").mkdir()
    project = copy_project(tmp_path / "project")
    (project.folder / "results").symlink_to(small_disk)
    return project


def lines(run: "subprocess.CompletedProcess[str]") -> list[str]:
    """Return our own lines of a run, which must have failed without a traceback."""
    output = run.stdout + run.stderr
    assert run.returncode != 0
    assert "Traceback" not in output
    return our_lines(output)


def test_a_full_disk(on_small_disk: Project, small_disk: Path, whole: Project):
    heard = lines(on_small_disk.snakemake(TABLE, *SMOKE, cores=2))
    assert heard
    assert all("No space left on device; free some space" in line for line in heard)
    assert all("results/smoke/" in line for line in heard)
    assert not list(small_disk.rglob("*.part.*"))
    mount("-o", "remount,size=200m", str(small_disk))
    assert on_small_disk.snakemake(TABLE, *SMOKE, cores=2).returncode == 0
    assert (on_small_disk.folder / TABLE).read_bytes() == (whole.folder / TABLE).read_bytes()


def test_a_full_disk_under_everything(small_disk: Path, whole: Project):
    """Snakemake's own notes do not fit either; afterwards the same command still goes on."""
    mount("-o", "remount,size=200m", str(small_disk))
    project = copy_project(small_disk)
    used = shutil.disk_usage(small_disk).used
    mount("-o", f"remount,size={used + 2**19}", str(small_disk))
    assert project.snakemake(TABLE, *SMOKE, cores=2).returncode != 0
    mount("-o", "remount,size=200m", str(small_disk))
    run = project.snakemake(TABLE, *SMOKE, cores=2)
    assert run.returncode == 0, run.stderr[-2000:]
    assert (small_disk / TABLE).read_bytes() == (whole.folder / TABLE).read_bytes()


def test_results_that_cannot_be_written(on_small_disk: Project, small_disk: Path):
    mount("-o", "remount,ro", str(small_disk))
    run = on_small_disk.snakemake(TABLE, *SMOKE)
    assert run.returncode != 0
    output = run.stdout + run.stderr
    assert "Traceback" not in output
    assert len([line for line in output.splitlines() if line.startswith("results")]) == 1
    assert "results" in output
    assert "writ" in output


def one_of_each(project: Project, rng: random.Random) -> list[Path]:
    base = project.folder / "results/smoke"
    return [rng.choice(sorted((base / kind).rglob("*.parquet"))) for kind in KINDS]


def flip(file: Path, rng: random.Random) -> None:
    whole = bytearray(file.read_bytes())
    whole[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
    file.write_bytes(whole)


def truncate(file: Path, rng: random.Random) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: rng.randrange(len(whole))])


@pytest.mark.parametrize("damage", [flip, truncate])
def test_damage_is_found_and_mended(whole: Project, tmp_path: Path, damage):
    """In one file of every kind at once; nothing that reads one makes anything of it."""
    project = Project(tmp_path / "copy")
    shutil.copytree(whole.folder, project.folder)
    rng = random.Random(1)
    files = one_of_each(project, rng)
    for file in files:
        damage(file, rng)
    heard: list[str] = []
    for _ in range(len(KINDS)):
        run = project.snakemake(*SMOKE, cores=2)
        if run.returncode == 0:
            break
        messages = lines(run)
        assert messages
        heard += messages
    assert run.returncode == 0, run.stderr[-2000:]
    expected = ("is truncated or damaged; it is deleted now", "does not exist", "is of version")
    assert [line for line in heard if not any(text in line for text in expected)] == []
    assert project.tables() == whole.tables()
