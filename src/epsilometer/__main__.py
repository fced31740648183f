"""``python -m epsilometer`` is the command line."""

import sys

from epsilometer.cli import main

if __name__ == "__main__":
    sys.exit(main())
