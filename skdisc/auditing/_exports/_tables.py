"""The tables of a document as flat frames, as CSV, and in a database."""

import csv
import io
import json
from hashlib import sha256

import pandas as pd

from skdisc._results._in_database import opened
from skdisc._utils._files import write_text

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a formula starts in a spreadsheet
_REDUNDANT_COLUMNS = {"conditions", "answer"}  # which the group and the reason say
_DTYPES = {"integer": "Int64", "number": "Float64", "boolean": "boolean"}


def flat_table(document, schema, kind):
    """Return a table of a document as a frame of numbers and text, which has columns if empty.

    Lists become text: their entries separated by "; ", those of a dict by ": ".

    `schema`: the JSON Schema of the document, for names and types of the columns. `kind`: name of
    the table. Returns a DataFrame: of the dtypes Int64, Float64, boolean and object.
    """
    columns, rows = schema["properties"][kind]["items"]["properties"], document.get(kind, [])
    frame = {
        name: _typed([row.get(name) for row in rows], column_schema)
        for name, column_schema in columns.items()
        if name not in _REDUNDANT_COLUMNS
    }
    return pd.DataFrame(frame)


def to_csv(document, schema, kind, path=None):
    """Return a table as CSV text, or write it to a file in UTF-8.

    A text that a spreadsheet would take for a formula gets a leading apostrophe; all text is
    quoted, numbers are not.
    """
    frame, file = flat_table(document, schema, kind), io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow(frame.columns)
    for row in frame.astype(object).itertuples(index=False, name=None):
        writer.writerow([_cell(value) for value in row])
    if path is None:
        return file.getvalue()
    write_text(path, file.getvalue())
    return None


def to_sql(document, schema, connection, prefix, kinds, **how):
    """Write the tables of a document to a database; by an engine or a URL, in one transaction.

    Each row has the column ``audit``, a key made from the document; the table of the name `prefix`
    has one row for the audit.
    """
    key = sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:16]
    tables = {prefix: _about(document)}
    tables |= {f"{prefix}_{kind}": flat_table(document, schema, kind) for kind in kinds}
    with opened(connection) as database:
        for name, frame in tables.items():
            frame.insert(0, "audit", key)
            frame.to_sql(name, database, index=False, **how)


def _about(document):
    """Return one row about the whole audit."""
    facts = {n: v for n, v in document["about"].items() if not isinstance(v, list | dict)}
    facts |= {f"fingerprint_{n}": v for n, v in document["fingerprints"].items()}
    facts |= {n: v for n, v in document["meta"].items() if n not in facts}
    return pd.DataFrame([{**document["verdict"], **facts}])


def _typed(values, schema):
    """Return a column of a table in its type."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    dtype = next((d for kind, d in _DTYPES.items() if kind in kinds), None)
    if dtype is None:
        return pd.Series([_text(v) for v in values], dtype=object)
    return pd.array(values, dtype=dtype)


def _text(value):
    """Return a value as text; None stays."""
    if isinstance(value, dict):
        return ": ".join(str(_text(v)) for v in value.values())
    if isinstance(value, list):
        return "; ".join(str(_text(v)) for v in value)
    return value


def _cell(value):
    """Return a value as a cell of a CSV file."""
    if pd.isna(value):
        return ""
    if isinstance(value, str):
        value = value.encode("utf-8", "replace").decode()  # no half characters
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value
