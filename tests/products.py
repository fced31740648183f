"""The products that the workflow makes on request, each job once, needs first."""

from collections import Counter
from collections.abc import Iterator

from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.audited import Conclusion, Environment
from epsilometer_workflow.products.products import Product, everything
from epsilometer_workflow.products.reports import all_products


def jobs_by_rule(study: Study) -> Counter[str]:
    """Return the number of jobs of the configured reports."""
    return Counter(product.rule for product in all_products(study))


def all_audits(study: Study) -> Iterator[Product]:
    environments = (Environment(study, key) for key in study.locks)
    return everything([*environments, *(Conclusion(study, name) for name in study.audits)])
