"""Files of audits: their keys, and the requests of their cases."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import epsilometer_audit as ea
from epsilometer.errors import ConfigError
from epsilometer_audit.cli.cases import AuditsFile, Case
from epsilometer_audit.question.request import NamedMechanism
from tests.pages import ROOT

FILE = Path("small.yaml")
MECHANISM = "mechanism: {function: own.py:laplace, parameters: {epsilon: 0.5, clip: 1}}"
PAIR = "{adjacent: [[0, 1], [1, 1]]}"
CLAIM = "claim: {renyi: {2: 0.25, 3.5: 0.5}}"
COMMAND = "{command: sh coin.sh 0.25}"


@pytest.fixture(autouse=True)
def _small(tmp_path, monkeypatch):
    """A folder of one's own, with a file of audits."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests/data/audits/small.yaml", FILE)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("alpha: 0.05", "alpha: 1.5", "alpha: .*less than 1, got 1.5"),
        ("alpha: 0.05", "alhpa: 0.05", "alhpa: unknown key; did you mean 'alpha'"),
        ("samples: 3000", "samples: 1700", "vector.samples: must be at least 1801 for 9 pairs"),
        ("samples: 3000", "stop: 1", "vector.stop: must be a valid boolean"),
        ("\n  laplace:", "\n  la place:", "la place: must begin with a letter .* 'la_place'"),
        ("\n  vector:", "\n  laplace:", "laplace: given twice"),
        (MECHANISM, "mechanism: own.py", "mechanism.function: 'own.py' is no source; write file"),
        (MECHANISM, "# none", "laplace.mechanism: is missing"),
        (MECHANISM, "mechanism: {}", "is missing; write function or command or outputs"),
        (MECHANISM, "mechanism: {fucntion: a}", "fucntion: unknown key; did you mean 'func"),
        (COMMAND, "{command: a, function: m.py:f}", "mechanism.command: cannot be used with func"),
        (COMMAND, "{environment: e, command: a}", "mechanism.environment: "),
        (PAIR, "{domian: {}}", "pairs.domian: unknown key; did you mean 'domain'"),
        (PAIR, "{adjacent: [2020-01-01, 1]}", "pairs.adjacent.0: .*valid JSON"),
        (CLAIM, "claim: {}", "laplace.claim: is missing; write epsilon or .*zcdp"),
        (CLAIM, "claim: {gdp: -1}", "laplace.claim.gdp: mu must be positive"),
        ("    pairs: [[0, 1]]\n", "", "program.pairs: must be given"),
        ("audits:\n", "audits: {}\nother:\n", "audits: .*at least 1 item|other: unknown key"),
    ],
)
def test_a_mistake_is_a_line_with_file_and_key(old, new, message):
    text = FILE.read_text()
    assert text.count(old) == 1, old
    FILE.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        AuditsFile(FILE)
    lines = str(caught.value).splitlines()
    assert all(line.startswith("small.yaml: ") for line in lines)
    assert any(re.search(message, line) for line in lines), lines
    assert all(len(line) < 300 for line in lines)


def test_the_example_of_the_documentation_is_sound():
    page = (ROOT / "docs/many-audits.md").read_text()
    FILE.write_text(page.split("```yaml\n")[1].split("```")[0])
    assert len(AuditsFile(FILE).cases) == 6


def test_a_case_is_a_request_with_its_share_of_alpha():
    cases = AuditsFile(FILE).cases
    assert [*cases] == ["laplace", "vector", "program", "recorded"]
    requests = [case.request() for case in cases.values()]
    assert {request.alpha for request in requests} == {0.05 / 4}
    assert [request.samples for request in requests] == [400, 3000, 400, None]
    laplace, _, program, recorded = requests
    parameters = {"epsilon": 0.5, "clip": 1}
    assert laplace.mechanism == NamedMechanism(function="own.py:laplace", parameters=parameters)
    assert laplace.claim == ea.renyi({2: 0.25, 3.5: 0.5})
    assert program.detect == 3
    assert recorded.mechanism.files == ("x.csv", "y.csv")


def test_each_case_has_a_seed_of_its_own():
    cases = [*AuditsFile(FILE, 1).cases.values(), *AuditsFile(FILE, 2).cases.values()]
    assert len({case.seed for case in cases}) == 2 * 4


@pytest.mark.parametrize("name", ["laplace", "vector", "program", "recorded"])
def test_a_case_is_the_same_after_it_was_written(name):
    case = AuditsFile(FILE).cases[name]
    again = Case.of_plain(json.loads(json.dumps(case.to_plain()))).request()
    assert again.pairs == case.request().pairs
    assert replace(again, pairs=case.request().pairs) == case.request()
