"""What is seen in a file before an audit: its rows, columns, and what an audit would notice.

`look` and `count` run in processes of their own, of which the first keeps the table that was read
last. `first_rows` reads so little that it runs in the process of the app, at once.
"""

import argparse
import codecs
import os
import re
import shlex
import threading
import time
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from pandas.api import types

from skdisc._counts._profile import ColumnProfile
from skdisc._utils._favorable import folded, spelled_alike
from skdisc._utils._inputs import counts_of_values
from skdisc._utils._safe_text import clean
from skdisc._utils._tables import CsvFile
from skdisc._utils._tables._encoding import opened, telling
from skdisc._utils._tables._reading import Reading
from skdisc._utils._validation import plain
from skdisc.auditing import _notices as notices
from skdisc.auditing._numbers import DIFFERENCE, MANY, VALUE, ComparedNumbers
from skdisc.cli._arguments import names_label
from skdisc.cli._audit import add_audit_options, preparation, prepared
from skdisc.cli._beside import power_lines
from skdisc.cli._numbers import numbers_per_hour
from skdisc.cli._rule import rule_of
from skdisc.cli._table import read_in, reading_of, source_in

N_SHOWN = 20  # rows of the preview
COUNTED = 100_000_000  # bytes of a file that is counted part by part
HEADS = ("head.csv", "head.parquet")  # names of the files of such beginnings
_HEAD = 4_000_000  # bytes of the beginning of such a file that is looked at
_FIRST = 500_000  # bytes of the beginning of a file whose first rows are shown at once
_PASSES = 2  # how often `look` reads a CSV file: for its encoding, and for its rows
_PASSES_OF_COUNT = 3  # as often, and once more to learn what the texts of each column are
_SECONDS = 0.2  # from one note of progress to the next
_MOST_COLUMNS = 2_000
_MOST_VALUES = 100_000  # of text, of a column; more are not counted
_LEAST = 10  # people who share a value that is named
_N_VALUES = MANY  # of an outcome, to choose from
_N_BARS = 12
_CSV = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_LONGEST = 60  # characters of a cell that is shown
_BLANK, _BLANKS = "␣", re.compile(r"^\s+|\s+$|\s{2,}")  # at ends, or several
_QUOTED = re.compile(r"'([^']*)'(?= \()")  # a value before its number of people
_MOST_BLANKS = 3
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


def look(argv: list, progress: str | None = None) -> dict:
    """Return what a file holds, and what an audit with these options would notice.

    Parameters
    ----------
    argv : list of str
        The file and options of `skdisc audit`.
    progress : str, optional
        A file that says how far reading is.

    Returns
    -------
    dict
        Of JSON types: ``n_rows``, ``n_read`` (with copies and others that are left out),
        ``is_head`` (whether these are the first rows only), ``names``, ``rows`` (the first, as
        texts), ``columns``, ``notices``, ``values`` of the outcome, ``power`` (lines).

    Raises
    ------
    ValueError
        If the file cannot be read so.
    """
    options = parsed(argv)
    meter = None if progress is None else ShareDone(progress, _PASSES * size_of(options.data))
    with telling(meter):
        table = _read(options)
    frame, notes = table.frame, list(table.notes)
    _check_columns(frame.columns)
    roles = {name: _named(getattr(options, name), frame) for name in _ROLES}
    rows, raw = _rows(frame), frame
    with suppress(ValueError):  # what is wrong is said when the audit runs
        ends = roles["target"] + roles["predictions"]
        hours = roles["hours"][0] if roles["hours"] else None
        frame, notes = prepared(frame, ends, notes, hours=hours, **preparation(options))
    visible_notes = [
        _with_visible_blanks(n.to_dict()) for n in notes + _noticed(options, frame, roles)
    ]
    target = frame[roles["target"][0]] if roles["target"] else None
    return {
        "n_rows": len(frame),
        "n_read": len(raw),
        "is_head": is_counted(options.data),
        "names": [_shown(name) for name in frame],
        "rows": rows,
        "columns": [
            _column(name, frame[name])
            | {"missing_read": int(raw.get(name, frame[name]).isna().sum())}
            for name in frame
        ],
        "notices": [note | {"advice": _advice(note)} for note in visible_notes],
        "values": [] if target is None else _values(target, options.favorable),
        "power": _power(options, frame, roles),
    }


def _rows(frame):
    """Return the first rows as texts."""
    head = frame.head(N_SHOWN)
    columns = [map(_shown, _as_written(frame[name], head[name])) for name in frame]
    return [list(row) for row in zip(*columns, strict=True)]


def _as_written(column, values):
    """Return values of a column; whole numbers of a column of floats lose their point."""
    present_values = column.dropna()
    is_whole = (
        types.is_float_dtype(column)
        and (present_values % 1 == 0).all()
        and (abs(present_values) < 1e15).all()
    )
    return [int(v) if is_whole and pd.notna(v) else v for v in values]


def first_rows(argv: list, folder: str) -> dict | None:
    """Return what the beginning of a CSV file tells, however large the file is.

    Parameters
    ----------
    argv : list of str
        The file and options of `skdisc audit`.
    folder : str
        Where the beginning is written, for a moment.

    Returns
    -------
    dict or None
        ``names``, ``rows`` and ``notices`` as in `look`; None if the beginning tells no rows, or
        the file is of another kind.
    """
    options = parsed(argv)
    path, reading = Path(options.data), reading_of(options)
    if not path.name.lower().endswith(_CSV):
        return None
    try:
        with TemporaryDirectory(dir=folder) as within:
            head = _head_of(path, _FIRST, within)
            _check_columns(CsvFile(head, reading.options).columns)
            frame, notes = Reading(reading.options, reading.derive).read(str(head))
    except (ValueError, OSError):  # which may come of the cut; `look` tells what is wrong
        return None
    return {
        "names": [_shown(name) for name in frame],
        "rows": _rows(frame),
        "notices": [note.to_dict() for note in notes],
    }


def count(argv: list, progress: str) -> dict:
    """Return how many rows a file has, and of each column how many are missing and distinct.

    Parameters
    ----------
    argv : list of str
        The file and options of `skdisc audit`.
    progress : str
        A file that says how far this is.

    Returns
    -------
    dict
        Of JSON types: ``n_rows``; ``columns``, by name a dict of ``missing``, ``distinct`` and
        ``is_more`` (whether there are more distinct values); ``notices`` on how the file is read.

    Raises
    ------
    ValueError
        If the file cannot be read part by part.
    """
    options = parsed(argv)
    meter, of_rows = ShareDone(progress, _PASSES_OF_COUNT * size_of(options.data)), None
    if options.data.lower().endswith(".parquet"):
        from pyarrow.parquet import ParquetFile

        meter = of_rows = ShareDone(progress, ParquetFile(options.data).metadata.num_rows)
    with telling(meter):
        source = source_in(options.data, reading_of(options))
        rows = source.map_add(lambda frame: _SeenRows.of(frame, of_rows), compact=True)
    return {
        "n_rows": rows.n_rows,
        "columns": {str(name): column.to_dict() for name, column in rows.columns.items()},
        "notices": [note.to_dict() for note in getattr(source, "notes", [])],
    }


def with_counts(seen: dict, counted: dict) -> dict:
    """Return what `look` has seen in the first rows with what `count` has counted in all."""
    if "error" in counted:
        return seen | {"not_counted": counted["error"]}
    of = counted["columns"]
    columns = [column | of.get(column["name"], {}) for column in seen["columns"]]
    seen_texts = {note["seen"] for note in seen["notices"]}
    of_file = [n for n in counted["notices"] if n["column"] is None and n["seen"] not in seen_texts]
    notices = [note | {"advice": None} for note in of_file] + seen["notices"]
    return seen | {"n_all": counted["n_rows"], "columns": columns, "notices": notices}


class _SeenRows:
    """How many rows there are, and what is counted of their columns; those of parts add up."""

    def __init__(self, n_rows, columns):
        self.n_rows, self.columns = n_rows, columns

    @classmethod
    def of(cls, frame, meter):
        """Count the rows of a part, and tell their number."""
        if meter is not None:
            meter(len(frame))
        return cls(len(frame), {name: _SeenColumn.of(frame[name]) for name in frame})

    def __add__(self, other):
        columns = {name: column + other.columns[name] for name, column in self.columns.items()}
        return _SeenRows(self.n_rows + other.n_rows, columns)


class _SeenColumn:
    """Missing values of a column, and its profile, until it has too many values."""

    def __init__(self, n_missing, profile):
        self.n_missing, self.profile = n_missing, profile

    @classmethod
    def of(cls, column):
        """Count a column."""
        try:
            profile = ColumnProfile.of(column)
        except ValueError:  # infinite numbers, which the audit refuses
            profile = None
        return cls(int(column.isna().sum()), profile)._limited()

    def _limited(self):
        categories = None if self.profile is None else self.profile.categories
        if categories is not None and len(categories) > _MOST_VALUES:
            self.profile = None
        return self

    def __add__(self, other):
        profiles = [self.profile, other.profile]
        profile = None if None in profiles else profiles[0] + profiles[1]
        return _SeenColumn(self.n_missing + other.n_missing, profile)._limited()

    def to_dict(self):
        """Return what was counted."""
        counts, profile = {"missing": self.n_missing, "is_more": False}, self.profile
        numbers = None if profile is None else profile.numbers
        if profile is None or (numbers is not None and numbers.dropped):
            return counts | {"distinct": _MOST_VALUES, "is_more": True}
        values = profile.categories or profile.order or ()
        return counts | {"distinct": len(values if numbers is None else numbers.n)}


class ShareDone:
    """Notes in a file how much of a work is done, as a share.

    Parameters
    ----------
    path : str
        The file.
    n_all : int
        How many bytes or rows there are to do.
    most : float, default=0.99
        The largest share that is noted: what has to be done once more than is usual leaves it at
        the last percent.
    """

    def __init__(self, path, n_all, most=0.99):
        self._path, self._all, self._most = Path(path), max(n_all, 1), most
        self._part, self._n, self._last = self._path.with_suffix(".part"), 0, 0.0

    def __call__(self, n):
        """Count bytes or rows that were read."""
        self._n += n
        if time.monotonic() - self._last >= _SECONDS:
            self._last = time.monotonic()
            self._part.write_text(f"{min(self._n / self._all, self._most):.4f}", encoding="ascii")
            with suppress(PermissionError):  # Windows, while it is being read
                self._part.replace(self._path)  # at once: never is half of it read


def share_done(path: Path) -> float:
    """Return the share that a `ShareDone` has noted in a file; 0 if there is none yet."""
    with suppress(OSError, ValueError):  # not yet begun, or just being written
        return float(path.read_text(encoding="ascii"))
    return 0.0


_ROLES = ("target", "predictions", "protected", "ignore", "weights", "groups")
_ROLES += ("hours", "base", "variable")


def is_counted(path) -> bool:
    """Return whether a file is so large that it is counted part by part."""
    return size_of(path) > COUNTED


def size_of(path) -> int:
    """Return the size of a file in bytes."""
    return Path(path).stat().st_size


def _read(options):
    """Return the table of the options, or its first rows; one is kept for the next look."""
    global _last
    reading = reading_of(options)
    key = (options.data, os.stat(options.data).st_mtime_ns, repr(reading))
    if _last[0] != key:
        _last = (None, None)
        path, folder = Path(options.data), os.environ["SKDISC_APP_FOLDER"]
        if path.name.lower().endswith(_CSV):  # before millions of columns are read
            with TemporaryDirectory(dir=folder) as within:
                first = _head_of(path, _FIRST, within)
                _check_columns(CsvFile(first, reading.options).columns, b"\n" in first.read_bytes())
        if is_counted(path):
            path = _head_of(path, _HEAD, folder)
        try:
            _last = (key, read_in(str(path), reading))
        except MemoryError:
            raise ValueError(
                "The file needs too much memory when it is read. Save it as CSV or Parquet, with "
                "the columns that matter only."
            ) from None
    return _last[1]


def _check_columns(names, are_all=True):
    """Raise ValueError for more columns than are shown."""
    if len(names) > _MOST_COLUMNS:
        more = "" if are_all else "more than "
        raise ValueError(
            f"The table has {more}{len(names):,} columns; the app shows up to {_MOST_COLUMNS:,}. "
            "Leave some out of the file, or use the command skdisc audit."
        )


def _head_of(path, n_bytes, folder):
    """Return a file with the first rows of another, of which so many bytes are read."""
    folder = Path(folder)
    if path.name.lower().endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        target = folder / HEADS[1]
        batch = next(pq.ParquetFile(path).iter_batches(20_000))
        pq.write_table(pa.Table.from_batches([batch]), target)
        return target
    if not path.name.lower().endswith(_CSV):
        raise ValueError(
            f"Above {COUNTED / 1e6:g} MB a file of this kind is not read. Save it as CSV."
        )
    target = folder / HEADS[0]
    with opened(path) as file:
        text = file.read(n_bytes)
    if len(text) == n_bytes:
        # Of UTF-16 and UTF-32 whole characters; elsewhere bytes, of which ends and quotes are one.
        encoding = next((name for mark, name in _MARKS if text.startswith(mark)), "latin-1")
        characters = text.decode(encoding, "ignore")
        text = characters[: _end_of_rows(characters)].encode(encoding)
    target.write_bytes(text)
    return target


def _end_of_rows(text):
    """Return where the last whole row of the beginning of a CSV file ends.

    A line that ends within quotes is no end of a row, if there is another one.
    """
    last = end = text.rfind("\n") + 1
    is_within = text.count('"', 0, end) % 2 == 1
    while is_within and end > 0:
        before = text.rfind("\n", 0, end - 1) + 1
        is_within ^= text.count('"', before, end) % 2 == 1
        end = before
    return end or last or len(text)


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _named(text, frame):
    """Return the columns that a text of an option names; others are not there yet."""
    names = [text] if text in frame else [t.strip() for t in (text or "").split(",")]
    return [name for name in names if name in frame]


def _noticed(options, frame, roles):
    """Return what an audit would notice in the table, a list of TableNote."""
    table_notes = []
    ends = roles["target"] + roles["predictions"]
    target = frame[roles["target"][0]] if roles["target"] else None
    protected = [name for name in roles["protected"] if name not in ends]
    if not (options.drop_copies or roles["groups"] or roles["weights"]):
        table_notes += notices.copies(frame.drop(columns=ends), target)
    taken = {name for name in _ROLES if name != "protected" for name in roles[name]}
    X = frame.drop(columns=list(taken - set(protected)))
    table_notes += notices.spellings(X, protected, _LEAST)
    if target is not None and options.number:
        with suppress(ValueError):  # numbers that are missing, which the audit tells
            raw = _numbers(frame, roles).to_numpy(dtype=float)
            of = ComparedNumbers(raw, VALUE, DIFFERENCE, target.name, options.favorable == "low")
            table_notes += notices.of_numbers(X, of, protected, _LEAST)
            table_notes += notices.rows_of_people(X, raw, protected)
    elif target is not None and options.favorable:
        favorable = _counted_favorable(target, options)
        outcome = target.isin(favorable).to_numpy().astype(int)
        table_notes += notices.outcome_columns(X, outcome, protected)
        table_notes += notices.favorable_spellings("label", target, favorable, _LEAST)
    table_notes += notices.small_groups(X, protected, rule_of(options).relevant_size or 0.0, _LEAST)
    table_notes += notices.codes_of_missing(X, _LEAST) + notices.identifiers(X, protected)
    table_notes += notices.missing_with(X, protected, _LEAST)
    table_notes += notices.stand_ins(X, protected)
    if not roles["weights"]:
        table_notes += notices.numbers_of_people(X, target)
    return table_notes


def _numbers(frame, roles):
    """Return the numbers that are compared: total pay where parts of it are named, per hour."""
    (target,) = roles["target"]
    if roles["base"] and roles["variable"]:
        frame = frame.assign(**{target: frame[target] + frame[roles["variable"][0]]})
    return numbers_per_hour(frame, target, roles["hours"][0] if roles["hours"] else None)


def _favorable(column, text):
    """Return the values of a column that a text of --favorable names."""
    values = [plain(v) for v in column.dropna().unique()]
    whole = [v for v in values if names_label(v, text)]
    texts = [] if whole else [t.strip() for t in text.split(",")]
    return whole or [v for v in values if any(names_label(v, t) for t in texts)]


def _counted_favorable(target, options):
    """Return the values that an audit counts as favorable, in all their spellings."""
    favorable = _favorable(target, options.favorable)
    if options.favorable_exact:
        return favorable
    return spelled_alike(favorable, [plain(v) for v in target.dropna().unique()])


def _advice(note):
    """Return what a notice advises: words for a button, and the options; None if that is open."""
    match = _OPTION.search(note["option"])
    if match is None or note["option"].startswith("by "):  # what has been done
        return None
    try:
        argv = shlex.split(match["argv"].split(";")[0])
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
    "--favorable-exact": "Count the ticked spelling only",
}


def _column(name, column):
    """Return what is seen in a column."""
    present = column.dropna()
    kind = _kind(column)
    counts = present.astype(str).value_counts() if kind != "number" else None
    bars, ends = _bars(present, kind, counts)
    examples = counts.index[:4] if kind != "number" else present.drop_duplicates().head(4)
    show = _shown_exactly if kind == "text" else _shown
    return {
        "name": str(name),
        "kind": kind,
        "missing": int(column.isna().sum()),
        "distinct": int(present.nunique()),
        "is_more": False,
        "examples": [show(v) for v in _as_written(present, examples)],
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
    written = _as_written(column, [several[0][0] for several in alike.values()])
    return [
        {
            "text": str(several[0][0]),
            "shown": _shown_exactly(first),
            "n": sum(n for _, n in several),
            "spellings": [f"'{_shown_exactly(value)}'" for value, _ in several[1:]],
            "chosen": any(v in chosen for v, _ in several),
        }
        for several, first in zip(alike.values(), written, strict=True)
    ]


def _shown_exactly(value):
    """Return a value in which blanks at its ends, and several in a row, can be seen."""
    return _shown(_BLANKS.sub(lambda match: _BLANK * min(len(match[0]), _MOST_BLANKS), str(value)))


def _with_visible_blanks(note):
    """Return a notice whose values, if they differ by blanks, show these."""
    if "differ by case or blanks" not in note["seen"]:
        return note
    seen = _QUOTED.sub(lambda match: f"'{_shown_exactly(match[1])}'", note["seen"])
    return note | {"seen": seen + f" ({_BLANK} is a blank)" * (_BLANK in seen)}


def _power(options, frame, roles):
    """Return lines on what so many people could show, before a gap is computed."""
    protected = [name for name in roles["protected"] if 2 <= frame[name].nunique() <= _N_VALUES]
    if not protected or not roles["target"] or not (options.favorable or options.number):
        return []
    target, how, rate = frame[roles["target"][0]], {}, 0.5  # of numbers the rate means nothing
    if not options.number:
        outcomes = target.dropna()
        rate = float(outcomes.isin(_counted_favorable(outcomes, options)).mean())
    counts = {name: counts_of_values(frame[name]) for name in protected}
    shares = {name: (of_values / of_values.sum()).to_dict() for name, of_values in counts.items()}
    try:
        if options.number:
            numbers = _numbers(frame, roles)
            how["spread"] = float(numbers.std() / numbers.mean())
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
