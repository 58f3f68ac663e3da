"""What detectors report is what counting gives, on tables with more columns than rows."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import BiasScan, DivExplorer, SliceFinder, SliceLine
from scipy.optimize import minimize_scalar

from skdisc import Rule
from skdisc.group import GroupDisparity, VeriFair
from skdisc.subgroup import DiscriminationPatterns, DiscriminatoryRules

PROTECTED = ["c0", "c1"]
SEARCH = {"protected": PROTECTED, "max_predicates": 2, "pos_label": 1}


@st.composite
def tables(draw):
    """Draw 10 to 15 people with 20 columns of up to three values, and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = int(rng.integers(10, 16))
    values = rng.choice(list("aabbc"), (n, 20))
    values[:2] = [["a"], ["b"]]  # no column has one value alone
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    return pd.DataFrame(values).add_prefix("c"), y, rng


def every_group(X, least, protected=()):
    """Yield every conjunction of one or two values that enough rows have, and who has them."""
    items = [((c, v), (X[c] == v).to_numpy()) for c in X for v in sorted(set(X[c]))]
    for some in (*combinations(items, 1), *combinations(items, 2)):
        conditions = frozenset(c for c, _ in some)
        inside = np.logical_and.reduce([mask for _, mask in some])
        columns = {c for c, _ in conditions}
        wanted = len(columns) == len(some) and inside.sum() >= least
        if wanted and (not protected or columns & set(protected)):
            yield conditions, inside


def conditions(group):
    return frozenset((p.column, p.values[0]) for p in group.predicates)


def reported(detector, X, y, column):
    """Return a number of every group that a detector reports."""
    findings = detector.fit(X, y).result_.findings
    return dict(zip(map(conditions, findings.subgroups), findings.table[column], strict=True))


def given_errors(error):
    def own(labels, answers):
        return error

    return own


@given(tables())
@settings(max_examples=4)
def test_divexplorer_reports_the_rate_of_every_group(table):
    X, y, _ = table
    own = {"must_include": None, "min_support": 3 / len(X), "k": 10**6}
    found = reported(DivExplorer(**SEARCH, **own), X, y, "effect")
    wanted = {g: y[inside].mean() - y.mean() for g, inside in every_group(X, 3)}
    assert len(found) > 100
    assert found == pytest.approx(wanted)


@given(tables())
@settings(max_examples=4)
def test_rules_report_the_lift_of_every_group(table):
    X, y, _ = table
    own = {"direction": "both", "min_support": 2 / len(X), "k": 10**6, "distinct": False}
    found = reported(DiscriminatoryRules(**SEARCH, **own), X, y, "elift")
    wanted = {}
    for g, inside in every_group(X, 2, PROTECTED):
        context = np.ones(len(X), dtype=bool)
        for column, value in g:
            if column not in PROTECTED:
                context &= (X[column] == value).to_numpy()
        lift = (y[inside] == 0).mean() / (y[context] == 0).mean() if (y[context] == 0).any() else 1
        if lift != pytest.approx(1):
            wanted[g] = lift
    assert found == pytest.approx(wanted)


@given(tables())
@settings(max_examples=3)
def test_slices_of_the_lattice_have_their_effect_sizes(table):
    X, y, rng = table
    error = rng.exponential(size=len(X))
    own = {"approach": "lattice", "effect_size": 99, "must_include": None, "min_rows": 2}
    own |= {"min_support": 1e-9, "errors": given_errors(error), "k": 10**6}
    finder = SliceFinder(**SEARCH, **own)
    found = reported(finder, X, y, "effect_size")
    every, wanted = dict(every_group(X, 2)), {}
    assert finder.result_.n_tested == len(every)
    for g, inside in every.items():
        a, b = error[inside], error[~inside]
        if a.mean() > b.mean():
            wanted[g] = (a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert found == pytest.approx(wanted)


@given(tables(), st.sampled_from([0.6, 0.95]), st.booleans())
@settings(max_examples=8)
def test_slice_line_has_the_best_scores(table, alpha, binary):
    X, y, rng = table
    error = rng.integers(0, 2, len(X)).astype(float) if binary else rng.exponential(size=len(X))
    error[0] += 1
    own = {"alpha": alpha, "must_include": None, "min_rows": 2, "min_support": 1e-9, "k": 8}
    found = reported(SliceLine(errors=given_errors(error), **SEARCH, **own), X, y, "slice_score")
    wanted = {
        g: alpha * (error[inside].mean() / error.mean() - 1)
        - (1 - alpha) * (len(X) / inside.sum() - 1)
        for g, inside in every_group(X, 2)
    }
    best = sorted((s for s in wanted.values() if s > 1e-12), reverse=True)[:8]
    assert list(found.values()) == pytest.approx(best)
    assert found == pytest.approx({g: wanted[g] for g in found})


def scan_score(y, inside, sign):
    """Return the largest log-likelihood ratio of Bernoulli's score against the mean of y."""
    p, ones, n = y.mean(), y[inside].sum(), inside.sum()
    ratio = lambda t: n * np.log(1 - p + p * np.exp(sign * t)) - sign * t * ones  # noqa: E731
    found = minimize_scalar(ratio, bounds=(0, 12), method="bounded", options={"xatol": 1e-9})
    return max(0.0, -found.fun, -ratio(12.0))


def value_sets(X):
    """Return, by column, every set of some values: their number, and who has them."""
    sets = {c: [] for c in X}
    for c in X:
        values = sorted(set(X[c]))
        for size in range(1, len(values)):
            sets[c] += [(size, X[c].isin(some).to_numpy()) for some in combinations(values, size)]
    return sets


def best_of(y, subsets, penalty):
    """Return the best penalised score of some subsets: numbers of values, and members."""
    known, best = {}, 0.0
    for size, inside in subsets:
        key = inside.sum(), y[inside].sum()
        if key[0] >= 2 and key not in known:
            known[key] = max(scan_score(y, inside, s) for s in (-1, 1))
        best = max(best, known.get(key, -np.inf) - penalty * size)
    return best


@pytest.mark.slow
@given(tables(), st.sampled_from([0.1, 0.5]))
@settings(max_examples=3)
def test_the_scan_ends_where_no_column_can_be_chosen_better(table, penalty):
    """With one condition that is the best subset of all; with two it ascends, and may miss it."""
    X, y, _ = table
    own = {"n_restarts": 150, "n_resamples": 0, "penalty": penalty, "min_support": 2 / len(X)}
    sets = value_sets(X)
    ones = [s for some in sets.values() for s in some]
    scores = []
    for limit in (1, 2):
        scan = BiasScan(**SEARCH | {"max_predicates": limit}, **own, random_state=0).fit(X, y)
        scores.append(scan.result_.findings.table["score"][0])
    assert scores[0] == pytest.approx(best_of(y, ones, penalty), abs=1e-5)
    kept = {p.column: (len(p.values), p.mask(X)) for p in scan.result_[0].subject.predicates}
    near = [one for column in kept for one in sets[column]]
    for column, (size, inside) in kept.items():
        others = kept.keys() - {column} if len(kept) == 2 else sets.keys() - {column}
        pairs = [one for other in others for one in sets[other]]
        near += [(size + more, inside & mask) for more, mask in pairs]
    assert scores[1] == pytest.approx(best_of(y, near, penalty), abs=1e-5)


@given(tables())
@settings(max_examples=4)
def test_patterns_are_the_largest_of_the_model(table):
    X, y, _ = table
    own = {
        "min_support": 0.0,
        "delta": 0.01,
        "k": 40,
        "rule": Rule(correction="none"),
        "order": "effect",
    }
    result = DiscriminationPatterns(**SEARCH, **own).fit(X, y).result_
    odds = {
        (c, v): [
            np.log(((X[c] == v) & (y == d)).sum() + 1) - np.log((y == d).sum() + X[c].nunique())
            for d in (0, 1)
        ]
        for c in X
        for v in sorted(set(X[c]))
    }
    prior = np.log([np.mean(y == 0), np.mean(y == 1)])

    def p(items):
        low, high = prior + np.sum([odds[i] for i in items], axis=0)
        return 1 / (1 + np.exp(low - high))

    wanted = {}
    for some in (*((i,) for i in odds), *combinations(odds, 2)):
        for sides in product("xy", repeat=len(some)):
            x = frozenset(i for i, s in zip(some, sides, strict=True) if s == "x")
            if x and all(c in PROTECTED for c, _ in x) and len({c for c, _ in some}) == len(some):
                base = frozenset(some) - x
                wanted[frozenset(some), base] = p(some) - p(base) if base else p(some) - p([])
    effects = result.findings.table["effect"]
    keys = [
        (conditions(f.subject), conditions(b))
        for f, b in zip(result, result.findings.bases, strict=True)
    ]
    assert dict(zip(keys, effects, strict=True)) == pytest.approx({k: wanted[k] for k in keys})
    best = sorted((abs(d) for d in wanted.values() if abs(d) > 0.01), reverse=True)[:40]
    assert sorted(map(abs, effects), reverse=True) == pytest.approx(best)


@given(tables())
@settings(max_examples=2)
def test_groups_of_every_column_have_their_rates(table):
    X, y, _ = table
    every = {"protected": list(X), "pos_label": 1}
    rate = {f"{c} = '{v}'": y[X[c] == v].mean() for c in X for v in set(X[c])}
    alone = GroupDisparity(**every, reference="overall", intersections=1).fit(X, y).result_
    frame = alone.to_frame().query("measure == 'mean_difference'")
    effects = dict(zip(frame["subject"], frame["effect"], strict=True))
    assert effects == pytest.approx({g: r - y.mean() for g, r in rate.items()})
    frame = VeriFair(**every, max_draws=200).fit(X, y).result_.to_frame("subgroups")
    pairs = len(frame) // 2
    assert pairs == sum(k * (k - 1) // 2 for k in X.nunique())
    assert set(frame["exact_rate"].round(9)) == {round(r, 9) for r in rate.values()}
