"""The products of a report: its tables, figures and page; and the page of all reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.parsing import written
from epsilometer.registry import load
from epsilometer_workflow.reports.scorecard import told as scorecard
from epsilometer_workflow.runtime.provenance import refuse_foreign
from epsilometer_workflow.stages import tabulate
from epsilometer_workflow.study import config, paths, sources
from epsilometer_workflow.study.audited import KINDS as AUDITED
from epsilometer_workflow.study.audited import AuditRule, Conclusion, digest_of, told
from epsilometer_workflow.study.benchmark import Compared, Measured, told_of_benchmark
from epsilometer_workflow.study.costs import Load
from epsilometer_workflow.study.estimates import Estimates
from epsilometer_workflow.study.experiments import OfExperiment, Runs, Summary, Timings
from epsilometer_workflow.study.functions import BUILDERS, RENDERERS
from epsilometer_workflow.study.museum import Exhibition, told_of
from epsilometer_workflow.study.products import Needs, Product, Rule, Spec, entry, everything
from epsilometer_workflow.study.reductions import (
    Confirmation,
    Evidence,
    Histograms,
    Losses,
    PairDensities,
    Samples,
    Verdicts,
    drawn_for,
)
from epsilometer_workflow.study.study import Study, listed

EVERY = "report"
"""In place of a report's name: all of them."""

_TEMPLATES = Path(__file__).parents[3] / "workflow/report"
_BESIDE = {  # what a report shows where it was made: every file of such a path, and what makes it
    "audits": (paths.AUDITS, "snakemake --cores 2 audits --config scale={scale}"),
    "museum": (paths.MUSEUM, "make museum SCALE={scale}"),
    "benchmark": (paths.BENCHMARK, "make benchmark SCALE={scale}"),
}


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
        kind = self._reads
        if kind == "table":
            named = self.study.tables(self.asked.table.tables)
            return [[Table(self.study, report, artifact)] for report, artifact in named]
        return [list(self._read(kind, name)) for name in self.asked.table.data]

    def _read(self, kind: str | None, experiment: str) -> Iterator[Product]:
        if kind in ("samples", "draws"):
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
        if self._reads == "draws":
            spec["provided"] = [[one.provided() for one in some] for some in self._drawn()]
        if table.files:
            spec["files"] = sources.contents(listed(self.study.files(table.files)))
        if table.settings:
            spec["settings"] = self.study.settings(table.settings)
        named = {"report": self.report, "artifact": self.artifact}
        return {"identity": self.common | named | {"made_of": digest_of(spec)}, **spec}

    def modules(self) -> list[str]:
        """Return the builder's; where it reads draws run by run, all that may be made of them."""
        found = {self.builder.partition(":")[0]}
        for one in (one for some in self._drawn() for one in some):
            name = self.study.mechanisms[one.mechanism].mechanism
            found |= {registry.module(name) for registry in (EXACT, MECHANISMS) if name in registry}
            found |= {r.module(name) for r in (ESTIMATORS, CLASSIFIERS) for name in r}
        return sorted(found)

    def load(self) -> Load:
        """Return the numbers of all draws that are read run by run."""
        loads = [one.load() for some in self._drawn() for one in some]
        return Load.together(loads, name="draws") if loads else Load()

    @property
    def _reads(self) -> str | None:
        return tabulate.reads(load(self.builder))

    def _drawn(self) -> list[list[Samples]]:
        """Return the files that are read run by run, of each experiment."""
        parts = self._parts() if self._reads == "draws" else []
        return [[one for one in some if isinstance(one, Samples)] for some in parts]

    def made(self) -> Spec:
        """Return how it is made, in words and numbers for readers."""
        table = self.asked.table
        return {
            "builder": self.builder,
            "options": {name: str(value) for name, value in table.options.items()},
            "files": listed(self.study.files(table.files)),
            "settings": list(table.settings),
            "tables": ["/".join(one) for one in self.study.tables(table.tables)],
            "experiments": [self._grid(name) for name in table.data],
            "measured": self._reads == "timings",
            "code": self.code(),
        }

    def _grid(self, experiment: str) -> Spec:
        """Return what an experiment is a grid of, each value once."""
        every = self.study.combinations(self.report, experiment)
        fields = {
            "mechanism": [c.mechanism for c in every],
            "epsilon": [f"{c.epsilon:.6g}" for c in every],
            "inputs": [c.inputs for c in every],
            "order": [written(c.order) for c in every],
            "estimator": [c.estimator for c in every],
            "n": [str(c.n) for c in every],
            "runs": [str(c.runs) for c in every],
        }
        each = {name: list(dict.fromkeys(values)) for name, values in fields.items()}
        return {"experiment": experiment, **each, "estimates": len(every)}


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
    """A report on one page that asks for no other file; or, under the name `EVERY`, all reports.

    The page of all shows audits, museum and benchmark, too, which are not made for it. A digest of
    their files is told to the job, so that the page is made again when they are.
    """

    rule: ClassVar[str] = "page"
    template: ClassVar[str] = paths.PAGE

    report: str

    def check(self) -> None:
        """Raise `EpsilometerError` unless there is such a report."""
        if self.report != EVERY:
            entry(self.study.reports, "report", self.report)

    @property
    def _reports(self) -> list[str]:
        return self.study.wanted if self.report == EVERY else [self.report]

    @property
    def _tables(self) -> list[Table]:
        return [Table(self.study, r, a) for r in self._reports for a in self._artifacts(r)]

    def _artifacts(self, report: str) -> Iterable[str]:
        return self.study.reports[report].artifacts

    def needs(self) -> Needs:
        """Return tables and figures, in the order of the configuration."""
        drawn = [one for one in self._tables if one.asked.figure]
        figures: list[Product] = [Figure(self.study, one.report, one.artifact) for one in drawn]
        return {"tables": list(self._tables), "figures": figures}

    def spec(self) -> Spec:
        """Return what the page shows, and how each of it is made."""
        return {
            **self.common,
            "template": _template("page.html.j2", "page.css", "page.js"),
            "reports": [
                {
                    "id": name,
                    "title": self.study.reports[name].title,
                    "artifacts": [self._shown(one) for one in self._tables if one.report == name],
                }
                for name in self._reports
            ],
            "beside": {kind: self._beside(kind) for kind in _BESIDE if self.report == EVERY},
        }

    def _shown(self, table: Table) -> Spec:
        """Return what the page tells of an artifact."""
        figure = table.asked.figure is not None
        path = Figure(self.study, table.report, table.artifact).path if figure else table.path
        settings = f"--config scale={self.study.scale} seed={self.study.main.seed}"
        return {
            "id": table.artifact,
            "identity": table.spec()["identity"],
            "caption": table.asked.caption.strip(),
            "figure": figure,
            "rows_shown": table.asked.rows_shown,
            "made": table.made(),
            "command": f"snakemake --cores 2 --forceall {path} {settings}",
        }

    def _beside(self, kind: str) -> Spec:
        """Return the files there are of a kind, with their digests, and how to make them."""
        template, command = _BESIDE[kind]
        path = Path(template.format(scale=self.study.scale, audits="*"))
        tables = [str(one) for one in path.parent.glob(path.name)]
        figures = [one for table in tables if Path(one := paths.beside(table, ".png")).is_file()]
        made = sources.contents([*tables, *figures])
        return {"files": made, "command": command.format(scale=self.study.scale)}

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
        return [made.path] if made.cases else []

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
    return product.identity() if isinstance(product, OfExperiment) else product.spec()


def _template(*names: str) -> str:
    """Return a digest of files that a page is made from."""
    return digest_of([(_TEMPLATES / name).read_text(encoding="utf-8") for name in names])
