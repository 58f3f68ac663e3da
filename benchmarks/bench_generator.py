"""How fast is the generator, and its conditional sampling against that of SDV?

Claims: 1,000,000 rows, 100 pairs and 20 attributes in at most 15 s and 4 GB on two cores; ten times
the rows take at most ten times as long; conditional sampling is at least 50 times as fast as SDV's
GaussianCopulaSynthesizer on the same conditions (needs the extra ``sdv``; left out without it).

Each run of the generator is a process of its own, so that its memory can be measured. Ours and
SDV's conditional sampling take turns; the least processor time of several runs of each is compared.

Run: python benchmarks/bench_generator.py [--rows 10000 100000 1000000]
     [--conditional 100 1000 10000] [--repeats 5]
"""

import argparse
import contextlib
import io
import json
import resource
import subprocess
import sys
import warnings
from importlib.util import find_spec
from time import perf_counter, process_time

SECONDS, GIGABYTES, RATIO = 15, 4, 50
PAIRS, ATTRIBUTES = 100, 20


def generate(n_rows):
    """Return seconds, seconds of processor time, gigabytes and rows of one run."""
    from skdisc.datasets import make_discrimination

    start, busy = perf_counter(), process_time()
    X, _ = make_discrimination(
        PAIRS,
        n_attributes=ATTRIBUTES,
        n_numeric=4,
        n_values=(3, 6),
        granularity=(2, 4),
        correlation=0.2,
        group_size=n_rows // (4 * PAIRS),
        n_background=n_rows // 2,
        return_X_y=True,
        random_state=0,
    )
    seconds, busy = perf_counter() - start, process_time() - busy
    return seconds, busy, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, len(X)


def in_own_process(n_rows):
    command = [sys.executable, __file__, "--one", str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def conditional(sizes, repeats):
    """Yield rows, processor seconds of ours and of SDV for the same conditions and columns."""
    import numpy as np
    from sdv.metadata import Metadata
    from sdv.sampling import Condition
    from sdv.single_table import GaussianCopulaSynthesizer

    from skdisc import Predicate, Subgroup
    from skdisc.datasets import Attribute, GaussianCopula, Schema, schema_from_frame

    attributes = [Attribute(f"c{i}", values=tuple("abcd"), dtype="object") for i in range(6)]
    attributes += [Attribute(f"x{i}", "numeric", law=("norm",), dtype="float64") for i in range(4)]
    seed = GaussianCopula(Schema(attributes, correlation=0.3)).sample(5000, random_state=0)
    asked = [{"c0": a, "c1": b} for a in "ab" for b in "cd"]
    kinds = {n: {"sdtype": "categorical" if n[0] == "c" else "numerical"} for n in seed}
    metadata = Metadata.load_from_dict({"tables": {"people": {"columns": kinds}}})
    synthesizer = GaussianCopulaSynthesizer(metadata)
    synthesizer.fit({"people": seed})
    copula = GaussianCopula(schema_from_frame(seed))
    groups = [Subgroup([Predicate.equals(c, v) for c, v in values.items()]) for values in asked]
    rng = np.random.default_rng(0)
    for n_rows in sizes:
        times = []
        for _ in range(repeats):
            start = process_time()
            ours = copula.sample_each([n_rows] * len(groups), groups, random_state=rng)
            between = process_time()
            conditions = [Condition(num_rows=n_rows, column_values=values) for values in asked]
            with contextlib.redirect_stderr(io.StringIO()):
                theirs = synthesizer.sample_from_conditions(conditions)["people"]
            times.append((between - start, process_time() - between))
            assert len(theirs) == len(ours) == n_rows * len(asked)
        yield n_rows, *map(min, zip(*times, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--conditional", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(generate(options.one)))
        return
    before = None
    for n_rows in options.rows:
        seconds, busy, gigabytes, made = in_own_process(n_rows)
        growth = (
            f"{made / before[0]:.1f} x rows: {seconds / before[1]:.1f} x time" if before else ""
        )
        before = made, seconds
        print(
            f"{made:9,} rows, {PAIRS} pairs, {ATTRIBUTES} attributes   {seconds:6.2f} s   "
            f"processor {busy:6.2f} s   {gigabytes:.2f} GB   {growth}"
        )
    met = seconds <= SECONDS and gigabytes <= GIGABYTES
    print(f"target {SECONDS} s and {GIGABYTES} GB: {'met' if met else 'missed'} by the last")
    if find_spec("sdv") is None:
        print("sdv is not installed: conditional sampling is not compared")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_rows, ours, theirs in conditional(options.conditional, options.repeats):
            verdict = "met" if theirs / ours >= RATIO else "missed"
            print(
                f"conditional, 4 x {n_rows:6,} rows   ours {ours:.4f} s   SDV {theirs:.3f} s   "
                f"ratio {theirs / ours:.0f}   target {RATIO}: {verdict}"
            )


if __name__ == "__main__":
    main()
