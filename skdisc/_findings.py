"""Findings: stored in columns, handed out as objects."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product

import numpy as np
import pandas as pd

from skdisc import _keys
from skdisc._case import Case
from skdisc._column import plain
from skdisc._frames import frame_from_dict, frame_to_dict
from skdisc._subgroup import Predicate, Subgroup

STATISTICS = ("effect", "ci_low", "ci_high", "p_value", "p_adjusted", "test", "support")


@dataclass(frozen=True)
class Finding:
    """One finding.

    Parameters
    ----------
    rank : int
        1 is the first.
    subject : Subgroup or Case
        Whom it is about.
    effect : float
        Subject minus everyone (subgroup), or subject minus counterpart (case), on the scale of
        the measure.
    ci_low, ci_high, p_value, p_adjusted : float
        Interval and p-values of the effect; NaN for a case, which has no sampling error.
    test : str
        The test behind the p-value.
    support : int
        Number of people it is about.
    """

    rank: int
    subject: object
    effect: float
    ci_low: float
    ci_high: float
    p_value: float
    p_adjusted: float
    test: str
    support: int

    @property
    def direction(self):
        """Sign of the effect: -1, 0 or 1; 0 if the effect is undefined."""
        return int(np.sign(np.nan_to_num(self.effect)))


class _Findings:
    """What both kinds share: a length, indexing, and one tidy row per finding."""

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[j] for j in range(len(self))[i]]
        row = self.table.iloc[i]
        return Finding(
            range(len(self))[i] + 1,
            self.subject(i),
            **{s: plain_or_nan(row[s]) for s in STATISTICS},
        )

    def to_frame(self):
        """Return one row per finding: rank, subject, the statistics, the method's own columns."""
        frame = self.table.copy()
        frame.insert(0, "rank", np.arange(1, len(frame) + 1))
        frame.insert(1, "subject", _objects([str(self.subject(i)) for i in range(len(self))]))
        return frame


def _objects(values):
    return pd.Series(list(values), dtype=object)


def plain_or_nan(value):
    """Return a scalar as a Python object, a missing one as NaN."""
    value = plain(value)
    return math.nan if value is None else value  # always the same NaN, so that findings compare


class GroupFindings(_Findings):
    """Findings about subgroups.

    Parameters
    ----------
    subgroups : sequence of Subgroup
    table : DataFrame
        One row per finding with the columns of `STATISTICS` and the method's own.
    columns : sequence
        Names of the columns of X.
    keys : sequence of str
        Text keys of the subgroups.
    aliases : dict, optional
        Further columns of `parts`, under the names of a method's own literature: the name, and
        the column of the table (or ``"subject"``) that it repeats.
    """

    kind = "subgroup"

    def __init__(self, subgroups, table, columns, keys, aliases=None):
        self.subgroups, self.keys = tuple(subgroups), tuple(keys)
        self.table, self.columns = table.reset_index(drop=True), tuple(columns)
        self.aliases = dict(aliases or {})

    def subject(self, i):
        """Return the i-th subgroup."""
        return self.subgroups[i]

    def expand(self, chunk_size=10_000):
        """Yield the findings with every combination of single values in place of several values.

        The results are those of the whole group. At most `chunk_size` rows are made at once.
        """
        rows = ((i, *one) for i in range(len(self)) for one in self._singles(i))
        while chunk := list(islice(rows, chunk_size)):
            at, groups, keys = zip(*chunk, strict=True)
            yield GroupFindings(groups, self.table.iloc[list(at)], self.columns, keys)

    def _singles(self, i):
        """Yield the groups of one value per column that make up the i-th, and their keys."""
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

    def parts(self):
        """Return one row per group: the condition on each column, or None; then the results."""
        conditions = [{p.column: str(p) for p in g.predicates} for g in self.subgroups]
        features = {c: _objects([d.get(c) for d in conditions]) for c in self.columns}
        table = self.table
        results = {"subgroup_key": _objects(self.keys), "outcome": table["outcome"]}
        results |= {"diff_outcome": table["effect"], "size": table["support"]}
        own = table.drop(columns=["outcome", "effect", "support"])
        for name, column in self.aliases.items():
            subjects = _objects(map(str, self.subgroups))
            own[name] = subjects if column == "subject" else table[column]
        return pd.DataFrame(features), pd.DataFrame(results).join(own)

    def to_dict(self):
        """Return plain JSON types; `findings_from_dict` undoes it."""
        return {
            "kind": self.kind,
            "subgroups": [g.to_dict() for g in self.subgroups],
            "table": frame_to_dict(self.table),
            "columns": [plain(c) for c in self.columns],
            "keys": list(self.keys),
            "aliases": dict(self.aliases),
        }

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        groups = [Subgroup.from_dict(g) for g in data["subgroups"]]
        own = data["columns"], data["keys"], data.get("aliases")
        return cls(groups, frame_from_dict(data["table"]), *own)


class ContextFindings(GroupFindings):
    """Findings about subgroups, each compared with a larger group that it is part of.

    Parameters
    ----------
    subgroups, table, columns, keys
        See `GroupFindings`; the table has ``outcome_base`` and ``support_base``, too.
    bases : sequence of Subgroup
        The larger groups.
    base_keys : sequence of str
        Their text keys.
    """

    kind = "subgroup in context"

    def __init__(self, subgroups, table, columns, keys, bases, base_keys):
        super().__init__(subgroups, table, columns, keys)
        self.bases, self.base_keys = tuple(bases), tuple(base_keys)

    def parts(self):
        """Return two rows per case, the larger group first: their conditions, and the results."""
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
        both = [
            pd.concat(halves, ignore_index=True).iloc[order].reset_index(drop=True)
            for halves in zip(*pairs, strict=True)
        ]
        both[1].insert(0, "case_id", np.repeat(np.arange(n), 2))
        both[1].insert(1, "nature", _objects(["base", "sensitive"] * n))
        return tuple(both)

    def to_dict(self):
        """Return plain JSON types; `findings_from_dict` undoes it."""
        bases = {"bases": [g.to_dict() for g in self.bases], "base_keys": list(self.base_keys)}
        return {**super().to_dict(), **bases}

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        groups, bases = ([Subgroup.from_dict(g) for g in data[n]] for n in ("subgroups", "bases"))
        table = frame_from_dict(data["table"])
        return cls(groups, table, data["columns"], data["keys"], bases, data["base_keys"])


class CaseFindings(_Findings):
    """Findings about individuals.

    Parameters
    ----------
    original, altered : DataFrame
        The row of each subject, and of its counterpart.
    outcome, altered_outcome : ndarray of float, shape (n_cases,)
    space : FeatureSpace or None
        Makes the text keys when they are first asked for; None if `keys` are given.
    keys : tuple of two sequences of str, optional
    row : ndarray of int, optional
        Positions of the subjects among the rows audited, if that is where they come from.
    statistics : DataFrame, optional
        Columns of the table that take the place of "no sampling error", and the method's own.
    """

    kind = "case"

    def __init__(
        self,
        original,
        altered,
        outcome,
        altered_outcome,
        space=None,
        keys=None,
        row=None,
        statistics=None,
    ):
        self.original = original.reset_index(drop=True)
        self.altered = altered.reset_index(drop=True)
        self.outcome = np.asarray(outcome, dtype=float)
        self.altered_outcome = np.asarray(altered_outcome, dtype=float)
        self._space, self._given_keys = space, keys
        self.row = None if row is None else np.asarray(row, dtype=np.int64)
        self.statistics = None if statistics is None else statistics.reset_index(drop=True)

    @cached_property
    def table(self):
        """One row per case: the gap and its support; a single case has no sampling error."""
        table = pd.DataFrame({"effect": self.outcome - self.altered_outcome})
        table[["ci_low", "ci_high", "p_value", "p_adjusted"]] = np.nan
        table["test"] = _objects(["none (fixed model)"] * len(table))
        table["support"] = 1
        if self.row is not None:
            table["row"] = self.row
        if self.statistics is not None:
            table[list(self.statistics.columns)] = self.statistics
        return table

    @cached_property
    def keys(self):
        """Text keys of the subjects and of their counterparts, two lists of str."""
        if self._given_keys is not None:
            return self._given_keys
        return self._space.indv_keys(self.original), self._space.indv_keys(self.altered)

    def subject(self, i):
        """Return the i-th case."""
        before, after = (
            {c: plain(f[c].iloc[i]) for c in f.columns} for f in (self.original, self.altered)
        )
        return Case(before, after, float(self.outcome[i]), float(self.altered_outcome[i]))

    def parts(self):
        """Return two rows per case, subject first: their features, and the results."""
        n = len(self.outcome)
        order = np.arange(2 * n).reshape(2, n).T.ravel()
        rows = pd.concat([self.original, self.altered], ignore_index=True)
        mine, theirs = self.keys
        couples = [_keys.couple(a, b) for a, b in zip(mine, theirs, strict=True)]
        both = pd.DataFrame(
            {
                "indv_key": _objects([*mine, *theirs]),
                "outcome": np.concatenate([self.outcome, self.altered_outcome]),
                "couple_key": _objects(couples * 2),
                "diff_outcome": np.tile(self.outcome - self.altered_outcome, 2),
                "case_id": np.tile(np.arange(n), 2),
            }
        )
        return tuple(f.iloc[order].reset_index(drop=True) for f in (rows, both))

    def to_dict(self):
        """Return plain JSON types; `findings_from_dict` undoes it."""
        return {
            "kind": self.kind,
            "original": frame_to_dict(self.original),
            "altered": frame_to_dict(self.altered),
            "outcome": self.outcome.tolist(),
            "altered_outcome": self.altered_outcome.tolist(),
            "keys": [list(k) for k in self.keys],
            "row": None if self.row is None else self.row.tolist(),
            "statistics": None if self.statistics is None else frame_to_dict(self.statistics),
        }

    @classmethod
    def from_dict(cls, data):
        """Undo `to_dict`."""
        frames = frame_from_dict(data["original"]), frame_from_dict(data["altered"])
        outcomes, statistics = (data["outcome"], data["altered_outcome"]), data.get("statistics")
        statistics = None if statistics is None else frame_from_dict(statistics)
        named = {"keys": data["keys"], "row": data["row"], "statistics": statistics}
        return cls(*frames, *outcomes, **named)


def findings_from_dict(data):
    """Return the findings that `to_dict` wrote."""
    kinds = {c.kind: c for c in (GroupFindings, ContextFindings, CaseFindings)}
    return kinds[data["kind"]].from_dict(data)
