"""Tables: each builder turns summaries and options into the rows of one artifact.

A builder takes ``data``, summaries by experiment, and keyword-only options; the table behind a
figure is built here too, so that figures draw nothing that is not in a table. To add one: a
function, a line below, an artifact in ``config/papers/``.
"""

from epsilometer.registry import Registry

BUILDERS = Registry(
    "table builder",
    {
        "all_pairs": "epsilometer.tables.gorla2022:all_pairs",
        "bernoulli_pair": "epsilometer.tables.gorla2022:bernoulli_pair",
        "cell_means": "epsilometer.tables.gorla2022:cell_means",
        "convergence": "epsilometer.tables.gorla2022:convergence",
        "impossibility": "epsilometer.tables.gorla2022:impossibility",
        "lipschitz_constants": "epsilometer.tables.gorla2022:lipschitz_constants",
        "planned_samples": "epsilometer.tables.gorla2022:planned_samples",
        "safety_check": "epsilometer.tables.gorla2022:safety_check",
        "sample_sizes": "epsilometer.tables.gorla2022:sample_sizes",
        "searches": "epsilometer.tables.gorla2022:searches",
    },
)
