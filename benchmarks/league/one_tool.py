"""Run in the interpreter of a tool: python -m benchmarks.league.one_tool ADAPTER JOBS

JOBS is a JSON list of {"table": CSV, "settings": {...}, "out": JSON}. Each table is given to the
adapter in a process of its own, forked after the imports and one run that is not measured, so that
seconds (of CPU) are those of the work, and the peak memory is that of the table.
"""

import importlib
import json
import logging
import os
import resource
import signal
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd


def main():
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    adapter = importlib.import_module(f"benchmarks.league.adapters.{sys.argv[1]}")
    jobs = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    measured(adapter, jobs[0])
    for job in jobs:
        if child := os.fork():
            _, status = os.waitpid(child, 0)
            if status:
                write(job, {"error": f"ended by status {status}"})
        else:
            signal.setitimer(signal.ITIMER_PROF, job["settings"]["limit"])  # seconds of CPU
            write(job, measured(adapter, job))
            os._exit(0)


def measured(adapter, job):
    """Return what the adapter finds in one table, with seconds and megabytes."""
    settings = job["settings"]
    table = pd.read_csv(job["table"], dtype=dict.fromkeys(settings["columns"], str))
    start = process_time()
    try:
        found = adapter.find(table, settings)
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}"[:300]}
    found["seconds"] = process_time() - start
    found["mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found | {"version": f"{adapter.PACKAGE} {version(adapter.PACKAGE)}"}


def write(job, found):
    """Write what was found as JSON."""
    text = json.dumps(found, default=plain)
    Path(job["out"]).write_text(text, encoding="utf-8")


def plain(thing):
    """Return a NumPy scalar as a Python number, anything else as text."""
    return thing.item() if isinstance(thing, np.generic) else str(thing)


if __name__ == "__main__":
    main()
