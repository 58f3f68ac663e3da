"""Bootstrap samples of people, causal models and models that were trained here."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from skdisc import _stats
from skdisc.causal._counterfactual_rows import resampled, take_rows


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
    """Return the `Resamples`.

    Each sample has as many people of each combination of protected values. Causal models and the
    model under audit are fitted again on it if they were fitted here.

    Parameters
    ----------
    c : WorldComparison
    groups : ndarray of float, shape (n, n_groups)
        Indicators.
    recipes : dict of StructuralCausalModel
        By world: the unfitted model of a world that was fitted here.
    """
    d, draw = c.detector, _resampler(c)
    gaps = np.column_stack([c.own - a.outcome for a in c.answers])
    changed = np.column_stack([a.is_changed for a in c.answers]).astype(float)
    mine = np.array([a.world == c.main for a in c.answers])
    again = _Again(c, recipes)
    shape = (d.n_resamples, gaps.shape[1] * groups.shape[1])
    means, (sizes, shifts) = np.full(shape, np.nan), np.full((2, shape[0], mine.sum()), np.nan)
    for b in range(shape[0]):
        at = draw()
        if again.n_asked and not c.task.budget.allow(1, again.n_asked):
            break
        g, m = again.gaps(at, gaps[at], changed[at])
        n = m.T @ groups[at]
        means[b] = ((g * m).T @ groups[at] / np.where(n > 0, n, np.nan)).ravel()
        sizes[b] = np.abs(g[:, mine]).mean(axis=0)
        shifts[b] = np.abs(g[:, mine] - gaps[at][:, mine]).mean(axis=0)
        c.task.progress(f"{b + 1} of {shape[0]} bootstrap samples")
    return Resamples(means, sizes, shifts)


class _Again:
    """The differences of a sample of people, with everything fitted again that was fitted here."""

    def __init__(self, c, recipes):
        self.c, self.recipes = c, recipes
        box = c.detector.model_
        self.training = None if box is None else box.training
        again = c.detector.sources_ if self.training is not None else recipes
        self.columns = {name: [a.world == name for a in c.answers] for name in again}
        self.n_asked = c.n * sum(map(sum, self.columns.values()))

    def gaps(self, at, gaps, changed):
        """Return the differences of the people `at`, and whether their rows are changed."""
        c = self.c
        X, own, queries = c.X.iloc[at].reset_index(drop=True), c.own[at], None
        if self.training is not None:
            queries = c.queries_of(self._trained(at))
            own = queries.ask(X)
        for name, columns in self.columns.items():
            source = c.detector.sources_[name]
            if name in self.recipes:
                source = resampled(self.recipes[name], source, X)
            else:
                source = take_rows(source, c.task.people.stay, c.order[at])
            answers = c.answers_of(name, source, X, at, queries)
            gaps[:, columns] = np.column_stack([own - a.outcome for a in answers])
            changed[:, columns] = np.column_stack([a.is_changed for a in answers])
        return gaps, changed

    def _trained(self, at):
        """Return the model trained on the same people, or on as many if it knows others."""
        rows, people = self.training.rows, self.c.task.people.X
        if len(rows) != len(people) or not people.equals(rows.set_axis(people.index)):
            return self.training.sampled(self.c.task.rng.integers(len(rows), size=len(rows)))
        return self.training.sampled(self.c.order[at])


def _resampler(c):
    """Return a function that draws positions of rows, within groups of equal protected values."""
    columns = list(dict.fromkeys([*c.detector.protected_, *(c.detector.do or {})]))
    strata = pd.util.hash_pandas_object(c.X[columns], index=False).to_numpy()
    return _stats.resampler(strata, c.task.rng)
