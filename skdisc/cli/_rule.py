"""Options that make a `Rule`."""

import argparse
from collections.abc import Sequence

from skdisc._verdicts._rule import CORRECTIONS, Rule
from skdisc.cli._arguments import option_of

_DEFAULTS = Rule().get_params()
_HELP = {
    "significance": "significance level",
    "correction": "of p-values for their number; each detector's own by default",
    "min_effect": "largest effect of no interest",
    "relevant_gap": "largest gap that 'no disparity found' may leave open: auto, a number in the "
    "unit of the outcome, or a share of the mean of a number, such as 5%%",
    "relevant_ratio": "ratio of rates that it must exclude, in marginal questions",
    "relevant_size": "share of the people from which on a group is judged",
    "relevant_share": "share of people with a case that matters",
}
FIELDS = tuple(_HELP)


def add_rule(
    command: argparse.ArgumentParser, fields: Sequence[str], *, later: bool = False
) -> None:
    """Add the options of some fields of a rule to a command.

    `later`: whether an option that is not passed is None, and not the default of its field.
    """
    for name in fields:
        default = _DEFAULTS[name]
        options = {"type": float, "metavar": "X"}
        if name == "relevant_gap":
            options, default = {"type": _gap, "metavar": "GAP"}, "auto"
        elif name == "correction":
            options = {"choices": CORRECTIONS}
        shown = "" if default is None else f" ({default})"
        command.add_argument(
            option_of(name),
            default=None if later else default,
            help=_HELP[name] + shown,
            **options,
        )


def rule_of(arguments: argparse.Namespace) -> Rule:
    """Return the Rule of the options; a field without one has its default."""
    fields = {n: getattr(arguments, n, None) for n in FIELDS}
    fields = {n: value for n, value in fields.items() if value is not None}
    if fields.get("relevant_gap") == "auto":
        del fields["relevant_gap"]
    return Rule(**fields)


def _gap(text):
    """Return a gap as a number, or as the text that a `Rule` takes."""
    try:
        return float(text)
    except ValueError:
        return text.strip()
