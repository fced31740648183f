"""Options of the command line: their table, their combinations, and the objects that they name."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from epsilometer.errors import ArgumentError, one_line, shown

if TYPE_CHECKING:
    from epsilometer_audit.statistics.claims import AnyClaim

_AUDIT = """\
usage: epsilometer audit SOURCE --pair X X' [--pair ...] CLAIM [options]

Draws outputs of a mechanism on neighbouring inputs x and x', and tests whether
they contradict a claim of differential privacy (docs/audit.md).

SOURCE  file.py:function or package.module:function; or, in its place,
        --command PROGRAM, --outputs FILE [FILE] or --one-run FILE
CLAIM   --epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO
"""
_CODES = """
exit codes: 0 not refuted, 1 violated, 2 wrong use, 3 undecided,
4 the mechanism failed, or its draws are invalid
"""
_EXAMPLE = """
example: epsilometer audit release.py:noisy_count --pair [0] [1] --epsilon 1
"""
_NEEDED = """\
usage: epsilometer samples-needed CLAIM --detect LEVEL [options]

Prints how many draws of each side find a true level, and the fewest that any
audit needs.
"""
_OF_A_CLAIM = """
the claim, one of
--epsilon E | pure differential privacy with this epsilon
--delta D | with --epsilon: approximate differential privacy
--renyi ORDER=EPS* | Renyi differential privacy, in nats
--gdp MU | Gaussian differential privacy with this mu
--zcdp RHO | zero-concentrated differential privacy with this rho
"""  # a star: may be repeated; dots: takes several
_OF_AN_AUDIT = f"""
the mechanism
--set NAME=VALUE* | a parameter: VALUE is JSON, or else text
--python INTERPRETER | run SOURCE in another Python: ../venv/bin/python
--command PROGRAM | a worker: a program in any language (docs/worker.md)
--timeout SECONDS | the longest time of a batch (of a program: 60)
--failures | count an exception as an output
--outputs FILE... | recorded: files for x and x', or one of two columns
--columns NAME... | the two columns of recorded outputs or scores
the neighbouring inputs, any of
--pair X X'* | two inputs, in JSON
--domain DOMAIN | the possible inputs, in JSON or a file of it
--remove-a-row TABLE | a table (.csv, .parquet) with and without a row
--replace-a-row TABLE | a table and the same with another row
--frame | give tables as pandas data frames
{_OF_A_CLAIM}
the number of draws
--samples N | draws on each of x and x', over all pairs (100000)
--budget TIME | time in place of --samples: 60s (or 60), 5m, 1h
--jobs N | processes that draw (1); the answer is the same
--stop | stop once the claim is refuted; alpha is the same
the answer
--alpha A | the largest probability of a false "violated" (.05)
--detect LEVEL | say "undecided" if this true level may be missed
--explain | name the lines of code that show the input
--json FILE | write the verdict as JSON; -: to stdout
--junit FILE | write it as a test result in JUnit's XML
--output FOLDER | write it as a page with figures, beside the JSON
--quiet | show no progress
canaries: an audit of one training run (docs/training.md)
--one-run FILE | recorded scores, and whether each canary was included
--canaries M | include M canaries by coins, and run SOURCE once
--guesses N... | their number; or two, for the highest and the lowest
advanced
--seed S | the seed that all draws follow from (0)
--exact | one exact test at the end, not a sequential test
--as-reals | do not test the low bits of outputs
--no-checks | do not test first whether draws are independent
"""
_OF_DRAWS = f"""{_OF_A_CLAIM}
power
--detect LEVEL | the true level to find, above the claim
--power P | the probability of finding it (.9)
--alpha A | the largest probability of a false "violated" (.05)
--pairs N | how many pairs of inputs share the draws (1)
--event P | the probability of the event that shows it, if rare
"""
_AUDITS = """\
usage: epsilometer audits FILE [FILE ...] [options]

Audits all cases of files of audits, in YAML (docs/many-audits.md). All claims
of a file share its alpha.
"""
_OF_AUDITS = """
how
--only CASE | AUDIT, AUDIT/PARAMETERS or AUDIT/PARAMETERS/PAIRS
--scale NAME | choose a number of draws by its name in `samples`
--seed S | the seed of all draws (2022)
--jobs N | cases at a time (one a core); the answer is the same
the answer
--junit FILE | write a test result for each verdict, in JUnit's XML
--markdown FILE | write a summary in Markdown
--quiet | show no progress
"""
_PAIRS = ("pair", "domain", "remove_a_row", "replace_a_row")
_NAMES = {  # of options with another name in Python
    **dict.fromkeys(_PAIRS, "pairs"),
    "no_checks": "check_sampler",
}
_ARGUMENTS = {  # options of arguments with another name in errors
    "source": "SOURCE",
    "claim": "--renyi",
    "input": "--pair",
    "method": "--exact",
    "mu": "--gdp",
    "rho": "--zcdp",
}


class HelpError(Exception):
    """The text that --help asks for, in place of a command."""


class _Parser(argparse.ArgumentParser):
    """A parser of the options of a table, with errors of one line."""

    def __init__(self, usage: str, table: str, end: str = "") -> None:
        super().__init__(usage="", allow_abbrev=False)
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|Infinity)")  # as JSON writes them
        self._help = usage
        for line in filter(None, table.splitlines()):
            head, _, text = line.partition(" | ")
            if not text:
                self._help += f"\n{line}:\n"
                continue
            name, *values = head.rstrip("*.").split()
            settings: dict[str, Any] = {"action": "store_true", "default": None}
            if values:
                count = "+" if head[-1] == "." else len(values) if len(values) > 1 else None
                settings = {"action": _Once, "type": _TYPES.get(values[0]), "nargs": count}
                settings["metavar"] = tuple(values) if len(values) > 1 else values[0]
            if head[-1] == "*":
                settings["action"], text = "append", f"{text} (repeatable)"
            self.add_argument(name, **settings)
            self._help += f"  {head.rstrip('*').replace('...', ' ...'):23}{text}\n"
        self._help += end

    def print_help(self, file: Any = None) -> NoReturn:
        """Raise `HelpError`, as `SystemExit` would end an audit without a verdict."""
        raise HelpError(self._help)

    def error(self, message: str) -> NoReturn:
        """Raise `ArgumentError` in place of an exit."""
        option, _, rest = message.removeprefix("argument ").partition(": ")
        if rest.startswith("expected"):
            action = self._option_string_actions[option]
            names = action.metavar if isinstance(action.metavar, tuple) else (action.metavar or "",)
            rest = f"{rest}; write {option} {' '.join(names)}"
        raise ArgumentError(option, rest)

    def parsed(
        self, argv: Sequence[str], positional: str | None = None, most: int = 1
    ) -> argparse.Namespace:
        """Return the options; at most one argument belongs to none, that of this name.

        Where ``most`` is larger, several may, and are a list.
        """
        options, rest = self.parse_known_args(list(argv))
        rest = [argument for argument in rest if argument != "--"]
        for argument in rest:
            if argument.startswith("-") and not self._negative_number_matcher.match(argument):
                raise self._unknown(argument.partition("=")[0])
        if len(rest) > (most if positional else 0):
            hint = f" beside {rest[0]!r}" if len(rest) > 1 else ""
            raise ArgumentError(
                repr(rest[-1]), f"belongs to no option{hint}; quote arguments with spaces"
            )
        if positional:
            setattr(options, positional, rest if most > 1 else rest[0] if rest else None)
        return options

    def _unknown(self, name: str) -> ArgumentError:
        known = [option for option in self._option_string_actions if len(option) > 2]
        near = [option for option in known if option.startswith(name)]
        names = [option[2:] for option in known]  # all begin with the same two letters
        close = difflib.get_close_matches(name.lstrip("-"), names, n=1, cutoff=0.65)
        near = near or [f"--{match}" for match in close]
        hint = f"did you mean {near[0]!r}?" if near and len(name) > 2 else "--help lists them"
        return ArgumentError(name, f"is not an option; {hint}")


class _Once(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if getattr(namespace, self.dest) is not None:
            parser.error(f"argument {option}: is given twice")
        setattr(namespace, self.dest, values)


def parser_of(command: str) -> _Parser:
    """Return the parser of the options of a command."""
    known = {
        "audit": (_AUDIT, _OF_AN_AUDIT, _CODES + _EXAMPLE),
        "audits": (_AUDITS, _OF_AUDITS, _CODES),
        "samples-needed": (_NEEDED, _OF_DRAWS),
    }
    return _Parser(*known[command])


def _parameter(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r}: write NAME=VALUE, as in epsilon=0.5")
    with contextlib.suppress(ValueError):
        return name, json.loads(value)
    return name, value


def _real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        hint = "; a percentage is written as in 0.05" if text.endswith("%") else ""
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a number{hint}") from None


def _whole(text: str) -> int:
    with contextlib.suppress(ValueError):
        return int(text)
    number = _real(text)  # as in 1e6
    if not number.is_integer():
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a whole number")
    return int(number)


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?([smh]?)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{shown(text)} is not a time; write 60, 60s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else one_line(error)
        hint = "; quote all of it for the shell, as in '[0, 1]'" if text[:1] in "[{" else ""
        if hint and "'" in text:
            hint = """; JSON has double quotes inside, as in '{"a": 1}'"""
        if re.fullmatch(r"\w+", text):
            hint = f"""; a word is written '"{text}"'"""
        from epsilometer_audit.serving.errors import shortened

        message = f"{shortened(text, 40)!r} is not JSON: {reason}{hint}"
        raise argparse.ArgumentTypeError(message) from None


def _declared(text: str) -> tuple[Any, str | None]:
    """Return the declaration, and the file that it is from."""
    if text.lstrip()[:1] in "{[":
        return _json(text), None
    try:
        return _json(Path(text).read_text(encoding="utf-8")), text
    except FileNotFoundError:
        problem = """ is not there; write JSON, as in '{"values": [0, 1]}', or a file of it"""
    except (OSError, ValueError) as error:
        problem = f" cannot be read: {one_line(error)}"
    except argparse.ArgumentTypeError as error:
        problem = f": {error}"
    raise argparse.ArgumentTypeError(f"{text!r}{problem}")


def _order(text: str) -> tuple[float, float]:
    order, sign, epsilon = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r} names no order; write ORDER=EPS, as in 2=0.5")
    return _real(order), _real(epsilon)


_TYPES: dict[str, Callable[[str], Any]] = {  # by what a table names the value of an option
    **dict.fromkeys(("E", "D", "MU", "RHO", "A", "LEVEL", "P"), _real),
    **dict.fromkeys(("N", "M", "S", "K"), _whole),
    **dict.fromkeys(("TIME", "SECONDS"), _seconds),
    **{"ORDER=EPS": _order, "NAME=VALUE": _parameter, "X": _json, "DOMAIN": _declared},
}

# --- the objects of options -----------------------------------------------------------------------


def spelled(argument: str, of_audit: bool = True) -> str:
    """Return the option of an argument of Python, or the argument if there is none."""
    if argument == "pairs":
        return "--pair" if of_audit else "--pairs"
    option = f"--{argument.replace('_', '-')}"
    tables = _OF_AN_AUDIT + _OF_DRAWS + _OF_AUDITS
    known = re.search(rf"^{re.escape(option)}\b", tables, re.MULTILINE)
    return _ARGUMENTS.get(argument, option if known else argument)


def check_options(options: argparse.Namespace) -> None:
    """Refuse options that need others, or exclude them."""
    from epsilometer_audit.question import NOTIONS, check_together

    given = {name: spelled(name) for name, value in vars(options).items() if value is not None}
    named = {_NAMES[name]: option for name, option in given.items() if name in _NAMES}
    check_together({**given, **named}, spelled)
    if not set(given) & set(NOTIONS):
        choices = "--epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"
        raise ArgumentError("CLAIM", f"none is given; write {choices}")
    if "source" not in options:
        return
    if not set(given) & {"source", "command", "outputs", "one_run"}:
        choices = "file.py:function, --command PROGRAM, --outputs FILE [FILE] or --one-run FILE"
        raise ArgumentError("SOURCE", f"none is given; write {choices}")
    if not set(given) & {*_PAIRS, "outputs", "one_run", "canaries"}:
        choices = "--domain JSON, --remove-a-row TABLE or --replace-a-row TABLE"
        raise ArgumentError("pairs", f"none is given; write --pair X X', {choices}")


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options of these names that are given."""
    named = {name: getattr(options, name) for name in names}
    return {name: value for name, value in named.items() if value is not None}


def stated(options: argparse.Namespace) -> AnyClaim:
    """Return the claim."""
    from epsilometer_audit.question import claim_of

    try:
        return claim_of(chosen(options, "epsilon", "delta", "renyi", "gdp", "zcdp"))
    except ArgumentError as error:
        if options.renyi is None:
            raise
        message = str(error).removeprefix("renyi ")  # it says order or epsilon
        raise ArgumentError("renyi", message) from None


def spec_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the spec of the options of an audit; see `grids.verdicts`."""
    mechanism = chosen(options, "command", "python", "outputs", "columns")
    if options.one_run is not None:
        mechanism |= {"outputs": [options.one_run], "one_run": True}
    if options.source is not None:
        mechanism["function"] = options.source
    given = dict(options.set or ())
    if len(given) < len(options.set or ()):
        raise ArgumentError("set", "gives a parameter twice")
    guesses = options.guesses if len(options.guesses or ()) != 1 else options.guesses[0]
    names = ("timeout", "samples", "budget", "jobs", "stop", "as_reals")
    return {
        **{name: getattr(options, name) for name in names},
        "mechanism": mechanism,
        "given": given,
        "failures": bool(options.failures),
        "pairs": _inputs(options),
        "method": "exact" if options.exact else None,
        "check_sampler": not options.no_checks,
        "explain": bool(options.explain),
        "guesses": guesses,
        "alpha": 0.05 if options.alpha is None else options.alpha,
        "audit_seed": options.seed or 0,
        "claims": [
            {
                "claim": chosen(options, "epsilon", "delta", "renyi", "gdp", "zcdp"),
                "detect": options.detect,
            }
        ],
    }


def _inputs(options: argparse.Namespace) -> dict[str, Any]:
    """Return the pairs of inputs as `pairs_of` reads them, or the number of canaries."""
    plain = chosen(options, "frame", "canaries")
    tables = {"remove": options.remove_a_row, "replace": options.replace_a_row}
    plain |= {kind: table for kind, table in tables.items() if table is not None}
    if options.domain is not None:
        plain["domain"] = options.domain[0]
    pairs = [(f"pair {i}", x, y) for i, (x, y) in enumerate(options.pair or (), start=1)]
    if len(pairs) == 1 and not plain:
        pairs = [("", *pairs[0][1:])]
    return {**plain, "pairs": pairs} if pairs else plain
