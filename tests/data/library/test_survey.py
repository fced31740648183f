"""What the library claims, tested as its README of epsilometer says."""

import math

import pytest
import survey

import epsilometer_audit as ea

AGES = ea.domain({"rows": {"values": [0, 100], "whole": True}, "length": [0, 6]}, limit=8)
GROUPS = ea.domain({"rows": {"choices": ["a", "b", "c"]}, "length": [0, 4]}, limit=8)
NUMBER = ea.domain({"values": [0, 1]})
FOUR = ea.domain({"rows": {"values": [0, 1], "clipped": True}, "length": [4, 4]}, limit=8)
SCORES = [([1, 1, 1, 1, 1, 1], [2, 0, 0, 0, 0, 0])]
BIT = [(0, 1)]


@pytest.mark.parametrize(
    ("mechanism", "pairs"),
    [
        (survey.count, AGES),
        (survey.total, AGES),
        (survey.answer, BIT),
        (survey.histogram, GROUPS),
        (survey.full_histogram, GROUPS),
        (survey.Meter, GROUPS),
        (survey.level, NUMBER),
        (survey.rounded_level, NUMBER),
        (survey.mean, FOUR),
        (survey.clamped_mean, FOUR),
        (survey.favourite, SCORES),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_as_private_as_it_says(audit, mechanism, pairs):
    audit(mechanism, pairs=pairs, claim=ea.pure(1.0), samples=5000)


@pytest.mark.privacy(epsilon=1, delta=math.exp(-4), samples=5000)
def test_group_size(audit):
    audit(survey.group_size, pairs=[([], [1]), ([1], [1, 1])])
