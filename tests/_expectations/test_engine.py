"""The engine as a whole: what is left to learn, what is drawn, and what does not count."""

import numpy as np
import pandas as pd
import pytest
from hard_laws import codes, parity, turning_code
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdisc import FeatureSpace
from skdisc._expectations import Covariates, deal_rows, learn, said_about
from skdisc._expectations._out_of_fold import Trees


def learned(table, y, woman, seed=0, **settings):
    return learn(Covariates.of(table), y, woman, np.random.default_rng(seed), **settings)


WORLDS = [codes, parity, turning_code]


@pytest.mark.slow
@pytest.mark.statistics
@pytest.mark.parametrize("gap", [0.0, -0.1])
@pytest.mark.parametrize("world", WORLDS)
def test_intervals_cover(world, gap):
    """.95 is meant; of 30 intervals that cover so, fewer than 26 would cover in 1 %."""
    covered = 0
    for seed in range(30):
        X, y, woman = world(seed, gap)
        found = learned(X, y, woman, seed, n_splits=1)
        low, high = found.interval()
        covered += low <= gap <= high
        assert found.error[0] < 0.04
    assert covered >= 26


def tossed(seed, n=1000):
    """Return 40 codes as text, and two coins that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"zip": rng.integers(40, size=n).astype(str), "age": rng.integers(30, size=n)})
    return X, rng.integers(2, size=n).astype(float), rng.integers(2, size=n).astype(float)


def test_a_coin_shows_what_trees_take_for_a_law():
    """By as much they increase the variance of residuals of other coins beyond what is left."""
    told, seen = [], []
    for seed in range(6):
        found = learned(*tossed(seed), seed, n_splits=1, tosses=True)
        left = 0.25 * (1 - found.rank / 1000)
        told.append(found.taken_for_law)
        seen += [np.mean(found.outcome**2) / left - 1, np.mean(found.parts**2) / left - 1]
    assert np.mean(seen) > 0.08
    assert np.mean(told) == pytest.approx(np.mean(seen), rel=0.25)
    again = learned(*tossed(5), 5, n_splits=1, tosses=True)
    assert again.taken_for_law == told[-1]
    assert learned(*tossed(0), n_splits=1).taken_for_law == 0
    assert learned(*tossed(0), tosses=True, learner="additive").taken_for_law == 0


@pytest.mark.slow
@pytest.mark.statistics
def test_what_trees_take_for_a_law_is_in_the_variance_of_estimates():
    """z-scores of coins have a variance of 1, and of about 1.13 without it."""
    z = []
    for seed in range(250):
        found = learned(*tossed(seed), seed, n_splits=1, tosses=True)
        tau = found.taken_for_law
        z.append(found.gap[0] / found.error[0] / np.sqrt(1 + tau))
    below, above = 1 - 2.6 * np.sqrt(2 / 250), 1 + 2.6 * np.sqrt(2 / 250)
    assert below < np.var(z) < above


def test_cells_that_move_the_estimate_join_before_trees():
    found = learned(*parity(0), learner="additive")
    assert any({"a", "b", "c"} <= set(own.columns) for own in found.joined)
    assert not found.unlearned[0]
    assert abs(found.gap[0]) < 3 * found.error[0]
    assert any("'a' × 'b' × 'c' (8 cells)" in note for note in found.notes)


@pytest.mark.slow
def test_a_real_gap_is_nothing_to_learn():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": rng.integers(6, size=3000).astype(str), "x": rng.normal(size=3000)})
    woman = (rng.random(3000) < 0.2 + 0.1 * rng.integers(6, size=3000)).astype(float)
    y = rng.normal(size=3000) - 2 * woman
    found = learned(X, y, woman)
    assert not found.unlearned[0]
    assert found.gap[0] == pytest.approx(-2, abs=0.15)


@pytest.mark.parametrize("seed", [18, 25])
def test_cells_that_join_perhaps_for_nothing_widen_the_interval(seed):
    """No cells of crossings are in the law: intervals covered in .89 of 56 such data sets."""
    X, y, woman = codes(seed)
    found = learned(X, y, woman, learner="additive")
    assert len(found.joined) == len(found.unlearned[0]) == 1
    doubt, gap, error = found.unlearned[0][0], found.gap[0], found.error[0]
    # about one crossing with a B of so many errors joins for nothing
    assert -1 <= doubt.bias / found.joined[0].bias < -0.5
    below, above = found.widening()
    assert (below, above) == ((doubt.bias, 0) if doubt.bias > 0 else (0, -doubt.bias))
    assert found.interval() == pytest.approx(
        (gap - 1.96 * error - below, gap + 1.96 * error + above)
    )
    assert "perhaps for nothing" in said_about(found.unlearned[0])


def test_what_is_left_to_learn_widens_the_interval():
    X, y, woman = codes(1, n=400, n_codes=20)
    found = learned(X, y, woman, learner="additive")
    wave = 0.3 * np.sin(X["zip"].to_numpy())
    assert not found.left_to_learn(found.outcome, found.parts[:, 0])
    left = found.left_to_learn(found.outcome + wave, found.parts[:, 0] + wave)
    assert left
    assert left[0].bias > 0
    assert "'zip'" in said_about(left)
    assert "widened down by" in said_about(left)


SETTINGS = [{}, {"learner": "additive"}]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_no_order_of_rows_or_columns_counts(settings):
    X, y, woman = codes(0, n=500)
    weight, cluster = np.random.default_rng(1).uniform(0.5, 2, 500), np.arange(500) // 3
    given = {"weight": weight, "cluster": cluster}
    one = learned(X, y, woman, **given, **settings)
    order = np.random.default_rng(2).permutation(500)
    given = {"weight": weight[order], "cluster": (7 * cluster % 167)[order]}
    other = learned(X.iloc[order, ::-1], y[order], woman[order], **given, **settings)
    np.testing.assert_array_equal(one.outcome[order], other.outcome)
    np.testing.assert_array_equal(one.parts[order], other.parts)
    np.testing.assert_array_equal(one.error, other.error)


@pytest.mark.slow
def test_the_unit_of_weights_does_not_count():
    X, y, woman = codes(0, n=500)
    weight = np.random.default_rng(1).uniform(0.5, 2, 500)
    one, other = (learned(X, y, woman, weight=weight * unit) for unit in (1, 64))
    np.testing.assert_allclose(one.outcome, other.outcome, atol=1e-9)
    np.testing.assert_allclose(one.error, other.error)


def test_rows_of_many_people_are_copies_where_nothing_is_drawn():
    X, y, woman = codes(0, n=300, n_codes=6)
    people = np.random.default_rng(1).integers(1, 6, 300)
    counted = learned(X, y, woman, people=people, learner="additive")
    at = np.repeat(np.arange(300), people)
    copies = learned(X.iloc[at], y[at], woman[at], learner="additive")
    np.testing.assert_allclose(counted.outcome[at], copies.outcome, atol=1e-5)
    np.testing.assert_allclose(counted.gap, copies.gap, atol=1e-6)
    np.testing.assert_allclose(counted.error, copies.error, rtol=0.01)
    assert [own.columns for own in counted.joined] == [own.columns for own in copies.joined]


def test_people_of_a_row_are_dealt_into_folds():
    people = np.array([40, 1, 7, 1000])
    rows, pieces, folds = deal_rows(people, 3, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(rows, pieces), people)
    for fold in folds:
        sizes = np.bincount(fold, pieces)
        assert len(sizes) == 5
        assert np.ptp(sizes) <= 1


@pytest.mark.slow
def test_clusters_stay_whole_in_folds():
    """Copies of people in other folds would tell trees what to expect of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 3)), columns=[*"abc"]).iloc[np.repeat(range(150), 8)]
    y, woman = rng.normal(size=150).repeat(8), rng.integers(2, size=150).repeat(8).astype(float)
    whole = learned(X, y, woman, cluster=np.arange(150).repeat(8))
    apart = learned(X, y, woman)
    assert (whole.outcome**2).mean() > 0.7
    assert (apart.outcome**2).mean() < 0.6
    assert whole.error[0] > 1.5 * apart.error[0]


@pytest.mark.slow
def test_a_part_and_all_others_are_mirrored_and_shares_add_up():
    X, y, woman = codes(3, n=600)
    race = np.random.default_rng(0).integers(3, size=600)
    parts = np.column_stack([woman, 1 - woman, *(race == k for k in range(3))])
    found = learned(X, y, parts)
    np.testing.assert_allclose(found.parts[:, 0], -found.parts[:, 1], atol=1e-6)
    np.testing.assert_allclose(found.shares[:, 2:].sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(found.gap[0], -found.gap[1], atol=1e-6)


def test_expectations_and_residuals_add_up_to_what_is_there():
    X, y, woman = codes(3, n=600)
    found = learned(X, y, woman)
    np.testing.assert_allclose(found.expected + found.outcome, y)
    np.testing.assert_allclose(found.shares[:, 0] + found.parts[:, 0], woman)


def test_an_estimator_of_the_user_learns_and_is_checked():
    X, y, woman = parity(0)
    given = {"X": X, "learner": LinearRegression()}
    found = learned(X, y, woman, **given)
    assert any({"a", "b", "c"} <= set(own.columns) for own in found.joined)
    found = learned(X, y, woman, X=X, learner=LogisticRegression())
    assert np.isfinite(found.outcome).all()


@pytest.mark.parametrize(
    ("learner", "town", "message"),
    [
        (LogisticRegression(), 0, "is a classifier, but the outcomes are numbers other than"),
        (LinearRegression(), "a", "failed on the legitimate columns.*could not convert"),
    ],
)
def test_an_estimator_that_cannot_learn_is_refused(learner, town, message):
    X, y, woman = parity(0, n=100)
    y[0] = 0.5
    X["town"] = town
    with pytest.raises(ValueError, match=message):
        learned(X, y, woman, X=X, learner=learner)


def test_columns_that_look_like_codes_are_named():
    X, y, woman = codes(0)
    X["age"] = np.random.default_rng(0).integers(18, 66, len(X))
    notes = learned(X, y + X["age"] ** 2 / 1000, woman, learner="additive").notes
    assert [note.split(" looks")[0] for note in notes if "looks like a code" in note] == ["'zip'"]


def test_nothing_to_learn_from():
    y, woman = np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0])
    found = learned(pd.DataFrame(index=range(4)), y, woman)
    assert found.gap[0] == pytest.approx(0)
    np.testing.assert_allclose(found.outcome, y - 0.5)
    X = pd.DataFrame({"a": [np.nan] * 4, "b": [1.0] * 4, "c": [None] * 4})
    left = learned(X, y, woman, learner="additive").outcome
    np.testing.assert_allclose(left, y - 0.5, atol=1e-7)


def test_missing_is_the_last_category():
    X = pd.DataFrame({"town": ["a", None, "b", "a"], "x": [1.0, np.nan, 2, 3]})
    covariates = Covariates.of(X)
    np.testing.assert_array_equal(covariates.values[0], [0, 2, 1, 0])


def test_of_a_part_and_all_others_one_is_learned():
    from skdisc._expectations._engine import _predicted

    rng = np.random.default_rng(0)
    y, race, woman = rng.normal(size=90), rng.integers(3, size=90), rng.integers(2, size=90)
    parts = [woman, 1 - woman, *(race == k for k in range(3)), woman * (race == 0)]
    targets = np.column_stack([y, *parts]).astype(float)
    learned = []

    def learn_mean(target, rows):
        learned.append(target)
        return lambda out: np.full(len(out), target[rows].mean())

    folds = rng.permutation(90)[None] % 3
    found = _predicted(learn_mean, targets, folds, {})
    assert len(learned) == 5 * 3  # outcome, women, two races, and women of one
    for k in range(3):
        mean = targets[folds[0] != k].mean(axis=0)
        np.testing.assert_allclose(found[folds[0] == k], mean[None].repeat(30, axis=0))


def test_intersections_are_predicted_from_the_columns_that_they_cross():
    from skdisc._expectations._engine import _crossed, _predicted

    rng = np.random.default_rng(0)
    y, race, woman = rng.normal(size=900), rng.integers(3, size=900), rng.integers(2, size=900)
    young, age = np.arange(900) % 2, rng.integers(60, size=900)
    single = [woman, race == 0, race == 1, race == 2, age < 40, age < 30]
    both = [woman * (race == 1), (1 - woman) * (race == 2) * (age < 30), young]
    targets = np.column_stack([y, *single, *both]).astype(float)
    crossed = _crossed(targets, range(6))
    assert {j: set(sides) for j, sides in crossed.items()} == {
        7: {(1, False), (3, False)},
        8: {(1, True), (4, False), (6, False)},  # not younger than 40, which says less
    }

    def learn_mean(target, rows):
        return lambda out: np.full(len(out), target[rows].mean())

    found = _predicted(learn_mean, targets, rng.permutation(900)[None] % 3, crossed)
    np.testing.assert_allclose(found[:, 7], found[:, 1] * found[:, 3])
    np.testing.assert_allclose(found[:, 8], (1 - found[:, 1]) * found[:, 4] * found[:, 6])


@pytest.mark.statistics
def test_intersections_that_depend_on_covariates_where_no_column_does():
    """Sex and race agree where town and work do, on which outcomes depend: nobody is worse off."""
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        town, work, sex = rng.integers(2, size=(3, 1500))
        agree = np.where(town == work, 1, -1)
        race = np.where(rng.random(1500) < 0.5 + 0.3 * agree, sex, 1 - sex)
        X = pd.DataFrame({"town": town, "work": work, "x": rng.normal(size=1500)})
        parts = np.column_stack([sex, race, sex * race])
        y = rng.random(1500) < 0.5 + 0.1 * agree
        result = learn(Covariates.of(X), y, parts, rng, checked=[0, 1])
        found += abs(result.gap[2]) > 1.96 * result.error[2]
        raw = y[parts[:, 2] == 1].mean() - y[parts[:, 2] == 0].mean()
        assert raw > 0.02  # twice the error of a share
    assert found <= 3  # P(more) = .016 at level .05; with 60 data sets 3 of them


@pytest.mark.parametrize("n_known", [0, 1])
def test_a_number_that_is_missing_for_all_who_are_learned_from_is_a_constant(n_known):
    """New rows may lack a number altogether, and folds one that few people have."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=60)
    few = np.r_[np.ones(n_known), np.full(60 - n_known, np.nan)]
    X = pd.DataFrame({"points": points, "few": few})
    predict = Trees(Covariates.of(X, FeatureSpace.from_frame(X.assign(few=1.0))))(
        points, np.arange(n_known, 60)
    )
    assert np.isfinite(predict(np.arange(60))).all()
