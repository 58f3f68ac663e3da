"""Options for the reports of pay that laws ask for."""

import argparse

from skdisc.auditing._pay._templates import TEMPLATES
from skdisc.cli._arguments import column_named

_PARTS = ("category", "base", "variable")


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
    add("--women", default="", metavar="VALUE", help="value of women in the first of --protected")


def is_of_pay(arguments: argparse.Namespace) -> bool:
    """Return whether the audit is a report of pay.

    Raises
    ------
    ValueError
        If options contradict each other, or there is no column of pay.
    """
    if arguments.template not in TEMPLATES:
        named = next((n for n in (*_PARTS, "women") if getattr(arguments, n)), None)
        if named:
            raise ValueError(
                f"--{named} is for reports of pay: add --template {' or '.join(TEMPLATES)}."
            )
        return False
    for name in ("model", "predictions", "fit", "one_vs_rest", "favorable", "robustness"):
        if getattr(arguments, name):
            raise ValueError(
                f"--{name.replace('_', '-')} does not go with --template {arguments.template}, "
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
    return pay | ({"women": arguments.women} if arguments.women else {})
