"""Exact values: densities, losses, divergences and Lipschitz constants in closed form.

Keyed by the mechanism's registered name. Only aggregation, tables and tests read it; nothing that
estimates may import it (an import contract sees to that).
"""

from epsilometer.registry import Registry

LAWS = Registry(
    "exact law",
    {
        "bernoulli_pair": "epsilometer.exact.finite:BernoulliPairLaw",
        "continuous_noisy_max": "epsilometer.exact.noisy_max:ContinuousNoisyMaxLaw",
        "counting_exponential": "epsilometer.exact.finite:CountingExponentialLaw",
        "exponential_half_line": "epsilometer.exact.real_line:ExponentialHalfLineLaw",
        "gaussian": "epsilometer.exact.real_line:GaussianLaw",
        "gaussian_vector": "epsilometer.exact.vector_noise:GaussianVectorLaw",
        "laplace": "epsilometer.exact.real_line:LaplaceLaw",
        "laplace_vector": "epsilometer.exact.vector_noise:LaplaceVectorLaw",
        "noiseless_count": "epsilometer.exact.finite:NoiselessCountLaw",
        "noisy_gradient_descent": "epsilometer.exact.real_line:NoisyGradientDescentLaw",
        "noisy_histogram": "epsilometer.exact.real_line:LaplaceLaw",
        "noisy_max_index": "epsilometer.exact.noisy_max:NoisyMaxIndexLaw",
        "noisy_max_value": "epsilometer.exact.noisy_max:NoisyMaxValueLaw",
        "noisy_sum": "epsilometer.exact.noisy_sum:NoisySumLaw",
        "randomized_bits": "epsilometer.exact.finite:RandomizedBitsLaw",
        "randomized_response": "epsilometer.exact.finite:RandomizedResponseLaw",
        "rare_match": "epsilometer.exact.finite:RareMatchLaw",
        "report_noisy_max": "epsilometer.exact.noisy_max:ReportNoisyMaxLaw",
        "sparse_vector": "epsilometer.exact.sparse_vector:SparseVectorLaw",
        "sparse_vector_bits": "epsilometer.exact.sparse_vector:SparseVectorBitsLaw",
        "sparse_vector_first": "epsilometer.exact.sparse_vector:SparseVectorFirstLaw",
        "sparse_vector_mixed": "epsilometer.exact.sparse_vector:SparseVectorMixedLaw",
        "truncated_gaussian": "epsilometer.exact.truncated:TruncatedGaussianLaw",
        "truncated_laplace": "epsilometer.exact.truncated:TruncatedLaplaceLaw",
    },
)
