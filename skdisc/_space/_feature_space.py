"""FeatureSpace: the possible inputs, as rows of integer codes that a search can step through."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd

from skdisc._space import _keys
from skdisc._space._column import KINDS, Column
from skdisc._space._scales import Scales
from skdisc._space._subgroup import Group, Predicate, Subgroup
from skdisc._utils._hashing import NumberedColumns, multipliers
from skdisc._utils._inputs import check_is_frame
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import check_names

MAX_COMBOS = 10_000


class FeatureSpace:
    """The possible inputs: kinds, values, bounds and steps of the columns, and protected columns.

    A space is learned from data by `from_frame`, or declared by `from_domains`. A row of the space
    is a row of integer codes, one per column (see `Column`).

    Parameters
    ----------
    columns : sequence of Column
        The columns, in the order of X.
    protected : sequence of hashable
        Names of the protected columns.
    immutable : sequence of hashable
        Names of columns that a search does not change (protected columns are varied regardless).
    monotone : dict, optional
        Maps a column to 1 if a search may only increase it, or to -1 if it may only decrease it.
    is_frame : bool, default=True
        Whether models receive a DataFrame; otherwise they receive arrays.

    Raises
    ------
    ValueError
        If names repeat or are unknown, a column has no possible value, or `monotone` is invalid.

    Examples
    --------
    >>> space = FeatureSpace.from_domains({"age": (17, 90), "sex": ["F", "M"]}, protected=["sex"])
    >>> space.decode(np.array([[0, 1], [73, 0]]))
       age sex
    0   17   M
    1   90   F
    """

    def __init__(
        self,
        columns: Sequence[Column],
        protected: Sequence[Hashable] | Hashable = (),
        *,
        immutable: Sequence[Hashable] | Hashable = (),
        monotone: dict | None = None,
        is_frame: bool = True,
    ) -> None:
        self.columns = tuple(columns)
        self.names = tuple(c.name for c in self.columns)
        self.protected, self.immutable = names_once(protected), names_once(immutable)
        self.monotone = dict(monotone or {})
        self.is_frame = is_frame
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"Two columns have the same name. Columns: {list(self.names)!r}.")
        empty = [c.name for c in self.columns if not c.size and not c.missing]
        if empty:
            raise ValueError(f"The columns {empty!r} have no possible value.")
        check_names("protected", self.protected, self.names)
        check_names("immutable", self.immutable, self.names)
        check_monotone(self.monotone, self.columns)
        self.p_index = np.array([self.names.index(n) for n in self.protected], dtype=np.intp)
        self.np_index = np.setdiff1d(np.arange(len(self.names)), self.p_index)
        self._scales = Scales.of(self.columns)
        self._header = pd.Index(list(self.names))  # made once, because it is slow

    def __len__(self):
        return len(self.columns)

    def __repr__(self):
        kinds = ", ".join(f"{c.name}: {c.kind}[{c.size}]" for c in self.columns)
        return f"FeatureSpace({kinds}; protected={list(self.protected)!r})"

    def __eq__(self, other):
        if not isinstance(other, FeatureSpace):
            return NotImplemented
        return self._identity() == other._identity()

    __hash__ = None

    def _identity(self):
        """Return the attributes that decide about equality."""
        return self.columns, self.protected, self.immutable, self.monotone, self.is_frame

    @classmethod
    def from_frame(
        cls,
        X: pd.DataFrame,
        *,
        protected: Sequence[Hashable] | Hashable = (),
        kinds: dict | None = None,
        bounds: dict | None = None,
        steps: dict | None = None,
        immutable: Sequence[Hashable] | Hashable = (),
        monotone: dict | None = None,
        max_probes: int = 20,
        is_frame: bool = True,
    ) -> Self:
        """Learn the space from data.

        Parameters
        ----------
        X : DataFrame of shape (n_samples, n_features)
        protected : sequence of hashable
            Names of the protected columns.
        kinds : dict, optional
            Maps a column to "nominal", "ordinal" or "numeric". Kinds, bounds and steps of other
            columns are inferred from dtypes and values.
        bounds : dict, optional
            Maps a numeric column to ``(low, high)``.
        steps : dict, optional
            Maps a numeric column to its resolution.
        immutable : sequence of hashable
            As in `FeatureSpace`.
        monotone : dict, optional
            As in `FeatureSpace`.
        max_probes : int, default=20
            A protected column with more ordered values is varied over this many quantiles instead
            of all values.
        is_frame : bool, default=True
            Whether models receive a DataFrame.

        Returns
        -------
        FeatureSpace

        Raises
        ------
        ValueError
            If a name is not a column of X, or a kind is unknown.
        """
        check_is_frame(X)
        kinds, bounds, steps = (dict(d or {}) for d in (kinds, bounds, steps))
        for what, settings in (("kinds", kinds), ("bounds", bounds), ("steps", steps)):
            check_names(what, settings, list(X.columns))
        wrong = {n: k for n, k in kinds.items() if k not in KINDS}
        if wrong:
            raise ValueError(f"kinds must be among {KINDS}, got {wrong!r}.")
        columns = []
        for name, series in X.items():
            column = Column.from_series(
                series,
                kind=kinds.get(name),
                bounds=bounds.get(name),
                step=steps.get(name),
                max_probes=max_probes,
            )
            columns.append(column)
        return cls(columns, protected, immutable=immutable, monotone=monotone, is_frame=is_frame)

    @classmethod
    def from_domains(
        cls,
        domains: Mapping[Hashable, Any],
        *,
        protected: Sequence[Hashable] | Hashable = (),
        max_probes: int = 20,
        **how: Any,
    ) -> Self:
        """Declare the space without data.

        Parameters
        ----------
        domains : dict
            Maps a column to ``(low, high)`` or a range for numbers, to an ordered
            ``CategoricalDtype`` for ordered categories, or to a list of names.
        protected, max_probes, **how
            As in `from_frame`; also ``immutable``, ``monotone`` and ``is_frame``.

        Returns
        -------
        FeatureSpace

        Raises
        ------
        ValueError
            If a domain is empty or of an unknown form, or a name is unknown.
        """
        if not isinstance(domains, Mapping) or not domains:
            raise ValueError(
                f"domains must be a non-empty dict from column names to domains, got {domains!r}."
            )
        columns = [Column.from_domain(n, d, max_probes) for n, d in domains.items()]
        return cls(columns, protected, **how)

    def adapt(self, learned: "FeatureSpace") -> "FeatureSpace":
        """Return this space with the column order, protected columns and container of `learned`.

        Raises
        ------
        ValueError
            If a column of `learned` is not in this space, or has missing values only in `learned`.
        """
        unknown = [n for n in learned.names if n not in self.names]
        if unknown:
            raise ValueError(
                f"The space passed lacks the columns {unknown!r} of X; it has {list(self.names)!r}."
            )
        missing = [c.name for c in learned.columns if c.missing and not self[c.name].missing]
        if missing:
            raise ValueError(
                f"The columns {missing!r} of X have missing values, which the space excludes. "
                "Impute them, drop these rows, or learn the space from X."
            )
        columns = [self[n] for n in learned.names]
        return FeatureSpace(
            columns,
            learned.protected,
            immutable=[n for n in self.immutable if n in learned.names],
            monotone={n: way for n, way in self.monotone.items() if n in learned.names},
            is_frame=learned.is_frame,
        )

    def varying(self, protected: Sequence[Hashable] | Hashable) -> "FeatureSpace":
        """Return this space with other protected columns."""
        return FeatureSpace(
            self.columns,
            protected,
            immutable=self.immutable,
            monotone=self.monotone,
            is_frame=self.is_frame,
        )

    def __getitem__(self, name):
        if name not in self.names:
            raise KeyError(f"The space has no column {name!r}. Columns: {list(self.names)!r}.")
        return self.columns[self.names.index(name)]

    @property
    def multipliers(self) -> np.ndarray:
        """One odd 64-bit number per column, from which keys are computed."""
        return multipliers(len(self))

    def encode(self, X: pd.DataFrame, numbered: NumberedColumns | None = None) -> np.ndarray:
        """Return the codes of rows, int64 of shape (n_rows, n_columns); `numbered` if known.

        Raises
        ------
        ValueError
            If a numeric column holds something else.
        """
        return np.stack([c.encode(X[c.name], numbered) for c in self.columns]).T

    def decode(self, codes: np.ndarray) -> pd.DataFrame:
        """Return the rows of `codes` as a DataFrame with the dtypes of the data.

        Raises
        ------
        ValueError
            If a code has no value.
        """
        return self.variants(codes, np.empty((1, 0), dtype=np.int64))

    def numbers(self, codes: np.ndarray) -> np.ndarray | None:
        """Return the values of `codes` as one array; None if the columns have no common dtype."""
        if self._scales is None or codes.min(initial=0) < 0:
            return None
        return self._scales.decode(codes)

    def variants(self, codes: np.ndarray, combos: np.ndarray) -> pd.DataFrame:
        """Return each row of `codes` with each combination of protected codes.

        Parameters
        ----------
        codes : ndarray of int, shape (n_rows, n_columns)
        combos : ndarray of int, shape (n_combos, n_protected)
            Without protected columns, the rows are returned unchanged.

        Returns
        -------
        DataFrame of n_rows * n_combos rows
            The variants of a row are adjacent, because forests are faster on similar neighbors.
        """
        n, v = len(codes), len(combos)
        codes_of_column = dict(zip(self.p_index, combos.T, strict=False))
        if (values := self.numbers(codes)) is not None:
            values = values.T  # one row per column, as pandas stores them
            values = values.repeat(v, axis=1) if v > 1 else values
            for j, protected_codes in codes_of_column.items():
                values[j] = np.tile(self.columns[j].decode(protected_codes), n)
            return pd.DataFrame(values.T, columns=self._header, copy=False)
        columns = {}
        for j, column in enumerate(self.columns):
            values = column.decode(
                np.tile(codes_of_column[j], n) if j in codes_of_column else codes[:, j]
            )
            values = values if j in codes_of_column else values.repeat(v)
            if column.dtype == object:
                values = pd.Series(values, dtype=object)  # pandas 3 would infer text
            columns[column.name] = values
        return pd.DataFrame(columns, copy=False)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw `n` rows of codes, uniformly and independently for each column."""
        return np.stack([rng.integers(c.least, c.size, n) for c in self.columns]).T

    def combos(self) -> np.ndarray:
        """Return the combinations of protected codes to test, shape (n_combos, n_protected).

        Raises
        ------
        ValueError
            If there are more than 10,000 combinations.
        """
        probes = [self.columns[j].probes for j in self.p_index]
        n = math.prod(map(len, probes))
        if n > MAX_COMBOS:
            raise ValueError(
                f"The protected columns {list(self.protected)!r} have {list(map(len, probes))!r} "
                f"values, that is, {n:,} combinations; at most {MAX_COMBOS:,} are allowed. Protect "
                "fewer columns, or bin those with many values."
            )
        grid = np.meshgrid(*[np.array(p, dtype=np.int64) for p in probes], indexing="ij")
        return np.array([g.ravel() for g in grid], dtype=np.int64).T.reshape(n, len(probes))

    def key(self, codes: np.ndarray, columns: ArrayLike | None = None) -> np.ndarray:
        """Return a 64-bit key of each row from the columns at these positions (default: all)."""
        weights = np.zeros(len(self), dtype=np.uint64)
        positions = slice(None) if columns is None else columns
        weights[positions] = self.multipliers[positions]
        codes = np.asarray(codes, dtype=np.int64).view(np.uint64)
        return codes @ weights + 3 * weights.sum(keepdims=True)  # modulo 2 ** 64

    def indv_keys(self, X: pd.DataFrame) -> list[str]:
        """Return the text key of each row of a DataFrame."""
        slots = []
        for column in self.columns:
            position, uniques = pd.factorize(X[column.name], use_na_sentinel=True)
            table = np.array([*(column.slot(u) for u in uniques), _keys.MISSING], dtype=object)
            slots.append(table[position])
        return [_keys.join(row) for row in zip(*slots, strict=True)]

    def read_indv_key(self, key: str) -> dict:
        """Return the row of a text key made by `indv_keys`, a dict from column names to values.

        Raises
        ------
        ValueError
            If the key does not belong to this space.
        """
        return {c.name: c.read_slot(s) for c, s in self._slots(key)}

    def subgroup_key(self, subgroup: Group) -> str:
        """Return the text key of a group, with one slot per column, ``*`` without a condition.

        The key of a group that is not a conjunction is ``~`` followed by its name.

        Raises
        ------
        ValueError
            If the group has a condition on a column that is not in this space.
        """
        if not isinstance(subgroup, Subgroup):
            return "~" + _keys.escape(str(subgroup))
        condition = {p.column: p for p in subgroup.predicates}
        check_names("subgroup", condition, self.names)
        return _keys.join(c.condition(condition.get(c.name)) for c in self.columns)

    def read_subgroup_key(self, key: str) -> Subgroup:
        """Return the conjunction of a text key made by `subgroup_key`.

        Raises
        ------
        ValueError
            If the key does not belong to this space, or to a conjunction.
        """
        if key.startswith("~"):
            raise ValueError(f"The key {key!r} names a group that is not a conjunction.")
        slots = [(c, s) for c, s in self._slots(key) if s != _keys.FREE]
        return Subgroup([Predicate(c.name, *c.read_condition(s)) for c, s in slots])

    def _slots(self, key):
        """Return pairs of columns and slots of a key."""
        slots = _keys.split(key)
        if len(slots) != len(self):
            raise ValueError(
                f"The key {key!r} has {len(slots)} slots; the space has {len(self)} columns."
            )
        return zip(self.columns, slots, strict=True)


def names_once(names):
    """Return names as a tuple without duplicates; a single name may be passed by itself."""
    listed = [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)
    if not all(isinstance(n, Hashable) for n in listed):
        raise ValueError(f"Names of columns are expected, got {names!r}.")
    return tuple(dict.fromkeys(listed))


def check_monotone(monotone, columns):
    """Raise ValueError for directions other than 1 and -1, and for columns without an order."""
    check_names("monotone", monotone, [c.name for c in columns])
    wrong = {n: way for n, way in monotone.items() if way not in (1, -1)}
    if wrong:
        raise ValueError(f"monotone must be 1 (only up) or -1 (only down), got {wrong!r}.")
    nominal = [c.name for c in columns if c.name in monotone and c.kind == "nominal"]
    if nominal:
        raise ValueError(f"monotone names {nominal!r}, but their values have no order.")
