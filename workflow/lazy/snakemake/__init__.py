"""Snakemake as a job sees it: the package's modules, without what the package itself imports.

The few lines that Snakemake puts before a script import two of its modules. Importing the package
for them costs 70 ms of CPU a job, most of what starting one takes, for `shell`, which no script
here calls. This package lies before Snakemake's in the path of jobs, finds the modules in
Snakemake's folder, and becomes Snakemake's package as soon as anybody asks for anything else of it.
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
        from importlib.metadata import version  # modules ask for it before the package can be had

        return version("snakemake")
    if "_spec" in vars(module):
        spec = vars(module).pop("_spec")
        del module.__getattr__
        module.__spec__, module.__file__ = spec, spec.origin
        spec.loader.exec_module(module)
        if name in vars(module):
            return vars(module)[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
