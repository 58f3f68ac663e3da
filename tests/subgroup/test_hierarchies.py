"""Larger items: ranges of bins and sets of values, in every detector that joins items."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from published import BiasScan, DivExplorer

from skdisc.subgroup import (
    Bins,
    DiscriminationPatterns,
    DiscriminatoryRules,
    SliceFinder,
    SliceLine,
)

NESTED = Bins(4, nested=True, taxonomy={"town": [["a", "b"], ["a", "b", "c"]]})
JOINING = [DivExplorer, SliceFinder, SliceLine, DiscriminatoryRules]


@pytest.fixture(scope="module")
def people():
    """Return people, and decisions against women of two of four towns, below the median age."""
    rng = np.random.default_rng(0)
    n = 3000
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(list("abcd"), n),
            "age": rng.integers(18, 66, n).astype(float),
        }
    )
    hit = (X["sex"] == "F") & X["town"].isin(["a", "b"]) & (X["age"] <= X["age"].median())
    return X, (rng.random(n) > np.where(hit, 0.9, 0.3)).astype(int)


@pytest.mark.parametrize("detector", JOINING)
def test_a_bias_against_a_larger_item_is_found_first(detector, people):
    options = {"approach": "lattice", "effect_size": 0.9} if detector is SliceFinder else {}
    options |= {"min_rows": 20} if detector in (SliceFinder, SliceLine) else {}
    result = detector(protected="sex", n_bins=NESTED, max_predicates=3, **options)
    result = result.fit(*people).result_
    texts = [str(f.subject) for f in result]
    planted = "age <= 41 and sex = 'F' and town in {'a', 'b'}"
    assert planted in texts
    if detector in (DivExplorer, SliceLine):
        assert texts.index(planted) == 0 or result[0].subject.mask(people[0]).sum() < 600
    for finding in result:
        columns = [p.column for p in finding.subject.predicates]
        assert len(columns) == len(set(columns))
        assert finding.support == finding.subject.mask(people[0]).sum()


def test_the_lattice_of_nested_items_is_all_of_them(people):
    X, y = (a[:400] for a in people)
    detector = DivExplorer(protected="sex", n_bins=NESTED, k=10_000, min_support=0.05)
    found = {str(g) for g in detector.fit(X, y).result_.findings.subgroups}
    items = detector._memory.on(X)
    own = [[None, *np.flatnonzero(items.feature == j)] for j in range(3)]
    expected = set()
    for combination in product(*own):
        numbers = [i for i in combination if i is not None]
        if combination[0] is not None:
            inside = np.logical_and.reduce(items.masks(numbers))
            if inside.sum() >= 20:
                expected.add(str(items.subgroup(numbers)))
    assert found == expected
    assert any("in {" in g for g in found)


@pytest.mark.parametrize("detector", [DivExplorer, SliceFinder, SliceLine])
def test_bins_of_a_tree_find_the_age_and_are_tested_on_other_rows(detector, people):
    X, _ = people
    rng = np.random.default_rng(1)
    hit = (X["sex"] == "F") & (X["age"] <= 27)
    y = (rng.random(len(X)) > np.where(hit, 0.8, 0.2)).astype(int)
    bins = Bins(4, how="tree", nested=True)
    with pytest.raises(ValueError, match="set confirm="):
        detector(protected="sex", n_bins=bins).fit(X, y)
    made = detector(protected="sex", n_bins=bins, confirm=0.5, random_state=0).fit(X, y)
    result = made.result_
    assert result.n_found > 0
    ages = {p.high for g in result.findings.subgroups for p in g.predicates if p.column == "age"}
    assert min(ages, default=27) <= 27 <= max(ages, default=27) + 1
    assert any("age <= 27 and sex = 'F'" in str(f.subject) for f in result)
    again = made.audit(X, y)
    assert [str(f.subject) for f in again] == [str(f.subject) for f in result]


@pytest.mark.statistics
@pytest.mark.parametrize("detector", [DivExplorer, SliceLine])
def test_bins_of_a_tree_find_nothing_in_noise(detector):
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"sex": rng.choice(["F", "M"], 400), "age": rng.normal(size=400)})
        settings = {"protected": "sex", "confirm": 0.5, "random_state": seed}
        made = detector(n_bins=Bins(6, how="tree", nested=True), **settings)
        found += made.fit(X, rng.integers(0, 2, 400)).result_.n_found > 0
    assert found <= 3


@pytest.mark.parametrize("detector", [DiscriminatoryRules, BiasScan, DiscriminationPatterns])
def test_what_makes_no_sense_is_refused(detector, people):
    with pytest.raises(ValueError, match="does not support Bins"):
        detector(protected="sex", n_bins=Bins(how="tree")).fit(*people)
    if detector is not DiscriminatoryRules:
        with pytest.raises(ValueError, match="does not support nested bins"):
            detector(protected="sex", n_bins=NESTED).fit(*people)


@pytest.mark.parametrize("detector", [*JOINING, BiasScan, DiscriminationPatterns])
def test_edges_of_your_own(detector, people):
    options = {"n_resamples": 0, "n_restarts": 2} if detector is BiasScan else {}
    bins = Bins(edges={"age": [30, 50]})
    result = detector(protected="age", n_bins=bins, k=50, **options).fit(*people).result_
    ends = {e for g in result.findings.subgroups for p in g.predicates if p.column == "age"
            for e in (p.low, p.high)}  # fmt: skip
    assert ends & {30, 50}
    assert ends <= {30, 50, -np.inf, np.inf}


def test_a_set_of_values_that_is_given_twice_is_one_item(people):
    X, y = people
    X = X.assign(town=pd.Categorical(X["town"], ordered=True))
    once = Bins(nested=True)
    twice = Bins(nested=True, taxonomy={"town": [["a", "b"], {"b", "a"}, ("c", "d")]})
    first, second = (
        DivExplorer(protected="sex", n_bins=b).fit(X, y).result_ for b in (once, twice)
    )
    assert first.n_tested == second.n_tested
    assert first.findings.table.equals(second.findings.table)


@pytest.mark.parametrize(
    "wrong",
    [
        {"taxonomy": {"town": ["ab", "cd"]}},
        {"taxonomy": {"town": ["a", "b"]}},
        {"taxonomy": {"town": {"north": ["a", "b"]}}},
        {"taxonomy": {"town": 1}},
        {"taxonomy": [["a", "b"]]},
        {"edges": [1, 2]},
    ],
)
def test_a_taxonomy_is_a_dict_of_lists_of_sets(wrong):
    with pytest.raises(ValueError, match=r"must be a (dict|list of sets).*got"):
        Bins(**wrong)
