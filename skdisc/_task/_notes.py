"""Notes of a result, and caveats: reasons why the absence of findings is inconclusive."""

import numpy as np

from skdisc._results._judgment import NOTHING, UNSURE, Judgment
from skdisc._space._codes import UNSEEN
from skdisc._task._dependent_rows import dependent_rows
from skdisc._utils._favorable import folded, unfavorable_values
from skdisc._utils._frequency import people_in
from skdisc._utils._validation import listed, plain

_FEWEST_CLUSTERS = 10  # from which variances between clusters can be trusted to exclude a gap
_MANY = 100  # with at least this many rows, a column of nearly distinct names is an identifier


def notes_on(detector, task):
    """Return the notes that apply to the results of all detectors, a list of str.

    `detector`: a fitted detector. `task`: after the search.
    """
    notes = []
    if detector.audited_ == "surrogate":
        notes.append(
            "A surrogate (a small tree trained on y) was audited, because no model was passed. The "
            "findings are not about your own model."
        )
    if detector._audited.is_assumed:
        notes.append(
            f"The favorable label is assumed to be {detector.pos_label_[0]!r}; set pos_label to "
            "change it."
        )
    notes += _unfavorable(detector, task)
    if task.people.n_dropped:
        notes.append(f"{task.people.n_dropped} rows with a missing protected value were dropped.")
    if task.people.sample is not None:
        notes += task.people.sample.note()
    if task.space is not None:
        notes += alike_values({n: task.space[n].values for n in detector.protected_})
    names = _identifiers(task)
    if names:
        verb = "look like an identifier" if len(names) == 1 else "look like identifiers"
        notes.append(
            f"The values of {', '.join(names)} hardly ever repeat and {verb}. Such columns define "
            "no groups; consider dropping them."
        )
    people = task.people
    knows_copies = detector.weights == "frequency" or people.groups is not None
    knows_copies |= people.frequency is not None
    if not detector._asks and task.X is not None and not knows_copies:
        notes += dependent_rows(task.X, task.y)
    queries = task.queries
    if queries is not None and queries.is_random:
        notes.append(f"{queries.repeats} Another run of this audit will differ.")
    if queries is not None and queries.constant:
        outcome = {0.0: "unfavorable", 1.0: "favorable"}.get(queries.lowest, queries.lowest)
        notes.append(
            f"The model returned the same outcome ({outcome}) for all {task.budget.queries:,} rows "
            "queried, so no disparity can appear."
        )
    return notes


def _unfavorable(detector, task):
    """Return a note on the values of labels or decisions that count as unfavorable, if several."""
    audited, y = detector._audited, task.y
    if getattr(detector, "output", "") == "value" or len(audited.labels or ()) <= 2:
        return []
    if audited.kind == "labels" and y is not None:
        return unfavorable_values("labels", y, audited.favorable, task.people.frequency)
    if audited.kind == "decisions" and audited.box is not None:
        return unfavorable_values(
            "decisions",
            values=audited.box.decisions,
            favorable=audited.favorable,
            frequency=task.people.frequency,
        )
    return []


def alike_values(columns):
    """Return notes on values of the same column that differ by case or blanks, a list of str.

    `columns`: the values of each column.

    Examples
    --------
    >>> print(alike_values({"sex": ["Male", "male", "F"]})[0].split(". ")[0])
    Values of sex that differ by case or blanks alone are groups of their own: 'Male' and 'male'
    """
    notes = []
    for name, values in columns.items():
        same = {}
        for value in values:
            if isinstance(value, str):
                same.setdefault(folded(value), []).append(repr(value))
        spellings = [" and ".join(texts) for texts in same.values() if len(texts) > 1]
        if spellings:
            notes.append(
                f"Values of {name} that differ by case or blanks alone are groups of their own: "
                f"{listed(spellings, '; ')}. If they mean the same, make them one."
            )
    return notes


def _identifiers(task):
    """Return the names of nominal columns in which most values occur only once."""
    n = task.people.n
    columns = task.space.columns if n >= _MANY else ()
    return [str(c.name) for c in columns if c.kind == "nominal" and c.size > n / 2]


def with_caveats(discovery, caveats):
    """Add caveats to the notes of a Discovery; without findings, evidence becomes insufficient."""
    if caveats and discovery.judgment is not None and discovery.judgment.verdict == NOTHING:
        discovery.judgment = Judgment(UNSURE, caveats[0].rstrip("."))
        if discovery.answer is not None:
            discovery.answer = discovery.answer.doubted(caveats[0])
    discovery.notes = [*discovery.notes, *caveats]
    return discovery


def few_clusters(groups):
    """Return the caveat that there are too few clusters to exclude gaps, a list of str."""
    n = _FEWEST_CLUSTERS if groups is None else len(np.unique(groups))
    if n >= _FEWEST_CLUSTERS:
        return []
    return [
        f"groups has {n} clusters only, from which variances are too uncertain to exclude a gap; "
        f"that takes {_FEWEST_CLUSTERS}."
    ]


def unseen(task, protected):
    """Return the caveats on protected values that did not occur at fit, a list of str."""
    caveats = []
    for name in protected:
        column, values = task.space[name], task.X[name]
        if column.kind == "numeric":
            continue
        is_new = column.encode(values) == UNSEEN
        new = values[is_new]
        if len(new):
            examples = ", ".join(repr(plain(v)) for v in list(dict.fromkeys(new))[:5])
            n = people_in(is_new, task.people.frequency)
            caveats.append(
                f"{n} rows have values of {name} that did not occur at fit, so they belong to no "
                f"measured group: {examples}."
            )
    return caveats


def too_few_draws(n: int, significance: float, n_tests: int = 1) -> list[str]:
    """Return the caveat that n random draws lead to no significant p-value, a list of str.

    Parameters
    ----------
    n : int
        Number of draws; 0: p-values are not drawn.
    significance : float
    n_tests : int, default=1
        What the least of corrected p-values is multiplied by, at most: their number.

    Returns
    -------
    list of str

    Examples
    --------
    >>> print(too_few_draws(99, 0.05, n_tests=6)[0].split(",")[0])
    With 99 random draws
    >>> too_few_draws(999, 0.05, n_tests=6)
    []
    """
    least = n_tests / (n + 1)
    if not n or least <= significance:
        return []
    return [
        f"With {n} random draws, the smallest possible p-value is {least:.2g}, so no finding can "
        f"be significant at level {significance:g}. Use more draws."
    ]


def chosen_by_their_data(n_found):
    """Return a note on the intervals of findings on the rows searched, a list of str."""
    if not n_found:
        return []
    return [
        "Intervals of what a search shows miss the true effect in at most the stated share of rows "
        "on average over all searches; of findings alone they miss it more often, and effects look "
        "larger than they are. confirm= measures findings on rows that were not searched."
    ]


def differing_groups(p_values, significance):
    """Return the caveat that groups of new rows differ without a finding, a list of str."""
    n = int((p_values <= significance).sum())
    if not n:
        return []
    return [
        f"{n} groups of single values differ significantly on these rows (see the tables), but "
        "they are not among the findings of fit. Fit on these rows to find them."
    ]
