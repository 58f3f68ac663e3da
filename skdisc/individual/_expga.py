"""ExpGA: genetic search from inputs whose outcome depends most on protected values."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._task._shared_settings import MIN_GAP_OF_NUMBERS, OUTPUT_OF_NUMBERS
from skdisc._utils._hashing import Growing
from skdisc._utils._settings import AT_LEAST_ONE, AT_LEAST_TWO, COUNT, SHARE, setting
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps

_CROSSOVER = 0.9  # share of children that combine two parents, as in the authors' code


class ExpGA(SearchDetector):
    r"""Find individual cases by a genetic search for inputs that depend on protected values.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. Its *effect* is :math:`e(x) = \max_c p(x, c) - \min_c p(x, c)`, where p is the
    probability of a favorable decision. The drawn inputs with the largest effects are the first
    population. In each generation parents are drawn with probabilities proportional to their
    fitness, pairs of them exchange a slice of columns, and single columns take random values; the
    children are tested and form the next population.

    {parameters}

    Notes
    -----
    The paper ranks draws by the rank of the protected attribute in an explanation by LIME, which
    needs some 5,000 queries per draw; the effect measures the same with one query per combination.
    The effects of a model that returns decisions only are 0 or 1.

    References
    ----------
    M. Fan, W. Wei, W. Jin, Z. Yang, T. Liu: Explanation-guided fairness testing through genetic
    algorithm. ICSE 2022. doi:10.1145/3510003.3510137

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> ExpGA(random_state=0).fit(space, model=loan).result_.n_found
    10
    """

    n_draws: int = setting(
        1000,
        [AT_LEAST_ONE],
        "Number of inputs drawn and ranked.",
    )
    seeds: str | pd.DataFrame = setting(
        "both",
        SEED_CHOICES,
        """Origin of the draws: rows of X and uniform draws, half of each; one of these; rows of
        X from each cluster in turn; or the rows passed.""",
    )
    n_population: int = setting(
        100,
        [AT_LEAST_TWO],
        "Size of the population.",
    )
    n_generations: int = setting(
        1000,
        [COUNT],
        "Number of generations at most.",
    )
    mutation: float = setting(
        0.05,
        [SHARE],
        "Probability that a column of a child takes a random value.",
    )
    fitness: str = setting(
        "effect",
        [StrOptions({"effect", "hit"})],
        """Fitness of an input: its effect; or 3 for a case and 1 for another input (the
        authors' code, which needs decisions only).""",
    )
    output: str = OUTPUT_OF_NUMBERS
    min_gap: float = MIN_GAP_OF_NUMBERS

    card = replace(
        SearchDetector.card,
        access="probabilities, or predict",
        published="up to 156,259 cases in an hour, 10 times as many as ADF",
        reference="Fan et al., ICSE 2022",
        summary="individual cases, by a genetic algorithm on sensitive inputs",
        needs="probabilities",
    )

    def _strategy(self, task, prober, from_rows):
        seeds = draw_seeds(task, self.n_draws, "data" if from_rows else self.seeds)
        return _GenePool(self, task, prober, seeds)


class _GenePool(Strategy):
    """The strategy: draws, then one generation after the other."""

    def __init__(self, settings, task, prober, seeds):
        self.settings, self.space, self.rng, self.seeds = settings, task.space, task.rng, seeds
        self.steps, self.combos = Steps(task.space), prober.combos
        self.margins = Margins(task, self.steps)
        self.effects = Growing(float)  # by number of the input in the ledger
        # -1 for protected and immutable columns, which are never exchanged. (The authors' code also
        # changes the protected one; the paper does not.)
        self.place = np.full((len(task.space), 1), -1, dtype=np.int16)
        self.place[self.steps.columns, 0] = np.arange(len(self.steps))
        self.generation, self.rows = 0, seeds.rows.astype(small_dtype(task.space))

    def ask(self):
        is_over = self.generation > self.settings.n_generations
        if is_over or not len(self.steps) or not len(self.rows):
            return propose(self.space, self.rows) if not self.generation else None
        if self.generation:
            self.rows = self._children()
        return propose(self.space, self.rows)

    def tell(self, candidates, ids, new, ledger):
        fitness = 1.0 + 2.0 * ledger.hit[ids]
        if self.settings.fitness == "effect" and not self.margins.is_flat:
            p = self.margins.over(candidates.codes(new), self.combos)
            if not self.margins.is_value:
                p = 1 / (1 + np.exp(-np.clip(p, -500, 500)))
            self.effects.extend(np.ptp(p, axis=1))
            # Above 0, so that parents can be drawn where no input has an effect.
            fitness = self.effects.rows[ids] + 1e-12
        self.fitness = fitness
        if not self.generation:
            best = np.argsort(-fitness, kind="stable")[: self.settings.n_population]
            self.rows, self.fitness = self.rows[best], fitness[best]
        self.generation += 1

    def _parents(self, n):
        """Return the sorted positions of n parents: sorted numbers are looked up much faster."""
        chance = np.cumsum(self.fitness)
        drawn = np.searchsorted(chance, np.sort(self.rng.random(n)) * chance[-1])
        return drawn.clip(max=len(self.rows) - 1)

    def _children(self):
        """Return the next population, untested."""
        n, d = self.settings.n_population, len(self.steps)
        first, second = self._parents(n), self._parents(n)[self.rng.permutation(n)]
        first, second = self.rows.take(first, axis=0), self.rows.take(second, axis=0)
        low, high = np.sort(self.rng.integers(d + 1, size=(2, n), dtype=np.int16), axis=0)
        high[self.rng.random(n) >= _CROSSOVER] = 0
        swap = (self.place >= low) & (self.place < high)  # one row per column: much faster
        children = first + (second - first) * np.ascontiguousarray(swap.T)
        change = np.flatnonzero(self.rng.random(n * d, np.float32) < self.settings.mutation)
        child, gene = np.divmod(change, d)
        # The last value can be drawn, too: the authors' code leaves it out.
        low, high = self.steps.low[gene], self.steps.high[gene]
        children[child, self.steps.columns[gene]] = self.rng.integers(low, high + 1)
        if self.steps.direction.any():
            columns = self.steps.columns
            clipped = self.steps.clip_monotone(children[:, columns], first[:, columns])
            children[:, columns] = clipped
        return children
