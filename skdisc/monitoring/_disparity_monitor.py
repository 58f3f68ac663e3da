"""DisparityMonitor: decisions as they arrive, tested at all times at one level."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skdisc._results._audit_result import AuditResult
from skdisc._results._shared_values import MIN_CELL
from skdisc._space._feature_space import FeatureSpace
from skdisc._stats._rates import RATES, check_metrics
from skdisc._task._card import Card
from skdisc._task._task import People, Task
from skdisc._utils import _validation as check
from skdisc._utils._inputs import check_order
from skdisc._utils._json import jsonable
from skdisc._utils._settings import AT_LEAST_ONE, setting
from skdisc._utils._types import ArrayLike, Columns, Estimator, FrameLike, Labels
from skdisc._verdicts._relevant import NUMBER, relevant_gap_of
from skdisc.base import BaseDetector
from skdisc.monitoring._batch_outcomes import given_batch, labels_of_first, outcomes, values
from skdisc.monitoring._last_shown import LEAST
from skdisc.monitoring._monitor_report import report, report_to_show
from skdisc.monitoring._monitor_state import bounds_of, from_json, new_stream, to_json


class DisparityMonitor(BaseDetector):
    r"""Watch decisions as they arrive, and report a disparity at any time at one level.

    An audit that is repeated every month finds a disparity sooner or later, by chance. The monitor
    bets against the equality of rates: the *wealth* of each group starts at 1, is multiplied by the
    e-value of each block of people, and is above :math:`1 / \alpha` at any time at all with
    probability :math:`\alpha` at most if the rates are equal. So one may look after every batch.

    A block holds the people of a batch; it is kept open until the group and the others have people,
    and both together at least 25.
    The null hypothesis is that within each block both sides have the same mean rate: the rate may
    drift from block to block, and groups may arrive in changing numbers, but not both in one block.
    Of numbers such as pay (``output="value"``), means are compared in place of rates, and each
    counts between the `bounds`.

    {parameters}

    Attributes
    ----------
    result_ : AuditResult
        One finding per group: gap with its confidence sequence, the probability bound `p_value`
        (one over the largest wealth so far) and `p_adjusted` (e-BH on the current wealths).
        ``tables["groups"]`` has the wealths and estimated changes, ``tables["history"]`` the course
        of both over the batches. Reports show its `last_shown`, whose numbers of groups are renewed
        for many people at a time, so that nothing follows about the few between two reports.
    alarm_at_ : int or None
        Number of people after which the evidence against equal rates of all groups first reached
        one over `significance`.
    batches_ : list of str
        Marks of the batches that `skdisc monitor` has added, so that none is counted twice.
    n_batches_, n_people_ : int
        Batches, and people whom the rate is about, so far.
    null : {"marginal", "contextual"}
        The null hypothesis: "contextual" with `subgroups`.
    audited_ : {"model", "refit", "surrogate", "decisions", "labels"}
        What was audited.
    space_ : FeatureSpace
        The columns and their values in the first batch.
    protected_ : list
        Names of the protected columns.
    pos_label_ : list
        The favorable labels.

    Raises
    ------
    ValueError
        If `protected` is not given, or a protected column has too many values.

    Notes
    -----
    Values of protected columns that first appear later are new groups, with a share of a tenth of
    the level. Changes are reported by a Shiryaev-Roberts e-detector. The state is counts and
    wealths; where outcomes are numbers, also the numbers of people who wait for the other side.

    References
    ----------
    R. Turner, A. Ly, P. Grünwald: Generic E-variables for exact sequential k-sample tests that
    allow for optional stopping. Journal of Statistical Planning and Inference 230, 2024.
    B. Chugg, S. Cortes-Gomez, B. Wilder, A. Ramdas: Auditing fairness by betting. NeurIPS 2023.
    R. Wang, A. Ramdas: False discovery rate control with e-values. JRSS B 84, 2022.
    J. Shin, A. Ramdas, A. Rinaldo: E-detectors. NEJSDS 2, 2024.
    I. Waudby-Smith, A. Ramdas: Estimating means by betting. JRSS B 86, 2024.
    S. Howard, A. Ramdas, J. McAuliffe, J. Sekhon: Time-uniform, nonparametric, nonasymptotic
    confidence sequences. Annals of Statistics 49, 2021.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng, monitor = np.random.default_rng(0), DisparityMonitor(protected="sex")
    >>> for month in range(12):
    ...     X = pd.DataFrame({"sex": rng.choice(["f", "m"], 250)})
    ...     decided = rng.random(250) < np.where(X["sex"] == "f", 0.3, 0.5)
    ...     monitor = monitor.partial_fit(X, decided)
    >>> print(monitor.result_.verdict, "after", monitor.alarm_at_, "people")
    disparity found after 750 people
    """

    estimator: Estimator | None = setting(
        None,
        text="Cloned and fitted when `fit` gets no model. Not used by `partial_fit`.",
    )
    protected: Columns | None = setting(
        None,
        text="Protected columns. Each value is a group, compared with everyone else.",
    )
    subgroups: Any = setting(
        None,
        ["array-like", AuditResult, None],
        """A fixed list of groups to watch in place of all values, such as the findings of an
        audit of earlier people. A group is compared with the others who meet its conditions on
        columns that are not protected.""",
        kind="sequence of Subgroup, AuditResult or None",
    )
    intersections: int = setting(
        1,
        [AT_LEAST_ONE],
        "Largest number of protected columns that are combined.",
    )
    metric: str = setting(
        "selection_rate",
        [StrOptions(set(RATES))],
        "A rate, as in `DivExplorer`; all but the selection rate need labels.",
        kind="str",
    )
    output: str = setting(
        "decision",
        [StrOptions({"decision", "probability", "value"})],
        """What is compared: rates of decisions, means of numbers from 0 to 1, such as scores, or
        means of the numbers in y, such as pay, between `bounds`.""",
    )
    bounds: Sequence[float] | None = setting(
        None,
        ["array-like", None],
        """Of ``output="value"``: the smallest and the largest number that counts, such as ``(0,
        15000)`` for pay per month. Numbers beyond count as the bound, and a note says of how many
        people. Choose them before numbers are seen; the closer, the sooner gaps are seen.""",
        kind="pair of float or None",
    )
    strata: Columns | None = setting(
        None,
        ["array-like", str, Integral, None],
        """Columns within whose values people are compared. The null is then that rates are
        equal in each stratum, and not that they are equal overall.""",
        kind="column name or position, or sequence of them",
    )
    gaps: Sequence[float] = setting(
        (0.025, 0.05, 0.1, 0.2),
        ["array-like"],
        """Sizes of gaps that are bet on, in both directions, for rates around one half; for
        other rates they shrink with the standard deviation. The wealths of all bets are
        averaged. They matter for the delay of an alarm, and not for its level.""",
        kind="sequence of float",
    )
    run_length: float = setting(
        1000,
        [Interval(Real, 1, None, closed="neither")],
        "Smallest mean number of blocks between false reports of a change in one group.",
    )
    pos_label: Labels | None = setting(
        None,
        text="""The favorable decision. `partial_fit` needs it unless decisions are 0 and 1, or
        booleans.""",
    )

    card = Card(
        finds="group",
        where="model or data",
        access="labels or predict",
        statistic="product of e-values of blocks of people against equal rates",
        output="groups with wealth, confidence sequence and estimated change, valid at all times",
        published="auditing by betting on streams (Chugg et al. 2023)",
        reference="Turner et al., JSPI 2024; Chugg et al., NeurIPS 2023",
        summary="gaps in decisions as they arrive, at one level at all times",
        needs="labels or decisions",
        claims="At some time the rates of the groups differed; the level holds for all looks "
        "together.",
        does_not_say="That they differ now, or why.",
        other_null="contextual with `subgroups`",
        family="groups that held `relevant_size` of the people at some look",
        bounded="confidence sequence of the gap, at all times",
        decides="gap; the ratio where the question is marginal; the gap that matters is fixed at "
        "the first look",
    )
    _needs = ("arrivals",)
    _decisions_only = (
        "New rows have no decisions: add them with partial_fit(X, y_pred=decisions). audit() "
        "without X returns the result so far."
    )
    rule_fields = ("significance", "relevant_gap", "relevant_ratio", "relevant_size")

    @property
    def null(self) -> str:
        """The null hypothesis that the verdict "disparity found" rejects."""
        return "marginal" if self.subgroups is None else "contextual"

    @property
    def alarm_at_(self) -> int | None:
        """Number of people after which the alarm was raised, or None."""
        return self._stream().alarm_at

    @property
    def n_people_(self) -> int:
        """Number of people whom the rate is about, so far."""
        return self._stream().n_people

    @property
    def n_batches_(self) -> int:
        """Number of batches so far."""
        return self._stream().n_batches

    def partial_fit(
        self, X: FrameLike, y: ArrayLike | None = None, y_pred: ArrayLike | None = None
    ) -> Self:
        """Add a batch of decisions; the order of its rows does not matter.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features), or Counts
            The people of the batch, with the columns of the first one; or their `Counts`, with
            labels and decisions: those of several places add up to one batch.
        y : array-like of shape (n_samples,), optional
            Labels, for rates that need them; without `y_pred` the decisions.
        y_pred : array-like of shape (n_samples,), optional
            Decisions; numbers with ``output="probability"`` (from 0 to 1) or ``"value"``.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a setting, a column, a decision or a label is not allowed; the message names it. The
            state is then that before the call.
        TypeError
            If a column holds a type that cannot be audited.
        """
        self._validate_params()
        self._check_rule()
        check_order(X=X, y=y, y_pred=y_pred)
        X, y, y_pred, n = given_batch(X, y, y_pred, self.output)
        frame, is_first = self._next_frame(X), self._memory is None
        y = None if y is None else check.check_labels(y, len(frame))
        y_pred = check.check_labels(y_pred, len(frame), what="decisions")
        if is_first:
            self._start(y_pred)
        stay = check.check_missing(frame, self.protected_, self.missing)
        people = People(frame, y_pred, frequency=n).only(stay)
        # A copy, so that a batch that raises an error leaves the state as it was.
        stream = new_stream(self) if is_first else deepcopy(self._memory)
        y = None if y is None else y[stay]
        outcome = outcomes(people.y, y, self._audited, self.metric, self.output)
        stream.add(people.X, outcome, self.significance, self.relevant_size, people.frequency)
        self._fix_gap(stream, outcome, people.frequency)
        return self._keep(stream)

    def to_json(self) -> str:
        """Return the state as JSON: data about people, to be kept as the rows are.

        It has no rows, but the outcomes of groups and strata of any size: for a stratum of one
        person, such as a household, the outcome of this person. What may be handed on is
        ``result_.without_people()``.

        Returns
        -------
        str
            Settings, columns, counts and wealths.

        Raises
        ------
        NotFittedError
            If no batch was added.
        """
        check_is_fitted(self, "result_")
        return to_json(self, self._memory)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the monitor whose state was saved by `to_json`; no code is run.

        Parameters
        ----------
        text : str

        Returns
        -------
        DisparityMonitor
            Ready for `partial_fit`.

        Raises
        ------
        ValueError
            If the text is not the state of a monitor.
        """
        monitor, stream = from_json(cls, text)
        return monitor._keep(stream)

    def _discover(self, task):
        self._columns = list(self.space_.names)
        task.memory = self._add_task(new_stream(self), task)
        task.progress(f"{task.memory.n_people:,} people, {len(task.memory.groups)} groups")
        return report(self, task.memory, self.space_)

    def _remeasure(self, task):
        """Return the evidence of these rows alone about the groups of fit."""
        alone = self._add_task(task.memory.fresh(), task)
        return report(self, alone, self.space_)

    def _add_task(self, stream, task):
        """Add the rows of a task to a stream as one batch, unless the budget forbids it."""
        check_metrics(self.metric, task.queries is not None, task.y is not None)
        if not task.can_decide():
            return stream
        has_labels = task.y is not None and self.output != "value"
        labels = task.favorable_labels() if has_labels else None
        outcome = values(task.outcome(), labels, self.metric, self.output)
        stream.add(task.X, outcome, self.significance, self.relevant_size)
        self._fix_gap(stream, outcome)
        return stream

    def _next_frame(self, X):
        """Read the rows of a batch; the first one tells the columns."""
        learns = getattr(self, "space_", None) is None
        frame, is_frame = check.check_frame(self, X, reset=learns)
        if learns and self._memory is not None and jsonable(list(frame.columns)) != self._columns:
            raise ValueError(
                f"X must have the columns of earlier batches, in their order: {self._columns!r}; "
                f"got {list(frame.columns)!r}."
            )
        if learns:
            self._columns = list(frame.columns)
            self.batches_ = list(getattr(self, "batches_", []))
            self.protected_ = check.check_protected(self.protected, self._columns)
            self.space_ = FeatureSpace.from_frame(
                frame, protected=self.protected_, is_frame=is_frame
            )
        return frame

    def _start(self, y_pred):
        """Learn what the first batch of decisions tells."""
        bounds_of(self)
        self._seeds = check_random_state(self.random_state).randint(2**31, size=4)
        self._audited = labels_of_first(y_pred, self.pos_label, self.output)

    def _fix_gap(self, stream, outcome, frequency=None):
        """Fix the relevant gap by the first batch in which outcomes differ; it stays the same.

        The relevant gap depends on the overall rate or mean, which a printed gap discloses. So for
        decisions and numbers in a unit, it is that of all people since the start, and is taken only
        when there are at least 20 of them.

        Parameters
        ----------
        stream : the state of the monitor
        outcome : ndarray of float
            Outcomes of the batch.
        frequency : ndarray of int, optional
            Number of people with each outcome; None: 1.
        """
        if stream.relevant_gap is not None:
            return
        first, mean = stream.groups[0] if stream.groups else None, None
        if first is not None and not len(first.context) and self.output != "probability":
            # A group without a context is compared with everyone else: both sides are all people.
            n, x = first.seen.sum(axis=0)[:2]
            if n < LEAST:
                return
            if self.output == "decision":
                outcome, frequency = np.array([0.0, 1.0]), np.array([n - x, x])
            else:
                low, width = stream.rules.unit
                mean = low + width * x / n
        if self.output == "value":
            outcome = np.clip(outcome, *stream.rules.bounds)
            gap = relevant_gap_of(self.relevant_gap, outcome, kind=NUMBER, mean=mean)
            if gap.problem.startswith("a relevant gap"):
                raise ValueError(f"{gap.problem[0].upper()}{gap.problem[1:]}.")
        else:
            gap = self._gap_that_matters(outcome, frequency)
        stream.relevant_gap = None if gap.problem else gap.size

    def _keep(self, stream):
        """Take the stream as the state, and report on it."""
        self.model_, self.audited_ = None, "decisions"
        self.pos_label_ = self._audited.favorable
        task = Task.open(self, People())
        task.memory = self._memory = stream
        result = self._conclude(task, report(self, stream, self.space_))
        self.result_ = self._with_people(result, stream)
        return self

    def _conclude(self, task, discovery):
        """Return the result, with what reports show of it."""
        result = super()._conclude(task, discovery)
        if task.is_audit:  # of some rows alone
            return result
        stream = task.memory
        shown = report_to_show(self, stream, self.space_, result.verdict)
        shown = super()._conclude(task, shown)
        return replace(result, last_shown=self._with_people(shown, stream))

    def _with_people(self, result, stream):
        """Return a result with the number of people, and the values that enough of them share."""
        shared = stream.shared_values(MIN_CELL)
        return replace(result, n_samples=stream.n_people, shared_values=shared)

    def _stream(self):
        check_is_fitted(self, "result_")
        return self._memory
