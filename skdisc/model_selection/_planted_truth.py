"""PlantedTruth: how well a detector finds disparities that are planted in one's own table."""

from numbers import Real

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints

from skdisc._blackbox._redrawn import Redrawn
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._utils._inputs import check_order
from skdisc._utils._settings import AT_LEAST_ONE, COUNT
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels
from skdisc._utils._validation import check_labels, check_protected
from skdisc.base import BaseDetector
from skdisc.benchmark._match import Members, Target, likeness
from skdisc.benchmark._score import claimed_groups, matched_groups, rates_of
from skdisc.datasets import plant_bias

_METRICS = ("f1", "precision", "recall")
_MOST_TRIES = 500  # groups drawn before giving up
_LARGEST, _TOO_ALIKE = 0.5, 0.3  # support of a group, likeness of two groups
_N_BINS = 4


class PlantedTruth:
    """A scorer of subgroup detectors: what they find of disparities whose truth is known.

    A table of the user has disparities that nobody knows, so a search over settings has nothing to
    compare findings with. Here the protected columns are drawn anew, given all others, so that they
    make no difference (other columns, and what decisions owe to them, stay as they are). Then
    decisions about a few random groups are flipped. A setting is scored by what it finds of these
    groups, and by what else it claims.

    Parameters
    ----------
    n_groups : int, default=3
        Groups planted in each drawing.
    rate : float, default=0.5
        Share of the favorable decisions about a group that are made unfavorable, or, in every other
        group, the reverse.
    max_predicates : int, default=2
        Largest number of conditions of a group, one of which is on a protected column.
    min_support : float, default=0.05
        Smallest share of the rows in a group.
    n_drawings : int, default=3
        Tables that are planted; the score is the mean.
    metric : {"f1", "precision", "recall"}, default="f1"
        Of the groups that are claimed, one to one with those planted (see `match_groups`). Without
        claims precision is 0.
    threshold : float, default=0.5
        Smallest similarity of a group found to the one planted.
    random_state : int, default=0
        The same drawings are made for all settings; use another number for a final test.

    Raises
    ------
    ValueError
        If a setting is out of its range.

    See Also
    --------
    cases_per_query : The same for detectors of cases.
    skdisc.datasets.plant_bias : One group of one's own choice.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.subgroup import DivExplorer
    >>> X, y = make_loan(400, random_state=0, return_X_y=True)
    >>> detector = DivExplorer(protected="gender", max_predicates=2)
    >>> grid = {"min_support": [0.02, 0.1]}
    >>> scorer = PlantedTruth(n_groups=1, rate=0.8, n_drawings=1)
    >>> tuned = GridSearchCV(detector, grid, scoring=scorer, cv=2).fit(X, y)
    >>> 0 <= float(tuned.best_score_) <= 1
    True
    """

    _constraints = {
        "n_groups": [AT_LEAST_ONE],
        "max_predicates": [AT_LEAST_ONE],
        "n_drawings": [AT_LEAST_ONE],
        "rate": [Interval(Real, 0, 1, closed="right")],
        "min_support": [Interval(Real, 0, _LARGEST, closed="neither")],
        "metric": [StrOptions(set(_METRICS))],
        "threshold": [Interval(Real, 0, 1, closed="right")],
        "random_state": [COUNT],
    }

    def __init__(
        self,
        *,
        n_groups: int = 3,
        rate: float = 0.5,
        max_predicates: int = 2,
        min_support: float = 0.05,
        n_drawings: int = 3,
        metric: str = "f1",
        threshold: float = 0.5,
        random_state: int = 0,
    ) -> None:
        self.n_groups = n_groups
        self.rate = rate
        self.max_predicates = max_predicates
        self.min_support = min_support
        self.n_drawings = n_drawings
        self.metric = metric
        self.threshold = threshold
        self.random_state = random_state
        settings = {name: value for name, value in vars(self).items() if name in self._constraints}
        validate_parameter_constraints(self._constraints, settings, "PlantedTruth")

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"PlantedTruth({settings})"

    def __call__(self, estimator: BaseDetector, X: FrameLike, y: ArrayLike) -> float:
        """Return the mean score of the settings of a detector.

        Parameters
        ----------
        estimator : detector
            Its settings are used, on labels; what it audited before is not.
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of two classes.

        Returns
        -------
        float
            In [0, 1].

        Raises
        ------
        TypeError
            If the detector does not find groups in labels, or `fit` was given a model.
        ValueError
            If X has too few rows, or protected values, to plant groups in.
        """
        return float(self.scores(estimator, X, y)[self.metric].mean())

    def scores(self, estimator: BaseDetector, X: FrameLike, y: ArrayLike) -> pd.DataFrame:
        """Return precision, recall and F1 of each drawing, with the numbers of groups.

        Parameters
        ----------
        estimator : detector
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        DataFrame
            One row per drawing: precision, recall, f1, n_claimed, n_right, n_planted.

        Raises
        ------
        TypeError, ValueError
            As when it is called.
        """
        detector, rows = _of_labels(estimator), []
        X = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))
        for made in self.plant(X, y, detector.protected, pos_label=detector.pos_label):
            result = detector.fit(made.data, made.target).result_
            if not hasattr(result.findings, "subgroups"):
                raise TypeError(f"PlantedTruth scores detectors of groups, got {estimator!r}.")
            sign, claimed, _ = claimed_groups(result)
            made.people, which = Members(made.data), np.flatnonzero(claimed)
            matched = matched_groups(result, made, which, sign, self.threshold)
            n_claimed, n_right = len(which), int((matched >= 0).sum())
            rates = rates_of(n_right, n_claimed, n_right, len(made.targets))
            rates["precision"] = rates["precision"] if n_claimed else 0.0
            counts = {"n_claimed": n_claimed, "n_right": n_right, "n_planted": len(made.targets)}
            rows.append(rates | counts)
        return pd.DataFrame(rows)

    def plant(
        self, X: pd.DataFrame, y: ArrayLike, protected: Columns, *, pos_label: Labels | None = None
    ) -> list[Bunch]:
        """Return the drawings.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        protected : column name or position, or sequence of them
        pos_label : label, default=None
            The favorable decision; by default 1 or True.

        Returns
        -------
        list of Bunch
            With ``data``, ``target`` and ``targets``, a list of `Target`.

        Raises
        ------
        ValueError
            If X has too few rows, or protected values, to plant groups in.
        """
        check_order(X=X, y=y)
        X = X.reset_index(drop=True)
        labels = check_labels(y, len(X))
        protected = check_protected(protected, list(X))
        law = Redrawn(X, protected, random_state=self.random_state)
        drawings = []
        for number in range(self.n_drawings):
            rows = law.draw([self.random_state, number])
            # Another stream: what is planted must not depend on the uniforms that drew the rows.
            rng = np.random.default_rng([self.random_state, number, 1])
            targets = self._targets(rows, protected, rng)
            planted = labels
            for t in targets:
                part = plant_bias(
                    rows, planted, t.subgroup, t.sign * self.rate,
                    pos_label=pos_label, random_state=rng,
                )  # fmt: skip
                planted = part.target.to_numpy()
            drawings.append(Bunch(data=rows, target=planted, targets=targets))
        return drawings

    def _targets(self, X, protected, rng):
        """Return random groups that are not alike, worse and better off in turn."""
        space = FeatureSpace.from_frame(X, protected=protected)
        items = make_items(X, space, list(X), protected, _N_BINS)
        protected_items = np.flatnonzero(items.protected)
        other_items = np.flatnonzero(~items.protected)
        groups = []
        for _ in range(_MOST_TRIES if len(protected_items) else 0):
            n_more = rng.integers(0, min(self.max_predicates, 1 + len(other_items)))
            chosen = [rng.choice(protected_items), *rng.choice(other_items, n_more, replace=False)]
            if len(np.unique(items.feature[chosen])) < len(chosen):
                continue
            group = items.subgroup(chosen)
            fits = self.min_support <= group.mask(X).mean() <= _LARGEST
            if fits and (not groups or likeness([group], groups, X).max() < _TOO_ALIKE):
                groups.append(group)
            if len(groups) == self.n_groups:
                columns = frozenset(protected)
                return [Target(g, (-1, 1)[i % 2], columns, {}) for i, g in enumerate(groups)]
        raise ValueError(
            f"X has no {self.n_groups} different groups with a share of rows from "
            f"{self.min_support:g} to {_LARGEST:g} and at most {self.max_predicates} conditions, "
            f"one of them on {protected!r}. Lower n_groups or min_support, or pass more rows."
        )


def _of_labels(estimator):
    """Return an unfitted copy that audits labels."""
    if not isinstance(estimator, BaseDetector) or estimator._asks:
        raise TypeError(
            "PlantedTruth scores detectors that find groups in labels, such as DivExplorer, got "
            f"{estimator!r}. For searches for cases take cases_per_query."
        )
    result = getattr(estimator, "result_", None)
    if result is not None and result.audited != "labels" and estimator.estimator is None:
        raise TypeError(
            f"{type(estimator).__name__} was fitted to a model or to decisions, but PlantedTruth "
            "plants groups in the labels y, and asks no model. Leave model out of fit: settings "
            "are compared on labels, and serve for audits of the model as well."
        )
    return clone(estimator).set_params(estimator=None)
