"""What a command line asks for: options, which go together, and the claim, source and inputs."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from epsilometer.errors import ArgumentError, MechanismError, one_line

if TYPE_CHECKING:
    from epsilometer.audit.accounting import Answer
    from epsilometer.audit.candidates import Candidates
    from epsilometer.audit.claims import AnyClaim
    from epsilometer.audit.sources import Source

_AUDIT = """\
epsilometer audit SOURCE --pair X X' [--pair ...] CLAIM [options]

SOURCE  file.py:function or package.module:function, --command PROGRAM, --outputs FILE [FILE], or
        --one-run FILE
CLAIM   --epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO; each a number, or
        file.py:function that answers it"""
_EPILOG = """\
exit codes:
  0 not refuted or holds, 1 violated, 2 wrong use, 3 undecided,
  4 the mechanism failed or is no sampler

example:
  epsilometer audit survey.py:noisy_mean --pair '[0, 0, 1]' '[0, 1, 1]' --epsilon 1"""
_NEEDED = """\
epsilometer samples-needed CLAIM --detect LEVEL [options]

CLAIM   --epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"""
_CLAIMS = ("epsilon", "renyi", "gdp", "zcdp")
_CLAIM_CHOICES = "--epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"
_SOURCE_CHOICES = "file.py:function, --command PROGRAM, --outputs FILE [FILE] or --one-run FILE"
_SOURCES = ("source", "command", "outputs", "one_run")
_NEIGHBOURS = ("pair", "domain", "patterns", "remove_a_row", "replace_a_row")
_NEEDS = {  # an option: those of which one must be there, too
    "delta": ("epsilon",),
    "python": ("source",),
    "explain": ("source",),
    "columns": ("outputs", "one_run"),
    "guesses": ("one_run", "canaries"),
    "canaries": ("source", "command"),
    "timeout": ("command", "python"),
    "lipschitz": ("support",),
    "support": ("lipschitz",),
}
_OF_PAIRS = (
    *("samples", "budget", "stop", "exact", "failures", "no_checks", "as_reals"),
    *("outcomes", "support", "renyi", "gdp", "zcdp"),
)
_EXCLUDES = {
    "outputs": (*_NEIGHBOURS, "samples", "budget", "stop", "failures", "no_checks"),
    "one_run": (*_NEIGHBOURS, *_OF_PAIRS),
    "canaries": (*_NEIGHBOURS, *_OF_PAIRS, "explain"),
    "budget": ("samples",),
    "exact": ("stop",),
    "outcomes": ("support",),
    "renyi": ("exact",),
    "zcdp": ("exact",),
}
_MOST_DRAWS = 1_000_000_000


class _Parser(argparse.ArgumentParser):
    """Options whose errors are one line; words that belong to none are left over."""

    def __init__(self, usage: str, epilog: str = "") -> None:
        shape = argparse.RawDescriptionHelpFormatter
        super().__init__(usage=usage, epilog=epilog, allow_abbrev=False, formatter_class=shape)
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|Infinity)")  # as JSON writes them
        self.once("--epsilon", "E", "pure differential privacy", type=_level)
        self.once("--delta", "D", "with --epsilon: approximate", type=_level)
        self.many("--renyi", "ORDER=EPS", "of an order, in nats (repeatable)", type=_order)
        self.once("--gdp", "MU", "Gaussian differential privacy", type=_level)
        self.once("--zcdp", "RHO", "zero-concentrated differential privacy", type=_level)
        self.once("--alpha", "A", "probability of a false alarm (default .05)", type=_real)

    def error(self, message: str) -> NoReturn:
        """Raise an error of ours in place of usage and exit."""
        option, _, rest = message.removeprefix("argument ").partition(": ")
        if rest.startswith("expected"):
            action = self._option_string_actions[option]
            names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar or "",)
            rest = f"{rest}; write {option} {' '.join(names)}"
        raise ArgumentError(option, rest)

    def once(self, name: str, metavar: str | tuple[str, ...], text: str, **more: Any) -> None:
        """Add an option that may be given once."""
        if isinstance(metavar, tuple):
            more["nargs"] = len(metavar)
        self.add_argument(name, metavar=metavar, help=text, **{"action": _Once, **more})

    def many(self, name: str, metavar: str | tuple[str, ...], text: str, **more: Any) -> None:
        """Add one that may be repeated."""
        self.once(name, metavar, text, action="append", **more)

    def flags(self, **texts: str) -> None:
        """Add options without values."""
        for name, text in texts.items():
            option = f"--{name.replace('_', '-')}"
            self.add_argument(option, action="store_true", default=None, help=text)

    def parsed(self, words: Sequence[str], place: str | None = None) -> argparse.Namespace:
        """Return the options; the only word that belongs to none is the one of this name."""
        options, rest = self.parse_known_args(list(words))
        rest = [word for word in rest if word != "--"]
        for word in rest:
            if word.startswith("-") and not self._negative_number_matcher.match(word):
                raise self._unknown(word.partition("=")[0])
        if len(rest) > (place is not None):
            hint = f" beside {rest[0]!r}" if len(rest) > 1 else ""
            raise ArgumentError(
                repr(rest[-1]), f"belongs to no option{hint}; quote what has spaces"
            )
        if place:
            setattr(options, place, rest[0] if rest else None)
        return options

    def _unknown(self, name: str) -> ArgumentError:
        known = [option for option in self._option_string_actions if len(option) > 2]
        near = [option for option in known if option.startswith(name)]
        near = near or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near and len(name) > 2 else "--help lists them"
        return ArgumentError(name, f"is no option; {hint}")


class _Once(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"argument {option}: is given twice")
        setattr(namespace, self.dest, values)


def audit_parser() -> _Parser:
    """Return the options of ``epsilometer audit``."""
    parser = _Parser(_AUDIT, _EPILOG)
    once = parser.once
    once("--command", "PROGRAM", "a worker, or a program with {input}, {size}, {seed}")
    once("--python", "INTERPRETER", "another interpreter for SOURCE: ../venv/bin/python")
    once("--outputs", "FILE", "of two columns, or two files: .csv, .parquet, .npy", nargs="+")
    once("--one-run", "FILE", "score and inclusion of canaries of one run: .csv, .parquet, .npy")
    once("--canaries", "M", "give SOURCE so many coins, once, and audit its scores", type=_whole)
    once("--guesses", "N", "about canaries, or of the top and below", type=_whole, nargs="+")
    once("--columns", "NAME", "of recorded outputs, or SCORE INCLUDED", nargs="+")
    once("--timeout", "SECONDS", "for a batch of a worker (default 60)", type=_seconds)
    parser.many("--pair", ("X", "X'"), "neighbouring inputs, in JSON (repeatable)", type=_json)
    once("--domain", "DOMAIN", "of inputs, in JSON or a file of it: many pairs", type=_declared)
    once("--patterns", "LENGTH", "ten pairs of answers to so many counting queries", type=_whole)
    once("--remove-a-row", "TABLE", "inputs are a table, and it without a row: .csv, .parquet")
    once("--replace-a-row", "TABLE", "inputs are a table, and it with another row")
    once("--samples", "N", "draws of a side, over all pairs (default 100000)", type=_draws)
    once("--budget", "TIME", "in place of --samples: 60s (or 60), 5m, 1h", type=_seconds)
    once("--seed", "S", "of all draws (default 0)", type=_whole)
    once("--detect", "LEVEL", "undecided, if this level would not be found", type=_real)
    once("--outcomes", "K", "outputs are one of K; with it a claim may hold", type=_whole)
    once("--support", ("A", "B"), "outputs lie in [A, B]; with --lipschitz", type=_real)
    once("--lipschitz", "C", "constant of the densities there", type=_real)
    once("--json", "FILE", "the verdict as JSON; - for stdout, alone")
    once("--junit", "FILE", "the verdict for continuous integration")
    once("--output", "FOLDER", "a page with figures, and the JSON")
    parser.flags(
        stop="end as soon as the claim is refuted",
        exact="one exact test at the end, in place of bets on the way",
        failures="an exception, or an exit code, is an outcome",
        as_reals="outputs stand for reals: do not look at their lowest bits",
        no_checks="do not ask first whether it is a sampler",
        explain="say why it is violated: the code that is not the same on x and x'",
        quiet="say nothing on the way",
    )
    return parser


def needed_parser() -> _Parser:
    """Return the options of ``epsilometer samples-needed``."""
    parser = _Parser(_NEEDED)
    parser.once("--detect", "LEVEL", "the true level, above the claim", type=_real)
    parser.once("--power", "P", "probability of finding it (default .9)", type=_real)
    parser.once("--pairs", "N", "pairs that share the draws (default 1)", type=_whole)
    parser.once("--event", "P", "probability of what shows it, where it is rarer", type=_real)
    return parser


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = "; a percentage is written as in 0.05" if text.endswith("%") else ""
        raise argparse.ArgumentTypeError(f"{text!r} is no number{hint}") from None


def _level(text: str) -> float | str:
    return text if ":" in text or text.endswith(".py") else _real(text)


def _whole(text: str) -> int:
    with contextlib.suppress(ValueError):
        return int(text)
    number = _real(text)  # as in 1e6
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(number)


def _draws(text: str) -> int:
    number = _whole(text)
    if number > _MOST_DRAWS:
        raise argparse.ArgumentTypeError(
            f"must be at most {_MOST_DRAWS}, all of which are kept in memory, got {text}"
        )
    return number


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?([smh]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; write 60, 60s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else one_line(error)
        hint = "; quote all of it for the shell, as in '[0, 1]'" if text[:1] in "[{" else ""
        if hint and "'" in text:
            hint = """; JSON has double quotes inside, as in '{"a": 1}'"""
        if re.fullmatch(r"\w+", text):
            hint = f"""; a word is written '"{text}"'"""
        shown = text if len(text) < 40 else f"{text[:36]} ..."
        raise argparse.ArgumentTypeError(f"{shown!r} is no JSON: {why}{hint}") from None


def _declared(text: str) -> tuple[Any, str | None]:
    """Return what is declared, and the file that it is from."""
    if text.lstrip()[:1] in "{[":
        return _json(text), None
    try:
        held = Path(text).read_text(encoding="utf-8")
    except FileNotFoundError:
        hint = """write JSON, as in '{"values": [0, 1]}', or a file of it"""
        raise argparse.ArgumentTypeError(f"{text!r} is not there; {hint}") from None
    except (OSError, ValueError) as error:
        message = f"{text!r} cannot be read: {one_line(error)}"
        raise argparse.ArgumentTypeError(message) from None
    try:
        return _json(held), text
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None


def _order(text: str) -> tuple[float, float | str]:
    order, sign, epsilon = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} names no order; write ORDER=EPS, as in 2=0.5")
    return _real(order), _level(epsilon)


# --- what is asked for ----------------------------------------------------------------------------


def _option(name: str) -> str:
    return "SOURCE" if name == "source" else f"--{name.replace('_', '-')}"


def check_together(options: argparse.Namespace) -> None:
    """Refuse options that need others, or exclude them."""
    given = {name for name, value in vars(options).items() if value is not None}
    for name, others in _EXCLUDES.items():
        for other in others:
            if {name, other} <= given:
                raise ArgumentError(_option(other), f"does not go with {_option(name)}; take one")
    for name, others in _NEEDS.items():
        if name in given and not given & set(others):
            wanted = " or ".join(map(_option, others))
            raise ArgumentError(_option(name), f"goes with {wanted} only, which is missing")
    for kinds, word, choices in (
        (_CLAIMS, "CLAIM", _CLAIM_CHOICES),
        (_SOURCES, "SOURCE", _SOURCE_CHOICES),
    ):
        if kinds == _SOURCES and "pairs" in options:  # no audit
            continue
        chosen = [name for name in kinds if name in given]
        if not chosen:
            raise ArgumentError(word, f"none is given; write {choices}")
        if len(chosen) > 1:
            first, second = map(_option, chosen[:2])
            raise ArgumentError(
                second, f"does not go with {first}; there is one {word.lower()} an audit"
            )


def accounted(options: argparse.Namespace) -> dict[str, Answer]:
    """Put numbers in the places of functions that answer levels; return who answered, by name."""
    levels = ("epsilon", "delta", "gdp", "zcdp")
    named = {name: getattr(options, name, None) for name in levels}
    orders = options.renyi or []
    if not any(isinstance(level, str) for level in (*named.values(), *(eps for _, eps in orders))):
        return {}
    from epsilometer.audit.accounting import ask

    interpreter = getattr(options, "python", None)
    timeout = getattr(options, "timeout", None) or 60.0
    numbers = {name: level for name, level in named.items() if isinstance(level, float)}
    answers: dict[str, Answer] = {}

    def level(name: str, said: Any, beside: Mapping[str, float]) -> float:
        if isinstance(said, str):
            option = f"--{'renyi' if name.startswith('order') else name}"
            try:
                answers[name] = ask(said, beside, interpreter=interpreter, timeout=timeout)
            except MechanismError as error:
                raise ArgumentError(option, str(error)) from error
            said = answers[name].level
        return float(said)

    for name, said in named.items():
        if said is not None:
            setattr(options, name, level(name, said, numbers))
    if orders:
        options.renyi = [
            (order, level(f"order {order:g}", said, {"order": order})) for order, said in orders
        ]
    return answers


def claim_of(options: argparse.Namespace) -> AnyClaim:
    """Return the claim."""
    from epsilometer.audit import claims

    if options.epsilon is not None:
        return claims.Pure(options.epsilon, options.delta or 0.0)
    if options.gdp is not None:
        return claims.gdp(options.gdp)
    if options.zcdp is not None:
        return claims.zcdp(options.zcdp)
    try:
        return claims.renyi(options.renyi)
    except ArgumentError as error:  # it says order or epsilon
        raise ArgumentError("--renyi", str(error).removeprefix("renyi ")) from None


def source_of(options: argparse.Namespace) -> Source:
    """Return what is drawn from; a worker may have been started."""
    from epsilometer.audit import sources, worker

    failures, timeout = bool(options.failures), options.timeout or 60.0
    if options.timeout == 0:
        raise ArgumentError("timeout", "must be positive, got 0")
    if options.command is not None:
        return worker.WorkerSource(options.command, timeout=timeout, failures=failures)
    if options.python is not None:
        there = worker.python_worker
        return there(options.python, options.source, timeout=timeout, failures=failures)
    return sources.load(options.source, failures=failures)


def pairs_of(options: argparse.Namespace) -> Mapping[str, tuple[Any, Any]]:
    """Return the pairs of inputs by name, at least one."""
    from epsilometer.audit import neighbours
    from epsilometer.audit.asked import refuse_equal

    given = options.pair or []
    named = {f"pair {i}": (x, y) for i, (x, y) in enumerate(given, start=1)}
    if options.patterns is not None:
        named |= {name: (x, y) for name, x, y in neighbours.patterns(options.patterns)}
    for path, kind in ((options.remove_a_row, "remove"), (options.replace_a_row, "replace")):
        if path is not None:
            named |= {label: (x, y) for x, y, label in neighbours.neighbours(path, kind)}
    if options.domain is not None:
        return named | _candidates(options.domain[0])
    if not named:
        choices = "--domain JSON, --patterns LENGTH, --remove-a-row TABLE or --replace-a-row TABLE"
        raise ArgumentError("--pair", f"none is given; write --pair X X', {choices}")
    refuse_equal(named.values(), "--pair")
    return {"": named["pair 1"]} if list(named) == ["pair 1"] else named


def _candidates(declared: Any) -> Candidates:
    from epsilometer.audit.domains import domain

    try:
        return domain(declared)
    except ArgumentError as error:
        message = str(error).removeprefix("domain").lstrip(". ")
        raise ArgumentError("--domain", message) from None
