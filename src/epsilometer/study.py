"""The study: the configuration at one scale, checked as a whole before there is a DAG.

It knows what entries stand for (a calibrated mechanism, an estimator, a provider's claims) and
expands every grid into combinations of mechanism x epsilon x inputs x lambda x estimator. What a
rule reads and writes for them is in `epsilometer.jobs`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, asdict, dataclass, fields
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from epsilometer import checks, config, paths
from epsilometer.costs import RULES
from epsilometer.errors import (
    ArgumentError,
    ConfigError,
    UnknownNameError,
    one_line,
    suggest,
)
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims, Estimator, pairs_of
from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import Mechanism, dimension_of
from epsilometer.registry import Registry
from epsilometer.render import RENDERERS
from epsilometer.tables import BUILDERS, building

_BYTES = {
    "scalar": 8,
    "index": 4,
    "bits": 8,
    "vector": 8,
    "tuple": 4,
    "mixed": 8,
}  # an entry of an output


@dataclass(frozen=True)
class Combination:
    """One point of a grid, with how much is drawn for it: a file of estimates."""

    mechanism: str
    epsilon: float
    inputs: str
    order: float
    estimator: str
    n: str
    runs: int

    def path(self, scale: str) -> str:
        """Return the path of the estimates."""
        keys = asdict(self) | {
            "epsilon": paths.number(self.epsilon),
            "order": paths.number(self.order),
        }
        return paths.ESTIMATE.format(scale=scale, **keys)


class Study:
    """Everything the configuration asks for at one scale."""

    def __init__(
        self,
        folder: str | Path = "config",
        overrides: Mapping[str, Any] | None = None,
        *,
        check: bool = True,
    ):
        """Read a folder's configuration, and check it unless who started this job has done so."""
        self._folder = Path(folder)
        main = config.read(self._file("config.yaml"), config.Main)
        self._overrides = dict(overrides or {})
        self.main = self._overridden(main)
        self.scale = self.main.scale
        self._scale = self._read_scale()
        self.mechanisms = config.read_entries(self._file("mechanisms.yaml"), config.MechanismEntry)
        self.estimators = config.read_entries(self._file("estimators.yaml"), config.EstimatorEntry)
        self.rates = config.read_entries(self._file("rates.yaml"), config.Rate)
        self.papers = {
            file.stem: config.read(file, config.Paper)
            for file in sorted(self._file("papers").glob("*.yaml"))
        }
        if check:
            self._check()

    # -- the configuration ----------------------------------------------------------------------

    def _file(self, name: str) -> Path:
        return self._folder / name

    def _overridden(self, main: config.Main) -> config.Main:
        known = list(config.Main.model_fields)
        for key in self._overrides:
            if key not in known:
                raise ConfigError("--config", str(key), f"unknown key{suggest(str(key), known)}")
        return config.parse(config.Main, main.model_dump() | self._overrides, "--config")

    @property
    def scales(self) -> list[str]:
        """The scales there are."""
        return sorted(path.stem for path in self._file("scales").glob("*.yaml"))

    def _read_scale(self) -> config.Scale:
        if self.scale not in self.scales:
            raise ConfigError(
                "--config" if "scale" in self._overrides else str(self._file("config.yaml")),
                "scale",
                f"unknown scale {self.scale!r}{suggest(self.scale, self.scales)}",
            )
        return config.read(self._file(f"scales/{self.scale}.yaml"), config.Scale)

    def _check(self) -> None:
        file = "--config" if "papers" in self._overrides else str(self._file("config.yaml"))
        for name in self.main.papers:
            _check_known(file, "papers", "paper", name, self.papers)
            if self.main.papers.count(name) > 1:
                raise ConfigError(file, "papers", f"names {name!r} twice")
        file = str(self._file("mechanisms.yaml"))
        for name, mechanism in self.mechanisms.items():
            self._check_registered(file, f"{name}.mechanism", MECHANISMS, mechanism.mechanism)
            if mechanism.region is not None:
                with _placed(file, f"{name}.region"):
                    checks.interval("region", *mechanism.region)
            self.mechanism(name, 1.0)  # also where no grid uses it
            self.claims(name, 1.0)
        file = str(self._file("estimators.yaml"))
        for name, estimator in self.estimators.items():
            self._check_registered(file, f"{name}.estimator", ESTIMATORS, estimator.estimator)
            self.estimator(name)
        for name in self.estimators:
            self.screen(name)
        _check_rates(str(self._file("rates.yaml")), self.rates)
        self._check_scale()
        for name in self.papers:
            self._check_paper(name)
        self._check_writable()

    def _check_scale(self) -> None:
        file = str(self._file(f"scales/{self.scale}.yaml"))
        for paper, sizes in self._scale.papers.items():
            if paper not in self.papers:
                raise ConfigError(
                    file, f"papers.{paper}", f"unknown paper{suggest(paper, self.papers)}"
                )
            known = self.papers[paper].experiments
            for experiment in sizes:
                if experiment not in known:
                    raise ConfigError(
                        file,
                        f"papers.{paper}.{experiment}",
                        f"unknown experiment{suggest(experiment, known)}",
                    )
        for paper, entry in self.papers.items():
            for experiment in entry.experiments:
                if experiment not in self._scale.papers.get(paper, {}):
                    raise ConfigError(file, f"papers.{paper}.{experiment}", "is missing")

    def _check_registered(self, file: str, key: str, registry: Registry, name: str) -> None:
        try:
            _ = registry[name]
        except UnknownNameError as error:
            raise ConfigError(file, key, str(error)) from None

    def _check_paper(self, paper: str) -> None:
        file = str(self._file(f"papers/{paper}.yaml"))
        entry = self.papers[paper]
        for experiment, definition in entry.experiments.items():
            if definition.plan and definition.plan.estimator:
                name, key = definition.plan.estimator, f"experiments.{experiment}.plan.estimator"
                _check_known(file, key, "estimator", name, self.estimators)
            for i, block in enumerate(definition.grid):
                key = f"experiments.{experiment}.grid.{i}"
                for name in block.mechanism:
                    _check_known(file, f"{key}.mechanism", "mechanism", name, self.mechanisms)
                for name in block.estimator:
                    _check_known(file, f"{key}.estimator", "estimator", name, self.estimators)
                for mechanism, wanted in product(block.mechanism, block.inputs):
                    inputs = self.mechanisms[mechanism].inputs
                    _check_known(file, f"{key}.inputs", f"inputs of {mechanism}", wanted, inputs)
            combinations = self.combinations(paper, experiment)
            twice = {c for c in combinations if combinations.count(c) > 1}
            if twice:
                first = min(c.path(self.scale) for c in twice)
                raise ConfigError(file, f"experiments.{experiment}.grid", f"asks twice for {first}")
            for combination in combinations:
                self.check(combination)
        for name, artifact in entry.artifacts.items():
            self._check_artifact(file, f"artifacts.{name}", artifact, entry)

    def _check_artifact(
        self, file: str, key: str, artifact: config.Artifact, paper: config.Paper
    ) -> None:
        self._check_registered(file, f"{key}.table.builder", BUILDERS, artifact.table.builder)
        if artifact.figure is not None:
            self._check_registered(file, f"{key}.figure", RENDERERS, artifact.figure)
        for experiment in artifact.table.data:
            _check_known(file, f"{key}.table.data", "experiment", experiment, paper.experiments)
        builder = _load(BUILDERS, artifact.table.builder, file, f"{key}.table.builder")
        building.check(builder, artifact.table.data, artifact.table.options, file, key)
        drawn = [
            name
            for experiment in artifact.table.data
            for block in paper.experiments[experiment].grid
            for name in block.mechanism
        ]
        for name in artifact.table.options.get("panels", {}):
            mechanism = str(name).partition(" ")[0]  # its inputs may follow
            _check_known(file, f"{key}.table.options.panels", "mechanism", mechanism, drawn)
        if artifact.paper is not None:
            columns = artifact.paper.columns
            for column in columns:
                if columns.count(column) > 1:
                    raise ConfigError(file, f"{key}.paper.columns", f"names {column!r} twice")
            for unknown in set(artifact.paper.keys) - set(columns):
                raise ConfigError(
                    file,
                    f"{key}.paper.keys",
                    f"unknown column {unknown!r}{suggest(unknown, columns)}",
                )
            for i, row in enumerate(artifact.paper.rows):
                if len(row) != len(columns):
                    raise ConfigError(
                        file, f"{key}.paper.rows.{i}", f"has {len(row)} of {len(columns)} numbers"
                    )

    def _check_writable(self) -> None:
        results = Path(paths.RESULTS.format(scale=self.scale))
        existing = next(p for p in [results, *results.parents] if p.exists())
        if not existing.is_dir():
            raise ConfigError(str(existing), "", "is not a folder, so no results can be written")
        if not os.access(existing, os.W_OK | os.X_OK):
            raise ConfigError(str(existing), "", "is not writable, so no results can be written")

    # -- what entries stand for -----------------------------------------------------------------

    @cache  # noqa: B019 (a study lives as long as the process)
    def mechanism(self, name: str, epsilon: float) -> Mechanism:
        """Return the mechanism of an entry, calibrated."""
        entry = self.mechanisms[name]
        file = str(self._file("mechanisms.yaml"))
        kind = _load(MECHANISMS, entry.mechanism, file, f"{name}.mechanism")
        for part in ("__dataclass_fields__", "outputs", "check_input", "sample"):
            if not hasattr(kind, part):
                lacks = part.replace("__dataclass_fields__", "@dataclass decorator")
                raise ConfigError(file, f"{name}.mechanism", f"{entry.mechanism} has no {lacks}")
        if kind.outputs not in _BYTES:
            message = f"{entry.mechanism} has outputs {kind.outputs!r}, not one of {list(_BYTES)}"
            raise ConfigError(file, f"{name}.mechanism", message)
        self._check_parameters(file, name, kind, entry.parameters)
        with _placed(file, f"{name}.parameters"):
            mechanism: Mechanism = kind(epsilon=epsilon, **entry.parameters)
        if kind.outputs not in ("scalar", "index", "bits") and not hasattr(mechanism, "dimension"):
            message = f"{entry.mechanism} has outputs {kind.outputs!r} but no dimension"
            raise ConfigError(file, f"{name}.mechanism", message)
        for inputs in entry.inputs:
            with _placed(file, f"{name}.inputs.{inputs}"):
                for x in self.input_values(name, inputs):
                    mechanism.check_input(x)
        return mechanism

    @cache  # noqa: B019
    def estimator(self, name: str) -> Any:
        """Return the estimator of an entry."""
        entry = self.estimators[name]
        file = str(self._file("estimators.yaml"))
        kind = _load(ESTIMATORS, entry.estimator, file, f"{name}.estimator")
        self._check_parameters(file, name, kind, entry.parameters)
        with _placed(file, f"{name}.parameters"):
            estimator: Estimator = kind(**entry.parameters)
        return estimator

    def _check_parameters(self, file: str, name: str, kind: Any, given: Mapping[str, Any]) -> None:
        if "epsilon" in given:
            raise ConfigError(file, f"{name}.parameters", "must not hold epsilon; grids give it")
        known = {field.name for field in fields(kind)} - {"epsilon"}
        for parameter in given:
            if parameter not in known:
                raise ConfigError(
                    file, f"{name}.parameters", f"unknown {parameter!r}{suggest(parameter, known)}"
                )
        for field in fields(kind):
            required = field.default is MISSING and field.default_factory is MISSING
            if required and field.name in known - set(given):
                raise ConfigError(file, f"{name}.parameters", f"{field.name!r} is missing")

    @cache  # noqa: B019
    def screen(self, name: str) -> str | None:
        """Return the entry of the local loss that an entry reads; none for other estimators."""
        reads = self.estimator(name).reads
        if reads not in ("losses", "evidence"):
            return None
        file, key = str(self._file("estimators.yaml")), f"{name}.parameters.after"
        screen = name if reads == "losses" else self.estimators[name].parameters["after"]
        losses = [n for n in self.estimators if self.estimator(n).reads == "losses"]
        _check_known(file, key, "local loss", str(screen), losses)
        return str(screen)

    def input_values(self, mechanism: str, inputs: str) -> list[Any]:
        """Return the inputs, one a side."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        return entry if isinstance(entry, list) else entry.sides()

    def pairing(self, mechanism: str, inputs: str) -> Literal["all", "consecutive"]:
        """Return which sides make pairs: ``all``, or ``consecutive`` where each has its own."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        if isinstance(entry, list) or (isinstance(entry, config.Grid) and entry.samples != "fresh"):
            return "all"
        return "consecutive"

    def pair_names(self, mechanism: str, inputs: str) -> list[str] | None:
        """Return what the pairs are called, where they have names."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        return (
            entry.names()
            if isinstance(entry, config.Pairs | config.Neighbourhood | config.RowsRemoved)
            else None
        )

    @cache  # noqa: B019
    def claims(self, name: str, epsilon: float) -> Claims:
        """Return what the provider claims; ``exact`` claims are the truth."""
        entry = self.mechanisms[name]
        file, key = str(self._file("mechanisms.yaml")), f"{name}.claims"
        values = entry.claims.model_dump()
        for claim, attribute in [
            ("lipschitz", "lipschitz_output"),
            ("smallest_probability", "smallest_probability"),
        ]:
            if values[claim] == "exact":
                law = _load(LAWS, entry.mechanism, file, f"{key}.{claim}")
                if not hasattr(law, attribute):
                    raise ConfigError(file, f"{key}.{claim}", "has no exact value, give a number")
                with _placed(file, f"{key}.{claim}"):
                    values[claim] = getattr(law(self.mechanism(name, epsilon)), attribute)
        with _placed(file, key):
            return Claims(**values)

    # -- grids ----------------------------------------------------------------------------------

    @cache  # noqa: B019
    def combinations(self, paper: str, experiment: str) -> list[Combination]:
        """Expand an experiment's grid."""
        definition = self.papers[paper].experiments[experiment]
        size = self._scale.papers[paper][experiment]
        found = []
        for block in definition.grid:
            for mechanism, epsilon, inputs, order, estimator, n in product(
                block.mechanism,
                block.epsilon,
                block.inputs,
                block.order,
                block.estimator,
                size.sizes(),
            ):
                samples = n
                if n == "planned":
                    samples = self._planned(paper, experiment, mechanism, epsilon, order, estimator)
                found.append(
                    Combination(mechanism, epsilon, inputs, order, estimator, samples, size.runs)
                )
        return found

    def _planned(
        self, paper: str, experiment: str, mechanism: str, epsilon: float, order: float, own: str
    ) -> str:
        file, key = str(self._file(f"papers/{paper}.yaml")), f"experiments.{experiment}.plan"
        plan = self.papers[paper].experiments[experiment].plan
        if plan is None:
            raise ConfigError(file, key, f"is missing, but scale {self.scale!r} says n: planned")
        name = plan.estimator or own
        if name not in self.estimators:
            raise ConfigError(
                file, key, f"unknown estimator {name!r}{suggest(name, self.estimators)}"
            )
        claims = self.claims(mechanism, epsilon)
        estimator = self.estimator(name)
        if not hasattr(estimator, "planned_samples"):
            raise ConfigError(file, key, f"{name} has no theorem that gives n")
        with _placed(file, f"{key}: {name} on {mechanism}"):
            return str(estimator.planned_samples(claims, order, plan.delta))

    @cache  # noqa: B019
    def check(self, combination: Combination) -> None:
        """Raise `ConfigError` unless the estimator applies to the mechanism and to such an n."""
        mechanism = self.mechanism(combination.mechanism, combination.epsilon)
        estimator = self.estimator(combination.estimator)
        two_stages = estimator.reads == "evidence"
        with self._estimating(combination):
            estimator.check(mechanism.outputs, combination.order)
            if estimator.reads == "densities":
                sides = len(self.input_values(combination.mechanism, combination.inputs))
                pairing = self.pairing(combination.mechanism, combination.inputs)
                own = pairing == "consecutive"
                estimator.check_pairs(len(pairs_of(sides, pairing)), own_samples=own)
            if two_stages != ("+" in combination.n):
                wanted = "two sizes, n+N" if two_stages else "one size"
                raise ArgumentError("n", f"must be {wanted}, got {combination.n}")
            if estimator.reads != "histograms" and ".." in combination.n:
                raise ArgumentError(
                    "n", "cannot be searched: only histograms are made of every prefix"
                )
        self.cells(combination)

    @cache  # noqa: B019
    def cells(self, combination: Combination) -> int:
        """Return the number of histogram cells an estimator wants; 0 if it reads none."""
        estimator = self.estimator(combination.estimator)
        if estimator.reads != "histograms":
            return 0
        claims = self.claims(combination.mechanism, combination.epsilon)
        with self._estimating(combination):
            return int(estimator.cells(claims, combination.order))

    def _estimating(self, combination: Combination) -> AbstractContextManager[None]:
        where = f"{combination.mechanism} at epsilon={paths.number(combination.epsilon)}"
        return _placed(str(self._file("estimators.yaml")), f"{combination.estimator} on {where}")

    def batches(self, combination: Combination) -> list[tuple[int, int]]:
        """Split the runs into files of at most ``batch_bytes`` (and at least one run)."""
        entries, size_of_one = self.numbers(combination.mechanism, combination.epsilon)
        sides = len(self.input_values(combination.mechanism, combination.inputs))
        draws = max(sides * paths.largest(combination.n), 2 * paths.fresh(combination.n))
        size = max(1, self.main.batch_bytes // (size_of_one * draws * entries))
        return [
            (first, min(first + size, combination.runs) - 1)
            for first in range(0, combination.runs, size)
        ]

    def numbers(self, mechanism: str, epsilon: float) -> tuple[int, int]:
        """Return how many numbers an output is, and the bytes of each."""
        made = self.mechanism(mechanism, epsilon)
        return dimension_of(made) or 1, _BYTES[made.outputs]

    @property
    def temporary_samples(self) -> bool:
        """Whether samples go as soon as they have been counted."""
        return self._scale.temporary_samples

    def where_results_are(self) -> str:
        """Return the lines that tell a user where to look, of what there is so far."""
        results = Path(paths.RESULTS.format(scale=self.scale))
        kinds = [kind for kind in ("tables", "figures", "estimates") if (results / kind).is_dir()]
        pages = [Path(paths.PAGE.format(scale=self.scale, paper=paper)) for paper in self.papers]
        lines = [f"Done: {', '.join(str(results / kind) for kind in kinds)}"]
        return "\n".join(lines + [f"  everything on one page: {p}" for p in pages if p.is_file()])


def _check_rates(file: str, rates: Mapping[str, config.Rate]) -> None:
    for rule in rates:
        if rule not in RULES:
            raise ConfigError(file, rule, f"unknown rule{suggest(rule, RULES)}")
    for rule in RULES:
        if rule not in rates:
            raise ConfigError(file, rule, "is missing")


def _check_known(file: str, key: str, kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ConfigError(file, key, f"unknown {kind} {name!r}{suggest(name, known)}")


def _load(registry: Registry, name: str, file: str, key: str) -> Any:
    """Import a registered name; a module that cannot be imported is told by its target."""
    try:
        return registry.load(name)
    except UnknownNameError as error:
        raise ConfigError(file, key, str(error)) from None
    except (ImportError, AttributeError, SyntaxError) as error:
        message = f"{registry[name]!r} cannot be imported: {one_line(error)}"
        raise ConfigError(file, key, message) from None


@contextmanager
def _placed(file: str, key: str) -> Iterator[None]:
    """Say where in the configuration the values came from that a formula refuses."""
    try:
        yield
    except (ArgumentError, ArithmeticError, TypeError, ValueError) as error:
        raise ConfigError(file, key, one_line(error)) from None
