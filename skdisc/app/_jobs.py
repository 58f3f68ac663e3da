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

from skdisc.app._study import Study, command_line, python_code
from skdisc.auditing import AuditReport
from skdisc.model_selection import AlternativeReport

_FAILED = "skdisc: error: "
_KEPT = 20  # lines of standard error


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

    Attributes
    ----------
    command, python : str
        How the same is done without the app.
    state : {"running", "done", "interrupted", "failed"}
        "interrupted": there is a report of what was found until then.
    """

    verb, what, place, stem = "audit", "audit", "audits", "audit"
    ends = (".html", ".docx", ".json", ".md", ".txt")
    _started = "Audit: "  # of a line of --verbose
    _cancelled = "The audit was cancelled before it had found anything."

    def __init__(self, key: str, study: Study, options: list[str], folder: Path) -> None:
        self.key, self.study, self.name, self.folder = key, deepcopy(study), study.name, folder
        self.language = study.question.get("language", "en")
        shown = (self.verb, study.name, options)
        self.command = command_line(*shown, f"{self.stem}.html")
        self.python = python_code(*shown, f"{self.stem}.json")
        self.document, self.began, self.ended = folder / "report.json", time.monotonic(), None
        self.used, self._lines, self._step = time.monotonic(), deque(maxlen=_KEPT), ""
        self._is_cancelled = False
        arguments = [self.verb, str(study.path), *options]
        arguments += [f"--report={self.document}", "--verbose"]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "skdisc.app._job", *arguments],
            stdin=subprocess.PIPE,  # it ends when this process does
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        """Read what the command tells, until it ends."""
        for line in self._process.stderr:
            self._lines.append(line.rstrip("\n"))
            if line.startswith(self._started):
                self._step = line.removeprefix(self._started).rpartition(",")[0]
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
        return "interrupted" if self._process.returncode == 130 else "done"

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return (time.monotonic() if self.ended is None else self.ended) - self.began

    @property
    def progress(self) -> dict:
        """What is being asked: ``step`` (words), ``done`` and ``of``, 0 while the file is read."""
        head, _, step = self._step.partition(": ")
        numbers = head.split(" of ")
        if len(numbers) == 2 and all(n.isdigit() for n in numbers):
            return {"step": step, "done": int(numbers[0]) - 1, "of": int(numbers[1])}
        return {"step": self._step or "reading the file", "done": 0, "of": 0}

    @property
    def told(self) -> dict:
        """How far it is, for the page: ``state``, ``seconds``, ``text``, ``done`` and ``of``."""
        of = self.progress
        text = f"{of['step']} ({of['done'] + 1} of {of['of']})" if of["of"] else of["step"]
        told = {"state": self.state, "seconds": int(self.seconds), "text": text}
        return told | {"done": of["done"], "of": of["of"] or 1}

    @property
    def error(self) -> str:
        """Why there is no report."""
        if self._is_cancelled:
            return self._cancelled
        told = [line for line in self._lines if line.startswith(_FAILED)]
        if told:
            return told[-1].removeprefix(_FAILED)
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
        self._process.wait()
        self._reader.join(timeout=5)
        self._process.stdin.close()
        self._process.stderr.close()

    def report(self) -> AuditReport:
        """Return the report."""
        return AuditReport.from_json(self.document.read_text(encoding="utf-8"))

    def page(self) -> str:
        """Return the report as a page."""
        return self.report().to_html(self.language)

    def save(self, path: Path) -> None:
        """Write the report to a file."""
        self.report().save(path, self.language)


class SearchJob(Job):
    """One search for a less discriminatory model."""

    verb, what, place, stem = "alternatives", "search", "searches", "alternatives"
    ends = (".html", ".json", ".md", ".txt")
    _started = "AlternativeSearch: "
    _cancelled = "The search was cancelled; it claims nothing."

    def report(self) -> AlternativeReport:
        """Return the report."""
        return AlternativeReport(json.loads(self.document.read_text(encoding="utf-8")))

    def page(self) -> str:
        """Return the report as a page."""
        return self.report().to_html()

    def save(self, path: Path) -> None:
        """Write the report to a file."""
        self.report().save(path)
