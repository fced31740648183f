"""Honest outputs of any form: an audit of equal laws may find nothing in them, whatever they are.

A form is a random tree. Its leaves are values of every supported type, constants among them; they
lie in lists, tuples, sets, records, arrays, mappings with fixed and with random keys, of a fixed
and of a random number, Series and data frames, or in the message of a failure. `make_form` makes
one from a seed. The same law on both sides must be *not refuted*, or *undecided* for a documented
reason: nothing is violated, invalid, a warning or an exception. Two twins of each form show that an
audit is not blind to it: with a planted difference between the sides it must be violated, and where
draws of a call are repeated it must be invalid.

`python -m tests.benchmarks.forms` audits 3,000 forms with 400 to 20,000 draws a side, and their
twins. It prints each form that is not as it should be, and ends with 1 if there is one.
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Literal
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
from tests.benchmarks.scripts import Rng, parsed

import epsilometer_audit as ea

ALPHA = 1e-5  # of each audit: of 3,000 honest forms, one is refuted with probability .03 at most
DEPTHS = (0, 1, 1, 1, 1, 1, 2, 2)  # of containers within containers; deep ones take long
WIDE = 0.01  # of the forms have more columns than are looked at, which takes long
SHARE = 0.9  # of the draws of a twin that show the planted difference

Law = Callable[[Rng, bool], Any]
"""A value from a generator: of the usual law, or of one that hardly has a value in common."""

Colour = Enum("Colour", "RED GREEN BLUE AMBER")
Point = namedtuple("Point", "first second")
MORNING = datetime(2024, 1, 1, 8)


@dataclass
class Record:
    first: Any
    second: Any


# --- leaves ---------------------------------------------------------------------------------------


def _number(rng: Rng, far: bool) -> int:
    """Return one of five numbers, or of five others."""
    return int(rng.integers(5)) + 20 * far


def _real(rng: Rng, far: bool) -> float:
    return float(rng.normal() + 20 * far)


def _coin(rng: Rng, far: bool) -> bool:
    return bool(rng.random() < (0.99 if far else 0.3))


def _rare(rng: Rng, far: bool) -> Any:
    """Return what is no usual number."""
    odd = (1e308, 5e-324, -1e308) if far else (0.0, -0.0, np.nan, np.inf, -np.inf)
    return odd[int(rng.integers(len(odd)))]


def _word(rng: Rng, far: bool) -> str:
    return ("one", "two", "three", "é\n", "")[_number(rng, False)] + "!" * far


LEAVES: dict[str, Law] = {
    "none or a number": lambda rng, far: 3 if _coin(rng, far) else None,
    "bool": _coin,
    "int": _number,
    "int beyond reals": lambda rng, far: 2**62 + _number(rng, far),
    "int beyond 64 bits": lambda rng, far: 2**80 + _number(rng, far),
    "float": _real,
    "large float": lambda rng, far: 1e300 * _real(rng, far),
    "small float": lambda rng, far: 1e-300 * _real(rng, far),
    "float on a grid": lambda rng, far: round(_real(rng, far) * 8) / 8,
    "odd float": _rare,
    "one float of a million": lambda rng, far: 0.1 + 1e-9 * _number(rng, far),
    "complex": lambda rng, far: complex(_real(rng, far), rng.normal()),
    "complex or real": lambda rng, far: complex(_number(rng, far), rng.integers(2)),
    "decimal": lambda rng, far: Decimal(_number(rng, far)) / 10,
    "decimal beyond reals": lambda rng, far: (
        Decimal("0.1") + Decimal(_number(rng, far)).scaleb(-24)
    ),
    "fraction": lambda rng, far: Fraction(_number(rng, far), 7),
    "text": _word,
    "text of a number": lambda rng, far: f"{_real(rng, far):.2f} m",
    "text of JSON": lambda rng, far: f'{{"a": [{_number(rng, far)}, {rng.random()}]}}',
    "random letters": lambda rng, far: "".join(rng.choice([*"abcdefgh"], 3)) + "-x" * far,
    "bytes": lambda rng, far: b"\xff\x00" + bytes([_number(rng, far)]),
    "bytearray": lambda rng, far: bytearray([_number(rng, far)]),
    "date": lambda rng, far: date(2024, 1, 1) + timedelta(_number(rng, far)),
    "datetime": lambda rng, far: MORNING + timedelta(hours=_real(rng, far)),
    "time": lambda rng, far: time(hour=_number(rng, False), minute=30 * far),
    "timedelta": lambda rng, far: timedelta(seconds=_number(rng, far)),
    "enum": lambda rng, far: [*Colour][int(rng.integers(2)) + 2 * far],
    "uuid": lambda rng, far: UUID(int=_number(rng, far)),
    "path": lambda rng, far: PurePosixPath("a", _word(rng, far) + "b"),
    "range": lambda rng, far: range(_number(rng, far)),
    "type": lambda rng, far: (int, str, list, dict)[int(rng.integers(2)) + 2 * far],
    "int8": lambda rng, far: np.int8(_number(rng, far)),
    "uint64": lambda rng, far: np.uint64(2**63 + _number(rng, far)),
    "float16": lambda rng, far: np.float16(_real(rng, far)),
    "float32": lambda rng, far: np.float32(_real(rng, far)),
    "longdouble": lambda rng, far: np.longdouble(_number(rng, far)) / 3,
    "numpy's bool": lambda rng, far: np.bool_(_coin(rng, far)),
    "numpy's text": lambda rng, far: np.str_(_word(rng, far)),
    "datetime64": lambda rng, far: np.datetime64("2024-01-01", "s") + _number(rng, far),
    "timedelta64": lambda rng, far: np.timedelta64(_number(rng, far), "s"),
    "Timestamp": lambda rng, far: pd.Timestamp(MORNING) + pd.Timedelta(hours=_number(rng, far)),
    "NA or a number": lambda rng, far: 3 if _coin(rng, far) else pd.NA,
    "array": lambda rng, far: rng.normal(20 * far, 1, 3),
    "array of words": lambda rng, far: np.array([_word(rng, far), "a"]),
    "array of dates": lambda rng, far: np.array(["2024-01-01"], "M8[D]") + _number(rng, far),
    "matrix": lambda rng, far: rng.integers(3, size=(2, 2)) + 20 * far,
    "masked array": lambda rng, far: np.ma.masked_array([1, 2], [_coin(rng, far), False]),
    "record of an array": lambda rng, far: np.array([(1, _real(rng, far))], "i4,f8")[0],
    "empty mapping": lambda rng, far: {"a": 1} if far else {},
}
SCALARS = ("bool", "int", "float", "text", "date", "datetime")  # of the columns of a frame


# --- containers -----------------------------------------------------------------------------------


@dataclass
class Maker:
    """Makes laws; all that is not drawn anew by a law, such as its constants, is from ``rng``."""

    rng: Rng

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def law(self, depth: int) -> Law:
        """Return a leaf, or a container of so many levels at most."""
        if depth == 0 or self.rng.random() < 0.1:
            return self.leaf(self.one_of([*LEAVES]))
        return self.one_of(CONTAINERS)(self, depth - 1)

    def leaf(self, name: str) -> Law:
        """Return the law of a leaf, or one of its values, a constant."""
        usual = LEAVES[name]
        if self.rng.random() < 0.7:
            return usual
        values = [usual(self.rng, False), usual(self.rng, True)]
        while repr(values[0]) == repr(values[1]):
            values[1] = usual(self.rng, True)
        return lambda rng, far: values[far]

    def parts(self, depth: int) -> Callable[[Rng, bool], list[Any]]:
        """Return a law of one to three values, of which one is far."""
        laws = [self.law(depth) for _ in range(1 + int(self.rng.integers(3)))]
        shows = int(self.rng.integers(len(laws)))
        return lambda rng, far: [law(rng, far and i == shows) for i, law in enumerate(laws)]


def _sequence(maker: Maker, depth: int) -> Law:
    parts, kind = maker.parts(depth), maker.one_of((list, tuple, deque))
    return lambda rng, far: kind(parts(rng, far))


def _some(maker: Maker, depth: int) -> Law:
    """Return a law of a random number of values of one law."""
    law, least = maker.law(depth), int(maker.rng.integers(2))
    return lambda rng, far: [law(rng, far) for _ in range(int(rng.integers(least, 4)))]


def _longer(maker: Maker, depth: int) -> Law:
    """Return a law of values whose number shows the side."""
    law = maker.law(depth)
    return lambda rng, far: [law(rng, False) for _ in range(int(rng.integers(3)) + 3 * far)]


def _mapping(maker: Maker, depth: int) -> Law:
    parts, kind = maker.parts(depth), maker.one_of((dict, OrderedDict))
    keys = maker.one_of((["a", "b", "c"], [1, 2, 3], [(0, 1), None, True], ["$", "", "\n"]))
    return lambda rng, far: kind(zip(keys, parts(rng, far), strict=False))


def _any_order(maker: Maker, depth: int) -> Law:
    mapping = _mapping(maker, depth)

    def law(rng: Rng, far: bool) -> Any:
        items = [*mapping(rng, far).items()]
        return dict(items[i] for i in rng.permutation(len(items)))

    return law


def _keys(maker: Maker, depth: int) -> Law:
    """Return a law of mappings with a fixed number of random keys."""
    law, number = maker.law(depth), 1 + int(maker.rng.integers(4))
    return lambda rng, far: {
        f"k{i}": law(rng, far) for i in sorted(rng.choice(8, number, replace=False).tolist())
    }


def _some_keys(maker: Maker, depth: int) -> Law:
    """Return a law of mappings each of whose keys is there or not."""
    law = maker.law(depth)
    return lambda rng, far: {i: law(rng, far) for i in range(4) if rng.random() < 0.7}


def _other_keys(maker: Maker, depth: int) -> Law:
    """Return a law of mappings whose keys show the side."""
    law = maker.law(depth)
    return lambda rng, far: {_word(rng, far): law(rng, False)}


def _counter(maker: Maker, depth: int) -> Law:
    return lambda rng, far: Counter(_word(rng, far) for _ in range(4))


def _set(maker: Maker, depth: int) -> Law:
    kind, number = maker.one_of((set, frozenset)), int(maker.rng.integers(1, 4))
    law = LEAVES[maker.one_of(("int", "text", "bool", "date", "fraction", "enum"))]
    return lambda rng, far: kind(law(rng, far) for _ in range(number))


def _record(maker: Maker, depth: int) -> Law:
    first, second, kind = maker.law(depth), maker.law(depth), maker.one_of((Point, Record))
    return lambda rng, far: kind(first(rng, False), second(rng, far))


def _either(maker: Maker, depth: int) -> Law:
    """Return a law of values of two kinds."""
    laws = maker.law(depth), maker.law(depth)
    return lambda rng, far: laws[int(rng.integers(2))](rng, far)


def _wide(maker: Maker) -> Law:
    """Return a law of more values than an audit looks at."""
    law, size = maker.leaf("int"), 300
    if maker.rng.random() < 0.5:
        return lambda rng, far: [law(rng, far) for _ in range(size)]
    return lambda rng, far: {f"k{i}": law(rng, far) for i in range(size)}


def _scalar(maker: Maker) -> Law:
    return maker.leaf(maker.one_of(SCALARS))


def _series(maker: Maker, depth: int) -> Law:
    law, labels = _scalar(maker), maker.one_of((None, ["a", "b", "c"], ["a", "a", "b"]))
    return lambda rng, far: pd.Series([law(rng, far) for _ in range(3)], index=labels)


def _labelled(maker: Maker, depth: int) -> Law:
    """Return a law of Series whose labels are random."""
    law = _scalar(maker)

    def series(rng: Rng, far: bool) -> Any:
        labels = rng.choice(6, 2, replace=False).tolist()
        return pd.Series([law(rng, far) for _ in labels], index=labels, name="a")

    return series


def _frame(maker: Maker, depth: int) -> Law:
    """Return a law of data frames with a random number of rows."""
    laws, kind = {name: _scalar(maker) for name in "ab"}, maker.one_of((pd.DataFrame, pl.DataFrame))
    least = int(maker.rng.integers(2))

    def frame(rng: Rng, far: bool) -> Any:
        rows = int(rng.integers(least, 4))
        return kind({name: [law(rng, far) for _ in range(rows)] for name, law in laws.items()})

    return frame


def _column(maker: Maker, depth: int) -> Law:
    law, name = _scalar(maker), maker.one_of(("", "a"))
    return lambda rng, far: pl.Series(name, [law(rng, far) for _ in range(int(rng.integers(4)))])


def _categories(maker: Maker, depth: int) -> Law:
    law = maker.leaf("text")
    return lambda rng, far: pd.Series([law(rng, far)], dtype="category")


CONTAINERS: list[Callable[[Maker, int], Law]] = [
    *(_sequence, _some, _longer, _mapping, _any_order, _keys, _some_keys, _other_keys, _counter),
    *(_set, _record, _either, _series, _labelled, _frame, _column, _categories),
]


# --- failures, calls and tables of outputs --------------------------------------------------------


def _failing(maker: Maker) -> Law:
    """Return a law that fails at times, with a constant message or another."""
    law, shows = maker.law(maker.one_of(DEPTHS)), maker.rng.random() < 0.5
    kinds = maker.one_of(((ValueError,), (ValueError, KeyError)))
    told = maker.leaf(maker.one_of(("int", "text", "float")))

    def fail(rng: Rng, far: bool) -> Any:
        if rng.random() < 0.5:
            raise kinds[int(rng.integers(len(kinds)))](f"too few: {told(rng, far and shows)}")
        return law(rng, far and not shows)

    return fail


def _table(maker: Maker) -> Callable[[int, Rng, bool], Any]:
    """Return a law of so many outputs that are the rows of an array, a frame or a column."""
    laws = [_scalar(maker), _scalar(maker)]
    kind = maker.one_of(("pandas", "polars", "Series", "reals", "whole numbers", "records"))

    def rows(size: int, rng: Rng, far: bool) -> Any:
        if kind == "reals":
            return np.column_stack([rng.normal(20 * far, 1, size), np.ones(size)])
        if kind == "whole numbers":
            return rng.integers(3, size=(size, 3)) + np.array([20 * far, 0, 0])
        columns = [[law(rng, far) for _ in range(size)] for law in laws]
        if kind == "records":
            numbers = [rng.integers(3, size=size) + 20 * far, np.ones(size)]
            return np.array(list(zip(*numbers, strict=True)), "i4,f8")
        if kind == "Series":
            return pd.Series(columns[0])
        frame = pd.DataFrame if kind == "pandas" else pl.DataFrame
        return frame(dict(zip("ab", columns, strict=True)))

    return rows


Door = Literal["one", "many", "table", "recorded"]
DOORS: tuple[Door, ...] = ("one", "many", "many", "table", "recorded")
CLAIMS = (
    *[ea.pure(1.0)] * 8,
    *(ea.pure(0.0), ea.pure(0.2), ea.pure(3.0), ea.approximate(1.0, 1e-3), ea.gdp(1.0)),
    *(ea.zcdp(0.5), ea.renyi({2.0: 0.5}), ea.profile({0.5: 0.1, 1.0: 0.01})),
)
Twin = Literal["honest", "different", "repeated"]


@dataclass(frozen=True)
class Form:
    """A law of outputs, the door through which an audit gets them, and the claim.

    ``draw`` returns so many outputs, or one.
    """

    seed: int
    door: Door
    draw: Callable[..., Any]
    claim: Any
    as_reals: bool
    fails: bool

    def audit(self, twin: Twin, samples: int) -> Any:
        """Return the verdict of an audit of a twin, with so many draws a side."""
        alpha = ALPHA if twin == "honest" else 0.05
        options: dict[str, Any] = {"alpha": alpha, "as_reals": self.as_reals, "seed": self.seed}
        if self.door == "recorded":
            rng = np.random.default_rng(self.seed)
            sides = [self._outputs(twin, x, samples, rng) for x in (0, 1)]
            return ea.audit_outputs((sides[0], sides[1]), self.claim, **options)
        options |= {"samples": samples, "failures": self.fails}
        own: Callable[..., Any] = partial(self._outputs, twin)
        if self.door == "one":
            own = self._kept() if twin == "repeated" else partial(self._one, twin)
        return ea.audit(own, [(0, 1)], self.claim, **options)

    def _one(self, twin: Twin, x: int, rng: Rng) -> Any:
        return self.draw(rng, self._far(twin, x, rng))

    def _far(self, twin: Twin, x: int, rng: Rng) -> bool:
        return twin == "different" and x == 1 and bool(rng.random() < SHARE)

    def _kept(self) -> Callable[[int, Rng], Any]:
        """Return a mechanism whose generator is the same in ten calls."""
        seeds = []

        def one(x: int, rng: Rng) -> Any:
            seeds.append(int(rng.integers(2**31)))
            return self.draw(np.random.default_rng(seeds[(len(seeds) - 1) // 10 * 10]), False)

        return one

    def _outputs(self, twin: Twin, x: int, size: int, rng: Rng) -> Any:
        times = 10 if twin == "repeated" else 1
        if self.door == "table":
            table = self.draw(-(-size // times), rng, twin == "different" and x == 1)
            at = np.repeat(np.arange(len(table)), times)[:size]
            return table.iloc[at] if hasattr(table, "iloc") else table[at]
        outputs = [self._one(twin, x, rng) for _ in range(-(-size // times))]
        return [output for output in outputs for _ in range(times)][:size]


def make_form(seed: int) -> Form:
    """Return the form of a seed."""
    maker = Maker(np.random.default_rng(seed))
    door, claim = maker.one_of(DOORS), maker.one_of(CLAIMS)
    as_reals = bool(maker.rng.random() < 0.2)
    fails = door == "one" and bool(maker.rng.random() < 0.5)
    wide = maker.rng.random() < WIDE
    draw: Callable[..., Any] = _wide(maker) if wide else maker.law(maker.one_of(DEPTHS))
    if door == "table":
        draw = _table(maker)
    elif fails:
        draw = _failing(maker)
    return Form(seed, door, draw, claim, as_reals, fails)


# --- verdicts -------------------------------------------------------------------------------------

DRAWS, TWIN_DRAWS = (2.6, 4.3), 2000  # of a side: logarithms of the fewest and the most; of twins
CONSTANT = "no output varied"
FEW = "no level would have been found"


def fault_of(verdict: Any) -> str:
    """Return what is wrong with the verdict on an honest form; "" if nothing is."""
    limits = "; ".join(check["words"] for check in verdict.checks if check["name"] == "outputs")
    known = all(
        reason.startswith((CONSTANT, FEW)) or reason in limits for reason in verdict.reasons
    )
    failed = [check["words"] for check in verdict.checks if check["result"] == "failed"]
    fine = verdict.verdict == "not refuted" or (verdict.verdict == "undecided" and known)
    assert str(verdict)
    assert verdict.to_json()
    return "" if fine and not failed else f"{verdict.verdict}: {[*verdict.reasons, *failed]}"


def _seen(verdict: Any) -> bool:
    """Tell whether a verdict says that draws are repeated; of few recorded ones it notes an order.

    Nobody sees it where all outputs are the same.
    """
    noted = [check["name"] for check in verdict.checks if check["result"] == "note"]
    constant = any(reason.startswith(CONSTANT) for reason in verdict.reasons)
    return verdict.verdict == "invalid" or "independent draws" in noted or constant


def faults_of(seed: int, samples: int, twins: Sequence[Twin]) -> list[str]:
    """Return what is wrong with the verdicts on a form and its twins."""
    form = make_form(seed)
    faults = []
    for twin in twins:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                verdict = form.audit(twin, samples)
        except Exception:
            faults.append(f"{twin}: {traceback.format_exc()}")
            continue
        if twin == "honest":
            fault = fault_of(verdict)
        else:
            found = verdict.verdict == "violated" if twin == "different" else _seen(verdict)
            fault = "" if found else f"missed: {verdict.verdict}"
        faults += [f"{twin}: {fault}"] if fault else []
    return faults


def answer(seed: int) -> list[str]:
    """Return the faults of a form, and of its twins, with a number of draws of its own."""
    samples = int(10 ** np.random.default_rng([seed, 1]).uniform(*DRAWS))
    faults = faults_of(seed, samples, ["honest"])
    return faults + faults_of(seed, TWIN_DRAWS, ["different", "repeated"])


def main() -> int:
    """Audit the forms; return 1 if one is not as it should be."""
    chosen = parsed(__doc__, forms=3000, first=0)
    seeds = range(chosen.first, chosen.first + chosen.forms)
    wrong = 0
    with ProcessPoolExecutor(chosen.cores) as pool:
        for seed, faults in zip(seeds, pool.map(answer, seeds, chunksize=5), strict=True):
            for fault in faults:
                wrong += 1
                print(f"form {seed}, {fault}", flush=True)
    print(f"{wrong} faults in {chosen.forms} forms and their twins")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
