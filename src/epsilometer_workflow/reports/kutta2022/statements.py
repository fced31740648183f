"""How the statements of kutta2022 are decided: ids without the paper, and a criterion for each.

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
    undecided,
)
from epsilometer_workflow.reports.scorecard.measures import (
    allowance,
    error,
    excess,
    first,
    largest_ratio,
    last,
    numbers,
    relative_error,
    rises,
    same,
    slope,
    spread,
    within,
)


def exact(*checks: str) -> Selection:
    """Select rows of the table that works out formulas at some points."""
    return rows("scorecard/kutta2022-exact", check=checks)


def proofs(*checks: str) -> Selection:
    """Select rows of the table that works out formulas at some points."""
    return rows("scorecard/kutta2022-proofs", check=checks)


def _monotone(exact: Rows, drawn: Rows) -> Value:
    most = drawn.n == np.max(drawn.n)
    return np.all(only(exact.value < exact.bound, exact.check == "monotone")) and rises(
        drawn.where(most).estimate, by=drawn.where(most)["lambda"]
    )


def _softmax_floor(t: Rows) -> Value:
    gap = only(t.value / t.bound, t.check == "soft-gap")
    return (
        np.all(only(t.value >= t.bound, t.check == "floor-reached"))
        and np.max(gap) <= 1
        and np.min(gap) < 0.01
    )


def _normality(t: Rows) -> Value:
    atoms = (t.mechanism == "randomized-bits") | (t.mechanism == "randomized-bits-shuffled")
    return (
        np.min(t.scaled_sd) >= 0.9
        and np.max(t.scaled_sd) <= 1.1
        and np.min(t.where(atoms).p_value) >= 0.001
    )


def _theorem1(large: Rows, small: Rows) -> Value:
    few = small.n == np.min(small.n)
    return np.max(large.where(draws_at_floor=50).alpha_hat) < np.max(
        small.where(few).alpha_hat
    ) and np.sum(large.where(draws_at_floor=50).alpha_hat <= 0.05) >= np.sum(
        small.where(few).alpha_hat <= 0.05
    )


def _setting_tau(t: Rows) -> Value:
    return numbers(
        t.where(
            setting="estimators.renyi-bound-as-published-draws=50.parameters.draws_at_floor"
        ).value
    ) / numbers(t.where(setting="reports.kutta2022.scales.paper.bounds.n").value)


def _setting_beta(t: Rows) -> Value:
    return numbers(t.where(setting="reports.kutta2022.scales.paper.bounds.n").value) / numbers(
        t.where(
            setting="estimators.renyi-bound-as-published-draws=50.parameters.draws_at_floor"
        ).value
    )


def _subsampling_adds(t: Rows) -> Value:
    laplace = (
        t.where(mechanism="noisy-sum-laplace-subsampled").minutes
        / t.where(mechanism="noisy-sum-laplace").minutes
    )
    gaussian = (
        t.where(mechanism="noisy-sum-gaussian-subsampled").minutes
        / t.where(mechanism="noisy-sum-gaussian").minutes
    )
    return np.minimum(laplace, gaussian)


def _median_vii_7_low(t: Rows, exact: Rows) -> Value:
    bias = exact.where(check="deviation", at="vii order=5").bound
    bias7 = exact.where(check="deviation", at="vii order=7").bound
    return np.minimum(bias, bias7) - 0.02


def _median_vii_7(t: Rows, exact: Rows) -> Value:
    row = (
        same(t.mechanism, t.key["mechanism"])
        & same(t["lambda"], t.key["lambda"])
        & (t.draws_at_floor == 50)
    )
    return t.where(row).median_ratio


def _rarely_below(t: Rows) -> Value:
    each = np.array([np.mean(g.ratio < 0.95) for g in t.by("panel", "lambda")])
    return np.sum(each <= 0.05) > 11 and np.sum(each == 0) >= 5


def _variance_order_i(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_ii(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_iii_instead(t: Rows, exact: Rows) -> Value:
    sigma = (exact.check == "deviation") & within(exact.at, ("iii order=2", "iii order=7"))
    return last(exact.where(sigma).value) < first(exact.where(sigma).value)


def _variance_order_iii(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_iv(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_v_instead(t: Rows, exact: Rows) -> Value:
    sigma = (exact.check == "deviation") & within(exact.at, ("v order=2", "v order=7"))
    return last(exact.where(sigma).value) < first(exact.where(sigma).value)


def _variance_order_v(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_vi_instead(t: Rows, exact: Rows) -> Value:
    sigma = (exact.check == "deviation") & within(exact.at, ("vi order=2", "vi order=7"))
    return last(exact.where(sigma).value) < first(exact.where(sigma).value)


def _variance_order_vi(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _variance_order_vii(t: Rows, exact: Rows) -> Value:
    row = same(t.mechanism, t.key["mechanism"]) & (t.draws_at_floor == 50)
    return t.where(row & (t["lambda"] == 7)).sd_ratio / t.where(row & (t["lambda"] == 2)).sd_ratio


def _bias_order(t: Rows) -> Value:
    each = np.array(
        [
            g.where(g["lambda"] == 7).median_ratio - g.where(g["lambda"] == 2).median_ratio
            for g in t.by("mechanism")
        ]
    )
    return np.min(each) < 0 and np.max(each) > 0


def _undercoverage_only_ngd_instead(t: Rows) -> Value:
    beyond = 0.05 + 2.326 / 2.6 * allowance(0.05, t.runs)
    return np.max(
        t.where(t["lambda"] == 7, mechanism="noisy-sum-laplace-subsampled").alpha_hat
    ) > np.max(beyond)


def _undercoverage_only_ngd(t: Rows) -> Value:
    beyond = 0.05 + 2.326 / 2.6 * allowance(0.05, t.runs)
    return np.sum(t.alpha_hat > beyond)


CRITERIA: dict[str, Criterion] = {
    "abstract/bound-holds": number(
        rows("alpha_hat", lambda t: t.paper_alpha_hat <= 0.05, draws_at_floor=50),
        lambda t: np.max(t.alpha_hat - allowance(0.05, t.runs)),
        high=0.05,
        because=(
            "largest share above the truth less 2.6 standard errors, of the cells where the "
            "paper prints 0.05 or less"
        ),
    ),
    # Section II
    "sec-ii-a/example1": number(
        exact("laplace-level"),
        "value",
        low=lambda t: t.bound - 1e-12,
        high=lambda t: t.bound + 1e-12,
    ),
    "sec-ii-a/gaussian-not-dp": number(
        exact("gaussian-loss"),
        largest_ratio,
        high=0.1,
        because="ten times further out the loss is ten times as large",
    ),
    "sec-ii-a/monotone": holds(
        (rows("scorecard/kutta2022-exact"), rows("scorecard/kutta2022-orders")), _monotone
    ),
    "sec-ii-a/limit": number(exact("limit"), relative_error, high=0.02),
    "sec-ii-a/gaussian-linear": number(exact("gaussian-linear"), error, high=1e-9),
    "sec-ii-b/conf-typical": number(
        rows(
            "scorecard/settings",
            setting="estimators.renyi-bound-as-published-draws=50.parameters.alpha",
        ),
        lambda t: numbers(t.value),
        low=0.01,
        high=0.05,
    ),
    "sec-ii-b/maximum": number(
        rows("maxima", estimator="renyi-bound-as-published-draws=50"),
        lambda t: np.min(t.covered - t.promised + allowance(t.promised, t.runs)),
        low=0,
        because=(
            "of pairs with samples of their own; smallest share that holds less (1 - "
            "alpha)^N, plus 2.6 standard errors"
        ),
    ),
    "sec-ii-b/far-apart": number(exact("far-apart"), largest_ratio, below=1),
    # Section III-A, density estimates
    "sec-iii-a/rfe-rate": number(
        rows("scorecard/kutta2022-frequencies"),
        lambda t: slope(t.error, t.n),
        low=-0.55,
        high=-0.45,
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
        low=-0.5,
        high=-0.33,
        because=(
            "n^-0.4 is the rate of a kernel of second order; only those of higher orders "
            "come nearer to n^-0.5"
        ),
    ),
    # Section III-B
    "sec-iii-b/floor-consistent": number(
        rows("scorecard/kutta2022-frequencies"),
        lambda t: last(t.divergence_error, by=t.n) / first(t.divergence_error, by=t.n),
        below=0.5,
        because=(
            "error of the plug-in with a floor of the order n^-0.1, at the largest n over "
            "that at the smallest"
        ),
    ),
    "sec-iii-b/softmax-floor": holds(rows("scorecard/kutta2022-proofs"), _softmax_floor),
    "sec-iii-b/floored-below": number(exact("floored-below"), excess, high=0),
    "sec-iii-b/normality": holds(
        rows("scorecard/kutta2022-moments"),
        _normality,
        because=(
            "deviation of the estimates over that of (18) at the floor; Kolmogorov-Smirnov "
            "for outputs that are atoms"
        ),
    ),
    "sec-iii-b/variance-consistent": number(
        rows("scorecard/kutta2022-moments", panel=("iv", "v", "vi", "vii")),
        lambda t: np.max(abs(t.scaled_sigma - 1)),
        high=0.05,
    ),
    "sec-iii-b/variance-grows": holds(
        exact("variance-against-floor"),
        lambda t: np.all(t.value <= t.bound),
        instead=lambda t: np.all(
            only(t.value > t.bound, within(t.at, ("v order=2 tau=0.01", "v order=2 tau=0.001")))
        ),
        erratum=(
            "for Laplace noise of scale 5 the variance falls as the floor does; for Gaussian "
            "noise at orders 5 and 7 it rises"
        ),
    ),
    # Section III-C
    "sec-iii-c/class-laplace": holds(
        rows("scorecard/kutta2022-proofs"),
        lambda t: (
            np.max(only(t.value / t.bound, t.check == "laplace-class")) <= 1
            and np.all(only(t.value < t.bound, t.check == "laplace-rougher"))
        ),
        because=(
            "the shifted derivative's norm is below sqrt(2)/b^2 t^(1/2); over t^0.6 it grows "
            "as t falls"
        ),
    ),
    "sec-iii-c/class-gaussian": holds(
        proofs("gaussian-class"),
        lambda t: np.all(np.isfinite(t.value)) and np.max(abs(t.value / t.bound - 1)) < 1e-9,
    ),
    "sec-iii-c/bandwidth-range": holds(
        rows("scorecard/kutta2022-proofs"),
        lambda t: np.max(t.where(check="printed-bandwidths").value) < 0,
        instead=lambda t: (
            np.max(t.where(check="printed-bandwidths").value) > 0
            and np.max(t.where(check="corrected-bandwidths").value) < 0
        ),
        erratum=(
            "the proof needs u < 1/(2d) - v(l+1)/d; with a plus sign the remainder is not of "
            "smaller order"
        ),
    ),
    "sec-iii-c/discrete-range": number(
        exact("discrete-range"),
        "value",
        equals=[1 / 6, 1 / 22, 1 / 30],
        because=(
            "orders 2, 5 and 7; the experiments' tau = 1e-5 at n = 5e6 has v = 0.746, far outside"
        ),
    ),
    "sec-iii-c/tau-above-h": number(
        proofs("floor-above-bandwidth"),
        largest_ratio,
        below=1,
        because=(
            "floors n^-v that Assumption 1 allows fall more slowly than bandwidths n^-u; the "
            "experiments' tau = 1e-5 is far below their h"
        ),
    ),
    "sec-iii-c/beta": number(exact("smallest-beta"), error, high=1e-9),
    "sec-iii-c/undersmoothing": number(
        rows("scorecard/kutta2022-bandwidths"),
        lambda t: np.max(t.used / t.dpik),
        below=1,
        because="n^-0.22 instead of n^-0.2; Assumption 1 asks for more than n^-0.25",
    ),
    "sec-iii-c/theorem1": holds(
        (rows("alpha_hat"), rows("scorecard/kutta2022-smaller")),
        _theorem1,
        because=(
            "the largest share above the divergence falls from the smallest n, and no fewer "
            "cells are at most at 0.05"
        ),
    ),
    # Section IV-A, settings
    "sec-iv-a/setting-m": setting("mechanisms.noisy-sum-laplace.parameters.people"),
    "sec-iv-a/setting-lambda": number(
        rows("scorecard/settings", setting="reports.kutta2022.experiments.bounds.grid.0.lambda"),
        lambda t: numbers(t.value),
        equals=lambda t: numbers(t.printed),
    ),
    "sec-iv-a/setting-alpha": setting(
        "estimators.renyi-bound-as-published-draws=50.parameters.alpha"
    ),
    "sec-iv-a/setting-n": setting("reports.kutta2022.scales.paper.bounds.n"),
    "sec-iv-a/setting-tau": number(rows("scorecard/settings"), _setting_tau, equals=printed),
    "sec-iv-a/setting-beta": number(
        rows("scorecard/settings"), _setting_beta, equals=printed, because="beta = 1/tau"
    ),
    "sec-iv-a/setting-grid": number(
        rows(
            "scorecard/settings",
            setting="estimators.renyi-bound-as-published-draws=50.parameters.points",
        ),
        lambda t: numbers(t.value),
        equals=lambda t: numbers(t.printed),
    ),
    "sec-iv-a/setting-bandwidth-power": setting(
        "estimators.renyi-bound-as-published-draws=50.parameters.power"
    ),
    "sec-iv-a/setting-runs fig1/runs": setting("reports.kutta2022.scales.paper.bounds.runs"),
    "sec-iv-a/setting-databases": number(
        rows("scorecard/settings", setting="mechanisms.noisy-sum-laplace.inputs.first-person"),
        lambda t: numbers(t.value),
        equals=[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ),
    "sec-iv-a/distance": number(
        exact("databases-differ"), lambda t: np.max(t.value), equals=printed
    ),
    "sec-iv-a/software": number(
        rows("scorecard/kutta2022-software"), lambda t: np.max(t.error), high=1e-9
    ),
    "sec-iv-a/h-below-one": number(
        rows("scorecard/kutta2022-bandwidths"), lambda t: np.max(t.dpik), below=1
    ),
    "sec-iv-a/level-equal": number(
        exact("pair-is-worst"),
        lambda t: np.mean(t.value / t.bound > 0.999),
        low=18 / 21,
        because=(
            "equal for six of the seven; for the shuffled one the chosen pair has 0.59, 0.43 "
            "and 0.46 of the largest divergence at orders 2, 5 and 7"
        ),
    ),
    # Section IV-B
    "sec-iv-b/setting-b": number(
        rows("scorecard/kutta2022-exact", check="noise-scale", at="sums"), "value", equals=printed
    ),
    "sec-iv-b/setting-gamma": setting(
        "mechanisms.noisy-sum-gaussian-subsampled.parameters.included"
    ),
    "sec-iv-b/setting-eps0": number(
        rows("scorecard/settings", setting="reports.kutta2022.experiments.bounds.grid.2.epsilon"),
        lambda t: numbers(t.value),
        equals=printed,
    ),
    "sec-iv-b/setting-eta": setting("mechanisms.noisy-gradient-descent.parameters.rate"),
    "sec-iv-b/setting-K": setting("mechanisms.noisy-gradient-descent.parameters.steps"),
    "sec-iv-b/setting-b-ngd": number(
        rows("scorecard/kutta2022-exact", check="noise-scale", at="descent"), "value", within=1e-12
    ),
    "sec-iv-b/setting-theta0": number(exact("starts-at-zero"), "value", equals=printed),
    "sec-iv-b/sensitivity": number(exact("sum-moves"), "value", equals=printed),
    "sec-iv-b/truth-ii-* sec-iv-b/truth-iii-*": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=50,
        ),
        "divergence",
        low=lambda t: first(numbers(t.printed)) - 1e-7,
        high=lambda t: first(numbers(t.printed)) + 1e-7,
        instead=lambda t: abs(t.divergence - last(numbers(t.printed))) <= 1e-7,
        erratum=(
            "prints eps_0(lambda) in the sum, where Zhu and Wang have eps_0(j); with that it "
            "is the divergence of the mixture"
        ),
    ),
    "sec-iv-b/truth-i-* sec-iv-b/truth-iv-* sec-iv-b/truth-v-* sec-iv-b/truth-vi-* sec-iv-b/truth-vii-*": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=50,
        ),
        "divergence",
        low=lambda t: last(numbers(t.printed)) - 1e-7,
        high=lambda t: last(numbers(t.printed)) + 1e-7,
    ),
    "sec-iv-b/reduction-ii-*": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), draws_at_floor=50),
        lambda t: (
            1
            - t.where(mechanism="noisy-sum-gaussian-subsampled").divergence
            / t.where(mechanism="noisy-sum-gaussian").divergence
        ),
        above=0.7,
    ),
    "sec-iv-b/reduction-iii-*": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), draws_at_floor=50),
        lambda t: (
            1
            - t.where(mechanism="noisy-sum-laplace-subsampled").divergence
            / t.where(mechanism="noisy-sum-laplace").divergence
        ),
        above=0.7,
    ),
    "sec-iv-b/reduction-vii-*": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), draws_at_floor=50),
        lambda t: (
            1
            - t.where(mechanism="randomized-bits-shuffled").divergence
            / t.where(mechanism="randomized-bits").divergence
        ),
        above=0.6,
    ),
    "sec-iv-b/rr-level": number(
        rows("orders", lambda t: t["lambda"] > 1e9, mechanism="randomized-bits"),
        lambda t: first(t.divergence),
        low=1.5 - 1e-9,
        high=1.5 + 1e-9,
    ),
    "sec-iv-b/ngd-bound": number(
        rows(
            "scorecard/kutta2022-exact",
            check="pair-is-worst",
            at=("i order=2", "i order=5", "i order=7"),
        ),
        largest_ratio,
        high=1,
    ),
    "sec-iv-b/ngd-sensitivity": number(exact("gradient-moves"), error, equals=0),
    # Table I
    "table1/averaged": setting("reports.kutta2022.scales.paper.seconds.runs"),
    "table1/slowest": number(
        rows("table1"), lambda t: t.mechanism[np.argmax(t.minutes)], equals="noisy-gradient-descent"
    ),
    "table1/fastest": number(
        rows("table1"), lambda t: t.mechanism[np.argmin(t.minutes)], equals="noisy-sum-gaussian"
    ),
    "table1/subsampling-adds": number(rows("table1"), _subsampling_adds, above=1),
    "table1/shuffling-adds": number(
        rows("table1"),
        lambda t: (
            t.where(mechanism="randomized-bits-shuffled").minutes
            / t.where(mechanism="randomized-bits").minutes
        ),
        above=1,
    ),
    "table1/*": number(
        rows("table1", mechanism=key("mechanism")),
        "minutes",
        high=printed,
        because="another machine and another language; ours has to be no slower",
    ),
    # Figure 1
    "fig1/alpha-*": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=50,
        ),
        "alpha_hat",
        within=lambda t: spread(t.ours, t.runs, t.printed, t.key["runs"]),
    ),
    "fig1/elements": holds(
        rows("scorecard/drawn", figure="kutta2022/fig1"),
        lambda t: (
            np.any((t.kind == "area") & (t.points > 50))
            and np.any(t.kind == "points")
            and np.any((t.kind == "line") & (t.along == "horizontal") & (t.colour == "#c0392b"))
        ),
        because="densities, medians, and a red line at 1",
    ),
    "fig1/median-vii-7 fig1/median-vii-5": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")),
        _median_vii_7,
        low=_median_vii_7_low,
        because=(
            "one of the few exceptions to almost all cells; the floor alone leaves 0.946 at "
            "order 5 and 0.924 at order 7"
        ),
    ),
    "fig1/median-i-* fig1/median-ii-* fig1/median-iii-* fig1/median-iv-* fig1/median-v-* fig1/median-vi-* fig1/median-vii-2": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=50,
        ),
        "median_ratio",
        above=0.95,
    ),
    "fig1/median-count": number(
        rows("alpha_hat", draws_at_floor=50), lambda t: np.sum(t.median_ratio > 0.95), low=18
    ),
    "fig1/rarely-below": number(rows("fig1"), _rarely_below, equals=True),
    "fig1/rr-tight": number(
        rows("alpha_hat", draws_at_floor=50),
        lambda t: np.all(
            [
                g.mechanism[np.argmin(g.sd_ratio)] == "randomized-bits"
                and np.min(g.where(mechanism="randomized-bits").median_ratio) > 0.99
                for g in t.by("lambda")
            ]
        ),
        equals=True,
    ),
    "fig1/ngd-variance": number(
        rows("alpha_hat", draws_at_floor=50),
        lambda t: np.max(
            [
                np.sum(
                    g.sd_ratio
                    >= np.min(
                        g.where(
                            mechanism=("noisy-gradient-descent", "noisy-sum-gaussian-subsampled")
                        ).sd_ratio
                    )
                )
                for g in t.by("lambda")
            ]
        ),
        high=3,
        because="their deviations are among so many largest",
    ),
    "fig1/variance-order-i": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")), _variance_order_i, above=1
    ),
    "fig1/variance-order-ii": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")), _variance_order_ii, above=1
    ),
    "fig1/variance-order-iii": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")),
        _variance_order_iii,
        above=1,
        instead=_variance_order_iii_instead,
        erratum="the deviation of the ratio falls with the order, by (18), too",
    ),
    "fig1/variance-order-iv": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")), _variance_order_iv, above=1
    ),
    "fig1/variance-order-v": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")),
        _variance_order_v,
        above=1,
        instead=_variance_order_v_instead,
        erratum="the deviation of the ratio falls with the order, by (18), too",
    ),
    "fig1/variance-order-vi": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")),
        _variance_order_vi,
        above=1,
        instead=_variance_order_vi_instead,
        erratum="the deviation of the ratio falls with the order, by (18), too",
    ),
    "fig1/variance-order-vii": number(
        (rows("alpha_hat"), rows("scorecard/kutta2022-exact")), _variance_order_vii, above=1
    ),
    "fig1/bias-order": number(rows("alpha_hat", draws_at_floor=50), _bias_order, equals=True),
    "fig1/mass-below-*": number(
        rows("alpha_hat", mechanism=key("mechanism"), draws_at_floor=50),
        lambda t: np.max(t.alpha_hat),
        below=0.5,
    ),
    "fig1/level-met": number(
        rows("alpha_hat", draws_at_floor=50), lambda t: np.sum(t.alpha_hat <= 0.05), above=11
    ),
    "fig1/level-exceeded": number(
        rows("alpha_hat", draws_at_floor=50), lambda t: np.sum(t.alpha_hat <= 0.03), above=11
    ),
    "fig1/undercoverage-ngd": holds(
        rows(
            "alpha_hat", lambda t: t["lambda"] >= 5, mechanism=key("mechanism"), draws_at_floor=50
        ),
        lambda t: np.min(t.alpha_hat) > 0.05 and np.max(t.alpha_hat) <= 0.12,
    ),
    "fig1/undercoverage-ngd-rises": holds(
        rows("alpha_hat", mechanism=key("mechanism"), draws_at_floor=50),
        lambda t: (
            last(t.alpha_hat, by=t["lambda"]) > first(t.alpha_hat, by=t["lambda"])
            and last(t.sd_ratio, by=t["lambda"]) > first(t.sd_ratio, by=t["lambda"])
        ),
    ),
    "fig1/undercoverage-only-ngd": number(
        rows("alpha_hat", lambda t: t.mechanism != "noisy-gradient-descent", draws_at_floor=50),
        _undercoverage_only_ngd,
        high=0,
        instead=_undercoverage_only_ngd_instead,
        erratum=(
            "the subsampled Laplace mechanism at order 7 is above 0.05 with 99 % confidence, "
            "too, here and in the print"
        ),
    ),
    "fig1/tuning-helps": number(
        rows("alpha_hat", mechanism="randomized-bits-shuffled"),
        lambda t: np.min(
            [
                g.where(draws_at_floor=25).median_ratio - g.where(draws_at_floor=50).median_ratio
                for g in t.by("lambda")
            ]
        ),
        above=0,
    ),
    "sec-v/overlap": undecided("which mechanisms earlier papers have studied is in no number"),
    "sec-vi/summary": holds(
        (rows("alpha_hat"), rows("table1")),
        lambda bounds, time: (
            np.sum(bounds.where(draws_at_floor=50).median_ratio > 0.95) >= 18
            and np.sum(bounds.where(draws_at_floor=50).alpha_hat <= 0.05) > 11
            and np.max(time.minutes) <= 11.1
        ),
    ),
    # Appendix
    "figA/alpha-1e-5-*": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=50,
        ),
        "alpha_hat",
        within=lambda t: spread(t.ours, t.runs, t.printed, 1000),
        because="at tau = 1e-5, for which the text prints 10^5",
    ),
    "figA/alpha-5e-6-*": number(
        rows(
            "alpha_hat",
            lambda t: same(t["lambda"], t.key["lambda"]),
            mechanism=key("mechanism"),
            draws_at_floor=25,
        ),
        "alpha_hat",
        within=lambda t: spread(t.ours, t.runs, t.printed, 1000),
        because="at tau = 5e-6, for which the text prints 5x10^6",
    ),
    "figA/bias-2": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), mechanism=key("mechanism")),
        lambda t: t.where(draws_at_floor=25).median_ratio - t.where(draws_at_floor=50).median_ratio,
        low=0.0188 - 0.01,
        high=0.0188 + 0.01,
        because="the exact bias of the floor falls by 0.0188",
    ),
    "figA/bias-5": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), mechanism=key("mechanism")),
        lambda t: t.where(draws_at_floor=25).median_ratio - t.where(draws_at_floor=50).median_ratio,
        low=0.0206,
        high=0.0406,
        because="the exact bias of the floor falls by 0.0306",
    ),
    "figA/bias-7": number(
        rows("alpha_hat", lambda t: same(t["lambda"], t.key["lambda"]), mechanism=key("mechanism")),
        lambda t: t.where(draws_at_floor=25).median_ratio - t.where(draws_at_floor=50).median_ratio,
        low=0.0307,
        high=0.0507,
        because="the exact bias of the floor falls by 0.0407",
    ),
    "figA/variance": number(
        rows("alpha_hat", mechanism="randomized-bits-shuffled"),
        lambda t: np.min(
            [
                g.where(draws_at_floor=25).median_ratio
                - g.where(draws_at_floor=50).median_ratio
                - abs(g.where(draws_at_floor=25).sd_ratio - g.where(draws_at_floor=50).sd_ratio)
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
        erratum=(
            "the inner inequality is the wrong way round; deviations are below sqrt(log n / "
            "n) in nearly all runs"
        ),
    ),
    "appendix-a-a/lemma2-iii": number(
        rows("scorecard/kutta2022-kernels", rule="dpik"),
        lambda t: np.min(t.largest / (np.sqrt(np.log(t.n) / (t.n * t.bandwidth)) + t.bandwidth)),
        low=1,
        instead=lambda t: (
            np.max(t.largest / (np.sqrt(np.log(t.n) / (t.n * t.bandwidth)) + t.bandwidth)) < 1
        ),
        erratum="the inner inequality is the wrong way round, as in Lemma 1",
        because="largest deviation over sqrt(log n / (n h)) + h",
    ),
    "appendix-a-a/silverman": number(
        proofs("silverman"),
        "value",
        low=1 - 1e-6,
        high=1 + 1e-6,
        instead=lambda t: abs(t.bound - 1) < 1e-6,
        erratum="as printed the kernel integrates to 1.138; with exp(-|t|/sqrt 2) to 1",
    ),
    "appendix-a-a/gaussian-kernel": number(proofs("gaussian"), error, high=1e-9),
    "appendix-a-a/kde-variance": number(
        rows("scorecard/kutta2022-kernels"),
        lambda t: np.max(t.variance),
        high=0.35,
        because=(
            "integrated variance times n h; the kernel's own constant is 1/(2 sqrt pi) = 0.282"
        ),
    ),
    "appendix-a-b/softmax-gap": number(proofs("soft-gap"), largest_ratio, high=1),
    "appendix-a-b/softmax-lipschitz": number(
        proofs("soft-slope"), lambda t: np.max(t.value), high=1
    ),
    "appendix-a-c/laplace-lipschitz": number(proofs("laplace-slope"), relative_error, high=0.001),
    "appendix-a-c/laplace-norm": number(proofs("laplace-norm"), relative_error, high=0.001),
    "appendix-a-d/t3-order": number(
        proofs("variance-in-bandwidth"),
        lambda t: np.max(t.value),
        low=0.9,
        high=1.1,
        instead=lambda t: abs(np.max(t.value) + 1) < 0.1,
        erratum=(
            "h^-d, by Lemma 2 i); the variance of the density estimate falls as the bandwidth grows"
        ),
        because="slope of the integrated variance in log h",
    ),
    "appendix-a-e/b1-order": holds(
        rows("scorecard/kutta2022-proofs"),
        lambda t: np.all(only(t.value < t.bound, t.check == "printed-exponent")),
        instead=lambda t: (
            np.all(only(t.value > t.bound, t.check == "printed-exponent"))
            and np.all(only(t.value < t.bound, t.check == "corrected-exponent"))
        ),
        erratum="the exponent is lambda - 1; with 1 - lambda the bound grows",
    ),
    "appendix-a-e/r4": holds(
        rows("scorecard/kutta2022-proofs"),
        lambda t: np.all(only(t.value <= t.bound, t.check == "printed-r4")),
        instead=lambda t: np.all(only(t.value <= t.bound, t.check == "corrected-r4")),
        erratum="q_hat - q is meant; p may be known exactly while q moves",
    ),
}
