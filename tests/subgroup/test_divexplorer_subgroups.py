"""DivExplorer on given groups: what the search says about them, and about no others."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits, Predicate, Rule, Subgroup
from skdisc.subgroup import DivExplorer, from_itemsets

RNG = np.random.default_rng(0)
N = 600
X = pd.DataFrame(
    {
        "sex": RNG.choice(["F", "M"], N),
        "race": RNG.choice(["a", "b", "c"], N),
        "member": RNG.random(N) < 0.5,
        "hours": RNG.normal(size=N),
    }
)
Y = (RNG.random(N) < 0.4 + 0.2 * (X["sex"] == "M") * X["member"]).to_numpy(int)
SETTINGS = {"protected": ["sex", "race"], "max_predicates": 2, "k": 1000}


def by_subject(result):
    """Return the findings as a table by subject."""
    return result.findings.to_frame().set_index("subject").drop(columns="rank").sort_index()


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"weights": "frequency"},
        {"versus": "everyone"},
        {"versus": "everyone", "must_include": None},
        {"direction": "lower"},
        {"output": "value", "rule": Rule(relevant_gap=0.1)},
    ],
)
def test_the_groups_that_a_search_tests_have_the_results_of_the_search(more):
    weight = {"sample_weight": RNG.integers(1, 4, N)} if "weights" in more else {}
    y = Y + X["hours"].to_numpy() if "output" in more else Y
    # a family of one side of each context: also the groups that the direction leaves out
    searched = DivExplorer(**SETTINGS, **{**more, "direction": "both"}).fit(X, y, **weight)
    groups = from_itemsets(searched.to_itemsets(), X)
    found = DivExplorer(**SETTINGS, **more, subgroups=groups).fit(X, y, **weight).result_
    expected, table = by_subject(searched.result_), by_subject(found)
    assert found.n_tested == searched.result_.n_tested == len(expected) > 10
    if "direction" in more:
        expected = expected[expected["effect"] < 0]
    # intervals depend on how many findings are shown
    columns = ["effect", "p_value", "p_adjusted", "support", "outcome", "measure"]
    pd.testing.assert_frame_equal(table[columns], expected[columns])


def test_the_groups_of_mlxtend_are_tested_and_no_others():
    apriori = pytest.importorskip("mlxtend.frequent_patterns").apriori
    dummies = pd.get_dummies(X[["sex", "race", "member"]])
    frame = apriori(dummies, min_support=0.1, use_colnames=True)
    groups = from_itemsets(frame, X)
    settings = {**SETTINGS, "rule": Rule(correction="none")}
    found = DivExplorer(**settings, subgroups=groups).fit(X, Y).result_
    protected = [g for g in groups if {p.column for p in g.predicates} & {"sex", "race"}]
    table = by_subject(found)
    assert set(table.index) <= set(map(str, protected))
    assert len(protected) == found.n_tested < len(groups)
    assert f"{len(groups) - len(protected)} of the {len(groups)} groups given are not" in str(
        found.notes
    )
    everything = {**settings, "max_predicates": None, "distinct": False}
    everything["features"] = ["sex", "race", "member"]
    expected = by_subject(DivExplorer(**everything).fit(X, Y).result_)
    both = table.index.intersection(expected.index)  # a search shows one side of each context
    assert len(both) > len(table) / 2
    columns = ["effect", "p_value", "support"]
    pd.testing.assert_frame_equal(table.loc[both, columns], expected.loc[both, columns])


def test_groups_need_not_be_those_that_a_search_could_make():
    young, middle = (Predicate.between("hours", low, low + 1) for low in (-0.7, -0.3))
    women = Predicate.equals("sex", "F")
    groups = [Subgroup([women, young]), Subgroup([women, middle]), {"sex": "F", "race": "a"}]
    detector = DivExplorer(**SETTINGS, subgroups=groups, confirm=0.3, random_state=0).fit(X, Y)
    assert detector.result_.n_tested == 3
    again = detector.audit(X, Y).findings
    for group, effect in zip(again.subgroups, again.table["effect"], strict=True):
        inside = group.mask(X)
        context = Subgroup([p for p in group.predicates if p.column == "hours"]).mask(X)
        assert effect == pytest.approx(Y[inside].mean() - Y[context & ~inside].mean())


def test_k_is_for_each_rate_and_max_tests_bounds_the_groups():
    groups = [{"sex": s, "race": r} for s in "FM" for r in "abc"]
    rates = ["false_positive_rate", "false_negative_rate"]
    settings = {**SETTINGS, "subgroups": groups, "k": 2}
    given = RNG.integers(0, 2, N)
    for versus in ("context", "everyone"):
        detector = DivExplorer(**settings, metric=rates, versus=versus)
        found = detector.fit(X, Y, lambda Z: given[Z.index]).result_.findings.table
        assert found["measure"].value_counts().to_dict() == dict.fromkeys(rates, 2)
    result = DivExplorer(**settings, limits=Limits(tests=4)).fit(X, Y).result_
    assert (result.n_tested, result.stopped_by) == (4, "tests")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"subgroups": []}, "subgroups has no group"),
        ({"subgroups": [{"sex": "F"}], "explain": True}, "leave them out with subgroups="),
        ({"subgroups": [{"sex": "F"}], "redundancy": 0.1}, "leave them out with subgroups="),
        ({"subgroups": [{"height": 3}]}, "names .'height'."),
        ({"subgroups": [Subgroup([])]}, "has no condition"),
    ],
)
def test_groups_that_cannot_be_tested_are_refused(more, says):
    with pytest.raises(ValueError, match=says):
        DivExplorer(**SETTINGS, **more).fit(X, Y)


def test_a_gap_of_a_given_group_that_is_not_excluded_forbids_no_disparity_found():
    """Each sex and race has the rate .5, one intersection .55, of which .6 is not excluded."""
    sizes = {("F", "a"): (340, 186), ("F", "b"): (900, 434), ("M", "a"): (900, 434)}
    sizes["M", "b"] = 340, 186
    rows = [(*who, int(i < k)) for who, (n, k) in sizes.items() for i in range(n)]
    table = pd.DataFrame(rows, columns=["sex", "race", "y"])
    detector = DivExplorer(
        protected=["sex", "race"], rule=Rule(correction="bonferroni"), pos_label=1
    )
    verdicts = [
        detector.set_params(subgroups=groups)
        .fit(table[["sex", "race"]], table["y"])
        .result_.verdict
        for groups in (None, [{"sex": "F", "race": "a"}], [{"sex": "F"}])
    ]
    # What the question is about follows from the columns, not from the groups that are given.
    assert verdicts == ["insufficient evidence"] * 3
