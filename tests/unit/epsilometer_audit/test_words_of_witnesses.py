"""A reader who knows nothing of the library counts what a witness says, on fresh draws."""

import ast
import json
import math
import re

import numpy as np
import pytest

import epsilometer_audit as ea
from tests.unit.audits import audited

FRESH = 4000
OPEN = re.compile(r"(?:(?P<low>\S+) <= )?(?P<name>.+?) (?P<sign><=|>=|=) (?P<end>[-+\w.]+)")
WORDS = re.compile(r"(?P<name>.+) is (?P<negated>not )?(?P<words>'.*')")


def bits(x, rng):
    coins = rng.random(30) < 0.4
    coins[3] ^= bool(x) & (rng.random() < 0.6)
    coins[11] ^= bool(x)
    return int(coins @ (1 << np.arange(30)))


def person(x, rng):
    sex = "f" if rng.random() < (0.7 if x else 0.4) else "m"
    more = 20 if x and sex == "f" else 0
    return {"sex": sex, "income": round(float(rng.normal(50 + more, 10)), 2)}


def mixed(x, rng):
    word = "ab"[int(rng.random() < 0.3 + 0.4 * x)]
    return int(rng.geometric(0.3)), float(np.round(rng.normal(x), 3)), word


def members(x, rng):
    return {key for key in "abcdef" if rng.random() < 0.3 + 0.4 * x}


def missing(x, rng):
    return None if rng.random() < 0.2 + 0.4 * x else round(float(rng.laplace(x)), 3)


def number_of(name, output):
    """Return the number, or the word, of an output that a name means."""
    if name == "length":
        return len(output)
    if match := re.fullmatch(r"bit (\d+) of output", name):
        return (output >> int(match[1])) & 1
    if match := re.fullmatch(r"(?:entry|key) (.+)", name):
        return output[ast.literal_eval(match[1])]
    assert name == "output", name
    return output


def meets(condition, output):
    """Tell whether an output meets one condition."""
    if match := re.fullmatch(r"('\w+') is (present|missing)", condition):
        return (ast.literal_eval(match[1]) in output) == (match[2] == "present")
    if condition == "output is not a number":
        return output is None
    if match := OPEN.fullmatch(condition):
        number = number_of(match["name"], output)
        if number is None:
            return False
        low, end = float(match["low"] or -math.inf), float(match["end"])
        told = {"<=": number <= end, ">=": number >= end, "=": number == end}
        return low <= number and told[match["sign"]]
    match = WORDS.fullmatch(condition)
    assert match, condition
    words = map(ast.literal_eval, re.split(", | or ", match["words"]))
    return (number_of(match["name"], output) in words) != bool(match["negated"])


def in_words(text, output):
    """Tell whether an output is in the event that a text means."""
    for part in text.split(" and "):
        conditions = re.split(r" or (?=\S+ <= |[^']+ (?:<=|>=|=) |\w+ is )", part)
        if not any(meets(condition, output) for condition in conditions):
            return False
    return True


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("mechanism", [bits, person, mixed, members, missing])
def test_the_words_of_a_witness_have_its_counts_on_fresh_draws(mechanism):
    """Shares differ by five deviations from those of fresh draws with probability 6e-7."""
    verdict = audited(mechanism, ea.pure(0.2), 2000)
    assert verdict.verdict == "violated"
    witness = json.loads(verdict.to_json())["witness"]
    rng = np.random.default_rng(99)
    shares = []
    for x, prime in zip(verdict.direction.split(" against "), ("", "_prime"), strict=True):
        outputs = [mechanism(int(x), rng) for _ in range(FRESH)]
        share = np.mean([in_words(witness["event"], output) for output in outputs])
        count, draws = witness[f"count{prime}"], witness[f"draws{prime}"]
        spread = math.sqrt(max(share * (1 - share), 1 / FRESH) * (1 / draws + 1 / FRESH))
        assert abs(count / draws - share) <= 5 * spread, (witness["event"], count, draws, share)
        shares.append(share)
    assert shares[0] > shares[1]
    if witness["score"]:
        assert "JSON" in witness["rests_on"]
