"""Redrawn: rows whose protected columns are drawn anew, given all other columns."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from skdisc._blackbox._clustered_draws import ClusteredDraws, drawn
from skdisc._blackbox._default_models import numbered, small_boosting, sparse_logistic
from skdisc._blackbox._training import threads_for
from skdisc._utils._frequency import deal, quantiles
from skdisc._utils._inputs import is_readable
from skdisc._utils._sample_weight import fit_weighted
from skdisc._utils._validation import of_numbers
from skdisc._utils._warnings import ignoring

N_BINS, RARE = 10, 10  # bins of a numeric column, rows of a class of its own
_CODES = 8.0  # standard errors by which a number must vary beyond its neighbors, to be a code
_MANY = 50_000  # rows of which two folds are enough
_MOST_CACHED = 20_000_000  # probabilities kept, 160 MB
N_STEPS, _SETTLED = 200, 1e-6  # of the likeliest mixture, which converges in a few


class RedrawnPeople(NamedTuple):
    """People whose protected columns were drawn anew.

    Attributes
    ----------
    row : ndarray of int, shape (n,)
        The rows that they come from.
    people : ndarray of int64, shape (n,), or None
        How many people each of them stands for; None: 1.
    donors : dict of column name to ndarray of int, shape (n,)
        The rows that have the values drawn.
    """

    row: np.ndarray
    people: np.ndarray | None
    donors: dict


class Redrawn:
    """The distribution of the protected columns given all others, learned out of fold.

    The columns are drawn one after the other, each given all others and those drawn before it, so
    their joint distribution stays. Each is drawn from a mixture of its marginal distribution, a
    logistic regression and boosted trees, with the weights that are likeliest out of fold: where
    neither model predicts the column, drawing is permuting.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    protected : list of column names
        Those among the columns of X are redrawn, given others of text, numbers or booleans.
    weight : ndarray of shape (n_rows,), optional
        Sample weights, which are given like another column.
    random_state : int, default=0
        Seed of the folds.
    frequency : ndarray of int64, shape (n_rows,), optional
        How many people each row stands for, of one fold each; use `people` to draw them.
    fold : ndarray of int, shape (n_rows,), optional
        The fold of each row, as from `in_folds`; None: that of one person, drawn at random.
    cluster : ndarray of shape (n_rows,), optional
        The cluster of each row: `draw` draws values that resemble each other within clusters as
        those of X do.
    """

    def __init__(
        self, X, protected, weight=None, random_state=0, frequency=None, fold=None, cluster=None
    ):
        self.X, self._frequency = X, frequency
        cluster = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
        fold = in_folds(len(X), None, random_state, cluster)[2] if fold is None else fold
        names = sorted((c for c in protected if c in X), key=lambda c: X[c].nunique())
        unprotected = [X[c] for c in X if c not in names and is_readable(X[c])]
        unprotected += [] if weight is None else [pd.Series(weight, X.index)]
        unprotected = [c for c in unprotected if c.nunique(dropna=False) > 1]
        classes = [_classes(X[name], frequency) for name in names]
        codes = [
            c
            for c in unprotected
            if any(_is_code(c, column_classes, frequency) for column_classes in classes)
        ]
        # Codes, as of places, are categories, too: as numbers they tell less of the people there.
        codes = [c.map(str, na_action="ignore").astype(object) for c in codes]
        self._unprotected = [numbered(c) for c in (*unprotected, *codes)]
        self._laws = []
        for name in names:
            before = [law.numbered for law in self._laws]
            features = nameless([*self._unprotected, *before], X.index)
            self._laws.append(_ColumnLaw(X[name], features, frequency, fold, cluster))

    def draw(self, random_state):
        """Return the rows with their protected columns drawn anew.

        The result has shape (n_rows, n_columns).
        """
        rows = self.X.copy()
        for name, donor in self.donors(random_state).items():
            rows[name] = self.X[name].iloc[donor].set_axis(rows.index)
        return rows

    def donors(self, random_state):
        """Return, by protected column, the row from which each row's value is drawn."""
        rng, donors = np.random.default_rng(random_state), []
        for law in self._laws:
            probabilities = self._probabilities(law, donors) if donors else law.learned
            donors.append(law.draw(probabilities, rng))
        return {law.values.name: d for law, d in zip(self._laws, donors, strict=True)}

    def people(self, random_state):
        """Return the people of all rows with their protected columns drawn anew."""
        row = np.arange(len(self.X))
        if self._frequency is None:
            return RedrawnPeople(row, None, self.donors(random_state))
        rng, people, donors = np.random.default_rng(random_state), self._frequency, []
        for law in self._laws:
            probabilities = self._probabilities(law, donors, row) if donors else law.learned
            # People of one entry who draw different values become entries of their own.
            entry, people, donor = law.deal(probabilities, people, rng)
            row, donors = row[entry], [*(d[entry] for d in donors), donor]
        names = [law.values.name for law in self._laws]
        return RedrawnPeople(row, people, dict(zip(names, donors, strict=True)))

    def _probabilities(self, law, donors, row=None):
        """Return the class probabilities of the column drawn next, given those drawn before it.

        `law`: the distribution of the column that is drawn next. `donors`: for each column drawn
        before, the rows of X that have the values drawn. `row`: the rows of X that values are drawn
        for; None: all, in order. The result has shape (n, n_classes).
        """
        earlier = self._laws[: len(donors)]
        sizes = [len(earlier_law.firsts) for earlier_law in earlier]
        if math.prod(sizes) * law.learned.size > _MOST_CACHED:
            return law.mixed(self._features(earlier, donors, row), row)
        # Draws are repeated many times, and earlier columns have few combinations of values: the
        # models predict for all rows once with each combination, and further draws look it up.
        combination = _combination(earlier, donors)
        probabilities = np.empty((len(combination), law.learned.shape[1]))
        for k in np.unique(combination):
            if k not in law.cached:
                law.cached[k] = self._with_values(law, earlier, np.unravel_index(k, sizes), k)
            positions = np.flatnonzero(combination == k)
            probabilities[positions] = law.cached[k][positions if row is None else row[positions]]
        return probabilities

    def _with_values(self, law, earlier, values, k):
        """Return the class probabilities of all rows if they had the combination k of values.

        Those of rows that have it are learned already.
        """
        everyone = np.arange(len(self.X))
        other_rows = np.flatnonzero(_combination(earlier, [everyone] * len(earlier)) != k)
        probabilities = law.learned.copy()
        if len(other_rows):
            same_for_all = [
                np.full(len(other_rows), earlier_law.firsts[value])
                for earlier_law, value in zip(earlier, values, strict=True)
            ]
            features = self._features(earlier, same_for_all, other_rows)
            probabilities[other_rows] = law.mixed(features, other_rows)
        return probabilities

    def _features(self, earlier, donors, row=None):
        """Return what a column is predicted from: unprotected columns, and the values drawn."""
        unprotected = self._unprotected if row is None else [c.iloc[row] for c in self._unprotected]
        drawn = [law.numbered.iloc[d] for law, d in zip(earlier, donors, strict=True)]
        columns = [c.reset_index(drop=True) for c in (*unprotected, *drawn)]
        return nameless(columns, pd.RangeIndex(len(donors[0])))


class _ColumnLaw:
    """The distribution of one column given features.

    Models predict the class of a value (the value itself, a bin of numbers, or all rare values
    together); within its class, a value is drawn from the rows of X.

    Attributes
    ----------
    codes, firsts : ndarray of int
        The values as numbers, and the first row with each of them.
    learned : ndarray of float, shape (n_rows, n_classes)
        Class probabilities of the rows of X as they are, predicted out of fold.
    cached : dict of int to ndarray of float, shape (n_rows, n_classes)
        Class probabilities of all rows with other values of the columns drawn before, by the
        number of the combination of these values.
    """

    def __init__(self, values, features, frequency, fold, cluster):
        self.values, self.numbered, self.cached = values, numbered(values), {}
        classes = _classes(values, frequency)
        self.codes = pd.factorize(values, use_na_sentinel=False)[0]
        self.firsts = np.unique(self.codes, return_index=True)[1]
        self._members = [np.flatnonzero(classes == c) for c in range(classes.max(initial=0) + 1)]
        people = np.bincount(classes, frequency)
        self._shares = people / max(people.sum(), 1)
        self._fold, self._models = fold, []
        if frequency is not None:
            self._values = [_values_of(self.codes, m, frequency) for m in self._members]
        if len(self._members) > 1 and features.shape[1]:
            for k in range(1 + fold.max(initial=0) if fold.any() else 0):
                rest = np.flatnonzero(fold != k)
                people_of_rest = None if frequency is None else frequency[rest]
                self._models.append(_fitted(features.iloc[rest], classes[rest], people_of_rest))
        parts = self._parts(features)
        self._weights = _mixture(parts[:, np.arange(len(classes)), classes], frequency)
        self.learned = np.einsum("m,mnc->nc", self._weights, parts)
        self._clustered = None
        if cluster is not None:
            self._clustered = ClusteredDraws(cluster, classes, self.codes, self.learned)

    def draw(self, probabilities, rng):
        """Draw a class for each row, then a row of that class as the donor of its value."""
        if self._clustered is not None:
            return self._clustered.donors(probabilities, self._members, rng)
        class_drawn = drawn(probabilities, rng.random(len(probabilities)))
        donor = np.empty(len(class_drawn), dtype=np.intp)
        for c, members in enumerate(self._members):
            positions = np.flatnonzero(class_drawn == c)
            donor[positions] = rng.choice(members, len(positions))
        return donor

    def deal(self, probabilities, people, rng):
        """Draw a value for each of the people of some entries.

        `people`: number of equal people of each entry. Returns `entry`: the entries of the people
        who have drawn the same value, ascending; `people`: their number; `donor`: a row with this
        value. Shapes: `probabilities` (n_entries, n_classes).
        """
        shares_of_classes = probabilities / probabilities.sum(axis=1, keepdims=True)
        people_of_class = rng.multinomial(people, shares_of_classes)
        pieces = []
        for (donors, shares), n in zip(self._values, people_of_class.T, strict=True):
            entry = np.flatnonzero(n)
            value, n = np.zeros(len(entry), dtype=np.intp), n[entry]
            if 1 < len(donors) <= n.sum() / max(len(entry), 1):
                people_of_value = rng.multinomial(n, shares)
                place, value = np.nonzero(people_of_value)
                entry, n = entry[place], people_of_value[place, value]
            elif len(donors) > 1:  # fewer people than values: one by one, without a wide table
                entry, value = np.repeat(entry, n), rng.choice(len(donors), int(n.sum()), p=shares)
                n = np.ones(len(entry), dtype=np.int64)
            pieces.append((entry, n, donors[value]))
        entry, n, donor = map(np.concatenate, zip(*pieces, strict=True))
        order = np.argsort(entry, kind="stable")
        return entry[order], n[order], donor[order]

    def mixed(self, features, row=None):
        """Return the class probabilities by the mixture of all models, shape (n, n_classes)."""
        return np.einsum("m,mnc->nc", self._weights, self._parts(features, row))

    def _parts(self, features, row=None):
        """Return the class probabilities by each part of the mixture, (n_parts, n, n_classes).

        The first part are the shares of the classes, whatever the features.
        """
        parts = np.zeros((3 if self._models else 1, len(features), len(self._members)))
        parts[0] = self._shares
        fold = self._fold if row is None else self._fold[row]
        for k, models in enumerate(self._models):
            in_fold = np.flatnonzero(fold == k)
            if not len(in_fold):
                continue
            rows = features.iloc[in_fold]
            with threads_for(len(in_fold)):
                for part, model in zip(parts[1:], models, strict=True):
                    part[np.ix_(in_fold, model.classes_)] = model.predict_proba(rows)
        return parts


def _combination(laws, donors):
    """Return the number of the combination of values that come from these rows of X."""
    combination = np.zeros(len(donors[0]), dtype=np.intp)
    for law, donor in zip(laws, donors, strict=True):
        combination = combination * len(law.firsts) + law.codes[donor]
    return combination


def in_folds(n_rows, frequency, random_state, cluster=None):
    """Deal people into folds at random, and divide rows of many accordingly.

    Clusters, numbers 0, 1, ... of rows of one person each, stay whole.

    Returns `row`: the positions of the rows; `people`: how many of their people are in the fold;
    None if `frequency` is.
    """
    if frequency is not None:
        n_folds = n_folds_of(int(frequency.sum()))
        hands = deal(frequency, n_folds, np.random.default_rng(random_state)).T
        row, fold = np.nonzero(hands)
        return row, hands[row, fold], fold
    if cluster is not None:
        of_cluster = in_folds(cluster.max(initial=-1) + 1, None, random_state)[2]
        return np.arange(n_rows), None, of_cluster[cluster]
    fold, n_folds = np.zeros(n_rows, dtype=np.intp), n_folds_of(n_rows)
    if n_folds > 1:
        splits = KFold(n_folds, shuffle=True, random_state=random_state).split(fold)
        for k, (_, positions) in enumerate(splits):
            fold[positions] = k
    return np.arange(n_rows), None, fold


def n_folds_of(n_rows):
    """Return the number of folds out of which models are learned: five, or two of many rows."""
    return min(5 if n_rows < _MANY else 2, n_rows)


def nameless(columns, index):
    """Return columns as a DataFrame, with names that every model accepts."""
    table = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=index)
    return table.set_axis([f"x{j}" for j in range(len(columns))], axis=1)


def fitted(model, X, y, frequency=None):
    """Return a model fitted to the people of rows, as if these were repeated.

    Rows of many people are repeated up to `RARE` times, with weights, as encoders and trees count
    rows.
    """
    if frequency is None:
        return model.fit(X, y)
    times = np.minimum(frequency, RARE)
    positions, weight = np.repeat(np.arange(len(times)), times), np.repeat(frequency / times, times)
    X, y = X.iloc[positions], y[positions]
    return model.fit(X, y) if (weight == 1).all() else fit_weighted(model, X, y, weight)


def _fitted(features, classes, frequency):
    """Return the models of the classes, fitted."""
    models = [sparse_logistic(), small_boosting()]
    if np.ptp(classes) == 0:
        models = [DummyClassifier()] * len(models)
    # a mixture needs no exact optimum
    with ignoring(ConvergenceWarning), threads_for(len(classes)):
        return [fitted(model, features, classes, frequency) for model in models]


def _classes(values, frequency=None):
    """Return the class of each value: itself, its bin, or one class of all rare ones."""
    if of_numbers(values.dtype) and values.nunique() > N_BINS:
        values = _binned(values.astype(float), frequency)
    codes = pd.factorize(values, use_na_sentinel=False)[0]
    rare = np.bincount(codes, frequency)[codes] < RARE
    return pd.factorize(np.where(rare, -1, codes))[0]


def _is_code(column, classes, frequency=None):
    """Return whether classes vary between the values of a number otherwise than between neighbors.

    The share of a class at each value is compared with that at the two neighboring values; the sum
    of the squares, in standard errors, is about chi-squared where shares follow the numbers
    smoothly. Neighboring terms are correlated, so that the sum varies more.
    """
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return False
    has_number = column.notna().to_numpy()
    values, which = np.unique(column.to_numpy()[has_number].astype(float), return_inverse=True)
    people = None if frequency is None else frequency[has_number]
    n = np.bincount(which, people)
    often = n >= RARE
    if often.sum() <= N_BINS or n.sum() < RARE * len(values):
        return False
    n = n[often]
    beside = n[:-2] + n[2:]
    most = len(n) - 2 + _CODES * np.sqrt(2 * (len(n) - 2))
    for k in range(classes.max(initial=0) + 1):
        inside = (classes[has_number] == k).astype(float)
        has = np.bincount(which, inside if people is None else inside * people)[often]
        share = has.sum() / n.sum()
        if not 0 < share < 1:
            continue
        gap = has[1:-1] / n[1:-1] - (has[:-2] + has[2:]) / beside
        if (gap**2 / (share * (1 - share) * (1 / n[1:-1] + 1 / beside))).sum() > most:
            return True
    return False


def _binned(values, frequency):
    """Return the quantile bin of each number."""
    if frequency is None:
        return pd.qcut(values.rank(pct=True), N_BINS, labels=False, duplicates="drop")
    has_number = values.notna().to_numpy()
    numbers = values.to_numpy()[has_number]
    cuts = np.unique(quantiles(numbers, np.linspace(0, 1, N_BINS + 1)[1:-1], frequency[has_number]))
    return pd.Series(np.where(has_number, np.searchsorted(cuts, values), np.nan), values.index)


def _values_of(codes, members, frequency):
    """Return a row for each distinct value of some members, and its share of their people."""
    _, first, value = np.unique(codes[members], return_index=True, return_inverse=True)
    people = np.bincount(value, frequency[members])
    return members[first], people / people.sum()


def _mixture(likelihood, frequency):
    """Return the maximum likelihood weights of a mixture, given likelihoods (n_parts, n).

    By the EM algorithm: the new weight of a part is the mean of its posterior probabilities.
    """
    weights, joint = np.full(len(likelihood), 1 / len(likelihood)), np.empty_like(likelihood)
    for _ in range(N_STEPS):
        before = weights
        np.multiply(weights[:, None], likelihood, out=joint)
        joint /= joint.sum(axis=0)
        weights = np.average(joint, axis=1, weights=frequency)
        if np.abs(weights - before).max() < _SETTLED:
            break
    return weights
