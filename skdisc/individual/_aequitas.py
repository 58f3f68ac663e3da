"""AEQUITAS: random walks that learn which columns and directions lead to cases."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._task._shared_settings import MIN_GAP_OF_NUMBERS, OUTPUT_OF_NUMBERS
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, setting
from skdisc.individual._prober import small_dtype
from skdisc.individual._search._base import SEED_CHOICES, SearchDetector
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._seeds import draw_seeds
from skdisc.individual._search._steps import Steps, weighted_choice

_LEARNED = 0.001  # change of a probability by one step
_LEARNED_FROM = 250  # steps for each column, of one batch
_MOST_AT_ONCE = 100_000  # steps of one batch that nothing is learned from


class Aequitas(SearchDetector):
    r"""Estimate the share of discriminatory inputs, and find more by adaptive random walks.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. The share of such inputs is estimated from uniform draws. A walk starts from each
    discriminatory one and changes one column by one step at a time. All walks share what they
    learn:

    - `mode` "random": nothing; columns and directions are equally likely.
    - "semi": the probability :math:`\sigma_v` that column :math:`a` goes down rises by 0.001 if
      going down led to a case or going up did not, and falls by 0.001 otherwise.
    - "fully": also, the probability :math:`\sigma_{pr}` of choosing column :math:`a` rises by 0.001
      if the choice led to a case.

    All walks run in parallel, and no input is tested twice.

    {parameters}

    Notes
    -----
    The paper runs one walk after the other and learns after each step. Here all walks run in
    parallel and learn after each batch, so that queries are few and large: there are as many
    updates, up to a batch later. A batch has 250 steps for each column, so that a probability
    changes by a quarter at most, and at least one step of each walk. With mode "random" the walks
    learn nothing, and batches grow. With the other next states the outcome decides how a walk
    continues, so a batch is one step of each walk. The walks do not step along protected columns.

    References
    ----------
    S. Udeshi, P. Arora, S. Chattopadhyay: Automated directed fairness testing. ASE 2018.
    doi:10.1145/3238147.3238165

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> result = Aequitas(random_state=0).fit(space, model=loan).result_
    >>> result.n_found, result.verdict
    (10, 'disparity found')
    """

    mode: str = setting(
        "fully",
        [StrOptions({"random", "semi", "fully"})],
        "What the walks learn.",
    )
    n_seeds: int = setting(
        1000,
        [AT_LEAST_ONE],
        "Number of inputs drawn first.",
    )
    seeds: str | pd.DataFrame = setting(
        "uniform",
        SEED_CHOICES,
        """Origin of the seeds: uniform draws, rows of X, half of each, rows of X from each
        cluster in turn, or the rows passed.""",
    )
    n_local: int = setting(
        1000,
        [COUNT],
        "Number of steps of each walk.",
    )
    step_size: int = setting(
        1,
        [AT_LEAST_ONE],
        """Number of codes by which a numeric or ordinal column moves in one step; a nominal
        column takes any other value.""",
    )
    next_state: str = setting(
        "walk",
        [StrOptions({"walk", "metropolis", "restart"})],
        """How a walk continues from an input that is not a case: from there (the paper); from
        there with probability :math:`e^{-1}`, or :math:`e^{-2}` in mode "fully", else it stays
        in place (the authors' code); from its start.""",
    )
    output: str = OUTPUT_OF_NUMBERS
    min_gap: float = MIN_GAP_OF_NUMBERS

    card = replace(
        SearchDetector.card,
        access="predict",
        statistic="share of inputs whose decision changes with a protected attribute",
        published="up to 70.3 % of tested inputs discriminatory, 3.45 % of random ones",
        reference="Udeshi et al., ASE 2018",
        summary="individual cases, by adaptive random walks, and their share",
        needs="a model to query",
    )

    def _strategy(self, task, prober, from_rows):
        seeds = draw_seeds(task, self.n_seeds, "data" if from_rows else self.seeds)
        steps = Steps(task.space, self.step_size)
        return _Walks(task.rng, steps, seeds, self.n_local, self.mode, self.next_state)


class _Walks(Strategy):
    """The strategy: seeds, then batches of steps of all walks."""

    def __init__(self, rng, steps, seeds, n_local, mode, next_state):
        self.rng, self.steps, self.seeds, self.left = rng, steps, seeds, n_local
        self.mode, self.next_state = mode, next_state
        self.always_goes = next_state == "walk"
        self.made = len(seeds.rows)  # steps, and seeds
        self.x = None
        self.p_down = np.full(len(steps), 0.5)
        self.p_column = np.full(len(steps), 1 / max(len(steps), 1))

    def ask(self):
        if self.x is None:
            return propose(self.steps.space, self.seeds.rows)
        if not len(self.x) or not len(self.steps) or not self.left:
            return None
        n = min(self.left, max(1, self._batch_size() // len(self.x)))
        self.made += n * len(self.x)
        self.left -= n
        u = self.rng.random((n, 4, len(self.x))).swapaxes(0, 1)
        self.which = weighted_choice(self.p_column, u[0])
        self.sign = np.where(u[1] < self.p_down[self.which], -1, 1)
        self.sign = self.steps.signs(self.which, self.sign)
        self.y, self.u_accept = self.steps.walk(self.x, self.which, self.sign, u[2]), u[3]
        return propose(self.steps.space, self.y.reshape(-1, self.y.shape[2]))

    def _batch_size(self):
        """Return the number of steps of all walks until the walks learn from them.

        The probabilities of directions return to a balance, at which a column leads to as many
        cases in one direction as in the other. One update of thousands of steps in a column would
        throw them beyond it, and the next one back, up to 0 or 1.
        """
        if not self.always_goes:
            return 1
        if self.mode == "random":
            return min(self.made, _MOST_AT_ONCE)
        return _LEARNED_FROM * len(self.steps)

    def tell(self, candidates, ids, new, ledger):
        hit = ledger.hit[ids]
        if self.x is None:
            self.x = self.x0 = self.seeds.rows[hit].astype(small_dtype(self.steps.space))
            self.is_case = np.ones(len(self.x), dtype=bool)
            return
        hit = hit.reshape(self.which.shape)
        self._learn(hit)
        hit, y = hit[-1], self.y[-1]
        goes = hit | self.always_goes
        if self.next_state == "metropolis":
            # The energy that the authors minimize is 1 for an input that is no case, and 0 for a
            # case; in mode "fully" it is the sum of two decisions of -1 or 1, hence 2.
            energy = 2 if self.mode == "fully" else 1
            goes |= ~self.is_case | (self.u_accept[-1] < np.exp(-energy))
        stays = self.x0 if self.next_state == "restart" else self.x
        self.x = np.where(goes[:, None], y, stays)
        self.is_case = np.where(goes, hit, self.is_case)

    def _learn(self, hit):
        """Update the probabilities of directions and columns by which steps led to cases."""
        if self.mode == "random":
            return
        which, n = self.which.ravel(), len(self.steps)
        towards_down = np.where(hit == (self.sign < 0), _LEARNED, -_LEARNED)
        self.p_down = np.clip(self.p_down + np.bincount(which, towards_down.ravel(), n), 0, 1)
        if self.mode == "fully":
            self.p_column += _LEARNED * np.bincount(which, hit.ravel(), n)
            self.p_column /= self.p_column.sum()
