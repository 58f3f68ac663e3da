"""cases_per_query: how many cases a search finds for what it asks."""

from typing import Any

from sklearn.base import clone

from skdisc._results._case_findings import CaseFindings
from skdisc._utils._types import ArrayLike, FrameLike
from skdisc.base import BaseDetector


def cases_per_query(estimator: BaseDetector, X: FrameLike, y: ArrayLike | None = None) -> float:
    """Return the number of distinct cases that a search finds in X per query, as a scorer.

    The settings of the fitted search are run again, on X and the model that it audits: pass it as
    ``GridSearchCV(search, grid, scoring=cases_per_query)``. `score` of a search estimates the share
    of people with a case instead, which a better search does not change.

    Parameters
    ----------
    estimator : fitted detector of cases
        One that queries a model, such as `KOSEI`.
    X : DataFrame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional

    Returns
    -------
    float
        Queries are all of the run, with those for the share of people with a case; 0 if there are
        none.

    Raises
    ------
    TypeError
        If the detector does not find cases by queries to a model.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from skdisc import BlackBox, Limits
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import KOSEI
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> X["gender"] = (X["gender"] == "male") * 1
    >>> model = DecisionTreeClassifier(random_state=0).fit(X, y)
    >>> search = KOSEI(protected="gender", limits=Limits(tests=100), random_state=0)
    >>> tuned = GridSearchCV(search, {"n_seeds": [5, 50]}, scoring=cases_per_query, cv=2)
    >>> "n_seeds" in tuned.fit(X, y, model=BlackBox(model)).best_params_
    True
    """
    result = getattr(estimator, "result_", None)
    if result is None or not isinstance(result.findings, CaseFindings) or not result.n_queries:
        raise TypeError(
            "cases_per_query scores fitted detectors that find cases by queries to a model, such "
            f"as KOSEI, got {estimator!r}."
        )
    model: Any = estimator.model_
    rerun = clone(estimator).fit(X, y, model).result_
    return rerun.n_found / rerun.n_queries if rerun.n_queries else 0.0
