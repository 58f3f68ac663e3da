"""EIDIG: ADF without momentum, and how seldom it computes gradients."""

import pytest
from searches import linear, points
from sklearn.neural_network import MLPClassifier

from skdisc.individual import ADF, EIDIG


def test_eidig_without_momentum_or_delay_takes_the_steps_of_adf():
    X, model = points(), linear(points())
    settings = {"protected": "sex", "n_local": 30, "random_state": 0}
    ours = EIDIG(momentum=0.0, refresh_interval=1, **settings).fit(X, model=model).result_
    adf = ADF(next_state="restart", **settings).fit(X, model=model).result_
    assert ours.to_frame().equals(adf.to_frame())
    assert ours.n_queries == adf.n_queries


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_eidig_looks_at_fewer_gradients_the_longer_it_waits():
    X = points()
    net = MLPClassifier((8,), solver="lbfgs", max_iter=300, random_state=0)
    net.fit(X, X["a"] + X["b"] + 8 * X["sex"] > 60)
    settings = {"protected": "sex", "n_local": 50, "n_seeds": 30, "random_state": 0}
    beside = []
    for interval in (1, 5, None):
        result = EIDIG(refresh_interval=interval, **settings).fit(X, model=net).result_
        beside.append(result.n_queries - 2 * result.n_tested)
    assert beside[0] > beside[1] > beside[2] > 0
