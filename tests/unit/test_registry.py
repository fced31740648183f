"""Names, and words of seeds: what all else rests on."""

import pytest

from epsilometer import seeds
from epsilometer.errors import UnknownNameError
from epsilometer.settings.registry import Registry, load
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS
from tests.unit.loading import printed

# --- names are looked up where they are defined ---------------------------------------------------


def test_functions_are_found_in_the_reports_own_module_or_in_anothers():
    other = "epsilometer_workflow.reports.gorla2022.tables:searches"
    assert BUILDERS.target("gorla2022", "searches") == other
    assert BUILDERS.target("askin2022", "gorla2022.searches") == other
    assert BUILDERS.target("my-own", "gorla2022.searches") == other
    assert load(other).__name__ == "searches"


def test_public_functions_are_known_in_the_order_of_the_module():
    known = BUILDERS.known("gorla2022")
    assert "searches" in known
    assert "pd" not in known  # imported
    assert not [name for name in known if name.startswith("_")]


def test_no_other_name_is_found():
    for name in (
        *("", ".", "serches", "_laplace", "pd", "pd.DataFrame", "ExactTruncatedLaplace", "__doc__"),
        *("gorla2022", "gorla2022.", "gorla2022.serches", "gorla2022._laplace"),
        *(
            "gorla2023.searches",
            "os.system",
            "subprocess.run",
            "epsilometer.settings.registry.load",
        ),
        *("..storage.read_table", "../storage.read_table", "../tables/gorla2022.searches"),
        *("__init__.searches", "gorla2022:searches", "gorla2022.searches ", "a/b.searches"),
    ):
        with pytest.raises(UnknownNameError, match="unknown table builder") as caught:
            BUILDERS.target("gorla2022", name)
        assert "\n" not in str(caught.value)
    for report in ("../tables/gorla2022", "..", "", "a.b", "/etc"):
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


def test_a_registry_loads_only_the_requested_module():
    registry = Registry("thing", {"path": "pathlib:Path", "gone": "pathlib:Gone"})
    assert registry.load("path").__name__ == "Path"
    assert registry.module("path") == "pathlib"
    assert list(registry) == ["path", "gone"]
    assert len(registry) == 2
    with pytest.raises(UnknownNameError, match="unknown thing 'pth'; did you mean 'path'"):
        registry.load("pth")
    with pytest.raises(AttributeError):
        registry.load("gone")


# --- a draw depends on seed and words only --------------------------------------------------------


def first(*identity):
    return seeds.generator(*identity).integers(0, 2**63)


def test_every_word_counts():
    words = [(1, "laplace", "a", 0), (2, "laplace", "a", 0), (1, "gauss", "a", 0)]
    words += [(1, "laplace", "b", 0), (1, "laplace", "a", 1), (1, "laplacea", "", 0)]
    words.append((1, "laplace", "a", "0"))
    assert len({first(*identity) for identity in words}) == len(words)


def test_the_streams_are_pinned():
    """A change here would silently change every published table."""
    assert first(2022, "truncated-laplace", "epsilon=1.0", "ends", "side=0") == PINNED


PINNED = 3784608934704608672
