"""Functions of reports are found by name where they are defined, and nothing else is."""

import pytest

from epsilometer.errors import UnknownNameError
from epsilometer.settings.registry import load
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS
from tests.unit.loading import printed


@pytest.mark.parametrize(
    ("report", "name"),
    [
        ("gorla2022", "searches"),
        ("askin2022", "gorla2022.searches"),
        ("my-own", "gorla2022.searches"),
    ],
)
def test_functions_are_found_in_the_reports_own_module_or_in_anothers(report, name):
    target = BUILDERS.target(report, name)
    assert target == "epsilometer_workflow.reports.gorla2022.tables:searches"
    assert load(target).__name__ == "searches"


def test_public_functions_are_known():
    known = BUILDERS.known("gorla2022")
    assert "searches" in known
    assert "pd" not in known  # imported
    assert not [name for name in known if name.startswith("_")]


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "serches",
        "_laplace",
        "pd",
        "pd.DataFrame",
        "__doc__",
        "gorla2022",
        "gorla2022._laplace",
        "gorla2023.searches",
        "subprocess.run",
        "epsilometer.settings.registry.load",
        "../tables/gorla2022.searches",
        "gorla2022:searches",
        "gorla2022.searches ",
    ],
)
def test_no_other_name_is_found(name):
    with pytest.raises(UnknownNameError, match="unknown table builder") as caught:
        BUILDERS.target("gorla2022", name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("report", ["../tables/gorla2022", "..", "", "a.b", "/etc"])
def test_a_path_is_no_report(report):
    assert BUILDERS.known(report) == []


def test_names_are_known_without_an_import():
    """Renderers would import Matplotlib, at every start of the workflow."""
    code = (
        "import sys; from epsilometer_workflow.configuration.functions import RENDERERS; "
        "RENDERERS.target('gorla2022', sorted(RENDERERS.known('gorla2022'))[0]); "
        "print(*[name for name in sys.modules if 'matplotlib' in name or 'figures' in name])"
    )
    assert printed(code) == ""
    assert RENDERERS.known("gorla2022")
