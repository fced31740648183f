"""The paths of all files: a path is the full identity of its content.

The rules of the papers have them as text, in ``workflow/rules``, and `of_rule` reads them there.
The names in braces are fields of a product (see `products`). ``{n}`` is a number of samples a
side, or ``1..N`` where every prefix of a search up to N is evaluated; ``{n}+{fresh}``, where the
pair chosen from n is confirmed by so many fresh ones. Numbers are written as Python prints them,
without a trailing ``.0`` (`epsilometer_workflow.files.parsing`).
"""

import re
from functools import cache
from pathlib import Path

RULES = Path(__file__).parents[3] / "workflow/rules"
RESULTS = "results/{scale}"

ONE_NAME = dict.fromkeys(("scale", "report"), "[^/]+")
"""These wildcards contain no slash, so that no path fits two rules."""


@cache
def of_rule(rule: str, part: str = "output", rules: Path = RULES) -> dict[str, str]:
    """Return the paths that a rule of a folder of rules writes, or reads (``input``), by name.

    A path without a name is under ``""``; inputs that a function names are left out.

    >>> of_rule("render")["pdf"]
    'results/{scale}/figures/{report}/{artifact}.pdf'
    """
    texts = (file.read_text(encoding="utf-8") for file in sorted(rules.glob("*.smk")))
    body = re.search(rf"^rule {rule}:\n((?:    .*\n|\n)+)", "".join(texts), re.MULTILINE)
    lines = body and re.search(rf"^    {part}:\n((?: {{8,}}.*\n)+)", body[1], re.MULTILINE)
    path = re.compile(r'^ {8}(?:(\w+)=)?[^"\n]*?\s*"(results/[^"]+)"', re.MULTILINE)
    return dict(path.findall(lines[1])) if lines else {}


def log(path: str) -> str:
    """Return where the job that makes a path logs."""
    results, scale, rest = path.split("/", 2)
    return f"{results}/{scale}/logs/{rest.rpartition('.')[0]}.log"
