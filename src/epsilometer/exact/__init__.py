"""Exact values: densities, losses, divergences, Lipschitz constants, and the fewest draws needed.

The registry has the names of the mechanisms. It may import all of the library but
`estimates`. Code that estimates must not import it.
"""

from epsilometer.settings.registry import Registry

EXACT = Registry(
    "exact distribution",
    {
        "bernoulli_pair": "epsilometer.exact.finite:ExactBernoulliPair",
        "continuous_noisy_max": "epsilometer.exact.noisy_max:ExactNoisyMaxValue",
        "counting_exponential": "epsilometer.exact.finite:ExactCountingExponential",
        "exponential_half_line": "epsilometer.exact.truncated:ExactExponentialHalfLine",
        "gaussian": "epsilometer.exact.real_line:ExactGaussian",
        "gaussian_vector": "epsilometer.exact.real_line:ExactGaussianVector",
        "laplace": "epsilometer.exact.real_line:ExactLaplace",
        "laplace_vector": "epsilometer.exact.real_line:ExactLaplaceVector",
        "noiseless_count": "epsilometer.exact.finite:ExactNoiselessCount",
        "noisy_gradient_descent": "epsilometer.exact.real_line:ExactNoisyGradientDescent",
        "noisy_histogram": "epsilometer.exact.real_line:ExactLaplace",
        "noisy_max_index": "epsilometer.exact.noisy_max:ExactNoisyMaxIndex",
        "noisy_max_value": "epsilometer.exact.noisy_max:ExactNoisyMaxValue",
        "noisy_sum": "epsilometer.exact.noisy_sum:ExactNoisySum",
        "random_rows": "epsilometer.exact.finite:ExactRandomRows",
        "randomized_bits": "epsilometer.exact.finite:ExactRandomizedBits",
        "randomized_response": "epsilometer.exact.finite:ExactRandomizedResponse",
        "rare_match": "epsilometer.exact.finite:ExactRareMatch",
        "report_noisy_max": "epsilometer.exact.noisy_max:ExactNoisyMaxIndex",
        "sparse_vector": "epsilometer.exact.sparse_vector:ExactSparseVector",
        "sparse_vector_bits": "epsilometer.exact.sparse_vector:ExactSparseVectorBits",
        "sparse_vector_first": "epsilometer.exact.sparse_vector:ExactSparseVectorFirst",
        "truncated_gaussian": "epsilometer.exact.truncated:ExactTruncatedGaussian",
        "truncated_laplace": "epsilometer.exact.truncated:ExactTruncatedLaplace",
    },
    "epsilometer.exact",
)
