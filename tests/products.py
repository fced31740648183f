"""The products that the workflow makes on request, each job once, what it reads first.

What a job reads is what its rule shows, or what an input function of the rule names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

from snakemake.io import regex_from_filepattern

from epsilometer_workflow.configuration import paths
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.products.products import Product
from epsilometer_workflow.products.reports import PRODUCT_KINDS, Page


def all_products(study: Study) -> Iterator[Product]:
    pages = [Page(study, report) for report in study.wanted]
    return everything([*pages, *(product for page in pages for product in page.printed)])


def jobs_by_rule(study: Study) -> Counter[str]:
    return Counter(product.rule for product in all_products(study))


def everything(products: Iterable[Product]) -> Iterator[Product]:
    jobs: set[tuple[str, str]] = set()
    stack = [(product, False) for product in products][::-1]
    while stack:
        product, expanded = stack.pop()
        job = (product.rule, product.path)
        if expanded:
            yield product
        elif job not in jobs:
            jobs.add(job)
            stack.append((product, True))
            stack.extend((need, False) for need in reversed(read_by(product)))


def read_by(product: Product) -> list[Product]:
    shown = paths.of_rule(product.rule, "input").values()
    named = [need for group in product.needs().values() for need in group]
    return named + [product_of(product.study, path.format(**product.wildcards)) for path in shown]


def product_of(study: Study, path: str) -> Product:
    """Return the product of a path, as Snakemake finds it: by the one rule that it fits."""
    for kind in PRODUCT_KINDS:
        for template in kind.templates.values():
            if match := pattern(template).fullmatch(path):
                return kind.from_wildcards(study, match.groupdict())
    raise AssertionError(f"{path} is of no kind")


@cache
def pattern(path: str) -> re.Pattern[str]:
    """Return the pattern that Snakemake makes of a path, with the Snakefile's constraints."""
    for name, constraint in paths.ONE_NAME.items():
        path = path.replace(f"{{{name}}}", f"{{{name},{constraint}}}", 1)
    return re.compile(regex_from_filepattern(path))
