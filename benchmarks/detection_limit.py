"""How near does DisparityPursuit come to the detection limit of the planted groups?

The limit of a planted group is P(|Z + mu| > c): Z is standard normal, c the 95 % quantile of the
largest |z| that chance gives to any candidate of the same lattice, and mu the expectation of the
statistic at the true group, computed from the true probabilities with and without its direct bias,
as if all other causes were known. The statistic is f'y, where the regressor f is

- ``limit``: what main effects leave of 1_C (1_P - pi), the orthogonal score that DisparityPursuit
  uses;
- ``score``: the same, standardized by the variance that a test has to assume, which does not know
  the group: in few people whose chances are moved towards 0 or 1, outcomes vary less;
- ``raw``: what main effects leave of the membership. It is the most powerful test if legitimate
  columns do not interact, and wrong if they do;
- ``free``: the membership centered within its context, which assumes nothing about other contexts
  (at known expectations of the outcome).

What runs through a proxy is not direct, so it does not count. The limits of all targets are written
to ``limits.csv`` (see `BenchmarkResult.pooled`), the claims to ``claims``, one file per cell, and
the cells as by `run_benchmark`; a run can be resumed.

Run: python benchmarks/detection_limit.py FOLDER [--repeats 4] [--audited labels]
     [--nuisance auto] [--n-bootstrap 199]
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri
from sklearn.base import clone

from skdisc import Limits
from skdisc._expectations import LEAST, Covariates
from skdisc._expectations._least_squares import LeastSquares
from skdisc._space._feature_space import FeatureSpace
from skdisc._space._items import make_items
from skdisc._space._subgroup import Subgroup
from skdisc.benchmark import _run as runs
from skdisc.benchmark import run_benchmark
from skdisc.benchmark._protocols import PROTOCOLS
from skdisc.subgroup import DisparityPursuit
from skdisc.subgroup._disparity_pursuit._adjustment import Residuals
from skdisc.subgroup._disparity_pursuit._context_groups import ContextGroups
from skdisc.subgroup._disparity_pursuit._orthogonal_scores import Scores
from skdisc.subgroup._disparity_pursuit._threshold import Level
from skdisc.subgroup._estimation._contrasts import context_of

DETECTOR = DisparityPursuit(max_predicates=4, min_support=0.01)
VERSIONS = ("limit", "score", "raw", "free")
LIMITS = Limits(queries=20_000)
DRAW = ["dataset", "repeat"]
STRONG = 6  # |z| of a cause from which few candidates should explain as much


def power(f, shift, variance, critical, assumed=None):
    """Return P(|z| > critical) for z = f'y / sd, where y has a variance and its mean a shift.

    ``assumed``: the variances that sd implies; None: those of y.
    """
    deviation = np.sqrt((f**2) @ variance)
    if not deviation > 0:  # all of the context is in the group
        return 2 * ndtr(-critical)
    bar = critical * (1 if assumed is None else np.sqrt((f**2) @ assumed) / deviation)
    mu = (f @ shift) / deviation
    return ndtr(mu - bar) + ndtr(-mu - bar)


def assumed_variance(f, p, own, effects):
    """Return the variances that a score assumes, for chances p of which a group has its own shift.

    Those that the fit without the group implies, or its residuals if these are larger.
    """
    fit = np.clip(p - effects.residual(own[:, None])[:, 0], 0, 1)
    implied, seen = fit * (1 - fit), p * (1 - p) + (p - fit) ** 2
    return max(implied, seen, key=lambda variance: (f**2) @ variance)


def regressors(group, X, protected, effects):
    """Return the regressors of a group for "limit", "raw" and "free", shape (3, n_rows)."""
    part = Subgroup([p for p in group.predicates if p.column in protected]).mask(X)
    inside = context_of(group, protected).mask(X)
    score = np.where(inside, effects.residual(part[:, None].astype(float))[:, 0], 0.0)
    score, raw = effects.residual(np.column_stack([score, inside & part]).astype(float)).T
    return np.array([score, raw, np.where(inside, part - part[inside].mean(), 0.0)])


def candidates_of(detector, X, protected):
    """Return all groups that a detector tests."""
    space = FeatureSpace.from_frame(X, protected=protected)
    items = make_items(X, space, list(X), protected, detector.n_bins)
    least = np.ceil(detector.min_support * len(X))
    return ContextGroups.mined(items, least, detector.max_predicates, lambda n: n)


def critical_value(X, y, protected, effects, random_state=0, significance=0.05):
    """Return the largest |z| that chance gives to any candidate of `DETECTOR`, at this level."""
    groups = candidates_of(DETECTOR, X, protected)
    left = effects.residual(np.vstack([y, groups.is_part]).T.astype(float)).T
    one, inflation = np.ones(len(X)), 1 / np.maximum(1 - effects.leverage(), LEAST)
    residuals = Residuals(left[0], left[1:], one, inflation, None, y)
    rng = np.random.default_rng(random_state)
    level = Level(Scores(groups, residuals), DETECTOR.n_resamples, rng, borrow=False)
    return level.largest_z(significance)


def main_effects(X, protected):
    """Return the main effects of the legitimate columns."""
    legitimate = X[[c for c in X if c not in protected]]
    space = FeatureSpace.from_frame(X, protected=protected)
    return LeastSquares(Covariates.of(legitimate, space))


def without_direct_bias(truth, X):
    """Return the probabilities without the bias that does not run through a proxy."""
    bias, sigma, _ = person = truth.law.person(X)
    return truth.law.mean_of(truth.law.logit(X, person) - truth.law.direct * bias, sigma)


def limits_of(draw):
    """Return the limits of the targets of one draw, a DataFrame with a row for each."""
    name, _, repeat, _ = draw
    try:
        made, (X, y, _), known = runs._prepare(draw, "labels")
    except ValueError:  # such groups cannot be planted; the cell has the reason
        return pd.DataFrame()
    effects = main_effects(X, made.protected)
    critical = critical_value(X, np.asarray(y, dtype=float), list(made.protected), effects)
    p = made.truth.rows["p"].to_numpy()
    shift = p - without_direct_bias(made.truth, X)
    rows = []
    for j, target in enumerate(known.targets):
        own = np.where(target.subgroup.mask(X), shift, 0.0)
        f = regressors(target.subgroup, X, made.protected, effects)
        limit, *others = (power(one, own, p * (1 - p), critical) for one in f)
        given = f[0], own, p * (1 - p), critical
        found = [limit, power(*given, assumed_variance(f[0], p, own, effects)), *others]
        about = {"dataset": name, "repeat": repeat, "audited": "labels", "target": j}
        rows.append({**about, **dict(zip(VERSIONS, found, strict=True)), "critical": critical})
    return pd.DataFrame(rows)


def limits(n_repeats, path):
    """Return the limits of all draws, and store each draw when it is done."""
    done = pd.read_csv(path) if path.is_file() else pd.DataFrame(columns=DRAW)
    known = set(map(tuple, done[DRAW].to_numpy()))
    for draw in runs._draws(PROTOCOLS["medium"]["datasets"], n_repeats, 0):
        if (draw[0], draw[2]) not in known:
            done = pd.concat([done, limits_of(draw)], ignore_index=True)
            done.to_csv(path, index=False)
    return done[done["repeat"] < n_repeats]


def with_claims(score, folder):
    """Return a function that scores an audit, and stores its claims."""

    def scored(result, truth, rng):
        found = score(result, truth, rng)
        table = result.findings.table[["effect", "p_value", "p_adjusted"]]
        alike = result.tables["indistinguishable"]["finding"].to_numpy(dtype=int)
        table = table.assign(
            group=[str(g) for g in result.findings.subgroups],
            z=-ndtri(np.maximum(table["p_value"], 1e-300) / 2),
            n_alike=np.bincount(alike, minlength=len(table)),
        )
        table.to_csv(folder / f"{truth._seed}.csv", index=False)
        return found

    return scored


def run(detector, folder, audited, n_repeats):
    """Run a detector on the medium protocol; return the result and the claims."""
    claims = folder / "claims" / audited
    claims.mkdir(parents=True, exist_ok=True)
    score = runs.score_result
    runs.score_result = with_claims(score, claims)
    try:
        datasets = PROTOCOLS["medium"]["datasets"]
        result = run_benchmark(
            {"DisparityPursuit": detector},
            datasets,
            audited=[audited],
            limits=LIMITS,
            n_repeats=n_repeats,
            out=folder,
            verbose=True,
        )
    finally:
        runs.score_result = score
    files = [claims / f"{seed}.csv" for seed in result.to_frame()["seed"]]
    return result, pd.concat([pd.read_csv(f) for f in files if f.is_file()], ignore_index=True)


def by_data_set(result, table):
    """Return scores, claims and what is found of each limit, by data set."""
    cells = result.to_frame()
    cells = cells[(cells["error"] == "") & (cells["n_targets"] > 0)]
    found = cells.groupby("dataset", sort=False)[["f1", "precision", "recall"]].mean()
    counts = ["n_claimed", "n_right", "n_hit", "n_targets"]
    found = found.join(cells.groupby("dataset")[counts].sum())
    return found if table is None else found.join(table.groupby("dataset")[list(VERSIONS)].sum())


def summary(result, table, claims):
    """Return the lines of the summary."""
    sets, cells = by_data_set(result, table), result.to_frame()
    null = cells[cells["n_targets"] == 0]
    lines = [
        sets.round(2).to_string(),
        f"mean F1 {sets['f1'].mean():.3f}   mean recall {sets['recall'].mean():.3f}   "
        f"pooled precision {sets['n_right'].sum() / sets['n_claimed'].sum():.3f}   "
        f"({cells['repeat'].nunique()} drawings, {(cells['error'] != '').sum()} cells failed)",
        f"without bias: {int((null['n_claimed'] > 0).sum())} of {len(null)} cells with a claim",
    ]
    if table is not None:
        of = sets["n_hit"].sum() / sets[list(VERSIONS)].sum()
        mean = sets[list(VERSIONS)].div(sets["n_targets"], axis=0).mean()
        shares = (f"{name} {of[name]:.3f} (mean limit {mean[name]:.2f})" for name in VERSIONS)
        lines.append("found over the sum of the limits: " + ", ".join(shares))
    strong = claims[claims["z"].abs() >= STRONG]
    lines.append(
        f"indistinguishable, median: {claims['n_alike'].median():.0f} of {len(claims)} claims, "
        f"{strong['n_alike'].median():.0f} of {len(strong)} with |z| >= {STRONG}"
    )
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--audited", default="labels", choices=runs.AUDITED)
    parser.add_argument("--nuisance", default=DETECTOR.nuisance)
    parser.add_argument("--n-bootstrap", type=int, default=DETECTOR.n_resamples)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    how = {"nuisance": given.nuisance, "n_resamples": given.n_resamples}
    detector = clone(DETECTOR).set_params(**how)
    result, claims = run(detector, given.folder, given.audited, given.repeats)
    of_labels = given.audited == "labels"  # a model has no law of its own
    table = limits(given.repeats, given.folder / "limits.csv") if of_labels else None
    print("\n".join(summary(result, table, claims)))


if __name__ == "__main__":
    main()
