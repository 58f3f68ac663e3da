"""Protected columns drawn anew keep their relation with the other columns, and lose that with y."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from skdisc._blackbox import _redrawn
from skdisc._blackbox._redrawn import Redrawn, n_folds_of


def people(n=1000, seed=0, slope=2.0):
    """Return people whose sex depends on their income, and whose race depends on their sex."""
    rng = np.random.default_rng(seed)
    income = rng.normal(size=n)
    sex = np.where(rng.random(n) < 1 / (1 + np.exp(-slope * income)), "M", "F")
    race = np.where(rng.random(n) < np.where(sex == "F", 0.6, 0.1), "b", "w")
    town = rng.choice(list("uvw"), n)
    return pd.DataFrame({"income": income, "sex": sex, "race": race, "town": town})


def related(X, left, right):
    return np.corrcoef(pd.factorize(X[left], sort=True)[0], pd.factorize(X[right], sort=True)[0])[
        0, 1
    ]


def draws(X, protected, n=20):
    law = Redrawn(X, protected)
    return [law.draw(seed) for seed in range(n)]


@pytest.mark.slow
def test_relations_with_the_other_columns_stay():
    X = people()
    drawn = draws(X, ["sex", "race"], 10)
    for pair in [("sex", "income"), ("race", "income"), ("sex", "race"), ("sex", "town")]:
        again = [related(d.assign(income=d["income"].rank()), *pair) for d in drawn]
        here = related(X.assign(income=X["income"].rank()), *pair)
        assert np.mean(again) == pytest.approx(here, abs=0.07)


def test_a_relation_with_anything_that_is_not_given_is_lost():
    X = people(slope=0).drop(columns="race")
    secret = X["sex"] == "M"
    agree = [(d["sex"] == "M").eq(secret).mean() for d in draws(X, ["sex"])]
    assert np.mean(agree) == pytest.approx(0.5, abs=0.03)


def test_what_the_others_tell_exactly_is_drawn_again():
    X = people().assign(title=lambda X: X["sex"].map({"M": "Mr", "F": "Ms"}))
    assert (draws(X, ["sex"], 1)[0]["sex"] == X["sex"]).mean() > 0.98


def test_without_a_relation_values_are_permuted():
    X = people(4000, slope=0).drop(columns="race")
    law = Redrawn(X, ["sex"])
    own = law._laws[0].learned[:, 0]
    assert_allclose(own, own.mean(), atol=0.1)
    assert abs((law.draw(0)["sex"] == "M").mean() - (X["sex"] == "M").mean()) < 0.04


def test_probabilities_are_calibrated():
    X = people(4000)
    law = Redrawn(X, ["sex"])._laws[0]
    p = law.learned[:, [X["sex"][members[0]] for members in law._members].index("M")]
    for low in (0.0, 0.25, 0.5, 0.75):
        inside = (p >= low) & (p < low + 0.25)
        assert (X["sex"][inside] == "M").mean() == pytest.approx(p[inside].mean(), abs=0.05)


@pytest.mark.slow
def test_only_protected_columns_change_and_keep_their_dtype():
    X = people(200).assign(
        age=np.arange(200) % 70, born=pd.Categorical(["a", None] * 100), rare=["q"] + ["p"] * 199
    )
    X.index = X.index[::-1]
    law = Redrawn(X, ["sex", "age", "born", "rare", "unknown"])
    drawn = law.draw([3, 4])
    assert list(drawn.columns) == list(X.columns)
    assert (drawn.dtypes == X.dtypes).all()
    pd.testing.assert_frame_equal(drawn[["income", "race", "town"]], X[["income", "race", "town"]])
    for name in ("sex", "age", "born", "rare"):
        assert set(drawn[name].dropna()) <= set(X[name].dropna())
    assert drawn["born"].isna().any()
    pd.testing.assert_frame_equal(drawn, law.draw([3, 4]))
    assert not drawn["sex"].equals(law.draw([3, 5])["sex"])


@pytest.mark.slow
def test_numbers_are_drawn_near_those_of_similar_people():
    rng = np.random.default_rng(0)
    years = rng.integers(0, 40, 2000)
    X = pd.DataFrame({"years": years, "age": 20 + years + rng.integers(0, 10, 2000)})
    drawn = draws(X, ["age"], 1)[0]
    assert drawn.corr().loc["years", "age"] > 0.9 * X.corr().loc["years", "age"]


@pytest.mark.parametrize("X", [pd.DataFrame({"a": ["x", "y"] * 6}), people(3), people(1)])
def test_few_rows_or_columns(X):
    drawn = Redrawn(X, list(X.columns[:1])).draw(0)
    assert set(drawn.iloc[:, 0]) <= set(X.iloc[:, 0])


def places(n=4000, seed=0, *, by_number=False):
    """Return people of 60 places, whose share of women has no order in the places, or one."""
    rng = np.random.default_rng(seed)
    zip_code, share = np.sort(rng.integers(10_000, 99_999, 60)), rng.uniform(0.1, 0.9, 60)
    which = rng.integers(0, 60, n)
    woman = rng.random(n) < (np.sort(share) if by_number else share)[which]
    return pd.DataFrame({"zip": zip_code[which], "sex": np.where(woman, "f", "m")})


def share_kept(X, drawn):
    """Return the slope of the share of women of each place after drawing on that before."""
    before, after = ((d["sex"] == "f").groupby(X["zip"]).mean() for d in (X, drawn))
    return np.cov(before, after)[0, 1] / before.var()


def test_codes_are_no_numbers():
    """As numbers alone, the draws kept .61 of how places differ; as codes, too, .89."""
    X = places()
    kept = np.mean([share_kept(X, d) for d in draws(X, ["sex"], 5)])
    as_text = X.assign(zip=X["zip"].astype(str))
    assert kept == pytest.approx(
        np.mean([share_kept(X, d) for d in draws(as_text, ["sex"], 5)]), abs=0.05
    )
    assert kept > 0.8


def test_numbers_that_classes_follow_are_no_codes():
    X = places(by_number=True)
    rng = np.random.default_rng(0)
    sex = _redrawn._classes(X["sex"])
    assert not _redrawn._is_code(X["zip"], sex)
    for seed in range(40):  # nothing to follow
        X = places(seed=seed)
        assert not _redrawn._is_code(X["zip"], rng.permutation(_redrawn._classes(X["sex"])))
    people = np.ones(len(X), dtype=np.int64)
    assert _redrawn._is_code(X["zip"], _redrawn._classes(X["sex"]), people)


def test_weights_are_given():
    X = people(slope=0).drop(columns="race")
    weight = np.where(X["sex"] == "M", 2.0, 1.0)
    assert (Redrawn(X, ["sex"], weight).draw(0)["sex"] == X["sex"]).mean() > 0.98


@pytest.mark.slow
def test_what_is_remembered_is_what_would_be_learned_again(monkeypatch):
    X = people().assign(age=lambda X: np.arange(len(X)) % 7)
    X.loc[::9, "sex"] = None
    kept = Redrawn(X, ["sex", "race", "age"])
    drawn = [kept.draw(seed) for seed in (0, 1)]
    assert len(kept._laws[2].cached) > len(kept._laws[1].cached) > 1
    monkeypatch.setattr(_redrawn, "_MOST_CACHED", 0)
    for seed, rows in enumerate(drawn):
        pd.testing.assert_frame_equal(kept.draw(seed), rows)


def test_many_rows_are_learned_in_two_folds():
    """Five folds of few rows, and no more folds than rows."""
    assert [n_folds_of(n) for n in (3, 49_999, 50_000)] == [3, 5, 2]


def test_rare_values_are_one_class_and_numbers_are_cut_into_ten():
    values = pd.Series([*"a" * 10, *"b" * 9, *"c" * 8, *"d" * 20])
    names = values.map(dict(zip("abcd", [0, 1, 1, 2], strict=True)))
    assert (_redrawn._classes(values) == names).all()
    ten, eleven = (pd.Series(np.repeat(np.arange(n) / 3, 20)) for n in (10, 11))
    assert len(set(_redrawn._classes(ten))) == 10
    assert len(set(_redrawn._classes(pd.Series(np.arange(400) / 7)))) == 10
    assert len(set(_redrawn._classes(eleven))) == 10


def alike(values, cluster):
    """Return the share of pairs of rows within clusters that have one value."""
    pairs = pd.DataFrame({"v": values, "c": cluster}).reset_index()
    pairs = pairs.merge(pairs, on="c").query("index_x < index_y")
    return (pairs["v_x"] == pairs["v_y"]).mean()


@pytest.mark.parametrize("mixed", [0.0, 0.3, 1.0])
def test_values_resemble_each_other_within_clusters_as_before(mixed):
    rng, house = np.random.default_rng(0), np.repeat(np.arange(200), 5)
    race = np.where(rng.random(1000) < mixed, rng.choice(list("bw"), 1000), "")
    X = pd.DataFrame({"race": np.where(race == "", rng.choice(list("bw"), 200)[house], race)})
    X["town"] = rng.choice(list("uv"), 1000)
    law = Redrawn(X, ["race"], cluster=house)
    drawn = [law.draw(seed)["race"] for seed in range(10)]
    again = np.mean([alike(d, house) for d in drawn])
    assert again == pytest.approx(alike(X["race"], house), abs=0.04)
    assert (again == 1) == (mixed == 0)
    assert np.std([(d == "b").mean() for d in drawn]) > 0.015 * (2 - mixed)
    assert alike(Redrawn(X, ["race"]).draw(0)["race"], house) < 0.6


def test_opposites_within_clusters_are_drawn_one_by_one():
    pair = np.repeat(np.arange(300), 2)
    X = pd.DataFrame({"sex": ["F", "M"] * 300, "town": ["u", "v", "v", "u"] * 150})
    law = Redrawn(X, ["sex"], cluster=pair)
    assert law._laws[0]._clustered.correlation == 0
    assert alike(law.draw(0)["sex"], pair) == pytest.approx(0.5, abs=0.1)


def test_clusters_stay_in_one_fold():
    cluster = np.repeat(np.arange(50), 4)
    fold = _redrawn.in_folds(200, None, 0, cluster)[2]
    assert (fold.reshape(50, 4) == fold[::4, None]).all()
    assert len(np.unique(fold)) == 5
