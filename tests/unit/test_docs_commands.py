"""The commands of the pages: options exist and take no target for a value, files and modules exist.

Pages whose outputs are compared, and the dry runs of `tests/workflow/test_readme.py`, run most of
them. Not tried are pip and podman, which need an index of packages and a container engine.
"""

import importlib.util
import re

import pytest
from snakemake.cli import get_argument_parser

from epsilometer_audit.cli.arguments import check_options, parsed
from epsilometer_audit.cli.main import main
from tests.commands import ROOT, commands, words
from tests.unit.processes import ran

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


def test_a_target_that_an_option_takes_is_seen():
    with pytest.raises(AssertionError):
        check_targets(["--cores", "2", "--forcerun", "sample", "all"])


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
    short = len(command.split()) < 3 + (" new " in command)
    if short or "..." in command or "[options]" in command:  # its name, or its form
        command = " ".join([*command.split()[:2], "--help"])
    name, *arguments = words(command)
    monkeypatch.chdir(tmp_path)
    if "--help" in (name, *arguments) or name == "new":
        assert main([name, *arguments]) == 0
    else:
        most = {"audit": 1, "audits": 100}
        options, rest = parsed(name, arguments, most.get(name, 0))
        if name == "audit":
            options |= {"source": rest[0]} if rest else {}
            check_options(options, of_audit=True)


@pytest.mark.parametrize("command", commands("python") + commands("python3") + commands("pytest"))
def test_modules_and_tests_exist(command: str):
    arguments = words(command)
    if "-m" in arguments:
        assert importlib.util.find_spec(arguments[arguments.index("-m") + 1])
    for word in arguments:
        if re.match(r"(tests|docs)/.*\.py$", word):
            assert (ROOT / word).is_file(), word
