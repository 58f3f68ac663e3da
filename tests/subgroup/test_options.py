"""Which options the detectors of subgroups share; doc/adding_a_detector.md says what one lacks."""

import inspect

import numpy as np
import pandas as pd
import pytest

from skdisc import all_detectors

FAST = {
    "BiasScan": {"n_restarts": 2, "n_bootstrap": 0, "direction": "lower"},
    "SliceFinder": {"approach": "lattice", "effect_size": 0.0},
}
NAMES = sorted(n for n, d in all_detectors().items() if d.__module__.startswith("skdisc.subgroup"))
LACKS = {  # what makes no sense for a detector is not offered
    "must_include": {"DiscriminationPatterns", "DiscriminatoryRules", "FACTS"},
    "redundancy": {"BiasScan", "FACTS", "SliceFinder"},
    "sample_weight": {"FACTS"},
}
OPTIONS = ["features", "must_include", "max_predicates", "min_support", "time_budget", "max_tests"]
OPTIONS += ["max_queries", "n_bins", "redundancy", "sample_weight"]


def offers(name, option):
    made = all_detectors()[name]
    if option == "sample_weight":
        return "sample_weight" in inspect.signature(made.fit).parameters
    return option in made().get_params()


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_is_offered_where_it_makes_sense(option):
    assert {n for n in NAMES if not offers(n, option)} == LACKS.get(option, set())


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 1500
    X = pd.DataFrame(rng.choice(list("abc"), (n, 4)), columns=["sex", "town", "job", "home"])
    return X, bank(X)


def bank(X):
    return ((X["sex"] != "a") & ((X["job"] != "b") | (X["sex"] == "c"))).astype(int)


def fit(name, people, **more):
    settings = {"protected": "sex", "random_state": 0, "k": 200} | FAST.get(name, {}) | more
    made = all_detectors()[name](**settings)
    return made.fit(people[0], None, bank) if name == "FACTS" else made.fit(*people)


def columns(result):
    return [{p.column for p in g.predicates} for g in result.findings.subgroups]


@pytest.mark.parametrize("name", NAMES)
def test_options_common_to_all(name, people):
    narrow = {"features": ["sex", "job"], "max_predicates": 1}
    if name == "FACTS":
        narrow["features"] = ["job"]
    groups = columns(fit(name, people, **narrow).result_)
    assert groups
    assert set().union(*groups) <= {"sex", "job"}
    most = 2 if name == "FACTS" else 1  # FACTS: the group of people, inside the subgroup
    assert max(map(len, groups)) <= most
    large = fit(name, people, min_support=0.2).result_
    affected = 1 - people[1].mean() if name == "FACTS" else 1.0  # FACTS: of each affected group
    sizes = [g.mask(people[0]).mean() for g in large.findings.subgroups]
    assert min(sizes, default=1) >= (0.2 if affected == 1 else 0.02)
    stopped = fit(name, people, time_budget=0).result_
    assert stopped.stopped_by == "time_budget"
    assert stopped.verdict == "insufficient evidence"


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"FACTS"}))
def test_groups_involve_a_protected_column(name, people):
    must = {"must_include": "protected"} if offers(name, "must_include") else {}
    assert all("sex" in c for c in columns(fit(name, people, **must).result_))


@pytest.mark.parametrize("name", sorted(set(NAMES) - LACKS["redundancy"]))
def test_redundant_groups_are_left_out(name, people):
    """A group of which one condition less has the same effect is no finding of its own."""
    least = {"min_rows": 1} if name == "SliceLine" else {}
    every = fit(name, people, max_predicates=2, min_support=0.02, **least).result_
    lean = fit(name, people, max_predicates=2, min_support=0.02, redundancy=0.05, **least).result_
    assert 0 < len(lean) < len(every)
    assert columns(lean)[0] <= {"sex", "job"}
    of_noise = [sum(not c <= {"sex", "job"} for c in columns(r)) for r in (lean, every)]
    assert of_noise[0] < of_noise[1]
    kept = [str(g) for g in lean.findings.subgroups]
    assert kept == [str(g) for g in every.findings.subgroups if str(g) in kept]


@pytest.mark.parametrize("name", sorted(set(NAMES) - LACKS["sample_weight"]))
def test_people_of_more_weight_count_more(name, people):
    """With all weight on them, those of one town are the only ones whose effect shows."""
    X, y = people
    weight = np.where(X["town"] == "a", 1.0, 1e-6)
    own = (X["town"] == "a").to_numpy()
    all_, some = (
        all_detectors()[name](
            **{"protected": "sex", "random_state": 0, "k": 200} | FAST.get(name, {})
        )
        for _ in range(2)
    )
    first = all_.fit(X, y, sample_weight=weight).result_.to_frame().set_index("subject")
    second = some.fit(X[own], y[own]).result_.to_frame().set_index("subject")
    both = first.index.intersection(second.index)
    assert len(both)
    np.testing.assert_allclose(first.loc[both, "outcome"], second.loc[both, "outcome"], atol=1e-3)
