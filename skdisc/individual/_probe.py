"""Prober: how a model decides about inputs under every combination of protected values."""

import numpy as np
import pandas as pd

from skdisc._findings import CaseFindings
from skdisc._hashing import KeyIndex, multipliers

ROWS_AT_ONCE = 65_536


class Prober:
    """Asks all protected combinations of many inputs in one question to the model.

    An input is the non-protected part of a row. It is discriminatory when the outcomes of two of
    its variants differ by more than `min_gap`; that does not depend on the protected values that
    the row itself carries.

    Parameters
    ----------
    task : Task
    min_gap : float
        Difference of outcomes that must be exceeded.
    """

    def __init__(self, task, min_gap):
        self.task, self.space, self.queries = task, task.space, task.queries
        self.min_gap = min_gap
        self.combos = self.space.combos()
        self.n_combos = len(self.combos)
        self.n_changed = (self.combos[:, None, :] != self.combos[None, :, :]).sum(axis=2)
        self.tests_at_once = max(1, ROWS_AT_ONCE // self.n_combos)

    def outcomes(self, codes):
        """Return the outcome of every variant of every input, shape (n_inputs, n_combos).

        Inputs must not have been asked before.
        """
        parts = []
        for start in range(0, len(codes), self.tests_at_once):
            part = codes[start : start + self.tests_at_once]
            parts.append(self.queries.ask(self.space.variants(part, self.combos)))
        return np.concatenate(parts or [np.empty(0)]).reshape(-1, self.n_combos)

    def is_case(self, outcomes):
        """Say which inputs are discriminatory, given `outcomes`."""
        return outcomes.max(axis=1) - outcomes.min(axis=1) > self.min_gap

    def couples(self, outcomes):
        """Choose one couple per discriminatory input: unfavourable variant, favourable variant.

        Among decisions the couple with the fewest changed columns, the first in order; among
        probabilities the couple with the largest gap.

        Returns
        -------
        low, high : ndarray of int, shape (n_inputs,)
            Positions in `combos`.
        """
        if self.queries.output == "probability" or not len(outcomes):
            return outcomes.argmin(axis=1), outcomes.argmax(axis=1)
        favourable = outcomes > 0.5
        with np.errstate(over="ignore"):
            patterns = favourable.astype(np.uint64) @ multipliers(self.n_combos)
        which, first = KeyIndex().add(patterns)
        low, high = np.array([self._closest(f) for f in favourable[first]]).T
        return low[which], high[which]

    def _closest(self, favourable):
        """Return the closest (unfavourable, favourable) couple of one pattern of decisions."""
        no, yes = np.flatnonzero(~favourable), np.flatnonzero(favourable)
        at = int(np.argmin(self.n_changed[np.ix_(no, yes)]))
        return no[at // len(yes)], yes[at % len(yes)]

    def cases(self, codes, low, high, outcome, altered_outcome):
        """Return the findings of discriminatory inputs: unfavourable variant against favourable."""
        frames = []
        for which in (low, high):
            rows = codes.copy()
            rows[:, self.space.p_index] = self.combos[which]
            frames.append(self.space.decode(rows))
        return CaseFindings(*frames, outcome, altered_outcome, space=self.space)

    def rows(self, X):
        """Ask about the rows of X as they are, and with every combination of protected values.

        Rows keep the values that they have, whether the space knows them or not.

        Returns
        -------
        own : ndarray of float, shape (n_rows,)
        outcomes : ndarray of float, shape (n_rows, n_combos)
        """
        own, outcomes = [], []
        for start in range(0, len(X), self.tests_at_once):
            part = X.iloc[start : start + self.tests_at_once]
            own.append(self.queries.decide(part))
            answers = self.queries.decide(pd.concat([self._variant(part, c) for c in self.combos]))
            outcomes.append(answers.reshape(self.n_combos, len(part)).T)
        return np.concatenate(own), np.concatenate(outcomes)

    def _variant(self, X, combo):
        new = {}
        for j, code in zip(self.space.p_index, combo, strict=True):
            column = self.space.columns[j]
            new[column.name] = pd.Series(
                column.decode(np.full(len(X), code)), index=X.index
            ).astype(X[column.name].dtype)
        return X.assign(**new) if all(isinstance(n, str) for n in new) else _assign(X, new)

    def row_cases(self, X, own, outcomes):
        """Return the cases among rows: each row against the closest variant decided otherwise.

        Returns
        -------
        at : ndarray of int
            Positions of the rows that have a case.
        findings : CaseFindings
        """
        gap = np.abs(outcomes - own[:, None])
        at = np.flatnonzero(gap.max(axis=1, initial=0.0) > self.min_gap)
        rows = X.iloc[at]
        codes = (
            self.space.encode(rows)[:, self.space.p_index]
            if len(at)
            else np.empty((0, len(self.space.p_index)))
        )
        changed = (codes[:, None, :] != self.combos[None, :, :]).sum(axis=2).astype(float)
        if self.queries.output == "probability":
            changed = -gap[at]
        changed[gap[at] <= self.min_gap] = np.inf
        chosen = changed.argmin(axis=1)
        altered = _assign(rows, {})
        for c in np.unique(chosen):
            picked = np.flatnonzero(chosen == c)
            altered.iloc[picked] = self._variant(rows.iloc[picked], self.combos[c])
        findings = CaseFindings(
            rows, altered, own[at], outcomes[at, chosen], space=self.space, row=at
        )
        return at, findings


def _assign(X, new):
    X = X.copy()
    for name, values in new.items():
        X[name] = values
    return X
