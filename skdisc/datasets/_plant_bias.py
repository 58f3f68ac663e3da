"""A known bias planted in the user's own decisions."""

from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_params

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import check_order, sorted_unique
from skdisc._utils._types import ArrayLike, Seed
from skdisc._utils._validation import check_labels, check_names
from skdisc.datasets._copula._copula import generator

_LARGEST = 1e150  # of shifts


@validate_params(
    {
        "X": [pd.DataFrame],
        "y": ["array-like"],
        "subgroup": [Subgroup, Predicate],
        "rate": [Real],
        "kind": [StrOptions({"flip", "shift"})],
        "pos_label": "no_validation",
        "random_state": ["random_state", np.random.Generator],
    },
    prefer_skip_nested_validation=True,
)
def plant_bias(
    X: pd.DataFrame,
    y: ArrayLike,
    subgroup: Subgroup | Predicate,
    rate: float,
    *,
    kind: str = "flip",
    pos_label: Any = None,
    random_state: Seed = None,
) -> Bunch:
    """Change the decisions about a subgroup at a known rate.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Decisions (two classes), or scores with ``kind="shift"``.
    subgroup : Subgroup or Predicate
        The people whose decisions change.
    rate : float
        With "flip", a number in [-1, 1]: the share of the subgroup's unfavorable decisions (rate >
        0) or favorable decisions (rate < 0) that are flipped, rounded to whole people. With
        "shift", the number added to the scores of the subgroup.
    kind : {"flip", "shift"}, default="flip"
    pos_label : label, default=None
        The favorable decision; by default 1 or True, as in every detector.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the choice of the people whose decisions are flipped.

    Returns
    -------
    bunch : Bunch
        ``data`` (X itself), ``target`` (a new Series), ``frame`` (both) and ``truth``. The truth is
        a Bunch with ``subgroup``; ``members`` and ``changed`` (bool arrays); the obtained ``rate``;
        ``before`` and ``after`` (favorable share, or mean score, of the subgroup) and their
        difference ``effect``; ``gap_before`` and ``gap_after`` (subgroup minus the rest; NaN if
        either is empty).

    Raises
    ------
    ValueError
        If the subgroup is empty in X, the rate is not a share (or, with "shift",
        not finite), the scores are not numbers, y does not have two classes,
        `pos_label` does not occur, or the name of y is that of a column of X.

    Examples
    --------
    >>> from skdisc import Predicate
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> planted = plant_bias(X, y, Predicate.equals("gender", "male"), 0.5, random_state=0)
    >>> round(planted.truth.before, 2), round(planted.truth.after, 2)
    (0.6, 0.8)
    """
    if not abs(rate) <= _LARGEST:  # nor NaN
        raise ValueError(f"rate must be a number up to {_LARGEST:g} in size, got {rate!r}.")
    check_order(X=X, y=y)
    labels = check_labels(y, len(X))
    group = Subgroup() & subgroup
    check_names("subgroup", [p.column for p in group.predicates], list(X.columns))
    members = group.mask(X)
    if not members.any():
        raise ValueError(f"No row of X is in the subgroup '{group}'.")
    if kind == "shift":
        before = _scores(labels)
        after = new = before + rate * members
        changed = members & (rate != 0)
    else:
        new, before, after, changed = _flip(labels, members, rate, pos_label, random_state)
    name = getattr(y, "name", None)
    target = pd.Series(new, index=X.index, name="target" if name is None else name)
    if target.name in X:
        raise ValueError(
            f"y has the name {target.name!r} of a column of X, so both cannot be in one frame. "
            "Rename y with y.rename(...)."
        )
    means = [(_mean(v[members]), _mean(v[~members])) for v in (before, after)]
    truth = Bunch(
        subgroup=group,
        members=members,
        changed=changed,
        rate=float(rate) if kind == "shift" else _rate(before, changed, members, rate),
        before=means[0][0],
        after=means[1][0],
        effect=means[1][0] - means[0][0],
        gap_before=means[0][0] - means[0][1],
        gap_after=means[1][0] - means[1][1],
    )
    return Bunch(data=X, target=target, frame=pd.concat([X, target], axis=1), truth=truth)


def _flip(labels, members, rate, pos_label, random_state):
    """Return the new labels, old and new labels as 0 and 1, and a mask of the changed rows."""
    classes = sorted_unique(labels)
    if not -1 <= rate <= 1:
        raise ValueError(f"rate must be a share in [-1, 1] with kind='flip', got {rate!r}.")
    if len(classes) != 2:
        raise ValueError(f"y must have two classes with kind='flip', got {classes[:5]!r}.")
    (favorable,), _ = favorable_labels(pos_label, classes)
    unfavorable = classes[0] if favorable == classes[1] else classes[1]
    before = (labels == favorable).astype(float)
    may_change = np.flatnonzero(members & (before == (rate < 0)))
    chosen = generator(random_state).permutation(may_change)[: round(abs(rate) * len(may_change))]
    changed = np.zeros(len(labels), dtype=bool)
    changed[chosen] = True
    new = labels.copy()
    new[changed] = unfavorable if rate < 0 else favorable
    return new, before, (new == favorable).astype(float), changed


def _scores(labels):
    """Return scores as floats."""
    try:
        return labels.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be scores (numbers) with kind='shift': {error}.") from error


def _rate(before, changed, members, rate):
    """Return the share of the decisions that could be flipped that was flipped."""
    could = members & (before == (rate < 0))
    return float(np.sign(rate) * changed.sum() / could.sum()) if could.any() else np.nan


def _mean(values):
    """Return the mean of the values; NaN if there are none."""
    return float(values.mean()) if len(values) else np.nan
