"""Sample: uniform draws with the outcomes of all their variants, and the scores read off them."""

import numpy as np

from skdisc._hashing import KeyIndex
from skdisc.individual._search import Ledger


class Sample:
    """Uniform draws, the outcomes of all their variants, and the variant each draw carries."""

    def __init__(self, prober, task):
        self.prober, self.task = prober, task
        self.index, self.ledger = KeyIndex(), Ledger(prober)
        self.outcomes = np.empty((0, prober.n_combos))
        self.ids, self.carried = np.empty(0, np.int64), np.empty(0, np.int64)
        self.n_blocks = 0

    @property
    def n(self):
        """Number of draws, repeated inputs counted again."""
        return len(self.ids)

    def draw(self, n):
        """Draw `n` more inputs and ask about those never asked before; fewer if a budget ends."""
        task, prober = self.task, self.prober
        self.n_blocks += 1
        codes = task.space.sample(n, task.rng)
        carried = task.rng.integers(prober.n_combos, size=n)
        ids, first = self.index.add(task.space.key(codes, task.space.np_index))
        new = np.flatnonzero(first)
        allowed = task.budget.allow(len(new), prober.n_combos)
        if allowed < len(new):
            keep = slice(0, new[allowed])
            ids, carried, new = ids[keep], carried[keep], new[:allowed]
        outcomes = prober.outcomes(codes[new])
        hit = prober.is_case(outcomes)
        self.ledger.record(codes[new], outcomes, hit)
        self.outcomes = np.concatenate([self.outcomes, outcomes])
        self.ids = np.concatenate([self.ids, ids])
        self.carried = np.concatenate([self.carried, carried])
        task.budget.tests += len(new)
        task.budget.found += int(hit.sum())

    def outcomes_by_group(self, attributes):
        """Return the outcome of every draw under every assignment of some protected attributes.

        Parameters
        ----------
        attributes : tuple of int
            Positions among the protected attributes; the others stay as drawn.

        Returns
        -------
        ndarray of float, shape (n, n_groups)
            Groups in the order of their grid.
        """
        shape = self.prober.shape
        others = [j for j in range(len(shape)) if j not in attributes]
        combo = np.arange(self.prober.n_combos).reshape(shape)
        combo = combo.transpose(*others, *attributes)
        combo = combo.reshape(-1, int(np.prod([shape[a] for a in attributes])))
        row_of = np.empty(self.prober.n_combos, dtype=np.intp)
        row_of[combo] = np.arange(len(combo))[:, None]
        by_group = np.ascontiguousarray(combo.T)[:, row_of[self.carried]]
        return self.outcomes[self.ids, by_group].T  # much faster to reduce over few groups

    def groups(self, attributes):
        """Return the assignments of some protected attributes as text, in the same order."""
        space = self.task.space
        columns = [space.columns[space.p_index[a]] for a in attributes]
        grid = np.indices([len(c.probes) for c in columns]).reshape(len(columns), -1).T
        texts = [[f"{c.name}={c.text(code)}" for code in c.probes] for c in columns]
        return [", ".join(t[i] for t, i in zip(texts, row, strict=True)) for row in grid]


def group_score(outcomes, level):
    r"""Return max minus min of the groups' mean outcomes, with its interval.

    With :math:`c_{ig}` the outcome of draw i in group g minus the mean outcome of draw i over the
    groups, a number of range :math:`R = 2 - 2 / G`, every mean :math:`E c_g` lies within
    :math:`\sqrt{2 v_g \ln(3 G / \alpha) / n} + 3 R \ln(3 G / \alpha) / n` of what was seen, for all
    G groups at once with probability :math:`1 - \alpha` (Audibert, Munos and Szepesvári 2009,
    :doi:`10.1016/j.tcs.2009.01.016`). The interval follows from the ends of theirs, and covers
    whatever the number of groups and however equal they are.

    Parameters
    ----------
    outcomes : ndarray of float, shape (n, n_groups)
    level : float

    Returns
    -------
    score, low, high : float
    """
    n, n_groups = outcomes.shape
    centred = outcomes - outcomes.mean(axis=1, keepdims=True)
    mean, log = centred.mean(axis=0), np.log(3 * n_groups / level)
    half = np.sqrt(2 * centred.var(axis=0) * log / n) + 6 * (1 - 1 / n_groups) * log / n
    low = (mean - half).max() - (mean + half).min()
    high = (mean + half).max() - (mean - half).min()
    return float(np.ptp(mean)), float(max(low, 0.0)), float(min(high, 1.0))
