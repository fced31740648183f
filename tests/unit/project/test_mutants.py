"""The tables of `make mutants` name places and tests of today's code."""

import csv
from pathlib import Path

import pytest

from tests.mutants import subjects
from tests.mutants.own import own_faults
from tests.pages import ROOT

EQUIVALENT = ROOT / "tests/mutants/equivalent.csv"
FILES = sorted((ROOT / "src").rglob("[a-z]*.py"))
MODULES = [path.relative_to(ROOT).as_posix() for path in FILES]
NO_PROMISE = {"src/epsilometer_workflow/reports/style.py"}  # how figures look


def test_a_fault_that_people_thought_of_has_one_place():
    for fault in own_faults():
        assert fault.changed() != Path(fault.module).read_text(), fault


def test_a_fault_that_changes_no_answer_is_of_a_line_that_is_there():
    for row in csv.DictReader(EQUIVALENT.read_text().splitlines()):
        lines = Path(row["module"]).read_text().splitlines()
        assert row["text"] in map(str.strip, lines), row


@pytest.mark.parametrize("pattern", subjects.SUBJECTS)
def test_a_pattern_of_studied_modules_fits_some_and_names_tests_that_exist(pattern):
    fitting = [module for module in MODULES if Path(module).match(pattern)]
    assert fitting
    for file in subjects.SUBJECTS[pattern]:
        assert (ROOT / "tests" / file).is_file(), file
    for module in {*fitting} - NO_PROMISE:
        assert subjects.tests_of(module), module
