"""Audits and searches that run, each as its command in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from copy import deepcopy
from pathlib import Path

from skdisc._utils._interruption import INTERRUPTED
from skdisc.app._looking import share_done
from skdisc.app._study import PROTECTED, Study, command_line, python_code
from skdisc.auditing import AuditReport
from skdisc.model_selection import AlternativeReport

_FAILED = "skdisc: error: "
_KEPT = 20  # lines of standard error
_READ = 0.15  # share of the bar for reading the table
_SLOW = 8  # seconds after which half of a step is shown as done
_CHECK = "checking the groups of {} once more, in another way"
_STEPS = {  # of an audit: by detector, or by what it is about if that is told in brackets
    "GroupDisparity": "comparing the groups of {} among all people",
    "DivExplorer": "comparing the groups of {} within smaller groups of people",
    "DisparityPursuit": "comparing people of different {} who are otherwise alike",
    "Themis": "asking the model about people of whom only {} is changed",
    "calibration": "comparing, by {}, whether scores mean the same",
    "errors": "comparing how often the model is wrong by {}",
}


def notes_on_reading(document: dict) -> list[dict]:
    """Return what the document of an audit says on how the file was read, and no answer needs."""
    notes = (document.get("source") or {}).get("notes") or []
    return [note for note in notes if not note["above"]]


def slowing(x: float) -> float:
    """Return a share that grows with a number, ever more slowly, and never reaches 1."""
    return x / (1 + x)


class Spare:
    """A process that has been started, and waits for the audit or the search that it will run."""

    def __init__(self) -> None:
        self._process = None

    def begin(self) -> None:
        """Start the process, unless there is one."""
        if self._process is None or self._process.poll() is not None:
            self._process = _process()

    def taken(self) -> subprocess.Popen:
        """Return the process, which is spare no longer."""
        process, self._process = self._process, None
        return _process() if process is None or process.poll() is not None else process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            _end(self._process)


def _process():
    """Return a process that waits for the arguments of a command."""
    return subprocess.Popen(
        [sys.executable, "-m", "skdisc.app._job"],
        stdin=subprocess.PIPE,  # it ends when this process does
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
    )


def _end(process):
    """End a process at once."""
    with suppress(OSError):
        process.kill()
    process.wait()
    for stream in (process.stdin, process.stderr):
        with suppress(OSError):
            stream.close()


class Job:
    """One audit.

    Parameters
    ----------
    key : str
        In addresses.
    study : Study
        What it is about, as it is now.
    options : list of str
        Those of the command.
    folder : Path
        Where its report is written.
    spare : Spare
        Has the process.

    Attributes
    ----------
    command, python : str
        How the same is done without the app.
    state : {"running", "done", "interrupted", "failed"}
        "interrupted": there is a report of what was found until then.
    """

    verb, what, place, stem = "audit", "audit", "audits", "audit"
    ends = (".html", ".docx", ".json", ".md", ".txt")
    _told = "Audit: "  # of a line of --verbose
    _cancelled = "The audit was cancelled before it had found anything."

    def __init__(self, key, study: Study, options: list[str], folder: Path, spare: Spare) -> None:
        self.key, self.study, self.name, self.folder = key, deepcopy(study), study.name, folder
        self.language = study.question.get("language", "en")
        self.command = command_line(self.verb, study.name, options, f"{self.stem}.html")
        self.python = python_code(self.verb, study.name, options, f"{self.stem}.json")
        self.document, self.began, self.ended = folder / "report.json", time.monotonic(), None
        self.used, self._lines, self._step = time.monotonic(), deque(maxlen=_KEPT), ""
        self._is_cancelled, self._since, self._share = False, self.began, folder / "read"
        arguments = [self.verb, str(study.path), *options]
        arguments += [f"--report={self.document}", "--verbose"]
        self._process = spare.taken()
        with suppress(OSError):  # it has ended, which is told as that of any other
            self._process.stdin.write(json.dumps([arguments, str(self._share)]) + "\n")
            self._process.stdin.flush()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        """Read what the command tells, until it ends."""
        for line in self._process.stderr:
            self._lines.append(line.rstrip("\n"))
            if line.startswith(self._told):
                self._step = line.removeprefix(self._told).rpartition(",")[0]
                self._since = time.monotonic()
        self._process.wait()
        self.ended = time.monotonic()

    @property
    def address(self) -> str:
        """Where its page is."""
        return f"/{self.place}/{self.key}"

    @property
    def state(self) -> str:
        """Whether it runs, and how it ended."""
        if self.ended is None:
            return "running"
        if not self.document.is_file():
            return "failed"
        return "interrupted" if self._process.returncode == INTERRUPTED else "done"

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def progress(self) -> tuple[str, int, int]:
        """The step that runs, its number and how many there are, 0 and 0 while the file is read."""
        head, _, step = self._step.partition(": ")
        numbers = head.split(" of ")
        if len(numbers) == 2 and all(n.isdigit() for n in numbers):
            return step, int(numbers[0]), int(numbers[1])
        return self._step, 0, 0

    @property
    def told(self) -> dict:
        """How far it is, for the page: ``state``, ``seconds``, ``text``, ``done`` and ``of``.

        A step does not tell how far it is: meanwhile the bar moves with the time, ever more slowly,
        and never to the end of the step.
        """
        step, number, of = self.progress
        # Of a file that is counted, how often it has been read.
        times, text = share_done(self._share), self._in_words(step) if step else "Reading the table"
        if number:
            text = f"Step {number} of {of}: {text}"
        elif times:
            text = f"{text}, round {int(times) + 1}: {100 * (times % 1):.1f} %"
        waited = (time.monotonic() - self._since) / _SLOW
        within = slowing(waited if number else waited + times / 2)
        done = _READ * within if not number else _READ + (1 - _READ) * (number - 1 + within) / of
        facts = {"state": self.state, "seconds": int(self.seconds), "text": text}
        return facts | {"done": round(done, 4), "of": 1}

    def _in_words(self, step):
        """Return what a step of an audit does, in the words of those who asked."""
        detector, _, rest = step.partition(" ")
        column, _, what = rest.partition(" (")
        column = column or ", ".join(self.study.columns(PROTECTED))
        return _STEPS.get(what.rstrip(")"), _STEPS.get(detector, _CHECK)).format(column)

    @property
    def error(self) -> str:
        """Why there is no report."""
        if self._is_cancelled:
            return self._cancelled
        messages = [line for line in self._lines if line.startswith(_FAILED)]
        if messages:
            return self.study.in_words(messages[-1].removeprefix(_FAILED))
        code = self._process.returncode
        if code < 0:
            with suppress(ValueError):
                code = signal.Signals(-code).name
            return (
                f"The process of the {self.what} was ended from outside ({code}), perhaps because "
                f"the machine ran out of memory. The app goes on; run the {self.what} again, or "
                "with fewer columns."
            )
        return f"The process of the {self.what} ended with the code {code}, and gave no reason."

    def cancel(self) -> None:
        """End the audit with what it has found so far."""
        if self.ended is None:
            self._is_cancelled = True
            if os.name == "posix":
                self._process.send_signal(signal.SIGINT)
            else:  # a console's Ctrl-C would end the app, too
                self._process.terminate()

    def close(self) -> None:
        """End the process at once."""
        with suppress(OSError):
            self._process.kill()
        self._reader.join(timeout=5)
        _end(self._process)

    def report(self) -> AuditReport:
        """Return the report."""
        return AuditReport.from_json(self.document.read_text(encoding="utf-8"))

    def page(self, report: AuditReport) -> str:
        """Return the report as a page that does not tell how the file was read."""
        document = report.document
        if notes_on_reading(document):
            above = [note for note in document["source"]["notes"] if note["above"]]
            document = document | {"source": document["source"] | {"notes": above}}
        return AuditReport(document).to_html(self.language)

    def save(self, path: Path) -> None:
        """Write the report to a file."""
        self.report().save(path, self.language)


class SearchJob(Job):
    """One search for a less discriminatory model."""

    verb, what, place, stem = "alternatives", "search", "searches", "alternatives"
    ends = (".html", ".json", ".md", ".txt")
    _told = "AlternativeSearch: "
    _cancelled = "The search was cancelled; it claims nothing."

    def _in_words(self, step):
        """Return the model that is tried."""
        return step

    def report(self) -> AlternativeReport:
        """Return the report."""
        return AlternativeReport(json.loads(self.document.read_text(encoding="utf-8")))

    def page(self, report: AlternativeReport) -> str:
        """Return the report as a page."""
        return report.to_html()

    def save(self, path: Path) -> None:
        """Write the report to a file."""
        self.report().save(path)
