"""Options of the command line: their table, their combinations, and the objects that they name."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from epsilometer.errors import ArgumentError, one_line, shown

if TYPE_CHECKING:
    from epsilometer_audit.sources.callables import Source
    from epsilometer_audit.statistics.claims import AnyClaim

_AUDIT = """\
epsilometer audit SOURCE --pair X X' [--pair ...] CLAIM [options]

Draws outputs of a mechanism on neighbouring inputs x and x', and tests whether
they contradict a claim of differential privacy.

SOURCE  file.py:function or package.module:function; or, in its place,
        --command PROGRAM, --outputs FILE [FILE] or --one-run FILE
CLAIM   --epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"""
_EPILOG = """\
exit codes:
  0 not refuted or holds, 1 violated, 2 wrong use, 3 undecided,
  4 the mechanism failed, or its draws are invalid

example:
  epsilometer audit release.py:noisy_count --pair '[0]' '[1]' --epsilon 1"""
_NEEDED = """\
epsilometer samples-needed CLAIM --detect LEVEL [options]

Prints how many draws of each side find a true level, and the fewest that any
audit needs.

CLAIM   --epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"""
_OF_A_CLAIM = """
the claim, one of
--epsilon E | pure differential privacy with this epsilon
--delta D | with --epsilon: approximate differential privacy, with this delta
--renyi ORDER=EPS* | Renyi differential privacy: at most EPS nats at this order
--gdp MU | Gaussian differential privacy with this mu
--zcdp RHO | zero-concentrated differential privacy with this rho
"""  # a star: may be repeated; dots: takes several
_OF_AN_AUDIT = f"""
the mechanism
--set NAME=VALUE* | a parameter of the function, as in epsilon=0.5; VALUE is JSON, or else a string
--python INTERPRETER | run SOURCE in another Python, such as ../venv/bin/python
--command PROGRAM | any program: a worker that answers requests (docs/worker.md), or one that is \
run with {{input}}, {{size}} and {{seed}} filled in
--timeout SECONDS | wait at most this long for a batch of draws (of a program: default 60)
--failures | count an exception, or an exit code other than 0, as an output
--outputs FILE... | recorded outputs: a file for x and one for x', or one file with two columns \
(.csv, .parquet, .npy)
--columns NAME... | the two columns: of x and x', or (--one-run) of score and inclusion
the neighbouring inputs, any of
--pair X X'* | two inputs, in JSON
--domain DOMAIN | the possible inputs, in JSON or a file of it: up to 100 pairs (docs/audit.md)
--patterns LENGTH | ten pairs of answers to this many counting queries
--remove-a-row TABLE | a table (.csv, .parquet) and the same without a row, for up to 100 rows
--replace-a-row TABLE | a table and the same with another row in place of one
--frame | give tables as pandas data frames with column names, not as lists of rows
{_OF_A_CLAIM}
the number of draws
--samples N | draws on each of x and x', over all pairs (default 100000)
--budget TIME | time limit of the whole audit, in place of --samples: 60s (or 60), 5m, 1h
--jobs N | processes that draw (default 1); the answer does not depend on N
--stop | stop as soon as the claim is refuted; alpha does not change
the answer
--alpha A | largest probability of "violated" if the claim holds (default .05) and draws are \
independent, also those of one call
--detect LEVEL | say "undecided" if these draws find this true level with probability below .9
--explain | if violated or invalid: name the lines of code that act differently on x and x' \
with the same noise
--json FILE | write the verdict as JSON; -: to stdout, and nothing else there
--junit FILE | write it as a test result in JUnit's XML, for continuous integration
--output FOLDER | write it as a page with figures, beside the JSON
--quiet | show no progress
canaries: an audit of one training run (docs/training.md)
--one-run FILE | recorded scores of canaries and whether each was included (.csv, .parquet, .npy)
--canaries M | include each of M canaries by a coin, run SOURCE once, and audit its scores
--probability P | probability that a canary is included (default .5)
--guesses N... | number of guesses; two numbers: for the highest and the lowest scores
advanced
--seed S | the seed that all draws follow from (default 0)
--exact | one exact binomial test at the end instead of a sequential test
--as-reals | read outputs as real numbers: do not test their low bits
--no-checks | do not test first whether draws are independent and follow the seed
--outcomes K | you declare: only K outputs are possible; allows "holds"
--support A B | you declare: densities on [A, B]; with --lipschitz, allows "holds"
--lipschitz C | with --support: Lipschitz constant of the densities
"""
_OF_DRAWS = f"""{_OF_A_CLAIM}
power
--detect LEVEL | the true level (epsilon, mu, rho or divergence) to find, above the claim
--power P | probability of finding it (default .9)
--alpha A | largest probability of "violated" if the claim holds (default .05)
--pairs N | how many pairs of inputs share the draws (default 1)
--event P | probability of the event that shows the violation, if it is rare
"""
_AUDITS = """\
epsilometer audits FILE [FILE ...] [options]

Audits all cases of files of audits, in YAML (docs/audits.md). All claims
of a file share its alpha."""
_OF_AUDITS = """
how
--only CASE | audit these cases only, at the same alpha: AUDIT, AUDIT/PARAMETERS or \
AUDIT/PARAMETERS/PAIRS
--scale NAME | choose a number of draws by its name in `samples`
--seed S | the seed that all draws follow from (default 2022)
--jobs N | cases at a time (default: as many as there are cores); the answer is the same
the answer
--junit FILE | write a test result for each verdict, in JUnit's XML
--markdown FILE | write a summary in Markdown
--quiet | show no progress
"""
_CLAIM_CHOICES = "--epsilon E [--delta D], --renyi ORDER=EPS, --gdp MU or --zcdp RHO"
_SOURCE_CHOICES = "file.py:function, --command PROGRAM, --outputs FILE [FILE] or --one-run FILE"
_PAIRS = ("pair", "domain", "patterns", "remove_a_row", "replace_a_row")
_NAMES = {  # of options with another name in Python
    **dict.fromkeys(_PAIRS, "pairs"),
    "no_checks": "check_sampler",
}
_ARGUMENTS = {  # options of arguments with another name in errors
    "source": "SOURCE",
    "claim": "--renyi",
    "input": "--pair",
    "length of the patterns": "--patterns",
    "method": "--exact",
    "mu": "--gdp",
    "rho": "--zcdp",
}


class HelpError(Exception):
    """The text that --help asks for, in place of a command."""


class _Parser(argparse.ArgumentParser):
    """A parser of options with errors of one line."""

    def print_help(self, file: Any = None) -> NoReturn:
        """Raise `HelpError`, as `SystemExit` would end an audit without a verdict."""
        raise HelpError(self.format_help())

    def __init__(self, table: str, usage: str, epilog: str = "") -> None:
        shape = argparse.RawDescriptionHelpFormatter
        super().__init__(usage=usage, epilog=epilog, allow_abbrev=False, formatter_class=shape)
        self._negative_number_matcher = re.compile(r"-(\d|\.\d|Infinity)")  # as JSON writes them
        group: Any = self
        for line in filter(None, table.splitlines()):
            head, _, text = line.partition(" | ")
            name, *values = head.rstrip("*.").split()
            settings: dict[str, Any] = {"action": "store_true", "default": None}
            if values:
                count = "+" if head[-1] == "." else len(values) if len(values) > 1 else None
                shown = tuple(values) if len(values) > 1 else values[0]
                settings = {"action": _Once, "type": _TYPES.get(name[2:])}
                settings |= {"nargs": count, "metavar": shown}
            if head[-1] == "*":
                settings["action"], text = "append", f"{text} (repeatable)"
            if text:
                group.add_argument(name, help=text, **settings)
            else:
                group = self.add_argument_group(line)

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
        "audit": (_OF_AN_AUDIT, _AUDIT, _EPILOG),
        "audits": (_OF_AUDITS, _AUDITS, _EPILOG.partition("\n\n")[0]),
        "samples-needed": (_OF_DRAWS, _NEEDED),
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


_CLAIMS = ("epsilon", "delta", "gdp", "zcdp")
_REALS = (*_CLAIMS, "alpha", "detect", "power", "event", "support", "lipschitz", "probability")
_WHOLES = ("patterns", "canaries", "guesses", "seed", "outcomes", "pairs", "jobs", "samples")
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(_REALS, _real),
    **dict.fromkeys(_WHOLES, _whole),
    **dict.fromkeys(("timeout", "budget"), _seconds),
    **{"renyi": _order, "set": _parameter, "pair": _json, "domain": _declared},
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
        raise ArgumentError("CLAIM", f"none is given; write {_CLAIM_CHOICES}")
    if "source" in options and not set(given) & {"source", "command", "outputs", "one_run"}:
        raise ArgumentError("SOURCE", f"none is given; write {_SOURCE_CHOICES}")


def chosen(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the options of these names that are given."""
    named = {name: getattr(options, name) for name in names}
    return {name: value for name, value in named.items() if value is not None}


def claim_of(options: argparse.Namespace) -> AnyClaim:
    """Return the claim."""
    from epsilometer_audit import question

    plain = chosen(options, "epsilon", "delta", "renyi", "gdp", "zcdp")
    try:
        return question.claim_of(plain)
    except ArgumentError as error:
        if options.renyi is None:
            raise
        message = str(error).removeprefix("renyi ")  # it says order or epsilon
        raise ArgumentError("renyi", message) from None


def parameters_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters that are set, by name."""
    pairs = getattr(options, "set", None) or []
    if len(dict(pairs)) < len(pairs):
        raise ArgumentError("set", "gives a parameter twice")
    return dict(pairs)


def source_of(options: argparse.Namespace) -> Source:
    """Return the source of draws; a worker may have been started."""
    from epsilometer_audit import question

    mechanism = chosen(options, "command", "python") | {"function": options.source}
    settings = chosen(options, "failures", "timeout")
    return question.source_of(mechanism, parameters=parameters_of(options), **settings)


def pairs_of(options: argparse.Namespace) -> Mapping[str, tuple[Any, Any]]:
    """Return the pairs of inputs by name, at least one."""
    from epsilometer_audit import question

    plain = chosen(options, "patterns", "frame")
    plain["pairs"] = [(f"pair {i}", x, y) for i, (x, y) in enumerate(options.pair or [], start=1)]
    tables = {"remove": options.remove_a_row, "replace": options.replace_a_row}
    plain |= {kind: table for kind, table in tables.items() if table is not None}
    if options.domain is not None:
        plain["domain"] = options.domain[0]
    named = question.pairs_of(plain)
    if not named:
        choices = "--domain JSON, --patterns LENGTH, --remove-a-row TABLE or --replace-a-row TABLE"
        raise ArgumentError("pairs", f"none is given; write --pair X X', {choices}")
    return {"": named["pair 1"]} if list(named) == ["pair 1"] else named
