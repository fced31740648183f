"""Declared domains with missing entries, steps, users, data frames, and several changed counts."""

import json
import math
import sys
from itertools import product

import pytest

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, MechanismError
from epsilometer_audit.formats import input_text
from epsilometer_audit.sources.callables import callable_source
from epsilometer_audit.sources.worker import python_worker
from tests.unit.test_audit_domains import cases_of, survey  # noqa: F401 - a fixture

NUMBER = {"values": [0, 5], "missing": True}
NAMED = {"age": {"values": [0, 99], "whole": True}, "city": {"choices": ["A", "B", None]}}

DECLARATIONS = {  # with the number of pairs
    "NaN": (NUMBER, 11),
    "None": ({"values": [0, 5], "missing": "None"}, 11),
    "whole, missing": ({"values": [0, 3], "whole": True, "missing": True}, 8),
    "clipped, missing": ({**NUMBER, "clipped": True}, 16),
    "table, NaN": ({"rows": NUMBER, "length": [0, 20]}, 72),
    "small table, NaN": ({"rows": NUMBER, "length": [1, 3]}, 44),
    "fixed table, None": ({"rows": {"values": [0, 5], "missing": "None"}, "length": 2}, 41),
    "columns, NaN": ({"rows": [NUMBER, {"choices": ["a", "b"]}, NUMBER], "length": [0, 4]}, 100),
    "replaced columns, NaN": (
        {"rows": [NUMBER] * 30, "length": [1, 5], "neighbours": "replace a row"},
        94,
    ),
    "far steps": ({"values": [1e12, 1e12 + 10], "step": 1}, 9),
    "far steps in a table": ({"rows": {"values": [1e12, 1e12 + 10], "step": 1}, "length": 3}, 41),
    "coarse": ({"values": [-(2**50), 2**50], "distance": 1}, 22),
    "coarse, whole": ({"values": [0, 2**54], "whole": True, "distance": 1}, 13),
    "far": ({"rows": {"values": [10, 11]}, "length": [1, 3]}, 28),
    "unlike": ({"rows": [{"values": [0, 1]}, {"values": [-1e6, 1e6]}], "length": [1, 3]}, 50),
    "users": ({"rows": NAMED, "length": [0, 9], "user": "id", "per user": 4}, 91),
    "users of one row": ({"rows": NAMED, "length": [0, 4], "user": "id", "per user": 1}, 54),
    "users, missing": ({"rows": {"x": NUMBER}, "length": [0, 3], "user": "id"}, 89),
    "users replaced": ({"rows": NAMED, "length": 3, "user": "id"}, 41),
    "several counts": ({"counts": [0, 9], "keys": list("abcde"), "changed": 3}, 15),
    "all counts": ({"counts": [0, 1], "keys": ["a", "b"], "changed": 2}, 4),
}
FRAMES = {
    **{key: DECLARATIONS[key] for key in DECLARATIONS if key.startswith("users")},
    "named": ({"rows": NAMED, "length": [0, 20]}, 72),
    "named, replaced": ({"rows": {**NAMED, "x": NUMBER}, "length": 5}, 66),
    "several counts": DECLARATIONS["several counts"],
}


@pytest.fixture(params=DECLARATIONS)
def declared(request):
    declaration, number = DECLARATIONS[request.param]
    return declaration, number, ea.domain(declaration)


def test_pairs_are_so_many_and_each_once(declared):
    _, number, pairs = declared
    texts = {frozenset(map(json.dumps, pair)) for pair in pairs.values()}
    assert len(texts) == len(pairs) == number
    assert all(len(text) == 2 for text in texts)


def test_the_same_declaration_gives_the_same_pairs(declared):
    declaration, _, pairs = declared
    again = ea.domain({**json.loads(json.dumps(declaration)), "limit": 5})
    assert json.dumps(list(again.items())) == json.dumps(list(pairs.items())[:5])


def test_pairs_are_neighbours_as_declared(declared):
    declaration, _, pairs = declared
    for name, (x, y) in pairs.items():
        assert neighbours(declaration, x, y), (name, x, y)


# --- a check by brute force, of its own -----------------------------------------------------------


def neighbours(declaration, x, y):
    if "counts" in declaration:
        return counts(declaration, x, y)
    if "rows" not in declaration:
        return entry(declaration, x) and entry(declaration, y) and near(declaration, x, y)
    low, high = declaration["length"], declaration["length"]
    low, high = low if isinstance(low, list) else (low, high)
    rows, user = declaration["rows"], declaration.get("user")
    units = [by_user(side, user) if user else dict(enumerate(side)) for side in (x, y)]
    for table, unit in zip((x, y), units, strict=True):
        assert low <= len(unit) <= high
        most = declaration.get("per user", 3)
        assert not user or all(1 <= len(own) <= most for own in unit.values())
        assert all(of_rows(rows, row, user) for row in table)
    if low == high or declaration.get("neighbours") == "replace a row":
        return len(units[0]) == len(units[1]) and differing(units) == 1
    if user:
        return differing(units) == 1 and abs(len(units[0]) - len(units[1])) == 1
    texts = [list(map(json.dumps, side)) for side in (x, y)]
    short, long = sorted(texts, key=len)
    return any([*long[:i], *long[i + 1 :]] == short for i in range(len(long)))


def by_user(table, user):
    units = {}
    for row in table:
        assert type(row[user]) is int
        units.setdefault(row[user], []).append(row)
    return units


def differing(units):
    keys = {*units[0], *units[1]}
    return sum(json.dumps(units[0].get(k)) != json.dumps(units[1].get(k)) for k in keys)


def of_rows(rows, row, user):
    if "values" in rows:
        return entry(rows, row)
    keys = rows if isinstance(rows, dict) else range(len(rows))
    names = [*([user] if user else []), *keys]
    assert list(row if isinstance(row, dict) else range(len(row))) == names
    return all(entry(rows[key], row[key]) for key in keys)


def entry(declaration, value):
    if "choices" in declaration:
        return value in declaration["choices"]
    low, high = declaration["values"]
    missing, whole = declaration.get("missing"), declaration.get("whole", False)
    if value is None:
        return missing == "None" or (missing is True and whole)
    if math.isnan(value):
        return missing is True and not whole
    assert type(value) is (int if whole else float)
    step = declaration.get("step")
    assert step is None or (value - low) % step == 0
    return low <= value <= high or declaration.get("clipped", False)


def near(declaration, x, y):
    return "distance" not in declaration or abs(x - y) <= declaration["distance"]


def counts(declaration, x, y):
    low, high = declaration["counts"]
    both = [[side.get(key, 0) for key in declaration["keys"]] for side in (x, y)]
    assert all(low <= count <= high for side in both for count in side)
    assert all(count > 0 for side in (x, y) for count in side.values())
    changes = [a - b for a, b in zip(*both, strict=True) if a != b]
    return set(changes) == {1} and len(changes) <= declaration["changed"]


# --- which pairs they are -------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["NaN", "None"])
def test_entries_are_missing_as_rows_and_beside_rows(missing):
    word = {"NaN": "NaN", "None": "null"}[missing]
    row = {"values": [0, 5], "missing": missing}
    pairs = ea.domain({"rows": row, "length": [0, 20]})
    texts = {name: list(map(json.dumps, pair)) for name, pair in pairs.items()}
    assert texts[f"{word} removed, the only row"] == [f"[{word}]", "[]"]
    last = [x for x, _ in texts.values()]
    assert f"[0.0, {word}]" in last
    for others in (f"{word} and 5 in turn", f"{word}, then 5", word):
        assert any(name.endswith(f"others {others}") for name in pairs), others
    for x, y in texts.values():
        assert {"NaN": "null", "None": "NaN"}[missing] not in x + y


def test_a_row_of_many_columns_is_missing_as_a_whole_and_in_one_entry():
    declaration, _ = DECLARATIONS["replaced columns, NaN"]
    changed = set()
    for x, y in ea.domain(declaration).values():
        rows = [(a, b) for a, b in zip(x, y, strict=True) if json.dumps(a) != json.dumps(b)]
        changed |= {sum(map(math.isnan, row)) for row in rows[0]}
    assert {0, 1, 30} <= changed


def test_users_have_one_row_and_most_rows_equal_and_different_ones():
    declaration, _ = DECLARATIONS["users"]
    kinds = set()
    for x, y in ea.domain(declaration).values():
        units = by_user(x, "id"), by_user(y, "id")
        (changed,) = set(units[0]) ^ set(units[1])
        rows = [json.dumps(row) for row in {**units[0], **units[1]}[changed]]
        kinds.add((len(rows), len(set(rows))))
    assert {(1, 1), (4, 1), (4, 4)} <= kinds


def test_counts_change_alone_and_together_also_of_keys_that_are_new():
    pairs = ea.domain({"counts": [0, 9], "keys": list("abcde"), "changed": 3}).values()
    changes = [sum(x.get(k, 0) != y.get(k, 0) for k in "abcde") for x, y in pairs]
    assert set(changes) == {1, 3}
    assert any(not y and len(x) == 3 for x, y in pairs)


def test_numbers_are_where_floats_are_coarse():
    starts = {min(pair) for pair in ea.domain({"values": [0, 2**50], "distance": 1}).values()}
    assert {2.0**50 - 1, 1e12, 1e15} <= starts
    rows = {"values": [2**53, 2**53 + 8], "step": 2}
    pairs = ea.domain({"rows": rows, "length": [1, 3]})
    values = {row for pair in pairs.values() for side in pair for row in side}
    assert {2.0**53, 2.0**53 + 4, 2.0**53 + 8} <= values <= {2.0**53 + 2 * i for i in range(5)}


def test_a_missing_entry_has_a_name_of_its_own():
    assert list(ea.domain(NUMBER))[1:3] == ["missing: 5 against NaN", "missing: 0 against NaN"]
    assert input_text([1.0, math.nan, None]) == "[1.0, NaN, null]"


# --- data frames ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "library"), list(product(FRAMES, ["pandas", "polars"])))
def test_a_data_frame_has_the_rows_of_the_same_declaration_without_it(name, library):
    declaration, number = FRAMES[name]
    key = {"pandas": "$frame", "polars": "$polars"}[library]
    frames, tables = ea.domain({**declaration, "frame": library}), ea.domain(declaration)
    assert len(frames) == number
    unseeded = [k for k in tables if "random" not in k]
    for pair, known in ((frames[k], tables[k]) for k in unseeded if k in frames):
        for side, table in zip(pair, known, strict=True):
            assert list(side) == ["rows", key]
            names = list(side[key])
            if isinstance(table, dict):
                assert [names, dict(side["rows"])] == [["key", "count"], table]
            else:
                rows = [dict(zip(names, row, strict=True)) for row in side["rows"]]
                assert json.dumps(rows) == json.dumps(table)


TYPED = {
    "rows": {
        "whole": {"values": [0, 9], "whole": True},
        "gaps": {"values": [0, 9], "whole": True, "missing": True},
        "NaN": {"values": [0, 9], "whole": True, "missing": "NaN"},
        "real": NUMBER,
        "text": {"choices": ["a", "b", None]},
        "truth": {"choices": [True, False]},
        "mixed": {"choices": [1, "a"]},
        "bits": {"bits": 2},
    },
    "length": [0, 2],
    "user": "id",
}


def text_of(x):
    """The types and the missing entries of a data frame."""
    types = [str(kind) for kind in x.dtypes]
    if type(x).__module__.startswith("pandas"):
        return len(x), *types, *x.isna().sum().tolist()
    return len(x), *types, *x.null_count().row(0), int(x["real"].is_nan().sum())


def test_a_function_gets_a_data_frame_of_pandas():
    pytest.importorskip("pandas")
    source = callable_source(text_of)
    sizes, missing = set(), set()
    for x, _ in ea.domain({**TYPED, "frame": "pandas"}, limit=40).values():
        ((size, *types),) = source.draw(x, 1, 0)
        assert types[:4] == ["int64", "int64", "Int64", "float64"]
        assert types[4:9] == ["float64", "object", "bool", "object", "object"]
        sizes.add(size)
        missing.add(tuple(types[9:]))
    assert {1, 2, 3} <= sizes
    assert any(each[2] and each[3] and each[4] for each in missing)


def test_a_function_gets_a_data_frame_of_polars():
    pytest.importorskip("polars")
    source = callable_source(text_of)
    missing = set()
    for pair in ea.domain({**TYPED, "frame": "polars"}, limit=40).values():
        for x in pair:
            rows = {**TYPED["rows"]}
            ((_, *types),) = source.draw(x, 1, 0)
            assert types[:6] == ["Int64", "Int64", "Int64", "Float64", "Float64", "String"]
            assert types[6:9] == ["Boolean", "Object", "Object"]
            missing.add((types[9 + list(rows).index("gaps") + 1] > 0, types[-1] > 0))
    assert (True, True) in missing


def test_a_data_frame_of_polars_is_made_by_polars(monkeypatch):
    """As this environment may have no polars: what it would be called with."""
    frames = []

    class Polars:
        Int64, Float64 = "whole", "real"

        @staticmethod
        def DataFrame(rows, schema, orient):  # noqa: N802 - the name in polars
            frames.append((rows, schema, orient))
            return len(rows)

    monkeypatch.setitem(sys.modules, "polars", Polars)
    x = {"rows": [[1, 2.0]], "$polars": {"id": "Int64", "x": "Float64"}}
    assert list(callable_source(lambda x: x).draw(x, 2, 0)) == [1, 1]
    assert frames == [([[1, 2.0]], {"id": "whole", "x": "real"}, "row")]
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MechanismError, match="which needs polars where it runs"):
        callable_source(lambda x: x).draw(x, 1, 0)


# --- mistakes, and the doors ----------------------------------------------------------------------


MISTAKES = [
    ({**NUMBER, "missing": "nan"}, 'domain.missing must be true, "NaN" or "None", got \'nan\''),
    ({**NUMBER, "missing": 1}, 'domain.missing must be true, "NaN" or "None", got 1'),
    ({**NUMBER, "distance": 1}, "domain.missing cannot be used with distance; choose one"),
    ({"values": [0, 1], "step": 0}, "domain.step must be above 0, and 1 at most, got 0"),
    ({"values": [0, 1], "step": 2}, "domain.step must be above 0, and 1 at most, got 2"),
    ({"values": [0, 1], "step": "a"}, "domain.step must be a finite number, got 'a'"),
    ({"values": [0, 9], "step": 1, "whole": True}, "domain.step cannot be used with whole"),
    ({"values": [0, 9], "step": 1, "distance": 1}, "domain.step cannot be used with distance"),
    ({"rows": NAMED, "length": [0, 9], "user": "age"}, "domain.user must be the name of a further"),
    ({"rows": NUMBER, "length": [0, 9], "user": "id"}, "domain.user must be the name of a further"),
    ({"rows": NAMED, "length": [0, 9], "user": 3}, "domain.user must be the name of a further"),
    ({"rows": NAMED, "length": [0, 9], "per user": 3}, "domain.per user needs user, the name of"),
    (
        {"rows": NAMED, "length": [0, 9], "user": "id", "per user": 0},
        "domain.per user must be from 1 to 10000, got 0",
    ),
    (
        {"rows": NAMED, "length": [0, 9999], "user": "id", "per user": 2},
        "domain.per user must be from 0 to 10000, got 19998",
    ),
    ({"rows": NAMED, "length": 3, "frame": "panda"}, "no kind 'panda'; did you mean 'pandas'?"),
    ({"rows": NAMED, "length": 3, "frame": []}, "domain.frame has no kind '[]'"),
    ({"rows": NUMBER, "length": 3, "frame": "pandas"}, "domain.frame needs rows with names"),
    ({"counts": [0, 1], "keys": ["a"], "changed": 0}, "domain.changed must be from 1 to"),
    ({"counts": [0, 1], "keys": ["a"], "changed": 2}, "domain.changed must be at most 1"),
    ({"bits": 3, "frame": "pandas"}, "domain has no key 'frame' beside 'bits'"),
]


@pytest.mark.parametrize(("declaration", "words"), MISTAKES, ids=lambda value: str(value)[:40])
def test_the_error_of_a_declaration_names_the_place(declaration, words):
    with pytest.raises(ArgumentError) as caught:
        ea.domain(declaration)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_of_audits_takes_the_same_keys(survey, tmp_path):  # noqa: F811
    for declaration in (DECLARATIONS["users, missing"][0], FRAMES["named"][0]):
        (case,) = cases_of(tmp_path, {"domain": {**declaration, "frame": "pandas"}})
        assert case.inputs == {"domain": {**declaration, "frame": "pandas"}}


def test_missing_entries_reach_another_interpreter(tmp_path, monkeypatch):
    (tmp_path / "survey.py").write_text("def text_of(x):\n    return str(x)\n")
    monkeypatch.chdir(tmp_path)
    source = python_worker(sys.executable, "survey.py:text_of")
    try:
        assert list(source.draw([1.0, math.nan, None], 1, 0)) == ["[1.0, nan, None]"]
    finally:
        source.close()


def nan_is_kept(x, size, rng):
    """A mean without missing entries, whose noise is for the number of all rows."""
    known = [value for value in x if not math.isnan(value)]
    mean = sum(known) / max(len(known), 1)
    return mean + rng.laplace(0, 5 / max(len(x), 1), size)


def counts_rows_not_users(x, size, rng):
    return len(x) + rng.laplace(0, 1, size)


FAULTS = [
    (nan_is_kept, {"rows": NUMBER, "length": 10}, "NaN"),
    (counts_rows_not_users, {"rows": {"x": NUMBER}, "length": [0, 5], "user": "id"}, "3 times x"),
]


@pytest.mark.parametrize(("mechanism", "declaration", "name"), FAULTS, ids=["missing", "user"])
def test_faults_are_found(mechanism, declaration, name):
    pairs = ea.domain(declaration, limit=40)
    options = {"samples": 20_000, "stop": True, "alpha": 0.001, "as_reals": True}
    verdict = ea.audit(mechanism, pairs, ea.pure(1.0), check_sampler=False, **options)
    assert verdict.verdict == "violated"
    assert name in verdict.name
