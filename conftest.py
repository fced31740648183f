"""Where pytest looks for tests: a study's code and tests, not the mechanisms that it audits."""

import os

from epsilometer.processes import ONE_THREAD

collect_ignore_glob = ["studies/*/config/*", "studies/benchmark/[!t]*.py"]

# Workers of xdist have a core each: a second thread of linear algebra would wait for the first.
os.environ.update(ONE_THREAD | os.environ)
