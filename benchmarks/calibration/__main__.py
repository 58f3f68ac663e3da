"""Run: python -m benchmarks.calibration [--n 200] [--only TEXT ...] [--jobs 2] [--page]

Every detector is fitted on every world for every seed; rows that the file ``--out`` has are not
measured again (``--again`` measures them again, after a change of the code). That file is no part
of the repository; ``--counts`` adds up its rows to the files of doc/calibration, from which
``--page`` writes doc/calibration.md. A cell that is surely within its limit stops after 40, 60 or
100 data sets (`cells.is_settled`); the fastest ones come first. ``--only`` names parts of
"| detector | world | kind |", ``--kinds`` kinds of worlds. A cell stops after ``--limit`` seconds,
the whole run after ``--minutes``. ``--rerun`` takes the null cells that are above the level, on
seeds that were never used: with ``--n 1000`` it decides whether they fail. ``--onward`` goes on
from the data sets that the repository counts, whose rows need not be there, and stops no cell
early; ``--counts`` adds such rows to what is counted.
"""

import argparse
import subprocess
from functools import reduce
from pathlib import Path
from time import monotonic, process_time

from joblib import Parallel, delayed

from benchmarks.calibration import counts, page, store
from benchmarks.calibration.cells import failing, is_settled, line
from benchmarks.calibration.counts import NEW_SEEDS
from benchmarks.calibration.detectors import configurations
from benchmarks.calibration.measure import WORLDS, measure
from benchmarks.calibration.summary import HARD_NAMES

ROOT = Path(__file__).parents[2]
DOC = ROOT / "doc"
FILES = {"claims": ("grid",), "after": ("after", "fair"), "answers": ("equal", "found")}
REST = "counts"  # of all other kinds of worlds
GAP_SEEDS = 2  # where the gap is true, for the page to say so


def cells(only, kinds):
    """Yield the configurations and worlds that can be measured and are asked for."""
    known = configurations().values()
    for world in WORLDS.values():
        if kinds and world.kind not in kinds:
            continue
        named = [(one, f"| {one.name} | {world.name} | {world.kind} |") for one in known]
        chosen = [one for one, name in named if not only or _is_one_of(name, only)]
        people = world.draw(0) if chosen else None
        for one in chosen:
            if not one.unable(world, people):
                yield one, world


def _is_one_of(name, texts):
    """Return whether a name contains all parts of one of some texts, which & joins."""
    return any(all(part in name for part in text.split("&")) for text in texts)


def measured(one, world, seeds, earlier, limit, commit):
    """Return the rows of one cell, as many as the limit of seconds of CPU allows.

    Seeds follow those of earlier rows; None for these: no cell stops because it is settled.
    """
    rows, start = [], process_time()
    for seed in seeds:
        rows.append(measure(one, world, seed) | {"commit": commit})
        if process_time() - start > limit:
            break
        if rows[-1]["error"] and len(rows) >= 3:
            break
        if earlier is not None and is_settled([*earlier, *rows], world.kind):
            break
    return rows


def work(options, commit):
    """Return the cells that lack rows, each with the seeds and earlier rows, fast ones first."""
    start = NEW_SEEDS if options.rerun else 0
    rows = store.load(options.out)
    chosen = failing(counts.of_rows(rows)) if options.rerun else None
    kept_rows = {} if options.again else dict(list(rows.groupby(store.KEY[:2])))
    seconds = rows.groupby(store.KEY[:2])["seconds"].mean() if len(rows) else {}
    todo, counted = [], {}
    if options.onward:
        table = kept().query("fresh == 0 and error == ''").set_index(store.KEY[:2])
        counted, seconds = table["n"].to_dict(), table["seconds"]
    for one, world in cells(options.only, options.kinds):
        if chosen is not None and (one.name, world.name) not in chosen:
            continue
        cost, part = seconds.get((one.name, world.name), 0.0), kept_rows.get((one.name, world.name))
        earlier = [] if part is None else part.sort_values("seed").to_dict("records")
        n = min(options.n, GAP_SEEDS) if one.null in world.fails else options.n
        known = {row["seed"] for row in earlier} | set(
            range(counted.get((one.name, world.name), 0))
        )
        lacking = [s for s in range(start, start + n) if s not in known]
        earlier = None if options.rerun or options.onward else earlier
        if lacking and not (earlier and is_settled(earlier, world.kind)):
            todo.append((cost, one, world, lacking, earlier))
    return [cell[1:] for cell in sorted(todo, key=lambda cell: cell[0])]


def head():
    """Return the commit of the checkout."""
    command = ["git", "-C", ROOT, "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--n", type=int, default=200, help="data sets of a cell; 0: none")
    parser.add_argument("--only", nargs="*", metavar="TEXT", help="parts of a name, joined by &")
    parser.add_argument("--kinds", nargs="*", help="null, equal, found, grid, after, fair, …")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=200.0, help="seconds for each cell")
    parser.add_argument("--minutes", type=float, default=1e9, help="of the whole run")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "calibration.parquet")
    parser.add_argument("--commit", default="", help="of the code; default: that of the checkout")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--rerun", action="store_true")
    parser.add_argument("--onward", action="store_true", help="from the seeds counted, to --n")
    parser.add_argument("--counts", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    commit = options.commit or head()
    todo = [] if options.n <= 0 else work(options, commit)
    start = monotonic()
    within = (cell for cell in todo if monotonic() - start < 60 * options.minutes)
    tasks = (delayed(measured)(*cell, options.limit, commit) for cell in within)
    pool = Parallel(options.jobs, return_as="generator_unordered", pre_dispatch=options.jobs)
    for rows in pool(tasks):
        store.append(options.out, rows)
        print(line(rows), flush=True)
    if options.counts:
        keep(counts.extended(kept(), store.load(options.out)))
    if options.page:
        page.write(kept(), DOC)


def kept():
    """Return the counts that the repository keeps."""
    tables = [counts.load(DOC / "calibration" / f"{name}.csv") for name in (*FILES, REST)]
    return reduce(counts.update, tables)


def keep(table):
    """Write counts to the files of the repository, by kinds of worlds; hard ones are new, too."""
    file_of_kind = {kind: name for name, kinds in FILES.items() for kind in kinds}
    file_of = {w.name: file_of_kind.get(w.kind, REST) for w in WORLDS.values()}
    file = table["world"].map(file_of | dict.fromkeys(HARD_NAMES, "answers")).fillna(REST)
    for name, part in table.groupby(file):
        counts.save(DOC / "calibration" / f"{name}.csv", part)


if __name__ == "__main__":
    main()
