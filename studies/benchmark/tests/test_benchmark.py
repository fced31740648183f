"""The benchmark: baselines where the answer is known, missing rows, growth, table and figure."""

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact, ks_2samp
from tests.sharing import with_seconds

from auditors import functions_of, listed
from benchmark import compare, draws, figures, measure, mechanisms, tasks, textbook
from epsilometer.errors import ConfigError
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.storage import read_columns
from exhibition.locks import find_lock

HERE = Path(tasks.__file__).parent
sys.path.insert(0, str(HERE))  # as the programs are run

LISTED = {auditor.name: auditor for auditor in listed()}
READ_REALS = ("textbook MPL", "DP-Sniper", "StatDP", "jax-privacy", "hockey stick")
AUDITS = (*READ_REALS, "Rényi tester", "MMD tester", "histogram tester")
NEAR = {"DP-Sniper": 0.7, "hockey stick": 0.9, "Rényi tester": 0.4}
NEAR |= {"MMD tester": 0.4, "histogram tester": 0.7}
COMMON = {"seed": 2022, "scale": "smoke", "version": "0"}
TASKS = """
scales:
  smoke: {repeats: 2, runs: 2, enough: 1.0, limit: 20, grows: [6, 8]}
tasks:
  sort:
    title: sorting
    kind: estimator
    data: laplace
    compares: difference
    grows: true
    n: {smoke: 128}
    implementations:
      ours: {call: "ours:sort"}
      NumPy: {call: "libraries:numpy_sort", package: numpy}
"""


def bound(name, x, y):
    return LISTED[name].bound(x, y, 0.05, np.random.default_rng(1), notion="pure", level=0.5)


# --- baselines ------------------------------------------------------------------------------------


def coins(n: int, chance: float, chance_prime: float) -> list:
    """Outputs 0 and 1, of these chances to be 1."""
    rng = np.random.default_rng(3)
    return [(rng.random(n) < p).astype(np.int32) for p in (chance, chance_prime)]


@pytest.mark.parametrize(
    ("kind", "delta", "answer"),
    [
        ("reals", 0.0, 0.536630164067),
        ("reals", 0.01, 0.518933734557),
        ("index", 0.01, 0.530436886287),
    ],
)
def test_scores_of_canaries_are_bounded_as_by_jax_privacy(kind, delta, answer):
    """The answers are those of CanaryScoreAuditor of version 2.0.0, with Split(0.2, 5)."""
    rng, n = np.random.default_rng(5), 3000
    x, y = rng.laplace(0, 1, n), rng.laplace(0.7, 1, n)
    if kind == "index":
        x, y = np.rint(np.clip(x, 0, 2)), np.rint(np.clip(y, 0, 2))
    found = max(
        functions_of(LISTED["jax-privacy"].file)["_of_scores"](*pair, 0.025, delta, 5)
        for pair in ((x, y), (y, x))
    )
    assert max(found, 0.0) == pytest.approx(answer, rel=1e-9)


@pytest.mark.parametrize("chances", [(0.75, 0.25), (0.25, 0.75)])
@pytest.mark.parametrize("audit", with_seconds(AUDITS, {"StatDP": 3}))
def test_a_baseline_comes_near_the_level_of_randomised_response(audit, chances):
    """DP-Sniper's attack is of probability .01; dp-auditorium's margins hold for any numbers."""
    low = NEAR.get(audit, 0.95)
    n = 15_000 if audit == "StatDP" else 40_000  # it takes longest
    assert low < bound(audit, *coins(n, *chances)) < math.log(3)


@pytest.mark.parametrize("audit", AUDITS)
def test_a_baseline_sees_next_to_nothing_where_nothing_is(audit):
    assert bound(audit, *coins(20_000, 0.5, 0.5)) < 0.05


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("audit", READ_REALS)
def test_a_baseline_reads_reals(audit):
    rng = np.random.default_rng(5)
    assert 0.2 < bound(audit, rng.laplace(0, 1, 8000), rng.laplace(0.7, 1, 8000)) < 0.7


def test_statdps_p_value_is_fishers_where_nothing_is_thinned():
    rng = np.random.default_rng(0)
    expected = fisher_exact([[60, 40], [900, 920]], alternative="greater")[1]
    p_value = functions_of(LISTED["StatDP"].file)["_p_value"]
    assert p_value(60, 40, 960, 0.0, rng) == pytest.approx(expected)


def test_dp_snipers_logit_orders_bits_by_their_ratio():
    program = functions_of(LISTED["DP-Sniper"].file)
    rng = np.random.default_rng(0)
    x, y = (
        program["_features"](((rng.random((5000, 2)) < p) @ np.array([1, 2])), 2)
        for p in ([0.9, 0.5], [0.2, 0.5])
    )
    scores = program["_logistic"](x, y)(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], float))
    assert scores[2:].min() - scores[:2].max() > math.log(9)


@pytest.mark.parametrize("name", ["truncated_laplace", "noisy_max", "sparse_vector"])
def test_a_textbook_sampler_has_the_law_of_ours(name):
    import ours
    import textbook

    data = {"n": 4000, "seed": 7}
    pair = getattr(textbook, name)(data), getattr(ours, name)(data)
    limit = 1.95 * math.sqrt(2 / data["n"])  # of Kolmogorov and Smirnov, but for .1 %
    assert 0 < measure.AGREEMENT["distribution"](*pair) < limit


def test_a_truncated_geometric_count_has_its_law():
    shares = np.bincount(mechanisms.truncated_geometric(2, 200_000, np.random.default_rng(0))) / 2e5
    below = (8 / 9) ** np.arange(2, -1, -1) * 9 / 17  # P(output <= z) for z = 0, 1, 2
    assert np.cumsum(shares)[:3] == pytest.approx(below, abs=0.005)
    assert shares.size == 6


def test_a_sparse_vector_technique_stops_after_its_numbers():
    draw = mechanisms.numbers_above(20, 20, 0, 2, mechanisms.BELOW)
    outputs = draw([1] * 10, 2000, np.random.default_rng(0))
    numbers = outputs > mechanisms.BELOW
    assert set(numbers.sum(axis=1)) == {0, 1, 2}
    after = np.cumsum(numbers, axis=1) - numbers == 2
    assert np.array_equal(after, outputs == mechanisms.ABORTED)


# --- calls ----------------------------------------------------------------------------------------

PROGRAM = """
import json, sys, signal, time
for call in json.load(sys.stdin):
    if call == "crash": sys.exit(3)
    if call.get("limit") == 7: signal.raise_signal(signal.SIGALRM)
    print(json.dumps({"called": call["limit"]}), flush=True)
"""


def test_a_call_that_ends_its_process_is_a_missing_row_and_others_are_made(monkeypatch, tmp_path):
    program = tmp_path / "child.py"
    program.write_text(PROGRAM.replace('call == "crash"', 'call["limit"] == 3'))
    monkeypatch.setattr(measure, "CHILD", program)
    answers = measure.called(sys.executable, [{"limit": n} for n in (1, 3, 7, 2)])
    assert answers == [
        {"called": 1},
        {"missing": "ended with 3"},
        {"missing": "took more than 7 s"},
        {"called": 2},
    ]


def spec_of(tmp_path: Path, *others: dict) -> dict:
    (tmp_path / "tasks.yaml").write_text(TASKS)
    spec = tasks.spec_of(tasks.read_tasks(tmp_path / "tasks.yaml", "smoke"), "sort", COMMON)
    spec["implementations"] += [other | {"own": False} for other in others]
    return spec


@pytest.mark.slow(seconds=2)
def test_measurements_and_missing_implementations_are_rows(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no R
    others = (
        {"name": "R", "call": "libraries:r_density", "package": None},
        {"name": "no such", "call": "libraries:kdepy_nothing", "package": None},
    )
    spec, file = spec_of(tmp_path, *others), str(tmp_path / "made.parquet")
    measure.run(file, spec, None, lambda line: None)
    rows = pd.DataFrame(read_columns(file, "measured", spec))
    ours = rows[rows["implementation"] == "ours"]
    assert list(ours["n"]) == [64, 128, 256]
    assert ours["growth"].notna().sum() == 2
    assert (ours["times"] == 2).all()
    assert (ours["seconds_low"] <= ours["seconds"]).all()
    numpy, r, wrong = (
        rows[rows["implementation"] == name].iloc[0] for name in ("NumPy", "R", "no such")
    )
    assert numpy["agreement"] == 0
    assert numpy["ratio"] == pytest.approx(numpy["seconds"] / ours["seconds"].iloc[1])
    assert numpy["version"] == np.__version__
    assert r["missing"] == "R is not installed: no Rscript on the path"
    assert math.isnan(r["seconds"])
    assert wrong["missing"].startswith("failed: AttributeError: ")


def test_rows_of_a_missing_environment_have_the_reason(tmp_path):
    environment = tmp_path / "environment.json"
    environment.write_text(json.dumps({"python": None, "packages": {}, "problem": "no such wheel"}))
    spec, file = spec_of(tmp_path), str(tmp_path / "made.parquet")
    measure.run(file, spec | {"every_n": [128]}, str(environment), lambda line: None)
    columns = read_columns(file, "measured", spec | {"every_n": [128]})
    assert columns["implementation"] == ["ours", "NumPy"]
    assert columns["missing"] == [None, "no environment: no such wheel"]


# --- numbers --------------------------------------------------------------------------------------


def test_growth_is_a_doublings_and_of_the_same_implementation():
    rows = [
        {"implementation": "ours", "n": 10, "seconds": 1.0},
        {"implementation": "other", "n": 20, "seconds": 50.0},
        {"implementation": "ours", "n": 20, "seconds": 3.0},
        {"implementation": "ours", "n": 80, "seconds": 12.0},
        {"implementation": "ours", "n": 160, "missing": "took more than 1 s"},
    ]
    grown = [row.get("growth") for row in measure.with_growth(rows)]
    assert grown == [None, None, 3.0, pytest.approx(2.0), None]


def test_audits_are_compared_at_our_bound_and_in_our_time():
    curves = {"ours, anytime": [0.6], "fast": [0.5, 0.7], "weak": [0.2, 0.3]}
    rows = [
        {"implementation": name, "n": n, "seconds": seconds, "bound": bound}
        for name, bounds in curves.items()
        for n, seconds, bound in zip((10, 80), (1.0, 4.0), bounds, strict=False)
    ]
    ours, fast, _, weak, _ = measure.beside_ours(rows, 10)
    assert (ours["time_at_bound"], ours["bound_at_time"]) == (1.0, 1.0)
    assert fast["time_at_bound"] == pytest.approx(2.0)
    assert fast["bound_at_time"] == pytest.approx(0.5 / 0.6)
    assert math.isinf(weak["time_at_bound"])


def test_bounds_of_runs_stand_beside_the_level():
    row = measure.of_bounds(np.array([0.4, 0.6, 0.8]), 0.7, 0.5)
    assert (row["bound"], row["bound_low"], row["bound_high"]) == (0.6, 0.4, 0.8)
    assert row["agreement"] == pytest.approx(6 / 7)
    assert (row["above"], row["violated"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("how", "answer", "ours", "expected"),
    [
        ("peak", [1.0, 3.5], [1.0, 4.0], 0.125),
        ("relative", 1.1, 1.0, 0.1),
        ("difference", [1.0, 3.5], [1.0, 4.0], 0.5),
        ("distribution", [0, 0, 1, 1], [0, 1, 1, 1], 0.25),
    ],
)
def test_answers_are_compared_by_their_kind(how, answer, ours, expected):
    assert measure.AGREEMENT[how](np.array(answer), np.array(ours)) == pytest.approx(expected)


def numbers(**values: object) -> dict:
    return dict.fromkeys(measure._NUMBERS, math.nan) | values


def rows_of(*rows: dict) -> dict:
    whole = [numbers(**row) for row in rows]
    return measure.columns(whole)


RESULTS = [
    (
        "sorting",
        rows_of(
            {
                "task": "sort",
                "kind": "estimator",
                "implementation": "ours",
                "n": 64,
                "seconds": 1.0,
            },
            {
                "task": "sort",
                "kind": "estimator",
                "implementation": "ours",
                "n": 128,
                "seconds": 3.0,
            }
            | {"growth": 3.0, "times": 2},
            {"task": "sort", "kind": "estimator", "implementation": "NumPy", "n": 128}
            | {"seconds": 6.0, "ratio": 2.0},
            {"task": "sort", "kind": "estimator", "implementation": "R", "n": 128}
            | {"missing": "R is not installed"},
        ),
    ),
    (
        "Laplace, .7",
        rows_of(
            *(
                {"task": "audit", "kind": "audit", "implementation": name, "n": 9, "seconds": 1.0}
                | measure.of_bounds(np.array([0.5, 0.6]), 0.7, 0.5)
                for name in ("ours", "DP-Sniper")
            )
        ),
    ),
]


def test_the_figure_shows_every_implementation_that_is_there():
    figure = figures.benchmark(compare.table(RESULTS))
    first, second, third = figure.axes
    assert first.get_legend_handles_labels()[1] == ["NumPy"]
    assert second.get_legend_handles_labels()[1] == ["ours", "DP-Sniper"]
    assert third.get_legend_handles_labels()[1] == ["sorting", "2.2 times a doubling"]
    assert all(axes.get_xlabel() for axes in figure.axes)


@pytest.mark.slow(seconds=2)
def test_the_table_the_figure_and_a_line(tmp_path):
    parts = [str(tmp_path / f"{i}.parquet") for i in range(2)]
    members = [{"title": title, "task": title} for title, _ in RESULTS]
    for part, member, (_, columns) in zip(parts, members, RESULTS, strict=True):
        measure.write_columns(columns, part, "measured", member)
    kinds = ("csv", "parquet", "pdf")
    files = SimpleNamespace(**{kind: str(tmp_path / f"benchmark.{kind}") for kind in kinds})
    compare.run(parts, files, {"identity": COMMON, "members": members})
    assert tasks.summary(Path(files.csv)).startswith(
        "benchmark: 6 rows; ours take more than 2.2 times a doubling in 1 of them, missing: R: "
    )
    assert (tmp_path / "benchmark.png").is_file()


# --- configuration --------------------------------------------------------------------------------


def test_its_tasks_have_every_scale_and_audits_are_the_list():
    for scale in ("smoke", "quick", "paper"):
        every = tasks.read_tasks(HERE / "config/benchmark.yaml", scale)
        for task, first in (("audit-laplace", "fixed n"), ("suite-renyi", "anytime")):
            spec = tasks.spec_of(every, task, COMMON | {"scale": scale})
            names = [part["name"] for part in spec["implementations"]]
            assert names[0] == f"ours, {first}"
            assert set(names) == set(LISTED)
    assert tasks.chosen(every, None) == list(every.tasks)
    with pytest.raises(ConfigError, match="tasks: unknown task 'sotr'; did you mean 'sort'"):
        tasks.chosen(every, ["sotr"])
    pinned = find_lock("benchmark", [HERE / "envs"]).statements
    names = {line.partition("==")[0].lower().replace("_", "-") for line in pinned}
    assert {"scikit-learn", "scipy", "kdepy", "statsmodels", "jax-privacy", "jax"} <= names


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ours:sort", "ours:sorts", "sort.implementations.ours: ours.py has no 'sorts'.*'sort'"),
        ("data: laplace", "data: laplac", "sort.data: data.py has no 'laplac'.*'laplace'"),
        ("n: {smoke: 128}", "n: {paper: 128}", "sort.n.smoke: is missing"),
        ("      ours: {", "      Ours: {", "sort: .*must begin with 'ours'"),
        ("kind: estimator", "kind: audit", "sort: .*an audit has no implementations"),
        ("  smoke: {rep", "  quick: {rep", "scales.smoke: is missing"),
    ],
)
def test_a_mistake_is_a_line(tmp_path, old, new, message):
    assert old in TASKS
    file = tmp_path / "tasks.yaml"
    file.write_text(TASKS.replace(old, new))
    with pytest.raises(ConfigError, match=rf"(?m)^{file}: .*{message}"):
        tasks.read_tasks(file, "smoke")


PAPERS = Study(HERE.parents[1] / "config", {"scale": "smoke"})
DRAWN = [name for name, entry in PAPERS.mechanisms.items() if entry.mechanism in textbook.SAMPLERS]


@pytest.mark.parametrize("name", DRAWN)
def test_textbook_code_draws_as_the_mechanism_does(name):
    entry, mechanism = PAPERS.mechanisms[name], PAPERS.mechanism(name, 1.0)
    x = PAPERS.inputs(name, next(iter(entry.inputs))).sides()[1]
    samplers = textbook.SAMPLERS[entry.mechanism], draws.ours
    rngs = [np.random.default_rng(seed) for seed in (1, 2)]
    drawn = [samplers[i](mechanism, x, 20_000, rngs[i]) for i in (0, 1)]
    columns = [np.asarray(sample, float).reshape(20_000, -1).T for sample in drawn]
    assert all(ks_2samp(*pair).pvalue > 1e-6 for pair in zip(*columns, strict=True))


def test_draws_of_a_report_are_timed_and_counted():
    files = draws.drawn(PAPERS, "gorla2022").head(1)
    table, bits = draws.with_seconds(PAPERS, files), 8 * np.dtype(float).itemsize
    assert table["GB"].sum() == pytest.approx((files["n"] * files["times"]).sum() * bits / 8e9)
    assert (table[["numpy", "ours"]] > 0).all(axis=None)
