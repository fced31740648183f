"""What the rules ask about samples and what they are reduced to, from a job's wildcards.

A spec is plain numbers and words, the full identity of what the job makes. Snakemake compares it
with the last run's, so that a changed parameter reruns the job and a comment in the configuration
reruns nothing. Any well-formed path can be asked for, also one that is in no configured grid.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from epsilometer import __version__, asked, paths, sources
from epsilometer.asked import Keys
from epsilometer.classifiers import CLASSIFIERS
from epsilometer.errors import ArgumentError, EpsilometerError, suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.provenance import refuse_foreign
from epsilometer.study import Study

Spec = dict[str, Any]


class Reductions:
    """Identities and code of samples, and of what estimators read of them."""

    def __init__(self, study: Study, scripts: str | Path = "workflow/scripts") -> None:
        self._study = study
        self._scripts = Path(scripts).absolute()
        self._common = {"seed": study.main.seed, "scale": study.scale, "version": __version__}

    def refuse_foreign_results(self) -> None:
        """Raise `DataError` where results of another seed or version were put into the folder."""
        refuse_foreign(paths.RESULTS.format(scale=self._study.scale), self._common)

    # -- samples ----------------------------------------------------------------------------------

    def sample_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of samples."""
        keys = self._keys(wildcards)
        asked.refuse_two_sizes(keys)
        return self._samples(keys, asked.runs(keys))

    def sample_code(self, wildcards: Any) -> list[str]:
        """Return the library files that draw them."""
        entry = asked.entry(self._study.mechanisms, "mechanism", wildcards.mechanism)
        return self._code("sample", MECHANISMS.module(entry.mechanism))

    def _samples(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        name, inputs, epsilon = keys["mechanism"], keys["inputs"], asked.epsilon(keys["epsilon"])
        entry = asked.entry(self._study.mechanisms, "mechanism", name)
        asked.entry(entry.inputs, f"inputs of {name}", inputs)
        self._study.mechanism(name, epsilon)
        return self._common | {
            "stage": "main",
            "mechanism": name,
            "registered": MECHANISMS[entry.mechanism],
            "parameters": dict(entry.parameters),
            "epsilon": epsilon,
            "inputs": {"id": inputs, "values": self._study.input_values(name, inputs)},
            "sides": len(self._study.input_values(name, inputs)),
            "n": asked.whole("n", paths.first_stage(keys["n"]).removeprefix("1..")),
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
        return self._losses(keys, asked.runs(keys))

    def losses_code(self, wildcards: Any) -> list[str]:
        """Return the library files that compute them."""
        entry = asked.entry(self._study.estimators, "estimator", wildcards.screen)
        return self._code("screen", ESTIMATORS.module(entry.estimator))

    def _losses(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        samples = self._samples(keys, runs)
        screen = asked.entry(self._study.estimators, "estimator", keys["screen"])
        if self._study.screen(keys["screen"]) != keys["screen"]:
            raise EpsilometerError(f"{keys['screen']} is no local loss, so it cannot screen pairs")
        if ".." in keys["n"]:
            raise EpsilometerError(f"n={keys['n']} cannot be searched, only counted in histograms")
        mechanism = self._study.mechanism(samples["mechanism"], samples["epsilon"])
        try:
            self._study.estimator(keys["screen"]).check(mechanism.outputs, math.inf)
        except ArgumentError as error:
            raise EpsilometerError(f"{keys['screen']} on {samples['mechanism']}: {error}") from None
        fresh = asked.fresh(keys["n"])
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
        return self._confirmation(keys, asked.runs(keys))

    def _confirmation(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        losses = self._losses(keys, runs)
        if not (fresh := asked.fresh(keys["n"])):
            raise EpsilometerError(f"n={keys['n']} must be n+N, with N fresh samples")
        samples: Spec = losses["samples"]
        drawn = {"stage": "confirm", "sides": 2, "n": fresh}
        return samples | drawn | {"selected_by": losses}

    def confirmation_code(self, wildcards: Any) -> list[str]:
        """Return the library files that draw them."""
        entry = asked.entry(self._study.mechanisms, "mechanism", wildcards.mechanism)
        return self._code("confirm", MECHANISMS.module(entry.mechanism))

    def evidence_spec(self, wildcards: Any) -> Spec:
        """Return the identity of what one batch of fresh samples says."""
        keys = self._keys(wildcards)
        return self._evidence(keys, asked.runs(keys))

    def evidence_code(self, wildcards: Any) -> list[str]:
        """Return the library files that weigh them."""
        return self._code("weigh")

    def _evidence(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        return self._common | {"fresh": self._confirmation(keys, runs)}

    # -- histograms -------------------------------------------------------------------------------

    def histogram_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of histograms."""
        keys = self._keys(wildcards)
        asked.refuse_two_sizes(keys)
        return self._histograms(keys, asked.whole("cells", keys["cells"]), asked.runs(keys))

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
        asked.refuse_two_sizes(keys)
        return self._densities(keys, asked.runs(keys))

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
            "points": asked.whole("points", keys["points"], minimum=2),
            "power": asked.power(keys["power"]),
        }

    def _smoothing(self, estimator: str) -> dict[str, str]:
        """Return the keys of a path of densities that an estimator sets."""
        method = self._study.estimator(estimator)
        return {"points": str(method.points), "power": paths.number(method.power)}

    # -- verdicts: what a classifier makes of test draws ------------------------------------------

    def verdict_spec(self, wildcards: Any) -> Spec:
        """Return the identity of one batch of verdicts."""
        keys = self._keys(wildcards)
        asked.refuse_two_sizes(keys)
        return self._verdicts(keys, asked.runs(keys))

    def verdict_code(self, wildcards: Any) -> list[str]:
        """Return the library files that train and test."""
        entry = asked.entry(self._study.estimators, "estimator", wildcards.classifier)
        kind = str(entry.parameters.get("classifier"))
        module = [CLASSIFIERS.module(kind)] if kind in CLASSIFIERS else []
        return self._code("classify", ESTIMATORS.module(entry.estimator), *module)

    def _verdicts(self, keys: Keys, runs: tuple[int, int]) -> Spec:
        if ".." in keys["n"]:
            raise EpsilometerError(f"n={keys['n']} cannot be searched, only counted in histograms")
        samples = self._samples(keys, runs)
        entry = asked.entry(self._study.estimators, "estimator", keys["classifier"])
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
