"""Itemset frames of mlxtend describe groups, and groups become itemset frames."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from skdisc import Predicate, Subgroup, measures
from skdisc._space._itemsets import to_itemsets
from skdisc.subgroup import FACTS, DivExplorer, from_itemsets

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], 400),
        "age_class": RNG.choice(["a_b", "= 'c'", None], 400),
        "member": RNG.random(400) < 0.5,
        "hours": RNG.integers(0, 40, 400) / 3,  # ends of bins have more than 15 digits
    }
)


def test_what_mlxtend_finds_in_dummies_are_the_groups_with_its_support():
    fpgrowth = pytest.importorskip("mlxtend.frequent_patterns").fpgrowth
    names = ["sex", "age_class", "member"]
    dummies = pd.get_dummies(X[names], dummy_na=True).loc[:, lambda d: d.any()]
    found = fpgrowth(dummies, min_support=0.05, use_colnames=True)
    groups = from_itemsets(found, X)
    assert len(groups) == len(found) > 20
    assert [g.mask(X).mean() for g in groups] == pytest.approx(found["support"])


@given(st.integers(0, 2**32 - 1))
def test_every_group_is_read_again_as_it_was(seed):
    rng = np.random.default_rng(seed)
    low, high = np.sort(rng.choice(X["hours"].unique(), 2, replace=False))
    closed = rng.choice(["right", "left", "both", "neither"])
    ends = [(low, high), (-np.inf, high), (low, np.inf)][rng.integers(3)]
    interval = Predicate.between("hours", *ends, str(closed))
    classes = ["a_b", "= 'c'", None]
    others = [Predicate.isin("age_class", rng.choice(classes, rng.integers(3))), interval]
    others += [Predicate.equals("sex", "F"), Predicate.equals("member", False)]
    group = Subgroup([others[i] for i in rng.integers(0, len(others), 3)])
    again = from_itemsets(to_itemsets([group], [1.0]), X)[0]
    np.testing.assert_array_equal(again.mask(X), group.mask(X))


def test_detectors_give_what_they_found_and_facts_takes_it():
    def model(X):
        return (X["hours"] > 6) & ((X["sex"] == "M") | X["member"])

    found = DivExplorer(protected="sex", pos_label=True, k=5).fit(X, model(X))
    frame = found.to_itemsets()
    groups = found.result_.findings.subgroups
    assert from_itemsets(frame, X) == list(dict.fromkeys(groups))
    assert frame["support"].tolist() == pytest.approx([g.mask(X).mean() for g in groups])
    given_groups = from_itemsets([{"member_False"}, {"age_class_a_b"}], X)
    facts = FACTS(protected="sex", subgroups=given_groups, pos_label=True, random_state=0)
    facts.fit(X, model=model)
    assert set(facts.recourse_["sex"].subgroups) == set(given_groups)
    inside = [g & Predicate.equals("sex", s) for g in given_groups for s in "FM"]
    assert set(from_itemsets(facts.to_itemsets(), X)) <= set(inside)


def test_the_groups_of_a_frame_and_no_others_are_measured():
    y = (RNG.random(400) < 0.4 + 0.2 * (X["sex"] == "M")).to_numpy(int)
    groups = from_itemsets([{"sex_F"}, {"sex_F", "member_True"}, {"sex_M", "age_class_a_b"}], X)
    masks = pd.DataFrame({str(group): group.mask(X) for group in groups})
    report = measures.mean_difference_report(None, y, protected=masks, reference="rest")
    report = report[report["group"]].set_index("attribute")
    for group in groups:
        inside, row = group.mask(X), report.loc[str(group)]
        assert row["estimate"] == pytest.approx(y[~inside].mean() - y[inside].mean())
        expected = stats.chi2_contingency(pd.crosstab(inside, y), correction=False).pvalue
        assert row["p_value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ("sex_X", "is no condition on a column of X"),
        ("height > 3", "is no condition"),
        (7, "is no condition"),
        ("sex in {F oo}", "is no condition"),
        ("a_b_c", "may be a = 'b_c' or a_b = 'c'"),
    ],
)
def test_what_is_no_condition_is_refused(item, says):
    table = pd.DataFrame({"sex": ["F"], "a": ["b_c"], "a_b": ["c"], 7: [1.5]})
    with pytest.raises(ValueError, match=f"The item {item!r} {says}"):
        from_itemsets([{item}], table)
