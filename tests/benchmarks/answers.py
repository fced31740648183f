"""Audits over all kinds of outputs, claims and entry points: do their answers change?

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
from tests.benchmarks.scripts import laplace
from tests.unit.epsilometer_audit.outputs.test_leaks import LEAKS

import epsilometer_audit as ea
from epsilometer_audit.cli.main import main as command

QUICK = {"samples": 2_000}
CHANGING = {"seconds", "provenance", "replay", "source"}


def in_python() -> Iterator[tuple[str, Any]]:
    """Yield names and verdicts of `ea.audit`."""
    for name, (mechanism, pairs, claim) in HONEST.items():
        yield name, ea.audit(mechanism, pairs, claim, samples=3_000, failures="failures" in name)
    pair, reals = [(0, 1)], {"as_reals": True, **QUICK}
    for name, mechanism in LEAKS.items():
        yield name, ea.audit(mechanism, pair, ea.pure(1.0), failures=name == "message", **QUICK)
    for claim in (ea.approximate(1.0, 1e-3), ea.renyi({2.0: 0.3, 8.0: 1.0}), ea.gdp(0.5)):
        yield claim.text(), ea.audit(laplace, pair, claim, **reals)
    yield "stop", ea.audit(laplace, [(0, 3)], ea.pure(1.0), stop=True, **reals)
    yield "detect", ea.audit(laplace, pair, ea.zcdp(0.1), detect=1.1, **reals)
    table = ea.domain({"rows": {"values": [0, 1]}, "length": [0, 3]}, limit=5)
    yield (
        "a domain",
        ea.audit(lambda x, size, rng: laplace(np.sum(x), size, rng), table, ea.pure(2.0), **reals),
    )
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
    table, without_a_row = [[1, 2], [3, 4], [5, 7]], list[str]()
    for i in range(3):
        without_a_row += ["--pair", json.dumps(table), json.dumps(table[:i] + table[i + 1 :])]
    queries = '{"values": [0, 9], "whole": true, "length": 3, "distance": 1, "norm": "Linf", '
    queries += '"limit": 6}'
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "own.py").write_text(OWN, encoding="utf-8")
        own = f"{here}/own.py"
        rows = "\n".join(f"{a},{b}" for a, b in np.random.default_rng(1).normal(size=(500, 2)))
        (here / "outputs.csv").write_text(f"a,b\n{rows}\n", encoding="utf-8")
        for options in (
            [f"{own}:count", *pair, "--epsilon", "1"],
            [f"{own}:count", *pair, "--epsilon", "1", "--set", "scale=0.5"],
            [f"{own}:count", *pair, "--gdp", "1", "--python", sys.executable],
            [f"{own}:model.draw", *pair, "--zcdp", ".5", "--as-reals"],
            [f"{own}:size", *without_a_row, "--epsilon", "1"],
            [f"{own}:answers", "--domain", queries, "--epsilon", "1", "--delta", ".01"],
            ["--outputs", f"{here}/outputs.csv", "--epsilon", "1", "--as-reals"],
            [f"{own}:count", *pair, "--renyi", "2=.5", "--renyi", "4=1", "--as-reals"],
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
