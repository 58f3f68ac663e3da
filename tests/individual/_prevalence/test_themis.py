"""Themis against enumeration, against networks with known rates, and its intervals."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from skdisc import FeatureSpace
from skdisc._stats._proportions import clopper_pearson
from skdisc.individual import Themis
from skdisc.individual._prevalence import _themis
from skdisc.individual._prevalence._themis_sample import ComboTally

pytestmark = pytest.mark.usefixtures("nothing_repeated")

MIXED = pd.DataFrame(
    {
        "n": np.resize(np.arange(6), 60),
        "job": np.resize(["a", "b", "c", None], 60),
        "grade": pd.Categorical(
            np.resize(["low", "mid", "top"], 60), ["low", "mid", "top"], ordered=True
        ),
        "age": np.resize([1.0, 2.0, 3.0, 4.0, np.nan], 60),
    }
)
PROTECTED = ["job", "grade", "age"]


def table_model(seed, share):
    """Return a random table of decisions over the space of MIXED, and a model that reads it."""
    space = FeatureSpace.from_frame(MIXED)
    table = np.random.default_rng(seed).random((6, 4, 3, 5)) < share
    return table, lambda X: table[tuple(space.encode(X).T)]  # code -1, missing, is the last


def enumerated(table, attributes):
    """Return both scores of a set of columns (their axes), by going through the whole table."""
    decided = table.astype(float)
    spread = decided.max(axis=attributes, keepdims=True) - decided.min(
        axis=attributes, keepdims=True
    )
    means = decided.mean(axis=tuple(set(range(4)) - set(attributes)))
    return np.broadcast_to(spread, decided.shape).mean(), np.ptp(means)


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_scores_agree_with_enumeration(size, share):
    table, model = table_model(size, share)
    detector = Themis(protected=PROTECTED[:size], margin=0.01, random_state=0)
    scores = detector.fit(MIXED, model=model).result_.tables["scores"].set_index("attributes")
    assert len(scores) == 2**size - 1
    for k in range(1, size + 1):
        for names in combinations(PROTECTED[:size], k):
            row = scores.loc[", ".join(names)]
            causal, group = enumerated(table, tuple(MIXED.columns.get_loc(n) for n in names))
            assert row.causal_low <= causal <= row.causal_high
            assert row.causal == pytest.approx(causal, abs=0.01)
            assert row.group_low <= group <= row.group_high
            assert row.group == pytest.approx(group, abs=0.03)


def test_the_groups_at_the_ends_are_named():
    table, _ = table_model(0, 0.5)
    table[:] = False
    table[:, :, 1, 3] = True  # mid grade, age 4
    table[0, 3, :, :] = True  # missing job, n = 0
    space = FeatureSpace.from_frame(MIXED)
    model = lambda X: table[tuple(space.encode(X).T)]  # noqa: E731
    result = Themis(protected=PROTECTED, random_state=0).fit(MIXED, model=model).result_
    scores = result.tables["scores"].set_index("attributes")
    assert scores.favored["job"] == "job=missing"
    assert scores.favored["grade, age"] == "grade=mid, age=4"
    assert scores.favored["job, grade, age"] == "job=a, grade=mid, age=4"  # the first of equals
    assert scores.disfavored["age"] != "age=4"


def test_scores_grow_with_the_set_and_the_smallest_above_the_threshold_are_marked():
    _, model = table_model(1, 0.05)
    result = Themis(protected=PROTECTED, threshold=0.3, random_state=0).fit(MIXED, model=model)
    scores = result.result_.tables["scores"]
    sets = [set(a.split(", ")) for a in scores["attributes"]]
    for i, small in enumerate(sets):
        for j, large in enumerate(sets):
            if small < large:
                assert scores["causal"][i] <= scores["causal"][j]
    above = scores["causal"] > 0.3
    for i, own in enumerate(sets):
        minimal = above[i] and not any(above[j] and s < own for j, s in enumerate(sets))
        assert scores["smallest_above_threshold"][i] == minimal
    assert above.any()
    assert not above.all()


def test_fewer_attributes_at_a_time():
    _, model = table_model(1, 0.5)
    result = Themis(protected=PROTECTED, intersections=1, random_state=0).fit(MIXED, model=model)
    assert result.result_.tables["scores"]["attributes"].tolist() == PROTECTED
    assert len(result.result_.estimates) == 1  # of all attributes, which the verdict is about


def test_one_draw_serves_every_set():
    table, model = table_model(1, 0.5)
    asked = []
    keeps = lambda X: (asked.append(X), model(X))[1]  # noqa: E731
    result = Themis(protected=PROTECTED, random_state=0).fit(MIXED, model=keeps).result_
    assert result.n_queries == table.size == sum(map(len, asked))
    assert result.n_tested == 6
    assert result.tables["scores"]["n"].nunique() == 1


@pytest.mark.parametrize("name", ["tests", "queries"])
@pytest.mark.parametrize("limit", [0, 1, 61, 500])
def test_budgets_are_exact(name, limit):
    space = FeatureSpace.from_domains(
        {"n": (0, 9999), "sex": ["F", "M"], "old": [False, True]}, protected=["sex", "old"]
    )
    detector = Themis(random_state=0).set_params(**{f"limits__{name}": limit})
    result = detector.fit(space, model=lambda X: X["n"] % 2 == 0).result_
    rows = {"tests": 4 * limit, "queries": limit // 4 * 4}[name]
    assert (result.n_queries, result.n_tested) == (rows, rows // 4)
    assert result.stopped_by == name
    assert (result.verdict == "insufficient evidence") == (rows < 4 * 437)
    score = result.tables["scores"].iloc[-1]
    assert np.isnan(score.causal) == (rows == 0)


def group_score(outcomes):
    """Return the score of one protected attribute, its draws added in two parts."""
    tally = ComboTally(outcomes.shape[1:], (0,))
    for part in np.array_split(outcomes, 2):
        tally.add(part, np.zeros(len(part), dtype=int), 0.0)
    return tally.group_score(0.05)


@pytest.mark.statistics
@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.parametrize("kind", ["equal", "different", "probability"])
def test_the_interval_of_the_group_score_covers(groups, kind):
    """Also where all groups are equal and only single people are treated differently."""
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rates = np.full(groups, 0.4)
        if kind == "different":
            rates[0] = 0.6
        outcomes = (rng.random((300, groups)) < rates).astype(float)
        if kind == "probability":
            outcomes = rng.random((300, groups))
        score, low, high = group_score(outcomes)
        truth = np.ptp(rates)
        assert 0 <= low <= score <= high <= 1
        covered += low <= truth <= high
    assert covered >= 184  # 0.95 of 200, less two standard errors


def test_a_group_score_of_nothing_but_zeros_still_has_a_width():
    score, low, high = group_score(np.zeros((100, 2)))
    assert (score, low) == (0, 0)
    assert 0.01 < high < 0.5


def test_people_differ_where_groups_do_not():
    """Half of the people win by being F, half by being M: causal score 1, group score 0."""
    space = FeatureSpace.from_domains({"n": (0, 9999), "sex": ["F", "M"]}, protected="sex")
    model = lambda X: (X["n"] % 2 == 0) == (X["sex"] == "F")  # noqa: E731
    for seed in range(10):
        result = Themis(random_state=seed).fit(space, model=model).result_
        row = result.tables["scores"].iloc[0]
        assert (row.causal, row.group_low) == (1, 0)


def network(weights, name):
    """Return a network of the ADF authors as a function of raw integer codes."""

    def decide(X):
        a = X.to_numpy(np.float32)
        for layer in range(6):
            a = a @ weights[f"{name}_W{layer}"] + weights[f"{name}_b{layer}"]
            a = np.maximum(a, 0) if layer < 5 else a
        return a.argmax(axis=1)

    return decide


@pytest.mark.parametrize(
    ("name", "column", "rate"),
    [
        ("census", 0, 0.1066),
        ("census", 7, 0.1004),
        ("census", 8, 0.0309),
        ("bank", 0, 0.0459),
        ("credit", 12, 0.2862),
        ("credit", 8, 0.0754),
    ],
)
def test_rates_of_the_original_networks(data_dir, name, column, rate):
    with np.load(data_dir / "adf" / "nets.npz") as weights:
        decide = network(dict(weights), name)
        bounds = weights[f"{name}_bounds"].tolist()
    domains = {f"x{i}": tuple(map(int, pair)) for i, pair in enumerate(bounds)}
    space = FeatureSpace.from_domains(domains, protected=f"x{column}", max_probes=100)
    detector = Themis(margin=0.01, random_state=0, pos_label=1)
    result = detector.fit(space, model=decide).result_
    row = result.tables["scores"].iloc[0]
    assert row.causal_low <= rate <= row.causal_high
    assert row.causal_high - row.causal_low < 0.02
    assert result.n_queries == result.n_tested * (bounds[column][1] - bounds[column][0] + 1)


def test_no_block_ends_where_the_margin_cannot_be_reached(monkeypatch):
    monkeypatch.setattr(_themis, "_FIRST_BLOCK", 10)
    space = FeatureSpace.from_domains({"a": (0, 10**9), "sex": ["F", "M"]}, protected="sex")
    search = Themis(margin=0.02, random_state=0)
    row = search.fit(space, model=lambda X: X["a"] > 5).result_.tables["scores"].iloc[0]
    assert row.n == 160  # at the level of the first look
    assert row.causal_high < 2 * 0.02 < clopper_pearson(0, 80, 0.025)[1]
