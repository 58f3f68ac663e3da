"""KnownTruth: what is true of one draw of the generator, for each null hypothesis."""

from collections import Counter
from functools import cached_property
from itertools import combinations, product

import numpy as np
import pandas as pd

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.benchmark._match import Members, targets_of
from skdisc.datasets._synthetic._outcome_law import PROXY

RELEVANT_GAP = 0.05
_N_PEOPLE = 50_000
_MOST_COLUMNS, _MIN_SHARE = 2, 0.01
_N_DRAWS = 10
_ERRORS = 3  # standard errors of simulation within which a difference counts as none


class KnownTruth:
    """What is true of one draw of the generator, for the audited decisions or model.

    Parameters
    ----------
    made : Bunch of make_discrimination
    model : fitted estimator, default=None
        The audited model; None if the decisions are audited.
    random_state : int, default=0
        For the people on whom groups are compared.

    Attributes
    ----------
    targets : list of Target
        The planted subgroups with a bias.
    people : Members
        New people on whom members of subgroups are compared.
    """

    def __init__(self, made, model=None, random_state=0):
        self.made, self.model, self._seed = made, model, random_state
        self.targets = targets_of(made.truth, made.protected)
        rng = np.random.default_rng(random_state)
        self.people = Members(population(made.truth, rng))

    @cached_property
    def differences(self):
        """The true differences between groups, `Differences`."""
        kinds = {a.name: a.kind for a in self.made.schema.attributes}
        columns = [c for c in self.made.protected if kinds[c] != "numeric"]
        return Differences(self._audited, self._expected(self._audited), columns)

    @cached_property
    def errors(self):
        """True differences in the outcome less the model's probability, without a family."""
        predicted = self.model.predict_proba(self._audited)[:, list(self.model.classes_).index(1)]
        law = self.made.truth.law.expected(self._audited)
        return Differences(self._audited, law - predicted, ())

    def at_equal_columns(self, groups, others):
        """Return by how much members of groups fare better than with protected values of others.

        Parameters
        ----------
        groups, others : list of Subgroup
            Values of protected columns.

        Returns
        -------
        ndarray of shape (n_groups,)
            Mean differences, other columns held; 0 within three standard errors of the simulation.
        """
        rng, X, columns = np.random.default_rng([self._seed, 2]), self._audited, self.made.protected
        gaps = np.zeros(len(groups))
        for i, pair in enumerate(zip(groups, others, strict=True)):
            members, donors = (X[g.mask(X)] for g in pair)
            if len(members) and len(donors):
                would_be = members.copy()
                drawn = donors.iloc[rng.integers(len(donors), size=len(members))]
                would_be[list(columns)] = drawn[list(columns)].set_axis(members.index)
                gap = self._expected(members) - self._expected(would_be)
                is_none = abs(gap.mean()) <= _ERRORS * gap.std() / np.sqrt(len(gap))
                gaps[i] = 0.0 if is_none else gap.mean()
        return gaps

    def _expected(self, X):
        if self.model is None:
            return self.made.truth.law.expected(X)
        return (np.asarray(self.model.predict(X)) == 1).astype(float)

    @cached_property
    def _audited(self):
        return as_audited(self.made, np.random.default_rng([self._seed, 1]))

    def due_to_protected(self, cases, null):
        """Return by how much the outcomes of people depend on their protected values.

        Parameters
        ----------
        cases : CaseFindings
        null : str
            "counterfactual" lets the columns that protected columns cause change with them, where
            the truth has a causal model or a proxy; otherwise all other columns are held.

        Returns
        -------
        ndarray of shape (n_cases,)
            Expected outcome of each person under the true law, minus that of the same person with
            the protected values of the counterpart (the mean over draws of a causal model).
        """
        truth, before = self.made.truth, cases.original.reset_index(drop=True)
        counterparts = self._with_values_of(before, cases.altered.reset_index(drop=True), null)
        would_be = truth.law.expected(counterparts).reshape(-1, len(before)).mean(axis=0)
        return truth.law.expected(before) - would_be

    def _with_values_of(self, before, after, null):
        """Return people with the protected values of others, one block per draw."""
        truth, protected = self.made.truth, self.made.protected
        if null == "counterfactual" and truth.scm is not None:
            do = {c: after[c].to_numpy() for c in protected}
            return truth.scm.counterfactual(before, do, n_draws=_N_DRAWS)
        counterparts = before.copy()
        counterparts[list(protected)] = after[list(protected)]
        if null == "counterfactual" and PROXY in counterparts:
            bias, changed = (truth.law.person(X)[0] for X in (before, counterparts))
            counterparts[PROXY] += (1 - truth.law.direct) * (changed - bias)
        return counterparts

    def touched(self, cases, right):
        """Return a mask of the targets to which a person of some cases belongs, on either side."""
        rows = [f[right] for f in (cases.original, cases.altered)]
        inside = [any(t.subgroup.mask(X).any() for X in rows) for t in self.targets]
        return np.array(inside, dtype=bool)


class Differences:
    """True differences of the expected outcome between groups of the protected columns.

    Parameters
    ----------
    X : DataFrame
        Many people, from the population of the audited data.
    outcome : ndarray of shape (n_rows,)
        Their expected outcomes.
    columns : sequence of column names
        Protected columns with categories.

    Attributes
    ----------
    family : list of Subgroup
        The groups that share values of one or two of these columns, and have 1 % of the people.
    gaps : ndarray of shape (n_groups,)
        Expected outcome of each group minus that of everyone else; 0 within three standard errors
        of the simulation.
    """

    def __init__(self, X, outcome, columns):
        self._X, self._outcome = X, outcome
        self.family = [g for g in _family(X, columns) if g.mask(X).mean() >= _MIN_SHARE]
        self.gaps = self.between(self.family)
        keys = [self._key(g) for g in self.family]
        self._count = Counter(keys)
        self.relevant = {k for k, g in zip(keys, self.gaps, strict=True) if abs(g) >= RELEVANT_GAP}

    def between(self, groups, others=None, contexts=None):
        """Return the true differences between groups and all others, of a context if given.

        With `others`, groups are compared with these groups instead.
        """
        gaps = np.zeros(len(groups))
        for i, group in enumerate(groups):
            inside = group.mask(self._X)
            outside = ~inside if others is None else others[i].mask(self._X)
            if contexts is not None:
                outside = outside & contexts[i].mask(self._X)
            if inside.any() and outside.any():
                a, b = self._outcome[inside], self._outcome[outside]
                error = np.sqrt(a.var() / len(a) + b.var() / len(b))
                gap = a.mean() - b.mean()
                gaps[i] = gap if abs(gap) > _ERRORS * error else 0.0
        return gaps

    def found(self, groups):
        """Return the number of relevant differences that groups name, each group or its rest."""
        return len(self.relevant & {self._key(g) for g in groups})

    def guess(self, n):
        """Return expected precision and recall of n random groups of the family with random signs.

        Returns
        -------
        precision, recall : float
        """
        precision = float(np.mean(self.gaps != 0)) / 2 if self.family else np.nan
        missed = [(1 - self._count[k] / (2 * len(self.family))) ** n for k in self.relevant]
        return precision, float(1 - np.mean(missed)) if missed else np.nan

    def _key(self, group):
        """Return a key that is the same for groups with the same, or the complementary, members."""
        inside = group.mask(self._X)
        return np.packbits(inside ^ inside[0]).tobytes()


def _family(X, columns):
    """Return the groups that share values of one or two columns."""
    values = {c: X[c].dropna().unique() for c in columns}
    groups = []
    for n in range(1, _MOST_COLUMNS + 1):
        for names in combinations(values, n):
            for several in product(*(values[c] for c in names)):
                pairs = zip(names, several, strict=True)
                groups.append(Subgroup([Predicate.equals(c, plain(v)) for c, v in pairs]))
    return groups


def as_audited(made, rng):
    """Draw people from the population of the audited data, with its shares of planted subgroups."""
    truth = made.truth
    sizes = truth.groups[["n_a", "n_b"]].to_numpy(dtype=int).ravel()
    copies = -(-_N_PEOPLE // len(made.data))
    planted = zip(sizes, truth.subgroups, strict=True)
    parts = [truth.sample(copies * n, g, random_state=rng) for n, g in planted if n]
    missing = copies * (len(made.data) - int(sizes.sum()))
    while missing:
        drawn = truth.sample(int(1.2 * missing) + 100, random_state=rng)
        inside = np.zeros(len(drawn), dtype=bool)
        for group in truth.subgroups:
            inside |= group.mask(drawn)
        parts.append(drawn[~inside][:missing])
        missing -= len(parts[-1])
    return pd.concat(parts, ignore_index=True)


def population(truth, rng):
    """Draw people to compare members of subgroups: from each planted subgroup, and overall."""
    parts = [truth.sample(200, g, random_state=rng) for g in truth.subgroups]
    return pd.concat([*parts, truth.sample(2000, random_state=rng)], ignore_index=True)
