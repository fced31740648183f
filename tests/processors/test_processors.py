"""The smoke scale with NumPy's code for processors without AVX2.

The results of this checkout, which `make smoke` has made, are those of this processor.
"""

import os
import platform

import pytest

from tests.workflow.conftest import ROOT, Project, copy_project

WITHOUT = {  # NumPy then runs what it has for every x86-64, and its linear algebra that of 2008
    "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Nehalem",
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="switches off features of x86-64")
def test_tables_are_the_same_to_the_byte_without_avx2(tmp_path, monkeypatch):
    expected = Project(ROOT).tables()
    assert expected, "make smoke makes what this compares with"
    for name, value in WITHOUT.items():
        monkeypatch.setenv(name, value)
    project = copy_project(tmp_path)
    run = project.snakemake("--config", "scale=smoke", cores=os.cpu_count() or 1)
    assert run.returncode == 0, run.stderr[-3000:]
    made = project.tables()
    assert set(made) == set(expected)
    assert [name for name, table in made.items() if table != expected[name]] == []
