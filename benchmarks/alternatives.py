"""How often does AlternativeSearch claim something false, and how often what is true?

Null worlds: the decisions of each model are a column of a table, so that the truth is known. In
none of them is a candidate as good as the present model and less unequal.

- ``exchangeable``: all models have the same signal, and noise of their own;
- ``opposite``: gaps of .05 of the present model and of -.05 of all others;
- ``nobody``: equal rates of the present model, and alternatives that favor nobody;
- ``five``: five groups with equal rates, by all models;
- ``margin``: alternatives with a smaller gap that are worse by exactly the margin, and nowhere
  better;
- ``signs``: gaps of .1 of the present model, and of .1 and -.1 of the others in turn: which of them
  is chosen differs from part to part.

Power: a column measures ability, less one for a group; another one measures it with more noise,
but alike. The present model has the first, and 20 subsets of the columns are the candidates. In
``easy`` one of them has both columns; in ``hard`` none, and the best is as accurate as the present
model. A claim counts as found if it is true of the fitted models, on 20,000 other people.

Recipes: least squares with the same signal and noise columns of their own, and four of the worlds
above, chosen and tested in five parts of all people.

Beside the claims, *naive* is how often the best candidate passes the same test on the people who
chose it.

Real: Adult, ACS income and COMPAS with three families of models, each on people of its own, so that
no claim part is used twice; what `skdisc alternatives` tries. Each page is written to the folder.

Run: python benchmarks/alternatives.py FOLDER [--sets 300] [--most 200] [--n 2000] [--only real]
"""

import argparse
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial, wraps
from inspect import isfunction
from itertools import product
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdisc._blackbox._default_models import default_model
from skdisc.cli._alternatives import candidates
from skdisc.datasets import fetch_acs_income, fetch_adult, fetch_compas
from skdisc.model_selection import AlternativeSearch
from skdisc.model_selection._alternatives._candidates import TriedCandidate
from skdisc.model_selection._alternatives._choice import Choice
from skdisc.model_selection._alternatives._claim import steps_of
from skdisc.model_selection._alternatives._question import Groups, Predictions, Question
from skdisc.model_selection._alternatives._recipe import mean_choice, recipe_trial
from skdisc.repair import Reweigher

WORLDS = ("exchangeable", "opposite", "nobody", "five", "margin", "signs")
MARGINS = {
    "exchangeable": 0.05,
    "opposite": 0.1,
    "nobody": 0.1,
    "five": 0.1,
    "margin": 0.02,
    "signs": 0.1,
}
RECIPES = ("linear", "exchangeable", "opposite", "five", "signs")
SIZES = (500, 1000, 2000, 5000)
SURE = -ndtri(0.05)
MODELS = (Pipeline, FixedThresholdClassifier, Reweigher)  # the outermost of what is tried
FAMILIES = ("logistic", "boosting", "forest")
REAL = {  # people for each family of models, protected and watched column, margin
    "adult": (fetch_adult, 12_000, "sex", "race", 0.01),
    "acs": (fetch_acs_income, 6_000, "SEX", "RAC1P", 0.01),
    "compas": (fetch_compas, 6_000, "race", "sex", 0.03),
}
TITLES = {
    "adult": "Adult, census of the United States of 1994",
    "acs": "ACSIncome, survey of the United States of 2018",
    "compas": "COMPAS, Broward County, screened in 2013 and 2014",
}
CODES = {  # those of the survey; the file has races less one
    "SEX": {"1": "1 Male", "2": "2 Female"},
    "RAC1P": {
        "0": "1 White",
        "1": "2 Black",
        "2": "3 American Indian",
        "3": "4 Alaska Native",
        "4": "5 Tribe named",
        "5": "6 Asian",
        "6": "7 Pacific Islander",
        "7": "8 Some other race",
        "8": "9 Two or more races",
    },
}


def world(name, n, k, rng):
    """Return decisions of k + 1 models, labels and groups; the first model is the present one."""
    group = rng.integers(0, 5 if name == "five" else 2, n)
    y = (rng.random(n) < 0.5).astype(int)
    draws = rng.random((n, k + 1))
    if name == "exchangeable":
        y = (rng.random(n) < np.where(group == 1, 0.6, 0.4)).astype(int)
        return np.where(draws < 0.2, 1 - y[:, None], y[:, None]), y, group
    if name == "margin":  # the present model is right; the others refuse some whom it favors
        y = (rng.random(n) < np.where(group == 0, 0.6, 0.4)).astype(int)
        refused = draws[:, 1:] < MARGINS["margin"] / (0.5 * 0.6)
        alternatives = y[:, None] * ~((group == 0)[:, None] & refused)
        return np.column_stack([y, alternatives]), y, group
    if name == "signs":
        high, low = np.where(group == 0, 0.45, 0.35), np.where(group == 0, 0.35, 0.45)
        return (draws < np.column_stack([high, *[high, low] * k])[:, : k + 1]).astype(int), y, group
    rates = {
        "opposite": ((0.45, 0.40), (0.40, 0.45)),
        "nobody": ((0.4, 0.4), (0.0, 0.0)),
        "five": ((0.4,) * 5, (0.4,) * 5),
    }[name]
    of_models = np.column_stack([np.take(rates[0], group), *[np.take(rates[1], group)] * k])
    return (draws < of_models).astype(int), y, group


def nulls(n_sets, n, numbers, names=WORLDS):
    """Yield the rates of claims in the null worlds, by number of candidates.

    Predictions are passed to the choice and to the tests of a search directly, half of the people
    to each: 200 candidates are then simulated ten times as fast.
    """
    for name in names:
        for k in numbers:
            claims = []
            for r in range(n_sets):
                rng = np.random.default_rng([WORLDS.index(name), k, r])
                claims.append(_claimed(*world(name, n, k, rng), MARGINS[name]))
            yield {"what": "null", "world": name, "candidates": k, "n": n, **_rates(claims)}


def _claimed(decisions, y, group, margin):
    """Return whether the ladder claims anything, and whether the naive choice does."""
    question = _question(y, group, margin)
    halves = np.arange(len(y)) < len(y) // 2, np.arange(len(y)) >= len(y) // 2
    design, claim = (
        (question.take(half), [Predictions(d) for d in decisions[half].T]) for half in halves
    )
    choice = Choice.of(*design)
    steps = steps_of(*claim, choice, 0.05, None)
    return any(s.shown for s in steps), bool(np.nanmax(choice.z) > SURE)


def _question(y, group, margin):
    """Return the question about accuracy and selection rates."""
    groups = {"group": Groups(group, list(map(str, np.unique(group))), [])}
    how = {"scoring": "accuracy", "metric": "selection_rate", "scale": "difference"}
    part = np.zeros(len(y), dtype=int)
    return Question(y, [1], groups, **how, margin=margin, min_gain=0.0, part=part)


def _rates(claims):
    """Return the shares of claims, and the largest share that chance explains at .05."""
    claimed, of_naive = map(float, np.mean(claims, axis=0))
    limit = 0.05 + 2 * (0.05 * 0.95 / len(claims)) ** 0.5
    return {
        "sets": len(claims),
        "claims": claimed,
        "naive": of_naive,
        "limit": round(limit, 4),
    }


def planted(n, rng):
    """Return people, labels and groups: column 2 measures what column 3 does, less group."""
    e, group = rng.standard_normal((10, n)), rng.integers(0, 2, n)
    X = np.column_stack([e[1], e[2], e[0] - group + 0.35 * e[4], e[0] + 0.6 * e[5], *e[6:]])
    return X, (e[0] + 0.7 * e[1] + 0.5 * e[2] + 0.8 * e[3] > 0).astype(int), group


def on(columns):
    """Return a logistic regression on some columns."""
    take = FunctionTransformer(np.take, kw_args={"indices": list(columns), "axis": 1})
    return make_pipeline(take, LogisticRegression())


def subsets(world):
    """Return the present columns, and 20 subsets, of which a few are an alternative."""
    rng = np.random.default_rng(7)
    several = [(0, 1, 3)] + [(0, 1, 2, 3)] * (world == "easy")
    while len(several) < 20:
        size = rng.integers(2, 7)
        columns = tuple(sorted(rng.choice(8, size, replace=False).tolist()))
        if columns not in [*several, (0, 1, 2)] and not {0, 1, 2, 3} <= set(columns):
            several.append(columns)
    return (0, 1, 2), several


def power(n_sets, sizes, planted_worlds=("easy", "hard"), claim="model"):
    """Yield the share of tables in which a true alternative is claimed, and a false one.

    Of a recipe all claims count as true: it keeps no model whose truth could be asked.
    """
    for name, n in product(planted_worlds, sizes):
        present, several = subsets(name)
        found, false = 0, 0
        for r in range(n_sets):
            rng = np.random.default_rng([n, r])
            X, y, group = planted(n, rng)
            search = AlternativeSearch(on(present), [on(c) for c in several], margin=0.02)
            search.set_params(claim=claim).fit(X, y, sensitive_features=group)
            if search.claim_:
                truth = claim == "recipe" or is_true(search, *planted(20_000, rng))
                found, false = found + truth, false + (not truth)
        shares = {"found": found / n_sets, "false": false / n_sets}
        yield {"what": f"power of a {claim}", "world": name, "n": n, "sets": n_sets, **shares}


def is_true(search, X, y, group):
    """Return whether the claimed model is an alternative to the present one, on other people."""
    before, after = search.present_estimator_.predict(X), search.predict(X)
    gaps = [abs(d[group == 0].mean() - d[group == 1].mean()) for d in (before, after)]
    worse = np.mean(before == y) - np.mean(after == y)
    return bool(worse <= search.margin and gaps[1] < gaps[0])


def recipes(n_sets, n, k, names=RECIPES):
    """Yield the rates of claims about recipes that are all alike, tested in five parts."""
    for name in names:
        claims = []
        for r in range(n_sets):
            rng = np.random.default_rng([9, RECIPES.index(name), r])
            if name == "linear":
                group = rng.integers(0, 2, n)
                signal = rng.standard_normal(n) + 0.3 * group
                y = (signal + rng.standard_normal(n) > 0).astype(int)
                X = np.column_stack([signal, rng.standard_normal((n, k + 1))])
                asked = partial(_linear, X, y)
            else:
                decisions, y, group = world(name, n, k, rng)
                asked = partial(_column, decisions)
            question = _question(y, group, MARGINS.get(name, 0.1))
            search = partial(_chosen, question, asked, k)
            trial = recipe_trial(search, question, rng.random(n), 0.05)
            z = np.nanmax(mean_choice(trial.choices).z)
            claims.append((trial.step.shown, z > SURE))
        yield {"what": "recipe", "world": name, "candidates": k, "n": n, **_rates(claims)}


def _column(decisions, number, learn, ask):
    """Return the decisions of a model that learns nothing."""
    return decisions[ask, number]


def _linear(X, y, number, learn, ask):
    """Return the decisions of least squares on the signal and one column of noise."""
    design = np.column_stack([np.ones(len(y)), X[:, [0, number + 1]]])
    coefficients = np.linalg.lstsq(design[learn], y[learn], rcond=None)[0]
    return (design[ask] @ coefficients > 0.5).astype(int)


def _chosen(question, asked, k, learn):
    """Return the choice among some people by cross-fitting, and a function that asks others."""
    fold = np.arange(len(learn)) % 5
    predictions = []
    for number in range(k + 1):
        decided = np.empty(len(learn), dtype=int)
        for f in range(5):
            decided[fold == f] = asked(number, learn[fold != f], learn[fold == f])
        predictions.append(Predictions(decided))

    def fit(numbers, learn, ask):
        return [TriedCandidate(predictions=Predictions(asked(i, learn, ask))) for i in numbers]

    about = replace(question.take(learn), part=fold)
    return Choice.of(about, predictions, by_part=True), fit


def real(folder, families=FAMILIES):
    """Yield what is shown on real data; pages are written to the folder."""
    for data, (fetch, n, protected, watched, margin) in REAL.items():
        table = fetch()
        order = np.random.default_rng(0).permutation(len(table.data))
        for i, kind in enumerate(families):
            rows = order[i :: len(families)][:n]
            X = table.data.iloc[rows].reset_index(drop=True)
            for column in (protected, watched):  # codes are no numbers
                X[column] = X[column].astype(str).replace(CODES.get(column, {}))
            present = default_model(kind, 0)
            tried = candidates(present, present, [protected], [table.favorable], 0, 1)
            how = {"protected": protected, "watched": watched, "pos_label": table.favorable}
            search = AlternativeSearch(present, tried, **how, margin=margin)
            begin = time.process_time()
            with time_of_models() as models:
                search.fit(X, table.target.iloc[rows].reset_index(drop=True))
            seconds = time.process_time() - begin
            report = search.report_.titled(f"{TITLES[data]}, {len(X):,} people drawn for {kind}")
            for end in ("html", "txt", "json"):
                report.save(folder / f"{data}-{kind}.{end}")
            times = {"seconds": round(seconds, 1), "overhead": round(seconds / sum(models) - 1, 3)}
            yield summary(search, data, kind) | times


@contextmanager
def time_of_models():
    """Yield a list of the seconds of CPU of each call of a model, of the outermost ones only."""
    seconds, inside = [], []

    def timed(method):
        @wraps(method)
        def call(*args, **kwargs):
            if inside:
                return method(*args, **kwargs)
            inside.append(method)
            begin = time.process_time()
            try:
                return method(*args, **kwargs)
            finally:
                seconds.append(time.process_time() - begin)
                inside.clear()

        return call

    with ExitStack() as stack:
        for kind, name in product(MODELS, ("fit", "predict", "predict_proba")):
            method = vars(kind).get(name)
            if isfunction(method):
                stack.enter_context(patch.object(kind, name, timed(method)))
            elif method is not None:  # one that is there if its last step has it
                stack.enter_context(patch.object(method, "fn", timed(method.fn)))
        yield seconds


def summary(search, data, kind):
    """Return what a search on real data shows, a row."""
    document = search.report_.document
    gaps = {g["column"]: g for g in document["gaps"]}
    own, other = (gaps[search.get_params()[n]] for n in ("protected", "watched"))
    test = document["tests"][-1]
    shown = [t for t in document["tests"] if t["shown"]]
    return {
        "data": data,
        "model": kind,
        "people": document["log"]["n_claim"],
        "shown": search.claim_,
        "alternative": document["alternative"],
        "p": (shown[-1] if shown else test)["p_value"],
        "foreseen": search.foreseen_,
        "gap before": own["before"],
        "gap after": own["after"],
        "watched before": other["before"],
        "watched after": other["after"],
        "leveling down": any(w.startswith("Leveling") for w in document["warnings"]),
    }


def main(argv=None):
    """Write the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", type=int, default=300)
    parser.add_argument("--most", type=int, default=200, help="candidates")
    parser.add_argument("--n", type=int, default=2000, help="people")
    parser.add_argument("--only", choices=("null", "power", "recipe", "recipe-power", "real"))
    a = parser.parse_args(argv)
    a.folder.mkdir(parents=True, exist_ok=True)
    numbers = [k for k in (1, 20, 200) if k <= a.most]
    sizes = [n for n in SIZES if n <= 2.5 * a.n]
    runs = {
        "null": lambda: nulls(a.sets, a.n, numbers),
        "power": lambda: power(min(a.sets, 100), sizes),
        "recipe": lambda: recipes(a.sets, 500, min(a.most, 20)),
        "recipe-power": lambda: power(min(a.sets, 100), sizes[:2], claim="recipe"),
        "real": lambda: real(a.folder),
    }
    for name, run in runs.items():
        rows = []
        if a.only != name and (a.only or name == "real"):
            continue
        for row in run():
            rows.append(row)
            print(row, flush=True)
            pd.DataFrame(rows).to_csv(a.folder / f"{name}.csv", index=False)


if __name__ == "__main__":
    main()
