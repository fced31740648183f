"""Whatever a user writes, nothing of it is run, and nothing is written where it does not belong."""

import json
import re
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer_workflow.files.printed import PageJob
from epsilometer_workflow.products.checking import checked
from epsilometer_workflow.products.products import Product
from epsilometer_workflow.products.reports import PRODUCT_KINDS
from epsilometer_workflow.stages import page
from tests.products import all_products
from tests.unit.conftest import CONFIG
from tests.unit.stages import COMMON

ROOT = Path(__file__).parents[3]
HOSTILE = {
    "space": "a b",
    "single quote": "a'b",
    "semicolon": "a; touch pwned",
    "newline": "a\ntouch pwned",
    "substitution": "$(touch pwned)",
    "up": "../pwned",
    "absolute": "/etc/pwned",
    "braces": "{config}",
    "html": "<script>alert(1)</script>",
    "null": "a\0b",
    "option": "--help",
}
REPORT = "reports/gorla2022.yaml"


NAMES = {  # that become a part of a path: a key of a file, or, with =, the value of one
    "mechanism": "mechanisms.yaml: laplace",
    "registered mechanism": "mechanisms.yaml: laplace mechanism =",
    "inputs": "mechanisms.yaml: truncated-laplace inputs ends",
    "estimator": "estimators.yaml: mpl-floor=0.001",
    "screen": "estimators.yaml: mpl-floor=0.001 parameters after =",
    "classifier": "estimators.yaml: spectrum-knn parameters classifier =",
    "experiment": f"{REPORT}: experiments safety",
    "sized experiment": f"{REPORT}: scales smoke safety",
    "artifact": f"{REPORT}: artifacts fig4",
    "builder": f"{REPORT}: artifacts fig4 table builder =",
    "renderer": f"{REPORT}: artifacts fig4 figure =",
    "scale": "config.yaml: scale =",
    "defined scale": "config.yaml: scales paper",
}


def edited(place: str, text: str) -> tuple[str, Any]:
    """A file, and its data with a text in a place."""
    file, *keys = re.split(": | ", place)
    data = inner = yaml.safe_load((CONFIG / file).read_text())
    is_value = keys[-1] == "="
    *above, last = keys[:-1] if is_value else keys
    for key in above:
        inner = inner[key]
    if is_value:
        inner[last] = text
    else:
        inner[text] = inner.pop(last)
    return file, data


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_no_command_and_no_way_out(tmp_path, config_folder, name):
    """Each with four of the texts, other ones for the next."""
    first = 4 * list(NAMES).index(name)
    for text in islice(cycle(HOSTILE.values()), first, first + 4):
        file, data = edited(NAMES[name], text)
        (config_folder / file).write_text(json.dumps(data))  # which is YAML
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(ConfigError) as refused:
            checked("config")
        assert sorted(tmp_path.rglob("*")) == before
        assert all(line.startswith("config/") for line in str(refused.value).splitlines())


def test_the_name_of_a_report_is_no_command(config_folder):
    others = config_folder / "reports/others.yaml"  # whose builders are found from anywhere
    main = config_folder / "config.yaml"
    main.write_text(main.read_text().replace("[gorla2022, others]", "[gorla2022]"))
    for text in HOSTILE.values():
        if not {"/", "\0"} & set(text):
            others = others.rename(others.with_stem(text))
            with pytest.raises(ConfigError):
                checked("config")


@pytest.mark.parametrize("file", ["config.yaml", "mechanisms.yaml", REPORT])
def test_yaml_is_data(config_folder, file):
    text = (config_folder / file).read_text()
    tag = 'x: !!python/object/apply:os.system ["touch pwned"]'
    (config_folder / file).write_text(f"{text}\n{tag}\n")
    with pytest.raises(ConfigError, match=f"config/{file}: .*python/object/apply"):
        checked("config")
    assert not Path("pwned").exists()


def refusal(kind: type[Product], study, wildcards: dict[str, str]) -> str | None:
    """Return why there is no such product; nothing if there is one."""
    try:
        kind.from_wildcards(study, wildcards).spec()
    except EpsilometerError as error:
        return str(error)
    return None


@pytest.mark.parametrize("kind", PRODUCT_KINDS, ids=lambda kind: kind.rule)
def test_a_part_of_a_path_is_a_known_name_or_number(study, kind):
    sound = next(p.wildcards for p in all_products(study) if p.rule == kind.rule)
    assert refusal(kind, study, sound) is None
    for key in sound:
        for text in HOSTILE.values():
            message = refusal(kind, study, sound | {key: text})
            assert message, (key, text)
            assert "\n" not in message


def test_a_page_escapes_what_it_shows(tmp_path):
    file = tmp_path / "page.html"
    about = {"report": "mine", "template": "0", "opens": None, "artifacts": []}
    job = PageJob(**COMMON | about, title=HOSTILE["html"])
    nothing = SimpleNamespace(tables=[], figures=[])
    template = str(ROOT / "workflow/report/page.html.j2")
    page.run(nothing, str(file), template, job)
    assert "<script>alert" not in file.read_text()
    assert "&lt;script&gt;" in file.read_text()


def test_no_shell_in_rules_and_no_pickle_in_arrays():
    """What else could run is found by Ruff: pickle, eval, exec, os.system."""
    files = [path for path in ROOT.glob("src/**/*.py") if "allow_pickle=T" in path.read_text()]
    assert not files
    for file in [ROOT / "Snakefile", ROOT / "workflow/Snakefile", *ROOT.glob("*/**/*.smk")]:
        assert not re.search(r"\b(shell|run):", file.read_text()), file
