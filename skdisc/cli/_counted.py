"""Tables that a command counts part by part, in place of reading them whole."""

from argparse import Namespace
from pathlib import Path

import pandas as pd

from skdisc._counts._schema import CountsSchema
from skdisc.cli._arguments import option_of

DATA = (
    "CSV (also .gz), Parquet, .xlsx, .xls, .ods, .dta, .sav or .jsonl file; or a folder, a "
    "'pattern/*.parquet' or an address such as duckdb:///file.db::table, which are counted part by "
    "part, as is a file above 500 MB"
)
_LARGE = 500_000_000  # bytes of a file that is not read whole


def is_counted(data: str, is_requested: bool) -> bool:
    """Return True if a table is counted: not a single file, a large one, or asked for."""
    path = Path(data)
    if path.is_file():
        return is_requested or path.stat().st_size > _LARGE
    return is_requested or "://" in data or path.is_dir() or any(sign in data for sign in "*?[")


def refuse_rows(arguments: Namespace) -> None:
    """Raise ValueError for options that need all rows."""
    for name in (
        "weights",
        "groups",
        "fit",
        "robustness",
        "derive",
        "drop_unlabeled",
        "drop_copies",
        "fold",
        "one_vs_rest",
        "number",
        "hours",
        "threshold",
    ):
        if getattr(arguments, name):
            raise ValueError(
                f"{option_of(name)} needs all rows, but the table is counted part by "
                "part: audit a single file, or leave the option out."
            )


def outcomes_of(schema: CountsSchema) -> list[pd.Series]:
    """Return the labels and decisions that occur."""
    ends = [end for end in (schema.label, schema.decision) if end is not None]
    return [pd.Series(list(end.values), name=end.name) for end in ends]
