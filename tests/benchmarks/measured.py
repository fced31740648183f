"""How often bounds of `epsilometer.measure` lie above the truth, from 300 seeds: `make confidence`.

Prints for each case of `tests.contract.level_cases` the share of runs, in percent, in which a
family of bounds, alone, or any of all, together, is above the truth at confidence .5.
"""

from __future__ import annotations

import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.benchmarks.scripts import head, line, parsed
from tests.contract.measured import FAMILIES, MEASURED, counted, most


def shares(number: int, seeds: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the counts of a case, of bounds alone and of all together."""
    case = MEASURED[number]
    alone = counted(case, range(seeds), confidence=0.5, together=False)
    return alone, counted(case, range(seeds), confidence=0.5, together=True)


def main() -> None:
    """Print the table; fail where a share is above .5 by more than chance."""
    chosen = parsed(__doc__, seeds=300)
    start = time.perf_counter()
    limit, wrong = most(chosen.seeds, 0.5), 0
    head("|".join(["case", *FAMILIES, "any, together"]))
    with ProcessPoolExecutor(chosen.cores) as pool:
        answers = pool.map(partial(shares, seeds=chosen.seeds), range(len(MEASURED)))
        for case, (alone, together) in zip(MEASURED, answers, strict=True):
            times = [*(alone[family] for family in FAMILIES), together["any"]]
            wrong += max(times) > limit
            line(case.name, *(f"{100 * each / chosen.seeds:.0f}" for each in times))
    print(f"{time.perf_counter() - start:.0f} s; {wrong} cases above the level")
    raise SystemExit(wrong > 0)


if __name__ == "__main__":
    main()
