"""What is seen in a file before an audit: its rows, columns, and what an audit would notice.

The functions run in a process of their own, which keeps the table that was read last.
"""

import argparse
import os
import re
import shlex
import threading
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api import types

from skdisc._utils._favorable import are_codes, folded, spelled_alike
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._safe_text import clean
from skdisc._utils._tables import CsvFile
from skdisc._utils._tables._encoding import opened
from skdisc._utils._validation import plain
from skdisc.auditing import _notices as notices
from skdisc.auditing._numbers import DIFFERENCE, MANY, VALUE, ComparedNumbers
from skdisc.cli._arguments import names_label
from skdisc.cli._audit import add_audit_options, preparation, prepared
from skdisc.cli._beside import power_lines
from skdisc.cli._numbers import numbers_per_hour
from skdisc.cli._rule import rule_of
from skdisc.cli._table import read_in, reading_of

N_SHOWN = 20  # rows of the preview
COUNTED = 100_000_000  # bytes of a file that is counted part by part
_HEAD = 4_000_000  # bytes of the beginning of such a file that is looked at
_MOST_COLUMNS = 2_000
_LEAST = 10  # people who share a value that is named
_N_VALUES = MANY  # of an outcome, to choose from
_N_BARS = 12
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_LONGEST = 60  # characters of a cell that is shown
_MEMORY = 4_000_000_000  # bytes that looking may take
_OPTION = re.compile(r"(?:(?P<words>[^:]+): )?(?P<argv>--\S.*)")

_last = (None, None)  # what was read, and how, and the table


def begin() -> None:
    """Begin the process that looks: it ends with the app, and fails before the machine does."""
    threading.Thread(target=_end_with_the_app, daemon=True).start()
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


def _end_with_the_app():
    parent_process().join()
    os._exit(1)


def parsed(argv: list) -> argparse.Namespace:
    """Return the options of `skdisc audit`, of which none is required.

    Raises
    ------
    ValueError
        If there is no such option, or its value is not allowed.
    """
    parser = _Parser(prog="skdisc audit", add_help=False)
    add_audit_options(parser)
    for action in parser._actions:
        action.required = False
    return parser.parse_args(argv)


class _Parser(argparse.ArgumentParser):
    """A parser that raises, where that of a command ends the process."""

    def error(self, message):
        raise ValueError(message)


def look(argv: list) -> dict:
    """Return what a file holds, and what an audit with these options would notice.

    Parameters
    ----------
    argv : list of str
        The file and options of `skdisc audit`.

    Returns
    -------
    dict
        Of JSON types: ``n_rows``, ``is_head`` (whether these are the first rows only), ``names``,
        ``rows`` (the first, as texts), ``columns``, ``notices``, ``values`` of the outcome,
        ``power`` (lines).

    Raises
    ------
    ValueError
        If the file cannot be read so.
    """
    options = parsed(argv)
    table = _read(options)
    frame, notes = table.frame, list(table.notes)
    _check_columns(frame.columns)
    roles = {name: _named(getattr(options, name), frame) for name in _ROLES}
    rows = [[_shown(v) for v in row] for row in frame.head(N_SHOWN).to_numpy(dtype=object)]
    with suppress(ValueError):  # what is wrong is said when the audit runs
        ends = roles["target"] + roles["predictions"]
        hours = roles["hours"][0] if roles["hours"] else None
        frame, notes = prepared(frame, ends, notes, hours=hours, **preparation(options))
    found = [note.to_dict() for note in notes + _noticed(options, frame, roles)]
    target = frame[roles["target"][0]] if roles["target"] else None
    return {
        "n_rows": len(frame),
        "is_head": is_counted(options.data),
        "names": [_shown(name) for name in frame],
        "rows": rows,
        "columns": [_column(name, frame[name]) for name in frame],
        "notices": [note | {"advice": _advice(note)} for note in found],
        "values": [] if target is None else _values(target, options.favorable),
        "power": _power(options, frame, roles),
    }


_ROLES = ("target", "predictions", "protected", "ignore", "weights", "groups", "hours")


def is_counted(path) -> bool:
    """Return whether a file is so large that it is counted part by part."""
    return Path(path).stat().st_size > COUNTED


def _read(options):
    """Return the table of the options, or its first rows; one is kept for the next look."""
    global _last
    reading = reading_of(options)
    key = (options.data, os.stat(options.data).st_mtime_ns, repr(reading))
    if _last[0] != key:
        _last = (None, None)
        path = Path(options.data)
        if path.name.lower().endswith(_CSV):  # before millions of columns are read
            _check_columns(CsvFile(path, reading.options).columns)
        if is_counted(path):
            path = _head_of(path, reading.options)
        try:
            _last = (key, read_in(str(path), reading))
        except MemoryError:
            raise ValueError(
                "The file needs too much memory when it is read. Save it as CSV or Parquet, with "
                "the columns that matter only."
            ) from None
    return _last[1]


def _check_columns(names):
    """Raise ValueError for more columns than are shown."""
    if len(names) > _MOST_COLUMNS:
        raise ValueError(
            f"The table has {len(names):,} columns; the app shows up to {_MOST_COLUMNS:,}. Leave "
            "some out of the file, or use the command skdisc audit."
        )


def _head_of(path, options):
    """Return a file with the first rows of a large one, in the folder of the app."""
    folder = Path(os.environ["SKDISC_APP_FOLDER"])
    if path.name.lower().endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        target = folder / "head.parquet"
        batch = next(pq.ParquetFile(path).iter_batches(20_000))
        pq.write_table(pa.Table.from_batches([batch]), target)
        return target
    if not path.name.lower().endswith(_CSV):
        raise ValueError(
            f"Above {COUNTED / 1e6:g} MB a file of this kind is not read. Save it as CSV."
        )
    target = folder / "head.csv"
    with opened(path) as file:
        text = file.read(_HEAD)
    end = text.rfind(b"\n")
    target.write_bytes(text[: end + 1] if end >= 0 else text)
    return target


def _named(text, frame):
    """Return the columns that a text of an option names; others are not there yet."""
    names = [text] if text in frame else [t.strip() for t in (text or "").split(",")]
    return [name for name in names if name in frame]


def _noticed(options, frame, roles):
    """Return what an audit would notice in the table, a list of TableNote."""
    found = []
    ends = roles["target"] + roles["predictions"]
    target = frame[roles["target"][0]] if roles["target"] else None
    protected = [name for name in roles["protected"] if name not in ends]
    if not (options.drop_copies or roles["groups"] or roles["weights"]):
        found += notices.copies(frame.drop(columns=ends), target)
    taken = {name for name in _ROLES if name != "protected" for name in roles[name]}
    X = frame.drop(columns=list(taken - set(protected)))
    found += notices.spellings(X, protected, _LEAST)
    if target is not None and options.number:
        with suppress(ValueError):  # numbers that are missing, which the audit tells
            pay = numbers_per_hour(
                frame, target.name, roles["hours"][0] if roles["hours"] else None
            )
            raw = pay.to_numpy(dtype=float)
            of = ComparedNumbers(raw, VALUE, DIFFERENCE, target.name, options.favorable == "low")
            found += notices.of_numbers(X, of, protected, _LEAST)
            found += notices.rows_of_people(X, raw, protected)
    elif target is not None and options.favorable:
        favorable = _favorable(target, options.favorable)
        if not options.favorable_exact:
            favorable = spelled_alike(favorable, [plain(v) for v in target.dropna().unique()])
        outcome = target.isin(favorable).to_numpy().astype(int)
        found += notices.outcome_columns(X, outcome, protected)
        found += notices.favorable_spellings("label", target, favorable, _LEAST)
    found += notices.small_groups(X, protected, rule_of(options).relevant_size or 0.0, _LEAST)
    found += notices.codes_of_missing(X, _LEAST) + notices.identifiers(X, protected)
    found += notices.missing_with(X, protected, _LEAST)
    found += notices.stand_ins(X, protected)
    if not roles["weights"]:
        found += notices.numbers_of_people(X, target)
    return found


def _favorable(column, text):
    """Return the values of a column that a text of --favorable names."""
    values = [plain(v) for v in column.dropna().unique()]
    whole = [v for v in values if names_label(v, text)]
    texts = [] if whole else [t.strip() for t in text.split(",")]
    return whole or [v for v in values if any(names_label(v, t) for t in texts)]


def _advice(note):
    """Return what a notice advises: words for a button, and the options; None if that is open."""
    found = _OPTION.search(note["option"])
    if found is None or note["option"].startswith("by "):  # what has been done
        return None
    try:
        argv = shlex.split(found["argv"].split(";")[0])
    except ValueError:
        return None
    if len(argv) > 2:  # as in: --text 'Code' keeps the text
        argv = argv[:2]
    argv[-1] = argv[-1].rstrip(",")
    if argv[0] not in _APPLIED or any(t in ("COLUMN", "TEXT") for t in argv):
        return None
    if any(t.endswith(("=TEXT", "YYYY-MM-DD")) for t in argv):
        return None
    if argv[0] in ("--drop-copies", "--favorable-exact"):
        argv = argv[:1]
    elif len(argv) < 2:
        return None
    words = _APPLIED[argv[0]].format(argv[-1].rpartition("=")[2])
    return {"words": words, "argv": argv}


_APPLIED = {  # options that a button sets, and its words
    "--ignore": "Leave this column out",
    "--missing": "“{0}” means missing",
    "--text": "Keep this column as text",
    "--fold": "Make these values one",
    "--drop-copies": "Leave the copies out",
    "--counts": "It is the number of people of each row",
    "--favorable-exact": "Only the exact text is favorable",
}


def _column(name, column):
    """Return what is seen in a column."""
    present = column.dropna()
    kind = _kind(column)
    counts = present.astype(str).value_counts() if kind != "number" else None
    bars, ends = _bars(present, kind, counts)
    examples = present.drop_duplicates().head(4) if kind == "number" else counts.index[:4]
    return {
        "name": str(name),
        "kind": kind,
        "missing": int(column.isna().sum()),
        "distinct": int(present.nunique()),
        "examples": [_shown(v) for v in examples],
        "bars": bars,
        "ends": ends,
    }


def _kind(column):
    """Return the kind of a column, in a word."""
    if types.is_bool_dtype(column):
        return "true or false"
    if types.is_numeric_dtype(column):
        return "number"
    return "date" if types.is_datetime64_any_dtype(column) else "text"


def _bars(present, kind, counts):
    """Return the heights of a small histogram, 0 to 1, and what stands at its ends."""
    if kind == "number":
        numbers = present.to_numpy(dtype=float)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            return [], []
        n = np.histogram(numbers, bins=min(_N_BARS, max(len(np.unique(numbers)), 1)))[0]
        ends = [f"{numbers.min():.6g}", f"{numbers.max():.6g}"]
    else:
        n, ends = counts.to_numpy()[:_N_BARS], []
    return [round(float(v), 3) for v in n / max(n.max(), 1)] if len(n) else [], ends


def _values(column, favorable):
    """Return the values of an outcome with their numbers of people, spellings of one together.

    Columns of more values than can be chosen from have none.
    """
    counts, alike = counts_of_values(column), {}
    for value, n in counts.items():
        key = folded(value) if isinstance(value, str) else plain(value)
        alike.setdefault(key, []).append((plain(value), int(n)))
    if len(alike) > _N_VALUES:
        return []
    chosen = _favorable(column, favorable) if favorable else []
    suggested = 1 if not favorable and are_codes([plain(v) for v in counts.index]) else None
    return [
        {
            "text": str(several[0][0]),
            "n": sum(n for _, n in several),
            "spellings": [f"'{_shown_exactly(value)}'" for value, _ in several[1:]],
            "chosen": any(v in chosen for v, _ in several) or suggested == several[0][0],
        }
        for several in alike.values()
    ]


def _shown_exactly(value):
    """Return a value with the blanks at its ends."""
    text = str(value)
    blanks = len(text) - len(text.rstrip())
    return _shown(text) + " " * min(blanks, 3)


def _power(options, frame, roles):
    """Return lines on what so many people could show, before a gap is computed."""
    protected = [name for name in roles["protected"] if 2 <= frame[name].nunique() <= _N_VALUES]
    if not protected or not roles["target"] or not (options.favorable or options.number):
        return []
    target, how = frame[roles["target"][0]], {}
    if options.number:
        rate = 0.5  # which means nothing here
        how["spread"] = float(target.std() / target.mean())
    else:
        rate = float(target.isin(_favorable(target, options.favorable)).mean())
    counts = {name: counts_of_values(frame[name]) for name in protected}
    shares = {name: (of_values / of_values.sum()).to_dict() for name, of_values in counts.items()}
    try:
        return power_lines(rule_of(options), len(frame), shares, rate, **how)
    except ValueError as error:
        return [str(error)]


def _shown(value):
    """Return a cell as a text of one line that is not too long."""
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    if value is pd.NA:
        return ""
    text = clean(str(plain(value)))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
