"""Two audits of the same people: how alike both models decide about those whom a gap is about."""

import numpy as np

from skdisc import _stats
from skdisc._space._bins import Bins
from skdisc._space._column import Column
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._stats._means import Welch
from skdisc._utils._hashing import NumberedColumns
from skdisc._utils._inputs import as_frame
from skdisc._utils._validation import check_labels, is_favorable, readable
from skdisc.auditing._numbers import LOG, MEAN, finite_numbers

_LABEL = {"true_positive_rate": True, "false_positive_rate": False}  # of those a rate is about
_RATES = ("selection_rate", MEAN, *_LABEL)  # about the same people, whatever a model decides


class PairedPeople:
    """People about whom two models decided, in the terms of the documents of both audits.

    Parameters
    ----------
    X : DataFrame or array-like of shape (n, n_columns)
    decisions : pair of array-like of shape (n,)
        What either model decided, before and after; numbers, if these were audited.
    y : array-like of shape (n,), optional
        Labels, for rates that compare with them.
    document : dict
        That of one of the audits, for the favorable label, the protected columns and the bins.

    Raises
    ------
    ValueError
        If the rows are not as many as were audited, or lengths differ.
    """

    def __init__(self, X, decisions, y, document):
        facts = document["about"]
        frame = readable(as_frame(X)).rename(columns=str)
        sides = list(decisions)
        if len(sides) != 2:
            raise ValueError(f"decisions must be those before and after, got {len(sides)} of them.")
        n_audited = facts["n_rows"]
        for name, values in (("X", frame), ("decisions", sides[0]), ("decisions", sides[1])):
            if len(values) != n_audited:
                raise ValueError(f"{name} has {len(values):,} rows; {n_audited:,} were audited.")
        favorable, outcome = facts["favorable"], facts.get("outcome")
        self.are_numbers, self.labels = outcome is not None, None
        if self.are_numbers:
            self.decided = [finite_numbers(d, "decisions") for d in sides]
            if outcome["scale"] == LOG:
                self.decided = [np.log(d) for d in self.decided]
        else:
            self.decided = [is_favorable(check_labels(d, n_audited), favorable) for d in sides]
            if y is not None:
                self.labels = is_favorable(check_labels(y, n_audited), favorable)
        self.X = frame[[c for c in facts["columns"] if c in frame]]
        numbered = NumberedColumns(self.X)
        columns = [Column.from_series(s, numbered=numbered) for _, s in numbered.X.items()]
        space = FeatureSpace(columns, facts["protected"], is_frame=True)
        bins = Bins.of(document["settings"].get("n_bins") or 4).flat
        items = make_items(self.X, space, list(self.X), facts["protected"], bins)
        # A group of a document is known by the texts of its conditions: those of the same bins and
        # values are made again, and compared; no text is read.
        self._predicates = {(str(p.column), str(p)): p for p in items.predicates}

    def likeness(self, conditions, measure):
        """Return the correlation of both estimates of a gap, and the gaps themselves.

        Parameters
        ----------
        conditions : list of dict
            Those of a group in a document: column, text, protected.
        measure : str
            The rate whose gap it is.

        Returns
        -------
        correlation : float, NaN if the group cannot be made again
        gaps : list of (estimate, low, high, level)
            Rate of the members minus that of the others in the context, before and after.
        """
        unknown = np.nan, []
        parts = [self._predicates.get((c["column"], c["text"])) for c in conditions]
        if not parts or None in parts or measure not in _RATES:
            return unknown
        if measure in _LABEL and self.labels is None:
            return unknown
        is_protected = np.array([bool(c["protected"]) for c in conditions])
        masks = np.array([p.mask(self.X) for p in parts])
        context = masks[~is_protected].all(axis=0) & self._counts(measure)
        members = masks[is_protected].all(axis=0) & context
        rest = context & ~members
        if min(members.sum(), rest.sum()) < 1 + self.are_numbers or not is_protected.any():
            return unknown
        influences, gaps = [], []
        for decided in self.decided:
            x1, n1, x0, n0 = (
                float(v) for m in (members, rest) for v in (decided[m].sum(), m.sum())
            )
            if self.are_numbers:
                group_sample, rest_sample = (
                    (decided[m].mean(), decided[m].var(ddof=1), m.sum()) for m in (members, rest)
                )
                low, high = Welch.of(group_sample, rest_sample).interval(0.05)
            else:
                low, high = _stats.newcombe(x1, n1, x0, n0, 0.05)
            gaps.append((x1 / n1 - x0 / n0, float(low), float(high), 0.95))
            member_terms = np.where(members, (decided - x1 / n1) / n1, 0.0)
            influences.append(member_terms - np.where(rest, (decided - x0 / n0) / n0, 0.0))
        size = np.sqrt((influences[0] ** 2).sum() * (influences[1] ** 2).sum())
        return float((influences[0] * influences[1]).sum() / size) if size else 0.0, gaps

    def _counts(self, measure):
        """Return a mask of the people whom a rate is about."""
        if measure not in _LABEL:
            return np.ones(len(self.X), dtype=bool)
        return self.labels == _LABEL[measure]
