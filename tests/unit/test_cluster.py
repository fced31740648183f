"""Requirements of a cluster on the folder of a run."""

import pytest

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.runtime.cluster import refuse_unquotable


@pytest.mark.parametrize("name", ["runs", "2026-11-21_a.b", "éclair", "a+b=c,d:e@f%", "~"])
def test_plain_folders_are_taken(name):
    refuse_unquotable([f"/home/{name}/epsilometer"])


@pytest.mark.parametrize("name", [*" \n\t'\"`$;&|<>()[]{}*?!#\\\0"])
def test_folders_that_a_shell_would_split_are_refused(name):
    with pytest.raises(EpsilometerError, match="because a shell of the cluster") as refused:
        refuse_unquotable(["/home/fine", f"/home/a{name}b/epsilometer"])
    assert "\n" not in str(refused.value)
