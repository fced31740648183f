"""The documentation: index, links, examples, commands and their outputs.

Commands have options that exist and take no target for a value; their files and modules exist.
Pages whose outputs are compared, and the dry runs of `tests/workflow/test_readme.py`, run most of
them. Not tried are pip and podman, which need an index of packages and a container engine.
"""

import doctest
import importlib.util
import re
import shutil
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from snakemake.cli import get_argument_parser

from epsilometer import __version__
from epsilometer.estimators import ESTIMATORS
from epsilometer_audit.cli import parser
from epsilometer_audit.cli.main import main
from tests.gallery import PAGES, PICTURES, again, drawn, output
from tests.pages import ROOT, commands, words
from tests.unit.processes import ran

DOCS = sorted((ROOT / "docs").rglob("*.md"))
STUDIES = sorted((ROOT / "studies").rglob("README.md"))
TOP = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def prose(page: Path) -> str:
    return re.sub(r"^ *```.*?```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the names that headings get."""
    heads = re.findall(r"^#+ (.*)", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page", [*DOCS, *STUDIES, *TOP], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_to_files_and_headings(page: Path):
    for address, anchor in LINK.findall(prose(page)):
        target = (page.parent / address).resolve() if address else page
        assert target.is_file(), address
        assert not anchor or anchor in anchors(target), f"{address}#{anchor}"


def test_the_index_lists_every_page():
    folders = [ROOT / "docs/README.md", ROOT / "docs/gallery/README.md"]
    listed = {
        (page.parent / link[0]).resolve() for page in folders for link in LINK.findall(prose(page))
    }
    assert {*DOCS} - {folders[0]} <= listed


def test_the_examples_of_the_functions_are_right():
    failed, tried = doctest.testfile(str(ROOT / "docs/api.md"), module_relative=False)
    assert (failed, tried > 10) == (0, True)


def test_the_changes_of_this_version_have_a_heading():
    assert f"\n## {__version__}\n" in TOP[1].read_text()


def test_the_readmes_estimates_are_what_it_says(capsys):
    code = TOP[0].read_text().split("```python\n")[1].split("```")[0]
    run_code = compile(code, "README.md", "exec")
    printed = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    eval(run_code, {})  # noqa: S307
    assert capsys.readouterr().out.splitlines() == printed


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_registered_estimator_has_a_worked_example(name):
    assert ">>>" in ESTIMATORS.load(name).__doc__


# --- commands -----------------------------------------------------------------------------------

TARGETS = {path.stem for path in (ROOT / "config/reports").glob("*.yaml")} | {
    *re.findall(r"^rule (\w+):", (ROOT / "workflow/main.smk").read_text(), re.MULTILINE)
}


def check_targets(arguments: list[str]) -> None:
    """A target behind an option of several values would be one of these."""
    options = get_argument_parser().parse_args(arguments)
    assert TARGETS & {*arguments} == TARGETS & {*options.targets}


@pytest.mark.parametrize("command", commands("snakemake"))
def test_no_option_of_snakemake_takes_a_target(command: str):
    arguments = words(command)
    check_targets(arguments)
    if any(word.startswith("-") for word in arguments):  # else it is a name in a sentence
        assert {"--cores", "--profile", "-n"} & {*arguments}


@pytest.mark.parametrize("command", commands("make"))
def test_make_has_each_target_and_its_commands_exist(command: str):
    made = ran("make", "-n", *words(command), cwd=ROOT)
    assert made.returncode == 0, made.stderr
    for line in made.stdout.replace("\\\n", " ").splitlines():
        if match := re.search(r"bin/snakemake (.*)", line):
            check_targets(words(f"snakemake {match[1]}"))
        for module in re.findall(r"python3? -m (tests\.[\w.]+|epsilometer_workflow[\w.]+)", line):
            assert importlib.util.find_spec(module), module


@pytest.mark.parametrize("command", commands("epsilometer"))
def test_options_of_ours_exist(command: str, tmp_path, monkeypatch, capsys):
    # its name, or its form
    if len(command.split()) < 3 or "..." in command or "[options]" in command:
        command = " ".join([*command.split()[:2], "--help"])
    name, *arguments = words(command)
    monkeypatch.chdir(tmp_path)
    if "--help" in (name, *arguments):
        assert main([name, *arguments]) == 0
    else:
        options = parser.parsed(name, arguments)
        if name == "audit":
            assert parser.request_of(options)


def test_options_in_sentences_exist():
    known = {word for command in parser.commands() for word in parser.words_of(command)}
    known.add("--help")
    known |= {name for action in get_argument_parser()._actions for name in action.option_strings}
    known |= {"--lf", "--honest", "--growth", "--user", "--slurm-no-requeue"}  # of other programs
    for page in [TOP[0], *DOCS]:
        assert {*re.findall(r"(?<=`)--[a-z][\w-]*", prose(page))} <= known, page


@pytest.mark.parametrize("command", commands("python") + commands("python3") + commands("pytest"))
def test_modules_and_tests_exist(command: str):
    arguments = words(command)
    if "-m" in arguments:
        assert importlib.util.find_spec(arguments[arguments.index("-m") + 1])
    for word in arguments:
        if re.match(r"(tests|docs)/.*\.py$", word):
            assert (ROOT / word).is_file(), word


def test_a_capability_has_a_module_and_a_file_of_tests():
    """The table of docs/architecture.md, of 40 rows at most."""
    _, _, after = (ROOT / "docs/architecture.md").read_text().partition("## What there is\n")
    table, _, _ = after.partition("\n## ")
    package, rows = None, 0
    for line in table.splitlines():
        heading = re.match(r"\| \*\*.*\(`(src/\w+/)`\)", line)
        row = re.match(r"\| .* \| `([\w/]+\.py)` \| `([\w/]+\.py)` \|$", line)
        if heading:
            package = ROOT / heading[1]
        elif row:
            rows += 1
            assert (package / row[1]).is_file(), line
            assert (ROOT / "tests" / row[2]).is_file(), line
    assert rows == table.count("\n| ") - 4, "a row that cannot be read"  # the head, three packages
    assert rows <= 40


def test_the_code_of_each_picture_draws_it():
    names = []
    for name, axes in drawn():
        assert axes.has_data()
        assert axes.get_ylabel()
        assert f"pictures/{name}" in PICTURES.read_text()
        assert (PICTURES.with_suffix("") / name).is_file()
        names.append(name)
        plt.close(axes.figure)
    assert len(set(names)) == 8


# --- outputs; on pages outside the gallery `...` is any lines -------------------------------------

SLOW = {"count", "keys", "pandas", "sparse-vector"}  # seconds of CPU each


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.examples] if page.stem in SLOW else [], id=page.stem)
        for page in PAGES
    ],
)
def test_the_gallery_prints_what_stands_there(page, tmp_path):
    text = page.read_text()
    if "$ cc " in text and shutil.which("cc") is None:
        pytest.skip("needs a C compiler")
    assert again(page, tmp_path) == text, "run `python -m tests.gallery`"


FOLDERS = {"audit": ".", "ci": ".", "explain": ".", "training": "docs/examples/training"}


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("page", FOLDERS)
def test_commands_print_what_the_page_shows(page: str, tmp_path: Path):
    text = (ROOT / f"docs/{page}.md").read_text()
    blocks = re.findall("```console\n\\$ (.*?)\n(.*?)```", text, re.DOTALL)
    assert blocks
    shutil.copytree(ROOT / "docs/examples", tmp_path / "docs/examples")
    (tmp_path / "survey.py").write_text("def word(x): ...")  # which audit.md takes for granted
    for title, module in re.findall('```python title="(.*?)"\n(.*?)```', text, re.DOTALL):
        (tmp_path / title).write_text(module)
    for command, shown in blocks:
        pattern = re.escape(shown).replace(re.escape("  ...\n"), "(?:.*\n)*")
        errors = page == "audit"  # elsewhere it is progress
        printed = output(command, tmp_path / FOLDERS[page], errors)
        assert re.fullmatch(pattern, printed), printed
