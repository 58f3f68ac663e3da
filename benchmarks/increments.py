"""What do increments cost beside the published statistic?

Claim: on Adult (all rows, 14 columns, sex and race protected, the decisions of a rule),
`DivExplorer` and `SliceLine` with their defaults, which test each group against the rest of its
context, take at most 1.5 times the time of ``versus="everyone"``, the published search and
statistic alone. Times are the whole `fit`, in seconds of CPU, medians of runs in turns.

Run: python benchmarks/increments.py [--repeats 9]
"""

import argparse
import statistics
from time import process_time

from skdisc import BlackBox
from skdisc.datasets import fetch_adult
from skdisc.subgroup import DivExplorer, SliceLine
from skdisc.subgroup._lattice import _kernels

TARGET = 1.5
PUBLISHED = {"versus": "everyone", "order": "effect", "distinct": False}


def seconds(detector, X, y, decisions):
    start = process_time()
    detector.fit(X, y, BlackBox(decisions=decisions))
    return process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    data = fetch_adult()
    rows = data.data, (data.target == data.favorable), data.data["education-num"] >= 13
    settings = {"protected": ["sex", "race"], "pos_label": True}
    kernels = {"NumPy": None, "numba": _kernels.compiled()}
    _kernels._WORTH = 0  # loaded already
    for name, own in kernels.items():
        if name == "numba" and own is None:
            continue
        _kernels.compiled = lambda own=own: own
        for kind in (DivExplorer, SliceLine):
            pair = kind(**settings), kind(**settings, **PUBLISHED)
            runs = [[seconds(d, *rows) for d in pair] for _ in range(options.repeats + 1)][1:]
            new, old = map(statistics.median, zip(*runs, strict=True))
            print(
                f"{kind.__name__} with {name:5}: context {new:.3f} s ({pair[0].result_.n_tested:,} "
                f"contrasts), everyone {old:.3f} s; ratio {new / old:.2f}, target {TARGET}: "
                f"{'met' if new <= TARGET * old else 'missed'}"
            )


if __name__ == "__main__":
    main()
