"""Lets `python benchmarks` work: Python puts this folder in its path, not the one that it is a package of."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from benchmarks.run import main

    main()
