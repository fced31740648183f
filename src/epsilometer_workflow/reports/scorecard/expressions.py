"""The language of a rule: a number, or a word, from the columns of tables.

Python's own notation for arithmetic, comparisons, ``and``, ``or``, ``not`` and ``in``, element by
element, ``x[condition]`` for the rows where a condition holds, ``table.column`` or
``table["column"]``, and the functions of `FUNCTIONS`. Nothing else is read, so that a configuration
can name no code. Numbers are equal when they agree to nine digits. What pandas evaluates has no
reductions, and no two tables.

>>> Expression("max(n_pr / n_th)").value({"n_pr": np.array([1, 3]), "n_th": np.array([4, 4])})
0.75
>>> Expression("falls(sd, n)").value({"sd": np.array([.1, .3]), "n": np.array([16, 4])})
True
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epsilometer.errors import EpsilometerError, one_line, suggest

Value = Any
"""A number, a word, a truth value, or an array of them, of shape ``(rows,)``."""

_DIGITS = 1e-9
_RESERVED = "lambda"  # a column of many tables, and a word of Python's


class ExpressionError(EpsilometerError):
    """The text of a rule is no expression, or has no value in these tables."""


class UnknownName(ExpressionError):  # noqa: N818 (as in a message: unknown name)
    """A table, column or function that there is not, whatever was drawn."""


def numbers_in(text: object) -> list[float]:
    """Return the numbers that a text holds, in order.

    >>> numbers_in("n=2e4, tau=1e-3, [.5, 7]")
    [20000.0, 0.001, 0.5, 7.0]
    """
    result = re.findall(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", str(text))
    return [float(number) for number in result]


def as_number(text: object) -> float | None:
    """Return the number that a text is, or nothing where it is more than a number.

    >>> as_number(".22"), as_number("about 400")
    (0.22, None)
    """
    try:
        return float(str(text))
    except ValueError:
        return None


def rounding(text: str) -> float:
    """Return half a unit of the last digit of a number as it is written.

    >>> rounding("9.25"), rounding("8.7e6"), rounding("9588")
    (0.005, 50000.0, 0.5)
    """
    written = re.fullmatch(r"[-+]?(\d*)\.?(\d*)(?:[eE]([-+]?\d+))?", text.strip())
    if not written or not written[1] + written[2]:
        raise ExpressionError(f"{text!r} is no number that was rounded")
    return 0.5 * 10.0 ** (int(written[3] or 0) - len(written[2]))


def _array(values: Value) -> NDArray[Any]:
    return np.atleast_1d(np.asarray(values))


def _in_order(values: Value, by: Value = None) -> NDArray[Any]:
    """Return the values in the order of others, or as they stand."""
    found = _array(values)
    if by is not None:
        found = np.take(found, np.argsort(_array(by), kind="stable"))
    return found


def _at(pick: Callable[[NDArray[Any]], np.intp]) -> Callable[[Value, Value], Value]:
    def chosen(values: Value, by: Value) -> Value:
        return _array(values)[pick(_array(by).astype(float))]

    return chosen


def _slope(y: Value, x: Value) -> float:
    """Return the slope of log y in log x, by least squares."""
    return float(np.polyfit(np.log(_array(x).astype(float)), np.log(_array(y).astype(float)), 1)[0])


def _grown(y: Value, x: Value, factor: float) -> NDArray[Any]:
    """Return y at ``factor`` times x, as a share of y at x, wherever there is one within 10 %."""
    at, values = _in_order(x, x).astype(float), _in_order(y, x).astype(float)
    nearest = np.abs(np.log(at[None, :] / (factor * at[:, None]))).argmin(axis=1)
    met = np.abs(at[nearest] / (factor * at) - 1) < 0.1
    return np.asarray((values[nearest] / values)[met])


def _digits(value: Value, count: int) -> Value:
    """Round to so many significant digits, as ``f"{value:.1e}"`` does to two."""
    rounded = [float(f"{x:.{int(count) - 1}e}") for x in _array(value).astype(float)]
    return rounded[0] if np.ndim(value) == 0 else np.array(rounded)


def _spread(p: Value, n: Value, other: Value, m: Value) -> Value:
    """Return 2.6 standard errors of the difference of two shares, of n and of m runs."""
    pooled = (n * p + m * other) / (n + m)
    return 2.6 * np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


def _allowance(p: Value, n: Value) -> Value:
    """Return 2.6 standard errors of the share of n runs where p is expected."""
    return 2.6 * np.sqrt(p * (1 - p) / n)


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    # of each element
    "abs": np.abs,
    "ceil": np.ceil,
    "exp": np.exp,
    "isfinite": np.isfinite,
    "isnan": np.isnan,
    "log": np.log,
    "sqrt": np.sqrt,
    "smaller": np.minimum,
    "larger": np.maximum,
    "digits": _digits,
    "spread": _spread,
    "allowance": _allowance,
    "numbers": lambda text: np.array(numbers_in(_array(text)[0])),
    # of all of them
    "all": lambda x: bool(np.all(x)),
    "any": lambda x: bool(np.any(x)),
    "count": lambda x: int(np.sum(x)),
    "share": lambda x: float(np.mean(_array(x).astype(float))),
    "distinct": lambda x: len(set(_array(x).tolist())),
    "size": lambda x: int(_array(x).size),
    "sum": lambda x: float(np.sum(x)),
    "min": lambda x: np.min(_array(x)).item(),
    "max": lambda x: np.max(_array(x)).item(),
    "mean": lambda x: float(np.mean(x)),
    "median": lambda x: float(np.median(x)),
    "sd": lambda x: float(np.std(x, ddof=1)),
    "quantile": lambda x, q: float(np.quantile(_array(x).astype(float), q)),
    "geometric_mean": lambda x: float(np.exp(np.mean(np.log(_array(x).astype(float))))),
    # of a curve
    "first": lambda x, by=None: _in_order(x, by)[0],
    "last": lambda x, by=None: _in_order(x, by)[-1],
    "where_largest": _at(np.argmax),
    "where_smallest": _at(np.argmin),
    "rises": lambda x, by=None: bool((np.diff(_in_order(x, by)) > 0).all()),
    "falls": lambda x, by=None: bool((np.diff(_in_order(x, by)) < 0).all()),
    "slope": _slope,
    "grown": _grown,
}


def _equal(left: Value, right: Value) -> Value:
    if np.asarray(left).dtype.kind in "fiub" and np.asarray(right).dtype.kind in "fiub":
        return np.isclose(left, right, rtol=_DIGITS, atol=1e-12, equal_nan=False)
    return np.asarray(left, object) == np.asarray(right, object)


def _among(left: Value, right: Value) -> Value:
    return np.any([_equal(left, entry) for entry in right], axis=0)


_OPERATORS: Mapping[type[ast.AST], Callable[..., Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.Not: np.logical_not,
    ast.And: np.logical_and,
    ast.Or: np.logical_or,
    ast.Eq: _equal,
    ast.NotEq: lambda left, right: ~_equal(left, right),
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: _among,
    ast.NotIn: lambda left, right: ~_among(left, right),
}


class Expression:
    """An expression, whose notation is checked when it is made; `ExpressionError` says what is not.

    It looks up plain names and ``name.column``: a mapping of these to values, or to
    mappings, is all that `value` takes.
    """

    def __init__(self, text: str | float) -> None:
        self.text = str(text)
        try:
            tree = ast.parse(re.sub(rf"\b{_RESERVED}\b", f"{_RESERVED}_", self.text), mode="eval")
        except SyntaxError as error:
            raise ExpressionError(f"{self.text!r} is no expression: {error.msg}") from None
        self._tree = tree.body
        for node in ast.walk(self._tree):
            self._check(node)

    def _check(self, node: ast.AST) -> None:
        """Refuse a node that is not of the language."""
        known: tuple[type[ast.AST], ...] = (
            *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Load),
            *(ast.Name, ast.List, ast.Tuple, *_OPERATORS),
        )
        if isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name) or node.keywords:
                raise ExpressionError(f"{self.text!r} calls what is no function of the language")
            if node.func.id not in FUNCTIONS:
                near = suggest(node.func.id, FUNCTIONS)
                raise ExpressionError(f"{self.text!r}: unknown function {node.func.id!r}{near}")
        elif isinstance(node, ast.Attribute):
            if not isinstance(node.value, ast.Name):
                raise ExpressionError(f"{self.text!r}: only table.column has a dot")
        elif isinstance(node, ast.Constant):
            if not isinstance(node.value, bool | int | float | str):
                raise ExpressionError(f"{self.text!r} holds {node.value!r}")
        elif not isinstance(node, known):
            raise ExpressionError(f"{self.text!r} holds a {type(node).__name__}")

    @cached_property
    def names(self) -> set[str]:
        """The names that are looked up, without the column after a dot."""
        called = {node.func for node in ast.walk(self._tree) if isinstance(node, ast.Call)}
        return {
            _plain(node.id)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Name) and node not in called
        }

    def value(self, known: Mapping[str, Value]) -> Value:
        """Return the value where names stand for these."""
        try:
            with np.errstate(all="ignore"):
                return self._value(self._tree, known)
        except ExpressionError as error:
            raise type(error)(f"{self.text!r}: {error}") from None
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            raise ExpressionError(f"{self.text!r} has no value: {one_line(error)}") from None

    def _value(self, node: ast.AST, known: Mapping[str, Value]) -> Value:
        match node:
            case ast.Constant():
                value: Value = node.value
                if isinstance(value, str):  # a word is as it was written
                    value = value.replace(f"{_RESERVED}_", _RESERVED)
            case ast.Name():
                value = _looked_up(_plain(node.id), known)
            case ast.Attribute(value=ast.Name(id=name)):
                value = _looked_up(_plain(node.attr), _looked_up(_plain(name), known))
            case ast.Compare():
                value = np.logical_and.reduce(list(self._compared(node, known)))
            case ast.BoolOp():
                value = self._joined(node, known)
            case ast.Subscript():
                value = _rows(self._value(node.value, known), self._value(node.slice, known))
            case _:
                value = self._applied(node, known)
        return value

    def _applied(self, node: ast.AST, known: Mapping[str, Value]) -> Value:
        """Return the value of a function, an operator or a list."""
        parts: list[ast.expr]
        match node:
            case ast.Call(func=ast.Name(id=name), args=parts):
                function = FUNCTIONS[name]
            case ast.BinOp(left=left, op=operation, right=right):
                function, parts = _OPERATORS[type(operation)], [left, right]
            case ast.UnaryOp(op=operation, operand=operand):
                function, parts = _OPERATORS[type(operation)], [operand]
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                return [self._value(part, known) for part in parts]
            case _:
                raise ExpressionError(f"holds a {type(node).__name__}")
        return function(*(self._value(part, known) for part in parts))

    def _joined(self, node: ast.BoolOp, known: Mapping[str, Value]) -> Value:
        joined, *rest = (self._value(value, known) for value in node.values)
        for value in rest:
            joined = _OPERATORS[type(node.op)](joined, value)
        return joined

    def _compared(self, node: ast.Compare, known: Mapping[str, Value]) -> Iterator[Value]:
        left = self._value(node.left, known)
        for kind, part in zip(node.ops, node.comparators, strict=True):
            right = self._value(part, known)
            yield _OPERATORS[type(kind)](left, right)
            left = right


def _plain(name: str) -> str:
    return _RESERVED if name == f"{_RESERVED}_" else name


def _looked_up(name: str, known: Mapping[str, Value]) -> Value:
    if not isinstance(known, Mapping):
        raise UnknownName(f"what has a column {name!r} is no table")
    if name not in known:
        raise UnknownName(f"unknown name {name!r}{suggest(name, known)}")
    return known[name]


def _rows(values: Value, rows: Value) -> Value:
    if isinstance(values, Mapping):
        return _looked_up(str(rows), values)
    condition = np.asarray(rows)
    if condition.dtype != bool:
        raise ExpressionError("what stands in brackets must be a condition on rows")
    selected = _array(values)[condition]
    if selected.size == 0:
        raise ExpressionError("no row fits what stands in brackets")
    return selected
