"""What are the causes behind the many significant groups of real data, and how fast are they found?

Claims: on Adult, COMPAS, German credit and ACS, `DisparityPursuit` with three predicates and a
support of .01 names a few causes; on rows it has not seen, `DivExplorer` on the residuals of these
causes has at most 5 % of the significant groups it has on the outcomes; and with ``confirm=.5`` at
least four of five causes are confirmed. Adult takes at most 10 seconds with the default nuisance,
and 2 with ``nuisance="additive"``; 10^6 rows of 11 columns at most 2 minutes and 2 GB, linear in
rows. Not all of this holds: see doc/pursuit_limits.md.

The residual of a person is y - e(x) - sum of effect_j v(x) (1_gj - pi_j(x)): the mean effects and
the scale, which tells v, are those found on one half of the rows; e and pi are learned out of fold
on the other half, from legitimate columns only. The same with each fifth of the rows held out, and
four fifths searched: each fifth alone, and all rows together, each with the residual that it had
when it was held out. Times are seconds of CPU, since other work may share the machine; nothing runs
in parallel.

Run: python -m benchmarks.pursuit_real [causes] [speed]
"""

import argparse
import resource
from time import process_time

import numpy as np
import pandas as pd

from skdisc import datasets
from skdisc.subgroup import DisparityPursuit, DivExplorer
from skdisc.subgroup._disparity_pursuit._expectations import in_folds
from skdisc.subgroup._disparity_pursuit._run import measured

SETTINGS = {"min_support": 0.01, "max_predicates": 3, "random_state": 0}
ACS_ROWS = 100_000
SPLITS = 5  # random halves, and fifths
SIZES = (100_000, 300_000, 1_000_000)


class Kept(DisparityPursuit):
    """A pursuit that keeps the residuals of its causes on the rows of `audit`."""

    def _remeasure(self, task):
        rows, folds = in_folds(self._rows(task), self.nuisance, task.rng)
        scores, _ = measured(self, task, rows, self.result_.findings, folds)
        at = list(range(len(self.result_)))
        effect = self.result_.findings.table["effect"].to_numpy(float)
        f, r = scores.regressors(at), scores.residuals
        people = np.repeat(np.arange(len(rows)), rows.mass.astype(int))
        self.rows_ = rows.X.iloc[people].reset_index(drop=True)
        slopes = effect / scores.mean_room(at)
        beside = {"at given columns": 0.0, "beside causes": scores.room * (slopes @ f)}
        self.residuals_ = {n: ((r.outcome - own) / r.share)[people] for n, own in beside.items()}
        return super()._remeasure(task)


def adult():
    """Return Adult: people, whether they earn more than 50,000 dollars, protected columns."""
    bunch = datasets.fetch_adult()
    X = bunch.data.drop(columns=["fnlwgt", "education-num"], errors="ignore")
    return X, bunch.target == bunch.favorable, ["sex", "race"]


def compas():
    """Return COMPAS: defendants, whether they were not charged again."""
    bunch = datasets.fetch_compas()
    return bunch.data, bunch.target == bunch.favorable, ["race", "sex"]


def german():
    """Return German credit: applicants, whether they were a good risk."""
    bunch = datasets.fetch_german()
    X = bunch.data.copy()
    X["sex"] = np.where(X.pop("personal_status") == "A92", "female", "male")
    return X, bunch.target == bunch.favorable, ["sex", "foreign_worker"]


def acs():
    """Return some of ACSIncome: people, whether they earn more than 50,000 dollars."""
    bunch = datasets.fetch_acs_income()
    at = np.random.default_rng(0).choice(len(bunch.data), ACS_ROWS, replace=False)
    X = bunch.data.iloc[at].reset_index(drop=True)
    codes = [c for c in X if c not in ("AGEP", "WKHP")]
    y = (bunch.target == bunch.favorable).iloc[at].reset_index(drop=True)
    return X.astype(dict.fromkeys(codes, str)), y, ["SEX", "RAC1P"]


def significant(X, protected, values):
    """Return how many groups DivExplorer calls significant, and how many it tests."""

    def outcome(labels, decisions):
        return values

    detector = DivExplorer(protected=protected, metric=outcome, k=10**6, pos_label=1, **SETTINGS)
    result = detector.fit(X, np.arange(len(X)) % 2).result_
    table = result.findings.table
    return int((table["p_adjusted"] <= result.significance).sum()), len(table)


def held_out(X, y, protected, first):
    """Return the counts of significant groups on rows held out, these rows, and their residuals.

    Counts are those of outcomes, and of each kind of residuals, with the number of causes.
    """
    detector = Kept(protected=protected, pos_label=1, **SETTINGS).fit(X[first], y[first])
    detector.audit(X[~first], y[~first])
    before, tested = significant(X[~first], protected, y[~first].to_numpy(float))
    found = {"causes": len(detector.result_), "tested": tested, "before": before}
    left = {n: significant(detector.rows_, protected, v)[0] for n, v in detector.residuals_.items()}
    return found | left, detector.rows_, detector.residuals_


def together(X, y, protected, found):
    """Print what is left of all rows, each with the residual that it had when it was held out."""
    before, tested = significant(X, protected, y.to_numpy(float))
    print(f"of all rows, each with the residual of when it was held out: {before} of {tested}")
    people = pd.concat([rows for _, rows, _ in found], ignore_index=True)
    for kind in found[0][2]:
        values = np.concatenate([residuals[kind] for _, _, residuals in found])
        print(f"{kind}: {significant(people, protected, values)[0]} left", flush=True)


def causes(name, load):
    """Print the causes of a data set, what they leave, and how many are confirmed."""
    X, y, protected = load()
    y = y.astype(int)
    print(f"\n## {name}: {len(X):,} rows, {X.shape[1]} columns, protected {protected}")
    settings = {"protected": protected, "pos_label": 1, **SETTINGS}
    start = process_time()
    result = DisparityPursuit(**settings).fit(X, y).result_
    print(f"{result!r}\n{process_time() - start:.1f} s of CPU")
    columns = ["subject", "effect", "ci_low", "ci_high", "p_adjusted", "support", "scale"]
    print(result.to_frame()[columns].to_string(index=False, float_format="{:.3g}".format))
    fold = np.random.default_rng(0).integers(SPLITS, size=len(X))
    searched = {
        "half": [np.random.default_rng(seed).random(len(X)) < 0.5 for seed in range(SPLITS)],
        "fifth": [fold != k for k in range(SPLITS)],
    }
    for part, splits in searched.items():
        found = [held_out(X, y, protected, first) for first in splits]
        counts = pd.DataFrame([counts for counts, _, _ in found])
        print(f"DivExplorer's significant groups on each held-out {part}, and causes of the rest:")
        print(counts.to_string())
        total = counts.sum()
        print(f"{total['beside causes']} of {total['before']} left", flush=True)
        if part == "fifth":
            together(X, y, protected, found)
    table = DisparityPursuit(confirm=0.5, **settings).fit(X, y).result_.to_frame()
    kept = int((table["p_adjusted"] <= 0.05).sum())
    print(f"confirm=.5: {kept} of {len(table)} kept", flush=True)


def adult_like(n):
    """Return n rows of Adult drawn with replacement, ages and hours jittered: 11 columns."""
    X, y, protected = adult()
    rng = np.random.default_rng(1)
    at = rng.integers(len(X), size=n)
    X = X.drop(columns=["native-country"]).iloc[at].reset_index(drop=True)
    for name in ("age", "hours-per-week"):
        X[name] += rng.integers(-2, 3, size=n)
    return X.iloc[:, :11], y.iloc[at].reset_index(drop=True).astype(int), protected


def timed(text, X, y, protected, nuisance):
    start = process_time()
    detector = DisparityPursuit(protected=protected, nuisance=nuisance, pos_label=1, **SETTINGS)
    result = detector.fit(X, y).result_
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    seconds = process_time() - start
    print(
        f"{text}, {nuisance}: {seconds:.1f} s, {len(result)} causes, peak {peak:.2f} GB", flush=True
    )


def speed():
    """Print times and peak memory."""
    X, y, protected = adult()
    small = X[:2000], y[:2000].astype(int), protected
    DisparityPursuit(protected=protected, pos_label=1, **SETTINGS).fit(*small[:2])  # compiles
    for nuisance in ("additive", "boosting"):
        timed(f"Adult {X.shape}", X, y.astype(int), protected, nuisance)
    for n in SIZES:
        people = adult_like(n)
        for nuisance in ("additive", "boosting"):
            timed(f"{n:,} x {people[0].shape[1]}", *people, nuisance)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["causes", "speed"])
    options = parser.parse_args()
    sets = {"COMPAS": compas, "German credit": german, "Adult": adult, "ACS": acs}
    if "causes" in options.what:
        for name, load in sets.items():
            causes(name, load)
    if "speed" in options.what:
        speed()


if __name__ == "__main__":
    pd.set_option("display.width", 200, "display.max_colwidth", 100)
    main()
