"""Protected groups as predicates: from rows to the table of counts, and back to subgroups."""

import numpy as np

from skdisc._space._items import make_items
from skdisc._space._named_groups import named_group, named_values
from skdisc._space._subgroup import Subgroup
from skdisc.measures._formula._decisions import (
    RULES,
    GroupedDecisions,
    check_target,
    group_cells,
)


def conditions(X, space, protected, n_bins):
    """Return the predicates that define the groups of each protected column, a dict of lists."""
    items = make_items(X, space, protected, protected, n_bins)
    found = {name: [] for name in protected}
    for predicate in items.predicates:
        found[predicate.column].append(predicate)
    return found


def is_unknown(group):
    """Return True if a group, a predicate or several, has a missing value."""
    return any(p.values == (None,) for p in parts(group))


def unknown(X, known):
    """Return column, condition and number of rows for each group of a missing value."""
    found = [(name, p) for name, several in known.items() for p in several if is_unknown(p)]
    return [(str(name), str(p), int(p.mask(X).sum())) for name, p in found]


def parts(group):
    """Return the predicates of a group."""
    return group if isinstance(group, tuple) else (group,)


def subgroup(group):
    """Return a group, a predicate or several, as a `Subgroup`."""
    return group if isinstance(group, Subgroup) else Subgroup(list(parts(group)))


def text(group):
    """Return a group or a rule of comparison as text; None is "nobody"."""
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
        Largest number of columns that are combined.
    known_only : bool
        Whether rows with a missing value are left out of the groups.
    """
    pred = check_target(decided, True, "decisions", labels)
    true = None if labels is None else check_target(labels, True, "labels", decided)
    columns = [(str(name), *_coded(X, found)) for name, found in known.items()]
    cell, groupings = group_cells(columns, min(intersections, len(columns)))
    kept = [_without(*grouping, known_only) for grouping in groupings]
    return GroupedDecisions(cell, kept, pred, true, None, None, np.arange(len(X)))


def _coded(X, predicates):
    """Return the number of each row's predicate, and the predicates, None for rows without one."""
    code = np.full(len(X), len(predicates))
    for i, predicate in enumerate(predicates):
        code[predicate.mask(X)] = i
    has_others = code.max(initial=0) == len(predicates)
    return code, [*predicates, None] if has_others else predicates


def _without(attribute, groups, members, known_only):
    """Leave out values not seen at fit and, if `known_only`, missing values."""
    stay = [None not in parts(g) and not (known_only and is_unknown(g)) for g in groups]
    kept = [g for g, stays in zip(groups, stay, strict=True) if stays]
    return attribute, kept, members[np.array(stay)]


def reference_among(reference, known):
    """Return the reference of a user as a rule, or as a predicate for each column."""
    if isinstance(reference, str) and reference in RULES and reference != "pairs":
        return reference
    given = named_values("reference", reference, list(known))
    lacking = [name for name in known if name not in given]
    if lacking:
        raise ValueError(f"reference={reference!r} has no value for {lacking[0]!r}.")
    return {str(c): named_group("reference", c, given[c], known[c]) for c in known}
