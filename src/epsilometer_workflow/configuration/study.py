"""The study: the configuration at one scale.

It makes objects of entries (a calibrated mechanism, an estimator, a provider's claims) and expands
every grid into combinations of mechanism x epsilon x inputs x lambda x estimator.
`products.checking` checks all of it; the files of each rule are in `products`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import chain, product
from pathlib import Path
from typing import Any, Literal

from epsilometer.errors import ArgumentError, ConfigError, UnknownNameError, one_line, suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims, Estimator, pairs_of
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of
from epsilometer.models import ModelType, parse
from epsilometer.registry import Registry
from epsilometer_workflow.configuration import config, functions
from epsilometer_workflow.files.parsing import Batch, Draws, spell

_READS = {  # by what estimators read: the methods that jobs call
    "histograms": ("cells", "estimate"),
    "densities": ("reduction", "check_pairs", "bounds", "trusted"),
    "losses": ("screen", "weigh"),
    "evidence": ("bound",),
    "verdicts": ("test", "tested"),
    "samples": ("estimate",),
}
_OURS = Path(__file__).parents[3] / "config"


@dataclass(frozen=True)
class Combination:
    """One point of a grid, with its number of draws: a file of estimates."""

    mechanism: str
    epsilon: float
    inputs: str
    order: float
    estimator: str
    n: Draws
    runs: int

    @property
    def axes(self) -> dict[str, Any]:
        """Its identity, by the columns of the rows that jobs write (`reports.grouping`)."""
        named = {"mechanism": self.mechanism, "epsilon": self.epsilon, "inputs": self.inputs}
        named |= {"lambda": spell(self.order), "estimator": self.estimator}
        return named | {"n": self.n.first, "fresh": self.n.fresh}


class Study:
    """The whole configuration at one scale."""

    def __init__(
        self, folder: str | Path = "config", overrides: Mapping[str, Any] | None = None
    ) -> None:
        """Read a folder's configuration; `checking.checked` also checks it."""
        self._folder = Path(folder)
        if not self._folder.is_dir():
            raise ConfigError(str(folder), "", "is not a folder; a study has its files there")
        main = config.read(self._or_ours("config.yaml"), config.Main)
        self.overrides = dict(overrides or {})
        self.main = self._overridden(main)
        self.scale = self.main.scale
        if self.scale not in self.main.scales:
            message = f"unknown scale {self.scale!r}{suggest(self.scale, self.main.scales)}"
            raise ConfigError(self.place_of("scale"), "scale", message)
        self.code = [self._folder.parent / folder for folder in self.main.code]
        functions.look_in(folder for folder in self.code if folder.is_dir())
        self.mechanisms = self._entries("mechanisms.yaml", config.MechanismEntry)
        self.estimators = self._entries("estimators.yaml", config.EstimatorEntry)
        self.every_report = {
            file.stem: config.read(file, config.Report)
            for file in sorted(self.file("reports").glob("*.yaml"))
        }
        self.reports = {  # that can be made at this scale
            name: report
            for name, report in self.every_report.items()
            if self.scale in report.scales or not report.experiments
        }

    def file(self, name: str) -> Path:
        """Return a file of the configuration."""
        return self._folder / name

    def place_of(self, key: str) -> str:
        """Return where a key of ``config.yaml`` has its value from, for messages."""
        return "--config" if key in self.overrides else str(self.file("config.yaml"))

    def _or_ours(self, name: str) -> Path:
        """Return a file of the configuration, or of this repository's if the folder has none."""
        return self.file(name) if self.file(name).exists() else _OURS / name

    def _entries(self, name: str, model: type[ModelType]) -> dict[str, ModelType]:
        """Return the entries of a file, or of this repository's if a folder has reports alone."""
        needed = self.file(name).exists() or self.file("reports").is_dir()
        return config.read_entries(self._or_ours(name), model) if needed else {}

    def report_file(self, report: str) -> str:
        """Return the file of a report."""
        return str(self.file(f"reports/{report}.yaml"))

    @property
    def wanted(self) -> list[str]:
        """The reports that are made by default: all, unless some are named."""
        return self.main.reports or list(self.reports)

    def tables(self, patterns: Iterable[str]) -> list[tuple[str, str]]:
        """Return reports and artifacts of patterns such as ``report/*``, each once."""
        known = [(r, a) for r, report in self.reports.items() for a in report.artifacts]
        tables = [name for p in patterns for name in known if fnmatchcase("/".join(name), p)]
        return list(dict.fromkeys(tables))

    def files(self, options: Mapping[str, str | list[str]]) -> dict[str, str | list[str]]:
        """Return the paths of files of the configuration that options name."""
        return {
            option: str(self.file(name))
            if isinstance(name, str)
            else [str(self.file(part)) for part in name]
            for option, name in options.items()
        }

    @property
    def temporary_samples(self) -> bool:
        """Whether samples are deleted once they have been reduced."""
        return self.main.scales[self.scale].temporary_samples

    def _overridden(self, main: config.Main) -> config.Main:
        known = list(config.Main.model_fields)
        for key in self.overrides:
            if key not in known:
                raise ConfigError("--config", str(key), f"unknown key{suggest(str(key), known)}")
        return parse(config.Main, vars(main) | self.overrides, "--config")

    # -- the objects of entries -----------------------------------------------------------------

    @cache  # noqa: B019 (a study lives as long as the process)
    def mechanism(self, name: str, epsilon: float) -> Mechanism:
        """Return the mechanism of an entry, calibrated."""
        entry = self.mechanisms[name]
        file = str(self.file("mechanisms.yaml"))
        kind = load_entry(MECHANISMS, entry.mechanism, file, f"{name}.mechanism")
        parts = "outputs", "check_input", "sample"
        _check_protocol(file, f"{name}.mechanism", entry.mechanism, kind, parts)
        if kind.outputs not in OUTPUT_KINDS:
            wrong = f"has outputs {kind.outputs!r}, not one of {list(OUTPUT_KINDS)}"
            raise ConfigError(file, f"{name}.mechanism", f"{entry.mechanism} {wrong}")
        self._check_parameters(file, name, kind, entry.parameters)
        with placed(file, f"{name}.parameters"):
            mechanism: Mechanism = kind(epsilon=epsilon, **entry.parameters)
        if OUTPUT_KINDS[kind.outputs].several and not hasattr(mechanism, "dimension"):
            message = f"{entry.mechanism} has outputs {kind.outputs!r} but no dimension"
            raise ConfigError(file, f"{name}.mechanism", message)
        return mechanism

    @cache  # noqa: B019
    def check_inputs(self, name: str, epsilon: float, inputs: str) -> None:
        """Raise `ConfigError` unless a mechanism takes its inputs of this name."""
        mechanism = self.mechanism(name, epsilon)
        with placed(str(self.file("mechanisms.yaml")), f"{name}.inputs.{inputs}"):
            for x in self.input_values(name, inputs):
                mechanism.check_input(x)

    @cache  # noqa: B019
    def estimator(self, name: str) -> Any:
        """Return the estimator of an entry."""
        entry = self.estimators[name]
        file = str(self.file("estimators.yaml"))
        kind = load_entry(ESTIMATORS, entry.estimator, file, f"{name}.estimator")
        reads, key = str(getattr(kind, "reads", None)), f"{name}.estimator"
        check_known(file, key, f"`reads` of {entry.estimator}", reads, _READS)
        parts = ("check", "symmetric", "guarantee", "precision", *_READS[reads])
        _check_protocol(file, key, entry.estimator, kind, parts)
        self._check_parameters(file, name, kind, entry.parameters)
        with placed(file, f"{name}.parameters"):
            estimator: Estimator = kind(**entry.parameters)
        return estimator

    def _check_parameters(
        self, file: str, name: str, kind: Any, parameters: Mapping[str, Any]
    ) -> None:
        if "epsilon" in parameters:
            raise ConfigError(file, f"{name}.parameters", "must not hold epsilon; grids give it")
        known = {field.name for field in fields(kind)} - {"epsilon"}
        for parameter in parameters:
            if parameter not in known:
                unknown = f"unknown {parameter!r}{suggest(parameter, known)}"
                raise ConfigError(file, f"{name}.parameters", unknown)
        for field in fields(kind):
            required = field.default is MISSING and field.default_factory is MISSING
            if required and field.name in known - set(parameters):
                raise ConfigError(file, f"{name}.parameters", f"{field.name!r} is missing")

    @cache  # noqa: B019
    def screen(self, name: str) -> str | None:
        """Return the entry that screens pairs for an entry; none where nothing is screened."""
        reads = self.estimator(name).reads
        if reads not in ("losses", "evidence"):
            return None
        file, key = str(self.file("estimators.yaml")), f"{name}.parameters.after"
        screen = name if reads == "losses" else self.estimators[name].parameters.get("after", "")
        screens = [entry for entry in self.estimators if self.estimator(entry).reads == "losses"]
        check_known(file, key, "first stage", str(screen), screens)
        return str(screen)

    def input_values(self, mechanism: str, inputs: str) -> list[Any]:
        """Return the inputs, one a side."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        return entry if isinstance(entry, list) else entry.sides()

    def pairing(self, mechanism: str, inputs: str) -> Literal["all", "consecutive"]:
        """Return the pairs of sides: ``all``, or ``consecutive`` where each pair has its own."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        if isinstance(entry, list) or (isinstance(entry, config.Grid) and entry.samples != "fresh"):
            return "all"
        return "consecutive"

    def pair_names(self, mechanism: str, inputs: str) -> list[str] | None:
        """Return the names of the pairs, if they have names."""
        entry = self.mechanisms[mechanism].inputs[inputs]
        return entry.names() if hasattr(entry, "names") else None

    @cache  # noqa: B019
    def claims(self, name: str, epsilon: float) -> Claims:
        """Return the provider's claims; ``exact`` claims are the truth."""
        entry = self.mechanisms[name]
        file, key = str(self.file("mechanisms.yaml")), f"{name}.claims"
        values = entry.claims.model_dump()
        for claim in ("lipschitz", "smallest_probability"):
            if values[claim] == "exact":
                attribute = {"lipschitz": "lipschitz_output"}.get(claim, claim)
                law = load_entry(EXACT, entry.mechanism, file, f"{key}.{claim}")
                if not hasattr(law, attribute):
                    raise ConfigError(file, f"{key}.{claim}", "has no exact value, give a number")
                with placed(file, f"{key}.{claim}"):
                    values[claim] = getattr(law(self.mechanism(name, epsilon)), attribute)
        with placed(file, key):
            return Claims(**values)

    # -- grids ----------------------------------------------------------------------------------

    @cache  # noqa: B019
    def combinations(self, report: str, experiment: str) -> list[Combination]:
        """Expand an experiment's grid."""
        definition = self.reports[report].experiments[experiment]
        size = self.reports[report].scales[self.scale][experiment]
        points: Iterator[Any] = chain.from_iterable(
            product(b.mechanism, b.epsilon, b.inputs, b.order, b.estimator, size.draws())
            for b in definition.grid
        )
        planned = partial(self._planned, report, experiment)
        values = ([*point, n or planned(*point), size.runs] for *point, n in points)
        return [Combination(*point) for point in values]

    def _planned(self, report: str, experiment: str, *point: Any) -> Draws:
        """Return the n of a theorem at a point of an experiment's grid."""
        mechanism, epsilon, _, order, estimator_name = point
        file, key = self.report_file(report), f"experiments.{experiment}.plan"
        plan = self.reports[report].experiments[experiment].plan
        if plan is None:
            raise ConfigError(file, key, f"is missing, but scale {self.scale!r} says n: planned")
        name = plan.estimator or estimator_name
        check_known(file, key, "estimator", name, self.estimators)
        claims = self.claims(mechanism, epsilon)
        estimator = self.estimator(name)
        if not hasattr(estimator, "planned_samples"):
            others = [n for n in self.estimators if hasattr(self.estimator(n), "planned_samples")]
            wrong = f"{name} has no theorem that gives n{suggest(name, others)}"
            raise ConfigError(file, key, f"{wrong}; or give numbers in place of planned")
        with placed(file, f"{key}: {name} on {mechanism}"), self._claimed(mechanism, name):
            published = plan.as_published
            n = estimator.planned_samples(claims, order, plan.delta, as_published=published)
            return Draws(int(n))

    def parameters(self, combination: Combination) -> dict[str, Any]:
        """Return the parameters of a combination's mechanism and estimator."""
        of_mechanism = self.mechanisms[combination.mechanism].parameters
        return {**of_mechanism, **self.estimators[combination.estimator].parameters}

    @cache  # noqa: B019
    def check(self, combination: Combination) -> None:
        """Raise `ConfigError` unless the estimator applies to the mechanism and to such an n."""
        mechanism = self.mechanism(combination.mechanism, combination.epsilon)
        self.check_inputs(combination.mechanism, combination.epsilon, combination.inputs)
        estimator, n = self.estimator(combination.estimator), combination.n
        two_stages, screen = estimator.reads == "evidence", self.screen(combination.estimator)
        with self._estimating(combination):
            for name in (combination.estimator, *([screen] if two_stages else [])):
                self._check_applies(str(name), mechanism.outputs, combination.order)
            if estimator.reads == "densities":
                sides = len(self.input_values(combination.mechanism, combination.inputs))
                pairing = self.pairing(combination.mechanism, combination.inputs)
                own_samples = pairing == "consecutive"
                estimator.check_pairs(len(pairs_of(sides, pairing)), own_samples=own_samples)
            if two_stages != bool(n.fresh):
                expected = "two sizes, n+N" if two_stages else "one size"
                raise ArgumentError("n", f"must be {expected}, got {n}")
            if estimator.reads != "histograms" and n.searched:
                wrong = "cannot be searched: only histograms are made of every prefix"
                raise ArgumentError("n", wrong)
            if estimator.reads != "histograms" and min(n.first, n.fresh or 2) < 2:
                raise ArgumentError("n", f"must be 2 or more, got {n}")
            if hasattr(estimator, "floor") and callable(estimator.floor):
                estimator.floor(n.first)  # refuses an n that is too small for it
        law = self.law(combination.mechanism, combination.epsilon)
        if estimator.reads == "verdicts" and law is not None and not hasattr(law, "spectrum"):
            file, key = str(self.file("mechanisms.yaml")), f"{combination.mechanism}.mechanism"
            message = f"its exact distribution has no spectrum, for {combination.estimator}"
            raise ConfigError(file, key, message)
        self.cells(combination)

    def _check_applies(self, name: str, outputs: str, order: float) -> None:
        """Raise `ArgumentError` unless an estimator takes such outputs, at such an order."""
        try:
            self.estimator(name).check(outputs, order)
        except ArgumentError as error:
            said = str(error).removeprefix(f"{error.argument} ")
            if error.argument == "outputs":
                others = [other for other in self.estimators if self._takes(other, outputs, order)]
                which = f"these do: {', '.join(others)}" if others else "none of the file does"
                raise ArgumentError("outputs", f"{said}; {which}") from None
            raise

    def _takes(self, name: str, outputs: str, order: float) -> bool:
        """Return whether an estimator takes such outputs, at such an order."""
        try:
            self.estimator(name).check(outputs, order)
        except ArgumentError:
            return False
        return True

    @cache  # noqa: B019
    def law(self, name: str, epsilon: float) -> Any:
        """Return the exact distribution of a mechanism; None where it is not known."""
        kind, file = self.mechanisms[name].mechanism, str(self.file("mechanisms.yaml"))
        if kind not in EXACT:
            return None
        law = load_entry(EXACT, kind, file, f"{name}.mechanism")
        with placed(file, f"{name}.mechanism"):
            return law(self.mechanism(name, epsilon))

    @cache  # noqa: B019
    def cells(self, combination: Combination) -> int:
        """Return the number of histogram cells an estimator wants; 0 if it reads none."""
        estimator = self.estimator(combination.estimator)
        if estimator.reads != "histograms":
            return 0
        claims = self.claims(combination.mechanism, combination.epsilon)
        with self._estimating(combination):
            return int(estimator.cells(claims, combination.order))

    @contextmanager
    def _estimating(self, combination: Combination) -> Iterator[None]:
        """Turn errors about an estimator into errors that name the file to be mended."""
        mechanism, name = combination.mechanism, combination.estimator
        order = "" if math.isinf(combination.order) else f", lambda={spell(combination.order)}"
        target = f"{name} on {mechanism} at epsilon={spell(combination.epsilon)}{order}"
        with placed(str(self.file("estimators.yaml")), target), self._claimed(mechanism, name):
            yield

    @contextmanager
    def _claimed(self, mechanism: str, estimator: str) -> Iterator[None]:
        """Turn the error about a claim that is missing into one that names its place."""
        try:
            yield
        except ArgumentError as error:
            claims = vars(self.mechanisms[mechanism].claims)
            if claims.get(error.argument, error) is not None:
                raise
            file, key = str(self.file("mechanisms.yaml")), f"{mechanism}.claims"
            raise ConfigError(file, key, f"{error}, for {estimator}") from None

    def batches(self, combination: Combination) -> list[Batch]:
        """Split the runs into files of at most ``batch_bytes`` (and at least one run)."""
        entries, size_of_one = self.numbers(combination.mechanism, combination.epsilon)
        sides = len(self.input_values(combination.mechanism, combination.inputs))
        draws = max(sides * combination.n.first, 2 * combination.n.fresh)
        size = max(1, self.main.batch_bytes // (size_of_one * draws * entries))
        return [
            Batch(first, min(first + size, combination.runs) - 1)
            for first in range(0, combination.runs, size)
        ]

    def numbers(self, mechanism: str, epsilon: float) -> tuple[int, int]:
        """Return the number of entries of an output, and the bytes of each."""
        calibrated = self.mechanism(mechanism, epsilon)
        return dimension_of(calibrated) or 1, OUTPUT_KINDS[calibrated.outputs].bytes


def listed(files: Mapping[str, str | list[str]]) -> list[str]:
    """Return the paths of all options that name files."""
    return [
        path for paths in files.values() for path in ([paths] if isinstance(paths, str) else paths)
    ]


def check_known(file: str, key: str, kind: str, name: str, known: Iterable[str]) -> None:
    """Raise `ConfigError` unless a name is known."""
    if name not in known:
        raise ConfigError(file, key, f"unknown {kind} {name!r}{suggest(name, known)}")


def _check_protocol(file: str, key: str, name: str, kind: Any, parts: Iterable[str]) -> None:
    """Raise `ConfigError` unless a class is a dataclass with these attributes and methods."""
    for part in ("__dataclass_fields__", *parts):
        if not hasattr(kind, part):
            lacks = part.replace("__dataclass_fields__", "@dataclass decorator")
            raise ConfigError(file, key, f"{name} has no {lacks}")


def load_entry(registry: Registry, name: str, file: str, key: str) -> Any:
    """Import a registered name; the error of a failed import names the module."""
    try:
        return registry.load(name)
    except UnknownNameError as error:
        raise ConfigError(file, key, str(error)) from None
    except (ImportError, AttributeError, SyntaxError) as error:
        message = f"{registry[name]!r} cannot be imported: {one_line(error)}"
        raise ConfigError(file, key, message) from None


@contextmanager
def placed(file: str, key: str) -> Iterator[None]:
    """Turn errors of a formula into errors that name the place in the configuration."""
    try:
        yield
    except (ArgumentError, ArithmeticError, TypeError, ValueError, UnknownNameError) as error:
        raise ConfigError(file, key, one_line(error)) from None
