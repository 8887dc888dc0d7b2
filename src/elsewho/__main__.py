"""`python -m elsewho` is the program `elsewho`."""

import sys

from elsewho.cli import main

sys.exit(main())
