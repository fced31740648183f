"""A draw depends on seed and words only."""

from epsilometer.seeds import generator


def first(*identity):
    return generator(*identity).integers(0, 2**63)


def test_every_word_counts():
    words = [(1, "laplace", "a", 0), (2, "laplace", "a", 0), (1, "gauss", "a", 0)]
    words += [(1, "laplace", "b", 0), (1, "laplace", "a", 1), (1, "laplacea", "", 0)]
    words.append((1, "laplace", "a", "0"))
    assert len({first(*identity) for identity in words}) == len(words)


def test_the_streams_are_pinned():
    """A change here would silently change every published table."""
    found = first(2022, "truncated-laplace", "epsilon=1.0", "ends", "side=0")
    assert found == 3784608934704608672
