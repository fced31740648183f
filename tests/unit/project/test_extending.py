"""The package of docs/extending.md adds a mechanism with its law, an estimator and a table."""

import os
import re
import shutil
import sys
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from epsilometer import testing
from epsilometer.errors import ConfigError, UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.settings import registry
from epsilometer_workflow.configuration import functions
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from tests.pages import EXTENDING, PACKAGE, PAGE, ROOT, extending, steps, write_extending
from tests.products import all_products
from tests.sharing import install
from tests.unit.epsilometer_workflow.products.test_code_digests import forget as forget_files
from tests.unit.processes import ran


def forget():
    for remembered in (registry.installed, functions.roots, functions.public_functions):
        remembered.cache_clear()
    forget_files()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the path with the package, and the study of a repository that needs it."""
    install(tmp_path / "installed")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    write_extending(tmp_path, "study/")
    monkeypatch.chdir(tmp_path / "study")
    forget()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]
    forget()


def jobs():
    """Return the spec and the code of every job, by the path of its file."""
    forget()
    every = all_products(Study("config"))
    return {product.path: (product.spec(), product.code()) for product in every}


def changed_by(path, old, new, before):
    """Return the jobs that an edit changes, which is undone."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    after = jobs()
    path.write_text(text)
    return {job for job in before if before[job] != after[job]}


def kinds(paths):
    """Return the folders of products; pages are left out: they show the digest of all code."""
    return {path.split("/")[2] for path in paths if not path.endswith(".html")}


def test_every_block_of_the_page_is_a_file_a_command_or_in_a_sentence():
    fences = re.findall(r"^```\w+$", EXTENDING, re.MULTILINE)
    files = [part.name for part in extending() if part.name]
    assert len(files) == len(set(files)) == len(fences)
    commands = "".join(part.text for part in extending() if not part.name)
    assert re.findall(r"^ *(\w+)", commands, re.MULTILINE) == ["pip", "pytest", "snakemake"]


@pytest.mark.slow(seconds=5)
def test_the_page_runs_as_pasted(tmp_path):
    """In an empty folder; pip installs beside the environment, and Snakemake runs nothing yet."""
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | {
        "PATH": programs,
        "PYTHONPATH": str(tmp_path / "site"),
        "PIP_TARGET": str(tmp_path / "site"),
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_DEPS": "1",
    }
    folder = tmp_path / "mine"
    folder.mkdir()
    printed = []
    for part in extending():
        if part.name:
            part.write(folder)
            continue
        for line in part.text.replace("/path/to/clone", str(ROOT)).splitlines():
            dry = line.replace("snakemake", "snakemake -n")
            done = ran(*dry.split(), cwd=folder, env=environment)
            assert done.returncode == 0, done.stdout + done.stderr
            printed.append(done.stdout)
    _, tested, planned = printed
    assert "5 passed" in tested
    assert re.search(r"^answer +\d+$", planned, re.MULTILINE)


def test_deploy_shows_the_snakefile_of_the_study():
    module = (ROOT / "docs/examples/study/Snakefile").read_text().partition("\n\n\n")[2]
    module = module.replace("../workflow", "/path/to/clone/workflow")
    assert module in (ROOT / "docs/deploy.md").read_text()


def test_registries_have_its_names(folder):
    assert "logistic" in MECHANISMS
    assert MECHANISMS["logistic"] == f"{PACKAGE}.noise:Logistic [epsilometer-logistic 1.0]"
    assert MECHANISMS.module("logistic") == f"{PACKAGE}.noise"
    law = EXACT.load("logistic")(MECHANISMS.load("logistic")(0.5))
    assert law.privacy_loss(0, 1) == pytest.approx(0.5)
    assert {"logistic", "laplace"} <= set(MECHANISMS)
    with pytest.raises(UnknownNameError, match="did you mean 'nearest_neighbours'"):
        ESTIMATORS.load("nearest_neighbour")


def test_a_study_of_it_is_sound(folder):
    assert checked().wanted == ["logistic"]
    shutil.rmtree("config/reports")
    for name in ("mechanisms", "estimators"):
        Path(f"config/{name}.yaml").unlink()
    assert checked().wanted == []  # of other code alone
    shutil.rmtree("config")
    with pytest.raises(ConfigError, match="config: is not a folder"):
        checked()


@pytest.mark.slow(seconds=4)
def test_an_edit_of_it_reruns_what_uses_it(folder):
    before = jobs()
    for file, old, new, stale in (
        ("noise.py", "* x + rng", "/ 2 * x + rng", {"samples", "confirmations", "summaries"}),
        ("knn.py", "bias = 2", "bias = 3", {"answers", "estimates"}),
        ("tables.py", "/ table", "- table", {"tables"}),
        ("noise.py", "Logistic noise on", "Another docstring on", set()),
    ):
        changed = changed_by(folder / "installed" / PACKAGE / file, old, new, before)
        assert kinds(changed) == stale, old
    install(folder / "installed", "1.1")  # results know its version
    after = jobs()
    assert before.keys() == after.keys()
    for path, (spec, _) in after.items():
        if "/samples/logistic/" in path or "=2/neighbours/" in path:
            assert spec != before[path][0]
        if "/samples/logistic/" in path:
            assert spec["registered"].endswith(" [epsilometer-logistic 1.1]")


@pytest.mark.parametrize(("group", "name"), [("mechanisms", "laplace"), ("reports", "lu2022")])
def test_a_name_of_ours_cannot_be_taken(folder, group, name):
    entries = folder / f"installed/{PACKAGE}.dist-info/entry_points.txt"
    before, heading, rest = entries.read_text().partition(f"[epsilometer.{group}]")
    entries.write_text(before + heading + rest.replace("logistic = ", f"{name} = ", 1))
    forget()
    with pytest.raises(ConfigError, match=rf"entry points epsilometer\.{group}: '{name}' of"):
        checked()
    assert MECHANISMS["laplace"] == "epsilometer.mechanisms.real_line:Laplace"


# --- every edit of docs/experiments.md: a study that is sound, or the line that the page shows ----


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    forget()
    yield tmp_path / "mine"
    functions.look_in([])
    for name in ("ratings", "knn", "comparison", "comparison.figures"):
        sys.modules.pop(name, None)
    forget()


def said(file, old, new):
    """Return the line about a file after an edit, which is undone."""
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))
    for name in ("knn", "comparison.figures"):
        sys.modules.pop(name, None)
    forget()
    with pytest.raises(ConfigError) as refused:
        checked()
    Path(file).write_text(text)
    sys.modules.pop("knn", None)
    return str(refused.value)


@pytest.mark.slow(seconds=3)
def test_an_edit_of_code_makes_again_what_uses_it(mine, monkeypatch):
    for _ in steps(mine):
        pass
    monkeypatch.chdir(mine)
    before = jobs()
    for file, old, new, stale in (
        ("knn.py", "bias = 2", "bias = 3", {"answers", "estimates", "timings"}),
        ("ratings.py", "standard_t(3", "standard_t(4", {"samples", "timings"}),
        ("comparison/figures.py", "height=2.5", "height=3", {"figures"}),
    ):
        changed = changed_by(Path("code", file), old, new, before)
        assert kinds(changed) == stale, file
        assert all("comparison" in job or "ratings" in job for job in changed)


@pytest.mark.slow(seconds=3)
def test_each_edit_is_sound_or_refused_in_the_line_of_the_page(mine, monkeypatch):
    lines, jobs = [], {}
    for section, _ in steps(mine):
        monkeypatch.chdir(mine)
        forget()
        try:
            study = checked()
        except ConfigError as error:
            lines.append(str(error))
        else:
            jobs[section] = len(list(all_products(study))) + 1  # and `all`
    for section, number in jobs.items():
        assert [int(n) for n in re.findall(r"(\d+) jobs", section)] in ([], [number]), section[:80]
    report = "config/reports/comparison.yaml"
    lines.append(said("code/knn.py", "SampleMethod):\n", 'SampleMethod):\n    reads = "sample"\n'))
    old = "methods: {runs: 10, n: 2000}"
    lines.append(said(report, old, old.replace("2000", "[2000, 4000]")))
    shown = re.findall(r"^```\n(config/.*)\n```$", PAGE, re.MULTILINE)
    assert len(shown) == 3
    assert set(shown) <= set(lines)
    testing.check_mechanism(MECHANISMS.load("ratings.NoisyMean")(1.0), [[0, 0.5, 1], [1, 0.5, 1]])
    checked("config", {"scale": "paper"})
    grid = checked().combinations("comparison", "methods")
    assert len({combination.estimator for combination in grid}) == 6


def test_two_first_runs_of_a_hosted_workflow_unpack_one_copy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    included = []

    def archive(file, commit):
        with tarfile.open(fileobj=file, mode="w") as tar:
            tar.add(ROOT / "LICENSE", "LICENSE")
        (tmp_path / ".snakemake/epsilometer" / commit / "workflow").mkdir(parents=True)  # another's

    git = SimpleNamespace(rev_parse=lambda _: "abc")
    hosted = SimpleNamespace(repo=SimpleNamespace(git=git, archive=archive))
    folder = SimpleNamespace(is_local=False, hosted_repo=hosted, repo_path=ROOT, ref="v1")
    include = lambda name, **_: included.append(name)  # noqa: E731
    workflow = SimpleNamespace(current_basedir=folder, include=include)
    monkeypatch.setattr("git.Repo", lambda path: path)
    exec((ROOT / "workflow/Snakefile").read_text(), {"workflow": workflow})  # noqa: S102
    copy = tmp_path / ".snakemake/epsilometer/abc"
    assert included == [str(copy / "workflow/main.smk")]
    assert list(copy.parent.iterdir()) == [copy]
