"""Speed of the measures: all from one table of counts, permutations, and six rates of fairlearn.

Each claim is timed against its peer in this run; the best of several repeats is printed.

Run: python benchmarks/bench_measures.py [--rows 1000000] [--repeats 3]
"""

import argparse
from time import process_time

import numpy as np
import pandas as pd
from compared import compared
from scipy import stats

from skdisc import measures as m

SIX = {
    "selection": "selection_rate",
    "tpr": "true_positive_rate",
    "fpr": "false_positive_rate",
    "tnr": "true_negative_rate",
    "fnr": "false_negative_rate",
    "accuracy": "accuracy",
}


def best(function, repeats):
    times = []
    for _ in range(repeats):
        start = process_time()
        function()
        times.append(process_time() - start)
    return min(times)


def line(claim, seconds, most):
    print(f"{claim}: {seconds:.4f} s, at most {most} s: {'met' if seconds <= most else 'missed'}")


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 5, n)
    y_true = rng.integers(0, 2, n)
    y_pred = (rng.random(n) < 0.3 + 0.05 * group + 0.2 * y_true).astype(int)
    return y_true, y_pred, group


def six_rates(y_true, y_pred, group):
    """Rates of every group, with intervals."""
    return m.group_rates(y_true, y_pred, protected=group)


def six_rates_of_fairlearn(y_true, y_pred, group):
    from fairlearn import metrics
    from sklearn.metrics import accuracy_score

    named = {
        "selection": metrics.selection_rate,
        "tpr": metrics.true_positive_rate,
        "fpr": metrics.false_positive_rate,
        "tnr": metrics.true_negative_rate,
        "fnr": metrics.false_negative_rate,
        "accuracy": accuracy_score,
    }
    frame = metrics.MetricFrame(
        metrics=named, y_true=y_true, y_pred=y_pred, sensitive_features=group
    )
    return frame.by_group


def permutations_of_scipy(y, group):
    def gap(a, b, axis):
        return a.mean(axis=axis) - b.mean(axis=axis)

    parts = y[group == 0], y[group == 1]
    stats.permutation_test(parts, gap, n_resamples=999, vectorized=True, batch=50)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    y_true, y_pred, group = people(args.rows)
    named = pd.Series(np.array(list("abcde"))[group])
    for what, protected in (("integers", group), ("text", named)):
        seconds = best(lambda p=protected: m.disparities(y_true, y_pred, protected=p), args.repeats)
        claim = f"all absolute measures, {args.rows} rows, {what}"
        line(claim, seconds, 0.5)
    n = min(args.rows, 100_000)
    numbers = np.random.default_rng(1).normal(size=n)
    two = np.random.default_rng(2).integers(0, 2, n)
    peer = best(lambda: permutations_of_scipy(numbers, two), 1)
    for what, y in (("classes", y_pred[:n]), ("numbers", numbers)):
        seconds = best(
            lambda y=y: m.mean_difference_report(None, y, protected=two, permutations=999),
            args.repeats,
        )
        line(f"999 permutations, {n:,} rows, {what}", seconds, 0.5)
        compared(f"999 permutations, {n:,} rows, {what}; scipy", peer, seconds)
    ours = six_rates(y_true, y_pred, group)
    theirs = six_rates_of_fairlearn(y_true, y_pred, group)
    ours = ours.pivot(index="group", columns="rate", values="estimate")[list(SIX.values())]
    np.testing.assert_allclose(ours.to_numpy(dtype=float), theirs.to_numpy(dtype=float))
    seconds = best(lambda: six_rates(y_true, y_pred, group), args.repeats)
    peer = best(lambda: six_rates_of_fairlearn(y_true, y_pred, group), 1)
    compared(f"six rates, {args.rows:,} rows; `MetricFrame` of fairlearn", peer, seconds, 100)


if __name__ == "__main__":
    main()
