"""Uncertainty of the patterns of a naive Bayes model that is learned from data."""

import numpy as np
import pandas as pd
from scipy.special import expit, ndtr, ndtri, rel_entr, stdtrit

from skdisc._space._codes import PAD
from skdisc._stats._effective_tally import kish_size
from skdisc.subgroup._estimation._clusters import TAIL

COLUMNS = ["effect", "ci_low", "ci_high", "p_value", "test", "discrimination_score"]
COLUMNS += ["p_unfavorable_sensitive", "p_unfavorable_others", "divergence"]
MEASURED = [c for c in COLUMNS if c != "test"]
WALD = "Wald test that x leaves the log-odds as they are"
_UNKNOWN = 1e12  # variance of the weight of an item without rows


def covariance(nb, masks, item_numbers, favored, weight, squares):
    """Return the covariance of the weights of some items, dependence between items included.

    The weight ln p1 - ln p0 of an item is a difference of logarithms of shares in two independent
    samples, so the delta method gives it from the covariances of the items in each class. A
    variance is at least the binomial one of the smoothed probability, and at least the variance
    with which the item alone is as significant as its likelihood ratio, because logarithms of
    small counts are far from normal.

    `nb`: NaiveBayes. `item_numbers`: numbers of these items in the model. `weight` and `squares`:
    sums of the weights of the people of each row, and of the squares of these weights. Shapes:
    `masks` (n_items, n_rows).
    """
    out = np.zeros((len(item_numbers), len(item_numbers)))
    for c, inside in enumerate((~favored, favored)):
        rows, w, s = masks[:, inside], weight[inside], squares[inside]
        share, square, people_per_weight = rows @ w / w.sum(), rows @ s, w.sum() / s.sum()
        crossed = np.outer(share, square)
        class_covariance = (rows * s) @ rows.T - crossed - crossed.T
        class_covariance = (class_covariance + np.outer(share, share) * s.sum()) / w.sum() ** 2
        p = np.exp(nb.log_p[c, item_numbers])
        np.fill_diagonal(
            class_covariance,
            np.maximum(
                np.diag(class_covariance),
                p * (1 - p) / (nb.trials[c, item_numbers] * people_per_weight),
            ),
        )
        out += class_covariance / np.outer(p, p)
    unlikely = _deviance(masks, favored, weight, squares)
    least = nb.weights[item_numbers] ** 2 / np.maximum(unlikely, 1.0)
    least = np.where(unlikely < 1, 0.0, least)  # insignificant anyway
    least[~masks.any(axis=1)] = _UNKNOWN
    wider = np.sqrt(np.maximum(least / np.diag(out), 1.0))
    return out * np.outer(wider, wider)


def _deviance(masks, favored, weight, squares):
    """Return twice the loss of each item's log-likelihood with one share for both classes."""
    n = _effective(favored, weight, squares)
    has = np.array([masks[:, f] @ weight[f] / weight[f].sum() for f in (~favored, favored)])
    same = n @ has / n.sum()
    return 2 * n @ (rel_entr(has, same) + rel_entr(1 - has, 1 - same))


def between_clusters(nb, masks, item_numbers, favored, weight, cluster):
    """Return the variances of the weights of some items, and their correlations, by clusters.

    They are variances of sums, over clusters, of each person's influence on ln p1 - ln p0.
    Standard errors grow by t over z, with the degrees of freedom of the clusters that hold people
    with the item, or without it if they are fewer.

    `nb`, `masks`, `item_numbers`, `favored` and `weight`: as in `covariance`. `cluster`: number of
    the cluster of each row, from 0. The variance is `_UNKNOWN` where one side has fewer than two
    clusters; correlations have the shape (n_items, n_items).
    """
    n = cluster.max() + 1
    person_influence, class_of = _influence_on_log_odds(favored, weight), favored.astype(np.int64)
    influence, least = np.empty((len(item_numbers), n)), np.empty(len(item_numbers))
    for i, has in enumerate(masks):
        share = [has[c] @ weight[c] / weight[c].sum() for c in (~favored, favored)]
        deviation = (has - np.array(share)[class_of]) / np.exp(nb.log_p[class_of, item_numbers[i]])
        influence[i] = np.bincount(cluster, person_influence * deviation, n)
        least[i] = min(_n_clusters(cluster[has == side]) for side in (True, False))
    cross_products = influence @ influence.T * n / max(n - 1, 1)
    spread = np.sqrt(np.where(np.diag(cross_products) > 0, np.diag(cross_products), 1.0))
    correlation = cross_products / np.outer(spread, spread)
    np.fill_diagonal(correlation, 1.0)
    wider = (stdtrit(np.maximum(least - 1, 1), TAIL) / ndtri(TAIL)) ** 2
    return np.where(least < 2, _UNKNOWN, np.diag(cross_products) * wider), correlation


def _influence_on_log_odds(favored, weight):
    """Return the influence of each person on the log-odds of a favorable decision."""
    sums = weight[~favored].sum(), weight[favored].sum()
    return np.where(favored, weight / sums[1], -weight / sums[0])


def _n_clusters(cluster):
    """Return the effective number of clusters of some rows (Kish)."""
    sizes = np.unique(cluster, return_counts=True)[1]
    return kish_size(sizes) if len(sizes) else 0.0


class Uncertainty:
    """Standard errors, tests and intervals of the patterns of a model learned from rows.

    Parameters
    ----------
    items : Items
        With the codes of the rows that the model was learned from.
    patterns : sequence of ndarray of int
        Arrays of items, padded by PAD.
    weight, squares, cluster : ndarray of shape (n_rows,), optional
        Weights and cluster of the people of each row, as in `RowDecisions`.
    """

    def __init__(self, nb, items, favored, *patterns, weight=None, squares=None, cluster=None):
        self.nb = nb
        self.item_numbers = np.unique(np.concatenate([p.ravel() for p in patterns]))
        self.item_numbers = self.item_numbers[self.item_numbers != PAD]
        weight = np.ones(len(favored)) if weight is None else weight
        squares = weight**2 if squares is None else squares
        masks = items.masks(self.item_numbers)
        self.covariance = covariance(nb, masks, self.item_numbers, favored, weight, squares)
        self.variance_of_prior = (1 / _effective(favored, weight, squares)).sum()
        if cluster is not None:
            self._widen(masks, favored, weight, np.unique(cluster, return_inverse=True)[1])

    def _widen(self, masks, favored, weight, cluster):
        """Take variances between clusters, where they are larger."""
        variance, correlation = between_clusters(
            self.nb, masks, self.item_numbers, favored=favored, weight=weight, cluster=cluster
        )
        spread = np.sqrt(np.maximum(np.diag(self.covariance), variance))
        self.covariance = correlation * np.outer(spread, spread)
        prior = np.bincount(cluster, _influence_on_log_odds(favored, weight))
        self.variance_of_prior = max(self.variance_of_prior, (prior**2).sum())

    def _marks(self, items):
        """Return indicators of the items of each row, a float array of shape (n, n_items)."""
        place = np.full(len(self.nb.feature) + 1, len(self.item_numbers))
        place[self.item_numbers] = np.arange(len(self.item_numbers))
        marks = np.zeros((len(items), len(self.item_numbers) + 1))
        np.put_along_axis(marks, place[items], 1.0, axis=1)
        return marks[:, :-1]

    def spread(self, x):
        """Return the standard errors of the log-odds that x adds."""
        marks = self._marks(x)
        return np.sqrt(np.maximum(np.einsum("ni,ij,nj->n", marks, self.covariance, marks), 0))

    def strength(self, x):
        """Return the log-odds that x adds over their standard error, without sign."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.abs(self.nb.added(x)) / self.spread(x)

    def p_value(self, x):
        """Test (two-sided) that x adds no log-odds, so that no pair (x, y) discriminates."""
        return 2 * ndtr(-self.strength(x))

    def interval(self, x, y, significance):
        """Return the ends of the interval of the degree of discrimination.

        The interval of the log-odds that x adds is transformed to delta, and widened in quadrature
        by the uncertainty of the context. Delta has the sign of these log-odds: if one interval
        excludes 0, so does the other.
        """
        nb, z = self.nb, -ndtri(significance / 2)
        base, added, spread = nb.log_odds + nb.added(y), nb.added(x), self.spread(x)
        slope_x, slope_y = _slope(base + added), _slope(base)
        gradient = slope_x[:, None] * self._marks(x)
        gradient += (slope_x - slope_y)[:, None] * self._marks(y)
        variance = np.einsum("ni,ij,nj->n", gradient, self.covariance, gradient)
        variance += (slope_x - slope_y) ** 2 * self.variance_of_prior
        rest = z**2 * np.maximum(variance - (slope_x * spread) ** 2, 0)
        delta = expit(base + added) - expit(base)
        ends = []
        for sign in (-1, 1):
            moved = added + sign * z * spread
            end = expit(base + moved) - expit(base)
            away = delta + sign * np.sqrt((end - delta) ** 2 + rest)
            same_side = np.sign(moved) == np.sign(added)
            ends.append(np.where(same_side & (np.sign(away) != np.sign(added)), 0.0, away))
        return np.clip(ends[0], -1, 1), np.clip(ends[1], -1, 1)

    def table(self, x, y, significance, delta):
        """Return the statistics of patterns, a DataFrame with one row each."""
        nb = self.nb
        low, high = self.interval(x, y, significance)
        base = nb.log_odds + nb.added(y)
        effect = nb.delta(x, y)
        return pd.DataFrame(
            {
                "effect": effect,
                "ci_low": low,
                "ci_high": high,
                "p_value": self.p_value(x),
                "test": np.full(len(x), WALD, dtype=object),
                "discrimination_score": -effect,
                "p_unfavorable_sensitive": expit(-base - nb.added(x)),
                "p_unfavorable_others": expit(-base),
                "divergence": nb.divergence(x, y, delta),
            }
        )


def pattern_table(nb, items, decisions, x, y, significance, delta):
    """Return the statistics of patterns, and the mean decisions of their members.

    `nb`: None: the numbers of the model are NaN. `decisions`: RowDecisions.
    """
    if nb is None or not len(x):
        table = pd.DataFrame(np.full((len(x), len(COLUMNS)), np.nan), columns=COLUMNS)
        table["test"] = np.full(len(x), WALD, dtype=object)
    else:
        uncertainty = Uncertainty(nb, items, decisions.favored, x, y, **decisions.sizes)
        table = uncertainty.table(x, y, significance, delta)
    for suffix, groups in (("", np.hstack([x, y])), ("_base", y)):
        denied, allowed, _, _, n = decisions.sums(
            items.masks(g[g != PAD]).all(axis=0) for g in groups
        ).T
        with np.errstate(divide="ignore", invalid="ignore"):
            table[f"outcome{suffix}"] = allowed / (denied + allowed)
        table[f"support{suffix}"] = n.astype(np.int64)
    table["measure"] = np.array([f"discrimination by {items.subgroup(g)}" for g in x], dtype=object)
    return table


def _effective(favored, weight, squares):
    """Return the effective number of people of each class."""
    return np.array([weight[f].sum() ** 2 / squares[f].sum() for f in (~favored, favored)])


def _slope(log_odds):
    return expit(log_odds) * expit(-log_odds)
