"""Randomised mechanisms: what is sampled, and nothing about what is true of it.

To add one: a module here, a line below, an entry in ``config/mechanisms.yaml``.
"""

from epsilometer.registry import Registry

MECHANISMS = Registry(
    "mechanism",
    {
        "bernoulli_pair": "epsilometer.mechanisms.bernoulli_pair:BernoulliPair",
        "randomized_response": "epsilometer.mechanisms.randomized_response:RandomizedResponse",
        "truncated_gaussian": "epsilometer.mechanisms.truncated_gaussian:TruncatedGaussian",
        "truncated_laplace": "epsilometer.mechanisms.truncated_laplace:TruncatedLaplace",
    },
)
