"""The command ``skdisc detectors``."""

from pathlib import Path

from skdisc.cli._say import say

# Made by `listed`: the cards themselves take all detectors, and seconds, to import.
LISTING = Path(__file__).with_name("detectors.txt")


def add_detectors(commands):
    listing = commands.add_parser("detectors", help="list the detectors and what they need")
    listing.set_defaults(run=_detectors)


def _detectors(arguments):
    """List the detectors."""
    say(LISTING.read_text(encoding="utf-8").rstrip("\n"))
    return 0


def listed():
    """Return what the command prints, from the cards of all detectors."""
    from skdisc._registry import all_detectors

    lines = []
    for name, detector in all_detectors().items():
        card = detector.card
        lines += [
            f"{name}  ({card.reference})",
            f"  finds {card.finds} discrimination in the {card.where}; needs {card.access}",
            f"  {card.statistic} -> {card.output}",
            f"  published results: {card.published}",
        ]
    return "\n".join([*lines, ""])
