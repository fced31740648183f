"""The page of an audit shows each kind of verdict, and hostile text as text; it is one file."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markupsafe import escape

from epsilometer_audit.answer.verdict import Bound, Verdict, Witness
from epsilometer_audit.question.claims import pure, zcdp
from exhibition.verdicts import html_of

HOSTILE = '<script>"x"\'&\x1b[1m\x00\ud800'
SHOWN = '<script>"x"\'&\\x1b[1m\\x00\\ud800'
CLAIM = {"claim": {}, "claimed": f"epsilon = 1 {HOSTILE}", "alpha": 0.05}
LOOKS = [{"share": 0.5, "log10 e-value": 1.0}, {"share": 1.0, "log10 e-value": 2.5}]
CHECKS = [
    {"name": "same seed", "result": "passed", "words": HOSTILE, "p": 0.12345, "unused": None},
    {"name": "lag", "result": "note", "words": "w", "n": 3},
]
COUNTS = {"right": 3, "guesses": 4, "canaries": 10, "included": 5, "rules": 2}
ALWAYS = ["Claim and inputs", "Verdict", "Checks of the draws", "Provenance"]
CASES = {
    "violated": (
        Verdict(
            *("violated", *CLAIM.values(), "anytime"),
            bounds=[Bound("epsilon", 1.0, 2.5)],
            pair=(HOSTILE, [1] * 400),
            name=HOSTILE,
            pairs=3,
            direction=HOSTILE,
            witness=Witness(HOSTILE, 50, 1000, 5, 1000, note=HOSTILE),
            evidence=LOOKS,
            checks=CHECKS,
            outputs=HOSTILE,
            source=HOSTILE,
            provenance={HOSTILE: {HOSTILE: HOSTILE}, "time": HOSTILE},
            replay=HOSTILE,
        ),
        pure(1.0),
        {"Witness", "Evidence"},
        ["5 %", "0.5 %", "2.5", "0.123", "of these", "a sequential test", "ever reaches 20, the"],
    ),
    "not refuted": (
        Verdict(
            *("not refuted", *CLAIM.values(), "exact"),
            witness=Witness("x", 5, 1000, 4, 1000),
        ),
        zcdp(0.1),
        {"Witness", "Evidence"},
        ["so it has no curve", "The bound itself rests", "unknown"],
    ),
    "undecided": (
        Verdict(
            *("undecided", *CLAIM.values(), "anytime"),
            detectable=1.75,
            detect=1.01,
            reasons=[HOSTILE, "second"],
        ),
        pure(1.0),
        {"Witness"},
        ["a level of 1.75", "level to detect", "second", "No checks were made."],
    ),
    "invalid": (
        Verdict(*("invalid", *CLAIM.values(), "one run"), guesses={**COUNTS, "rule": HOSTILE}),
        pure(1.0),
        {"Guesses"},
        ["3 of 4 are right", "one of 2 rules", "guesses about canaries of one run"],
    ),
}


class Parsed(HTMLParser):
    """The elements of a page, the texts of its headings and all of its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)

    def handle_data(self, data):
        self.text += data
        if self.elements and self.elements[-1] == "h2" and data.strip():
            self.headings.append(data.strip())
            self.elements.append("")


@pytest.mark.parametrize("word", CASES)
def test_a_page_shows_every_part_of_a_verdict(word):
    verdict, claim, sections, texts = CASES[word]
    html = html_of(verdict, claim)
    parsed = Parsed(html)
    assert set(parsed.headings) == {*ALWAYS, *sections}
    assert parsed.elements.count("img") == bool(verdict.witness) + bool(verdict.evidence)
    assert "script" not in parsed.elements
    assert SHOWN in parsed.text
    flat = " ".join(parsed.text.split())
    for text in texts:
        assert text in parsed.text or text in flat, text
    assert not re.search(r"https?:|<script|<link|url\(", html)


@pytest.mark.parametrize(
    ("pair", "direction", "sides"),
    [
        (([1, 2], [1]), "[1, 2] against [1]", ("x", "x'")),
        (([1, 2], [1]), "[1] against [1, 2]", ("x'", "x")),
        (None, "x' against x", ("x'", "x")),
        (([1], [1]), "[1] against [1]", ("the first side", "the other side")),
        (None, None, ("the first side", "the other side")),
    ],
)
def test_a_page_names_the_sides_of_its_figure_as_the_inputs_above(pair, direction, sides):
    verdict, claim, *_ = CASES["violated"]
    html = html_of(replace(verdict, pair=pair, direction=direction), claim)
    first, other = (escape(side) for side in sides)
    assert f"claim allows on {first}, if the share on {other} is" in html


@pytest.mark.parametrize("word", CASES)
def test_the_title_of_a_page_and_a_page_in_words(word):
    verdict, claim, *_ = CASES[word]
    for in_words in (False, True):
        html = html_of(verdict, claim, in_words=in_words)
        assert html.count("<!DOCTYPE html>") == html.count("<h1>") == html.count("</html>") == 1
        title = html.partition("<title>")[2].partition("</title>")[0]
        assert title.partition(":")[0] == word
    assert "<pre>" in html
    assert "Provenance" not in html
