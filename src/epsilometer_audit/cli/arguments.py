"""Options of the command line: their table, their combinations, and the objects that they name."""

from __future__ import annotations

import contextlib
import csv
import difflib
import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epsilometer.errors import ArgumentError, one_line, shown

if TYPE_CHECKING:
    from epsilometer_audit.statistics.claims import AnyClaim

_HELP = Path(__file__).parent / "help"
OPTION = re.compile(r"^  (--\S+)(.*?)  +(.*)$", re.MULTILINE)  # name, names of values, about
_LEVELS = ("epsilon", "delta", "renyi", "gdp", "zcdp", "profile")
_PAIRS = ("pair", "domain")
_NAMES = dict.fromkeys(_PAIRS, "pairs") | {"no_checks": "check_sampler"}  # in Python
_TABLES = "write pairs of tables, --pair or pairs= in Python (docs/audit.md), or a --domain"
_REMOVED = {  # options that were, and what to do instead
    **dict.fromkeys(("--remove-a-row", "--replace-a-row", "--frame"), _TABLES),
    "--budget": "--samples and --stop limit the draws; a terminal shows the time that is left",
    "--exact": "--outputs makes an exact test, of outputs that a mechanism drew before",
    "--explain": "docs/explain.md says how to find the line of code",
    "--junit": "audits in tests have it of pytest, --junitxml (docs/pytest.md)",
}
# options of arguments with another name in errors
_ARGUMENTS = {"source": "SOURCE", "claim": "--renyi", "input": "--pair"}
_ARGUMENTS |= {"mu": "--gdp", "rho": "--zcdp"}


def help_of(command: str) -> str:
    """Return the help of a command, which has a line for each of its options."""
    return (_HELP / f"{command}.txt").read_text(encoding="utf-8")


def _is_option(word: str) -> bool:
    return word.startswith("-") and not re.match(r"-(\d|\.\d|Infinity|$)", word)


def parsed(command: str, argv: Sequence[str], most: int = 0) -> tuple[dict[str, Any], list[str]]:
    """Return the options of a command, and its other arguments: so many at ``most``.

    The help of the command names their values; dots behind a name stand for more of them.
    """
    known = {
        name: (values.replace("...", "").split(), "..." in values, "(repeatable)" in about)
        for name, values, about in OPTION.findall(help_of(command))
    }
    options: dict[str, Any] = {}
    words, rest = [word for word in argv if word != "--"], list[str]()
    while words:
        name, equals, value = words.pop(0).partition("=")
        if not _is_option(name):
            rest.append(f"{name}{equals}{value}")
            continue
        if name not in known:
            raise ArgumentError(name, f"is not an option; {_near(name, known)}")
        (values, more, again), given = known[name], [value] if equals else []
        while words and not _is_option(words[0]) and (more or len(given) < len(values)):
            given.append(words.pop(0))
        if len(given) < len(values) or (len(given) > len(values) and not more):
            number = f"{len(values) or 'no'} argument{'s' * (len(values) != 1)}"
            raise ArgumentError(name, f"expected {number}; write {' '.join([name, *values])}")
        key = name[2:].replace("-", "_")
        if key in options and not again:
            raise ArgumentError(name, "is given twice")
        try:
            typed: Any = [_TYPES.get(values[0], str)(word) for word in given] or True
        except ValueError as error:
            raise ArgumentError(name, str(error)) from None
        typed = typed[0] if len(values) == 1 and not more else typed
        options[key] = [*options.get(key, ()), typed] if again else typed
    if len(rest) > most:
        hint = f" beside {rest[0]!r}" if len(rest) > 1 else ""
        message = f"belongs to no option{hint}; quote arguments with spaces"
        raise ArgumentError(repr(rest[-1]), message)
    return options, rest


def _near(name: str, known: Collection[str]) -> str:
    if name in _REMOVED:
        return _REMOVED[name]
    names = [option[2:] for option in known]
    near = [option for option in names if f"--{option}".startswith(name)]
    near += difflib.get_close_matches(name.lstrip("-"), names, n=1, cutoff=0.65)
    return f"did you mean '--{near[0]}'?" if near and name[2:] else "--help lists them"


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise ValueError(f"{text!r}: write NAME=VALUE, as in epsilon=0.5")
    with contextlib.suppress(ValueError):
        return name, _json(value)
    return name, value


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{shown(text)} is not a number") from None


def _whole(text: str) -> int:
    with contextlib.suppress(ValueError):
        return int(text)
    number = _real(text)  # as in 1e6
    if not number.is_integer():
        raise ValueError(f"{shown(text)} is not a whole number")
    return int(number)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)([smh]?)", text)
    if not match:
        raise ValueError(f"{shown(text)} is not a time; write 60, 60s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _json(text: str) -> Any:
    """Return a value in JSON, or a number such as .5, which JSON does not know."""
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.\d+)([eE][+-]?\d+)?", text, re.ASCII):
        return float(text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else one_line(error)
        hint = "; quote all of it for the shell, as in '[0, 1]'" if text[:1] in "[{" else ""
        if hint and "'" in text:
            hint = """; JSON has double quotes inside, as in '{"a": 1}'"""
        if re.fullmatch(r"\w+", text):
            hint = f"""; a word is written '"{text}"'"""
        raise ValueError(f"{shown(text, 40)} is not JSON: {reason}{hint}") from None


def _curve(text: str) -> tuple[str, list[tuple[float, float]], str]:
    """Return the notion and the points of a curve in a CSV file, and its name."""
    try:
        (x, y), *rows = csv.reader(Path(text).read_text(encoding="utf-8").splitlines())
        points = [(float(at), float(level)) for at, level in rows]
    except OSError as error:
        raise ValueError(f"{text!r} cannot be read: {error.strerror}") from None
    except ValueError:
        x = y = ""
    notion = {("epsilon", "delta"): "profile", ("alpha", "beta"): "tradeoff"}.get((x, y))
    if notion is None:
        columns = "two columns of numbers, epsilon and delta, or alpha and beta"
        raise ValueError(f"{text!r} must be CSV of {columns}")
    return notion, points, text


def _order(text: str) -> tuple[float, float]:
    order, sign, epsilon = text.partition("=")
    if not sign:
        raise ValueError(f"{text!r} names no order; write ORDER=EPS, as in 2=0.5")
    return _real(order), _real(epsilon)


_TYPES: dict[str, Callable[[str], Any]] = {  # by what a table names the value of an option
    **dict.fromkeys(("E", "D", "MU", "RHO", "A", "LEVEL", "P"), _real),
    **dict.fromkeys(("N", "M", "S", "K"), _whole),
    **dict.fromkeys(("TIME", "SECONDS"), _seconds),
    **dict.fromkeys(("X", "DOMAIN"), _json),
    **{"ORDER=EPS": _order, "NAME=VALUE": _parameter, "CURVE": _curve},
}


def spelled(argument: str, of_audit: bool = True) -> str:
    """Return the option of an argument of Python, or the argument if there is none."""
    if argument == "pairs":
        return "--pair" if of_audit else "--pairs"
    option = f"--{argument.replace('_', '-')}"
    tables = "".join(map(help_of, ("audit", "samples-needed", "audits")))
    known = {name for name, *_ in OPTION.findall(tables)}
    return _ARGUMENTS.get(argument, option if option in known else argument)


def check_options(options: Mapping[str, Any], of_audit: bool) -> None:
    """Refuse options that need others, or exclude them."""
    from epsilometer_audit.question import NOTIONS, check_together

    given = {name: spelled(name) for name in options}
    named = {_NAMES[name]: option for name, option in given.items() if name in _NAMES}
    check_together({**given, **named}, spelled)
    # a file of a profile may hold a trade-off curve
    needed: dict[str, tuple[str, ...]] = {"CLAIM": NOTIONS[:-1]}
    if of_audit:
        needed["SOURCE"] = ("source", "command", "outputs", "one_run")
        needed["pairs"] = (*_PAIRS, "outputs", "one_run", "canaries")
    for name, choices in needed.items():
        if not {*given} & {*choices}:
            text = " or ".join(map(spelled, choices))
            raise ArgumentError(name, f"none is given; write {text}; see --help")


def chosen(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the options of these names that are given."""
    return {name: options[name] for name in names if name in options}


def levels_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the levels of the claim, as `claim_of` reads them."""
    levels = chosen(options, *_LEVELS)
    if "profile" in levels:
        notion, points, _ = levels.pop("profile")
        levels[notion] = points
    return levels


def stated(options: Mapping[str, Any]) -> AnyClaim:
    """Return the claim."""
    from epsilometer_audit.question import claim_of

    try:
        return claim_of(levels_of(options))
    except ArgumentError as error:
        if "renyi" not in options:
            raise
        message = str(error).removeprefix("renyi ")  # it says order or epsilon
        raise ArgumentError("renyi", message) from None


def spec_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of the options of an audit; see `grids.verdicts`."""
    mechanism = chosen(options, "command", "python", "outputs", "columns")
    if "one_run" in options:
        mechanism |= {"outputs": [options["one_run"]], "one_run": True}
    if "source" in options:
        mechanism["function"] = options["source"]
    given = dict(options.get("set", ()))
    if len(given) < len(options.get("set", ())):
        raise ArgumentError("set", "gives a parameter twice")
    guesses = options.get("guesses", ())
    return {
        **{name: options.get(name) for name in ("timeout", "samples", "stop")},
        **{"mechanism": mechanism, "given": given, "pairs": _inputs(options)},
        **{name: name in options for name in ("failures", "as_reals")},
        "check_sampler": "no_checks" not in options,
        "guesses": guesses[0] if len(guesses) == 1 else guesses or None,
        "alpha": options.get("alpha", 0.05),
        "audit_seed": options.get("seed", 0),
        "claims": [{"claim": levels_of(options)} | chosen(options, "detect", "event")],
    }


def _inputs(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the pairs of inputs as `pairs_of` reads them, or the number of canaries."""
    plain = chosen(options, "canaries", "domain")
    pairs = [(f"pair {i}", x, y) for i, (x, y) in enumerate(options.get("pair", ()), start=1)]
    if len(pairs) == 1 and not plain:
        pairs = [("", *pairs[0][1:])]
    return {**plain, "pairs": pairs} if pairs else plain
