"""The source of draws: rows of data, a sampler, or the space; and the outcomes of the draws."""

import numpy as np
import pandas as pd

from skdisc._space._bins import Bins
from skdisc._space._items import make_items
from skdisc._space._subgroup import Predicate
from skdisc._utils._validation import plain
from skdisc.causal import StructuralCausalModel
from skdisc.causal._counterfactual_rows import ready

_PILOT = 2000
_MOST_CALLS = 60  # of a sampler for the people of one group


class Population:
    """The people a specification is about.

    Parameters
    ----------
    task : Task
    sampler : None, callable, StructuralCausalModel or object with ``sample``
        None: the rows of X, or the space where there is no X.
    min_gap : float
        The gap of outcomes that must be exceeded to count as a change.
    """

    def __init__(self, task, sampler, min_gap):
        self.task, self.min_gap = task, min_gap
        self.sampler = sampler if task.X is None else ready(sampler, task.X)
        self._is_causal = isinstance(sampler, StructuralCausalModel)
        self.is_data = sampler is None and task.X is not None
        self._known = {}
        self._shares = {}  # by predicate, the share of members among the people drawn last

    def groups(self, name, n_bins, by_value):
        """Return the groups of a protected column as predicates, in the order of pairs.

        Parameters
        ----------
        name : hashable
        n_bins : int
            Number of bins of a numeric column with more values than that, in data.
        by_value : bool
            Whether groups must be single values, to which the protected value can be set.
        """
        column = self.task.space[name]
        predicates = [Predicate.equals(name, _value(column, c)) for c in column.probes]
        if not self.is_data:
            return predicates
        if not by_value:
            predicates = make_items(
                self.task.X, self.task.space, [name], [name], Bins.of(n_bins).flat
            ).predicates
        sizes = {p: (len(self.exact(p)), float(self.exact(p).sum()), str(p)) for p in predicates}
        return sorted((p for p in predicates if sizes[p][0]), key=sizes.get)

    @property
    def is_known(self):
        """Whether the outcomes of all rows of X were queried."""
        return self.is_data and "rows" in self._known

    def pilot(self):
        """Return some rows and their outcomes, for the order of the attributes."""
        X = self.task.X if self.is_data else self._sample(_PILOT, None)
        return X, self._answers(X)

    def exact(self, predicate, kind="members", pair=None, keep=()):
        """Return the outcomes of all rows behind a mean, sorted; data only."""
        key = predicate, kind, pair, keep
        if key not in self._known:
            X = self.task.X
            if kind in ("members", "favorable"):
                inside = predicate.mask(X)
                if kind == "favorable":
                    inside = inside & self._deserving()
                outcomes = self._answers(X)[inside]
            elif kind == "do":
                outcomes = self._answers(self._with(X, predicate, keep))
            else:
                outcomes = self._changed(X, pair)
            self._known[key] = np.sort(outcomes)
        return self._known[key]

    def draws(self, mean, pair):
        """Return a function that draws n outcomes behind a mean of a pair of predicates."""
        predicate = pair[0] if mean.group == "a" else pair[1]
        rng, outcomes = self.task.rng, self.rows(mean, pair)
        if outcomes is not None:
            return lambda n: outcomes[rng.integers(len(outcomes), size=n)]
        if mean.kind == "members":
            return lambda n: self._answers(self._sample(n, predicate))
        if mean.kind == "do":
            return lambda n: self._answers(self._with(self._sample(n, None), predicate, mean.keep))
        if mean.kind == "changed":
            return lambda n: self._changed(self._sample(n, None), pair)
        raise ValueError(
            "Equal opportunity is about people whose label is favorable, and a sampler does not "
            "return labels. Give rows of X with y, and no sampler."
        )

    def rows(self, mean, pair):
        """Return the outcomes of the rows behind a mean; None if new people are sampled."""
        predicate = pair[0] if mean.group == "a" else pair[1]
        return self.exact(predicate, mean.kind, pair, mean.keep) if self.is_data else None

    def _deserving(self):
        if self.task.y is None:
            raise ValueError(
                "Equal opportunity is about people whose label is favorable: y is needed."
            )
        return self.task.favorable_labels()

    def _answers(self, X):
        queries = self.task.queries
        if X is self.task.X:
            if "rows" not in self._known:
                self._known["rows"] = queries.given(X)
            return self._known["rows"]
        return queries.ask(X)

    def _changed(self, X, pair):
        first, second = (self._answers(self._with(X, p, ())) for p in pair)
        return (np.abs(first - second) > self.min_gap).astype(float)

    def _with(self, X, predicate, keep):
        """Return the people with the protected value set, and what follows from it."""
        value = predicate.values[0]
        if self._is_causal:
            block = [(parent, node) for node in keep for parent in self.sampler.parents_[node]]
            return self.sampler.counterfactual(X, {predicate.column: value}, block=block)
        follow = getattr(self.sampler, "counterfactual", None)
        if follow is not None:
            return follow(X, {predicate.column: value}, keep=list(keep))
        if keep:
            raise ValueError(
                "spec='path_specific' needs a sampler with counterfactual(X, changes, keep), which "
                "computes the effects of a protected value on other columns."
            )
        column = self.task.space[predicate.column]
        code = {_value(column, c): c for c in column.probes}[value]
        changed = X.copy()
        changed[predicate.column] = column.decode(np.full(len(X), code))
        return changed

    def _sample(self, n, predicate):
        """Return n people, all of them members of the group if one is given."""
        space, rng = self.task.space, self.task.rng
        if self.sampler is None:
            X = space.decode(space.sample(n, rng))
            return X if predicate is None else self._with(X, predicate, ())
        if hasattr(self.sampler, "sample") and not self._is_causal:
            seed = int(rng.integers(2**31))
            return self.sampler.sample(n, predicate, random_state=seed)
        return self._rejected(n, predicate)

    def _rejected(self, n, predicate):
        """Call the sampler until n people belong to the group."""
        draw, rng, names = self.sampler, self.task.rng, list(self.task.space.names)
        if self._is_causal:

            def draw(n, rng):
                return self.sampler.sample(n, random_state=int(rng.integers(2**31)))

        parts, missing, share = [], n, self._shares.get(predicate, 1.0)
        for _ in range(_MOST_CALLS):
            # Members are a share of those drawn: one call usually has enough once it is known.
            n_to_draw = missing if share == 1 else int(1.1 * missing / share) + 10
            X = pd.DataFrame(draw(n_to_draw, rng))
            lacking = [name for name in names if name not in X]
            if lacking:
                raise ValueError(
                    f"The sampler returned people without the columns {lacking!r} of X."
                )
            X = X[names] if self._is_causal else X
            inside = X if predicate is None else X[predicate.mask(X)]
            parts.append(inside.iloc[:missing])
            missing -= len(parts[-1])
            share = self._shares[predicate] = max(len(inside) / max(len(X), 1), 0.01)
            if not missing:
                return pd.concat(parts, ignore_index=True)
        raise ValueError(
            f"After {_MOST_CALLS} calls the sampler has returned too few people with {predicate}."
        )


def _value(column, code):
    return plain(column.decode(np.array([code]))[0])


def means_of(spec):
    """Return the means that a specification needs in both orientations, in a fixed order."""
    means = {m for mean in spec.means() for m in (mean, mean.swapped())}
    return sorted(means, key=lambda m: (m.kind, m.keep, m.group))
