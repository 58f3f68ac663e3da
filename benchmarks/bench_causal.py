"""Is counterfactual fairness faster than the published notebook's loop, with the same rows?

On the law school data, resampled to 20,000 rows. DoWhy can also be asked about the whole frame at
once, which is its best use: the last line compares with that, with straight lines as mechanisms.

The loop is the notebook's, with the mechanisms that DoWhy's ``auto`` picks: for each row one
counterfactual under what was observed and one under the flip, each appended to a frame. Only the
loop is timed, not the choice of mechanisms, their fit, or the regressions.
Ours is timed three times. The rows: everybody's counterfactual by a fitted causal model, which is
what the whole frame at once is timed with. The measure: fitting the causal model, everybody's
counterfactual, a model's answers in both worlds and the mean difference in the group. The audit:
the whole `fit` of `CounterfactualFairness`, with checking the input, learning the space, findings
and tables; by one model, and with the notebook's two. Before anything is timed, both must give the
same counterfactual rows. Timings are CPU seconds of the process, ours and theirs in turns.

Run: python benchmarks/bench_causal.py [DATA] [--rows 200] [--repeats 5]   (needs skdisc[bench])
"""

import argparse
import os
import statistics
import warnings
from pathlib import Path
from time import process_time

import networkx as nx
import numpy as np
import pandas as pd
from compared import compared
from dowhy import gcm
from sklearn.linear_model import LinearRegression

from skdisc.causal import StructuralCausalModel
from skdisc.exceptions import SkdiscWarning
from skdisc.individual import CounterfactualFairness

CAUSES, MARKS = ["Race", "Gender"], ["GPA", "LSAT"]
DAG = [(cause, mark) for cause in CAUSES for mark in MARKS]
GRADE = [(name, "avg_grade") for name in CAUSES + MARKS]
AIMS = {"rows": 2}
FLIP = {"Race": {0.0: 1.0, 1.0: 0.0}}


def students(folder, n=20_000):
    """Return the notebook's frame, resampled to n rows."""
    law = pd.read_csv(folder / "law_school.csv.gz")
    law = law[law["race"].isin(["White", "Black"])]
    frame = pd.DataFrame(
        {
            "Race": (law["race"] == "Black").astype(float),
            "Gender": (law["sex"] == 1).astype(float),
            "GPA": law["UGPA"],
            "LSAT": law["LSAT"],
            "avg_grade": law["ZFYA"],
        }
    )
    return frame.sample(n, replace=True, random_state=0).reset_index(drop=True)


def their_model(frame, auto):
    """Return DoWhy's causal model, fitted: mechanisms as it picks them, or straight lines."""
    model = gcm.InvertibleStructuralCausalModel(nx.DiGraph(DAG + GRADE))
    if auto:
        gcm.auto.assign_causal_mechanisms(model, frame)
    else:
        for node in CAUSES:
            model.set_causal_mechanism(node, gcm.EmpiricalDistribution())
        for node in [*MARKS, "avg_grade"]:
            line = gcm.AdditiveNoiseModel(gcm.ml.create_linear_regressor())
            model.set_causal_mechanism(node, line)
    gcm.config.disable_progress_bars()
    gcm.fit(model, frame)
    return model


def their_loop(model, frame):
    """Return the rows as observed and with race flipped, made as in the notebook."""
    observed, flipped = pd.DataFrame(), pd.DataFrame()
    for _, row in frame.iterrows():
        race = float(row["Race"])
        person = pd.DataFrame(row).T
        same = gcm.counterfactual_samples(model, {"Race": lambda x, r=race: r}, person)
        other = gcm.counterfactual_samples(model, {"Race": lambda x, r=race: 1 - r}, person)
        observed, flipped = pd.concat([observed, same]), pd.concat([flipped, other])
    return observed.reset_index(drop=True), flipped.reset_index(drop=True)


def their_flip(model, frame):
    """Return all rows with race flipped, in one call."""
    return gcm.counterfactual_samples(model, {"Race": lambda x: 1 - x}, frame)


def measure(frame, model):
    """Return the mean difference in the group."""
    X = frame[CAUSES + MARKS]
    rows = StructuralCausalModel(DAG).fit(X).counterfactual(X, FLIP)
    gap = model.predict(X[MARKS]) - model.predict(rows[MARKS])
    return gap[X["Race"] == 1].mean()


def audit(frame, model, evaluate="model", n_resamples=0, regressor=None):
    detector = CounterfactualFairness(
        protected=CAUSES,
        counterfactuals=StructuralCausalModel(DAG, regressor=regressor),
        do=FLIP,
        group={"Race": 1.0},
        output="value",
        evaluate=evaluate,
        n_resamples=n_resamples,
    )
    return detector.fit(frame[CAUSES + MARKS], frame["avg_grade"], model).result_


def timed(function, *arguments, **settings):
    started = process_time()
    function(*arguments, **settings)
    return process_time() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", default=os.environ.get("SKDISC_DATA", "."), type=Path)
    parser.add_argument("--rows", default=200, type=int, help="rows of the loop")
    parser.add_argument("--repeats", default=5, type=int)
    options = parser.parse_args()
    warnings.simplefilter("ignore", SkdiscWarning)
    frame = students(options.data)
    grades = LinearRegression().fit(frame[MARKS], frame["avg_grade"])
    theirs, some = their_model(frame, auto=True), frame.iloc[: options.rows]
    lines = their_model(frame, auto=False)
    peer = their_loop(lines, some.iloc[:20])[1]
    mine = audit(frame, grades, regressor=LinearRegression()).tables["counterfactual"].iloc[:20]
    gap = max(np.abs(peer[c] - mine[c]).max() for c in CAUSES + MARKS)
    assert gap < 1e-9, f"different counterfactuals, by {gap}"
    print(f"same counterfactuals to {gap:.1e}; {len(frame):,} rows of ours, {len(some)} of theirs")

    X = frame[CAUSES + MARKS]
    fitted = StructuralCausalModel(DAG).fit(X)
    ours = {
        "rows": lambda: fitted.counterfactual(X, FLIP),
        "measure": lambda: measure(frame, grades),
        "audit": lambda: audit(frame, grades),
        "audit, a model per world": lambda: audit(frame, grades, "refit"),
    }
    times = {name: [] for name in [*ours, "loop", "whole"]}
    part = max(1, len(some) // options.repeats)
    for i in range(options.repeats):
        for name, function in ours.items():
            times[name].append(timed(function) / len(frame))
        rows = some.iloc[i * part : (i + 1) * part]
        times["loop"].append(timed(their_loop, theirs, rows) / len(rows))
        times["whole"].append(timed(their_flip, lines, frame) / len(frame))
    loop, whole = (statistics.median(times[name]) for name in ("loop", "whole"))
    for name in ours:
        seconds = statistics.median(times[name])
        what = f"counterfactual of a student, {name}; DoWhy,"
        compared(f"{what} all at once by a fitted model", whole, seconds, AIMS.get(name))
        compared(f"{what} the published loop", loop, seconds)
    bootstrap = timed(audit, frame, grades, n_resamples=200)
    print(f"audit with 200 bootstrap samples that refit the causal model: {bootstrap:.1f} s")


if __name__ == "__main__":
    main()
