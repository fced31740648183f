"""Estimators: they see arrays and the provider's claims, never a mechanism or its exact law.

To add one: a module here, a line below, an entry in ``config/estimators.yaml``.
"""

from epsilometer.registry import Registry

ESTIMATORS = Registry(
    "estimator",
    {
        "histogram": "epsilometer.estimators.histogram:HistogramEstimator",
        "safety_check": "epsilometer.estimators.safety:SafetyCheck",
    },
)
