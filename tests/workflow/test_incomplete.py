"""A page is made of what there is, says what is missing, and the next run makes it whole."""

from pathlib import Path

from tests.workflow.conftest import SMALL, copy_project

REPORTS = "src/epsilometer_workflow/reports/gorla2022"
BUILDS = '    passing = (table["share_passing"]'
DRAWS = '    style.exact(ax, first["delta"]'


def raising(message: str) -> str:
    """Return lines that fail in a job, not where tables of made-up numbers are built before."""
    return (
        "    import inspect\n"
        '    if not any("rehearsal" in frame.filename for frame in inspect.stack()):\n'
        f'        raise RuntimeError("{message}")\n'
    )


def test_a_page_of_what_there_is(tmp_path: Path):
    project = copy_project(tmp_path, SMALL)
    whole = tmp_path / "results/smoke/gorla2022.html"
    part = whole.with_suffix(".incomplete.html")
    for kind, line in (("table", BUILDS), ("figure", DRAWS)):
        project.replace(f"{REPORTS}/{kind}s.py", line, raising(f"of a {kind}") + line)
    run = project.snakemake("gorla2022", cores=2)
    assert run.returncode != 0
    assert f"What there is, on a page: {part.relative_to(tmp_path)}" in run.stdout + run.stderr
    text = part.read_text()
    assert "<title>Not complete: " in text
    assert "made: fig3 (its figure), fig4. Without" in text
    assert "RuntimeError: of a table" in text
    assert "RuntimeError: of a figure" in text
    assert text.count("The figure was not made.") == text.count("The table was not made.") == 1
    assert text.count("data:image/png") == 2  # figures 1 and 2
    assert 'href="tables/gorla2022/fig3.csv"' in text
    assert 'href="tables/gorla2022/fig4.csv"' not in text
    assert not whole.exists()

    for file, raised in (("tables", "a table"), ("figures", "a figure")):
        project.replace(f"{REPORTS}/{file}.py", raising(f"of {raised}"), "")
    run = project.snakemake("gorla2022", cores=2)
    assert run.returncode == 0, run.stderr[-3000:]
    assert "Not complete" not in whole.read_text()
    assert not part.exists()

    # a page of an earlier run does not stay beside a new failure
    project.replace(f"{REPORTS}/tables.py", BUILDS, raising("again") + BUILDS)
    run = project.snakemake("gorla2022", cores=2)
    assert run.returncode != 0
    assert "made: fig4. Without" in part.read_text()
    assert not whole.exists()
