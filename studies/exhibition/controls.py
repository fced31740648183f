"""How often the census calls a control violated: a feature that is known to be right.

In the folder of the study, `PYTHONPATH=../../src:.. python -m exhibition.controls` audits every
case with `expected: not refuted` with 20 seeds at alpha = 1e-6, by the code of the workflow's jobs,
in the environments that `make census` has made. A row says how many audits were violated. It ends
with 1 where one was, and with 2 where an environment is missing. With `--all`, it counts for every
case that is chosen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from epsilometer_workflow.files.storage import read_columns
from exhibition import audit
from exhibition.products import Audit, AuditStudy

SEEDS, ALPHA = 20, 1e-6
Job = tuple[dict[str, Any], str, str]  # a spec, the folder of its file, its environment's record


def answered(job: Job, seed: int) -> tuple[dict[str, Any], float]:
    """Return the verdict on a case, and the seconds of its job."""
    spec, folder, record = job
    spec, start = spec | {"seed": seed}, time.perf_counter()
    with TemporaryDirectory() as place:
        file, page = (str(Path(place, name)) for name in ("case.parquet", "case.html"))
        audit.run(file, page, spec, "", folder, "", lambda _: None, record)
        text = read_columns(file, "verdict", {**spec, "made_of": ""})["json"][0]
    return json.loads(text), time.perf_counter() - start


def jobs(arguments: argparse.Namespace) -> Iterator[tuple[str, Job | str]]:
    """Yield the name and the job of each case that is chosen, or the environment that it misses."""
    study = AuditStudy("config", {"scale": arguments.scale})
    for name, file in study.audits.items():
        for case in file.cases.values():
            product, text = Audit(study, name, case.name), case.name
            if not re.search(arguments.cases, text):
                continue
            if not arguments.all and case.entry.expected != "not refuted":
                continue
            record = Path(product.needs()["environment"][0].path).resolve()
            spec = dict(product.spec()) | {"alpha": arguments.alpha}
            if not record.exists():
                yield text, str(case.mechanism.environment)
            else:
                yield text, (spec, str(file.folder), str(record))


def line_of(text: str, seeds: list[tuple[dict[str, Any], float]]) -> str:
    """Return the row of a case."""
    verdicts, seconds = [answer for answer, _ in seeds], [each for _, each in seeds]
    words = Counter(verdict["verdict"] for verdict in verdicts)
    counts = ", ".join(f"{count} {word}" for word, count in words.most_common())
    first = max(verdicts, key=lambda verdict: verdict["verdict"] == "violated")
    return f"{np.median(seconds):6.1f} s  {counts:20}  {text}: {first['claimed']}{_more(first)}"


def _more(verdict: Mapping[str, Any]) -> str:
    """Return the evidence of a verdict, or the reason why there is none."""
    more = "; ".join(verdict["reasons"])
    if verdict["verdict"] == "violated":
        notes = [c["words"] for c in verdict["checks"] if c["result"] == "note"]
        event, more = verdict["witness"], "; ".join(notes)
        if event is not None:
            counts = f"{event['count']} of {event['draws']} against {event['count_prime']} of "
            more = f"{event['event']}: {counts}{event['draws_prime']}; {verdict['direction']}"
        more = f"at least {verdict['bound']:.3g}: {more}"
    elif verdict["detectable"] is not None:
        more = f"detectable {verdict['detectable']:.3g}"
    return f"\n                {more[:600]}" if more else ""


def main() -> int:
    """Print a row for each case; return 1 if a control was violated, 2 if some were not audited."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="?", default="", help="a regular expression; all by default")
    parser.add_argument("--all", action="store_true", help="also those that are no controls")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--alpha", type=float, default=ALPHA, help="of each audit")
    parser.add_argument("--scale", default="quick")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    chosen, missing = list(jobs(arguments)), Counter[str]()
    alarms = audits = 0
    with ProcessPoolExecutor(arguments.cores) as pool:
        for text, job in chosen:
            if isinstance(job, str):
                missing[job] += 1
                continue
            seeds = list(pool.map(partial(answered, job), range(arguments.seeds)))
            print(line_of(text, seeds), flush=True)
            verdicts = [answer["verdict"] for answer, _ in seeds]
            alarms, audits = alarms + verdicts.count("violated"), audits + len(verdicts)
    print(f"{alarms} of {audits} audits violated, of {len(chosen) - missing.total()} cases")
    for name, count in missing.items():
        print(f"missing: {name}, which {count} cases need (make census makes it)")
    return 1 if alarms and not arguments.all else 2 * bool(missing)


if __name__ == "__main__":
    sys.exit(main())
