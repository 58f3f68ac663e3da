"""The effect of a repair on individual discrimination, group disparities and accuracy."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_consistent_length

from skdisc import _stats, measures
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import People, Task
from skdisc._utils import _validation as check
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels, Model, RandomState
from skdisc.individual import Themis

_NAMES = ("IF_r", "IF_o", "statistical_parity_difference", "average_odds_difference", "accuracy")


def repair_report(
    model_before: Model,
    model_after: Model,
    X: FrameLike,
    y: ArrayLike,
    *,
    protected: Columns,
    pos_label: Labels | None = None,
    reference: object = "largest",
    margin: float = 0.01,
    space: FeatureSpace | None = None,
    significance: float = 0.05,
    random_state: RandomState = 0,
) -> pd.DataFrame:
    """Compare two models by individual discrimination, group disparities and accuracy.

    Parameters
    ----------
    model_before, model_after : fitted models
    X : DataFrame of shape (n_samples, n_features)
        Rows that neither model was trained on.
    y : array-like of shape (n_samples,)
        The labels of these rows.
    protected : column name or position, or sequence of them
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    reference : value, dict of values, or rule, default="largest"
        The reference groups, as in `skdisc.measures`.
    margin : float, default=0.01
        Half-width of the interval to which IF_r is estimated.
    space : FeatureSpace or None, default=None
        The possible inputs that IF_r refers to; None stands for the space learned from X.
    significance : float, default=0.05
        One minus the confidence level of the intervals.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    DataFrame
        One row per metric, with columns before, before_low, before_high, after, after_low,
        after_high and change (after minus before):

        - IF_r: share of random inputs with a case; Wilson interval.
        - IF_o: share of the rows of X with a case; Wilson interval.
        - statistical_parity_difference and average_odds_difference: reference minus group, of the
          group furthest from its reference. Groups are the combinations of protected values.
        - accuracy: share of correct decisions; Wilson interval.

    Raises
    ------
    ValueError
        If X and y differ in length, a protected column does not exist, or `reference` does not
        name a group.

    Examples
    --------
    >>> X = pd.DataFrame({"points": np.tile(np.arange(50), 2), "sex": np.repeat(["f", "m"], 50)})
    >>> y = (X["points"] > 24).astype(int)
    >>> unfair = lambda X: ((X["points"] > 24) & (X["sex"] == "m")).astype(int)
    >>> fair = lambda X: (X["points"] > 24).astype(int)
    >>> report = repair_report(unfair, fair, X, y, protected="sex", pos_label=1)
    >>> report.loc[["IF_o", "accuracy"], ["before", "after"]].values.tolist()
    [[0.5, 0.0], [0.75, 1.0]]
    """
    check_consistent_length(X, y)
    settings = {"protected": protected, "pos_label": pos_label, "random_state": random_state}
    settings |= {"margin": margin, "space": space, "significance": significance}
    parts = [
        _of_model(model, X, y, reference, settings).add_prefix(prefix, axis="columns")
        for model, prefix in ((model_before, "before"), (model_after, "after"))
    ]
    table = pd.concat(parts, axis="columns")
    return table.assign(change=table["after"] - table["before"])


def _of_model(model, X, y, reference, settings):
    """Return all metrics of one model with their intervals."""
    detector = Themis(**settings).fit(X, y, model)
    whole = ["estimate", "ci_low", "ci_high"]
    shares = [r.estimates[whole].iloc[-1].to_numpy() for r in (detector.result_, detector.audit(X))]
    labels = check.check_labels(y)
    wanted = check.is_favorable(labels, detector.pos_label_)
    frame = pd.DataFrame(X)
    decided = Task.open(detector, People(frame), is_audit=True).decisions() > 0.5
    groups = frame[detector.protected_]
    how = {"protected": groups, "reference": reference, "pos_label": True}
    how |= {"intersections": len(detector.protected_)}
    for measure in (measures.mean_difference_report, measures.average_odds_difference_report):
        table = measure(wanted, decided, significance=settings["significance"], **how)
        known = table.dropna(subset="estimate")
        worst = known.loc[known["estimate"].abs().idxmax(), whole] if len(known) else [np.nan] * 3
        shares.append(np.asarray(worst, dtype=float))
    right, n = int((wanted == decided).sum()), len(decided)
    low, high = _stats.wilson(right, n, settings["significance"])
    shares.append(np.array([right / n, low, high]))
    return pd.DataFrame(np.stack(shares), index=_NAMES, columns=["", "_low", "_high"])
