"""Settings with a published name change what the paper says that they change."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from skdisc import Limits
from skdisc.group import VeriFair
from skdisc.individual import ADF, KOSEI, LIMI, SG, Aequitas
from skdisc.subgroup import (
    BiasScan,
    DiscriminationPatterns,
    DivExplorer,
    SliceFinder,
    SliceLine,
)


@pytest.fixture(scope="module")
def applicants():
    """Return people, decisions that depend on sex, and a linear model of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 40, (400, 4)), columns=list("abcd"))
    X["sex"] = rng.integers(0, 2, 400)
    y = (X["a"] + X["b"] + 15 * X["sex"] - X["c"] > 30).astype(int)
    return X, y, LogisticRegression(max_iter=2000).fit(X, y)


def tried(search, applicants):
    """Return the inputs that a search tested, in their order."""
    X, _, model = applicants
    search.set_params(protected="sex", store_tested=True, random_state=0)
    return search.fit(X, model=model).result_.tables["tested"]


SEARCHES = (ADF, Aequitas, KOSEI, SG)


@pytest.mark.parametrize("search", SEARCHES)
def test_the_global_search_begins_from_so_many_seeds(search, applicants):
    local = {} if search is SG else {"n_local": 0}  # SG is one search, which ends at max_tests
    few, more = (
        tried(search(n_seeds=n, limits=Limits(tests=500), **local), applicants) for n in (3, 60)
    )
    assert len(few) < len(more) or (search is SG and not few.equals(more))


@pytest.mark.parametrize("search", [ADF, Aequitas, KOSEI])
def test_the_local_search_makes_so_many_tests(search, applicants):
    few, more = (tried(search(n_seeds=20, n_local=n), applicants) for n in (1, 40))
    assert len(few) < len(more)


@pytest.mark.parametrize("search", [ADF, SG])
def test_seeds_come_from_so_many_clusters(search, applicants):
    one, many = (tried(search(n_clusters=n, limits=Limits(tests=60)), applicants) for n in (1, 8))
    assert not one.equals(many)


@pytest.mark.parametrize("search", [ADF, Aequitas])
def test_a_step_is_so_many_values_long(search, applicants):
    short, long = (
        tried(search(step_size=s, n_seeds=20, limits=Limits(tests=300)), applicants) for s in (1, 6)
    )
    assert not short.equals(long)


def test_limi_probes_points_beside_the_boundary(applicants):
    few = {"n_samples": 200, "n_boundary": 200, "n_baseline": 10}
    first = tried(LIMI(**few), applicants)
    for setting in ({"step": 3.0}, {"n_samples": 400}, {"n_boundary": 400}, {"confidence": 0.95}):
        assert not tried(LIMI(**few | setting), applicants).equals(first)


PUBLISHED = {"must_include": None, "versus": "everyone", "order": "effect", "distinct": False}


def groups(search, applicants):
    """Return the table of a search for groups, and the number of conditions of each."""
    X, y, _ = applicants
    result = search.set_params(protected="sex", random_state=0).fit(X, 1 - y).result_
    return result.to_frame(), np.array([len(g) for g in result.findings.subgroups])


@pytest.mark.parametrize(
    "search",
    [SliceLine(), SliceFinder(approach="lattice"), DivExplorer(), DiscriminationPatterns()],
)
def test_so_many_groups_of_so_many_conditions(search, applicants):
    for k, degree in ((3, 1), (4, 2)):
        table, length = groups(search.set_params(k=k, max_predicates=degree), applicants)
        assert 1 <= len(table) <= k
        assert length.max() <= degree + isinstance(search, DiscriminationPatterns)
    assert (length == degree).any()


@pytest.mark.parametrize("approach", ["lattice", "tree"])
def test_slices_of_so_many_rows_with_so_large_an_effect(approach, applicants):
    n_problematic = []
    for least in (0.2, 0.6):
        finder = SliceFinder(approach=approach, min_rows=100, effect_size=least, **PUBLISHED)
        table, _ = groups(finder, applicants)
        assert table["support"].min() >= 100
        assert (table["approach"] == approach).all()
        problematic = table[table["problematic"]]
        assert (problematic["effect_size"] >= least).all()
        n_problematic.append(len(problematic))
    assert n_problematic[0] >= max(1, n_problematic[1])


def test_a_tree_of_slices_is_so_deep(applicants):
    search = SliceFinder(approach="tree", effect_size=0.1, min_rows=10, k=50, **PUBLISHED)
    lengths = [groups(search.set_params(max_depth=d), applicants)[1].max() for d in (1, 3)]
    assert lengths[0] == 1 < lengths[1] <= 3


def test_the_score_of_slice_line_weighs_errors_against_sizes(applicants):
    search = SliceLine(max_predicates=2, **PUBLISHED)
    sizes = [
        groups(search.set_params(alpha=alpha), applicants)[0]["support"].mean()
        for alpha in (0.9, 0.999)
    ]
    assert sizes[0] > sizes[1]


def test_divexplorer_mines_groups_of_so_large_a_share(applicants):
    X, y, _ = applicants
    tests = []
    for share in (0.05, 0.3):
        detector = DivExplorer(protected="sex", min_support=share, must_include=None)
        result = detector.fit(X, y).result_
        assert result.to_frame()["support"].min() >= share * len(X)
        tests.append(result.n_tested)
    assert tests[0] > tests[1]


def test_more_restarts_of_a_scan_find_no_less(applicants):
    X, y, _ = applicants
    scan = BiasScan(protected="sex", n_resamples=0, versus="everyone", random_state=0)
    scores = [
        scan.set_params(n_restarts=n).fit(X, y).result_.to_frame()["score"].max() for n in (1, 10)
    ]
    assert scores[0] <= scores[1] + 1e-9


def test_degrees_of_discrimination_exceed_delta(applicants):
    for delta in (0.01, 0.1):
        table, _ = groups(DiscriminationPatterns(delta=delta), applicants)
        assert len(table)
        assert table["discrimination_score"].abs().min() > delta


def test_verifair_begins_with_so_many_draws(applicants):
    X, _, model = applicants
    drawn = [
        VeriFair(protected="sex", first_batch=n, random_state=0)
        .fit(X, model=model)
        .result_.metrics["nodes_visited"]
        for n in (100, 5000)
    ]
    assert drawn[0] < 5000 <= drawn[1]
