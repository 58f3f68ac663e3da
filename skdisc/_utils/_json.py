"""Values and DataFrames as JSON types and back, and whether a value is as a schema says."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from skdisc._utils._validation import plain

_DEEPEST = 100  # of objects and lists within each other


@contextmanager
def placed(place: str) -> Iterator[None]:
    """Turn what goes wrong in reading a part of a document into a ValueError with its place.

    Its ValueError names the places of all parts around, the outermost first.
    """
    try:
        yield
    except _MisplacedError as error:
        raise _MisplacedError(f"{place}.{error.place}", error.what) from error
    except KeyError as error:
        raise _MisplacedError(place, f"{error} is missing or unknown") from error
    except RecursionError:
        raise _MisplacedError(place, "it is nested too deeply") from None
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        OverflowError,
        NotImplementedError,
    ) as error:
        raise _MisplacedError(place, str(error)) from error


class _MisplacedError(ValueError):
    """A part of a document is not what it should be."""

    def __init__(self, place, what):
        super().__init__(f"{place}: {what}")
        self.place, self.what = place, what


def loaded(text: str, what: str) -> dict:
    """Return the object in a text of JSON.

    `what`: what it should be, for messages. Raises ValueError if the text is no JSON, not an
    object, or nested more than 100 deep.
    """
    try:
        data = json.loads(text)
    except RecursionError:
        raise ValueError(f"This is not {what}: it is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"This is not {what}: it is no JSON ({error}).") from error
    if not isinstance(data, dict):
        raise ValueError(f"This is not {what}: it is {describe(data)[:40]}, not an object.")
    level = [data]
    for _ in range(_DEEPEST):
        level = [
            part
            for value in level
            for part in (value.values() if isinstance(value, dict) else value)
            if isinstance(part, (dict, list))
        ]
        if not level:
            return data
    raise ValueError(f"This is not {what}: it is nested more than {_DEEPEST} deep.")


def check_types(values: dict, types: dict) -> None:
    """Raise ValueError if a value is not of its type; True and False are no numbers."""
    for name, kinds in types.items():
        value = values[name]
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise _MisplacedError(name, f"it must be {names}, got {describe(value)[:80]}")


def jsonable(value):
    """Return `value` in JSON types; NaN becomes None, infinity text."""
    if isinstance(value, dict):
        return {str(k): jsonable(v) for k, v in value.items()}
    if isinstance(value, (set, frozenset)):
        return [jsonable(v) for v in sorted(value, key=repr)]
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, (list, tuple)):
        return [jsonable(v) for v in value]
    value = plain(value) if pd.api.types.is_scalar(value) else value
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return describe(value)


def settings(params, but=()):
    """Return parameters in JSON types, without some."""
    return {name: jsonable(value) for name, value in params.items() if name not in but}


def describe(value):
    """Return the repr of a parameter without an address in memory."""
    if callable(value) and not hasattr(value, "get_params"):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


def frame_to_dict(frame):
    """Return a DataFrame in JSON types; `frame_from_dict` is the inverse."""
    return {
        "columns": [plain(c) for c in frame.columns],
        "dtypes": [_dtype_to_json(frame[c].dtype) for c in frame.columns],
        "data": [[jsonable(v) for v in frame[c].tolist()] for c in frame.columns],
    }


def frame_from_dict(data):
    """Return the DataFrame of a dict made by `frame_to_dict`."""
    columns = zip(data["columns"], data["dtypes"], data["data"], strict=True)
    made = {name: _column(values, dtype) for name, dtype, values in columns}
    return pd.DataFrame(made, columns=data["columns"])


_TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def misfit(value, schema, place="the document", defs=None):
    """Return the first way in which a value is not as a JSON Schema says, in words, or None.

    Checked are types, required names and choices, not ranges of numbers or patterns of text; names
    that the schema does not have are left to the reader.
    """
    defs = schema.get("$defs", {}) if defs is None else defs
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        misfits = [misfit(value, one, place, defs) for one in schema["anyOf"]]
        return None if None in misfits else misfits[0]
    types, choices = schema.get("type", []), schema.get("enum", [schema.get("const", value)])
    types = types if isinstance(types, list) else [types]
    is_odd = isinstance(value, bool) and "boolean" not in types  # bool is an int in Python
    if types and (is_odd or not isinstance(value, tuple(map(_TYPES.get, types)))):
        return f"{place} must be of type {' or '.join(types)}, got {describe(value)[:80]}"
    if value not in choices:
        return f"{place} must be one of {', '.join(map(repr, choices))}, got {describe(value)[:80]}"
    if isinstance(value, dict):
        lacking = [name for name in schema.get("required", []) if name not in value]
        if lacking:
            return f"{place} lacks {lacking[0]!r}"
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
        additional = additional if isinstance(additional, dict) else {}
        parts = [
            (v, properties.get(name, additional), f"{place}.{name}") for name, v in value.items()
        ]
    elif isinstance(value, list):
        parts = [(v, schema.get("items", {}), f"{place}[{i}]") for i, v in enumerate(value)]
    else:
        return None
    return next(filter(None, (misfit(*part, defs) for part in parts)), None)


def _dtype_to_json(dtype):
    if isinstance(dtype, pd.CategoricalDtype):
        return {"categories": [plain(c) for c in dtype.categories], "ordered": bool(dtype.ordered)}
    if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
        return f"string[{dtype.storage}]"
    return str(dtype)


def _column(values, dtype):
    if isinstance(dtype, dict):
        return pd.Categorical(values, categories=dtype["categories"], ordered=dtype["ordered"])
    if dtype in ("float16", "float32", "float64"):
        return np.array([np.nan if v is None else float(v) for v in values], dtype=dtype)
    if dtype == "str":  # text in pandas 3, which pandas 2 has as object
        return pd.Series(values, dtype=pd.Series(["text"]).dtype)
    return pd.Series(values, dtype=dtype)
