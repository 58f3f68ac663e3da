"""Dask collections: every partition is counted where it is, and only the sums travel."""

from collections.abc import Callable, Hashable, Sequence
from functools import partial, reduce
from typing import Any

import pandas as pd

from skdisc._counts._sources._source import Source, TablePart
from skdisc._utils._optional import require

_RETRIES = 3  # of a partition that fails, by a distributed scheduler
_ARITY = 8  # sums that are added up at once


class DaskSource(Source):
    """A Dask DataFrame, with a distributed client or without."""

    def __init__(self, frame: Any):
        self._frame, self.columns = frame, list(frame.columns)

    def parts(self, columns: Sequence[Hashable], compact: bool) -> list[TablePart]:
        """Return the partitions."""
        del compact
        partitions = self._frame[list(columns)].to_delayed()
        return [
            TablePart(f"partition {i} of {len(partitions)}", partial(_get, d), partial(str, d.key))
            for i, d in enumerate(partitions)
        ]

    def _add_up(self, function, parts):
        """Return the sum over some partitions, computed by Dask as a tree."""
        dask = require("dask", extra="dask", purpose="Reading a Dask DataFrame")
        function = dask.delayed(function, traverse=False)
        one, add = dask.delayed(_of_partition), dask.delayed(_sum)
        sums = [one(function, part.frames.args[0], part.name) for part in parts]
        while len(sums) > 1:
            sums = [add(sums[i : i + _ARITY]) for i in range(0, len(sums), _ARITY)]
        return dask.compute(sums[0], retries=_RETRIES)[0] if sums else None

    def like(self, frame: pd.DataFrame) -> Any:
        """Return a DataFrame as a Dask one of a single partition."""
        dataframe = require("dask.dataframe", extra="dask", purpose="Making a Dask DataFrame")
        return dataframe.from_pandas(frame, npartitions=1)


def _get(delayed):
    yield delayed.compute().reset_index(drop=True)


def _of_partition(function: Callable, frame: pd.DataFrame, name: str) -> Any:
    """Return what a function returns for a partition, None for one without rows."""
    return TablePart(name, lambda: [frame.reset_index(drop=True)], str).add_up(function)


def _sum(values: list) -> Any:
    values = [value for value in values if value is not None]
    return reduce(lambda a, b: a + b, values) if values else None
