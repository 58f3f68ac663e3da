"""GroupDisparity: the measures of discrimination for every protected group and intersection."""

from collections.abc import Sequence
from copy import copy
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skdisc import _stats
from skdisc._results._findings import GroupFindings
from skdisc._results._shared_values import MIN_CELL
from skdisc._space._bins import Bins
from skdisc._task._card import Card
from skdisc._task._clustered import ClusteredMixin
from skdisc._task._notes import differing_groups, with_caveats
from skdisc._task._shared_settings import N_BINS
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, INNER_SHARE, setting
from skdisc._utils._types import (
    Columns,
)
from skdisc._utils._validation import check_protected
from skdisc._verdicts._rule import OF_RATES
from skdisc.base import BaseDetector
from skdisc.group import _group_disparity_table as measure_tables
from skdisc.group._group_disparity_people import (
    KnownGroups,
    add_held_out,
    notes_on_selection,
    people_of,
)
from skdisc.group._group_disparity_presets import PRESETS
from skdisc.group._group_disparity_report import compare, report, selected_intervals
from skdisc.measures._formula._catalogue import CATALOGUE


class GroupDisparity(ClusteredMixin, BaseDetector):
    r"""Compare every protected group, and every intersection of groups, by the chosen measures.

    For a measure :math:`m` of a group :math:`g` against its reference :math:`r` the effect is
    signed and below 0 where the group is worse off: :math:`m(r, r) - m(g, r)` for differences that
    grow with disadvantage (mean difference), :math:`m(g, r) - 1` for ratios of the group to the
    reference (impact ratio), :math:`1 / m(g, r) - 1` for inverse ratios (odds ratio).

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        What `fit` found, one finding per group and measure. ``tables["measures"]`` has every
        measure and group on the measure's own scale, with `min_detectable_gap`, the smallest
        departure from equality that is detectable in the data (power 0.8, corrected level; for
        ratios one minus the ratio). ``tables["family"]`` has the rates that the measures are
        about: for each group the gap with the interval that the bound of the verdict is made of,
        whether it is judged (of `relevant_size`), and whether a relevant gap is excluded
        (cleared). With `shrinkage`, ``tables["shrinkage"]`` has for each intersection
        the raw `outcome` and the `shrunken` one, each with its interval, `toward` (the outcome by
        the additive model) and `kept`, the share of the distance from it that the model keeps (Fay
        and Herriot 1979, with a flat prior of the deviation from the model, Gelman 2006). No
        outcome moves by more than 0.7 standard errors (Efron and Morris 1972). With fewer than
        three groups more than parameters they are drawn toward their mean, with fewer than four
        groups not at all (NaN).
    null : {"marginal", "calibration"}
        The null hypothesis: "calibration" if all `measures` compare labels among people with equal
        decisions or scores (predictive_parity, calibration_difference, calibration_within_groups),
        else "marginal". ``tables["measures"]`` has the null hypothesis of each measure, `null`.
    {inherited}

    Raises
    ------
    ValueError
        If a measure, a reference or a column is unknown, or `protected` is not given.

    References
    ----------
    B. Efron, C. Morris: Limiting the risk of Bayes and empirical Bayes estimators, part II. Journal
    of the American Statistical Association 67, 1972. https://doi.org/10.1080/01621459.1972.10481215

    R. E. Fay, R. A. Herriot: Estimates of income for small places. Journal of the American
    Statistical Association 74, 1979. https://doi.org/10.2307/2286322

    A. Gelman: Prior distributions for variance parameters in hierarchical models. Bayesian Analysis
    1, 2006. https://doi.org/10.1214/06-BA117A

    I. Žliobaitė: Measuring discrimination in algorithmic decision making. Data Mining and
    Knowledge Discovery 31, 2017. https://doi.org/10.1007/s10618-017-0506-1

    Examples
    --------
    >>> from skdisc.datasets import make_loan
    >>> X, y = make_loan(random_state=0, return_X_y=True)
    >>> finding = GroupDisparity(protected="gender").fit(X, y).result_[0]
    >>> print(finding.subject, round(finding.effect, 2))
    gender = 'female' -0.2
    """

    protected: Columns | None = setting(
        None,
        text="""Protected columns. Numbers with more than `n_bins` values are cut at quantiles;
        the names of the groups contain the edges.""",
    )
    measures: str | Sequence[str] | None = setting(
        None,
        [StrOptions({"all"}), "array-like", None],
        """Names of absolute measures of `skdisc.measures`. None: mean_difference and
        impact_ratio; with a model and labels also equal_opportunity, balance_negative_class
        (false positives) and predictive_parity; of numbers mean_difference (Welch's and Hall's
        test), with which standardized_mean_difference, quantile_difference and
        wasserstein_distance (a test by `n_resamples` permutations) may be named. Measures
        without a direction (e.g. mutual_information) are reported in ``tables["measures"]``
        only.""",
        kind='"all", sequence of str or None',
    )
    preset: str | None = setting(
        None,
        [StrOptions({"four_fifths", "ll144"}), None],
        """Other defaults for `measures`, `reference` and `min_share`, and the table
        ``tables["impact_ratios"]``. "four_fifths": impact ratio against the best group, which
        stands in the table with its size, exact test, shortfall. "ll144": the same, where
        groups under 2 % are listed but not compared, and people of unknown category are counted
        separately; with ``output="probability"`` a favorable decision is a score above the
        median of all scores (scoring rate). Neither preset reports pass or fail.""",
    )
    reference: Any = setting(
        None,
        "no_validation",
        """The group that others are compared with: a value of the protected column, one for
        each column, or a rule: "largest" (default), "best", "rest" (everyone else), "overall"
        (everyone). "best" is the group with the highest rate among those of at least 2 % of the
        people and 10 people.""",
        kind="value, dict of values, or rule",
    )
    intersections: int = setting(
        2,
        [AT_LEAST_ONE],
        "Largest number of protected columns that are combined.",
    )
    n_bins: int | dict | Bins = N_BINS
    min_share: float | None = setting(
        None,
        [Interval(Real, 0, 1, closed="left"), None],
        "Share of the rows below which a group is listed but not compared; None: 0.",
        kind="float",
    )
    threshold: float | None = setting(
        None,
        [Interval(Real, 0, None, closed="neither"), None],
        "Impact ratio below which the table of a preset reports a shortfall.",
        kind="float",
    )
    direction: str = setting(
        "both",
        [StrOptions({"both", "lower", "higher"})],
        "Find groups that are worse off, better off, or either.",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared: decisions, the model's probabilities of the favorable one, or the
        numbers in y, such as pay, of which more is better.""",
    )
    k: int | None = setting(
        None,
        [AT_LEAST_ONE, None],
        "Number of findings kept; None: all.",
        kind="int",
    )
    confirm: float | None = setting(
        None,
        [INNER_SHARE, None],
        """Share of the rows to hold out (whole clusters): groups are then found on the others,
        and those that differ again on the rows held out, in the same direction, count as found.""",
    )
    weights: str = setting(
        "probability",
        [StrOptions({"probability", "frequency"})],
        """What `sample_weight` means: inverse probabilities of sampling, in any unit, with
        linearized variances; or numbers of equal rows, which are counted and not repeated where
        no model is trained, without `groups`. The result is that of repeated rows; with
        `confirm`, equal rows are split at random, so that both agree in distribution.""",
    )
    shrinkage: bool = setting(
        False,
        ["boolean"],
        """Whether ``tables["shrinkage"]`` has the outcomes of intersections drawn toward an
        additive model of the protected columns, as well as the raw ones. Verdicts and findings do
        not use them.""",
    )
    n_resamples: int = setting(
        999,
        [COUNT],
        "Number of bootstrap samples, for measures without a closed-form interval.",
    )

    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="any absolute measure, group against its reference",
        output="every group and intersection with effect, interval and corrected p-value",
        published="a survey; its experiment on a queue is reproduced in the examples",
        reference="Zliobaite, DMKD 2017",
        summary="disparities of all protected groups and intersections, by any measure",
        needs="labels or decisions",
        claims="A protected group, or an intersection, differs from its reference group by the "
        "measure.",
        does_not_say="That the groups are otherwise alike.",
        other_null="calibration if all measures compare labels among people with equal decisions "
        "or scores",
        family="protected groups of `relevant_size` or more",
        bounded="gap of the rates or means behind a measure",
        decides="gap; in marginal questions of rates the ratio, too",
    )
    rule_fields = OF_RATES
    own_correction = "bh"
    _min_cell = MIN_CELL  # people; a smaller group is not the best one. An audit sets its own
    _choice = None  # the groups that a public document may look at; None: all

    def _on_decisions(self):
        names, detector = self.measures, copy(self)
        if self.preset is not None:
            return detector
        if names is None or isinstance(names, str):
            names = measure_tables.PLAIN
        detector.measures = [n for n in names if not CATALOGUE[n].needs_labels]
        return detector if detector.measures else None

    @property
    def null(self) -> str:
        """The null hypothesis that the verdict "disparity found" rejects."""
        return measure_tables.null_of(self.measures)

    @property
    def _counts_rows(self):
        """Whether a row may stand for many people: not where numbers are compared."""
        return self.output != "value"

    def _resolve_model(self, people, model):
        if self._compares_numbers and self.preset is not None:
            raise ValueError(f"preset={self.preset!r} is about decisions, not numbers in y.")
        return super()._resolve_model(people, model)

    def _columns_read(self, names):
        return check_protected(self.protected, names)

    def _discover(self, task):
        """Compare all groups; rank significant ones first, with intervals for being selected."""
        bins = Bins.of(self._counted_bins or self.n_bins).flat
        conditions = measure_tables.conditions(task.people, task.space, self.protected_, bins)
        rule = self._setting("reference")
        reference = measure_tables.reference_among(rule, conditions)
        searched, held_out = people_of(self, task), None
        if self.confirm is not None:
            searched, held_out = searched.split(self.confirm, task.rng)
        compared = compare(self, task, searched, conditions, reference)
        table = compared.table
        if rule not in ("rest", "overall"):
            # The reference of fit is kept: among new rows, another group may be the best.
            reference = measure_tables.references(table, reference)
        task.memory = KnownGroups(conditions, reference)
        shown = table[table["effect"].notna()]
        sign = {"lower": -1, "higher": 1, "both": 0}[self.direction]
        shown = shown[sign * shown["effect"] > 0] if sign else shown
        is_found = shown["p_adjusted"] <= self.significance
        # Significant effects first; among these, and among the others, by measure and size.
        order = np.lexsort((-shown["effect"].abs(), shown["place"], ~is_found))
        shown, is_found = shown.iloc[order], is_found.to_numpy()[order]
        shown, level = selected_intervals(self, compared, shown, is_found.sum())
        if held_out is not None:  # significance is then decided by the people held out
            compared = compare(self, task, held_out, conditions, reference)
            shown, is_found = add_held_out(shown, compared.table, self)
        notes = notes_on_selection(searched.n, held_out, level, self.significance)
        findings = self._findings(task, shown.head(len(shown) if self.k is None else int(self.k)))
        return report(self, task, compared, findings, shown["group"][is_found], notes)

    def _remeasure(self, task):
        people = people_of(self, task)
        compared = compare(self, task, people, task.memory.predicates, task.memory.against)
        table = compared.table
        at_fit = self.result_.to_frame()[["subject", "measure", "reference", "effect"]]
        at_fit = at_fit.rename(columns={"effect": "effect_at_fit"})
        shown = at_fit.merge(table, how="left", on=["subject", "measure", "reference"])
        shown = shown.fillna({"support": 0, "test": ""})
        shown["group"] = list(self.result_.findings.subgroups)
        shown["p_adjusted"] = _stats.adjust(shown["p_value"].to_numpy(dtype=float), self.correction)
        is_confirmed = shown["p_adjusted"] <= self.significance
        # A gap in the other direction does not confirm a finding.
        is_confirmed &= np.sign(shown["effect"]) == np.sign(shown["effect_at_fit"])
        findings = self._findings(task, shown)
        discovery = report(self, task, compared, findings, shown["group"][is_confirmed])
        if is_confirmed.any():
            return discovery
        return with_caveats(discovery, differing_groups(table["p_adjusted"], self.significance))

    def _setting(self, name):
        value = getattr(self, name)
        return PRESETS[self.preset][name] if value is None else value

    def _findings(self, task, shown):
        groups = [measure_tables.subgroup(g) for g in shown["group"]]
        return GroupFindings.of(groups, measure_tables.finding_columns(shown), task.space)
