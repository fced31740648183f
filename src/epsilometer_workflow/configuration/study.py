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
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from epsilometer.errors import ArgumentError, suggest
from epsilometer.estimators import ESTIMATORS
from epsilometer.estimators.base import Claims, pairs_of
from epsilometer.exact import EXACT
from epsilometer.mechanisms import MECHANISMS
from epsilometer.mechanisms.base import OUTPUT_KINDS, Mechanism, dimension_of
from epsilometer.settings.models import ModelType, parse
from epsilometer_workflow.configuration import config, functions
from epsilometer_workflow.files.parsing import Batch, Draws, spell
from epsilometer_workflow.files.place import Place

_READS = {  # by what estimators read: the methods that jobs call
    "histograms": ("cells", "estimate"),
    "densities": ("reduction", "check_pairs", "bounds", "trusted"),
    "losses": ("screen", "weigh"),
    "evidence": ("bound",),
    "verdicts": ("test", "tested"),
    "samples": ("estimate",),
}
_EXACT_CLAIMS = {"lipschitz": "lipschitz_output", "smallest_probability": "smallest_probability"}
"""The claims that may be ``exact``, and the attributes of exact distributions that have them."""
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
            raise Place(str(folder)).error("is not a folder; a study has its files there")
        self.overrides = dict(overrides or {})
        self.main = self._overridden(config.read(self._or_ours("config.yaml"), config.Main))
        self.scale = self.main.scale
        if self.scale not in self.main.scales:
            message = f"unknown scale {self.scale!r}{suggest(self.scale, self.main.scales)}"
            raise self.place_of("scale").error(message)
        self.code = [self._folder.parent / folder for folder in self.main.code]
        functions.look_in(folder for folder in self.code if folder.is_dir())
        self.mechanisms = self._entries("mechanisms.yaml", config.MechanismEntry)
        self.estimators = self._entries("estimators.yaml", config.EstimatorEntry)
        self.every_report: dict[str, config.Report] = {}
        self.reports: dict[str, config.Report] = {}  # that can be made at this scale
        for file in sorted(self.file("reports").glob("*.yaml")):
            report = config.read(file, config.Report)
            self.every_report[file.stem] = report
            if self.scale in report.scales or not report.experiments:
                self.reports[file.stem] = report

    def file(self, name: str) -> Path:
        """Return a file of the configuration."""
        return self._folder / name

    def place_of(self, key: str) -> Place:
        """Return where a key of ``config.yaml`` has its value from."""
        return Place("--config" if key in self.overrides else str(self.file("config.yaml")), key)

    def place_of_report(self, report: str) -> Place:
        """Return the file of a report."""
        return Place(str(self.file(f"reports/{report}.yaml")))

    def place_of_mechanism(self, name: str) -> Place:
        """Return the entry of a mechanism."""
        return Place(str(self.file("mechanisms.yaml")), name)

    def place_of_estimator(self, name: str) -> Place:
        """Return the entry of an estimator."""
        return Place(str(self.file("estimators.yaml")), name)

    def _or_ours(self, name: str) -> Path:
        """Return a file of the configuration, or of this repository's if the folder has none."""
        return self.file(name) if self.file(name).exists() else _OURS / name

    def _entries(self, name: str, model: type[ModelType]) -> dict[str, ModelType]:
        """Return the entries of a file, or of this repository's if a folder has reports alone."""
        needed = self.file(name).exists() or self.file("reports").is_dir()
        return config.read_entries(self._or_ours(name), model) if needed else {}

    @property
    def wanted(self) -> list[str]:
        """The reports that are made by default: all, unless some are named."""
        return self.main.reports or list(self.reports)

    def tables(self, patterns: Iterable[str]) -> list[tuple[str, str]]:
        """Return reports and artifacts of patterns such as ``report/*``, each once."""
        known = []
        for name, report in self.reports.items():
            known += [(name, artifact) for artifact in report.artifacts]
        tables: dict[tuple[str, str], None] = {}
        for pattern in patterns:
            for table in known:
                if fnmatchcase("/".join(table), pattern):
                    tables[table] = None
        return list(tables)

    def files(self, options: Mapping[str, str | list[str]]) -> dict[str, str | list[str]]:
        """Return the paths of files of the configuration that options name."""
        paths: dict[str, str | list[str]] = {}
        for option, names in options.items():
            if isinstance(names, str):
                paths[option] = str(self.file(names))
            else:
                paths[option] = [str(self.file(name)) for name in names]
        return paths

    def _overridden(self, main: config.Main) -> config.Main:
        known = list(config.Main.model_fields)
        for key in self.overrides:
            if key not in known:
                raise Place("--config", str(key)).error(f"unknown key{suggest(str(key), known)}")
        return parse(config.Main, vars(main) | self.overrides, "--config")

    # -- the objects of entries -----------------------------------------------------------------

    @cache  # noqa: B019 (a study lives as long as the process)
    def mechanism(self, name: str, epsilon: float) -> Mechanism:
        """Return the mechanism of an entry, calibrated."""
        entry = self.mechanisms[name]
        place = self.place_of_mechanism(name)
        registered = place.at("mechanism")
        kind = registered.load(MECHANISMS, entry.mechanism)
        _check_protocol(registered, entry.mechanism, kind, ("outputs", "check_input", "sample"))
        if kind.outputs not in OUTPUT_KINDS:
            wrong = f"has outputs {kind.outputs!r}, not one of {list(OUTPUT_KINDS)}"
            raise registered.error(f"{entry.mechanism} {wrong}")
        mechanism: Mechanism = _object_of(place, kind, entry.parameters, epsilon=epsilon)
        if OUTPUT_KINDS[kind.outputs].several and not hasattr(mechanism, "dimension"):
            message = f"{entry.mechanism} has outputs {kind.outputs!r} but no dimension"
            raise registered.error(message)
        return mechanism

    @cache  # noqa: B019
    def check_inputs(self, name: str, epsilon: float, inputs: str) -> None:
        """Raise `ConfigError` unless a mechanism takes its inputs of this name."""
        mechanism = self.mechanism(name, epsilon)
        with self.place_of_mechanism(name).at("inputs", inputs).named():
            for x in self.inputs(name, inputs).sides():
                mechanism.check_input(x)

    @cache  # noqa: B019
    def estimator(self, name: str) -> Any:
        """Return the estimator of an entry."""
        entry = self.estimators[name]
        place = self.place_of_estimator(name)
        registered = place.at("estimator")
        kind = registered.load(ESTIMATORS, entry.estimator)
        reads = str(getattr(kind, "reads", None))
        registered.check_known(f"`reads` of {entry.estimator}", reads, _READS)
        parts = ("check", "symmetric", "guarantee", "precision", *_READS[reads])
        _check_protocol(registered, entry.estimator, kind, parts)
        return _object_of(place, kind, entry.parameters)

    @cache  # noqa: B019
    def screen(self, name: str) -> str | None:
        """Return the entry that screens pairs for an entry; none where nothing is screened."""
        reads = self.estimator(name).reads
        if reads == "losses":
            return name
        if reads != "evidence":
            return None
        screen = str(self.estimators[name].parameters.get("after", ""))
        screens = [entry for entry in self.estimators if self.estimator(entry).reads == "losses"]
        place = self.place_of_estimator(name).at("parameters", "after")
        place.check_known("first stage", screen, screens)
        return screen

    def inputs(self, mechanism: str, name: str) -> config.Inputs:
        """Return a mechanism's inputs of a name."""
        return self.mechanisms[mechanism].inputs[name]

    @cache  # noqa: B019
    def claims(self, name: str, epsilon: float) -> Claims:
        """Return the provider's claims; ``exact`` claims are the truth."""
        entry = self.mechanisms[name]
        place = self.place_of_mechanism(name).at("claims")
        values = entry.claims.model_dump()
        for claim, attribute in _EXACT_CLAIMS.items():
            if values[claim] == "exact":
                law = place.at(claim).load(EXACT, entry.mechanism)
                if not hasattr(law, attribute):
                    raise place.at(claim).error("has no exact value, give a number")
                with place.at(claim).named():
                    values[claim] = getattr(law(self.mechanism(name, epsilon)), attribute)
        with place.named():
            return Claims(**values)

    # -- grids ----------------------------------------------------------------------------------

    @cache  # noqa: B019
    def combinations(self, report: str, experiment: str) -> list[Combination]:
        """Expand an experiment's grid."""
        definition = self.reports[report].experiments[experiment]
        size = self.reports[report].scales[self.scale][experiment]
        combinations = []
        for block in definition.grid:
            for point, n in product(block.points(), size.draws()):
                draws = n or self._planned(report, experiment, *point)
                combinations.append(Combination(*point, draws, size.runs))
        return combinations

    def _planned(self, report: str, experiment: str, *point: Any) -> Draws:
        """Return the n of a theorem at a point of an experiment's grid."""
        mechanism, epsilon, _, order, estimator_name = point
        place = self.place_of_report(report).at("experiments", experiment, "plan")
        plan = self.reports[report].experiments[experiment].plan
        if plan is None:
            raise place.error(f"is missing, but scale {self.scale!r} says n: planned")
        name = plan.estimator or estimator_name
        place.check_known("estimator", name, self.estimators)
        claims = self.claims(mechanism, epsilon)
        estimator = self.estimator(name)
        if not hasattr(estimator, "planned_samples"):
            others = [n for n in self.estimators if hasattr(self.estimator(n), "planned_samples")]
            wrong = f"{name} has no theorem that gives n{suggest(name, others)}"
            raise place.error(f"{wrong}; or give numbers in place of planned")
        target = Place(place.file, f"{place.key}: {name} on {mechanism}")
        with target.named(), self._claimed(mechanism, name):
            published = plan.as_published
            n = estimator.planned_samples(claims, order, plan.delta, as_published=published)
            return Draws(int(n))

    @cache  # noqa: B019
    def check(self, combination: Combination) -> None:
        """Raise `ConfigError` unless the estimator applies to the mechanism and to such an n."""
        mechanism = self.mechanism(combination.mechanism, combination.epsilon)
        self.check_inputs(combination.mechanism, combination.epsilon, combination.inputs)
        estimator = self.estimator(combination.estimator)
        screen = self.screen(combination.estimator)
        with self._estimating(combination):
            self._check_applies(combination.estimator, mechanism.outputs, combination.order)
            if estimator.reads == "evidence":
                self._check_applies(str(screen), mechanism.outputs, combination.order)
            if estimator.reads == "densities":
                inputs = self.inputs(combination.mechanism, combination.inputs)
                pairs = pairs_of(len(inputs.sides()), inputs.pairing)
                estimator.check_pairs(len(pairs), own_samples=inputs.pairing == "consecutive")
            _check_draws(estimator, combination.n)
        law = self.law(combination.mechanism, combination.epsilon)
        if estimator.reads == "verdicts" and law is not None and not hasattr(law, "spectrum"):
            message = f"its exact distribution has no spectrum, for {combination.estimator}"
            raise self.place_of_mechanism(combination.mechanism).at("mechanism").error(message)
        self.cells(combination)

    def _check_applies(self, name: str, outputs: str, order: float) -> None:
        """Raise `ArgumentError` unless an estimator takes such outputs, at such an order."""
        error = self._refusal(name, outputs, order)
        if error is not None and error.argument == "outputs":
            which = "none of the file does"
            if others := [e for e in self.estimators if not self._refusal(e, outputs, order)]:
                which = f"these do: {', '.join(others)}"
            wrong = str(error).removeprefix("outputs ")
            raise ArgumentError("outputs", f"{wrong}; {which}")
        if error is not None:
            raise error

    def _refusal(self, name: str, outputs: str, order: float) -> ArgumentError | None:
        """Return why an estimator does not take such outputs, at such an order; None if it does."""
        try:
            self.estimator(name).check(outputs, order)
        except ArgumentError as error:
            return error
        return None

    @cache  # noqa: B019
    def law(self, name: str, epsilon: float) -> Any:
        """Return the exact distribution of a mechanism; None where it is not known."""
        kind = self.mechanisms[name].mechanism
        place = self.place_of_mechanism(name).at("mechanism")
        if kind not in EXACT:
            return None
        law = place.load(EXACT, kind)
        with place.named():
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
        mechanism = combination.mechanism
        name = combination.estimator
        order = "" if math.isinf(combination.order) else f", lambda={spell(combination.order)}"
        target = f"{name} on {mechanism} at epsilon={spell(combination.epsilon)}{order}"
        with self.place_of_estimator(target).named(), self._claimed(mechanism, name):
            yield

    @contextmanager
    def _claimed(self, mechanism: str, estimator: str) -> Iterator[None]:
        """Turn the error about a claim that is missing into one that names its place."""
        try:
            yield
        except ArgumentError as error:
            claims = vars(self.mechanisms[mechanism].claims)
            if error.argument not in claims or claims[error.argument] is not None:
                raise
            place = self.place_of_mechanism(mechanism).at("claims")
            raise place.error(f"{error}, for {estimator}") from None

    def batches(self, combination: Combination) -> list[Batch]:
        """Split the runs into files of at most ``batch_bytes`` (and at least one run)."""
        entries, size_of_one = self.numbers(combination.mechanism, combination.epsilon)
        sides = len(self.inputs(combination.mechanism, combination.inputs).sides())
        draws = max(sides * combination.n.first, 2 * combination.n.fresh)
        size = max(1, self.main.batch_bytes // (size_of_one * draws * entries))
        firsts = range(0, combination.runs, size)
        return [Batch(first, min(first + size, combination.runs) - 1) for first in firsts]

    def numbers(self, mechanism: str, epsilon: float) -> tuple[int, int]:
        """Return the number of entries of an output, and the bytes of each."""
        calibrated = self.mechanism(mechanism, epsilon)
        return dimension_of(calibrated) or 1, OUTPUT_KINDS[calibrated.outputs].bytes


def listed(files: Mapping[str, str | list[str]]) -> list[str]:
    """Return the paths of all options that name files."""
    every = []
    for paths in files.values():
        every += [paths] if isinstance(paths, str) else paths
    return every


def _check_protocol(place: Place, name: str, kind: Any, parts: Iterable[str]) -> None:
    """Raise `ConfigError` unless a class is a dataclass with these attributes and methods."""
    if not hasattr(kind, "__dataclass_fields__"):
        raise place.error(f"{name} has no @dataclass decorator")
    for part in parts:
        if not hasattr(kind, part):
            raise place.error(f"{name} has no {part}")


def _object_of(place: Place, kind: Any, parameters: Mapping[str, Any], **more: float) -> Any:
    """Return the object of an entry; raise `ConfigError` unless its parameters are those known."""
    place = place.at("parameters")
    if "epsilon" in parameters:
        raise place.error("must not hold epsilon; grids give it")
    known = {field.name for field in fields(kind)} - {"epsilon"}
    for parameter in parameters:
        if parameter not in known:
            raise place.error(f"unknown {parameter!r}{suggest(parameter, known)}")
    for field in fields(kind):
        required = field.default is MISSING and field.default_factory is MISSING
        if required and field.name in known - set(parameters):
            raise place.error(f"{field.name!r} is missing")
    with place.named():
        return kind(**more, **parameters)


def _check_draws(estimator: Any, n: Draws) -> None:
    """Raise `ArgumentError` unless an estimator takes such numbers of draws."""
    two_stages = estimator.reads == "evidence"
    if two_stages != bool(n.fresh):
        expected = "two sizes, n+N" if two_stages else "one size"
        raise ArgumentError("n", f"must be {expected}, got {n}")
    if estimator.reads != "histograms":
        if n.searched:
            wrong = "cannot be searched: only histograms are made of every prefix"
            raise ArgumentError("n", wrong)
        if n.first < 2 or n.fresh == 1:
            raise ArgumentError("n", f"must be 2 or more, got {n}")
    if hasattr(estimator, "floor") and callable(estimator.floor):
        estimator.floor(n.first)  # refuses an n that is too small for it
