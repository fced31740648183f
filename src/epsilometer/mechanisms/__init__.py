"""Randomised mechanisms: they draw, and hold nothing about their exact privacy.

It may import the modules of the lowest layers; `exact` and the workflow may import it.
To add one: a module here, a line below, an entry in ``config/mechanisms.yaml``.
"""

from epsilometer.registry import Registry

MECHANISMS = Registry(
    "mechanism",
    {
        "bernoulli_pair": "epsilometer.mechanisms.bernoulli_pair:BernoulliPair",
        "continuous_noisy_max": "epsilometer.mechanisms.noisy_max:ContinuousNoisyMax",
        "counting_exponential": "epsilometer.mechanisms.counting_exponential:CountingExponential",
        "exponential_half_line": "epsilometer.mechanisms.exponential:ExponentialHalfLine",
        "gaussian": "epsilometer.mechanisms.gaussian:Gaussian",
        "gaussian_vector": "epsilometer.mechanisms.vector_noise:GaussianVector",
        "laplace": "epsilometer.mechanisms.laplace:Laplace",
        "laplace_vector": "epsilometer.mechanisms.vector_noise:LaplaceVector",
        "noiseless_count": "epsilometer.mechanisms.random_rows:NoiselessCount",
        "noisy_gradient_descent": "epsilometer.mechanisms.gradient_descent:NoisyGradientDescent",
        "noisy_histogram": "epsilometer.mechanisms.noisy_histogram:NoisyHistogram",
        "noisy_max_index": "epsilometer.mechanisms.noisy_max:NoisyMaxIndex",
        "noisy_max_value": "epsilometer.mechanisms.noisy_max:NoisyMaxValue",
        "noisy_sum": "epsilometer.mechanisms.noisy_sum:NoisySum",
        "randomized_bits": "epsilometer.mechanisms.randomized_bits:RandomizedBits",
        "randomized_response": "epsilometer.mechanisms.randomized_response:RandomizedResponse",
        "rare_match": "epsilometer.mechanisms.rare_match:RareMatch",
        "report_noisy_max": "epsilometer.mechanisms.noisy_max:ReportNoisyMax",
        "sparse_vector": "epsilometer.mechanisms.sparse_vector:SparseVector",
        "sparse_vector_bits": "epsilometer.mechanisms.sparse_vector:SparseVectorBits",
        "sparse_vector_first": "epsilometer.mechanisms.sparse_vector:SparseVectorFirst",
        "sparse_vector_mixed": "epsilometer.mechanisms.sparse_vector:SparseVectorMixed",
        "truncated_gaussian": "epsilometer.mechanisms.truncated_gaussian:TruncatedGaussian",
        "truncated_laplace": "epsilometer.mechanisms.truncated_laplace:TruncatedLaplace",
    },
    "epsilometer.mechanisms",
)
