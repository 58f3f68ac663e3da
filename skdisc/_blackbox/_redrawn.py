"""Redrawn: rows whose protected columns are drawn anew, given all other columns."""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline

from skdisc._blackbox._clustered_draws import ClusteredDraws, drawn
from skdisc._blackbox._default_models import numbered, small_boosting, sparse_logistic
from skdisc._blackbox._training import threads_for
from skdisc._utils._frequency import deal, quantiles
from skdisc._utils._inputs import is_readable
from skdisc._utils._warnings import ignoring

N_BINS, RARE = 10, 10  # bins of a numeric column, rows of a class of its own
_CODES = 8.0  # standard errors by which a number must vary beyond its neighbors, to be a code
_MANY = 50_000  # rows of which two folds are enough
_MOST_KNOWN = 20_000_000  # probabilities kept, 160 MB
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
        others = [X[c] for c in X if c not in names and is_readable(X[c])]
        others += [] if weight is None else [pd.Series(weight, X.index)]
        others = [c for c in others if c.nunique(dropna=False) > 1]
        classes = [_classes(X[name], frequency) for name in names]
        codes = [c for c in others if any(_is_code(c, of, frequency) for of in classes)]
        # Codes, as of places, are categories, too: as numbers they tell less of the people there.
        codes = [c.map(str, na_action="ignore").astype(object) for c in codes]
        self._others = [numbered(c) for c in (*others, *codes)]
        self._laws = []
        for name in names:
            features = nameless([*self._others, *(law.numbered for law in self._laws)], X.index)
            self._laws.append(_ColumnLaw(X[name], features, frequency, fold, cluster))

    def draw(self, random_state):
        """Return the rows with their protected columns drawn anew.

        Parameters
        ----------
        random_state : int or sequence of int

        Returns
        -------
        DataFrame of shape (n_rows, n_columns)
        """
        rows = self.X.copy()
        for name, donor in self.donors(random_state).items():
            rows[name] = self.X[name].iloc[donor].set_axis(rows.index)
        return rows

    def donors(self, random_state):
        """Return, by protected column, the row from which each row's value is drawn.

        Parameters
        ----------
        random_state : int or sequence of int

        Returns
        -------
        dict of column name to ndarray of int, shape (n_rows,)
        """
        rng, donors = np.random.default_rng(random_state), []
        for law in self._laws:
            of_class = self._given(law, donors) if donors else law.learned
            donors.append(law.draw(of_class, rng))
        return {law.values.name: d for law, d in zip(self._laws, donors, strict=True)}

    def people(self, random_state):
        """Return the people of all rows with their protected columns drawn anew.

        Parameters
        ----------
        random_state : int or sequence of int

        Returns
        -------
        RedrawnPeople
        """
        row = np.arange(len(self.X))
        if self._frequency is None:
            return RedrawnPeople(row, None, self.donors(random_state))
        rng, people, donors = np.random.default_rng(random_state), self._frequency, []
        for law in self._laws:
            of_class = self._given(law, donors, row) if donors else law.learned
            at, people, donor = law.deal(of_class, people, rng)
            row, donors = row[at], [*(d[at] for d in donors), donor]
        names = [law.values.name for law in self._laws]
        return RedrawnPeople(row, people, dict(zip(names, donors, strict=True)))

    def _given(self, law, donors, row=None):
        """Return the probabilities of the classes of a law, given the columns drawn before it.

        Where these have few values, probabilities given each of them are computed once. `row` are
        the rows that the donors are for; None: all, in order.
        """
        before = self._laws[: len(donors)]
        n_values = math.prod(len(b.firsts) for b in before)
        if n_values * law.learned.size > _MOST_KNOWN:
            return law.mixed(self._features(before, donors, row), row)
        key = np.zeros(len(donors[0]), dtype=np.intp)
        for b, donor in zip(before, donors, strict=True):
            key = key * len(b.firsts) + b.codes[donor]
        of_class = np.empty((len(key), law.learned.shape[1]))
        for k in np.unique(key):
            if k not in law.known:
                at, n = np.unravel_index(k, [len(b.firsts) for b in before]), len(self.X)
                alike = [np.full(n, b.firsts[i]) for b, i in zip(before, at, strict=True)]
                law.known[k] = law.mixed(self._features(before, alike))
            here = np.flatnonzero(key == k)
            of_class[here] = law.known[k][here if row is None else row[here]]
        return of_class

    def _features(self, before, donors, row=None):
        """Return the features of a law: other columns, and those drawn, from rows of donors."""
        others = self._others if row is None else [c.iloc[row] for c in self._others]
        drawn = [b.numbered.iloc[d] for b, d in zip(before, donors, strict=True)]
        columns = [c.reset_index(drop=True) for c in (*others, *drawn)]
        return nameless(columns, pd.RangeIndex(len(donors[0])))


class _ColumnLaw:
    """The distribution of one column given features; its values are those of rows of a class.

    Attributes
    ----------
    codes, firsts : ndarray of int
        The values as numbers, and the first row with each of them.
    learned : ndarray of float, shape (n_rows, n_classes)
        Probabilities given the features learned from.
    known : dict of int to ndarray
        Probabilities given values of the columns drawn before.
    """

    def __init__(self, values, features, frequency, fold, cluster=None):
        self.values, self.numbered, self.known = values, numbered(values), {}
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
                own = None if frequency is None else frequency[rest]
                self._models.append(_fitted(features.iloc[rest], classes[rest], own))
        parts = self._parts(features)
        self._weights = _mixture(parts[:, np.arange(len(classes)), classes], frequency)
        self.learned = np.einsum("m,mnc->nc", self._weights, parts)
        self._clustered = None
        if cluster is not None:
            self._clustered = ClusteredDraws(cluster, classes, self.codes, self.learned)

    def draw(self, of_class, rng):
        """Return, for each row, that from which its value is drawn, given the probabilities."""
        if self._clustered is not None:
            return self._clustered.donors(of_class, self._members, rng)
        own = drawn(of_class, rng.random(len(of_class)))
        donor = np.empty(len(own), dtype=np.intp)
        for c, members in enumerate(self._members):
            here = np.flatnonzero(own == c)
            donor[here] = rng.choice(members, len(here))
        return donor

    def deal(self, of_class, people, rng):
        """Draw a value for each of the people of some entries, given the probabilities.

        Returns
        -------
        at : ndarray of int, shape (n,)
            The entries of the people who have drawn the same value.
        people : ndarray of int64, shape (n,)
            How many they are.
        donor : ndarray of int, shape (n,)
            A row with this value.
        """
        dealt_to = rng.multinomial(people, of_class / of_class.sum(axis=1, keepdims=True))
        found = []
        for (donors, shares), n in zip(self._values, dealt_to.T, strict=True):
            at = np.flatnonzero(n)
            value, n = np.zeros(len(at), dtype=np.intp), n[at]
            if 1 < len(donors) <= n.sum() / max(len(at), 1):
                dealt = rng.multinomial(n, shares)
                here, value = np.nonzero(dealt)
                at, n = at[here], dealt[here, value]
            elif len(donors) > 1:  # few people: one by one
                at, value = np.repeat(at, n), rng.choice(len(donors), int(n.sum()), p=shares)
                n = np.ones(len(at), dtype=np.int64)
            found.append((at, n, donors[value]))
        at, n, donor = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(at, kind="stable")
        return at[order], n[order], donor[order]

    def mixed(self, features, row=None):
        """Return the probabilities of the classes, shape (n, n_classes)."""
        return np.einsum("m,mnc->nc", self._weights, self._parts(features, row))

    def _parts(self, features, row=None):
        """Return the probabilities of the classes by each part, shape (n_parts, n, n_classes)."""
        parts = np.zeros((3 if self._models else 1, len(features), len(self._members)))
        parts[0] = self._shares
        fold = self._fold if row is None else self._fold[row]
        for k, models in enumerate(self._models):
            at = np.flatnonzero(fold == k)
            if not len(at):
                continue
            rows = features.iloc[at]
            with threads_for(len(at)):
                for part, model in zip(parts[1:], models, strict=True):
                    part[np.ix_(at, model.classes_)] = model.predict_proba(rows)
        return parts


def in_folds(n_rows, frequency, random_state, cluster=None):
    """Deal people into folds at random, and divide rows of many accordingly.

    Clusters, numbers 0, 1, ... of rows of one person each, stay whole.

    Returns
    -------
    row : ndarray of int, shape (n,)
        The positions of the rows.
    people : ndarray of int64, shape (n,), or None
        How many of their people are in the fold; None if `frequency` is.
    fold : ndarray of int, shape (n,)
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
        for k, (_, at) in enumerate(splits):
            fold[at] = k
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
    at, weight = np.repeat(np.arange(len(times)), times), np.repeat(frequency / times, times)
    name = "sample_weight"
    name = f"{model.steps[-1][0]}__{name}" if isinstance(model, Pipeline) else name
    more = {} if (weight == 1).all() else {name: weight}
    return model.fit(X.iloc[at], y[at], **more)


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
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if numeric and values.nunique() > N_BINS:
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
    known = column.notna().to_numpy()
    values, which = np.unique(column.to_numpy()[known].astype(float), return_inverse=True)
    people = None if frequency is None else frequency[known]
    n = np.bincount(which, people)
    often = n >= RARE
    if often.sum() <= N_BINS or n.sum() < RARE * len(values):
        return False
    n = n[often]
    beside = n[:-2] + n[2:]
    most = len(n) - 2 + _CODES * np.sqrt(2 * (len(n) - 2))
    for k in range(classes.max(initial=0) + 1):
        inside = (classes[known] == k).astype(float)
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
    known = values.notna().to_numpy()
    numbers = values.to_numpy()[known]
    cuts = np.unique(quantiles(numbers, np.linspace(0, 1, N_BINS + 1)[1:-1], frequency[known]))
    return pd.Series(np.where(known, np.searchsorted(cuts, values), np.nan), values.index)


def _values_of(codes, members, frequency):
    """Return a row for each distinct value of some members, and its share of their people."""
    _, first, value = np.unique(codes[members], return_index=True, return_inverse=True)
    people = np.bincount(value, frequency[members])
    return members[first], people / people.sum()


def _mixture(likelihood, frequency=None):
    """Return the likeliest weights of a mixture, given likelihoods of shape (n_parts, n)."""
    weights = np.full(len(likelihood), 1 / len(likelihood))
    for _ in range(N_STEPS):
        joint, before = weights[:, None] * likelihood, weights
        weights = np.average(joint / joint.sum(axis=0), axis=1, weights=frequency)
        if np.abs(weights - before).max() < _SETTLED:
            break
    return weights
