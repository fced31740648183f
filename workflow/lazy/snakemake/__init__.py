"""Snakemake's package for jobs: its modules, without the imports of the package itself.

Snakemake puts a few lines before each script, which import two of its modules. To import the whole
package for them takes 25 ms of CPU a job, a thirteenth of a run at smoke, for `shell`, which no
script here calls. This package precedes Snakemake's in the path of jobs and finds the modules in
Snakemake's folder. On access to any other attribute it loads Snakemake's own package in its place.
"""

import sys
from importlib.machinery import PathFinder
from pathlib import Path

_here = Path(__file__).resolve().parents[1]
_spec = PathFinder.find_spec("snakemake", [p for p in sys.path if Path(p).resolve() != _here])
if _spec is None:
    raise ModuleNotFoundError("No module named 'snakemake'", name="snakemake")
__path__ = _spec.submodule_search_locations


def __getattr__(name):
    module = sys.modules[__name__]
    if name == "__version__" and "_spec" in vars(module):
        from importlib.metadata import version  # modules need it before the package is loaded

        return version("snakemake")
    if "_spec" in vars(module):
        spec = vars(module).pop("_spec")
        del module.__getattr__
        module.__spec__, module.__file__ = spec, spec.origin
        spec.loader.exec_module(module)
        if name in vars(module):
            return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
