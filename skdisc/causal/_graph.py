"""The graph of a causal model: reading, topological order, and checks of columns."""

from graphlib import CycleError, TopologicalSorter

import pandas as pd


def read_graph(dag):
    """Return the parents of every node, a dict in topological order.

    Raises ValueError if the graph has a cycle, or an edge is not a pair.
    """
    parents = {}
    if hasattr(dag, "nodes") and hasattr(dag, "edges"):  # networkx
        parents, dag = {node: [] for node in dag.nodes}, list(dag.edges)
    for edge in dag:
        if not isinstance(edge, (tuple, list)):
            parents.setdefault(edge, [])
            continue
        if len(edge) != 2:
            raise ValueError(f"An edge of dag must be a pair (parent, child), got {edge!r}.")
        parent, child = edge
        parents.setdefault(parent, [])
        parents.setdefault(child, [])
        if parent not in parents[child]:
            parents[child].append(parent)
    try:
        order = list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        path = " -> ".join(str(node) for node in reversed(error.args[1]))
        raise ValueError(
            f"dag has a cycle: {path}. A causal model needs an acyclic graph; remove one of these "
            "edges."
        ) from None
    return {node: tuple(parents[node]) for node in order}


def descendants(parents, sources):
    """Return the list of nodes that `sources` affect, in topological order."""
    reached = set(sources)
    for node, above in parents.items():
        if reached.intersection(above):
            reached.add(node)
    return [node for node in parents if node in reached and node not in sources]


def check_columns(X, nodes):
    """Return X; raise if a node has no column in X, or its column has missing values."""
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"X must be a DataFrame with the nodes as columns, got {type(X)!r}.")
    absent = [n for n in nodes if n not in X.columns]
    if absent:
        raise ValueError(
            f"The nodes {absent!r} of the causal model are not columns of X. Add them to X, remove "
            "them from dag, or name them in latent."
        )
    with_missing = [n for n in nodes if X[n].hasnans]
    if with_missing:
        raise ValueError(
            f"The columns {with_missing!r} have missing values, from which noise cannot be "
            "abducted. Impute the values, or drop these rows."
        )
    return X
