"""Numbers of cells, samples and grid points that a guarantee needs, before sampling.

gorla2022: equations (6) to (8) for pure local privacy (Algorithms 1 and 2), (12) to (16) and (18)
for Rényi (Algorithms 3 and 4), Theorem 3 for the safety check, Remark 2 for finite outputs. W is
the width of the output interval, C the Lipschitz constant of the output densities (in one over the
square of the unit of W), gamma the precision (in nats) and delta the confidence. An order of
infinity means pure privacy. Functions raise `ArgumentError` for numbers out of range and plans
beyond 1e40, and those that need (12) `NoGuaranteeError` unless C < 2/W^2.

Erratum: (7) bounds the error at the cell where the largest ratio was *observed* as if that cell
had been chosen beforehand. The functions take the union over all m cells instead, which is what
Theorem 2 needs; ``union=False`` gives the paper's own n, which does not keep its promise where
cells are many. (16) has the union already.
"""

import math
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

from epsilometer import checks
from epsilometer.errors import ArgumentError, NoGuaranteeError
from epsilometer.numerics.bisection import bisected

_BEYOND = 10**40  # plans above this are refused


@cache
def histogram_cells(
    *, gamma: float, lipschitz: float, width: float = 1.0, order: float = math.inf
) -> int:
    """Return m, equation (6), or the smallest m with (15) at a finite order.

    >>> histogram_cells(gamma=0.5, lipschitz=1.58198)  # Table III, epsilon = 1
    91
    """
    checks.positive("gamma", gamma)
    tau_0, tau_1 = _density_bounds(lipschitz, width)
    with localcontext(prec=60):
        c = _decimal(lipschitz)
        w = _decimal(width)
        g = _decimal(gamma)
        if math.isinf(checks.order("order", order)):
            return _ceil(6 * c * w / (tau_0 * g))
        a = _decimal(order)
        ratio = 2 * (tau_1 / tau_0) ** (2 * a - 1)  # K / K' of (13)
        return _ceil(c * w * ratio * (2 * a - 1) / (tau_0 * (a - 1) * g))


@cache
def sample_size(*, delta: float, **plan: Any) -> int:
    """Return n, the smallest number of samples a side with (7), or (16) at a finite order.

    ``plan`` has the arguments of `failure_bound`, and ``delta`` is the confidence.
    """
    allowed = 1 - checks.between_0_and_1("delta", delta)
    high = 1
    while failure_bound(high, **plan) > allowed:
        high *= 2
        if high > _BEYOND:
            raise ArgumentError("gamma", f"asks for more than {_BEYOND:.0e} samples a side")
    low = high // 2  # its bound is above, or it is 0; the bound falls with n
    return bisected(lambda n: failure_bound(n, **plan) > allowed, low, high, 1)[1]


def failure_bound(
    n: int,
    *,
    gamma: float,
    lipschitz: float | None = None,
    width: float = 1.0,
    outcomes: int | None = None,
    smallest_probability: float | None = None,
    order: float = math.inf,
    union: bool = True,
) -> float:
    """Return the left side of (7), or 1 minus (16): the chance that n samples miss the precision.

    It is 0 for a single cell, which holds every sample, though not in the paper's formula. Outputs
    have ``lipschitz`` densities, or finitely many ``outcomes``, none rarer than given (Remark 2).
    Without discretisation error each count may be off by a factor e^(gamma/2) (pure), or
    e^(gamma (order - 1)/(2 order - 1)) (Rényi: the sum changes by at most e^((order - 1) gamma)).
    """
    checks.integer("n", n, maximum=2 * _BEYOND)
    checks.positive("gamma", gamma)
    pure = math.isinf(checks.order("order", order))
    if outcomes is not None:
        cells = checks.integer("outcomes", outcomes, minimum=2)
        smallest = checks.between_0_and_1("smallest_probability", smallest_probability)
        precision = gamma / 2 if pure else gamma * (order - 1) / (2 * order - 1)
    else:
        assert lipschitz is not None
        cells = histogram_cells(gamma=gamma, lipschitz=lipschitz, width=width, order=order)
        if cells == 1 and union:
            return 0.0
        tau_0, tau_1 = map(float, _density_bounds(lipschitz, width))
        smallest = width / cells * tau_0  # no cell is less likely
        if pure:
            precision = gamma / 12
        else:
            ratio = 2 * (tau_1 / tau_0) ** (2 * order - 1)
            precision = min(gamma / ratio * (order - 1) / 2, math.log(2)) / (2 * order - 1)  # (14)
    # deviations in (7): of every cell on both sides, or of the paper's two cells
    terms = 4 if pure and not union else 2 * cells
    miss = math.exp(_log_miss(n, smallest))
    return 2 * cells * miss + terms * _deviation(n, smallest, precision)


def input_buckets(
    *,
    gamma: float,
    lipschitz: float,
    lipschitz_input: float,
    width: float = 1.0,
    order: float = math.inf,
) -> int:
    """Return k, the grid points on inputs in [0, 1] (Algorithm 2, step 3; (18) at finite order).

    >>> input_buckets(gamma=0.5, lipschitz=1.58198, lipschitz_input=3.16395)
    91
    """
    checks.positive("gamma", gamma)
    checks.positive("lipschitz_input", lipschitz_input)
    tau_0, tau_1 = _density_bounds(lipschitz, width)
    with localcontext(prec=60):
        base = 3 * _decimal(lipschitz_input) / (tau_0 * _decimal(gamma))
        if math.isinf(checks.order("order", order)):
            return _ceil(base)
        a = _decimal(order)
        return _ceil(base * (2 * a - 1) * (tau_1 / tau_0) ** (2 * a - 1) / (a - 1))


def safety_slack(*, lipschitz: float, cells: int, width: float = 1.0) -> float:
    """Return c = C w^2 / 2, the paper's choice for event (9)."""
    cell_width = width / checks.integer("cells", cells)
    return checks.positive("lipschitz", lipschitz) * cell_width**2 / 2


def safety_sample_size(*, slack: float, cells: int, probability: float) -> int:
    """Return the smallest n with 1 - 8 m exp(-n c^2 / 3) >= ``probability`` (Theorem 3)."""
    checks.positive("slack", slack)
    checks.between_0_and_1("probability", probability)
    cells = checks.integer("cells", cells)
    with localcontext(prec=60):
        tail = (8 * Decimal(cells) / (1 - _decimal(probability))).ln()
        samples = 3 * tail / _decimal(slack) ** 2
        if samples > _BEYOND:
            raise ArgumentError("slack", f"asks for more than {_BEYOND:.0e} samples a side")
        return max(math.ceil(samples), 1)


def _density_bounds(lipschitz: float, width: float) -> tuple[Decimal, Decimal]:
    """Return tau_0 and tau_1 of (12): every C-Lipschitz density on the interval lies between."""
    checks.positive("lipschitz", lipschitz)
    checks.positive("width", width)
    with localcontext(prec=60):
        c = _decimal(lipschitz)
        w = _decimal(width)
        if c * w * w >= 2:
            raise NoGuaranteeError(
                "lipschitz",
                f"C = {lipschitz:.6g} must be below 2/W^2 = {2 / width**2:.6g} for a guarantee",
            )
        return 1 / w - c * w / 2, 1 / w + c * w / 2


def _log_miss(n: int, p: float) -> float:
    """Return the log probability that n samples all miss a cell of probability p, rounded to 1."""
    return n * math.log1p(-p) if p < 1 else -math.inf


def _deviation(n: int, p: float, gamma: float) -> float:
    """Return f(n, p, gamma) of (8): Chernoff on |log S_n - log np| > gamma, given S_n > 0."""
    # (e^g - 1)^2 / (1 + e^g), with the larger exponential cancelled
    above = math.exp(-n * p * math.expm1(min(gamma, 700.0)) * math.tanh(gamma / 2))
    below = math.exp(-n * p * math.expm1(-gamma) ** 2 / 2)
    return (above + below) / -math.expm1(_log_miss(n, p))


def _decimal(value: float) -> Decimal:
    """Return the number as written: 0.1 is a tenth, so that ceilings are those of the formula."""
    return Decimal(repr(float(value)))


def _ceil(value: Decimal) -> int:
    if value > _BEYOND:
        raise ArgumentError("gamma", f"asks for more than {_BEYOND:.0e} cells or grid points")
    nearest = value.to_integral_value()
    if abs(value - nearest) <= Decimal("1e-40") * max(abs(value), Decimal(1)):
        return max(int(nearest), 1)
    return max(math.ceil(value), 1)
