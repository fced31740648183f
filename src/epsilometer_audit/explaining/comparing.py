"""Differences of draws on x and x' with the same noise: of calls, lines, and parts of outputs.

Likely faults come first; what the sizes of the inputs or the noise explain comes later.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from epsilometer_audit.formats import as_plain, ends_alike
from epsilometer_audit.serving.errors import shortened
from epsilometer_audit.serving.modules import is_library

Record = Mapping[str, Any]
"""A call, a draw, or a run (draws on ``x``, ``x_prime`` and x ``again``); see `replayed`."""
_CLOSE = 1e-9  # relative difference below which numbers count as the same
_FEW = 3  # runs that show noise in an output
_PARTS = 64  # of an output, at each level
_MOST = 3  # shown
_EXPLAINED = 5  # rank of what the sizes of the inputs explain
_SELDOM = 4  # is added to the rank of what few runs show
_DATA = ("x", "seq", "population", "sequence", "items")  # parameters: what is drawn from
_SIZES = ("size", "k")
_MILD = ("loc", "mu", "p", "pvals", "weights")  # parameters that often differ without a fault
_OF_LINES = ("call", "number")  # kinds that follow from the lines that run, not from numbers
_MISSING = {"$": "absent"}
_SIDES = ("x", "x_prime")
_SCALES = ("scale", "sigma", "std", "lambd", "p")  # parameters that set how much noise there is
_TEXTBOOK = {
    "argument": "the noise must not follow the data: bound the sensitivity over all inputs",
    "call": "whether noise is drawn must not follow the data",
    "data": "a sample of the data is no noise: rows are released as they are",
    "seed": "who knows the input knows the noise of a seed that follows from it",
    "without noise": "what is released without noise, a size or a key, is not private: "
    "fix it beforehand, or add noise and a threshold",
    "drawn once": "noise must be fresh for each release",
}


@dataclass(frozen=True)
class Finding:
    """A difference between x and x', or a fault of the noise.

    Its ``kind`` is ``no noise``, ``without noise`` (a part of the output), ``constant seed``,
    ``drawn once``, ``seed``, ``call``, ``number``, ``argument``, ``data``, ``output``,
    ``low bits``, ``unseen``, ``failed`` or ``nothing``.
    """

    kind: str
    words: str  # a sentence
    place: str = ""  # file and line of the code
    line: str = ""  # the code there
    runs: int = 0  # that show it
    more: tuple[str, ...] = ()  # further lines
    textbook: str = ""  # the known cause of such a difference


@dataclass(frozen=True)
class Cause:
    """Findings of draws on x and x' with the same noise, the most important first."""

    findings: tuple[Finding, ...]
    runs: int

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values."""
        findings = [as_plain(asdict(finding)) for finding in self.findings]
        return {"runs": self.runs, "words": str(self).splitlines(), "findings": findings}

    def __str__(self) -> str:
        lines = []
        for finding in self.findings[:_MOST]:
            often = "" if finding.runs >= self.runs else f" ({finding.runs} of {self.runs} runs)"
            lines.append(f"{finding.words}{often if finding.runs else ''}")
            code = ": ".join(filter(None, (finding.place, finding.line)))
            known = finding.textbook and f"textbook: {finding.textbook}"
            lines += [f"  {line}" for line in (code, *finding.more, known) if line]
        return "\n".join(lines)


_Ranked = tuple[int, Finding]  # the lowest number first


def cause_of(replay: Record, sizes: Sequence[int] = ()) -> Cause:
    """Return the cause that a record of `replayed` shows; ``sizes`` are those of x and x'."""
    runs = len(replay["runs"])
    found = _findings(replay, replay["runs"], sizes)
    found.sort(key=lambda ranked: ranked[0] + _SELDOM * (0 < 2 * ranked[1].runs < runs))
    return Cause(tuple(finding for _, finding in found), runs)


def _findings(replay: Record, runs: Sequence[Record], sizes: Sequence[int]) -> list[_Ranked]:
    every, unseen = len(runs), sum(not run["repeated"] for run in runs)
    traces = [run[side] for run in runs for side in _SIDES]
    outputs = [[trace["output"] for trace in side] for side in (traces[::2], traces[1::2])]
    if all("failed" in trace for trace in traces):
        text = f"it fails on both inputs: {traces[0]['failed']}"
        return [(0, Finding("failed", text, runs=every))]
    found = list(_of_seeds(replay, traces))
    if not any(call["kind"] == "draw" for trace in traces for call in trace["calls"]):
        text = "no call was seen: the noise is drawn in compiled code, by another program, or by a "
        finding = Finding("unseen", f"{text}generator of its own", runs=every)
        steady = all(same(trace["output"], trace.get("second")) for trace in traces)
        if not unseen and steady and all(map(_all_same, outputs)):
            text = "no noise is drawn, or it was kept before: the output is always the same, "
            text += _both(outputs[0][0], outputs[1][0])
            finding = _placed(Finding("no noise", text, runs=every), runs[0])
        return [*found, (1, finding)]
    found += _of_calls(runs, sizes)
    if not any(rank == 0 or finding.kind == "seed" for rank, finding in found):
        found += _without_noise(runs, *outputs) or ([] if unseen else _of_equal_calls(runs))
    if unseen:
        text = "a second draw on x with the same states is not the same: some noise is unseen, "
        text += "drawn in compiled code, by threads or from the time"
        found.append((7, Finding("unseen", text, runs=unseen)))
    text = "with the same noise, no call and no output differs: the cause is not known"
    return found or [(0, Finding("nothing", text, runs=every))]


def _of_seeds(replay: Record, traces: Sequence[Record]) -> Iterator[_Ranked]:
    """Yield seeds that are always the same, and draws and seeds at the load of own files."""
    calls = [call for trace in traces for call in trace["calls"]]
    groups: dict[Any, list[Record]] = {}
    for call in replay["loaded"]:
        if call["frames"] and not is_library(call["frames"][0][0]):
            groups["at load", len(groups)] = [call]
    for call in (call for call in calls if call["kind"] == "seed"):
        groups.setdefault((call["name"], str(call["frames"][:1])), []).append(call)
    for (at, _), group in groups.items():
        first, sources = group[0], {call["source"] for call in group}
        given = [[a for a in call["arguments"].values() if a is not None] for call in group]
        used = [call["source"] in sources for call in calls if call["kind"] == "draw"]
        known = bool(given[0]) and isinstance(given[0][0], int | float | str | list)
        runs = 0 if at == "at load" else len(replay["runs"])
        if first["kind"] == "draw":
            text = f"{first['name']} draws when the file is loaded, once for all outputs"
            yield 0, _finding_at(first["frames"], "drawn once", text)
        elif known and _all_same(given) and any(used) and (not runs or len(group) >= runs > 1):
            seed = f"gets the seed {value_text(given[0][0])}"
            text = f"always {seed}" if runs else f"{seed} when the file is loaded"
            text = f"{first['name']} {text}: its noise is the same each time"
            yield 0 if all(used) else 5, _finding_at(first["frames"], "constant seed", text, runs)


def _without_noise(runs: Sequence[Record], *outputs: Sequence[Any]) -> list[_Ranked]:
    """Return the first part of outputs that has no noise, but is not the same on x and x'."""
    steady = _steady([[dict(parts_of(output)) for output in side] for side in outputs])
    for name, *pair in steady if len(runs) >= _FEW else ():
        verb = "are" if name.startswith("keys") else "is"
        text = f"{name or 'the output'} {verb} always {_both(*pair)}: without noise"
        finding = _placed(Finding("without noise", text, runs=len(runs)), runs[0])
        return [(2, replace(finding, textbook=_TEXTBOOK["without noise"]))]
    return []


def _steady(sides: Sequence[Sequence[Record]]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the values that are always the same on x, and on x', but not the same on both."""
    for name in dict.fromkeys(name for side in sides for parts in side for name in parts):
        x, y = ([parts.get(name, _MISSING) for parts in side] for side in sides)
        if _all_same(x) and _all_same(y) and not same(x[0], y[0]):
            yield name, x[0], y[0]


def _of_calls(runs: Sequence[Record], sizes: Sequence[int]) -> Iterator[_Ranked]:
    """Yield the calls that differ in some runs."""
    found: dict[Any, tuple[int, Finding, Record]] = {}
    for run in runs:  # skip differences of x and x, and those that are counted already
        skipped = {key for key, _, _ in differences(run["x"], run["again"])}
        for key, rank, finding in differences(run["x"], run["x_prime"], sizes):
            if key not in skipped:
                skipped.add(key)
                _, first, its_run = found.get(key, (rank, finding, run))
                found[key] = rank, replace(first, runs=first.runs + 1), its_run
    for rank, finding, run in found.values():
        yield rank, _placed(finding, run) if finding.kind in _OF_LINES else finding


def differences(
    x: Record, x_prime: Record, sizes: Sequence[int] = ()
) -> Iterator[tuple[Any, int, Finding]]:
    """Yield a key, equal in all runs, a rank, and a finding of each call that is not the same.

    Calls that one side has more are left out of the rest. They are no fault if they are as many as
    ``sizes`` differ by, as numbers of a call may be; other numbers and seeds end the comparison.
    """
    rows = sizes[0] - sizes[1] if len(sizes) == 2 else 0

    def of_rows(x: Any, x_prime: Any) -> bool:
        return rows != 0 and type(x) is type(x_prime) is int and x - x_prime == rows

    def found(rank: int, kind: str, call: Record, text: str, detail: str = "") -> Any:
        key = kind, call["name"], str(call["frames"][:1]), detail
        finding = _finding_at(call["frames"], kind, text)
        known = rank != _EXPLAINED and (kind != "argument" or detail in _SCALES)
        return key, rank, replace(finding, textbook=_TEXTBOOK.get(kind, "") if known else "")

    ours, theirs = x["calls"], x_prime["calls"]
    sites = [[(call["name"], str(call["frames"][:1])) for call in side] for side in (ours, theirs)]
    start, end = ends_alike(*sites)
    both = [*zip(ours[:start], theirs, strict=False)]
    middle, other = (side[start : len(side) - end] for side in sites)
    for kind, *ends in SequenceMatcher(None, middle, other).get_opcodes():
        i, i_end, j, j_end = (start + each for each in ends)
        if kind == "equal":
            both += zip(ours[i:i_end], theirs[j:j_end], strict=True)
            continue
        a, b = next(iter(ours[i:]), None), next(iter(theirs[j:]), None)
        call, extra = (ours[i:i_end] or theirs[j:])[0], sites[0][i:i_end] + sites[1][j:j_end]
        numbers = [[side.count(site) for side in sites] for site in dict.fromkeys(extra)]
        if by_rows := all(of_rows(*each) for each in numbers):
            text = f"{call['name']} is called {numbers[0][0]} times on x, {numbers[0][1]} on x'"
        else:
            text = f"call {i + 1} is {_call_text(a, x)} on x, {_call_text(b, x_prime)} on x'"
        yield found(_EXPLAINED if by_rows else 1, "call", call, text, str((not a, not b)))
    for a, b in [*both, *zip(ours[len(ours) - end :], theirs[len(theirs) - end :], strict=True)]:
        given, title, counts = a["arguments"], a["name"], a["count"] != b["count"]
        pairs = _pairs(given, b["arguments"])
        if names := [name for name in pairs if not (counts and name in _SIZES)]:
            name = min(names, key=_MILD.__contains__)  # a scale rather than a location
            text = f"{title} gets {name} = {_both(*pairs[name])}"
            if a["kind"] == "seed":
                yield found(1, "seed", a, f"the seed depends on the input: {text}", name)
                return
            if name in _DATA or (name == "a" and not isinstance(given.get("a"), int)):
                yield found(7, "data", a, f"{title} draws from {_both(*pairs[name])}", name)
            else:
                by_rows = of_rows(*pairs[name])
                rank = _EXPLAINED if by_rows else 3 if name in _MILD else 1
                yield found(rank, "argument", a, text, "" if by_rows else name)
        if counts:
            by_rows = of_rows(a["count"], b["count"])
            text = f"{title} draws {a['count']} numbers on x, {b['count']} on x'"
            yield found(_EXPLAINED if by_rows else 1, "number", a, text)
            if not by_rows:
                return


def _of_equal_calls(runs: Sequence[Record]) -> list[_Ranked]:
    """Return the finding of runs with the same calls on x and x', but other outputs."""
    alike = [run for run in runs if not any(differences(run["x"], run["x_prime"]))]
    differ = [run for run in alike if not same(run["x"]["output"], run["x_prime"]["output"])]
    if not differ:
        return []
    x, x_prime = (differ[0][side]["output"] for side in _SIDES)
    parts = _pairs(dict(parts_of(x)), dict(parts_of(x_prime))) or {"": (x, x_prime)}
    texts = [f"{name} is {_both(*pair)}".removeprefix(" is ") for name, pair in parts.items()]
    texts[_MOST:] = [f"{len(texts) - _MOST} more differ"] if len(texts) > _MOST else []
    text = f"same calls and noise, another output: {'; '.join(texts)}"
    finding = Finding("output", text, runs=len(differ))
    placed = ((_placed(finding, run), run) for run in differ)  # noise may part the first's lines
    finding, run = next((each for each in placed if each[0].place), (finding, differ[0]))
    noise = (call for call in run["x"]["calls"] if {*_SCALES} & call["arguments"].keys())
    shown = (f"noise: {_call_text(call, {})}" for call in islice(noise, 1))
    more = dict.fromkeys((*finding.more[: _MOST - 1], *shown, *_without_noise_inside(alike)))
    return [(4, replace(finding, more=tuple(more)[:_MOST]))]


def _without_noise_inside(runs: Sequence[Record]) -> list[str]:
    """Return values at the end of a function without noise; first collections, such as counts."""
    steps = ([run[side]["steps"][-1:] for run in runs] for side in _SIDES)
    ends = [[dict(*(step[2] for step in last)) for last in side] for side in steps]
    found = [each for each in _steady(ends) if each[0] != "return" and _MISSING not in each]
    found.sort(key=lambda each: not isinstance(each[1], list | dict))
    return [f"{name} = {_both(*pair)}" for name, *pair in found]


def _placed(finding: Finding, run: Record) -> Finding:
    """Return a finding with the first line that is not the same on x and x', or its numbers."""
    steps = (run[side]["steps"] for side in ("x", "x_prime", "again"))
    for (*x, now), (*x_prime, now_prime), (*again, now_again) in zip(*steps, strict=False):
        if x != again:  # for another reason than the input
            break
        unsteady = _pairs(now, now_again)
        pairs = {k: pair for k, pair in _pairs(now, now_prime).items() if k not in unsteady}
        if x == x_prime and (not pairs or finding.kind in _OF_LINES):
            continue
        texts = [f"{name} = {_both(*pair)}" for name, pair in pairs.items() if name != "return"]
        if x != x_prime:
            texts = [f"x runs {_code_at(x)}", f"x' runs {_code_at(x_prime)}"]
        if not finding.place:
            place, _, line = _code_at(x).partition(": ")
            finding = replace(finding, place=place, line=line)
        texts = [text for text in texts if f" {finding.place}:" not in text][:_MOST]
        return replace(finding, more=(*finding.more, *texts))
    return finding


def same(a: Any, b: Any) -> bool:
    """Tell whether two recorded values are the same up to the rounding of floats."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if float in (type(a), type(b)) and {type(a), type(b)} <= {int, float}:
        return math.isclose(a, b, rel_tol=_CLOSE) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and bool(a == b)


def _all_same(values: Sequence[Any]) -> bool:
    return all(same(values[0], value) for value in values)


def _pairs(x: Record, x_prime: Record) -> dict[str, tuple[Any, Any]]:
    """Return what differs, by name."""
    pairs = {k: (x.get(k, _MISSING), x_prime.get(k, _MISSING)) for k in {**x, **x_prime}}
    return {name: pair for name, pair in pairs.items() if not same(*pair)}


def parts_of(output: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parts of an output by name, and their number."""
    of, start = (f" of {name}", f"{name}, ") if name else ("", "")
    if isinstance(output, list):
        yield f"length{of}", len(output)
        for i, part in enumerate(output[:_PARTS]):
            yield from parts_of(part, f"{start}entry {i}")
    elif isinstance(output, dict) and "$" not in output:
        items = output.get("$items", list(output.items()))
        keys = ", ".join(sorted(value_text(key) for key, _ in items))
        yield f"keys{of}", {"$": f"{{{keys}}}"}
        for key, part in items[:_PARTS]:
            yield from parts_of(part, f"{start}key {value_text(key)}")
    else:
        yield name, output


def _finding_at(lines: Sequence[Any], kind: str, words: str, runs: int = 0) -> Finding:
    """Return a finding at the first line, with callers of libraries up to the user's line."""
    callers = []
    for inner, outer in pairwise(lines):
        if not is_library(inner[0]):
            break
        callers += [f"from {_code_at(outer)}"] if outer[0] != inner[0] else []
    place, _, line = _code_at(lines[0]).partition(": ") if lines else ("", "", "")
    return Finding(kind, words, place, line, runs, tuple(callers))


def _code_at(line: Sequence[Any]) -> str:
    """Return the place of a line (its file and number) and, where it can be read, its code."""
    code = shortened(" ".join(linecache.getline(*line).split()), 100)
    return f"{Path(line[0]).name}:{line[1]}{code and f': {code}'}"


def _call_text(call: Record | None, trace: Record) -> str:
    """Return a call of a draw with its arguments, and its place; or why there is none."""
    if not call:
        return f"none ({trace.get('failed', 'no more calls')})"
    passed = [f"{k}={value_text(v)}" for k, v in call["arguments"].items() if v is not None]
    place = [f" at {_code_at(line).partition(': ')[0]}" for line in call["frames"][:1]]
    return f"{call['name']}({', '.join(passed)}){''.join(place)}"


def _both(x: Any, x_prime: Any) -> str:
    """Return two recorded values in short."""
    return f"{value_text(x)} on x, {value_text(x_prime)} on x'"


def value_text(value: Any) -> str:
    """Return a recorded value in short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        first, rest = (value, "") if len(value) <= 8 else (value[:3], f", ... of {len(value)}")
        return f"[{', '.join(map(value_text, first))}{rest}]"
    if not isinstance(value, dict):
        return shortened(repr(value))
    if "$" in value:
        return shortened(str(value["$"]), 80)
    items = value.get("$items", value.items())
    return shortened(f"{{{', '.join(f'{value_text(k)}: {value_text(v)}' for k, v in items)}}}")
