"""Options for numbers as outcomes: pay and prices."""

import argparse
from collections.abc import Sequence

import pandas as pd

from skdisc._utils._inputs import rows_in_words
from skdisc._utils._tables import TableNote
from skdisc.auditing._numbers import (
    DECISION,
    VALUE,
    finite_numbers,
    has_many_numbers,
)
from skdisc.cli._arguments import option_of
from skdisc.cli._notes import note_of


def add_numbers(command: argparse.ArgumentParser) -> None:
    """Add the options that say that outcomes are numbers."""
    add = command.add_argument
    add(
        "--output",
        choices=("decision", "value", "probability"),
        default="decision",
        help="what is compared: decisions, numbers (of --target, of --predictions, or what a "
        "regressor of --model predicts), or probabilities that a --model gives (%(default)s)",
    )
    add(
        "--number",
        action="store_true",
        help="the target is a number, such as pay: the same as --output value; --favorable low "
        "where less is better",
    )
    add(
        "--outcome-scale",
        choices=("difference", "log"),
        default="difference",
        help="compare numbers by differences of means, or by ratios of geometric means "
        "(%(default)s)",
    )
    add(
        "--hours",
        default="",
        metavar="COL",
        help="column of hours: the target is divided by it, so that pay of part-time work compares",
    )


def output_of(arguments: argparse.Namespace, target: pd.Series) -> tuple[str, bool]:
    """Return what is compared, and whether it is so without a word: numbers of many values.

    Raises ValueError if options contradict each other.
    """
    output = arguments.output
    if arguments.number:
        if output == "probability":
            raise ValueError("--number is --output value, which --output probability contradicts.")
        output = VALUE
    is_named = arguments.favorable or arguments.one_vs_rest
    is_automatic = output == DECISION and not is_named and has_many_numbers(target.dropna())
    is_automatic = is_automatic and not (arguments.model or arguments.predictions)
    output = VALUE if is_automatic else output
    is_scaled = arguments.outcome_scale != "difference"
    is_automatic = is_automatic and not is_scaled
    if output == DECISION and (arguments.hours or is_scaled):
        option = "--hours" if arguments.hours else "--outcome-scale"
        raise ValueError(f"{option} is about numbers: add --number, or leave it out.")
    if output != DECISION:
        _check(arguments, output)
    return output, is_automatic


def _check(arguments, output):
    """Raise ValueError for options that numbers do not go with."""
    for name in ("one_vs_rest", "fit"):
        if getattr(arguments, name):
            raise ValueError(
                f"{option_of(name)} is about decisions, and --output {output} compares "
                "numbers. Leave one of both out."
            )
    has_direction = arguments.favorable in (None, "", "high", "low")
    if output == VALUE and not has_direction:
        raise ValueError(
            f"--favorable {arguments.favorable!r} is no direction of numbers: high (more is "
            "better, the default) or low."
        )
    # With --threshold the label is right, and what is told is that decisions need no --output.
    is_cut = bool(arguments.threshold)
    if output == "probability" and not (arguments.model or has_direction or is_cut):
        raise ValueError(
            f"--favorable {arguments.favorable!r} is a label, and --output probability compares "
            "probabilities in a column, which have a direction: high (more is better, the "
            "default) or low. Leave --favorable out if they are those of what people want."
        )
    if arguments.hours and (arguments.model or arguments.predictions):
        raise ValueError("--hours divides the target; --model and --predictions are audited as is.")


def with_hours(
    frame: pd.DataFrame, hours: str, notes: Sequence[TableNote], *, drop: bool
) -> tuple[pd.DataFrame, list[TableNote]]:
    """Return the rows whose hours are above 0.

    `hours`: name of the column. `notes`: notes so far. `drop`: whether other rows are left out,
    with a note. Raises ValueError if there are other rows, and they are not left out.
    """
    has_hours = frame[hours].notna()
    values = finite_numbers(frame.loc[has_hours, hours], f"--hours {hours!r}")
    is_positive = pd.Series(False, index=frame.index)
    is_positive[has_hours] = values > 0
    n = int((~is_positive).sum())
    if n and not drop:
        raise ValueError(
            f"--hours {hours!r} is missing, 0 or less in {rows_in_words(n)}, whose pay per hour "
            "nobody knows: correct them, or add --drop-unlabeled to leave them out."
        )
    if n == len(frame):
        raise ValueError(f"--hours {hours!r} is missing, 0 or less in every row.")
    if n:
        seen = "one without hours" if n == 1 else "without hours"
        note = note_of("--drop-unlabeled", str(hours), seen, "left out", n=f"{n:,}")
        notes = [*notes, note]
    return frame[is_positive].reset_index(drop=True), list(notes)


def numbers_of(
    frame: pd.DataFrame, target: Sequence, hours: str | None, is_pay: bool
) -> pd.Series | None:
    """Return the target, per hour if there are hours; a report of pay divides by them itself."""
    if is_pay:
        return frame[target[0]] if target else None
    return numbers_per_hour(frame, target[0], hours)


def numbers_per_hour(frame: pd.DataFrame, target: str, hours: str | None) -> pd.Series:
    """Return the target, divided by hours if there are any."""
    if not hours:
        return frame[target]
    pay = finite_numbers(frame[target], f"--target {target!r}")
    ratio = pay / finite_numbers(frame[hours], f"--hours {hours!r}")
    return pd.Series(ratio, index=frame.index, name=f"{target} per hour")
