"""What mechanisms share."""


def clipped(x, clip):
    return min(sum(x), clip)
