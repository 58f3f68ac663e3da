"""Schemas learned from data."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy import sparse

from skdisc._space._column import categories, infer_kind, largest_float, numbers
from skdisc._stats import cramers_v
from skdisc._utils._inputs import check_is_frame
from skdisc._utils._types import Columns
from skdisc._utils._validation import check_protected, refuse_shape
from skdisc.datasets._copula._latent_correlation import (
    cells,
    latent_correlation,
    nearest,
    spearman,
)
from skdisc.datasets._copula._schema import Attribute, Schema

_MOST_ATOMS = 1000  # a numeric column with more distinct values counts as continuous


def schema_from_frame(
    frame: pd.DataFrame, *, protected: Columns | None = None, kinds: dict | None = None
) -> Schema:
    """Learn a schema from data: marginal distributions and latent correlations.

    The schema reproduces the Spearman correlations of numeric and ordinal columns, and Cramér's V
    of pairs with a nominal column (with binned numbers). Nominal categories are ordered by the
    first axis of a multiple correspondence analysis.

    Parameters
    ----------
    frame : DataFrame of shape (n_samples, n_columns)
    protected : column name or position, or sequence of them, default=None
    kinds : dict, default=None
        Maps a column to "nominal", "ordinal" or "numeric"; by default the dtype decides.

    Returns
    -------
    Schema
        With ``latent=True``.

    Raises
    ------
    ValueError
        If a numeric column has missing values, or a name is not that of a column.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": ["F", "M"] * 50, "age": range(100)})
    >>> schema = schema_from_frame(frame, protected="sex")
    >>> [a.kind for a in schema.attributes], schema.protected
    (['nominal', 'numeric'], ['sex'])
    """
    return learned_schema(frame, protected, kinds)


def learned_schema(frame, protected=None, kinds=None, in_time=lambda: True):
    """Return the `Schema` of `schema_from_frame`, as far as there is time.

    Once `in_time` returns False, the associations that are not yet learned stay 0.
    """
    check_is_frame(frame, "frame")
    refuse_shape(frame)
    names = list(frame.columns)
    kinds = dict(kinds or {})
    unknown = sorted(set(kinds) - set(names), key=str)
    if unknown:
        raise ValueError(
            f"kinds names {unknown!r}, which are not columns of the frame ({names!r})."
        )
    chosen = check_protected(protected, names)
    attributes = [
        _attribute(frame[n], kinds.get(n) or infer_kind(frame[n]), n in chosen) for n in names
    ]
    codes = [_codes(a, frame[a.name]) for a in attributes]
    if in_time() and any(a.kind == "nominal" for a in attributes):
        order = _first_axis(codes, [len(cells(a)) for a in attributes])
        for j, attribute in enumerate(attributes):
            if attribute.kind == "nominal":
                attributes[j] = _reordered(attribute, order[j])
                codes[j] = np.argsort(order[j])[codes[j]]
    return Schema(attributes, _latent(attributes, codes, in_time), latent=True)


def _attribute(series, kind, protected):
    """Return the attribute learned from a column."""
    name, dtype = series.name, str(series.dtype)
    if kind != "numeric":
        values = list(categories(series))
        values += [None] if series.isna().any() else []
        attribute = Attribute(name, kind, values, protected=protected, dtype=dtype)
        weights = np.bincount(attribute.codes(series), minlength=len(values))
        return replace(attribute, weights=weights)
    x = numbers(series)
    if np.isnan(x).any():
        raise ValueError(
            f"The numeric column {name!r} has {int(np.isnan(x).sum())} missing values. Impute "
            "them, drop the rows, or bin the column into categories, where missing is allowed."
        )
    if series.dtype.kind in "iu":
        x = np.minimum(x, largest_float(series.dtype))
    values, counts = np.unique(x, return_counts=True)
    if len(values) <= _MOST_ATOMS:
        return Attribute(name, kind, values, counts, protected=protected, dtype=dtype)
    quantiles = np.quantile(x, np.linspace(0, 1, _MOST_ATOMS + 1))
    return Attribute(name, kind, quantiles=quantiles, protected=protected, dtype=dtype)


def _codes(attribute, series):
    """Return the cell of each row, matching `cells`."""
    if attribute.kind == "numeric":
        ends = np.cumsum(cells(attribute))[:-1]
        ranks = series.rank(method="average").to_numpy(dtype=float) - 0.5
        return np.searchsorted(ends, ranks / len(series))
    return attribute.codes(series)


def _first_axis(codes, sizes):
    """Return the order of the cells of each column along the first correspondence axis."""
    starts = np.cumsum([0, *sizes])
    rows = np.column_stack(codes) + starts[:-1]
    ends = np.arange(len(rows) + 1) * len(sizes)
    shape = len(rows), starts[-1]
    is_in_cell = sparse.csr_array((np.ones(rows.size), rows.ravel(), ends), shape=shape)
    burt = (is_in_cell.T @ is_in_cell).toarray()
    roots = np.sqrt(np.maximum(burt.sum(axis=1) / burt.sum(), 1e-300))  # no value may occur
    centered = burt / burt.sum() / np.outer(roots, roots) - np.outer(roots, roots)
    axis = np.linalg.eigh(centered)[1][:, -1] / roots
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return [np.argsort(axis[a:b], kind="stable") for a, b in pairwise(starts)]


def _reordered(attribute, order):
    """Return an attribute with its values in another order."""
    values = [attribute.values[k] for k in order]
    return replace(attribute, values=values, weights=[attribute.weights[k] for k in order])


def _latent(attributes, codes, in_time):
    """Return the latent correlations that lead to the associations in the data.

    If not all can be reached at once, the correlations that matter least for the associations
    deviate most.
    """
    n, shares = len(attributes), [cells(a) for a in attributes]
    latent, weights = np.eye(n), np.eye(n)
    for i, j in zip(*np.tril_indices(n, -1), strict=True):
        if not in_time():
            break
        size = len(shares[i]), len(shares[j])
        if min(size) < 2:
            continue
        table = np.bincount(codes[i] * size[1] + codes[j], minlength=size[0] * size[1])
        table = table.reshape(size) / len(codes[0])
        target, measure = spearman(table), spearman
        if "nominal" in (attributes[i].kind, attributes[j].kind):
            target, measure = np.copysign(cramers_v(table), target), cramers_v
        rho, _, slope = latent_correlation(shares[i], shares[j], target, measure)
        latent[i, j] = latent[j, i] = rho
        weights[i, j] = weights[j, i] = max(slope, 0.1) ** 2
    return nearest(latent, weights, in_time)
