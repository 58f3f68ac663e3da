"""Audits that run, each as the command `skdisc audit` in a process of its own."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from skdisc.auditing import AuditReport

_STARTED = "Audit: "  # of a line of --verbose
_FAILED = "skdisc: error: "
_KEPT = 20  # lines of standard error


class Job:
    """One audit.

    Parameters
    ----------
    key : str
        In addresses.
    argv : list of str
        The file and the options of `skdisc audit`.
    folder : Path
        Where its report is written.
    command, python, name : str
        How the same is done without the app, and the name of the file.

    Attributes
    ----------
    state : {"running", "done", "interrupted", "failed"}
        "interrupted": there is a report of what was found until then.
    """

    def __init__(self, key, argv, folder, *, command, python, name) -> None:
        self.key, self.argv, self.folder = key, list(argv), Path(folder)
        self.command, self.python, self.name = command, python, name
        self.document, self.began, self.ended = self.folder / "audit.json", time.monotonic(), None
        self.used, self._lines, self._step = time.monotonic(), deque(maxlen=_KEPT), "reading"
        self._is_cancelled = False
        arguments = ["audit", *argv, f"--report={self.document}", "--verbose"]
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
            if line.startswith(_STARTED):
                self._step = line.removeprefix(_STARTED).rpartition(",")[0]
        self._process.wait()
        self.ended = time.monotonic()

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
        return {"step": "reading the file", "done": 0, "of": 0}

    @property
    def error(self) -> str:
        """Why there is no report."""
        if self._is_cancelled:
            return "The audit was cancelled before it had found anything."
        told = [line for line in self._lines if line.startswith(_FAILED)]
        if told:
            return told[-1].removeprefix(_FAILED)
        code = self._process.returncode
        if code < 0:
            with suppress(ValueError):
                code = signal.Signals(-code).name
            return (
                f"The process of the audit was ended from outside ({code}), perhaps because the "
                "machine ran out of memory. The app goes on; run the audit again, or with fewer "
                "columns."
            )
        return f"The process of the audit ended with the code {code}, and gave no reason."

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
