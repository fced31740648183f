"""Stages on files: what each reads, draws and writes, against the same by hand.

A mechanism under audit is not trusted: each way to break the contract is one line.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from epsilometer import seeds
from epsilometer.densities.histogram import ladder
from epsilometer.densities.pair import reduce_pair
from epsilometer.errors import DataError, MechanismError
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.answering import Answer
from epsilometer.estimators.base import Claims
from epsilometer.estimators.renyi_bound import RenyiBound, RenyiBoundAsPublished
from epsilometer.estimators.spectrum import Spectrum
from epsilometer.mechanisms.drawing import draw
from epsilometer_workflow.files.identities import (
    ConfirmationIdentity,
    DensitiesIdentity,
    EstimateJob,
    EstimatesToTime,
    EvidenceIdentity,
    HistogramsIdentity,
    InputsOfPairs,
    LossesIdentity,
    Method,
    VerdictsIdentity,
    plain,
)
from epsilometer_workflow.files.storage import (
    by_run,
    read_columns,
    read_samples,
    read_table,
    write_columns,
)
from epsilometer_workflow.stages import (
    classify,
    confirm,
    density,
    estimate,
    histogram,
    sample,
    screen,
    time,
    weigh,
)
from tests.unit.stages import COMMON, done, estimates_by, quiet, samples_of


def estimated(file, reads, identity, data):
    """Return the estimates from a file."""
    job = EstimateJob(identity=identity, reads=reads, data=[plain(data)])
    return pd.DataFrame(estimate.estimates_of([file], job))


# --- sample ---------------------------------------------------------------------------------------


@dataclass
class Returns:
    """A mechanism that returns a value, or raises an error."""

    returned: Any
    outputs: str = "scalar"
    dimension: ClassVar[int] = 2

    def sample(self, x, size, rng):
        if isinstance(self.returned, Exception):
            raise self.returned
        return self.returned


@pytest.mark.parametrize(
    ("returned", "outputs", "message"),
    [
        (ZeroDivisionError("noise\nof scale 0"), "scalar", r"raised ZeroDivisionError: noise of"),
        (np.array([1.0, np.nan, np.inf]), "scalar", "returned 2 NaN or infinite outputs"),
        ([[np.nan, 1.0], [np.inf, 0.0], [1.0, -np.inf]], "mixed", "returned 2 NaN or inf"),
        (np.zeros(2), "scalar", "returned 2 outputs, not 3"),
        (np.zeros((3, 1)), "scalar", r"returned shape \(3, 1\), not \(3,\)"),
        (["a", "b", "c"], "scalar", "returned <U1, not scalar outputs"),
        (np.zeros(3), "index", "returned float64, not index outputs"),
        (np.array([1, 2, 3]), "scalar", "returned int64, not scalar outputs"),
        (np.array([True, False, True]), "index", "returned bool, not index outputs"),
        (np.full(3, 2**63, np.uint64), "bits", "outputs beyond 64 bits"),
        (np.full(3, -(2**31) - 1), "index", "outputs beyond 32 bits"),
    ],
)
def test_the_error_of_a_broken_sampler_is_one_line(returned, outputs, message):
    with pytest.raises(MechanismError, match=message) as caught:
        draw(Returns(returned, outputs), 0.25, 3, np.random.default_rng(0), name="mine")
    assert "mechanism 'mine' on input 0.25" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "outputs", "dtype"),
    [
        (np.zeros(3, np.float32), "scalar", np.float64),
        ([0, 1, 2**31 - 1], "index", np.int32),
        (np.full(3, 2**60 + 1, np.uint64), "bits", np.int64),
    ],
)
def test_other_widths_are_converted_and_never_wrapped(returned, outputs, dtype):
    drawn = draw(Returns(returned, outputs), 0, 3, np.random.default_rng(0), name="m")
    assert drawn.dtype == dtype
    assert drawn.tolist() == np.asarray(returned).tolist()


SPEC = samples_of("truncated_laplace", [0.0, 1.0], n=50, runs=[0, 3])


def drawn(file, spec):
    """Draw into a file, and return its contents by run and side."""
    done(sample, file, spec)
    return {(run, side): outputs for run, side, outputs in read_samples(str(file), spec)}


def test_draws_do_not_depend_on_the_batch_and_a_shorter_sample_is_a_prefix(tmp_path):
    whole = drawn(tmp_path / "whole.parquet", SPEC)
    assert len({outputs.tobytes() for outputs in whole.values()}) == 8
    for key, outputs in drawn(tmp_path / "part.parquet", replace(SPEC, runs=[2, 3])).items():
        np.testing.assert_array_equal(outputs, whole[key])
    for key, outputs in drawn(tmp_path / "short.parquet", replace(SPEC, n=20)).items():
        np.testing.assert_array_equal(outputs, whole[key][:20])


class Breaks:
    outputs: ClassVar[str] = "scalar"

    def __init__(self, epsilon, **_):
        self.calls = 0

    def sample(self, x, size, rng):
        self.calls += 1
        return np.full(size, 0.5 if self.calls < 4 else np.nan)


def test_a_failure_leaves_no_file(tmp_path):
    with pytest.raises(MechanismError, match="NaN"):
        drawn(tmp_path / "out.parquet", replace(SPEC, registered=f"{__name__}:Breaks"))
    assert list(tmp_path.iterdir()) == []


def test_the_global_state_is_untouched(tmp_path):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    drawn(tmp_path / "out.parquet", SPEC)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


# --- histogram ------------------------------------------------------------------------------------

INTERVAL = samples_of("truncated_laplace", [0.0, 0.5, 1.0], n=100, runs=[2, 3])
FIVE = {"outcomes": 5}
RESPONSES = samples_of("randomized_response", [0, 4, 2], n=100, runs=[2, 3], parameters=FIVE)


def counted(folder, samples, **how):
    """Return the draws by run and side, and the contents of their histograms."""
    identity = HistogramsIdentity(**COMMON, samples=samples, **how)
    draws = drawn(folder / "s.parquet", samples)
    done(histogram, folder / "h.parquet", identity, samples=str(folder / "s.parquet"))
    return draws, read_columns(str(folder / "h.parquet"), "histograms", identity)


@pytest.mark.parametrize(("n", "stops"), [("100", [100]), ("1..100", ladder(100))])
@pytest.mark.parametrize(
    ("samples", "support", "bins"),
    [(INTERVAL, [0.0, 1.0], np.linspace(0, 1, 6)), (RESPONSES, None, np.arange(6) - 0.5)],
    ids=["interval", "outcomes"],
)
def test_every_run_side_and_prefix_is_counted(tmp_path, n, stops, samples, support, bins):
    draws, columns = counted(tmp_path, samples, n=n, cells=5, support=support)
    keys = [(run, side, stop) for run in (2, 3) for side in range(3) for stop in stops]
    assert list(zip(columns["run"], columns["side"], columns["n"], strict=True)) == keys
    for (run, side, stop), counts in zip(keys, columns["counts"], strict=True):
        assert counts.tolist() == np.histogram(draws[run, side][:stop], bins)[0].tolist()


def test_the_error_of_outputs_outside_the_claimed_support_names_run_and_side(tmp_path):
    with pytest.raises(DataError, match=r"s.parquet: run 2, side 0: sample has \d+ outputs out"):
        counted(tmp_path, INTERVAL, n="100", cells=5, support=[0.4, 0.5])
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]


ENDS = InputsOfPairs(id="ends", sides=[0, 1, 2], pairing="all", names=None)
CLAIMS = Claims(outcomes=2, smallest_probability=0.1)
OPTIONS = {"parameters": {"gamma": 0.5}, "inputs": ENDS, "claims": CLAIMS, "cells": 2}
IDENTITY = estimates_by("histogram", [], mechanism="é", epsilon=0.5, estimator="h", **OPTIONS)


def test_estimates_of_several_files_are_one_table_as_pandas_reads_it(tmp_path):
    """Every run, n and pair of sides of every file, in order, with their identity."""
    files, data, rng = [], [], np.random.default_rng(0)
    for name, runs in (("0-1", (0, 1)), ("2-2", (2,))):  # histograms of three sides at two n
        files.append(str(tmp_path / f"{name}.parquet"))
        data.append({"seed": 1, "runs": name})
        keys = np.array([(r, side, n) for r in runs for side in range(3) for n in (10, 100)])
        columns = dict(zip(("run", "side", "n"), keys.T, strict=True))
        columns["counts"] = list(rng.multinomial(columns["n"], [0.4, 0.6]))
        write_columns(columns, files[-1], "histograms", data[-1])
    job = EstimateJob(identity=IDENTITY, reads="histograms", data=data)
    output = str(tmp_path / "estimates.parquet")
    done(estimate, output, job, *files)
    frame = read_table(output, "estimates", IDENTITY)
    by_pandas = pd.DataFrame(estimate.estimates_of(files, job))
    pd.testing.assert_frame_equal(frame, by_pandas, check_dtype=False)
    assert frame["run"].tolist() == [0, 0, 1, 1] * 3 + [2, 2] * 3
    assert frame["n"].tolist() == [10, 100] * 9
    pairs = [(0, 1)] * 4 + [(0, 2)] * 4 + [(1, 2)] * 4 + [(0, 1)] * 2 + [(0, 2)] * 2 + [(1, 2)] * 2
    assert list(zip(frame["side_x"], frame["side_x_prime"], strict=True)) == pairs
    known = plain(IDENTITY)
    same = {key: known[key] for key in ("mechanism", "epsilon", "lambda", "estimator", "cells")}
    for key, value in (same | {"inputs": "ends", "fresh": 0}).items():
        assert frame[key].unique().tolist() == [value]
    types = frame.dtypes[["side_x", "side_x_prime", "failed", "trusted"]].astype(str).tolist()
    assert types == ["int32", "int32", "bool", "bool"]
    assert frame["claimed_lipschitz"].isna().all()
    claimed = replace(IDENTITY, claims=replace(CLAIMS, lipschitz=1.5))
    found = estimate.estimates_of(files, replace(job, identity=claimed))
    assert set(found["claimed_lipschitz"]) == {1.5}


def test_every_estimator_reads_a_product_with_an_answer():
    reads = {ESTIMATORS.load(name).reads for name in ESTIMATORS}
    assert reads | {"samples"} == set(estimate._ANSWERS)


def test_histograms_are_shaped_by_run_n_and_side():
    """Cells of counts that identify their place."""
    runs, sides, n = [4, 7], 4, [10, 100]
    index = np.array([(r, s, m) for r in runs for s in range(sides) for m in n])
    arrays = dict(zip(("run", "side", "n"), index.T, strict=True)) | {"counts": index}
    found_runs, found_n, counts = estimate._by_run(arrays)
    assert (found_runs.tolist(), found_n.tolist()) == (runs, n)
    for i, j, k in np.ndindex(2, 2, sides):
        assert counts[i, j, k].tolist() == [runs[i], k, n[j]]


# --- density --------------------------------------------------------------------------------------

THREE = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.5], n=2000, runs=[4, 6])
KERNELS = {"points": 101, "power": 1.1}


@pytest.fixture(scope="module")
def smoothed(tmp_path_factory):
    """Draw and smooth; return both files and the identity of the densities, by reduction."""
    folder = tmp_path_factory.mktemp("densities")
    samples, files = str(folder / "s.parquet"), {}
    done(sample, samples, THREE)
    for name, reduction in {"kernels": KERNELS, "cells": {"cells": 9}}.items():
        identity = DensitiesIdentity(**COMMON, samples=THREE, pairing="consecutive", **reduction)
        files[name] = str(folder / f"{name}.parquet"), identity
        done(density, *files[name], samples=samples)
    return samples, files


def test_densities_have_the_bandwidth_of_each_side(smoothed):
    samples, files = smoothed
    table = pq.read_table(files["kernels"][0])
    found = table.select(["bandwidth", "bandwidth_prime", "spacing"]).to_pylist()
    row = 0
    for _, sides in by_run(read_samples(samples, THREE)):
        for i in (0, 2, 4):
            pair = reduce_pair(sides[i], sides[i + 1], KERNELS)
            assert pair.bandwidths[0] != pair.bandwidths[1]
            assert tuple(found[row].values()) == (*pair.bandwidths, pair.spacing)
            row += 1
    assert row == len(found)


@pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        ("kernels", RenyiBoundAsPublished, {"draws_at_floor": 5}),
        ("kernels", RenyiBoundAsPublished, {"largest": True, "correction": "independent"}),
        ("cells", RenyiBound, {"draws_at_floor": 50, "cells": 9}),
    ],
)
def test_bounds_are_those_of_every_pair_or_of_the_largest(smoothed, name, method, options):
    samples, files = smoothed
    options = {"draws_at_floor": 5} | options
    registered = "renyi_bound" if name == "cells" else "renyi_bound_as_published"
    identity = estimates_by(registered, THREE.inputs.sides, parameters=options, order="3")
    hand = {}
    for run, sides in by_run(read_samples(samples, THREE)):
        for i in (0, 2, 4):
            d = reduce_pair(sides[i], sides[i + 1], {"cells": 9} if name == "cells" else KERNELS)
            hand[run, i] = method(**options).bounds(d, order=3.0, n=2000, pairs=3)
    table = estimated(files[name][0], "densities", identity, files[name][1])
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
    file, densities = smoothed[1]["cells"]
    assert {p.size for p in read_columns(file, "densities", densities)["p"]} == {9}
    options = {"draws_at_floor": 50, "cells": 9}
    identity = estimates_by("renyi_bound", THREE.inputs.sides, parameters=options, order="90")
    table = estimated(file, "densities", identity, densities)
    assert not table["trusted"].any()
    assert table["estimate"].notna().all()


# --- classify -------------------------------------------------------------------------------------

TWO = samples_of("laplace", [0.0, 0.1, 0.0, 1.0], n=3000, runs=[2, 3])
AT = [0.0, 0.5]
TRAINED = {"classifier": "nearest_neighbours", "claims": AT}
PAIRS = {"pairing": "consecutive", **COMMON}
METHOD = {"registered": ESTIMATORS["spectrum"], "parameters": TRAINED, "classifier": None}
VERDICTS = VerdictsIdentity(samples=TWO, **METHOD, **PAIRS)


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


def test_the_largest_holds_for_all_pairs_and_directions(classified):
    verdicts, hand = classified
    table = deltas(verdicts, largest=True)
    assert len(table) == 2 * 2
    for row in table.itertuples():
        at = AT.index(row.claim)
        every = [t for (run, _), both in hand.items() if run == row.run for t in both]
        assert row.estimate == row.estimate_reverse == max(t.delta[at] for t in every)
        assert row.side_x == 2
        lows, highs = zip(*(ends(tested, 0.05 / 4, at) for tested in every), strict=True)
        assert (row.low, row.high) == (max(lows), max(highs))


def test_a_bootstrap_is_the_same_every_time(classified):
    first, second = (deltas(classified[0], interval="bootstrap") for _ in range(2))
    assert first.equals(second)
    assert (first["low"] < first["high"]).any()


def test_what_is_drawn_has_a_seed_of_its_own(tmp_path, monkeypatch):
    """Of each run and side, of each run and pair, of each interval, and of fresh draws."""
    named = []
    generator = seeds.generator

    def noting(root, *identity):
        named.append((root, *identity))
        return generator(root, *identity)

    monkeypatch.setattr(seeds, "generator", noting)
    samples = replace(TWO, n=60)
    path, verdicts = str(tmp_path / "s.parquet"), str(tmp_path / "v.parquet")
    done(sample, path, samples)
    done(sample, tmp_path / "fresh.parquet", replace(samples, stage="confirm"))
    done(sample, tmp_path / "near.parquet", replace(samples, epsilon=1.0000001))
    identity = replace(VERDICTS, samples=samples)
    done(classify, verdicts, identity, samples=path)
    drawn = {"parameters": TRAINED | {"interval": "bootstrap"}}
    estimates = estimates_by("spectrum", TWO.inputs.sides, **drawn)
    job = EstimateJob(identity=estimates, reads="verdicts", data=[plain(identity)])
    estimate.estimates_of([verdicts], job)
    member = EstimatesToTime(samples=samples, fresh=0, estimates=estimates)
    time.time_runs([member], quiet)
    times = Counter(named)
    twice = [name for name, number in times.items() if number > 1]
    assert all(name[1] == "timing" and name[-1] == 2 for name in twice)  # one run warms up
    draws, pairs, directions = 3 * 2 * 4, 2 * 2, 2 * 2 * 2
    timed = 2 * 2  # draws and training of each run
    assert len(times) == draws + pairs + directions + timed


def test_the_error_of_bad_training_draws_names_the_run(tmp_path):
    samples, path = replace(TWO, n=1), str(tmp_path / "s.parquet")
    done(sample, path, samples)
    with pytest.raises(DataError, match=r"s.parquet: run 2, sides 0 and 1: n must be at least 2"):
        classify.verdicts_of(path, replace(VERDICTS, samples=samples), quiet)


# --- screen, confirm and weigh --------------------------------------------------------------------

SCREENED = samples_of("laplace", [0.0, 0.1, 0.0, 1.0, 0.0, 0.2], n=2000, runs=[0, 2])
REGION = [-1.0, 1.0]
FLOOR = {"floor": 1e-3}
SCREEN = Method(registered=ESTIMATORS["local_loss"], parameters=FLOOR)
LOSSES = LossesIdentity(samples=SCREENED, region=REGION, **vars(SCREEN), **PAIRS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Run both stages; return files by stage, contents of the last two, and all identities."""
    drawn = vars(SCREENED) | {"stage": "confirm", "sides": 2, "n": 3000}
    fresh = ConfirmationIdentity(**drawn, selected_by=LOSSES)
    stages: dict[str, Any] = {"samples": SCREENED, "losses": LOSSES, "fresh": fresh}
    stages["evidence"] = EvidenceIdentity(**COMMON, fresh=fresh)
    folder = tmp_path_factory.mktemp("screen")
    paths = {k: str(folder / f"{k}.parquet") for k in stages}
    done(sample, paths["samples"], SCREENED)
    done(screen, paths["losses"], LOSSES, samples=paths["samples"])
    done(confirm, paths["fresh"], fresh, losses=paths["losses"])
    drawn_and_chosen = {"samples": paths["fresh"], "losses": paths["losses"]}
    done(weigh, paths["evidence"], stages["evidence"], **drawn_and_chosen)
    last = (read_columns(paths[k], k, stages[k]) for k in ("losses", "evidence"))
    return paths, *map(pd.DataFrame, last), stages


def test_every_pair_has_a_loss_and_one_is_selected(files):
    _, losses, evidence, _ = files
    assert losses.groupby("run").size().tolist() == [3, 3, 3]
    assert losses.groupby("run")["selected"].sum().tolist() == [1, 1, 1]
    best = losses.loc[losses.groupby("run")["loss"].idxmax()]
    assert best["selected"].all()
    assert best[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3
    assert evidence[["side_x", "side_x_prime"]].to_numpy().tolist() == [[2, 3]] * 3


def test_fresh_samples_are_of_the_selected_pair_and_new(files):
    paths, _, _, stages = files
    main = {(run, side): out for run, side, out in read_samples(paths["samples"], SCREENED)}
    fresh = {(run, side): out for run, side, out in read_samples(paths["fresh"], stages["fresh"])}
    assert set(fresh) == {(run, side) for run in range(3) for side in range(2)}
    for (run, side), outputs in fresh.items():
        assert outputs.size == 3000
        assert not np.isin(outputs, main[run, 2 + side]).any()
    assert np.median(fresh[0, 1]) == pytest.approx(1.0, abs=0.1)


def test_selected_losses_survive_the_file(files):
    paths, losses, _, stages = files
    read = screen.selected(paths["losses"], stages["losses"])
    for row in losses[losses["selected"]].itertuples():
        sides, selected = read[row.run]
        assert sides == (row.side_x, row.side_x_prime)
        assert set(selected) == {"output", "sign"}
    assert losses.loc[~losses["selected"], "found"].isna().all()


def test_estimates_from_either_stage(files):
    paths, losses, _, stages = files
    for reads, estimator, parameters, rows in (
        ("losses", "local_loss", FLOOR, 9),
        ("losses", "local_loss", FLOOR | {"largest": True}, 3),
        ("evidence", "mpl", {"after": "e"}, 3),
    ):
        identity = estimates_by(estimator, SCREENED.inputs.sides, parameters=parameters)
        frame = estimated(paths[reads], reads, identity, stages[reads])
        assert len(frame) == rows
        assert (frame["estimate"] == frame["estimate_reverse"]).all()
        assert frame["fresh"].unique().tolist() == [0 if reads == "losses" else 3000]
        if reads == "evidence":
            assert (frame["estimate"] < 1.05).all()
            assert (frame["estimate"] > 0.3).all()
        elif rows == 3:
            assert frame["estimate"].tolist() == losses.groupby("run")["loss"].max().tolist()


def test_timings_are_of_every_run_and_of_a_real_bound():
    about = {"parameters": {"after": "e"}, "estimator": "mpl", "after": SCREEN, "region": REGION}
    estimates = estimates_by("mpl", SCREENED.inputs.sides, **about)
    member = EstimatesToTime(samples=SCREENED, fresh=3000, estimates=estimates)
    frame = pd.DataFrame(time.time_runs([member], quiet))
    assert frame["run"].tolist() == [0, 1, 2]
    assert frame["seconds"].to_numpy() == pytest.approx(
        (frame["sampling"] + frame["estimating"]).to_numpy()
    )
    assert (frame[["sampling", "estimating"]] > 0).all(axis=None)
    assert (frame["bound"] < 1.1).all()
    assert (frame["bound"] > 0.3).all()
    assert frame["pairs"].unique().tolist() == [3]


def test_seconds_are_charged_to_what_takes_them(monkeypatch):
    """A draw takes one, and what reads it ten, by a clock that only these move."""
    now = [0.0]

    def drawing(*arguments, **options):
        now[0] += 1
        return draw(*arguments, **options)

    def answering(_, sides, **__):
        for _ in sides:
            now[0] += 10
        return [Answer((0, 1), 0.5, 0.5)]

    monkeypatch.setattr(time.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(time, "draw", drawing)
    monkeypatch.setattr(time, "answers", answering)
    estimates = estimates_by("local_loss", SCREENED.inputs.sides, parameters=FLOOR)
    member = EstimatesToTime(samples=SCREENED, fresh=0, estimates=estimates)
    columns = time.time_runs([member], quiet)
    assert columns["sampling"].tolist() == [6.0] * 3  # of six sides
    assert columns["estimating"].tolist() == [60.0] * 3
    assert columns["seconds"].tolist() == [66.0] * 3
