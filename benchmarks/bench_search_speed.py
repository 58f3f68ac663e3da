"""Do the individual searches cost little more than the model's own answers?

Claims: with every method that needs a model's answers only, `fit` takes at most 1.3 times as long
as ONE bulk call with exactly the rows that were asked about, for a forest, boosting and an SVC; for
a linear model and a tree, which answer at once, at most 1.5 microseconds per test more than that.
LIMI and BoundarySearch also ask for margins of candidates: their rows are printed without a target.
A million candidates of LIMI or BoundarySearch take at most 10 s, five million tests at most 2 GB.

The data are census of the networks (adf in the folder DATA), the protected column is gender; for
the memory, credit and age, or, of ADF and EIDIG, which need many seeds, census and age. Aequitas
gets a fifth of its tests as seeds, ExpGA, which asks once per generation, a tenth as its
population; BoundarySearch tests half of its pool. Rows are recorded in an extra run; then fits and
bulk calls take turns, and the smallest CPU time of each, on one thread, is compared. Memory is that
of a process of its own.

With few tests what does not grow with them weighs more. The SVC gets 10,000 at most.

Run: OMP_NUM_THREADS=1 python benchmarks/bench_search_speed.py [DATA] [--tests 100000]
"""

import argparse
import math
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import process_time

import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skdisc.individual import ADF, EIDIG, KOSEI, LIMI, SG, Aequitas, BoundarySearch, ExpGA, Themis

RATIO, MICROSECONDS, SECONDS, GIGABYTES = 1.3, 1.5, 10, 2
MODELS = {
    "forest": RandomForestClassifier(random_state=0),
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "SVC": SVC(),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "tree": DecisionTreeClassifier(random_state=0),
}
MARKS = {(True, True): "met", (False, True): "MISSED", (False, False): "more than predict"}
SLOW = ("forest", "boosting", "SVC")
GUIDED = (ADF, EIDIG)  # they ask for gradients, too: their memory is measured only


def searches(n):
    """Return the methods with enough to do for n tests."""
    return {
        "Themis": Themis(margin=1e-9),
        "Aequitas random": Aequitas(n_seeds=max(n // 5, 1000), mode="random"),
        "Aequitas semi": Aequitas(n_seeds=max(n // 5, 1000), mode="semi"),
        "Aequitas fully": Aequitas(n_seeds=max(n // 5, 1000), mode="fully"),
        "SG": SG(n_seeds=max(3 * n // 10, 1000)),
        "ExpGA": ExpGA(fitness="hit", n_population=max(n // 10, 100), n_generations=10_000),
        "KOSEI": KOSEI(n_local=None),
        "BoundarySearch": BoundarySearch(n_pool=2 * n, share=0.5),
        "LIMI": LIMI(n_samples=2 * n),
    }


class Recorder:
    """A model that remembers what it was asked."""

    def __init__(self, model):
        self.model, self.asked = model, {}

    def __getattr__(self, name):
        if name == "fit":
            raise AttributeError(name)  # no estimator that could be fitted, but a model
        answer = getattr(self.model, name)
        if name not in ("predict", "predict_proba", "decision_function"):
            return answer

        def ask(X):
            self.asked.setdefault(name, []).append(X)
            return answer(X)

        return ask


def data(folder, name="census"):
    table = pd.read_csv(folder / "adf" / f"{name}.csv.gz")
    return table, table.pop(table.columns[-1])


def timed(function, *given):
    start = process_time()
    function(*given)
    return process_time() - start


def measure(name, kind, folder, options):
    """Print the costs of one method on one model; return the target and whether it was met."""
    X, y = data(folder)
    n = options.tests if kind != "SVC" else min(options.tests, 10_000)
    some = X.index[:: 10 if kind == "SVC" else 1]
    model = MODELS[kind].fit(X.loc[some], y[some])
    search = searches(n)[name].set_params(protected="i", limits__tests=n, random_state=0)
    recorder = Recorder(model)
    result = search.fit(X, model=recorder).result_
    rows = {ask: pd.concat(given, ignore_index=True) for ask, given in recorder.asked.items()}
    calls = sum(map(len, recorder.asked.values()))

    def bulk():
        for ask, given in rows.items():
            getattr(model, ask)(given)

    fit = lambda: search.fit(X, model=model)  # noqa: E731
    runs = [(timed(fit), timed(bulk)) for _ in range(options.repeats)]
    own, one = map(min, zip(*runs, strict=True))
    each = (own - one) / result.n_tested * 1e6
    slow, only_predict = kind in SLOW, set(rows) == {"predict"}
    met = own <= RATIO * one if slow else each <= MICROSECONDS
    print(
        f"| {kind} | {name} | {result.n_tested:,} | {result.n_found:,} | "
        f"{sum(map(len, rows.values())):,} | {calls:,} | {own:.3f} | {one:.3f} | {own / one:.2f} | "
        f"{each:.2f} | {MARKS[only_predict and met, only_predict]} |",
        flush=True,
    )
    limit = f"ratio {own / one:.2f} <= {RATIO}" if slow else f"{each:.2f} us <= {MICROSECONDS}"
    return f"{kind}, {name}: {limit}", met if only_predict else None


def million(name, folder):
    X, y = data(folder)
    search = {
        "LIMI": LIMI(n_samples=1_000_000),
        "BoundarySearch": BoundarySearch(n_pool=1_000_000),
    }[name]
    search.set_params(protected="i", limits__tests=math.inf, random_state=0)
    model = MODELS["logistic"].fit(X, y)
    seconds = timed(lambda: search.fit(X, model=model))
    return f"a million candidates of {name}: {seconds:.1f} s <= {SECONDS}", seconds <= SECONDS


def memory(name, folder):
    guided = {kind.__name__: kind(n_seeds=20_000, n_local=10_000) for kind in GUIDED}
    search = {**searches(5_000_000), **guided}[name]
    table, protected = ("census", "a") if name in guided else ("credit", "m")
    X, y = data(folder, table)
    search.set_params(protected=protected, limits__tests=5_000_000, random_state=0)
    model = MODELS["logistic"].fit(X, y)
    seconds = timed(lambda: search.fit(X, model=model))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    n, found = search.result_.n_tested, search.result_.n_found
    print(f"{name}: {n:,} tests, {found:,} found, {seconds:.1f} s, {peak:.2f} GB <= {GIGABYTES}")
    return peak <= GIGABYTES


def memory_apart(name, folder):
    """Measure the memory in a process of its own."""
    given = [sys.executable, __file__, str(folder), "--memory", name]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1], done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", beside))
    parser.add_argument("--parts", nargs="+", default=["tests", "million", "memory"])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--methods", nargs="+", choices=searches(1), default=list(searches(1)))
    parser.add_argument("--tests", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--memory", help="measure the memory of this method only")
    options = parser.parse_args()
    folder, targets = Path(options.data), []
    if options.memory:
        sys.exit(0 if memory(options.memory, folder) else 1)
    if "tests" in options.parts:
        print("| model | method | tests | found | rows | calls | fit, s | bulk, s | ratio | us |")
        print("|---" * 11 + "|")
        for kind in options.models:
            targets += [measure(name, kind, folder, options) for name in options.methods]
    if "million" in options.parts:
        targets += [million(name, folder) for name in ("LIMI", "BoundarySearch")]
    if "memory" in options.parts:
        guided = [kind.__name__ for kind in GUIDED]
        targets += [memory_apart(name, folder) for name in [*options.methods, *guided]]
    for word, wanted in (("met", True), ("missed", False)):
        print(f"\nTargets {word}:")
        print("\n".join(f"- {text}" for text, met in targets if met == wanted) or "- none")


if __name__ == "__main__":
    main()
