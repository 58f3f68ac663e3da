"""Options for the reports of pay that laws ask for."""

import argparse

from skdisc.auditing._pay._templates import LOGIB, LOGIB_COLUMNS, TEMPLATES
from skdisc.cli._arguments import column_named, option_of

_PARTS = ("category", "base", "variable")
_FORM = f"{LOGIB}:{','.join(f'{key}=COL' for key in LOGIB_COLUMNS)}"


def add_pay(command: argparse.ArgumentParser) -> None:
    """Add the options that say which columns are parts of pay."""
    add = command.add_argument
    templates = " or ".join(TEMPLATES)
    add("--category", default="", metavar="COL", help=f"category of workers, for {templates}")
    add(
        "--base",
        default="",
        metavar="COL",
        help="base pay; without --target, it and --variable add up to total pay",
    )
    add("--variable", default="", metavar="COL", help="complementary or variable pay")
    add("--women", default="", metavar="VALUE", help="value of women in a column of --protected")
    add(
        "--compare-with",
        default="",
        metavar="MODEL",
        help=f"a model beside the report's own figures: {_FORM}; columns that are left out are "
        "named as the model names them",
    )


def is_of_pay(arguments: argparse.Namespace) -> bool:
    """Return whether the audit is a report of pay.

    Raises ValueError if options contradict each other, or there is no column of pay.
    """
    if arguments.template not in TEMPLATES:
        named = next((n for n in (*_PARTS, "women", "compare_with") if getattr(arguments, n)), None)
        if named:
            raise ValueError(
                f"{option_of(named)} is for reports of pay: add --template "
                f"{' or '.join(TEMPLATES)}."
            )
        return False
    for name in ("model", "predictions", "fit", "one_vs_rest", "favorable", "robustness"):
        if getattr(arguments, name):
            raise ValueError(
                f"{option_of(name)} does not go with --template {arguments.template}, "
                "which compares pay. Leave it out."
            )
    if not arguments.target and not arguments.base:
        raise ValueError(
            "A report of pay needs total pay (--target COL), or base pay (--base COL), to which "
            "--variable COL is added."
        )
    return True


def pay_of(arguments: argparse.Namespace, names: list) -> dict | None:
    """Return the columns of pay, as `Audit(pay=...)` takes them; None for other templates."""
    if arguments.template not in TEMPLATES:
        return None
    pay = {
        part: column_named(f"--{part}", getattr(arguments, part), names)
        for part in (*_PARTS, "hours")
        if getattr(arguments, part)
    }
    if arguments.compare_with:
        pay[LOGIB] = _columns_of_logib(arguments.compare_with, names)
    return pay | ({"women": arguments.women} if arguments.women else {})


def _columns_of_logib(text, names):
    """Return the columns that a text such as "logib:training=school,level=grade" names."""
    model, _, pairs = text.partition(":")
    if model.strip().lower() != LOGIB:
        raise ValueError(f"--compare-with has one model, {LOGIB}, not {model!r}: write {_FORM}.")
    named = {}
    for pair in filter(None, map(str.strip, pairs.split(","))):
        key, is_pair, column = map(str.strip, pair.partition("="))
        if not is_pair or key not in LOGIB_COLUMNS:
            raise ValueError(f"--compare-with: {pair!r} is not understood, write {_FORM}.")
        named[key] = column_named(f"--compare-with {LOGIB}:{key}", column, names)
    return named
