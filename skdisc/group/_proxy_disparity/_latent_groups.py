"""Groups whose members are known with a probability, and pairs of them."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skdisc._space._subgroup import Group, Predicate
from skdisc._utils._validation import plain
from skdisc.group._pairwise._group_pairs import GroupPair, group_pairs

_HALF = 0.5
_MOST = 1 + 1e-6  # sum of the probabilities of a person


@dataclass(frozen=True)
class LatentGroup(Group):
    """A group that nobody is known to belong to: a column has the probability of each person.

    `column`: the column of probabilities.
    """

    kind = "latent group"
    column: Hashable

    def mask(self, X: pd.DataFrame) -> np.ndarray:
        """Return who belongs to the group with a probability above one half."""
        return X[self.column].to_numpy(dtype=float, na_value=np.nan) > _HALF

    def __str__(self):
        return f"group of {self.column}"

    def to_dict(self) -> dict:
        """Return the group as a dict of JSON types."""
        return {"kind": self.kind, "column": plain(self.column)}

    @classmethod
    def from_dict(cls, data: dict) -> "LatentGroup":
        """Return a group from a dict made by `to_dict`."""
        return cls(data["column"])


@dataclass(frozen=True)
class LatentPair(GroupPair):
    """A group and its reference, known or latent."""

    group: Predicate | LatentGroup
    reference: Predicate | LatentGroup | None

    @property
    def subgroup(self) -> Group:
        """The group, as a finding is about it."""
        return self.group if isinstance(self.group, LatentGroup) else super().subgroup

    def shares(self, X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the probabilities of each person to be of the group, and of the reference."""
        q = _probability(self.group, X)
        return q, 1 - q if self.reference is None else _probability(self.reference, X)


def _probability(group, X):
    """Return the probabilities of membership, 0 or 1 in known groups."""
    if isinstance(group, LatentGroup):
        return X[group.column].to_numpy(dtype=float, na_value=np.nan)
    return group.mask(X).astype(float)


def columns_of_probabilities(
    X: pd.DataFrame, space: Any, protected: Sequence[Hashable], named: Any
) -> list:
    """Return the protected columns that hold probabilities, and check them.

    `named`: "auto": numeric columns between 0 and 1 with a value strictly between. Raises
    ValueError if a named column is not between 0 and 1, or the probabilities of a person add up to
    more than 1.
    """
    is_auto = isinstance(named, str)
    columns = [c for c in protected if _is_probability(X, space, c)] if is_auto else list(named)
    for column in columns:
        if space[column].kind != "numeric" or not _between(X[column]).all():
            raise ValueError(
                f"proba={named!r}: column {column!r} is no column of probabilities, numbers from "
                "0 to 1."
            )
    if columns:
        total = X[columns].sum(axis=1).to_numpy(dtype=float)
        if total.max(initial=0) > _MOST:
            row = int(np.argmax(total))
            raise ValueError(
                f"The probabilities {columns!r} of a person must not add up to more than 1; in row "
                f"{row} they add up to {total[row]:.4g}. Audit columns about different attributes "
                "one after the other."
            )
    return columns


def _is_probability(X, space, column):
    if space[column].kind != "numeric":
        return False
    x = X[column].to_numpy(dtype=float, na_value=np.nan)
    return bool(_between(X[column]).all() and ((x > 0) & (x < 1)).any())


def _between(series):
    """Return where a number is from 0 to 1, or missing."""
    x = series.to_numpy(dtype=float, na_value=np.nan)
    return np.isnan(x) | ((x >= 0) & (x <= 1))


def latent_pairs(
    X: pd.DataFrame,
    space: Any,
    protected: Sequence[Hashable],
    probabilities: Sequence[Hashable],
    reference: str,
    n_bins: int,
) -> list[LatentPair]:
    """Return each group with its reference, known groups first.

    `reference`: one of "largest", "rest".
    """
    known_columns = [c for c in protected if c not in probabilities]
    pairs = group_pairs(X, space, known_columns, reference, n_bins)
    known_pairs = [LatentPair(p.group, p.reference) for p in pairs]
    latent = [LatentGroup(c) for c in probabilities]
    first = None
    if reference == "largest" and len(latent) > 1:
        sizes = [np.nansum(_probability(g, X)) for g in latent]
        first = latent[int(np.argmax(sizes))]
    return known_pairs + [LatentPair(g, first) for g in latent if g != first]
