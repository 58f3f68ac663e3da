"""Fingerprints: hashes by which a reader checks what was audited."""

import json
import math
import re
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path

import numpy as np
import pandas as pd

from skdisc import __version__
from skdisc._counts._counts import Counts
from skdisc._utils._hashing import numbers_of, typed
from skdisc._utils._json import jsonable
from skdisc._utils._types import ArrayLike, FilePath

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")  # 01 is text
_LONG = 40  # characters; a longer text is no number
_MIXED = ("mixed", "mixed-integer", "decimal", "complex")  # 1 == True: these are told apart
_REPEATED = 100_000_000  # rows
_AT_ONCE = 50_000  # rows that are hashed at once: a million of 30 columns are half a gigabyte
_EXACT, _MOST_BITS = 2**53, 1024  # whole numbers up to which all are floats, and the bits of these


def data_fingerprint(
    X: pd.DataFrame, *, frequency: np.ndarray | None = None, **roles: ArrayLike | None
) -> str:
    """Return a hash of a table and of what belongs to its rows, whatever the way it was stored.

    The order of rows and columns, the index and dtypes do not matter: 1, 1.0, the text "1" and a
    category 1 are equal, and so are True and "True", and all missing values. A changed value, a
    repeated row or a renamed column changes the hash.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
    frequency : ndarray of int, shape (n_rows,), default=None
        How often each row occurs; the hash of up to 100 million is that of repeated rows. None:
        once.
    **roles : array-like of shape (n_rows,), or of shape (n_rows, n), or None
        What belongs to the rows, such as ``y``, by its role; None is left out.

    Returns
    -------
    str
        64 hexadecimal digits: SHA-256 of the sorted hashes of the rows.

    Raises
    ------
    ValueError
        If a role has another number of rows than X.
    """
    columns = _with_roles(X, roles)
    hashes = _hashes(columns, len(X))
    n = len(X) if frequency is None else int(frequency.sum())
    # The header is a hash of fixed length, so that it cannot be confused with rows.
    hasher = sha256(sha256(json.dumps([sorted(columns), n]).encode()).digest())
    if frequency is None:
        hasher.update(b"".join(sorted(hashes)))
    else:
        for digest, times in sorted(zip(hashes, frequency.tolist(), strict=True)):
            hasher.update(
                digest * times if n <= _REPEATED else digest + times.to_bytes(8, "little")
            )
    return hasher.hexdigest()


def row_hashes(X: pd.DataFrame, **roles: ArrayLike | None) -> list[bytes]:
    """Return a hash of each row and of what belongs to it, as in `data_fingerprint`."""
    return _hashes(_with_roles(X, roles), len(X))


def counts_fingerprint(counts: Counts) -> str:
    """Return a hash of counts: of their schema, with its bins, and the people of each cell.

    It is the same wherever the table lies, and however it is divided and ordered. Labels and
    decisions are summed over, as in `fingerprints`.

    Returns a str: 64 hexadecimal digits.
    """
    codes = counts.part_codes()[: len(counts.schema.columns)]
    people = Counts.of_codes(replace(counts.schema, label=None, decision=None), codes, counts.n)
    schema = json.dumps(jsonable(counts.schema.to_dict()), sort_keys=True)
    whole = sha256(sha256(schema.encode()).digest())
    for part in (people.keys, people.n):
        whole.update(np.ascontiguousarray(part, dtype="<i8").tobytes())
    return whole.hexdigest()


def in_canonical_order(X: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in an order that depends on their values only, not on how they came.

    What follows then does not depend on the order of a file, such as a split by a seed.
    """
    hashes = _hashes({str(name): X[name] for name in X.columns}, len(X))
    return X.iloc[sorted(range(len(X)), key=hashes.__getitem__)].reset_index(drop=True)


def model_fingerprint(file: FilePath | None) -> str | None:
    """Return a hash of the file that a model was read from; None without one.

    What a model decides is no fingerprint: see `fingerprints`.

    Returns a str or None: 64 hexadecimal digits.
    """
    return None if file is None else sha256(Path(file).read_bytes()).hexdigest()


def settings_fingerprint(settings: dict) -> str:
    """Return a hash of settings, whatever the order of their names: SHA-256 of canonical JSON."""
    text = json.dumps(jsonable(settings), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()


@lru_cache
def code_fingerprint() -> str | None:
    """Return version and hash of the source files of skdisc; None if they cannot be read."""
    root, whole = Path(__file__).resolve().parents[1], sha256()
    paths = sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix())
    for path in paths:
        whole.update(f"{path.relative_to(root).as_posix()}\n".encode())
        whole.update(sha256(path.read_bytes().replace(b"\r\n", b"\n")).digest())
    return f"{__version__} {whole.hexdigest()}" if paths else None


def fingerprints(data: str, settings: dict) -> dict[str, str | None]:
    """Return the fingerprints of an audit.

    Labels and decisions are left out. A document goes to people who may know the table, but not
    what happened to its people; a hash of outcomes would confirm a guess about those of a group
    that the document hides: of five people, after 32 attempts. A salt in the document would not
    help, for whoever guesses can read it. That outcomes are equal shows when the audit runs again.

    `data`: from `data_fingerprint`, of the rows and of what else belongs to them and is no outcome,
    or from `counts_fingerprint`. `settings`: parameters of the audit. Returns a dict: data, model,
    settings and code, each text or None. The model has the hash of its file, which only those know
    who read it.
    """
    return {
        "data": data,
        "model": None,
        "settings": settings_fingerprint(settings),
        "code": code_fingerprint(),
    }


def _with_roles(X, roles):
    """Return all columns by role and name."""
    columns = {("column", str(name)): X[name] for name in X.columns}
    for role, values in roles.items():
        if values is not None:
            columns |= _columns_of(role, values, len(X))
    return columns


def _hashes(columns, n):
    """Return a hash of each row, a list of bytes."""
    digests, width = [_digests(columns[name]) for name in sorted(columns)], 16 * len(columns)
    hashes = []
    for start in range(0, n, _AT_ONCE):
        block = [digest[codes[start : start + _AT_ONCE]] for codes, digest in digests]
        packed, n_rows = np.hstack(block).tobytes() if block else b"", min(_AT_ONCE, n - start)
        rows = (packed[i * width : (i + 1) * width] for i in range(n_rows))
        hashes += [sha256(row).digest() for row in rows]
    return hashes


def _columns_of(role, values, n):
    """Return the columns of a role, by role and number; names do not matter."""
    table = pd.DataFrame(values)
    if len(table) != n:
        raise ValueError(f"{role} has {len(table)} rows, but X has {n}.")
    return {(role, str(i)): table.iloc[:, i] for i in range(table.shape[1])}


def _digests(column):
    """Return the number of the value of each row, and 16 bytes for each value.

    These are a number itself, a hash of any other value.
    """
    codes, values = numbers_of(_plain(column))
    table = np.zeros((len(values) + 1, 16), dtype=np.uint8)  # the last is missing: its code is -1
    numbers = np.asarray(values)
    is_number = np.zeros(len(values), dtype=bool)
    if numbers.dtype == np.float64:
        is_number = np.isfinite(numbers)
    elif numbers.dtype.kind in "iu":
        is_number = (numbers >= -_EXACT) & (numbers <= _EXACT)
    if is_number.any():
        table[:-1][is_number] = _bytes_of_numbers(numbers[is_number])
    other_places = np.flatnonzero(~is_number)
    canonical = typed(values)[other_places]
    canonical = np.array([_canonical(value) for value in canonical], dtype=object)
    of_numbers = np.array([isinstance(value, float) for value in canonical], dtype=bool)
    table[other_places[of_numbers]] = _bytes_of_numbers(canonical[of_numbers])
    texts = (value.encode("utf-8", "surrogatepass") for value in canonical[~of_numbers])
    hashes = b"".join(blake2b(text, digest_size=16).digest() for text in texts)
    table[other_places[~of_numbers]] = np.frombuffer(hashes, dtype=np.uint8).reshape(-1, 16)
    return codes, table


def _bytes_of_numbers(numbers):
    """Return a mark and the eight bytes of each number, an array of 16 bytes per number."""
    numbers = np.asarray(numbers, dtype="<f8") + 0.0  # -0.0 is 0.0
    marked = np.empty((len(numbers), 16), dtype=np.uint8)
    marked[:, :8] = np.frombuffer(b"a number", dtype=np.uint8)
    marked[:, 8:] = np.ascontiguousarray(numbers, dtype="<f8").view(np.uint8).reshape(-1, 8)
    return marked


def _plain(column):
    """Return the values of a column in a dtype that does not change them."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype if _complete(column) else object)
    if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) in _MIXED:
        return pd.Series([None if _is_missing(v) else _canonical(v) for v in column], dtype=object)
    return column


def _complete(column):
    return not column.isna().any()


def _is_missing(value):
    return value is None or value is pd.NA or (pd.api.types.is_scalar(value) and pd.isna(value))


def _canonical(value):
    """Return the number, or else the text, that stands for a value."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        value = int(value)
        is_exact = value.bit_length() < _MOST_BITS and float(value) == value
        return float(value) if is_exact else str(value)
    if isinstance(value, np.floating) and not isinstance(value, float):  # as a CSV file has it
        value = float(str(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    text = str(value)
    if len(text) <= _LONG and _NUMBER.fullmatch(text):
        exact = int(text) if text.lstrip("+-").isdigit() else float(text)
        return text if isinstance(exact, float) and math.isinf(exact) else _canonical(exact)
    return text
