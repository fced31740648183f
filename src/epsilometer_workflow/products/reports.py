"""The products of a report: its tables, figures and page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import load
from epsilometer_workflow.configuration import config, paths
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS
from epsilometer_workflow.configuration.study import Combination, Study, listed
from epsilometer_workflow.files.parsing import spell
from epsilometer_workflow.products import captions, code_digests
from epsilometer_workflow.products.estimates import Estimates
from epsilometer_workflow.products.experiments import OfExperiment, Runs, Summary, Timings
from epsilometer_workflow.products.products import Needs, Product, Spec, digest_of, entry
from epsilometer_workflow.products.reductions import (
    Answers,
    Confirmation,
    Evidence,
    Histograms,
    Losses,
    PairDensities,
    Samples,
    Verdicts,
)
from epsilometer_workflow.runtime.provenance import refuse_foreign
from epsilometer_workflow.stages import tabulate

_FOLDER = Path(__file__).parents[3] / "workflow/report"
_TEMPLATES = [_FOLDER / name for name in ("page.html.j2", "page.css")]


@dataclass(frozen=True)
class _Shown(Product):
    """A product of one artifact of a report."""

    report: str
    artifact: str

    def check(self) -> None:
        report = entry(self.study.reports, "report", self.report)
        entry(report.artifacts, "artifact", self.artifact)

    @property
    def definition(self) -> config.Artifact:
        """Its entry in the configuration."""
        return self.study.reports[self.report].artifacts[self.artifact]

    def combinations(self) -> list[Combination]:
        """Return the grids of its experiments."""
        names = self.definition.table.data
        return [c for name in names for c in self.study.combinations(self.report, name)]

    @property
    def caption(self) -> str:
        """Its caption, with the values of its grid and options in place of their names."""
        experiments = self.study.reports[self.report].experiments
        plans = [experiments[name].plan for name in self.definition.table.data]
        planned: dict[str, Any] = {}
        for plan in filter(None, plans):
            planned["delta"] = plan.delta
        return captions.filled(
            self.definition,
            [c.axes for c in self.combinations()],
            [planned | self.study.parameters(c) for c in self.combinations()],
        )


@dataclass(frozen=True)
class Table(_Shown, rule="tabulate"):
    """One table, as CSV, and as Parquet for the jobs that read it."""

    reads: ClassVar[str] = "parquet"

    @property
    def builder(self) -> str:
        """Its builder, as ``module:function``."""
        return BUILDERS.target(self.report, self.definition.table.builder)

    def needs(self) -> Needs:
        return {"data": [product for parts in self._parts() for product in parts]}

    def _parts(self) -> list[list[Product]]:
        """Return the products that the builder reads, by experiment, or each table."""
        kind = self._reads
        if kind == "table":
            tables = self.study.tables(self.definition.table.tables)
            return [[Table(self.study, report, artifact)] for report, artifact in tables]
        return [list(self._read(kind, name)) for name in self.definition.table.data]

    def _read(self, kind: str | None, experiment: str) -> Iterator[Product]:
        if kind in ("samples", "draws"):
            drawn: dict[Samples, None] = {}
            for c in self.study.combinations(self.report, experiment):
                drawn |= {Samples.of(self.study, c, b): None for b in self.study.batches(c)}
            yield from drawn
        else:
            product = {"timings": Timings, "runs": Runs}.get(str(kind), Summary)
            yield product(self.study, self.report, experiment)

    def spec(self) -> Spec:
        table = self.definition.table
        spec = {
            "caption": self.caption,
            "builder": self.builder,
            "options": table.options | self._files(),
            "paper": self.definition.paper.model_dump() if self.definition.paper else None,
            "data": [[_identity(part) for part in parts] for parts in self._parts()],
        }
        if laws := self._laws():
            spec["laws"] = laws
        if self._reads == "draws":
            spec["provided"] = [[part.provided() for part in files] for files in self._drawn()]
        if files := self._files():
            spec["files"] = code_digests.contents(listed(files))
        key = {"report": self.report, "artifact": self.artifact}
        return {"identity": self.common | key | {"made_of": digest_of(spec)}, **spec}

    def _laws(self) -> dict[str, Spec]:
        """Return how the exact distribution of each mechanism is made, if its builder asks."""
        if not tabulate.takes_law(load(self.builder)):
            return {}
        entries = self.study.mechanisms
        return {
            name: {
                "law": EXACT.get(entries[name].mechanism),
                "registered": MECHANISMS[entries[name].mechanism],
                "parameters": dict(entries[name].parameters),
            }
            for name in sorted({c.mechanism for c in self.combinations()})
        }

    def _files(self) -> dict[str, str | list[str]]:
        """Return the files of options."""
        return self.study.files(self.definition.table.files)

    def modules(self) -> list[str]:
        """Return the builder; with the mechanisms whose laws it uses or whose draws it reads.

        If it reads draws run by run, also all estimators.
        """
        modules = {self.builder.partition(":")[0]}
        drawn = {samples.mechanism for files in self._drawn() for samples in files}
        for used in drawn | {*self._laws()}:
            name = self.study.mechanisms[used].mechanism
            modules |= {r.module(name) for r in (EXACT, MECHANISMS) if name in r}
        if drawn:
            modules |= {r.module(name) for r in (ESTIMATORS, CLASSIFIERS) for name in r}
        return sorted(modules)

    def code(self) -> str:
        """Return a digest of its code, with the files that its builder's module loads by path."""
        programs = getattr(import_module(self.builder.partition(":")[0]), "PROGRAMS", ())
        return code_digests.digest(self.rule, *self.modules(), *programs)

    @property
    def _reads(self) -> str | None:
        return tabulate.reads(load(self.builder))

    def _drawn(self) -> list[list[Samples]]:
        """Return the files that are read run by run, of each experiment."""
        parts = self._parts() if self._reads == "draws" else []
        return [[part for part in files if isinstance(part, Samples)] for files in parts]

    def origin(self) -> Spec:
        """Return how it is made, for readers."""
        table = self.definition.table
        return {
            "builder": self.builder,
            "options": {name: str(value) for name, value in table.options.items()},
            "files": listed(self._files()),
            "tables": ["/".join(artifact) for artifact in self.study.tables(table.tables)],
            "experiments": [self._grid(name) for name in table.data],
            "measured": self._reads == "timings",
            "code": self.code(),
        }

    def _grid(self, experiment: str) -> Spec:
        """Return the values of an experiment's grid, each once."""
        combinations = self.study.combinations(self.report, experiment)
        written = {"epsilon": "{:.6g}".format, "order": spell}
        values_of = {
            field.name: list(
                dict.fromkeys(
                    written.get(field.name, str)(getattr(c, field.name)) for c in combinations
                )
            )
            for field in fields(Combination)
        }
        return {"experiment": experiment, **values_of, "estimates": len(combinations)}


@dataclass(frozen=True)
class Figure(_Shown, rule="render"):
    """One figure, as PDF, and as PNG for a page."""

    reads: ClassVar[str] = "png"

    def check(self) -> None:
        super().check()
        if self.definition.figure is None:
            raise EpsilometerError(f"{self.report}: {self.artifact} has no figure")

    @property
    def table(self) -> Table:
        """The table that it is drawn from."""
        return Table(self.study, self.report, self.artifact)

    def spec(self) -> Spec:
        return {
            "identity": self.table.spec()["identity"],
            "caption": self.caption,
            "renderer": self._renderer,
        }

    @property
    def _renderer(self) -> str:
        return RENDERERS.target(self.report, str(self.definition.figure))

    def modules(self) -> list[str]:
        return [self._renderer.partition(":")[0]]


@dataclass(frozen=True)
class Typeset(_Shown, rule="typeset"):
    """One table in its paper's layout, as LaTeX."""

    def check(self) -> None:
        super().check()
        if self.definition.layout is None:
            raise EpsilometerError(f"{self.report}: {self.artifact} has no layout")

    def spec(self) -> Spec:
        table = Table(self.study, self.report, self.artifact)
        return {"identity": table.spec()["identity"], "layout": _layout(self.definition)}


def _layout(artifact: config.Artifact) -> Spec | None:
    return artifact.layout.model_dump() if artifact.layout else None


@dataclass(frozen=True)
class Page(Product, rule="page"):
    """A report on one page that needs no other file."""

    report: str

    def check(self) -> None:
        entry(self.study.reports, "report", self.report)

    @property
    def _tables(self) -> list[Table]:
        artifacts = self.study.reports[self.report].artifacts
        return [Table(self.study, self.report, artifact) for artifact in artifacts]

    @property
    def printed(self) -> list[Typeset]:
        """The tables in a paper's layout, which the page does not read."""
        tables = [table for table in self._tables if table.definition.layout]
        return [Typeset(self.study, table.report, table.artifact) for table in tables]

    def needs(self) -> Needs:
        """Return tables and figures, in the order of the configuration."""
        drawn = [table for table in self._tables if table.definition.figure]
        figures: list[Product] = [Figure(self.study, t.report, t.artifact) for t in drawn]
        return {"tables": list(self._tables), "figures": figures}

    def spec(self) -> Spec:
        return {
            **self.common,
            "template": digest_of([file.read_text(encoding="utf-8") for file in _TEMPLATES]),
            "report": self.report,
            "title": self.study.reports[self.report].title,
            "opens": next((t.artifact for t in self._tables if t.definition.opens), None),
            "artifacts": [self._shown(table) for table in self._tables],
        }

    def _shown(self, table: Table) -> Spec:
        """Return the facts that the page shows about an artifact."""
        figure = table.definition.figure is not None
        path = Figure(self.study, table.report, table.artifact).path if figure else table.path
        settings = f"--config scale={self.study.scale} seed={self.study.main.seed}"
        return {
            "id": table.artifact,
            "identity": table.spec()["identity"],
            "caption": table.caption,
            "figure": figure,
            "layout": _layout(table.definition),
            "rows_shown": table.definition.rows_shown,
            "made": table.origin(),
            "command": f"snakemake --cores 2 --forceall {path} {settings}",
        }

    def targets(self) -> list[str]:
        """Return every file of the report."""
        needs = self.needs()
        products = [product for group in needs.values() for product in group]
        files = [path for product in products for path in (product.path, product.file)]
        return [self.path, *files, *(product.path for product in self.printed)]


PRODUCT_KINDS: tuple[type[Product], ...] = (
    *(Samples, Confirmation),
    *(Histograms, PairDensities, Verdicts, Answers, Losses, Evidence, Timings),
    *(Estimates, Summary, Table, Typeset, Figure, Page),
)


def refuse_foreign_results(study: Study) -> None:
    """Raise `DataError` where results of another seed or version were put into the folder."""
    refuse_foreign(paths.RESULTS.format(scale=study.scale), Page(study, "").common)


def _identity(product: Product) -> Any:
    """Return the identity that a file holds."""
    if isinstance(product, Table):
        return product.spec()["identity"]
    return product.identity() if isinstance(product, OfExperiment) else product.spec()
