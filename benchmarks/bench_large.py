"""Can a table of 10^8 rows be searched? Seconds and peak memory, from Parquet files.

The files hold different rows, a million each: 12 columns (11 of Adult and income) drawn from the
copula that is learned from Adult. Missing files are made first: 10 MB and 2 s each. The columns are
counted, and GroupDisparity, DivExplorer and SliceLine (three predicates) are fitted to the counts,
all in a process of its own for each number of files; memory is its peak, all included. The process
waits for no other, so that wall time is that of the machine as loaded as it is; CPU is its own.

Claims: 10^7 rows in at most 60 s and 1 GB, 10^8 in at most 600 s and 4 GB, on two cores. With
``--sources duckdb dask``, the same files are also counted through Ibis by DuckDB, and by four
workers of Dask, and the counts must be equal; seconds are those of the wall.

Run: python benchmarks/bench_large.py FOLDER [--files 10 100] [--sources duckdb dask]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

ROWS = 10**6
PROTECTED, LABEL = ["sex", "race"], "income"
LEFT_OUT = ["education", "capital-gain", "capital-loss"]


def make(folder, n_files):
    """Write the files that are missing, and return all."""
    from skdisc.datasets import GaussianCopula, fetch_adult, schema_from_frame

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{i:03}.parquet" for i in range(n_files)]
    adult = fetch_adult()
    people = adult.data.drop(columns=LEFT_OUT).assign(**{LABEL: adult.target})
    copula = GaussianCopula(schema_from_frame(people))
    for seed, path in enumerate(paths):
        if not path.exists():
            written = path.with_suffix(".part")
            rows = copula.sample(ROWS, random_state=seed)
            rows.to_parquet(written, index=False, row_group_size=ROWS // 2)
            written.rename(path)
    return paths


class Clock:
    """Prints what each step cost."""

    def __init__(self):
        self.start = self.wall, self.cpu = perf_counter(), process_time()

    def print(self, what, since=None):
        wall, cpu = since or (self.wall, self.cpu)
        self.wall, self.cpu = perf_counter(), process_time()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"  {what:42} {self.wall - wall:7.1f} s, CPU {self.cpu - cpu:7.1f} s, "
            f"peak so far {peak:.2f} GB",
            flush=True,
        )


def run(paths):
    """Count the files and fit the detectors."""
    from skdisc import Counts
    from skdisc.group import GroupDisparity
    from skdisc.subgroup import DivExplorer, SliceLine

    clock = Clock()
    counts = Counts.of(paths, protected=PROTECTED, label=LABEL)
    clock.print(f"Counts, {len(counts.n):,} combinations")
    about = {"protected": PROTECTED, "pos_label": ">50K"}
    for detector in (
        GroupDisparity(**about),
        DivExplorer(**about),
        SliceLine(max_predicates=3, **about),
    ):
        found = detector.fit(counts).result_
        clock.print(f"{type(detector).__name__}, {len(found.findings)} findings")
    clock.print("all", clock.start)


def counted_by(source, paths):
    """Return the counts of files that another program reads, and the seconds of the wall."""
    from skdisc import Counts

    about = {"protected": PROTECTED, "label": LABEL}
    if source == "duckdb":
        import ibis

        start = perf_counter()
        counts = Counts.of(ibis.duckdb.connect().read_parquet(paths), **about)
        return counts, perf_counter() - start
    import dask.dataframe
    from dask.distributed import Client

    with Client(n_workers=4, threads_per_worker=1, dashboard_address=None):
        start = perf_counter()
        counts = Counts.of(dask.dataframe.read_parquet(paths), **about)
        return counts, perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", nargs="+", type=int, default=[10, 100])
    parser.add_argument("--sources", nargs="*", choices=("duckdb", "dask"), default=[])
    parser.add_argument("--paths", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.paths:
        run(json.loads(options.paths))
        return
    paths = make(options.folder, max(options.files))
    for n_files in options.files:
        size = sum(os.path.getsize(p) for p in paths[:n_files]) / 1e9
        print(f"{n_files * ROWS:,} rows x 12 columns, {size:.2f} GB of Parquet", flush=True)
        chosen = json.dumps([str(p) for p in paths[:n_files]])
        command = [sys.executable, __file__, str(options.folder), "--paths", chosen]
        subprocess.run(command, check=True)
        if options.sources:
            from skdisc import Counts

            names = [str(p) for p in paths[:n_files]]
            expected = Counts.of(names, protected=PROTECTED, label=LABEL)
        for source in options.sources:
            counts, seconds = counted_by(source, names)
            assert counts.n.sum() == expected.n.sum()
            assert len(counts.n) == len(expected.n)
            print(f"  counted by {source}: {seconds:.1f} s of the wall", flush=True)


if __name__ == "__main__":
    main()
