"""Schema: the attributes of people, their marginal distributions, and their correlations."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtr, ndtri

from skdisc._space._column import KINDS
from skdisc._space._subgroup import Predicate
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import plain

_VERSION = 1
_FEW = 30  # for at most this many values, comparisons are faster than a binary search
_LARGEST = 1e150  # of weights
_LAWS = ("norm", "uniform", "expon", "gamma", "beta", "lognorm")


@lru_cache
def _distribution(law):
    """Return the frozen distribution of scipy.stats."""
    return getattr(stats, law[0])(*law[1:])


@lru_cache
def _moments(law):
    """Return mean and standard deviation."""
    return _distribution(law).mean(), _distribution(law).std()


def _check_dtype(name, dtype, values):
    """Raise ValueError if there is no such dtype, or values are none of it."""
    try:
        pd.api.types.pandas_dtype(dtype)
        pd.Series([v for v in values if v is not None], dtype=object).astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"dtype={dtype!r} of the attribute {name!r}: {error}.") from error


@dataclass(frozen=True)
class Attribute:
    """An attribute of people and its marginal distribution.

    A nominal or ordinal attribute has `values` and `weights`. A numeric attribute has either
    `values` and `weights` (and takes no other values), or `quantiles`, or a `law`.

    Parameters
    ----------
    name : str
        Name of the column.
    kind : {"nominal", "ordinal", "numeric"}
        Whether the values are unordered categories, ordered categories, or numbers.
    values : tuple
        The possible values, in ascending order if they are ordered; None stands for missing.
    weights : tuple of float
        The shares of the values, scaled to sum to one. Empty stands for equal shares.
    quantiles : tuple of float
        Quantiles at equally spaced levels from 0 to 1; the law is uniform between them.
    law : tuple
        Name of a distribution in scipy.stats (norm, uniform, expon, gamma, beta, lognorm), followed
        by its parameters.
    protected : bool
        Whether the attribute is protected.
    dtype : str
        The dtype of the column. Empty stands for "float64" if numeric, else "category".

    Raises
    ------
    ValueError
        If the description is incomplete or contradictory.

    Examples
    --------
    >>> from skdisc.datasets import Schema
    >>> sex = Attribute("sex", values=("F", "M"), protected=True)
    >>> age = Attribute("age", "numeric", law=("norm", 40, 10))
    >>> Schema([sex, age]).protected
    ['sex']
    """

    name: str
    kind: str = "nominal"
    values: Iterable = ()
    weights: Iterable = ()
    quantiles: Iterable = ()
    law: Iterable = ()
    protected: bool = False
    dtype: str = ""

    def __post_init__(self):
        for name in ("values", "weights", "quantiles", "law"):
            object.__setattr__(self, name, tuple(map(plain, getattr(self, name))))
        if not self.dtype:
            object.__setattr__(self, "dtype", "float64" if self.kind == "numeric" else "category")
        _check_dtype(self.name, self.dtype, self.values)
        sources = [name for name in ("values", "quantiles", "law") if getattr(self, name)]
        if (
            self.kind not in KINDS
            or len(sources) != 1
            or (self.kind != "numeric" and not self.values)
        ):
            raise ValueError(
                f"The attribute {self.name!r} needs a kind among {KINDS}, and values or, if it is "
                "numeric, exactly one of values, quantiles and law; got "
                f"kind={self.kind!r}, {sources!r}."
            )
        weights = np.asarray(self.weights or np.ones(len(self.values)), dtype=float)
        wrong = self.values and (
            len(weights) != len(self.values)
            or len(set(self.values)) < len(weights)
            or not ((weights >= 0).all() and (weights <= _LARGEST).all() and weights.sum() > 0)
        )
        if wrong:
            raise ValueError(
                f"The attribute {self.name!r} needs distinct values with one weight >= 0 each; got "
                f"values={self.values!r}, weights={self.weights!r}."
            )
        if self.values:
            object.__setattr__(self, "weights", tuple((weights / weights.sum()).tolist()))
        ascending = self.quantiles or (self.values if self.kind == "numeric" else ())
        if not _is_ascending(ascending):
            raise ValueError(
                f"The numbers of attribute {self.name!r} must be ascending and not missing or "
                f"infinite, got {ascending[:5]!r}."
            )
        if len(self.quantiles) == 1 or not _has_mean(self.law):
            raise ValueError(
                f"The attribute {self.name!r} needs at least two quantiles, or a law in {_LAWS} "
                f"with a mean; got {self.law!r}."
            )

    @property
    def is_discrete(self) -> bool:
        """Whether the attribute takes the listed values only."""
        return bool(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether the attribute is rounded to integers."""
        return self.dtype.startswith("int")

    @cached_property
    def cuts(self) -> np.ndarray:
        """Ends of the latent intervals of the values, an array of shape (n_values + 1,)."""
        shares = np.concatenate([[0.0], np.cumsum(self.weights)])
        return ndtri(np.minimum(shares / shares[-1], 1.0))

    @cached_property
    def _steps(self):
        """The quantiles as an array, and the differences between them."""
        return np.asarray(self.quantiles, dtype=float), np.diff([*self.quantiles, 0.0])

    def quantile(self, u: Any) -> np.ndarray:
        """Return the quantiles of a continuous attribute at levels `u`."""
        if self.law:
            return _distribution(self.law).ppf(u)
        values, steps = self._steps
        position = np.asarray(u) * (len(steps) - 1)
        below = position.astype(np.intp)
        return values[below] + (position - below) * steps[below]

    def share_below(self, x: float, closed: bool) -> float:
        """Return the probability of a number below `x`, or at most `x` if `closed`."""
        if self.is_whole and math.isfinite(x):  # numbers that are rounded to an allowed one
            x = (math.floor(x) if closed else math.ceil(x) - 1) + 0.5
        if self.law:
            return float(_distribution(self.law).cdf(x))
        levels, q = np.linspace(0, 1, len(self.quantiles)), np.asarray(self.quantiles)
        side = "right" if closed else "left"
        k = int(np.searchsorted(q, x, side))
        if k == 0 or k == len(q):
            return float(k > 0)
        return float(np.interp(x, q[k - 1 : k + 1], levels[k - 1 : k + 1]))

    def levels(self, n_bins: int = 4) -> list[Predicate]:
        """Return the conditions for subgroups: one per value, or per quantile bin of numbers."""
        if self.kind != "numeric":
            return [
                Predicate.equals(self.name, v)
                for v, w in zip(self.values, self.weights, strict=True)
                if w > 0
            ]
        probabilities = np.arange(1, n_bins) / n_bins
        if self.is_discrete:
            shares = np.cumsum(self.weights)
            edges = [
                self.values[min(np.searchsorted(shares, u), len(shares) - 1)] for u in probabilities
            ]
            edges = [e for e in edges if e < self.values[-1]]
        else:
            edges = self.quantile(probabilities).tolist()
        ends = [-math.inf, *sorted(set(edges)), math.inf]
        return [Predicate.between(self.name, a, b) for a, b in pairwise(ends)]

    def empty(self, n: int) -> np.ndarray:
        """Return an uninitialized array for `n` results of `decode`."""
        if self.is_discrete:
            return np.empty(n, dtype=np.int8 if len(self.values) <= _FEW else np.intp)
        return np.empty(n, dtype=self.dtype if self.is_whole else float)

    def decode(self, z: np.ndarray) -> np.ndarray:
        """Return the numbers, or the positions among the values, for latent normal scores `z`."""
        if not self.is_discrete:
            if self.law[:1] == ("norm",):
                mean, spread = _moments(self.law)
                x = mean + spread * z
            else:
                x = self.quantile(ndtr(z))
            return np.rint(x) if self.is_whole else x
        cuts = self.cuts[1:-1]
        if len(self.values) > _FEW:
            return np.searchsorted(cuts, z, side="left")
        codes = np.zeros(len(z), dtype=np.int8)
        for cut in cuts:
            codes += z > cut
        return codes

    def codes(self, column: pd.Series) -> np.ndarray:
        """Return the position of each element of a Series among the values; -1 if unknown."""
        places = {v: i for i, v in enumerate(self.values)}
        position, uniques = column.factorize()
        codes = [places.get(plain(v), -1) for v in uniques.tolist()]
        return np.array([*codes, places.get(None, -1)])[position]

    def _codes_with(self, predicate: Predicate) -> list[int]:
        """Return the positions of the values that may occur and satisfy a predicate."""
        fits = predicate._holds if predicate.values is None else predicate.values.__contains__
        return [c for c, v in enumerate(self.values) if self.weights[c] > 0 and fits(v)]

    def take(self, codes: np.ndarray) -> Any:
        """Return the values at the given positions, as an array of the column's dtype."""
        if self.kind != "numeric" and self.dtype == "category":
            dtype, position = self._categories
            return pd.Categorical.from_codes(position[codes], dtype=dtype, validate=False)
        return self._column.take(codes)

    @cached_property
    def _categories(self):
        """The dtype of the categories, and the code of each value."""
        categories = [v for v in self.values if v is not None]
        codes = [categories.index(v) if v is not None else -1 for v in self.values]
        kind = np.int8 if len(categories) < 128 else np.int64
        dtype = pd.CategoricalDtype(categories, ordered=self.kind == "ordinal")
        return dtype, np.array(codes, dtype=kind)

    @cached_property
    def _column(self):
        """The values as an array of the column's dtype."""
        values = [np.nan if v is None else v for v in self.values]
        column = pd.Series(values, dtype=self.dtype)
        return column.to_numpy() if isinstance(column.dtype, np.dtype) else column.array


def _has_mean(law):
    """Return whether a law, if there is one, is known and has moments."""
    return not law or (law[0] in _LAWS and bool(np.isfinite(_moments(law)).all()))


def _is_ascending(values):
    """Return whether values are finite numbers in rising order, none of them missing."""
    are_finite = all(isinstance(x, int | float) and abs(x) < math.inf for x in values)
    return are_finite and list(values) == sorted(values)


@dataclass(frozen=True)
class Schema:
    """Attributes with their marginal distributions, and their correlations.

    Parameters
    ----------
    attributes : sequence of Attribute
    correlation : float or array-like of shape (n_attributes, n_attributes), default=0.0
        Spearman correlations of the values, where a nominal value counts as its position. A number
        stands for the same correlation of all pairs.
    latent : bool, default=False
        Whether `correlation` refers to the latent normal scores instead.

    Raises
    ------
    ValueError
        If names repeat, or `correlation` is not a correlation matrix.

    Examples
    --------
    >>> sex = Attribute("sex", values=("F", "M"), protected=True)
    >>> age = Attribute("age", "numeric", law=("gamma", 9, 0, 4.5), dtype="float64")
    >>> schema = Schema([sex, age], correlation=0.2)
    >>> Schema.from_json(schema.to_json()) == schema
    True
    >>> schema.protected
    ['sex']
    """

    attributes: Iterable[Attribute]
    correlation: float | ArrayLike = 0.0
    latent: bool = False

    def __post_init__(self):
        object.__setattr__(self, "attributes", tuple(self.attributes))
        n, names = len(self.attributes), self.names
        if not n or len(set(names)) < n:
            raise ValueError(f"A schema needs attributes with distinct names, got {names!r}.")
        try:
            correlation = np.asarray(self.correlation, dtype=float)
        except (TypeError, ValueError):
            correlation = np.full(1, np.nan)  # refused below
        matrix = np.where(np.eye(n) > 0, 1.0, correlation) if correlation.ndim == 0 else correlation
        right = matrix.shape == (n, n) and np.isfinite(matrix).all() and np.abs(matrix).max() <= 1
        if not (right and np.allclose(matrix, matrix.T) and np.allclose(np.diag(matrix), 1)):
            raise ValueError(
                f"correlation must be a number or a symmetric matrix of shape {(n, n)} with ones "
                f"on the diagonal and values in [-1, 1]; got {self.correlation!r}."
            )
        object.__setattr__(self, "correlation", tuple(map(tuple, matrix.tolist())))

    @property
    def names(self) -> list[str]:
        """Names of the attributes."""
        return [a.name for a in self.attributes]

    @property
    def protected(self) -> list[str]:
        """Names of the protected attributes."""
        return [a.name for a in self.attributes if a.protected]

    def to_dict(self) -> dict:
        """Return the schema as a dict of JSON types, the inverse of `from_dict`."""
        attributes = [{k: v for k, v in asdict(a).items() if v != ()} for a in self.attributes]
        rest = {"correlation": [list(r) for r in self.correlation], "latent": self.latent}
        return {"schema_version": _VERSION, "attributes": attributes, **rest}

    @classmethod
    def from_dict(cls, data: dict) -> Self:
        """Return a schema from a dict made by `to_dict`.

        Raises
        ------
        ValueError
            If the dict has another schema version.
        """
        if data.get("schema_version") != _VERSION:
            raise ValueError(
                f"This is schema version {data.get('schema_version')!r}; this version of skdisc "
                f"reads version {_VERSION}."
            )
        attributes = [Attribute(**a) for a in data["attributes"]]
        return cls(attributes, data["correlation"], data["latent"])

    def to_json(self) -> str:
        """Return the schema as JSON text, the inverse of `from_json`."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return a schema from a text made by `to_json`."""
        return cls.from_dict(json.loads(text))
