"""How the statements of lu2022 are decided: ids without the paper, and a criterion for each.

`*` stands for any part of an id; an entry that names an id goes first.
"""

from __future__ import annotations

import numpy as np

from epsilometer_workflow.reports.scorecard.criteria import (
    Criterion,
    Limit,
    Rows,
    Selection,
    Value,
    holds,
    named,
    number,
    only,
    printed,
    rows,
    setting,
    setting_numbers,
    settings,
    undecided,
)
from epsilometer_workflow.reports.scorecard.measures import (
    allowance,
    error,
    excess,
    falls,
    first,
    largest,
    largest_ratio,
    last,
    numbers,
    relative_error,
    same,
    slope,
    smallest,
    smallest_ratio,
)

bounds = named("scorecard/lu2022-bounds")  # error bounds, worked out at some points
exact = named("scorecard/lu2022-exact")  # formulas, worked out at some points
verdicts = named("verdicts", "mechanism")
_DIMENSIONS = "scorecard/lu2022-dimensions"  # estimates where answers have several dimensions
_SECONDS = "scorecard/lu2022-seconds"


def _repeated(column: str, equals: Limit = printed) -> Criterion:
    return number(
        rows("table1", lambda t: t.method == t.key["method"].replace("Our Work", "Eureka")),
        column,
        equals=equals,
        because="the project's table repeats the paper's; no number of ours bears on another tool",
    )


_MECHANISMS = {  # by the paper's name, where it is another
    "svt1": "svt1-first",
    "svt2": "svt4-first",
    "svt3": "svt5-bits",
    "correct": "noisy-histogram",
    "buggy": "noisy-histogram-wrong",
}
_VARIANT = rows(
    "verdicts", lambda t: t.mechanism == _MECHANISMS.get(t.key["variant"], t.key["variant"])
)


def _largest_error(*tables: Rows) -> Value:
    return np.max([np.max(abs(t.error)) for t in tables])


def _over_interval(t: Rows, distance: Value) -> Value:
    """Return the largest distance over the length of an interval, four standard errors."""
    return np.max(distance / np.maximum(t.high - t.low, 1e-9))


def _scaled_error(t: Rows) -> Value:
    """Return the largest error over four standard errors."""
    return _over_interval(t, abs(t.error))


def _over_theory(t: Rows) -> Value:
    return np.max(t.error / t.theory)


def _looseness(t: Rows, claim: float) -> Value:
    at = t.where(claim=claim)
    return at.classical / at.truth


def _worse(wrong: Rows, right: Rows) -> Value:
    return np.max(wrong.excess) - np.max(right.delta)


def _detects(wrong: Selection, right: Selection) -> Criterion:
    return holds(
        (wrong, right),
        lambda wrong, right: np.min(wrong.refuted) > 0.5 and np.max(right.refuted) < 0.5,
        because="the wrong ones are refuted, the right ones not; the other's numbers are not in "
        "the text",
    )


def _distances(t: Rows) -> list[Value]:
    """Return the distances to the curves of eps = 1, 0.999 and 1.001."""
    return [abs(t.delta - t[f"exact_{epsilon}"]) for epsilon in (1, 0.999, 1.001)]


def _closest(t: Rows) -> Value:
    curve, below, above = (np.mean(distance**2) for distance in _distances(t))
    return curve / np.minimum(below, above)


def _share_closest(t: Rows) -> Value:
    curve, below, above = _distances(t)
    return np.mean(curve < np.minimum(below, above))


CRITERIA: dict[str, Criterion] = {
    # Abstract, Section 1
    "abstract/tight-spectrum": number((rows("fig4a"), rows("fig4b")), _largest_error, high=0.005),
    "abstract/ddp fig8/follows sec-7/deterministic": number(
        rows("fig8"),
        lambda t: np.max(abs(t.error) / np.maximum(t.high - t.low, 0.1 * t.truth)),
        high=1,
        because="largest error, over four standard deviations or a tenth of delta",
    ),
    "abstract/verify": number(
        rows("verdicts"),
        lambda t: np.mean((t.refuted > 0.5) == (t.truth > 1e-12)),
        equals=1,
        because="share of the curves that are refuted exactly if they break their promise",
    ),
    "abstract/bottleneck": holds(
        (bounds("small-delta"), rows(_DIMENSIONS, panel="fifty", estimator="spectrum-knn-vectors")),
        lambda samples, neighbours: (
            np.min(samples.value) > 1e13 and np.max(neighbours.delta / neighbours.truth) < 0.5
        ),
        because="small deltas take more than 1e13 samples; neighbours in fifty dimensions see "
        "less than half of delta",
        differs="near the limit: the draws decide on which side it falls",
    ),
    "sec-1/error-samples": holds(
        rows("scorecard/lu2022-risks", mechanism="laplace"),
        lambda t: all(falls(g.median_error, by=g.n) for g in t.by("claim")),
    ),
    "sec-1/small-samples sec-1.1/accuracy-theory fig4d/outperforms": number(
        rows("fig4d"), _over_theory, below=1
    ),
    "sec-1/small-delta": number(bounds("small-delta"), smallest("value"), above=1e13),
    "sec-1.1/closely-matches": number(
        tuple(rows(figure) for figure in ("fig4a", "fig4b", "fig5a", "fig5b", "fig5c")),
        _largest_error,
        high=0.01,
    ),
    "sec-1.1/fewer-samples": number(
        (rows("fig4d", claim=0.5), rows("fig4c", dimension=1)),
        lambda drawn, theory: (
            (np.max(drawn.error * np.sqrt(2 * drawn.n)) / np.max(theory.alpha * np.sqrt(theory.n)))
            ** 2
        ),
        below=0.01,
        because="samples for an error of 0.01 in 95 % of the runs, over those that Corollary 2 "
        "asks for; both errors fall as n^-1/2",
    ),
    "sec-1.1/linear": holds(
        (
            rows(_SECONDS, lambda t: (t.n > 100000) & (t.n < 2000000), mechanism="laplace"),
            rows(_SECONDS, mechanism="counting-exponential"),
        ),
        lambda draws, pairs: (
            slope(draws.seconds, draws.n) <= 1.15 and slope(pairs.seconds, pairs.pairs) <= 1.05
        ),
    ),
    "sec-1.1/error-2-26": number(
        rows("fig4a"),
        lambda t: np.median(t.sd),
        high=1e-5,
        instead=lambda t: 5e-5 < np.median(t.sd) < 5e-4,
        erratum="the binomial deviation of the risk alone is 1e-4 and more for 2^26 samples; an "
        "error of 1e-5 takes some 2^34",
    ),
    "sec-1.1/time-2-26": number(
        rows(_SECONDS, lambda t: t.n > 30000000),
        "seconds",
        high=600,
        because="two threads and two runs here; ten minutes on 128 cores in the paper",
    ),
    "sec-1.1/equivalent-neighbours": number(exact("neighbours-removed"), error, high=1e-12),
    "sec-1.1/tested": holds(
        rows("verdicts"),
        lambda t: {"svt4-first", "noisy-histogram-wrong", "nm2"} <= set(t.mechanism),
    ),
    # Table 1
    "table1/*-access": _repeated("access"),
    "table1/*-large-outputs": _repeated("large outputs"),
    "table1/*-accuracy": _repeated("accuracy"),
    "table1/adp-estimator-accuracy": _repeated("accuracy", "lower and upper bounds"),
    "table1/*-methods": _repeated("by means of"),
    "table1/dp-finder-methods": _repeated("by means of", "sampling and optimisation"),
    "table1/our-work-large-outputs": number(
        (rows("fig4a"), rows("fig4b")),
        _largest_error,
        below=0.1,
        because="largest error where outputs are real numbers",
    ),
    "table1/our-work-accuracy": number(
        rows("scorecard/lu2022-bootstrap"),
        _over_theory,
        high=1,
        because="error over what Corollary 2 allows on either side",
    ),
    "table1/our-work-methods": settings(
        {"estimators.spectrum-knn.parameters.classifier": '"nearest_neighbours"'}
    ),
    # Section 3
    "sec-3.2/hoeffding": number(bounds("hoeffding"), largest_ratio, high=1),
    "sec-3.2/bayes-minimal": number(
        tuple(rows(figure, lambda t: t.truth > 0) for figure in ("fig4a", "fig5a", "fig5b")),
        lambda *tables: np.max([np.max((t.delta - t.truth) / (t.high - t.low)) for t in tables]),
        high=0.75,
        because="largest excess of delta over the exact one, which is a risk below the Bayes "
        "risk, over four standard errors",
    ),
    "sec-3.2/theorem2": number(
        rows("scorecard/lu2022-risks", lambda t: t.n >= 5000),
        largest("share_beyond"),
        high=lambda t: 0.5 + allowance(0.5, np.min(t.runs)),
        because="share of runs whose risk is further from the Bayes risk than where the bound is "
        "1/2",
    ),
    "sec-3.2/cd-formula": number(bounds("cones"), largest_ratio, high=1),
    "sec-6/cd-number": number(bounds("cones-number"), largest_ratio, high=1),
    "sec-3.2/setting-k": number(bounds("neighbours"), error, equals=0),
    "sec-3.1/ddp-eps-range": number(
        rows("fig8"),
        smallest("claim"),
        above=0,
        instead=lambda t: np.min(t.claim) == 0 and _largest_error(t) < 0.1,
        erratum="Definition 4 has eps > 0, and Figure 8 is at eps = 0; it holds there, too",
    ),
    "sec-4/theorem3": number(
        bounds("coin-answers"),
        smallest("value"),
        below=0.5,
        instead=lambda t: np.min(t.value) >= 0.5,
        erratum="Definition 8 and the proof have beta <= 1/2 - nu; as printed an answer of 1/4 "
        "or 3/4 by a coin is a (1/4, 1/2)-approximate estimator of anything",
    ),
    "appendix-2/theorem3-m": number(exact("fair-coins"), "value", equals=0),
    "appendix-2/theorem3-md": number(
        exact("one-against-a-coin"),
        largest("value"),
        equals=1,
        instead=0.5,
        erratum="delta of M_D at eps = 0 is 1/2, not 1; M must be constant, or alpha below 1/4",
    ),
    "appendix-2/theorem3-query": number(bounds("queries"), largest_ratio, high=1),
    # Section 4.1, relative privacy
    "sec-4.1/prop1": number(exact("all-databases"), error, high=1e-12),
    "sec-4.1/prop2 sec-5.2/rerun": number(exact("union"), error, high=1e-12),
    "sec-4.1/prop3": number(exact("parallel"), error, high=1e-12),
    "sec-4.1/prop4": number(exact("sequential"), excess, high=1e-12),
    "sec-4.1/prop5": number(exact("post-processed"), excess, high=1e-12),
    # Section 5
    "sec-5.1/theorem4": number(exact("from-risk"), error, high=1e-9),
    "sec-5.1/corollary1 fig2/maximum": number(exact("both-directions"), error, high=1e-12),
    "appendix-2/claim1": number(exact("from-distance"), error, high=1e-12),
    "appendix-2/claim2": number(exact("distance-from-risk"), error, high=1e-12),
    "appendix-2/bottom": number(
        bounds("null-share"), largest("value"), high=3, because="standard errors from 1 - exp(-eps)"
    ),
    "sec-5.1/lemma1": number(
        rows("scorecard/lu2022-risks"),
        smallest("share_within"),
        low=lambda t: 0.95 - allowance(0.95, np.min(t.runs)),
    ),
    "sec-5.1/lemma1-eps": number(
        rows("scorecard/lu2022-spread", lambda t: t.mean > 3 * t.sd),
        lambda t: np.max(abs(t.scale / np.median(t.scale) - 1)),
        high=0.2,
    ),
    "appendix-2/claim4": number(
        rows("scorecard/lu2022-risks"),
        largest("largest"),
        between=(1 - 1e-9, 1 + 1e-9),
        instead=lambda t: np.max(t.largest) < 1,
        erratum="an inequality is meant; errors are smaller than the right-hand side",
    ),
    "sec-5.2/theorem5": number(
        rows("scorecard/lu2022-relative"), smallest("share_within"), low=0.95
    ),
    "sec-5.2/pairs": number(exact("pairs"), largest_ratio, high=1),
    "sec-5.2/degrades": number(
        bounds("logarithmic"),
        smallest_ratio,
        low=0.9,
        instead=lambda t: largest("value")(t) < 2,
        erratum="what multiplies is the probability of failure; alpha grows as sqrt(log(tm))",
    ),
    "sec-5.2/depends-t": number(
        rows("scorecard/lu2022-relative"),
        lambda t: last(t.error, by=t.pairs) / first(t.error, by=t.pairs),
        above=1,
    ),
    # Figures 1 to 3, the estimators
    "fig1/half": number(bounds("half"), error, equals=0),
    "fig1/output": number(bounds("formula"), error, high=1e-12),
    "fig1/fresh-test": number(
        bounds("disjoint"),
        "value",
        equals=0,
        because="test draws that training has seen; the published Sparse Vector experiment tests "
        "on its training draws",
    ),
    "fig3/maximum": number(exact("rows-largest"), error, high=1e-12),
    "fig3/output": undecided("what an answer is called (delta'_DDP is meant) is in no number"),
    # Sections 6 and 7, error bounds
    **{
        name: holds(
            bounds(check),
            lambda t: np.all(np.isfinite(t.value)),
            instead=lambda t: np.all(np.isnan(t.value)) and np.all(np.isfinite(t.bound)),
            erratum="prints ln(4 beta), no root for beta < 1/4; solving the line above gives "
            "ln(4/beta)",
        )
        for name, check in (
            ("sec-6/corollary2", "printed-corollary2"),
            ("appendix-2/eq5", "printed-excess"),
        )
    },
    "sec-6/corollary2-holds": number(rows("scorecard/lu2022-bootstrap"), _over_theory, high=1),
    "sec-6/corollary3": number(bounds("corollary3"), relative_error, high=1e-9),
    "sec-6/corollary3-dimension": holds(
        (bounds("dimensions"), rows(_DIMENSIONS, panel="one"), rows(_DIMENSIONS, panel="ten")),
        lambda growth, one, ten: (
            abs(last(growth.value) - 4.8637) < 0.01 and _largest_error(ten) > _largest_error(one)
        ),
    ),
    "sec-6/corollary3-n": number(bounds("samples"), relative_error, high=1e-9),
    "sec-6/corollary3-tm": number(bounds("databases"), relative_error, high=1e-9),
    "sec-7/corollary4": number(
        bounds("corollary4"),
        relative_error,
        high=1e-9,
        because="for n large enough, which the corollary leaves out, with the estimator of "
        "Figure 1, not 2",
    ),
    "sec-6/discrete-smooth": number(exact("smooth"), error, high=1e-12),
    "sec-6/distances": settings(
        {
            "estimators.spectrum-hamming.parameters.classifier": '"hamming_neighbours"',
            "estimators.spectrum-knn.parameters.classifier": '"nearest_neighbours"',
        }
    ),
    "sec-6/bottom-distance": number(bounds("null-wrong"), "value", equals=0),
    "sec-8/machine": undecided("the paper's computer is in no number of ours"),
    # Appendix, analytic spectra
    "appendix-2/lemma2": number(exact("laplace"), error, high=1e-9),
    "appendix-2/lemma2-zero": number(exact("laplace-zero"), error, high=1e-9),
    "appendix-2/lemma2-distance": holds(
        exact("laplace-distance"), lambda t: np.all((t.value < t.bound) | (t.bound == 0))
    ),
    "appendix-2/lemma3": number(exact("gaussian"), error, high=1e-12),
    "appendix-2/lemma3-zero": number(exact("gaussian-zero"), error, high=1e-9),
    "appendix-2/def17": number(exact("laplace-private"), largest("value"), equals=0),
    "appendix-2/def18": number(exact("gaussian-private"), "value", high=1e-5),
    "appendix-2/footnote20": number(
        exact("density-factor"),
        lambda t: np.max(abs(t.value - 1)),
        high=1e-9,
        instead=lambda t: np.max(abs(t.bound - 1)) < 1e-9,
        erratum="a density has the factor 1/sqrt(2 pi sigma^2); as it stands in our text it "
        "integrates to sqrt(sigma)",
    ),
    "sec-8/footnote14": holds(
        (exact("noise-variance", at="deviation"), exact("noise-variance", at="variance")),
        lambda deviation, _: same(deviation.value, deviation.bound),
        instead=lambda _, variance: same(variance.value, variance.bound),
        erratum="2 log(1.25/delta)/eps^2 is the variance of the noise, not its deviation",
    ),
    # Figures 4 to 6
    "fig4a/match": number(rows("fig4a"), _largest_error, high=0.005),
    "fig4b/match": number(rows("fig4b"), _largest_error, high=0.005),
    "fig4a/quick": number(
        (rows("fig4a"), rows("fig4b")),
        lambda *tables: np.max([np.max(abs(t.error) / (t.high - t.low + 0.003)) for t in tables]),
        high=1,
        because="largest error, over four standard errors and 0.003 for the bias of sqrt(n) "
        "neighbours",
    ),
    "fig4c/curve": holds(
        rows("fig4c", dimension=1),
        lambda t: falls(t.alpha, by=t.n) and abs(slope(t.alpha, t.n) + 0.5) < 1e-6,
    ),
    "fig4d/curve": number(
        rows("fig4d", lambda t: t.truth > 2 * t.alpha),
        lambda t: np.max([abs(slope(g.alpha, g.n) + 0.5) for g in t.by("claim")]),
        high=0.1,
        because="furthest slope of log alpha in log n from -1/2, where intervals do not end at 0",
    ),
    "fig4d/gaussian-too": number(
        rows("scorecard/lu2022-bootstrap", mechanism="gaussian"), _over_theory, below=1
    ),
    "sec-8.1/classical-loose fig6a/loose": holds(
        rows("fig6a"),
        lambda t: (
            np.all(t.classical > t.truth) and _looseness(t, 0.1) >= 20 and _looseness(t, 0.5) >= 90
        ),
    ),
    "fig5a/setting-database": setting_numbers(
        "mechanisms.counting-exponential.inputs.second-row",
        equals=[0, 1, 1, 0, 1],
        because="the database 0, 1, 1 and its neighbour 0, 1",
    ),
    "fig5a/setting-eps": setting_numbers("reports.lu2022.experiments.exponential.grid.0.epsilon"),
    "fig5a/match": number(
        rows("fig5a"), _scaled_error, high=1, because="largest error over four standard errors"
    ),
    "fig5a/discrete-works": number(rows("scorecard/lu2022-discrete"), _scaled_error, high=1),
    "fig5b/setting-dimension": setting("mechanisms.gaussian-50.parameters.dimension"),
    "fig5b/match": number(rows("fig5b"), _largest_error, high=0.01),
    "fig5c/setting-dimension": setting("mechanisms.laplace-50.parameters.dimension"),
    "fig5c/match": number(rows("fig5c"), _largest_error, high=0.01),
    "sec-8/knn-dimension": number(
        rows(_DIMENSIONS, panel="fifty", estimator="spectrum-knn-vectors"),
        lambda t: np.min((t.truth - t.delta) / ((t.high - t.low) / 4)),
        above=4,
        because="standard errors below the truth",
    ),
    "sec-8/network-efficient": number(
        (
            rows(_DIMENSIONS, panel="fifty", estimator="spectrum-network"),
            rows(_DIMENSIONS, panel="fifty", estimator="spectrum-knn-vectors"),
        ),
        lambda network, neighbours: _largest_error(network) / _largest_error(neighbours),
        below=1,
    ),
    "fig6a/estimate-on-exact": number(
        rows("fig6a"), lambda t: np.max(abs(t.delta - t.truth)), high=0.005
    ),
    "fig6b/gaussian-below fig6b/same-conclusion": holds(
        rows("fig6b", lambda t: t.claim <= 0.9),
        lambda t: np.all(
            [
                np.max(g.where(panel="Gaussian").high) < np.min(g.where(panel="Laplace").low)
                for g in t.by("claim")
            ]
        ),
    ),
    "fig6b/most-settings": number(
        exact("gaussian-below"), lambda t: np.mean(t.value < t.bound), above=0.9
    ),
    "fig6b/not-absolute": holds(
        exact("gaussian-below"),
        lambda t: (
            np.all(only(t.value > t.bound, t.at == "claim=1"))
            and np.all(only(t.value < t.bound, t.at != "claim=1"))
        ),
    ),
    "fig6b/setting": settings(
        {
            "mechanisms.gaussian.parameters.delta": "1e-05",
            "reports.lu2022.experiments.curves.grid.0.epsilon": "[1.0]",
        }
    ),
    # Figures 7 to 9
    "fig7/setting-eps": setting_numbers("reports.lu2022.experiments.sparse-vector.grid.0.epsilon"),
    "fig7/setting-delta": number(rows("fig7", claim=0.5), largest("truth"), equals=printed),
    "fig7/similar": number(
        rows("fig7"),
        _scaled_error,
        high=1,
        because="largest error, over four standard errors, from the exact spectrum; the other's "
        "curve is not in the text",
    ),
    "fig7/keeps-promise": number(
        rows("fig7", claim=0.5), lambda t: _over_interval(t, t.delta), high=1
    ),
    "fig8/setting-eps": setting("reports.lu2022.artifacts.fig8.table.options.claim"),
    "fig8/setting-rows": number(
        exact("rows-largest"),
        error,
        high=1e-12,
        because="the law of a count of independent fair bits",
    ),
    "fig8/rate": holds(
        (rows("fig8"), exact("rate")),
        lambda drawn, constant: (
            abs(slope(drawn.delta, drawn.rows) + 0.5) <= 0.05
            and abs(last(constant.value) - 0.798) < 0.001
        ),
    ),
    "fig9a/setting-queries": setting("mechanisms.svt1-first.parameters.queries"),
    "fig9a/setting-gaps": number(
        rows("scorecard/settings", setting="mechanisms.svt1-first.inputs.five-below"),
        lambda t: np.max(abs(numbers(t.value))),
        between=(1, 2),
        because="half a unit, as the authors' published experiment has it; no integer",
        differs="with integers an answer would tie with its threshold, or be twice as far from it",
    ),
    "fig9a/svt1-verdict fig9b/correct-verdict fig9c/nm1-verdict fig9c/nm3-verdict": holds(
        _VARIANT, lambda t: np.max(t.refuted) < 0.5 and np.max(t.truth) < 1e-12
    ),
    "fig9a/svt2-verdict fig9a/svt3-verdict fig9b/buggy-verdict fig9c/nm2-verdict "
    "fig9c/nm4-verdict": holds(_VARIANT, lambda t: np.max(t.excess) > 0 and np.max(t.truth) > 0),
    "fig9a/svt2-worse": number((verdicts("svt4-first"), verdicts("svt1-first")), _worse, above=0),
    "fig9a/svt3-worse": number((verdicts("svt5-bits"), verdicts("svt1-first")), _worse, above=0),
    "fig9a/comparable": number(
        rows("fig9a"),
        _scaled_error,
        high=1,
        because="largest error, over four standard errors, from the exact spectra; the other's "
        "numbers are not in the text",
    ),
    "fig9b/effective": _detects(verdicts("noisy-histogram-wrong"), verdicts("noisy-histogram")),
    "fig9c/effective": _detects(verdicts("nm2", "nm4"), verdicts("nm1", "nm3")),
    "sec-8.2.3/laplace-gaussian-bugs": holds(
        (
            rows("scorecard/lu2022-bugs", panel="Laplace", claim=1),
            rows("scorecard/lu2022-bugs", panel="Gaussian", claim=0.1),
            rows("fig4b", claim=0.1),
        ),
        lambda laplace, gaussian, right: (
            np.min(laplace.low) > 0 and np.min(gaussian.low) > np.max(right.truth)
        ),
    ),
    # Figures 10 and 11
    "fig10/setting-curves": setting_numbers(
        "reports.lu2022.artifacts.fig10.table.options.epsilons"
    ),
    **{
        f"{figure}/closest": number(
            rows(figure),
            _closest,
            below=1,
            because="mean squared distance to the curve of eps = 1, over that to the nearer of "
            "the others",
        )
        for figure in ("fig10", "fig11")
    },
    "appendix-3/more-accurate": number(
        rows("fig10"),
        _share_closest,
        above=0.5,
        because="share of the epsilons at which the estimate is nearest to the right curve",
    ),
}
