"""BiasScan on rows that stand for many people, and on counts."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import config_context

from skdisc import BlackBox, Counts
from skdisc._blackbox._redrawn import Redrawn, in_folds
from skdisc.subgroup import BiasScan
from skdisc.subgroup._bias_scan._outcome import Outcome

SETTINGS = {"protected": ["sex", "race"], "n_restarts": 3, "n_resamples": 19, "random_state": 0}
NEITHER = ("total_time", "params", "n_queries", "shared_values")


def table(seed, n=400, gap=0.4, numeric=True):
    """Return people: sex = F in town u is `gap` lower, and towns differ."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "town": rng.choice(["u", "v", "w"], n),
            "race": rng.choice(["a", "b", "c"], n),
            "sex": rng.choice(["F", "M"], n),
        }
    )
    if numeric:
        X["age"] = rng.integers(20, 60, n).astype(float)
        X.loc[rng.random(n) < 0.05, "age"] = np.nan
    here = (X["sex"] == "F") & (X["town"] == "u")
    p = 0.6 + 0.15 * (X["town"] == "v") - gap * here
    return X, (rng.random(n) < p).astype(int)


class ByTown:
    """A model whose probabilities depend on the town."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = np.where(X["town"] == "v", 0.75, 0.55)
        return np.column_stack([1 - p, p])


def document(result):
    """Return all of a result that the people determine."""
    return {k: v for k, v in json.loads(result.to_json()).items() if k not in NEITHER}


VARIANTS = [
    {},
    {"confirm": 0.4},
    {"versus": "everyone"},
    {"versus": "everyone", "confirm": 0.5, "direction": "lower"},
    {"scoring": "berk_jones", "alpha": 0.3},
    {"mode": "nominal", "versus": "everyone"},
    {"mode": "nominal"},
    {"scoring": "poisson"},
    {"mode": "continuous", "pos_label": "high"},
]


@pytest.mark.every(6)
@pytest.mark.parametrize("asked", [None, ByTown()], ids=["labels", "model"])
@pytest.mark.parametrize("more", VARIANTS, ids=str)
def test_frequencies_equal_repeated_rows(more, asked):
    """Findings, tables, scores, what is drawn, and what an audit measures again."""
    seed = VARIANTS.index(more)
    X, y = table(seed)
    times = np.random.default_rng(seed).choice([1, 1, 2, 3], len(y))
    at = np.repeat(np.arange(len(y)), times)
    rows = X.iloc[at].reset_index(drop=True), y[at]
    own = {**SETTINGS, "n_resamples": 9, "pos_label": 1, **more}
    direct = BiasScan(**own).fit(*rows, asked)
    counted = BiasScan(weights="frequency", **own).fit(X, y, asked, sample_weight=times)
    assert counted.result_.n_samples == len(at)
    assert document(counted.result_) == document(direct.result_)
    again = counted.audit(X, y, sample_weight=times), direct.audit(*rows)
    assert document(again[0]) == document(again[1])


@pytest.mark.slow
@pytest.mark.parametrize("audited", ["labels", "decisions"])
@pytest.mark.parametrize("versus", ["everyone", "context"])
def test_counts_equal_rows(versus, audited):
    """Bit for bit against everyone; in contexts, too, unless a number is cut into bins."""
    X, y = table(1, 3000, numeric=versus == "everyone")
    ends = {"label": "y"} if audited == "labels" else {"decision": "y"}
    counts = Counts.of(X.assign(y=y), protected=["sex", "race"], **ends)
    labels, model = (y, None) if audited == "labels" else (None, BlackBox(decisions=y))
    scan = BiasScan(versus=versus, pos_label=1, **SETTINGS)
    found = document(scan.fit(counts).result_)
    direct = scan.fit(X, labels, model).result_
    assert found == document(direct)
    assert len(direct)
    assert direct[0].p_value == 0.05


@pytest.mark.slow
def test_parts_in_any_order_give_equal_results():
    X, y = table(2, 1500, numeric=False)
    rows = X.assign(y=y)
    schema = Counts.of(rows, protected=["sex", "race"], label="y").schema
    whole = Counts.of(rows, schema=schema)
    parts = [Counts.of(rows.iloc[at], schema=schema) for at in np.array_split(np.arange(1500), 4)]
    scan = BiasScan(**SETTINGS, pos_label=1)
    found = [document(scan.fit(c).result_) for c in (whole, Counts.sum(reversed(parts)))]
    assert found[0] == found[1]


@pytest.mark.slow
def test_numbers_in_bins_give_the_subset_of_the_rows():
    """Expectations are learned from the bins then, so that the draws differ."""
    X, y = table(3, 6000)
    counts = Counts.of(X.assign(y=y), protected=["sex", "race"], label="y")
    scan = BiasScan(**SETTINGS, pos_label=1, direction="lower")
    results = scan.fit(counts).result_, scan.fit(X, y).result_
    for result in results:
        assert str(result[0].subject) == "sex = 'F' and town = 'u'"
        assert result[0].p_value == 0.05
    assert results[0][0].effect == results[1][0].effect


def test_billions_of_people_take_the_memory_of_their_cells():
    X, y = table(4, 3000, numeric=False)
    counts = Counts.of(X.assign(y=y), protected=["sex", "race"], label="y")
    many = Counts(counts.schema, counts.keys, counts.n * 10**6)
    result = BiasScan(**SETTINGS, pos_label=1, direction="lower").fit(many).result_
    assert result.n_samples == 3 * 10**9
    assert str(result[0].subject) == "sex = 'F' and town = 'u'"


@pytest.mark.statistics
@pytest.mark.parametrize("n", [300, 3000])
def test_nothing_is_found_in_counts_where_other_columns_explain_all(n):
    """Sex goes with town and work, on which outcomes depend: the marginal gap is large."""
    found = 0
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"town": rng.choice(list("uv"), n), "work": rng.choice(list("xyz"), n)})
        at = (X["town"] == "u"), (X["work"] == "x")
        X["sex"] = np.where(rng.random(n) < 0.2 + 0.3 * at[0] + 0.3 * at[1], "F", "M")
        y = (rng.random(n) < 0.2 + 0.4 * at[0] + 0.2 * at[1]).astype(int)
        counts = Counts.of(X.assign(y=y), protected="sex", label="y")
        scan = BiasScan(protected="sex", n_restarts=2, n_resamples=19, random_state=seed)
        found += scan.fit(counts).result_.n_found > 0
    assert found <= 3  # P(more) = 0.005 at level 0.05, 0.98 where half are found


def law_of(X, protected, frequency):
    """Return the law of protected columns, and the rows that its own rows are parts of."""
    row, people, fold = in_folds(len(X), frequency, 0)
    X = X.iloc[row].reset_index(drop=True)
    return Redrawn(X, protected, frequency=people, fold=fold), row


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=2, max_size=30), st.integers(0, 100))
def test_all_people_of_a_row_are_drawn_anew(times, seed):
    """Each keeps the other columns of the row, and has protected values that occur."""
    rng = np.random.default_rng(seed)
    n = len(times)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "age": rng.integers(0, 30, n)})
    X["x"] = np.arange(n)
    law, row = law_of(X, ["sex", "age"], np.array(times))
    drawn = law.people([seed, 1])
    np.testing.assert_array_equal(np.bincount(row[drawn.row], drawn.people, n), times)
    assert (drawn.people > 0).all()
    assert set(drawn.donors) == {"sex", "age"}
    again = law.people([seed, 1])
    np.testing.assert_array_equal(drawn.donors["sex"], again.donors["sex"])


@pytest.mark.slow
def test_people_of_a_row_are_drawn_as_rows_of_their_own_are():
    """The same joint law of two protected columns and one other."""
    rng = np.random.default_rng(0)
    n = 2000
    X = pd.DataFrame({"town": rng.choice(["u", "v"], n)})
    X["sex"] = np.where(rng.random(n) < np.where(X["town"] == "u", 0.8, 0.3), "F", "M")
    X["age"] = rng.integers(0, 40, n) + 20 * (X["sex"] == "F")
    cells = X.value_counts().reset_index(name="n")
    counted, _ = law_of(cells[["town", "sex", "age"]], ["sex", "age"], cells["n"].to_numpy())
    repeated = Redrawn(X, ["sex", "age"])
    found, expected = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    for seed in range(20):
        row, people, donors = counted.people(seed)
        town, sex, age = (
            counted.X[c].to_numpy()[at]
            for c, at in (("town", row), ("sex", donors["sex"]), ("age", donors["age"]))
        )
        np.add.at(found, ((town == "u") * 1, (sex == "F") * 1, (age > 30) * 1), people)
        again = repeated.draw(seed)
        at = [(again[c] == v).to_numpy() * 1 for c, v in (("town", "u"), ("sex", "F"))]
        np.add.at(expected, (*at, (again["age"] > 30).to_numpy() * 1), 1)
    assert found.sum() == expected.sum()
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum(), atol=0.012)


def test_few_cells_of_many_people_are_learned_from():
    """No value is too rare to be learned, though it has only one row."""
    cells = pd.DataFrame({"town": ["u", "u", "v", "v"], "sex": ["F", "M", "F", "M"]})
    law, _ = law_of(cells, ["sex"], np.array([9000, 1000, 1000, 9000]))
    row, people, donors = law.people(0)
    sex, town = law.X["sex"].to_numpy()[donors["sex"]], law.X["town"].to_numpy()[row]
    share = people[(sex == "F") & (town == "u")].sum() / 10_000
    assert share == pytest.approx(0.9, abs=0.02)


def test_expectations_are_learned_from_all_people_of_a_row():
    X, y = table(5, 2000, numeric=False)
    about = ["y"], "bernoulli", True
    labels = np.asarray(y, float)[None]
    outcome = Outcome(X, labels, None, *about).expecting(None)
    cells = X.assign(label=y).value_counts().reset_index(name="n")
    labels = cells["label"].to_numpy(float)[None]
    counted = Outcome(cells[X.columns], labels, None, *about, frequency=cells["n"].to_numpy())
    counted = counted.expecting(None)
    assert counted.n == outcome.n == 2000
    assert counted.mu[0, 0] == outcome.mu[0, 0]
    women = counted.X["sex"].to_numpy() == "F"
    assert counted.measure(women, 0, 0.05) == outcome.measure((X["sex"] == "F").to_numpy(), 0, 0.05)


def test_sums_that_counts_do_not_have_are_refused():
    X, y = table(6, 300)
    counts = Counts.of(X.assign(y=y), protected=["sex", "race"], label="y")
    for more in ({"mode": "ordinal"}, {"mode": "continuous"}, {"scoring": "poisson"}):
        with pytest.raises(TypeError, match="BiasScan, as it is set, needs the rows"):
            BiasScan(**SETTINGS, **more).fit(counts)


def test_people_of_rows_are_learned_from_where_metadata_are_routed():
    """Rows of many people reach the models as weights, which steps of a pipeline do not request."""
    X, y = table(0, n=60)
    settings = {"protected": "sex", "n_resamples": 5, "random_state": 0, "weights": "frequency"}
    n = np.full(60, 20)
    expected = BiasScan(**settings).fit(X, y, sample_weight=n).result_
    with config_context(enable_metadata_routing=True):
        assert BiasScan(**settings).fit(X, y, sample_weight=n).result_ == expected
