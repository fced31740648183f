"""A product stands for a file: its path, the products that it is made of, its code and cost.

Each kind is one frozen dataclass; its fields are the wildcards of its path, as names and numbers,
parsed once, here. The kinds are in `reductions` (what is drawn, and what estimators make of it) and
`reports` (what is shown). The rules of the workflow and the tests get all facts
about a job from these, by `Rule` and `everything`.

A spec is plain numbers and words, the full identity of what a job makes. Snakemake compares it,
and the digest of the code, with the last run's: a changed parameter or line of code makes the file
again, a comment does not. Any well-formed path is a valid target, also one that is in no grid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from epsilometer import __version__
from epsilometer.errors import EpsilometerError, suggest
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.costs import Cost, Load, cost
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files import parsing
from epsilometer_workflow.files.parsing import Batch, Draws
from epsilometer_workflow.products import sources

Spec = dict[str, Any]
Needs = dict[str, list["Product"]]

_PARSERS: Mapping[str, Callable[[str], Any]] = {  # fields that are not names
    "epsilon": lambda text: parsing.positive("epsilon", text),
    "order": parsing.order,
    "n": Draws.parse,
    "batch": Batch.parse,
    "runs": lambda text: parsing.integer("runs", text),
    "cells": lambda text: parsing.integer("cells", text),
    "reduction": parsing.Reduction.parse,
}


@dataclass(frozen=True)
class Product(ABC):
    """One file of the results, or several that one job makes together."""

    rule: ClassVar[str]
    """The rule that makes it, which is also the name of its script and of its stage."""

    template: ClassVar[str]
    """Its path, with a wildcard for each field and for the scale."""

    study: Study = field(repr=False)

    def __init_subclass__(cls, rule: str = "", template: str = "") -> None:
        """Take the rule and the path of a kind; a kind without them has those of its base."""
        if rule:
            cls.rule, cls.template = rule, template

    @classmethod
    def from_wildcards(cls, study: Study, wildcards: Any) -> Self:
        """Return the product of a path; raise `EpsilometerError` if there is none."""
        texts = dict(wildcards.items())
        scale = texts.pop("scale", study.scale)
        if scale not in study.main.scales:
            raise EpsilometerError(f"unknown scale {scale!r}{suggest(scale, study.main.scales)}")
        if scale != study.scale:
            raise EpsilometerError(
                f"results/{scale} is of another scale than the chosen {study.scale!r}; "
                f"add --config scale={scale}"
            )
        names = [f.name for f in fields(cls) if f.name != "study"]
        values = {name: _PARSERS.get(name, str)(texts[name]) for name in names}
        product = cls(study, **values)
        product.check()
        return product

    def check(self) -> None:  # noqa: B027 (most kinds are checked by making their spec)
        """Raise `EpsilometerError` if the configuration has no such product."""

    @property
    def wildcards(self) -> dict[str, str]:
        """The fields, as paths write them."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "study"}
        written = {
            name: parsing.spell(value) if isinstance(value, float) else str(value)
            for name, value in values.items()
        }
        return {"scale": self.study.scale, **written}

    @cached_property
    def path(self) -> str:
        """Its path, as the rule has it."""
        return self.template.format(**self.wildcards)

    @property
    def file(self) -> str:
        """The file that its readers read."""
        return self.path

    def needs(self) -> Needs:
        """Return the products that it is made of, by the names of the rule's input."""
        return {}

    @abstractmethod
    def spec(self) -> Spec:
        """Return the parameters of its job: identities and values that can change its content."""

    def modules(self) -> list[str]:
        """Return the registered code that its job will load, by dotted names."""
        return []

    def load(self) -> Load:
        """Return the work of its job."""
        return Load()

    @property
    def common(self) -> Spec:
        """The common part of the identities of all files of a study."""
        return {"seed": self.study.main.seed, "scale": self.study.scale, "version": __version__}

    def code(self) -> str:
        """Return a digest of the code that its job runs, and the versions of what that imports."""
        return sources.digest(self.rule, *self.modules())

    def cost(self) -> Cost:
        """Return the cost of its job."""
        return cost(self.study.rates, self.rule, self.load())

    def stopped(self) -> str:
        """Return the reasons why its jobs had to be stopped; one more reason makes it again."""
        log = Path(paths.log(self.template).format(**self.wildcards))
        try:
            return log.with_suffix(".stopped").read_text(encoding="utf-8")
        except OSError:
            return ""


def entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    """Return an entry of the configuration by its name."""
    if name not in entries:
        raise EpsilometerError(f"unknown {kind} {name!r}{suggest(name, entries)}")
    return entries[name]


def everything(products: Iterable[Product]) -> Iterator[Product]:
    """Yield products and all that they need, each job once, needs first."""
    jobs: set[tuple[str, ...]] = set()
    stack = [(product, False) for product in products]
    stack.reverse()
    while stack:
        product, expanded = stack.pop()
        if expanded:
            yield product
            continue
        job = (product.rule, *product.wildcards.values())
        if job in jobs:
            continue
        jobs.add(job)
        stack.append((product, True))
        needed = [need for group in product.needs().values() for need in group]
        stack.extend((need, False) for need in reversed(needed))


class Rule:
    """The functions of a rule of the workflow; they take a job's wildcards, as Snakemake's do.

    Each method without arguments of the product, such as `Product.spec`, is one of them.
    """

    def __init__(self, study: Study, kind: type[Product]) -> None:
        self.path = kind.template
        self.log = paths.log(kind.template)
        self._kind = kind
        self._product = cache(lambda keys: kind.from_wildcards(study, dict(keys)))

    def __getattr__(self, name: str) -> Callable[[Any], Any]:
        if name.startswith("_") or not callable(getattr(self._kind, name, None)):
            raise AttributeError(f"{self._kind.__name__} has no method {name!r}")
        return lambda wildcards: getattr(self.product(wildcards), name)()

    def product(self, wildcards: Any) -> Product:
        """Return the product of a job."""
        return self._product(tuple(wildcards.items()))

    def needs(self, wildcards: Any) -> dict[str, list[str]]:
        """Return the files that a job reads, by name."""
        needs = self.product(wildcards).needs()
        return {name: [product.file for product in group] for name, group in needs.items()}

    def mem_mb(self, wildcards: Any, attempt: int) -> int:
        """Return the memory that a job requests; more at every attempt."""
        return attempt * self.product(wildcards).cost().megabytes_requested

    def runtime(self, wildcards: Any, attempt: int) -> int:
        """Return the minutes that a job requests; more at every attempt."""
        return attempt * self.product(wildcards).cost().minutes_requested
