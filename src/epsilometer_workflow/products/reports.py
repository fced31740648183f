"""The products of a report: its tables, figures and page."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.settings.registry import load
from epsilometer_workflow.configuration import config, paths
from epsilometer_workflow.configuration.functions import BUILDERS, RENDERERS
from epsilometer_workflow.configuration.study import Combination, Study, listed
from epsilometer_workflow.files.identities import RenderJob, TableIdentity, plain
from epsilometer_workflow.files.parsing import spell
from epsilometer_workflow.files.printed import (
    Grid,
    LawOfMechanism,
    Origin,
    PageJob,
    ShownArtifact,
    TableContents,
    TabulateJob,
    TypesetJob,
)
from epsilometer_workflow.products import captions, code_digests
from epsilometer_workflow.products.experiments import (
    OfExperiment,
    Runs,
    Summary,
    Timings,
    modules_of_laws,
)
from epsilometer_workflow.products.products import Needs, Product, digest_of, entry
from epsilometer_workflow.products.reductions import REDUCTIONS, Confirmation, Estimates, Samples
from epsilometer_workflow.runtime.provenance import refuse_foreign
from epsilometer_workflow.stages import tabulate

_TEMPLATES = sorted((Path(__file__).parents[3] / "workflow/report").glob("page.*"))


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
        every = []
        for name in self.definition.table.data:
            every += self.study.combinations(self.report, name)
        return every

    @property
    def caption(self) -> str:
        """Its caption, with the values of its grid and options in place of their names."""
        study = self.study
        shown = []
        for name in self.definition.table.data:
            plan = study.reports[self.report].experiments[name].plan
            planned = {} if plan is None else {"delta": plan.delta}
            for c in study.combinations(self.report, name):
                of_mechanism = study.mechanisms[c.mechanism].parameters
                of_estimator = study.estimators[c.estimator].parameters
                shown += [captions.Shown(c.axes, planned | of_mechanism | of_estimator)]
        return captions.filled(self.definition, shown)


@dataclass(frozen=True)
class Table(_Shown, rule="tabulate"):
    """One table, as CSV, and as Parquet for the jobs that read it."""

    reads: ClassVar[str] = "parquet"

    @property
    def builder(self) -> str:
        """Its builder, as ``module:function``."""
        return BUILDERS.target(self.report, self.definition.table.builder)

    def needs(self) -> Needs:
        return {"data": list(chain.from_iterable(self._parts()))}

    def _parts(self) -> list[list[Product]]:
        """Return the products that the builder reads, by experiment, or each table."""
        study = self.study
        table = self.definition.table
        if self._reads == "tables":
            return [[Table(study, *name)] for name in study.tables(table.tables)]
        if self._reads in ("samples", "draws"):
            return list(map(self._samples, table.data))
        kinds: dict[str | None, type[OfExperiment]] = {"timings": Timings, "runs": Runs}
        kind = kinds.get(self._reads, Summary)
        return [[kind(study, self.report, name)] for name in table.data]

    def _samples(self, experiment: str) -> list[Product]:
        """Return the files of samples of an experiment, each once."""
        files: dict[Product, None] = {}
        for c in self.study.combinations(self.report, experiment):
            for batch in self.study.batches(c):
                files[Samples.of(self.study, c, batch)] = None
        return list(files)

    def job(self) -> TabulateJob:
        return TabulateJob(identity=self.identity(), table=self.contents())

    def identity(self) -> TableIdentity:
        """Return report and artifact, and a digest of all that it is made of."""
        return TableIdentity(
            **self.common,
            report=self.report,
            artifact=self.artifact,
            made_of=digest_of(self.contents()),
        )

    def contents(self) -> TableContents:
        """Return all that it is made of."""
        table = self.definition.table
        files = self.study.files(table.files)
        data = []
        for parts in self._parts():
            data.append(plain(list(map(self._identity, parts))))
        return TableContents(
            caption=self.caption,
            builder=self.builder,
            options=table.options | files,
            paper=self.definition.paper,
            data=data,
            laws=self._laws() or None,
            files=code_digests.contents(listed(files)) or None,
        )

    def _identity(self, part: Product) -> Any:
        """Return what the builder is told of a file that it reads."""
        if self._reads == "draws" and isinstance(part, Samples):
            return part.described()
        return part.identity()

    def _laws(self) -> dict[str, LawOfMechanism]:
        """Return how the exact distribution of each mechanism is made, if its builder asks."""
        laws = {}
        if tabulate.takes_law(load(self.builder)):
            for name in sorted({c.mechanism for c in self.combinations()}):
                mechanism = self.study.mechanisms[name]
                laws[name] = LawOfMechanism(
                    law=EXACT.get(mechanism.mechanism),
                    registered=MECHANISMS[mechanism.mechanism],
                    parameters=mechanism.parameters,
                )
        return laws

    def modules(self) -> list[str]:
        """Return the builder; with the mechanisms whose laws it uses or whose draws it reads.

        If it reads draws run by run, also all estimators.
        """
        drawn = set()
        if self._reads == "draws":
            drawn = {c.mechanism for c in self.combinations()}
        modules = {self.builder.partition(":")[0]}
        modules.update(modules_of_laws(self.study, drawn | {*self._laws()}))
        for name in drawn:
            modules.add(MECHANISMS.module(self.study.mechanisms[name].mechanism))
        if drawn:
            modules.update(map(ESTIMATORS.module, ESTIMATORS))
            modules.update(map(CLASSIFIERS.module, CLASSIFIERS))
        return sorted(modules)

    def code(self) -> str:
        """Return a digest of its code, with the files that its builder's module loads by path."""
        programs = getattr(import_module(self.builder.partition(":")[0]), "PROGRAMS", ())
        return code_digests.digest(self.rule, *self.modules(), *programs)

    @property
    def _reads(self) -> str | None:
        return tabulate.reads(load(self.builder))

    def origin(self) -> Origin:
        """Return how it is made, for readers."""
        table = self.definition.table
        return Origin(
            builder=self.builder,
            options={name: str(value) for name, value in table.options.items()},
            files=listed(self.study.files(table.files)),
            tables=list(map("/".join, self.study.tables(table.tables))),
            experiments=list(map(self._grid, table.data)),
            measured=self._reads == "timings",
            code=self.code(),
        )

    def _grid(self, experiment: str) -> Grid:
        """Return the values of an experiment's grid, each once."""
        combinations = self.study.combinations(self.report, experiment)
        written = {"epsilon": "{:.6g}".format, "order": spell}
        values = {}
        for axis in fields(Combination):
            write = written.get(axis.name, str)
            every = dict.fromkeys(getattr(c, axis.name) for c in combinations)
            values[axis.name] = list(dict.fromkeys(map(write, every)))
        return Grid(experiment=experiment, estimates=len(combinations), **values)


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

    def job(self) -> RenderJob:
        identity = self.table.identity()
        return RenderJob(identity=identity, caption=self.caption, renderer=self._renderer)

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

    def job(self) -> TypesetJob:
        table = Table(self.study, self.report, self.artifact)
        layout = self.definition.layout
        assert layout is not None  # says `check`
        return TypesetJob(identity=table.identity(), layout=layout)


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
        every = [Typeset(self.study, table.report, table.artifact) for table in self._tables]
        return [table for table in every if table.definition.layout]

    def needs(self) -> Needs:
        """Return tables and figures, in the order of the configuration."""
        figures: list[Product] = []
        for table in self._tables:
            if table.definition.figure:
                figures.append(Figure(self.study, table.report, table.artifact))
        return {"tables": list(self._tables), "figures": figures}

    def job(self) -> PageJob:
        opening = [table.artifact for table in self._tables if table.definition.opens]
        return PageJob(
            **self.common,
            template=digest_of([file.read_text(encoding="utf-8") for file in _TEMPLATES]),
            report=self.report,
            title=self.study.reports[self.report].title,
            opens=opening[0] if opening else None,
            artifacts=list(map(self._shown, self._tables)),
        )

    def _shown(self, table: Table) -> ShownArtifact:
        """Return the facts that the page shows about an artifact."""
        definition = table.definition
        made = table.path
        if definition.figure is not None:
            made = Figure(self.study, table.report, table.artifact).path
        settings = f"--config scale={self.study.scale} seed={self.study.main.seed}"
        return ShownArtifact(
            id=table.artifact,
            identity=table.identity(),
            caption=table.caption,
            figure=definition.figure is not None,
            layout=definition.layout,
            rows_shown=definition.rows_shown,
            made=table.origin(),
            command=f"snakemake --cores 2 --forceall {made} {settings}",
        )

    def targets(self) -> list[str]:
        """Return every file of the report."""
        files = [self.path]
        for product in chain.from_iterable(self.needs().values()):
            files += [product.path, product.file]
        return files + [product.path for product in self.printed]


PRODUCT_KINDS: tuple[type[Product], ...] = (
    Samples,
    Confirmation,
    *REDUCTIONS.values(),
    *(Timings, Estimates, Summary),
    *(Table, Typeset, Figure, Page),
)


def refuse_foreign_results(study: Study) -> None:
    """Raise `DataError` where results of another seed or version were put into the folder."""
    refuse_foreign(paths.RESULTS.format(scale=study.scale), Page(study, "").common)
