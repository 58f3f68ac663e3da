"""Is FACTS faster than the FACTS of AIF360, with the same effectiveness?

Claim: on Adult by sex (13,567 test rows, preprocessing and split of the paper), with one logistic
regression behind a one-hot encoder, `FACTS.fit` takes at most 1/80 of the time of AIF360 0.6.1 at
support 0.1; at support 0.01 (about 100,000 pairs) at most 30 s and 4 GB on two cores.

Both get the same rows, model and rules: age and education may rise by at most two places, sex
stays. Ours is the whole `fit`: checking the input, mining, all notions, tests and the result.
Before anything is timed, both must give the same pairs of subgroup and action, the same
effectiveness of each for each sex (1e-12), and the same share helped by any action (1e-12).
At the other supports given, only equality is checked, and only if ``--slow`` is given the peer is
run: it takes minutes. Times are CPU seconds.

Run: python benchmarks/bench_facts.py [DATA] [--slow]   (needs skdisc[bench] and
aif360[FACTS] 0.6.1), or with --grid: only our time by support and number of bins, as a table.
"""

import argparse
import os
import resource
import statistics
import warnings
from pathlib import Path
from time import perf_counter, process_time

import pandas as pd
from compared import alone, compared
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import BlackBox
from skdisc.subgroup import FACTS, Actions

TARGET = 80
NUMBERS = ["education-num", "capital-gain", "capital-loss"]
HOURS = ["PartTime", "MidTime", "FullTime", "OverTime", "BrainDrain"]
RULES = {
    "actions": Actions(
        monotone={"age": 1, "education-num": 1}, max_step={"age": 2, "education-num": 2}
    ),
    "n_bins": None,
    "pos_label": 1,
    "protected": "sex",
}


def adult(folder):
    """Return the paper's Adult: columns, and 1 for an income above 50,000."""
    table = pd.read_csv(folder / "adult.csv.gz")
    table = table[(table != "?").all(axis=1)].reset_index(drop=True)
    y = (table["income"] == ">50K").astype(int)
    X = table.drop(columns=["fnlwgt", "education", "income", "split"])
    X["relationship"] = X["relationship"].replace({"Husband": "Married", "Wife": "Married"})
    X["hours-per-week"] = pd.cut(X["hours-per-week"], [0.9, 25, 39, 40, 55, 100], labels=HOURS)
    X["age"] = pd.qcut(X["age"], 5)
    return X.astype({c: object for c in X if c not in NUMBERS}), y


class Model:
    """A logistic regression that takes ages as text or as intervals."""

    def __init__(self, X, y):
        words = [c for c in X if c not in NUMBERS]
        encoder = OneHotEncoder(handle_unknown="ignore"), words
        columns = make_column_transformer(encoder, remainder="passthrough")
        self.pipeline = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)

    def predict(self, X):
        if len(X) and not isinstance(X["age"].iloc[0], str):
            X = X.assign(age=X["age"].map(str))
        return self.pipeline.predict(X)


def as_text(X):
    """Return the rows for us: the ages as ordered text."""
    ages = list(map(str, sorted(X["age"].unique())))
    age = pd.Categorical(X["age"].map(str), ages, ordered=True)
    return X.assign(age=age)


def ours(X, model, support, **more):
    return FACTS(min_support=support, **RULES).set_params(**more).fit(X, model=model)


def print_grid(X, model):
    """Print our time, pairs and queries by support and by bins of the three columns of numbers."""
    print("| Support | Bins | Subgroups | Pairs | Distinct rows queried | CPU seconds |")
    print("|---|---|---|---|---|---|")
    for support in (0.1, 0.05, 0.02):
        for bins in (2, 5, 10, None):
            seconds, detector = timed(lambda s=support, b=bins: ours(X, model, s, n_bins=b))
            mined, asked = detector.recourse_["sex"].mining, detector.result_.n_queries
            counts = f"{mined['subgroups']:,} | {mined['valid pairs']:,} | {asked:,}"
            print(f"| {support} | {bins or 'each value'} | {counts} | {seconds:.2f} |", flush=True)


def theirs(X, model, support):
    from aif360.sklearn.detectors import facts as peer_module

    words = [c for c in X if c not in NUMBERS]
    peer = peer_module.FACTS(
        model, "sex", categorical_features=words, freq_itemset_min_supp=support
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peer.fit(X, verbose=False)


def key(conditions):
    return frozenset((c, str(v)) for c, v in conditions)


def check_equal(detector, peer):
    """Compare all pairs of subgroup and action, and the share that any action helps."""
    r = detector.recourse_["sex"]
    groups = [g.values[0] for g in r.groups]
    where = {
        key((p.column, p.values[0]) for p in g.predicates): i for i, g in enumerate(r.subgroups)
    }
    any_action = r.measured.values(r.notion("effectiveness", "micro"))
    n_pairs, largest = 0, 0.0
    for subgroup, of_group in peer.rules_by_if.items():
        i = where.pop(key(zip(subgroup.features, subgroup.values, strict=True)))
        pairs = range(*r.plan.start[i : i + 2])
        action = {
            key((p.column, p.values[0]) for p in r.plan.action(j).predicates): j for j in pairs
        }
        for g, sex in enumerate(groups):
            _, rules = of_group[sex]
            assert len(rules) == len(action)
            for then, share, _ in rules:
                before = dict(zip(subgroup.features, subgroup.values, strict=True))
                after = zip(then.features, then.values, strict=True)
                j = action[key((c, v) for c, v in after if before[c] != v)]
                own = r.measured.hits[j, g] / r.measured.n[i, g]
                largest = max(largest, abs(own - share))
            n_pairs += len(rules)
            best = max(share for _, share, _ in peer.rules_with_cumulative[subgroup][sex][1])
            largest = max(largest, abs(best - any_action[i, g]))
    assert not where, "subgroups that only we have"
    assert largest <= 1e-12, largest
    return n_pairs // len(groups), largest


def timed(work, *args):
    started = process_time()
    out = work(*args)
    return process_time() - started, out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    parser.add_argument("--rows", type=int, help="use the first rows only; default: all")
    parser.add_argument("--slow", action="store_true", help="also compare at support 0.05")
    parser.add_argument("--grid", action="store_true", help="only our time by support and bins")
    parser.add_argument("--alone", action="store_true", help="without the peer")
    options = parser.parse_args()
    X, y = (part[: options.rows] for part in adult(Path(options.data)))
    rows = train_test_split(X, y, test_size=0.3, random_state=131313, stratify=y)
    train, test, y_train, _ = rows
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = Model(as_text(train), y_train)
    text = as_text(test)
    ours(text, model, 0.1)  # compiles kernels, loads code
    if options.grid:
        return print_grid(text, model)
    for support in () if options.alone else (0.1, 0.05) if options.slow else (0.1,):
        slow, peer = timed(theirs, test, model, support)
        n_pairs, largest = check_equal(ours(text, model, support), peer)
        fast = statistics.median(timed(ours, text, model, support)[0] for _ in range(5))
        print(f"support {support}: {n_pairs:,} equal pairs, largest difference {largest:.1g}")
        what = f"FACTS, Adult by sex, support {support}; AIF360"
        compared(what, slow, fast, TARGET if support == 0.1 else None)
    shared, wall = BlackBox(model, n_jobs=2), perf_counter()
    cpu, detector = timed(lambda: ours(text, shared, 0.01, actions__immutable=["race"]))
    wall = perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    counts, n_queries = detector.recourse_["sex"].mining, detector.result_.n_queries
    print(f"support 0.01: {counts['valid pairs']:,} pairs, {n_queries:,} distinct rows asked about")
    print(f"  {wall:.1f} s")
    alone("FACTS, Adult by sex, support 0.01", cpu, peak, (2, 4))


if __name__ == "__main__":
    main()
