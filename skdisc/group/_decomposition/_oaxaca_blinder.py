"""OaxacaBlinder: how much of a gap between groups legitimate columns explain."""

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.utils._param_validation import HasMethods, StrOptions

from skdisc._space._design_matrix import DesignMatrix
from skdisc._stats._agreement import hidden_variance
from skdisc._task._card import OF_GROUPS, Card
from skdisc._task._cross_fitting import CrossFitter, folds_of
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._limits import LIMITS, Limits
from skdisc._utils._settings import AT_LEAST_TWO, COUNT, setting
from skdisc._utils._types import Estimator
from skdisc.group._decomposition._fairlie import fairlie_parts
from skdisc.group._decomposition._gap_parts import (
    COEFFICIENTS,
    GapDesign,
    GapParts,
    gelbach_parts,
    linear_parts,
)
from skdisc.group._decomposition._reweighting import reweighted_parts
from skdisc.group._pairwise._comparison_report import TOO_FEW, PairComparison
from skdisc.group._pairwise._estimates import Estimate
from skdisc.group._pairwise._pairwise_detector import PairwiseDetector

_CLIP = 0.01  # smallest and largest probability of a group that weights are made of
_FEW_EFFECTIVE = 30


class OaxacaBlinder(PairwiseDetector):
    r"""Decompose the gap between a group and its reference: explained, and unexplained.

    With mean rows :math:`\bar x_A, \bar x_B`, coefficients :math:`\beta_A, \beta_B` of the outcome
    and coefficients :math:`\beta^*` without a disparity,

    .. math::

        \bar y_A - \bar y_B = \underbrace{(\bar x_A - \bar x_B) \beta^*}_{\text{explained}} +
        \underbrace{\bar x_A (\beta_A - \beta^*) +
        \bar x_B (\beta^* - \beta_B)}_{\text{unexplained}}

    The null hypothesis is that the unexplained part is zero.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its unexplained part (`effect`), with `gap` and `explained`. Tables:
        ``parts`` (all parts with errors, and their share of the gap), ``factors`` (the same for
        each column; of the intercept, too, where coefficients are compared).
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, if `adjust_for` names a protected column, if `controls` are
        none of `adjust_for`, or if "fairlie" gets numbers.

    See Also
    --------
    DisparityPursuit : The few groups that account for all unexplained gaps, without linearity.

    Notes
    -----
    Categories of a column have coefficients that add up to zero (Yun), so parts do not depend on a
    category left out; the parts of a number depend on where its zero is. Standard errors come from
    the delta method, with variances that may differ (HC2), and count that columns vary by sampling.
    What is explained is not therefore justified: a column may itself be the result of
    discrimination; and a linear model that is wrong leaves unexplained what it cannot show.

    References
    ----------
    R. Oaxaca: Male-female wage differentials in urban labor markets. International Economic Review
    14, 1973. A. Blinder, Journal of Human Resources 8, 1973. E. Kitagawa, JASA 50, 1955.

    R. Fairlie: An extension of the Blinder-Oaxaca decomposition technique to logit and probit
    models. Journal of Economic and Social Measurement 30, 2005.

    J. DiNardo, N. Fortin, T. Lemieux: Labor market institutions and the distribution of wages.
    Econometrica 64, 1996. https://doi.org/10.2307/2171954

    J. Gelbach: When do covariates matter? Journal of Labor Economics 34, 2016.
    https://doi.org/10.1086/683668

    M.-S. Yun: A simple solution to the identification problem in detailed wage decompositions.
    Economic Inquiry 43, 2005.

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> result = OaxacaBlinder(protected="gender").fit(X, y).result_
    >>> result.to_frame()[["gap", "explained", "effect"]].round(2).to_dict("records")
    [{'gap': -0.2, 'explained': -0.2, 'effect': -0.0}]
    """

    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared: rates of decisions, means of the model's probabilities, or means of
        the numbers in y ("value", without a model), such as pay.""",
    )
    method: str = setting(
        "linear",
        [StrOptions({"linear", "fairlie", "reweighting", "gelbach"})],
        """"linear": Kitagawa, Oaxaca and Blinder, in two and in three parts. "fairlie": by a
        logistic regression of decisions, factors averaged over all orders (exactly for up to 8
        factors). "reweighting": DiNardo, Fortin and Lemieux; no factors. "gelbach": the change
        of the group's coefficient as all factors enter besides the `controls`, whatever their
        order.""",
    )
    adjust_for: str | Sequence[Hashable] = setting(
        "others",
        [str, "array-like"],
        """The legitimate columns; each is a factor. "others": all that are not protected.""",
        kind='"others", or sequence of column names',
    )
    coefficients: str = setting(
        "pooled",
        [StrOptions(set(COEFFICIENTS))],
        """Those without a disparity: "pooled" (both groups, with a term for the group),
        "neumark" (both groups, without it), "reference", "group", "cotton" (the mean, weighted
        by size), "reimers" (the mean). For "linear" and "fairlie".""",
        kind="str",
    )
    controls: Sequence[Hashable] | None = setting(
        None,
        ["array-like", None],
        """Columns that stay in both regressions of "gelbach".""",
        kind="sequence of column names or None",
    )
    classifier: Estimator | None = setting(
        None,
        [HasMethods(["fit", "predict_proba"]), None],
        """Learns the probability of the group given the columns, out of fold, for
        "reweighting"; None: a logistic regression of main effects. It gets the raw columns as a
        DataFrame.""",
        kind="estimator or None",
    )
    n_folds: int = setting(
        5,
        [AT_LEAST_TWO],
        "Number of folds; for each, the learners are trained on all others.",
    )
    n_resamples: int = setting(
        0,
        [COUNT],
        "Number of bootstrap samples behind standard errors; 0: the delta method.",
    )
    missing: str = setting(
        "category",
        text="""How rows with a missing protected value are treated: as a group of their own,
        left out, or as an error. In other columns a missing value is a category, or the median
        and an indicator.""",
    )
    limits: Limits | None = LIMITS

    _most = 200_000
    limit_fields = {"rows": rows_of_wide(_most)}
    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="part of a gap of means that legitimate columns do not explain",
        output="explained and unexplained parts of each gap, by column, with errors",
        published="standard in studies of pay; the parts are those of other implementations",
        reference="Oaxaca 1973; Blinder 1973; Kitagawa 1955",
        summary="the part of each gap that legitimate columns do not explain, and the parts that "
        "they do",
        needs="labels, decisions, probabilities or numbers",
        claims="A part of the gap of means is not explained by a linear model of the legitimate "
        "columns.",
        does_not_say="That the group has an effect: a law that is not linear leaves such a part, "
        "too.",
        bounded="unexplained part",
        **OF_GROUPS,
    )
    null = "linear"  # what a law that is not linear breaks, too
    _measure = "unexplained part"
    _test = "delta method"

    def _on_decisions(self):
        return copy(self)

    def _columns(self, names):
        columns, controls = self._legitimate(names, self.adjust_for), list(self.controls or [])
        if wrong := [c for c in controls if c not in columns]:
            raise ValueError(f"controls names {wrong[0]!r}, not among the columns adjusted for.")
        if self.method == "fairlie" and self.output != "decision":
            raise ValueError(
                "method='fairlie' decomposes rates of decisions; for numbers take 'linear'."
            )
        return columns

    def _compare(self, task, people, rng):
        columns = self._columns(list(people.X))
        design = DesignMatrix.of(people.X, task.space, columns)
        d = GapDesign.of(design, people.inside)
        if self.method != "reweighting" and min(people.sizes) < d.n_terms + 2:
            return f"{TOO_FEW} for {d.n_terms} coefficients"
        doubts = []
        if self.method == "reweighting":
            parts, n_effective = self._reweighted(people, columns, design, rng)
            if n_effective < _FEW_EFFECTIVE:
                doubts.append(f"the weighted reference is worth only {n_effective:.0f} people")
        else:
            parts = self._decomposed(d, people.y, rng)
        if self.n_resamples:
            parts = self._resampled(people, columns, design, parts, rng)
        # All outcomes of a side count by one over its people in the gap and what is unexplained.
        inside = people.inside
        factor = np.where(inside, 1 / inside.sum(), -1 / (~inside).sum())
        hidden = hidden_variance(people.y, (inside, ~inside), factor, np.zeros(len(factor)))
        totals = {n: parts.total[n].varying_more(hidden) for n in ("gap", "unexplained")}
        parts = replace(parts, total=parts.total | totals)
        explained, unexplained = parts.total["explained"], parts.total["unexplained"]
        row = {"gap": people.gap, "explained": explained.value}
        tables = parts.tables(self.significance)
        return PairComparison(unexplained, row, tables, doubts=doubts)

    def _decomposed(self, d, y, rng):
        """Return the GapParts by regressions."""
        if self.method == "gelbach":
            return gelbach_parts(d, y, list(self.controls or []))
        if self.method == "fairlie":
            return fairlie_parts(d, y, self.coefficients, rng)
        return linear_parts(d, y, self.coefficients)

    def _reweighted(self, people, columns, design, rng):
        """Return the GapParts by weights, and the effective number of people of the reference."""
        fold = folds_of(people.inside, self.n_folds, rng)
        fitter = CrossFitter(people.X[columns], design.values, fold)
        learner = "linear" if self.classifier is None else self.classifier
        share = fitter.expect(people.inside.astype(float), learner, name="classifier")
        share = np.clip(share, _CLIP, 1 - _CLIP)
        # Errors can allow for learned weights only with the logistic regression; to take weights as
        # known is conservative.
        terms = design.values if self.classifier is None else None
        return reweighted_parts(people.y, people.inside, share, terms)

    def _resampled(self, people, columns, design, parts, rng):
        """Return the parts with the standard errors of bootstrap samples, drawn within groups."""
        # The gap compares two groups, whose sizes are not random.
        sides = np.flatnonzero(people.inside), np.flatnonzero(~people.inside)
        replicates = []
        for _ in range(self.n_resamples):
            rows = np.concatenate([rng.choice(side, len(side)) for side in sides])
            sample = type(people)(people.X.iloc[rows], people.y[rows], people.inside[rows])
            terms = DesignMatrix(design.values[rows], design.factor, design.nominal, design.names)
            if self.method == "reweighting":
                drawn = self._reweighted(sample, columns, terms, rng)[0]
            else:
                drawn = self._decomposed(GapDesign.of(terms, sample.inside), sample.y, rng)
            replicates.append(drawn.total | drawn.factors)
        error = partial(_spread, replicates)
        totals = {n: Estimate(e.value, error(n)) for n, e in parts.total.items()}
        return GapParts(totals, {n: Estimate(e.value, error(n)) for n, e in parts.factors.items()})


def _spread(replicates, name):
    """Return the standard deviation of one part over bootstrap samples."""
    values = [parts[name].value for parts in replicates if name in parts]
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
