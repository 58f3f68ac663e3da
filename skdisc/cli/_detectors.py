"""The command ``skdisc detectors``."""

from skdisc._registry import all_detectors
from skdisc.cli._say import say


def add_detectors(commands):
    """Add the command to the parser."""
    listing = commands.add_parser("detectors", help="list the detectors and what they need")
    listing.set_defaults(run=_detectors)


def _detectors(arguments):
    """List the detectors."""
    for name, detector in all_detectors().items():
        card = detector.card
        say(f"{name}  ({card.reference})")
        say(f"  finds {card.finds} discrimination in the {card.where}; needs {card.access}")
        say(f"  {card.statistic} -> {card.output}")
        say(f"  published results: {card.published}")
    return 0
