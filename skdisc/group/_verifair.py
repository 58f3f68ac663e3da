"""VeriFair: certified verdicts on pairs of groups."""

from collections.abc import Hashable, Sequence
from numbers import Real
from typing import Any

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from skdisc._space._bins import Bins
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._card import Card
from skdisc._task._limits import LIMITS, QUERIES, SECONDS, Limits
from skdisc._task._shared_settings import VERBOSE
from skdisc._task._task import Request
from skdisc._utils._settings import AT_LEAST_ONE, AT_LEAST_TWO, NOT_NEGATIVE, setting
from skdisc._utils._shared_sections import with_sections
from skdisc._utils._types import (
    ArrayLike,
    Columns,
    Estimator,
    FrameLike,
)
from skdisc.base import SCORE, BaseDetector
from skdisc.group._verifair_report import verdicts
from skdisc.group._verifair_specification import READY_MADE, Mean, Spec


class VeriFair(BaseDetector):
    r"""Decide whether a model is fair to pairs of groups, with a certificate.

    For every pair of values of every protected attribute, people of both groups are sampled until
    the specification is decided. With probability :math:`1 - \delta`, for every number n of draws
    simultaneously, the mean outcome is within

    .. math:: \varepsilon(n) = \sqrt{\frac{\frac35 \ln(\log_{1.1} n + 1)
        + \frac59 \ln(24 / \delta)}{n}}

    of the true one; interval arithmetic propagates the bound through the specification. The verdict
    is *fair* if the specification is satisfied, and *unfair* if it is violated, for every value
    within the bound. :math:`\delta` is `significance`, divided among the pairs, so that all
    certificates hold simultaneously. Both orientations of a pair are decided from the same draws.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found, two findings per pair, one for each group: its rate, the difference from
        the other with an interval that is valid whenever sampling stops, the verdict. ``p_value``
        is the smallest :math:`\delta` at which the verdict is still unfair.
        ``tables["certificates"]`` has both orientations of every pair.
    {inherited}

    Raises
    ------
    ValueError
        If the specification needs labels, rows or counterfactuals that are not available, or a
        sampler returns too few people of a group.

    Notes
    -----
    The published algorithm draws one person at a time and checks after each; the bound holds for
    every n, so checking after batches that grow geometrically is equally valid. On rows of data
    the exact rates are known after one query per row, and the certificate is about people drawn
    from these rows. The rows are themselves a sample: a pair counts as found if it is also unfair
    in the population, by the exact intervals of the means (Clopper and Pearson). The verdict is
    "disparity found" if a pair counts as found, and "no disparity found" if every pair is certified
    as fair, of the population, too; both are claims about the specification with its slack.

    References
    ----------
    O. Bastani, X. Zhang, A. Solar-Lezama: Probabilistic verification of fairness properties via
    concentration. OOPSLA 2019. https://doi.org/10.1145/3360544

    Examples
    --------
    >>> from skdisc import FeatureSpace
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 20 * (X["sex"] == "M") > 50
    >>> result = VeriFair(random_state=0).fit(space, model=loan).result_
    >>> print(result.verdict, "-", result[0].subject)
    disparity found - sex = 'F'
    """

    estimator: Estimator | None = setting(
        None,
        text="""Cloned and fitted when `fit` gets no model; a ``FrozenEstimator`` is used as it
        is. With neither, a small tree trained on y stands in (a surrogate).""",
    )
    protected: Columns | None = setting(
        None,
        text="""The attributes whose values are compared, in order of mutual information with
        the outcome.""",
    )
    spec: Any = setting(
        "demographic_parity",
        [StrOptions(set(READY_MADE)), Spec],
        """"demographic_parity", "equal_opportunity": the rate of one group is at least 1 -
        slack times that of the other (of people whose label is favorable). "causal": setting
        the protected value to one instead of the other, everything else equal (or as a
        `sampler` with ``counterfactual`` computes it), lowers the rate by at most slack;
        "path_specific": the same, where the columns `keep` keep their values. "individual": the
        outcome of at most a share slack of people depends on the value. Or a specification of
        your own, from `means`.""",
        kind="str or Spec",
    )
    slack: float = setting(
        0.15,
        [Interval(Real, 0, 1, closed="left")],
        "Slack of the ready-made specifications.",
    )
    keep: Sequence[Hashable] = setting(
        (),
        ["array-like"],
        "Columns on causal paths that are not considered discriminatory.",
        kind="sequence of column names",
    )
    sampler: Any = setting(
        None,
        [callable, HasMethods(["sample"]), None],
        """``sampler(n, rng)`` returns n people; an object has ``sample(n, predicate,
        random_state=seed)`` and optionally ``counterfactual(X, changes, keep)``; a
        `StructuralCausalModel` of the columns, fitted on X unless it is fitted, has both, and a
        `GaussianCopula` has the first. None: the rows of X with replacement, whose exact rates
        are reported, too; without X, the space.""",
        kind="callable or object",
    )
    n_bins: int | dict | Bins = setting(
        4,
        [AT_LEAST_TWO, dict, Bins],
        "Quantile bins of a protected numeric column of X with more distinct values than that.",
    )
    ambiguity: float = setting(
        0.0,
        [NOT_NEGATIVE],
        """Where the specification's term is known to be this close to 0, either verdict is
        accepted; 0: sampling continues until the verdict is certain.""",
    )
    # The published algorithm looks after each draw. The bound of `radius` holds for all numbers of
    # draws at once, so looks after growing batches are as valid, and there are fewer of them.
    first_batch: int = setting(
        200,
        [AT_LEAST_ONE],
        "Draws per mean in the first batch.",
    )
    max_draws: int = setting(
        1_000_000,
        [AT_LEAST_ONE],
        "Largest number of draws per mean; pairs not decided by then are undecided.",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability"})],
        "What an outcome is: a favorable decision, or its probability.",
    )
    min_gap: float = setting(
        0.0,
        [Interval(Real, 0, 1, closed="left")],
        """For "individual": the gap of outcomes that must be exceeded to count as a change.""",
    )
    space: FeatureSpace | None = setting(
        None,
        [FeatureSpace, None],
        "The possible values; learned from X by default.",
    )
    limits: Limits | None = LIMITS
    verbose: bool | int = VERBOSE

    _asks = True
    null = "marginal"
    rule_fields = ("significance", "relevant_gap")
    limit_fields = {
        "tests": "draws",
        "queries": QUERIES,
        "found": "unfair pairs",
        "seconds": SECONDS,
    }
    card = Card(
        finds="group",
        where="model",
        access="predict",
        statistic="a specification of group means, decided by adaptive concentration",
        output="fair, unfair or undecided for every pair of groups, with a certificate",
        published="verifies models of more than 16 million parameters (Bastani et al. 2019)",
        reference="Bastani et al., OOPSLA 2019",
        summary="certified verdicts on pairs of groups",
        needs="a model to query",
        claims="A pair of groups differs by more than the fairness bound, for people like those "
        "in the rows.",
        does_not_say="Anything about recorded decisions: it audits the model.",
        family="each pair of groups",
        bounded="gap of the means of its two draws, at any time",
        decides="the certificate (a ratio of its own), and the gap",
    )

    @staticmethod
    def means(kind: str = "members") -> tuple[Mean, Mean]:
        """Return the mean outcomes of the two groups of a pair, the parts of a specification.

        Parameters
        ----------
        kind : {"members", "favorable", "do", "changed"}, default="members"
            Mean over the members; over members whose label is favorable; over everyone with the
            protected value set; or the share of everyone whose outcome the value changes.

        Examples
        --------
        >>> a, b = VeriFair.means()
        >>> print((a / b >= 0.8) & (a - b >= -0.1))
        (a / b >= 0.8) and ((a + b * -1) >= -0.1)
        """
        return Mean("a", kind), Mean("b", kind)

    @with_sections(SCORE)
    def score(
        self, X: FrameLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the largest violation of the specification, estimated on the rows of X.

        It is the distance of the specification's term below 0, negative if it is above 0 for every
        pair; NaN if no pair of groups could be compared.
        """
        self._refuse_weight(sample_weight)
        measured = self._measure_on(self._read(Request(X, y)))
        values = measured.tables["certificates"]["value"].dropna()
        return float(-values.min()) if len(values) else float("nan")

    def _discover(self, task):
        return verdicts(self, task)

    def _remeasure(self, task):
        # Each pair has two findings in a row, so every other one is the first of its pair.
        groups = [g.predicates[0] for g in self.result_.findings.subgroups]
        return verdicts(self, task, list(zip(groups[::2], groups[1::2], strict=True)))
