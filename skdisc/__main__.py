"""``python -m skdisc`` is the command ``skdisc``."""

import sys

from skdisc.cli import main

sys.exit(main())
