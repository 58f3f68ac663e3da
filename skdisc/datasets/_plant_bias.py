"""A known bias put into the user's own decisions, to see what a method would find there."""

from numbers import Real

import numpy as np
import pandas as pd
from sklearn.utils import Bunch
from sklearn.utils._param_validation import StrOptions, validate_params

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import check_labels, sorted_unique
from skdisc.datasets._copula._copula import generator


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
def plant_bias(X, y, subgroup, rate, *, kind="flip", pos_label=None, random_state=None):
    """Change the decisions about a subgroup at a known rate.

    Parameters
    ----------
    X : DataFrame of shape (n_samples, n_features)
        The people.
    y : array-like of shape (n_samples,)
        Decisions (two classes), or scores with ``kind="shift"``.
    subgroup : Subgroup or Predicate
        Whose decisions change.
    rate : float in [-1, 1], or any number with "shift"
        Share of the subgroup's unfavourable decisions (rate > 0) or favourable ones (rate < 0)
        that are turned round, rounded to whole people; or what is added to their scores.
    kind : {"flip", "shift"}, default="flip"
    pos_label : label, default=None
        The favourable decision; by default the last class.
    random_state : int, RandomState, Generator or None, default=None
        Who is chosen.

    Returns
    -------
    bunch : Bunch
        ``data`` (X as given), ``target`` (a new Series), ``frame`` of both, ``truth``: a Bunch with
        the ``subgroup``, ``members`` (bool array), ``changed`` (bool array), ``rate`` obtained,
        ``before`` and ``after`` (mean outcome of the subgroup, favourable share or score), their
        difference ``effect``, and ``gap_before`` and ``gap_after`` (subgroup minus the rest; NaN
        if one of them is empty).

    Raises
    ------
    ValueError
        If nobody is in the subgroup, the rate is no share, or y has not two classes.

    Examples
    --------
    >>> from skdisc import Predicate
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> planted = plant_bias(X, y, Predicate.equals("gender", "male"), 0.5, random_state=0)
    >>> round(planted.truth.before, 2), round(planted.truth.after, 2)
    (0.6, 0.8)
    """
    labels = check_labels(y, len(X))
    group = Subgroup() & subgroup
    members = group.mask(X)
    if not members.any():
        raise ValueError(f"Nobody in X is in the subgroup '{group}'.")
    if kind == "shift":
        before = labels.astype(float)
        after = new = before + rate * members
        changed = members & (rate != 0)
    else:
        new, before, after, changed = _flip(labels, members, rate, pos_label, random_state)
    name = getattr(y, "name", None)
    target = pd.Series(new, index=X.index, name="target" if name is None else name)
    if target.name in X:
        raise ValueError(
            f"The labels would be called {target.name!r} in frame, as a column of X is. Name them "
            "otherwise: y.rename(...)."
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
    """Return the new labels, both as 0 and 1, and who was changed."""
    classes = sorted_unique(labels)
    if not -1 <= rate <= 1:
        raise ValueError(f"rate must be a share in [-1, 1] with kind='flip', got {rate!r}.")
    if len(classes) != 2:
        raise ValueError(f"y must have two classes with kind='flip', got {classes[:5]!r}.")
    favourable = classes[-1] if pos_label is None else pos_label
    if favourable not in classes:
        raise ValueError(f"pos_label={pos_label!r} never occurs. Labels: {classes!r}.")
    other = classes[0] if favourable == classes[1] else classes[1]
    before = (labels == favourable).astype(float)
    may_change = np.flatnonzero(members & (before == (rate < 0)))
    chosen = generator(random_state).permutation(may_change)[: round(abs(rate) * len(may_change))]
    changed = np.zeros(len(labels), dtype=bool)
    changed[chosen] = True
    new = labels.copy()
    new[changed] = other if rate < 0 else favourable
    return new, before, (new == favourable).astype(float), changed


def _rate(before, changed, members, rate):
    """Return the share of those who could be changed that was."""
    could = members & (before == (rate < 0))
    return float(np.sign(rate) * changed.sum() / could.sum()) if could.any() else np.nan


def _mean(values):
    return float(values.mean()) if len(values) else np.nan
