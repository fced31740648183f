"""A product stands for a file: its path, its identity, its code, and what only Python can decide.

Each kind is one frozen dataclass; its fields are the wildcards of its path, as names and numbers,
parsed once, here. The path is that of the rule that makes it. The kinds are in `reductions` (what
is drawn, and what estimators make of it), `estimates`, `experiments` and `reports` (what is shown).
The rules of the workflow get all facts about a job from these, by `jobs`.

The parameters of a job are the full identity of what it makes (`files.identities`); its spec is the
same in plain numbers and words. Snakemake compares it, and the digest of the code, with the last
run's: a changed parameter or line of code makes the file again, a comment does not. Any well-formed
path is a valid target, also one that is in no grid.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from epsilometer import __version__
from epsilometer.errors import EpsilometerError, suggest
from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files import parsing
from epsilometer_workflow.files.identities import Common, plain
from epsilometer_workflow.files.parsing import Batch, Draws
from epsilometer_workflow.products import code_digests

Spec = dict[str, Any]
Needs = dict[str, list["Product"]]

_PARSERS: Mapping[str, Callable[[str], Any]] = {  # fields that are not names
    "epsilon": lambda text: parsing.positive("epsilon", text),
    "order": parsing.order,
    "n": Draws.parse,
    "batch": Batch.parse,
    "runs": lambda text: parsing.integer("runs", text),
    "cells": lambda text: parsing.integer("cells", text),
    "fresh": lambda text: parsing.integer("fresh", text, minimum=0),
    "reduction": parsing.Reduction.parse,
}


@dataclass(frozen=True)
class Product(ABC):
    """One file of the results, or several that one job makes together."""

    rule: ClassVar[str]
    """The rule that makes it, which is also the name of its stage."""

    templates: ClassVar[Mapping[str, str]]
    """The paths of the rule's files by name, with a wildcard for each field and for the scale."""

    reads: ClassVar[str] = ""
    """The name of the file that its readers read, if the rule makes several."""

    study: Study = field(repr=False)

    def __init_subclass__(cls, rule: str = "", rules: Path = paths.RULES) -> None:
        """Take the rule of a kind, and its paths; a kind without a rule has those of its base."""
        if rule:
            cls.rule = rule
            cls.templates = paths.of_rule(rule, rules=rules)

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
        values = {name: _PARSERS.get(name, str)(texts[name]) for name in cls._names()}
        product = cls(study, **values)
        product.check()
        return product

    def check(self) -> None:  # noqa: B027 (most kinds are checked by making their spec)
        """Raise `EpsilometerError` if the configuration has no such product."""

    @property
    def wildcards(self) -> dict[str, str]:
        """The fields, as paths write them."""
        texts = {"scale": self.study.scale}
        for name in self._names():
            value = getattr(self, name)
            texts[name] = parsing.spell(value) if isinstance(value, float) else str(value)
        return texts

    @classmethod
    def _names(cls) -> list[str]:
        """Return the names of the fields that paths have."""
        return [entry.name for entry in fields(cls) if entry.name != "study"]

    @cached_property
    def path(self) -> str:
        """Its path: the first output of the rule."""
        return next(iter(self.templates.values())).format(**self.wildcards)

    @property
    def file(self) -> str:
        """The file that its readers read."""
        return self.templates[self.reads].format(**self.wildcards) if self.reads else self.path

    def needs(self) -> Needs:
        """Return the products that it is made of, where the rule does not show their paths."""
        return {}

    @abstractmethod
    def job(self) -> Any:
        """Return the parameters of its job: identities and values that can change its content."""

    def identity(self) -> Any:
        """Return what its file says of itself: the parameters of its job, unless these are more."""
        return self.job()

    def spec(self) -> Spec:
        """Return the parameters of its job as plain values, for Snakemake."""
        return dict(plain(self.job()))

    def modules(self) -> list[str]:
        """Return the registered code that its job will load, by dotted names."""
        return []

    def samples_held(self) -> int:
        """Return how many numbers of samples its job holds at once: of one side, in one run."""
        return 0

    @property
    def common(self) -> Common:
        """The common part of the identities of all files of a study."""
        return {"seed": self.study.main.seed, "scale": self.study.scale, "version": __version__}

    def code(self) -> str:
        """Return a digest of the code that its job runs, and the versions of what that imports."""
        return code_digests.digest(self.rule, *self.modules())


def entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    """Return an entry of the configuration by its name."""
    if name not in entries:
        raise EpsilometerError(f"unknown {kind} {name!r}{suggest(name, entries)}")
    return entries[name]


def digest_of(contents: object) -> str:
    """Return a short digest of identities or plain values."""
    return hashlib.sha256(json.dumps(plain(contents), sort_keys=True).encode()).hexdigest()[:16]
