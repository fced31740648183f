"""The package that jobs find in place of Snakemake's: light, and Snakemake's own if needed."""

from pathlib import Path

from tests.unit.loading import printed

LAZY = str(Path("workflow/lazy").absolute())


def test_imports_of_a_script_bring_no_shell() -> None:
    code = """
import sys
from snakemake.iocontainers import Snakemake
from snakemake.logging import logger
print(sorted({"snakemake.shell", "snakemake.utils", "asyncio"} & set(sys.modules)))
"""
    assert printed(code, PYTHONPATH=LAZY) == "[]"


def test_anything_else_is_snakemakes_own() -> None:
    code = """
import snakemake.iocontainers
import snakemake
print(snakemake.shell.__module__, snakemake.__version__, snakemake.__file__)
from snakemake import common
print(hasattr(snakemake, "nothing_of_this_name"), common.__name__)
"""
    import snakemake

    expected = f"snakemake.shell {snakemake.__version__} {snakemake.__file__}"
    assert printed(code, PYTHONPATH=LAZY).splitlines() == [expected, "False snakemake.common"]
