"""How the statements of askin2022 are decided: ids without the paper, and a criterion for each.

`*` stands for any part of an id; an entry that names an id goes first.
"""

from __future__ import annotations

import numpy as np

from epsilometer_workflow.reports.scorecard.criteria import (
    Criterion,
    Rows,
    Selection,
    Value,
    holds,
    key,
    number,
    only,
    printed,
    rows,
    setting,
    settings,
    undecided,
)
from epsilometer_workflow.reports.scorecard.measures import (
    allowance,
    distinct,
    error,
    excess,
    falls,
    first,
    largest_ratio,
    last,
    numbers,
    relative_error,
    same,
    slope,
    smallest_ratio,
    within,
)


def exact(*checks: str) -> Selection:
    """Select rows of the table that works out formulas at some points."""
    return rows("scorecard/askin2022-exact", check=checks)


def _tradeoff(t: Rows) -> Value:
    usual = t.fresh == np.min(t.fresh)
    return falls(t.where(usual).gap, by=t.where(usual).alpha) and falls(
        t.where(alpha=0.05).gap, by=t.where(alpha=0.05).fresh
    )


def _kde_small_probabilities(t: Rows) -> Value:
    counted = (
        t.where(t.cells == np.max(t.cells), method="histogram").error
        / t.where(t.cells == np.min(t.cells), method="histogram").error
    )
    smooth = (
        t.where(t.cells == np.max(t.cells), method="kernel").error
        / t.where(t.cells == np.min(t.cells), method="kernel").error
    )
    return (counted > 2) & (smooth < 1.5)


def _prop1_extremes(t: Rows) -> Value:
    alike = t.mechanism == "laplace"
    small = (
        (t.mechanism == "svt5") & (t.estimator == "local-loss-floor=0.001") & (t.n == np.min(t.n))
    )
    large = (
        (t.mechanism == "svt5") & (t.estimator == "local-loss-floor=0.0001") & (t.n == np.max(t.n))
    )
    return (
        falls(t.where(alike).mean, by=t.where(alike).n)
        and np.max(t.where(large).mean) > np.max(t.where(small).mean) + 1
    )


def _theorem2_infinite(t: Rows) -> Value:
    small = (t.estimator == "mpl-floor=0.001") & (t.n == np.min(t.n))
    large = (t.estimator == "mpl-floor=0.0001") & (t.n == np.max(t.n))
    return np.max(t.where(large).mean) - np.max(t.where(small).mean)


def _setting_sizes_a_d(t: Rows) -> Value:
    sizes = numbers(t.where(setting="reports.askin2022.scales.paper.noisy.n").value)
    floor = numbers(t.where(setting="estimators.local-loss-floor=0.001.parameters.floor").value)
    return same(first(sizes), 2e4) and same(last(sizes), 5e4) and same(first(floor), 1e-3)


def _setting_sizes_svt(t: Rows) -> Value:
    sizes = numbers(t.where(setting="reports.askin2022.scales.paper.sparse-vector.n").value)
    floor = numbers(t.where(setting="estimators.local-loss-floor=0.0001.parameters.floor").value)
    return same(first(sizes), 1e5) and same(last(sizes), 5e5) and same(first(floor), 1e-4)


def _patterns_suffice_instead(t: Rows) -> Value:
    mirrored = within(
        t.pattern,
        ("one-above-rest-below-mirrored", "one-below-rest-above-mirrored", "x-shape-mirrored"),
    )
    return (
        np.max(t.where(~mirrored).violation) / np.max(t.level) < 0.99
        and np.max(t.violation) / np.max(t.level) > 0.999
    )


def _patterns_suffice(t: Rows) -> Value:
    mirrored = within(
        t.pattern,
        ("one-above-rest-below-mirrored", "one-below-rest-above-mirrored", "x-shape-mirrored"),
    )
    return np.max(t.where(~mirrored).violation) / np.max(t.level)


def _ascent(t: Rows) -> Value:
    def each(t: Rows) -> Value:
        rise = (np.quantile(t.bound, 0.9) - np.quantile(t.bound, 0.1)) / first(t.epsilon)
        middle = np.median(t.bound) / first(t.epsilon)
        return np.maximum(rise / 0.25, 0.85 / middle)

    return np.max([each(group) for group in t.by("epsilon")])


def _well_approximated(t: Rows) -> Value:
    each = np.array([np.mean(g.bound <= g.level) for g in t.by("mechanism", "epsilon")])
    return np.sum(abs(each - 0.95) <= 0.03) > 9 and np.min(each) >= 0.92


def _slower_0_2(t: Rows) -> Value:
    low = (
        np.quantile(t.where(epsilon=0.2).bound, 0.9) - np.quantile(t.where(epsilon=0.2).bound, 0.1)
    ) / 0.2
    middle = (
        np.quantile(t.where(epsilon=0.7).bound, 0.9) - np.quantile(t.where(epsilon=0.7).bound, 0.1)
    ) / 0.7
    high = (
        np.quantile(t.where(epsilon=1.5).bound, 0.9) - np.quantile(t.where(epsilon=1.5).bound, 0.1)
    ) / 1.5
    return low / np.maximum(middle, high)


def _g_margin(t: Rows) -> Value:
    each = np.array([np.median(g.bound) / first(g.epsilon) for g in t.by("epsilon")])
    return np.sum(each >= 1.5)


def _colours(t: Rows) -> Value:
    return (
        np.any(t.colour == "#0072b2")
        and np.any(t.colour == "#d55e00")
        and np.any(t.colour == "#009e73")
        and distinct(t.where(along="").colour) == 3
        and np.any(t.colour == "#c0392b")
    )


def _attained(exact: Rows, drawn: Rows) -> Value:
    corner = exact.where(check="corners").value / exact.where(check="corners").bound
    runs = (drawn.estimator == "MPL") & (drawn.mechanism == "continuous-noisy-max-3")
    return (
        np.sum(corner == 1) == 2
        and np.min(corner) < 1
        and np.mean(within(drawn.where(runs).pair, ("0 0 0", "1 1 1"))) > 0.5
    )


def _loss_star_instead(t: Rows) -> Value:
    difference = within(t.at, ("a difference", "c difference", "d difference"))
    return np.max(only(abs(t.value / t.bound - 1), ~difference)) < 1e-6


def _loss_star(t: Rows) -> Value:
    difference = within(t.at, ("a difference", "c difference", "d difference"))
    return np.max(only(abs(t.value / t.bound - 1), difference)) < 1e-6


CRITERIA: dict[str, Criterion] = {
    # Sections I and II
    "sec-i/events": number(exact("events"), error, equals=0),
    "sec-i/lower-bound": number(
        exact("event-below-pair", "pair-below-promise"), largest_ratio, high=1
    ),
    "sec-ii-a/alphas": holds(
        rows("scorecard/settings", setting="estimators.mpl-floor=0.001.parameters.alpha"),
        lambda t: first(numbers(t.value)) in (0.1, 0.05, 0.01),
    ),
    "sec-ii-a/tradeoff": holds(
        rows("scorecard/askin2022-answers", mechanism="laplace", inputs="distance=1"), _tradeoff
    ),
    "sec-ii-b/hoelder": number(
        exact("smooth"),
        relative_error,
        high=0.01,
        because="the steepest slope no longer changes with the points looked at",
    ),
    "sec-ii-b/kde-rate": number(
        rows("scorecard/kutta2022-kernels", mechanism="noisy-sum-laplace", rule="n^(-1/3)"),
        lambda t: slope(t.largest, t.n),
        high=-0.28,
    ),
    # Figures 1 and 2
    "fig1/n": setting("reports.askin2022.scales.paper.few-draws.n"),
    "fig1/elements": holds(
        rows("scorecard/drawn", figure="askin2022/fig1"),
        lambda t: np.sum((t.kind == "line") & (t.points > 100)) >= 2 and np.max(t.points) >= 200,
    ),
    "fig2/rr": holds(
        rows("fig2", mechanism="Randomized Response"),
        lambda t: len(t.loss) == 2 and np.min(t.loss) > 0,
    ),
    "fig2/laplace": holds(
        rows("fig2", mechanism="Laplace"),
        lambda t: (
            np.max(only(abs(t.loss - 1), (t.z <= 0) | (t.z >= 1))) < 1e-9
            and np.max(t.where((t.z > 0) & (t.z < 1)).loss) < 1
        ),
    ),
    "fig2/gaussian": number(
        rows("fig2", mechanism="Gaussian"),
        lambda t: np.max(abs(t.loss - abs(t.z - 0.5))),
        high=1e-9,
        because="the loss is |t - 1/2|, without end",
    ),
    "fig2/layout": number(
        rows("scorecard/drawn", figure="askin2022/fig2"), lambda t: distinct(t.panel), equals=6
    ),
    # Section III
    "sec-iii/split-events": number(exact("union"), excess, high=1e-12),
    "sec-iii/theorem1": number(exact("theorem1"), error, high=1e-12),
    "sec-iii/svt3-outside": number(exact("mixed-refused"), lambda t: np.min(t.value), equals=1),
    "sec-iii/grid-1000": number(exact("discretised"), "value", equals=1000),
    "sec-iii/kde-small-probabilities": holds(
        rows("scorecard/askin2022-rare-outputs"),
        _kde_small_probabilities,
        because=(
            "error of small densities with 600 cells over that with 24, by histograms and by "
            "the kernel"
        ),
    ),
    "sec-iii/events-dilute": number(exact("dilution"), excess, below=0),
    "ex1/level": number(exact("noisy-max-level"), error, high=1e-9),
    "ex1/where": number(
        exact("noisy-max-where"),
        lambda t: t.where(at="t=100").value,
        low=1.5 - 1e-6,
        instead=lambda t: (
            (abs(t.where(at="t=-1").value - 1.5) < 1e-9)
            & (abs(t.where(at="t=100").value - 0.5) < 1e-6)
        ),
        erratum="it is the lower tail; for large t the loss tends to lambda",
    ),
    "ex1/density": number(exact("largest-density"), relative_error, high=1e-6),
    "ex1/composition": number(exact("composition"), largest_ratio, high=1 + 1e-9),
    # Section IV-A, DPL
    "sec-iv-a/floor-discrete": number(exact("floor"), largest_ratio, high=1),
    "sec-iv-a/region": number(exact("region"), smallest_ratio, low=1 - 1e-9),
    "sec-iv-a/prop1-discrete": number(
        rows("scorecard/askin2022-rates", mechanism="report-noisy-max-6"),
        lambda t: slope(t.rmse, t.n),
        low=-0.6,
        high=-0.4,
    ),
    "sec-iv-a/prop1-discrete-t": number(
        rows("scorecard/askin2022-locations", mechanism="report-noisy-max-6"),
        lambda t: last(t.lacking, by=t.n) / first(t.lacking, by=t.n),
        high=lambda t: (last(t.n, by=t.n) / first(t.n, by=t.n)) ** (-0.4),
        because="what the loss at t_hat lacks, at the largest n over that at the smallest",
    ),
    "sec-iv-a/prop1-continuous": number(
        rows("scorecard/askin2022-rates", lambda t: t.mechanism != "report-noisy-max-6"),
        lambda t: np.max([slope(g.rmse, g.n) for g in t.by("mechanism")]),
        high=-0.28,
    ),
    "sec-iv-a/prop1-continuous-t": number(
        rows("scorecard/askin2022-locations", lambda t: t.mechanism != "report-noisy-max-6"),
        lambda t: np.max(
            [
                last(g.lacking, by=g.n)
                - first(g.lacking, by=g.n) * (last(g.n, by=g.n) / first(g.n, by=g.n)) ** (-0.28)
                for g in t.by("mechanism")
            ]
        ),
        high=1e-6,
        because=(
            "what the loss at t_hat lacks at the largest n, less n^-0.28 times that at the smallest"
        ),
    ),
    "sec-iv-a/prop1-extremes": holds(
        rows("scorecard/askin2022-answers", fresh=0),
        _prop1_extremes,
        because=(
            "on inputs alike the answer falls to 0; at level infinity it is ln 1/tau, and "
            "rises as the floor falls with n"
        ),
    ),
    "fig3/elements": holds(
        rows("scorecard/drawn", figure="askin2022/fig3"),
        lambda t: (
            np.sum((t.kind == "line") & (t.points > 100)) == 2
            and np.any((t.kind == "line") & (t.along == "vertical"))
            and np.any((t.kind == "line") & (t.along == "horizontal"))
        ),
    ),
    "fig3/maximum": holds(
        rows("fig3"),
        lambda t: (
            same(first(t.eps_hat), np.max(t.empirical))
            and same(first(t.t_hat), t.z[np.argmax(t.empirical)])
        ),
    ),
    # Sections IV-B and IV-C, MPL
    "sec-iv-b/normality": holds(
        rows("scorecard/askin2022-pointwise"),
        lambda t: (
            np.max(abs(t.mean) * np.sqrt(t.runs)) <= 3
            and np.min(t.sd) >= 0.9
            and np.max(t.sd) <= 1.1
        ),
    ),
    "sec-iv-b/variance-discrete": number(
        rows("scorecard/askin2022-pointwise", mechanism="randomized-response-5"),
        lambda t: np.mean(t.sd),
        low=0.95,
        high=1.05,
        because="mean over five outputs of the deviation, as a share of the formula's",
    ),
    "sec-iv-b/variance-continuous": number(
        rows("scorecard/askin2022-pointwise", mechanism="laplace"), "sd", low=0.9, high=1.1
    ),
    "sec-iv-b/pointwise-interval": holds(
        rows("scorecard/askin2022-pointwise"),
        lambda t: np.max(abs(t.covered - 0.95) - allowance(0.95, t.runs)) <= 0,
    ),
    "sec-iv-c/nu": number(exact("fresh-share"), error, high=0.05),
    "sec-iv-c/undersmoothing": number(exact("undersmoothing"), smallest_ratio, above=1),
    "sec-iv-c/second-floor": number(
        exact("second-floor"),
        smallest_ratio,
        above=10,
        because="the smaller density at the output of the largest loss, over the floor",
    ),
    "sec-iv-c/theorem2": number(
        rows(
            "coverage",
            lambda t: (t.level <= 1.6) & ~(within(t.panel, ("(g) SVT5", "(h) SVT6"))),
            estimator="MPL",
        ),
        lambda t: np.min(t.covered),
        low=lambda t: 0.95 - allowance(0.95, np.min(t.runs)) - 0.02,
    ),
    "sec-iv-c/theorem2-infinite": number(
        rows("scorecard/askin2022-answers", lambda t: t.fresh > 0, mechanism="svt5"),
        _theorem2_infinite,
        above=0,
        because="mean bound where n is large and the floor small, less that where n is small",
    ),
    "sec-iv-c/theorem2-zero": number(
        rows(
            "scorecard/askin2022-answers",
            lambda t: t.fresh > 0,
            mechanism="laplace",
            inputs="alike",
        ),
        lambda t: last(abs(t.mean), by=t.n) / first(abs(t.mean), by=t.n),
        below=1,
    ),
    # Example 2
    "ex2/not-private": holds(exact("match-level"), lambda t: np.min(t.value) > 1e300),
    "ex2/delta": number(exact("match-delta"), relative_error, high=1e-9),
    "ex2/fooled": holds(
        rows("ex2", estimator=("mpl-floor=0.001", "local-loss-floor=0.001")),
        lambda t: (
            np.max(only(abs(t.answer), t.k == np.max(t.k))) < 0.05
            and np.min(t.where(t.k == np.min(t.k)).answer) > 1
        ),
        because="answers where the match is rarer than 1/n, and where it is frequent",
    ),
    # Section V, settings
    "sec-v/setting-sizes-a-d": holds(rows("scorecard/settings"), _setting_sizes_a_d),
    "sec-v/setting-sizes-svt": holds(rows("scorecard/settings"), _setting_sizes_svt),
    "sec-v/setting-alpha": setting("estimators.mpl-floor=0.001.parameters.alpha"),
    "sec-v/setting-eps0": number(
        rows("scorecard/settings", setting="reports.askin2022.experiments.noisy.grid.0.epsilon"),
        lambda t: numbers(t.value),
        equals=lambda t: numbers(t.printed),
    ),
    "sec-v/setting-runs": setting("reports.askin2022.scales.paper.noisy.runs"),
    "sec-v/setting-B": number(
        rows("table1", mechanism="svt2"), lambda t: len(t.pattern), equals=printed
    ),
    "sec-v/setting-k-noisy-max": setting("mechanisms.continuous-noisy-max-3.parameters.queries"),
    "sec-v/setting-queries-noisy-max": setting("mechanisms.report-noisy-max-6.parameters.queries"),
    "sec-v/setting-queries-svt": setting("mechanisms.svt2.parameters.queries"),
    "sec-v/setting-T": setting("mechanisms.svt2.parameters.threshold"),
    "sec-v/setting-M": setting("mechanisms.svt2.parameters.positives"),
    "sec-v/setting-kernel": number(
        rows("scorecard/kutta2022-software", what="nrd0"), "error", high=1e-9
    ),
    "sec-v/setting-eight": number(rows("fig4"), lambda t: distinct(t.panel), equals=8),
    "sec-v/setting-inputs-a": settings(
        {
            "mechanisms.laplace.inputs.distances.pairs.b=1": "[0.0, 0.1]",
            "mechanisms.laplace.inputs.distances.pairs.b=10": "[0.0, 1.0]",
            "mechanisms.laplace.region": "[-1.0, 1.0]",
        }
    ),
    "sec-v/setting-inputs-c": settings(
        {
            "mechanisms.continuous-noisy-max-3.inputs.distances.pairs.b=1": "[[0.0, 0.0, 0.0], [0.1, 0.1, 0.1]]",
            "mechanisms.continuous-noisy-max-3.inputs.distances.pairs.b=10": "[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]",
            "mechanisms.continuous-noisy-max-3.region": "[-1.0, 1.0]",
        }
    ),
    "sec-v/setting-inputs-d": settings(
        {
            "mechanisms.exponential-half-line.inputs.distances.pairs.b=1": "[1.0, 1.1]",
            "mechanisms.exponential-half-line.inputs.distances.pairs.b=10": "[1.0, 2.0]",
            "mechanisms.exponential-half-line.region": "[0.0, 2.0]",
        }
    ),
    "sec-v/setting-b-noise": number(exact("noise-of-noisy-max"), error, equals=0),
    "sec-v/svt-pairs": number(
        rows("table1", mechanism="svt4"), lambda t: len(t.pattern), equals=10
    ),
    "sec-v/patterns-suffice": number(
        rows("table1", mechanism="svt2"),
        _patterns_suffice,
        low=0.99,
        instead=_patterns_suffice_instead,
        erratum=(
            "the seven patterns alone do not reach the level of the Sparse Vector variants; "
            "their mirror images do"
        ),
    ),
    "sec-v/exp-at-least": number(exact("exponential-promise"), largest_ratio, high=1),
    "sec-v/exp-formula": number(exact("exponential-formula"), error, high=1e-9),
    "sec-v/exp-small": number(
        exact("small-exponential"), lambda t: last(t.value), low=0.99, high=1
    ),
    "sec-v/calibrated-*": number(
        rows(
            "coverage",
            lambda t: ~(within(t.panel, ("(g) SVT5", "(h) SVT6"))),
            estimator="MPL",
            epsilon=key("eps0"),
        ),
        lambda t: np.max(abs(t.level / t.epsilon - 1)),
        high=0.03,
        because="exact level of the pairs, furthest of six from eps0",
    ),
    "sec-v/svt4-scale": number(
        exact("variant4"),
        relative_error,
        high=1e-9,
        because="corrected at 7/4 of epsilon it is the published one",
    ),
    "sec-v/incorrect-infinite-g": holds(
        rows("coverage", panel="(g) SVT5", estimator="MPL"),
        lambda t: not np.isfinite(np.min(t.level)),
    ),
    "sec-v/incorrect-infinite-h": holds(
        rows("coverage", panel="(h) SVT6", estimator="MPL"),
        lambda t: not np.isfinite(np.max(t.level)),
        instead=lambda t: np.isfinite(np.max(t.level)) and np.min(t.level / t.epsilon) > 4,
        erratum=(
            "finite for ten queries (0.85, 3.1 and 6.9 on these pairs); infinite only as "
            "their number grows"
        ),
    ),
    "sec-v/violation-h-*": number(
        rows("coverage", panel="(h) SVT6", estimator="MPL", epsilon=key("eps0")),
        "level",
        above=lambda t: t.key["eps0"],
    ),
    "sec-v/violation-g-*": number(
        rows("coverage", panel="(g) SVT5", estimator="MPL", epsilon=key("eps0")),
        "level",
        above=lambda t: t.key["eps0"],
    ),
    # Table I
    "table1/one-above-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-above"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-above-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-above"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-below-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-below"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-below-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-below"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-above-rest-below-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-above-rest-below"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-above-rest-below-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-above-rest-below"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-below-rest-above-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-below-rest-above"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/one-below-rest-above-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="one-below-rest-above"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/half-half-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="half-half"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/half-half-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="half-half"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
        instead=[0, 0, 0, 2, 2, 2],
        erratum="a misprint of the patterns of its reference 19, where the second half is 2",
    ),
    "table1/all-above-all-below-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="all-above"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/all-above-all-below-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="all-above"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/x-shape-q": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="x-shape"),
        lambda t: numbers(t.x),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/x-shape-q-prime": number(
        rows("table1", mechanism="report-noisy-max-6", pattern="x-shape"),
        lambda t: numbers(t.x_prime),
        equals=lambda t: numbers(t.printed),
    ),
    "table1/differ-by-one": number(exact("differ-by-one"), lambda t: np.max(t.value), equals=1),
    # Figure 4
    "fig4/*-confidence": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism"), epsilon=key("eps0")),
        lambda t: np.mean(t.bound <= t.level),
        low=lambda t: 0.95 - allowance(0.95, len(t.bound)) - 0.02,
    ),
    "fig4/*-ascent": number(
        rows("fig4", lambda t: t.epsilon >= 0.7, estimator="MPL", mechanism=key("mechanism")),
        _ascent,
        high=1,
        because=(
            "distance of the 10 % and 90 % quantiles over a quarter of eps0, or 0.85 over "
            "the median's share of it"
        ),
    ),
    "fig4/well-approximated": number(
        rows("fig4", lambda t: ~(within(t.mechanism, ("svt5", "svt6"))), estimator="MPL"),
        _well_approximated,
        equals=True,
    ),
    "fig4/slightly-large": number(
        rows("fig4", lambda t: ~(within(t.mechanism, ("svt5", "svt6"))), estimator="MPL"),
        lambda t: np.min(
            [
                np.mean(g.bound <= g.level) - (0.95 - allowance(0.95, len(g.bound)) - 0.02)
                for g in t.by("mechanism", "epsilon")
            ]
        ),
        low=0,
    ),
    "fig4/reason": number(
        rows("fig4", lambda t: ~(within(t.mechanism, ("svt5", "svt6"))), estimator="MPL"),
        lambda t: np.max(
            [np.mean(g.violation) - first(g.level) for g in t.by("mechanism", "epsilon")]
        ),
        high=1e-9,
        because="the violation of the selected pair is on average below that of the worst one",
    ),
    "fig4/*-slower-0.2": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism")), _slower_0_2, above=1
    ),
    "fig4/e-slower-reason fig4/f-slower-reason": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism")),
        lambda t: (
            np.std(t.where(epsilon=0.2).bound, ddof=1)
            / 0.2
            / np.maximum(
                np.std(t.where(epsilon=0.7).bound, ddof=1) / 0.7,
                np.std(t.where(epsilon=1.5).bound, ddof=1) / 1.5,
            )
        ),
        above=1,
    ),
    "fig4/h-0.2-reason": number(
        rows("fig4", estimator="MPL", mechanism="svt6"),
        lambda t: (
            np.std(t.where(epsilon=0.2).bound, ddof=1)
            / 0.2
            / np.maximum(
                np.std(t.where(epsilon=0.7).bound, ddof=1) / 0.7,
                np.std(t.where(epsilon=1.5).bound, ddof=1) / 1.5,
            )
        ),
        above=1,
    ),
    "fig4/g-0.2 fig4/g-0.7 fig4/g-1.5 fig4/h-0.7 fig4/h-1.5": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism"), epsilon=key("eps0")),
        lambda t: np.mean(t.bound > t.epsilon),
        low=0.99,
    ),
    "fig4/h-0.2": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism"), epsilon=key("eps0")),
        lambda t: np.mean(t.bound <= t.epsilon),
        above=0,
        below=0.5,
    ),
    "fig4/g-margin fig4/h-margin": number(
        rows("fig4", estimator="MPL", mechanism=key("mechanism")), _g_margin, low=2
    ),
    "fig4/colours": holds(
        rows(
            "scorecard/drawn",
            lambda t: t.points > 0,
            figure="askin2022/fig4",
            kind="line",
            style="-",
        ),
        _colours,
    ),
    # Table II
    "table2/averaged": setting("reports.askin2022.scales.paper.seconds-noisy.runs"),
    "table2/slowest": number(
        rows("table2"), lambda t: t.mechanism[np.argmax(t.seconds)], equals="svt6"
    ),
    "table2/fastest": number(
        rows("table2"), lambda t: t.mechanism[np.argmin(t.seconds)], equals="report-noisy-max-6"
    ),
    "table2/*": number(
        rows("table2", mechanism=key("mechanism")),
        "seconds",
        high=printed,
        because="another machine and another language; ours has to be no slower",
    ),
    "sec-v/runtime-small": number(rows("table2", n=20000), lambda t: np.max(t.seconds), high=10),
    "sec-v/runtime-large": number(rows("table2", n=100000), lambda t: np.max(t.seconds), below=60),
    "sec-v/runtime-shorter": undecided("the run times of its reference 21 are not in the text"),
    "sec-v/effort-small": number(
        rows("scorecard/askin2022-exact", check="effort", at="a-d"), "value", equals=printed
    ),
    "sec-v/effort-large": number(
        rows("scorecard/askin2022-exact", check="effort", at="svt"), "value", equals=printed
    ),
    "sec-v/effort-share-small sec-v/effort-share-large": number(
        exact("effort"),
        lambda t: first(t.bound) / last(t.bound),
        low=0.9,
        high=1.1,
        because="both shares are of one total, 9.4e8 to 1e9 draws",
    ),
    # Figure 5
    "fig5/setting": settings(
        {
            "reports.askin2022.experiments.data-centric.grid.0.epsilon": "[1.5]",
            "reports.askin2022.scales.paper.data-centric.runs": "1000",
        }
    ),
    "fig5/neighbourhood-discrete": settings(
        {
            "mechanisms.report-noisy-max-6.inputs.neighbourhood.around": "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0]",
            "mechanisms.report-noisy-max-6.inputs.neighbourhood.entries": "[0.0, 1.0]",
        }
    ),
    "fig5/neighbourhood-continuous": settings(
        {
            "mechanisms.continuous-noisy-max-3.inputs.neighbourhood.around": "[0.5, 0.5, 0.5]",
            "mechanisms.continuous-noisy-max-3.inputs.neighbourhood.entries": "[0.0, 0.5, 1.0]",
        }
    ),
    "fig5/sharp-rise": holds(
        rows("fig5", estimator="MPL", mechanism=key("mechanism")),
        lambda t: (
            np.quantile(t.bound, 0.99) <= 1
            and np.quantile(t.bound, 0.9) - np.quantile(t.bound, 0.1) <= 0.15
        ),
    ),
    "fig5/half-discrete": holds(
        rows("fig5", estimator="MPL", mechanism=key("mechanism")),
        lambda t: (
            abs(first(t.level) / 1.5 - 0.5) <= 0.01
            and np.median(t.bound) >= 0.6
            and np.median(t.bound) <= first(t.level)
        ),
    ),
    "fig5/half-continuous": holds(
        rows("fig5", estimator="MPL", mechanism=key("mechanism")),
        lambda t: (
            abs(first(t.level) - 0.75) <= 1e-9
            and np.median(t.bound) >= 0.6
            and np.median(t.bound) <= 0.76
        ),
    ),
    "fig5/captures": number(
        rows("fig5", estimator="MPL"),
        lambda t: np.min(
            [
                np.mean(g.bound <= g.level) - (0.95 - allowance(0.95, len(g.bound)) - 0.02)
                for g in t.by("mechanism")
            ]
        ),
        low=0,
    ),
    "fig5/attained": holds((rows("scorecard/askin2022-exact"), rows("fig5")), _attained),
    "fig5/twice": holds(
        exact("centric"),
        lambda t: np.min(t.bound / t.value) >= 1.95 and np.max(t.bound / t.value) <= 2.05,
    ),
    "fig5/below-global": number(exact("centric"), largest_ratio, below=1),
    # Figure 6
    "fig6/runs": setting("reports.askin2022.scales.paper.error.runs"),
    "fig6/inputs": number(rows("fig6"), lambda t: np.max(abs(t.truth - 1.5)), high=1e-9),
    "fig6/c-5000": number(
        rows("fig6", mechanism=key("mechanism"), n=key("n")), "mse_share", below=0.04
    ),
    "fig6/d-5000": number(
        rows("fig6", mechanism=key("mechanism"), n=key("n")), "mse_share", below=0.005
    ),
    "fig6/c-20000 fig6/d-20000": number(
        rows("fig6", mechanism=key("mechanism")),
        lambda t: t.where(n=20000).mse / t.where(n=5000).mse,
        below=0.5,
    ),
    "fig6/c-falls fig6/d-falls": holds(
        rows("fig6", mechanism=key("mechanism")), lambda t: falls(t.mse, by=t.n)
    ),
    "fig6/order": number(
        rows("fig6", n=5000),
        lambda t: (
            t.where(mechanism="exponential-half-line").mse
            / t.where(mechanism="continuous-noisy-max-3").mse
        ),
        below=1,
    ),
    # Section VI, appendix
    "sec-vi/refined": number(
        rows("fig5", estimator="MPL"),
        lambda t: np.max([np.quantile(g.bound, 0.99) / 1.5 for g in t.by("mechanism")]),
        below=0.75,
        because="bounds for one database stay far below what the mechanism promises for all",
    ),
    "appendix-a-d/loss-star": holds(
        exact("printed-star"),
        _loss_star,
        instead=_loss_star_instead,
        erratum="the loss is of the logarithms, as in the text and the proof",
    ),
    "appendix-a-b/kernel": number(
        rows("scorecard/kutta2022-proofs", check="gaussian"), error, high=1e-9
    ),
}
