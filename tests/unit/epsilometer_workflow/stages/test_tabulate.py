"""How builders of tables are called, what they read, and the paper's numbers beside ours."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError, DataError
from epsilometer_workflow.files.identities import plain
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import PaperNumbers
from epsilometer_workflow.files.storage import SampleWriter, read_table, write_table
from epsilometer_workflow.reports.askin2022 import tables as askin2022
from epsilometer_workflow.reports.gorla2022 import tables as gorla2022
from epsilometer_workflow.reports.grouping import ALL, grouped
from epsilometer_workflow.reports.kutta2022 import tables as kutta2022
from epsilometer_workflow.reports.lu2022 import tables as lu2022
from epsilometer_workflow.stages import tabulate
from epsilometer_workflow.stages.tabulate import build, check, join_paper
from tests.unit.stages import samples_of, table_by

PLACE = Place("f", "key")

# --- builders and their options -------------------------------------------------------------------


@grouped(across=ALL)
def single(summary: pd.DataFrame, *, k: int = 1):
    if k < 0:
        raise ArgumentError("k", "must not be negative")
    return summary.assign(k=k)


@grouped(curve={"k": 50})
def none(*, k: int):
    return pd.DataFrame({"epsilon": [0.2] * k, "kind": "a", "n": range(k)})


def odd(anything: pd.DataFrame): ...


def untyped(summary): ...


def drawn(samples: pd.DataFrame): ...


def test_builders_are_called_by_their_signature():
    frame = pd.DataFrame({"mechanism": ["m"], "a": [1]})
    assert build(single, [frame], {"k": 2}, PLACE)[["a", "k"]].to_numpy().tolist() == [[1, 2]]
    assert build(none, [], {"k": 3}, PLACE)["n"].tolist() == [0, 1, 2]
    with pytest.raises(ConfigError, match=r"f: key.table.options: k must not be negative"):
        build(single, [frame], {"k": -1}, PLACE)


@pytest.mark.parametrize(
    ("builder", "data", "options", "message"),
    [
        (odd, ["a"], {}, "key.table.builder: odd takes 'anything', not one of summary, "),
        (single, [], {}, "key.table.data: single takes experiments"),
        (none, ["a"], {"k": 1}, "key.table.data: none takes no experiment"),
        (none, [], {}, "key.table.options.k: is missing"),
        (untyped, ["a"], {}, "key.table.builder: untyped gives its parameter 'summary' no type"),
    ],
)
def test_builders_are_checked_before_the_dag(builder, data, options, message):
    with pytest.raises(ConfigError, match=message):
        check(builder, data, [], options, PLACE)


LEAST = {  # of builders the least options that they take
    askin2022.losses: {"epsilon": 1.0, "sigma": 1.0, "reach": 1.0, "points": 2},
    askin2022.empirical_loss: {"region": [0.0, 1.0], "points": 2, "floor": 0.1},
    gorla2022.lipschitz_constants: {"scales": [1.0], "sigmas": [1.0]},
    gorla2022.planned_samples: {
        **{"gamma": 1.0, "delta": 0.8, "lipschitz": 1.5},
        **{"gammas": [1.0], "deltas": [0.8], "lipschitzes": [1.5]},
    },
    gorla2022.all_pairs: {"pairs": [[0.0, 1.0]], "delta": 0.8},
    kutta2022.maxima: {"pairs": [1]},
    lu2022.epsilons: {"deltas": [0.1]},
    lu2022.classical: {"claims": [0.1]},
    lu2022.among_neighbours: {"claims": [0.1], "epsilons": [1.0]},
    lu2022.accuracies: {"n": [10], "beta": 0.1, "claim": 0.5, "dimensions": [1]},
}


def takes(builder, options):
    """Check options of a builder."""
    data = ["a"] if tabulate.reads(builder) else []
    check(builder, data, [], options, PLACE)


@pytest.mark.parametrize("builder", LEAST)
def test_the_least_options_are_taken_and_less_is_refused(builder):
    least = LEAST[builder]
    takes(builder, least)
    fewer = {name: value[:-1] for name, value in least.items() if isinstance(value, list)}
    if "points" in least:
        fewer["points"] = 1
    for name, value in fewer.items():
        with pytest.raises(ConfigError, match=rf"options\.{name}"):
            takes(builder, least | {name: value})


@pytest.mark.parametrize("ends", [[0.0], [0.0, 1.0, 2.0]])
def test_a_pair_of_inputs_and_a_region_have_two_ends(ends):
    for builder, changed in (
        (gorla2022.all_pairs, {"pairs": [ends]}),
        (askin2022.empirical_loss, {"region": ends}),
    ):
        with pytest.raises(ConfigError, match=r"options\.(pairs|region)"):
            takes(builder, LEAST[builder] | changed)


# --- the paper's numbers --------------------------------------------------------------------------

PAPER = PaperNumbers(
    keys=["epsilon", "kind"], columns=["epsilon", "kind", "n"], rows=[[0.2, "a", 5]]
)


def test_the_papers_numbers_join_on_rounded_keys():
    """The sum of two tenths is a fifth, and a fifth and a millionth is another number."""
    epsilons = [0.1 + 0.1, 0.2 + 1e-6, 0.3]
    ours = pd.DataFrame({"epsilon": epsilons, "kind": ["a", "a", "b"], "n": [4, 5, 6]})
    joined = join_paper(ours, PAPER, PLACE)
    assert list(joined.columns) == ["epsilon", "kind", "n", "paper_n"]
    assert joined["paper_n"].tolist() == pytest.approx([5, math.nan, math.nan], nan_ok=True)


def test_a_printed_row_without_a_match_is_an_error():
    ours = pd.DataFrame({"epsilon": [0.3], "kind": ["a"]})
    with pytest.raises(ConfigError, match=r"f: key.rows: no row of the table has epsilon=0.2"):
        join_paper(ours, PAPER, PLACE)
    with pytest.raises(ConfigError, match=r"f: key.keys: the table has no column 'kind'"):
        join_paper(ours.drop(columns="kind"), PAPER, PLACE)


def test_printed_numbers_join_the_rows_of_their_identity():
    ours = pd.DataFrame({"mechanism": ["a", "b"], "gamma": [0.5, 0.5], "n": [4, 6]})
    paper = PaperNumbers(keys=["gamma"], columns=["gamma", "n"], rows=[[0.5, 5]])
    with pytest.raises(ConfigError) as refused:
        join_paper(ours, paper, PLACE)
    assert str(refused.value) == (
        "f: key.keys: 2 rows of the table have gamma=0.5 (mechanism: a, b; n: 4, 6); say "
        "which in paper.of"
    )
    of_b = paper.model_copy(update={"of": {"mechanism": "b"}})
    assert join_paper(ours, of_b, PLACE)["paper_n"].isna().tolist() == [True, False]


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def outputs(tmp_path):
    return tuple(str(tmp_path / name) for name in ("fig1.csv", "fig1.parquet", "curve.parquet"))


def test_a_table_is_the_same_as_csv_and_parquet_with_the_papers_numbers(outputs):
    job = table_by(f"{__name__}:none", options={"k": 1}, paper=PAPER, caption="é")
    tabulate.run([], *outputs, job)
    identity = replace(job.identity, caption="é")
    parquet = read_table(outputs[1], "table", identity)
    assert parquet.to_dict("records") == [{"epsilon": 0.2, "kind": "a", "n": 0, "paper_n": 5}]
    pd.testing.assert_frame_equal(pd.read_csv(outputs[0]), parquet, check_dtype=False)
    curve = read_table(outputs[2], "curve", job.identity)
    assert curve["n"].tolist() == list(range(50))  # of the further options of the builder


def test_files_of_each_experiment_are_read_in_order(tmp_path, outputs):
    """Two experiments, the second of two files: each file must be of its place's experiment."""
    identities = [{"seed": i} for i in range(3)]
    files = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for i, file in enumerate(files):
        table = pd.DataFrame({"mechanism": ["m"], "n": [i]})
        write_table(table, file, "summary", identities[i])
    parts = [identities[:1], identities[1:]]
    tabulate.run(files, *outputs, table_by(f"{__name__}:single", data=parts))
    assert pd.read_csv(outputs[0])["n"].tolist() == [0, 1, 2]
    assert read_table(outputs[2], "curve", table_by("").identity).empty  # it names no options
    with pytest.raises(DataError, match="is stale: seed is 2, not 0"):
        tabulate.read(files[::-1], parts, single)


def test_draws_are_a_row_each(tmp_path):
    about = {"registered": "module:M", "parameters": {"b": 1, "a": 2}, "epsilon": 0.5}
    identity = samples_of("m", [0, [1, 2]], n=2, runs=[3, 4], **about)
    file = tmp_path / "s.parquet"
    with SampleWriter(file, "scalar", None, identity) as writer:
        for first in range(0, 8, 2):
            writer.write(np.array([first, first + 1.0]))
    (frame,) = tabulate.read([str(file)], [[plain(identity)]], drawn)
    assert frame["output"].tolist() == list(range(8))
    assert frame["run"].tolist() == [3] * 4 + [4] * 4
    assert frame["side"].tolist() == [0, 0, 1, 1] * 2
    assert frame["x"].map(json.loads).tolist() == [0, 0, [1, 2], [1, 2]] * 2
    same = {"mechanism": "m", "parameters": '{"a": 2, "b": 1}', "epsilon": 0.5}
    assert frame[list(same)].drop_duplicates().to_dict("records") == [same]
