"""Faults of statistics, as operators of Cosmic Ray beside its own.

An operator says where in a tree it can make a fault, and makes it. Trees are those of parso.
"""

from __future__ import annotations

import ast
import re
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.boolean_replacer import ReplaceAndWithOr, ReplaceOrWithAnd
from cosmic_ray.operators.comparison_operator_replacement import operators as comparisons
from cosmic_ray.operators.operator import Example, Operator

Node = Any
FACTORS = (2.0, 0.5)
VALUES = {  # names of values that are taken for each other, where a function has both
    "n": "n_prime",
    "x": "x_prime",
    "p": "q",
    "hits": "hits_prime",
    "low": "high",
    "lower": "upper",
}
FUNCTIONS = {
    "min": "max",
    "minimum": "maximum",
    "sum": "mean",
    "ceil": "floor",
    "expm1": "exp",
    "log1p": "log",
    "sf": "cdf",
}
OTHERS = VALUES | FUNCTIONS
OTHERS |= {other: name for name, other in OTHERS.items()}
REORDERING = ("shuffled", "permutation")


class _Fault(Operator):
    """An operator that puts one text in place of a node, where there is such a text."""

    @abstractmethod
    def replacements(self, node: Node) -> Iterator[str]:
        """Yield the texts that may stand in place of a node."""

    def mutation_positions(self, node: Node) -> Iterator[tuple[Any, Any]]:
        """Yield the position once for each text."""
        for _ in self.replacements(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        """Return the node of a text, with the spaces before the old one."""
        before = node.get_first_leaf().prefix
        text = list(self.replacements(node))[index]
        return parso.python.tree.Name(before + text, node.start_pos)

    pairs: tuple[tuple[str, str], ...] = ()
    """Code, and the same with the operator's first fault."""

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return the pairs as Cosmic Ray has them."""
        return tuple(Example(*pair) for pair in cls.pairs)


class ScaledNumber(_Fault):
    """A number twice or half as large; a whole one stays whole."""

    pairs = (("x = 0.5 * y", "x = 1.0 * y"), ("x = 3", "x = 6"))

    def replacements(self, node: Node) -> Iterator[str]:
        """Yield both."""
        if node.type != "number":
            return
        value = ast.literal_eval(node.value)
        if isinstance(value, complex) or value == 0:
            return
        for factor in FACTORS:
            changed = value * factor
            if isinstance(value, int):
                changed = max(round(changed), 1)
            if changed != value:
                yield repr(changed)


class MissingTerm(_Fault):
    """A difference, quotient, product or power without its last term: alpha for alpha / 2."""

    pairs = (("f(alpha / 2)", "f((alpha))"), ("x = y - log(k)", "x = (y)"), ("x**2", "(x)"))

    def replacements(self, node: Node) -> Iterator[str]:
        """Yield what stands before the last operator."""
        if node.type in ("arith_expr", "term", "power") and node.children[-2].type == "operator":
            text = "".join(child.get_code() for child in node.children[:-2]).strip()
            yield f"({text})"


class OtherName(_Fault):
    """The value of the other side, or the neighbouring function: n' for n, a mean for a sum."""

    pairs = (
        ("def f(n, n_prime):\n    return n\n", "def f(n, n_prime):\n    return n_prime\n"),
        ("x.sum()", "x.mean()"),
    )

    def replacements(self, node: Node) -> Iterator[str]:
        """Yield the other name, where the name is read."""
        if node.type != "name" or node.value not in OTHERS or node.is_definition():
            return
        after = node.get_next_leaf()
        if after is not None and after.value == "=":  # the name of an argument
            return
        if node.search_ancestor("param", "import_from", "import_name", "parameters") is not None:
            return
        other = OTHERS[node.value]
        function = node.search_ancestor("funcdef")
        both = function is not None and re.search(rf"\b{other}\b", function.get_code())
        if both or other in {*FUNCTIONS, *FUNCTIONS.values()}:
            yield other


class MissingShuffle(_Fault):
    """Draws in the order in which they came."""

    pairs = (("y = shuffled(x, rng)", "y = x"), ("rng.permutation(len(x))", "range(len(x))"))

    def replacements(self, node: Node) -> Iterator[str]:
        """Yield the draws instead of the call that puts them into a random order."""
        if node.type not in ("power", "atom_expr"):
            return
        call = ast.parse(f"({node.get_code().strip()})", mode="eval").body
        if isinstance(call, ast.Call) and call.args:
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name == "permutation":
                yield f"range({ast.unparse(call.args[0])})"
            elif name in REORDERING:
                yield ast.unparse(call.args[0])


OPERATORS: dict[str, Operator] = {
    kind.__name__: kind() for kind in (ScaledNumber, MissingTerm, OtherName, MissingShuffle)
}
OPERATORS |= {kind.__name__: kind() for kind in (ReplaceAndWithOr, ReplaceOrWithAnd)}
BOUNDARIES = ("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt", "Eq_NotEq", "NotEq_Eq")
for _kind in comparisons():
    if _kind.__name__.removeprefix("ReplaceComparisonOperator_") in BOUNDARIES:
        OPERATORS[_kind.__name__] = _kind()


def check() -> None:
    """Raise `AssertionError` where an operator does not make the faults of its examples."""
    for operator in OPERATORS.values():
        for example in operator.examples():
            made = mutate_code(example.pre_mutation_code, operator, example.occurrence)
            assert made == example.post_mutation_code, (type(operator).__name__, made)
