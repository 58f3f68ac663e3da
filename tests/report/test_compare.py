"""Cases of several methods among the same people."""

from dataclasses import replace

import pytest

from skdisc.datasets import make_loan
from skdisc.individual import (
    CounterfactualFairness,
    CounterfactualSituationTesting,
    FlipTest,
    SituationTesting,
)
from skdisc.report import compare_cases


def bank(X):
    return (X["annual_salary"] + 5 * X["account_balance"] > 225_000).astype(int)


@pytest.mark.slow
def test_counts_and_overlaps_are_those_of_the_sets():
    loans = make_loan(500, random_state=0)
    X, world = loans.data, loans.counterfactual.data
    settings = {"protected": "gender", "criterion": "gap", "n_neighbors": [10, 30]}
    tests = [
        SituationTesting(**settings),
        CounterfactualSituationTesting(counterfactuals=world, centers=True, **settings),
        CounterfactualFairness(protected="gender", counterfactuals=world, n_resamples=0),
    ]
    results = [t.fit(X, model=bank).result_ for t in tests]
    compared = compare_cases(results, ["ST", "CST", "CF"])
    counts = compared["counts"].set_index(["method", "n_neighbors"])
    women = X["gender"] == "female"
    refused = women & (bank(X) == 0) & (bank(world) == 1)
    for k in (10, 30):
        assert counts.loc[("CF", k), "cases"] == refused.sum()
    alone = compare_cases(results[:2])["counts"].set_index(["method", "n_neighbors"])
    assert alone.loc[("counterfactual decision", 30), "cases"] == refused.sum()
    assert set(counts.index.get_level_values(0)) == {"ST", "CST", "CF"}
    assert counts.loc[("ST", 10), "cases"] == results[0].n_found
    assert counts.loc[("CST", 10), "share"] == results[1].n_found / women.sum()
    overlaps = compared["overlaps"].set_index(["n_neighbors", "first", "second"])
    found = [set(r.findings.row) for r in results[:2]]
    assert overlaps.loc[(10, "ST", "CST")].tolist() == [
        len(found[0] & found[1]),
        len(found[0] - found[1]),
        len(found[1] - found[0]),
    ]
    rates = compared["rates"].set_index("group")
    assert rates.loc["gender = 'female'", "factual"] == 1 - bank(X)[women].mean()
    assert rates.loc["gender = 'female'", "counterfactual"] == 1 - bank(world)[women].mean()
    nothing = {**results[1].tables, "rates": compared["rates"].head(0)}
    first = replace(results[1], discovery=replace(results[1].discovery, tables=nothing))
    assert compare_cases([first, results[1]])["rates"].equals(compared["rates"])


def test_wording():
    loans = make_loan(200, random_state=0)
    test = SituationTesting(protected="gender", n_neighbors=5).fit(loans.data, loans.target)
    twice = compare_cases([test.result_, test.result_])["counts"]
    assert set(twice["method"]) == {"SituationTesting 1", "SituationTesting 2"}
    with pytest.raises(ValueError, match="names has 1 entries"):
        compare_cases([test.result_, test.result_], ["ST"])
    flips = FlipTest(protected="gender", solver="assignment").fit(loans.data, loans.target)
    with pytest.raises(ValueError, match="needs the result of a situation test"):
        compare_cases([flips.result_])
