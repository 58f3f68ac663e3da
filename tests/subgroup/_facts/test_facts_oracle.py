"""FACTS gives what a simulation of every person and every action gives, for every notion."""

import math
from hashlib import sha256
from itertools import combinations
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from published import FACTS

from skdisc._blackbox import _repeats
from skdisc.subgroup import Actions, Costs
from skdisc.subgroup._facts._comparison import compare_sides
from skdisc.subgroup._facts._notions import NOTIONS, Notion, worst_off

COLUMNS = ("job", "level", "hours")
LEVELS = ["low", "mid", "high"]
PHI, WEIGHTS = 0.5, {"job": 2, "hours": 3}
SETTINGS = {
    "protected": "sex",
    "pos_label": True,
    "actions": Actions(monotone={"level": 1}, immutable=["town"]),
    "costs": Costs(weights=WEIGHTS),
}


def rows_of(X):
    """Return the rows as tuples in which what is missing is None."""
    return [tuple(None if v != v else v for v in row) for row in X.itertuples(index=False)]


class Random:
    """A model that decides by lot, once and for all, about every row; it remembers who asked."""

    def __init__(self, seed, share):
        self.seed, self.share, self.asked, self.decided = seed, share, [], {}

    def about(self, row):
        if row not in self.decided:
            lot = sha256(repr((self.seed, *row)).encode()).digest()[0] / 256
            self.decided[row] = lot < self.share
        return self.decided[row]

    def __call__(self, X):
        rows = rows_of(X)
        self.asked += rows
        return np.array([self.about(row) for row in rows])


@st.composite
def audits(draw):
    """Draw people, a model, and how to audit it."""
    wide, seed = draw(st.booleans()), draw(st.integers(0, 10**6))
    n = draw(st.integers(12, 14 if wide else 50))
    groups = draw(st.sampled_from(["FM", "ABC"]))
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "job": pd.Series(rng.choice(np.array(["x", "y", None], dtype=object), n), dtype=object),
            "level": pd.Categorical(rng.choice(LEVELS, n), categories=LEVELS, ordered=True),
            "sex": rng.choice(list(groups), n),
            "hours": rng.choice([10, 20, 40], n),
            "town": rng.choice(["p", "q"], n),
        }
    )
    X.loc[: len(groups) - 1, "sex"] = list(groups)
    X.loc[:1, "hours"] = 10, 40  # costs are shares of this range
    settings = {
        "min_support": draw(st.sampled_from([0.1, 0.3])),
        "actions__columns": draw(st.sampled_from(["same", "subset"])),
        "max_predicates": draw(st.sampled_from([2, None])),
    }
    if wide:  # more columns than rows
        more = {f"c{i}": rng.choice(list("pq"), n) for i in range(12)}
        X, settings = X.assign(**more), settings | {"max_predicates": 2, "min_support": 0.3}
    return X, Random(seed, draw(st.sampled_from([0.2, 0.5]))), settings


def frequent(rows, least, longest):
    """Return every conjunction, a frozenset of (column, value), that enough of the rows have."""
    found = {}
    for row in rows:
        items = [(c, v) for c, v in row.items() if c != "sex"]
        for size in range(1, longest + 1):
            for some in combinations(items, size):
                found[frozenset(some)] = found.get(frozenset(some), 0) + 1
    return {p for p, count in found.items() if count >= least - 1e-9}


def move(column, before, after):
    """Return the cost of a move, None where it is not allowed."""
    if before == after:
        return 0
    if after is None or column == "town":
        return None
    if column == "level":
        rise = LEVELS.index(after) - LEVELS.index(before)
        return rise if rise >= 0 else None
    return (
        abs(after - before) / 30 * WEIGHTS[column] if column == "hours" else WEIGHTS.get(column, 1)
    )


def valid_actions(p, actions, contained):
    """Return the changes that each subgroup may make, with their costs."""
    p, found = dict(p), {}
    for action in map(dict, actions):
        if not (set(action) <= set(p) if contained else set(action) == set(p)):
            continue
        costs = [move(c, p[c], v) for c, v in action.items()]
        change = frozenset((c, v) for c, v in action.items() if p[c] != v)
        if change and None not in costs:
            found[change] = round(sum(costs), 12)
    return found


def simulate(X, model, settings):
    """Return, by subgroup, changes with their costs, and who of each group each one helps."""
    names = list(X.columns)
    people = [dict(zip(names, row, strict=True)) for row in rows_of(X)]
    decided = [model.about(tuple(x.values())) for x in people]
    affected = [x for x, good in zip(people, decided, strict=True) if not good]
    others = [x for x, good in zip(people, decided, strict=True) if good]
    groups = sorted({x["sex"] for x in affected})
    longest = settings["max_predicates"] or 4
    support = settings["min_support"]
    per_group = [[x for x in affected if x["sex"] == g] for g in groups]
    common = [frequent(rows, support * len(rows), longest) for rows in per_group]
    if len(groups) < 2:
        return {}, groups
    actions = frequent(others, support * len(others), longest) if others else set()
    out = {}
    for p in set.intersection(*common):
        changes = valid_actions(p, actions, settings["actions__columns"] == "subset")
        if changes:
            members = [[x for x in rows if p <= set(x.items())] for rows in per_group]
            helped = {
                c: [[model.about(tuple({**x, **dict(c)}.values())) for x in m] for m in members]
                for c in changes
            }
            out[p] = changes, helped, [len(m) for m in members]
    return out, groups


def curve(changes, helped, who, view, budget):
    """Return the share of the people helped by actions within budget; who: (group, person)."""
    within = [c for c in changes if changes[c] <= budget + 1e-9]
    if view == "macro":
        return max((np.mean([helped[c][g][i] for g, i in who]) for c in within), default=0)
    return np.mean([any(helped[c][g][i] for c in within) for g, i in who])


def naive(notion, changes, helped, who, c_inf):
    """Return the number that a notion compares, for a set of people."""
    effect = {c: np.mean([helped[c][g][i] for g, i in who]) for c in changes}
    if notion.name == "choice":
        return sum(e >= PHI - 1e-9 for e in effect.values())
    if notion.name == "effectiveness":
        return curve(changes, helped, who, notion.viewpoint, math.inf)
    if notion.name == "effectiveness_within_budget":
        return curve(changes, helped, who, notion.viewpoint, notion.level)
    if notion.name == "cost_of_effectiveness":
        enough = [
            c
            for c in changes.values()
            if curve(changes, helped, who, notion.viewpoint, c) >= PHI - 1e-9
        ]
        return min(enough, default=math.inf)
    costs = [
        min((changes[c] for c in changes if helped[c][g][i]), default=math.inf) for g, i in who
    ]
    if notion.name == "mean_recourse":
        return np.mean([c_inf if math.isinf(c) else c for c in costs])
    finite = [c for c in costs if math.isfinite(c)]
    return np.mean(finite) if finite else math.inf


def worse_by(notion, changes, helped, mine, theirs, c_inf):
    """Return by how much some people are worse off than others."""
    if notion.name == "trade_off":
        gaps = [
            curve(changes, helped, theirs, notion.viewpoint, c)
            - curve(changes, helped, mine, notion.viewpoint, c)
            for c in changes.values()
        ]
        return max(0, *gaps)
    a, b = (naive(notion, changes, helped, who, c_inf) for who in (mine, theirs))
    if a == b:
        return 0
    return b - a if notion.more_is_better else a - b


@settings(max_examples=10)
@given(audits())
def test_every_notion_equals_the_simulation_of_every_person(audit):
    X, model, options = audit
    detector = FACTS(phi=PHI, **SETTINGS).set_params(**options)
    r = detector.fit(X, model=model).recourse_["sex"]
    wanted, groups = simulate(X, model, options)
    assert [g.values[0] for g in r.groups] == groups
    where = {
        frozenset((p.column, p.values[0]) for p in g.predicates): i
        for i, g in enumerate(r.subgroups)
    }
    assert set(where) == set(wanted)
    notions = {
        *r.notions,
        *(Notion("effectiveness_within_budget", v, 2.0) for v in ("macro", "micro")),
    }
    judged = {n: worst_off(r.measured, n) for n in notions}
    for p, (changes, helped, n) in wanted.items():
        i = where[p]
        pairs = range(*r.plan.start[i : i + 2])
        actions = {
            frozenset((q.column, q.values[0]) for q in r.plan.action(j).predicates): j
            for j in pairs
        }
        assert {c: r.plan.cost[j] for c, j in actions.items()} == pytest.approx(changes)
        for c, j in actions.items():
            assert r.measured.hits[j].tolist() == [sum(h) for h in helped[c]]
        who = [[(g, x) for x in range(size)] for g, size in enumerate(n)]
        rest = [[x for w in who[:g] + who[g + 1 :] for x in w] for g in range(len(who))]
        for notion, verdicts in judged.items():
            facts = notion, changes, helped
            if notion.name != "trade_off":
                values = [naive(*facts, w, r.measured.c_inf) for w in who]
                assert r.measured.values(notion)[i] == pytest.approx(values)
            score = [
                worse_by(*facts, a, b, r.measured.c_inf) for a, b in zip(who, rest, strict=True)
            ]
            assert verdicts.score[i] == pytest.approx(max(0, *score))
            if verdicts.score[i] > 0:
                assert score[verdicts.against[i]] == pytest.approx(max(score))


@pytest.mark.slow
@settings(max_examples=10)
@given(audits())
def test_every_distinct_row_is_asked_about_once(audit):
    X, model, options = audit
    detector = FACTS(**SETTINGS).set_params(**options)
    with patch.object(_repeats, "MOST", 0):  # of rows queried twice to see that answers are equal
        detector.fit(X, model=model)
    assert len(model.asked) == len(set(model.asked)) == detector.result_.n_queries
    wanted, _ = simulate(X, model, options)
    distinct = set(rows_of(X))
    for p, (changes, _, _) in wanted.items():
        for row in set(rows_of(X)):
            x = dict(zip(X.columns, row, strict=True))
            if p <= set(x.items()) and not model.about(row):
                distinct |= {tuple({**x, **dict(c)}.values()) for c in changes}
    assert set(model.asked) == distinct


def test_the_smirnov_test_is_the_bound_of_the_paper():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], 300), "a": rng.choice(list("xyz"), 300)})
    model = Random(3, 0.4)
    r = FACTS(protected="sex", pos_label=True).fit(X, model=model).recourse_["sex"]
    notion = r.notion("trade_off", "micro")
    verdicts = worst_off(r.measured, notion)
    p_value = compare_sides(*verdicts.sides(r.measured), notion, 0.05)["p_value"]
    n0, n1 = r.measured.n.T
    for alpha in (0.01, 0.05, 0.5):
        bound = np.sqrt(-np.log(alpha / 2) * (n0 + n1) / (2 * n0 * n1))
        assert ((verdicts.score < bound) == (p_value > alpha)).all()


def test_the_notions_are_those_of_the_paper():
    assert sum(map(len, NOTIONS.values())) == 11
