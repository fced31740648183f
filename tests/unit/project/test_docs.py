"""The documentation: index, links, examples, commands and their outputs.

Commands have options that exist and take no target for a value; their files and modules exist.
Pages whose outputs are compared, and the dry runs of `tests/workflow/test_readme.py`, run most of
them. Not tried are pip and podman, which need an index of packages and a container engine.
"""

import doctest
import importlib.util
import re
import shutil

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


def prose(page):
    return re.sub(r"^ *```.*?```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return the names that headings get."""
    heads = re.findall(r"^#+ (.*)", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize(
    "page", [*DOCS, *STUDIES, *TOP], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_to_files_and_headings(page):
    for address, anchor in LINK.findall(prose(page)):
        target = (page.parent / address).resolve() if address else page
        assert target.is_file(), address
        assert not anchor or anchor in anchors(target), f"{address}#{anchor}"


def test_the_index_lists_every_page():
    index = ROOT / "docs/README.md"
    listed = {index}
    for page in (index, ROOT / "docs/gallery/README.md"):
        listed |= {(page.parent / address).resolve() for address, _ in LINK.findall(prose(page))}
    assert {*DOCS} <= listed


def test_the_examples_of_the_functions_are_right():
    failed, tried = doctest.testfile(str(ROOT / "docs/api.md"), module_relative=False)
    assert (failed, tried > 10) == (0, True)


def test_the_changes_of_this_version_have_a_heading():
    assert f"\n## {__version__}\n" in TOP[1].read_text()


def test_the_readmes_estimates_are_what_it_says(capsys):
    code = TOP[0].read_text().split("```python\n")[1].split("```")[0]
    exec(code, {})  # noqa: S102
    assert capsys.readouterr().out.splitlines() == re.findall("^# (.*)", code, re.MULTILINE)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_registered_estimator_has_a_worked_example(name):
    assert ">>>" in ESTIMATORS.load(name).__doc__


# --- commands -----------------------------------------------------------------------------------

TARGETS = {path.stem for path in (ROOT / "config/reports").glob("*.yaml")}
TARGETS |= {*re.findall(r"^rule (\w+):", (ROOT / "workflow/main.smk").read_text(), re.MULTILINE)}


def check_targets(arguments):
    """A target behind an option of several values would be one of these."""
    options = get_argument_parser().parse_args(arguments)
    assert TARGETS & {*arguments} == TARGETS & {*options.targets}


@pytest.mark.parametrize("command", commands("snakemake"))
def test_no_option_of_snakemake_takes_a_target(command):
    arguments = words(command)
    check_targets(arguments)
    if any(word.startswith("-") for word in arguments):  # else it is a name in a sentence
        assert {"--cores", "--profile", "-n"} & {*arguments}


@pytest.mark.parametrize("command", commands("make"))
def test_make_has_each_target_and_its_commands_exist(command):
    made = ran("make", "-n", *words(command), cwd=ROOT)
    assert made.returncode == 0, made.stderr
    lines = made.stdout.replace("\\\n", " ")
    for arguments in re.findall(r"bin/(snakemake .*)", lines):
        check_targets(words(arguments))
    for module in re.findall(r"python3? -m (tests\.[\w.]+|epsilometer_workflow[\w.]+)", lines):
        assert importlib.util.find_spec(module), module


@pytest.mark.parametrize("command", commands("epsilometer"))
def test_options_of_ours_exist(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if len(command.split()) < 3 or "..." in command or "[options]" in command:  # a name or a form
        command = " ".join([*command.split()[:2], "--help"])
    name, *arguments = words(command)
    if "--help" in (name, *arguments):
        assert main([name, *arguments]) == 0
    else:
        options = parser.parsed(name, arguments)
        assert name != "audit" or parser.request_of(options)


def test_options_in_sentences_exist():
    known = {"--help"}
    for command in parser.commands():
        known.update(parser.words_of(command))
    for action in get_argument_parser()._actions:
        known.update(action.option_strings)
    known |= {"--lf", "--honest", "--growth", "--user", "--slurm-no-requeue"}  # of other programs
    for page in [TOP[0], *DOCS]:
        assert {*re.findall(r"(?<=`)--[a-z][\w-]*", prose(page))} <= known, page


@pytest.mark.parametrize("command", commands("python") + commands("python3") + commands("pytest"))
def test_modules_and_tests_exist(command):
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
    _, *parts = re.split(r"^\| \*\*.*\(`(src/\w+/)`\).*\n", table, flags=re.MULTILINE)
    rows = 0
    for package, part in zip(parts[::2], parts[1::2], strict=True):
        for line in re.findall(r"^\| .*", part, re.MULTILINE):
            row = re.match(r"\| .* \| `([\w/]+\.py)` \| `([\w/]+\.py)` \|$", line)
            assert (ROOT / package / row[1]).is_file(), line
            assert (ROOT / "tests" / row[2]).is_file(), line
            rows += 1
    assert rows <= 40


def test_the_code_of_each_picture_draws_it():
    names = set()
    for name, axes in drawn():
        assert axes.has_data()
        assert axes.get_ylabel()
        assert f"pictures/{name}" in PICTURES.read_text()
        assert (PICTURES.with_suffix("") / name).is_file()
        names.add(name)
        plt.close(axes.figure)
    assert len(names) == 8


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
def test_commands_print_what_the_page_shows(page, tmp_path):
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
