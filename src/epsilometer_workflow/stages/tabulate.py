"""From summaries to the tables of a report, beside the numbers that a paper prints.

A builder is called by its signature, and errors name the place in the configuration. The columns
that it gets are in docs/extending.md.

A builder's options are its keyword-only parameters, with their types. The name of its first
positional parameter, if it has any, says which data it gets:

``summary``
    Statistics over runs (`epsilometer_workflow.stages.summarise.summarise`).
``runs``
    Every run beside the exact value (`epsilometer_workflow.stages.summarise.with_truth`).
``samples``
    The draws themselves; for few.
``timings``
    Measured seconds (`epsilometer_workflow.stages.time`).

These are the rows of all experiments of the table in one data frame, and the builder is called for
one group of them after the other (`epsilometer_workflow.reports.grouping`). A second parameter,
``law``, is the exact distribution of the group's mechanism at an epsilon. Or data without groups:

``draws``
    Draws as files that are read run by run (`SampleFile`), a list for each experiment; for many.
``tables``
    Other tables, in a mapping by ``report/artifact``; ``attrs`` of each have its ``scale``.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Annotated, Any, get_type_hints

import pandas as pd
from pydantic import BaseModel, Field, PositiveFloat, create_model

from epsilometer.errors import ArgumentError, ConfigError
from epsilometer.models import parse
from epsilometer.registry import load
from epsilometer_workflow.files.options import Epsilon, Order, options_model
from epsilometer_workflow.files.storage import SampleFile, read_samples, read_table, write_table
from epsilometer_workflow.reports import grouping

Builder = Callable[..., pd.DataFrame]
Laws = Callable[[str, float], Any]
"""The exact distribution of an entry of the configuration at an epsilon."""

_CHOICES: Mapping[str, Any] = {
    "panels": Annotated[dict[str, str], Field(min_length=1)],
    "mechanism": str,
    "epsilon": Epsilon,
    "inputs": str,
    "lambda": Order,
    "estimator": str,
    "gamma": PositiveFloat,
}
"""The options of every table that choose some rows of its data, or give them titles."""

_GROUPED = ("summary", "runs", "samples", "timings")
_READS = {name: name for name in _GROUPED} | {"draws": "draws", "tables": "table"}


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `tabulate`."""
    output = snakemake.output
    files = (output.csv, output.parquet, output.curve)
    run(snakemake.input.get("data", []), *files, snakemake.params.spec)


def run(data: Sequence[str], csv: str, parquet: str, curve: str, spec: Mapping[str, Any]) -> None:
    """Build one table, as CSV and Parquet.

    ``curve`` is the same table at many points, for the exact lines of its figure; it has no rows
    unless the builder says with which options (`reports.grouping`).
    """
    identity = spec["identity"]
    file = f"config/reports/{identity['report']}.yaml"
    key = f"artifacts.{identity['artifact']}"
    builder = load(spec["builder"])
    rows = read(data, spec["data"], builder, spec.get("provided", ()))
    laws = partial(_law, spec.get("laws", {}))
    table = build(builder, rows, spec["options"], file, key, laws)
    dense, denser = table.head(0), grouping.grouping_of(builder).curve
    if denser is not None:
        dense = build(builder, rows, denser(rows, spec["options"]), file, key, laws)
    write_table(dense, curve, "curve", identity)
    table = join_paper(table, spec["paper"], file, key)
    write_table(table, parquet, "table", identity | {"caption": spec["caption"]}, csv)


def _law(laws: Mapping[str, Mapping[str, Any]], mechanism: str, epsilon: float) -> Any:
    """Return the exact distribution of an entry at an epsilon; None where it is not known."""
    entry = laws[mechanism]
    if entry["law"] is None:
        return None
    return grouping.law_of(
        entry["law"], entry["registered"], epsilon, json.dumps(entry["parameters"])
    )


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
    name = _data(builder)
    if name is not None and name not in _READS:
        message = f"{builder.__name__} takes {name!r}, not one of {', '.join(_READS)}"
        raise ConfigError(file, f"{key}.table.builder", message)
    _parse(builder, {**options, **(files or {})}, file, key)
    needed = {None: None, "table": "tables"}.get(reads(builder), "data")
    for part, noun, inputs in (("data", "experiment", data), ("tables", "other table", tables)):
        if bool(inputs) != (part == needed):
            number = f"{noun}s" if part == needed else f"no {noun}"
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
    """Read the data of all experiments; ``expected`` holds their files' identities, in order.

    For draws it is a list of files; ``provided`` has the provider's claims for each of them.
    """
    kind, paths = reads(builder), iter(files)
    if kind == "draws":
        return [
            [
                [SampleFile(next(paths), spec, **c) for spec, c in zip(specs, claims, strict=True)]
                for specs, claims in zip(expected, provided, strict=True)
            ]
        ]
    read_one = _samples if kind == "samples" else partial(read_table, kind=str(kind))
    if kind == "table":
        names = [f"{identity['report']}/{identity['artifact']}" for (identity,) in expected]
        tables = [read_one(next(paths), expected=identity) for (identity,) in expected]
        for table, (identity,) in zip(tables, expected, strict=True):
            table.attrs["scale"] = identity["scale"]
        return [dict(zip(names, tables, strict=True))]
    specs = [spec for experiment in expected for spec in experiment]
    rows = [read_one(next(paths), expected=spec) for spec in specs]
    return [pd.concat(rows, ignore_index=True)] if rows else []


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
                "inputs": expected["inputs"]["id"],
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
    builder: Builder,
    data: list[Any],
    options: Mapping[str, Any],
    file: str,
    key: str,
    laws: Laws | None = None,
) -> pd.DataFrame:
    """Build the table; an argument it refuses is an error of the artifact's configuration."""
    parsed = _parse(builder, options, file, key)
    try:
        if reads(builder) not in _GROUPED:
            return builder(*data, **parsed)
        own = options_model(builder).model_fields
        choices = {name: parsed.pop(name) for name in _CHOICES if name not in own}
        rows = grouping.chosen(data[0], **choices)
        if reads(builder) != "samples":
            grouping.check_once(rows)
        call, titles = partial(_of_group, builder, laws, parsed), choices["panels"] or {}
        return grouping.by_group(call, rows, grouping.grouping_of(builder), [*titles.values()])
    except ArgumentError as error:
        raise ConfigError(file, f"{key}.table.options", str(error)) from None


def _of_group(
    builder: Builder, laws: Laws | None, options: Mapping[str, Any], rows: pd.DataFrame
) -> pd.DataFrame:
    """Build the table of one group, beside its own exact distribution if the builder wants it."""
    if not takes_law(builder):
        return builder(rows, **options)
    mechanism = rows["mechanism"].iloc[0]
    return builder(rows, lambda epsilon: laws and laws(mechanism, epsilon), **options)


def takes_law(builder: Builder) -> bool:
    """Return whether a builder asks for the exact distribution of its group."""
    return "law" in builder.__code__.co_varnames[1 : builder.__code__.co_argcount]


def _parse(builder: Builder, options: Mapping[str, Any], file: str, key: str) -> dict[str, Any]:
    """Return the options; those of builders that are called by group may also choose rows."""
    model = options_model(builder)
    if reads(builder) in _GROUPED:
        model = _with_choices(model)
    return dict(parse(model, dict(options), file, f"{key}.table.options"))


@cache
def _with_choices(model: type[BaseModel]) -> type[BaseModel]:
    own, fields = model.model_fields, dict[str, Any]()
    for name, kind in _CHOICES.items():
        if name not in own:
            fields[name] = (kind | None, None)
    return create_model(model.__name__, __base__=model, **fields)


def _data(builder: Builder) -> str | None:
    """Return the name of the first positional parameter."""
    code = builder.__code__
    return code.co_varnames[0] if code.co_argcount else None


def join_paper(
    frame: pd.DataFrame, paper: Mapping[str, Any] | None, file: str, where: str
) -> pd.DataFrame:
    """Join a paper's printed numbers to ours, as columns ``paper_*``, each beside ours.

    They join the rows ``of`` their own identity, by keys to nine digits. A printed row that matches
    none of ours is an error, as it would drop out of sight; so is one that matches several.
    """
    if paper is None:
        return frame
    keys, values = list(paper["keys"]), [c for c in paper["columns"] if c not in paper["keys"]]
    if missing := [key for key in keys if key not in frame]:
        raise ConfigError(file, f"{where}.paper.keys", f"the table has no column {missing[0]!r}")
    own, across = _rounded(frame, keys), paper.get("across", [])
    for axis, value in paper.get("of", {}).items():
        if axis in own:
            own = own[own[axis] == value]
    printed = _rounded(pd.DataFrame(paper["rows"], columns=paper["columns"]), keys)
    for key, row in printed.groupby(keys, sort=False):
        named = " ".join(f"{name}={value}" for name, value in zip(keys, key, strict=True))
        same = own.merge(row[keys], on=keys)
        if same.empty:
            raise ConfigError(file, f"{where}.paper.rows", f"no row of the table has {named}")
        axes = [axis for axis in grouping.IDENTITY if axis in same and axis not in across]
        varying = [axis for axis in axes if len({*same[axis]}) > 1]
        if len(same) > len(row) and varying:
            which = "; ".join(
                f"{axis}: {', '.join(map(str, same[axis].unique()))}" for axis in varying
            )
            message = f"{len(same)} rows of the table have {named} ({which}); say which in paper.of"
            raise ConfigError(file, f"{where}.paper.keys", message)
    theirs = own[keys].merge(printed.drop_duplicates(keys), on=keys, how="left")
    theirs = theirs.set_axis(own.index)[values]
    if len(theirs) < len(frame):  # whole numbers stay whole where rows of others have none
        theirs = theirs.astype({n: "Int64" for n in theirs if theirs[n].dtype == int})
    joined = frame.copy()
    for name in values:
        place = list(joined).index(name) + 1 if name in joined else joined.shape[1]
        joined.insert(place, f"paper_{name}", theirs[name].reindex(joined.index))
    return joined


def _rounded(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    rounded = frame.copy()
    for key in keys:
        if pd.api.types.is_numeric_dtype(rounded[key]):
            rounded[key] = rounded[key].astype(float).round(9)
    return rounded
