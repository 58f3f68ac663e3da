"""Samplers that make label and group independent: uniform and preferential sampling, massaging."""

from abc import abstractmethod

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import HasMethods

from skdisc._blackbox._default_models import default_model
from skdisc._utils import _validation as check
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._inputs import refuse_huge
from skdisc._utils._settings import HasSettings, setting
from skdisc._utils._types import Columns, Labels, RandomState
from skdisc.preprocessing._row_sampler import RowSampler
from skdisc.preprocessing._rows import PROTECTED, cells_of, groups_of, named, warn_of_empty

_RANKER = setting(
    None,
    [HasMethods(["fit", "predict_proba"]), None],
    """Cloned, and fitted to the rows as a DataFrame. None: a logistic regression after
    encoding.""",
    kind="classifier with predict_proba",
)


class GroupSampler(HasSettings, RowSampler):
    """Base of the samplers of groups."""

    protected: Columns | None = PROTECTED

    def _resampled(self, X, frame, y):
        group, self._values = groups_of(frame[named(self.protected, frame)])
        self.sample_indices_, labels = self._sampled(frame, y, group)
        return _safe_indexing(X, self.sample_indices_), labels

    @abstractmethod
    def _sampled(self, frame, y, group):
        """Return the positions of the sampled rows, and their labels."""


class _CellSampler(GroupSampler):
    """Gives each group as many rows of each label as if the label were independent of it."""

    def _sampled(self, frame, y, group):
        classes, label = np.unique(y, return_inverse=True)
        cells = cells_of(group, label, (len(self._values), len(classes)))
        warn_of_empty(cells, self._values, classes)
        share, chosen = cells.sum(axis=0) / len(y), []
        order = self._order(frame, y, label)
        for g, row in enumerate(cells):
            sizes = np.where(row > 0, apportion(row.sum() * share), 0)
            for c, n in enumerate(sizes):
                members = order[(group[order] == g) & (label[order] == c)]
                if len(members):
                    chosen.append(self._take(members, int(n)))
        chosen = np.sort(np.concatenate(chosen))
        return chosen, y[chosen]


class UniformSampler(_CellSampler):
    """Sample rows at random, so that label and protected group are independent.

    Each group keeps its number of rows, and has of each label the share which the label has among
    all rows, up to one row. Rows are repeated or left out at random; each is repeated as
    often as any other of its group and label, up to once.

    The class is a sampler of imbalanced-learn, and works in its `Pipeline`.

    {parameters}

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_samples_new,)
        Positions of the sampled rows, in order.

    Notes
    -----
    A group without any row of a label cannot get one: it becomes smaller, and a warning says so.

    References
    ----------
    F. Kamiran, T. Calders: Data preprocessing techniques for classification without discrimination.
    Knowledge and Information Systems 33, 2012. https://doi.org/10.1007/s10115-011-0463-8

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": list("ffffmmmm")})
    >>> y = pd.Series([0, 0, 0, 1, 1, 1, 1, 0])
    >>> X_new, y_new = UniformSampler("sex", random_state=0).fit_resample(X, y)
    >>> y_new.groupby(X_new["sex"]).mean().to_dict()
    {'f': 0.5, 'm': 0.5}
    """

    random_state: RandomState = setting(
        None,
        ["random_state"],
        "Seed of all that is drawn.",
    )

    def _order(self, frame, y, label):
        return check_random_state(self.random_state).permutation(len(y))

    def _take(self, members, n):
        return np.resize(members, n)


class PreferentialSampler(_CellSampler):
    """Repeat and leave out rows near the border of a ranker, to make label and group independent.

    As `UniformSampler`, but the rows of a group and label that are repeated, or left out, are those
    whose label a ranker finds least probable.

    {parameters}

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_samples_new,)
        Positions of the sampled rows, in order.
    ranker_ : fitted classifier

    References
    ----------
    F. Kamiran, T. Calders: Data preprocessing techniques for classification without discrimination.
    Knowledge and Information Systems 33, 2012. https://doi.org/10.1007/s10115-011-0463-8

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": list("ffffmmmm"), "points": [1, 2, 3, 6, 5, 7, 8, 4]})
    >>> sampler = PreferentialSampler("sex")
    >>> X_new, _ = sampler.fit_resample(X, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> sampler.sample_indices_.tolist()  # row 2 goes, the only woman with label 1 comes twice
    [0, 1, 3, 3, 5, 6, 7, 7]
    """

    ranker: BaseEstimator | None = _RANKER

    def _order(self, frame, y, label):
        self.ranker_ = fitted_ranker(self.ranker, frame, y)
        probability_of_label = self.ranker_.predict_proba(frame)[np.arange(len(y)), label]
        return np.argsort(probability_of_label, kind="stable")

    def _take(self, members, n):
        if n < len(members):
            return members[len(members) - n :]
        return np.resize(members, n)


class Massager(GroupSampler):
    r"""Change the labels of the rows nearest to the border, until all groups have one rate.

    In groups with a low rate of favorable labels those unfavorable rows become favorable whose
    favorable label a ranker finds most probable. As many favorable rows become unfavorable in the
    other groups, the least probable ones. The number of favorable labels stays; among all
    changes of that kind, these are the fewest; among equally probable rows the first is taken. With
    two groups s and t of :math:`n_s` and :math:`n_t` rows, whose rates differ by d, there are
    :math:`d \, n_s n_t / (n_s + n_t)` changes in each, rounded.

    The class is a sampler of imbalanced-learn, and works in its `Pipeline`: rows stay, and labels
    change, which a transformer of scikit-learn cannot do.

    {parameters}

    Attributes
    ----------
    sample_indices_ : ndarray of int, shape (n_samples,)
        The position of each row: all of them, in order.
    changed_ : ndarray of int
        Positions of the rows whose label is changed.
    ranker_ : fitted classifier

    References
    ----------
    F. Kamiran, T. Calders: Data preprocessing techniques for classification without discrimination.
    Knowledge and Information Systems 33, 2012. https://doi.org/10.1007/s10115-011-0463-8

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": list("ffffmmmm"), "points": [1, 2, 3, 6, 5, 7, 8, 4]})
    >>> massager = Massager("sex")
    >>> _, y_new = massager.fit_resample(X, [0, 0, 0, 1, 1, 1, 1, 0])
    >>> massager.changed_.tolist(), y_new
    ([2, 4], [0, 0, 1, 1, 0, 1, 1, 0])
    """

    ranker: BaseEstimator | None = _RANKER
    pos_label: Labels | None = setting(
        None,
        "no_validation",
        """The favorable labels; None: 1 or True. With several favorable, or unfavorable, labels
        a row gets the most probable one.""",
        kind="label or collection of labels",
    )

    def _sampled(self, frame, y, group):
        classes = np.array(check.check_decisions(y))
        chosen = favorable_labels(self.pos_label, classes.tolist())[0]
        is_wanted = check.is_favorable(classes, chosen)
        favorable = check.is_favorable(y, chosen)
        self.ranker_ = fitted_ranker(self.ranker, frame, y)
        probability = self.ranker_.predict_proba(frame)
        rank = np.argsort(-probability[:, is_wanted].sum(axis=1), kind="stable")
        n_favorable = apportion(np.bincount(group) * favorable.mean())
        changed = []
        for g, n in enumerate(n_favorable):
            members = rank[group[rank] == g]
            n_missing = n - favorable[members].sum()
            if n_missing > 0:
                changed.append(members[~favorable[members]][:n_missing])
            elif n_missing < 0:
                changed.append(members[favorable[members]][n_missing:])
        self.changed_ = np.sort(np.concatenate([np.empty(0, np.intp), *changed]))
        labels = y.copy()
        for to, columns in ((True, is_wanted), (False, ~is_wanted)):
            rows = self.changed_[favorable[self.changed_] != to]
            labels[rows] = classes[columns][probability[rows][:, columns].argmax(axis=1)]
        return np.arange(len(y)), labels


def fitted_ranker(ranker, frame, y):
    """Return a classifier fitted to a frame."""
    if ranker is None:
        refuse_huge(frame)  # which is scaled
    return clone(default_model("logistic") if ranker is None else ranker).fit(frame, y)


def apportion(sizes):
    """Round numbers whose sum is an integer to integers of that sum, by the largest remainders."""
    rounded = np.floor(sizes + 1e-9).astype(int)
    n_missing = round(sizes.sum()) - rounded.sum()
    rounded[np.argsort(rounded - sizes, kind="stable")[:n_missing]] += 1
    return rounded
