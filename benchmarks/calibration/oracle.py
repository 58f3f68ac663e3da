"""The baseline of rankings: every group of up to two conditions, tested within its context."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
from scipy.stats import norm

NAME = "baseline"


def search(X, y, protected, level=0.05, least=25):
    """Test the protected part of every group against the rest of its context.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
        Columns of text.
    y : ndarray of shape (n_rows,)
        0/1 outcomes.
    protected : list of str
    level : float
        False discovery rate (Benjamini, Hochberg).
    least : int
        Fewest rows on either side.

    Returns
    -------
    SimpleNamespace
        ``verdict``, ``n_found`` and ``groups``: the conditions of the significant groups by
        column, the largest \\|z\\| first.
    """
    single = [{c: v} for c in X for v in sorted(X[c].unique())]
    pairs = [a | b for a, b in combinations(single, 2) if a.keys() != b.keys()]
    tested, seen = [], set()
    for group in single + pairs:
        part = {c: v for c, v in group.items() if c in protected}
        if not part:
            continue
        context = _mask(X, {c: v for c, v in group.items() if c not in protected})
        inside = _mask(X, part) & context
        rest = context & ~inside
        contrast = frozenset((inside.tobytes(), rest.tobytes()))
        if contrast in seen or min(inside.sum(), rest.sum()) < least:
            continue
        seen.add(contrast)
        a, b, p = y[inside].mean(), y[rest].mean(), y[context].mean()
        error = np.sqrt(p * (1 - p) * (1 / inside.sum() + 1 / rest.sum()))
        tested.append((abs(a - b) / error if error else 0.0, group))
    tested.sort(key=lambda pair: -pair[0])
    p = 2 * norm.sf([z for z, _ in tested])
    passed = np.nonzero(p <= level * np.arange(1, len(p) + 1) / len(p))[0]
    n = passed[-1] + 1 if len(passed) else 0
    verdict = "disparity found" if n else "insufficient evidence"
    groups = [group for _, group in tested[:n]]
    return SimpleNamespace(
        verdict=verdict, reason="", null="contextual", n_found=n, groups=groups, notes=[]
    )


def _mask(X, conditions):
    """Return the rows that satisfy all conditions."""
    mask = np.ones(len(X), dtype=bool)
    for column, value in conditions.items():
        mask &= (X[column] == value).to_numpy()
    return mask
