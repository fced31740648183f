"""Of all looks at past draws, the events are chosen that promise most."""

from types import SimpleNamespace

import numpy as np
import pytest

from epsilometer.claims import Delta, Pure
from epsilometer.events import choosing
from epsilometer.events.candidates import Candidate
from epsilometer.events.cells import Numbers
from epsilometer.events.choosing import choose_events
from epsilometer.events.events import View
from epsilometer.events.looks import PastDraws
from epsilometer.samples import Columns

SIDES = np.random.default_rng(0).normal([[1], [0]], 1, (2, 900))
BOTH_NOTIONS = Pure(1.0, 0.05)


def past_of(x, x_prime):
    return PastDraws(x, x_prime, Columns(numbers=(0,), reals=(0,)))


@pytest.mark.parametrize("exchanged", [False, True])
def test_a_chosen_event_has_its_shares_of_the_side_where_it_is_likelier(exchanged):
    past = past_of(*(SIDES[::-1] if exchanged else SIDES))
    cautious, bold = choose_events(past, [Pure(1.0)], 1000)
    for chosen in (cautious, bold):
        likelier, other = SIDES[:: -1 if chosen.swapped != exchanged else 1]
        assert chosen.share == (chosen.event.count(likelier) + 0.5) / 901
        assert chosen.share_prime == (chosen.event.count(other) + 0.5) / 901
        assert chosen.share > chosen.share_prime
    assert bold.share / bold.share_prime >= cautious.share / cautious.share_prime


@pytest.mark.parametrize(("claim", "level"), [(Pure(1.0), None), (BOTH_NOTIONS, BOTH_NOTIONS.of)])
def test_events_of_one_number_are_the_best_of_its_cells(claim, level):
    judged = Numbers(*SIDES, 64, View()).judged(1000, level, 1.5)
    chosen = choose_events(past_of(*SIDES), [claim], 1000)
    assert [each.event for each in chosen] == [each.make_event() for each in judged]
    assert [each.expected for each in chosen] == [each.expected for each in judged]


def test_a_further_claim_has_an_event_of_its_own():
    chosen = choose_events(past_of(*SIDES), [Pure(1.0), Delta(0.0, 0.1)], 1000)
    surest, boldest, of_delta = (each.share - each.share_prime for each in chosen)
    assert of_delta > max(surest, boldest)


def test_where_nothing_differs_there_is_no_event():
    assert choose_events(past_of(np.zeros(900), np.zeros(900)), [Pure(1.0)], 1000) == []


@pytest.mark.parametrize(
    ("easy", "hard", "chosen"),
    [(1.94, 2.0, "easy"), (1.939, 2.0, "hard"), (-1.0, -1.0, "easy"), (-1.01, -1.0, "hard"),
     (None, -2.0, "hard"), (0.0, None, "easy")],
)  # fmt: skip
def test_of_events_as_good_as_another_that_is_taken_which_is_easier_to_read(easy, hard, chosen):
    candidates = {}
    for name, level in (("easy", easy), ("hard", hard)):
        candidates[name] = None if level is None else Candidate(level, -level, 1, str)
    assert choosing._easier(*candidates.values(), "expected") is candidates[chosen]


def look_of(view, *promises):
    cells = []
    for promise in promises:
        candidates = [Candidate(*promise, 1, str)]
        cells.append(SimpleNamespace(judged=lambda *_, found=candidates: found))
    return SimpleNamespace(view=view, cells=lambda *_: cells)


@pytest.mark.parametrize(
    ("promises", "kept"),
    [
        # surest and boldest promises of looks; the last two are of equal entries
        ([(0, 2.0), (0.5, 0.9), (0.6, 0.6), (0, 0.59), (0, 0), (0, 0)], {0, 1, 2, 4, 5}),
        ([(3, 2.5), (0.5, 1.9), (-1, 2.0), (0, 0), (0, 2.5)], {0, 3, 4}),
        ([*((0, 1.0 + i) for i in range(10)), (0, 0), (0, 0)], {*range(2, 12)}),
    ],
)
def test_of_vectors_looks_remain_that_promise_as_much_as_another_is_sure_of(promises, kept):
    """Eight at most, and all of equal entries."""
    looks = []
    for i, promise in enumerate(promises):
        kind = "equal" if i >= len(promises) - 2 else "entry"
        looks.append(look_of(View(kind, i), promise, (-1, -1)))
    looks.append(look_of(View("entry")))  # of nothing
    found = choosing._promising(looks, 100, 1000, None)
    assert [look.view.entry for look in found] == sorted(kept)
