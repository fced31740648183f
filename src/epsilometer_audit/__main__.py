"""``python -m epsilometer_audit`` is the command line."""

import sys

from epsilometer_audit.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
