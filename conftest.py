"""Where pytest looks for tests: a study's code and tests, not the mechanisms that it audits."""

import gc
import os

from hypothesis import settings

from epsilometer.processes import ONE_THREAD

# Workers of xdist have a core each: a second thread of linear algebra would wait for the first.
os.environ.update(ONE_THREAD | os.environ)  # before NumPy is imported, which reads it

from epsilometer_audit.question import domains

collect_ignore_glob = ["studies/*/config/*", "studies/benchmark/[!t]*.py"]

# A session holds all modules and tests: to look through them often costs a third of collection.
gc.set_threshold(100_000, 50, 50)

# Of users, a pair of a domain that is not one of neighbours is left out; here it is an error.
domains.STRICT = True

# An example may compile, import or wait for another process: its time says nothing.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")
