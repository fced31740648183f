"""What the rules of `workflow/rules` ask of Python: identities, code, memory, and inputs.

A rule shows the paths that follow from its wildcards. Where the configuration decides what a job
reads, its input is one of the functions here: which batches of which reduction an estimate reads,
which estimates an experiment, which data a table, which tables and figures a page.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.audited import Audit, Conclusion, verdict_lines
from epsilometer_workflow.products.products import Product, Spec
from epsilometer_workflow.products.reports import PRODUCT_KINDS, Page

_KINDS = {kind.rule: kind for kind in PRODUCT_KINDS}
_BYTES_HELD = 100
"""Bytes of memory for each number of a sample: 12 arrays of it at once. With 1000 MB beside them,
of which 270 are in use, it covers all that was measured at paper scale."""


class Jobs:
    """The jobs of one study; its functions take the wildcards of a job, as Snakemake's do."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._product = cache(lambda rule, items: _KINDS[rule].from_wildcards(study, dict(items)))

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

    def reductions_of_estimate(self, wildcards: Any) -> list[str]:
        """Return all batches of the reduction that an estimator reads."""
        return self._needs("estimate", wildcards, "reductions")

    def estimates_of_experiment(self, wildcards: Any) -> list[str]:
        """Return a file for each point of an experiment's grid."""
        return self._needs("summarise", wildcards, "estimates")

    def data_of_table(self, wildcards: Any) -> list[str]:
        """Return the summaries, runs, samples, timings or other tables that a builder reads."""
        return self._needs("tabulate", wildcards, "data")

    def tables_of_page(self, wildcards: Any) -> list[str]:
        """Return the tables of a report."""
        return self._needs("page", wildcards, "tables")

    def figures_of_page(self, wildcards: Any) -> list[str]:
        """Return the figures of a report."""
        return self._needs("page", wildcards, "figures")

    def environment_of_audit(self, wildcards: Any) -> list[str]:
        """Return the file of the interpreter that a mechanism runs in, if not in this one."""
        return self._needs("audit", wildcards, "environment")

    def verdicts_of_file(self, wildcards: Any) -> list[str]:
        """Return the verdicts of all cases of a file of audits."""
        return self._needs("conclude", wildcards, "verdicts")

    def files_of_audit(self, wildcards: Any) -> str:
        """Return digests of all files that a mechanism is made of, and versions of libraries."""
        return self._audit(wildcards).made_of()

    def folder_of_audit(self, wildcards: Any) -> str:
        """Return the folder that paths in a file of audits are relative to."""
        return self._audit(wildcards).folder()

    def command_of_audit(self, wildcards: Any) -> str:
        """Return the command that makes an audit again."""
        return self._audit(wildcards).replay()

    def stopped(self, rule: str) -> Callable[[Any], str]:
        """Return a function: the reasons why jobs were stopped; one more makes it again."""
        return lambda wildcards: self.product(rule, wildcards).stopped()

    def files_of_report(self, report: str) -> list[str]:
        """Return the targets of a report: its page, and all its tables and figures."""
        return Page(self._study, report).targets()

    def files_of_audits(self) -> list[str]:
        """Return the tables of all files of audits."""
        return [Conclusion(self._study, name).path for name in self._study.audits]

    def result_lines(self) -> str:
        """Return the lines that tell a user where the results are."""
        study = self._study
        results = Path(paths.RESULTS.format(scale=study.scale))
        kinds = ("tables", "figures", "estimates", "audits")
        folders = ", ".join(str(results / kind) for kind in kinds if (results / kind).is_dir())
        pages = [Path(Page(study, report).path) for report in study.reports]
        lines = [f"Done: {folders}"]
        lines += [f"  everything on one page: {p}" for p in pages if p.is_file()]
        lines += [line for name in study.audits for line in verdict_lines(study, name)]
        return "\n".join(lines)

    def _audit(self, wildcards: Any) -> Audit:
        return cast(Audit, self.product("audit", wildcards))

    def _needs(self, rule: str, wildcards: Any, name: str) -> list[str]:
        return [product.file for product in self.product(rule, wildcards).needs()[name]]
