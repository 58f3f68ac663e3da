"""CounterfactualFairness: decisions about people and about their counterfactuals."""

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils._param_validation import StrOptions

from skdisc._blackbox._blackbox import AuditedModel, BlackBox, resolve
from skdisc._results._findings import CaseFindings, Discovery
from skdisc._task._card import Card
from skdisc._task._clustered import ClusteredRowsMixin
from skdisc._task._limits import QUERIES_OF_ROWS, ROWS, SECONDS
from skdisc._utils._hashing import canonical_order, row_hashes
from skdisc._utils._settings import COUNT, NOT_NEGATIVE, setting
from skdisc.causal._counterfactual_rows import is_frame, ready_each
from skdisc.exceptions import RefitWarning
from skdisc.individual._base import IndividualDetector, input_keys
from skdisc.individual._case_share import (
    CHANCE_NOTE,
    beyond_chance,
    changes_by_itself,
    effective_number,
)
from skdisc.individual._counterfactual_fairness._mean_effects import answer
from skdisc.individual._counterfactual_fairness._resamples import resample
from skdisc.individual._counterfactual_fairness._sensitivity import sensitivity_table, tipping_notes
from skdisc.individual._counterfactual_fairness._tables import groups_of, make_tables
from skdisc.individual._counterfactual_fairness._worlds import (
    WorldComparison,
    all_decided,
    sources_of,
)
from skdisc.individual._prober import count_by_value


class CounterfactualFairness(ClusteredRowsMixin, IndividualDetector):
    r"""Compare the outcomes of people and of their counterfactuals with other protected values.

    With a model :math:`f`, a row :math:`x_i` and its counterfactual :math:`x_i^{cf}` under an
    intervention on the protected attributes,

    .. math:: \delta_i = f(x_i) - f(x_i^{cf}).

    A person has a case iff :math:`|\delta_i| > g`. Group means of :math:`\delta`, flips in both
    directions and their intervals are in the table ``effects``; individual differences may cancel
    in a mean, so a mean of 0 does not imply fairness.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found: `Case` objects, the largest difference first. Tables: ``effects`` (world,
        intervention and group: n people changed, mean, interval, mean and largest absolute
        difference, share with a case, flips), ``spread``, ``factual`` and ``counterfactual``
        (rows with their outcomes, in the order of X).
    sources_ : dict
        The fitted sources by name.
    {inherited}

    Raises
    ------
    ValueError
        If a source, an intervention or a group does not fit the columns of X, or labels or a model
        are needed and not given.
    TypeError
        If only a `FeatureSpace` is given, or a source is of an unknown type.

    Warns
    -----
    RefitWarning
        If ``evaluate="refit"`` compares models that use the protected columns.

    Notes
    -----
    The notebook that introduced the ``refit`` measure fits a model in each world; the definition of
    Kusner et al. is about one predictor, which is audited here by default.

    References
    ----------
    M. Kusner, J. Loftus, C. Russell, R. Silva: Counterfactual fairness. NeurIPS 2017.

    Examples
    --------
    >>> from skdisc.causal import StructuralCausalModel
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(1000, random_state=0, return_X_y=True)
    >>> scm = StructuralCausalModel(
    ...     [
    ...         ("gender", "annual_salary"),
    ...         ("gender", "account_balance"),
    ...         ("annual_salary", "account_balance"),
    ...     ]
    ... )
    >>> bank = lambda X: (X["annual_salary"] + 5 * X["account_balance"] > 225_000).astype(int)
    >>> audit = CounterfactualFairness(protected="gender", counterfactuals=scm, n_resamples=0)
    >>> effects = audit.fit(X, y, bank).result_.tables["effects"].set_index("group")
    >>> effects.loc["gender = 'female'", ["n", "mean", "gains", "losses"]].round(3).tolist()
    [470.0, -0.164, 77.0, 0.0]
    """

    counterfactuals: Any = setting(
        None,
        "no_validation",
        """A `StructuralCausalModel` (fitted on X unless it is fitted), a callable ``(X, do) ->
        frame``, a frame aligned with X, or a pair of one and its decisions; without a model, y
        are then the decisions that these are compared with. None: only the protected columns
        change, a direct effect.""",
        kind="source of counterfactual rows",
    )
    do: dict | None = setting(
        None,
        [dict, None],
        """The intervention, see `StructuralCausalModel.counterfactual`; by default a single
        protected column of two values is flipped, otherwise every combination of protected
        values is set, up to 1,000.""",
    )
    block: Sequence[tuple[Hashable, Hashable]] = setting(
        (),
        ["array-like"],
        "Edges of the causal model along which an intervention has no effect.",
        kind="sequence of (parent, child) pairs",
    )
    worlds: list | dict | None = setting(
        None,
        [dict, list, tuple, None],
        """Competing causal models. The first (or `counterfactuals`) gives the findings; the
        range of the outcomes over all of them is in the tables ``spread`` and
        ``counterfactual``.""",
        kind="list or dict of sources",
    )
    group: Any = setting(
        None,
        [dict, None],
        """The disadvantaged group by column, e.g. ``{"Race": 1, "Gender": 1}``, for which means
        are reported, too.""",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared; "value" is a margin or the number that a regressor predicts.""",
    )
    min_gap: float = setting(
        0.0,
        [NOT_NEGATIVE],
        "The gap g that must be exceeded.",
    )
    sensitivity: str | Sequence[float] | None = setting(
        "auto",
        ["array-like", StrOptions({"auto"}), None],
        """Correlations of the protected column with hidden causes of its numeric children,
        under which the first causal model is fitted again (table ``sensitivity``). "auto": up
        to 0.4 in both directions, if one protected column with two values, or a number, has
        such children.""",
        kind='"auto", sequence of float in (-1, 1), or None; default="auto"',
    )
    evaluate: str = setting(
        "model",
        [StrOptions({"model", "refit"})],
        """"refit" trains a copy of the model in each world on the factual labels, and compares
        the predictions of the two copies. Neither of them is the deployed model; for linear
        models that use the protected attribute the difference is always 0. For comparison with
        published numbers; without intervals.""",
    )
    n_resamples: int = setting(
        200,
        [COUNT],
        """Number of bootstrap samples for the intervals of means, drawn within groups of equal
        protected values, the same for every world; causal models that were fitted here are
        fitted again on each. With more than 10,000 people, each sample has 10,000, or more if a
        group would have fewer than 30, and its deviations are scaled to all people. 0: no
        intervals.""",
    )

    null = "counterfactual"
    _needs = ("worlds",)
    _resamples_training = True
    card = Card(
        finds="individual",
        where="model",
        access="predict",
        statistic="difference between a person's factual and counterfactual outcome",
        output="cases: people beside their counterfactual; group means, flips, spread over worlds",
        published="none: it is a definition",
        reference="Kusner et al., NeurIPS 2017",
        summary="people whose outcome differs in a counterfactual world",
        needs="a model to query, or the decisions of both worlds",
        claims="On average, the decision differs in the counterfactual world; or effects of "
        "opposite signs are larger than fitting the causal model to another sample makes them; "
        "or, where nothing was fitted, more than `relevant_share` of the people have a case.",
        does_not_say="That the causal model is right. Hidden common causes change the effect: "
        '``tables["sensitivity"]`` says how strong they would have to be.',
        family="the interventions; where nothing was fitted, one share",
        bounded="mean gap between worlds; share of people with a case",
        decides="gap; `relevant_share`",
    )
    rule_fields = ("significance", "relevant_gap", "relevant_share")
    limit_fields = {"queries": QUERIES_OF_ROWS, "seconds": SECONDS, "rows": ROWS}

    def _given_space(self, space):
        raise TypeError(
            "CounterfactualFairness needs rows of X, the people whose counterfactuals are "
            "compared; a FeatureSpace alone has none."
        )

    def _resolve_model(self, people, model):
        if self.output != "value":
            has_no_model = model is None and self.estimator is None and people.y is not None
            if has_no_model and all_decided(
                self
            ):  # y are the decisions that these are compared with
                model = BlackBox(decisions=people.y)
            return super()._resolve_model(people, model)
        if model is None and self.estimator is None:
            raise ValueError("output='value' needs model= or estimator=; there is no surrogate.")
        X = people.X if self.space_.is_frame else people.X.to_numpy()
        return AuditedModel(
            *resolve(model, estimator=self.estimator, X=X, y=people.y, numeric=True), None, []
        )

    def _discover(self, task):
        # Causal models and bootstrap samples must not depend on the order of rows.
        order = canonical_order(task.X)
        self.sources_, recipes = ready_each(sources_of(self), task.X.iloc[order])
        self._recipes = recipes
        task.memory = task.X if any(map(is_frame, self.sources_.values())) else None
        discovery = self._compare(task, order, recipes)
        if self.evaluate == "refit":
            self._warn_of_identity()
        return discovery

    def _remeasure(self, task):
        if task.memory is not None and not task.memory.equals(task.X):
            raise ValueError(
                "The counterfactual rows were given for the rows of fit and not for others. Give a "
                "causal model or a callable to audit new rows."
            )
        return self._compare(task, canonical_order(task.X), {})

    def _compare(self, task, order, recipes):
        c = WorldComparison(self, task, order)
        gap = c.factual_outcome - c.outcome
        is_random = task.queries is not None and task.queries.is_random
        positions = np.flatnonzero(np.abs(gap) > self.min_gap)
        share = ("share of the rows of X with a case", len(positions), len(c.X))
        # Of a random model no single difference is known to be a case.
        positions = positions[:0] if is_random else positions
        positions = positions[np.argsort(-np.abs(gap[positions]), kind="stable")]
        findings = CaseFindings(
            c.X.iloc[positions],
            c.rows.iloc[positions],
            c.factual_outcome[positions],
            c.outcome[positions],
            space=task.space,
            row=c.order[positions],
        )
        beyond = self._beyond_chance(c, share[1]) if is_random else None
        tables, verdict = self._judged(c, recipes, beyond)
        # Inputs are counted, so people who differ only in protected columns count once.
        inputs = input_keys(c.X, task.space)
        first = np.flatnonzero(~pd.Series(inputs[positions]).duplicated().to_numpy())
        task.budget.tests, task.budget.found = len(pd.unique(inputs)), len(first)
        columns = [task.space.columns[j] for j in task.space.p_index]
        codes = (
            np.column_stack([column.encode(f[column.name].iloc[first]) for column in columns])
            for f in (findings.original, findings.altered)
        )
        return Discovery(
            findings=findings,
            measure=self._measure(),
            n_tested=task.budget.tests,
            n_found=task.budget.found,
            by_value=count_by_value(task, task.budget.tests, *codes),
            estimates=self._shares([], beyond) if is_random else self._shares([share]),
            tables=tables,
            notes=[CHANCE_NOTE] * is_random + c.notes() + tipping_notes(tables.get("sensitivity")),
            answer=verdict,
        )

    def _beyond_chance(self, c, n_cases):
        """Return the share of people with a case beyond those whose outcome changes by itself."""
        n_times, queries = 1 + len(c.mine), c.task.queries
        rows = c.X.iloc[: int(min(c.n, c.task.budget.queries_left / n_times))]
        changes = changes_by_itself(queries, rows, np.full(len(rows), n_times), self.min_gap)
        numbers = np.unique(row_hashes(c.X), return_inverse=True)[1]
        return beyond_chance(
            "people",
            hits=n_cases,
            n=c.n,
            changes=changes,
            significance=self.significance,
            n_effective=effective_number(numbers),
        )

    def _judged(self, c, recipes, beyond=None):
        """Return the tables and the answer of the worlds."""
        groups, samples = groups_of(c), None
        if c.n and c.answers and not c.refit and self.n_resamples:
            members = np.column_stack(list(groups.values())).astype(float)
            samples = resample(c, members, recipes)
            if c.task.is_audit and c.main in self._recipes:  # it was fitted to other people
                samples = replace(samples, shifts=np.full_like(samples.shifts, np.nan))
        tables = make_tables(c, groups, None if samples is None else samples.means)
        sensitivity = sensitivity_table(c, groups)
        if sensitivity is not None:
            tables["sensitivity"] = sensitivity
        trained = self.model_ is not None and self.model_.training is not None
        is_known = c.main not in self._recipes and not trained
        if beyond is not None and is_known and c.n_changed:
            return tables, beyond.answer(self)
        return tables, answer(c, tables["effects"], samples, is_known)

    def _statistic(self, task):
        """Return the mean absolute difference from the counterfactuals."""
        c = WorldComparison(self, task, canonical_order(task.X))
        return float(np.abs(c.factual_outcome - c.outcome).mean()) if c.n else 0.0

    def _warn_of_identity(self):
        names = getattr(self.model_.model, "feature_names_in_", self.space_.names)
        columns = [c for c in self.do or self.protected_ if c in names]
        if columns:
            warnings.warn(
                f"evaluate='refit' trains a model that sees {columns!r} in each world. With an "
                "intercept, least squares then predicts the mean label of each group in every "
                "world, so a difference of 0 is an identity and not a finding. evaluate='model' "
                "audits one model.",
                RefitWarning,
                stacklevel=4,
            )

    def _measure(self):
        if self.output == "value":
            return "value predicted, factual minus counterfactual"
        return super()._measure()
