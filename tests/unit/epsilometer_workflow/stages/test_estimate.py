"""Estimates from files of what estimators read, against the same by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from epsilometer import seeds
from epsilometer.densities.pair import reduce_pair
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims
from epsilometer.estimators.renyi_bound import RenyiBound, RenyiBoundAsPublished
from epsilometer.estimators.spectrum import Spectrum
from epsilometer_workflow.files.identities import (
    DensitiesIdentity,
    EstimateJob,
    InputsOfPairs,
    VerdictsIdentity,
)
from epsilometer_workflow.files.storage import (
    by_run,
    read_columns,
    read_samples,
    read_table,
    write_columns,
)
from epsilometer_workflow.stages import classify, density, estimate, sample
from tests.unit.stages import COMMON, done, estimated, estimates_by, samples_of

# --- from histograms ------------------------------------------------------------------------------

ENDS = InputsOfPairs(id="ends", sides=[0, 1, 2], pairing="all", names=None)
CLAIMS = Claims(outcomes=2, smallest_probability=0.1)
OPTIONS = {"parameters": {"gamma": 0.5}, "inputs": ENDS, "claims": CLAIMS, "cells": 2}
IDENTITY = estimates_by("histogram", [], mechanism="é", epsilon=0.5, estimator="h", **OPTIONS)


def test_estimates_of_several_files_are_one_table(tmp_path):
    """Every run, n and pair of sides of every file, in order, with their identity."""
    files, data, counts, rng = [], [], {}, np.random.default_rng(0)
    for name, runs in (("0-1", (0, 1)), ("2-2", (2,))):  # histograms of three sides at two n
        files.append(str(tmp_path / f"{name}.parquet"))
        data.append({"seed": 1, "runs": name})
        keys = [(run, side, n) for run in runs for side in range(3) for n in (10, 100)]
        of_file = {key: rng.multinomial(key[-1], [0.4, 0.6]) for key in keys}
        columns = dict(zip(("run", "side", "n"), np.array(keys).T, strict=True))
        columns["counts"] = list(of_file.values())
        write_columns(columns, files[-1], "histograms", data[-1])
        counts |= of_file
    output = str(tmp_path / "estimates.parquet")
    done(estimate, output, EstimateJob(identity=IDENTITY, reads="histograms", data=data), *files)
    frame = read_table(output, "estimates", IDENTITY)
    assert frame["run"].tolist() == [0, 0, 1, 1] * 3 + [2, 2] * 3
    pairs = [(0, 1)] * 4 + [(0, 2)] * 4 + [(1, 2)] * 4 + [(0, 1)] * 2 + [(0, 2)] * 2 + [(1, 2)] * 2
    assert list(zip(frame["side_x"], frame["side_x_prime"], strict=True)) == pairs
    for row in frame.itertuples():
        x, x_prime = (counts[row.run, side, row.n] for side in (row.side_x, row.side_x_prime))
        ratios = np.log(x / x_prime)
        assert (row.estimate, row.estimate_reverse) == pytest.approx((max(ratios), max(-ratios)))
    assert frame["n"].tolist() == [10, 100] * 9
    same = {"mechanism": "é", "epsilon": 0.5, "lambda": "inf", "estimator": "h", "cells": 2}
    same |= {"inputs": "ends", "fresh": 0}
    assert frame[list(same)].drop_duplicates().to_dict("records") == [same]
    types = frame.dtypes[["side_x", "side_x_prime", "failed", "trusted"]].astype(str).tolist()
    assert types == ["int32", "int32", "bool", "bool"]


@pytest.mark.parametrize(("claimed", "written"), [(None, np.nan), (1.5, 1.5)])
def test_what_is_claimed_stands_in_each_row(claimed, written):
    identity = replace(IDENTITY, claims=replace(CLAIMS, lipschitz=claimed))
    columns = estimate.labelled({"run": np.arange(2)}, identity)
    assert columns["claimed_lipschitz"].tolist() == pytest.approx([written] * 2, nan_ok=True)


def test_every_estimator_reads_a_product_with_an_answer():
    reads = {ESTIMATORS.load(name).reads for name in ESTIMATORS}
    assert reads | {"samples"} == set(estimate._ANSWERS)


# --- from densities -------------------------------------------------------------------------------

THREE = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.5], n=2000, runs=[4, 6])
INDEPENDENT = {"largest": True, "correction": "independent"}
REDUCTIONS = {"kernels": {"points": 101, "power": 1.1}, "cells": {"cells": 9}}


@pytest.fixture(scope="module")
def smoothed(tmp_path_factory):
    """Return by reduction a file of densities, its identity, and the densities by hand."""
    folder = tmp_path_factory.mktemp("densities")
    samples, found = str(folder / "s.parquet"), {}
    done(sample, samples, THREE)
    for name, reduction in REDUCTIONS.items():
        identity = DensitiesIdentity(**COMMON, samples=THREE, pairing="consecutive", **reduction)
        file, hand = str(folder / f"{name}.parquet"), {}
        done(density, file, identity, samples=samples)
        for run, sides in by_run(read_samples(samples, THREE)):
            for i in (0, 2, 4):
                hand[run, i] = reduce_pair(sides[i], sides[i + 1], reduction)
        found[name] = file, identity, hand
    return found


def test_densities_have_the_bandwidth_of_each_side(smoothed):
    file, identity, hand = smoothed["kernels"]
    columns = read_columns(file, "densities", identity)
    names = ("run", "side_x", "bandwidth", "bandwidth_prime", "spacing")
    found = list(zip(*map(columns.get, names), strict=True))
    assert found == [(*key, *pair.bandwidths, pair.spacing) for key, pair in hand.items()]
    assert all(len(set(pair.bandwidths)) == 2 for pair in hand.values())


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("kernels", RenyiBoundAsPublished, {"draws_at_floor": 5}),
        ("kernels", RenyiBoundAsPublished, {"draws_at_floor": 5} | INDEPENDENT),
        ("cells", RenyiBound, {"draws_at_floor": 50, "cells": 9}),
    ],
)
def test_bounds_are_those_of_every_pair_or_of_the_largest(smoothed, name, method, options):
    file, densities, reduced = smoothed[name]
    registered = "renyi_bound" if name == "cells" else "renyi_bound_as_published"
    identity = estimates_by(registered, THREE.inputs.sides, parameters=options, order="3")
    bound = method(**options)
    hand = {key: bound.bounds(d, order=3.0, n=2000, pairs=3) for key, d in reduced.items()}
    table = estimated(file, "densities", identity, densities)
    assert table["trusted"].all() or name == "kernels"
    assert not table["failed"].any()
    assert (table["side_x_prime"] == table["side_x"] + 1).all()
    found = table[["run", "side_x", "estimate", "estimate_reverse"]].to_numpy().tolist()
    if "largest" not in options:
        assert found == [[*key, *bounds] for key, bounds in hand.items()]
    else:  # the pair at distance 1
        assert found == [[run, 2, max(hand[run, 2]), max(hand[run, 2])] for run in (4, 5, 6)]
        assert max(hand, key=lambda key: max(hand[key]))[1] == 2


def test_bounds_that_cannot_be_trusted_are_marked_in_their_row(smoothed):
    file, densities, _ = smoothed["cells"]
    assert {p.size for p in read_columns(file, "densities", densities)["p"]} == {9}
    options = {"draws_at_floor": 50, "cells": 9}
    identity = estimates_by("renyi_bound", THREE.inputs.sides, parameters=options, order="90")
    table = estimated(file, "densities", identity, densities)
    assert not table["trusted"].any()
    assert table["estimate"].notna().all()


# --- from verdicts --------------------------------------------------------------------------------

TWO = samples_of("laplace", [0.0, 0.1, 0.0, 1.0], n=3000, runs=[2, 3])
AT = [0.0, 0.5]
TRAINED = {"classifier": "nearest_neighbours", "claims": AT}
METHOD = {"registered": ESTIMATORS["spectrum"], "parameters": TRAINED, "classifier": None}
VERDICTS = VerdictsIdentity(samples=TWO, pairing="consecutive", **METHOD, **COMMON)


@pytest.fixture(scope="module")
def classified(tmp_path_factory):
    """Return the file of verdicts, and the tests by run and pair, straight from the draws."""
    folder = tmp_path_factory.mktemp("verdicts")
    samples, verdicts = str(folder / "s.parquet"), str(folder / "v.parquet")
    done(sample, samples, TWO)
    done(classify, verdicts, VERDICTS, samples=samples)
    method, tests = Spectrum(**TRAINED), {}
    for run, sides in by_run(read_samples(samples, TWO)):
        for i in (0, 2):
            words = "epsilon=1.0", "distances", f"pair={i},{i + 1}", f"run={run}"
            rng = seeds.generator(3, "classify", "laplace", *words)
            tests[run, i] = method.test(sides[i], sides[i + 1], rng)
    return verdicts, tests


def deltas(file, **parameters):
    identity = estimates_by("spectrum", TWO.inputs.sides, parameters=TRAINED | parameters)
    return estimated(file, "verdicts", identity, VERDICTS)


def ends(tested, alpha, at):
    low, high = tested.interval("clopper-pearson", alpha, np.random.default_rng(0))
    return low[at], high[at]


def test_every_run_pair_and_claim_has_its_delta(classified):
    verdicts, hand = classified
    table = deltas(verdicts)
    assert len(table) == 2 * 2 * 2
    for row in table.itertuples():
        forward, reverse = hand[row.run, row.side_x]
        at = AT.index(row.claim)
        assert (row.estimate, row.estimate_reverse) == (forward.delta[at], reverse.delta[at])
        assert (row.low, row.high) == ends(forward, 0.05, at)
        assert (row.low_reverse, row.high_reverse) == ends(reverse, 0.05, at)


def test_each_run_pair_and_direction_resamples_by_a_stream_of_its_own(classified, monkeypatch):
    streams = []
    generator = seeds.generator

    def noted(seed, *words):
        streams.append(words)
        return generator(seed, *words)

    monkeypatch.setattr(seeds, "generator", noted)
    deltas(classified[0])
    assert len({*streams}) == len(streams) == 2 * 2 * 2


def test_the_largest_holds_for_all_pairs_and_directions(classified):
    verdicts, hand = classified
    table = deltas(verdicts, largest=True)
    assert len(table) == 2 * 2
    for row in table.itertuples():
        at = AT.index(row.claim)
        every = [*hand[row.run, 0], *hand[row.run, 2]]
        assert row.estimate == row.estimate_reverse == max(t.delta[at] for t in every)
        assert row.side_x == 2
        lows, highs = zip(*(ends(tested, 0.05 / 4, at) for tested in every), strict=True)
        assert (row.low, row.high) == (max(lows), max(highs))


def test_a_bootstrap_is_the_same_every_time(classified):
    first, second = (deltas(classified[0], interval="bootstrap") for _ in range(2))
    pd.testing.assert_frame_equal(first, second)
    assert (first["low"] < first["high"]).any()
