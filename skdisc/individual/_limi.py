"""LIMI: project latent scores of a generator onto a linear decision boundary, and test there."""

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.svm import LinearSVC
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._utils._settings import AT_LEAST_ONE, NOT_NEGATIVE, setting
from skdisc.individual._search._base import SearchDetector
from skdisc.individual._search._input_generator import KINDS, make_generator
from skdisc.individual._search._loop import Strategy, propose
from skdisc.individual._search._margins import Margins
from skdisc.individual._search._seeds import Seeds
from skdisc.individual._search._steps import Steps

_FEWEST_AT_ONCE, _MOST_AT_ONCE = 16, 200_000  # latent scores


class LIMI(SearchDetector):
    r"""Find natural individual cases at a linear boundary in the latent space of a generator.

    An input :math:`x` (the non-protected part of a row) is discriminatory iff
    :math:`\max_c f(x, c) - \min_c f(x, c) > g`, over all combinations :math:`c` of protected
    values. A generator g turns latent scores :math:`z \sim N(0, I)` into realistic inputs. A linear
    support vector machine learns to predict the decision about g(z) from z, for inputs where the
    model is confident; its boundary is :math:`w z + b = 0`, with :math:`|w| = 1`. From each of many
    z up to three inputs are tested, one after the other, until one is discriminatory: g at

    .. math:: z_0 = z - (w z + b) w, \quad z_+ = z_0 + \lambda w, \quad z_- = z_0 - \lambda w.

    {parameters}

    Notes
    -----
    The paper's generator is a network (CTGAN); the copula is fitted in a second, and its inputs are
    as natural; a network can be passed. The authors' code fits the boundary to the samples with the
    highest confidence, here it is fitted to all with sufficient confidence, balanced by random
    oversampling. The authors' code tests :math:`z_0`, :math:`z_+` and :math:`z_-` in this order.
    Here, the same inputs are tested, unless a limit ends the search, and those that were cases more
    often so far are tested first, be it the first of three inputs or the next one of a score.

    References
    ----------
    Y. Xiao, A. Liu, T. Li, X. Liu: Latent imitator: generating natural individual discriminatory
    instances for black-box fairness testing. ISSTA 2023. doi:10.1145/3597926.3598099

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame({"income": rng.integers(0, 100, 500), "woman": rng.integers(0, 2, 500)})
    >>> model = LogisticRegression().fit(X, X["income"] > 40 + 10 * X["woman"])
    >>> search = LIMI(protected="woman", n_samples=500, n_boundary=500, random_state=0)
    >>> search.fit(X, model=model).result_.n_found
    7
    """

    generator: Any = setting(
        "copula",
        [StrOptions(set(KINDS)), HasMethods(["decode"]), HasMethods(["sample"])],
        """Generator of inputs: a Gaussian copula with the marginals of X, principal components
        of X, uniform draws, or an object with ``latent_dim`` and ``decode(Z)``, which turns
        standard normal scores into rows with the columns of X. A
        synthesizer with ``sample(n)``, such as one of SDV, is replaced by a copula learned from
        as many of its rows as `limits` allows.""",
        kind='{"copula", "pca", "uniform"} or object',
    )
    n_samples: int = setting(
        20_000,
        [AT_LEAST_ONE],
        "Number of latent scores that are projected onto the boundary.",
    )
    n_boundary: int = setting(
        20_000,
        [AT_LEAST_ONE],
        "Number of latent scores that the boundary is fitted to.",
    )
    confidence: float = setting(
        0.7,
        [Interval(Real, 0.5, 1, closed="left")],
        "Probability of the decision from which on the model counts as confident.",
    )
    step: float = setting(
        0.3,
        [NOT_NEGATIVE],
        r"""Distance :math:`\lambda` of :math:`z_+` and :math:`z_-` from the boundary. 0: only
        :math:`z_0` is tested.""",
    )
    n_baseline: int = setting(
        1000,
        [AT_LEAST_ONE],
        """Number of inputs of the generator that are tested first, without projection:
        ``result_.estimates`` has the share of cases among them.""",
    )

    card = replace(
        SearchDetector.card,
        access="probabilities",
        published="9.42 times as many cases as others, in 8.71 times the speed",
        reference="Xiao et al., ISSTA 2023",
        summary="natural individual cases, at a boundary in the latent space of a generator",
        needs="probabilities",
    )

    limit_fields = SearchDetector.limit_fields | {
        "rows": "rows that a generator given by name is fitted to: of more, a random sample is "
        "used, stratified by protected group; all rows are audited"
    }
    own_limits = SearchDetector.own_limits | {"rows": 10_000}

    def _most_rows(self, people):
        return None  # the limit of rows is about the generator

    def _strategy(self, task, prober, from_rows):
        generator = make_generator(self.generator, task, self._limit("rows"))
        return _Probes(self, task, prober, generator)


class _Probes(Strategy):
    """The strategy: inputs of the generator, then up to three inputs per latent score.

    Which of the three inputs are cases most often depends on how well the linear boundary fits: it
    is fitted to as many favorable as unfavorable decisions, so that, where few decisions are
    favorable, the boundary of the model lies beyond it. So the next input tested is of the kind
    that was a case most often. A kind is a distance from the boundary, and the distances at which
    inputs of the same scores were tested without success.
    """

    def __init__(self, settings, task, prober, generator):
        self.settings, self.task, self.prober, self.generator = settings, task, prober, generator
        self.space, self.left = task.space, int(settings.n_samples)
        self.before = task.budget.tests
        self.notes = list(generator.notes)
        drawn = generator.codes(self._latent(settings.n_baseline))
        self.seeds = Seeds.of(task.space, drawn, np.repeat("drawn", len(drawn)))
        self.has_started, self.normal = False, None
        self.distances = [0.0, settings.step, -settings.step] if settings.step else [0.0]
        self.pools = {}  # scores that wait for their next input, by the distances tested
        self.kind = None  # of the inputs asked about: distances tested before, and distance
        self.counts = {}  # by kind: candidates, new inputs tested, and cases among these

    def _latent(self, n):
        """Draw latent scores."""
        return self.task.rng.standard_normal((n, self.generator.latent_dim))

    def ask(self):
        if not self.has_started:
            self.has_started = True
            return propose(self.space, self.seeds.rows)
        if self.normal is None:
            self.normal, self.shift = self._boundary()
        kinds = self._kinds()
        if not kinds:
            return None
        self.kind = max(kinds, key=self._promise)
        tested, distance = self.kind
        self.base = self._scores(tested)
        return propose(self.space, self.generator.codes(self.base + distance * self.normal))

    def _kinds(self):
        """Return the kinds of inputs that can be tested, the projections first."""
        pools = [frozenset()] if self.left else []
        pools += [tested for tested, pool in self.pools.items() if len(pool)]
        return [(tested, d) for tested in pools for d in self.distances if d not in tested]

    def _promise(self, kind):
        """Return the share of cases plus its standard error, so that each kind gets its chance.

        Inputs tested before cost no test. A quarter of them counts, so that a kind that leads to
        no new input does not use up the latent scores.
        """
        n_asked, n_new, n_cases = self.counts.get(kind, (0, 0, 0))
        n = max(n_new, n_asked / 4)
        share = (n_cases + 1) / (n + 2)
        return share + np.sqrt(share * (1 - share) / (n + 1))

    def _scores(self, tested):
        """Return projected scores: new ones, or scores whose other inputs were tested."""
        n = self._batch_size()
        if tested:
            scores, self.pools[tested] = np.split(self.pools[tested], [n])
            return scores
        z = self._latent(min(n, self.left))
        self.left -= len(z)
        # z_0: the normal has length 1, so this is the nearest point of the boundary.
        return z - ((z @ self.normal + self.shift)[:, None]) * self.normal

    def _batch_size(self):
        """Return the number of inputs that are tested before the next kind is chosen.

        A third of the tests so far, and of those left, so that a short search, too, tests and
        compares all kinds.
        """
        budget = self.task.budget
        tests = min(budget.tests - self.before, budget.tests_left(self.prober.n_combos))
        return int(min(max(tests // 3, _FEWEST_AT_ONCE), _MOST_AT_ONCE))

    def tell(self, candidates, ids, new, ledger):
        if self.kind is None:
            return
        tested, distance = self.kind
        is_case = ledger.hit[ids]
        counts = len(ids), len(new), np.count_nonzero(is_case[new])
        before = self.counts.get(self.kind, (0, 0, 0))
        self.counts[self.kind] = tuple(map(sum, zip(before, counts, strict=True)))
        tested = tested | {distance}
        if len(tested) < len(self.distances):
            waiting = self.base[~is_case].astype(np.float32)  # they may be millions
            self.pools[tested] = np.concatenate([self.pools.get(tested, waiting[:0]), waiting])

    def _boundary(self):
        """Return the unit normal of the boundary in latent space, and its shift."""
        task, settings = self.task, self.settings
        margins = Margins(task, Steps(task.space))
        z = self._latent(settings.n_boundary)
        rows = self.generator.codes(z)
        rows[:, task.space.p_index] = self.prober.draw_combos(len(rows), task.rng)
        margin = margins.at(rows)
        # The boundary of the most confident samples alone, as in the authors' code, led to fewer
        # cases than draws from the generator without any boundary (census and bank).
        confident = np.abs(margin) > logit(settings.confidence)
        y = margin[confident] > 0
        if y.all() or not y.any():
            self.notes += [
                "The model was confident of one decision only, so no boundary could be fitted: the "
                "inputs of the generator were tested without projection."
            ]
            return np.zeros(z.shape[1]), 0.0
        from imblearn.over_sampling import RandomOverSampler  # here: it is slow to import

        # Balanced, as in the paper, so that the rarer decision shapes the boundary as much.
        seed = int(task.rng.integers(2**31))
        balanced = RandomOverSampler(random_state=seed).fit_resample(z[confident], y)
        machine = LinearSVC(dual=False, random_state=seed).fit(*balanced)
        size = np.linalg.norm(machine.coef_) or 1.0
        return machine.coef_[0] / size, float(machine.intercept_[0] / size)
