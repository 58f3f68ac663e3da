"""The survey's experiment, by the exact law of its generator, against the numbers it published."""

import numpy as np
import pytest

from skdisc import measures as m
from skdisc.datasets._ranking import RankingLaw
from skdisc.measures._formula._pairs import CountPair

N, RUNS = 10_000, 100
INVERSE = {"dratio": "impact_ratio"}  # the figures draw a / b
COLUMNS = {
    "ddif": ("mean_difference", {}),
    "ddnorm": ("normalized_difference", {}),
    "dratio": ("impact_ratio", {}),
    "delift": ("elift", {"convention": "general"}),
    "dolift": ("odds_ratio", {}),
    "MInorm": ("mutual_information", {}),
}


def queue(share, positive, level, runs, rng):
    """Draw how many of the protected group are accepted."""
    law = RankingLaw.of(N, share, positive, level)
    return law.n_protected, law.n_positive, law.sample(runs, rng)


def values(name, options, n1, n_pos, x1):
    """Return the measure of every run, with tables built from counts."""
    measure = getattr(m, name)
    x1 = np.asarray(x1, dtype=float)
    x0, zero = n_pos - x1, np.zeros_like(x1)
    one, other = (
        np.stack([np.stack([n - x, zero], -1), np.stack([x, zero], -1)], -2)[:, None, None]
        for x, n in ((x1, n1), (x0, N - n1))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        if measure.plan.omnibus:
            both = np.concatenate([one, other], axis=2)
            return measure.plan.function(CountPair(both, np.zeros_like(both)), **options).value
        return measure.plan.function(CountPair(one, other), **options).value[:, 0]


@pytest.fixture(scope="module")
def published(load):
    return load("measures/zliobaite")


@pytest.mark.slow
@pytest.mark.every(3)
@pytest.mark.parametrize("column", COLUMNS)
def test_published_figures(published, column):
    name, options = COLUMNS[column]
    rng = np.random.RandomState(0)
    scores = []
    for row in published.itertuples():
        drawn = values(name, options, *queue(row.pF, row.pp, row.disc, 2000, rng))
        with np.errstate(divide="ignore"):
            drawn = 1 / drawn if column in INVERSE else drawn
        if not np.isfinite(drawn).all() or np.abs(drawn).max() > 8.9:
            continue  # published means are capped at 9
        spread = drawn.std()
        if spread < 1e-9:
            assert drawn.mean() == pytest.approx(getattr(row, column), abs=2e-3)
            continue
        error = np.hypot(spread * np.sqrt(1 / RUNS + 1 / 2000), 0.001 / np.sqrt(12))
        scores.append((drawn.mean() - getattr(row, column)) / error)
    scores = np.array(scores)
    assert len(scores) > 350
    assert abs(scores.mean()) < 0.2
    assert 0.8 < scores.std() < 1.2
    assert np.abs(scores).max() < 5
