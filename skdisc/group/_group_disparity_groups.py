"""Groups of protected values: from a frame to the table of counts, and back to subgroups."""

from dataclasses import replace

import numpy as np
import pandas as pd

from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain
from skdisc.measures._formula._decisions import RULES, group_decisions


def conditions(X, space, protected, n_bins):
    """Return the conditions that make the groups of each protected column, a dict of lists."""
    items = make_items(X, space, protected, protected, n_bins)
    found = {name: [] for name in protected}
    for predicate in items.predicates:
        found[predicate.column].append(predicate)
    return found


def is_unknown(group):
    """Say whether a group, a predicate or several, has a missing value."""
    return any(p.values == (None,) for p in parts(group))


def unknown(X, known):
    """Return the columns, conditions and numbers of people whose value is missing."""
    found = [(name, p) for name, several in known.items() for p in several if is_unknown(p)]
    return [(str(name), str(p), int(p.mask(X).sum())) for name, p in found]


def parts(group):
    """Return the predicates of a group."""
    return group if isinstance(group, tuple) else (group,)


def subgroup(group):
    """Return a group, a predicate or several, as a `Subgroup`."""
    return group if isinstance(group, Subgroup) else Subgroup(list(parts(group)))


def text(group):
    """Return a group or a rule of comparison as text; None is nobody."""
    if group is None or isinstance(group, str):
        return group or "nobody"
    return str(subgroup(group))


def table_of_people(X, known, decided, labels, intersections, known_only):
    """Return `GroupedDecisions` whose groups are predicates, or tuples of them.

    Parameters
    ----------
    X : DataFrame
    known : dict of lists of Predicate, from `conditions`
    decided : ndarray of bool or float
    labels : ndarray of bool, or None
    intersections : int
        Up to how many columns are combined.
    known_only : bool
        Whether people with a missing value are left out of the groups.
    """
    columns = {name: _coded(X, found) for name, found in known.items()}
    rows = group_decisions(
        labels,
        decided,
        pd.DataFrame(columns),
        pos_label=True,
        sample_weight=None,
        intersections=min(intersections, len(columns)),
        missing="category",
        allow_empty=True,
    )
    kept = [_without(g, known_only) for g in rows.groupings]
    return replace(rows, groupings=kept)


def _coded(X, found):
    """Return a column as the condition that each row satisfies."""
    code = np.full(len(X), -1)
    for i, predicate in enumerate(found):
        code[predicate.mask(X)] = i
    return pd.Categorical.from_codes(code, pd.Index(found, dtype=object))


def _without(grouping, known_only):
    """Leave out values that were not there at fit and, where wanted, those with a missing value."""
    name, labels, members = grouping
    stay = [
        all(isinstance(p, Predicate) for p in parts(g)) and not (known_only and is_unknown(g))
        for g in labels
    ]
    return name, [g for g, s in zip(labels, stay, strict=True) if s], members[np.array(stay)]


def reference_among(reference, known):
    """Return the reference of a user as a rule, or as a predicate for each column."""
    if isinstance(reference, str) and reference in RULES and reference != "pairs":
        return reference
    if not isinstance(reference, dict):
        if len(known) > 1:
            raise ValueError(
                f"reference={reference!r} is one value and there are several protected columns, "
                f"{list(known)!r}. Give a dict with a value for each."
            )
        reference = dict.fromkeys(known, reference)
    lacking = [name for name in known if name not in reference]
    if lacking:
        raise ValueError(f"reference={reference!r} names no value of {lacking[0]!r}.")
    return {str(name): _value(reference[name], name, known[name]) for name in known}


def _value(value, name, found):
    for predicate in found:
        if predicate.values is not None and predicate.values == (plain(value),):
            return predicate
    values = [p.values[0] if p.values else str(p) for p in found]
    raise ValueError(f"reference={value!r} is no value of {name!r}: {values!r}.")
