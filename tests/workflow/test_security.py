"""Hostile paths, names and texts, with Snakemake itself; every name is in tests/unit."""

import pandas as pd
import yaml

from tests.unit.epsilometer_workflow.test_security import HOSTILE
from tests.workflow.conftest import SMALL, copy_project

ALLOWED = {"results", ".snakemake"}


def test_free_text_and_the_folder_are_harmless(tmp_path):
    """Captions, titles and parameters may hold anything; so may the name of the folder."""
    folder = tmp_path / 'it\'s; touch pwned "$(touch pwned)"'
    project = copy_project(folder, SMALL)
    text = " ".join(text for text in HOSTILE.values() if "\0" not in text)
    text = text.replace("{config}", "{config[scale]}")  # a caption with a name in braces is refused
    file = folder / "config/reports/gorla2022.yaml"
    report = yaml.safe_load(file.read_text())
    report["title"] = text
    for artifact in report["artifacts"].values():
        artifact["caption"] = text
    file.write_text(yaml.safe_dump(report, sort_keys=False))
    before = contents(folder)
    table = "results/smoke/tables/gorla2022/table1.csv"
    figure = "results/smoke/figures/gorla2022/fig4.png"
    run = project.snakemake(table, figure, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    assert len(pd.read_csv(folder / table)) > 0
    assert (folder / figure).read_bytes().startswith(b"\x89PNG")
    assert {name.split("/")[0] for name in contents(folder) - before} <= ALLOWED
    assert [p.name for p in tmp_path.iterdir()] == [folder.name]
    assert not list(tmp_path.rglob("*pwned"))


def contents(folder) -> set[str]:
    """Return all files but the caches that Python and Numba keep beside the code."""
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    return {name for name in files if "__pycache__" not in name}
