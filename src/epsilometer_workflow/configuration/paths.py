"""The paths of all files: a path is the full identity of its content.

The names in braces are fields of a product (see `products`). ``{n}`` is a number of samples a
side, or ``1..N`` where every prefix of a search up to N is evaluated, or
``n+N`` where the pair chosen from n is confirmed by N fresh ones; numbers are written as Python
prints them, without a trailing ``.0`` (`epsilometer_workflow.files.parsing`).
"""

RESULTS = "results/{scale}"

_DRAWN = "{mechanism}/epsilon={epsilon}/{inputs}"
SAMPLE = f"{RESULTS}/samples/{_DRAWN}/n={{n}}/runs={{batch}}.parquet"
HISTOGRAM = f"{RESULTS}/histograms/{_DRAWN}/n={{n}}/cells={{cells}}/runs={{batch}}.parquet"
DENSITY = f"{RESULTS}/densities/{_DRAWN}/{{reduction}}/n={{n}}/runs={{batch}}.parquet"
VERDICTS = f"{RESULTS}/verdicts/{_DRAWN}/{{classifier}}/n={{n}}/runs={{batch}}.parquet"
_SCREENED = f"{_DRAWN}/{{screen}}/n={{n}}/runs={{batch}}.parquet"
LOSSES = f"{RESULTS}/losses/{_SCREENED}"
CONFIRMATION = f"{RESULTS}/confirmations/{_SCREENED}"
EVIDENCE = f"{RESULTS}/evidence/{_SCREENED}"
ESTIMATE = (
    f"{RESULTS}/estimates/{_DRAWN}/lambda={{order}}/{{estimator}}/n={{n}}_runs={{runs}}.parquet"
)
SUMMARY = f"{RESULTS}/summaries/{{report}}/{{experiment}}.parquet"
RUNS = f"{RESULTS}/runs/{{report}}/{{experiment}}.parquet"
TIMING = f"{RESULTS}/timings/{{report}}/{{experiment}}.parquet"
TABLE = f"{RESULTS}/tables/{{report}}/{{artifact}}.csv"
FIGURE = f"{RESULTS}/figures/{{report}}/{{artifact}}.pdf"
PAGE = f"{RESULTS}/{{report}}.html"
AUDIT = f"{RESULTS}/audits/{{audits}}/{{entry}}/{{parameters}}/{{pairs}}.parquet"
AUDITS = f"{RESULTS}/audits/{{audits}}.csv"
ENVIRONMENT = "results/environments/{environment}/environment.json"  # of all scales

ONE_NAME = dict.fromkeys(("scale", "report", "audits", "environment"), "[^/]+")
"""These wildcards contain no slash, so that no path fits two rules."""


def with_suffix(path: str, suffix: str) -> str:
    """Return the path with another suffix."""
    return path.rpartition(".")[0] + suffix


def log(path: str) -> str:
    """Return where the job that makes a path logs."""
    first = path.split("/")[:2]
    return "/".join([*first, "logs", *with_suffix(path, ".log").split("/")[2:]])
