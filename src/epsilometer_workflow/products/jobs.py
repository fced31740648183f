"""What the rules of `workflow/rules` ask of Python: identities, code, memory, and inputs.

A rule shows the paths that follow from its wildcards. Where the configuration decides what a job
reads, `Jobs.needs` makes its input function: which batches of which reduction an estimate reads,
which estimates an experiment, which data a table, which tables and figures a page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.products import Product, Spec
from epsilometer_workflow.products.reports import PRODUCT_KINDS, Page

_BYTES_HELD = 100
"""Bytes of memory for each number of a sample: 12 arrays of it at once. With 1000 MB beside them,
of which 270 are in use, it covers all that was measured at paper scale."""


class Jobs:
    """The jobs of one study; its functions take the wildcards of a job, as Snakemake's do."""

    def __init__(self, study: Study, kinds: Iterable[type[Product]] = PRODUCT_KINDS) -> None:
        self._study = study
        rules = {kind.rule: kind for kind in kinds}
        self._product = cache(lambda rule, items: rules[rule].from_wildcards(study, dict(items)))

    def product(self, rule: str, wildcards: Any) -> Product:
        """Return what a job makes; raise `EpsilometerError` if the configuration has no such."""
        return self._product(rule, tuple(wildcards.items()))

    def spec(self, rule: str) -> Callable[[Any], Spec]:
        """Return a function: the identity of what a job makes, with all values that change it."""
        return lambda wildcards: self.product(rule, wildcards).spec()

    def code(self, rule: str) -> Callable[[Any], str]:
        """Return a function: a digest of the code of a job, with the versions of its libraries."""
        return lambda wildcards: self.product(rule, wildcards).code()

    def memory(self, rule: str, beside: int = 1000) -> Callable[[Any, int], int]:
        """Return a function: the megabytes of a job that holds samples; more at every attempt.

        It needs so many for samples of one side, in one run, and ``beside`` for all else.
        """

        def megabytes(wildcards: Any, attempt: int) -> int:
            held = _BYTES_HELD * self.product(rule, wildcards).samples_held() // 10**6
            return attempt * (beside + held)

        return megabytes

    def needs(self, rule: str, name: str) -> Callable[[Any], list[str]]:
        """Return a function: the files that a job reads, of those that a product calls so."""

        def files(wildcards: Any) -> list[str]:
            return [product.file for product in self.product(rule, wildcards).needs()[name]]

        return files

    def files_of_report(self, report: str) -> list[str]:
        """Return the targets of a report: its page, and all its tables and figures."""
        return Page(self._study, report).targets()

    def result_lines(self) -> str:
        """Return the lines that tell a user where the results are."""
        study = self._study
        results = Path(paths.RESULTS.format(scale=study.scale))
        folders = [results / kind for kind in ("tables", "figures", "estimates")]
        lines = [f"Done: {', '.join(str(folder) for folder in folders if folder.is_dir())}"]
        for report in study.reports:
            page = Path(Page(study, report).path)
            if page.is_file():
                lines += [f"  everything on one page: {page}"]
        return "\n".join(lines)

    def incomplete_pages(self, unfinished: Iterable[Any], causes: Sequence[str]) -> list[str]:
        """Make a page of what there is of each report whose page a failed run did not make.

        ``unfinished`` are Snakemake's jobs that did not finish: their files are missing or old.
        """
        from epsilometer_workflow.stages import page

        missing: set[str] = set()
        for job in unfinished:
            missing |= set(map(str, job.output))

        def existing(product: Product) -> str | None:
            there = product.path not in missing and Path(product.file).is_file()
            return product.file if there else None

        lines = []
        for report in self._study.reports:
            whole = Page(self._study, report)
            files = {name: list(map(existing, parts)) for name, parts in whole.needs().items()}
            if whole.path in missing and any(files["tables"]):
                try:
                    path = page.of_what_there_is(files, whole.path, whole.job(), causes)
                except EpsilometerError as error:  # a file was damaged
                    path = f"none, {error}"
                lines.append(f"What there is, on a page: {path}")
        return lines
