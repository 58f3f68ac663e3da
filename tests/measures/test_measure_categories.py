"""Decisions of several classes or of ordered categories, strata of belift, limits of residuals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import mutual_info_score

from skdisc import measures as m

SEX = np.repeat(["m", "f"], [60, 40])
GRADES = ["fail", "pass", "honors"]


def decisions(seed=0):
    """Three grades, of which men get better ones."""
    rng = np.random.default_rng(seed)
    return np.array(GRADES)[rng.integers(0, 3, 100).clip(SEX == "m")]


@pytest.mark.parametrize("as_type", [np.asarray, pd.Series, pd.Categorical])
def test_mutual_information_of_several_classes(as_type):
    y = decisions()
    bits = mutual_info_score(y, SEX) / np.log(2)
    value = m.mutual_information(None, as_type(y), protected=SEX, normalized=False)
    assert value == pytest.approx(bits)
    table = pd.crosstab(SEX, y)
    both = [stats.entropy(table.sum(axis=axis), base=2) for axis in (0, 1)]
    row = m.mutual_information_report(None, as_type(y), protected=SEX, n_resamples=99).iloc[0]
    assert row["estimate"] == pytest.approx(bits / np.sqrt(np.prod(both)))
    assert row["p_value"] == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert row["ci_low"] <= row["estimate"] <= row["ci_high"]
    assert row["test"]


def test_numbers_as_classes():
    codes = pd.Categorical(decisions(), GRADES).codes
    expected = m.mutual_information(None, decisions(), protected=SEX)
    value = m.mutual_information(None, codes, protected=SEX, pos_label=None, n_bins=None)
    assert value == pytest.approx(expected)
    rare = np.r_[np.arange(100) % 50 == 0] * 7 + codes  # quantile bins would merge rare values
    bits = m.mutual_information(
        None, rare, protected=SEX, pos_label=None, n_bins=None, normalized=False
    )
    assert bits == pytest.approx(mutual_info_score(rare, SEX) / np.log(2))


def test_a_favorable_label_still_splits_classes():
    y = decisions()
    split = m.mutual_information(None, y, protected=SEX, pos_label={"pass", "honors"})
    assert split == m.mutual_information(None, (y != "fail") * 1, protected=SEX)
    with pytest.raises(ValueError, match="pos_label"):
        m.mean_difference(None, y, protected=SEX)


@pytest.mark.parametrize("as_type", [pd.Categorical, pd.Series])
def test_ordered_categories_are_ranks(as_type):
    """By hand, and not by the order of the alphabet, in which honors is between the others."""
    y = as_type(pd.Categorical(decisions(), GRADES, ordered=True))
    ranks = pd.Categorical(decisions(), GRADES).codes
    one, zero = ranks[SEX == "f"][:, None], ranks[SEX == "m"]
    area = ((zero > one) + 0.5 * (zero == one)).mean()
    assert m.area_under_curve(None, y, protected=SEX) == pytest.approx(area)
    u = stats.mannwhitneyu(zero, one[:, 0], use_continuity=False, method="asymptotic")
    assert m.rank_test_report(None, y, protected=SEX)["p_value"][0] == pytest.approx(u.pvalue)
    for method, function in (("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
        value = m.correlation(None, y, protected=SEX, method=method)
        assert value == pytest.approx(function(ranks, SEX == "m").statistic), method
    spearman = m.correlation(None, y, protected=SEX, method="spearman")
    assert m.correlation(None, y, protected=SEX) == spearman


def test_ordered_categories_are_no_numbers():
    y = pd.Series(pd.Categorical(decisions(), GRADES, ordered=True))
    with pytest.raises(ValueError, match='Set method="spearman" or method="kendall"'):
        m.correlation(None, y, protected=SEX, method="pearson")
    with pytest.raises(ValueError, match="pos_label"):
        m.mean_difference(None, y, protected=SEX)
    with pytest.raises(ValueError, match="y_pred has missing values"):
        m.area_under_curve(None, y.mask(y == "pass"), protected=SEX)


def test_the_catalogue_knows_categories():
    target = m.catalogue()["target"]
    assert [n for n, kinds in target.items() if "categorical" in kinds] == ["mutual_information"]
    ordinal = [name for name, kinds in target.items() if "ordinal" in kinds]
    y = pd.Series(pd.Categorical(decisions(), GRADES, ordered=True))
    for name in ordinal:
        assert np.isfinite(getattr(m, name)(None, y, protected=SEX))


def test_residuals_reach_2():
    """All women are underrated, all men overrated."""
    value = m.balanced_residuals([1, 1, 0, 0], [0, 0, 1, 1], protected=list("ffmm"), reference="m")
    entry = m.catalogue().loc["balanced_residuals"]
    assert value == entry["maximum"] == -entry["reverse"] == 2


def test_belift_of_strata():
    """By hand, and with the mean that belift is."""
    y = [1, 1, 0, 0, 1, 0, 0, 1, 1, 0]
    sex, town = list("mmmmmfffff"), list("aabbbaaabc")
    table = m.belift_strata(None, y, protected=sex, explanatory=town, reference="m")
    assert table["stratum"].tolist() == ["a", "b", "c"]
    assert table["n"].tolist() == [3, 1, 1]
    assert table["share"].tolist() == [0.5, 0.4, 0.1]
    assert table["rate"].tolist() == pytest.approx([1 / 3, 1, 0])
    assert table["estimate"].tolist() == pytest.approx([2 / 3, 2, 0])
    mean = np.average(table["estimate"], weights=table["share"])
    whole = m.belift(None, y, protected=sex, explanatory=town, reference="m")
    assert whole == pytest.approx(mean)
    weight = np.arange(1, 11) * 1.0
    weighted = m.belift_strata(
        None, y, protected=sex, explanatory=town, reference="m", sample_weight=weight
    )
    whole = m.belift(None, y, protected=sex, explanatory=town, reference="m", sample_weight=weight)
    assert whole == pytest.approx(np.average(weighted["estimate"], weights=weighted["share"]))
    several = m.belift_strata(
        None, y, protected=sex, explanatory=pd.DataFrame({"town": town, "one": 1}), reference="m"
    )
    assert several["stratum"].tolist() == [("a", 1), ("b", 1), ("c", 1)]
