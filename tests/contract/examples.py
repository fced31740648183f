"""One example of every registered mechanism, which the contract suites run over.

A registered name without an example here fails the suites.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from epsilometer.exact import LAWS
from epsilometer.mechanisms import MECHANISMS


@dataclass(frozen=True)
class Example:
    """A mechanism, inputs of its domain, and inputs outside it."""

    parameters: dict[str, Any]
    inputs: tuple[Any, ...]
    outside: tuple[Any, ...]


EXAMPLES = {
    "bernoulli_pair": Example({"epsilon": 2.0, "budget": 3, "delta": 0.8}, (0, 1), (2, -1, 0.5)),
    "randomized_response": Example({"epsilon": 1.0, "outcomes": 5}, (0, 3), (5, -1, "0")),
    "truncated_gaussian": Example({"epsilon": 0.8}, (0.0, 1.0, 0.3), (-0.1, 1.1, None)),
    "truncated_laplace": Example({"epsilon": 1.5}, (0.0, 1.0, 0.3), (-0.1, 1.1, "x")),
}


def mechanism(name: str):
    """Make the example mechanism."""
    return MECHANISMS.load(name)(**EXAMPLES[name].parameters)


def law(name: str):
    """Make the exact law of the example mechanism."""
    return LAWS.load(name)(mechanism(name))
