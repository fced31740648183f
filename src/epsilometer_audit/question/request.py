"""What is audited, and how: one `Request`, from the command, a file of audits, pytest or Python.

    Request(mechanism=noisy_count, pairs=[([0], [1])], claim=pure(1.0), samples=20_000)

A field says once what it is for. The options and the help of the command, the keys of files and
the documentation of `audit` are made of the fields: a new option is a new field.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import partial, reduce
from operator import or_
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import numpy as np

from epsilometer import checks
from epsilometer.claims import AnyClaim
from epsilometer.errors import ArgumentError, suggest
from epsilometer_audit.outputs.formats import input_text
from epsilometer_audit.question import claims
from epsilometer_audit.question.pairs import Pair

Pairs = Sequence[Pair] | Mapping[str, Pair]
T = TypeVar("T", bound=Callable[..., Any])

MOST_DRAWS = 10**9  # of a side, which are kept in memory


class Kind(Enum):
    """What an audit rests on."""

    DRAWS = "draws of a mechanism"
    OUTPUTS = "recorded outputs"
    ONE_RUN = "canaries of one run"


@dataclass(frozen=True)
class Option:
    """What users read of a field: the ``about`` of its help, under a heading.

    ``values`` are the names of its values, and ``word`` is the option of the command where it does
    not have the field's name. A field is of some ``kinds`` of audits, and ``needs`` one of other
    fields. A ``shared`` one is not of an audit in a file or in a session of pytest, but of all.
    """

    about: str
    heading: str
    values: tuple[str, ...] = ()
    word: str = ""
    kinds: tuple[Kind, ...] = tuple(Kind)
    needs: tuple[str, ...] = ()
    shared: bool = False


def _option(default: Any, about: str, heading: str, *values: str, **more: Any) -> Any:
    """Return a field with a default and an `Option`."""
    return field(default=default, metadata={"option": Option(about, heading, values, **more)})


def options_of(kind: type) -> dict[str, Option]:
    """Return the options of a dataclass by the names of its fields."""
    return {known.name: known.metadata["option"] for known in fields(kind)}


def documented(*kinds: Kind) -> Callable[[T], T]:
    """Give a function's ``**options`` those of some kinds of audits, for its signature and help."""

    def decorate(function: T) -> T:
        signature = inspect.signature(function)
        parameters = dict(signature.parameters)
        del parameters["options"]
        text = [inspect.getdoc(function) or "", "", "Other Parameters", "----------------"]
        for name, option in options_of(Request).items():
            if name not in parameters and {*kinds} & {*option.kinds}:
                default = getattr(Request, name)
                keyword = inspect.Parameter.KEYWORD_ONLY
                parameters[name] = inspect.Parameter(name, keyword, default=default)
                text += [name, f"    {option.about[0].upper()}{option.about[1:]}."]
        signature = signature.replace(parameters=list(parameters.values()))
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__doc__ = "\n".join(text)
        return function

    return decorate


def types_of(kind: type) -> dict[str, Any]:
    """Return the type of each field of a dataclass, without its check and without None."""
    types = get_type_hints(kind)
    for name, hint in types.items():
        if type(None) in get_args(hint):
            others = [part for part in get_args(hint) if part is not type(None)]
            types[name] = reduce(or_, others)
    return types


class TogetherError(ArgumentError):
    """An argument that excludes another, or needs one of others; a door may spell these."""

    def __init__(self, argument: str, text: str, others: Sequence[str]) -> None:
        self.text = text
        self.others = others
        super().__init__(argument, text.format(" or ".join(others)))


_SOURCE = "the mechanism"
_ANSWER = "the answer"
_MORE = "advanced"
_INPUTS = "the neighbouring inputs, one or both of"
_CLAIM = "the claim, one of"
_DRAWS = "the number of draws"
_CANARIES = "canaries: an audit of one training run"
_RECORDED = (Kind.OUTPUTS, Kind.ONE_RUN)


@dataclass(frozen=True, kw_only=True)
class NamedMechanism:
    """A mechanism by name: a function, a program, recorded outputs, or scores of one run."""

    function: str | None = _option(
        None, "file.py:function or package.module:function", _SOURCE, word="SOURCE"
    )
    parameters: Mapping[str, Any] | None = _option(
        None,
        "a parameter: VALUE is JSON, or else text (repeatable)",
        _SOURCE,
        "NAME=VALUE",
        word="--set",
        needs=("function",),
    )
    python: str | None = _option(
        None,
        "run SOURCE in another Python: ../venv/bin/python",
        _SOURCE,
        "INTERPRETER",
        needs=("function",),
    )
    environment: str | None = _option(
        None, "run it in an environment, which studies make", "", needs=("function",)
    )
    command: str | Sequence[str] | None = _option(
        None, "a worker: a program in any language (docs/worker.md)", _SOURCE, "PROGRAM"
    )
    outputs: Sequence[str] | None = _option(
        None, "recorded: files for x and x', or one of two columns", _SOURCE, "FILE"
    )
    one_run: str | None = _option(
        None, "recorded scores, and whether each canary was included", _CANARIES, "FILE"
    )
    columns: Sequence[str] | None = _option(
        None,
        "the two columns of recorded outputs or scores",
        _SOURCE,
        "NAME",
        needs=("outputs", "one_run"),
    )

    def __post_init__(self) -> None:
        kinds = ("function", "command", "outputs", "one_run")
        named = [name for name in kinds if getattr(self, name) is not None]
        if not named:
            raise TogetherError("mechanism", "is missing; write {}", kinds)
        if len(named) > 1:
            raise TogetherError(named[1], "cannot be used with {}; choose one", named[:1])
        for name, option in options_of(NamedMechanism).items():
            missing = all(getattr(self, other) is None for other in option.needs)
            if option.needs and missing and getattr(self, name) is not None:
                raise TogetherError(name, "needs {}, which is missing", option.needs)
        if self.python is not None and self.environment is not None:
            raise TogetherError("python", "cannot be used with {}; choose one", ["environment"])

    @property
    def kind(self) -> Kind:
        """What its audits rest on, if they draw no canaries."""
        if self.one_run is not None:
            return Kind.ONE_RUN
        return Kind.DRAWS if self.outputs is None else Kind.OUTPUTS

    @property
    def files(self) -> tuple[str, ...]:
        """The files of recorded outputs or scores."""
        if self.one_run is not None:
            return (self.one_run,)
        return tuple(self.outputs or ())


@dataclass(frozen=True)
class RecordedOutputs:
    """Outputs on x and on x' by the name of the pair, with their origin."""

    by_pair: Mapping[str, tuple[Any, Any]]
    source: str = "recorded outputs"
    digest: Mapping[str, str] = field(default_factory=dict)
    kind = Kind.OUTPUTS


@dataclass(frozen=True)
class RecordedScores:
    """Scores of canaries, and whether each was included, with their origin."""

    scores: Any
    included: Any
    source: str = "recorded scores"
    digest: Mapping[str, str] = field(default_factory=dict)
    kind = Kind.ONE_RUN


@dataclass(frozen=True, kw_only=True)
class Request(checks.Checked):
    """An audit: the mechanism, pairs of inputs, the claim, and options.

    Raise `ArgumentError` if a value is not possible, or fields exclude each other.
    """

    mechanism: Any = _option(
        None,
        "a callable, its name, a `NamedMechanism` or its fields, or a `Source`",
        _SOURCE,
        word="SOURCE",
    )
    timeout: Annotated[float, checks.seconds] | None = _option(
        None,
        "the longest time of a batch of draws (of a program: 60)",
        _SOURCE,
        "SECONDS",
        kinds=(Kind.DRAWS, Kind.ONE_RUN),
    )
    failures: Annotated[bool, checks.flag] = _option(
        False, "count an exception as an output", _SOURCE, kinds=(Kind.DRAWS,)
    )
    pairs: Any = _option(
        None,
        "pairs (x, x') of neighbours, by name in a mapping, or a `domain`",
        _INPUTS,
        word="--pair",
        kinds=(Kind.DRAWS,),
    )
    claim: Any = _option(
        None, "such as `pure(1.0)` or `gdp(1.0)`; or its options in its place", _CLAIM, word="CLAIM"
    )
    samples: Annotated[int, partial(checks.integer, maximum=MOST_DRAWS)] | None = _option(
        None, "draws on each of x and x', over all pairs (100000)", _DRAWS, "N", kinds=(Kind.DRAWS,)
    )
    stop: Annotated[bool, checks.flag] = _option(
        False, "stop once the claim is refuted; alpha is the same", _DRAWS, kinds=(Kind.DRAWS,)
    )
    alpha: checks.Fractional = _option(
        0.05, 'the largest probability of a false "violated" (.05)', _ANSWER, "A", shared=True
    )
    detect: float | None = _option(
        None, 'say "undecided" if this true level may be missed', _ANSWER, "LEVEL"
    )
    event: checks.Fractional | None = _option(
        None,
        "with detect: in an event of this probability (.1)",
        _ANSWER,
        "P",
        kinds=(Kind.DRAWS, Kind.OUTPUTS),
    )
    canaries: checks.Count | None = _option(
        None,
        "include so many canaries by coins, and run SOURCE once",
        _CANARIES,
        "M",
        kinds=(Kind.ONE_RUN,),
    )
    guesses: int | Sequence[int] | None = _option(
        None,
        "their number; or two, for the highest and the lowest",
        _CANARIES,
        "N",
        kinds=(Kind.ONE_RUN,),
    )
    seed: Annotated[int, partial(checks.integer, minimum=0)] = _option(
        0, "the seed that all draws follow from (0)", _MORE, "S", shared=True
    )
    as_reals: Annotated[bool, checks.flag] = _option(
        False, "do not test the low bits of outputs", _MORE, kinds=(Kind.DRAWS, Kind.OUTPUTS)
    )
    check_sampler: Annotated[bool, checks.flag] = _option(
        True,
        "test first whether draws are independent and follow the seed",
        _MORE,
        word="--no-checks",
        kinds=(Kind.DRAWS,),
    )

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, Mapping):
            object.__setattr__(self, "mechanism", named_mechanism(self.mechanism))
        elif isinstance(self.mechanism, str):
            object.__setattr__(self, "mechanism", NamedMechanism(function=self.mechanism))
        if not isinstance(self.claim, AnyClaim):
            text = f"must be a claim, such as pure(1.0), got {self.claim!r}"
            raise ArgumentError("claim", f"{text}; or give {', '.join(claims.kinds())}")
        for name, option in options_of(Request).items():
            is_given = getattr(self, name) is not getattr(Request, name)
            if is_given and self.kind not in option.kinds:
                raise ArgumentError(name, f"cannot be used with {self.kind.value}")
        if self.kind is Kind.ONE_RUN:
            self._check_one_run()
        super().__post_init__()
        if self.kind is Kind.DRAWS:
            if self.pairs is None:
                raise ArgumentError("pairs", "must be given: pairs of neighbours, or a domain")
            object.__setattr__(self, "pairs", named_pairs(self.pairs))
        if self.detect is not None:
            object.__setattr__(self, "detect", claims.checked_detect(self.detect, self.claim))
        # a verdict holds them in JSON, so they may not be NumPy's
        object.__setattr__(self, "alpha", float(self.alpha))
        object.__setattr__(self, "seed", int(self.seed))

    def _check_one_run(self) -> None:
        if not self.claim.one_run:
            tested = [name for name, kind in claims.kinds().items() if kind.one_run]
            raise TogetherError("claim", "must be of {}, in an audit of one run", tested)
        recorded = getattr(self.mechanism, "kind", Kind.DRAWS) in _RECORDED
        if recorded and self.canaries is not None:
            raise ArgumentError("canaries", "cannot be used with what is recorded")
        if recorded and self.timeout is not None:
            raise ArgumentError("timeout", "cannot be used with what is recorded")

    @property
    def kind(self) -> Kind:
        """What the audit rests on."""
        if self.canaries is not None:
            return Kind.ONE_RUN
        known = isinstance(self.mechanism, NamedMechanism | RecordedOutputs | RecordedScores)
        return self.mechanism.kind if known else Kind.DRAWS


def request_of(options: Mapping[str, Any], **given: Any) -> Request:
    """Return the request of options by name, of which none has the name of a ``given`` one.

    The claim may be given by its options, such as ``epsilon`` and ``delta``. Raise `ArgumentError`
    if there is no such option.
    """
    stated = claims.options()
    known = options_of(Request)
    levels = {}
    others = {}
    for name, value in options.items():
        if name in ("claim", *stated):
            levels[name] = value
        elif name in given or name not in known:
            choices = {*known, *stated} - {*given}
            raise ArgumentError(name, f"is no option{suggest(name, choices)}")
        else:
            others[name] = value
    if "claim" not in given:
        others["claim"] = claim_of(levels)
    return Request(**others, **given)


def named_mechanism(plain: Mapping[str, Any]) -> NamedMechanism:
    """Return a mechanism from its fields; raise `ArgumentError` if there is no such field."""
    known = options_of(NamedMechanism)
    for name in plain:
        if name not in known:
            raise ArgumentError(f"mechanism.{name}", f"is no field{suggest(str(name), known)}")
    return NamedMechanism(**plain)


def claim_of(levels: Mapping[str, Any]) -> AnyClaim:
    """Return the claim of values of options, such as ``epsilon`` and ``delta``.

    It may also be a ``claim`` itself. Raise `ArgumentError` if it names none or several, or the
    claim is impossible.
    """
    given = {name: level for name, level in levels.items() if level is not None}
    kinds = claims.kinds()
    named = [name for name in ("claim", *kinds) if name in given]
    if len(named) > 1:
        raise TogetherError(named[1], "cannot be used with {}; choose one", named[:1])
    for name, kind in kinds.items():
        for option in kind.options[1:]:
            if option.name in given and named != [name]:
                raise TogetherError(option.name, "needs {}, which is missing", [name])
    if not named:
        raise TogetherError("claim", "is missing; write {}", list(kinds))
    (name,) = named
    level = given.pop(name)
    if name == "claim":
        return level  # type: ignore[no-any-return]
    try:
        return kinds[name].claimed(level, **given)
    except ArgumentError as error:
        if error.argument in (name, *given):
            raise
        raise ArgumentError(name, str(error)) from None


def named_pairs(pairs: Pairs | None) -> Mapping[str, Pair]:
    """Return pairs by their names, numbers if they have none; refuse them if all are equal."""
    lone = isinstance(pairs, tuple) and len(pairs) == 2 and not isinstance(pairs[0], tuple)
    if lone or not isinstance(pairs, Mapping | list | tuple):
        text = f"must be a list of pairs, [(x, x')] for one pair, got {input_text(pairs)}"
        raise ArgumentError("pairs", text)
    if isinstance(pairs, Mapping):
        named = pairs
    elif len(pairs) == 1:
        named = {"": pairs[0]}
    else:
        named = {f"pair {i}": pair for i, pair in enumerate(pairs, start=1)}
    if not named:
        raise ArgumentError("pairs", "must name at least one pair of inputs")
    for name, pair in named.items():
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            text = f"must be a list of pairs (x, x'), got {input_text(pair)}"
            if name:
                text += f" as {name!r}"
            raise ArgumentError("pairs", text)
    if all(equal(x, y) for x, y in named.values()):
        message = "must have inputs that differ: no claim is refuted where x and x' are equal"
        raise ArgumentError("pairs", message)
    return named


def equal(x: Any, y: Any) -> bool:
    """Tell whether two inputs are surely equal."""
    if x is y:
        return True
    try:
        return type(x) is type(y) and repr(x) == repr(y) and bool(np.all(x == y))
    except Exception:  # they cannot be compared
        return False
