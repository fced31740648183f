"""The tables of `make mutants` name places of today's code."""

import csv
from pathlib import Path

from tests.mutants.own import own_faults

EQUIVALENT = Path("tests/mutants/equivalent.csv")


def test_a_fault_that_people_thought_of_has_one_place():
    for fault in own_faults():
        assert fault.changed() != Path(fault.module).read_text(), fault


def test_a_fault_that_changes_no_answer_is_of_a_line_that_is_there():
    for row in csv.DictReader(EQUIVALENT.read_text().splitlines()):
        lines = Path(row["module"]).read_text().splitlines()
        assert row["text"] in map(str.strip, lines), row
