"""SituationTesting: whether similar people of another group get better decisions."""

from copy import copy

from skdisc._task._card import Card
from skdisc.individual._situation_testing._base import SituationDetector


class SituationTesting(SituationDetector):
    r"""Compare the decisions about similar people, inside a person's group and in the reference.

    For a person c, the k nearest others of their own group are the *control* group, and the k
    nearest people of the reference the *test* group. With :math:`p_c` and :math:`p_t`, the shares
    of unfavorable decisions in them,

    .. math:: \Delta p = p_c - p_t,

    and c has a case iff the difference exceeds :math:`\tau` in the residuals of the decisions given
    the features, and is significant: similar people are not equal. The decision about c is not
    used. People as far away as the k-th share the places that are left, so that the order of rows
    does not matter.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: the people with a case, the largest difference first; `effect` is
        :math:`-\Delta p`, the favorable share of the control minus that of the test group. Tables:
        ``people`` (every complainant, for each k: sizes, p_c, p_t, delta, Newcombe interval,
        p-value; ``residual``, the difference in what the features leave, with interval and p-value;
        adjusted p-value, whether difference and interval exceed the threshold, whether
        there is a case, and the reason why not; means instead of shares where numbers are
        compared), ``counts`` (per k), ``claims`` (with `complainants`: the answer to each claim,
        with ``imbalance``, by how many standard deviations a feature differs between control and
        test group; a claim with more than .25 is not upheld).
    {inherited}

    Raises
    ------
    ValueError
        If k is larger than the pool of a group that was named, or than every pool. Other groups
        that are too small are listed as excluded. Also if a setting or a column is not allowed.

    Notes
    -----
    `fit` judges the people of X, without counting a person as their own neighbor; `audit` judges
    new people by their neighbors among the people of fit. People with equal features count
    separately.

    With ``Similarity(metric="alvarez2023")`` people are standardized, in each world separately;
    ties are broken by the last row; the interval is :math:`\pm 1.645` standard errors (Wald; with
    another `significance`, its one-sided quantile), and many people at the same place may displace
    the person from their own k + 1 nearest, so that k + 1 others are counted.

    References
    ----------
    B. L. Thanh, S. Ruggieri, F. Turini: k-NN as an implementation of situation testing for
    discrimination discovery and prevention. KDD 2011. :doi:`10.1145/2020408.2020488`

    J. M. Alvarez, S. Ruggieri: Counterfactual situation testing: from single to multidimensional
    discrimination. JAIR 82 (2025).

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> from skdisc.individual import Similarity
    >>> X, y = make_loan(1000, random_state=0, return_X_y=True)
    >>> settings = {"n_neighbors": [15, 30], "criterion": "gap"}
    >>> settings["similarity"] = Similarity(caliper=None)
    >>> test = SituationTesting(protected="gender", **settings)
    >>> test.fit(X, y).result_.tables["counts"][["n_neighbors", "n", "gap", "adjusted"]]
       n_neighbors    n  gap  adjusted
    0           15  470   11         0
    1           30  470   19         0
    """

    null = "conditional"
    card = Card(
        finds="individual",
        where="model or data",
        access="decisions",
        statistic="share of unfavorable decisions among similar people, own group minus reference",
        output="cases: people with their control and test groups, intervals and p-values",
        published="3.2 % of the women at k = 15 in the loan scenario (Alvarez and Ruggieri)",
        reference="Thanh et al., KDD 2011",
        summary="people whose outcome differs from that of similar people of another group",
        needs="decisions",
        claims="On average, people of a protected group are decided otherwise than similar people "
        "of the reference group. Single people are named as cases only in such a group; who "
        "complains by name has an answer of their own. What is compared is what the features "
        "leave of decisions and membership, so that people need not be equal.",
        does_not_say="That similar means equal: what is not a column is unknown. People without "
        "similar people are counted, not judged. Differences of opposite signs cancel in a mean, "
        'so "no mean gap above .06" is about nobody in particular; `DisparityPursuit` looks for '
        "groups.",
        family="groups with a reference",
        bounded="mean gap of matched people",
        decides="gap",
    )

    rule_fields = ("significance", "correction", "relevant_gap")
    # Neighborhoods overlap, so that p-values depend on each other. "by" holds under any dependence,
    # but leaves no case of the published loan scenario.
    own_correction = "bh"

    def _on_decisions(self):
        return copy(self)
