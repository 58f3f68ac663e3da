"""The command line ``skdisc``."""

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
