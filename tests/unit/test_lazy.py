"""The package that jobs find in place of Snakemake's: light, and Snakemake's own if needed."""

from pathlib import Path

import snakemake

from tests.unit.loading import printed

CODE = """
import sys
from snakemake.iocontainers import Snakemake
from snakemake.logging import logger
print(sorted({"snakemake.shell", "snakemake.utils", "asyncio"} & set(sys.modules)))
import snakemake
print(snakemake.shell.__module__, snakemake.__version__, snakemake.__file__)
from snakemake import common
print(hasattr(snakemake, "nothing_of_this_name"), common.__name__)
"""


def test_imports_of_a_script_bring_no_shell_and_anything_else_is_snakemakes_own() -> None:
    lines = printed(CODE, PYTHONPATH=str(Path("workflow/lazy").absolute())).splitlines()
    own = f"snakemake.shell {snakemake.__version__} {snakemake.__file__}"
    assert lines == ["[]", own, "False snakemake.common"]
