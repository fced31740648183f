"""The museum through the workflow: environments are made, found again, and may be missing."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from tests.unit.conftest import CONFIG

ROOT = Path(__file__).parents[3]
TABLE = "results/smoke/museum.csv"
pytestmark = pytest.mark.runs


@pytest.fixture
def folder(tmp_path):
    """A museum whose environments need no network, in a folder of studies."""
    for part in ("workflow", "src", "config", "studies/exhibition"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).symlink_to(ROOT / part)
    study = tmp_path / "studies/museum"
    shutil.copytree(Path(__file__).parent / "tiny", study / "config/audits")
    (study / "config/audits/tiny.yaml").rename(study / "config/audits/museum-tiny.yaml")
    shutil.copy(ROOT / "studies/museum/Snakefile", study)
    main = (CONFIG / "config.yaml").read_text()
    (study / "config/config.yaml").write_text(
        re.sub("(?m)^reports:.*\n", "", main).replace("config/code", "..")
    )
    return study


def museum(folder, *options):
    """Run it; return its output, and the rules of the jobs that were done."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "host"]
    done = subprocess.run(
        [*command, *options], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    output = done.stdout + done.stderr
    return output, sorted(re.findall(r"Finished jobid: \d+ \(Rule: (\w+)\)", output))


def edited(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_a_museum_shows_results_beside_expectations(folder):
    output, rules = museum(folder)
    assert "  museum: 2 of 3 as expected, 0 not, 1 missing: results/smoke/museum.html\n" in output
    assert rules == ["audit"] * 3 + ["environment"] * 2 + ["exhibit"]
    table = pd.read_csv(folder / TABLE).set_index(["audit", "parameters"])
    assert sorted(table["verdict"]) == ["missing", "not refuted", "violated"]
    page = (folder / TABLE).with_suffix(".html").read_text()
    links = re.findall(r'href="(audits/[^"#]+)', page)
    assert len(links) == 3
    assert all((folder / "results/smoke" / link).is_file() for link in links)
    assert "Nothing to be done" in museum(folder, "-n")[0]

    lock = folder / "config/audits/envs/no-such-wheel.txt"
    lock.write_text("# another one, which can be made\n")
    output, rules = museum(folder)
    assert rules == ["audit", "environment", "exhibit"]
    assert "museum: 3 of 3 as expected, 0 not: results" in output

    edited(folder / "config/audits/exhibits.py", "< keep else", "< 0.99 else")
    output, rules = museum(folder, "--config", "exhibits=[right]")
    assert rules == ["audit", "exhibit"]
    assert "museum: 0 of 1 as expected, 1 not: results" in output
