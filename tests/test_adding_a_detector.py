"""The detectors of doc/adding_a_detector.md are complete: they run as they stand there."""

import re
import sys
import types
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from skdisc import AuditResult, FeatureSpace, Limits, Rule, extending, report
from skdisc.extending import Bins, SubgroupDetector
from skdisc.testing import detector_checks

PAGE = Path(__file__).parents[1] / "doc" / "adding_a_detector.md"


def written(mark, **names):
    """Return the module that stands on the page after a mark; `names` are of modules before it."""
    text = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(rf"<!-- {mark} -->\n```python\n(.*?)```", text, re.S)
    module = types.ModuleType("the_" + mark.replace(" ", "_"))
    vars(module).update(names)
    sys.modules[module.__name__] = module  # pickle and numpydoc look there
    exec(compile(code, f"{PAGE.name} ({mark})", "exec"), module.__dict__)
    return module, code


GROUPS, GROUPS_CODE = written("subgroup detector")
SEARCH, SEARCH_CODE = written("search")
RATES, RATES_CODE = written("group detector")
PEERS, PEERS_CODE = written("own test", RandomSubgroups=GROUPS.RandomSubgroups)
COLUMNS, COLUMNS_CODE = written("finding per column")
SMALL = [
    GROUPS.RandomSubgroups(protected=[0], n_groups=20, pos_label="high", random_state=0),
    RATES.PermutedRates(protected=[0], n_resamples=199, pos_label="high", random_state=0),
    COLUMNS.WidestGaps(protected=[0], pos_label="high"),
    SEARCH.RandomWalk(
        protected=[0], n_seeds=50, limits=Limits(tests=200), pos_label="high", random_state=0
    ),
]


@pytest.mark.parametrize("code", [GROUPS_CODE, SEARCH_CODE, RATES_CODE, PEERS_CODE, COLUMNS_CODE])
def test_only_the_public_face_is_imported(code):
    homes = set(re.findall(r"^(?:from|import) ([\w.]+)", code, re.M))
    assert {h for h in homes if h.startswith("skdisc")} == {"skdisc.extending"}


@pytest.mark.every(6)
@parametrize_with_checks(SMALL)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.every(3)
@pytest.mark.parametrize("check", detector_checks())
@pytest.mark.parametrize("detector", [*SMALL, PEERS.EqualPeers(n_groups=20)])
def test_common_checks(detector, check):
    detector_checks()[check](detector)


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(0)
    n = 1000
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(list("abc"), n),
            "points": rng.integers(0, 20, n),
        }
    )
    harmed = (X["sex"] == "F") & (X["town"] == "a")
    y = np.where(rng.random(n) < np.where(harmed, 0.2, 0.7), "yes", "no")
    return X, y


def test_the_planted_group_comes_first(loans):
    X, y = loans
    detector = GROUPS.RandomSubgroups(protected="sex", pos_label="yes", random_state=0)
    result = detector.fit(X, y).audit()
    assert str(result[0].subject) == "sex = 'F' and town = 'a'"
    assert result.verdict == "disparity found"
    assert detector.transform(X).shape == (len(X), len(result))
    again = detector.audit(X, y)
    assert [f.effect for f in again] == pytest.approx([f.effect for f in result])
    assert AuditResult.from_json(result.to_json()) == result
    assert "town = 'a'" in report.to_text([result])


def by_town(gap, seed=0, n=3000):
    """Return people: women live in u, where fewer are accepted, and `gap` fewer women."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"town": rng.choice(["u", "v"], n), "work": rng.choice(list("xyz"), n)})
    X["sex"] = np.where(rng.random(n) < np.where(X["town"] == "u", 0.8, 0.2), "F", "M")
    p = np.where(X["town"] == "u", 0.3, 0.7) - gap * (X["sex"] == "F")
    return X, (rng.random(n) < p).astype(int)


def peers(**settings):
    return PEERS.EqualPeers(protected="sex", pos_label=1, random_state=0, **settings)


def test_a_test_of_your_own_finds_what_other_columns_do_not_explain():
    plain = GROUPS.RandomSubgroups(protected="sex", pos_label=1, random_state=0)
    plain.versus = "everyone"
    assert plain.fit(*by_town(0)).result_.n_found
    nothing = peers().fit(*by_town(0)).result_
    assert (nothing.n_found, nothing.verdict) == (0, "insufficient evidence")
    found = peers().fit(*by_town(0.15)).result_
    assert (found.null, found.verdict) == ("conditional", "disparity found")
    text = " ".join(report.to_text([found]).split())
    assert "equal in all unprotected columns" in text


def test_a_test_of_your_own_is_that_of_statsmodels():
    from statsmodels.stats.contingency_tables import StratifiedTable

    X, y = by_town(0.05)
    result = peers(rule=Rule(correction="none")).fit(X, y).result_
    assert len(result) > 5
    for finding in result:
        inside = finding.subject.mask(X)
        cells = [X["town"].eq(t) & X["work"].eq(w) for t in "uv" for w in "xyz"]
        tables = [
            [[np.sum(c & (inside == i) & (y == o)) for o in (1, 0)] for i in (True, False)]
            for c in cells
            if 0 < inside[c].sum() < c.sum()
        ]
        p_value = StratifiedTable([np.array(t) for t in tables]).test_null_odds().pvalue
        assert finding.p_value == pytest.approx(p_value)


def test_a_test_of_your_own_measures_again_on_new_rows():
    detector = peers(max_predicates=1).fit(*by_town(0.15))
    again = detector.audit(*by_town(0.15, seed=1))
    for result in (detector.result_, again):
        effects = {str(finding.subject): finding.effect for finding in result}
        assert effects["sex = 'F'"] == pytest.approx(-0.15, abs=0.05)
    assert "equal in all unprotected columns" in report.to_text([again])
    nobody = by_town(0, n=200)
    assert detector.audit(nobody[0], np.ones(200, int)).verdict == "insufficient evidence"


def test_nothing_confirmed_is_no_evidence_of_equality():
    """Whatever the rows searched say, whose p-values are not corrected here."""
    detector = peers(rule=Rule(correction="none", relevant_gap=0.9))
    detector.confirm = 0.5
    result = detector.fit(*by_town(0, seed=1, n=1000)).result_
    assert (result.findings.table["p_adjusted"] <= 0.05).any()
    assert (result.n_found, result.verdict) == (0, "insufficient evidence")
    assert result.reason == "random groups do not cover all that could differ"
    stopped = peers(limits=Limits(seconds=0)).fit(*by_town(0, n=1000)).result_
    assert (stopped.reason, stopped.n_found) == (
        "the search was cut short by the limit of seconds",
        0,
    )


def test_a_null_of_your_own_is_not_judged_by_gaps_to_everyone_else():
    class Plain(PEERS.EqualPeers):
        _reasons = SubgroupDetector._reasons

    detector = Plain(protected="sex", pos_label=1, rule=Rule(relevant_gap=0.9), random_state=0)
    result = detector.fit(*by_town(0, n=1000)).result_
    assert (result.n_found, result.verdict) == (0, "insufficient evidence")
    assert "not those of a conditional null" in result.reason


def test_a_budget_ends_the_tests(loans):
    detector = GROUPS.RandomSubgroups(
        protected="sex", limits=Limits(tests=5), pos_label="yes", random_state=0
    )
    result = detector.fit(*loans).audit()
    assert (result.n_tested, result.stopped_by) == (5, "tests")


def test_names_and_the_order_of_rows_change_nothing(loans):
    X, y = loans
    detector = GROUPS.RandomSubgroups(protected="sex", random_state=0, pos_label="yes")
    effects = [f.effect for f in detector.fit(X, y).audit()]
    order = np.random.default_rng(1).permutation(len(X))
    named = X.replace({"sex": {"F": "z", "M": "b"}, "town": {"a": "r", "b": "q", "c": "p"}})
    for rows, labels in ((X.iloc[order], y[order]), (named, y)):
        found = [f.effect for f in clone(detector).fit(rows, labels).audit()]
        assert found == pytest.approx(effects)


def test_the_walk_finds_what_brute_force_finds():
    X = pd.DataFrame({"sex": ["F", "M"] * 50, "points": np.arange(100) % 10, "age": [30, 40] * 50})

    def unfair(X):
        return ((X["points"] > 4) & ((X["age"] < 33) | (X["sex"] == "M"))).astype(int)

    walk = SEARCH.RandomWalk(protected="sex", random_state=0).fit(X, model=unfair)
    space = walk.space_
    every = np.stack(
        np.meshgrid([0], *(np.arange(space.columns[j].size) for j in space.np_index)), axis=-1
    ).reshape(-1, 3)
    people = [space.decode(np.where(np.arange(3) == 0, s, every)) for s in (0, 1)]
    cases = (unfair(people[0]).to_numpy() != unfair(people[1]).to_numpy()).sum()
    assert walk.result_.n_found == cases > 0
    assert walk.score(X) > 0


def test_a_search_over_settings(loans):
    X, y = loans
    detector = GROUPS.RandomSubgroups(protected="sex", pos_label="yes", random_state=0)
    search = GridSearchCV(detector, {"max_predicates": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["max_predicates"] in (1, 2)


def test_every_name_of_the_face_has_a_docstring():
    for name in extending.__all__:
        thing = getattr(extending, name)
        assert not callable(thing) or thing.__doc__.strip(), name


def test_the_walk_keeps_to_the_rules_of_the_space():
    space = FeatureSpace.from_domains(
        {"sex": ["F", "M"], "a": (0, 50), "b": (0, 50)},
        protected=["sex"],
        monotone={"a": 1},
        immutable=["b"],
    )
    seeds = pd.DataFrame({"sex": "F", "a": 25, "b": [3, 4]})
    walk = SEARCH.RandomWalk(space=space, seeds=seeds, store_tested=True, random_state=0)
    tested = walk.fit(space, model=lambda X: X["sex"] == "M").result_.tables["tested"]
    assert tested["a"].min() == 25 < tested["a"].max()
    assert set(tested["b"]) == {3, 4}


@pytest.mark.parametrize("seed", range(3))
def test_p_values_are_those_of_all_permutations(seed):
    y = np.random.default_rng(seed).permutation([1, 1, 1, 1, 0, 0, 0, 0])
    race = np.array(list("aaabbbcc"))
    detector = RATES.PermutedRates(protected="race", n_resamples=20_000, pos_label=1)
    result = detector.fit(pd.DataFrame({"race": race}), y).result_
    orders = np.array(list(permutations(race)))
    assert len(result) == 3
    for finding in result:
        (value,) = (v for v in "abc" if f"'{v}'" in str(finding.subject))
        gap = lambda inside: abs(y @ inside / inside.sum() - y @ ~inside / (~inside).sum())  # noqa: E731
        exact = np.mean([gap(order == value) >= gap(race == value) - 1e-9 for order in orders])
        assert finding.p_value == pytest.approx(exact, abs=0.02)


def test_a_reversed_gap_and_values_that_are_new_confirm_nothing():
    X, y = pd.DataFrame({"sex": ["F", "M"] * 200}), np.tile([0, 1, 1, 1], 100)
    detector = RATES.PermutedRates(protected="sex", pos_label=1, random_state=0).fit(X, y)
    assert (detector.result_.n_found, detector.audit(X, y).n_found) == (2, 2)
    assert detector.audit(X, 1 - y).n_found == 0
    new = detector.audit(X.replace("F", "D"), y)
    assert any("did not occur at fit" in note for note in new.notes)
    with pytest.raises(ValueError, match=r"PermutedRates needs protected="):
        RATES.PermutedRates(pos_label=1).fit(X, y)


def three_towns(n=600, gap=0.3, seed=0):
    """Return people; those of town a are accepted less often, sex does not count."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"town": rng.choice(list("abcd"), n), "sex": rng.choice(["F", "M"], n)})
    return X, (rng.random(n) < 0.6 - gap * (X["town"] == "a")).astype(int)


def widest(**settings):
    return COLUMNS.WidestGaps(**{"protected": ["town", "sex"], "pos_label": 1} | settings)


def test_a_finding_per_column_is_the_widest_of_its_pairs():
    X, y = three_towns()
    result = widest().fit(X, y).result_
    assert (result.n_tested, result.n_found, len(result)) == (2, 1, 2)
    rates = pd.Series(y).groupby(X["town"]).mean()
    assert str(result[0].subject) == "town = 'a'"
    assert result[0].effect == pytest.approx(rates.min() - rates.max())
    assert result.by_value["town=a"] == (1, 1)
    assert result.by_value["sex=F"] == (1, 0)
    # Six pairs of towns, and the two sexes once.
    assert result.answer.n_family == 7
    with pytest.raises(ValueError, match="'town' has one value only"):
        widest().fit(X.assign(town="a"), y)
    low = widest(n_bins=Bins(edges={"points": [99]}), protected=["points"])
    alone = low.fit(pd.DataFrame({"points": np.arange(600.0) / 10}), y).result_
    assert (alone.n_tested, len(alone), alone.verdict) == (0, 0, "insufficient evidence")


def test_the_pair_is_the_same_on_other_rows_which_did_not_choose_it():
    detector = widest().fit(*three_towns())
    once, again = detector.result_, detector.audit(*three_towns(seed=1))
    (first, second) = (r.findings.table.iloc[0] for r in (once, again))
    assert (first["reference"], str(once[0].subject)) == (
        second["reference"],
        str(again[0].subject),
    )
    width = [t["ci_high"] - t["ci_low"] for t in (first, second)]
    assert width[1] < 0.8 * width[0]
    X, y = three_towns(seed=1)
    assert detector.audit(X, 1 - y).n_found == 0
    missing = detector.audit(X[X["town"] != "a"], y[X["town"] != "a"])
    assert missing.findings.table["p_value"].iloc[0] == 1


def test_the_interval_of_the_widest_gap_covers_and_finds_nothing_in_noise():
    """The gaps of towns that do not differ are all 0; the widest observed is not."""
    tables = [widest().fit(*three_towns(400, gap=0, seed=s)).result_ for s in range(200)]
    towns = [r.findings.table[[str(f.subject)[:4] == "town" for f in r]].iloc[0] for r in tables]
    assert sum(t["ci_high"] < 0 for t in towns) <= 17  # binomial: 17 or fewer of 200 at 0.05
    assert sum(r.n_found > 0 for r in tables) <= 17
