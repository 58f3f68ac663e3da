"""What items contribute to divergences: Shapley values, global divergence, corrective items."""

from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd

from skdisc._space._codes import EVERYONE, PAD
from skdisc.subgroup._estimation._discovery import Effects

_CORRECTIVE_T = 2


def shapley_values(patterns, effect, row):
    r"""Return the contribution of each item of a pattern to its divergence, and all divergences.

    :math:`\varphi(a) = \sum_{J \subseteq I \setminus a} \frac{|J|! (|I|-|J|-1)!}{|I|!}
    (D(J \cup a) - D(J))`; they add up to D(I). All subsets must be among the patterns.

    Returns `values`: in the order of the pattern's items; `divergence`: maps a tuple of positions
    among the pattern's items to the divergence of their conjunction.
    """
    items = patterns.items[row][patterns.items[row] != PAD]
    n = len(items)
    subsets = [s for size in range(n + 1) for s in combinations(range(n), size)]
    conjunctions = np.full((len(subsets), n), PAD)
    for conjunction, s in zip(conjunctions, subsets, strict=True):
        conjunction[: len(s)] = items[list(s)]
    divergence = np.append(effect, 0.0)[patterns.find(conjunctions)[0]]  # EVERYONE finds the last
    value = dict(zip(subsets, divergence, strict=True))
    values = np.zeros(n)
    for s in subsets:
        weight = factorial(len(s)) * factorial(n - len(s) - 1) / factorial(n) if len(s) < n else 0
        for a in set(range(n)) - set(s):
            values[a] += weight * (value[tuple(sorted((*s, a)))] - value[s])
    return values, value


def global_divergence(patterns, effect, feature):
    r"""Return how much each item raises the rate over all frequent patterns.

    :math:`g(a) = \sum_J \frac{|J|! (|A|-|J|-1)!}{|A|! \prod_b m_b} (D(J \cup a) - D(J))`, with A
    the features that have a frequent item, and m_b the number of frequent items of each feature b
    of J and a. Steps from or to a pattern whose rate is undefined are left out.
    """
    child, parent, item = patterns.parents()
    single = patterns.items[patterns.length == 1, 0]
    n_items = np.bincount(feature[single], minlength=int(feature.max(initial=0)) + 1)
    total = int(np.count_nonzero(n_items))
    choices = np.append(np.maximum(n_items, 1), 1)
    padded = np.where(patterns.items != PAD, feature[patterns.items], len(n_items))
    ways = choices[padded].prod(axis=1, dtype=float)
    by_length = np.array([factorial(n) * factorial(total - n - 1) for n in range(total)])
    by_length = by_length.astype(float) / factorial(total)
    step = effect[child] - np.append(effect, 0.0)[parent]
    step *= by_length[patterns.length[child] - 1] / ways[child]
    return np.bincount(item, weights=np.nan_to_num(step), minlength=len(feature))


def corrective_items(patterns, effect, mean, variance, k):
    r"""Return the k items that bring the rate of a group closest to the overall rate.

    An item a is corrective for a group S if :math:`|D(S \cup a)| < |D(S)|`, by the factor
    :math:`|D(S)| - |D(S \cup a)|`; items whose change has a posterior t of at most 2 are left out.

    Returns `group` and `item`: positions of the patterns, and numbers of the items.
    """
    child, parent, item = patterns.parents()
    child, parent, item = (a[parent != EVERYONE] for a in (child, parent, item))
    factor = np.abs(effect[parent]) - np.abs(effect[child])
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(mean[child] - mean[parent]) / np.sqrt(variance[child] + variance[parent])
    good = np.flatnonzero((factor > 0) & (t > _CORRECTIVE_T))
    best = good[np.lexsort((child[good], -np.round(factor[good], 12)))][:k]
    return parent[best], item[best], factor[best], t[best]


def explained(detector, rows, items, patterns, chosen):
    """Return the tables "shapley", "lattice", "global_divergence" and "corrective".

    In "lattice", ``subset`` has a bit for each item of the finding, in the order of "shapley".

    `patterns`: all frequent patterns of the rows. `chosen`: measure and pattern of each finding, by
    position.
    """
    effects, names = Effects.of(rows, patterns), rows.names
    effect, posterior = effects.effect, effects.posterior()
    text = [str(p) for p in items.predicates]
    shapley, lattice, overall, corrective = [], [], [], []
    for rank, (j, row) in enumerate(chosen, 1):
        numbers = patterns.items[row][patterns.items[row] != PAD]
        values, subsets = shapley_values(patterns, effect[j], row)
        shapley += [(rank, names[j], text[i], v) for i, v in zip(numbers, values, strict=True)]
        lattice += [
            (rank, names[j], sum(1 << a for a in s), " and ".join(text[numbers[a]] for a in s), d)
            for s, d in subsets.items()
        ]
    for j, name in enumerate(names):
        values = global_divergence(patterns, effect[j], items.feature)
        for row in np.flatnonzero(patterns.length == 1):
            i = patterns.items[row, 0]
            overall.append((name, text[i], values[i], effect[j, row]))
        mean, variance = (a[j] for a in posterior)
        corrections = corrective_items(patterns, effect[j], mean, variance, detector.k)
        for row, i, factor, t in zip(*corrections, strict=True):
            group = items.name_of(patterns.items[row].tolist())
            corrective.append((name, group, text[i], effect[j, row], factor, t))
    return {
        "shapley": pd.DataFrame(shapley, columns=["rank", "measure", "item", "contribution"]),
        "lattice": pd.DataFrame(
            lattice, columns=["rank", "measure", "subset", "group", "divergence"]
        ),
        "global_divergence": pd.DataFrame(
            overall, columns=["measure", "item", "global_divergence", "divergence"]
        ),
        "corrective": pd.DataFrame(
            corrective, columns=["measure", "group", "item", "divergence", "factor", "t"]
        ),
    }
