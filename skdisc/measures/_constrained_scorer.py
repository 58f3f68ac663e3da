"""The performance of a model as its score, subject to a limit on a measure of discrimination."""

from collections.abc import Callable
from numbers import Real

import numpy as np
from sklearn.metrics import get_scorer as get_performance_scorer

from skdisc._utils._types import Columns
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._scorer import DisparityScorer, ModelScorer


class ConstrainedScorer(ModelScorer):
    r"""Score a model by its performance if a gap is small enough, and below every such model else.

    .. math:: \text{score} \;\text{if}\; |g| \le g_{max}, \qquad -1 - |g| \;\text{otherwise}

    with the gap g of `measure`: its distance from no discrimination, which is :math:`1 - \min(r,
    1/r)` for a ratio r. Among models that break the limit, the one that is closest to it wins.

    Parameters
    ----------
    scorer : str or callable, default="accuracy"
        The performance: a name of `sklearn.metrics.get_scorer_names`, or a scorer
        ``(estimator, X, y) -> float``. Its scores must be at least -1, as accuracy, areas and
        correlations are: a model that breaks the limit must not win.
    gap : float, default=0.05
        The largest gap that is allowed; 0.2 with "impact_ratio" is the four-fifths rule.
    protected : str, int or list of them, default=None
        Columns of the X that is scored, by name or position; not with a `DisparityScorer`, which
        has its own.
    measure : str, callable or DisparityScorer, default="mean_difference"
        A measure of the catalogue, or its scorer with settings.

    See Also
    --------
    DisparityScorer : The score of the gap alone.

    Notes
    -----
    For `GridSearchCV` and its like, and for `TunedThresholdClassifierCV` with metadata routing
    enabled, where `sensitive_features` is passed to fit. The limit is checked in each fold, on the
    rows of that fold: in small folds, gaps exceed it by chance. A gap that is undefined gives NaN.

    Examples
    --------
    Accuracy .75, and a gap of 1/2:

    >>> import pandas as pd
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = pd.DataFrame({"sex": [0, 0, 1, 1], "x": [0, 0, 0, 1]}), [0, 1, 0, 1]
    >>> model = DecisionTreeClassifier().fit(X, y)
    >>> ConstrainedScorer("accuracy", gap=0.5, protected="sex")(model, X, y)
    0.75
    >>> ConstrainedScorer("accuracy", gap=0.2, protected="sex")(model, X, y)
    -1.5
    """

    def __init__(
        self,
        scorer: str | Callable[..., float] = "accuracy",
        *,
        gap: float = 0.05,
        protected: Columns | None = None,
        measure: str | Callable[..., float] | DisparityScorer = "mean_difference",
    ) -> None:
        self.scorer = scorer
        self.gap = gap
        self.protected = protected
        self.measure = measure

    def _score(self, estimator, X, y_true, sensitive_features, sample_weight):
        """Return the score of a fitted model."""
        closeness = self._disparity()._score(
            estimator, X, y_true, sensitive_features, sample_weight
        )
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        performance = get_performance_scorer(self.scorer)
        return self._subject_to(closeness, lambda: performance(estimator, X, y_true, **weights))

    def _disparity(self):
        """Return the scorer of the gap."""
        if not isinstance(self.gap, Real) or isinstance(self.gap, bool) or not self.gap >= 0:
            raise ValueError(f"gap must be a number of at least 0, got {self.gap!r}.")
        if not isinstance(self.measure, DisparityScorer):
            return DisparityScorer(self.measure, protected=self.protected)
        if self.protected is not None:
            raise ValueError(
                "protected is set here and measure is a DisparityScorer, which has its own: set it "
                "there."
            )
        return self.measure

    def _subject_to(self, closeness, performance):
        """Return the performance, or the score of a model that breaks the limit."""
        name, _ = self._disparity()._measure()
        if name is None:
            raise ValueError("measure must be one of the catalogue, whose fairest value is known.")
        fairest = 1.0 if CATALOGUE[name].scale == "ratio" else 0.0
        gap = fairest - closeness
        if np.isnan(gap):
            return float("nan")
        # Rates of .3 and .25 differ by 0.04999999999999999 or 0.05000000000000004.
        if gap > self.gap + 1e-9:
            return float(-1 - gap)
        score = float(performance())
        if score < -1:
            raise ValueError(
                f"The score of {self.scorer!r} is {score:.4g}. Scores below -1 cannot be told from "
                "those of models that break the limit; take one with a minimum of -1 or more, such "
                "as 'accuracy' or 'roc_auc'."
            )
        return score

    @property
    def _score_func(self):
        """The score of decisions, for scikit-learn's search over thresholds (its sign is 1)."""
        return self._score_decisions

    _sign = 1

    @property
    def _kwargs(self):
        """The further arguments of `_score_func`; scikit-learn reads the favorable label here."""
        return self._disparity()._kwargs

    def _score_decisions(self, y_true, y_pred, *, sensitive_features=None, **settings):
        """Return the score of decisions about rows whose columns are not at hand."""
        scorer = get_performance_scorer(self.scorer)
        if not hasattr(scorer, "_score_func"):
            raise ValueError(
                "A search over thresholds needs a scorer of decisions, such as 'accuracy' or one "
                f"of sklearn.metrics.make_scorer; got {self.scorer!r}."
            )
        closeness = self._disparity()._score_decisions(
            y_true, y_pred, sensitive_features=sensitive_features, **settings
        )
        settings.pop("pos_label", None)  # of the gap; the scorer has its own

        def performance():
            return scorer._sign * scorer._score_func(y_true, y_pred, **scorer._kwargs, **settings)

        return self._subject_to(closeness, performance)
