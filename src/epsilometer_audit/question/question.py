"""A request whose mechanism is loaded and whose pairs are listed: what an audit answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from epsilometer.errors import ArgumentError
from epsilometer_audit.outputs.callables import Source, callable_source, load
from epsilometer_audit.question.pairs import Pair
from epsilometer_audit.question.request import Kind, NamedMechanism, Request

Method = Literal["anytime", "exact", "one run"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A request, the pairs by name (None: unknown inputs), and the description of the mechanism."""

    request: Request
    pairs: Mapping[str, Pair | None] = field(default_factory=lambda: {"": None})
    source: str = ""
    digest: Mapping[str, str] = field(default_factory=dict)  # of its files
    started: float = field(default_factory=time.perf_counter)

    @property
    def method(self) -> Method:
        """The test: an exact one, if all outputs exist already and the claim allows it."""
        if self.request.kind is Kind.ONE_RUN:
            return "one run"
        recorded = self.request.kind is Kind.OUTPUTS
        return "exact" if recorded and self.request.claim.events else "anytime"

    @property
    def checks_sampler(self) -> bool:
        """Whether to test that draws are independent; recorded outputs are in random order."""
        return self.request.kind is Kind.DRAWS and self.request.check_sampler

    @property
    def inputs(self) -> tuple[Pair, ...] | None:
        """The inputs of the pairs, if they are known."""
        return tuple(pair for pair in self.pairs.values() if pair is not None) or None


def source_of(request: Request) -> Source:
    """Return the source of a request's draws, for which a worker may have been started."""
    mechanism: Any = request.mechanism
    if isinstance(mechanism, NamedMechanism):
        return _source_of_name(mechanism, request)
    if all(hasattr(mechanism, name) for name in ("draw", "digest", "description", "seeded")):
        for name in ("timeout", "failures"):
            if getattr(request, name):
                raise ArgumentError(name, "is for the maker of a source, such as `load`")
        return mechanism  # type: ignore[no-any-return]
    return callable_source(mechanism, failures=request.failures, timeout=request.timeout)


def _source_of_name(named: NamedMechanism, request: Request) -> Source:
    from epsilometer_audit.outputs.worker import WorkerSource, python_worker

    options: dict[str, Any] = {"failures": request.failures}
    if request.timeout is not None:
        options["timeout"] = request.timeout
    if named.command is not None:
        return WorkerSource(named.command, **options)
    assert named.function is not None
    if named.environment is not None:
        raise ArgumentError("environment", "is made by studies only; name a python")
    if named.python is not None:
        return python_worker(named.python, named.function, parameters=named.parameters, **options)
    return load(named.function, parameters=named.parameters, **options)
