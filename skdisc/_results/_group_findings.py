"""GroupFindings and ContextFindings: findings about groups of people."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import islice, product
from typing import Self

import numpy as np
import pandas as pd

from skdisc._results._finding import STATISTICS, Findings, objects
from skdisc._space import _keys
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._subgroup import Group, Predicate, Subgroup
from skdisc._utils._json import frame_from_dict, frame_to_dict
from skdisc._utils._validation import plain


class GroupFindings(Findings):
    """Findings about subgroups.

    Parameters
    ----------
    subgroups : sequence of Group
    table : DataFrame
        One row per finding, with the columns of `STATISTICS` and further ones.
    columns : sequence
        Names of the columns of X.
    keys : sequence of str
        Text keys of the subgroups.
    aliases : dict, optional
        Further columns of `parts` under their published names: maps a name to the column of the
        table (or ``"subject"``) that it repeats.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["F", "M"], "age": [20, 50]})
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> groups = [Predicate.equals("sex", "F") & Predicate.between("age", 18, 25)]
    >>> tests = {"p_value": 0.01, "p_adjusted": 0.02, "test": "Fisher", "support": 20}
    >>> numbers = {"outcome": 0.25, "effect": -0.4, "ci_low": -0.6, "ci_high": -0.1, **tests}
    >>> GroupFindings.of(groups, pd.DataFrame([numbers]), space)
    GroupFindings with 1 finding
      1. 18 < age <= 25 and sex = 'F': effect -0.400 [-0.600, -0.100]
    """

    kind = "subgroup"

    def __init__(
        self,
        subgroups: Sequence[Group],
        table: pd.DataFrame,
        columns: Sequence[Hashable],
        keys: Sequence[str],
        aliases: dict | None = None,
    ) -> None:
        self.subgroups, self.keys = tuple(subgroups), tuple(keys)
        self.table, self.columns = table.reset_index(drop=True), tuple(columns)
        self.aliases = dict(aliases or {})

    @staticmethod
    def of(
        groups: Sequence[Group],
        table: pd.DataFrame,
        space: FeatureSpace,
        aliases: dict | None = None,
    ) -> "GroupFindings":
        """Return findings about groups of a space, which gives the columns and the keys."""
        keys = [space.subgroup_key(g) for g in groups]
        return GroupFindings(groups, table, space.names, keys, aliases)

    @staticmethod
    def none(space: FeatureSpace) -> "GroupFindings":
        """Return findings about no group of a space."""
        numbers = dict.fromkeys(["outcome", *STATISTICS, "measure"], ())
        return GroupFindings.of([], pd.DataFrame(numbers, dtype=object), space)

    def subject(self, i: int) -> Group:
        """Return the i-th subgroup."""
        return self.subgroups[i]

    def expand(self, chunk_size: int = 10_000) -> Iterator["GroupFindings"]:
        """Yield the findings with each group replaced by its combinations of single values.

        The results are those of the whole group. Each chunk has at most `chunk_size` rows.
        """
        rows = ((i, *one) for i in range(len(self)) for one in self._singles(i))
        while chunk := list(islice(rows, chunk_size)):
            places, groups, keys = zip(*chunk, strict=True)
            yield GroupFindings(groups, self.table.iloc[list(places)], self.columns, keys)

    def _singles(self, i):
        """Yield the groups with one value per column that the i-th consists of, and their keys."""
        if not isinstance(self.subgroups[i], Subgroup):
            yield self.subgroups[i], self.keys[i]
            return
        conditions = {p.column: p for p in self.subgroups[i].predicates}
        options = []
        for column, slot in zip(self.columns, _keys.split(self.keys[i]), strict=True):
            p = conditions.get(column)
            if p is None or p.values is None:
                options.append([(p, slot)])
            else:
                slots = zip(p.values, _keys.read_one_of(slot), strict=True)
                options.append([(Predicate.equals(column, v), one) for v, one in slots])
        for choice in product(*options):
            group = Subgroup([p for p, _ in choice if p is not None])
            yield group, _keys.join([slot for _, slot in choice])

    def with_table(self, table: pd.DataFrame) -> "GroupFindings":
        """Return findings about the same groups with another table of numbers."""
        return GroupFindings(self.subgroups, table, self.columns, self.keys, self.aliases)

    def parts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the values of each column (None: any) and the results, with a row per group.

        A condition that more than one value satisfies is a text.
        """
        conditions = [{p.column: _cell(p) for p in g.predicates} for g in self.subgroups]
        features = {c: objects([d.get(c) for d in conditions]) for c in self.columns}
        table = self.table
        results = {"subgroup_key": objects(self.keys), "outcome": table["outcome"]}
        results |= {"diff_outcome": table["effect"], "size": table["support"]}
        numbers = table.drop(columns=["outcome", "effect", "support"])
        for name, column in self.aliases.items():
            subjects = objects(map(str, self.subgroups))
            numbers[name] = subjects if column == "subject" else table[column]
        return pd.DataFrame(features), pd.DataFrame(results).join(numbers)

    def to_dict(self) -> dict:
        """Return the findings as a dict of JSON types, the inverse of `from_dict`."""
        return {
            "kind": self.kind,
            "subgroups": [g.to_dict() for g in self.subgroups],
            "table": frame_to_dict(self.table),
            "columns": [plain(c) for c in self.columns],
            "keys": list(self.keys),
            "aliases": dict(self.aliases),
        }

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return findings from a dict made by `to_dict`."""
        groups = [Group.from_dict(g) for g in data["subgroups"]]
        return cls(
            groups,
            frame_from_dict(data["table"]),
            data["columns"],
            data["keys"],
            data.get("aliases"),
        )


class ContextFindings(GroupFindings):
    """Findings about subgroups that are compared with a larger group that contains them.

    Parameters
    ----------
    subgroups, table, columns, keys
        As in `GroupFindings`; the table also has ``outcome_base`` and ``support_base``.
    bases : sequence of Subgroup
        The larger groups.
    base_keys : sequence of str
        Their text keys.

    Examples
    --------
    >>> X = pd.DataFrame({"sex": ["F", "M"], "age": [20, 50]})
    >>> space = FeatureSpace.from_frame(X, protected="sex")
    >>> groups = [Predicate.equals("sex", "F") & Predicate.between("age", 18, 25)]
    >>> tests = {"p_value": 0.01, "p_adjusted": 0.02, "test": "Fisher", "support": 20}
    >>> numbers = {"outcome": 0.25, "effect": -0.4, "ci_low": -0.6, "ci_high": -0.1, **tests}
    >>> base = Subgroup([Predicate.between("age", 18, 25)])
    >>> table = pd.DataFrame([{**numbers, "outcome_base": 0.65, "support_base": 50}])
    >>> keys = [[space.subgroup_key(g)] for g in (groups[0], base)]
    >>> found = ContextFindings(groups, table, space.names, keys[0], [base], keys[1])
    >>> conditions, results = found.parts()
    >>> pd.concat([conditions, results[["outcome", "diff_outcome"]]], axis=1)
        sex             age  outcome  diff_outcome
    0  None  18 < age <= 25     0.65           0.0
    1     F  18 < age <= 25     0.25          -0.4
    """

    kind = "subgroup in context"

    def __init__(
        self,
        subgroups: Sequence[Group],
        table: pd.DataFrame,
        columns: Sequence[Hashable],
        keys: Sequence[str],
        bases: Sequence[Group],
        base_keys: Sequence[str],
    ) -> None:
        super().__init__(subgroups, table, columns, keys)
        self.bases, self.base_keys = tuple(bases), tuple(base_keys)

    def with_table(self, table: pd.DataFrame) -> "ContextFindings":
        """Return findings about the same groups with another table of numbers."""
        return ContextFindings(
            self.subgroups, table, self.columns, self.keys, self.bases, self.base_keys
        )

    def parts(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return conditions and results with two rows per finding, the larger group first."""
        n = len(self.table)
        table = self.table.drop(columns=["outcome_base", "support_base"])
        base = {"outcome": self.table["outcome_base"], "support": self.table["support_base"]}
        base = table.assign(**base, effect=0.0)
        pairs = [
            GroupFindings(groups, t, self.columns, keys).parts()
            for groups, t, keys in (
                (self.bases, base, self.base_keys),
                (self.subgroups, table, self.keys),
            )
        ]
        order = np.arange(2 * n).reshape(2, n).T.ravel()
        joined = [
            pd.concat(halves, ignore_index=True).iloc[order].reset_index(drop=True)
            for halves in zip(*pairs, strict=True)
        ]
        joined[1].insert(0, "case_id", np.repeat(np.arange(n), 2))
        joined[1].insert(1, "nature", objects(["base", "sensitive"] * n))
        return tuple(joined)

    def to_dict(self) -> dict:
        """Return the findings as a dict of JSON types, the inverse of `from_dict`."""
        bases = {"bases": [g.to_dict() for g in self.bases], "base_keys": list(self.base_keys)}
        return {**super().to_dict(), **bases}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return findings from a dict made by `to_dict`."""
        groups, bases = ([Group.from_dict(g) for g in data[n]] for n in ("subgroups", "bases"))
        table = frame_from_dict(data["table"])
        return cls(groups, table, data["columns"], data["keys"], bases, data["base_keys"])


def _cell(predicate):
    """Return the one value of a condition, or the text of a condition on several."""
    if predicate.values is None or len(predicate.values) != 1:
        return str(predicate)
    (value,) = predicate.values
    return "missing" if value is None else value
