"""Files of audits: their keys, the grids they stand for, and errors."""

import json
import os
import re
from pathlib import Path

import pytest
import yaml

from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer_workflow.products.audited import made_of
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.jobs import Jobs
from tests.products import all_audits, all_products, product_of
from tests.unit.test_security import HOSTILE

FILE = "audits/small.yaml"
MECHANISM = "mechanism: own.py:laplace"
GRID = "{epsilon: [0.5, 2], clip: 1}"
PAIR = "{adjacent: [[0, 1], [1, 1]]}"
CLAIM = "[{epsilon: $epsilon}, {renyi"
RENYI = "{2: 0.25, 3.5: $epsilon}"
TABLE = "{remove a row: rows.csv, limit: 3}"
COMMAND = '{command: "awk -f coin.awk {input} {size} {seed} {p}"}'
RECORDED = '{outputs: [x.csv, "y-{epsilon}.csv"]}'
SIZES = "samples: {smoke: 400, paper: 4000}"
DETECT = "{epsilon: 1, delta: 1e-5, detect: 3}"

MISTAKES = [  # old text, new text, the error
    ("alpha: 0.05", "alpha: 1.5", "alpha: .*less than 1, got 1.5"),
    ("alpha: 0.05", "alhpa: 0.05", "alhpa: unknown key; did you mean 'alpha'"),
    (SIZES, "samples: 0", "samples: .*greater than 0, got 0"),
    (SIZES, "samples: many", "samples: .*integer, got 'many'"),
    (SIZES, "samples: {smok: 9}", "samples.smok: unknown scale; did"),
    (SIZES, "samples: 5", "laplace.samples: must be at least 10 for"),
    ("samples: 3000", "samples: 2000", "vector.samples: must be at least 2001 for 10 pairs"),
    ("samples: 3000", "samples: 100", "vector.samples: must be at least 401 for 2 pairs, got 100"),
    ("title: Audits in miniature", "title: 7", "title: .*string, got 7"),
    ("\n  laplace:", "\n  la place:", "audits.la place: .*match pattern"),
    ("\n  vector:", "\n  laplace:", "laplace: given twice"),
    (MECHANISM, "mechanism: own.py", "laplace.mechanism: own.py names no function; write file"),
    (MECHANISM, "mechanism: own.py:la place", "laplace.mechanism: own.py:la place names no funct"),
    (MECHANISM, "mechanism: 'own.py:{name}'", "mechanism: unknown parameter 'name' in braces"),
    (MECHANISM, "mechanism: 'own.py:{epsilom}'", "in braces; did you mean 'epsilon'"),
    (MECHANISM, "mechanism: 3", "laplace.mechanism: .*string, got 3"),
    (MECHANISM, "# none", "laplace.mechanism: is missing"),
    (
        MECHANISM,
        "mechanism: {comand: ./a}",
        "mechanism.comand: unknown key; did you mean 'command'",
    ),
    (MECHANISM, "mechanism: {python: python3}", "laplace.mechanism.function: is missing"),
    (
        MECHANISM,
        f"{MECHANISM}\n    mecanism: b",
        "laplace.mecanism: unknown key; did you mean 'mec",
    ),
    (GRID, "{epsilon: []}", "laplace.parameters.epsilon: .*at least 1 item"),
    (GRID, "{epsilon: [[1]]}", "parameters.epsilon.0: .*bool.* or .*got .1."),
    (GRID, "{epsilon: [1, 1.0]}", "laplace.parameters: asks twice for epsilon=1"),
    (GRID, "{two words: 1}", "parameters.two words: .*match pattern"),
    (PAIR, "{adjacent: [[0, 1]]}", "pairs.adjacent: .*at least 2 items"),
    (PAIR, "{adjacent: [0, 1, 1]}", "pairs.adjacent: .*at most 2 items"),
    (PAIR, "{}", "pairs: .*at least 1 item"),
    (PAIR, "{pattern: 5}", "pairs.pattern: unknown key; did you mean 'patterns'"),
    (PAIR, "{patterns: 1}", "pairs.patterns: .*greater than or equal to 2"),
    (PAIR, "{remove row: rows.csv}", "pairs.remove row: unknown key; did you mean 'remove a row'"),
    (PAIR, "{remove a row: a.csv, replace a row: b.csv}", "pairs: must name a table: either"),
    (PAIR, "{adjacent: [2020-01-01, 1]}", "pairs.adjacent.0: .*valid JSON"),
    (PAIR, "[{patterns: 4}, {patterns: 4}]", "laplace.pairs: names patterns=4 twice"),
    (TABLE, "{remove a row: rows.csv, limit: 0}", "limit: .*greater than 0"),
    (CLAIM, "[{epsilon: -1}, {renyi", "laplace.claims.0: epsilon must lie in .0, .*got -1"),
    (CLAIM, "[{epsilon: $epsilom}, {renyi", "claims.0: unknown parameter 'epsilom'; did you mean"),
    (CLAIM, "[{epsilon: one}, {renyi", r"claims.0.epsilon: must be a number, or \$name of a param"),
    (CLAIM, "[{epsilon: 1, delta: 2}, {renyi", "claims.0: delta must lie in .0, 1., got 2"),
    (CLAIM, "[{delta: 0.1}, {renyi", "claims.0: delta needs epsilon, which is missing"),
    (CLAIM, "[{detect: 0.1}, {renyi", "claims.0: claim must be one of epsilon .*zcdp"),
    (
        CLAIM,
        "[{epsilon: 1, gdp: 1}, {renyi",
        "claims.0: gdp cannot be used with epsilon; choose one",
    ),
    (CLAIM, "[{gdp: 1, delta: 0.1}, {renyi", "claims.0: delta needs epsilon"),
    (CLAIM, "[{gpd: 1}, {renyi", "claims.0.gpd: unknown key; did you mean 'gdp'"),
    (CLAIM, "[{renyi: {2: 0.25, 3.5: $epsilon}}, {renyi", "claims.1: is the same as claims.0"),
    (RENYI, "{1: 0.25}", "claims.1: order must be"),
    (RENYI, "{two: 0.25}", "claims.1.renyi.two.*: .*number, got 'two'"),
    (RENYI, "0.25", "claims.1.renyi: .*dictionary, got 0.25"),
    (DETECT, "{epsilon: 1, detect: 0.5}", "claims.2: detect must be above the claim, 1"),
    (DETECT, "{renyi: {2: 1, 3: 1}, detect: 2}", "claims.2: detect needs a claim of one order"),
    (
        "samples: 3000",
        "samples: 3000\n    method: exact",
        "vector.claims.1: method exact cannot be used with zcdp; choose one",
    ),
    ("samples: 3000", "method: exakt", "vector.method: .*'anytime' or 'exact', got 'exakt'"),
    ("samples: 3000", "timeout: 0", "vector.timeout: .*greater than 0"),
    ("samples: 3000", "failures: maybe", "vector.failures: .*boolean"),
    ("samples: 3000", "outcomes: 1", "vector.outcomes: .*greater than or equal to 2"),
    ("samples: 3000", "support: [0, 1]", "vector.support: needs lipschitz, which is missing"),
    ("samples: 3000", "support: [1, 0]\n    lipschitz: 1", "support: must have lower < upper"),
    ("samples: 3000", "reads: rows.csv", "vector.reads: .*list, got 'rows.csv'"),
    (
        COMMAND,
        "{command: ./coin}",
        "program.parameters: 'p' is used nowhere; write {p} into the com",
    ),
    (
        COMMAND,
        '{command: "./coin {q}"}',
        "mechanism.command: unknown parameter 'q' in braces .known: p",
    ),
    (COMMAND, "{command: []}", "mechanism.command: .*at least 1 item"),
    (
        "parameters: {p: 0.25}",
        "parameters: {p: 0.25, seed: 1}",
        "parameters: 'seed' is filled in f",
    ),
    ("    pairs: [[0, 1]]", "", "program.pairs: is missing"),
    (RECORDED, "{outputs: [a.csv, b.csv, c.csv]}", "mechanism.outputs: must be one file or two"),
    (RECORDED, f"{RECORDED}\n    pairs: [[0, 1]]", "recorded.pairs: cannot be used with recorded"),
    (RECORDED, f"{RECORDED}\n    samples: 9", "recorded.samples: cannot be used with recorded"),
    ("audits:\n", "audits: {}\nother:\n", "audits: .*at least 1 item|other: unknown key"),
]


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_a_line_with_file_and_key(config_folder, old, new, message):
    file = config_folder / FILE
    text = file.read_text()
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        checked("config")
    lines = str(caught.value).splitlines()
    assert all(line.startswith("config/audits/small.yaml: ") for line in lines)
    assert any(re.search(message, line) for line in lines), lines
    assert all(len(line) < 300 for line in lines)


def test_two_mistakes_are_two_lines(config_folder):
    file = config_folder / FILE
    file.write_text(
        file.read_text().replace("alpha: 0.05", "alpha: 2").replace(CLAIM, "[{gpd: 1}, {renyi")
    )
    with pytest.raises(ConfigError) as caught:
        checked("config")
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("config/audit", "--config: audits: 'config/audit' is not there; did you mean 'config/aud"),
        ("config/audits/smal.yaml", "is not there; did you mean 'config/audits/small.yaml'"),
        ("config/reports/empty", "holds no file"),
        ("a b.yaml", "a b.yaml: a file's name has letters, digits and ._=- only"),
        ("", "--config: audits: .*at least 1 character"),
        (3, "--config: audits: .*string, got 3"),
    ],
)
def test_a_place_without_audits_is_an_error(config_folder, place, message):
    Path("config/reports/empty").mkdir()
    Path("a b.yaml").touch()
    with pytest.raises(ConfigError, match=message):
        checked("config", {"audits": place})


def test_audits_may_be_a_file_or_a_folder_anywhere(config_folder, tmp_path):
    elsewhere = tmp_path / "other"
    elsewhere.mkdir()
    for name in ("one", "two"):
        (elsewhere / f"{name}.yaml").write_text((config_folder / FILE).read_text())
    assert list(checked("config").audits) == ["small"]
    assert list(checked("config", {"audits": str(elsewhere)}).audits) == ["one", "two"]
    study = checked("config", {"audits": "../other/two.yaml"})
    assert list(study.audits) == ["two"]
    case = next(p for p in all_audits(study) if p.rule == "audit")
    assert case.folder() == "../other"
    assert case.path.startswith("results/smoke/audits/two/laplace/")
    assert case.replay().endswith("--config scale=smoke seed=2022 audits=../other/two.yaml")


def test_a_file_without_a_size_at_this_scale_is_made_on_request_only(config_folder):
    file = config_folder / FILE
    file.write_text(file.read_text().replace(SIZES, "samples: {paper: 900}"))
    assert not checked("config").audits
    with pytest.raises(ConfigError, match=r"small.yaml: samples.smoke: is missing"):
        checked("config", {"audits": "config/audits"})


def test_the_example_of_the_documentation_is_sound(config_folder):
    text = (Path(__file__).parents[2] / "docs/audits.md").read_text()
    (config_folder / FILE).write_text(text.split("```yaml\n")[1].split("```")[0])
    cases = [p for p in all_audits(checked("config")) if p.rule == "audit"]
    assert len(cases) == 2 + 2 * 2 + 2 + 1 + 1
    assert sum(len(p.case.claims) for p in cases) == 2 * 3 + 2 * 2 * 2 + 2 + 1 + 1


def test_no_audits_is_no_mistake(config_folder):
    (config_folder / FILE).unlink()
    assert not list(all_audits(checked("config")))


def test_grids_are_parameters_by_pairs(study):
    made = (p for p in all_audits(study) if p.rule != "environment")
    every = [p.path.removeprefix("results/smoke/") for p in made]
    assert every[:-1] == [
        f"audits/small/{name}.parquet"
        for name in (
            "laplace/epsilon=0.5_clip=1/adjacent",
            "laplace/epsilon=2_clip=1/adjacent",
            *("vector/default/near+1", "vector/default/patterns=4", "vector/default/remove-a-row"),
            "program/p=0.25/pair",
            "recorded/epsilon=1/recorded",
        )
    ]
    assert sum(len(case.claims) for case in study.audits["small"].all_cases()) == 2 * 3 + 3 * 2 + 2
    assert every[-1] == "audits/small.csv"
    assert Jobs(study).files_of_audits() == ["results/smoke/audits/small.csv"]


def test_alpha_is_of_all_verdicts_of_a_file(study):
    cases = [p for p in all_audits(study) if p.rule == "audit"]
    verdicts = sum(len(p.spec()["claims"]) for p in cases)
    assert {p.spec()["alpha"] for p in cases} == {0.05 / verdicts}


def test_specs_of_mechanisms(study):
    specs = {p.path.split("/")[4]: p.spec() for p in all_audits(study) if p.rule == "audit"}
    assert specs["laplace"]["mechanism"] == {"function": "own.py:laplace"}
    assert specs["laplace"]["given"] == {"epsilon": 2, "clip": 1}
    command = "awk -f coin.awk {input} {size} {seed} 0.25"
    assert specs["program"]["mechanism"] == {"command": command}
    assert specs["program"]["given"] == {}
    assert specs["program"]["arguments"] == {"p": 0.25}
    assert specs["recorded"]["mechanism"]["outputs"] == ["x.csv", "y-1.csv"]
    assert specs["recorded"]["pairs"] is None


def test_nothing_of_it_is_in_the_reports(study):
    rules = {p.rule for p in all_products(study)}
    assert not rules & {"audit", "conclude"}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_names_stay_within_the_results(config_folder, hostile):
    """Names of pairs and values of parameters are a part of paths, all of them different."""
    data = yaml.safe_load((config_folder / FILE).read_text())
    entry = data["audits"]["laplace"]
    entry["parameters"] = {"epsilon": [1.5, 2.5], "text": [hostile, f"{hostile} ", "a"]}
    entry["pairs"] = [{hostile: [[0], [1]]}, {f"{hostile} ": [[0], [2]]}]
    data["title"] = hostile
    (config_folder / FILE).write_text(json.dumps(data))
    products = [p for p in all_audits(checked("config")) if "laplace" in p.path]
    assert len({p.path for p in products}) == len(products) == 2 * 3 * 2
    for product in products:
        assert re.fullmatch(r"[\w@%+=:,./~-]+", product.path)
        assert ".." not in product.path.split("/")
        again = type(product).from_wildcards(product.study, product.wildcards)
        assert again.spec() == product.spec()


# --- digests --------------------------------------------------------------------------------------


@pytest.fixture
def digests(config_folder):
    """A function that returns the digests of the verdicts by entry, read anew at each call."""

    def read() -> dict[str, str]:
        made_of.cache_clear()
        products = [p for p in all_audits(checked("config")) if p.rule == "audit"]
        return {p.entry: p.made_of() for p in products}

    return read


def test_digests_are_of_all_files_and_versions(digests):
    texts = digests()
    names = {
        entry: [part.partition("=")[0] for part in text.split()] for entry, text in texts.items()
    }
    assert names["laplace"] == ["numpy", "own.py", "python", "shared.py"]
    assert {"awk", "coin.awk", "command"} <= set(names["program"])
    assert texts["recorded"] == "x.csv=missing y-1.csv=missing"
    assert {"rows.csv", "own.py"} <= set(names["vector"])


@pytest.mark.parametrize(
    ("file", "entries"),
    [
        ("shared.py", {"laplace", "vector"}),
        ("own.py", {"laplace", "vector"}),
        ("coin.awk", {"program"}),
        ("rows.csv", {"vector"}),
        ("x.csv", {"recorded"}),
        ("other.py", set()),
    ],
)
def test_an_edit_changes_the_digests_of_the_file_only(config_folder, digests, file, entries):
    before = digests()
    with (config_folder / "audits" / file).open("a") as text:
        text.write("\n# edited\n")
    after = digests()
    assert {entry for entry in before if before[entry] != after[entry]} == entries


def test_a_touch_or_a_fresh_copy_is_no_edit(config_folder, digests):
    before = digests()
    for file in (config_folder / "audits").iterdir():
        os.utime(file, (1, 1))
        file.chmod(0o755)
    assert digests() == before


def test_nothing_of_a_mechanism_is_run_before_its_job(config_folder, digests):
    folder = config_folder / "audits"
    (folder / "own.py").write_text("import pathlib\npathlib.Path('ran').touch()\n1 / 0\n")
    (folder / "program").write_text("#!/bin/sh\ntouch ran\n")
    (folder / "program").chmod(0o755)
    text = (folder / "small.yaml").read_text()
    python = '{python: ./program, function: "own.py:laplace"}'
    text = text.replace(COMMAND, '{command: "./program {p}"}').replace(
        "own.py:vector", "own:vector"
    )
    (folder / "small.yaml").write_text(text.replace(MECHANISM, f"mechanism: {python}"))
    texts = digests()
    assert "own.py=" in texts["laplace"]
    assert "program=" in texts["program"]
    list(map(Jobs(checked("config")).spec("conclude"), [{"scale": "smoke", "audits": "small"}]))
    assert not list(config_folder.parent.rglob("ran"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gone.py:f", "missing=gone.py is not there"),
        ("gone.module:f", "missing=gone.module cannot be imported: no module 'gone'"),
    ],
)
def test_the_digest_of_a_missing_file_has_the_error(config_folder, digests, text, message):
    file = config_folder / FILE
    file.write_text(file.read_text().replace("own.py:laplace", text))
    assert digests()["laplace"].startswith(message)


def test_packages_of_another_interpreter_count(config_folder, digests, tmp_path):
    file, installed = config_folder / FILE, tmp_path / "venv/lib/python3.11/site-packages"
    (installed / "numpy-2.0.dist-info").mkdir(parents=True)
    python = f'{{python: {tmp_path}/venv/bin/python, function: "own.py:laplace"}}'
    file.write_text(file.read_text().replace(MECHANISM, f"mechanism: {python}"))
    before = digests()["laplace"]
    (installed / "numpy-2.0.dist-info").rename(installed / "numpy-2.1.dist-info")
    assert digests()["laplace"] != before
    assert "shared.py=" in before


def test_a_job_that_was_stopped_is_tried_again(config_folder):
    case = next(p for p in all_audits(checked("config")) if p.rule == "audit")
    assert case.stopped() == ""
    log = Path(case.path.replace("smoke/", "smoke/logs/").replace(".parquet", ".stopped"))
    log.parent.mkdir(parents=True)
    log.write_text("crashed\n")
    assert case.stopped() == "crashed\n"


PATHS = [  # under results/smoke, the error
    ("audits/smal.csv", "unknown file of audits 'smal'; did you mean 'small'?"),
    ("audits/small/laplas/d/e.parquet", "unknown audit 'laplas'; did you mean 'laplace'?"),
    ("audits/small/laplace/epsilon=3/e.parquet", "unknown parameters of laplace 'epsilon=3'"),
    ("audits/small/vector/default/far.parquet", "unknown pairs of vector 'far'"),
]


@pytest.mark.parametrize(("path", "message"), PATHS)
def test_a_path_of_no_audit_is_an_error(study, path, message):
    with pytest.raises(EpsilometerError, match=re.escape(message)) as caught:
        product_of(study, f"results/smoke/{path}")
    assert "\n" not in str(caught.value)
