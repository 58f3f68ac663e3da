"""Errors and warnings of skdisc, for those who want to catch or filter them."""

__all__ = [
    "ModelError",
    "RefitWarning",
    "SkdiscWarning",
    "SurrogateWarning",
    "UndefinedMeasureWarning",
]


class ModelError(ValueError):
    """The audited model raised, or answered with something that is not a decision."""


class SkdiscWarning(UserWarning):
    """Base class of every warning that skdisc emits."""


class SurrogateWarning(SkdiscWarning):
    """The model that was audited is not the one the caller may think it is."""


class RefitWarning(SkdiscWarning):
    """A difference between models trained in two worlds is 0 whatever the data are."""


class UndefinedMeasureWarning(SkdiscWarning):
    """A measure has no value for some group, so what is returned does not speak of that group."""
