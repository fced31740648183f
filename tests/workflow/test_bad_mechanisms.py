"""Mechanisms that crash, flood, meddle or break their contract: the cause is shown, others run."""

from pathlib import Path

import pandas as pd

from tests.workflow.conftest import SMALL, Project, copy_project, our_lines

FAULT = """bad = {
            "crashes": lambda: ctypes.string_at(0),
            "leaves": lambda: os._exit(0),
            "exits": lambda: sys.exit(0),
            "floods": lambda: [print("x" * 1000) for _ in range(10_000)],
            "reseeds": lambda: np.random.seed(1),
            "shuffles": lambda: random.seed(1),
            "prints": lambda: [print("hello"), os.write(2, bytes([255, 10]))],
            "raises": lambda: 1 / 0,
            "sound": lambda: None,
        }
        bad[self.kind]()"""
CAUSES = {
    "crashes": "crashed: Segmentation fault (signal 11)",
    "leaves": "ended the interpreter with exit code 0",
    "exits": "ended the interpreter with exit code 0",
    "floods": "printed more than 1 MB",
    "reseeds": "sample() changed the global random state of NumPy",
    "shuffles": "sample() changed the global random state of Python",
    "raises": "sample() raised ZeroDivisionError: division by zero",
}
SMOKE = ("--config", "scale=smoke")


def with_bad_mechanisms(project: Project, kinds: list[str]) -> dict[str, str]:
    """Register a mechanism of each kind; return a target for each."""
    project.add_mechanism(FAULT, kinds)
    path = "results/smoke/estimates/{}/epsilon=1/coins/lambda=inf/histogram-gamma=1/n=99_runs=1"
    return {kind: path.format(kind) + ".parquet" for kind in kinds}


def test_causes_are_shown_and_other_jobs_go_on(tmp_path: Path):
    project = copy_project(tmp_path, SMALL)
    targets = with_bad_mechanisms(project, [*CAUSES, "prints", "sound"])
    run = project.snakemake(*targets.values(), *SMOKE, cores=2)
    assert run.returncode != 0
    output = run.stdout + run.stderr
    assert "Traceback" not in output
    for kind, cause in CAUSES.items():
        (line,) = {line for line in our_lines(output) if f" {kind} " in line}
        assert cause in line
        (ended,) = [x for x in output.splitlines() if x.startswith("Failed:") and f" {kind} " in x]
        assert cause in ended
        assert f"Missing: {targets[kind]}" in output
        assert not (tmp_path / targets[kind]).exists()
        samples = tmp_path / f"results/smoke/samples/{kind}/epsilon=1/coins/n=99/runs=0-0.parquet"
        assert not samples.exists()
    for kind in ("prints", "sound"):
        assert len(pd.read_parquet(tmp_path / targets[kind])) == 1
        assert f"Missing: {targets[kind]}" not in output
    assert "hello" not in output
    log = "results/smoke/logs/samples/prints/epsilon=1/coins/n=99/runs=0-0.log"
    assert "printed: hello" in (tmp_path / log).read_text()
    crash = "results/smoke/logs/samples/crashes/epsilon=1/coins/n=99/runs=0-0.log"
    assert "in sample" in (tmp_path / crash).read_text()  # where it happened
    assert not list(tmp_path.rglob("*.part*"))
