"""Counterfactual situation testing: its test groups, centers and counterfactual rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from situations import by_hand, people, table

from skdisc.causal import StructuralCausalModel
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    SituationTesting,
)


@pytest.mark.slow
def test_counterfactual_test_groups_stand_around_the_counterfactual_row():
    X, y = people()
    others = X.assign(x=X["x"] + 0.7 * (X["sex"] == "F"))
    detector = CounterfactualSituationTesting(
        protected="sex", group="F", reference="M", counterfactuals=others[["x"]]
    )
    found = table(detector.set_params(n_neighbors=9), X, y).loc[9]
    p_c, p_t = by_hand(X, y, 9, others)
    assert found["p_c"].to_numpy() == pytest.approx(p_c)
    assert found["p_t"].to_numpy() == pytest.approx(p_t)
    as_function = detector.set_params(counterfactuals=lambda X, do: others.loc[X.index])
    assert table(as_function, X, y).loc[9].equals(found)


@pytest.mark.slow
def test_without_an_effect_counterfactual_situation_testing_is_situation_testing():
    X, y = people()
    settings = {"protected": "sex", "n_neighbors": [5, 20]}
    plain = SituationTesting(**settings).fit(X, y).result_.tables["people"]
    for source in (None, X[["x", "job"]], StructuralCausalModel([("sex", "q")])):
        if isinstance(source, StructuralCausalModel):
            X, source = X.assign(q=0.0), StructuralCausalModel(["sex", "x", "job", "q"])
            plain = SituationTesting(**settings).fit(X, y).result_.tables["people"]
        found = (
            CounterfactualSituationTesting(counterfactuals=source, **settings)
            .fit(X, y)
            .result_.tables["people"]
        )
        assert found[plain.columns].equals(plain)


@pytest.mark.slow
def test_centers_are_counted_in_both_groups():
    X, y = people()
    cf = np.where(X["sex"] == "F", 1, y)
    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": 9}
    settings["counterfactuals"] = (X[["x"]], cf)
    without, found = (
        table(CounterfactualSituationTesting(centers=c, **settings), X, y).loc[9]
        for c in (False, True)
    )
    own = 1 - y[found.index].to_numpy()
    assert found["p_c"].to_numpy() == pytest.approx((without["p_c"] * 9 + own) / 10)
    assert found["p_t"].to_numpy() == pytest.approx(without["p_t"] * 9 / 10)
    assert found["flip"].tolist() == (-own).tolist()
    model = lambda A: (A["x"] - (A["sex"] == "F") > 0).astype(int)  # noqa: E731
    settings["counterfactuals"] = None
    asked = table(
        CounterfactualSituationTesting(centers=True, **settings), X, None, model=model
    ).loc[9]
    would = model(X.assign(sex="M"))[asked.index]
    assert asked["flip"].tolist() == (model(X)[asked.index] - would).tolist()


class LessForWomen:
    """A model that gives women a probability of .2, and men one of .6."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = 0.2 + 0.4 * (X["sex"] == "M").to_numpy()
        return np.column_stack([1 - p, p])

    def predict(self, X):
        return (X["sex"] == "M").to_numpy(int)


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"similarity__metric": "alvarez2023"},
        {"output": "probability"},
        {"similarity__caliper": None},
    ],
)
def test_a_person_and_their_counterfactual_alone_are_the_row_of_no_neighbors(more):
    X, y = people()
    cf = np.where(X["sex"] == "F", 1, y)
    settings = {"protected": "sex", "group": "F", "reference": "M", "centers": True}
    detector = CounterfactualSituationTesting(counterfactuals=(X[["x", "job"]], cf), **settings)
    detector.set_params(n_neighbors=[0, 9], criterion="gap", **more)
    if "output" in more:
        model = LessForWomen()
        detector.set_params(counterfactuals=None)
        result = detector.fit(X, y, model).result_
    else:
        result = detector.fit(X, y).result_
    tables = result.tables
    found = tables["people"].set_index(["n_neighbors", "row"])
    assert (found.loc[0, ["n_c", "n_t"]] == 1).all(axis=None)
    assert found.loc[0, "delta"].tolist() == pytest.approx((-found.loc[0, "flip"]).tolist())
    counts = tables["counts"].set_index("n_neighbors")
    if "output" not in more:
        assert counts.loc[0, "gap"] == counts.loc[0, "flips"] > 0
    without = detector.set_params(n_neighbors=9)
    without = without.fit(X, y, *([model] if "output" in more else [])).result_
    others = found.loc[[9]].reset_index()
    pd.testing.assert_frame_equal(others, without.tables["people"], check_like=True)
    assert result.findings.table.equals(without.findings.table)


def test_no_neighbors_need_centers_and_another_number():
    X, y = people()
    detector = CounterfactualSituationTesting(protected="sex")
    for sizes, centers in (([0, 9], False), ([0], True), ([-1, 9], True)):
        detector.set_params(n_neighbors=sizes, centers=centers)
        with pytest.raises(ValueError, match="0 needs centers=True and another number"):
            detector.fit(X, y)


@pytest.mark.slow
def test_a_causal_model_judges_new_people_too_in_any_order_of_the_rows():
    X, y = people()
    X["x"] -= 0.5 * (X["sex"] == "F")
    scm = StructuralCausalModel([("sex", "x"), "job"])
    detector = CounterfactualSituationTesting(
        protected="sex", group="F", reference="M", counterfactuals=scm, n_neighbors=9
    )
    p_t = table(detector, X, y).loc[9, "p_t"]
    again = detector.audit(X, y).tables["people"].set_index("row")["p_t"]
    assert again.tolist() == pytest.approx(p_t.tolist())
    order = np.random.default_rng(0).permutation(len(X))
    mixed = table(detector, X.iloc[order], y.iloc[order]).loc[9, "p_t"]
    assert mixed.set_axis(order[mixed.index]).sort_index().tolist() == p_t.tolist()
    plain = SituationTesting(protected="sex", group="F", reference="M", n_neighbors=9)
    assert p_t.mean() < table(plain, X, y).loc[9, "p_t"].mean()


@pytest.mark.slow
@settings(max_examples=6)
@given(st.integers(1, 5), st.floats(0, 0.9), st.randoms(use_true_random=False))
def test_counterfactual_fairness_neither_implies_nor_follows_from_individual_discrimination(
    k, threshold, random
):
    """Proposition 3.6: a woman at 0 would be at 100, had she been a man; nobody else is there."""
    women = [0.0, *(random.uniform(0, 9) for _ in range(k))]
    men = [random.choice((-1, 1)) * random.uniform(1, 9) + 100 for _ in range(k)]
    X = pd.DataFrame({"sex": ["F"] * (k + 1) + ["M"] * k, "x": women + men})
    others = X.assign(x=np.where(X["sex"] == "F", X["x"] + 100, X["x"]))
    cst = CounterfactualSituationTesting(
        protected="sex", group="F", reference="M", n_neighbors=k, criterion="gap"
    )
    cst.set_params(counterfactuals=others, pos_label=1, threshold=threshold)
    cst.set_params(similarity__caliper=None)
    fairness = CounterfactualFairness(protected="sex", counterfactuals=others, pos_label=1)
    fairness.set_params(n_resamples=0)

    def is_case(model):
        return [0 in d.fit(X, model=model).result_.findings.row for d in (cst, fairness)]

    # Refused as a man, too, while the men like whom she would be are accepted: fair to her, and
    # discrimination. Accepted as a man, while they are refused as women are: neither fair, nor it.
    assert is_case(lambda X: (X["x"] > 50) & (X["x"] != 100)) == [True, False]
    assert is_case(lambda X: X["x"] == 100) == [False, True]
