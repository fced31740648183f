"""Recorded outputs are read from any table; the error of a bad file is one line."""

import math
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError
from epsilometer_audit.outputs.recorded import digest, read, read_scores
from tests.unit.audits import error_in_one_line

NAN = math.nan


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def same(outputs, expected):
    """Compare one side's outputs: arrays by type and value, lists by value."""
    assert isinstance(outputs, type(expected))
    assert getattr(outputs, "dtype", None) == getattr(expected, "dtype", None)
    assert repr([*outputs]) == repr([*expected])


def floats(*values):
    return np.array(values, float)


def integers(*values):
    return np.array(values, np.int64)


TEXTS = [  # a file of two columns, the outputs on x and on x'
    ("x,x_prime\n1,2\n3,4\n", integers(1, 3), integers(2, 4)),
    ("1,2\n\n3,4\n", integers(1, 3), integers(2, 4)),
    (",b\n1,2\n", [None, 1], ["b", 2]),
    ("\ufeffx,x_prime\r\n1,2\r\n3,4\r\n\r\n", integers(1, 3), integers(2, 4)),
    ("a,b\n1.5,nan\n,inf\n-inf,2\n", floats(1.5, NAN, -math.inf), floats(NAN, math.inf, 2)),
    ('a,b\n"yes, it is",no\n"",\nNA,null\n', ["yes, it is", "", "NA"], ["no", None, "null"]),
    ("a,b\n,1\n2,1\n,1\n", floats(NAN, 2, NAN), integers(1, 1, 1)),  # not at the end only
    ("a,b\ntrue,False\nfalse,True\n", np.array([True, False]), np.array([False, True])),
    ("a,b\n,true\nfalse,False\nTrue,true\n", [None, False, True], np.array([True, False, True])),
    (
        "a,b\n,1\ntrue,1\nfalse,1\nTrue,1\nFalse,1\n",
        [None, "true", "false", "True", "False"],
        integers(1, 1, 1, 1, 1),
    ),
    (
        "a,b\n,true\ntrue,true\nfalse,true\nTrue,true\nFalse,true\n",
        [None, True, False, True, False],
        np.array([True] * 5),
    ),
    ("a,b\ntrue,False\nfalse,no\n", ["true", "false"], ["False", "no"]),
    ("a,b\n,1\n123456789012345678901,1\n", [NAN, 123456789012345678901], integers(1, 1)),
    ("a,b\n0123,0001\n1230,9999\n", ["0123", 1230], ["0001", 9999]),
    (f"a,b\n{2**53},{2**53 + 1}\n1e3,1e3\n", floats(2**53, 1000), [2**53 + 1, 1000.0]),
    (f"a,b\n,1e3\n{-(2**53)},{-(2**53) - 1}\n", floats(NAN, -(2**53)), [1000.0, -(2**53) - 1]),
    (
        "a,b\n0.12345678901234567891,1\n2,3\n",
        [Decimal("0.12345678901234567891"), 2],
        integers(1, 3),
    ),
    ("a,b\n1e-400,1\n1e400,9\n", [Decimal("1E-400"), Decimal("1E+400")], integers(1, 9)),
    (
        "a,b\n0.1000000000000000000000000000012,0.10000000000000001\n0.10,5e-324\n",
        [Decimal("0.1000000000000000000000000000012"), 0.1],
        floats(0.1, 5e-324),
    ),
    ("yes,no\nyes,1\nno,2\n", ["yes", "yes", "no"], ["no", 1, 2]),  # no header, as "yes" returns
    ('a,b\n"two\n""",""""\n"",x\n', ['two\n"', ""], ['"', "x"]),
    (f"a,b\n{'9' * 5000},1\n2,3\n", [Decimal("9" * 5000), 2], integers(1, 3)),
    (f"a,b\n{'w' * 200_000},x\nv,y\n", ["w" * 200_000, "v"], ["x", "y"]),
]


def pair_of(files, expected, **options):
    """Compare what files hold, which are written first, with the outputs on both sides."""
    for name, text in files.items():
        Path(name).write_bytes(text.encode())
    for side, outputs in zip(read(list(files), **options), expected, strict=True):
        same(side, outputs)


@pytest.mark.parametrize(("text", "x", "x_prime"), TEXTS)
def test_csv_of_two_columns(text, x, x_prime):
    pair_of({"o.csv": text}, (x, x_prime))


A_AND_B, NAMED = "a,b\n1,2\n3,4\n", ",a,b,c\n0,1,2,3\n1,4,5,6\n"
ROWS = np.array([[1, 2], [3, 4]])
SETS_OF_FILES = [  # texts of files, columns, the outputs on x and on x'
    ([NAMED], ["c", "a"], integers(3, 6), integers(1, 4)),
    ([NAMED, "a,b,c\n7,8,9\n"], ["b", "c"], np.array([[2, 3], [5, 6]]), np.array([[8, 9]])),
    (["output\n1\n\n3\n\n", "4\n5\n"], None, floats(1, NAN, 3), integers(4, 5)),
    (["1,2\n3,4\n"], ["2", "1"], integers(4), integers(3)),  # a header, as it has these names
    ([A_AND_B, "b,a\n5,6.5\n"], None, ROWS, np.array([[6.5, 5]])),
    ([A_AND_B, "a,b\n1,yes\n"], None, ROWS, [(1, "yes")]),
]


@pytest.mark.parametrize(("texts", "columns", "x", "x_prime"), SETS_OF_FILES)
def test_columns_of_one_file_or_two(texts, columns, x, x_prime):
    pair_of({f"{i}.csv": text for i, text in enumerate(texts)}, (x, x_prime), columns=columns)


FIRST_ROWS = [  # of three columns; whether they are a header
    ("a,b,c\n1,2,3\n", True),
    ("a,b,c\n1,b,3\n", False),  # which comes again
    ("a,b,1e5\n1,2,3\n", False),
    ("nan,b,c\n1,2,3\n", False),
    ("a,,c\n1,2,3\n", False),
    ("a,b,\n1,2,3\n", False),
    (",b,c\n0,2,3\n", True),  # beside the index of a data frame
    (",1,c\n0,2,3\n", False),
    (",,c\n0,2,3\n", False),
    (",b,c\n,2,3\n", False),
]


@pytest.mark.parametrize(("text", "is_header"), FIRST_ROWS)
def test_the_first_row_is_a_header_of_texts_that_do_not_come_again(text, is_header):
    names = text.partition("\n")[0].split(",") if is_header else ["f0", "f1", "f2"]
    Path("o.csv").write_text(text)
    listed = ", ".join(name or "''" for name in names)
    with error_in_one_line(ArgumentError, [f"has 3 columns ({listed});"]):
        read(["o.csv"])


def test_a_parquet_file_without_pyarrow_is_an_error_and_a_csv_file_is_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    Path("o.parquet").write_bytes(b"PAR1")
    with error_in_one_line(ArgumentError, ["o.parquet", "pip install 'epsilometer[parquet]'"]):
        read(["o.parquet"])
    pair_of({"o.csv": "a,b\n1,2\n3,4\n"}, (integers(1, 3), integers(2, 4)))


COLUMNS = {  # of Parquet, without missing values; one with; and what is read of it
    "x": ([1.0, 2.0], [1.5, None], floats(1.5, NAN)),
    "words": (["a", "b"], pa.array(["a", None]).dictionary_encode(), ["a", None]),
    "whole": ([1, 2], [1, None], floats(1, NAN)),
    "large": ([1, 2], [None, 2**60 + 1], [NAN, 2**60 + 1]),
    "texts": (["a", "b"], ["u", "v"], ["u", "v"]),
    "vectors": ([[5.0, 6.0]] * 2, [[1.0, 2.0], [3.0, 4.0]], np.array([[1.0, 2], [3.0, 4]])),
    "some vectors": ([[5.0, 6.0]] * 2, [None, [3.0, 4.0]], [None, (3.0, 4.0)]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_parquet(name):
    complete, missing, expected = COLUMNS[name]
    index = {"__index_level_0__": [0, 1]}  # of a data frame
    parquet.write_table(pa.table({name: missing, **index}), "o.parquet")
    parquet.write_table(pa.table({name: complete}), "p.parquet")
    same(read(["o.parquet", "p.parquet"])[0], expected)


def test_a_vector_may_be_missing_in_a_column_of_one_file():
    vectors = [[1.0, 2.0], None, [3.0, 4.0]]
    parquet.write_table(pa.table({"a": vectors, "b": [0, 0, 0]}), "o.parquet")
    same(read(["o.parquet"])[0], [(1.0, 2.0), None, (3.0, 4.0)])


@pytest.mark.parametrize("kind", ["bool", "int8", "int64", "uint64", "float32", "float64"])
def test_a_complete_column_of_parquet_keeps_its_type(kind):
    values = np.array([1, 0, 1], kind)
    parquet.write_table(pa.table({"a": values, "b": values}), "o.parquet")
    for side in read(["o.parquet"]):
        same(side, values)


ARRAYS = [  # of one file or two; the outputs on x
    ([np.arange(14.0).reshape(2, 7)], np.arange(7.0)),
    ([np.zeros((2, 7, 3), int)], np.zeros((7, 3), int)),
    ([np.arange(3.0), np.arange(4)], np.arange(3.0)),
    ([np.eye(3, 2), np.ones((4, 2))], np.eye(3, 2)),
]


@pytest.mark.parametrize(("arrays", "x"), ARRAYS)
def test_npy(arrays, x):
    paths = [f"{i}.npy" for i in range(len(arrays))]
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    side, other = read(paths)
    same(side, x)
    assert len(other) == (4 if len(paths) == 2 else 7)
    assert set(digest(paths)) == set(paths)


FILES = {
    "good.csv": "a,b\n1,2\n3,4\n",
    "other.csv": "a,c\n1,2\n",
    "one.csv": "a\n1\n",
    "three.csv": "a,b,c\n1,2,3\n",
    "twice.csv": "a,a\n1,2\n",
    "empty.csv": "",
    "ragged.csv": "a,b\n1,2\n3,4,5\n",
    "short.csv": "a,b\n1,2\n3,\n5,\n",
    "latin.csv": "a,b\nä,b\n",
    "o.txt": "1,2\n",
    "bad.parquet": "a,b\n1,2\n",
    "flat.npy": np.zeros(7),
    "object.npy": np.array([[None], [1]]),
}


BAD = [  # paths, columns, words of the error
    (["god.csv"], None, ["god.csv cannot be read: No such file", "did you mean 'good.csv'?"]),
    (["o.txt"], None, ["o.txt is of an unknown kind", ".csv, .parquet, .npy"]),
    ([], None, ["outputs takes one file or two, not 0"]),
    (["one.csv"], None, ["one.csv has 1 column (a)", "name a second file"]),
    (["three.csv"], None, ["three.csv has 3 columns (a, b, c)", "choose two of them"]),
    (["twice.csv"], None, ["twice.csv has two columns 'a'"]),
    (["empty.csv"], None, ["empty.csv is empty"]),
    (["ragged.csv"], None, ["ragged.csv cannot be read: ", "row 3 has 3 fields"]),
    (["short.csv"], None, ["short.csv ends after 1 of 3 rows in column 'b'", "nan, or two files"]),
    (["latin.csv"], None, ["latin.csv cannot be read: ", "byte 0xe4 in position 4"]),
    (["bad.parquet"], None, ["bad.parquet cannot be read: "]),
    (["object.npy"], None, ["object.npy cannot be read: Object arrays"]),
    (["flat.npy", "good.csv"], ["a"], ["flat.npy has no column 'a' (known: 0)"]),
    (["good.csv"], ["a", "a"], ["columns names 'a' twice"]),
    (["three.csv"], ["a"], ["columns must be 2 of a single file, got 1"]),
    (["three.csv"], ["a", "bb"], ["three.csv has no column 'bb'; did you mean 'b'?"]),
    (["good.csv", "./good.csv"], None, ["good.csv is given twice"]),
    (["good.csv", "three.csv"], None, ["three.csv has 3 columns (a, b, c), but good.csv has 2"]),
    (["good.csv", "other.csv"], None, ["other.csv has 2 columns (a, c), but good.csv has 2"]),
    (["one.csv", "three.csv"], None, ["three.csv has 3 columns (a, b, c), but one.csv has 1"]),
    (["three.csv", "one.csv"], None, ["one.csv has 1 column (a), but three.csv has 3 columns"]),
]


@pytest.mark.parametrize(("paths", "how", "words"), BAD)
def test_a_bad_file_of_outputs_is_an_error(paths, how, words):
    for name, content in FILES.items():
        if isinstance(content, str):
            Path(name).write_text(content, "latin-1")
        else:
            np.save(name, content)
    with error_in_one_line(ArgumentError, words):
        read(paths, how)


def test_another_file_is_suggested_where_there_is_none_of_this_name_and_another():
    with pytest.raises(ArgumentError, match=r"No such file or directory$"):
        read(["god.csv"])
    Path("good.csv").touch()
    Path("god.csv").mkdir()
    with pytest.raises(ArgumentError, match=r"Is a directory$"):
        read(["god.csv"])


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("score,included,id\n0.5,1,8\n", None),
        ("included,id,score\n1,8,0.5\n", None),
        ("included,score\n1,0.5\n", None),
        ("a,b\n0.5,1\n", None),  # the only two
        ("included,b,score,a\n5,1,3,0.5\n", ["a", "b"]),
    ],
)
def test_scores_are_in_the_columns_that_are_named_or_so_called_or_the_only_two(text, columns):
    Path("s.csv").write_text(text)
    scores, included = read_scores("s.csv", columns)
    same(scores, floats(0.5))
    same(included, integers(1))


@pytest.mark.parametrize("text", ["a,b,c\n1,2,3\n", "a\n1\n", "score,b,c\n1,2,3\n"])
def test_scores_without_names_are_an_error_of_more_columns_than_two_or_fewer(text):
    Path("s.csv").write_text(text)
    with error_in_one_line(ArgumentError, ["name them, --columns SCORE INCLUDED"]):
        read_scores("s.csv")


# --- recorded draws are used in a random order ----------------------------------------------------

BITS = np.repeat([0, 1], [800, 3200]), np.repeat([0, 1], [3200, 800])
ORDERS = {
    "one rising, one falling": (BITS[0], BITS[1][::-1]),
    "what choosing sees is alike": (np.roll(BITS[0], 400), np.roll(BITS[1], 400)),
}


@pytest.mark.parametrize("claim", [ea.pure(0.5), ea.renyi({2: 0.2})], ids=["exact", "anytime"])
@pytest.mark.parametrize("order", ORDERS)
def test_the_order_in_which_outputs_were_recorded_tells_nothing(order, claim):
    """In the order of the file, the draws that choose an event would hardly differ."""
    verdict = ea.audit_outputs(ORDERS[order], claim)
    assert verdict.verdict == "violated"
    assert verdict.bound > 0.85 * math.log(0.8**2 / 0.2 + 0.2**2 / 0.8)  # order 2, below epsilon


@pytest.mark.parametrize("claim", [ea.pure(0.0), ea.approximate(0.0, 0.1)])
def test_a_bound_that_is_no_larger_than_the_claim_refutes_nothing(claim):
    """Equal sides: the bound is 0, which is what is claimed."""
    bits = np.tile([0, 1], 1000)
    verdict = ea.audit_outputs((bits, bits), claim)
    assert verdict.bound == 0
    assert verdict.verdict != "violated"


@pytest.mark.parametrize("shifts", [(0, 2), (2, 0)])
def test_the_pair_that_promises_most_is_tested(shifts):
    rng = np.random.default_rng(3)
    pairs = {f"shift {shift}": tuple(rng.laplace([[0], [shift]], 1, (2, 2000))) for shift in shifts}
    verdict = ea.audit_outputs(pairs, ea.pure(0.5), as_reals=True)
    assert verdict.verdict == "violated"
    assert 0.5 < verdict.bound < 2
