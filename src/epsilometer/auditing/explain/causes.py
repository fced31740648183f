"""Why outputs on x and x' can be told apart: what draws with the same noise do otherwise.

What is found is what differs, not what is wrong: two inputs may well have other outputs. The
findings that no level allows, and losses beyond what is claimed, come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from epsilometer.auditing.explain.additive import Additive, additive
from epsilometer.auditing.explain.traces import (
    ABSENT,
    Call,
    Difference,
    Run,
    Trace,
    Unit,
    calls_of,
    differences,
    entries,
    parting,
    runs_of,
    same,
    text_of,
    value_words,
)
from epsilometer.auditing.formats import as_plain, short
from epsilometer.auditing.serving.places import is_library

_ROWS = 3  # findings that are told in words
_CHANCE = 1e-3  # that noise is said to be kept where it is not
_PLACES = 3  # with the numbers around them
_PARTS = 3  # of outputs that are told
_FEW = 3  # runs with an output that never changes, by chance if there is noise in it
_TOLD = ("epsilon", "eps", "delta", "sensitivity", "scale", "sigma", "rho", "mu", "bound", "clip")


@dataclass(frozen=True)
class Finding:
    """One thing that is not the same on x and on x', or that is no noise.

    Its ``kind`` is ``no noise``, ``without noise`` (a part of the output), ``constant seed``,
    ``drawn once``, ``kept`` (state), ``seed``, ``call``, ``number``, ``argument``, ``data``,
    ``together``, ``scale``, ``shared``, ``shift``, ``output``, ``unseen``, ``failed`` or
    ``nothing``.
    """

    kind: str
    words: str  # a sentence
    place: str = ""  # file and line of the code
    line: str = ""  # the code there
    loss: float | None = None  # of privacy; infinite without a bound, None where it is unknown
    unit: Unit = "epsilon"  # of the loss
    runs: int = 0  # in which it was seen
    more: tuple[str, ...] = ()  # further lines


@dataclass(frozen=True)
class Cause:
    """What was found by draws on x and x' with the same noise, the most telling first."""

    findings: tuple[Finding, ...]
    runs: int

    def lines(self) -> list[str]:
        """Say it to a person."""
        lines = []
        for finding in self.findings[:_ROWS]:
            often = "" if finding.runs >= self.runs else f" ({finding.runs} of {self.runs} runs)"
            lines.append(f"{finding.words}{often if finding.runs else ''}")
            if finding.place:
                lines.append(f"  {finding.place}: {finding.line}".rstrip(": "))
            lines += [f"  {line}" for line in finding.more]
        return lines

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can hold; a loss without bound is the word "unbounded"."""
        unbounded = {"loss": "unbounded"}
        findings = [
            as_plain(asdict(finding) | (unbounded if finding.loss == math.inf else {}))
            for finding in self.findings
        ]
        return {"runs": self.runs, "words": self.lines(), "findings": findings}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def cause_of(replay: Mapping[str, Any], claimed: Mapping[Unit, float] | None = None) -> Cause:
    """Return the cause that shows in what was `replayed`.

    ``claimed`` is the level that is claimed, of epsilon without delta or of mu, where it is one.
    """
    runs = runs_of(replay)
    return Cause(tuple(_findings(runs, calls_of(replay["loaded"]), claimed or {})), len(runs))


def _findings(
    runs: Sequence[Run], loaded: Sequence[Call], claimed: Mapping[Unit, float]
) -> list[Finding]:
    if all(run.x.failed is not None and run.x_prime.failed is not None for run in runs):
        return [Finding("failed", f"it fails on both inputs: {runs[0].x.failed}", runs=len(runs))]
    ranked = [*_of_constant_seeds(runs), *_of_loading(runs, loaded), *_of_kept_state(runs)]
    if not any(run.x.draws or run.x_prime.draws for run in runs):
        return [*(finding for _, finding in ranked), _without_calls(runs)]
    unseen = sum(run.again is not None for run in runs)
    found = [_of_group(group, claimed) for group in _grouped(runs)]
    fixed = any(rank == 0 for rank, _ in ranked) or any(one.kind == "seed" for one in found)
    if not fixed:
        found += _of_what_is_told(runs, claimed, found, replayed=not unseen)
    ranked += [(_rank(finding, len(runs), claimed), finding) for finding in found]
    if unseen:
        words = "a second draw on x with the same states is not the same: some noise is unseen, "
        words += "drawn in compiled code, by threads or from the time"
        ranked.append((7, Finding("unseen", words, runs=unseen)))
    if not found and not fixed and not unseen:
        words = "with the same noise, no call and no output differs: the cause is not known"
        ranked.append((0, Finding("nothing", words, runs=len(runs))))
    ranked.sort(key=lambda each: each[0])
    first, *rest = [finding for _, finding in ranked]
    return [_within(first, claimed), *rest]


def _within(finding: Finding, claimed: Mapping[Unit, float]) -> Finding:
    """Return a finding that says so where its loss is what is claimed, or less."""
    known = finding.unit in claimed and finding.loss is not None
    if finding.kind == "nothing" or not known or _exceeds(finding.loss, finding.unit, claimed):
        return finding
    more = "that is within the claim: the cause is not known"
    return replace(finding, more=(*finding.more, more))


def _exceeds(loss: float | None, unit: Unit, claimed: Mapping[Unit, float]) -> bool:
    """Tell whether a loss is unbounded, or beyond what is claimed."""
    limit = claimed.get(unit, math.inf) * (1 + 1e-6)
    return loss is not None and (loss == math.inf or loss > limit)


def _of_what_is_told(
    runs: Sequence[Run],
    claimed: Mapping[Unit, float],
    found: Sequence[Finding],
    *,
    replayed: bool,
) -> list[Finding]:
    """Return what is found of outputs, beside that of calls; noise is not the same each time."""
    bare = list(_without_noise(runs))
    if bare:
        return bare
    noise = additive(runs) if replayed else None
    if noise is not None:
        unbounded = noise.differ and any(finding.loss == math.inf for finding in found)
        return [] if unbounded else [_of_noise(noise, len(runs), claimed)]
    alike = [run for run in runs if not any(differences(run.x, run.x_prime))]
    return [*_together(runs, claimed), *(_of_outputs(alike) if replayed else ())]


def _rank(finding: Finding, runs: int, claimed: Mapping[Unit, float]) -> int:
    """Return how late a finding is told: 1 for what no claim allows and is there in most runs."""
    often = 2 * finding.runs >= runs
    early = {"without noise": 2, "shift": 3, "output": 4 if often else 6, "data": 7, "nothing": 7}
    loss = math.inf if finding.kind in ("call", "number", "seed") else finding.loss
    if _exceeds(loss, finding.unit, claimed):
        return 1 if often else 5
    return early.get(finding.kind, 6)


# --- no noise, or always the same -----------------------------------------------------------------


def _without_calls(runs: Sequence[Run]) -> Finding:
    """Tell of what draws nothing that is seen."""
    first = runs[0]
    stays = all(
        same(output, kept.result)
        for run in runs
        for trace, kept in ((run.x, first.x), (run.x_prime, first.x_prime))
        for output in (trace.result, trace.second)
        if output is not None
    )
    if not stays or any(run.again for run in runs):
        words = "no call was seen: the noise is drawn in compiled code, by another program, or by "
        words += "a generator of its own"
        return Finding("unseen", words, runs=len(runs))
    both = _both(first.x.result, first.x_prime.result)
    words = f"no noise is drawn, or it was kept before: the output is always the same, {both}"
    return _placed(Finding("no noise", words, runs=len(runs)), first)


def _of_constant_seeds(runs: Sequence[Run]) -> Iterator[tuple[int, Finding]]:
    """Yield the seeds that do not change from run to run, nor from x to x', with their ranks."""
    if len(runs) < 2:
        return
    seen: dict[tuple[str, str], list[Call]] = {}
    traces = [trace for run in runs for trace in (run.x, run.x_prime)]
    for call in (call for trace in traces for call in trace.calls if call.kind == "seed"):
        seen.setdefault((call.name, call.place), []).append(call)
    for calls in seen.values():
        seed, sources = calls[0].arguments.get("seed"), {call.source for call in calls}
        fixed = all(same(call.arguments.get("seed"), seed) for call in calls)
        if seed is not None and fixed and len(calls) >= len(runs):
            words = f"{calls[0].name} always gets the seed {value_words(seed)}: "
            words += "its noise is the same each time"
            finding = Finding("constant seed", words, **_at(calls[0]), runs=len(runs))
            yield _share(runs, sources), finding


def _of_loading(runs: Sequence[Run], loaded: Sequence[Call]) -> Iterator[tuple[int, Finding]]:
    """Yield what the mechanism's own files draw, or seed, as they are loaded; with their ranks."""
    for call in loaded:
        if not call.frames or is_library(call.frames[0].file):
            continue
        if call.kind == "draw":
            words = f"{call.name} draws when the file is loaded, once for all outputs"
            yield 0, Finding("drawn once", words, **_at(call))
        elif call.arguments.get("seed") is not None and _share(runs, {call.source}) < 7:
            seed = value_words(call.arguments["seed"])
            words = f"{call.name} gets the seed {seed} when the file is loaded: "
            words += "its noise is the same in each process"
            yield _share(runs, {call.source}), Finding("constant seed", words, **_at(call))


def _of_kept_state(runs: Sequence[Run]) -> Iterator[tuple[int, Finding]]:
    """Yield what is kept from draw to draw, which shows in a process that has drawn before."""
    seen = [run.x for run in runs if run.again is None and run.x.second is not None]
    at = _at(seen[0].draws[0]) if seen and seen[0].draws else {}
    pairs = [same(a.result, b.result) for a, b in combinations(seen, 2)] or [True]
    chance = float(np.mean(pairs)) ** len(seen)
    if chance < _CHANCE and all(same(trace.result, trace.second) for trace in seen):
        words = "a later draw in the same process gives the first output again: noise is kept, "
        yield 0, Finding("kept", words + "as in a cache", **at, runs=len(seen))
    changed = sum(trace.changed for trace in seen)
    if at and len(seen) >= _FEW and 2 * changed >= len(seen):  # or else its noise is unseen
        words = "two draws in a row with the same noise are not the same: state is kept"
        yield 1, Finding("kept", words, **at, runs=changed)


def _share(runs: Sequence[Run], sources: set[int | None]) -> int:
    """Return 0 if all noise is drawn from these generators, 5 if some is, 7 if none is."""
    drawn = [call.source for run in runs for call in (*run.x.draws, *run.x_prime.draws)]
    own = [source in sources for source in drawn]
    return 0 if all(own) else 5 if any(own) else 7


def _without_noise(runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the parts of outputs that no noise reaches, but that are not the same on x and x'."""
    if len(runs) < _FEW:
        return
    sides = [
        [dict(entries(made)) for trace in traces for made in (trace.result, trace.second)]
        for traces in ([run.x for run in runs], [run.x_prime for run in runs])
    ]
    for key in dict.fromkeys(key for side in sides for outputs in side for key in outputs):
        values = [[outputs.get(key, ABSENT) for outputs in side] for side in sides]
        ours, theirs = values[0][0], values[1][0]
        stays = all(same(v, ours) for v in values[0]) and all(same(v, theirs) for v in values[1])
        if stays and not same(ours, theirs):
            what = f"{key or 'the output'} {'are' if key.startswith('keys') else 'is'} always"
            words = f"{what} {_both(ours, theirs)}: without noise"
            yield _placed(Finding("without noise", words, runs=len(runs)), runs[0])
            return


# --- calls ----------------------------------------------------------------------------------------


_Group = list[tuple[Run, Difference]]
"""The same difference in some runs."""


def _grouped(runs: Sequence[Run]) -> list[_Group]:
    """Return the differences of all runs, those first that come first in a run."""
    groups: dict[tuple[Any, ...], _Group] = {}
    for run in runs:
        skipped = set()  # what is not the same on x and on x either, and then what was counted
        if run.again is not None:
            skipped = {difference.identity for difference in differences(run.x, run.again)}
        for difference in differences(run.x, run.x_prime):
            if difference.identity not in skipped:
                skipped.add(difference.identity)
                groups.setdefault(difference.identity, []).append((run, difference))
    return sorted(groups.values(), key=lambda group: group[0][1].index)


def _of_group(group: _Group, claimed: Mapping[Unit, float]) -> Finding:
    run, first = group[0]
    losses = [difference.loss for _, difference in group if difference.loss is not None]
    loss, words = max(losses, default=None), _told(run, first)
    if loss is not None:
        words += f": {_loss_words(loss, first.unit, claimed)}"
    at = _at(first.call)
    finding = Finding(first.kind, words, **at, loss=loss, unit=first.unit, runs=len(group))
    return _placed(finding, run) if first.kind in ("call", "number") else finding


def _told(run: Run, found: Difference) -> str:
    x, y, name = found.x, found.x_prime, found.call.name
    if x is None or y is None:
        return _one_sided(run, found)
    if found.kind == "call":
        ours, theirs = (f"{c.told()}{f' at {c.place}' if c.place else ''}" for c in (x, y))
        return f"call {found.index + 1} is {ours} on x, {theirs} on x'"
    if found.kind == "number":
        return f"{name} draws {x.count} numbers on x, {y.count} on x'"
    both = _both(*(call.arguments.get(found.parameter) for call in (x, y)))
    if found.kind == "data":
        return f"{name} draws from {both}"
    words = f"{name} gets {found.parameter} = {both}"
    return f"the seed depends on the input: {words}" if found.kind == "seed" else words


def _both(x: Any, x_prime: Any) -> str:
    return f"{value_words(x)} on x, {value_words(x_prime)} on x'"


def _one_sided(run: Run, found: Difference) -> str:
    side, other, rest = ("x'", "x", run.x) if found.x is None else ("x", "x'", run.x_prime)
    what = f"there are {found.index} call{'' if found.index == 1 else 's'} and no more"
    if rest.failed is not None:
        what = f"it fails, {rest.failed}"
    elif not rest.calls:
        what = "there is no noise"
    return f"{found.call.told()} is drawn on {side} only; on {other} {what}"


def _together(runs: Sequence[Run], claimed: Mapping[Unit, float]) -> Iterator[Finding]:
    """Yield the loss of all calls of a run together, where several differ: that of the worst."""
    worst: tuple[float, int, Difference] | None = None
    for run in runs:
        found = list(differences(run.x, run.x_prime))
        known = [d for d in found if d.kind == "argument" and d.loss not in (None, math.inf)]
        if len(known) < 2 or len({d.unit for d in known}) > 1 or len(known) < len(found):
            continue
        losses = [float(d.loss or 0.0) for d in known]
        loss = sum(losses) if known[0].unit == "epsilon" else math.hypot(*losses)
        if worst is None or loss > worst[0]:
            worst = loss, len(known), known[0]
    if worst is not None:
        loss, count, first = worst
        tail, call = _loss_words(loss, first.unit, claimed), first.call
        words = f"{count} calls get other arguments, together {tail}"
        yield Finding("together", words, **_at(call), loss=loss, unit=first.unit, runs=len(runs))


# --- outputs --------------------------------------------------------------------------------------


def _of_noise(noise: Additive, runs: int, claimed: Mapping[Unit, float]) -> Finding:
    call, loss, law = noise.call, noise.loss, noise.law
    scales = value_words(_few(noise.scales)), value_words(_few(noise.scales_prime))
    tail, size = _loss_words(loss, noise.unit, claimed), noise.shift.size
    if noise.differ:
        kind, words = "scale", f"the {law} noise in the output has scale {scales[0]} on x, "
        words += f"{scales[1]} on x': {tail}"
        if scales[0] == scales[1]:
            words = f"the {law} noise has other weights in the output on x' than on x: {tail}"
    elif loss == math.inf:
        numbers = f"{noise.count} number{'' if noise.count == 1 else 's'}"
        kind, words = "shared", f"{size} entries share {numbers} of {law} noise: "
        words += f"it can be taken out, and what is left differs: {tail}"
    elif not loss:
        kind, words = "nothing", f"{law} noise of scale {scales[0]}, no difference of x and x'"
    else:
        norm = "" if size == 1 else " in L2" if noise.unit == "mu" else " in L1"
        kind, words = "shift", f"outputs on x and x' are {short(noise.distance)} apart{norm} with "
        words += f"the same {law} noise of scale {scales[0]}: {tail}"
    return Finding(kind, words, **_at(call), loss=loss, unit=noise.unit, runs=runs)


def _few(numbers: Any) -> Any:
    """Return one number where all are the same."""
    values = [float(f"{number:.6g}") for number in numbers]
    return values[0] if len(set(values)) == 1 else values


def _of_outputs(alike: Sequence[Run]) -> Iterator[Finding]:
    """Tell of outputs that are not the same although all calls are."""
    seen = [run for run in alike if not same(run.x.result, run.x_prime.result)]
    if not seen:
        return
    run = seen[0]
    words = f"same calls and noise, another output: {_differing(run.x.result, run.x_prime.result)}"
    values = [(run.x.result, run.x_prime.result) for run in seen]
    if len(seen) > 1 and all(type(value) in (int, float) for pair in values for value in pair):
        shifts = [y - x for x, y in values]
        if np.ptp(shifts) <= 1e-9 * max(map(abs, shifts)):
            words = f"same calls and noise, outputs {short(abs(shifts[0]))} apart"
    entries = len(run.x.result) if isinstance(run.x.result, list) else 1
    drawn = sum(call.count for call in run.x.draws)
    more = f"{drawn} number{'' if drawn == 1 else 's'} drawn for an output of {entries} entries"
    finding = Finding("output", words, runs=len(seen), more=(more,) if drawn < entries else ())
    yield _placed(finding, run, numbers=True)


def _differing(x: Any, x_prime: Any) -> str:
    """Say what two outputs are, or where they are long the first parts in which they differ."""
    ours, theirs = value_words(x), value_words(x_prime)
    if ours == theirs or ", ... of " in ours + theirs:
        parts, parts_prime = dict(entries(x)), dict(entries(x_prime))
        values = [
            (k, parts.get(k, ABSENT), parts_prime.get(k, ABSENT)) for k in parts | parts_prime
        ]
        differ = [f"{key} is {_both(a, b)}" for key, a, b in values if key and not same(a, b)]
        if differ:
            more = f"; {len(differ) - _PARTS} more differ" if len(differ) > _PARTS else ""
            return "; ".join(differ[:_PARTS]) + more
    return f"{ours} on x, {theirs} on x'"


def _placed(finding: Finding, run: Run, *, numbers: bool = False) -> Finding:
    """Return a finding with the lines where the draws part, and numbers where calls were made."""
    more = list(finding.more)
    for side, line in zip(("x", "x'"), parting(run.x, run.x_prime), strict=True):
        if line is not None:
            place = f"{line[0].rpartition('/')[2]}:{line[1]}"
            if place != finding.place:
                more.append(f"only {side} runs {place}: {text_of(*line)}".rstrip(": "))
    place, text = finding.place, finding.line
    for call, words in list(_numbers(run.x, run.x_prime))[: _PLACES if numbers else 0]:
        at = _at(call)
        if not place:
            place, text = at["place"], at["line"]
            more += at["more"]
        more.append(words)
    return replace(finding, more=tuple(more), place=place, line=text)


def _at(call: Call) -> dict[str, Any]:
    """Return where a call was made; where it is a library's, from which line of one's own."""
    own = next((frame for frame in call.frames if not is_library(frame.file)), None)
    more: tuple[str, ...] = ()
    if own is not None and own is not call.frames[0]:
        more = (f"from {own.place}: {own.text}".rstrip(": "),)
    return {"place": call.place, "line": call.text, "more": more}


def _numbers(x: Trace, x_prime: Trace) -> Iterator[tuple[Call, str]]:
    """Yield calls around which numbers are not the same, each with these in words, once."""
    told: set[tuple[Any, ...]] = set()
    for ours, theirs in zip(x.calls, x_prime.calls, strict=False):
        for a, b in zip(ours.frames, theirs.frames, strict=False):
            if a.function != b.function:
                break
            names = [
                n for n, v in a.numbers.items() if n in b.numbers and not same(v, b.numbers[n])
            ]
            if names:
                differ = [f"{n} = {_both(a.numbers[n], b.numbers[n])}" for n in names[:3]]
                kept = [
                    f"{n} = {value_words(v)}"
                    for n, v in a.numbers.items()
                    if n not in names and n.rpartition(".")[2].strip("_") in _TOLD
                ]
                both = f"; {', '.join(kept)} on both" if kept else ""
                if (a.function, *differ) not in told:
                    told.add((a.function, *differ))
                    yield ours, f"in {a.function} at {a.place}: {', '.join(differ)}{both}"
                break


def _loss_words(loss: float, unit: Unit, claimed: Mapping[Unit, float]) -> str:
    if loss == math.inf:
        return "a loss without bound"
    kept = f" ({short(claimed[unit])} is claimed)" if unit in claimed else ""
    return f"a loss of {unit} = {short(loss)}{kept}"
