"""Any classifier of scikit-learn, by its name and parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from epsilometer.classifiers.base import Votes, units_of
from epsilometer.errors import ArgumentError, one_line, suggest
from epsilometer.numerics.arrays import Floats, Sample


@dataclass(frozen=True)
class ScikitLearn:
    """A scikit-learn classifier, as ``sklearn.neural_network.MLPClassifier``.

    Parameters
    ----------
    name
        Its full name.
    options
        Its parameters; ``random_state`` follows from the run's seed.
    before
        Transformers of the outputs before it, each with ``name`` and ``options``.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    before: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.options, Mapping):
            raise ArgumentError("options", f"must be a mapping, got {self.options!r}")
        if not isinstance(self.before, Sequence) or isinstance(self.before, str):
            raise ArgumentError("before", f"must be a list of steps, got {self.before!r}")
        for step in self.before:
            if not isinstance(step, Mapping) or not {"name"} <= set(step) <= {"name", "options"}:
                raise ArgumentError("before", f"must hold steps of name and options, got {step!r}")

    def _steps(self) -> list[tuple[str, Mapping[str, Any], str]]:
        """Return name, options and kind of each step."""
        before = [(step["name"], step.get("options", {}), "transformer") for step in self.before]
        return [*before, (self.name, self.options, "classifier")]

    def check(self, outputs: str) -> None:
        """Raise `ArgumentError` unless outputs are numbers or vectors of numbers.

        It also refuses unknown names and options: here, as the import of scikit-learn takes long.
        """
        if outputs in ("mixed", "bits"):
            raise ArgumentError("outputs", f"must be numbers or vectors of them, not {outputs}")
        for name, options, kind in self._steps():
            try:
                known = set(_kind(name, kind)().get_params(deep=False)) - {"random_state"}
            except TypeError:
                raise ArgumentError("name", f"{name!r} cannot be made from options") from None
            for option in options:
                if option not in known:
                    message = f"has unknown {option!r} of {name}{suggest(option, known)}"
                    raise ArgumentError("options", message)
            step = _kind(name, kind)(**_lists_as_tuples(options))
            try:
                getattr(step, "_validate_params", step.get_params)()  # fit calls it, too
            except ValueError as error:
                raise ArgumentError("options", f"{name} refuses: {one_line(error)}") from None

    def fit(self, x: Sample, x_prime: Sample, training: int, seed: int) -> FittedScikitLearn:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.pipeline import make_pipeline

        if not len(x) or not len(x_prime):
            raise ArgumentError("x", "has no draws of one side to train on")
        steps = []
        for name, options, kind in self._steps():
            step = _kind(name, kind)(**_lists_as_tuples(options))
            if "random_state" in step.get_params(deep=False):
                step.set_params(random_state=seed)
            steps.append(step)
        model = make_pipeline(*steps)
        rows = np.concatenate([x, x_prime])
        labels = np.repeat([0, 1], [len(x), len(x_prime)])
        if hasattr(model[-1], "kneighbors"):
            # among ties it takes the first rows, which must not depend on the label
            order = np.random.default_rng(seed).permutation(len(rows))
            rows = rows[order]
            labels = labels[order]
        units = units_of(_rows(x), _rows(x_prime), alike=hasattr(model[-1], "kneighbors"))
        try:
            # the configured number of passes is enough, converged or not
            with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
                model.fit(_rows(rows) / units, labels)
        except (TypeError, ValueError, IndexError) as error:
            raise ArgumentError("options", f"{self.name} refuses: {one_line(error)}") from None
        return FittedScikitLearn(model, units)


@dataclass(frozen=True)
class FittedScikitLearn:
    """A trained model, and the units of the entries in training, of shape ``(d,)``."""

    model: Any
    units: Floats

    def votes(self, outputs: Sample) -> Votes:
        """Return the odds of every output: of its probabilities, where the model has any."""
        rows = _rows(outputs) / self.units
        try:
            if hasattr(self.model, "predict_proba"):
                chances = self.model.predict_proba(rows)
            else:
                chances = np.eye(2)[self.model.predict(rows)]
        except (TypeError, ValueError) as error:
            message = f"make a classifier that fails: {one_line(error)}"
            raise ArgumentError("options", message) from None
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.log(chances[:, 1].astype(float)) - np.log(chances[:, 0].astype(float))
        # without any chance of either, as where no neighbour has weight, the odds are even
        return Votes(np.where(np.isnan(odds), 0.0, odds), np.ones(len(outputs), np.int64))


def _kind(name: str, kind: str) -> Any:
    """Return a classifier or transformer of scikit-learn by its full name.

    No other module is imported. Raise `ArgumentError` for a name of anything else.
    """
    module, _, attribute = str(name).rpartition(".")
    if module.split(".")[0] != "sklearn":
        raise ArgumentError("name", f"must be of scikit-learn, as sklearn.svm.SVC, got {name!r}")
    try:
        estimator = getattr(import_module(module), attribute)
    except (ImportError, AttributeError):
        raise ArgumentError("name", f"{name!r} is not in scikit-learn") from None
    from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

    mixin = ClassifierMixin if kind == "classifier" else TransformerMixin
    bases = estimator.__mro__ if isinstance(estimator, type) else ()
    if mixin not in bases or BaseEstimator not in bases:
        raise ArgumentError("name", f"must be a {kind} of scikit-learn, got {name!r}")
    return estimator


def _rows(outputs: Sample) -> Sample:
    return outputs.reshape(len(outputs), -1)


def _lists_as_tuples(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with tuples for lists, as YAML has no tuples."""
    return {key: tuple(v) if isinstance(v, list) else v for key, v in options.items()}
