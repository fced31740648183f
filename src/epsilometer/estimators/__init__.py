"""Estimators: they see arrays and the provider's claims, never a mechanism or exact values.

It may import `classifiers` and the layers below.
To add one: a module here, a line below, an entry in ``config/estimators.yaml``.
"""

from epsilometer.settings.registry import Registry

ESTIMATORS = Registry(
    "estimator",
    {
        "histogram": "epsilometer.estimators.histogram:HistogramEstimator",
        "local_loss": "epsilometer.estimators.local_loss:LocalLoss",
        "mpl": "epsilometer.estimators.local_loss:MaximumPrivacyLoss",
        "renyi_bound": "epsilometer.estimators.renyi_bound:RenyiBound",
        "renyi_bound_as_published": "epsilometer.estimators.renyi_bound:RenyiBoundAsPublished",
        "safety_check": "epsilometer.estimators.safety:SafetyCheck",
        "spectrum": "epsilometer.estimators.spectrum:Spectrum",
    },
    "epsilometer.estimators",
)
