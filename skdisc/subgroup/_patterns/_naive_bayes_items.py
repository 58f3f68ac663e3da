"""Items as the variables of a naive Bayes model."""

from dataclasses import replace

import numpy as np

from skdisc._space._codes import NO_ITEM
from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate
from skdisc._utils._frequency import lower_quantiles
from skdisc.subgroup._patterns._naive_bayes import NaiveBayes


def model_items(X, space, features, protected, n_bins, binarize, weight=None, frequency=None):
    """Return the items of the features that vary, without values that do not occur.

    `features` and `protected`: columns to use, and the ones among them whose items come first.
    `binarize` ({"median"} or None): "median": numeric and ordinal columns are cut in two at their
    median. `frequency`: number of equal people of each row. Shapes: `X` (n_rows, n_columns).
    """
    items = make_items(
        X,
        space,
        features=features,
        protected=protected,
        n_bins=2 if binarize else n_bins,
        weight=weight,
        frequency=frequency,
    )
    if binarize:
        for name in features:
            if space[name].kind == "ordinal":
                items = _halved(items, name, len(space[name].values), frequency)
    occurs = items.counts(np.zeros(len(X), dtype=np.int64), 1)[:, 0] > 0
    values = np.bincount(items.feature, occurs, minlength=len(items.codes))
    return items.only(occurs & (values[items.feature] > 1))


def _halved(items, name, n_values, frequency):
    """Join the values of an ordinal column up to its median, and the values above it."""
    column_items = [i for i, p in enumerate(items.predicates) if p.column == name][:n_values]
    codes = items.codes[items.feature[column_items[0]]]
    inside = (codes >= column_items[0]) & (codes <= column_items[-1])
    times = np.ones(len(codes), dtype=np.int64) if frequency is None else frequency
    half = np.array([0.5])
    cut = (
        int(lower_quantiles(codes[inside], half, times[inside])[0])
        if inside.any()
        else column_items[-1]
    )
    cut += 1
    number = np.arange(len(items.predicates) + 1)
    number[-1] = NO_ITEM
    predicates = list(items.predicates)
    for half in (range(column_items[0], cut), range(cut, column_items[-1] + 1)):
        if len(half):
            number[half] = half[0]
            values = [v for i in half for v in items.predicates[i].values]
            predicates[half[0]] = Predicate.isin(name, values)
    return replace(items, predicates=tuple(predicates), codes=number[items.codes])


def learn(items, favored, smoothing, weight=None):
    """Learn a naive Bayes model; return None if a class or all sensitive features are missing.

    `favored`: whether each row is in the favorable class.
    """
    weight = np.ones(len(favored)) if weight is None else weight
    by_class = np.stack([weight * ~favored, weight * favored])
    n = by_class.sum(axis=1)
    if not n.all() or not items.protected.any():
        return None
    counts = items.sums(by_class)
    return NaiveBayes.learn(counts, n, items.feature, items.protected, smoothing)
