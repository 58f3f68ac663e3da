"""What a repair changed: discrimination of people and of groups, and accuracy."""

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_consistent_length

from skdisc import _stats, measures
from skdisc._task._task import Task
from skdisc._utils import _validation as check
from skdisc.individual import Themis

_NAMES = ("IF_r", "IF_o", "statistical_parity_difference", "average_odds_difference", "accuracy")


def repair_report(
    model_before,
    model_after,
    X,
    y,
    *,
    protected,
    pos_label=None,
    reference="largest",
    margin=0.01,
    space=None,
    significance=0.05,
    random_state=0,
):
    """Compare two models by what they do to people, to groups, and by their accuracy.

    Parameters
    ----------
    model_before, model_after : fitted models
    X : DataFrame of shape (n_samples, n_features)
        Rows that neither model was trained on.
    y : array-like of shape (n_samples,)
        Their labels.
    protected : column name or position, or sequence of them
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    reference : as in the measures, default="largest"
    margin : float, default=0.01
        Half-width to which IF_r is estimated.
    space : FeatureSpace or None, default=None
        The possible inputs that IF_r is about; learned from X by default.
    significance : float, default=0.05
        One minus the confidence of the intervals.
    random_state : int, RandomState instance or None, default=0

    Returns
    -------
    DataFrame
        One row per metric: before, before_low, before_high, after, after_low, after_high, change.
        IF_r: share of random inputs with a case; IF_o: share of the rows of X with a case; with
        Wilson's intervals, as accuracy. statistical_parity_difference and average_odds_difference
        are those of the group furthest from its reference, reference minus group; all protected
        columns together make the groups.

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
    """Return every metric of one model with its interval."""
    detector = Themis(**settings).fit(X, y, model)
    whole = ["estimate", "ci_low", "ci_high"]
    shares = [r.estimates[whole].iloc[-1].to_numpy() for r in (detector.result_, detector.audit(X))]
    labels = check.check_labels(y)
    wanted = check.is_favourable(labels, detector.pos_label_)
    frame = pd.DataFrame(X)
    decided = Task.open(detector, frame, None).decisions() > 0.5
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
