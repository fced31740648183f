"""The program for another interpreter: ``python program.py survey.py:noisy_mean``.

It imports this folder as a package of another name: `epsilometer` need not be installed there, and
the mechanism cannot import it. `answering` answers the requests.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

if __name__ == "__main__":
    folder = Path(__file__).resolve().parent
    if Path(sys.path[0] or ".").resolve() == folder:
        del sys.path[0]
    package = ModuleType("epsilometer_serving")
    package.__path__ = [str(folder)]
    sys.modules[package.__name__] = package
    importlib.import_module(f"{package.__name__}.answering").main(*sys.argv[1:])
