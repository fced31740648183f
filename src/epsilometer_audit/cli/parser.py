"""The options of the commands, from the fields of a request, and the words of a command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from epsilometer.claims import AnyClaim, ClaimOption
from epsilometer.errors import ArgumentError, suggest
from epsilometer_audit.cli import values
from epsilometer_audit.question import claims, request
from epsilometer_audit.question.request import (
    NamedMechanism,
    Option,
    Request,
    TogetherError,
    options_of,
    types_of,
)

_TABLES = "write pairs of tables, --pair or pairs= in Python (docs/audit.md), or a --domain"
_REMOVED = {  # options that were, and what to do instead
    **dict.fromkeys(("--remove-a-row", "--replace-a-row", "--frame"), _TABLES),
    "--budget": "--samples and --stop limit the draws; a terminal shows the time that is left",
    "--exact": "--outputs makes an exact test, of outputs that a mechanism drew before",
    "--explain": "docs/explain.md says how to find the line of code",
    "--junit": "audits in tests have it of pytest, --junitxml (docs/pytest.md)",
    "--scale": "a file of audits has one number of samples (docs/many-audits.md)",
}
_CODES = """\
exit codes: 0 not refuted, 1 violated, 2 wrong use, 3 undecided,
4 the mechanism failed, or its draws are invalid"""
_AUDIT = f"""\
{_CODES}

example: epsilometer audit release.py:noisy_count --pair [0] [1] --epsilon 1"""
_NUMBER = re.compile(r"-(\d|\.\d|Infinity)")  # words that begin like options, and are none
_SECONDS = {"type": values.seconds}
_READ: dict[Any, dict[str, Any]] = {  # the values of an option, by the type of its field
    bool: {"action": "store_true"},
    float: {"type": values.real},
    int: {"type": values.whole},
    int | Sequence[int]: {"type": values.whole, "nargs": "+"},
    str: {},
    str | Sequence[str]: {},
    Sequence[str]: {"nargs": "+"},
    Mapping[str, Any]: {"type": values.named, "action": "append"},
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are `ArgumentError`, in one line."""

    def __init__(self, **options: Any) -> None:
        form = partial(argparse.RawDescriptionHelpFormatter, max_help_position=25, width=80)
        super().__init__(allow_abbrev=False, add_help=False, formatter_class=form, **options)

    def error(self, message: str) -> Any:
        argument, _, text = message.removeprefix("argument ").partition(": ")
        if not text:
            argument = "the command"
            text = message
        raise ArgumentError(argument, text)


class _Once(argparse.Action):
    """An option that may be given once."""

    def __call__(self, parser: Any, namespace: Any, value: Any, option: str | None = None) -> None:
        if self.dest in vars(namespace):
            raise argparse.ArgumentError(self, "is given twice")
        setattr(namespace, self.dest, value)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; `shtab` makes completion for shells of it."""
    return _parsers()[""]


@cache
def _parsers() -> dict[str, _Parser]:
    """Return the parser of each command, and that of all commands as ``""``."""
    about = "Tests claims of differential privacy from outputs alone."
    main = _Parser(prog="epsilometer", description=about)
    main.add_argument("--version", action="store_true", help="print the version")
    commands = main.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Parser)
    return {
        "": main,
        "audit": _audit(commands),
        "audits": _audits(commands),
        "samples-needed": _samples_needed(commands),
    }


def commands() -> list[str]:
    """Return the names of the commands."""
    return [name for name in _parsers() if name]


def help_of(command: str) -> str:
    """Return the help of a command, or of all commands if the name is empty."""
    return _parsers()[command].format_help().rstrip()


def parsed(command: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the options of a command by name."""
    # a space tells argparse that a word is no option
    marked = [f" {word}" if _NUMBER.match(word) else word for word in words]
    namespace, extra = _parsers()[command].parse_known_args(marked)
    if extra:
        raise _unknown(extra, command)
    return vars(namespace)


def _unknown(extra: Sequence[str], command: str) -> ArgumentError:
    """Return the error of words that belong to no option."""
    name = next((word.partition("=")[0] for word in extra if word.startswith("-")), None)
    if name is None:
        text = "belongs to no option; quote arguments with spaces"
        return ArgumentError(repr(extra[0].strip()), text)
    if name in _REMOVED:
        return ArgumentError(name, f"is not an option; {_REMOVED[name]}")
    return ArgumentError(name, f"is not an option{suggest(name, words_of(command))}")


def words_of(command: str) -> list[str]:
    """Return the options of a command, as they are written."""
    words: list[str] = []
    for action in _parsers()[command]._actions:  # which argparse has no public name for
        words += action.option_strings
    return words


def spelled(argument: str, command: str) -> str:
    """Return how the command line spells an argument of Python."""
    if command == "samples-needed" and argument == "pairs":
        return "--pairs"
    known = options_of(Request) | options_of(NamedMechanism)
    if argument in known:
        return _word(argument, known[argument])
    if argument == "input":
        return "--pair"
    stated = claims.options()
    option = _claim_word(stated[argument]) if argument in stated else f"--{argument}"
    return option if option in words_of(command) else argument


def _word(name: str, option: Option) -> str:
    return option.word or f"--{name.replace('_', '-')}"


# --- the commands ---------------------------------------------------------------------------------


def _add(group: Any, word: str, about: str, *names: str, **more: Any) -> None:
    """Add an option, which is absent from the result where it is not given."""
    more = {"action": _Once, "default": argparse.SUPPRESS, "help": about.replace("%", "%%")} | more
    if names:
        more["metavar"] = names if len(names) > 1 else names[0]
    group.add_argument(word, **more)


def _add_field(group: Any, name: str, option: Option, kind: Any) -> None:
    """Add the option of a field, whose type says how its values are read."""
    word = _word(name, option)
    about = option.about
    if word.startswith("--no-"):
        _add(group, word, f"do not {about}", dest=name, action="store_false")
        return
    how = _SECONDS if name == "timeout" else _READ[kind]
    _add(group, word, about, *option.values, dest=name, **how)


def _add_claims(group: Any, *, curves: bool) -> None:
    """Add the options of registered claims; one takes the file of a curve of any of them."""
    abouts = []
    for option in claims.options().values():
        more: dict[str, Any] = {"type": values.real}
        if option.columns:
            abouts.append(option.about)
            continue
        if option.takes_points:
            point = partial(values.point, placeholder=option.placeholder)
            more = {"type": point, "action": "append"}
        _add(group, _claim_word(option), option.about, option.placeholder, **more)
    if curves:
        _add(group, "--profile", f"a file: {', or '.join(abouts)}", "CURVE", type=values.curve)


def _claim_word(option: ClaimOption) -> str:
    """Return the option of the command; curves share one: the columns of the file tell which."""
    return "--profile" if option.columns else f"--{option.name.replace('_', '-')}"


def _audit(commands: Any) -> _Parser:
    audit = commands.add_parser(
        "audit",
        help="a verdict on a claim of differential privacy",
        usage="epsilometer audit SOURCE --pair X X' [--pair ...] CLAIM [options]",
        description="Draws outputs of a mechanism on neighbouring inputs x and x', and tests\n"
        "whether they contradict a claim of differential privacy (docs/audit.md).",
        epilog=_AUDIT,
    )
    headings = dict.fromkeys(option.heading for option in options_of(Request).values())
    groups = {heading: audit.add_argument_group(heading) for heading in headings}
    for kind in (NamedMechanism, Request):
        types = types_of(kind)
        for name, option in options_of(kind).items():
            if not option.heading:
                continue
            group = groups[option.heading]
            if name == "function":
                group.add_argument(
                    name, metavar="SOURCE", nargs="?", default=argparse.SUPPRESS, help=option.about
                )
            elif name == "pairs":
                two = {"nargs": 2, "action": "append", "type": values.plain}
                _add(group, "--pair", "two inputs, in JSON (repeatable)", "X", "X'", **two)
                _add(
                    group,
                    "--domain",
                    "the possible inputs, in JSON",
                    "DOMAIN",
                    type=values.plain,
                )
            elif name == "claim":
                _add_claims(group, curves=True)
            elif name != "mechanism":
                _add_field(group, name, option, types[name])
    answer = groups["the answer"]
    _add(answer, "--json", "write the verdict as JSON; -: to stdout", "FILE")
    _add(answer, "--quiet", "show no progress", action="store_true")
    return audit  # type: ignore[no-any-return]


def _audits(commands: Any) -> _Parser:
    audits = commands.add_parser(
        "audits",
        help="verdicts on all audits of a file",
        usage="epsilometer audits FILE [options]",
        description="Makes all audits of a file, in YAML (docs/many-audits.md). All claims\n"
        "share its alpha.",
        epilog=_CODES,
    )
    audits.add_argument("file", metavar="FILE", nargs="?", default=argparse.SUPPRESS)
    _add(audits, "--only", "only the audit of this name", "AUDIT")
    _add(audits, "--seed", "the seed of all draws (2022)", "S", type=values.whole)
    _add(
        audits,
        "--jobs",
        "audits at a time (one a core); the answer is the same",
        "N",
        type=values.whole,
    )
    _add(audits, "--quiet", "show no progress", action="store_true")
    return audits  # type: ignore[no-any-return]


def _samples_needed(commands: Any) -> _Parser:
    needed = commands.add_parser(
        "samples-needed",
        help="how many draws find a violation",
        usage="epsilometer samples-needed CLAIM --detect LEVEL [options]",
        description="Prints how many draws of each side find a true level.",
    )
    _add_claims(needed.add_argument_group("the claim, one of"), curves=False)
    power = needed.add_argument_group("power")
    _add(power, "--detect", "the true level to find, above the claim", "LEVEL", type=values.real)
    _add(power, "--power", "the probability of finding it (.9)", "P", type=values.real)
    _add(
        power,
        "--alpha",
        'the largest probability of a false "violated" (.05)',
        "A",
        type=values.real,
    )
    _add(power, "--pairs", "how many pairs of inputs share the draws (1)", "N", type=values.whole)
    _add(
        power,
        "--event",
        "the probability of the event that shows it, if rare",
        "P",
        type=values.real,
    )
    return needed  # type: ignore[no-any-return]


# --- what the options name ------------------------------------------------------------------------


def claim_of(options: Mapping[str, Any]) -> AnyClaim:
    """Return the claim of the options that state it."""
    levels = {name: options[name] for name in claims.options() if name in options}
    if (curve := curve_of(options)) is not None:
        del levels["profile"]
        levels[curve.name] = curve.points
    return request.claim_of(levels)


def curve_of(options: Mapping[str, Any]) -> values.Curve | None:
    """Return the curve of a file that is claimed, if one is."""
    return options.get("profile")


def request_of(options: Mapping[str, Any]) -> Request:
    """Return the request that options of ``audit`` are."""
    mechanism = {name: options[name] for name in options_of(NamedMechanism) if name in options}
    if "parameters" in mechanism:
        pairs = mechanism["parameters"]
        mechanism["parameters"] = dict(pairs)
        if len(mechanism["parameters"]) < len(pairs):
            raise ArgumentError("parameters", "gives a parameter twice")
    fields = {name: options[name] for name in options_of(Request) if name in options}
    if "guesses" in fields and len(fields["guesses"]) == 1:
        (fields["guesses"],) = fields["guesses"]
    named = NamedMechanism(**mechanism)
    claim = claim_of(options)
    return Request(mechanism=named, pairs=_pairs(options), claim=claim, **fields)


def _pairs(options: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the pairs of inputs by name, of --pair and of --domain."""
    given = options.get("pair", [])
    alone = len(given) == 1 and "domain" not in options
    pairs = {"" if alone else f"pair {i}": (x, y) for i, (x, y) in enumerate(given, start=1)}
    if "domain" in options:
        from epsilometer_audit.question.domains import domain

        return pairs | domain(options["domain"])
    return pairs or None


def line_of(error: ArgumentError, command: str) -> str:
    """Return the line of an error, with the words of the command line for its arguments."""
    message = str(error).removeprefix(f"{error.argument} ")
    if isinstance(error, TogetherError):
        others = dict.fromkeys(spelled(name, command) for name in error.others)
        message = error.text.format(" or ".join(others))
    if part := re.fullmatch(r"domain\b[. ]*(.+)", error.argument):
        return f"--domain: {part[1]} {message}"
    return f"{spelled(error.argument, command)}: {message}"
