"""Items as the variables of a naive Bayes model."""

from dataclasses import replace

import numpy as np

from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate
from skdisc.subgroup._patterns._naive_bayes import NaiveBayes


def model_items(X, space, features, protected, n_bins, binarize, weight=None):
    """Make the items of the features that vary, values that do not occur left out.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    space : FeatureSpace
    features, protected : sequence of hashable
        Columns to use, and those of them whose items come first.
    n_bins : int or Bins
    binarize : {"median"} or None
        "median": numeric and ordinal columns are cut in two at their median.
    weight : ndarray of float, shape (n_rows,), optional

    Returns
    -------
    Items
    """
    items = make_items(X, space, features, protected, 2 if binarize else n_bins, weight)
    if binarize:
        for name in features:
            if space[name].kind == "ordinal":
                items = _halved(items, name, len(space[name].values))
    occurs = items.counts(np.zeros(len(X), dtype=np.int64), 1)[:, 0] > 0
    values = np.bincount(items.feature, occurs, minlength=len(items.codes))
    return items.only(occurs & (values[items.feature] > 1))


def _halved(items, name, n_values):
    """Join the values of an ordinal column up to its median, and those above."""
    own = [i for i, p in enumerate(items.predicates) if p.column == name][:n_values]
    codes = items.codes[items.feature[own[0]]]
    known = codes[(codes >= own[0]) & (codes <= own[-1])]
    cut = int(np.quantile(known, 0.5, method="lower")) + 1 if len(known) else own[-1] + 1
    number = np.arange(len(items.predicates) + 1)
    number[-1] = -1  # the code of an unseen value
    predicates = list(items.predicates)
    for half in (range(own[0], cut), range(cut, own[-1] + 1)):
        if len(half):
            number[half] = half[0]
            values = [v for i in half for v in items.predicates[i].values]
            predicates[half[0]] = Predicate.isin(name, values)
    return replace(items, predicates=tuple(predicates), codes=number[items.codes])


def learn(items, favoured, smoothing, weight=None):
    """Learn a naive Bayes model; None where a class or all sensitive features are lacking.

    Parameters
    ----------
    items : Items
    favoured : ndarray of bool, shape (n_rows,)
        The favourable class.
    smoothing : float
    weight : ndarray of float, shape (n_rows,), optional

    Returns
    -------
    NaiveBayes or None
    """
    weight = np.ones(len(favoured)) if weight is None else weight
    by_class = np.stack([weight * ~favoured, weight * favoured])
    n = by_class.sum(axis=1)
    if not n.all() or not items.protected.any():
        return None
    counts = items.sums(by_class)
    return NaiveBayes.learn(counts, n, items.feature, items.protected, smoothing)
