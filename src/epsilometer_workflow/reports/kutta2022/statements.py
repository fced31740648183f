"""How the statements of kutta2022 are decided: ids without the paper, and a criterion for each.

`*` stands for any part of an id; an entry that names an id goes first.
"""

from __future__ import annotations

import numpy as np

from epsilometer_workflow.reports.scorecard.criteria import (
    Criterion,
    Measure,
    Rows,
    Selection,
    Value,
    holds,
    key,
    named,
    number,
    printed,
    rows,
    setting,
    setting_numbers,
    undecided,
)
from epsilometer_workflow.reports.scorecard.measures import (
    allowance,
    error,
    excess,
    first,
    largest,
    largest_ratio,
    last,
    numbers,
    relative_error,
    rises,
    slope,
    smallest_ratio,
    spread,
)
from epsilometer_workflow.reports.style import TRUTH

_BOUND = "estimators.renyi-bound-as-published-draws=50.parameters"
_PAPER = "reports.kutta2022.scales.paper.bounds"
_BITS = ("randomized-bits", "randomized-bits-shuffled")


exact = named("scorecard/kutta2022-exact")  # formulas, worked out at some points
proofs = named("scorecard/kutta2022-proofs")  # what proofs use


def cells(condition: Measure | None = None, /, **equal: object) -> Selection:
    """Select cells of Figure 1, each a mechanism at an order, by default at the paper's floor."""
    return rows("alpha_hat", condition, **{"draws_at_floor": 50, **equal})


_MECHANISM = {"mechanism": key("mechanism")}
_ORDER = {"lambda": key("lambda")}
_CELL = cells(**_MECHANISM, **_ORDER)
_SHUFFLED = rows("alpha_hat", mechanism="randomized-bits-shuffled")

# The number of draws at the floor and of all draws: tau is their ratio.
_FLOOR_AND_N = (
    rows("scorecard/settings", setting=f"{_BOUND}.draws_at_floor"),
    rows("scorecard/settings", setting=f"{_PAPER}.n"),
)


def _around(centre: Measure, reach: float) -> tuple[Measure, Measure]:
    """Return limits at this distance on both sides."""
    return lambda t: centre(t) - reach, lambda t: centre(t) + reach


def _over_plain(t: Rows, mechanism: str, column: str) -> Value:
    """Return the ratio of a mechanism to the one that it subsamples or shuffles."""
    plain = mechanism.rpartition("-")[0]
    return t.where(mechanism=mechanism)[column] / t.where(mechanism=plain)[column]


def _reduction(t: Rows) -> Value:
    return 1 - _over_plain(t, t.key["mechanism"], "divergence")


def _spread(t: Rows) -> Value:
    """Return by how much our share may differ from that of the paper's 1000 runs."""
    return spread(t.ours, t.runs, t.printed, 1000)


def _rarely_below(t: Rows) -> Value:
    shares = np.array([np.mean(g.ratio < 0.95) for g in t.by("panel", "lambda")])
    return np.sum(shares <= 0.05) > 11 and np.sum(shares == 0) >= 5


def _bits_concentrate(t: Rows) -> Value:
    """Return whether randomized response has the smallest deviation and a median near 1."""
    return np.all(
        [
            g.mechanism[np.argmin(g.sd_ratio)] == "randomized-bits"
            and np.min(g.where(mechanism="randomized-bits").median_ratio) > 0.99
            for g in t.by("lambda")
        ]
    )


def _place_from_top(t: Rows) -> Value:
    """Return how many deviations are at least as large as the smaller one of two mechanisms."""
    pair = t.where(mechanism=("noisy-gradient-descent", "noisy-sum-gaussian-subsampled"))
    return np.sum(t.sd_ratio >= np.min(pair.sd_ratio))


def _at_order(t: Rows, order: int) -> Rows:
    return t.where(t["lambda"] == order)


def _widening(t: Rows, *_: Rows) -> Value:
    """Return the deviation at order 7 over that at order 2."""
    return _at_order(t, 7).sd_ratio / _at_order(t, 2).sd_ratio


def _bias_rises_and_falls(t: Rows) -> Value:
    """Return whether some mechanisms' medians rise from order 2 to order 7, and others' fall."""
    steps = [_at_order(g, 7).median_ratio - _at_order(g, 2).median_ratio for g in t.by("mechanism")]
    return np.min(steps) < 0 < np.max(steps)


def _undercovered(t: Rows) -> Value:
    """Return the share above which the level is not met with 99 % confidence."""
    return 0.05 + 2.326 / 2.6 * allowance(0.05, t.runs)


def _lower_floor(t: Rows, column: str) -> Value:
    """Return by how much a column grows as the floor is halved."""
    return t.where(draws_at_floor=25)[column] - t.where(draws_at_floor=50)[column]


def _distance_ratio(t: Rows) -> Value:
    """Return the distance of the median from 1 at half the floor over that at the floor."""
    low, usual = (t.where(draws_at_floor=draws).median_ratio for draws in (25, 50))
    return abs(1 - low) / abs(1 - usual)


def _has_violins(panel: Rows) -> bool:
    """Return whether each density has a median and a bar, and a horizontal line is red."""
    areas = np.sum((panel.kind == "area") & (panel.points > 50))
    bars = np.sum((panel.kind == "line") & (panel.along == "vertical") & (panel.points == 2))
    medians = panel.where(kind="points").points
    red = panel.where(kind="line", along="horizontal").colour
    return bool(areas > 0 and bars >= areas and np.sum(medians) == areas and set(red) == {TRUTH})


def _sup_deviation(t: Rows) -> Value:
    """Return the largest deviation over its rate in Lemma 2."""
    return t.largest / (np.sqrt(np.log(t.n) / (t.n * t.bandwidth)) + t.bandwidth)


CRITERIA: dict[str, Criterion] = {
    "abstract/bound-holds": number(
        cells(lambda t: t.paper_alpha_hat <= 0.05),
        lambda t: np.max(t.alpha_hat - allowance(0.05, t.runs)),
        high=0.05,
        because="largest share above the truth less 2.6 standard errors, of the cells where the "
        "paper prints 0.05 or less",
    ),
    # Section II
    "sec-ii-a/example1": number(
        exact("laplace-level"), "value", between=_around(lambda t: t.bound, 1e-12)
    ),
    "sec-ii-a/gaussian-not-dp": number(
        exact("gaussian-loss"),
        largest_ratio,
        high=0.1,
        because="ten times further out the loss is ten times as large",
    ),
    "sec-ii-a/monotone": holds(
        (exact("monotone"), rows("scorecard/kutta2022-orders", lambda t: t.n == np.max(t.n))),
        lambda formula, drawn: (
            np.all(formula.value < formula.bound) and rises(drawn.estimate, by=drawn["lambda"])
        ),
    ),
    "sec-ii-a/limit": number(exact("limit"), relative_error, high=0.02),
    "sec-ii-a/gaussian-linear": number(exact("gaussian-linear"), error, high=1e-9),
    "sec-ii-b/conf-typical": holds(
        rows("scorecard/settings", setting=f"{_BOUND}.alpha"),
        lambda t: first(numbers(t.value)) in (0.01, 0.05),
        because="ours is one of them; which are usual is in no number",
    ),
    "sec-ii-b/maximum": number(
        rows("maxima", estimator="renyi-bound-as-published-draws=50"),
        lambda t: np.min(t.covered - t.promised + allowance(t.promised, t.runs)),
        low=0,
        because="of pairs with samples of their own; smallest share that holds less (1 - "
        "alpha)^N, plus 2.6 standard errors",
    ),
    "sec-ii-b/far-apart": number(exact("far-apart"), largest_ratio, below=1),
    # Section III-A, density estimates
    "sec-iii-a/rfe-rate": number(
        rows("scorecard/kutta2022-frequencies"),
        lambda t: slope(t.error, t.n),
        between=(-0.55, -0.45),
    ),
    "sec-iii-a/kde-formula": number(
        proofs("kernel-dimensions"),
        lambda t: np.max(abs(t.value - 1)),
        high=1e-9,
        instead=lambda t: np.max(abs(t.bound - 1)) < 1e-9,
        erratum="lacks the power d of h; with 1/(n h^d) it integrates to 1",
    ),
    "sec-iii-a/kde-rate": number(
        rows("scorecard/kutta2022-kernels", mechanism="noisy-sum-gaussian", rule="dpik"),
        lambda t: slope(t.l2, t.n),
        between=(-0.5, -0.33),
        because="n^-0.4 is the rate of a kernel of second order; only those of higher orders "
        "come nearer to n^-0.5",
    ),
    # Section III-B
    "sec-iii-b/floor-consistent": number(
        rows("scorecard/kutta2022-frequencies"),
        lambda t: last(t.divergence_error, by=t.n) / first(t.divergence_error, by=t.n),
        below=0.5,
        because="error of the plug-in with a floor of the order n^-0.1, at the largest n over "
        "that at the smallest",
    ),
    "sec-iii-b/softmax-floor": holds(
        (proofs("floor-reached"), proofs("soft-gap")),
        lambda floor, gap: (
            np.all(floor.value >= floor.bound)
            and largest_ratio(gap) <= 1
            and smallest_ratio(gap) < 0.01
        ),
    ),
    "sec-iii-b/floored-below": number(exact("floored-below"), excess, high=0),
    "sec-iii-b/normality": holds(
        rows("scorecard/kutta2022-moments"),
        lambda t: (
            np.min(t.scaled_sd) >= 0.9
            and np.max(t.scaled_sd) <= 1.1
            and np.min(t.where(mechanism=_BITS).p_value) >= 0.001
        ),
        because="deviation of the estimates over that of (18) at the floor; Kolmogorov-Smirnov "
        "for outputs that are atoms",
    ),
    "sec-iii-b/variance-consistent": number(
        rows("scorecard/kutta2022-moments", panel=("iv", "v", "vi", "vii")),
        lambda t: np.max(abs(t.scaled_sigma - 1)),
        high=0.05,
        differs="the statement is about large n; at this n, cells with few draws carry high orders",
    ),
    "sec-iii-b/variance-grows": holds(
        (
            exact("variance-against-floor"),
            exact("variance-against-floor", at=("v order=2 tau=0.01", "v order=2 tau=0.001")),
        ),
        lambda t, _: np.all(t.value <= t.bound),
        instead=lambda _, laplace: np.all(laplace.value > laplace.bound),
        erratum="for Laplace noise of scale 5 the variance falls as the floor does; for Gaussian "
        "noise at orders 5 and 7 it rises",
    ),
    # Section III-C
    "sec-iii-c/class-laplace": holds(
        (proofs("laplace-class"), proofs("laplace-rougher")),
        lambda smooth, rougher: (
            largest_ratio(smooth) <= 1 and np.all(rougher.value < rougher.bound)
        ),
        because="the shifted derivative's norm is below sqrt(2)/b^2 t^(1/2); over t^0.6 it grows "
        "as t falls",
    ),
    "sec-iii-c/class-gaussian": holds(proofs("gaussian-class"), lambda t: relative_error(t) < 1e-9),
    "sec-iii-c/bandwidth-range": holds(
        (proofs("printed-bandwidths"), proofs("corrected-bandwidths")),
        lambda t, _: np.max(t.value) < 0,
        instead=lambda t, correct: np.max(t.value) > 0 > np.max(correct.value),
        erratum="the proof needs u < 1/(2d) - v(l+1)/d; with a plus sign the remainder is not of "
        "smaller order",
    ),
    "sec-iii-c/discrete-range": number(
        exact("discrete-range"),
        "value",
        equals=[1 / 6, 1 / 22, 1 / 30],
        because="orders 2, 5 and 7; the experiments' tau = 1e-5 at n = 5e6 has v = 0.746, far "
        "outside",
    ),
    "sec-iii-c/tau-above-h": number(
        proofs("floor-above-bandwidth"),
        largest_ratio,
        below=1,
        because="floors n^-v that Assumption 1 allows fall more slowly than bandwidths n^-u; the "
        "experiments' tau = 1e-5 is far below their h",
    ),
    "sec-iii-c/beta": number(exact("smallest-beta"), error, high=1e-9),
    "sec-iii-c/undersmoothing": number(
        rows("scorecard/kutta2022-bandwidths"),
        lambda t: np.max(t.used / t.dpik),
        below=1,
        because="n^-0.22 instead of n^-0.2; Assumption 1 asks for more than n^-0.25",
    ),
    "sec-iii-c/theorem1": holds(
        (cells(), rows("scorecard/kutta2022-smaller", lambda t: t.n == np.min(t.n))),
        lambda large, small: (
            np.max(large.alpha_hat) < np.max(small.alpha_hat)
            and np.sum(large.alpha_hat <= 0.05) >= np.sum(small.alpha_hat <= 0.05)
        ),
        because="the largest share above the divergence falls from the smallest n, and no fewer "
        "cells are at most at 0.05",
        differs="the paper's own shares reach 0.089 at n = 5,000,000; n is too small or the bias "
        "of the floor too large",
    ),
    # Section IV-A, settings
    "sec-iv-a/setting-m": setting("mechanisms.noisy-sum-laplace.parameters.people"),
    "sec-iv-a/setting-lambda": setting_numbers(
        "reports.kutta2022.experiments.bounds.grid.0.lambda"
    ),
    "sec-iv-a/setting-alpha": setting(f"{_BOUND}.alpha"),
    "sec-iv-a/setting-n": setting(f"{_PAPER}.n"),
    "sec-iv-a/setting-tau": number(
        _FLOOR_AND_N, lambda floor, n: numbers(floor.value) / numbers(n.value), equals=printed
    ),
    "sec-iv-a/setting-beta": number(
        _FLOOR_AND_N,
        lambda floor, n: numbers(n.value) / numbers(floor.value),
        equals=printed,
        because="beta = 1/tau",
    ),
    "sec-iv-a/setting-grid": setting_numbers(f"{_BOUND}.points"),
    "sec-iv-a/setting-bandwidth-power": setting(f"{_BOUND}.power"),
    "sec-iv-a/setting-runs fig1/runs": setting(f"{_PAPER}.runs"),
    "sec-iv-a/setting-databases": setting_numbers(
        "mechanisms.noisy-sum-laplace.inputs.first-person", equals=[1] + 19 * [0]
    ),
    "sec-iv-a/distance": number(exact("databases-differ"), largest("value"), equals=printed),
    "sec-iv-a/software": number(rows("scorecard/kutta2022-software"), largest("error"), high=1e-9),
    "sec-iv-a/h-below-one": number(
        rows("scorecard/kutta2022-bandwidths"), largest("dpik"), below=1
    ),
    "sec-iv-a/level-equal": number(
        exact("pair-is-worst"),
        smallest_ratio,
        low=0.9,
        instead=lambda t: np.sum(t.value / t.bound >= 0.9) == len(t.value) - 3,
        because="smallest share of the largest divergence, over mechanisms and orders",
        erratum="equal for six of the seven; by the exact laws, shuffled bits have pairs with "
        "about twice the divergence of the chosen one",
    ),
    # Section IV-B
    "sec-iv-b/setting-b": number(exact("noise-scale", at="sums"), "value", equals=printed),
    "sec-iv-b/setting-gamma": setting(
        "mechanisms.noisy-sum-gaussian-subsampled.parameters.included"
    ),
    "sec-iv-b/setting-eps0": setting_numbers("reports.kutta2022.experiments.bounds.grid.2.epsilon"),
    "sec-iv-b/setting-eta": setting("mechanisms.noisy-gradient-descent.parameters.rate"),
    "sec-iv-b/setting-K": setting("mechanisms.noisy-gradient-descent.parameters.steps"),
    "sec-iv-b/setting-b-ngd": number(exact("noise-scale", at="descent"), "value", within=1e-12),
    "sec-iv-b/setting-theta0": number(exact("starts-at-zero"), "value", equals=printed),
    "sec-iv-b/sensitivity": number(exact("sum-moves"), "value", equals=printed),
    "sec-iv-b/truth-ii*": number(
        _CELL,
        "divergence",
        between=_around(lambda t: first(numbers(t.printed)), 1e-7),
        instead=lambda t: abs(t.divergence - last(numbers(t.printed))) <= 1e-7,
        erratum="prints eps_0(lambda) in the sum, where Zhu and Wang have eps_0(j); with that it "
        "is the divergence of the mixture",
    ),
    "sec-iv-b/truth-i-* sec-iv-b/truth-iv-* sec-iv-b/truth-v*": number(
        _CELL, "divergence", between=_around(lambda t: last(numbers(t.printed)), 1e-7)
    ),
    "sec-iv-b/reduction-ii*": number(cells(**_ORDER), _reduction, above=0.7),
    "sec-iv-b/reduction-vii-*": number(cells(**_ORDER), _reduction, above=0.6),
    "sec-iv-b/rr-level": number(
        rows("orders", lambda t: t["lambda"] > 1e9, mechanism="randomized-bits"),
        lambda t: first(t.divergence),
        between=(1.5 - 1e-9, 1.5 + 1e-9),
    ),
    "sec-iv-b/ngd-bound": number(
        exact("pair-is-worst", at=("i order=2", "i order=5", "i order=7")), largest_ratio, high=1
    ),
    "sec-iv-b/ngd-sensitivity": number(exact("gradient-moves"), error, equals=0),
    # Table I
    "table1/averaged": setting("reports.kutta2022.scales.paper.seconds.runs"),
    "table1/slowest": number(
        rows("table1"), lambda t: t.mechanism[np.argmax(t.minutes)], equals="noisy-gradient-descent"
    ),
    "table1/fastest": number(
        rows("table1"),
        lambda t: t.mechanism[np.argmin(t.minutes)],
        equals="noisy-sum-gaussian",
        differs="a statement on a program: in compiled loops the order is another",
    ),
    "table1/subsampling-adds": number(
        rows("table1"),
        lambda t: np.minimum(
            _over_plain(t, "noisy-sum-laplace-subsampled", "minutes"),
            _over_plain(t, "noisy-sum-gaussian-subsampled", "minutes"),
        ),
        above=1,
    ),
    "table1/shuffling-adds": number(
        rows("table1"), lambda t: _over_plain(t, "randomized-bits-shuffled", "minutes"), above=1
    ),
    "table1/*": number(
        rows("table1", **_MECHANISM),
        "minutes",
        high=printed,
        because="another machine and another language; ours has to be no slower",
    ),
    # Figure 1
    "fig1/alpha-*": number(_CELL, "alpha_hat", within=_spread),
    "fig1/elements": holds(
        rows("scorecard/drawn", figure="kutta2022/fig1"),
        lambda t: all(_has_violins(panel) for panel in t.by("panel")),
        because="in every panel a density, a median and a bar for each order, and a red line; "
        "where they end is in no table",
    ),
    "fig1/median-*": number(_CELL, "median_ratio", above=0.95),
    "fig1/median-vii-5 fig1/median-vii-7": number(
        (_CELL, exact("deviation", at="vii order=5"), exact("deviation", at="vii order=7")),
        "median_ratio",
        low=lambda t, at_5, at_7: (at_5 if t.key["lambda"] == 5 else at_7).bound - 0.02,
        because="one of the few exceptions to almost all cells; the floor alone leaves 0.946 at "
        "order 5 and 0.924 at order 7",
    ),
    "fig1/median-count": number(cells(), lambda t: np.sum(t.median_ratio > 0.95), low=18),
    "fig1/rarely-below": holds(rows("fig1"), _rarely_below),
    "fig1/rr-tight": holds(cells(), _bits_concentrate),
    "fig1/ngd-variance": number(
        cells(),
        lambda t: np.max([_place_from_top(g) for g in t.by("lambda")]),
        high=3,
        because="their deviations are among so many largest",
    ),
    "fig1/variance-order-*": number(
        cells(**_MECHANISM), _widening, above=1, because="deviation at order 7 over that at order 2"
    ),
    **{
        f"fig1/variance-order-{panel}": number(
            (
                cells(**_MECHANISM),
                exact("deviation", at=f"{panel} order=7"),
                exact("deviation", at=f"{panel} order=2"),
            ),
            _widening,
            above=1,
            instead=lambda _, at_7, at_2: at_7.value < at_2.value,
            erratum="the deviation of the ratio falls with the order, by (18), too",
        )
        for panel in ("iii", "v", "vi")
    },
    "fig1/bias-order": holds(cells(), _bias_rises_and_falls),
    "fig1/mass-below-*": number(cells(**_MECHANISM), largest("alpha_hat"), below=0.5),
    "fig1/level-met": number(cells(), lambda t: np.sum(t.alpha_hat <= 0.05), above=11),
    "fig1/level-exceeded": number(cells(), lambda t: np.sum(t.alpha_hat <= 0.03), above=11),
    "fig1/undercoverage-ngd": holds(
        cells(lambda t: t["lambda"] >= 5, **_MECHANISM),
        lambda t: np.min(t.alpha_hat) > 0.05 and np.max(t.alpha_hat) <= 0.12,
    ),
    "fig1/undercoverage-ngd-rises": holds(
        cells(**_MECHANISM),
        lambda t: (
            last(t.alpha_hat, by=t["lambda"]) > first(t.alpha_hat, by=t["lambda"])
            and last(t.sd_ratio, by=t["lambda"]) > first(t.sd_ratio, by=t["lambda"])
        ),
    ),
    "fig1/undercoverage-only-ngd": number(
        cells(lambda t: t.mechanism != "noisy-gradient-descent"),
        lambda t: np.sum(t.alpha_hat > _undercovered(t)),
        high=0,
        instead=lambda t: (
            np.max(t.where(t["lambda"] == 7, mechanism="noisy-sum-laplace-subsampled").alpha_hat)
            > np.max(_undercovered(t))
        ),
        erratum="the subsampled Laplace mechanism at order 7 is above 0.05 with 99 % confidence, "
        "too, here and in the print",
    ),
    "fig1/tuning-helps": number(
        _SHUFFLED,
        lambda t: np.max([_distance_ratio(g) for g in t.by("lambda")]),
        below=1,
        because="distance of the median from 1 at half the floor, over that at the floor; of one "
        "mechanism and two floors",
    ),
    "sec-v/overlap": undecided("which mechanisms earlier papers have studied is in no number"),
    "sec-vi/summary": holds(
        (cells(), rows("table1")),
        lambda bounds, time: (
            np.sum(bounds.median_ratio > 0.95) >= 18
            and np.sum(bounds.alpha_hat <= 0.05) > 11
            and np.max(time.minutes) <= 11.1
        ),
    ),
    # Appendix
    "figA/alpha-1e-5-*": number(
        _CELL, "alpha_hat", within=_spread, because="at tau = 1e-5, for which the text prints 10^5"
    ),
    "figA/alpha-5e-6-*": number(
        cells(**_MECHANISM, **_ORDER, draws_at_floor=25),
        "alpha_hat",
        within=_spread,
        because="at tau = 5e-6, for which the text prints 5x10^6",
    ),
    **{
        f"figA/bias-{order}": number(
            rows("alpha_hat", **_MECHANISM, **_ORDER),
            lambda t: _lower_floor(t, "median_ratio"),
            between=(fall - 0.01, fall + 0.01),
            because=f"the exact bias of the floor falls by {fall}",
        )
        for order, fall in ((2, 0.0188), (5, 0.0306), (7, 0.0407))
    },
    "figA/variance": number(
        _SHUFFLED,
        lambda t: np.min(
            [
                _lower_floor(g, "median_ratio") - abs(_lower_floor(g, "sd_ratio"))
                for g in t.by("lambda")
            ]
        ),
        above=0,
    ),
    "appendix-a-a/lemma1-ii": number(
        rows("scorecard/kutta2022-frequencies", lambda t: t.n == np.max(t.n)),
        lambda t: 1 - t.within,
        low=0.99,
        instead=lambda t: t.within >= 0.99,
        erratum="the inner inequality is the wrong way round; deviations are below sqrt(log n / "
        "n) in nearly all runs",
    ),
    "appendix-a-a/lemma2-iii": number(
        rows("scorecard/kutta2022-kernels", rule="dpik"),
        lambda t: np.min(_sup_deviation(t)),
        low=1,
        instead=lambda t: np.max(_sup_deviation(t)) < 1,
        erratum="the inner inequality is the wrong way round, as in Lemma 1",
        because="largest deviation over sqrt(log n / (n h)) + h",
    ),
    "appendix-a-a/silverman": number(
        proofs("silverman"),
        "value",
        between=(1 - 1e-6, 1 + 1e-6),
        instead=lambda t: abs(t.bound - 1) < 1e-6,
        erratum="as printed the kernel integrates to 1.138; with exp(-|t|/sqrt 2) to 1",
    ),
    "appendix-a-a/gaussian-kernel": number(proofs("gaussian"), error, high=1e-9),
    "appendix-a-a/kde-variance": number(
        rows("scorecard/kutta2022-kernels"),
        largest("variance"),
        high=0.35,
        because="integrated variance times n h; the kernel's own constant is 1/(2 sqrt pi) = 0.282",
    ),
    "appendix-a-b/softmax-gap": holds(
        (proofs("soft-gap"), proofs("floor-reached")),
        lambda gap, floor: largest_ratio(gap) <= 1 and np.all(floor.value >= floor.bound),
        because="the upper end for three betas a floor, the lower for beta = 1/tau",
    ),
    "appendix-a-b/softmax-lipschitz": number(proofs("soft-slope"), largest("value"), high=1),
    "appendix-a-c/laplace-lipschitz": number(proofs("laplace-slope"), relative_error, high=0.001),
    "appendix-a-c/laplace-norm": number(proofs("laplace-norm"), relative_error, high=0.001),
    "appendix-a-d/t3-order": number(
        proofs("variance-in-bandwidth"),
        largest("value"),
        between=(0.9, 1.1),
        instead=lambda t: abs(largest("value")(t) + 1) < 0.1,
        erratum="h^-d, by Lemma 2 i); the variance of the density estimate falls as the bandwidth "
        "grows",
        because="slope of the integrated variance in log h",
    ),
    "appendix-a-e/b1-order": holds(
        (proofs("printed-exponent"), proofs("corrected-exponent")),
        lambda t, _: np.all(t.value < t.bound),
        instead=lambda t, correct: (
            np.all(t.value > t.bound) and np.all(correct.value < correct.bound)
        ),
        erratum="the exponent is lambda - 1; with 1 - lambda the bound grows",
    ),
    "appendix-a-e/r4": holds(
        (proofs("printed-r4"), proofs("corrected-r4")),
        lambda t, _: np.all(t.value <= t.bound),
        instead=lambda _, correct: np.all(correct.value <= correct.bound),
        erratum="q_hat - q is meant; p may be known exactly while q moves",
    ),
}
