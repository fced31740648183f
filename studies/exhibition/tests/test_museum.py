"""The museum: locks, environments by name, the texts of exhibits, and the page."""

import json
import platform
import re
import shutil
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from tests.unit.conftest import CONFIG

from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer_audit.answer.verdict import Verdict
from epsilometer_workflow.files.storage import read_columns, write_columns
from exhibition import audit, collection, environment, exhibit
from exhibition.collection import is_as_expected, lines, rows_made, spec_of, wanted
from exhibition.locks import Lock, find_lock
from exhibition.products import AuditJobs, AuditStudy, Environment, made_of

FILE = Path("config/audits/museum-tiny.yaml")
LOCKS = FILE.parent / "envs"
STUDIES = Path(__file__).parents[2]
TINY = Path(__file__).parent / "tiny"


@pytest.fixture
def config_folder(tmp_path, monkeypatch):
    """A museum in miniature, alone in the working directory."""
    folder = tmp_path / "project/config"
    shutil.copytree(TINY, folder / "audits")
    (folder / "audits/tiny.yaml").rename(folder / "audits/museum-tiny.yaml")
    shutil.copy(CONFIG / "config.yaml", folder)
    text = (folder / "config.yaml").read_text()
    (folder / "config.yaml").write_text(re.sub("(?m)^reports:.*$", "", text))
    monkeypatch.chdir(folder.parent)
    return folder


@pytest.fixture
def study(config_folder):
    return AuditStudy()


def all_of_the_museum(study):
    audits = wanted(study, "museum", None)
    return [
        *audits,
        *{need.path: need for a in audits for need in a.needs()["environment"]}.values(),
    ]


def verdicts_of(file, spec, made_of):
    return [
        json.loads(t) for t in read_columns(file, "verdict", {**spec, "made_of": made_of})["json"]
    ]


def edited(old: str, new: str, file: Path = FILE) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_the_docs_name_every_exhibit():
    rows = (
        (STUDIES / "museum/README.md")
        .read_text()
        .partition("## The exhibits")[2]
        .partition("##")[0]
    )
    documented = {}
    for line in rows.splitlines():
        cells = [cell.strip(" `") for cell in line.strip("|").split("|")]
        if line.startswith("| `"):
            documented[cells[0]] = cells[-1]
    files = sorted((STUDIES / "museum/config/audits").glob("*.yaml"))
    exhibits = {}
    for file in files:
        exhibits |= yaml.safe_load(file.read_text())["audits"]
    used = set()
    for name, case in exhibits.items():
        row = max((row for row in documented if fnmatchcase(name, row)), key=len)
        assert documented[row] == case["expected"], name
        used.add(row)
    assert used == {*documented}


# --- locks ----------------------------------------------------------------------------------------


def lock_of(text: str) -> Lock:
    Path("locks").mkdir(exist_ok=True)
    Path("locks/one.txt").write_text(text)
    return find_lock("one", [Path("nowhere"), Path("locks")])


def test_a_lock_is_compared_by_its_statements(config_folder):
    lock = lock_of("# why\nnumpy==1.26.4   \\\n    --hash=sha256:ab --hash=sha256:cd # here\n\n")
    assert lock.statements == ("numpy==1.26.4 --hash=sha256:ab --hash=sha256:cd",)
    same = lock_of("numpy==1.26.4 --hash=sha256:ab --hash=sha256:cd")
    other = lock_of("numpy==1.26.3 --hash=sha256:ab --hash=sha256:cd")
    assert lock.key == same.key != other.key
    assert lock.key.startswith("one~")


def test_all_that_a_lock_of_the_museum_names_has_its_hashes():
    folder = STUDIES / "exhibition/locks"
    for path in folder.glob("*.txt"):
        named = find_lock(path.stem, [folder]).statements
        assert named, path.stem
        assert [
            requirement for requirement in named if " --hash=sha256:" not in requirement
        ] == [], path.stem


@pytest.mark.parametrize(
    "statement",
    [
        "opendp==0.11.1",
        "tmlt.core==0.20.0",
        "a[b, c]==1.0+cpu ; python_version < '3.12' --hash=sha256:aa",
        "--only-binary :all:",
        "--no-index",
        "--extra-index-url=https://example.org",
    ],
)
def test_a_lock_takes(config_folder, statement):
    assert lock_of(statement).statements == (statement,)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("numpy", "numpy: is not pinned; write name==version"),
        ("numpy>=1.26", "is not pinned"),
        ("numpy==1.*", "is not pinned"),
        ("numpy==1.26,==1.27", "is not pinned"),
        ("numpy @ https://example.org/numpy.whl", "is not pinned"),
        ("./numpy.whl", "is not pinned"),
        ("$(touch pwned)==1", "is not pinned"),
        ("-r other.txt", "-r: is not supported"),
        ("--only-binry :all:", "--only-binry: is not supported; did you mean '--only-binary'"),
        ("--target=/", "--target: is not supported"),
    ],
)
def test_a_lock_does_not_take(config_folder, statement, message):
    with pytest.raises(ConfigError) as error:
        lock_of(f"pip==1\n{statement}\n")
    assert str(error.value).startswith("locks/one.txt: ")
    assert message in str(error.value)


def test_a_lock_beside_the_file_comes_before_the_projects(config_folder):
    edited("nothing, function", "own, function")
    with pytest.raises(ConfigError, match=r"right.mechanism.environment: unknown env.* 'own'"):
        AuditStudy()
    project = Path("envs/own.txt")
    project.parent.mkdir(parents=True)
    project.write_text("pip==1\n")
    assert lock_in(AuditStudy(), "own").statements == ("pip==1",)
    (LOCKS / "own.txt").write_text("pip==2\n")
    assert lock_in(AuditStudy(), "own").statements == ("pip==2",)


def lock_in(study, name: str) -> Lock:
    file = study.audits["museum-tiny"]
    locks = (study.lock_of(file, case) for case in file.cases.values())
    (match,) = {lock for lock in locks if lock.name == name}
    return match


# --- the text of an exhibit -----------------------------------------------------------------------


def exhibits(study) -> list[str]:
    return [audit.name for audit in wanted(study, "museum", None)]


def test_exhibits_come_before_controls(study):
    """The file has the control first."""
    assert exhibits(study) == ["never-flips", "never-flips-elsewhere", "right"]


def test_the_description_of_an_exhibit(study):
    members = {
        Path(member["path"]).stem: member for member in spec_of(study, "museum", None)["members"]
    }
    about = members["never-flips"]["about"]
    assert about == {
        "package": "Bits",
        "version": "1.0",
        "feature": None,
        "relation": None,
        "fault": "<b>never</b> flips",
        "source": "https://example.org/1",
    }
    assert members["never-flips"]["expected"] == "violated"
    assert members["right"]["about"]["source"] is None
    assert members["right"]["path"] == "results/smoke/audits/museum-tiny/right.parquet"


def test_audits_need_their_environment_which_all_scales_share(config_folder):
    environments = {}
    for scale in ("smoke", "paper"):
        study = AuditStudy("config", {"scale": scale})
        environments[scale] = [p for p in all_of_the_museum(study) if p.rule == "environment"]
        keys = {p.environment for p in environments[scale]}
        for case in (p for p in all_of_the_museum(study) if p.rule == "audit"):
            (needed,) = case.needs()["environment"]
            assert needed.environment in keys
            assert needed.environment.startswith(f"{case.case.mechanism.environment}~")
    assert [p.path for p in environments["smoke"]] == [p.path for p in environments["paper"]]
    assert [p.spec() for p in environments["smoke"]] == [p.spec() for p in environments["paper"]]
    assert len(environments["smoke"]) == 2
    assert environments["smoke"][0].spec()["python"] == platform.python_version()


def test_another_lock_is_another_audit_and_a_comment_is_not(config_folder):
    def audits() -> dict[str, str]:
        made_of.cache_clear()
        study = AuditStudy()
        products = [p for p in all_of_the_museum(study) if p.rule == "audit"]
        return {
            p.name: json.dumps(
                [p.spec(), p.made_of(), AuditJobs(study).needs("audit", "environment")(p.wildcards)]
            )
            for p in products
        }

    before = audits()
    edited("Python 3.11", "any Python", LOCKS / "nothing.txt")
    assert audits() == before
    edited("==1.0", "==1.1", LOCKS / "no-such-wheel.txt")
    after = audits()
    assert {name for name in before if before[name] != after[name]} == {"never-flips-elsewhere"}
    with (FILE.parent / "exhibits.py").open("a") as file:
        file.write("X = 1\n")
    assert not set(audits().values()) & set(after.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("environment: no-such-wh", "environment: no-such", "unknown environment 'no-suche"),
        ("environment: no-such-wheel", "environment: ../../x", "unknown environment '../../x'"),
        ("environment: no-such-wheel", "enviroment: nothing", "enviroment: unknown key; did you"),
        ('version: "2.0"', "version: 2.0", "about.version: .*string, got 2.0"),
        ("package: numbers", "pakage: a", "about.pakage: unknown key; did you mean 'package'"),
        ("expected: not refuted", "expected: fine", "expected: .*'violated' or 'not refuted', got"),
        ('exhibits.py:respond", parameters: {keep: 0.7}', 'exhibits.py"', "is no source"),
    ],
)
def test_a_mistake_is_a_line_with_file_and_key(config_folder, old, new, message):
    edited(old, new)
    with pytest.raises(
        ConfigError, match=rf"(?m)^config/audits/museum-tiny.yaml: audits.*{message}"
    ):
        AuditStudy()


def test_exhibits_have_names_of_their_own(study):
    (FILE.parent / "museum-zoo.yaml").write_text(FILE.read_text())
    with pytest.raises(ConfigError, match=r"zoo.yaml: audits.right: is also in .*tiny.yaml"):
        wanted(AuditStudy(), "museum", None)


def test_exhibits_can_be_selected(study):
    chosen = wanted(study, "museum", ["right"])
    assert [audit.name for audit in chosen] == ["right"]
    assert len(wanted(study, "museum", ["never-*"])) == 2
    assert {v.spec()["alpha"] for v in chosen} == {0.01 / 3}  # of the file, whatever is selected
    with pytest.raises(ConfigError, match="museum: unknown 'rihgt'; did you mean 'right'"):
        wanted(study, "museum", ["rihgt"])


@pytest.mark.parametrize("name", ["nothing~0", "../up", "nothing"])
def test_an_unknown_environment_is_an_error(study, name):
    with pytest.raises(EpsilometerError, match="unknown environment"):
        Environment.from_wildcards(study, {"environment": name})


def test_the_example_of_the_documentation_is_sound(config_folder):
    FILE.write_text(
        (STUDIES / "museum/README.md").read_text().split("```yaml\n")[1].split("```")[0]
    )
    for version in ("0.14.2", "0.15.1"):
        (LOCKS / f"opendp-{version}.txt").write_text(f"opendp=={version}\n")
    assert exhibits(AuditStudy()) == ["last-bit", "last-bit-fixed"]


# --- the museum itself ----------------------------------------------------------------------------

OURS = sorted(STUDIES.glob("museum/config/audits/*.yaml"))


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_every_exhibit_has_a_description(file):
    for name, entry in yaml.safe_load(file.read_text())["audits"].items():
        assert entry["expected"] in ("violated", "not refuted"), name
        assert {"package", "version", "fault"} <= set(entry["about"]), name


# --- environments ---------------------------------------------------------------------------------


def installed(folder: Path, *requirements: str) -> dict:
    folder.mkdir(exist_ok=True)
    output = folder / "environment.json"
    notes = folder / "notes"
    environment.run(str(output), {"requirements": requirements}, notes, print)
    return json.loads(output.read_text()) | {"notes": notes.read_text() if notes.exists() else ""}


def test_an_environment_holds_only_the_packages_of_its_lock(tmp_path):
    (tmp_path / "venv/lib").mkdir(parents=True)
    (tmp_path / "venv/lib/half").touch()
    answer = installed(tmp_path)
    assert answer["packages"] == {}
    assert answer["problem"] is None
    assert Path(answer["python"]).is_file()
    assert not (tmp_path / "venv/lib/half").exists()


def test_a_package_that_no_index_has_is_an_answer(tmp_path):
    answer = installed(tmp_path, "--no-index", "there-is-no-such-package==1.0")
    assert answer["python"] is None
    assert "No matching distribution found for there-is-no-such-package==1.0" in answer["problem"]
    assert not answer["notes"]  # is so the next time, too
    assert not (tmp_path / "venv").exists()


def test_a_network_that_is_not_there_is_tried_again(tmp_path, monkeypatch):
    text = "WARNING: Retrying (Retry(total=0)) after NewConnectionError\nERROR: No matching x\n"
    monkeypatch.setattr(environment, "_make", lambda *_: text)
    answer = installed(tmp_path)
    assert answer["problem"].startswith("No matching x: the network or the disk failed")
    assert answer["notes"] == f"{answer['problem']}\n"


def test_packages_are_listed_with_their_versions(tmp_path):
    place = tmp_path / "lib/python3.11/site-packages/one-1.5.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: one\nVersion: 1.5\n")
    assert environment.installed(tmp_path) == {"one": "1.5"}


def test_a_missing_environment_is_no_failure_of_the_mechanism(study, tmp_path):
    place = tmp_path / "environment.json"
    environment.write_failure(str(place), "no wheel")
    spec = next(p for p in all_of_the_museum(study) if p.rule == "audit").spec()
    file, page = str(tmp_path / "case.parquet"), str(tmp_path / "case.html")
    audit.run(file, page, spec, "", str(tmp_path), "again", print, str(place))
    (answer,) = verdicts_of(file, spec, "")
    assert (answer["verdict"], answer["reasons"]) == ("missing", ["no wheel"])


# --- the table and the page -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "expected", "answer"),
    [
        ("violated", "violated", "yes"),
        ("not refuted", "violated", "no"),
        ("failed", "violated", "no"),
        ("violated", "not refuted", "no"),
        ("not refuted", "not refuted", "yes"),
        ("undecided", "not refuted", "no"),
        ("missing", "violated", None),
        ("violated", None, None),
    ],
)
def test_verdicts_as_expected(word, expected, answer):
    assert exhibit.as_expected(word, expected) == answer


@pytest.mark.parametrize(
    ("words", "verdicts", "answer"),
    [
        (["yes", "yes"], ["violated", "not refuted"], True),
        (["yes", ""], ["violated", "missing"], True),
        (["yes", "no"], ["violated", "violated"], False),
        (["", ""], ["violated", "not refuted"], True),  # a census without controls
        (["", ""], ["missing", "left out"], False),  # nothing could be installed
    ],
)
def test_a_collection_is_as_expected_with_a_verdict_and_no_other(tmp_path, words, verdicts, answer):
    table = pd.DataFrame({"fault": "no", "as_expected": words, "verdict": verdicts})
    table.to_csv(tmp_path / "museum.csv", index=False)
    assert is_as_expected(tmp_path / "museum.csv") == answer


def verdict(word: str, bound: float | None, reasons=()) -> dict:
    witness = {"event": "output is 1", "count": 9, "draws": 10, "count_prime": 0, "draws_prime": 10}
    claim = {"epsilon": 1.0, "delta": 0.0}
    result = Verdict(word, claim, "epsilon = 1", 0.01, "anytime", reasons=list(reasons))
    return result.to_plain() | {
        **{"bound": bound, "bounds": [{"lower": bound, "quantity": "epsilon", "claimed": 1.0}]},
        **{"witness": witness if bound else None, "seconds": 1.5},
    }


def shown(spec, answers) -> SimpleNamespace:
    """Write verdicts, and the table and the page of their collection; return these files."""
    files = []
    for member, answer in zip(spec["members"], answers, strict=True):
        files.append(member["path"])
        write_columns({"json": [json.dumps(answer)]}, member["path"], "verdict", member["identity"])
    base = f"results/smoke/{spec['collection']}"
    outputs = SimpleNamespace(csv=f"{base}.csv", parquet=f"{base}.parquet", page=f"{base}.html")
    template = TINY.parents[1] / "page.html.j2"
    exhibit.run(files, outputs, str(template), spec)
    return outputs


def test_the_table_and_the_page(config_folder):
    study = AuditStudy()
    spec = spec_of(study, "museum", None)
    answers = [
        verdict("not refuted", 0.2),
        verdict("missing", None, ["no wheel"]),
        verdict("violated", 4.25),
    ]
    outputs = shown(spec, answers)
    table = pd.read_csv(outputs.csv)
    assert list(table)[:7] == [*exhibit._ABOUT["museum"], *exhibit._NEXT]
    assert table["package"].tolist() == ["Bits", "Bits", "numbers"]
    assert table["verdict"].tolist() == ["not refuted", "missing", "violated"]
    assert table["as_expected"].fillna("").tolist() == ["no", "", "no"]
    assert table["finding"].fillna("").tolist() == [
        "epsilon is at least 0.2",
        "",
        "epsilon is at least 4.25",
    ]
    assert table["seconds"].tolist() == [1.5] * 3
    assert len(pd.read_parquet(outputs.parquet)) == 3
    page = Path(outputs.page).read_text()
    assert page.index("<h2>Exhibits") < page.index("no wheel") < page.index("<h2>Controls")
    assert "Others" not in page
    assert '<a href="https://example.org/1">&lt;b&gt;never&lt;/b&gt; flips</a>' in page
    assert page.count('<tr class="no">') == 2
    assert 'href="audits/museum-tiny/right.html"' in page
    assert "0 verdicts are as expected, 2 are not,\n1 is missing." in page
    assert not is_as_expected(Path(outputs.csv))
    assert lines("museum", outputs.csv) == [
        "  museum: 0 of 3 as expected, 2 not, 1 missing: results/smoke/museum.html",
        "    not refuted (violated was expected): never-flips, keep = 1.0: epsilon = 1: "
        "epsilon is at least 0.2",
        "    missing: never-flips-elsewhere, keep = 1.0: epsilon = 1: no wheel",
        "    violated (not refuted was expected): right, keep = 0.7: epsilon = 1: "
        "epsilon is at least 4.25",
    ]


# --- the census -----------------------------------------------------------------------------------

COUNTED = """
audits:
  noise:
    mechanism: counts.py:noisy
    pairs: {adjacent: [0, 1]}
    claim: {epsilon: 1}
    about: {package: Counts, version: "2.0", feature: noisy, relation: add, source: "%s"}
"""


@pytest.fixture
def census(config_folder):
    """Return a configuration with two libraries in its census."""
    folder = Path("config/audits")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "counts.py").write_text("def noisy(x):\n    return x\n")
    for name in ("one", "two"):
        (folder / f"census-{name}.yaml").write_text(COUNTED % f"https://example.org/{name}")
    return folder


def census_of(folder, names=None):
    study = AuditStudy()
    return [(audit.audits, audit.name) for audit in wanted(study, "census", names)]


def test_the_census_is_of_files_and_parts_of_them(census):
    first, second = ("census-one", "noise"), ("census-two", "noise")
    assert census_of(census) == [first, second]
    assert census_of(census, ["one"]) == [first]
    assert census_of(census, ["two/no*"]) == [second]
    with (census / "census-two.yaml").open("a") as file:
        file.write("left out: {quick: slow}\n")
    study = AuditStudy()
    assert len(collection.left_out(study, "census", None)) == 1
    assert collection.left_out(study, "census", ["two/no*"]) == []
    for wrong, near in (("tow", "two"), ("two/nois", "two/noise")):
        with pytest.raises(ConfigError, match=f"census: unknown '{wrong}'; did you mean '{near}'"):
            census_of(census, [wrong])


def test_the_table_and_the_page_of_the_census(census):
    with (census / "census-two.yaml").open("a") as file:
        file.write("left out: {quick: <needs Spark>}\n")
    spec = spec_of(AuditStudy(), "census", None)
    answers = [verdict("not refuted", 0.2), verdict("violated", 4.25)]
    outputs = shown(spec, answers)
    table = pd.read_csv(outputs.csv)
    assert list(table)[:4] == ["package", "version", "relation", "feature"]
    page = Path(outputs.page).read_text()
    assert "1 public features of libraries: 1 violated, 1 not refuted" in page
    assert '<a href="https://example.org/two">noisy</a>' in page  # the worst case of the feature
    assert '<a href="https://example.org/one">noisy</a>' not in page
    assert (
        page.index("1 more") < page.index("audits/census-one/noise") < page.index("&lt;needs Spark")
    )
    (line, bad) = lines("census", outputs.csv)
    assert line == (
        f"  census: 2 constructs, 1 not refuted, 1 violated, 1 left out: {outputs.page}"
    )
    assert "epsilon is at least 4.25" in bad


def test_a_census_says_which_verdicts_changed(census):
    spec = spec_of(AuditStudy(), "census", None)
    table = shown(spec, [verdict("not refuted", 0.2)] * 2).csv
    before = rows_made(table)
    assert len(lines("census", table, before)) == 1
    spec["members"][1]["about"]["version"] = "3.0"
    shown(spec, [verdict("not refuted", 0.2), verdict("violated", 4.25)])
    line = lines("census", table, before)[-1]
    assert line == (
        "    was not refuted (Counts 2.0), now (3.0) violated: noise: epsilon = 1: "
        "epsilon is at least 4.25"
    )
