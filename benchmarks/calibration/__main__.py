"""Run: python -m benchmarks.calibration [--seeds 200] [--only TEXT ...] [--jobs 2] [--page]

Every detector is fitted on every world for every seed; rows that the file has are not measured
again (``--again`` measures them again, after a change of the code). Cells whose runs take over a
second get half of the seeds. Cells that are known to be fast come first. ``--only`` names parts of
"| detector | world | kind |". A cell stops after ``--limit`` seconds. ``--rerun`` takes the cells
that fail, on seeds that were never used. ``--page`` writes doc/calibration.md.
"""

import argparse
import subprocess
from pathlib import Path
from time import process_time

from joblib import Parallel, delayed

from benchmarks.calibration import page, store
from benchmarks.calibration.cells import NEW_SEEDS, failing, line
from benchmarks.calibration.detectors import configurations
from benchmarks.calibration.measure import WORLDS, measure

ROOT = Path(__file__).parents[2]
GAP_SEEDS = 2  # where the gap is true, for the page to say so


def cells(only, kinds):
    """Yield the configurations and worlds that can be measured and are asked for."""
    for world in WORLDS.values():
        people = world.draw(0)
        for one in configurations().values():
            name = f"| {one.name} | {world.name} | {world.kind} |"
            if kinds and world.kind not in kinds:
                continue
            if only and not any(all(p in name for p in text.split("&")) for text in only):
                continue
            if not one.unable(world, people):
                yield one, world


def measured(one, world, seeds, limit, commit):
    """Return the rows of one cell, as many as the limit of seconds of CPU allows."""
    rows, start = [], process_time()
    for seed in seeds:
        rows.append(measure(one, world, seed) | {"commit": commit})
        if process_time() - start > limit:
            break
        if rows[-1]["error"] and len(rows) >= 3:
            break
    return rows


def work(options, commit):
    """Return the cells that lack rows, each with the seeds, fast ones first."""
    start = NEW_SEEDS if options.rerun else 0
    rows = store.load(options.out)
    known = set() if options.again else set(rows[store.KEY].itertuples(index=False, name=None))
    chosen = failing(rows) if options.rerun else None
    seconds = rows.groupby(store.KEY[:2])["seconds"].mean() if len(rows) else {}
    todo = []
    for one, world in cells(options.only, options.kinds):
        if chosen is not None and (one.name, world.name) not in chosen:
            continue
        cost = seconds.get((one.name, world.name), 0.0)
        n = options.seeds if cost <= 1 else options.seeds // 2
        n = min(n, GAP_SEEDS) if getattr(one.kind, "null", "") in world.fails else n
        lacking = [s for s in range(start, start + n) if (one.name, world.name, s) not in known]
        if lacking:
            todo.append((cost, one, world, lacking))
    return [cell[1:] for cell in sorted(todo, key=lambda cell: cell[0])]


def head():
    """Return the commit of the checkout."""
    command = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="parts of a name, joined by &")
    parser.add_argument("--kinds", nargs="*", help="null, power, reassurance, coverage, useful")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for each cell")
    parser.add_argument("--out", default=ROOT / "doc" / "calibration" / "rows.parquet")
    parser.add_argument("--commit", default="", help="of the code; default: that of the checkout")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--rerun", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    commit = options.commit or head()
    todo = [] if options.seeds <= 0 else work(options, commit)
    tasks = (delayed(measured)(*cell, options.limit, commit) for cell in todo)
    pool = Parallel(options.jobs, return_as="generator_unordered")
    for rows in pool(tasks):
        store.append(options.out, rows)
        print(line(rows), flush=True)
    if options.page:
        page.write(store.load(options.out), ROOT / "doc")


if __name__ == "__main__":
    main()
