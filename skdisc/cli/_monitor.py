"""The command `skdisc monitor`: a state and a batch in, the state with the batch out."""

import argparse
from math import exp
from pathlib import Path

import pandas as pd

from skdisc._results._judgment import FOUND, NOTHING
from skdisc._stats._rates import RATES, WITHOUT_LABELS
from skdisc._utils._favorable import folded, spelled_alike
from skdisc._utils._files import (
    check_is_file,
    check_writable,
    only_writer,
    read_text,
    write_text,
)
from skdisc.auditing._fingerprints import data_fingerprint
from skdisc.auditing._numbers import VALUE, has_many_numbers
from skdisc.cli._arguments import (
    check_complete,
    check_favorable,
    column_named,
    columns_named,
    distinct_values,
    labels_named,
    names_label,
    option_of,
)
from skdisc.cli._audit import labeled
from skdisc.cli._rule import add_rule, rule_of
from skdisc.cli._say import say
from skdisc.cli._table import add_reading, lines_of, read_in, reading_of
from skdisc.monitoring import DisparityMonitor

_CODES = {NOTHING: 0, FOUND: 1}
_UNSURE = 3
_SHOWN = 10  # groups
_SPELLINGS = "Values that differ from a favorable one by case or blanks alone count as favorable."
_FIELDS = ("significance", "relevant_gap", "relevant_ratio", "relevant_size")


def add_monitor(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser(
        "monitor",
        help="add a batch of decisions to a monitor, and look at it at any time",
        epilog="exit codes: 0 all relevant gaps are excluded, 1 a disparity was found, 2 usage, "
        "3 neither so far, 4 failure. Later batches need --decision (and --label) only: the "
        "settings are those of the state. A batch that was counted before is not counted again, so "
        "that a command may be repeated. Without DATA, the state is shown.",
    )
    command.set_defaults(run=_monitor, keeps_answer=True)
    add = command.add_argument
    add("state", metavar="STATE", help=".json file, made by the first call")
    add("data", metavar="DATA", nargs="*", help="CSV (also .gz) or Parquet files of the batch")
    add("--decision", metavar="COL", help="column of the decisions, or of numbers")
    add("--number", action="store_true", help="compare means of numbers, such as pay")
    add(
        "--bounds",
        metavar="LOW,HIGH",
        help="with --number: between which values numbers count, such as 0,15000 for pay per month",
    )
    add("--favorable", metavar="VALUE", help="favorable decision; several: A,B")
    add("--protected", metavar="A,B", help="protected columns")
    add("--label", metavar="COL", help="column of the true labels, for rates that need them")
    add("--metric", choices=sorted(RATES), help="selection_rate by default")
    add("--strata", metavar="COLS", help="columns within whose values people are compared")
    add_rule(command, _FIELDS, later=True)
    add("--again", action="store_true", help="count a batch although the same rows were counted")
    add_reading(command)


def _monitor(arguments):
    """Add a batch and print what is known; return the exit code."""
    path = Path(arguments.state)
    if not arguments.data:
        if not path.is_file():
            raise ValueError(f"There is no file {str(path)!r}: name the data of the first batch.")
        monitor = _read(path)
        lines = list(_lines(monitor))
    else:
        check_is_file(path)
        check_writable(path)
        frame, notes = _joined(arguments.data, reading_of(arguments))
        mark = data_fingerprint(frame)
        with only_writer(path):
            monitor = _read(path) if path.is_file() else None
            is_known = monitor is not None and mark in monitor.batches_ and not arguments.again
            if is_known:
                _refuse_changes(arguments, monitor)
                _batch(arguments, monitor, frame)  # a mistake in an option is one again
                more = ["This batch was counted before; nothing is added (--again counts it)."]
            else:
                monitor, notes = _added(arguments, monitor, frame, notes)
                monitor.batches_ = [*monitor.batches_, mark]
                more = []
            # Everything that can fail comes before the state is written, and printing after it.
            lines, state = [*lines_of(notes), *more, *_lines(monitor)], monitor.to_json()
            if not is_known:
                write_text(path, state)
    for line in lines:
        say(line)
    return _CODES.get(monitor.result_.verdict, _UNSURE)


def _joined(paths, reading):
    """Return the rows of all files of a batch, and notes on how they were read."""
    tables = [read_in(path, reading) for path in paths]
    frames = [table.frame for table in tables]
    for path, frame in zip(paths, frames, strict=True):
        if list(frame.columns) != list(frames[0].columns):
            raise ValueError(
                f"The files of a batch must have the same columns: {paths[0]!r} has "
                f"{list(frames[0].columns)!r}, {path!r} has {list(frame.columns)!r}."
            )
    notes = list(dict.fromkeys(note for table in tables for note in table.notes))
    return pd.concat(frames, ignore_index=True), notes


def _read(path):
    """Return the monitor of a state."""
    return DisparityMonitor.from_json(read_text(path))


def _added(arguments, monitor, frame, notes):
    """Return the monitor, begun if there is none, with a batch, and notes."""
    if arguments.drop_unlabeled:
        ends = [column_named("--decision", arguments.decision or "", list(frame.columns))]
        ends += columns_named("--label", arguments.label or "", list(frame.columns))
        frame, notes = labeled(frame, ends, notes)
    if monitor is None:
        monitor = _begun(arguments, frame)
    else:
        _refuse_changes(arguments, monitor)
    X, y, decided = _batch(arguments, monitor, frame)
    if monitor.output != VALUE:
        favorable = getattr(monitor, "pos_label_", None) or monitor.pos_label or []
        outcomes = [column for column in (y, decided) if column is not None]
        alike = spelled_alike(favorable, distinct_values(outcomes))[len(favorable) :]
        if alike:
            notes = [*notes, _SPELLINGS]
            y, decided = (_respelled(column, favorable, alike) for column in (y, decided))
    return monitor.partial_fit(X, y, decided), notes


def _respelled(column, favorable, alike):
    """Return labels, or None, in which other spellings of a favorable label are that label.

    `alike`: the other spellings.
    """
    if column is None:
        return None
    by_text = {folded(v): v for v in favorable if isinstance(v, str)}
    # A column of categories takes no new ones.
    return column.astype(object).replace({v: by_text[folded(v)] for v in alike})


def _begun(arguments, frame):
    """Return a monitor without people, by the options."""
    if not arguments.protected:
        raise ValueError("The first call needs --protected, the columns to compare by.")
    names = list(frame.columns)
    favorable = None
    decision = column_named("--decision", arguments.decision or "", names)
    check_complete("--decision", frame[decision])
    bounds = _bounds_of(arguments, frame[decision])
    if arguments.favorable is not None:
        favorable = labels_named("--favorable", arguments.favorable, frame[decision])
    elif bounds is None:
        check_favorable("--decision", None, frame[decision])
    return DisparityMonitor(
        protected=columns_named("--protected", arguments.protected, names),
        strata=columns_named("--strata", arguments.strata or "", names) or None,
        pos_label=favorable,
        metric="selection_rate" if arguments.metric is None else arguments.metric,
        output="decision" if bounds is None else VALUE,
        bounds=bounds,
        rule=rule_of(arguments),
    )


def _bounds_of(arguments, decided):
    """Return the bounds of numbers as a pair of float, or None for decisions."""
    if not arguments.number:
        if arguments.bounds is not None:
            raise ValueError("--bounds are those of numbers: add --number, or leave them out.")
        if arguments.favorable is None and has_many_numbers(decided):
            raise ValueError(
                f"--decision {arguments.decision!r} holds many numbers. To compare their means, "
                "add --number and --bounds LOW,HIGH; to compare decisions, name --favorable."
            )
        return None
    for name in ("favorable", "metric", "label"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} is about decisions, and --number compares means.")
    if arguments.bounds is None:
        raise ValueError(
            "--number needs --bounds LOW,HIGH, such as 0,15000 for pay per month: no test of "
            "numbers without bounds keeps its level at all times. Numbers beyond count as the "
            "bound."
        )
    return _pair(arguments.bounds)


def _pair(text):
    """Return the two numbers of --bounds."""
    try:
        low, high = map(float, text.split(","))
    except ValueError as error:
        raise ValueError(f"--bounds {text!r} are not two numbers, such as 0,15000.") from error
    return low, high


def _refuse_changes(arguments, monitor):
    """Raise ValueError if an option would change what a state was begun with."""
    if arguments.favorable is not None:
        favorable = monitor.pos_label_
        requested = [arguments.favorable]
        if not any(names_label(v, arguments.favorable) for v in favorable):
            requested = [t.strip() for t in arguments.favorable.split(",")]
        same = all(any(names_label(v, t) for v in favorable) for t in requested)
        if not same or len(set(requested)) != len(favorable):
            raise ValueError(
                f"--favorable is {', '.join(map(str, favorable))} in the state, and cannot become "
                f"{arguments.favorable}."
            )
    begun = {name: getattr(monitor, name) for name in ("metric", *_FIELDS)}
    for name, old in begun.items():
        new, old = getattr(arguments, name), "auto" if old is None else old
        if new is not None and new != old:
            raise ValueError(f"{option_of(name)} is {old} in the state, and cannot become {new}.")
    if arguments.number and monitor.output != VALUE:
        raise ValueError("The state is about decisions, and cannot become one of numbers.")
    if arguments.bounds is not None:
        old = None if monitor.bounds is None else tuple(monitor.bounds)
        if _pair(arguments.bounds) != old:
            raise ValueError(f"--bounds are {old} in the state, and cannot become others.")
    for name in ("protected", "strata"):
        old, new = getattr(monitor, name), getattr(arguments, name)
        if new is not None and new != ",".join(map(str, old or [])):
            raise ValueError(f"--{name} is {old} in the state, and cannot become {new}.")


def _batch(arguments, monitor, frame):
    """Return the arguments of `partial_fit`: people, labels or None, decisions."""
    names = list(frame.columns)
    decided = frame[column_named("--decision", arguments.decision or "", names)]
    check_complete("--decision", decided)
    y = None
    if monitor.metric not in WITHOUT_LABELS:
        y = frame[column_named("--label", arguments.label or "", names)]
        check_complete("--label", y)
    columns = [*monitor.protected, *(monitor.strata or [])]
    lacking = [c for c in columns if c not in names]
    if lacking:
        raise ValueError(f"The file has no column {lacking[0]!r}. Columns: {names!r}.")
    return frame[columns], y, decided


def _lines(monitor):
    """Yield what is known so far, in lines of 80 characters."""
    result = monitor.result_.without_people()
    n = monitor.n_batches_
    yield f"{monitor.n_people_:,} people in {n:,} {'batch' if n == 1 else 'batches'}"
    yield f"{result.verdict}" + (f": {result.reason}" if result.reason else "")
    yield from result.notes
    wealth = result.tables["groups"].set_index("group")["log_wealth"]
    for row in result.to_frame().head(_SHOWN).itertuples():
        yield (
            f"{row.subject}: gap {_gap(row, monitor.output == VALUE)}, "
            f"wealth {exp(min(wealth[row.subject], 700)):.3g}"
        )


def _gap(row, is_of_numbers):
    """Return a gap with its interval as text; of numbers also in percent of the others' mean."""
    ends = row.effect, row.ci_low, row.ci_high
    if not is_of_numbers:
        return "{:+z.3f} [{:+z.3f}, {:+z.3f}]".format(*ends)
    percent = ""
    if row.outcome_rest > 0:
        percent = f" ({100 * row.effect / row.outcome_rest:+z.1f} % of the others' mean)"
    return "{} [{}, {}]".format(*map(_signed, ends)) + percent


def _signed(value):
    """Return a number with its sign and four digits, or all of those before the decimal mark."""
    return f"{value:+z,.0f}" if abs(value) >= 1000 else f"{value:+z,.4g}"
