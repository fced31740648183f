"""Whatever a user writes, nothing of it is run, and nothing is written where it does not belong."""

import ast
import shutil

import pandas as pd
import pytest
import yaml

from epsilometer.asked import Wildcards
from epsilometer.errors import EpsilometerError
from epsilometer.jobs import Jobs
from epsilometer.page import write_page
from epsilometer.study import Study
from tests.workflow.conftest import ROOT, copy_project

HOSTILE = {
    "space": "a b",
    "single quote": "a'b",
    "double quote": 'a"b',
    "semicolon": "a; touch pwned",
    "newline": "a\ntouch pwned",
    "substitution": "$(touch pwned)",
    "backticks": "`touch pwned`",
    "up": "../pwned",
    "absolute": "/etc/pwned",
    "braces": "{config}",
    "html": "<script>alert(1)</script>",
    "null": "a\0b",
    "option": "--help",
}
SMOKE = ("--config", "scale=smoke")
ALLOWED = ("results", ".snakemake")


def edited(folder, file: str, edit) -> None:
    """Change one configuration file as data."""
    path = folder / "config" / file
    data = yaml.safe_load(path.read_text())
    edit(data)
    path.write_text(yaml.safe_dump(data, sort_keys=False))


def rename(data: dict, old: str, new: str) -> None:
    data[new] = data.pop(old)


NAMES = {  # every string that becomes a part of a path
    "mechanism": ("mechanisms.yaml", lambda d, s: rename(d, "laplace", s)),
    "registered mechanism": ("mechanisms.yaml", lambda d, s: d["laplace"].update(mechanism=s)),
    "inputs": ("mechanisms.yaml", lambda d, s: rename(d["truncated-laplace"]["inputs"], "ends", s)),
    "estimator": ("estimators.yaml", lambda d, s: rename(d, "mpl-floor=0.001", s)),
    "screen": (
        "estimators.yaml",
        lambda d, s: d["mpl-floor=0.001"]["parameters"].update(after=s),
    ),
    "classifier": (
        "estimators.yaml",
        lambda d, s: d["spectrum-knn"]["parameters"].update(classifier=s),
    ),
    "scikit-learn's class": (
        "estimators.yaml",
        lambda d, s: d["spectrum-network"]["parameters"]["options"].update(name=s),
    ),
    "experiment": ("papers/gorla2022.yaml", lambda d, s: rename(d["experiments"], "safety", s)),
    "artifact": ("papers/gorla2022.yaml", lambda d, s: rename(d["artifacts"], "fig4", s)),
    "builder": (
        "papers/gorla2022.yaml",
        lambda d, s: d["artifacts"]["fig4"]["table"].update(builder=s),
    ),
    "renderer": ("papers/gorla2022.yaml", lambda d, s: d["artifacts"]["fig4"].update(figure=s)),
    "grid": (
        "papers/gorla2022.yaml",
        lambda d, s: d["experiments"]["safety"]["grid"][0].update(mechanism=[s]),
    ),
    "scale": ("config.yaml", lambda d, s: d.update(scale=s)),
    "paper": ("config.yaml", lambda d, s: d.update(papers=[s])),
    "rate": ("rates.yaml", lambda d, s: d["sample"]["nanoseconds"].update({s: 1.0})),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory):
    """A folder with the configuration alone, restored after each use."""
    base = tmp_path_factory.mktemp("configured")
    (base / "workflow").mkdir()
    return base


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_command_and_no_way_out(folder, monkeypatch, name, hostile):
    shutil.rmtree(folder / "config", ignore_errors=True)
    shutil.copytree(ROOT / "config", folder / "config")
    file, edit = NAMES[name]
    edited(folder, file, lambda data: edit(data, HOSTILE[hostile]))
    monkeypatch.chdir(folder)
    before = sorted(p for p in folder.parent.rglob("*") if "config" not in p.parts)
    with pytest.raises(EpsilometerError) as refused:
        Study("config")
    assert "config/" in str(refused.value)
    assert sorted(p for p in folder.parent.rglob("*") if "config" not in p.parts) == before


@pytest.mark.parametrize(
    "file", sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("config/**/*.yaml"))
)
def test_yaml_is_data(tmp_path, monkeypatch, file):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    text = (tmp_path / file).read_text()
    (tmp_path / file).write_text(text + '\nx: !!python/object/apply:os.system ["touch pwned"]\n')
    with pytest.raises(EpsilometerError, match=file.rpartition("/")[2]):
        Study("config", {"scale": file.rpartition("/")[2][:-5]} if "scales/" in file else None)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    "key", ["mechanism", "inputs", "epsilon", "estimator", "n", "order", "runs"]
)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_part_of_a_path_is_a_known_name(jobs: Jobs, key, hostile):
    path = {
        "scale": "smoke",
        "mechanism": "laplace",
        "epsilon": "1",
        "inputs": "distances",
        "order": "2",
        "estimator": "renyi-bound-draws=50",
        "n": "1000",
        "runs": "2",
    }
    assert jobs.estimate_spec(Wildcards(path))
    with pytest.raises(EpsilometerError):
        jobs.estimate_spec(Wildcards(path | {key: HOSTILE[hostile]}))


@pytest.fixture(scope="module")
def jobs() -> Jobs:
    return Jobs(Study(ROOT / "config", {"scale": "smoke"}), ROOT / "workflow/scripts")


@pytest.mark.parametrize("hostile", ["up", "substitution", "single quote"])
def test_a_path_that_is_asked_for_leads_nowhere(tmp_path, hostile):
    project = copy_project(tmp_path / "project")
    given = {p.name for p in project.folder.iterdir()}
    rest = "epsilon=1/ends/lambda=inf/histogram-gamma=1/n=10_runs=1.parquet"
    run = project.snakemake(f"results/smoke/estimates/{HOSTILE[hostile]}/{rest}", *SMOKE)
    assert run.returncode != 0
    assert {p.name for p in project.folder.iterdir()} - set(ALLOWED) == given
    assert {p.name for p in tmp_path.iterdir()} == {"project"}


def test_free_text_and_the_folder_are_harmless(tmp_path):
    """Captions, titles and parameters may hold anything; so may the name of the folder."""
    folder = tmp_path / 'it\'s; touch pwned "$(touch pwned)"'
    project = copy_project(folder)
    caption = " ".join(text for text in HOSTILE.values() if "\0" not in text)

    def write(paper: dict) -> None:
        paper["title"] = caption
        for artifact in paper["artifacts"].values():
            artifact["caption"] = caption

    edited(folder, "papers/gorla2022.yaml", write)
    before = contents(folder)
    table = "results/smoke/tables/gorla2022/table1.csv"
    figure = "results/smoke/figures/gorla2022/fig4.png"
    run = project.snakemake(table, figure, *SMOKE, cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    assert len(pd.read_csv(folder / table)) > 0
    added = contents(folder) - before
    assert {name.split("/")[0] for name in added} <= set(ALLOWED)
    assert [p.name for p in tmp_path.iterdir()] == [folder.name]
    assert not list(tmp_path.rglob("*pwned"))


def contents(folder) -> set[str]:
    """Return all files but the caches that Python and Numba keep beside the code."""
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    return {name for name in files if "__pycache__" not in name}


def test_a_page_escapes_what_it_shows(tmp_path):
    page = tmp_path / "page.html"
    about = {"seed": 1, "scale": "smoke", "version": "0", "artifacts": []}
    template = str(ROOT / "workflow/report/page.html.j2")
    write_page(str(page), template, {"title": HOSTILE["html"], **about})
    assert "<script>alert" not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()


FORBIDDEN = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}
CALLS = {"eval", "exec", "system", "popen", "unsafe_load", "full_load", "load_all"}


def test_no_pickle_no_shell_no_eval():
    """In no line of the library, its scripts or rules; arguments go to programs as lists."""
    for file in [*ROOT.glob("src/**/*.py"), *ROOT.glob("workflow/**/*.py")]:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = getattr(node, "module", None) or ""
                names = {module.split(".")[0], *(alias.name.split(".")[0] for alias in node.names)}
                assert not names & FORBIDDEN, file
            if isinstance(node, ast.Call):
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                assert called not in CALLS, f"{file}:{node.lineno}"
                options = {key.arg for key in node.keywords}
                assert not {"shell", "allow_pickle"} & options, f"{file}:{node.lineno}"
    for file in [ROOT / "Snakefile", *ROOT.glob("workflow/rules/*.smk")]:
        assert "shell:" not in file.read_text()
        assert "run:" not in file.read_text()
