"""Tables: how builders are called and checked, and the paper's numbers beside ours."""

import json

import numpy as np
import pandas as pd
import pytest

from epsilometer.errors import ArgumentError, ConfigError, DataError
from epsilometer_workflow.files.storage import SampleWriter, read_table, write_table
from epsilometer_workflow.stages import tabulate
from epsilometer_workflow.stages.tabulate import build, check, join_paper


def single(summary: pd.DataFrame, *, k: int = 1):
    if k < 0:
        raise ArgumentError("k", "must not be negative")
    return summary


def several(summaries: list[pd.DataFrame]):
    return pd.concat(summaries)


def odd(anything: pd.DataFrame): ...


def untyped(summary): ...


def none(*, k: int):
    return pd.DataFrame({"epsilon": [0.2], "kind": ["a"], "n": [k]})


def drawn(samples: list[pd.DataFrame]): ...


def test_builders_are_called_by_their_signature():
    frame = pd.DataFrame({"a": [1]})
    assert build(single, [frame], {"k": 2}, "f", "key") is frame
    assert len(build(several, [frame, frame], {}, "f", "key")) == 2
    assert build(none, [], {"k": 3}, "f", "key")["n"].tolist() == [3]
    with pytest.raises(ConfigError, match=r"f: key.table.options: k must not be negative"):
        build(single, [frame], {"k": -1}, "f", "key")


@pytest.mark.parametrize(
    ("builder", "data", "options", "message"),
    [
        (odd, ["a"], {}, "key.table.builder: odd takes 'anything', not one of summary, "),
        (single, ["a", "b"], {}, "key.table.data: single takes one experiment"),
        (none, ["a"], {"k": 1}, "key.table.data: none takes no experiment"),
        (none, [], {}, "key.table.options.k: is missing"),
        (untyped, ["a"], {}, "key.table.builder: untyped gives its parameter 'summary' no type"),
    ],
)
def test_builders_are_checked_before_the_dag(builder, data, options, message):
    with pytest.raises(ConfigError, match=message):
        check(builder, data, options, "f", "key")


PAPER = {"keys": ["epsilon", "kind"], "columns": ["epsilon", "kind", "n"], "rows": [[0.2, "a", 5]]}


def test_the_papers_numbers_join_on_rounded_keys():
    ours = pd.DataFrame({"epsilon": [0.1 + 0.1, 0.3], "kind": ["a", "b"], "n": [4, 6]})
    joined = join_paper(ours, PAPER, "f", "here")
    assert list(joined.columns) == ["epsilon", "kind", "n", "paper_n"]
    assert joined["paper_n"].tolist()[0] == 5
    assert np.isnan(joined["paper_n"].tolist()[1])
    pd.testing.assert_frame_equal(join_paper(ours, None, "f", "here"), ours)


def test_a_printed_row_without_a_match_is_an_error():
    ours = pd.DataFrame({"epsilon": [0.3], "kind": ["a"]})
    with pytest.raises(
        ConfigError, match=r"f: here.paper.rows: no row of the table has epsilon=0.2"
    ):
        join_paper(ours, PAPER, "f", "here")
    with pytest.raises(ConfigError, match=r"f: here.paper.keys: the table has no column 'kind'"):
        join_paper(ours.drop(columns="kind"), PAPER, "f", "here")


def spec_of(builder, data, **more):
    """Return the spec of a job of a builder of this module."""
    spec = {"builder": f"{__name__}:{builder}", "options": {}, "paper": None, "caption": "é"}
    identity = {"report": "r", "artifact": "fig1", "made_of": "0"}
    return {"identity": identity, "data": data} | spec | more


@pytest.fixture
def outputs(tmp_path):
    return tuple(str(tmp_path / name) for name in ("fig1.csv", "fig1.parquet", "curve.parquet"))


def test_a_table_is_the_same_as_csv_and_parquet_with_the_papers_numbers(outputs):
    spec = spec_of("none", [], options={"k": 4}, paper=PAPER)
    tabulate.run([], *outputs, spec)
    parquet = read_table(outputs[1], "table", spec["identity"] | {"caption": "é"})
    assert parquet.to_dict("records") == [{"epsilon": 0.2, "kind": "a", "n": 4, "paper_n": 5}]
    pd.testing.assert_frame_equal(pd.read_csv(outputs[0]), parquet, check_dtype=False)


def test_files_of_each_experiment_are_read_in_order(tmp_path, outputs):
    """Two experiments, the second of two files: each file must be of its place's experiment."""
    identities = [{"seed": i} for i in range(3)]
    files = [str(tmp_path / f"{i}.parquet") for i in range(3)]
    for i, (file, identity) in enumerate(zip(files, identities, strict=True)):
        write_table(pd.DataFrame({"a": [i]}), file, "summary", identity)
    parts = [identities[:1], identities[1:]]
    read = tabulate.read(files, parts, several)
    assert [frame["a"].tolist() for frame in read] == [[0], [1, 2]]
    tabulate.run(files, *outputs, spec_of("several", parts))
    assert pd.read_csv(outputs[0])["a"].tolist() == [0, 1, 2]
    with pytest.raises(DataError, match="is stale: seed is 2, not 0"):
        tabulate.read(files[::-1], parts, several)


def test_draws_are_a_row_each(tmp_path):
    identity = {"mechanism": "m", "registered": "module:M", "parameters": {"b": 1, "a": 2}}
    identity |= {"epsilon": 0.5, "inputs": {"id": "ends", "values": [0, [1, 2]]}}
    identity |= {"sides": 2, "runs": [3, 4], "n": 2}
    file = tmp_path / "s.parquet"
    with SampleWriter(file, "scalar", None, identity) as writer:
        for first in range(0, 8, 2):
            writer.write(np.array([first, first + 1.0]))
    (frame,) = tabulate.read([str(file)], [[identity]], drawn)
    assert frame["output"].tolist() == list(range(8))
    assert frame["run"].tolist() == [3] * 4 + [4] * 4
    assert frame["side"].tolist() == [0, 0, 1, 1] * 2
    assert frame["x"].map(json.loads).tolist()[1:3] == [0, [1, 2]]
    same = {"mechanism": "m", "parameters": '{"a": 2, "b": 1}', "epsilon": 0.5}
    assert all((frame[key] == value).all() for key, value in same.items())
