"""Where everything lives: a path is the full identity of what it holds.

``n`` is a number of samples a side, or ``1..N`` where every prefix of a search up to N is
evaluated, or ``n+N`` where the pair chosen from n is confirmed by N fresh ones; numbers are written
as Python prints them, without a trailing ``.0``.
"""

RESULTS = "results/{scale}"

DRAWN = "{mechanism}/epsilon={epsilon}/{inputs}"
SAMPLE = f"{RESULTS}/samples/{DRAWN}/n={{n}}/runs={{first}}-{{last}}.parquet"
HISTOGRAM = f"{RESULTS}/histograms/{DRAWN}/n={{n}}/cells={{cells}}/runs={{first}}-{{last}}.parquet"
DENSITY = (
    f"{RESULTS}/densities/{DRAWN}/points={{points}}_power={{power}}"
    "/n={n}/runs={first}-{last}.parquet"
)
_SCREENED = "{mechanism}/epsilon={epsilon}/{inputs}/{screen}/n={n}/runs={first}-{last}.parquet"
LOSSES = f"{RESULTS}/losses/{_SCREENED}"
CONFIRMATION = f"{RESULTS}/confirmations/{_SCREENED}"
EVIDENCE = f"{RESULTS}/evidence/{_SCREENED}"
ESTIMATE = (
    f"{RESULTS}/estimates/{DRAWN}/lambda={{order}}/{{estimator}}/n={{n}}_runs={{runs}}.parquet"
)
VERDICTS = f"{RESULTS}/verdicts/{DRAWN}/{{classifier}}/n={{n}}/runs={{first}}-{{last}}.parquet"
SUMMARY = f"{RESULTS}/summaries/{{paper}}/{{experiment}}.parquet"
RUNS = f"{RESULTS}/runs/{{paper}}/{{experiment}}.parquet"
TIMING = f"{RESULTS}/timings/{{paper}}/{{experiment}}.parquet"
TABLE = f"{RESULTS}/tables/{{paper}}/{{artifact}}.csv"
FIGURE = f"{RESULTS}/figures/{{paper}}/{{artifact}}.pdf"
PAGE = f"{RESULTS}/{{paper}}.html"


def number(value: float) -> str:
    """Return a number as paths and plots show it: 1, 0.5, inf."""
    return repr(float(value)).removesuffix(".0")


def first_stage(n: str) -> str:
    """Return the ``n`` of the first samples."""
    return n.partition("+")[0]


def fresh(n: str) -> int:
    """Return how many fresh samples a side confirm; 0 where none do."""
    return int(n.partition("+")[2] or 0)


def largest(n: str) -> int:
    """Return how many first samples a side an ``n`` in a path needs."""
    return int(first_stage(n).removeprefix("1.."))


def beside(path: str, suffix: str) -> str:
    """Return the path with another suffix."""
    return path.rpartition(".")[0] + suffix


def log(path: str) -> str:
    """Return where the job that makes a path logs."""
    return beside(path, ".log").replace(RESULTS, f"{RESULTS}/logs", 1)


def benchmark(path: str) -> str:
    """Return where Snakemake records time and memory of the job that makes a path."""
    return beside(path, ".tsv").replace(RESULTS, f"{RESULTS}/benchmarks", 1)
