"""The Wishart mechanism of diffprivlib until 0.4.1, for second moments of rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import sklearn.linear_model._logistic
import sklearn.utils.fixes

# Two names of scikit-learn that are gone from its first release for Python 3.11. The package
# imports them for its logistic regression, which is not used here.
sklearn.linear_model._logistic._logistic_loss_and_grad = None
sklearn.utils.fixes._joblib_parallel_args = None

import diffprivlib  # noqa: E402
from diffprivlib.mechanisms import Wishart  # noqa: E402

_CALLS = diffprivlib.__version__.startswith("0.3")  # options are set by calls


def second_moments(
    rows: Sequence[Sequence[float]], size: int, seed: int, epsilon: float = 1
) -> list[list[float]]:
    """Draw the sums of products of the two entries of each row; a longer row is cut to length 1."""
    table = np.asarray(rows, float).reshape(-1, 2)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    table = table / np.maximum(norms, 1)
    moments = table.T @ table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        if _CALLS:
            mechanism = Wishart().set_epsilon(epsilon).set_sensitivity(1)
            np.random.seed(seed)  # noqa: NPY002 - it draws from these
        else:
            mechanism = Wishart(epsilon=epsilon, sensitivity=1)
            mechanism._rng = np.random.default_rng(seed)  # it takes no seed or generator
    return [mechanism.randomise(moments)[np.triu_indices(2)].tolist() for _ in range(size)]
