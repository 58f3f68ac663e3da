"""Arrow tables as pandas frames: the values that pandas reads from the same table."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pandas as pd

from skdisc._utils._optional import require


def frame_of(table: Any, columns: Sequence[Hashable] | None = None) -> pd.DataFrame:
    """Return a pyarrow Table or RecordBatch as a DataFrame with a new index.

    Integers with missing values become floats, booleans with missing values objects, decimal
    numbers floats; dictionaries become categories. A named index of pandas becomes a column.
    """
    pa = require("pyarrow", extra="io", purpose="Reading Arrow tables")
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    fields = [field.with_type(_type_for_pandas(pa, field.type)) for field in table.schema]
    frame = table.cast(pa.schema(fields, table.schema.metadata)).to_pandas()
    named = [name for name in frame.index.names if name is not None]
    frame = frame.reset_index(level=named).reset_index(drop=True)
    return frame if columns is None else frame[list(columns)]


def without_unnamed_index(names: Iterable[Hashable]) -> list:
    """Return the names of columns without those that pandas gives to an index without a name."""
    return [name for name in names if not str(name).startswith("__index_level_")]


def _type_for_pandas(pa, arrow_type):
    """Return the type to cast to: pandas has no decimal numbers, nor unsigned codes."""
    if pa.types.is_decimal(arrow_type):
        return pa.float64()
    if pa.types.is_dictionary(arrow_type) and pa.types.is_unsigned_integer(arrow_type.index_type):
        return pa.dictionary(pa.int64(), arrow_type.value_type, arrow_type.ordered)
    return arrow_type


def kind_of(arrow_type: Any) -> str:
    """Return the kind of an Arrow type: number, text, boolean, dates, nothing or its name."""
    is_a = require("pyarrow", extra="io", purpose="Reading Arrow tables").types
    if is_a.is_dictionary(arrow_type):
        return kind_of(arrow_type.value_type)
    if is_a.is_integer(arrow_type) or is_a.is_floating(arrow_type) or is_a.is_decimal(arrow_type):
        return "numbers"
    if "string" in str(arrow_type):
        return "text"
    if is_a.is_temporal(arrow_type):
        return "dates"
    return {"bool": "booleans", "null": "nothing"}.get(str(arrow_type), str(arrow_type))
