"""The effect of a repair on individual discrimination, group disparities and accuracy."""

from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_consistent_length

from skdisc import _stats, measures
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import People, Task
from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels, Model, RandomState
from skdisc._verdicts._rule import Rule
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
        One row per metric, with columns before, after and change (after minus before), each with
        its ends, such as before_low and before_high:

        - IF_r: share of random inputs with a case; interval of Clopper and Pearson.
        - IF_o: share of the rows of X with a case; Wilson interval, for people like them.
        - statistical_parity_difference and average_odds_difference: reference minus group, of the
          group furthest from its reference. Groups are the combinations of protected values.
        - accuracy: share of correct decisions; Wilson interval.

    Raises
    ------
    ValueError
        If X and y differ in length, a protected column does not exist, or `reference` does not
        name a group.

    Notes
    -----
    The interval of a change is made of those before and after and of their correlation, since the
    same rows are behind both (Zou and Donner 2008, :doi:`10.1002/sim.3095`). IF_r is taken as
    uncorrelated, and its interval is too wide rather than too narrow. That the group is the one
    furthest from its reference is not part of any interval: with many groups, those of the gaps
    are too narrow.

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
    check_order(X=X, y=y)
    check_consistent_length(X, y)
    settings = {"protected": protected, "pos_label": pos_label, "random_state": random_state}
    settings |= {"margin": margin, "space": space, "rule": Rule(significance=significance)}
    metrics = [_of_model(model, X, y, reference, settings) for model in (model_before, model_after)]
    before, after = (values for values, _ in metrics)
    table = pd.DataFrame(np.hstack([before, after, _change(*metrics)]), index=_NAMES)
    ends = ("", "_low", "_high")
    return table.set_axis(
        [f"{n}{end}" for n in ("before", "after", "change") for end in ends], axis=1
    )


def _of_model(model, X, y, reference, settings):
    """Return all metrics with both ends of their intervals, and what each row adds to them."""
    detector = Themis(**settings).fit(X, y, model)
    significance = detector.significance
    random = detector.result_.estimates[["estimate", "ci_low", "ci_high"]].iloc[-1].to_numpy()
    frame = pd.DataFrame(X)
    has_case = np.isin(np.arange(len(frame)), detector.audit(X).findings.row)
    favorable = check.is_favorable(check.check_labels(y), detector.pos_label_)
    decided = Task.open(detector, People(frame), is_audit=True).decisions() > 0.5
    groups = frame[detector.protected_]
    settings_of_gaps = {"protected": groups, "reference": reference, "pos_label": True}
    settings_of_gaps |= {"intersections": len(detector.protected_), "significance": significance}
    everyone = np.ones(len(frame), dtype=bool)
    gaps = (
        _gap(
            measures.mean_difference_report(favorable, decided, **settings_of_gaps),
            groups,
            decided,
            [everyone],
        ),
        _gap(
            measures.average_odds_difference_report(favorable, decided, **settings_of_gaps),
            groups,
            decided,
            [favorable, ~favorable],
        ),
    )
    parts = [(random, 0.0 * everyone), _share(has_case, significance), *gaps]
    parts.append(_share(favorable == decided, significance))
    values, added = zip(*parts, strict=True)
    return np.stack(values).astype(float), np.stack(added)


def _share(is_so, significance):
    """Return the share of rows with Wilson's interval, and what each row adds to it."""
    low, high = _stats.wilson(is_so.sum(), len(is_so), significance)
    return np.array([is_so.mean(), low, high]), is_so - is_so.mean()


def _gap(table, groups, decided, strata):
    """Return the largest gap of a report with its interval, and what each row adds to it.

    The gap is that of rates in each of the strata, or the mean over the strata.
    """
    defined, added = table.dropna(subset="estimate"), np.zeros(len(decided))
    if not len(defined):
        return np.full(3, np.nan), added
    row = defined.loc[defined["estimate"].abs().idxmax()]
    group = _members(groups, row, "group")
    reference = {"overall": np.ones_like(group), "rest": ~group}.get(row["reference"])
    reference = _members(groups, row, "reference") if reference is None else reference
    for stratum in strata:
        for members, sign in ((reference, 1), (group, -1)):
            rows = stratum & members
            added[rows] += sign * (decided[rows] - decided[rows].mean()) / max(rows.sum(), 1)
    return row[["estimate", "ci_low", "ci_high"]].to_numpy(), added


def _members(groups, row, side):
    """Return which rows are in the group, or in the reference, of a row of a report."""
    sets = (list(c) for k in range(groups.shape[1]) for c in combinations(groups.columns, k + 1))
    names = next(c for c in sets if " & ".join(map(str, c)) == row["attribute"])
    values = row[side] if len(names) > 1 else (row[side],)
    return np.logical_and.reduce([groups[c] == v for c, v in zip(names, values, strict=True)])


def _change(before, after):
    """Return after minus before, and its interval from those of both (Zou and Donner 2008).

    The same rows are behind both: what they add to each tells how the estimates are correlated.
    """
    (one, added_one), (two, added_two) = before, after
    size = np.sqrt((added_one**2).sum(axis=1) * (added_two**2).sum(axis=1))
    covariance = (added_one * added_two).sum(axis=1)
    r = np.divide(covariance, size, out=np.zeros_like(covariance), where=size > 0)
    down, up = (
        (two[:, 0] - two[:, 1], one[:, 2] - one[:, 0]),
        (two[:, 2] - two[:, 0], one[:, 0] - one[:, 1]),
    )
    below, above = (np.sqrt(np.maximum(a**2 - 2 * r * a * b + b**2, 0)) for a, b in (down, up))
    change = two[:, 0] - one[:, 0]
    return np.column_stack([change, change - below, change + above])
