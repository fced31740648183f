"""A session with a budget: its answers are one output, and the spent budget is the claim.

The first query of a session is counted, but the second is not where ``forgets`` is true.
"""

import numpy as np


class Session:
    """Answers queries with Laplace noise until its budget is spent."""

    def __init__(self, x, budget, rng, forgets=False):
        self.x, self.left, self.rng, self.forgets = x, budget, rng, forgets

    def ask(self, query, epsilon):
        """Return a noisy whole number; ``query`` has sensitivity 1."""
        if epsilon > self.left:
            raise ValueError("the budget is spent")
        self.left -= 0 if self.forgets else epsilon
        p = 1 - np.exp(-epsilon)
        return int(query(self.x) + self.rng.geometric(p) - self.rng.geometric(p))


def session(x, rng):
    """Ask two queries, the second of which depends on the first answer; epsilon is 1 in all."""
    own = Session(x, 1.0, rng)
    count = own.ask(len, 0.5)
    return count, own.ask(sum if count > 2 else len, 0.5)


def forgetful(x, rng):
    """Ask three queries within a budget of 1, because the session does not count them."""
    own = Session(x, 1.0, rng, forgets=True)
    return own.ask(len, 0.8), own.ask(sum, 0.8), own.ask(len, 0.8)
