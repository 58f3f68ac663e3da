"""The options that the detectors of subgroups share, read from their signatures."""

import numpy as np
import pandas as pd
import pytest
from smallest import has, smallest

from skdisc import Limits, all_detectors

NAMES = sorted(n for n, d in all_detectors().items() if d.__module__.startswith("skdisc.subgroup"))
SHARED = ["features", "max_predicates", "min_support", "n_bins"]
SHARED += ["limits"]
OPTIONAL = {"must_include": 3, "redundancy": 4, "sample_weight": 6}  # so many have it at least
HERE = {  # what these tests need beyond the smallest settings
    "BiasScan": {"n_resamples": 0, "direction": "lower"},
    "SliceFinder": {"approach": "lattice", "effect_size": 0.0},
    "SliceLine": {"min_rows": 1},
}


def those_with(option):
    """Parametrize a test over the detectors that have an option."""
    return pytest.mark.parametrize("name", [n for n in NAMES if has(n, option)])


def asks(name):
    """Return whether a detector queries a model; the others read the labels."""
    return all_detectors()[name]._asks


@pytest.mark.parametrize("option", SHARED)
@pytest.mark.parametrize("name", NAMES)
def test_it_has_what_all_have(name, option):
    assert has(name, option), f"{name} of skdisc.subgroup needs the setting {option}"


@pytest.mark.parametrize("option", OPTIONAL)
def test_no_option_is_lost(option):
    assert sum(has(n, option) for n in NAMES) >= OPTIONAL[option]


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 1500
    X = pd.DataFrame(rng.choice(list("abc"), (n, 4)), columns=["sex", "town", "job", "home"])
    return X, bank(X)


def bank(X):
    return ((X["sex"] != "a") & ((X["job"] != "b") | (X["sex"] == "c"))).astype(int)


def make(name, **more):
    few = {"k": 200} if has(name, "k") else {}
    return smallest(name, **{"protected": "sex"} | few | HERE.get(name, {}) | more)


def fit(name, people, **more):
    return make(name, **more).fit(*((people[0], None, bank) if asks(name) else people))


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
    stopped = fit(name, people, limits=Limits(seconds=0)).result_
    assert stopped.stopped_by == "seconds"
    assert stopped.verdict == "insufficient evidence"


@pytest.mark.parametrize("name", [n for n in NAMES if not asks(n)])
def test_groups_involve_a_protected_column(name, people):
    must = {"must_include": "protected"} if has(name, "must_include") else {}
    assert all("sex" in c for c in columns(fit(name, people, **must).result_))


@those_with("redundancy")
def test_redundant_groups_are_left_out(name, people):
    """A group of which one condition less has the same effect is no finding of its own."""
    own = {"max_predicates": 2, "min_support": 0.02}
    if name == "DiscriminationPatterns":
        own["order"] = "effect"  # by the evidence, the first pattern of each x comes first
    every = fit(name, people, **own).result_
    lean = fit(name, people, **own, redundancy=0.05).result_
    assert 0 < len(lean) < len(every)
    assert columns(lean)[0] <= {"sex", "job"}
    of_noise = [sum(not c <= {"sex", "job"} for c in columns(r)) for r in (lean, every)]
    assert of_noise[0] < of_noise[1]
    kept = [str(g) for g in lean.findings.subgroups]
    assert kept == [str(g) for g in every.findings.subgroups if str(g) in kept]


@pytest.mark.slow
@those_with("sample_weight")
def test_people_of_more_weight_count_more(name, people):
    """With all weight on them, those of one town are the only ones whose effect shows."""
    X, y = people
    weight = np.where(X["town"] == "a", 1.0, 1e-6)
    own = (X["town"] == "a").to_numpy()
    first = make(name).fit(X, y, sample_weight=weight).result_.to_frame().set_index("subject")
    second = make(name).fit(X[own], y[own]).result_.to_frame().set_index("subject")
    both = first.index.intersection(second.index)
    assert len(both)
    np.testing.assert_allclose(first.loc[both, "outcome"], second.loc[both, "outcome"], atol=1e-3)
