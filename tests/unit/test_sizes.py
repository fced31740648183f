"""Numbers of draws and runs are written in one way only, and read back as they were."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from epsilometer.errors import EpsilometerError
from epsilometer_workflow.files.parsing import Batch, Draws

sizes = st.integers(1, 10**15 - 1)
every_draws = st.one_of(
    st.builds(Draws, sizes),
    st.builds(Draws, sizes, searched=st.just(True)),
    st.builds(Draws, sizes, fresh=sizes),
)
runs = st.integers(0, 10**9)
every_batch = st.tuples(runs, runs).map(lambda ends: Batch(min(ends), max(ends)))
# parts of paths, and mistakes of users
texts = st.one_of(st.text(alphabet="0123456789.+-_ e\n١²", max_size=12), st.text(max_size=12))


@given(every_draws)
def test_draws_are_read_as_they_are_written(draws):
    assert Draws.parse(str(draws)) == draws


@given(every_batch)
def test_batches_are_read_as_they_are_written(batch):
    assert Batch.parse(str(batch)) == batch


@given(st.sampled_from([Draws, Batch]), texts)
def test_text_is_written_as_it_was_read_or_is_refused(kind, text):
    """One size has one path: nothing is read from a text that it is not written as."""
    try:
        size = kind.parse(text)
    except EpsilometerError as error:
        refusal = str(error)
        assert "\n" not in refusal
        return
    assert str(size) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "05", "-1", "+1", " 1", "1 ", "1\n", "1.0", "1e3", "1_000", "١", "many"),
        *("1..", "..5", "1..0", "2..9", "1..05", "1...5", "1..-5", "1..1..5"),
        *("5+", "+5", "5+0", "0+5", "5+05", "5+-5", "5++5", "5+5+5", "1..5+5", "5+1..5"),
        *("9" * 16, "9" * 5000),
    ],
)
def test_malformed_draws_are_refused(text):
    with pytest.raises(EpsilometerError, match=r"^n=.* must be a whole number from 1, 1\.\.N"):
        Draws.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "5", "0-", "-9", "0-9-9", "0--9", "00-9", "0-09", "+0-9", "0-9 ", "0-9\n"),
        *("0.0-9", "a-b", "0-٩", "²-9", "1..9", "0-" + "9" * 16, "0-" + "9" * 5000),
    ],
)
def test_malformed_batches_are_refused(text):
    with pytest.raises(EpsilometerError, match=r"^runs=.* must be two whole numbers from 0"):
        Batch.parse(text)


def test_a_batch_that_ends_before_it_begins_is_refused():
    with pytest.raises(EpsilometerError, match=r"^runs=9-8 ends before it begins"):
        Batch.parse("9-8")
    assert len(Batch.parse("9-9")) == 1
    assert len(Batch.parse("0-9")) == 10


def test_the_first_stage_of_draws_keeps_its_search():
    assert Draws.parse("20+50").first_stage == Draws(20)
    assert Draws.parse("1..20").first_stage == Draws(20, searched=True)
