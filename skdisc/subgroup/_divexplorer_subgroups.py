"""DivExplorer on groups that the user gives, such as mlxtend's itemsets."""

from skdisc._space._named_groups import as_subgroups
from skdisc.subgroup._estimation._proposed_groups import discover_groups

_ALIASES = {"metric": "measure", "rate": "outcome"}


def audit_user_subgroups(detector, task, rows, items):
    """Test the groups of the setting ``subgroups``, and return the Discovery of the best of them.

    `rows`: Counted or Summed.
    """
    if detector.explain or detector.redundancy is not None:
        raise ValueError(
            f"explain={detector.explain!r} and redundancy={detector.redundancy!r} compare a group "
            "with parts of it that the search finds: leave them out with subgroups=."
        )
    features, protected = detector._features(detector.space_.names)
    subgroups = list(dict.fromkeys(as_subgroups(detector.subgroups, "subgroups", features)))
    if not subgroups:
        raise ValueError("subgroups has no group. Pass at least one, or None to search.")
    groups, least = subgroups, detector._least(rows)
    if detector.must_include == "protected" or detector.versus == "context":
        groups = [g for g in groups if any(p.column in protected for p in g.predicates)]
    groups = [g for g in groups if _size(rows, g) >= least]
    groups = groups[: detector._spend(task, len(groups))]
    discovery = discover_groups(
        detector, task, rows, items, groups, direction=detector.direction, aliases=_ALIASES
    )
    n_untested = len(subgroups) - discovery.n_tested
    if n_untested:
        discovery.notes += [
            f"{n_untested} of the {len(subgroups)} groups given are not tested: they have no "
            "condition on a protected column, or too few rows (min_support) or expected events, or "
            "those that they are compared with have."
        ]
    return discovery


def _size(rows, group):
    """Return the size of a group: its rows, or the sum of their weights."""
    mask = group.mask(rows.X)
    return rows.people_in([mask])[0] if rows.weight is None else rows.weight[mask].sum()
