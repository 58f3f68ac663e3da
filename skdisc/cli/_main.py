"""The command line: parses arguments, runs commands, and reports errors."""

import argparse
import re
import sys
import warnings
from contextlib import contextmanager, suppress
from importlib import import_module

from skdisc import __version__
from skdisc._utils._safe_text import clean
from skdisc.cli._clock import begin
from skdisc.cli._say import say
from skdisc.exceptions import ModelError

NOTHING_FOUND, DISPARITY_FOUND, USAGE, INSUFFICIENT, FAILURE = range(5)
COMMANDS = {  # what each does, and the module and function that add it; loaded when it is called
    "audit": ("audit a table, with or without a model", "_audit", "add_audit"),
    "app": ("audit a table in the browser, without commands", "_app", "add_app"),
    "demo": ("audit a model trained on synthetic loan applications", "_demo", "add_demo"),
    "verify": ("check an audit against its data and model", "_verify", "add_verify"),
    "compare": ("compare two audits", "_beside", "add_compare"),
    "power": ("what an audit of so many people could show", "_beside", "add_power"),
    "alternatives": (
        "search for a model that is as good and less unequal, and test it",
        "_alternatives",
        "add_alternatives",
    ),
    "monitor": ("add a batch of decisions to a monitor", "_monitor", "add_monitor"),
    "plan": ("write the plan of an audit before the data are read", "_plan", "add_plan"),
    "benchmark": ("run the detectors on planted discrimination", "_benchmark", "add_benchmark"),
    "article": ("write the article of a benchmark", "_benchmark", "add_benchmark"),
    "which": ("from a question to the call that answers it", "_which", "add_which"),
    "detectors": ("list the detectors and what they need", "_detectors", "add_detectors"),
}


_OPTIONS = {  # of `audit` and `monitor`, where they differ from the parameter's name
    "sample_weight": "--weights",
    "pos_label": "--favorable",
    "n_refits": "--refits",
    "random_state": "--seed",
    "n_jobs": "--jobs",
}
_LIMITS = {  # fields of `Limits`
    "tests": "--max-tests",
    "queries": "--max-queries",
    "found": "--max-found",
    "rows": "--max-rows",
    "seconds": "--time-budget",
}
_PASSWORD = re.compile(r"(\w://[^\s/:@]*):\S+@")  # of an address
_SAME = (
    *("protected", "metric", "adjust_for", "confirm", "strata", "significance", "min_effect"),
    *("relevant_gap", "relevant_ratio", "relevant_size", "relevant_share", "correction"),
    *("direction", "redundancy", "min_cell", "groups", "watched", "margin", "scoring"),
    *("min_gain", "claim_size"),
)


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

    Examples
    --------
    >>> main(["which", "--have", "model", "--about", "everything"])
    skdisc.Audit(protected=[...]).fit(X, y, model).report_
    0
    """
    argv = sys.argv[1:] if argv is None else argv
    say.lost = None
    with _warnings_as_lines():
        return _run(argv)


@contextmanager
def _warnings_as_lines():
    """Print warnings of skdisc in one line, without places in its source."""
    before = warnings.showwarning

    def show(message, category, *where, **more):
        if issubclass(category, UserWarning) and str(message).startswith("cache: "):
            _report_error(message, None, what="warning")
        else:
            before(message, category, *where, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


def _run(argv):
    """Run a command and return the exit code."""
    begin()
    try:
        arguments = _parser(argv).parse_args(_with_plan(argv))
        code = arguments.run(arguments)
    except Exception as error:
        message, code = _message_and_code(error)
        say.flush()
        return _report_error(_with_options(message, argv[:1]), code)
    say.flush()
    return code if say.lost is None else _without_output(arguments, code)


def _without_output(arguments, code):
    """Return the exit code of a command whose output could not be printed.

    What was written to a file is not lost: the code is then that of the answer.
    """
    is_kept = getattr(arguments, "keeps_answer", False) or getattr(arguments, "report", None)
    if isinstance(say.lost, BrokenPipeError):  # the reader, such as ``head``, has enough
        return code if is_kept else 141
    reason = say.lost.strerror or say.lost
    _report_error(f"standard output could not be written: {reason}", FAILURE)
    return code if is_kept else FAILURE


def _with_plan(argv):
    """Return the arguments, with the arguments of a plan if there is one."""
    if argv[:1] != ["audit"]:
        return argv
    return import_module("skdisc.cli._plan").with_plan(argv)


def _message_and_code(error):
    """Return the message of an error, and the exit code."""
    if isinstance(error, ModelError):
        return error, FAILURE
    if isinstance(error, (ValueError, TypeError, ImportError)):
        return error, USAGE
    return f"{type(error).__name__}: {error}", FAILURE


def _with_options(error, command):
    """Return the text of an error with options of the command line for parameters of Python."""
    text = str(error)
    if command not in (["audit"], ["monitor"], ["alternatives"]):
        return text
    for field, option in _LIMITS.items():
        text = text.replace(f"'{field}' parameter of Limits", f"{option} parameter of Limits")
    for name, option in _OPTIONS.items():
        text = re.sub(rf"'{name}'|\b{name}\b", option, text)
    names = "|".join(_SAME)
    return re.sub(
        rf"'({names})'(?= parameter)|^({names})\b(?==| has| must)",
        lambda match: "--" + (match[1] or match[2]).replace("_", "-"),
        text,
    )


def _report_error(message, code, what="error"):
    """Print an error, or a warning, to standard error and return the exit code."""
    line = clean(str(message))  # of data that it quotes, nothing must reach the terminal
    line = _PASSWORD.sub(r"\1:***@", line)
    with suppress(OSError):  # nobody listens
        encoding = getattr(sys.stderr, "encoding", None) or "ascii"
        line = line.encode(encoding, "backslashreplace").decode(encoding)
        print(f"skdisc: {what}: {line}", file=sys.stderr)
    return code


def _parser(argv):
    """Return a parser of the command that is called, or of the names of all."""
    parser = argparse.ArgumentParser(
        prog="skdisc",
        description="Find discrimination in decisions.",
        epilog="skdisc COMMAND --help has the options of a command.",
    )
    parser.add_argument("--version", action="version", version=f"skdisc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    if argv and argv[0] in COMMANDS:
        _, module, add = COMMANDS[argv[0]]
        getattr(import_module(f"skdisc.cli.{module}"), add)(commands)
        return parser
    for name, (what, *_) in COMMANDS.items():
        commands.add_parser(name, help=what)
    return parser
