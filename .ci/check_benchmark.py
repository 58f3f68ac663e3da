"""Run the quick benchmark. Fails if a cell failed, is missing, or was stopped by a time limit.

What it takes is printed, and decides nothing: it depends on the machine.
"""

import sys

from skdisc.benchmark import run_protocol


def faults(result):
    """Return the cells of a BenchmarkResult that are no result, a list of str."""
    cells = result.to_frame()
    failed = cells.loc[cells["error"] != ""].assign(reason=lambda rows: rows["error"])
    keys = ["detector", "dataset", "audited", "reason"]
    rows = [*failed[keys].to_numpy(), *result.incomplete()[keys].to_numpy()]
    return [f"{detector}, {data}, {audited}: {reason}" for detector, data, audited, reason in rows]


def main():
    result = run_protocol("quick", n_jobs=2)
    columns = ["seconds", "seconds_to_score", "seconds_to_prepare"]
    spent = result.to_frame().groupby("detector")[columns].sum()
    longest = spent.sum(axis=1).sort_values(ascending=False)
    print(f"{result}: {longest.sum():.0f} s in all")
    print(", ".join(f"{name} {seconds:.1f}" for name, seconds in longest.head(10).items()))
    wrong = faults(result)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
