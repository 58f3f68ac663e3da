"""Missing values: which estimators take them."""

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags


def takes_missing(estimator):
    """Say whether an estimator takes missing values; the steps of a pipeline see to it."""
    inner = estimator
    while hasattr(inner, "estimator"):
        inner = inner.estimator
    return get_tags(estimator).input_tags.allow_nan or isinstance(inner, Pipeline)
