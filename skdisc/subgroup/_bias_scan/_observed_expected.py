"""The observed and expected outcomes of the rows of a task."""

import numpy as np

from skdisc._blackbox._queries import Queries
from skdisc._utils._validation import check_known_labels, is_favorable
from skdisc.subgroup._bias_scan._counted_outcome import equal_rows_once
from skdisc.subgroup._bias_scan._outcome import SCORINGS, Outcome, above


def check_scoring(mode, scoring):
    """Raise ValueError if the score is not defined for the mode."""
    if scoring != "auto" and scoring not in SCORINGS[mode]:
        raise ValueError(
            f"scoring={scoring!r} is not defined for mode={mode!r}; use "
            f"{', '.join(SCORINGS[mode])} or 'auto'."
        )


def check_expected(expected, box, y):
    """Raise ValueError if outcomes must be compared with a model's, and something is missing."""
    if expected == "model" and (box is None or y is None):
        raise ValueError(
            "expected='model' compares y with a model's probabilities and needs both: pass "
            "model= or estimator=, and y."
        )


def favorable_end(pos_label, y):
    """Return ["high"] or ["low"], and whether it was assumed.

    Raises
    ------
    ValueError
        If `pos_label` is neither of them, nor the highest or lowest outcome.
    """
    if pos_label is None:
        return ["high"], True
    ends = {}
    if y is not None and np.asarray(y).dtype.kind in "iuf":
        ends = {float(np.max(y)): "high", float(np.min(y)): "low"}
    end = pos_label if isinstance(pos_label, str) else ends.get(pos_label)
    if end not in ("high", "low"):
        raise ValueError(
            f"In numeric modes pos_label must be 'high', 'low', or the highest or lowest outcome "
            f"({' or '.join(map(str, ends))}), got {pos_label!r}."
        )
    return [end], False


def observe(detector, task):
    """Return the `Outcome` of the rows of a task; without rows if the budget is too small.

    Parameters
    ----------
    detector : BiasScan
        With its model resolved.
    task : Task

    Returns
    -------
    Outcome

    Raises
    ------
    ValueError
        If y is missing where it is needed, outcomes are not allowed by the score, or the published
        scan gets clusters.
    """
    cluster = _clusters(task.people.groups, detector.null)
    scoring = SCORINGS[detector.mode][0] if detector.scoring == "auto" else detector.scoring
    X, y, weight, frequency = task.X, task.y, task.weight, task.people.frequency
    if detector.mode == "nominal" and task.labels is None:
        raise ValueError(
            "mode='nominal' scans classes, and this model names none: pass y, or a classifier; for "
            "a model of numbers set mode='continuous'."
        )
    n_needed = len(X) * (len(task.labels) if detector.mode == "nominal" else 1)
    if task.queries is not None and not task.budget.opens(n_needed):
        X, y = X.iloc[:0], None if y is None else y[:0]
        weight = frequency = cluster = None
    if detector.mode == "nominal":
        names, values, mu = _classes(detector, task, X, y)
    elif detector._is_numeric:
        names, (values, mu) = ["mean outcome"], _numbers(detector, task, X, y, scoring)
    else:
        names = ["favorable outcomes"]
        values, mu = _one(detector, task.queries, task.favorable, X, y)
    sense = -1 if detector._is_numeric and detector.pos_label_ == ["low"] else 1
    outcome = Outcome(
        X,
        y=values,
        mu=None,
        names=names,
        scoring=scoring,
        is_share=not detector._is_numeric,
        sense=sense,
        weight=weight,
        frequency=frequency,
        cluster=cluster,
    ).expecting(mu)
    outcome = above(outcome, detector.alpha) if scoring == "berk_jones" else outcome
    # Rows are drawn, and not cells, where some are held out or protected columns redrawn.
    is_drawn = detector.confirm is not None or detector.null == "contextual"
    return equal_rows_once(outcome) if is_drawn else outcome


def _clusters(groups, null):
    """Return the number of the cluster of each row; None where each row is one."""
    if groups is None:
        return None
    if null == "everyone":
        raise ValueError(
            "The published scan takes rows as independent: with groups=, name protected columns, "
            "and set versus='context'."
        )
    names, cluster = np.unique(groups, return_inverse=True)
    return cluster if len(names) < len(cluster) else None


def _one(detector, queries, favorable, X, y):
    """Return the observed and expected outcomes of one class, each of shape (1, n_rows)."""
    if detector.expected_ == "model" or queries is None:
        if y is None:
            raise ValueError("The labels were compared at fit: y is needed to audit new data.")
        check_known_labels(y, detector._audited.labels, favorable)
        labels = is_favorable(y, favorable).astype(float)[None]
        return labels, queries.given(X)[None] if detector.expected_ == "model" else None
    return queries.given(X)[None] if len(X) else np.empty((1, 0)), None


def _classes(detector, task, X, y):
    """Return the names of all classes, and the observed and expected outcomes of each."""
    parts = []
    for label in task.labels:
        queries = task.queries
        if queries is not None:
            queries = Queries(queries.box, [label], task.space, task.budget, queries.output)
        parts.append(_one(detector, queries, [label], X, y))
    observed, expected = zip(*parts, strict=True)
    mu = None if expected[0] is None else np.concatenate(expected)
    names = [f"share of {label!r}" for label in task.labels]
    return names, np.concatenate(observed), mu


def _numbers(detector, task, X, y, scoring):
    """Return numeric outcomes and expectations, each of shape (1, n_rows)."""
    if detector.expected_ == "model" or task.queries is None:
        if y is None:
            raise ValueError("The outcomes y were compared at fit: y is needed to audit new data.")
        if y.dtype.kind not in "biuf":
            raise ValueError(
                f"mode={detector.mode!r} needs numbers in y, got {y[0]!r}. Code them as numbers, "
                "or use mode='nominal'."
            )
        values = y.astype(float)[None]
        mu = task.queries.given(X)[None] if detector.expected_ == "model" else None
    else:
        values, mu = task.queries.given(X)[None], None
    if not values.size:
        return values, mu
    lowest, lowest_expected = values.min(initial=0), values.mean() if mu is None else mu.min()
    if scoring == "poisson" and (lowest < 0 or lowest_expected <= 0):
        raise ValueError(
            "scoring='poisson' needs outcomes >= 0 and expectations > 0, got "
            f"{min(lowest, lowest_expected):.6g} with mode={detector.mode!r}. "
            "Use scoring='mean_shift'."
        )
    if scoring == "gaussian" and lowest_expected <= 0:
        raise ValueError(
            "scoring='gaussian' multiplies expectations, which must be > 0; got "
            f"{lowest_expected:.6g}. Use scoring='mean_shift'."
        )
    return values, mu
