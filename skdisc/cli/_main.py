"""The command line: parses arguments, runs commands, and reports errors."""

import argparse
import sys

from skdisc import __version__
from skdisc._registry import all_detectors
from skdisc.cli._audit import EXIT_CODES, add_audit
from skdisc.cli._benchmark import add_benchmark
from skdisc.cli._beside import add_compare, add_power
from skdisc.cli._plan import add_plan, with_plan
from skdisc.cli._verify import add_verify
from skdisc.exceptions import ModelError

NOTHING_FOUND, DISPARITY_FOUND, USAGE, INSUFFICIENT, FAILURE = range(5)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    argv : list of str or None, default=None
        Arguments; None stands for those of the process.

    Returns
    -------
    int
        0 no disparity found by any question, 1 disparity found, also after correction for the
        number of questions, 2 usage, 3 insufficient evidence, 4 any other failure, 130 interrupted.

    Raises
    ------
    SystemExit
        With code 2 if the arguments cannot be parsed, and with 0 after ``--help``.
    """
    argv = _renamed(sys.argv[1:] if argv is None else argv)
    try:
        arguments = _parser().parse_args(with_plan(argv))
        return arguments.run(arguments)
    except ModelError as error:
        return _report_error(error, FAILURE)
    except (ValueError, TypeError, ImportError) as error:
        return _report_error(error, USAGE)
    except Exception as error:
        return _report_error(f"{type(error).__name__}: {error}", FAILURE)


def _renamed(argv):
    """Replace the old spelling of an option, with a warning on standard error."""
    old, new = "--favourable", "--favorable"
    names = [text.partition("=") for text in argv]
    is_old = [name.startswith("--favou") and old.startswith(name) for name, *_ in names]
    if any(is_old):
        print(f"skdisc: FutureWarning: {old} is deprecated; use {new}.", file=sys.stderr)
    return [
        "".join((new, *value)) if outdated else name + "".join(value)
        for outdated, (name, *value) in zip(is_old, names, strict=True)
    ]


def _report_error(message, code):
    """Print an error to standard error and return the exit code."""
    print(f"skdisc: error: {message}", file=sys.stderr)
    return code


def _parser():
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="skdisc", description="Find discrimination in decisions.", epilog=EXIT_CODES
    )
    parser.add_argument("--version", action="version", version=f"skdisc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_audit(commands)
    add_verify(commands)
    add_compare(commands)
    add_power(commands)
    add_plan(commands)
    add_benchmark(commands, print)
    listing = commands.add_parser("detectors", help="list the detectors and what they need")
    listing.set_defaults(run=_detectors)
    return parser


def _detectors(arguments):
    """List the detectors."""
    for name, detector in all_detectors().items():
        card = detector.card
        print(f"{name}  ({card.reference})")
        print(f"  finds {card.finds} discrimination in the {card.where}; needs {card.access}")
        print(f"  {card.statistic} -> {card.output}")
        print(f"  published results: {card.published}")
    return 0
