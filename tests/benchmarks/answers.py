"""Sixty audits, over all kinds of outputs, claims and entry points: do their answers change?

`python -m tests.benchmarks.answers FILE` writes their verdicts as JSON, without times and versions.
Run it before and after a change that is to keep all answers, and compare the files with `diff`.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.benchmarks.honest import HONEST

import epsilometer_audit as ea
from epsilometer_audit.cli.main import main as command

QUICK = {"samples": 2_000}
CHANGING = {"seconds", "provenance", "replay", "source"}

Rng = np.random.Generator


def laplace(x: float, size: int, rng: Rng) -> Any:
    return x + rng.laplace(0, 1, size)


def vector(x: float, size: int, rng: Rng) -> Any:
    return rng.laplace(0, 1, (size, 5)) + np.array([0, 0, x, 0, 0])


def correlated(x: float, size: int, rng: Rng) -> Any:
    first, second = rng.normal(size=(2, size))
    share = 0.9 if x else -0.9
    return np.stack([first, share * first + np.sqrt(1 - share**2) * second], axis=1)


def parity(x: int, size: int, rng: Rng) -> Any:
    return x + 2 * np.rint(rng.laplace(0, 20, size)).astype(int)


def keys(x: int, rng: Rng) -> dict[str, float]:
    return {"a": float(rng.laplace()), **({"b": 1.0} if x else {})}


def text(x: int, rng: Rng) -> str:
    return f"{rng.integers(2**60):x}-{x}"


def constant(x: int, size: int, rng: Rng) -> Any:
    return np.full(size, x)


def seeded(x: int, size: int) -> Any:
    return x + np.random.default_rng(3).laplace(0, 1, size)


def fails(x: int, rng: Rng) -> float:
    if rng.random() < 0.2 + 0.5 * x:
        raise ValueError(f"no answer on {x}")
    return 1.0


def total(rows: Any, size: int, rng: Rng) -> Any:
    return np.sum(rows) + rng.laplace(0, 1, size)


def in_python() -> Iterator[tuple[str, Any]]:
    """Yield names and verdicts of `ea.audit`."""
    for name, (mechanism, pairs, claim) in HONEST.items():
        failures = "failures" in name
        options = {"samples": 3_000, "failures": failures}
        yield name, ea.audit(mechanism, pairs, claim, **options)
    pair = [(0, 1)]
    for mechanism in (laplace, vector, correlated, parity, keys, text, constant, seeded):
        yield mechanism.__name__, ea.audit(mechanism, pair, ea.pure(1.0), **QUICK)
    yield "failures", ea.audit(fails, pair, ea.pure(1.0), failures=True, **QUICK)
    claims = {
        "delta": ea.approximate(1.0, 1e-3),
        "Renyi": ea.renyi({2.0: 0.3, 8.0: 1.0}),
        "GDP": ea.gdp(0.5),
        "zCDP": ea.zcdp(0.1),
    }
    for name, claim in claims.items():
        yield name, ea.audit(laplace, pair, claim, as_reals=True, **QUICK)
    reals = {"as_reals": True, **QUICK}
    yield "exact", ea.audit(laplace, [(0, 1.5)], ea.pure(1.0), method="exact", **reals)
    yield "stop", ea.audit(laplace, [(0, 3)], ea.pure(1.0), stop=True, **reals)
    yield "detect", ea.audit(laplace, pair, ea.pure(1.0), detect=1.1, **reals)
    yield "details", ea.audit(laplace, [(0, 2)], ea.pure(1.0), samples=2_000, as_reals=True)
    table = ea.domain({"rows": {"values": [0, 1]}, "length": [0, 3]}, limit=5)
    yield "a domain", ea.audit(total, table, ea.pure(2.0), **reals)
    yield "a bit", ea.audit(lambda x, size, rng: x ^ (rng.random(size) < 0.25), pair, ea.pure(2.0))


def of_outputs() -> Iterator[tuple[str, Any]]:
    """Yield names and verdicts of recorded outputs and of canaries."""
    rng = np.random.default_rng(0)
    for name, sides in {
        "reals": rng.laplace([[0], [1]], 0.5, (2, 3000)),
        "strings": (["yes", "no"] * 500, ["yes", "no", "no", "no"] * 250),
        "vectors": rng.normal(0, 1, (2, 1000, 3)),
    }.items():
        yield name, ea.audit_outputs((sides[0], sides[1]), ea.pure(1.0), as_reals=True)
    included = rng.random(400) < 0.5
    scores = rng.normal(size=400) + 2 * included
    yield "canaries", ea.audit_one_run(scores, included, ea.approximate(0.5, 1e-5))


def on_the_command_line() -> Iterator[tuple[str, Any]]:
    """Yield options and the output of the command `epsilometer audit` with them."""
    pair, few = ["--pair", "0", "1"], ["--samples", "2500", "--quiet"]
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "own.py").write_text(OWN, encoding="utf-8")
        own = f"{here}/own.py"
        rows = "\n".join(f"{a},{b}" for a, b in np.random.default_rng(1).normal(size=(500, 2)))
        (here / "outputs.csv").write_text(f"a,b\n{rows}\n", encoding="utf-8")
        (here / "table.csv").write_text("a,b\n1,2\n3,4\n5,7\n", encoding="utf-8")
        for options in (
            [f"{own}:count", *pair, "--epsilon", "1"],
            [f"{own}:count", *pair, "--epsilon", "1", "--set", "scale=0.5"],
            [f"{own}:count", *pair, "--gdp", "1", "--python", sys.executable],
            [f"{own}:model.draw", *pair, "--zcdp", ".5", "--as-reals"],
            [f"{own}:size", "--remove-a-row", f"{here}/table.csv", "--epsilon", "1"],
            [f"{own}:answers", "--domain", '{"patterns": 3}', "--epsilon", "1", "--delta", ".01"],
            ["--outputs", f"{here}/outputs.csv", "--epsilon", "1", "--as-reals"],
            [f"{own}:count", *pair, "--renyi", "2=.5", "--renyi", "4=1", "--as-reals"],
            [f"{own}:count", *pair, "--epsilon", "1", "--exact"],
        ):
            printed = io.StringIO()
            more = [] if options[0] == "--outputs" else few
            with contextlib.redirect_stdout(printed):
                command(["audit", *options, *more, "--json", "-"])
            name = " ".join(options).replace(folder, "").replace(sys.executable, "python")
            yield name, json.loads(printed.getvalue().replace(folder, ""))


OWN = """
import numpy as np

def count(x, size, rng, scale=1.0):
    return x + np.rint(rng.laplace(0, scale, size)).astype(int)

def size(rows, size, rng):
    return len(rows) + rng.geometric(.6, size) - rng.geometric(.6, size)

def answers(x, size, rng):
    return np.asarray(x) + rng.geometric(.6, (size, 3)) - rng.geometric(.6, (size, 3))

class Sum:
    def draw(self, x, rng):
        return x + rng.normal()

model = Sum()
"""


def plain(verdict: Any) -> dict[str, Any]:
    """Return a verdict as JSON holds it, without values that differ between two runs."""
    values = verdict if isinstance(verdict, dict) else verdict.to_plain()
    return {key: value for key, value in values.items() if key not in CHANGING}


def main() -> None:
    """Write all answers to the file that is named."""
    answers = {}
    for entry in (in_python, of_outputs, on_the_command_line):
        for name, verdict in entry():
            answers[f"{entry.__name__}: {name}"] = plain(verdict)
    Path(sys.argv[1]).write_text(json.dumps(answers, indent=1, sort_keys=True) + "\n")
    print(f"{len(answers)} audits")


if __name__ == "__main__":
    main()
