"""The level of every bound on every case, from 1000 seeds: `make confidence`.

Writes ``results/levels.csv`` (see `tests.contract.levels.Row` for its columns), the same bytes on
any number of cores, and prints the worst share of each estimator and group of cases. Before it, it
prints how often the bounds of `epsilometer.measure` are above the truth at confidence .5, in
percent, from 300 seeds: each family of bounds alone, and any of all, together.
"""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, fields
from functools import partial
from pathlib import Path

import pandas as pd
from tests.benchmarks.scripts import head, line, parsed
from tests.contract.levels import RUN, Row, planned, planned_rows, rows, tasks_of
from tests.contract.measured import FAMILIES, MEASURED, counted, most

OUT = Path("results/levels.csv")


def shares(number: int, seeds: int) -> list[int]:
    """Return how often bounds of `measure` are above the truth: by family, and of all together."""
    case = MEASURED[number]
    alone = counted(case, range(seeds), confidence=0.5, together=False)
    together = counted(case, range(seeds), confidence=0.5, together=True)
    return [*(alone[family] for family in FAMILIES), together["any"]]


def measure(cores: int, seeds: int) -> list[str]:
    """Print the shares of each case; return the cases where one exceeds .5 by more than chance."""
    wrong = []
    head("|".join(["case", *FAMILIES, "any, together"]))
    with ProcessPoolExecutor(cores) as pool:
        answers = pool.map(partial(shares, seeds=seeds), range(len(MEASURED)))
        for case, times in zip(MEASURED, answers, strict=True):
            line(case.name, *(f"{100 * each / seeds:.0f}" for each in times))
            if max(times) > most(seeds, 0.5):
                wrong.append(f"measure on {case.name}: above the truth too often")
    print()
    return wrong


def measured(task: tuple[str, str], seeds: int) -> tuple[list[Row], str, float]:
    """Return the rows of an entry's case, or the error, and the seconds."""
    start = time.perf_counter()
    try:
        entry, case = task
        counted = rows(entry, case, seeds) if case else planned_rows(entry, seeds)
    except Exception as error:
        return [], f"{' on '.join(task)}: {type(error).__name__}: {error}", 0.0
    return counted, "", time.perf_counter() - start


def table(cores: int, seeds: int) -> tuple[pd.DataFrame, list[str], Counter[str]]:
    """Return all rows, the errors, and the seconds of each entry."""
    tasks = [task for reads in RUN for task in tasks_of(reads)] + [(e, "") for e in planned()]
    with ProcessPoolExecutor(cores) as pool:
        answers = list(pool.map(measured, tasks, [seeds] * len(tasks)))
    seconds: Counter[str] = Counter()
    for (entry, _), (_, _, spent) in zip(tasks, answers, strict=True):
        seconds[entry] += spent
    names = [field.name for field in fields(Row)]
    lines = [astuple(row) for counted, _, _ in answers for row in counted]
    return pd.DataFrame(lines, columns=names), [e for _, e, _ in answers if e], seconds


def summary(levels: pd.DataFrame) -> None:
    """Print the largest share above the truth by estimator and group of cases, in percent.

    ``-`` is refused, ``flagged`` not trusted in any run. Where nothing is judged flags are ignored,
    and the share is in brackets.
    """

    def shown(part: pd.DataFrame) -> str:
        accepted = part[part["outcome"] != "refused"]
        answered = accepted[accepted["answered"] > 0]
        if not len(accepted):
            return "-"
        if accepted["limit"].isna().all():
            every = (accepted["above"] + accepted["above_flagged"]) / accepted["runs"]
            return f"({100 * every.max():.0f})"
        return f"{100 * answered['share'].max():.1f}" if len(answered) else "flagged"

    cells = {
        (str(entry), str(group)): shown(part)
        for (entry, group), part in levels.groupby(["estimator", "group"], sort=False)
    }
    entries = list(dict.fromkeys(entry for entry, _ in cells))
    groups = list(dict.fromkeys(group for _, group in cells))
    head("|".join(["", *groups]))
    for entry in entries:
        line(entry, *(cells.get((entry, group), "") for group in groups))


def main() -> None:
    """Write the table and print its summary."""
    chosen = parsed(__doc__, seeds=1000, measured=300)
    start = time.perf_counter()
    wrong = measure(chosen.cores, chosen.measured)
    levels, errors, seconds = table(chosen.cores, chosen.seeds)
    wrong += errors
    OUT.parent.mkdir(exist_ok=True)
    levels.to_csv(OUT, index=False, float_format="%.6g")
    summary(levels)
    judged = levels[levels["limit"].notna()]
    failed = judged[judged["low"] > judged["limit"]]
    columns = ["estimator", "case", "order_or_claim", "above", "answered", "limit"]
    if len(failed):
        print(f"\nabove the truth too often:\n{failed[columns].to_string(index=False)}")
    for text in wrong:
        print(f"went wrong: {text}")
    slowest = ", ".join(f"{entry} {spent:.0f} s" for entry, spent in seconds.most_common(5))
    print(f"\n{len(levels)} rows in {OUT}, {time.perf_counter() - start:.0f} s ({slowest}, ...)")
    raise SystemExit(bool(len(failed) or wrong))


if __name__ == "__main__":
    main()
