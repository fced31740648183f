"""Numbers of users, files and workers have ranges, which are checked first."""

import json
import time
from functools import partial

import numpy as np
import pytest
import yaml

import epsilometer_audit as ea
from epsilometer.errors import ArgumentError, EpsilometerError, MechanismError
from epsilometer_audit.answer.one_run import draw_canaries
from epsilometer_audit.cli.cases import AuditsFile
from epsilometer_audit.outputs.callables import callable_source
from epsilometer_audit.outputs.worker import Reply

HUGE = {"10**12": 10**12, "10**400": 10**400, "10**5000": 10**5000}  # some cannot be printed


def zero(x, size):
    return np.zeros(size)


def audited(option, number):
    return ea.audit(zero, [(0, 1)], ea.pure(1.0), **{option: number})


CALLS = {
    "samples": partial(audited, "samples"),
    "alpha": partial(audited, "alpha"),
    "detect": partial(audited, "detect"),
    "timeout": partial(audited, "timeout"),
    "seed": lambda n: audited("seed", n**2),
    "domain.limit": lambda n: ea.domain({"bits": 3}, limit=n),
    "domain.values": lambda n: ea.domain({"values": [0, 10**90 * n], "whole": True}),
    "domain.length": lambda n: ea.domain({"rows": {"bits": 2}, "length": [0, n]}),
    "domain.counts": lambda n: ea.domain({"counts": [0, n], "keys": ["a", "b"]}),
    "canaries": lambda n: draw_canaries(callable_source(zero), n, 0),
    "pairs": lambda n: ea.samples_needed(ea.pure(1.0), detect=2.0, pairs=n),
    "epsilon": ea.pure,
    "order": lambda n: ea.renyi({10**305 * n: 1}),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", HUGE.values(), ids=HUGE)
def test_a_number_that_is_too_large_is_named(name, number):
    with pytest.raises(ArgumentError, match=name):
        CALLS[name](number)


# --- files of audits ------------------------------------------------------------------------------

GOOD = {"mechanism": "m.py:f", "pairs": [[0, 1]], "claim": {"epsilon": 1}}
DOMAIN = {"domain": {"bits": 10**9}}
ALIASES = (f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10))
MANY = "holds more than 1000000 values, with its aliases"


def file_of(names, **own):
    return json.dumps({"audits": {name: {**GOOD, **own} for name in names}})


TEXTS = [
    (file_of("ab", samples=10**10), "a.samples: must be at most 1000000000"),
    (file_of("ab", pairs=DOMAIN), "pairs.domain.bits: must be at most 10000"),
    (file_of(map(str, range(10_001))), "at most 10000 items"),
    ("\n".join(["a0: &a0 [1, 2]", *ALIASES]), MANY),
    ("a: &a [*a]", MANY),
    (f"a: {'1' * 5000}", "holds no such value"),
    (
        "audits: {a: {mechanism: 'm.py:f', pairs: [[0, 1]], claim: {gdp: 1}, samples: "
        f"0x{10**5000:x}}}}}",
        "samples: must be .*",
    ),
]


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(("text", "message"), TEXTS, ids=range(len(TEXTS)))
def test_a_file_that_is_too_large_is_an_error_at_once(text, message, tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(text)
    began = time.process_time()
    with pytest.raises(EpsilometerError, match=message):
        AuditsFile(path)
    assert time.process_time() < began + 20


def test_aliases_of_a_reasonable_file_are_read(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text(yaml.safe_dump({"audits": {"a": GOOD, "b": GOOD}}))
    assert "*id" in path.read_text()
    assert len(AuditsFile(path).cases) == 2


# --- workers --------------------------------------------------------------------------------------


def test_an_answer_without_an_end_ends(monkeypatch):
    monkeypatch.setattr("epsilometer_audit.outputs.worker._REPLY", 1 << 20)
    reply, lines = Reply(1000, failures=False), [b"[" + b"0, " * 2000 + b"0]\n"] * 1000
    with pytest.raises(MechanismError, match="sends more than"):
        list(map(reply.feed, lines))
