"""ProxyDisparity: gaps of groups that are known with a probability only."""

from numbers import Integral

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import HasMethods, StrOptions

from skdisc._space._bins import Bins
from skdisc._stats._effective_tally import kish_size
from skdisc._stats._rates import RATES, check_metrics, rate_values
from skdisc._task._card import Card
from skdisc._task._cross_fitting import CrossFitter, folds_of
from skdisc._task._shared_settings import VERBOSE
from skdisc._utils._settings import AT_LEAST_TWO, SHARE, setting
from skdisc._utils._types import (
    Columns,
    Estimator,
)
from skdisc.group._pairwise._comparison_report import TOO_FEW, PairComparison
from skdisc.group._pairwise._estimates import Estimate, estimate_table
from skdisc.group._pairwise._pairwise_detector import PairwiseDetector
from skdisc.group._proxy_disparity._bounds import are_known, gap_bounds, rate_bounds
from skdisc.group._proxy_disparity._latent_groups import latent_pairs
from skdisc.group._proxy_disparity._latent_rates import latent_gap
from skdisc.group._proxy_disparity._latent_rows import LatentRows
from skdisc.group._proxy_disparity._memberships import MembershipsMixin

_FEWEST = 10  # people expected with the rarer outcome; normal intervals of fewer cover too rarely


class ProxyDisparity(MembershipsMixin, PairwiseDetector):
    r"""Compare groups whose members are known with a probability only.

    Lenders and insurers rarely hold race. What they may have is P(race | surname, place) for each
    person: membership probabilities q. Two estimates are common: the *weighted* one,
    :math:`\sum q y / \sum q`, and the *threshold* one, which takes everyone for the group of the
    largest probability. Each is right under an assumption that these data cannot test. The first
    assumes that, among people with the same probabilities, outcomes do not depend on the group.

    What the data do say are bounds: the least and the largest gap with the same outcomes and the
    same probabilities. The verdict goes by them. If they contain zero, the evidence is
    insufficient, however many people there are. So it is where fewer than ten people of a group
    would have the rarer outcome if the rates were equal: normal intervals are not right there. The
    null hypothesis is that the rates of the groups are equal.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: ``effect`` is the weighted estimate, ``ci_low`` and ``ci_high`` the
        interval of the *bounds*, ``bound_low``, ``bound_high`` the bounds, ``threshold`` the
        threshold estimate, ``model`` the estimate by a model of names (NaN for other metrics, and
        where probabilities vary too little within a place). Table ``estimates``: with standard
        errors.
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, if probabilities are not between 0 and 1, if those of a person
        add up to more than 1, or if a rate needs labels or decisions that are not given.

    See Also
    --------
    GroupDisparity : Where groups are known.

    Notes
    -----
    Among people with the same q, let :math:`p = P(y = 1)`. Then :math:`P(y = 1, a)` lies between
    :math:`\max(0, p + q - 1)` and :math:`\min(p, q)`, and no further without assumptions. Which end
    applies is decided by an estimate of p learned from others, and the outcome itself is put in:
    the means are then bounds whatever the estimate is, and sharp if it is right. With
    `max_difference` d, :math:`P(y = 1, a)` is within :math:`q p \pm q (1 - q) d`, too. A rate such
    as the true positive rate is a ratio of two such shares, which is largest where the first is
    largest and the rest of the second is smallest.

    The weighted estimate misses the true gap to everyone else by
    :math:`-E[\operatorname{Cov}(y, a \mid z)] / (Q (1 - Q))`, where Q is the share of the group.
    The estimate ``model`` (BIRDiE, by EM) assumes the opposite: that outcomes depend on the group,
    and given group and `place` not on the name. It is right where members fare worse
    than others of equal probabilities, and fails where names have an effect of their own.
    Probabilities must be calibrated: of people with q = .3, .3 are members. All is lost if they are
    not: `calibration` checks it where some groups are known.

    References
    ----------
    J. Chen, N. Kallus, X. Mao, G. Svacha, M. Udell: Fairness under unawareness: assessing disparity
    when protected class is unobserved. FAT* 2019. https://doi.org/10.1145/3287560.3287594

    N. Kallus, X. Mao, A. Zhou: Assessing algorithmic fairness with unobserved protected class using
    data combination. Management Science 68, 2022. https://doi.org/10.1287/mnsc.2020.3850

    C. McCartan, R. Fisher, J. Goldin, D. E. Ho, K. Imai: Estimating racial disparities when race is
    not observed. 2025. https://arxiv.org/abs/2303.02580

    Examples
    --------
    A good proxy and a large gap: the bounds leave out zero, with wide margins.

    >>> import numpy as np
    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> q = rng.beta(0.2, 0.4, 5000)
    >>> member = rng.random(5000) < q
    >>> y = (rng.random(5000) < np.where(member, 0.2, 0.8)).astype(int)
    >>> detector = ProxyDisparity(protected="p_black", random_state=0)
    >>> result = detector.fit(pd.DataFrame({"p_black": q}), y).result_
    >>> result.verdict
    'disparity found'
    >>> result.to_frame()[["bound_low", "effect", "bound_high"]].round(1).to_dict("records")
    [{'bound_low': -0.7, 'effect': -0.4, 'bound_high': -0.2}]
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. None: the labels are audited.""",
    )
    protected: Columns | None = setting(
        None,
        text="""Columns of probabilities, one for each group of *one* attribute; or columns of
        known groups, whose bounds are a point. Required.""",
    )
    proba: str | Columns = setting(
        "auto",
        "no_validation",
        """Which protected columns hold probabilities. "auto": those between 0 and 1 that have
        values strictly between.""",
        kind='"auto", or sequence of column names',
    )
    metric: str = setting(
        "selection_rate",
        [StrOptions(set(RATES))],
        "A rate, as in `DivExplorer`; all but the selection rate need labels and decisions.",
        kind="str",
    )
    max_difference: float | None = setting(
        None,
        [SHARE, None],
        """An assumption that narrows the bounds: among people with the same probabilities, the
        rates of two groups differ by at most this. 0 is the assumption of the weighted
        estimate. Of the selection rate only.""",
    )
    place: Columns | None = setting(
        None,
        ["array-like", str, Integral, None],
        """For the estimate ``model`` only, of the selection rate: columns, such as the place,
        given which outcomes depend on the group, and not on the name. None: given the group,
        outcomes depend on nothing that the probabilities were made of.""",
        kind="column name or position, sequence of them, or None",
    )
    reference: str = setting(
        "rest",
        [StrOptions({"rest", "largest"})],
        "Groups are compared with everyone else, or with the largest group.",
    )
    learner: str | Estimator = setting(
        "auto",
        [StrOptions({"auto", "linear", "boosting"}), HasMethods(["fit"])],
        """What learns P(y = 1 | q), out of fold: main effects, boosted trees, whichever
        predicts better, or an estimator. A better one makes bounds narrower, a bad one never
        makes them wrong.""",
        kind='{"auto", "linear", "boosting"} or estimator',
    )
    n_folds: int = setting(
        5,
        [AT_LEAST_TWO],
        "Folds in which it is learned.",
    )
    n_bins: int | dict | Bins = setting(
        4,
        text="Quantile bins of a protected number that is no probability.",
    )
    missing: str = setting(
        "category",
        text="""How rows with a missing value of a known group are treated: as a group of their
        own, left out, or as an error. Rows without a probability are left out of what needs it.""",
    )
    verbose: bool | int = VERBOSE

    null = "marginal"
    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="sharp bounds of the difference of rates, given probabilities of membership",
        output="bounds, weighted and threshold estimates of each gap",
        published="mortgages and warfarin doses with surnames, places and genes as proxies",
        reference="Kallus, Mao and Zhou 2022; Chen and others 2019",
        summary="bounds of the gaps of groups that are known with a probability",
        needs="labels or decisions, membership probabilities",
        claims="The rates of the groups differ, whichever people of equal probabilities belong to "
        "them.",
        does_not_say="That the weighted estimate is the gap.",
        family="protected values, people counted with their probability",
        bounded="the wider of both bounds of the gap",
        decides="gap and ratio",
    )
    _measure = "rate difference"
    rule_fields = (*PairwiseDetector.rule_fields, "relevant_ratio")
    _test = "bounds of means"

    def _pairs(self, task):
        """Return the groups, known and latent, each with its reference."""
        probabilities = self._probabilities(task.X, task.space)
        return latent_pairs(
            task.X,
            space=task.space,
            protected=self.protected_,
            probabilities=probabilities,
            reference=self.reference,
            n_bins=self.n_bins,
        )

    def _people_of(self, pair, task, y, labels):
        return LatentRows.of(pair, task.X, y, self._places(task.X))

    def _columns(self, names):
        return []

    def _outcome(self, task):
        if self.metric == "selection_rate":
            return super()._outcome(task)
        if self.max_difference is not None:
            raise ValueError("max_difference= is about selection rates: metric='selection_rate'.")
        check_metrics(self.metric, task.queries is not None, task.y is not None)
        decided = super()._outcome(task)
        if not len(decided):
            return decided
        return rate_values(2 * task.favorable_labels() + (decided > 0.5), self.metric)

    def _compare(self, task, people, rng):
        y, q, q_other = people.y, people.q, people.q_other
        is_rate = self.metric != "selection_rate"
        shares = [(y == 1).astype(float), (y == 0).astype(float)] if is_rate else [y]
        expected = self._expected(people, shares, rng)
        if not is_rate:
            bounds = gap_bounds(y, q, q_other, *expected, self.max_difference)
        else:
            bounds = rate_bounds(*shares, q, q_other, *expected)
            if bounds is None:
                return f"{TOO_FEW} whom the rate is surely about"
        trial = ~np.isnan(y)
        if _fewest_expected(y[trial], q[trial], q_other[trial]) < _FEWEST:
            return f"{TOO_FEW} with the rarer outcome for the normal intervals of bounds"
        means = {"lowest": bounds.low, "weighted": bounds.weighted, "highest": bounds.high}
        model = None if is_rate else latent_gap(y, np.column_stack([q, q_other]), people.place)
        has_model = isinstance(model, Estimate)
        if has_model:
            means["model"] = model
        return PairComparison(
            bounds.weighted,
            {
                "outcome": float((q * shares[0]).sum() / (q * trial).sum()),
                "bound_low": bounds.low.value,
                "bound_high": bounds.high.value,
                "threshold": bounds.threshold,
                "model": model.value if has_model else np.nan,
            },
            {"estimates": estimate_table(means, self.significance)},
            [*_notes(people), *([model] if isinstance(model, str) else [])],
            self._doubts(people, bounds),
            interval=bounds.interval,
            p_value=bounds.p_value,
        )

    def _doubts(self, people, bounds):
        """Return why no number of people would show that there is no gap, if that is so."""
        low, high = bounds.low.value, bounds.high.value
        relevant = self._gap_that_matters(people.y).size
        if not low < 0 < high or max(-low, high) <= relevant:
            return []
        return [
            f"the probabilities leave every gap from {low:.2g} to {high:.2g} possible, however "
            "many people there are"
        ]

    def _expected(self, people, shares, rng):
        """Return expectations of 0s and 1s given the probabilities of membership, out of fold."""
        y, q, q_other = people.y, people.q, people.q_other
        if are_known(q, q_other).all():
            return [np.full(len(y), 0.5)] * len(shares)  # bounds are a point, whatever is expected
        # Out of fold: with the person's own outcome y in place of p, both bounds would be q y,
        # which is the weighted estimate, whatever the truth is.
        numbers = np.column_stack([q, q_other])
        fold = folds_of(np.nan_to_num(y, nan=2), min(self.n_folds, len(y)), rng)
        fitter = CrossFitter(pd.DataFrame(numbers, columns=["group", "reference"]), numbers, fold)
        if isinstance(self.learner, str) and self.learner == "auto":
            return [fitter.choose(share)[0] for share in shares]
        return [fitter.expect(share, self.learner, name="learner") for share in shares]


def _fewest_expected(y, q, q_other):
    """Return how many of the smaller group have the rarer outcome, if the rates are equal."""
    rate = np.average(y, weights=q + q_other)
    people = min(map(kish_size, (q, q_other)))
    return people * min(rate, 1 - rate)


def _notes(people):
    """Return what the estimates rest on."""
    if are_known(people.q, people.q_other).all():
        return []
    return [
        "Intervals are of the bounds, which hold whatever the outcomes of members and others with "
        "the same probabilities. The weighted estimate is right if these are equal; if members "
        "fare worse, the true gap is lower than it, if they fare better, higher."
    ]
