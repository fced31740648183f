"""A job imports the modules it calls, and no more: each import costs every job of its rule.

To add one, write its name here, with the seconds that it costs in mind: SciPy's special functions
0.1, pandas 0.3, Numba 0.4, scikit-learn 0.8, Matplotlib 0.4.
Entry points import even less: pytest loads its plugin wherever the package is installed.
"""

from pathlib import Path

import pytest
import snakemake

from tests.architecture import PAGE, boxes, picture, reachable, split
from tests.unit.loading import EVERY_STAGE, loaded_by, printed

WATCHED = {
    *("numpy", "scipy", "scipy.special", "scipy.stats", "numba", "pandas", "pyarrow", "sklearn"),
    *("matplotlib", "seaborn", "jinja2", "pydantic", "yaml", "snakemake"),
}
ALL = {"numpy", "pyarrow"}  # of any job that reads or writes a file of numbers
MORE = {
    "page": {"jinja2", "pandas", "pydantic"},
    **{stage: {"pandas", "pydantic"} for stage in ("tabulate", "typeset")},
    **{stage: {"pandas"} for stage in ("render", "summarise")},
}
DOORS = {
    "epsilometer": set(),
    "epsilometer_audit": set(),
    "epsilometer_audit.auditing": {"numpy"},  # the rest when it is called
    "epsilometer_audit.question.claims": {"numpy"},
    "epsilometer_audit.outputs.worker": {"numpy"},
    "epsilometer_audit.outputs.recorded": {"numpy"},
    "epsilometer_audit.cli.main": set(),
    "epsilometer_audit.pytest_plugin": set(),
    "epsilometer_workflow.runtime.job": set(),  # all that a job imports that a server forks
}


@pytest.mark.parametrize("stage", EVERY_STAGE)
def test_a_stage_imports_what_the_table_lists(stage, loaded):
    assert WATCHED & loaded(stage).keys() == ALL | MORE.get(stage, set())


@pytest.mark.slow(seconds=1)
def test_an_entry_point_imports_the_modules_of_the_table():
    for door, with_it in loaded_by(DOORS).items():
        assert WATCHED & with_it.keys() == DOORS[door], door


OF_A_SCRIPT = """
import sys
from snakemake.iocontainers import Snakemake
from snakemake.logging import logger
print(sorted({"snakemake.shell", "snakemake.utils", "asyncio"} & set(sys.modules)))
import snakemake
print(snakemake.shell.__module__, snakemake.__version__, snakemake.__file__)
from snakemake import common
print(hasattr(snakemake, "nothing_of_this_name"), common.__name__)
"""


def test_what_jobs_find_in_place_of_snakemakes_package_has_no_shell_and_all_else_of_it():
    lines = printed(OF_A_SCRIPT, PYTHONPATH=str(Path("workflow/lazy").absolute())).splitlines()
    own = f"snakemake.shell {snakemake.__version__} {snakemake.__file__}"
    assert lines == ["[]", own, "False snakemake.common"]


def test_the_picture_is_drawn_from_the_imports():
    _, drawn, _ = split(PAGE.read_text())
    assert drawn == picture(), "run `make architecture`"


def test_folders_import_one_way():
    _, arrows = boxes()
    assert [box for box in arrows if box in reachable(box, arrows)] == []
