"""A bad configuration ends in a line that names file and key."""

import re
from pathlib import Path

import pytest

from epsilometer.errors import ConfigError
from epsilometer_workflow.products.checking import checked
from tests.products import all_products

MAIN, MECHANISMS, ESTIMATORS = (f"{name}.yaml" for name in ("config", "mechanisms", "estimators"))
OWN, OTHERS = "reports/gorla2022.yaml", "reports/others.yaml"

SEED, REPORTS = "seed: 2022", "reports: [gorla2022, others]"
LAPLACE = "mechanism: truncated_laplace"
BUDGET = "{budget: 1000, delta: 0.8}"
GAMMA_1 = "parameters: {gamma: 1.0, unguaranteed_cells: 100}"
AFTER = "{after: local-loss-floor=0.001, alpha: 0.05}"
SEARCH, NOISY, ERROR = ("search: {runs: 2, n: 1..64}", "noisy: {runs: 2, n: 20+50}", "n: [20, 50]")
EPSILON = "epsilon: [0.5, 2]"
PLAN = "plan: {delta: 0.8, estimator: safety-check-claimed, as_published: true}"

CASES = [  # file, old text, new text, the error
    (MAIN, SEED, "seed: -1", "seed: .*got -1"),
    (MAIN, SEED, "sede: 2022", "sede: unknown key; did you mean 'seed'"),
    (MAIN, SEED, f"{SEED}\nseed: 1", "seed: given twice"),
    (MAIN, "scale: smoke", "scale: smok", "scale: unknown scale 'smok'; did you mean 'smoke'"),
    (MAIN, REPORTS, "reports: [gorla2021]", "reports: unknown report 'gorla2021'; did you mean"),
    # mechanisms
    (MECHANISMS, LAPLACE, "mechanism: truncated_laplas", "did you mean 'truncated_laplace'"),
    (MECHANISMS, "ends: [0.0, 1.0]", "ends: [0.0, 1.5]", r"inputs.ends: input must lie in \[0.0, "),
    (MECHANISMS, "{lower: 0.0, upper: 1.0}", "{epsilon: 3.0}", "must not hold epsilon"),
    (MECHANISMS, "lipschitz: exact", "lipschitz: exakt", "claims.lipschitz: .*'exact'"),
    (MECHANISMS, BUDGET, "{budget: 0, delta: 0.8}", "budget must be at least"),  # in no grid
    (MECHANISMS, "entries: [0, 0.5, 1]", "entries: [0.5]", "neighbourhood: entries give no neigh"),
    (MECHANISMS, "region: [-1, 1]", "region: [1, -1]", "laplace.region: region must have lower"),
    (MECHANISMS, "databases: [[0, 1, 1]", "databases: [[0, 1, 3]", "must hold values below 3"),
    # estimators
    (ESTIMATORS, "histogram-gamma=1:", "../evil:", r"\.\./evil: an id has letters"),
    (
        ESTIMATORS,
        GAMMA_1,
        "parameters: {gamma: 1.0}",
        r"gamma=1 on .*C = 4.62607 must be below 2/W",
    ),
    (ESTIMATORS, AFTER, "{after: local-los, alpha: 0.05}", "unknown first stage .*did you mean"),
    # how much is drawn
    (OWN, SEARCH, "search: {runs: 2, n: 0}", "scales.smoke.search.n: must be positive, got 0"),
    (OWN, SEARCH, "# gone", "scales.smoke.search: is missing"),
    (OWN, "  smoke:\n", "  smok:\n", "scales.smok: unknown scale; did you mean 'smoke'"),
    # experiments
    (OWN, EPSILON, "epsilon: [0.5, 0.5]", "experiments.search.grid: asks twice"),
    (OWN, "inputs: [ends]", "inputs: [endz]", "unknown inputs of truncated-laplace 'endz'; did"),
    (OWN, PLAN, "", "experiments.safety.plan: is missing"),
    (
        OWN,
        "inputs: [ends]",
        "inputs: []",
        "grid.0.inputs: must not be empty: give names of the mech",
    ),
    (
        OWN,
        EPSILON,
        "epsilon: []",
        r"0.epsilon: must not be empty: give numbers, as \[0.5, 1\], got",
    ),
    (
        OWN,
        SEARCH,
        f"{SEARCH}\n    serch: {{runs: 1, n: 1}}",
        "unknown experiment 'serch'; did you m",
    ),
    (
        OWN,
        "estimator: safety-check-claimed, ",
        "estimator: local-loss-floor=0.001, ",
        "has no theorem",
    ),
    # artifacts
    (OWN, "builder: searches", "builder: serches", "table builder .*mean 'searches'"),
    (OTHERS, "figure: askin2022.b", "figure: lu2022.b", "figure: unknown renderer 'lu2022.bounds'"),
    (OWN, "data: [safety]", "data: [safely]", "table.data: unknown experiment 'safely'"),
    (OWN, "{scales: [0.5, 1],", "{scales: [0.5, -1],", "options.scales.1: .*greater"),
    (OWN, "lipschitzes: [0.05]", "lipschitzes: [2.5]", "fig2.*C = 2.5 must"),
    (OWN, "- [0.5, 1, 9588]", "- [0.5, 1]", "paper.rows.0: has 2 of 3"),
    (OWN, "D: [$D$, .2f]", "D: [$D$, 2f.]", "table1.layout.cells.D: "),
    (OWN, "cells: {parameter: [$B$]", "cell: {parameter: [$B$]", "cell: unknown key; did you mean"),
    (OTHERS, "laplace: Lap", "laplas: Lap", "options.panels: unknown mechanism 'laplas'; d"),
]
REFUSED = [  # a wrong use of an estimator in a report; the line names the estimator
    (OWN, "lambda: [2]", "lambda: [1000]", "histogram-gamma=1 on truncated-l.* more than 1e.40 c"),
    (OTHERS, NOISY, "noisy: {runs: 2, n: 20}", r"n must be two sizes, n\+N, got 20"),
    (OTHERS, ERROR, "n: [20+5, 50]", r"n must be one size, got 20\+5"),
    (OTHERS, "lambda: [inf]", "lambda: [2]", "on laplace at .*lambda must be inf"),
    (
        OTHERS,
        "inputs: [every-two]",
        "inputs: [all]",
        "as-published-independent on .*correction must be bonferroni: these pairs share",
    ),
]
SOUND = [
    (OWN, "lambda: [inf]", "order: [inf]"),  # the field's own name
    (MAIN, REPORTS, ""),  # then all are made
    (MAIN, "scales:\n", "scales:\n  huge: {temporary_samples: true}\n"),  # that no report has
    (OWN, "figure: share_within", "# no figure"),
]


def edit(folder: Path, file: str, old: str, new: str) -> None:
    """Change a file of the configuration; it must hold the old text."""
    text = (folder / file).read_text()
    assert old in text, "the case no longer applies"
    (folder / file).write_text(text.replace(old, new, 1))


def refused(**overrides: object) -> str:
    """Return the error of the configuration in the working directory; nothing is written."""
    before = sorted(Path.cwd().rglob("*"))
    with pytest.raises(ConfigError) as caught:
        checked("config", overrides)
    assert sorted(Path.cwd().rglob("*")) == before
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "message", "named"),
    [(*case, case[0]) for case in CASES] + [(*case, ESTIMATORS) for case in REFUSED],
)
def test_a_bad_configuration_is_one_line(config_folder, file, old, new, message, named):
    edit(config_folder, file, old, new)
    text = refused()
    assert re.search(message, text), text
    for line in text.splitlines():
        assert line.startswith(f"config/{named}: "), line


def test_a_sound_configuration_is_accepted(config_folder):
    for file, old, new in SOUND:
        edit(config_folder, file, old, new)
    assert checked("config").wanted == ["gorla2022", "others"]


def test_bad_overrides_are_one_line(config_folder):
    for overrides, message in (
        ({"scale": "papper"}, "--config: scale: unknown scale 'papper'; did you mean 'paper'"),
        ({"scale": "paper"}, "config/reports/gorla2022.yaml: scales.paper: is missing"),
        ({"scal": "paper"}, "--config: scal: unknown key; did you mean 'scale'"),
        ({"seed": "x"}, "--config: seed: .*integer"),
        ({"reports": ["gorla"]}, "--config: reports: unknown report 'gorla'; did you mean"),
    ):
        text = refused(**overrides)
        assert re.match(message, text), text
        assert "\n" not in text


def test_every_mistake_of_a_file_is_a_line_of_its_own(config_folder):
    edit(config_folder, OWN, "{runs: 2, n: 1..64}", "{runs: 0, n: many}")
    edit(config_folder, OWN, EPSILON, "epsilon: [0]")
    keys = [line.split(": ")[1] for line in refused().splitlines()]
    search = "scales.smoke.search"
    assert keys == [f"{search}.runs", f"{search}.n", "experiments.search.grid.0.epsilon.0"]


def test_missing_and_unreadable_files_are_errors(config_folder):
    file = config_folder / "estimators.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    assert refused().startswith("config/estimators.yaml: cannot be read: ")
    file.write_text("- a list\n")
    assert refused() == "config/estimators.yaml: must map ids to entries"


@pytest.mark.slow(seconds=2)
def test_results_must_be_writable(config_folder, monkeypatch):
    results = Path("results")
    results.write_text("a file")
    assert refused().startswith("results: is not a folder")
    results.unlink()
    results.mkdir()
    monkeypatch.setattr("os.access", lambda *_: False)
    assert refused().startswith("results: is not writable")


def test_a_report_does_not_have_the_name_of_a_rule(config_folder):
    (config_folder / OTHERS).rename(config_folder / "reports/sample.yaml")
    edit(config_folder, MAIN, "others", "sample")
    assert "sample.yaml: a report cannot be called 'sample'" in refused()


def test_a_report_without_sizes_at_a_scale_is_not_made_there(config_folder):
    edit(config_folder, OWN, "  smoke:\n", "  paper:\n")
    edit(config_folder, MAIN, REPORTS, "")
    study = checked("config")
    assert study.wanted == ["others"]
    assert not [product for product in all_products(study) if "gorla2022" in product.path]
