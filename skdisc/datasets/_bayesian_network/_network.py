"""BayesianNetwork: draws people from conditional tables, also exactly under conditions."""

from math import prod

import numpy as np

from skdisc.datasets._copula._copula import generator, predicates_of, table

MOST_CELLS = 2**20  # combinations of values in a table
_BLOCK = 2**16
_DRAWS = 2**16
_SETS = 8


class BayesianNetwork:
    r"""Distribution of people whose attributes are drawn in the order of a causal graph.

    The law is :math:`P(x) = \prod_j P(x_j \mid x_{pa(j)})`, with one table for each attribute.

    Parameters
    ----------
    schema : Schema
        All attributes have values.
    parents : dict
        Maps the name of every attribute to those of its parents, in topological order.
    tables : dict
        Maps a name to an ndarray of shape (n_values of each parent in turn, own n_values).
    into_outcome : frozenset of str
        The attributes that enter the base score of the outcome.
    """

    def __init__(self, schema, parents, tables, into_outcome):
        self.schema, self.parents, self.tables = schema, parents, tables
        self.into_outcome = into_outcome
        self.attributes = {a.name: a for a in schema.attributes}
        self.sizes = {name: len(self.attributes[name].values) for name in parents}

    def sample(self, n_samples, condition=None, *, random_state=None):
        """Draw people, as `GaussianCopula.sample` does."""
        return self.sample_each([n_samples], [condition], random_state=random_state)

    def sample_each(self, sizes, conditions, *, random_state=None):
        """Draw people under several conditions into one table."""
        rng = generator(random_state)
        pairs = zip(sizes, conditions, strict=True)
        parts = [self._draw(size, condition, rng) for size, condition in pairs]
        return self._people({n: np.concatenate([p[n] for p in parts]) for n in self.attributes})

    def probability(self, condition, **_):
        """Return the probability of a condition."""
        allowed = self._allowed(condition)
        return float(self.joint(self._closed(allowed), allowed).sum())

    def integrate(self, function, condition=None):
        """Return the mean of a function of people who satisfy a condition, and standard errors.

        The function takes people and an array of zeros, one per person. All combinations of values
        are enumerated if they are at most 2**20, so that the mean is exact; otherwise the mean is
        one over 65,536 people drawn.
        """
        allowed = self._allowed(condition)
        if prod(len(allowed.get(n, range(k))) for n, k in self.sizes.items()) > MOST_CELLS:
            people = self.sample(_DRAWS, condition, random_state=0)
            values = np.asarray(function(people, np.zeros(_DRAWS)), dtype=float)
            means = values.reshape(_SETS, -1, *values.shape[1:]).mean(axis=1)
            return means.mean(axis=0), means.std(axis=0, ddof=1) / np.sqrt(_SETS)
        total, mass = 0.0, 0.0
        for people, weight in self._cells(allowed):
            values = np.asarray(function(people, np.zeros(len(people))), dtype=float)
            total, mass = total + weight @ values, mass + weight.sum()
        return total / mass, np.zeros_like(total)

    def joint(self, nodes, allowed=None):
        """Return the joint probabilities of nodes, one axis for each, restricted to some values.

        `nodes`: in topological order, with all their ancestors. `allowed`: maps a name to the
        positions of the values to keep. Raises ValueError if the table has more than 2**20 cells.
        """
        allowed = allowed or {}
        shape = [len(allowed.get(n, range(self.sizes[n]))) for n in nodes]
        if prod(shape) > MOST_CELLS:
            raise ValueError(
                f"The {len(nodes)} attributes {list(nodes)!r} have {prod(shape)} combinations of "
                f"values, but at most {MOST_CELLS} can be enumerated. Use fewer attributes or "
                "values, or a sparser graph."
            )
        table = np.ones([1] * len(nodes))
        for node in nodes:
            table = table * self.factor(node, nodes, allowed)
        return table

    def factor(self, node, nodes, allowed=None):
        """Return P(node | parents), with one axis (of length 1 if not involved) for each node."""
        names = [*self.parents[node], node]
        values = self.tables[node]
        for axis, name in enumerate(names):
            if name in (allowed or {}):
                values = values.take(allowed[name], axis=axis)
        places = [nodes.index(name) for name in names]
        shape = [1] * len(nodes)
        for place, size in zip(places, values.shape, strict=True):
            shape[place] = size
        return values.transpose(np.argsort(places)).reshape(shape)

    def everyone(self):
        """Return a table of all combinations of values, in the order of ``joint(parents)``."""
        nodes = list(self.parents)
        codes = np.unravel_index(np.arange(prod(self.sizes.values())), list(self.sizes.values()))
        return self._people(dict(zip(nodes, codes, strict=True)))

    def _cells(self, allowed):
        """Yield the possible people who have allowed values, and their probabilities."""
        nodes = list(self.parents)
        p = self.joint(nodes, allowed)
        cells = np.flatnonzero(p)
        for start in range(0, len(cells), _BLOCK):
            block = cells[start : start + _BLOCK]
            codes = self._positions(block, p.shape, nodes, allowed)
            yield self._people(codes), p.ravel()[block]

    def _draw(self, n, condition, rng):
        """Draw n people under a condition as positions of values by name."""
        allowed = self._allowed(condition)
        nodes = self._closed(allowed)
        codes = {}
        if nodes:  # they and their ancestors together, the others given their parents
            p = self.joint(nodes, allowed)
            cumulative = p.ravel().cumsum()
            cells = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
            codes = self._positions(cells, p.shape, nodes, allowed)
        for node, above in self.parents.items():
            if node not in codes:
                rows = self.tables[node][tuple(codes[p] for p in above)].cumsum(axis=-1)
                u = rng.random((n, 1)) * rows[..., -1:]
                codes[node] = (u >= rows[..., :-1]).sum(axis=-1)
        return codes

    @staticmethod
    def _positions(flat, shape, nodes, allowed):
        """Return the positions of values by name, from flat positions in a restricted table."""
        indices = np.unravel_index(flat, shape)
        pairs = zip(nodes, indices, strict=True)
        return {n: np.asarray(allowed[n])[c] if n in allowed else c for n, c in pairs}

    def _closed(self, names):
        """Return names with all their ancestors, in topological order."""
        closed = set(names)
        for node in reversed(self.parents):
            if node in closed:
                closed.update(self.parents[node])
        return [node for node in self.parents if node in closed]

    def _people(self, codes):
        """Return positions of values by name as a table of people."""
        return table({n: a.take(codes[n]) for n, a in self.attributes.items()})

    def _allowed(self, condition):
        """Return the positions of the values that satisfy a condition, by attribute."""
        allowed = {}
        for predicate in predicates_of(condition, self.schema.names):
            a = self.attributes[predicate.column]
            allowed[a.name] = a._codes_with(predicate)
            if not allowed[a.name]:
                raise ValueError(f"The condition '{predicate}' has probability zero.")
        return allowed
