"""The generator: everything asked for is obtained, and the truth is the truth."""

import hashlib
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from skdisc import Predicate
from skdisc.datasets import Attribute, Schema, make_discrimination, schema_from_frame
from skdisc.subgroup import DivExplorer

OUTCOME = Attribute("outcome", values=(1, 2))
SMALL = {"n_pairs": 3, "group_size": 30, "n_background": 100}


def make(seed=0, **asked):
    return make_discrimination(**{**SMALL, **asked}, random_state=seed)


def ranges(low, high, whole=False):
    ends = st.integers(low, high) if whole else st.floats(low, high)
    return st.tuples(ends, ends).map(lambda pair: tuple(sorted(pair)))


@given(
    asked=st.fixed_dictionaries(
        {
            "n_pairs": st.integers(0, 5),
            "n_attributes": st.integers(3, 8),
            "protected_share": st.floats(0.1, 0.6),
            "n_values": ranges(2, 5, whole=True),
            "group_size": ranges(1, 30, whole=True),
            "imbalance": ranges(-1, 1),
            "granularity": ranges(0, 4, whole=True),
            "intersectionality": ranges(1, 3, whole=True),
            "similarity": ranges(0, 1),
            "bias": ranges(0, 3),
            "null_fraction": st.floats(0, 1),
            "aleatoric": ranges(0, 1),
            "epistemic": ranges(0, 1),
            "coverage": ranges(0, 1),
            "correlation": st.sampled_from([0.0, 0.2]),
            "outcome": st.sampled_from(["binary", "probability", "categorical", "continuous"]),
            "bias_in": st.sampled_from(["labels", "proxy", "both"]),
            "overlap": st.sampled_from(["forbid", "add"]),
        }
    ),
    seed=st.integers(0, 999),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_any_request_is_met_or_refused(asked, seed):
    try:
        made = make_discrimination(**asked, n_background=60, random_state=seed)
    except ValueError as error:
        expected = "What may do:|asks for . (un)?protected attr|nearly all people belong|no rows"
        assert re.search(expected, str(error))  # noqa: PT017
        return
    law, origin, truth = made.truth.law, made.truth._origin, made.truth
    assert len(truth.subgroups) // 2 == asked["n_pairs"]
    members = [g.mask(made.data) for g in truth.subgroups]
    for k, inside in enumerate(members):
        assert inside[origin == k].all()
        assert not inside[origin == -1].any()
        if asked["overlap"] == "forbid":
            assert (inside == (origin == k)).all()
    assert (origin == -1).sum() == 60
    expected = sum((b * m for b, m in zip(law.bias, members, strict=True)), np.zeros(len(origin)))
    np.testing.assert_allclose(law.person(made.data)[0], expected, atol=1e-12)
    names = set(made.schema.protected)
    for k, (request, _) in enumerate(truth._requests):
        pair = truth.subgroups[2 * k : 2 * k + 2]
        values = [{p.column: p for p in g.predicates} for g in pair]
        assert list(values[0]) == list(values[1])
        assert len(names & set(values[0])) == request.intersectionality
        assert len(set(values[0]) - names) == request.granularity
        differ = [c for c in values[0] if values[0][c] != values[1][c]]
        assert names & set(differ)
        asked_for = (1 - request.similarity) * len(values[0])
        assert len(differ) == 1 or abs(len(differ) - asked_for) <= 0.5
    if asked["outcome"] == "categorical":
        assert set(made.target) == {0, 1, 2}


def test_membership_is_that_of_the_masks_in_any_part_of_the_data():
    """Also where a column has one level only, or a level on both sides of that of a definition."""
    made = make(n_pairs=8, n_attributes=8, overlap="add", granularity=1, n_numeric=2)
    law, truth = made.truth.law, made.truth
    parts = [made.data.head(0), made.data.head(1), truth.sample(200, truth.subgroups[3])]
    first = made.data["Attr1_T"].astype(int)
    for X in [*parts, made.data[first != 1], made.data[first == 1]]:
        rows, groups = law.members(X)
        found = np.zeros((len(X), len(truth.subgroups)), dtype=bool)
        found[rows, groups] = True
        np.testing.assert_array_equal(found.T, [g.mask(X) for g in truth.subgroups])


def test_shape_of_the_answer():
    made = make(outcome="binary")
    assert list(made.data) == made.feature_names
    assert made.protected == [n for n in made.feature_names if n.endswith("_T")]
    pd.testing.assert_frame_equal(made.frame, made.data.assign(outcome=made.target))
    X, y = make(return_X_y=True)
    pd.testing.assert_frame_equal(X, made.data)
    pd.testing.assert_series_equal(y, made.target)
    arrays = make(as_frame=False)
    np.testing.assert_array_equal(arrays.data, made.data.astype(float))
    np.testing.assert_array_equal(arrays.target, made.target)
    assert made.arguments["n_attributes"] == 10
    rows, groups = made.truth.rows, made.truth.groups
    assert len(rows) == len(made.data)
    assert rows["subgroup_key"].isna().sum() == 100
    first = groups.iloc[0]
    mine = rows[rows["group_key"] == first["group_key"]]
    assert set(mine["subgroup_key"]) == {first["subgroup_key_a"], first["subgroup_key_b"]}
    assert first["group_key"] == f"{first['subgroup_key_a']}-{first['subgroup_key_b']}"
    slots = [key.split("|") for key in (mine["indv_key"].iloc[0], mine["subgroup_key"].iloc[0])]
    assert all(theirs in ("*", own) for own, theirs in zip(*slots, strict=True))


def test_the_random_schema_is_as_asked():
    made = make(
        n_attributes=9, protected_share=0.4, n_values=(2, 6), n_numeric=2, correlation=0.3, seed=5
    )
    kinds = [a.kind for a in made.schema.attributes]
    assert len(kinds) == 9
    assert made.protected == ["Attr1_T", "Attr2_T", "Attr3_T", "Attr4_T"]
    assert kinds.count("numeric") == 2
    sizes = {len(a.values) for a in made.schema.attributes if a.kind != "numeric"}
    assert min(sizes) >= 2
    assert max(sizes) <= 6
    assert len(sizes) > 1
    people = made.truth.sample(10_000, random_state=0).astype(float)
    got = people.corr(method="spearman").to_numpy()
    assert np.abs(got - np.asarray(made.schema.correlation)).max() < 0.03
    asked = np.eye(3) * 0.5 + 0.5
    matrix = make(n_attributes=3, correlation=asked, n_pairs=0).schema.correlation
    np.testing.assert_array_equal(matrix, asked)


@pytest.mark.parametrize("signal", [0.0, 0.5, 3.0])
def test_the_signal_is_the_spread_of_the_base_score(signal):
    law = make(signal=signal, n_numeric=2, n_background=20_000).truth.law
    people = make(signal=signal, n_numeric=2).truth.sample(20_000, random_state=0)
    score = law.base.contributions(people).sum(axis=1)
    assert score.std() == pytest.approx(signal, rel=0.03)
    assert score.mean() == pytest.approx(0.0, abs=0.05 * max(signal, 0.1))


def test_arrays_give_categories_as_their_places():
    sex = Attribute("sex", values=(True, False), protected=True, dtype="bool")
    town = Attribute("town", values=("b", "a", None), dtype="object")
    asked = {"schema": Schema([sex, town]), "intersectionality": 1, "granularity": 1, "n_pairs": 2}
    frame, arrays = (make(**asked, as_frame=flag) for flag in (True, False))
    places = [frame.data["sex"].map({True: 0, False: 1}), frame.data["town"].map({"b": 0, "a": 1})]
    np.testing.assert_array_equal(arrays.data, np.column_stack([places[0], places[1].fillna(2)]))


SCRIPT = """
import hashlib
from skdisc.datasets import make_discrimination
made = make_discrimination(n_pairs=3, n_numeric=2, aleatoric=0.5, correlation=0.2, random_state=7)
print(hashlib.sha256(made.frame.to_csv().encode()).hexdigest())
"""


@pytest.mark.slow
def test_two_processes_give_equal_bytes():
    asked = {"n_pairs": 3, "n_numeric": 2, "aleatoric": 0.5, "correlation": 0.2}
    here = make_discrimination(**asked, random_state=7).frame.to_csv().encode()
    there = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert there.stdout.strip() == hashlib.sha256(here).hexdigest()
    other = make_discrimination(**asked, random_state=8).frame.to_csv().encode()
    assert here != other


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("n", "asked"),
    [
        (10**6, {"n_attributes": 4, "granularity": 1, "intersectionality": 1}),
        (10**5, {"n_numeric": 2, "correlation": 0.3, "aleatoric": 0.8}),
        (10**5, {"bias_in": "proxy"}),
        (10**5, {"bias_in": "both", "overlap": "add", "n_pairs": 6, "granularity": 1}),
        (10**5, {"outcome": "continuous", "correlation": 0.2}),
        (10**5, {"threshold": True, "base_rate": 0.3, "aleatoric": 0.5}),
        (10**5, {"outcome": "categorical", "n_classes": 4}),
    ],
    ids=str,
)
def test_oracle_effects_are_those_of_monte_carlo(n, asked):
    """Many people are drawn; their own noise, not the quadrature, decides the outcome."""
    made = make(seed=3, null_fraction=0.0, **asked)
    truth, law, rng = made.truth, made.truth.law, np.random.default_rng(0)
    for a, b in [truth.subgroups[:2], [truth.subgroups[2], Predicate.equals("Attr1_T", 0)]]:
        means, errors = [], []
        for group in (a, b):
            people = truth.sample(n, group, random_state=rng)
            assert list(people) == made.feature_names
            assert group.mask(people).all()
            _, sigma, _ = person = law.person(people)
            noisy = law.logit(people, person) + sigma * rng.standard_normal(n)
            score = 1 / (1 + np.exp(-(noisy - (law.cuts[-1] if law.cuts is not None else 0.0))))
            score = noisy if law.outcome == "continuous" else score
            score = (noisy >= law.step) if law.step is not None else score
            means.append(score.mean())
            errors.append(score.std() / np.sqrt(n))
        found = truth.effect(a, b)
        error = np.hypot(np.hypot(*errors), found.standard_error)
        assert abs(means[0] - means[1] - found.effect) < 3 * error


def test_exact_effects_in_a_small_world():
    """Independent attributes, no noise: every person can be listed."""
    sex = Attribute("sex", values=("F", "M"), weights=(1, 2), protected=True)
    town = Attribute("town", values=("a", "b", "c"), weights=(1, 2, 3))
    job = Attribute("job", "ordinal", values=(0, 1, 2, 3))
    made = make_discrimination(
        1,
        schema=Schema([sex, town, job]),
        granularity=1,
        intersectionality=1,
        bias=1.5,
        null_fraction=0.0,
        random_state=0,
    )
    truth = made.truth
    cells = [(s, t, j) for s in ("F", "M") for t in "abc" for j in range(4)]
    people = pd.DataFrame(cells, columns=["sex", "town", "job"])
    weight = people["sex"].map({"F": 1, "M": 2}) * people["town"].map({"a": 1, "b": 2, "c": 3})
    p = truth.oracle.predict_proba(people)[:, 1]
    fair = truth.fair_oracle.predict_proba(people)[:, 1]
    masks = [g.mask(people) for g in truth.subgroups]
    by_hand = [np.average(p[m], weights=weight[m]) for m in masks]
    without = [np.average(fair[m], weights=weight[m]) for m in masks]
    found = truth.effect(*truth.subgroups)
    assert found.effect == pytest.approx(by_hand[0] - by_hand[1], abs=1e-3)
    due = found.effect - (without[0] - without[1])
    assert found.due_to_bias == pytest.approx(due, abs=1e-3)
    assert abs(found.due_to_bias) > 0.1
    moved = np.log(p / (1 - p)) - np.log(fair / (1 - fair))
    np.testing.assert_allclose(np.abs(moved), 1.5 * masks[0], atol=1e-9)
    table = truth.effects()
    assert table["effect"].iloc[0] == pytest.approx(found.effect)


def test_rates_follow_the_truth():
    made = make(n_background=60_000, aleatoric=(0.0, 1.5), base_rate=0.3)
    p = made.truth.rows["p"]
    assert abs((made.target - p).mean()) < 4 * np.sqrt((p * (1 - p)).mean() / len(p))
    assert made.truth.rows["p_without_bias"].mean() == pytest.approx(0.3, abs=0.01)
    probability = make(outcome="probability", aleatoric=1.0, n_background=60_000)
    rows = probability.truth.rows
    gap = probability.target - rows["p"]
    assert abs(gap.mean()) < 4 * gap.std() / np.sqrt(len(gap))
    assert gap.std() == pytest.approx(np.sqrt((rows["aleatoric"] ** 2).mean()), rel=0.02)
    line = make(outcome="continuous", aleatoric=0.7)
    np.testing.assert_allclose(line.truth.rows["aleatoric"], 0.7)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_classes_are_as_many_as_asked(n_classes):
    made = make(outcome="categorical", n_classes=n_classes)
    shares = made.target.value_counts(normalize=True)
    assert sorted(shares.index) == list(range(n_classes))
    np.testing.assert_allclose(shares, 1 / n_classes, atol=0.01)
    proba = made.truth.oracle.predict_proba(made.data)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[:, -1], made.truth.rows["p"])
    np.testing.assert_allclose(proba.mean(axis=0), 1 / n_classes, atol=0.08)


def test_threshold_and_bias_of_each_subgroup():
    made = make(threshold=True, base_rate=0.25)
    assert made.target.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(made.truth.oracle.predict(made.data), made.target)
    bias = np.array([[1.0, -1.0], [0.0, 0.0], [0.5, 0.0]])
    groups = make(bias=bias).truth.groups
    np.testing.assert_array_equal(groups[["bias_a", "bias_b"]], bias)
    assert groups["is_null"].tolist() == [False, True, False]
    assert (groups.loc[groups["is_null"], "effect_due_to_bias"] == 0).all()


def test_sizes_levels_and_share_of_nulls():
    made = make(
        n_pairs=8,
        group_size=100,
        imbalance=0.5,
        coverage=(0.2, 0.8),
        null_fraction=0.25,
        aleatoric=(0.2, 0.9),
        epistemic=(0.1, 2.0),
        n_attributes=8,
    )
    groups = made.truth.groups
    assert len(groups) == 8
    assert groups["is_null"].sum() == 2
    assert (groups["n_b"] == 150).all()
    np.testing.assert_array_equal(groups["n_a"], np.rint(50 * groups["coverage"]))
    np.testing.assert_allclose(groups["imbalance"], (150 - groups["n_a"]) / (150 + groups["n_a"]))
    for name in ("aleatoric", "epistemic"):  # measured goes with asked
        assert groups[name].corr(groups[f"{name}_asked"], method="spearman") > 0.7
    np.testing.assert_allclose(groups["magnitude"], groups["effect"].abs())
    own = make(epistemic=2.0, seed=1), make(epistemic=0.0, seed=1)
    pd.testing.assert_series_equal(own[0].target, own[1].target)  # never a label
    assert own[1].truth.rows["epistemic"].max() == 0 < own[0].truth.rows["epistemic"].min()


def test_the_proxy_carries_the_bias():
    made = make(bias_in="proxy", bias=2.0, null_fraction=0.0, group_size=500)
    rows, X = made.truth.rows, made.data
    assert "Proxy_X" in X
    assert "Proxy_X" not in made.protected
    noise = X["Proxy_X"] - rows["bias"]
    assert noise.std() == pytest.approx(0.5, rel=0.05)
    swapped = X.assign(Attr1_T=X["Attr1_T"].sample(frac=1, random_state=0).to_numpy())
    p = [made.truth.oracle.predict_proba(data)[:, 1] for data in (X, swapped)]
    np.testing.assert_allclose(*p)  # the outcome does not look at the protected attribute
    direct = make(bias_in="labels", bias=2.0, null_fraction=0.0, group_size=500)
    swapped = direct.data.assign(Attr1_T=np.roll(direct.data["Attr1_T"], 1))
    p = [direct.truth.oracle.predict_proba(data)[:, 1] for data in (direct.data, swapped)]
    assert np.abs(p[0] - p[1]).max() > 0.2


@pytest.mark.statistics
def test_a_planted_pair_is_found():
    found = []
    for seed in range(4):
        made = make_discrimination(
            1,
            granularity=0,
            intersectionality=1,
            bias=2.0,
            null_fraction=0.0,
            group_size=500,
            n_background=1000,
            random_state=seed,
        )
        detector = DivExplorer(protected=made.protected, max_predicates=1, k=1, pos_label=1)
        best = detector.fit(made.data, made.target).result_[0]
        found.append(best.subject == made.truth.subgroups[0])
    assert sum(found) >= 3  # one of some thirty candidates


@pytest.mark.statistics
def test_nothing_is_found_where_nothing_is_planted():
    false = []
    for seed in range(8):
        made = make(seed=seed, null_fraction=1.0, similarity=1.0, n_background=1000)
        detector = DivExplorer(protected=made.protected, features=made.protected, pos_label=1)
        false.append(detector.fit(made.data, made.target).result_.verdict == "disparity found")
        rows = made.truth.rows
        np.testing.assert_array_equal(rows["p"], rows["p_without_bias"])
        assert (made.truth.groups["effect_due_to_bias"] == 0).all()
    assert sum(false) <= 2  # 5 % of 8 runs is less than one


@pytest.mark.statistics
def test_a_forest_is_between_dummy_and_oracle():
    asked = {"n_pairs": 5, "n_background": 3000, "signal": 2.0, "random_state": 0}
    made = make_discrimination(**asked)
    train = np.arange(len(made.data)) % 2 == 0
    X, y = made.data, made.target
    forest = RandomForestClassifier(min_samples_leaf=5, random_state=0).fit(X[train], y[train])
    dummy = DummyClassifier().fit(X[train], y[train])
    loss = {
        name: log_loss(y[~train], model.predict_proba(X[~train]))
        for name, model in {"forest": forest, "dummy": dummy, "oracle": made.truth.oracle}.items()
    }
    assert loss["oracle"] < loss["forest"] < loss["dummy"]
    fair = log_loss(y, made.truth.fair_oracle.predict_proba(X))
    assert log_loss(y, made.truth.oracle.predict_proba(X)) < fair


@pytest.mark.parametrize("outcome", ["binary", "categorical", "continuous"])
def test_epistemic_uncertainty_is_the_spread_of_the_ensemble_and_costs_a_model(outcome):
    """A model with its weights wrong does worse, the more so the higher the level of the pair."""
    made = make(outcome=outcome, n_pairs=8, epistemic=(0.0, 2.0), group_size=150, n_attributes=8)
    truth, X = made.truth, made.data
    name = "predict" if outcome == "continuous" else "predict_proba"
    of = [np.asarray(getattr(m, name)(X)).reshape(len(X), -1)[:, -1] for m in truth.ensemble]
    np.testing.assert_allclose(np.std(of, axis=0), truth.rows["epistemic"], atol=1e-12)
    error = np.abs(np.array(of) - truth.rows["p"].to_numpy()).mean(axis=0)
    groups = truth.groups.set_index("group_key")
    by_pair = pd.Series(error).groupby(truth.rows["group_key"].to_numpy()).mean()
    assert by_pair.corr(groups["epistemic_asked"], method="spearman") > 0.7
    certain = make(outcome=outcome)
    of = [getattr(m, name)(certain.data) for m in (certain.truth.ensemble[3], certain.truth.oracle)]
    np.testing.assert_array_equal(*of)


def test_epistemic_uncertainty_is_what_an_audited_model_loses():
    loss = []
    for level in (0.0, 0.5, 2.0):
        made = make(epistemic=level, n_background=4000)
        models = [m.predict_proba(made.data) for m in made.truth.ensemble[:8]]
        loss.append(np.mean([log_loss(made.target, p) for p in models]))
    assert loss[0] + 0.01 < loss[1] < loss[2] - 0.01


@pytest.mark.statistics
def test_low_coverage_leaves_a_learner_uncertain():
    """What is thinned is learned worse, and a forest's trees disagree about it; nothing else is."""
    found = {}
    for coverage in (0.03, 1.0):
        asked = {"n_pairs": 6, "group_size": 600, "coverage": coverage, "n_attributes": 8}
        made = make(**asked, bias=3.0, null_fraction=0.0, n_background=2000, granularity=(1, 2))
        forest = RandomForestClassifier(60, min_samples_leaf=10, random_state=0, max_features=None)
        forest.fit(made.data.astype(float), made.target)
        truth, error, spread = made.truth, [], []
        for k, group in enumerate(truth.subgroups):
            people = truth.sample(400, group, random_state=k)
            votes = [
                t.predict_proba(people.to_numpy(dtype=float))[:, 1] for t in forest.estimators_
            ]
            p = truth.oracle.predict_proba(people)[:, 1]
            error.append(abs(np.mean(votes) - p.mean()))
            spread.append(np.std(votes, axis=0).mean())
        found[coverage] = np.array([error, spread]).reshape(2, -1, 2).mean(axis=1)
    ratio = found[0.03] / found[1.0]
    assert (ratio[:, 0] > 1.3).all()  # A, which was thinned: error and spread
    assert ratio[1, 1] < 1.2  # B, which was not: spread


@pytest.mark.slow
def test_a_twin_of_adult(load):
    adult = load("adult").drop(columns=["split", "education-num"]).head(5000)
    made = make_discrimination(
        4,
        reference=adult,
        protected=["sex", "race", "age"],
        target="income",
        random_state=0,
        n_background=2000,
        granularity=1,
    )
    assert list(made.data) == list(adult.drop(columns="income"))
    assert made.data.dtypes.equals(adult.drop(columns="income").dtypes)
    assert made.schema == schema_from_frame(
        adult.drop(columns="income"), protected=["sex", "race", "age"]
    )
    assert len(made.truth.groups) == 4
    assert made.truth.rows["indv_key"].str.count(r"\|").min() >= 12


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_pairs": -1}, "'n_pairs'"),
        ({"bias": (2.0, 1.0)}, "bias must be a number or a range"),
        ({"bias": np.zeros((2, 2))}, r"an array of shape \(3, 2\) with one value per subgroup"),
        ({"bias": np.zeros((3, 2)), "null_fraction": 0.5}, "with null_fraction=None"),
        ({"bias": float("inf")}, "finite and within"),
        ({"bias": np.full((3, 2), np.nan)}, "bias must be finite"),
        ({"aleatoric": (0.0, float("inf"))}, "finite and within"),
        ({"granularity": (1, 2.5)}, "granularity must be an integer"),
        ({"similarity": 1.5}, r"similarity must be .* within \[0.0, 1.0\]"),
        ({"group_size": 0}, "group_size must be"),
        ({"n_classes": 4}, "n_classes=4 has no effect with outcome='binary'"),
        ({"base_rate": 0.2, "outcome": "continuous"}, "base_rate=0.2 has no effect"),
        ({"threshold": True, "outcome": "probability"}, "threshold=True has no effect"),
        ({"protected": ["sex"]}, "exactly one source of attributes"),
        ({"n_numeric": 9}, "unprotected attributes, but at least one.*Raise n_attributes"),
        (
            {"schema": Schema([Attribute("a", values=(1, 2))])},
            "at least one protected and one unprotected attribute",
        ),
        (
            {"schema": Schema([Attribute("a", values=(1, 2), protected=True), OUTCOME])},
            r"\['outcome'\] are names of generated columns",
        ),
        ({"outcome": "ternary"}, "'outcome'"),
    ],
)
def test_wrong_arguments(wrong, message):
    with pytest.raises(ValueError, match=message):
        make(**wrong)


def test_unknown_arguments():
    with pytest.raises(TypeError, match="nb_groups"):
        make(nb_groups=3)
    with pytest.raises(ValueError, match="not a column of the reference"):
        make(reference=pd.DataFrame({"a": ["x", "y"]}), protected="a", target="b")
