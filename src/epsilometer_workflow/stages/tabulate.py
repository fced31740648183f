"""From summaries to the tables of a report, beside the numbers that a paper prints.

A builder is called by its signature, and errors name the place in the configuration. The columns
that it gets are in docs/extending.md.

A builder's options are its keyword-only parameters, with their types. Its one positional parameter,
if it has any, gets data of one experiment (a data frame) or of several (a list of data frames). The
name of the parameter says which data:

``summary``, ``summaries``
    Statistics over runs (`epsilometer_workflow.stages.summarise.summarise`).
``runs``
    Every run beside the exact value (`epsilometer_workflow.stages.summarise.with_truth`).
``samples``
    The draws themselves; for few.
``draws``
    The same as files that are read run by run (`SampleFile`); for many.
``timings``
    Measured seconds (`epsilometer_workflow.stages.time`).

Or data that do not belong to an experiment:

``tables``
    Other tables, in a mapping by ``report/artifact``; ``attrs`` of each have its ``scale``.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, get_type_hints

import pandas as pd

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.models import parse
from epsilometer.registry import load
from epsilometer_workflow.files.options import options_model
from epsilometer_workflow.files.storage import SampleFile, read_samples, read_table, write_table

Builder = Callable[..., pd.DataFrame]
_READS = {
    "summary": "summary",
    "summaries": "summary",
    "runs": "runs",
    "samples": "samples",
    "draws": "draws",
    "timings": "timings",
    "tables": "table",
}


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `tabulate`."""
    output = snakemake.output
    files = (output.csv, output.parquet, output.curve)
    run(snakemake.input.get("data", []), *files, snakemake.params.spec)


def run(data: Sequence[str], csv: str, parquet: str, curve: str, spec: Mapping[str, Any]) -> None:
    """Build one table, as CSV and Parquet.

    ``curve`` is the same table at many points, for the exact lines of its figure; it has no rows
    unless the builder says by its attribute ``curve`` with which options (`reports.panels`).
    """
    identity = spec["identity"]
    file = f"config/reports/{identity['report']}.yaml"
    key = f"artifacts.{identity['artifact']}"
    builder = load(spec["builder"])
    rows = read(data, spec["data"], builder, spec.get("provided", ()))
    table = build(builder, rows, spec["options"], file, key)
    options = getattr(builder, "curve", None)
    dense = build(builder, rows, options(rows, spec["options"]), file, key) if options else None
    write_table(table.head(0) if dense is None else dense, curve, "curve", identity)
    table = join_paper(table, spec["paper"], file, key)
    write_table(table, parquet, "table", identity | {"caption": spec["caption"]}, csv)


def check(
    builder: Builder,
    data: Sequence[Any],
    options: Mapping[str, Any],
    file: str,
    key: str,
    *,
    files: Mapping[str, Any] | None = None,
    tables: Sequence[str] = (),
) -> None:
    """Raise `ConfigError` unless the builder takes these inputs."""
    code, typed = builder.__code__, get_type_hints(builder)
    for parameter in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if parameter not in typed:
            message = f"{builder.__name__} gives its parameter {parameter!r} no type"
            raise ConfigError(file, f"{key}.table.builder", message)
    _parse(builder, {**options, **(files or {})}, file, key)
    name = _data(builder)
    if name is not None and name not in _READS:
        message = f"{builder.__name__} takes {name!r}, not one of {', '.join(_READS)}"
        raise ConfigError(file, f"{key}.table.builder", message)
    needed = "tables" if reads(builder) == "table" else "data"
    for part, inputs in (("data", data), ("tables", tables)):
        kind = _takes(builder) if part == needed else None
        noun = {"data": "experiment", "tables": "other table"}[part]
        if not {None: not inputs, "one": len(inputs) == 1}.get(kind, bool(inputs)):
            number = {None: f"no {noun}", "one": f"one {noun}"}.get(kind, f"{noun}s")
            raise ConfigError(file, f"{key}.table.{part}", f"{builder.__name__} takes {number}")


def reads(builder: Builder) -> str | None:
    """Return the input of a builder for each experiment: a value of `_READS`, or nothing."""
    name = _data(builder)
    return None if name is None else _READS[name]


def read(
    files: Sequence[str],
    expected: Sequence[Sequence[Any]],
    builder: Builder,
    provided: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> list[Any]:
    """Read a data frame for each experiment; ``expected`` holds its files' identities, in order.

    For draws it is a list of files; ``provided`` has the provider's claims for each of them.
    """
    kind, paths = reads(builder), iter(files)
    if kind == "draws":
        return [
            [SampleFile(next(paths), spec, **c) for spec, c in zip(specs, claims, strict=True)]
            for specs, claims in zip(expected, provided, strict=True)
        ]
    read_one = _samples if kind == "samples" else partial(read_table, kind=str(kind))
    if kind == "table":
        names = [f"{identity['report']}/{identity['artifact']}" for (identity,) in expected]
        tables = [read_one(next(paths), expected=identity) for (identity,) in expected]
        for table, (identity,) in zip(tables, expected, strict=True):
            table.attrs["scale"] = identity["scale"]
        return [dict(zip(names, tables, strict=True))]
    return [
        pd.concat([read_one(next(paths), expected=spec) for spec in specs], ignore_index=True)
        for specs in expected
    ]


def _samples(path: str, expected: Mapping[str, Any]) -> pd.DataFrame:
    return drawn(expected, read_samples(path, expected))


def drawn(expected: Mapping[str, Any], sides: Iterable[tuple[int, int, Any]]) -> pd.DataFrame:
    """Return a row a draw; ``sides`` are run, side and outputs."""
    inputs = expected["inputs"]["values"]
    frames = [
        pd.DataFrame(
            {
                "mechanism": expected["mechanism"],
                "registered": expected["registered"],
                "parameters": json.dumps(expected["parameters"], sort_keys=True),
                "epsilon": expected["epsilon"],
                "n": expected["n"],
                "run": run,
                "side": side,
                "x": json.dumps(inputs[side]),
                "output": outputs,
            }
        )
        for run, side, outputs in sides
    ]
    return pd.concat(frames, ignore_index=True)


def build(
    builder: Builder, data: list[Any], options: Mapping[str, Any], file: str, key: str
) -> pd.DataFrame:
    """Build the table; an argument it refuses is an error of the artifact's configuration."""
    arguments = {None: [], "several": [data]}.get(_takes(builder), data)
    try:
        return builder(*arguments, **_parse(builder, options, file, key))
    except ArgumentError as error:
        raise ConfigError(file, f"{key}.table.options", str(error)) from None


def _parse(builder: Builder, options: Mapping[str, Any], file: str, key: str) -> dict[str, Any]:
    model = options_model(builder)
    return dict(parse(model, dict(options), file, f"{key}.table.options"))


def _data(builder: Builder) -> str | None:
    """Return the name of the positional parameter."""
    code = builder.__code__
    return code.co_varnames[0] if code.co_argcount else None


def _takes(builder: Builder) -> str | None:
    name = _data(builder)
    if name is None:
        return None
    if reads(builder) == "table":
        return "all"
    return "one" if get_type_hints(builder)[name] is pd.DataFrame else "several"


def join_paper(
    frame: pd.DataFrame, paper: Mapping[str, Any] | None, file: str, where: str
) -> pd.DataFrame:
    """Join a paper's printed numbers to ours, as columns ``paper_*``, each beside ours.

    Keys are compared to nine digits. A printed row that matches none of ours is an error, as it
    would drop out of sight.
    """
    if paper is None:
        return frame
    keys: Sequence[str] = paper["keys"]
    missing = [key for key in keys if key not in frame]
    if missing:
        raise ConfigError(file, f"{where}.paper.keys", f"the table has no column {missing[0]!r}")
    printed = pd.DataFrame(paper["rows"], columns=paper["columns"])
    ours = _rounded(frame, keys).set_index([*keys]).index
    theirs = _rounded(printed, keys).drop_duplicates(keys).set_index([*keys])
    for row in theirs.index.difference(ours, sort=False).to_frame().itertuples(index=False):
        said = " ".join(f"{key}={value}" for key, value in zip(keys, row, strict=True))
        raise ConfigError(file, f"{where}.paper.rows", f"no row of the table has {said}")
    joined = frame.reset_index(drop=True)
    for name, values in theirs.reindex(ours).items():
        place = list(joined).index(name) + 1 if name in joined else joined.shape[1]
        joined.insert(place, f"paper_{name}", values.to_numpy())
    return joined


def _rounded(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    rounded = frame.copy()
    for key in keys:
        if pd.api.types.is_numeric_dtype(rounded[key]):
            rounded[key] = rounded[key].astype(float).round(9)
    return rounded
