"""Randomised mechanisms: what is sampled, and nothing about what is true of it.

To add one: a module here, a line below, an entry in ``config/mechanisms.yaml``.
"""

from epsilometer.registry import Registry

MECHANISMS = Registry(
    "mechanism",
    {
        "bernoulli_pair": "epsilometer.mechanisms.bernoulli_pair:BernoulliPair",
        "continuous_noisy_max": "epsilometer.mechanisms.noisy_max:ContinuousNoisyMax",
        "exponential_half_line": "epsilometer.mechanisms.exponential:ExponentialHalfLine",
        "gaussian": "epsilometer.mechanisms.gaussian:Gaussian",
        "laplace": "epsilometer.mechanisms.laplace:Laplace",
        "noisy_gradient_descent": "epsilometer.mechanisms.gradient_descent:NoisyGradientDescent",
        "noisy_sum": "epsilometer.mechanisms.noisy_sum:NoisySum",
        "randomized_bits": "epsilometer.mechanisms.randomized_bits:RandomizedBits",
        "randomized_response": "epsilometer.mechanisms.randomized_response:RandomizedResponse",
        "rare_match": "epsilometer.mechanisms.rare_match:RareMatch",
        "report_noisy_max": "epsilometer.mechanisms.noisy_max:ReportNoisyMax",
        "sparse_vector": "epsilometer.mechanisms.sparse_vector:SparseVector",
        "sparse_vector_mixed": "epsilometer.mechanisms.sparse_vector:SparseVectorMixed",
        "truncated_gaussian": "epsilometer.mechanisms.truncated_gaussian:TruncatedGaussian",
        "truncated_laplace": "epsilometer.mechanisms.truncated_laplace:TruncatedLaplace",
    },
)
