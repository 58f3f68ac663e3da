"""Run: python -m benchmarks.league [--seeds 40] [--only TEXT ...] [--python NAME=PATH ...] [--page]

Every tool is given the same tables, seed by seed; rows that the file has are not measured again.
``--only`` names parts of "tool | world"; parts joined by & must all occur. ``--python`` names the
interpreter of an adapter, e.g. ``aequitas=old/bin/python``, or of all peers: ``peers=PATH``;
default: this one. ``--page`` writes doc/league.md.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from math import ceil
from pathlib import Path

from benchmarks.calibration import store
from benchmarks.league import page
from benchmarks.league.measure import measure
from benchmarks.league.tools import TOOLS
from benchmarks.league.worlds import MATCHES, draw

ROOT = Path(__file__).parents[2]


def run(tool, matches, seeds, python=sys.executable, limit=120):
    """Return a row for every match and seed, in a process of the given interpreter.

    Parameters
    ----------
    tool : Tool
    matches : list of Match
    seeds : list of int
        As many as matches.
    python : str
    limit : int
        Seconds of CPU for a table.

    Returns
    -------
    list of dict
    """
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for i, (match, seed) in enumerate(zip(matches, seeds, strict=True)):
            table, settings = draw(match, seed)
            path = Path(folder) / f"{i}.csv"
            table.to_csv(path, index=False)
            settings |= tool.settings | {"limit": limit}
            job = {"table": str(path), "settings": settings, "out": f"{path}.json"}
            jobs.append(job)
        todo = Path(folder) / "jobs.json"
        todo.write_text(json.dumps(jobs), encoding="utf-8")
        command = [python, "-m", "benchmarks.league.one_tool", tool.adapter, str(todo)]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        returned = [_read(job["out"], done.stderr) for job in jobs]
    rows = zip(matches, seeds, returned, strict=True)
    return [measure(tool.name, match, seed, found) for match, seed, found in rows]


def _read(path, stderr):
    if not Path(path).exists():
        return {"error": (stderr.strip().splitlines() or ["no output"])[-1][:300]}
    return json.loads(Path(path).read_text(encoding="utf-8"))


def work(options):
    """Yield the tools with the matches and seeds that lack rows, a few at a time."""
    rows = store.load(options.out)
    done = rows[rows["error"] == ""] if len(rows) else rows
    known = set(done[store.KEY].itertuples(index=False, name=None))
    for start in range(0, options.seeds, options.batch):
        for tool in TOOLS:
            seeds = range(start, min(start + options.batch, ceil(options.seeds * tool.fewer)))
            lacking = [
                (match, seed)
                for match in MATCHES
                if match.kind != "coverage" or tool.has_intervals
                for seed in seeds
                if _asked(f"{tool.name} | {match.name}", options.only)
                and (tool.name, match.name, seed) not in known
            ]
            if lacking:
                yield tool, *map(list, zip(*lacking, strict=True))


def _asked(name, only):
    return not only or any(all(part in name for part in text.split("&")) for text in only)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--batch", type=int, default=5, help="seeds for one start of a tool")
    parser.add_argument("--only", nargs="*", metavar="TEXT")
    parser.add_argument("--python", nargs="*", default=[], metavar="NAME=PATH")
    parser.add_argument("--limit", type=int, default=120, help="seconds of CPU for one table")
    parser.add_argument("--out", default="build/league.parquet")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    pythons = dict(text.split("=", 1) for text in options.python)
    for tool, matches, seeds in work(options):
        peers = sys.executable if tool.adapter == "skdisc" else pythons.get("peers", sys.executable)
        python = pythons.get(tool.adapter, peers)
        rows = run(tool, matches, seeds, python, options.limit)
        store.append(options.out, rows)
        seconds = sum(row["seconds"] for row in rows)
        errors = next((row["error"] for row in rows if row["error"]), "")
        print(f"{tool.name:24} {len(rows):4} tables {seconds:7.1f} s  {errors}", flush=True)
    if options.page:
        page.write(store.load(options.out), ROOT / "doc" / "league.md")


if __name__ == "__main__":
    main()
