"""EffectDecomposition: what of a gap is direct, through mediators, and spurious."""

from collections.abc import Hashable, Sequence
from copy import copy

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import HasMethods, StrOptions

from skdisc._expectations import Covariates, said_about
from skdisc._space._design_matrix import DesignMatrix
from skdisc._stats._effective_tally import kish_size
from skdisc._task._card import OF_GROUPS, Card
from skdisc._task._cross_fitting import CrossFitter, folds_of
from skdisc._task._large_tables import rows_of_wide
from skdisc._task._limits import LIMITS, Limits
from skdisc._task._shared_settings import VERBOSE
from skdisc._utils._settings import AT_LEAST_TWO, setting
from skdisc._utils._types import Estimator
from skdisc._utils._validation import check_protected
from skdisc.group._decomposition._effects import EffectNuisances, EffectParts
from skdisc.group._pairwise._comparison_report import PairComparison
from skdisc.group._pairwise._estimates import estimate_table
from skdisc.group._pairwise._pairwise_detector import PairwiseDetector

_SEED = 0  # of the folds of the engine, dealt in an order that the values of rows give
_FEW_EFFECTIVE, _MANY_CLIPPED, _MANY_UNMATCHED = 30, 0.1, 0.05
_LEARNER = [StrOptions({"auto", "linear", "boosting"}), HasMethods(["fit", "predict"])]


class EffectDecomposition(PairwiseDetector):
    r"""Decompose the gap between a group and its reference into causal effects.

    In the standard fairness model the protected attribute X and the outcome y share confounders Z,
    and X acts on y through mediators W, and directly. With :math:`x_1` the group and :math:`x_0`
    the reference, :math:`E[y \mid x_1] - E[y \mid x_0]` = direct - indirect - spurious with

    .. math::

        \text{direct} &= \sum_{z,w} (E[y \mid x_1, z, w] - E[y \mid x_0, z, w])
        P(w \mid x_0, z) P(z \mid x_0) \\
        \text{indirect} &= \sum_{z,w} E[y \mid x_1, z, w]
        (P(w \mid x_0, z) - P(w \mid x_1, z)) P(z \mid x_0) \\
        \text{spurious} &= \sum_z E[y \mid x_1, z] (P(z \mid x_0) - P(z \mid x_1))

    The null hypothesis is that the direct effect is zero.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: its direct effect, with ``gap``, ``indirect``, ``spurious`` and
        ``direct_on_group``, the direct effect among the people of the group instead of the
        reference (with the same sign). Tables: ``effects`` (all parts, in both directions, with
        errors), ``overlap`` (how alike group and reference are), ``sensitivity`` (robustness
        values: the share of the residuals of outcome and group that an unmeasured confounder of
        group or mediators must explain, of both, so that the direct effect may vanish).
    {inherited}

    Raises
    ------
    ValueError
        If `protected` is not given, if a column has two roles, or if a learner fails.

    See Also
    --------
    OaxacaBlinder : The unexplained part by regression, with the part of each column.

    Notes
    -----
    Estimates are one-step: they are right if the expected outcome or the probability of the group
    is learned well, and errors of both enter by their product. The weights are then moved so that
    each main effect has the same mean on both sides: what learners shrink, such as columns with
    many values and few people in each, is no direct effect. Weights add up to 1 and are not below
    0 (truncated linear calibration), and rates are kept between 0 and 1. Intervals use Student's t;
    its degrees of freedom are the effective number of people of the weights, minus one. With fewer
    than five, or where more than a tenth of the reference have nobody of the group alike (a
    probability below 0.01, and the group is surely ten times rarer there), it is unknown. Effects
    are causal only if the graph is right and there are no unmeasured confounders. Probabilities are
    kept between 0.01 and 0.99.

    References
    ----------
    D. Plečko, E. Bareinboim: Causal fairness analysis. Foundations and Trends in Machine Learning
    17, 2024. https://doi.org/10.1561/2200000106

    V. Chernozhukov, C. Cinelli, W. Newey, A. Sharma, V. Syrgkanis: Long story short: omitted
    variable bias in causal machine learning. Review of Economics and Statistics, 2024.

    J.-C. Deville, C.-E. Särndal: Calibration estimators in survey sampling. Journal of the American
    Statistical Association 87, 1992. https://doi.org/10.1080/01621459.1992.10475217

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> detector = EffectDecomposition(protected="gender", nuisance="boosting", random_state=0)
    >>> result = detector.fit(X, y).result_
    >>> result.to_frame()[["gap", "effect"]].round(1).abs().to_dict("records")
    [{'gap': 0.2, 'effect': 0.0}]
    """

    mediators: str | Sequence[Hashable] = setting(
        "others",
        [str, "array-like"],
        """Columns that the protected one acts on. "others": all that are neither protected nor
        `confounders`.""",
        kind='"others", or sequence of column names',
    )
    confounders: str | Sequence[Hashable] = setting(
        "others",
        [str, "array-like"],
        """Columns that protected attribute and outcome have causes in common with, such as age
        or place of birth. "others": all that are neither protected nor `mediators`; none if
        both are "others".""",
        kind='"others", or sequence of column names',
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared: rates of decisions, means of the model's probabilities, or means of
        the numbers in y ("value", without a model).""",
    )
    nuisance: str | Estimator = setting(
        "boosting",
        _LEARNER,
        """Learns the expected outcome out of fold: boosted trees, main effects, or clones of an
        estimator, which get the raw columns as a DataFrame. "auto" takes trees where they
        predict better than main effects by more than a standard error. If both settings are
        "boosting", the engine of expectations learns main effects, each value that ten people
        share and cells of crossings before the trees, and intervals are widened by the biases
        that remain.""",
        kind='{"boosting", "auto", "linear"} or estimator',
    )
    classifier: str | Estimator = setting(
        "boosting",
        _LEARNER,
        "Learns the probability of the group, in the same way.",
        kind='{"boosting", "auto", "linear"} or estimator',
    )
    n_folds: int = setting(
        5,
        [AT_LEAST_TWO],
        "Number of folds; for each, the learners are trained on all others.",
    )
    limits: Limits | None = LIMITS
    verbose: bool | int = VERBOSE

    _most = 50_000
    limit_fields = {"rows": rows_of_wide(_most)}
    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="direct effect of a group, by a doubly robust estimate",
        output="direct, indirect and spurious effects with intervals, overlap and sensitivity",
        published="formulas of the standard fairness model",
        reference="Plecko and Bareinboim, FnT ML 2024",
        summary="the direct, indirect and spurious effects that a gap consists of",
        needs="labels, decisions, probabilities or numbers; which columns are mediators",
        claims="A group has an effect on the outcome that runs through none of the mediators.",
        does_not_say="That the columns named are all mediators and all common causes.",
        bounded="direct effect",
        **OF_GROUPS,
    )
    _measure = "direct effect"

    def _on_decisions(self):
        return copy(self)

    def _columns(self, names):
        confounders, mediators = self._roles(names)
        return [*confounders, *mediators]

    def _roles(self, names):
        """Return the confounders and the mediators."""
        roles = {"confounders": self.confounders, "mediators": self.mediators}
        for role, columns in roles.items():
            if not (isinstance(columns, str) and columns == "others"):
                roles[role] = check_protected(columns if len(columns) else None, names, role)
        role_of_column = dict.fromkeys(self.protected_, "protected")
        for role, columns in roles.items():
            for c in () if columns == "others" else columns:
                if c in role_of_column:
                    raise ValueError(
                        f"{role} names {c!r}, which is among {role_of_column[c]}, too."
                    )
                role_of_column[c] = role
        rest = [c for c in names if c not in role_of_column]
        Z, W = roles["confounders"], roles["mediators"]
        if Z == "others":
            Z = [] if W == "others" else rest
        return Z, rest if W == "others" else W

    def _compare(self, task, people, rng):
        Z, W = self._roles(list(people.X))
        fold = folds_of(people.inside, self.n_folds, rng)
        sets = {"confounders": Z, "confounders and mediators": [*Z, *W]}
        learned = {
            name: self._learned(task, people, columns, fold) if columns else None
            for name, columns in sets.items()
        }
        # By nuisances learned separately, the indirect effect would be noise instead of exactly 0.
        if not W:
            learned["confounders and mediators"] = learned["confounders"]
        y, inside = people.y, people.inside
        given_confounders, given_all = learned.values()
        is_rate = self.output != "value"
        # Direct and indirect effects are not symmetric: the mediators are held as they are in the
        # reference, or as they are in the group.
        forward = EffectParts.of(y, inside, given_all, given_confounders, is_rate)
        backward = EffectParts.of(
            y,
            ~inside,
            given_all and given_all.swapped,
            given_confounders and given_confounders.swapped,
            is_rate,
        )
        residual = y - (y.mean() if given_all is None else _expected(given_all, inside))
        tables = {
            "effects": _two_directions(forward, backward, self.significance),
            "overlap": _overlap(learned, inside),
            "sensitivity": pd.DataFrame(
                [
                    {"direction": name} | parts.robustness(residual, self.significance)
                    for name, parts in zip(_DIRECTIONS, (forward, backward), strict=True)
                ]
            ),
        }
        part = {name: e.value for name, e in forward.estimates.items()}
        columns = {"gap": part["total"], "indirect": part["indirect"], "spurious": part["spurious"]}
        columns |= {"direct_on_group": -backward.estimates["direct"].value}
        columns |= {"robustness": tables["sensitivity"]["robustness_ci"].iloc[0]}
        notes = _notes(learned, Z)
        if given_all is not None and given_all.unlearned:
            notes.append(said_about(list(given_all.unlearned)))
        doubts = _doubts(tables["overlap"], learned, inside)
        return PairComparison(forward.estimates["direct"], columns, tables, notes, doubts)

    def _learned(self, task, people, columns, fold):
        """Return the nuisances given some columns."""
        design = DesignMatrix.of(people.X, task.space, columns)
        fitter = CrossFitter(people.X[columns], design.values, fold)
        learners = self.nuisance, self.classifier
        if all(isinstance(one, str) and one == "boosting" for one in learners):
            covariates = Covariates.of(people.X[columns], task.space)
            rng = np.random.default_rng(_SEED)
            return EffectNuisances.by_engine(fitter, covariates, people.y, people.inside, rng)
        return EffectNuisances.learned(
            fitter, people.y, people.inside, self.nuisance, self.classifier
        )


_DIRECTIONS = ("reference to group", "group to reference")


def _expected(nuisances, inside):
    """Return the outcome expected of each row as it is."""
    return np.where(inside, nuisances.of_group, nuisances.of_reference)


def _two_directions(forward, backward, significance):
    """Return the parts in both directions."""
    tables = [estimate_table(parts.estimates, significance) for parts in (forward, backward)]
    for name, table in zip(_DIRECTIONS, tables, strict=True):
        table.insert(0, "direction", name)
    return pd.concat(tables, ignore_index=True)


def _overlap(learned, inside):
    """Return how alike the sides are, by set of columns."""
    rows = []
    for columns, n in learned.items():
        if n is None:
            continue
        for side, members, odds in (
            ("group", inside, (1 - n.share) / n.share),
            ("reference", ~inside, n.share / (1 - n.share)),
        ):
            worth = kish_size(odds[members])
            ends = n.share[members].min(), n.share[members].max()
            rest = n.n_clipped, n.unmatched(members)
            rows.append((columns, side, int(members.sum()), worth, *ends, *rest))
    names = ["given", "side", "n", "n_effective", "lowest_share", "highest_share", "n_clipped"]
    return pd.DataFrame(rows, columns=[*names, "unmatched"])


def _notes(learned, confounders):
    """Return notes on roles and learners."""
    notes = []
    if not confounders:
        notes.append("No column is a confounder, so no part of the gap is spurious.")
    last = learned["confounders and mediators"]
    if last is not None:
        kinds = ", ".join(dict.fromkeys(last.kinds))
        notes.append(f"Expectations given all columns were learned by: {kinds}.")
    return notes


def _doubts(overlap, learned, inside):
    """Return why effects may be wrong for lack of overlap."""
    if not len(overlap):
        return []
    is_apart = any(n is not None and n.lack_overlap(inside) for n in learned.values())
    if not is_apart and overlap["n_effective"].min() < _FEW_EFFECTIVE:
        return ["too few people of one side are like those of the other (see the table overlap)"]
    if is_apart or overlap["n_clipped"].max() > _MANY_CLIPPED * len(inside):
        return ["the columns nearly determine who belongs to the group (see the table overlap)"]
    if overlap["unmatched"].max() > _MANY_UNMATCHED:
        return ["many people have values that the other side lacks (see the table overlap)"]
    return []
