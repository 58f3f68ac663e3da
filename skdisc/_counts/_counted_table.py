"""CountedTable: a table of any size under audit, as its counts, with its source and its model."""

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.utils import check_random_state

from skdisc._blackbox._blackbox import BlackBox, is_trained
from skdisc._blackbox._queries import Queries
from skdisc._counts._cell_limit import MOST_CELLS, TooManyCells
from skdisc._counts._counts import Counts
from skdisc._counts._schema import CountsSchema
from skdisc._counts._sources import Source, source_of
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._task._sampled_rows import SourceSample
from skdisc._task._task import Request
from skdisc._utils._favorable import favorable_labels
from skdisc._utils._validation import check_names

SAMPLE = 50_000  # rows for detectors that need rows and have no limit of rows
_COUNTED = 1_000_000  # rows that are counted of a table with too many cells
_LAZY = {"dask": "to_delayed", "ibis": "group_by", "polars": "collect", "duckdb": "fetchall"}


def is_source(X: Any) -> bool:
    """Return True for tables that are not in memory: paths, sources, Ibis, Dask, lazy frames."""
    if isinstance(X, Source | str | Path):
        return True
    libraries = {c.__module__.partition(".")[0].lstrip("_") for c in type(X).__mro__}
    return any(name in libraries and hasattr(X, has) for name, has in _LAZY.items())


@dataclass(frozen=True)
class CountedTable:
    """A table that was counted for an audit.

    Parameters
    ----------
    counts : Counts
        With the decisions, if there are any.
    rows : SourceRows or None
        The rows of the table, None if only counts are there.
    sample : SourceSample or None
        How the rows that were counted were drawn; None: all were counted.
    """

    counts: Counts
    rows: "SourceRows | None" = None
    sample: SourceSample | None = None

    @classmethod
    def of(
        cls,
        rows: "SourceRows",
        protected: Sequence[Hashable],
        *,
        pos_label: Any = None,
        n_bins: Any = 4,
        checkpoint: Any = None,
        schema: CountsSchema | None = None,
        random_state: Any = 0,
    ) -> "CountedTable":
        """Count a table in two passes, and ask the model about its rows.

        If there are too many distinct cells, a sample of a million rows is counted.

        Parameters
        ----------
        pos_label : label or collection of labels, default=None
            The favorable outcome.
        checkpoint : str or Path, default=None
            A folder that keeps what was counted.
        schema : CountsSchema, default=None
            That of other counts; None: learned in a first pass.
        random_state : int, RandomState instance or None, default=0
            Seed of the sample.

        Raises
        ------
        ValueError
            If a column is unknown, the table cannot be counted, or a setting is not allowed.
        ModelError
            If the model raises an error, or does not return one outcome per row.
        """
        source = rows.source
        schema = rows.schema(protected, n_bins, checkpoint) if schema is None else schema
        keeps = checkpoint is not None and source.can_keep and _is_recognizable(rows.box)
        options = {"checkpoint": checkpoint} if keeps else {}
        if rows.box is not None:
            options["decide"] = decide = _Decide.of(rows.box, schema.label, pos_label)
            options["classes"] = decide.classes
            reads = getattr(rows.box.model, "feature_names_in_", None)
            if reads is not None and set(reads) <= set(schema.names):
                options["reads"] = list(reads)
            schema = replace(schema, decision=None)
        try:
            return cls(source.count(schema, **options, max_cells=MOST_CELLS), rows)
        except TooManyCells:
            seed = check_random_state(random_state).randint(2**31)
            drawn, n_all = source.sample(_COUNTED, protected, seed), source.n_rows()
        options.pop("checkpoint", None)
        why = f"the table has more than {MOST_CELLS:,} combinations of values"
        sample = SourceSample(len(drawn), n_all, tuple(protected), why)
        return cls(source_of(drawn).count(schema, **options, max_cells=None), rows, sample)

    @property
    def n_people(self) -> int:
        """Number of people in the table, whether counted or not."""
        return self.counts.n_people if self.sample is None else self.sample.n_all

    @property
    def recorded(self) -> Counts:
        """The counts without the decisions of a model."""
        if self.rows is None or self.rows.box is None:
            return self.counts
        return self.counts.undecided()


def _is_recognizable(box):
    """Return False for a model that cannot be recognized again, such as a lambda expression."""
    try:
        return box is None or bool(joblib.hash(box.model))
    except Exception:  # whatever pickling it raises
        return False


@dataclass(frozen=True)
class SourceRows:
    """The rows of a table that is read part by part, and the roles of its columns.

    `label` and `decision`: columns of labels, and of recorded decisions. `box`: the model.
    """

    source: Source
    label: Hashable | None = None
    decision: Hashable | None = None
    box: BlackBox | None = None

    @classmethod
    def read(
        cls, data: Any, y: Any = None, model: Any = None, estimator: Any = None
    ) -> "SourceRows":
        """Read the arguments of `fit` for a table that is not in memory.

        `model`: recorded decisions, or what decides. `estimator`: the estimator of the detector, if
        it is frozen and so not trained. Raises TypeError if y or recorded decisions are not the
        name of a column. Raises ValueError if a model would have to be trained, or a column is
        unknown.
        """
        source = source_of(data)
        of_names = {"y": y, "decisions": getattr(model, "decisions", None)}
        for what, value in of_names.items():
            is_name = isinstance(value, Hashable) and not hasattr(value, "__array__")
            if value is not None and not is_name:
                raise TypeError(
                    f"{what} of a table that is read part by part is the name of its column, got "
                    f"{type(value).__name__}: pass y='hired', and model='approved' for decisions."
                )
        decision, box = (model, None) if isinstance(model, str) else (None, model)
        if is_trained(box, estimator):
            raise ValueError(
                "A table that is read part by part cannot train a model. Train it on a sample "
                "of the rows, and pass the fitted model."
            )
        box = estimator if box is None else box
        names = [name for name in (y, decision) if name is not None]
        check_names("y or model", names, source.columns)
        return cls(source, y, decision, None if box is None else BlackBox(box))

    @property
    def columns(self) -> list:
        """The columns of people: all but labels and decisions."""
        return [c for c in self.source.columns if c not in (self.label, self.decision)]

    def schema(
        self, protected: Sequence[Hashable], n_bins: Any = 4, checkpoint: Any = None
    ) -> CountsSchema:
        """Return the categories and bins of the columns, from a first pass over the table.

        A folder, `checkpoint`, keeps what was learned, if the source can tell whether it changed.
        """
        ends = {"label": self.label, "decision": self.decision}
        names = [*self.columns, *(name for name in ends.values() if name is not None)]
        folder = checkpoint if self.source.can_keep else None
        profile = self.source.profile(names, folder)
        return profile.schema(protected=protected, columns=self.columns, n_bins=n_bins, **ends)

    def sample(self, n: int, by: Sequence[Hashable], seed: int, n_all: int | None = None) -> Any:
        """Return a stratified sample of the rows as a Request.

        `n`: number of rows. `by`: the protected columns. `n_all`: number of rows of the table;
        None: counted.
        """
        drawn = self.source.sample(n, by, seed)
        n_all = self.source.n_rows() if n_all is None else n_all
        sample = SourceSample(len(drawn), n_all, tuple(by)) if len(drawn) < n_all else None
        y = None if self.label is None else drawn[self.label].to_numpy()
        box = self.box
        if self.decision is not None:
            box = BlackBox(decisions=drawn[self.decision].to_numpy())
        return Request(drawn[self.columns], y, box, sample=sample)


def rows_to_draw(limited: Any, count_rows: Callable[[], int]) -> int:
    """Return how many rows detectors get of a table that was counted, where they need rows.

    `limited`: the detector or audit, whose limit of rows may be infinite: then all. `count_rows`
    returns the number of rows of the table, which may take a pass over it.
    """
    if limited.limits is not None and limited.limits.rows == math.inf:
        return count_rows()
    return limited._limit("rows") or SAMPLE


@dataclass(frozen=True)
class _Decide:
    """A model as a function that returns one of two labels for each row of a DataFrame."""

    box: BlackBox
    favorable: list
    classes: list

    @classmethod
    def of(cls, box, label, pos_label):
        """Return the function; labels are from the model, else the table, else 0 and 1."""
        labels = box.classes
        if labels is None and label is not None:
            labels = list(label.values)
        favorable, _ = favorable_labels(pos_label, labels)
        unfavorable = [c for c in (*(labels or ()), 0, 1) if c not in favorable]
        return cls(box, favorable, [unfavorable[0], favorable[0]])

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        """Return the decisions."""
        queries = Queries(self.box, self.favorable, FeatureSpace([]), Budget())
        is_favorable = queries.ask(rows) == 1
        table = pd.Series(self.classes)
        return table.take(is_favorable.astype(int)).to_numpy()
