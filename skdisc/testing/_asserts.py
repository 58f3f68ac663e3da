"""Assertions about models, whose messages name the person or the group."""

import numpy as np

from skdisc._space._feature_space import FeatureSpace
from skdisc._task._task import Task
from skdisc._utils._scalars import plain
from skdisc._utils._validation import closest
from skdisc.group import GroupDisparity
from skdisc.individual import KOSEI
from skdisc.individual._prober import Prober
from skdisc.measures._disparities import table_measures
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.testing._shrink import simplest


def assert_no_individual_discrimination(
    model,
    X,
    *,
    protected=None,
    max_queries=100_000,
    output="decision",
    min_gap=0.0,
    pos_label=None,
    random_state=0,
):
    """Fail if somebody is decided differently with other protected values.

    A search (`KOSEI`) goes through the space of possible people; where it finds nobody, the rows of
    X are tried. The person found is made as simple as possible: no single other value can be
    replaced by the column's first, halved on the way to it or lowered by one without the case being
    lost.

    Parameters
    ----------
    model : fitted model, callable or BlackBox
    X : DataFrame or array-like of shape (n_samples, n_features), or FeatureSpace
    protected : column name or position, or sequence of them
    max_queries : int, default=100_000
        Most rows that the model is asked.
    output : {"decision", "probability"}, default="decision"
    min_gap : float, default=0
        Difference of outcomes that is tolerated; use one > 0 with probabilities.
    pos_label : label or collection of labels, default=None
        The favourable outcome; by default the last class.
    random_state : int, RandomState instance or None, default=0

    Raises
    ------
    AssertionError
        With the person and both outcomes; or if nobody could be tried.

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
    settings = {"protected": protected, "output": output, "min_gap": min_gap}
    settings |= {"pos_label": pos_label, "random_state": random_state}
    search = KOSEI(max_found=1, max_queries=max_queries, **settings).fit(X, model=model)
    found = search.result_
    spent, n_tested = found.n_queries, found.n_tested
    if not len(found) and not isinstance(X, FeatureSpace):
        found = search.set_params(max_queries=max(0, max_queries - spent)).audit(X)
        spent, n_tested = spent + found.n_queries, n_tested + found.n_tested
    if not n_tested:
        raise AssertionError(
            f"Nobody was tried: max_queries={max_queries!r}, and one person takes a row for each "
            "combination of protected values."
        )
    if not len(found):
        return
    codes = search.space_.encode(found.findings.original)[0]
    search.set_params(max_queries=max(0, max_queries - spent))
    prober = Prober(Task.open(search, None, None), min_gap)
    is_case = _are_cases(prober, codes[None])
    if is_case is None or not is_case.all():  # a row of X with values that the space rounds
        raise AssertionError(_told(found.findings.subject(0), "The person found"))
    free = [j for j in range(len(search.space_)) if j not in set(search.space_.p_index)]
    codes = simplest(codes, free, lambda rows: _are_cases(prober, rows))
    raise AssertionError(_told(_case(prober, codes), "The simplest person found"))


def _are_cases(prober, rows):
    """Say which rows have a case; None when the model may not be asked about so many."""
    if prober.budget.allow(len(rows), prober.n_combos) < len(rows):
        return None
    return prober.is_case(prober.outcomes(rows))


def _case(prober, codes):
    """Return the case of a row of codes."""
    prober.budget.max_queries = None  # the message may cost a few rows more
    outcomes = prober.outcomes(codes[None])
    low, high = prober.couples(outcomes)
    found = prober.cases(codes[None], low, high, outcomes[0, low], outcomes[0, high])
    return found.subject(0)


def _told(case, who):
    """Return the message: what changes, and the person."""
    names = ", ".join(f"{c} {case.original[c]!r} -> {case.altered[c]!r}" for c in case.changed)
    ends = f"{_number(case.outcome)} -> {_number(case.altered_outcome)}"
    person = ", ".join(f"{name}={plain(value)!r}" for name, value in case.original.items())
    return f"The outcome changes with {names}: {ends}.\n{who}: {person}"


def _number(value):
    return f"{value:.4g}"


def assert_no_disparity(
    model,
    X,
    y=None,
    *,
    protected,
    measure="mean_difference",
    threshold=None,
    reference="largest",
    intersections=1,
    significance=0.05,
    insufficient="fail",
    pos_label=None,
):
    """Fail if a group is treated differently by more than a threshold, and not by chance.

    A group fails if its measure lies beyond the threshold and its corrected p-value is at most
    `significance`. If nobody fails but some group was too small to show a disparity of the size of
    the threshold, nothing is known about it, and by default that fails too.

    Parameters
    ----------
    model : fitted model, callable, BlackBox, or None
        None: the decisions are y.
    X : DataFrame or array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), default=None
        Labels, for measures that compare decisions with them.
    protected : column name or position, or sequence of them
    measure : str, default="mean_difference"
        An absolute measure of `skdisc.measures` with a direction.
    threshold : float, default=None
        Distance from no discrimination that is tolerated; for ratios the ratio, or its inverse,
        that must be reached. None: 0.1, or 0.8 for ratios.
    reference : value, dict of values, or rule, default="largest"
        As in `GroupDisparity`.
    intersections : int, default=1
    significance : float, default=0.05
    insufficient : {"fail", "pass"}, default="fail"
        What becomes of groups that are too small.
    pos_label : label or collection of labels, default=None

    Raises
    ------
    AssertionError
        With every group, its measure, interval and corrected p-value.
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
    mean_difference is beyond 0.1 for
      sex = 'F' (n=200) against sex = 'M': 0.5 [0.4288, 0.5686], p corrected < 0.0001
    """
    of_groups = table_measures()
    known = [name for name in of_groups if CATALOGUE[name].worse != "unsigned"]
    if measure not in known:
        what = "has no direction" if measure in of_groups else "is no measure of groups"
        raise ValueError(
            f"measure={measure!r} {what}{closest(measure, known)} Measures: {', '.join(known)}."
        )
    entry = CATALOGUE[measure]
    if threshold is None:
        threshold = 0.8 if entry.scale == "ratio" else 0.1
    detector = GroupDisparity(
        protected=protected,
        measures=[measure],
        reference=reference,
        intersections=intersections,
        significance=significance,
        pos_label=pos_label,
        random_state=0,
    )
    table = detector.fit(X, y, model).result_.tables["measures"]
    largest = -np.log(threshold) if entry.scale == "ratio" else threshold
    beyond = entry.distance(table["estimate"]) > largest
    failed = table[beyond & (table["p_adjusted"] <= significance)]
    if len(failed):
        raise AssertionError(_listed(f"{measure} is beyond {threshold:g} for", failed))
    room = 1 - threshold if entry.scale == "ratio" else threshold
    unknown = table[~(table["min_detectable_gap"] <= room)]
    if len(unknown) and insufficient == "fail":
        head = f"Too few people to show {measure} beyond {threshold:g} (insufficient='pass' lets "
        raise AssertionError(_listed(head + "this pass):", unknown))


def _listed(head, table):
    """Return one line per group with its numbers."""
    lines = [head]
    for row in table.itertuples():
        p = "< 0.0001" if row.p_adjusted < 1e-4 else f"{row.p_adjusted:.4f}"
        lines.append(
            f"  {row.group} (n={row.n:g}) against {row.reference}: {row.estimate:.4g} "
            f"[{row.ci_low:.4g}, {row.ci_high:.4g}], p corrected {p}"
        )
    return "\n".join(lines)
