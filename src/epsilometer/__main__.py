"""``python -m epsilometer`` is the command line."""

import sys

from epsilometer.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
