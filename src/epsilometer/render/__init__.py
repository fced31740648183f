"""Figures: each renderer draws one table, in one style.

A renderer takes the table behind the figure and returns a Matplotlib figure. To add one: a
function, a line below, its name as ``figure:`` of an artifact in ``config/papers/``.
"""

from epsilometer.registry import Registry

RENDERERS = Registry(
    "renderer",
    {
        "accuracies": "epsilometer.render.lu2022:accuracies",
        "among_neighbours": "epsilometer.render.lu2022:among_neighbours",
        "bernoulli_pair": "epsilometer.render.gorla2022:bernoulli_pair",
        "bootstrapped": "epsilometer.render.lu2022:bootstrapped",
        "bounds": "epsilometer.render.askin2022:bounds",
        "cell_means": "epsilometer.render.gorla2022:cell_means",
        "classical": "epsilometer.render.lu2022:classical",
        "coins": "epsilometer.render.lu2022:coins",
        "density_estimate": "epsilometer.render.askin2022:density_estimate",
        "empirical_loss": "epsilometer.render.askin2022:empirical_loss",
        "errors": "epsilometer.render.askin2022:errors",
        "impossibility": "epsilometer.render.gorla2022:impossibility",
        "losses": "epsilometer.render.askin2022:losses",
        "mean_and_spread": "epsilometer.render.gorla2022:mean_and_spread",
        "orders": "epsilometer.render.kutta2022:orders",
        "planned_samples": "epsilometer.render.gorla2022:planned_samples",
        "random_rows": "epsilometer.render.lu2022:random_rows",
        "rare_match": "epsilometer.render.askin2022:rare_match",
        "safety_check": "epsilometer.render.gorla2022:safety_check",
        "share_within": "epsilometer.render.gorla2022:share_within",
        "spectra": "epsilometer.render.lu2022:spectra",
        "violins": "epsilometer.render.kutta2022:violins",
    },
)
