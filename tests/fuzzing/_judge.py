"""The class of an outcome: right, a clear error, or other."""

import importlib.util
import linecache
import re
import signal
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from time import process_time

from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from skdisc.exceptions import ModelError, SkdiscWarning

RIGHT, CLEAR, OTHER = "right", "clear error", "other"
_DOCUMENTED = (ValueError, TypeError, ImportError, FileNotFoundError)
_EXPECTED_MESSAGES = "X does not have valid feature names|X has feature names|is deprecated; use"
_EXPECTED_WARNINGS = (SkdiscWarning, ConvergenceWarning, DataConversionWarning)
_CHECKERS = tuple(  # folders of packages whose raise statements have messages for users
    Path(importlib.util.find_spec(name).origin).parent for name in ("skdisc", "sklearn", "imblearn")
)
_SUBJECTS = {
    *("X", "y", "model", "estimator", "row", "rows", "column", "columns", "sample", "samples"),
    *("label", "labels", "class", "classes", "weights", "sample_weight", "table", "group"),
    *("feature", "features", "decision", "decisions", "array", "container", "groups", "seed"),
    *("extra", "extension", "targets", "y_true", "y_pred"),
}


class OutOfTimeError(BaseException):
    """A case exceeded its limit; no handler of exceptions catches this."""


@dataclass(frozen=True)
class FuzzOutcome:
    """What came of one case.

    Parameters
    ----------
    number : int
        The number of the case, which repeats it.
    call : str
        What was called, with which hazards.
    verdict : {"right", "clear error", "other"}
    message : str
        The message of the error, or what is wrong.
    seconds : float
        CPU time.
    """

    number: int
    call: str
    verdict: str
    message: str
    seconds: float

    def __str__(self):
        return f"case {self.number} ({self.seconds:.2f} s) {self.call}\n    {self.message}"


def judged(case, limit: float) -> FuzzOutcome:
    """Run a case within a limit of CPU seconds, and return its `FuzzOutcome`."""
    start, said = process_time(), StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(said):
        warnings.simplefilter("always")
        try:
            with time_limit(limit):
                wrong = case.run()
            verdict, message = (OTHER, "wrong: " + "; ".join(wrong)) if wrong else (RIGHT, "")
        except OutOfTimeError:
            verdict, message = OTHER, f"no end after {limit:g} s: {_where_it_was()}"
        except Exception as error:
            verdict, message = judge_error(error, case.names)
            if isinstance(error, ModelError):  # what else a model says is its own
                caught = [w for w in caught if w.category is not RuntimeWarning]
    for leak in (*leaked(caught), *(["printed " + said.getvalue()[:80]] if said.tell() else [])):
        verdict, message = OTHER, f"{message} [{leak}]".strip()
    return FuzzOutcome(case.number, case.call, verdict, message, process_time() - start)


def leaked(caught) -> list:
    """Return the warnings that are no documented ones, one sentence each."""
    told = {
        f"leaked {w.category.__name__}: {w.message} at {Path(w.filename).name}:{w.lineno}"
        for w in caught
        if not issubclass(w.category, _EXPECTED_WARNINGS)
        and not (issubclass(w.category, RuntimeWarning) and "sklearn" in Path(w.filename).parts)
        and not re.search(_EXPECTED_MESSAGES, str(w.message))
    }
    return sorted(told)


def judge_error(error: Exception, names=()) -> tuple:
    """Return the verdict on an exception, and its message with the reason.

    It is clear if its type is documented, a ``raise`` statement of skdisc, scikit-learn or
    imbalanced-learn made it, and its message names what it is about.

    Parameters
    ----------
    error : Exception
    names : iterable of str
        Names of parameters and columns that the message may be about.
    """
    last = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__}: {error}"
    where = f"{'/'.join(Path(last.filename).parts[-3:])}:{last.lineno}"
    if not isinstance(error, _DOCUMENTED):
        return OTHER, f"crash: {message} at {where}"
    # By the folder, not by its name: a checkout may lie in a folder named skdisc, too.
    is_theirs = any(Path(last.filename).is_relative_to(folder) for folder in _CHECKERS)
    raised = linecache.getline(last.filename, last.lineno).strip().startswith("raise")
    if _is_missing_argument(error, last):
        return CLEAR, message
    if not (is_theirs and raised):
        return OTHER, f"leaked: {message} at {where}"
    words = set(re.findall(r"\w+", str(error).replace("Column ", "column ")))
    if len(words) < 4 or not words & (_SUBJECTS | set(map(str, names))):
        return OTHER, f"names nothing: {message} at {where}"
    return CLEAR, message


def _is_missing_argument(error, last):
    """Return True for Python's own message about the arguments of a call."""
    return isinstance(error, TypeError) and Path(last.filename).name == "inspect.py"


@contextmanager
def time_limit(seconds: float):
    """Raise `OutOfTimeError` after some seconds of CPU time, or sixty times as many by the clock.

    The clock is for what waits for ever; on a busy machine a case waits for others.

    Where the system has no such timers, nothing is limited.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(number, frame):
        for timer, _, _ in timers:  # the other one must not come while this one is handled
            signal.setitimer(timer, 0)
        inner = islice(traceback.walk_stack(frame), 5)  # reads no files
        _LAST[:] = [f"{Path(f.f_code.co_filename).name}:{line}" for f, line in inner]
        raise OutOfTimeError

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, 1), (signal.ITIMER_REAL, signal.SIGALRM, 60))
    before = [signal.signal(which, stop) for _, which, _ in timers]
    try:
        for timer, _, times in timers:
            signal.setitimer(timer, seconds * times)
        yield
    finally:
        for (timer, which, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(which, handler)


_LAST = []  # where the last case was that did not end


def _where_it_was():
    return " < ".join(_LAST)
