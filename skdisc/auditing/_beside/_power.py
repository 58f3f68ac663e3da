"""Power: the gaps that an audit could show, before data are collected."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import special

from skdisc import _stats
from skdisc._utils._types import FrameLike

_COLUMNS = ("attribute", "group", "share")
_QUESTIONS = 3  # of an attribute, where labels are audited: marginal, contextual, conditional
_EXCLUDING = 0.9  # chance of excluding a gap that is not there
_HALVINGS = 50


def power_table(
    n: int,
    shares: Mapping | FrameLike,
    rate: float,
    *,
    significance: float,
    relevant_gap: float,
    relevant_size: float,
    power: float = 0.8,
    n_questions: int | None = None,
    context: float = 1.0,
    n_contexts: int = 1,
    spread: float | None = None,
) -> pd.DataFrame:
    """Return what an audit of n people could show about each group; see `Audit.power`."""
    table = _shares(shares)
    _check(n, rate, power, context, n_contexts, spread)
    attributes = table["attribute"]
    n_questions = _QUESTIONS * attributes.nunique() if n_questions is None else n_questions
    if n_questions < 1:
        raise ValueError(f"n_questions must be at least 1, got {n_questions}.")
    n_groups = attributes.map(attributes.value_counts())
    contrasts = np.where(n_groups == 2, 1, n_groups) * n_contexts
    n_members = n * context * table["share"].to_numpy()
    n_others = n * context - n_members
    level = significance / n_questions / contrasts
    variance = rate * (1 - rate) if spread is None else spread**2
    error = np.sqrt(variance * (1 / n_members + 1 / n_others))
    # U, the upper end of a gap, is at most this many errors where there is no gap.
    # The estimate is within ndtri((1 + .9) / 2) errors of 0 with probability .9, on either side.
    reach = special.ndtri((1 + _EXCLUDING) / 2) - special.ndtri(significance)
    # In a context so small that the group has `relevant_size` of all people, the others have in
    # proportion; with n people on each side an error is √(2 p (1 - p) / n).
    fewest = np.minimum(n_members, relevant_size * n)
    small = np.sqrt(variance / fewest * (1 + n_members / n_others))
    side_needed = np.ceil(2 * variance * (reach / relevant_gap) ** 2)
    if spread is None:
        below, above = (
            _smallest_gap(n_members, n_others, rate, level, power, sign) for sign in (-1, 1)
        )
    else:
        below = above = (special.ndtri(power) - special.ndtri(level / 2)) * error
    return pd.DataFrame(
        {
            "attribute": attributes,
            "group": table["group"],
            "people": n_members,
            "level": level,
            "gap_below": below,
            "gap_above": above,
            "excludes": reach * error,
            "excludes_in_context": reach * small,
            "side_needed": side_needed,
            "cleared": 2 * _stats.compared_size(n_members, n_others) >= side_needed,
        }
    )


def _smallest_gap(n1, n0, rate, level, power, sign):
    """Return the smallest gap on one side that a test of pooled variance shows with this power.

    The rates are those that differ by the gap and have the mean `rate` over all people; NaN where
    none is large enough. The search starts from the gap that equal variances would give.
    """
    share = n1 / (n1 + n0)
    low_side, high_side = (1 - share, share) if sign < 0 else (share, 1 - share)
    largest = np.minimum(rate / low_side, (1 - rate) / high_side)
    z = -special.ndtri(level / 2)
    by_chance = np.sqrt(rate * (1 - rate) * (1 / n1 + 1 / n0))

    def reached(gap):
        p1, p0 = rate + sign * gap * (1 - share), rate - sign * gap * share
        error = np.sqrt(np.maximum(p1 * (1 - p1) / n1 + p0 * (1 - p0) / n0, 1e-12))
        return special.ndtr((gap - z * by_chance) / error)

    low, high = np.zeros_like(largest), largest.copy()
    near = _stats.min_detectable_gap(n1, n0, rate, level, power)
    for i in range(_HALVINGS):
        middle = np.minimum(near, largest) if i == 0 else (low + high) / 2
        enough = reached(middle) >= power
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(reached(largest) >= power, high, np.nan)


def _check(n, rate, power, context, n_contexts, spread):
    """Raise ValueError if a number is not allowed."""
    if not n >= 2:
        raise ValueError(f"n must be at least 2, got {n}.")
    if spread is not None and not 0 < spread < np.inf:
        raise ValueError(f"spread must be positive, as a share of the mean, got {spread}.")
    if not n_contexts >= 1:
        raise ValueError(f"n_contexts must be at least 1, got {n_contexts}.")
    for name, share in (("rate", rate), ("power", power)):
        if not 0 < share < 1:
            raise ValueError(f"{name} must be between 0 and 1, got {share}.")
    if not 0 < context <= 1:
        raise ValueError(f"context must be a share in (0, 1], got {context}.")


def _shares(shares):
    """Return the shares of groups as a table."""
    if isinstance(shares, Mapping) and not set(_COLUMNS) <= set(shares):
        rows = [
            (attribute, group, share)
            for attribute, groups in shares.items()
            for group, share in _items(attribute, groups)
        ]
        shares = pd.DataFrame(rows, columns=list(_COLUMNS))
    table = pd.DataFrame(shares).reset_index(drop=True)
    missing = [c for c in _COLUMNS if c not in table]
    if missing:
        raise ValueError(f"shares has no column {missing[0]!r}. It needs {', '.join(_COLUMNS)}.")
    if not len(table):
        raise ValueError("shares names no group.")
    table["share"] = pd.to_numeric(table["share"]).astype(float)
    for attribute, attribute_shares in table.groupby("attribute", sort=False)["share"]:
        if (
            len(attribute_shares) < 2
            or not (attribute_shares > 0).all()
            or abs(attribute_shares.sum() - 1) > 1e-6
        ):
            raise ValueError(
                f"The shares of {attribute!r} must be those of two groups or more, positive, and "
                f"add up to 1; got {attribute_shares.tolist()}."
            )
    return table


def _items(attribute, groups):
    if not isinstance(groups, Mapping):
        raise ValueError(
            f"shares must name groups by attribute, as in {{'sex': {{'F': 0.4, 'M': 0.6}}}}; for "
            f"{attribute!r} it has {groups!r}."
        )
    return groups.items()
