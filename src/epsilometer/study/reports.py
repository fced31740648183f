"""The products of a report: summaries and timings of its experiments, tables, figures, its page."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.registry import load
from epsilometer.render import RENDERERS
from epsilometer.runtime.provenance import refuse_foreign
from epsilometer.scorecard import told as scorecard
from epsilometer.sizes import Batch
from epsilometer.stages import tabulate
from epsilometer.study import config, paths, sources
from epsilometer.study.audited import KINDS as AUDITED
from epsilometer.study.audited import AuditRule, Conclusion, digest_of, told
from epsilometer.study.benchmark import Compared, Measured, told_of_benchmark
from epsilometer.study.costs import Load
from epsilometer.study.estimates import Estimates
from epsilometer.study.museum import Exhibition, told_of
from epsilometer.study.products import Needs, Product, Rule, Spec, entry, everything
from epsilometer.study.reductions import (
    Confirmation,
    Evidence,
    Histograms,
    Losses,
    PairDensities,
    Samples,
    Verdicts,
    drawn_for,
)
from epsilometer.study.study import Combination, Study, listed
from epsilometer.tables import BUILDERS

_TIMED: dict[str, type[Histograms | PairDensities | Verdicts]] = {
    "histograms": Histograms,
    "densities": PairDensities,
    "verdicts": Verdicts,
}
_TEMPLATE = Path(__file__).parents[3] / "workflow/report/page.html.j2"


@dataclass(frozen=True)
class _Experiment(Product):
    """What is made of one experiment of a report."""

    report: str
    experiment: str

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such an experiment."""
        report = entry(self.study.reports, "report", self.report)
        entry(report.experiments, "experiment", self.experiment)

    @property
    def combinations(self) -> list[Combination]:
        """The experiment's grid."""
        return self.study.combinations(self.report, self.experiment)

    def identity(self) -> Spec:
        """Return what is made, and a digest of all it is made of."""
        named = {"report": self.report, "experiment": self.experiment}
        return self.common | named | {"made_of": digest_of(self.members())}

    @abstractmethod
    def members(self) -> list[Spec]:
        """Return what the job is told of each combination."""

    def spec(self) -> Spec:
        """Return what the job is told."""
        return {"identity": self.identity(), "members": self.members()}


@dataclass(frozen=True)
class Summary(_Experiment):
    """Statistics over runs of one experiment's estimates, beside the exact values."""

    rule: ClassVar[str] = "summarise"
    template: ClassVar[str] = paths.SUMMARY

    def needs(self) -> Needs:
        """Return the estimates."""
        return {"estimates": [Estimates.of(self.study, c) for c in self.combinations]}

    def members(self) -> list[Spec]:
        """Return, for each file of estimates, the law and the precision."""
        return [
            {
                "identity": Estimates.of(self.study, c).identity(),
                "law": LAWS.get(self.study.mechanisms[c.mechanism].mechanism),
                "precision": self.study.estimator(c.estimator).precision,
                "symmetric": self.study.estimator(c.estimator).symmetric,
            }
            for c in self.combinations
        ]

    def modules(self) -> list[str]:
        """Return the exact laws, and the mechanisms they are of."""
        used = {self.study.mechanisms[c.mechanism].mechanism for c in self.combinations}
        return sorted({r.module(name) for r in (LAWS, MECHANISMS) for name in used if name in LAWS})


@dataclass(frozen=True)
class Runs(Summary):
    """Every run beside the exact values, which the summary's job writes, too."""

    @property
    def file(self) -> str:
        """The other file of the job."""
        return paths.RUNS.format(**self.wildcards)


@dataclass(frozen=True)
class Timings(_Experiment):
    """Seconds of one experiment's estimates, each from drawing to its answer, run after run."""

    rule: ClassVar[str] = "time"
    template: ClassVar[str] = paths.TIMING

    def needs(self) -> Needs:
        """Return nothing: it draws for itself."""
        return {}

    def members(self) -> list[Spec]:
        """Return, for each combination, what is drawn, and how it is estimated from."""
        return [self._member(c) for c in self.combinations]

    def _member(self, c: Combination) -> Spec:
        runs, reads = Batch(0, c.runs - 1), self.study.estimator(c.estimator).reads
        member = {
            "reads": reads,
            "samples": drawn_for(self.study, c, runs).spec(),
            "estimates": Estimates.of(self.study, c).identity(),
        }
        if reads in _TIMED:
            return member | {reads: _TIMED[reads].of(self.study, c, runs).spec()}
        if reads == "evidence":
            losses = Losses.of(self.study, c, runs).spec()
            return member | {"losses": losses, "fresh": c.n.fresh}
        message = f"{c.estimator} cannot be timed: it reads {reads}"
        raise ConfigError(
            self.study.report_file(self.report), f"experiments.{self.experiment}", message
        )

    def modules(self) -> list[str]:
        """Return mechanisms and estimators."""
        study, found = self.study, set()
        for c in self.combinations:
            found.add(MECHANISMS.module(study.mechanisms[c.mechanism].mechanism))
            if study.estimator(c.estimator).reads == "verdicts":
                found |= set(Verdicts.of(study, c, Batch(0, 0)).modules())
            for name in filter(None, (c.estimator, study.screen(c.estimator))):
                found.add(ESTIMATORS.module(study.estimators[name].estimator))
        return sorted(found)

    def load(self) -> Load:
        """Return the numbers of all combinations."""
        loads = [drawn_for(self.study, c, Batch(0, c.runs - 1)).load() for c in self.combinations]
        numbers = sum(one.numbers for one in loads)
        return Load(numbers=numbers, side=max(one.side for one in loads))


@dataclass(frozen=True)
class _Shown(Product):
    """What is made of one artifact of a report."""

    report: str
    artifact: str

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such an artifact."""
        report = entry(self.study.reports, "report", self.report)
        entry(report.artifacts, "artifact", self.artifact)

    @property
    def asked(self) -> config.Artifact:
        """What the configuration says of it."""
        return self.study.reports[self.report].artifacts[self.artifact]


@dataclass(frozen=True)
class Table(_Shown):
    """One table, as CSV and, for those who read it here, as Parquet."""

    rule: ClassVar[str] = "tabulate"
    template: ClassVar[str] = paths.TABLE

    @property
    def file(self) -> str:
        """The Parquet file."""
        return paths.beside(self.path, ".parquet")

    @property
    def builder(self) -> str:
        """Who builds it, as ``module:function``."""
        return BUILDERS.target(self.report, self.asked.table.builder)

    def needs(self) -> Needs:
        """Return what the builder reads, in the order of the configuration."""
        return {"data": [one for parts in self._parts() for one in parts]}

    def _parts(self) -> list[list[Product]]:
        """Return what the builder reads of each experiment, or each table that it reads."""
        kind = tabulate.reads(load(self.builder))
        if kind == "table":
            named = self.study.tables(self.asked.table.tables)
            return [[Table(self.study, report, artifact)] for report, artifact in named]
        return [list(self._read(kind, name)) for name in self.asked.table.data]

    def _read(self, kind: str | None, experiment: str) -> Iterator[Product]:
        if kind == "samples":
            drawn: dict[Samples, None] = {}
            for c in self.study.combinations(self.report, experiment):
                drawn |= {drawn_for(self.study, c, b): None for b in self.study.batches(c)}
            yield from drawn
        else:
            made = {"timings": Timings, "runs": Runs}.get(str(kind), Summary)
            yield made(self.study, self.report, experiment)

    def spec(self) -> Spec:
        """Return what the table is built with, and the identity of each file it reads."""
        table = self.asked.table
        spec = {
            "caption": self.asked.caption.strip(),
            "builder": self.builder,
            "options": table.options | self.study.files(table.files),
            "paper": self.asked.paper.model_dump() if self.asked.paper else None,
            "data": [[_identity(one) for one in parts] for parts in self._parts()],
        }
        if table.files:
            spec["files"] = sources.contents(listed(self.study.files(table.files)))
        if table.settings:
            spec["settings"] = self.study.settings(table.settings)
        named = {"report": self.report, "artifact": self.artifact}
        return {"identity": self.common | named | {"made_of": digest_of(spec)}, **spec}

    def modules(self) -> list[str]:
        """Return the builder's."""
        return [self.builder.partition(":")[0]]


@dataclass(frozen=True)
class Figure(_Shown):
    """One figure, as PDF and PNG."""

    rule: ClassVar[str] = "render"
    template: ClassVar[str] = paths.FIGURE

    @property
    def file(self) -> str:
        """The PNG, which a page shows."""
        return paths.beside(self.path, ".png")

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such an artifact, and it has a figure."""
        super().check()
        if self.asked.figure is None:
            raise EpsilometerError(f"{self.report}: {self.artifact} has no figure")

    @property
    def table(self) -> Table:
        """What it is drawn from."""
        return Table(self.study, self.report, self.artifact)

    def needs(self) -> Needs:
        """Return the table."""
        return {"table": [self.table]}

    def spec(self) -> Spec:
        """Return what the figure is drawn with."""
        return {
            "identity": self.table.spec()["identity"],
            "caption": self.asked.caption.strip(),
            "renderer": self._renderer,
        }

    @property
    def _renderer(self) -> str:
        return RENDERERS.target(self.report, str(self.asked.figure))

    def modules(self) -> list[str]:
        """Return the renderer's."""
        return [self._renderer.partition(":")[0]]


@dataclass(frozen=True)
class Page(Product):
    """Every table and figure of a report on one page."""

    rule: ClassVar[str] = "page"
    template: ClassVar[str] = paths.PAGE

    report: str

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such a report."""
        entry(self.study.reports, "report", self.report)

    def _artifacts(self, *, with_figure: bool) -> list[str]:
        every = self.study.reports[self.report].artifacts
        return [name for name, one in every.items() if one.figure or not with_figure]

    def needs(self) -> Needs:
        """Return tables and figures, in the order of the configuration."""
        asked = self.study, self.report
        return {
            "tables": [Table(*asked, name) for name in self._artifacts(with_figure=False)],
            "figures": [Figure(*asked, name) for name in self._artifacts(with_figure=True)],
        }

    def spec(self) -> Spec:
        """Return what the page shows."""
        figures = self._artifacts(with_figure=True)
        tables = self.needs()["tables"]
        report = self.study.reports[self.report]
        return {
            **self.common,
            "title": report.title,
            "template": digest_of(_TEMPLATE.read_text(encoding="utf-8")),
            "artifacts": [
                {
                    "id": name,
                    "identity": table.spec()["identity"],
                    "caption": artifact.caption.strip(),
                    "figure": name in figures,
                    "rows_shown": artifact.rows_shown,
                }
                for table, (name, artifact) in zip(tables, report.artifacts.items(), strict=True)
            ],
        }

    def targets(self) -> list[str]:
        """Return every file that is promised for the report."""
        needs = self.needs()
        made = [one for some in needs.values() for one in some]
        return [self.path, *(path for one in made for path in (one.path, one.file))]


KINDS: tuple[type[Product], ...] = (
    *(Samples, Confirmation),
    *(Histograms, PairDensities, Verdicts, Losses, Evidence, Timings),
    *(Estimates, Summary, Table, Figure, Page),
    *AUDITED,
    Exhibition,
    *(Measured, Compared),
)


class Rules(SimpleNamespace):
    """What the workflow asks of one study: a `Rule` under each rule's name, and the targets."""

    def __init__(self, study: Study) -> None:
        asks = {kind: AuditRule if kind in AUDITED else Rule for kind in KINDS}
        super().__init__(**{kind.rule: asks[kind](study, kind) for kind in KINDS})
        self._study = study

    def targets(self, report: str) -> list[str]:
        """Return every file that is promised for a report."""
        return Page(self._study, report).targets()

    def audits(self) -> list[str]:
        """Return the tables of all files of audits."""
        return [Conclusion(self._study, name).path for name in self._study.audits]

    def museum(self) -> list[str]:
        """Return the table of the museum, if it has any room at this scale."""
        made = Exhibition(self._study)
        return [made.path] if made.verdicts else []

    def benchmark(self) -> list[str]:
        """Return the table of the benchmark, if there is one at this scale."""
        made = Compared(self._study)
        return [made.path] if made.measured else []


def all_products(study: Study) -> Iterator[Product]:
    """Yield what is made where nothing is asked for, each job once, what is needed first."""
    return everything(Page(study, report) for report in study.wanted)


def all_audits(study: Study) -> Iterator[Product]:
    """Yield what is made where audits are asked for, each job once, what is needed first."""
    return everything(Conclusion(study, name) for name in study.audits)


def all_of_the_museum(study: Study) -> Iterator[Product]:
    """Yield what is made where the museum is asked for, each job once, what is needed first."""
    return everything([Exhibition(study)])


def all_of_the_benchmark(study: Study) -> Iterator[Product]:
    """Yield what is made where the benchmark is asked for, each job once, what is needed first."""
    return everything([Compared(study)])


def refuse_foreign_results(study: Study) -> None:
    """Raise `DataError` where results of another seed or version were put into the folder."""
    refuse_foreign(paths.RESULTS.format(scale=study.scale), Page(study, "").common)


def where_results_are(study: Study) -> str:
    """Return the lines that tell a user where to look, of what there is so far."""
    results = Path(paths.RESULTS.format(scale=study.scale))
    kinds = ("tables", "figures", "estimates", "audits", "museum", "benchmark")
    made = ", ".join(str(results / kind) for kind in kinds if (results / kind).is_dir())
    pages = [Path(Page(study, report).path) for report in study.reports]
    lines = [f"Done: {made}"]
    lines += [f"  everything on one page: {p}" for p in pages if p.is_file()]
    lines += scorecard.told(results / "tables/scorecard/scorecard.csv")
    lines += [line for name in study.audits for line in told(study, name)]
    return "\n".join(lines + told_of(study) + told_of_benchmark(study))


def _identity(product: Product) -> Any:
    """Return what a file says that it is."""
    if isinstance(product, Table):
        return product.spec()["identity"]
    return product.identity() if isinstance(product, _Experiment) else product.spec()
