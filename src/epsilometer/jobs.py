"""What the rules ask: for the wildcards of a job, the files it reads and the ``spec`` it gets.

Samples and what they are reduced to are in `epsilometer.reductions`; here is what is made of them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from epsilometer import asked, config, paths
from epsilometer.asked import Keys, Wildcards
from epsilometer.errors import ConfigError, EpsilometerError
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.reductions import Reductions, Spec
from epsilometer.render import RENDERERS
from epsilometer.study import Combination
from epsilometer.tables import BUILDERS, building


class Jobs(Reductions):
    """Answers the rules' questions about one study; every method takes a job's wildcards."""

    def targets(self, paper: str) -> list[str]:
        """Return every file that is promised for a paper."""
        page = paths.PAGE.format(scale=self._study.scale, paper=paper)
        tables = self._files(paper, paths.TABLE, figures_only=False)
        figures = self._files(paper, paths.FIGURE, figures_only=True)
        return [
            page,
            *tables,
            *(paths.beside(path, ".parquet") for path in tables),
            *figures,
            *(paths.beside(path, ".png") for path in figures),
        ]

    # -- estimates --------------------------------------------------------------------------------

    def estimate_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one file of estimates, and that of each file it reads."""
        keys = self._keys(wildcards)
        combination = self._combination(keys)
        return {
            "identity": self._estimates(combination),
            "reads": self._study.estimator(combination.estimator).reads,
            "data": [made for _, made in self._reductions(keys, combination)],
        }

    def estimate_data(self, wildcards: Any) -> list[str]:
        """Return the files that one file of estimates reads."""
        keys = self._keys(wildcards)
        return [path for path, _ in self._reductions(keys, self._combination(keys))]

    def estimate_code(self, wildcards: Any) -> list[str]:
        """Return the library files that estimate."""
        entry = asked.entry(self._study.estimators, "estimator", wildcards.estimator)
        return self._code("estimate", ESTIMATORS.module(entry.estimator))

    def _reductions(self, keys: Keys, combination: Combination) -> list[tuple[str, Spec]]:
        """Return path and identity of what samples are reduced to for an estimator."""
        estimator = self._study.estimator(combination.estimator)
        cells, screen = self._study.cells(combination), self._study.screen(combination.estimator)

        def histograms(batch: Keys, runs: tuple[int, int]) -> Spec:
            return self._histograms(batch, cells, runs)

        found = []
        for first, last in self._study.batches(combination):
            names = {"first": first, "last": last, "cells": cells, "screen": screen}
            names |= {"classifier": combination.estimator}
            if estimator.reads == "densities":
                names |= self._smoothing(combination.estimator)
            batch = {**keys, **{key: str(value) for key, value in names.items()}}
            template, identity = {
                "histograms": (paths.HISTOGRAM, histograms),
                "densities": (paths.DENSITY, self._densities),
                "verdicts": (paths.VERDICTS, self._verdicts),
                "losses": (paths.LOSSES, self._losses),
                "evidence": (paths.EVIDENCE, self._evidence),
            }[estimator.reads]
            found.append((template.format(**batch), identity(batch, (first, last))))
        return found

    def _combination(self, keys: Keys) -> Combination:
        """Return the combination that a path of estimates names."""
        asked.entry(self._study.estimators, "estimator", keys["estimator"])
        samples = self._samples(keys, (0, 0))
        asked.fresh(keys["n"])
        combination = Combination(
            mechanism=samples["mechanism"],
            epsilon=samples["epsilon"],
            inputs=samples["inputs"]["id"],
            order=asked.order(keys["order"]),
            estimator=keys["estimator"],
            n=keys["n"],
            runs=asked.whole("runs", keys["runs"]),
        )
        self._study.check(combination)
        return combination

    def _estimates(self, c: Combination) -> Spec:
        mechanism, estimator = (
            self._study.mechanisms[c.mechanism],
            self._study.estimators[c.estimator],
        )
        return self._common | {
            "mechanism": c.mechanism,
            "mechanism_registered": MECHANISMS[mechanism.mechanism],
            "mechanism_parameters": dict(mechanism.parameters),
            "epsilon": c.epsilon,
            "inputs": {
                "id": c.inputs,
                "values": self._study.input_values(c.mechanism, c.inputs),
                "pairing": self._study.pairing(c.mechanism, c.inputs),
                "names": self._study.pair_names(c.mechanism, c.inputs),
            },
            "lambda": paths.number(c.order),
            "estimator": c.estimator,
            "registered": ESTIMATORS[estimator.estimator],
            "parameters": dict(estimator.parameters),
            "after": self._screen(c.estimator),
            "region": self._region(c.mechanism) if self._study.screen(c.estimator) else None,
            "claims": asdict(self._study.claims(c.mechanism, c.epsilon)),
            "cells": self._study.cells(c),
            "n": c.n,
            "runs": c.runs,
        }

    def _screen(self, estimator: str) -> Spec | None:
        """Return what chose the pairs that an estimator reads, where there is a choice."""
        screen = self._study.screen(estimator)
        if screen in (None, estimator):
            return None
        entry = self._study.estimators[screen]
        return {"registered": ESTIMATORS[entry.estimator], "parameters": dict(entry.parameters)}

    # -- summaries --------------------------------------------------------------------------------

    def summary_spec(self, wildcards: Any) -> Spec:
        """Return what a summary joins: for each file of estimates, the law and the precision."""
        keys = self._keys(wildcards)
        members = [
            {
                "identity": self._estimates(c),
                "law": LAWS.get(self._study.mechanisms[c.mechanism].mechanism),
                "precision": self._study.estimator(c.estimator).precision,
                "symmetric": self._study.estimator(c.estimator).symmetric,
            }
            for c in self._members(keys)
        ]
        return {"identity": self._summary(keys, members), "members": members}

    def _summary(self, keys: Keys, members: list[Spec]) -> Spec:
        named = {"paper": keys["paper"], "experiment": keys["experiment"]}
        return self._common | named | {"made_of": _digest(members)}

    def summary_estimates(self, wildcards: Any) -> list[str]:
        """Return the estimates that one experiment's summary reads."""
        return [c.path(self._study.scale) for c in self._members(self._keys(wildcards))]

    def summary_code(self, wildcards: Any) -> list[str]:
        """Return the library files that summarise, the exact laws among them."""
        members = self._members(self._keys(wildcards))
        used = {self._study.mechanisms[c.mechanism].mechanism for c in members}
        return self._code("summarise", *(LAWS.module(name) for name in used if name in LAWS))

    def _members(self, keys: Keys) -> list[Combination]:
        paper = asked.entry(self._study.papers, "paper", keys["paper"])
        asked.entry(paper.experiments, "experiment", keys["experiment"])
        return self._study.combinations(keys["paper"], keys["experiment"])

    def timing_spec(self, wildcards: Any) -> Spec:
        """Return what is timed: each combination from drawing to its answer, run after run."""
        keys = self._keys(wildcards)
        members = []
        for c in self._members(keys):
            reads, runs = self._study.estimator(c.estimator).reads, (0, c.runs - 1)
            if reads not in ("densities", "evidence"):
                file = f"config/papers/{keys['paper']}.yaml"
                message = f"{c.estimator} cannot be timed: it reads {reads}"
                raise ConfigError(file, f"experiments.{keys['experiment']}", message)
            drawn = self._drawn(keys, c, runs)
            member = {
                "reads": reads,
                "samples": self._samples(drawn, runs),
                "estimates": self._estimates(c),
            }
            if reads == "densities":
                member["densities"] = self._densities(drawn | self._smoothing(c.estimator), runs)
            else:
                screened = drawn | {"n": c.n, "screen": str(self._study.screen(c.estimator))}
                member |= {"losses": self._losses(screened, runs), "fresh": paths.fresh(c.n)}
            members.append(member)
        named = {"paper": keys["paper"], "experiment": keys["experiment"]}
        identity = self._common | named | {"made_of": _digest(members)}
        return {"identity": identity, "members": members}

    def timing_code(self, wildcards: Any) -> list[str]:
        """Return the library files that are timed."""
        members = self._members(self._keys(wildcards))
        mechanisms = {self._study.mechanisms[c.mechanism].mechanism for c in members}
        named = {name for c in members for name in (c.estimator, self._study.screen(c.estimator))}
        estimators = {self._study.estimators[name].estimator for name in named if name}
        modules = [MECHANISMS.module(m) for m in mechanisms]
        return self._code("time", *modules, *(ESTIMATORS.module(e) for e in estimators))

    # -- tables, figures, pages -------------------------------------------------------------------

    def table_spec(self, wildcards: Any) -> Spec:
        """Return what a table is built with, and the identity of each summary it reads."""
        artifact = self._artifact(wildcards)
        spec = {
            "caption": artifact.caption.strip(),
            "builder": BUILDERS[artifact.table.builder],
            "options": artifact.table.options,
            "paper": artifact.paper.model_dump() if artifact.paper else None,
            "data": [[made for _, made in parts] for parts in self._table_parts(wildcards)],
        }
        named = {"paper": wildcards.paper, "artifact": wildcards.artifact}
        return {"identity": self._common | named | {"made_of": _digest(spec)}, **spec}

    def table_data(self, wildcards: Any) -> list[str]:
        """Return the files that one table is built from, in the order of its ``data``."""
        return [path for parts in self._table_parts(wildcards) for path, _ in parts]

    def _table_parts(self, wildcards: Any) -> list[list[tuple[str, Spec]]]:
        """Return, for each experiment, path and identity of every file its builder reads."""
        table = self._artifact(wildcards).table
        kind = building.reads(BUILDERS.load(table.builder))
        return [
            self._experiment_parts(kind, Wildcards(wildcards, experiment=experiment))
            for experiment in table.data
        ]

    def _experiment_parts(self, kind: str | None, wildcards: Wildcards) -> list[tuple[str, Spec]]:
        keys = self._keys(wildcards)
        if kind == "samples":
            parts: dict[str, Spec] = {}
            for c in self._members(keys):
                for batch in self._study.batches(c):
                    drawn = self._drawn(keys, c, batch)
                    parts[paths.SAMPLE.format(**drawn)] = self._samples(drawn, batch)
            return list(parts.items())
        if kind == "timings":
            return [(paths.TIMING.format(**keys), self.timing_spec(wildcards)["identity"])]
        template = paths.RUNS if kind == "runs" else paths.SUMMARY
        return [(template.format(**keys), self.summary_spec(wildcards)["identity"])]

    def _drawn(self, keys: Keys, c: Combination, batch: tuple[int, int]) -> dict[str, str]:
        """Return the keys of a path of samples for one batch of a combination."""
        return {
            "scale": keys["scale"],
            "mechanism": c.mechanism,
            "epsilon": paths.number(c.epsilon),
            "inputs": c.inputs,
            "n": paths.first_stage(c.n),
            "first": str(batch[0]),
            "last": str(batch[1]),
        }

    def table_code(self, wildcards: Any) -> list[str]:
        """Return the library files that build one table."""
        builder = self._artifact(wildcards).table.builder
        return self._code("tabulate", BUILDERS.module(builder))

    def figure_spec(self, wildcards: Any) -> Spec:
        """Return what a figure is drawn with."""
        artifact = self._artifact(wildcards)
        if artifact.figure is None:
            raise EpsilometerError(f"{wildcards.paper}: {wildcards.artifact} has no figure")
        return {
            "identity": self.table_spec(wildcards)["identity"],
            "caption": artifact.caption.strip(),
            "renderer": RENDERERS[artifact.figure],
        }

    def figure_code(self, wildcards: Any) -> list[str]:
        """Return the library files that draw one figure."""
        renderer = self._artifact(wildcards).figure
        return self._code("render", *([RENDERERS.module(renderer)] if renderer else []))

    def _artifact(self, wildcards: Any) -> config.Artifact:
        keys = self._keys(wildcards)
        paper = asked.entry(self._study.papers, "paper", keys["paper"])
        artifact: config.Artifact = asked.entry(paper.artifacts, "artifact", keys["artifact"])
        return artifact

    def page_spec(self, wildcards: Any) -> Spec:
        """Return what a paper's page shows, in the order of its configuration."""
        keys = self._keys(wildcards)
        paper: config.Paper = asked.entry(self._study.papers, "paper", keys["paper"])
        return {
            **self._common,
            "title": paper.title,
            "artifacts": [
                {
                    "id": name,
                    "identity": self.table_spec(Wildcards(wildcards, artifact=name))["identity"],
                    "caption": artifact.caption.strip(),
                    "figure": bool(artifact.figure),
                }
                for name, artifact in paper.artifacts.items()
            ],
        }

    def page_tables(self, wildcards: Any) -> list[str]:
        """Return the tables that a paper's page shows."""
        paper = self._keys(wildcards)["paper"]
        files = self._files(paper, paths.TABLE, figures_only=False)
        return [paths.beside(path, ".parquet") for path in files]

    def page_figures(self, wildcards: Any) -> list[str]:
        """Return the figures that a paper's page shows."""
        paper = self._keys(wildcards)["paper"]
        files = self._files(paper, paths.FIGURE, figures_only=True)
        return [paths.beside(path, ".png") for path in files]

    def page_code(self, wildcards: Any) -> list[str]:
        """Return the library files that make a page."""
        return self._code("page")

    def _files(self, paper: str, template: str, *, figures_only: bool) -> list[str]:
        entry: config.Paper = asked.entry(self._study.papers, "paper", paper)
        return [
            template.format(scale=self._study.scale, paper=paper, artifact=name)
            for name, artifact in entry.artifacts.items()
            if artifact.figure or not figures_only
        ]


def _digest(spec: object) -> str:
    """Return a short name for all that a file was made of."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]
