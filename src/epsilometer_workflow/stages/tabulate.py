"""From summaries to the tables of a report, beside the numbers that a paper prints.

A builder is called by its signature: options are its keyword-only parameters, with their types, and
the name of its first positional parameter, if it has any, says what it reads (docs/extending.md has
all columns). Of ``summary``, ``runs``, ``samples`` and ``timings`` it gets the rows of all
experiments in one data frame, one group after the other (`reports.grouping`); a second parameter,
``law``, is the exact distribution of the group's mechanism at an epsilon. ``draws`` are files that
are read run by run (`SampleFile`), a list for each experiment, and ``tables`` other tables by
``report/artifact``.
"""

from epsilometer_workflow.runtime.job import Progress, start

start(globals())  # as a job: runs `main` and exits; imported: nothing

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from typing import Annotated, Any, get_type_hints

import pandas as pd
from pydantic import BaseModel, Field, PositiveFloat, create_model

from epsilometer.errors import ArgumentError
from epsilometer.settings.models import Epsilon, Model, Order, parse
from epsilometer.settings.registry import load
from epsilometer_workflow.files.identities import (
    DescribedSamples,
    Plain,
    SamplesIdentity,
    TableIdentity,
    job_of,
)
from epsilometer_workflow.files.identities import read as identity_of_file
from epsilometer_workflow.files.place import Place
from epsilometer_workflow.files.printed import LawOfMechanism, PaperNumbers, TabulateJob
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
_READS = (*_GROUPED, "draws", "tables")


def main(snakemake: Any, _progress: Progress) -> None:
    """Do the job of rule `tabulate`."""
    output = snakemake.output
    files = (output.csv, output.parquet, output.curve)
    run(snakemake.input.get("data", []), *files, job_of(snakemake, TabulateJob))


def run(data: Sequence[str], csv: str, parquet: str, curve: str, job: TabulateJob) -> None:
    """Build one table, as CSV and Parquet.

    ``curve`` is the same table at many points, for the exact lines of its figure; it has no rows
    unless the builder says with which options (`reports.grouping`).
    """
    identity = job.identity
    contents = job.table
    builder = load(contents.builder)
    place = Place.of_artifact(identity)
    rows = read(data, contents.data, builder)
    laws = partial(_law, contents.laws or {})
    table = build(builder, rows, contents.options, place, laws)
    dense = table.head(0)
    further = grouping.grouping_of(builder).curve
    if further is not None:
        dense = build(builder, rows, {**contents.options, **further}, place, laws)
    write_table(dense, curve, "curve", identity)
    if contents.paper is not None:
        table = join_paper(table, contents.paper, place.at("paper"))
    write_table(table, parquet, "table", replace(identity, caption=contents.caption), csv)


def _law(laws: Mapping[str, LawOfMechanism], mechanism: str, epsilon: float) -> Any:
    """Return the exact distribution of an entry at an epsilon; None where it is not known."""
    entry = laws[mechanism]
    if entry.law is None:
        return None
    parameters = json.dumps(entry.parameters)
    return grouping.law_of(entry.law, entry.registered, epsilon, parameters)


def check(
    builder: Builder,
    data: Collection[str],
    tables: Collection[str],
    options: Mapping[str, Any],
    place: Place,
) -> None:
    """Raise `ConfigError` unless the builder takes experiments, other tables and options."""
    code = builder.__code__
    typed = get_type_hints(builder)
    at = place.at("table", "builder")
    for parameter in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        if parameter not in typed:
            raise at.error(f"{builder.__name__} gives its parameter {parameter!r} no type")
    kind = reads(builder)
    if kind not in (None, *_READS):
        raise at.error(f"{builder.__name__} takes {kind!r}, not one of {', '.join(_READS)}")
    _parse(builder, options, place)
    needed = {None: None, "tables": "tables"}.get(kind, "data")
    for part, noun, given in (("data", "experiment", data), ("tables", "other table", tables)):
        if (part == needed) != bool(given):
            number = f"{noun}s" if part == needed else f"no {noun}"
            raise place.at("table", part).error(f"{builder.__name__} takes {number}")


def reads(builder: Builder) -> str | None:
    """Return what a builder reads, which is the name of its first positional parameter."""
    code = builder.__code__
    return code.co_varnames[0] if code.co_argcount else None


def read(
    files: Sequence[str],
    expected: Sequence[Sequence[Plain]],
    builder: Builder,
) -> list[Any]:
    """Read the data of all experiments; ``expected`` are identities as in `TableContents`."""
    kind = reads(builder)
    if kind is None:
        return []
    if kind == "draws":
        paths = iter(files)
        return [[_sample_files(paths, about) for about in expected]]
    identities = list(chain.from_iterable(expected))
    if kind == "tables":
        return [_tables(files, identities)]
    read_one = _samples if kind == "samples" else partial(read_table, kind=kind)
    of_files = zip(files, identities, strict=True)
    rows = [read_one(path, expected=identity) for path, identity in of_files]
    return [pd.concat(rows, ignore_index=True)]


def _sample_files(paths: Iterator[str], expected: Iterable[Plain]) -> list[SampleFile]:
    files = []
    for values in expected:
        path = next(paths)
        about = identity_of_file(DescribedSamples, values, path)
        files.append(SampleFile(path, about.identity, about.claims, about.region))
    return files


def _tables(files: Sequence[str], identities: Sequence[Plain]) -> dict[str, pd.DataFrame]:
    """Return other tables by their names."""
    tables = {}
    for path, values in zip(files, identities, strict=True):
        identity = identity_of_file(TableIdentity, values, path)
        table = read_table(path, "table", identity)
        table.attrs["scale"] = identity.scale
        tables[f"{identity.report}/{identity.artifact}"] = table
    return tables


def _samples(path: str, expected: Plain) -> pd.DataFrame:
    identity = identity_of_file(SamplesIdentity, expected, path)
    return drawn(identity, read_samples(path, identity))


def drawn(identity: SamplesIdentity, sides: Iterable[tuple[int, int, Any]]) -> pd.DataFrame:
    """Return a row a draw; ``sides`` are run, side and outputs."""
    inputs = [json.dumps(x) for x in identity.inputs.sides]
    common = {
        "mechanism": identity.mechanism,
        "registered": identity.registered,
        "parameters": json.dumps(identity.parameters, sort_keys=True),
        "epsilon": identity.epsilon,
        "inputs": identity.inputs.id,
        "n": identity.n,
    }
    frames = []
    for run, side, outputs in sides:
        own = {"run": run, "side": side, "x": inputs[side], "output": outputs}
        frames.append(pd.DataFrame(common | own))
    return pd.concat(frames, ignore_index=True)


def build(
    builder: Builder,
    data: list[Any],
    options: Mapping[str, Any],
    place: Place,
    laws: Laws | None = None,
) -> pd.DataFrame:
    """Build the table; an argument it refuses is an error of the artifact's configuration."""
    parsed = _parse(builder, options, place)
    try:
        if reads(builder) not in _GROUPED:
            return builder(*data, **parsed)
        own = _options_model(builder).model_fields
        choices = {name: parsed.pop(name) for name in _CHOICES if name not in own}
        rows = grouping.chosen(data[0], **choices)
        if reads(builder) != "samples":
            grouping.check_once(rows)
        titles = list((choices["panels"] or {}).values())
        of_group = partial(_of_group, builder, laws, parsed)
        return grouping.by_group(of_group, rows, grouping.grouping_of(builder), titles)
    except ArgumentError as error:
        raise place.at("table", "options").error(error) from None


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


def _parse(builder: Builder, options: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Return the options; those of builders that are called by group may also choose rows."""
    model = _options_model(builder)
    if reads(builder) in _GROUPED:
        model = _with_choices(model)
    return dict(parse(model, dict(options), place.file, place.at("table", "options").key))


@cache
def _options_model(function: Any) -> type[BaseModel]:
    """Return a model of a function's keyword-only parameters."""
    hints = get_type_hints(function, include_extras=True)
    defaults = function.__kwdefaults__ or {}
    names = function.__code__.co_varnames[function.__code__.co_argcount :]
    fields: dict[str, Any] = {
        name: (hints[name], defaults.get(name, ...))
        for name in names[: function.__code__.co_kwonlyargcount]
    }
    return create_model(function.__name__, __base__=Model, **fields)


@cache
def _with_choices(model: type[BaseModel]) -> type[BaseModel]:
    fields = dict[str, Any]()
    for name, kind in _CHOICES.items():
        if name not in model.model_fields:
            fields[name] = (kind | None, None)
    return create_model(model.__name__, __base__=model, **fields)


def join_paper(frame: pd.DataFrame, paper: PaperNumbers, place: Place) -> pd.DataFrame:
    """Join a paper's printed numbers to ours, as columns ``paper_*``, each beside ours.

    They join the rows ``of`` their own identity, by keys to nine digits. A printed row that matches
    none of ours is an error, as it would drop out of sight; so is one that matches several.
    """
    keys = paper.keys
    values = [c for c in paper.columns if c not in keys]
    for key in keys:
        if key not in frame:
            raise place.at("keys").error(f"the table has no column {key!r}")
    own = _rounded(frame, keys)
    for axis, value in paper.of.items():
        if axis in own:
            own = own[own[axis] == value]
    printed = _rounded(pd.DataFrame(paper.rows, columns=paper.columns), keys)
    for key, row in printed.groupby(keys, sort=False):
        named = " ".join(map("{}={}".format, keys, key))
        same = own.merge(row[keys], on=keys)
        if same.empty:
            raise place.at("rows").error(f"no row of the table has {named}")
        if len(same) > len(row) and (which := _varying(same, paper.across)):
            message = f"{len(same)} rows of the table have {named} ({which}); say which in paper.of"
            raise place.at("keys").error(message)
    theirs = own[keys].merge(printed.drop_duplicates(keys), on=keys, how="left")
    theirs = theirs.set_axis(own.index)
    joined = frame.copy()
    for name in values:
        column = theirs[name]
        if len(theirs) < len(frame) and column.dtype == int:
            column = column.astype("Int64")  # stays whole where rows of others have none
        place_of_theirs = joined.shape[1]
        if name in joined:
            place_of_theirs = list(joined).index(name) + 1
        joined.insert(place_of_theirs, f"paper_{name}", column.reindex(joined.index))
    return joined


def _varying(rows: pd.DataFrame, across: Collection[str]) -> str:
    """Return the axes that vary, but for those across which a number is the same, in words."""
    said = []
    for axis in grouping.IDENTITY:
        if axis in rows and axis not in across:
            values = rows[axis].unique()
            if len(values) > 1:
                said += [f"{axis}: {', '.join(map(str, values))}"]
    return "; ".join(said)


def _rounded(frame: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    rounded = frame.copy()
    for key in keys:
        if pd.api.types.is_numeric_dtype(rounded[key]):
            rounded[key] = rounded[key].astype(float).round(9)
    return rounded
