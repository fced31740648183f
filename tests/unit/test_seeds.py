"""A draw depends on the root seed and on its words, and on nothing else."""

from epsilometer import seeds


def first(*identity):
    return seeds.generator(*identity).integers(0, 2**63)


def test_same_words_same_stream():
    assert first(1, "laplace", "epsilon=1", 0) == first(1, "laplace", "epsilon=1", 0)


def test_every_word_counts():
    words = [
        (1, "laplace", "a", 0),
        (2, "laplace", "a", 0),
        (1, "gauss", "a", 0),
        (1, "laplace", "b", 0),
        (1, "laplace", "a", 1),
        (1, "laplace", "a", "0"),
        (1, "laplacea", "", 0),
    ]
    assert len({first(*identity) for identity in words}) == len(words)


def test_the_streams_are_pinned():
    """A change here would silently change every published table."""
    assert first(2022, "truncated-laplace", "epsilon=1.0", "ends", "side=0") == PINNED


PINNED = 3784608934704608672
