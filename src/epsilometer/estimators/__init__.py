"""Estimators: they see arrays and the provider's claims, never a mechanism or its exact law.

To add one: a module here, a line below, an entry in ``config/estimators.yaml``.
"""

from epsilometer.registry import Registry

ESTIMATORS = Registry(
    "estimator",
    {
        "clopper_pearson": "epsilometer.estimators.lower_bounds:ClopperPearson",
        "histogram": "epsilometer.estimators.histogram:HistogramEstimator",
        "largest_renyi_bound": "epsilometer.estimators.renyi_bound:LargestRenyiBound",
        "local_loss": "epsilometer.estimators.local_loss:LocalLoss",
        "mpl": "epsilometer.estimators.lower_bounds:MaximumPrivacyLoss",
        "renyi_bound": "epsilometer.estimators.renyi_bound:RenyiBound",
        "safety_check": "epsilometer.estimators.safety:SafetyCheck",
        "spectrum": "epsilometer.estimators.spectrum:Spectrum",
    },
)
