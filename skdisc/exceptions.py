"""Errors and warnings of skdisc."""

__all__ = [
    "ModelError",
    "RefitWarning",
    "SkdiscWarning",
    "SurrogateWarning",
    "UndefinedMeasureWarning",
]


class ModelError(ValueError):
    """The audited model raised an error, or returned something that is not a decision per row."""


class SkdiscWarning(UserWarning):
    """Base class of all warnings of skdisc."""


class SurrogateWarning(SkdiscWarning):
    """The audited model may not be the one that the caller intends to audit."""


class RefitWarning(SkdiscWarning):
    """A difference between models trained in two worlds is 0 for any data."""


class UndefinedMeasureWarning(SkdiscWarning):
    """A measure is undefined for some group, so the value returned does not cover this group."""
