"""The queue against its exact law, small queues in full, and the author's published table."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc.datasets import make_hiring, make_loan, make_ranking_discrimination
from skdisc.datasets._ranking import RankingLaw

SHARES = st.floats(0, 1)


def queue(n, p_protected, p_positive, discrimination, seed=0):
    return make_ranking_discrimination(
        n,
        p_protected=p_protected,
        p_positive=p_positive,
        discrimination=discrimination,
        random_state=seed,
    )


def by_enumeration(law):
    """Count over every choice of people and every order of the queue."""
    n = law.n_protected + law.n_regular
    people = range(n)
    counts = np.zeros(law.n_protected + 1)
    for a in combinations(range(law.n_protected), law.n_picked_protected):
        for b in combinations(range(law.n_protected, n), law.n_picked_regular):
            for line in permutations(people):
                places = [i for i in people if line[i] in a + b]
                first, then = (a, b) if law.reverse else (b, a)
                after = list(line)
                for i, person in zip(places, first + then, strict=True):
                    after[i] = person
                counts[sum(p < law.n_protected for p in after[: law.n_positive])] += 1
    return counts / counts.sum()


@pytest.mark.parametrize("discrimination", [-1, -0.5, 0, 0.3, 0.5, 1])
@pytest.mark.parametrize(("p_protected", "p_positive"), [(0.5, 0.5), (0.3, 0.7), (0.67, 0.2)])
def test_the_law_is_that_of_all_small_queues(p_protected, p_positive, discrimination):
    law = queue(6, p_protected, p_positive, discrimination).law
    np.testing.assert_allclose(law.pmf(), by_enumeration(law), atol=1e-12)


@given(n=st.integers(1, 60), q=SHARES, p=SHARES, d=st.floats(-1, 1), seed=st.integers(0, 99))
def test_sizes_are_as_asked(n, q, p, d, seed):
    made = queue(n, q, p, d, seed)
    law, group = made.law, made.data["group"]
    assert (group == "protected").sum() == law.n_protected == round(n * q)
    assert made.target.sum() == law.n_positive == round(n * p)
    assert sorted(made.place) == sorted(made.fair_place) == list(range(n))
    assert (made.place != made.fair_place).sum() <= law.n_picked_protected + law.n_picked_regular
    mass = law.pmf()
    assert mass.sum() == pytest.approx(1)
    assert mass[made.target[group == "protected"].sum()] > 0
    drawn = law.sample(20, seed)
    assert mass[drawn].min() > 0


@pytest.mark.parametrize("discrimination", [-0.7, 0, 0.4])
def test_queues_follow_the_law(discrimination):
    runs = [queue(200, 0.3, 0.4, discrimination, seed) for seed in range(200)]
    count = np.array([r.target[r.data["group"] == "protected"].sum() for r in runs])
    law = runs[0].law
    drawn = law.sample(20_000, 0)
    x = np.arange(law.n_protected + 1)
    mean = law.pmf() @ x
    sd = np.sqrt(law.pmf() @ (x - mean) ** 2)
    assert abs(count.mean() - mean) < 4 * sd / np.sqrt(len(count))
    assert abs(drawn.mean() - mean) < 4 * sd / np.sqrt(len(drawn))
    assert drawn.std() == pytest.approx(sd, rel=0.03)


def test_full_discrimination_and_none():
    assert (
        queue(1000, 0.3, 0.5, 1).target[queue(1000, 0.3, 0.5, 1).data["group"] == "protected"].sum()
        == 0
    )
    assert queue(1000, 0.3, 0.5, 0).law.expect(lambda a, b: a - b) == pytest.approx(0)
    made = queue(1000, 0.3, 0.5, 0)
    np.testing.assert_array_equal(made.place, made.fair_place)
    assert np.isnan(queue(10, 0, 0.5, 0).law.expect(lambda a, b: a - b))


def test_the_published_table(load):
    """Means of 100 runs of n = 10,000, rounded to 3 places: within Monte-Carlo error of the law."""
    table = load("measures/zliobaite")
    assert len(table) == 25 * 21
    drawn, z = [], []
    for row in table.itertuples():
        law = RankingLaw.of(10_000, row.pF, row.pp, row.disc)
        share = law.sample(400, 0) / law.n_protected
        gap = (row.pp - row.pF * share) / (1 - row.pF) - share
        drawn.append(gap.mean())
        if row.disc in (-0.5, 0, 0.5):
            mass = law.pmf()
            share = np.arange(len(mass)) / law.n_protected
            gap = (row.pp - row.pF * share) / (1 - row.pF) - share
            sd = np.sqrt(mass @ gap**2 - (mass @ gap) ** 2)
            z.append((row.ddif - mass @ gap) / np.hypot(sd / 10, 3e-4))
            assert abs(drawn[-1] - mass @ gap) < 5 * sd / 20
    assert np.abs(table["ddif"] - drawn).max() < 0.006
    assert len(z) == 75
    assert abs(np.mean(z)) < 0.4
    assert 0.7 < np.std(z) < 1.3
    assert np.abs(z).max() < 4.5


def test_arrays_and_seed():
    frame = queue(50, 0.4, 0.5, 0.5, 1)
    arrays = make_ranking_discrimination(
        50, p_protected=0.4, discrimination=0.5, as_frame=False, random_state=1
    )
    assert arrays.frame is None
    np.testing.assert_array_equal(arrays.target, frame.target)
    np.testing.assert_array_equal(arrays.data[:, 0] == 1, frame.data["group"] == "protected")
    X, y = make_ranking_discrimination(
        50, p_protected=0.4, discrimination=0.5, return_X_y=True, random_state=1
    )
    pd.testing.assert_frame_equal(X, frame.data)
    pd.testing.assert_series_equal(y, frame.target)
    assert not frame.frame.equals(queue(50, 0.4, 0.5, 0.5, 2).frame)


@pytest.mark.parametrize("wrong", [{"p_protected": 2}, {"discrimination": -1.1}, {"n_samples": 0}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}'"):
        make_ranking_discrimination(**wrong)
    with pytest.raises(TypeError, match="shift"):
        make_ranking_discrimination(shift=1)


def test_hiring_follows_its_law():
    hiring = make_hiring(100_000, random_state=0)
    by = hiring.frame.groupby("gender")[["work_experience", "hair_length"]].agg(["mean", "var"])
    law = {
        "female": [5, 25.04, 17.5, 35**2 / 20],
        "male": [11, 31.04, 70 / 9, 35**2 * 14 / 810],
    }
    for gender, moments in law.items():
        np.testing.assert_allclose(by.loc[gender], moments, rtol=0.02)
    gap = hiring.target - hiring.probability
    assert abs(gap.mean()) < 4 * 0.5 / np.sqrt(len(gap))
    work = hiring.data["work_experience"]
    np.testing.assert_allclose(hiring.probability, 1 / (1 + np.exp(25.5 - 2.5 * work)))
    rate = pd.Series(hiring.decision).groupby(hiring.data["gender"]).mean()
    assert abs(rate["male"] - rate["female"]) < 0.05  # that is what the model was made for
    share = (hiring.data["gender"] == "female").mean()
    assert share == pytest.approx(0.5, abs=0.01)


def test_hiring_as_arrays():
    frame, arrays = (make_hiring(60, as_frame=f, random_state=3) for f in (True, False))
    np.testing.assert_array_equal(arrays.data[:, 1:], frame.data.iloc[:, 1:])
    np.testing.assert_array_equal(arrays.data[:, 0] == 1, frame.data["gender"] == "female")
    np.testing.assert_array_equal(arrays.decision, frame.decision)
    X, y = make_hiring(60, return_X_y=True, random_state=3)
    pd.testing.assert_frame_equal(X, frame.data)
    pd.testing.assert_series_equal(y, frame.target)
    with pytest.raises(ValueError, match="'p_female'"):
        make_hiring(p_female=-1)


@pytest.mark.parametrize("make", [make_loan, make_hiring, make_ranking_discrimination])
def test_any_random_state(make):
    for state in (np.random.default_rng, np.random.RandomState):
        used = state(5)
        first = make(50, random_state=used).frame
        pd.testing.assert_frame_equal(first, make(50, random_state=state(5)).frame)
        assert not first.equals(make(50, random_state=used).frame)
    pd.testing.assert_frame_equal(first, make(50, random_state=5).frame)
