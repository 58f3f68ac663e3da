"""The command line ``skdisc``.

The exit codes: 0 ``NOTHING_FOUND``, 1 ``DISPARITY_FOUND``, 2 ``USAGE``, 3 ``INSUFFICIENT``
(evidence), 4 ``FAILURE`` (any other).
"""

from skdisc.cli._main import (
    DISPARITY_FOUND,
    FAILURE,
    INSUFFICIENT,
    NOTHING_FOUND,
    USAGE,
    main,
)

__all__ = [
    "DISPARITY_FOUND",
    "FAILURE",
    "INSUFFICIENT",
    "NOTHING_FOUND",
    "USAGE",
    "main",
]
