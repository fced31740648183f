"""A job imports the modules it calls, and no more: each import costs every job of its rule.

To add one, write its name here, with the seconds that it costs in mind: SciPy's special functions
0.1, pandas 0.3, Numba 0.4, scikit-learn 0.8, Matplotlib 0.4.
Entry points import even less: pytest loads its plugin wherever the package is installed.
"""

from tests.unit.loading import EVERY_STAGE, loaded_by

WATCHED = (
    *("numpy", "scipy", "scipy.special", "scipy.stats", "numba", "pandas", "pyarrow", "sklearn"),
    *("matplotlib", "seaborn", "jinja2", "pydantic", "yaml", "snakemake"),
)
ALL = {"numpy", "pyarrow"}  # of any job that reads or writes a file of numbers
MORE = {
    "page": {"jinja2", "pandas"},
    "tabulate": {"pandas", "pydantic"},
    **{stage: {"pandas"} for stage in ("render", "summarise", "typeset")},
}
IMPORTED = {stage: ALL | MORE.get(stage, set()) for stage in EVERY_STAGE}
DOORS = {
    "epsilometer": set(),
    "epsilometer_audit": set(),
    "epsilometer_audit.auditing": {"numpy"},  # the rest when it is called
    "epsilometer_audit.statistics.claims": {"numpy"},
    "epsilometer_audit.sources.worker": {"numpy"},
    "epsilometer_audit.sources.recorded": {"numpy"},
    "epsilometer_audit.inputs.neighbours": {"numpy"},
    "epsilometer_audit.cli.main": set(),
    "epsilometer_audit.pytest_plugin": set(),
    "epsilometer_workflow.runtime.job": set(),  # all that a job imports that a server forks
}


def test_a_stage_imports_what_the_table_lists(loaded):
    found = {stage: {name for name in WATCHED if name in loaded(stage)} for stage in EVERY_STAGE}
    assert found == IMPORTED


def test_an_entry_point_imports_the_modules_of_the_table():
    found = loaded_by(DOORS).items()
    assert {door: {name for name in WATCHED if name in with_it} for door, with_it in found} == DOORS
