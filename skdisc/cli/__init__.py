"""The command line ``skdisc``."""

from skdisc.cli._main import (
    DEFAULT,
    DISPARITY_FOUND,
    FAILURE,
    INSUFFICIENT,
    NOTHING_FOUND,
    USAGE,
    main,
)

__all__ = [
    "DEFAULT",
    "DISPARITY_FOUND",
    "FAILURE",
    "INSUFFICIENT",
    "NOTHING_FOUND",
    "USAGE",
    "main",
]
