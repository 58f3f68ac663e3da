"""Bootstrap samples of people, causal models and models that were trained here."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc._utils._frequency import numbered_within
from skdisc.causal._counterfactual_rows import resampled, take_rows

_MOST, _FEWEST = 10_000, 30  # people of a sample, and of each group in it


@dataclass(frozen=True)
class Resamples:
    """Replicates of the differences between people and their counterfactuals.

    Attributes
    ----------
    means : ndarray of float, shape (n_resamples, n_answers * n_groups)
        Mean differences.
    sizes : ndarray of float, shape (n_resamples, n_mine)
        Mean absolute differences of the answers of the first world.
    shifts : ndarray of float, shape (n_resamples, n_mine)
        Mean absolute changes of the differences of the same people: what causal models and models
        fitted to other samples make of them.
    """

    means: np.ndarray
    sizes: np.ndarray
    shifts: np.ndarray


def resample(c, groups, recipes):
    r"""Return the `Resamples`.

    Samples are drawn within combinations of protected values, or of whole clusters. Causal models
    and the model under audit are fitted again on each if they were fitted here. With more than
    10,000 people, a share r is drawn, and deviations from the estimate with all people are
    multiplied by :math:`\sqrt r`: the m out of n bootstrap (Bickel, Götze and van Zwet, 1997).

    `c`: WorldComparison. `groups`, of shape (n, n_groups): indicators. `recipes`: by world: the
    unfitted model of a world that was fitted here.
    """
    d, (draw, share) = c.detector, _resampler(c)
    gaps = np.column_stack([c.factual_outcome - a.outcome for a in c.answers])
    changed = np.column_stack([a.is_changed for a in c.answers]).astype(float)
    is_main = np.array([a.world == c.main for a in c.answers])
    refits = _RefittedGaps(c, recipes, share)
    shape = (d.n_resamples, gaps.shape[1] * groups.shape[1])
    means, (sizes, shifts) = np.full(shape, np.nan), np.full((2, shape[0], is_main.sum()), np.nan)
    for b in range(shape[0]):
        positions = draw()
        n_asked = len(positions) * refits.n_answers
        if n_asked and not c.task.budget.allow(1, n_asked):
            break
        g, m = refits.gaps(positions, gaps[positions], changed[positions])
        means[b] = _means(g, m, groups[positions])
        sizes[b] = np.abs(g[:, is_main]).mean(axis=0)
        shifts[b] = np.abs(g[:, is_main] - gaps[positions][:, is_main]).mean(axis=0)
        c.task.progress(f"{b + 1} of {shape[0]} bootstrap samples")
    if share < 1:
        r, size = np.sqrt(share), np.abs(gaps[:, is_main]).mean(axis=0)
        mean = _means(gaps, changed, groups)
        means, sizes = mean + r * (means - mean), size + r * (sizes - size)
        shifts *= r
    return Resamples(means, sizes, shifts)


def _means(gaps, changed, groups):
    """Return the mean difference of the people changed, by answer and group."""
    n = changed.T @ groups
    return ((gaps * changed).T @ groups / np.where(n > 0, n, np.nan)).ravel()


class _RefittedGaps:
    """The differences of a sample of people, with everything fitted again that was fitted here."""

    def __init__(self, c, recipes, share):
        self.c, self.recipes, self.share = c, recipes, share
        box = c.detector.model_
        self.training = None if box is None else box.training
        refitted_worlds = c.detector.sources_ if self.training is not None else recipes
        self.columns = {name: [a.world == name for a in c.answers] for name in refitted_worlds}
        self.n_answers = sum(map(sum, self.columns.values()))

    def gaps(self, positions, gaps, changed):
        """Return the differences of people by position, and whether their rows are changed."""
        c = self.c
        X, factual_outcome, queries = (
            c.X.iloc[positions].reset_index(drop=True),
            c.factual_outcome[positions],
            None,
        )
        if self.training is not None:
            queries = c.queries_of(self._trained(positions))
            factual_outcome = queries.ask(X)
        for name, columns in self.columns.items():
            source = c.detector.sources_[name]
            if name in self.recipes:
                source = resampled(self.recipes[name], source, X)
            else:
                source = take_rows(source, c.task.people.stay, c.order[positions])
            answers = c.answers_of(name, source, X, positions, queries)
            gaps[:, columns] = np.column_stack([factual_outcome - a.outcome for a in answers])
            changed[:, columns] = np.column_stack([a.is_changed for a in answers])
        return gaps, changed

    def _trained(self, positions):
        """Return the model trained on the same people, or on as large a share of others."""
        rows, people = self.training.rows, self.c.task.people.X
        if len(rows) != len(people) or not people.equals(rows.set_axis(people.index)):
            n = max(round(self.share * len(rows)), 1)
            return self.training.sampled(self.c.task.rng.integers(len(rows), size=n))
        return self.training.sampled(self.c.order[positions])


def _resampler(c):
    """Return a function that draws positions of rows, and the share of the rows that it draws.

    It draws within groups of equal protected values, or whole clusters.
    """
    if c.task.people.groups is not None:
        share = min(_MOST / len(c.order), 1.0)
        return _stats.cluster_resampler(c.task.people.groups[c.order], c.task.rng, share), share
    columns = list(dict.fromkeys([*c.detector.protected_, *(c.detector.do or {})]))
    strata = pd.util.hash_pandas_object(c.X[columns], index=False).to_numpy()
    group, sizes = np.unique(strata, return_inverse=True, return_counts=True)[1:]
    share = min(max(_MOST / len(strata), (np.minimum(sizes, _FEWEST) / sizes).max()), 1.0)
    if share == 1:
        return _stats.resampler(strata, c.task.rng), 1.0
    members = np.argsort(group, kind="stable")
    rank = numbered_within(sizes)
    places = np.sort(members[rank < np.ceil(share * sizes)[group[members]]])
    return _stats.resampler(strata, c.task.rng, places), len(places) / len(strata)
