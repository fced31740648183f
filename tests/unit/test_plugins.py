"""An installed package adds a mechanism with its law, an estimator and a report."""

import shutil
import sys
from pathlib import Path

import pytest

from epsilometer import registry, testing
from epsilometer.errors import ConfigError, UnknownNameError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer_workflow.configuration import functions
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.checking import checked
from tests.plugin import install
from tests.products import all_products
from tests.unit.test_sources import forget as forget_files

ROOT = Path(__file__).parents[2]
STUDY = ROOT / "tests/data/study"


def forget():
    for remembered in (registry.installed, functions.roots, functions.public_functions):
        remembered.cache_clear()
    forget_files()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of the path with the package, and the study of a repository that needs it."""
    install(tmp_path / "installed")
    monkeypatch.syspath_prepend(tmp_path / "installed")
    shutil.copytree(STUDY / "config", tmp_path / "config")
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("epsilometer_survey")]:
        del sys.modules[name]
    forget()


def jobs():
    """Return the spec and the code of every job, by the path of its file."""
    forget()
    every = all_products(Study("config"))
    return {product.path: (product.spec(), product.code()) for product in every}


def test_the_documentation_has_these_files_word_for_word():
    text = (ROOT / "docs/extending.md").read_text()
    data = ROOT / "tests/data"
    package = sorted((data / "plugin").rglob("*.py"))
    files = [data / "plugin/pyproject.toml", *(f for f in package if f.name != "__init__.py")]
    files += (data / "study/config").rglob("*.yaml")
    assert len(files) == 11
    assert not [str(file) for file in files if f"\n{file.read_text()}```" not in text]
    starter = ROOT / "src/epsilometer_audit/cli/starters/study/Snakefile.txt"
    module = starter.read_text().partition("\n\n\n")[2].replace("{workflow}", "/path/to/clone/{}")
    module = module.format("workflow/Snakefile")
    assert module in (ROOT / "docs/deploy.md").read_text()


def test_registries_have_its_names(folder):
    assert "survey" in MECHANISMS
    assert MECHANISMS["survey"] == "epsilometer_survey.survey:Survey [epsilometer-survey 1.0]"
    assert MECHANISMS.module("survey") == "epsilometer_survey.survey"
    law = EXACT.load("survey")(MECHANISMS.load("survey")(0.5))
    assert law.privacy_loss(0, 1) == pytest.approx(1.0)
    assert {"survey", "laplace"} <= set(MECHANISMS)
    with pytest.raises(UnknownNameError, match="did you mean 'frequency_ratio'"):
        ESTIMATORS.load("frequency_rate")


def test_it_keeps_the_contract(folder):
    testing.check_registered("epsilometer-survey")
    mechanism = MECHANISMS.load("survey")(1.0)
    testing.check_mechanism(mechanism, inputs=[0, 1], outside=[2, "0"])
    testing.check_exact(EXACT.load("survey")(mechanism), mechanism, inputs=[0, 1])
    testing.check_estimator(ESTIMATORS.load("frequency_ratio")(), n=300)
    testing.check_estimator(ESTIMATORS.load("nearest_neighbours")(), runs=2)


def test_a_study_of_it_is_sound(folder):
    study = checked()
    assert study.wanted == ["neighbours", "survey"]
    shutil.rmtree(folder / "config/reports")
    for name in ("mechanisms", "estimators"):
        (folder / f"config/{name}.yaml").unlink()
    assert checked().wanted == []  # of other code alone
    shutil.rmtree(folder / "config")
    with pytest.raises(ConfigError, match="config: is not a folder"):
        checked()


def test_an_edit_of_it_reruns_what_uses_it(folder):
    before = jobs()
    for file, old, new, stale in (
        ("survey.py", "(-2 *", "(-3 *", {"samples", "summaries"}),
        ("ratio.py", "(2 * x.shape", "(4 * x.shape", {"estimates"}),
        ("knn.py", "bias = 2", "bias = 3", {"answers", "estimates"}),
        ("tables.py", "/ table", "- table", {"tables", "html"}),  # a page shows the code's digest
        ("survey.py", "The mechanism, and", "Another docstring and", set()),
    ):
        path = folder / "installed/epsilometer_survey" / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        after = jobs()
        path.write_text(text)
        changed = {path for path in before if before[path] != after[path]}
        kinds = {path.split("/")[2] if path.count("/") > 2 else "html" for path in changed}
        assert stale <= kinds <= stale | {"html"}
    install(folder / "installed", "1.1")  # results know its version
    after = jobs()
    assert before.keys() == after.keys()
    ours = [path for path in before if "survey" in path or "=2/neighbours/" in path]
    assert not [path for path in ours if before[path][0] == after[path][0]]
    sample = next(spec for path, (spec, _) in after.items() if "/samples/survey/" in path)
    assert sample["registered"].endswith(" [epsilometer-survey 1.1]")


@pytest.mark.parametrize(("group", "name"), [("mechanisms", "laplace"), ("reports", "lu2022")])
def test_a_name_of_ours_cannot_be_taken(folder, group, name):
    entries = folder / "installed/epsilometer_survey.dist-info/entry_points.txt"
    before, heading, rest = entries.read_text().partition(f"[epsilometer.{group}]")
    entries.write_text(before + heading + rest.replace("survey = ", f"{name} = ", 1))
    forget()
    with pytest.raises(ConfigError, match=rf"entry points epsilometer\.{group}: '{name}' of"):
        checked()
    assert MECHANISMS["laplace"] == "epsilometer.mechanisms.real_line:Laplace"
