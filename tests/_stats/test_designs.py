"""Variances with weights and clusters, against statsmodels, Welch and a bootstrap of clusters."""

import numpy as np
import pytest
from scipy import stats
from skewed_pay import oracle

from skdisc._stats import DesignMeans, design_chi2
from skdisc._stats._means import Welch


def sample(seed, n=400, size=1):
    rng = np.random.default_rng(seed)
    cluster = np.arange(n) // size
    shared = rng.normal(size=n)[cluster]
    one = rng.random(n) < 0.4
    return shared + rng.normal(size=n) + one, rng.lognormal(size=n), one, cluster


def test_without_weights_it_is_welch():
    y, _, one, _ = sample(0)
    d = DesignMeans.of(y, np.ones(400), one, ~one)
    group, rest = zip(*(part[:, 0] for part in d.moments()), strict=True)
    wanted = stats.ttest_ind(y[one], y[~one], equal_var=False)
    assert Welch.of(group[:3], rest[:3]).p_value() == pytest.approx(wanted.pvalue)
    parts = y[one], y[~one]
    assert Welch.of(group, rest).p_value() == pytest.approx(oracle(*parts, parts)[1])
    shares = DesignMeans.of(y > 0, np.ones(400), one, ~one)
    assert shares.sizes().ravel() == pytest.approx([one.sum(), (~one).sum()], rel=0.02)


@pytest.mark.parametrize("size", [1, 5])
def test_variances_are_those_of_weighted_least_squares(size):
    """CR2 lies between CR1 and the jackknife; all are near each other with many clusters."""
    linear_model = pytest.importorskip("statsmodels.api")
    y, w, one, cluster = sample(1, 2000, size)
    fit = linear_model.WLS(y, np.column_stack([one, ~one]).astype(float), weights=w).fit(
        cov_type="cluster", cov_kwds={"groups": cluster}
    )
    d = DesignMeans.of(y, w, one, ~one, cluster)
    assert d.mean.ravel() == pytest.approx(fit.params)
    wanted = np.asarray(fit.cov_params())
    assert d.variance.ravel() == pytest.approx(np.diag(wanted), rel=0.03)
    assert d.covariance[0] == pytest.approx(wanted[0, 1], rel=0.03, abs=1e-12)


def test_neither_the_unit_of_weights_nor_whole_repetitions_by_cluster_matter():
    y, w, one, cluster = sample(2, 300, 3)
    d = DesignMeans.of(y, w, one, ~one, cluster)
    scaled = DesignMeans.of(y, 1e-3 * w, one, ~one, cluster)
    assert scaled.variance == pytest.approx(d.variance)
    times = np.random.default_rng(0).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), times)
    again = DesignMeans.of(y[rows], np.ones(len(rows)), one[rows], ~one[rows], cluster[rows])
    whole = DesignMeans.of(y, times * 1.0, one, ~one, cluster)
    for name in ("mean", "variance", "covariance", "kish", "n_clusters"):
        assert getattr(again, name) == pytest.approx(getattr(whole, name))


def test_strata_are_separate():
    y, w, one, cluster = sample(3, 300, 3)
    stratum = np.arange(300) % 2
    both = DesignMeans.of(y, w, one, ~one, cluster, stratum, 2)
    for z in range(2):
        at = stratum == z
        alone = DesignMeans.of(y[at], w[at], one[at], ~one[at], cluster[at])
        assert both.variance[:, z] == pytest.approx(alone.variance[:, 0])
        assert both.sizes().shape == (2, 2)


def test_equal_rows_of_a_cluster_count_once():
    y, _, one, _ = sample(4, 100)
    y = y > 0
    five = np.repeat(np.arange(100), 5)
    d = DesignMeans.of(y[five], np.ones(500), one[five], ~one[five], five)
    plain = DesignMeans.of(y, np.ones(100), one, ~one)
    assert d.sizes() == pytest.approx(plain.sizes())
    assert design_chi2(y[five], np.ones(500), one[five] * 1, 2, five) == pytest.approx(
        design_chi2(y, np.ones(100), one * 1, 2)
    )


def test_chi2_of_unweighted_rates_is_close_to_pearsons():
    rng = np.random.default_rng(5)
    group, y = rng.integers(0, 4, 5000), rng.random(5000) < 0.3
    table = np.array([[np.sum(y[group == g]), np.sum(~y[group == g])] for g in range(4)])
    statistic, df = design_chi2(y, np.ones(5000), group, 4)
    wanted = stats.chi2_contingency(table, correction=False)
    assert (statistic, df) == (pytest.approx(wanted.statistic, rel=0.02), 3)


def test_groups_without_rows_or_variation():
    y, first = np.array([0.0, 0.0, 1.0]), np.array([True, True, False])
    d = DesignMeans.of(y, np.ones(3), first, ~first)
    assert d.sizes()[0, 0] < 2  # two rows, by the degrees of freedom
    empty = DesignMeans.of(y, np.ones(3), first & False, ~first)
    assert np.isnan(empty.mean[0, 0])
    assert np.isnan(empty.variance[0, 0])
