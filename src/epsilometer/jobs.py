"""What the rules ask: for the wildcards of a job, the files it reads and the ``spec`` it gets.

A spec is plain numbers and words, the full identity of what the job makes. Snakemake compares it
with the last run's, so that a changed parameter reruns the job and a comment in the configuration
reruns nothing. Any well-formed path can be asked for, also one that is in no configured grid.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from epsilometer import __version__, config, paths, sources
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, ConfigError, EpsilometerError, suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.render import RENDERERS
from epsilometer.study import Combination, Study
from epsilometer.tables import BUILDERS, building

Spec = dict[str, Any]
Keys = Mapping[str, str]


class Wildcards(dict[str, str]):
    """The wildcards of another job: those of a given one, with some replaced."""

    def __init__(self, wildcards: Any, **replaced: str) -> None:
        super().__init__({**dict(wildcards.items()), **replaced})
        self.__dict__ = self


class Jobs:
    """Answers the rules' questions about one study; every method takes a job's wildcards."""

    def __init__(self, study: Study, scripts: str | Path = "workflow/scripts") -> None:
        self._study = study
        self._scripts = Path(scripts).absolute()
        self._common = {"seed": study.main.seed, "scale": study.scale, "version": __version__}

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

    # -- samples ----------------------------------------------------------------------------------

    def sample_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of samples."""
        keys = self._keys(wildcards)
        _refuse_two_sizes(keys)
        return self._samples(keys, _runs(keys))

    def sample_code(self, wildcards: Any) -> list[str]:
        """Return the library files that draw them."""
        entry = _entry(self._study.mechanisms, "mechanism", wildcards.mechanism)
        return self._code("sample", MECHANISMS.module(entry.mechanism))

    def _samples(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        name, inputs, epsilon = keys["mechanism"], keys["inputs"], _epsilon(keys["epsilon"])
        entry = _entry(self._study.mechanisms, "mechanism", name)
        _entry(entry.inputs, f"inputs of {name}", inputs)
        self._study.mechanism(name, epsilon)
        return self._common | {
            "stage": "main",
            "mechanism": name,
            "registered": MECHANISMS[entry.mechanism],
            "parameters": dict(entry.parameters),
            "epsilon": epsilon,
            "inputs": {"id": inputs, "values": self._study.input_values(name, inputs)},
            "sides": len(self._study.input_values(name, inputs)),
            "n": _whole("n", paths.first_stage(keys["n"]).removeprefix("1..")),
            "runs": list(runs),
        }

    # -- two stages: the loss of every pair, fresh samples of the largest, what they say -----------

    def losses_samples(self, wildcards: Any) -> str:
        """Return the samples that one batch of losses is computed from."""
        keys = self._keys(wildcards)
        return paths.SAMPLE.format(**(keys | {"n": paths.first_stage(keys["n"])}))

    def losses_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of losses."""
        keys = self._keys(wildcards)
        return self._losses(keys, _runs(keys))

    def losses_code(self, wildcards: Any) -> list[str]:
        """Return the library files that compute them."""
        entry = _entry(self._study.estimators, "estimator", wildcards.screen)
        return self._code("screen", ESTIMATORS.module(entry.estimator))

    def _losses(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        samples = self._samples(keys, runs)
        screen = _entry(self._study.estimators, "estimator", keys["screen"])
        if self._study.screen(keys["screen"]) != keys["screen"]:
            raise EpsilometerError(f"{keys['screen']} is no local loss, so it cannot screen pairs")
        if ".." in keys["n"]:
            raise EpsilometerError(f"n={keys['n']} cannot be searched, only counted in histograms")
        mechanism = self._study.mechanism(samples["mechanism"], samples["epsilon"])
        try:
            self._study.estimator(keys["screen"]).check(mechanism.outputs, math.inf)
        except ArgumentError as error:
            raise EpsilometerError(f"{keys['screen']} on {samples['mechanism']}: {error}") from None
        fresh = _fresh(keys["n"])
        return self._common | {
            "samples": samples,
            "registered": ESTIMATORS[screen.estimator],
            "parameters": dict(screen.parameters),
            "region": self._region(samples["mechanism"]),
            "pairing": self._study.pairing(samples["mechanism"], samples["inputs"]["id"]),
            "draws": fresh or samples["n"],
        }

    def _region(self, mechanism: str) -> list[float] | None:
        region = self._study.mechanisms[mechanism].region
        return None if region is None else list(region)

    def confirmation_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of fresh samples, and that of the losses before it."""
        keys = self._keys(wildcards)
        return self._confirmation(keys, _runs(keys))

    def _confirmation(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        losses = self._losses(keys, runs)
        if not (fresh := _fresh(keys["n"])):
            raise EpsilometerError(f"n={keys['n']} must be n+N, with N fresh samples")
        samples: Spec = losses["samples"]
        drawn = {"stage": "confirm", "sides": 2, "n": fresh}
        return samples | drawn | {"selected_by": losses}

    def confirmation_code(self, wildcards: Any) -> list[str]:
        """Return the library files that draw them."""
        entry = _entry(self._study.mechanisms, "mechanism", wildcards.mechanism)
        return self._code("confirm", MECHANISMS.module(entry.mechanism))

    def evidence_spec(self, wildcards: Any) -> Spec:
        """Return the identity of what one batch of fresh samples says."""
        keys = self._keys(wildcards)
        return self._evidence(keys, _runs(keys))

    def evidence_code(self, wildcards: Any) -> list[str]:
        """Return the library files that weigh them."""
        return self._code("weigh")

    def _evidence(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        return self._common | {"fresh": self._confirmation(keys, runs)}

    # -- histograms -------------------------------------------------------------------------------

    def histogram_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of histograms."""
        keys = self._keys(wildcards)
        _refuse_two_sizes(keys)
        return self._histograms(keys, _whole("cells", keys["cells"]), _runs(keys))

    def histogram_code(self, wildcards: Any) -> list[str]:
        """Return the library files that count them."""
        return self._code("histogram")

    def _histograms(self, keys: Keys, cells: int, runs: tuple[int, int]) -> Spec:
        samples = self._samples(keys, runs)
        claims = self._study.claims(samples["mechanism"], samples["epsilon"])
        return self._common | {
            "samples": samples,
            "support": None if claims.support is None else list(claims.support),
            "cells": cells,
            "n": keys["n"],
        }

    # -- densities --------------------------------------------------------------------------------

    def density_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of densities."""
        keys = self._keys(wildcards)
        _refuse_two_sizes(keys)
        return self._densities(keys, _runs(keys))

    def density_code(self, wildcards: Any) -> list[str]:
        """Return the library files that estimate them."""
        return self._code("density")

    def _densities(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        if ".." in keys["n"]:
            raise EpsilometerError(f"n={keys['n']} cannot be searched, only counted in histograms")
        samples = self._samples(keys, runs)
        return self._common | {
            "samples": samples,
            "pairing": self._study.pairing(samples["mechanism"], samples["inputs"]["id"]),
            "points": _whole("points", keys["points"], minimum=2),
            "power": _power(keys["power"]),
        }

    def _smoothing(self, estimator: str) -> dict[str, str]:
        """Return the keys of a path of densities that an estimator sets."""
        method = self._study.estimator(estimator)
        return {"points": str(method.points), "power": paths.number(method.power)}

    # -- verdicts: what a classifier makes of test draws ------------------------------------------

    def verdict_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of verdicts."""
        keys = self._keys(wildcards)
        _refuse_two_sizes(keys)
        return self._verdicts(keys, _runs(keys))

    def verdict_code(self, wildcards: Any) -> list[str]:
        """Return the library files that train and test."""
        entry = _entry(self._study.estimators, "estimator", wildcards.classifier)
        kind = str(entry.parameters.get("classifier"))
        module = [CLASSIFIERS.module(kind)] if kind in CLASSIFIERS else []
        return self._code("classify", ESTIMATORS.module(entry.estimator), *module)

    def _verdicts(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        if ".." in keys["n"]:
            raise EpsilometerError(f"n={keys['n']} cannot be searched, only counted in histograms")
        samples = self._samples(keys, runs)
        entry = _entry(self._study.estimators, "estimator", keys["classifier"])
        method = self._study.estimator(keys["classifier"])
        if method.reads != "verdicts":
            raise EpsilometerError(f"{keys['classifier']} is no classifier")
        mechanism = self._study.mechanism(samples["mechanism"], samples["epsilon"])
        try:
            method.check(mechanism.outputs, math.inf)
        except ArgumentError as error:
            place = f"{keys['classifier']} on {samples['mechanism']}"
            raise EpsilometerError(f"{place}: {error}") from None
        trained = {k: v for k, v in entry.parameters.items() if k in method.TRAINING}
        return self._common | {
            "samples": samples,
            "pairing": self._study.pairing(samples["mechanism"], samples["inputs"]["id"]),
            "registered": ESTIMATORS[entry.estimator],
            "parameters": trained,
        }

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
        entry = _entry(self._study.estimators, "estimator", wildcards.estimator)
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
        _entry(self._study.estimators, "estimator", keys["estimator"])
        samples = self._samples(keys, (0, 0))
        _fresh(keys["n"])
        combination = Combination(
            mechanism=samples["mechanism"],
            epsilon=samples["epsilon"],
            inputs=samples["inputs"]["id"],
            order=_order(keys["order"]),
            estimator=keys["estimator"],
            n=keys["n"],
            runs=_whole("runs", keys["runs"]),
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
        paper = _entry(self._study.papers, "paper", keys["paper"])
        _entry(paper.experiments, "experiment", keys["experiment"])
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
        paper = _entry(self._study.papers, "paper", keys["paper"])
        artifact: config.Artifact = _entry(paper.artifacts, "artifact", keys["artifact"])
        return artifact

    def page_spec(self, wildcards: Any) -> Spec:
        """Return what a paper's page shows, in the order of its configuration."""
        keys = self._keys(wildcards)
        paper: config.Paper = _entry(self._study.papers, "paper", keys["paper"])
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
        entry: config.Paper = _entry(self._study.papers, "paper", paper)
        return [
            template.format(scale=self._study.scale, paper=paper, artifact=name)
            for name, artifact in entry.artifacts.items()
            if artifact.figure or not figures_only
        ]

    # -- shared -----------------------------------------------------------------------------------

    def _code(self, script: str, *modules: str) -> list[str]:
        return sources.closure(self._scripts / f"{script}.py", *modules)

    def _keys(self, wildcards: Any) -> dict[str, str]:
        """Return the wildcards of a job of this scale."""
        keys: dict[str, str] = dict(wildcards.items())
        if keys["scale"] not in self._study.scales:
            raise EpsilometerError(
                f"unknown scale {keys['scale']!r}{suggest(keys['scale'], self._study.scales)}"
            )
        if keys["scale"] != self._study.scale:
            raise EpsilometerError(
                f"results/{keys['scale']} is of another scale than the chosen "
                f"{self._study.scale!r}; add --config scale={keys['scale']}"
            )
        return keys


def _digest(spec: object) -> str:
    """Return a short name for all that a file was made of."""
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:16]


def _entry(entries: Mapping[str, Any], kind: str, name: str) -> Any:
    if name not in entries:
        raise EpsilometerError(f"unknown {kind} {name!r}{suggest(name, entries)}")
    return entries[name]


def _power(text: str) -> float:
    value = _float("power", text)
    if not 0 < value < math.inf:
        raise EpsilometerError(f"power={text} must be positive and finite")
    return value


def _epsilon(text: str) -> float:
    value = _float("epsilon", text)
    if not 0 < value < math.inf:
        raise EpsilometerError(f"epsilon={text} must be positive and finite")
    return value


def _order(text: str) -> float:
    value = _float("lambda", text)
    if not value > 1:
        raise EpsilometerError(f"lambda={text} must be above 1 (inf for pure privacy)")
    return value


def _fresh(n: str) -> int:
    """Return the N of n+N; 0 where there is none."""
    return _whole("n", n.partition("+")[2]) if "+" in n else 0


def _refuse_two_sizes(keys: Keys) -> None:
    """Raise where a path of first samples names fresh ones, too."""
    if "+" in keys["n"]:
        raise EpsilometerError(f"n={keys['n']} must be one size: fresh samples are confirmations")


def _runs(keys: Keys) -> tuple[int, int]:
    first, last = (_whole("runs", keys[key], minimum=0) for key in ("first", "last"))
    if first > last:
        raise EpsilometerError(f"runs={first}-{last} ends before it begins")
    return first, last


def _whole(key: str, text: str, *, minimum: int = 1) -> int:
    """Return a whole number, written without signs, points or leading zeros."""
    if not text.isascii() or not text.isdigit() or str(int(text)) != text or int(text) < minimum:
        raise EpsilometerError(f"{key}={text} must be a whole number from {minimum}")
    return int(text)


def _float(key: str, text: str) -> float:
    """Return a number that is written as paths write it, so that one thing has one path."""
    try:
        value = float(text)
    except ValueError:
        raise EpsilometerError(f"{key}={text} is not a number") from None
    if paths.number(value) != text:
        raise EpsilometerError(f"{key}={text} is written {key}={paths.number(value)}")
    return value
