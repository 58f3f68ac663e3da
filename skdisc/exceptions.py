"""Errors and warnings of skdisc."""

__all__ = [
    "ModelError",
    "RefitWarning",
    "SkdiscWarning",
    "SurrogateWarning",
    "UndefinedMeasureWarning",
]


class ModelError(ValueError):
    """The audited model raised an error, or returned something that is not a decision per row.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import Themis
    >>> X, y = make_loan(100, random_state=0, return_X_y=True)
    >>> try:
    ...     Themis(protected="gender").fit(X, model=lambda X: [0])
    ... except ModelError:
    ...     print("the model does not return one decision per row")
    the model does not return one decision per row
    """


class SkdiscWarning(UserWarning):
    """Base class of all warnings of skdisc.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():  # in a program that must not go on
    ...     warnings.simplefilter("error", SkdiscWarning)
    """


class SurrogateWarning(SkdiscWarning):
    """The audited model may not be the one that the caller intends to audit.

    Examples
    --------
    >>> import warnings
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import Themis
    >>> X, y = make_loan(100, random_state=0, return_X_y=True)
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", SurrogateWarning)
    ...     result = Themis(protected="gender", random_state=0).fit(X, y).result_
    >>> result.audited
    'surrogate'
    """


class RefitWarning(SkdiscWarning):
    """A difference between models trained in two worlds is 0 for any data."""


class UndefinedMeasureWarning(SkdiscWarning):
    """A measure is undefined for some group, so that the value returned is NaN or leaves it out.

    Examples
    --------
    >>> import warnings
    >>> from skdisc.measures import equal_opportunity
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always", UndefinedMeasureWarning)
    ...     value = equal_opportunity([0, 0, 1, 0], [0, 1, 1, 0], protected=["f", "f", "m", "m"])
    >>> value, told[0].category.__name__
    (nan, 'UndefinedMeasureWarning')
    """
