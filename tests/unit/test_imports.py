"""A job imports the modules it calls, and no more: each import costs every job of its rule.

To add one, move its name here, with the seconds that it costs in mind: SciPy's special functions
0.1, pandas 0.3, Numba 0.4, scikit-learn 0.8, Matplotlib 0.4.
Entry points import even less: pytest loads its plugin wherever the package is installed.
"""

import pytest

from tests.unit.loading import EVERY_STAGE, loaded_by

WATCHED = (
    *("numpy", "scipy", "scipy.special", "scipy.stats", "numba", "pandas", "pyarrow", "sklearn"),
    *("matplotlib", "seaborn", "jinja2", "pydantic", "yaml", "snakemake"),
)
ALL = {"numpy", "pyarrow"}  # of any job that reads or writes a file of numbers
IMPORTED = {
    "answer": ALL,
    "classify": ALL,
    "confirm": ALL,
    "density": ALL,
    "estimate": ALL,
    "histogram": ALL,
    "page": ALL | {"jinja2", "pandas"},
    "render": ALL | {"pandas"},
    "sample": ALL,
    "screen": ALL,
    "summarise": ALL | {"pandas"},
    "tabulate": ALL | {"pandas", "pydantic"},
    "time": ALL,
    "typeset": ALL | {"pandas"},
    "weigh": ALL,
}
DOORS = {
    "epsilometer": set(),
    "epsilometer_audit": set(),
    "epsilometer_audit.auditing": {"numpy"},  # the rest when it is called
    "epsilometer_audit.statistics.claims": {"numpy"},
    "epsilometer_audit.cli.main": set(),
    "epsilometer_audit.pytest_plugin": set(),
    "epsilometer_workflow.runtime.job": set(),  # all that a job imports that a server forks
}


@pytest.mark.parametrize("stage", EVERY_STAGE)
def test_a_stage_imports_what_the_table_lists(loaded, stage):
    assert {name for name in WATCHED if name in loaded(stage)} == IMPORTED[stage]


@pytest.mark.parametrize("module", DOORS)
def test_an_entry_point_imports_the_modules_of_the_table(module):
    assert {name for name in WATCHED if name in loaded_by(module)} == DOORS[module]
