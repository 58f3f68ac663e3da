"""Assertions about models; their messages name the person or the group."""

import numpy as np

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._limits import Limits
from skdisc._task._task import People, Task
from skdisc._utils._types import ArrayLike, Columns, FrameLike, Labels, Model, RandomState
from skdisc._utils._validation import closest, plain
from skdisc._verdicts._rule import Rule
from skdisc.group import GroupDisparity
from skdisc.individual import KOSEI
from skdisc.individual._prober import Prober
from skdisc.measures._disparities import table_measures
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.testing._shrink import simplest


def assert_no_individual_discrimination(
    model: Model,
    X: FrameLike | FeatureSpace,
    *,
    protected: Columns | None = None,
    max_queries: int = 100_000,
    output: str = "decision",
    min_gap: float = 0.0,
    pos_label: Labels | None = None,
    random_state: RandomState = 0,
) -> None:
    """Raise if the outcome of any row found changes with its protected values.

    A search (`KOSEI`) explores the space of possible inputs; if it finds no case, the rows of X are
    tested. The case is then simplified: in the person reported, no unprotected value can be
    replaced by the first one of its column, halved towards it, or lowered by one without losing
    the case.

    Parameters
    ----------
    model : fitted model, callable or BlackBox
    X : DataFrame or array-like of shape (n_samples, n_features), or FeatureSpace
    protected : column name or position, or sequence of them, default=None
        Protected columns; may be None if X is a FeatureSpace that names them.
    max_queries : int, default=100_000
        Maximal number of rows sent to the model.
    output : {"decision", "probability"}, default="decision"
    min_gap : float, default=0
        Tolerated difference between outcomes; use a positive value with probabilities.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.
    random_state : int, RandomState instance or None, default=0

    Raises
    ------
    AssertionError
        If a case is found (the message shows the person and both outcomes), or if `max_queries`
        does not suffice to test a single row.

    Examples
    --------
    >>> space = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")
    >>> loan = lambda X: X["income"] + 10 * (X["sex"] == "M") > 50
    >>> try:
    ...     assert_no_individual_discrimination(loan, space)
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    The outcome changes with sex 'F' -> 'M': 0 -> 1.
    """
    __tracebackhide__ = True
    settings = {"protected": protected, "output": output, "min_gap": min_gap}
    settings |= {"pos_label": pos_label, "random_state": random_state}
    search = KOSEI(limits=Limits(found=1, queries=max_queries), **settings).fit(X, model=model)
    result = search.result_
    spent, n_tested = result.n_queries, result.n_tested
    if not len(result) and not isinstance(X, FeatureSpace):
        result = search.set_params(limits__queries=max(0, max_queries - spent)).audit(X)
        spent, n_tested = spent + result.n_queries, n_tested + result.n_tested
    if not n_tested:
        raise AssertionError(
            f"No row was tested: max_queries={max_queries!r}, but one person takes one query for "
            "each combination of protected values. Raise max_queries."
        )
    if not len(result):
        return
    codes = search.space_.encode(result.findings.original)[0]
    search.set_params(limits__queries=max(0, max_queries - spent))
    prober = Prober(Task.open(search, People()), min_gap)
    is_case = _are_cases(prober, codes[None])
    if is_case is None or not is_case.all():  # a row of X with values that the space would round
        raise AssertionError(_message(result.findings.subject(0), "The person found"))
    free = [j for j in range(len(search.space_)) if j not in set(search.space_.p_index)]
    codes = simplest(codes, free, lambda rows: _are_cases(prober, rows))
    raise AssertionError(_message(_case(prober, codes), "The simplest person found"))


def _are_cases(prober, rows):
    """Return a boolean mask of the rows with a case; None if the budget does not allow them."""
    if prober.budget.allow(len(rows), prober.n_combos) < len(rows):
        return None
    return prober.is_case(prober.outcomes(rows))


def _case(prober, codes):
    """Return the case of a row of codes."""
    prober.budget.max_queries = None  # the message may take a few more queries
    outcomes = prober.outcomes(codes[None])
    low, high = prober.couples(outcomes)
    findings = prober.cases(codes[None], low, high, outcomes[0, low], outcomes[0, high])
    return findings.subject(0)


def _message(case, title):
    """Return the message: the changed values, the outcomes, and the person."""
    names = ", ".join(f"{c} {case.original[c]!r} -> {case.altered[c]!r}" for c in case.changed)
    ends = f"{_number(case.outcome)} -> {_number(case.altered_outcome)}"
    person = ", ".join(f"{name}={plain(value)!r}" for name, value in case.original.items())
    return f"The outcome changes with {names}: {ends}.\n{title}: {person}"


def _number(value):
    """Return a number with four significant digits."""
    return f"{value:.4g}"


def assert_no_disparity(
    model: Model | None,
    X: FrameLike,
    y: ArrayLike | None = None,
    *,
    protected: Columns,
    measure: str = "mean_difference",
    threshold: float | None = None,
    reference: object = "largest",
    intersections: int = 1,
    significance: float = 0.05,
    insufficient: str = "fail",
    pos_label: Labels | None = None,
) -> None:
    """Raise if a measure of a group is beyond a threshold, and significantly not that of no gap.

    A group fails if its measure lies beyond the threshold and its corrected p-value is at most
    `significance`. If no group fails but a group is too small to show a disparity as large as the
    threshold, the evidence is insufficient, which also fails by default.

    Parameters
    ----------
    model : fitted model, callable, BlackBox, or None
        None stands for y as the decisions.
    X : DataFrame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
        Labels, for measures that compare decisions with them.
    protected : column name or position, or sequence of them
    measure : str, default="mean_difference"
        An absolute measure of `skdisc.measures` with a direction.
    threshold : float, default=None
        Tolerated distance from no discrimination; for ratios, the smallest tolerated value of the
        ratio or its inverse. None stands for 0.1, or 0.8 for ratios.
    reference : value, dict of values, or rule, default="largest"
        As in `GroupDisparity`.
    intersections : int, default=1
        Maximal number of protected columns that define a group.
    significance : float, default=0.05
    insufficient : {"fail", "pass"}, default="fail"
        Whether groups that are too small fail or pass.
    pos_label : label or collection of labels, default=None
        The favorable outcome; by default 1 or True; other labels need one. "high" and
        "low" are the greatest and least of numeric labels.

    Raises
    ------
    AssertionError
        If a group fails; the message lists the failing groups with measure, interval and corrected
        p-value. If `insufficient` is "fail", also if a group is too small.
    ValueError
        If the measure is unknown or has no direction.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"sex": ["F", "M"] * 200})
    >>> y = [0, 1, 1, 1] * 100
    >>> try:
    ...     assert_no_disparity(None, X, y, protected="sex", reference="M")
    ... except AssertionError as error:
    ...     print(error)
    mean_difference is beyond 0.1:
      sex = 'F' (n=200) is worse off than sex = 'M': 0.5 [0.4288, 0.5686], p corrected < 0.0001
    """
    __tracebackhide__ = True
    of_groups = [name for name in table_measures() if CATALOGUE[name].suits(is_numeric=False)]
    directed = [name for name in of_groups if CATALOGUE[name].worse != "unsigned"]
    if measure not in directed:
        what = "has no direction" if measure in of_groups else "is not a measure of groups"
        raise ValueError(
            f"measure={measure!r} {what}{closest(measure, directed)} Measures: "
            f"{', '.join(directed)}."
        )
    entry = CATALOGUE[measure]
    if threshold is None:
        threshold = 0.8 if entry.scale == "ratio" else 0.1
    detector = GroupDisparity(
        protected=protected,
        measures=[measure],
        reference=reference,
        intersections=intersections,
        rule=Rule(significance=significance),
        pos_label=pos_label,
        random_state=0,
    )
    table = detector.fit(X, y, model).result_.tables["measures"]
    largest = -np.log(threshold) if entry.scale == "ratio" else threshold
    beyond = entry.distance(table["estimate"]) > largest
    failed = table[beyond & (table["p_adjusted"] <= significance)]
    if len(failed):
        sides = [_side(entry, value) for value in failed["estimate"]]
        raise AssertionError(_listed(f"{measure} is beyond {threshold:g}:", failed, sides))
    room = 1 - threshold if entry.scale == "ratio" else threshold
    unknown = table[~(table["min_detectable_gap"] <= room)]
    if len(unknown) and insufficient == "fail":
        head = f"Too few people to show {measure} beyond {threshold:g} (to tolerate this, pass "
        sides = ["against"] * len(unknown)
        raise AssertionError(_listed(head + "insufficient='pass'):", unknown, sides))


def _side(entry, value):
    """Return whether a value of a measure says that a group is worse or better off."""
    is_worse = value > entry.none if entry.worse == "above" else value < entry.none
    return f"is {'worse' if is_worse else 'better'} off than"


def _listed(head, table, sides):
    """Return a message with one line per group, and how it stands to its reference."""
    lines = [head]
    for row, side in zip(table.itertuples(), sides, strict=True):
        p = "< 0.0001" if row.p_adjusted < 1e-4 else f"{row.p_adjusted:.4f}"
        lines.append(
            f"  {row.group} (n={row.n:g}) {side} {row.reference}: {row.estimate:.4g} "
            f"[{row.ci_low:.4g}, {row.ci_high:.4g}], p corrected {p}"
        )
    return "\n".join(lines)
