"""`python -m bench.cli`: the command line without its console script."""

import sys

from bench.cli.main import main

sys.exit(main())
