"""A run makes its jobs compute alike on all processors of a kind."""

import os
import platform

import pytest

from epsilometer_workflow.runtime.run import use_this_library


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_jobs_compute_alike_where_the_user_does_not_say_otherwise(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(os, "environ", {"OPENBLAS_CORETYPE": "Zen"})
    use_this_library(tmp_path)
    assert os.environ["OPENBLAS_CORETYPE"] == "Zen"
    told = os.environ.get("NPY_DISABLE_CPU_FEATURES", "")
    assert ("X86_V4" in told) == (machine == "x86_64")
    monkeypatch.setattr(os, "environ", {})
    use_this_library(tmp_path)
    assert ("OPENBLAS_CORETYPE" in os.environ) == (machine == "x86_64")
