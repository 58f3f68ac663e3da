"""Refinements: groups with one condition more than a group that was found."""

from typing import Any

import numpy as np
from scipy import special

from skdisc._space._codes import PAD
from skdisc._space._items import Items
from skdisc.subgroup._estimation._clusters import clustered
from skdisc.subgroup._estimation._contrasts import is_protected
from skdisc.subgroup._lattice._conjunctions import Patterns


def unexceeded(
    family: Any, patterns: Patterns, items: Items, twin: np.ndarray, significance: float
) -> list[list[tuple]]:
    """Return the groups that refine a group found and do not differ from the rest of it.

    A refinement has one condition more than a significant group with a context. If the condition is
    on the context, its contrast is compared with the contrast of the others in the group's context;
    if it is a protected one, its members are compared with the other members of the group. It
    differs if the p-value is at most the level divided by the number of refinements of the group.

    `patterns`: the groups of the family. `twin`, of shape (n_measures, n_groups): for each group,
    itself or the side tested in place of it (`one_side_each`). Returns a list of list of (child,
    parent): by measure, for each length of refinements from short to long: arrays of their
    positions, and of the tested contrasts that they refine.
    """
    protected = is_protected(patterns, items)
    has_context = ((patterns.items != PAD) & ~protected).any(axis=1)
    child, parent, item = patterns.parents()
    able = (parent >= 0) & has_context[parent] & protected.any(axis=1)[parent]
    child, parent, by_part = child[able], parent[able], items.protected[item[able]]
    refinements = []
    for j in range(len(family.is_tested)):
        is_tested = family.is_tested[j, child]
        lead = twin[j, parent]
        n_siblings = np.bincount(lead[is_tested], minlength=len(patterns))
        with np.errstate(invalid="ignore"):
            edges = np.flatnonzero(is_tested & (family.p_adjusted[j, lead] <= significance))
        p = np.where(
            by_part[edges],
            _of_members(family.contrasts, j, child[edges], parent[edges]),
            _of_contrasts(family.contrasts, j, child[edges], parent[edges]),
        )
        differs = (p <= significance / n_siblings[lead[edges]]) & (lead[edges] == parent[edges])
        edges = edges[~differs]
        length = patterns.length[child[edges]]
        refinements.append(
            [(child[edges[length == n]], lead[edges[length == n]]) for n in np.unique(length)]
        )
    return refinements


def _of_members(contrasts, j, child, parent):
    """Return the p-values of the members of refinements against the others of the groups."""
    sums = contrasts.sums[j]
    return _clustered(contrasts, j, child, sums[:, child], sums[:, parent]).p_value()


def _of_contrasts(contrasts, j, child, parent):
    """Return the p-values of the contrasts of refinements, against the other people's contrasts."""
    one, whole = (
        [s[j][:, positions] for s in (contrasts.sums, contrasts.context_sums)]
        for positions in (child, parent)
    )
    rest = [w - o for w, o in zip(whole, one, strict=True)]
    one, rest = (_clustered(contrasts, j, child, *sums) for sums in (one, rest))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (one.gap - rest.gap) / np.hypot(one.error, rest.error)
    return 2 * special.ndtr(-np.abs(z))


def _clustered(contrasts, j, positions, sums, context_sums):
    factor = None if contrasts.inflation is None else contrasts.inflation[j, positions]
    return clustered(contrasts.rows.tally(j, sums, context_sums), factor)
