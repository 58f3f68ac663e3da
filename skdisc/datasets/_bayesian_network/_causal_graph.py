"""Causal graphs of attributes, and the tables of the networks that have them."""

from itertools import cycle, islice

import numpy as np

from skdisc.causal._graph import read_graph
from skdisc.datasets._bayesian_network._network import BayesianNetwork

OUTCOME = "outcome"
ROLES = "roles"
_STRENGTH = 0.5
_STEPS, _TOLERANCE = 2000, 1e-13


def build(schema, graph, rng):
    r"""Return the network of a causal graph, with the marginal distributions of a schema.

    With random scores a and b of the values of an edge (positions if they are ordered), which have
    mean 0 and variance 1, :math:`P(v \mid pa) \propto \exp(\alpha_v + \sum_e s_e a_e(v) b_e(pa_e))`
    where s is the strength of an edge, and :math:`\alpha` such that the marginals are those of the
    schema. For small s, it is the correlation of the scores.

    Raises ValueError if the graph does not fit the schema, or the ancestors of an attribute have
    too many combinations of values.
    """
    _check_attributes(schema)
    edges = _roles(schema) if isinstance(graph, str) else [_edge(e) for e in graph]
    _check_edges(edges, schema)
    inner = {e[:2]: e[2] for e in edges if e[1] != OUTCOME}
    above = read_graph([*inner, *schema.names])
    free = {a.name for a in schema.attributes if not a.protected}
    into_outcome = frozenset(e[0] for e in edges if e[1] == OUTCOME) or frozenset(free)
    network = BayesianNetwork(schema, above, {}, into_outcome)
    for node, parents in above.items():
        strengths = [inner[p, node] for p in parents]
        network.tables[node] = _table(network, node, strengths, rng)
    return network


def _table(network, node, strengths, rng):
    """Return the conditional probabilities of a node whose parents have theirs."""
    parents, attribute = network.parents[node], network.attributes[node]
    shares = np.asarray(attribute.weights)
    eta = np.zeros([*(network.sizes[p] for p in parents), len(shares)])
    for axis, (parent, strength) in enumerate(zip(parents, strengths, strict=True)):
        shape = [1] * len(parents)
        shape[axis] = -1
        scores = strength * _scores(network.attributes[parent], rng).reshape(shape)
        eta = eta + scores[..., None] * _scores(attribute, rng)
    if not parents:
        return shares
    closed = network._closed(parents)
    summed_axes = tuple(i for i, n in enumerate(closed) if n not in parents)
    p = network.joint(closed).sum(axis=summed_axes)
    marginal_nodes = [n for n in closed if n in parents]
    p = p.transpose([marginal_nodes.index(n) for n in parents])
    return _calibrated(eta, p, shares)


def _calibrated(eta, p, shares):
    """Return the tilted probabilities whose mean over parents with law `p` is `shares`."""
    rows, q = eta.reshape(-1, len(shares)), p.ravel()
    rows = np.exp(rows - rows.max(axis=1, keepdims=True))
    factor = shares.copy()
    for _ in range(_STEPS):
        tilted = rows * factor
        tilted /= tilted.sum(axis=1, keepdims=True)
        mean = q @ tilted
        if np.abs(mean - shares).max() < _TOLERANCE:
            break
        factor *= np.divide(shares, mean, out=np.zeros_like(shares), where=shares > 0)
        factor /= factor.sum()
    return tilted.reshape(eta.shape)


def _scores(attribute, rng):
    """Return a score of each value, with mean 0 and variance 1."""
    shares = np.asarray(attribute.weights)
    x = np.arange(len(shares), dtype=float)
    x = rng.standard_normal(len(shares)) if attribute.kind == "nominal" else x
    x = x - shares @ x
    return x / (np.sqrt(shares @ x**2) or 1.0)


def _roles(schema):
    """Return edges that give the unprotected attributes in turn four roles.

    A mediator depends on a protected attribute and enters the outcome; a proxy depends on one, and
    does not; a confounder affects one and the outcome; a legitimate attribute enters the outcome.
    """
    free = [n for n in schema.names if n not in schema.protected]
    edges = []
    for k, role in enumerate(("mediator", "proxy", "confounder", "legitimate")):
        for attribute, protected in zip(free[k::4], cycle(schema.protected), strict=False):
            if role in ("mediator", "proxy"):
                edges.append((protected, attribute, _STRENGTH))
            if role == "confounder":
                edges.append((attribute, protected, _STRENGTH))
            if role != "proxy":
                edges.append((attribute, OUTCOME, 1.0))
    return edges


def _edge(edge):
    """Return an edge as parent, child and strength."""
    if not isinstance(edge, (tuple, list)) or len(edge) not in (2, 3):
        raise ValueError(
            "graph must be 'roles' or a sequence of (parent, child) and (parent, child, strength); "
            f"got the edge {edge!r}."
        )
    return tuple(islice([*edge, _STRENGTH], 3))


def _check_edges(edges, schema):
    """Raise ValueError for edges that are not those of attributes and the outcome."""
    for parent, child, strength in edges:
        if parent not in schema.names or child not in (*schema.names, OUTCOME):
            raise ValueError(
                f"The edge {(parent, child)!r} of graph must lead from one of the attributes "
                f"{schema.names!r} to another, or to {OUTCOME!r}."
            )
        if child == OUTCOME and parent in schema.protected:
            raise ValueError(
                f"The edge {(parent, child)!r} of graph is a direct effect of a protected "
                "attribute. Such effects are planted: see n_pairs, granularity and bias."
            )
        if not isinstance(strength, (int, float)) or not np.isfinite(strength):
            raise ValueError(
                f"The strength of the edge {(parent, child)!r} must be a finite number, got "
                f"{strength!r}."
            )


def _check_attributes(schema):
    """Raise ValueError for a schema whose attributes are continuous, missing or correlated."""
    names = [a.name for a in schema.attributes if not a.is_discrete or None in a.values]
    if names:
        raise ValueError(
            f"graph= needs attributes with values that are never missing; {names!r} are continuous "
            "or can be missing. Give them values= and weights=, or set n_numeric=0."
        )
    if not np.array_equal(schema.correlation, np.eye(len(schema.names))):
        raise ValueError(
            "graph= gives the attributes their dependence. Pass a schema without correlation=."
        )
