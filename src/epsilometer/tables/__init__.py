"""Tables: each builder turns summaries and options into the rows of one artifact.

A builder takes ``data``, summaries by experiment, and keyword-only options; the table behind a
figure is built here too, so that figures draw nothing that is not in a table. To add one: a
function, a line below, an artifact in ``config/papers/``.
"""

from epsilometer.registry import Registry

BUILDERS = Registry(
    "table builder",
    {
        "accuracies": "epsilometer.tables.lu2022:accuracies",
        "all_pairs": "epsilometer.tables.gorla2022:all_pairs",
        "alpha_hat": "epsilometer.tables.kutta2022:alpha_hat",
        "among_neighbours": "epsilometer.tables.lu2022:among_neighbours",
        "bernoulli_pair": "epsilometer.tables.gorla2022:bernoulli_pair",
        "bootstrapped": "epsilometer.tables.lu2022:bootstrapped",
        "bounds": "epsilometer.tables.askin2022:bounds",
        "cell_means": "epsilometer.tables.gorla2022:cell_means",
        "classical": "epsilometer.tables.lu2022:classical",
        "coins": "epsilometer.tables.lu2022:coins",
        "convergence": "epsilometer.tables.gorla2022:convergence",
        "coverage": "epsilometer.tables.askin2022:coverage",
        "density_estimate": "epsilometer.tables.askin2022:density_estimate",
        "empirical_loss": "epsilometer.tables.askin2022:empirical_loss",
        "epsilons": "epsilometer.tables.lu2022:epsilons",
        "errors": "epsilometer.tables.askin2022:errors",
        "impossibility": "epsilometer.tables.gorla2022:impossibility",
        "lipschitz_constants": "epsilometer.tables.gorla2022:lipschitz_constants",
        "listing": "epsilometer.tables.lu2022:listing",
        "losses": "epsilometer.tables.askin2022:losses",
        "maxima": "epsilometer.tables.kutta2022:maxima",
        "minutes": "epsilometer.tables.kutta2022:minutes",
        "orders": "epsilometer.tables.kutta2022:orders",
        "patterns": "epsilometer.tables.askin2022:patterns",
        "planned_samples": "epsilometer.tables.gorla2022:planned_samples",
        "random_rows": "epsilometer.tables.lu2022:random_rows",
        "rare_match": "epsilometer.tables.askin2022:rare_match",
        "ratios": "epsilometer.tables.kutta2022:ratios",
        "safety_check": "epsilometer.tables.gorla2022:safety_check",
        "sample_sizes": "epsilometer.tables.gorla2022:sample_sizes",
        "searches": "epsilometer.tables.gorla2022:searches",
        "seconds": "epsilometer.tables.askin2022:seconds",
        "spectra": "epsilometer.tables.lu2022:spectra",
        "verdicts": "epsilometer.tables.lu2022:verdicts",
    },
)
