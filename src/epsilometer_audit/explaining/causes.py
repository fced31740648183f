"""Causes of a difference between outputs on x and x': differences of draws with the same noise.

A finding is a difference, not necessarily a fault: two inputs may have other outputs. Findings that
no claim allows, and losses beyond the claim, come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from epsilometer_audit.explaining.additive import Additive, additive
from epsilometer_audit.explaining.traces import (
    ABSENT,
    Call,
    Difference,
    Run,
    Trace,
    Unit,
    calls_of,
    differences,
    entries,
    runs_of,
    same,
    source_line,
    value_text,
)
from epsilometer_audit.formats import as_plain, short
from epsilometer_audit.serving.errors import counted
from epsilometer_audit.serving.modules import is_library

_ROWS = 3  # printed findings
_CHANCE = 1e-3  # of a false finding that noise is kept
_PLACES = 3  # printed calls with the numbers around them
_PARTS = 3  # printed parts of outputs
_FEW = 3  # runs that show noise in an output
_NAMED = ("epsilon", "eps", "delta", "sensitivity", "scale", "sigma", "rho", "mu", "bound", "clip")


@dataclass(frozen=True)
class Finding:
    """A difference between x and x', or a fault of the noise.

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
    runs: int = 0  # that show it
    more: tuple[str, ...] = ()  # further lines


@dataclass(frozen=True)
class Cause:
    """Findings of draws on x and x' with the same noise, the most important first."""

    findings: tuple[Finding, ...]
    runs: int

    def lines(self) -> list[str]:
        """Return the lines for a reader."""
        lines = []
        for finding in self.findings[:_ROWS]:
            often = "" if finding.runs >= self.runs else f" ({finding.runs} of {self.runs} runs)"
            lines.append(f"{finding.words}{often if finding.runs else ''}")
            if finding.place:
                lines.append(f"  {finding.place}: {finding.line}".rstrip(": "))
            lines += [f"  {line}" for line in finding.more]
        return lines

    def to_plain(self) -> dict[str, Any]:
        """Return its JSON values; a loss without bound is "unbounded"."""
        unbounded = {"loss": "unbounded"}
        findings = [
            as_plain(asdict(finding) | (unbounded if finding.loss == math.inf else {}))
            for finding in self.findings
        ]
        return {"runs": self.runs, "words": self.lines(), "findings": findings}

    def __str__(self) -> str:
        return "\n".join(self.lines())


def cause_of(replay: Mapping[str, Any], claimed: Mapping[Unit, float] | None = None) -> Cause:
    """Return the cause that a record of `replayed` shows; see `claimed_of` for ``claimed``."""
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
    findings = [_of_group(group, claimed) for group in _grouped(runs)]
    fixed = any(rank == 0 for rank, _ in ranked) or any(f.kind == "seed" for f in findings)
    if not fixed:
        findings += _of_outputs(runs, claimed, findings, replayed=not unseen)
    ranked += [(_rank(finding, len(runs), claimed), finding) for finding in findings]
    if unseen:
        text = "a second draw on x with the same states is not the same: some noise is unseen, "
        text += "drawn in compiled code, by threads or from the time"
        ranked.append((7, Finding("unseen", text, runs=unseen)))
    if not findings and not fixed and not unseen:
        text = "with the same noise, no call and no output differs: the cause is not known"
        ranked.append((0, Finding("nothing", text, runs=len(runs))))
    ranked.sort(key=lambda entry: entry[0])
    first, *rest = [finding for _, finding in ranked]
    known = first.kind != "nothing" and first.unit in claimed and first.loss is not None
    if known and not _exceeds(first.loss, first.unit, claimed):
        more = "that is within the claim: the cause is not known"
        first = replace(first, more=(*first.more, more))
    return [first, *rest]


def _exceeds(loss: float | None, unit: Unit, claimed: Mapping[Unit, float]) -> bool:
    """Tell whether a loss is unbounded, or larger than the claim."""
    limit = claimed.get(unit, math.inf) * (1 + 1e-6)
    return loss is not None and (loss == math.inf or loss > limit)


def _of_outputs(
    runs: Sequence[Run],
    claimed: Mapping[Unit, float],
    of_calls: Sequence[Finding],
    *,
    replayed: bool,
) -> list[Finding]:
    """Return findings of outputs, besides those ``of_calls``."""
    if bare := list(_without_noise(runs)):
        return bare
    noise = additive(runs) if replayed else None
    if noise is not None:
        unbounded = noise.differ and any(finding.loss == math.inf for finding in of_calls)
        return [] if unbounded else [_of_noise(noise, len(runs), claimed)]
    alike = [run for run in runs if not any(differences(run.x, run.x_prime))]
    return [*_together(runs, claimed), *(_of_equal_calls(alike) if replayed else ())]


def _rank(finding: Finding, runs: int, claimed: Mapping[Unit, float]) -> int:
    """Return the rank of a finding: 1 if no claim allows it and most runs show it."""
    often = 2 * finding.runs >= runs
    early = {"without noise": 2, "shift": 3, "output": 4 if often else 6, "data": 7, "nothing": 7}
    loss = math.inf if finding.kind in ("call", "number", "seed") else finding.loss
    if _exceeds(loss, finding.unit, claimed):
        return 1 if often else 5
    return early.get(finding.kind, 6)


# --- no noise, or always the same -----------------------------------------------------------------


def _without_calls(runs: Sequence[Run]) -> Finding:
    """Return the finding of a mechanism without recorded calls."""
    first = runs[0]
    stays = all(
        same(output, kept.result)
        for run in runs
        for trace, kept in ((run.x, first.x), (run.x_prime, first.x_prime))
        for output in (trace.result, trace.second)
        if output is not None
    )
    if not stays or any(run.again for run in runs):
        text = "no call was seen: the noise is drawn in compiled code, by another program, or by "
        text += "a generator of its own"
        return Finding("unseen", text, runs=len(runs))
    both = _both(first.x.result, first.x_prime.result)
    text = f"no noise is drawn, or it was kept before: the output is always the same, {both}"
    return _placed(Finding("no noise", text, runs=len(runs)), first)


def _of_constant_seeds(runs: Sequence[Run]) -> Iterator[tuple[int, Finding]]:
    """Yield the seeds that are the same in all runs and on x and x', with their ranks."""
    if len(runs) < 2:
        return
    calls_by_line: dict[tuple[str, str], list[Call]] = {}
    traces = [trace for run in runs for trace in (run.x, run.x_prime)]
    for call in (call for trace in traces for call in trace.calls if call.kind == "seed"):
        calls_by_line.setdefault((call.name, call.place), []).append(call)
    for calls in calls_by_line.values():
        seed, sources = calls[0].arguments.get("seed"), {call.source for call in calls}
        fixed = all(same(call.arguments.get("seed"), seed) for call in calls)
        if seed is not None and fixed and len(calls) >= len(runs):
            text = f"{calls[0].name} always gets the seed {value_text(seed)}: "
            text += "its noise is the same each time"
            finding = Finding("constant seed", text, **_at(calls[0]), runs=len(runs))
            yield _share(runs, sources), finding


def _of_loading(runs: Sequence[Run], loaded: Sequence[Call]) -> Iterator[tuple[int, Finding]]:
    """Yield draws and seeds of the mechanism's own files at their load, with their ranks."""
    for call in loaded:
        if not call.frames or is_library(call.frames[0].file):
            continue
        if call.kind == "draw":
            text = f"{call.name} draws when the file is loaded, once for all outputs"
            yield 0, Finding("drawn once", text, **_at(call))
        elif call.arguments.get("seed") is not None and _share(runs, {call.source}) < 7:
            seed = value_text(call.arguments["seed"])
            text = f"{call.name} gets the seed {seed} when the file is loaded: "
            text += "its noise is the same in each process"
            yield _share(runs, {call.source}), Finding("constant seed", text, **_at(call))


def _of_kept_state(runs: Sequence[Run]) -> Iterator[tuple[int, Finding]]:
    """Yield the state that a process keeps from draw to draw, with its ranks."""
    traces = [run.x for run in runs if run.again is None and run.x.second is not None]
    at = _at(traces[0].draws[0]) if traces and traces[0].draws else {}
    pairs = [same(a.result, b.result) for a, b in combinations(traces, 2)] or [True]
    chance = float(np.mean(pairs)) ** len(traces)
    if chance < _CHANCE and all(same(trace.result, trace.second) for trace in traces):
        text = "a later draw in the same process gives the first output again: noise is kept, "
        yield 0, Finding("kept", text + "as in a cache", **at, runs=len(traces))
    changed = sum(trace.changed for trace in traces)
    if at and len(traces) >= _FEW and 2 * changed >= len(traces):  # or else its noise is unseen
        text = "two draws in a row with the same noise are not the same: state is kept"
        yield 1, Finding("kept", text, **at, runs=changed)


def _share(runs: Sequence[Run], sources: set[int | None]) -> int:
    """Return 0 if all noise is drawn from these generators, 5 if some is, 7 if none is."""
    calls = [call for run in runs for call in (*run.x.draws, *run.x_prime.draws)]
    from_these = [call.source in sources for call in calls]
    return 0 if all(from_these) else 5 if any(from_these) else 7


def _without_noise(runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the first part of outputs that has no noise, but is not the same on x and x'."""
    if len(runs) < _FEW:
        return
    sides = [
        [dict(entries(output)) for trace in traces for output in (trace.result, trace.second)]
        for traces in ([run.x for run in runs], [run.x_prime for run in runs])
    ]
    for key in dict.fromkeys(key for side in sides for outputs in side for key in outputs):
        values = [[outputs.get(key, ABSENT) for outputs in side] for side in sides]
        first = [side[0] for side in values]
        if all(same(v, side[0]) for side in values for v in side) and not same(*first):
            part = f"{key or 'the output'} {'are' if key.startswith('keys') else 'is'} always"
            text = f"{part} {_both(*first)}: without noise"
            yield _placed(Finding("without noise", text, runs=len(runs)), runs[0])
            return


# --- calls ----------------------------------------------------------------------------------------


_Group = list[tuple[Run, Difference]]
"""The same difference in some runs."""


def _grouped(runs: Sequence[Run]) -> list[_Group]:
    """Return the differences of all runs, in the order of the calls."""
    groups: dict[tuple[Any, ...], _Group] = {}
    for run in runs:
        skipped = set()  # differences of x and x, and those that are counted already
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
    loss, text = max(losses, default=None), _difference_text(run, first)
    if loss is not None:
        text += f": {_loss_text(loss, first.unit, claimed)}"
    at = _at(first.call)
    finding = Finding(first.kind, text, **at, loss=loss, unit=first.unit, runs=len(group))
    return _placed(finding, run) if first.kind in ("call", "number") else finding


def _difference_text(run: Run, difference: Difference) -> str:
    x, y, name = difference.x, difference.x_prime, difference.call.name
    if x is None or y is None:
        return _one_sided(run, difference)
    if difference.kind == "call":
        text_x, text_x_prime = (
            f"{c.text_with_arguments()}{f' at {c.place}' if c.place else ''}" for c in (x, y)
        )
        return f"call {difference.index + 1} is {text_x} on x, {text_x_prime} on x'"
    if difference.kind == "number":
        return f"{name} draws {x.count} numbers on x, {y.count} on x'"
    both = _both(*(call.arguments.get(difference.parameter) for call in (x, y)))
    if difference.kind == "data":
        return f"{name} draws from {both}"
    text = f"{name} gets {difference.parameter} = {both}"
    return f"the seed depends on the input: {text}" if difference.kind == "seed" else text


def _both(x: Any, x_prime: Any) -> str:
    return f"{value_text(x)} on x, {value_text(x_prime)} on x'"


def _one_sided(run: Run, difference: Difference) -> str:
    side, other, rest = ("x'", "x", run.x) if difference.x is None else ("x", "x'", run.x_prime)
    problem = f"there are {counted(difference.index, 'call')} and no more"
    if rest.failed is not None:
        problem = f"it fails, {rest.failed}"
    elif not rest.calls:
        problem = "there is no noise"
    return f"{difference.call.text_with_arguments()} is drawn on {side} only; on {other} {problem}"


def _together(runs: Sequence[Run], claimed: Mapping[Unit, float]) -> Iterator[Finding]:
    """Yield the loss of all calls of a run together, where several differ: the largest of runs."""
    worst: tuple[float, int, Difference] | None = None
    for run in runs:
        every = list(differences(run.x, run.x_prime))
        known = [d for d in every if d.kind == "argument" and d.loss not in (None, math.inf)]
        if len(known) < 2 or len({d.unit for d in known}) > 1 or len(known) < len(every):
            continue
        losses = [float(d.loss or 0.0) for d in known]
        loss = sum(losses) if known[0].unit == "epsilon" else math.hypot(*losses)
        if worst is None or loss > worst[0]:
            worst = loss, len(known), known[0]
    if worst is not None:
        loss, count, first = worst
        tail, call = _loss_text(loss, first.unit, claimed), first.call
        text = f"{count} calls get other arguments, together {tail}"
        yield Finding("together", text, **_at(call), loss=loss, unit=first.unit, runs=len(runs))


# --- outputs --------------------------------------------------------------------------------------


def _of_noise(noise: Additive, runs: int, claimed: Mapping[Unit, float]) -> Finding:
    call, loss, distribution = noise.call, noise.loss, noise.distribution
    scales = value_text(_few(noise.scales)), value_text(_few(noise.scales_prime))
    tail, size = _loss_text(loss, noise.unit, claimed), noise.shift.size
    if noise.differ:
        kind, text = "scale", f"the {distribution} noise in the output has scale {scales[0]} on x, "
        text += f"{scales[1]} on x': {tail}"
        if scales[0] == scales[1]:
            weights = "other weights in the output on x' than on x"
            text = f"the {distribution} noise has {weights}: {tail}"
    elif loss == math.inf:
        numbers = counted(noise.count, "number")
        kind, text = "shared", f"{size} entries share {numbers} of {distribution} noise: "
        text += f"it can be removed, and the rest differs: {tail}"
    elif not loss:
        kind = "nothing"
        text = f"{distribution} noise of scale {scales[0]}, no difference of x and x'"
    else:
        norm = "" if size == 1 else " in L2" if noise.unit == "mu" else " in L1"
        kind, text = "shift", f"outputs on x and x' are {short(noise.distance)} apart{norm} with "
        text += f"the same {distribution} noise of scale {scales[0]}: {tail}"
    return Finding(kind, text, **_at(call), loss=loss, unit=noise.unit, runs=runs)


def _few(numbers: Any) -> Any:
    """Return one number where all are the same."""
    values = [float(f"{number:.6g}") for number in numbers]
    return values[0] if len(set(values)) == 1 else values


def _of_equal_calls(runs: Sequence[Run]) -> Iterator[Finding]:
    """Yield the finding of runs with the same calls on x and x', but other outputs."""
    differing = [run for run in runs if not same(run.x.result, run.x_prime.result)]
    if not differing:
        return
    run = differing[0]
    text = f"same calls and noise, another output: {_differing(run.x.result, run.x_prime.result)}"
    values = [(run.x.result, run.x_prime.result) for run in differing]
    if len(values) > 1 and all(type(value) in (int, float) for pair in values for value in pair):
        shifts = [y - x for x, y in values]
        if np.ptp(shifts) <= 1e-9 * max(map(abs, shifts)):
            text = f"same calls and noise, outputs {short(abs(shifts[0]))} apart"
    entries = len(run.x.result) if isinstance(run.x.result, list) else 1
    count = sum(call.count for call in run.x.draws)
    more = f"{counted(count, 'number')} drawn for an output of {entries} entries"
    finding = Finding("output", text, runs=len(differing), more=(more,) if count < entries else ())
    yield _placed(finding, run, numbers=True)


def _differing(x: Any, x_prime: Any) -> str:
    """Return the texts of two outputs; of long ones, their first parts that differ."""
    text, text_prime = value_text(x), value_text(x_prime)
    if text == text_prime or ", ... of " in text + text_prime:
        parts, parts_prime = dict(entries(x)), dict(entries(x_prime))
        values = [
            (k, parts.get(k, ABSENT), parts_prime.get(k, ABSENT)) for k in parts | parts_prime
        ]
        differ = [f"{key} is {_both(a, b)}" for key, a, b in values if key and not same(a, b)]
        if differ:
            more = f"; {len(differ) - _PARTS} more differ" if len(differ) > _PARTS else ""
            return "; ".join(differ[:_PARTS]) + more
    return f"{text} on x, {text_prime} on x'"


def _placed(finding: Finding, run: Run, *, numbers: bool = False) -> Finding:
    """Return a finding with the lines where the draws diverge, and the numbers around calls."""
    more = list(finding.more)
    for side, trace, other in (("x", run.x, run.x_prime), ("x'", run.x_prime, run.x)):
        line = next((line for line in trace.lines if line not in other.lines), None)
        if line is not None:
            place = f"{line[0].rpartition('/')[2]}:{line[1]}"
            if place != finding.place:
                more.append(f"only {side} runs {place}: {source_line(*line)}".rstrip(": "))
    place, text = finding.place, finding.line
    for call, numbers_text in list(_numbers(run.x, run.x_prime))[: _PLACES if numbers else 0]:
        at = _at(call)
        if not place:
            place, text = at["place"], at["line"]
            more += at["more"]
        more.append(numbers_text)
    return replace(finding, more=tuple(more), place=place, line=text)


def _at(call: Call) -> dict[str, Any]:
    """Return the line of a call; for a call by a library, also its callers up to the user's line.

    Of several callers in a file, the innermost is returned.
    """
    callers = []
    for inner, frame in pairwise(call.frames):
        if not is_library(inner.file):
            break
        if frame.file != inner.file:
            callers.append(f"from {frame.place}: {frame.text}".rstrip(": "))
    return {"place": call.place, "line": call.text, "more": tuple(callers)}


def _numbers(x: Trace, x_prime: Trace) -> Iterator[tuple[Call, str]]:
    """Yield calls with numbers around them that differ, and a text of these, each once."""
    reported: set[tuple[Any, ...]] = set()
    for call, call_prime in zip(x.calls, x_prime.calls, strict=False):
        for a, b in zip(call.frames, call_prime.frames, strict=False):
            if a.function != b.function:
                break
            names = [
                n for n, v in a.numbers.items() if n in b.numbers and not same(v, b.numbers[n])
            ]
            if names:
                differ = [f"{n} = {_both(a.numbers[n], b.numbers[n])}" for n in names[:3]]
                kept = [
                    f"{n} = {value_text(v)}"
                    for n, v in a.numbers.items()
                    if n not in names and n.rpartition(".")[2].strip("_") in _NAMED
                ]
                both = f"; {', '.join(kept)} on both" if kept else ""
                if (a.function, *differ) not in reported:
                    reported.add((a.function, *differ))
                    yield call, f"in {a.function} at {a.place}: {', '.join(differ)}{both}"
                break


def _loss_text(loss: float, unit: Unit, claimed: Mapping[Unit, float]) -> str:
    if loss == math.inf:
        return "a loss without bound"
    claim_text = f" ({short(claimed[unit])} is claimed)" if unit in claimed else ""
    return f"a loss of {unit} = {short(loss)}{claim_text}"
