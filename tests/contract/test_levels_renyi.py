"""Do Rényi bounds keep their level on every case? See `tests.contract.levels`."""

import pytest

from tests.contract.levels import ENOUGH, TESTED, judged, rows


@pytest.mark.parametrize(("entries", "case"), judged("densities"))
def test_no_bound_lies_above_the_truth_more_often_than_it_may(entries, case):
    for entry in entries:
        for row in rows(entry, case, TESTED, ENOUGH):
            assert not row.failed, row
