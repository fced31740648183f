"""Files of audits: their keys, the grids they stand for, and errors."""

import re
import shutil
from pathlib import Path

import pytest

from epsilometer.errors import ConfigError
from epsilometer_audit.grids.cases import Audits, Case

ROOT = Path(__file__).parents[2]
FILE = Path("small.yaml")
MECHANISM = "mechanism: own.py:laplace"
GRID = "{epsilon: [0.5, 2], clip: 1}"
PAIR = "{adjacent: [[0, 1], [1, 1]]}"
CLAIM = "[{epsilon: $epsilon}, {renyi"
RENYI = "{2: 0.25, 3.5: $epsilon}"
TABLE = "{remove a row: rows.csv, limit: 3}"
COMMAND = '{command: "sh coin.sh {p}"}'
RECORDED = '{outputs: [x.csv, "y-{epsilon}.csv"]}'
SIZES = "samples: {smoke: 400, paper: 4000}"
DETECT = "{epsilon: 1, delta: 1e-5, detect: 3}"

MISTAKES = [  # old text, new text, the error
    ("alpha: 0.05", "alpha: 1.5", "alpha: .*less than 1, got 1.5"),
    ("alpha: 0.05", "alhpa: 0.05", "alhpa: unknown key; did you mean 'alpha'"),
    (SIZES, "samples: {smok: 9}", "samples.smok: unknown scale; did"),
    (SIZES, "samples: 5", "laplace.samples: must be at least 10 for"),
    ("samples: 3000", "samples: 2000", "vector.samples: must be at least 2001 for 10 pairs"),
    ("\n  laplace:", "\n  la place:", "audits.la place: .*match pattern"),
    ("\n  vector:", "\n  laplace:", "laplace: given twice"),
    (MECHANISM, "mechanism: own.py", "laplace.mechanism: own.py names no function; write file"),
    (MECHANISM, "mechanism: 'own.py:{name}'", "mechanism: unknown parameter 'name' in braces"),
    (MECHANISM, "# none", "laplace.mechanism: is missing"),
    (MECHANISM, f"{MECHANISM}\n    mecanism: b", "laplace.mecanism: unknown key; did you mean"),
    (MECHANISM, "mechanism: {python: ./p}", "mechanism.python: needs function, which is missing"),
    (MECHANISM, "mechanism: {}", "laplace.mechanism: must have function, command, outputs or one"),
    (COMMAND, "{command: a, function: m.py:f}", "mechanism.command: cannot be used with mech"),
    (GRID, "{epsilon: [1, 1.0]}", "laplace.parameters: asks twice for epsilon=1"),
    (PAIR, "{pattern: 5}", "pairs.pattern: unknown key; did you mean 'patterns'"),
    (PAIR, "{remove a row: a.csv, replace a row: b.csv}", "pairs: must name a table: either"),
    (PAIR, "{adjacent: [2020-01-01, 1]}", "pairs.adjacent.0: .*valid JSON"),
    (PAIR, "[{a: [[0], [1]]}, {a: [[0], [1]]}]", "laplace.pairs: names a twice"),
    (CLAIM, "[{detect: 0.1}, {renyi", "claims.0: claim must be one of epsilon, .*zcdp"),
    (CLAIM, "[{epsilon: 1, gdp: 1}, {renyi", "claims.0: gdp cannot be used with epsilon; choose"),
    (CLAIM, "[{renyi: {2: 0.25, 3.5: $epsilon}}, {renyi", "claims.1: is the same as claims.0"),
    (DETECT, "{epsilon: 1, detect: 0.5}", "claims.2: detect must be above the claim, 1"),
    (COMMAND, "{command: ./coin}", "program.parameters: 'p' is used nowhere; write {p} into"),
    ("    pairs: [[0, 1]]", "", "program.pairs: is missing"),
    (
        RECORDED,
        f"{RECORDED}\n    pairs: [[0, 1]]",
        "recorded.pairs: cannot be used with mechanism.outputs",
    ),
    ("audits:\n", "audits: {}\nother:\n", "audits: .*at least 1 item|other: unknown key"),
]


@pytest.fixture(autouse=True)
def _file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests/data/audits/small.yaml", FILE)


def read() -> tuple[Audits, list[Case]]:
    audits = Audits(FILE, "smoke", 1, ["smoke", "paper"])
    return audits, audits.all_cases()


def edit(old: str, new: str) -> None:
    text = FILE.read_text()
    assert text.count(old) == 1, old
    FILE.write_text(text.replace(old, new))


@pytest.mark.parametrize(("old", "new", "message"), MISTAKES)
def test_a_mistake_is_a_line_with_file_and_key(old, new, message):
    edit(old, new)
    with pytest.raises(ConfigError) as caught:
        read()
    lines = str(caught.value).splitlines()
    assert all(line.startswith("small.yaml: ") for line in lines)
    assert any(re.search(message, line) for line in lines), lines
    assert all(len(line) < 300 for line in lines)


def test_the_example_of_the_documentation_is_sound():
    FILE.write_text(
        (ROOT / "docs/many-audits.md").read_text().split("```yaml\n")[1].split("```")[0]
    )
    _, cases = read()
    assert len(cases) == 2 + 2 * 2 + 2 + 1 + 1
    assert sum(len(case.spec["claims"]) for case in cases) == 2 * 3 + 2 * 2 * 2 + 2 + 1 + 1


def test_grids_are_parameters_by_pairs_and_alpha_is_of_all_verdicts():
    audits, cases = read()
    assert [f"{case.entry}/{case.parameters}/{case.pairs}" for case in cases] == [
        "laplace/epsilon=0.5_clip=1/adjacent",
        "laplace/epsilon=2_clip=1/adjacent",
        *("vector/default/near+1", "vector/default/patterns=4", "vector/default/remove-a-row"),
        "program/p=0.25/pair",
        "recorded/epsilon=1/recorded",
    ]
    assert audits.verdicts == sum(len(case.spec["claims"]) for case in cases) == 2 * 3 + 3 * 2 + 2
    assert {case.spec["alpha"] for case in cases} == {0.05 / audits.verdicts}


def test_specs_of_mechanisms():
    _, cases = read()
    specs = {case.entry: case.spec for case in cases}
    assert specs["laplace"]["mechanism"] == {"function": "own.py:laplace"}
    assert specs["laplace"]["given"] == {"epsilon": 2, "clip": 1}
    command = "sh coin.sh 0.25"
    assert specs["program"]["mechanism"] == {"command": command}
    assert (specs["program"]["given"], specs["program"]["arguments"]) == ({}, {"p": 0.25})
    assert specs["recorded"]["mechanism"]["outputs"] == ["x.csv", "y-1.csv"]
    assert specs["recorded"]["pairs"] is None
