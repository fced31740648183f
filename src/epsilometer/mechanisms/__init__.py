"""Randomised mechanisms: they draw, and hold nothing about their exact privacy.

It may import the modules of the lowest layers; `exact` and the workflow may import it.
To add one: a module here, a line below, an entry in ``config/mechanisms.yaml``.
"""

from epsilometer.settings.registry import Registry

MECHANISMS = Registry(
    "mechanism",
    {
        "bernoulli_pair": "epsilometer.mechanisms.finite:BernoulliPair",
        "continuous_noisy_max": "epsilometer.mechanisms.noisy_max:ContinuousNoisyMax",
        "counting_exponential": "epsilometer.mechanisms.finite:CountingExponential",
        "exponential_half_line": "epsilometer.mechanisms.truncated:ExponentialHalfLine",
        "gaussian": "epsilometer.mechanisms.real_line:Gaussian",
        "gaussian_vector": "epsilometer.mechanisms.real_line:GaussianVector",
        "laplace": "epsilometer.mechanisms.real_line:Laplace",
        "laplace_vector": "epsilometer.mechanisms.real_line:LaplaceVector",
        "noiseless_count": "epsilometer.mechanisms.finite:NoiselessCount",
        "noisy_gradient_descent": "epsilometer.mechanisms.real_line:NoisyGradientDescent",
        "noisy_histogram": "epsilometer.mechanisms.real_line:NoisyHistogram",
        "noisy_max_index": "epsilometer.mechanisms.noisy_max:NoisyMaxIndex",
        "noisy_max_value": "epsilometer.mechanisms.noisy_max:NoisyMaxValue",
        "noisy_sum": "epsilometer.mechanisms.noisy_sum:NoisySum",
        "random_rows": "epsilometer.mechanisms.finite:RandomRows",
        "randomized_bits": "epsilometer.mechanisms.finite:RandomizedBits",
        "randomized_response": "epsilometer.mechanisms.finite:RandomizedResponse",
        "rare_match": "epsilometer.mechanisms.finite:RareMatch",
        "report_noisy_max": "epsilometer.mechanisms.noisy_max:ReportNoisyMax",
        "sparse_vector": "epsilometer.mechanisms.sparse_vector:SparseVector",
        "sparse_vector_bits": "epsilometer.mechanisms.sparse_vector:SparseVectorBits",
        "sparse_vector_first": "epsilometer.mechanisms.sparse_vector:SparseVectorFirst",
        "truncated_gaussian": "epsilometer.mechanisms.truncated:TruncatedGaussian",
        "truncated_laplace": "epsilometer.mechanisms.truncated:TruncatedLaplace",
    },
    "epsilometer.mechanisms",
)
