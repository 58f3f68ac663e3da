"""The measures agree with SciPy, statsmodels, scikit-learn and fairlearn where these offer them."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from skewed_pay import oracle
from sklearn import metrics

from skdisc import measures as m

SETTINGS = {"reference": 0}


@pytest.fixture(params=range(3), ids=lambda seed: f"seed{seed}")
def binary(request):
    rng = np.random.default_rng(request.param)
    s = rng.integers(0, 2, 400)
    y_true = rng.integers(0, 2, 400)
    return y_true, (rng.random(400) < 0.3 + 0.2 * s + 0.2 * y_true).astype(int), s


@pytest.fixture(params=range(3), ids=lambda seed: f"seed{seed}")
def numbers(request):
    rng = np.random.default_rng(request.param)
    s = rng.integers(0, 2, 300)
    return np.round(rng.normal(size=300) - 0.3 * s, 1), s


def p_value(report):
    return report["p_value"].iloc[0]


def test_welch_and_pooled_t(numbers):
    y, s = numbers
    for equal_var in (False, True):
        ours = m.difference_of_means_test_report(
            None, y, protected=s, equal_var=equal_var, **SETTINGS
        )
        theirs = stats.ttest_ind(y[s == 0], y[s == 1], equal_var=equal_var)
        assert ours["estimate"].iloc[0] == pytest.approx(theirs.statistic)
        assert p_value(ours) == pytest.approx(theirs.pvalue)


def test_the_interval_of_means_is_that_of_the_oracle(numbers):
    y, s = numbers
    row = m.mean_difference_report(None, y, protected=s, **SETTINGS).iloc[0]
    parts = y[s == 0], y[s == 1]
    _, p, low, high = oracle(*parts, parts)
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high), abs=(high - low) / 1000)
    assert row.p_value == pytest.approx(p)


def test_welch_of_counts_is_welch_of_rows(binary):
    _, y, s = binary
    theirs = stats.ttest_ind(y[s == 0], y[s == 1], equal_var=False)
    ours = m.difference_of_means_test_report(None, y, protected=s, **SETTINGS).iloc[0]
    assert (ours.estimate, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_slope_is_the_pooled_t_test(numbers):
    y, s = numbers
    theirs = stats.ttest_ind(y[s == 1], y[s == 0])
    ours = m.regression_slope_test_report(None, y, protected=s, **SETTINGS).iloc[0]
    assert (ours.estimate, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_slope_of_a_protected_number():
    rng = np.random.default_rng(0)
    age, y = rng.normal(40, 10, 200), rng.normal(size=200)
    theirs = stats.linregress(age, y)
    ours = m.regression_slope_test_report(None, y, protected=age).iloc[0]
    assert ours.estimate == pytest.approx(theirs.slope / theirs.stderr)
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_slope_with_covariates(numbers):
    sm = pytest.importorskip("statsmodels.api")
    y, s = numbers
    rng = np.random.default_rng(1)
    more = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(list("xyz"), 300)})
    wide = pd.get_dummies(more, drop_first=True).astype(float).assign(s=s)
    theirs = sm.OLS(y, sm.add_constant(wide)).fit()
    ours = m.regression_slope_test_report(None, y, protected=s, covariates=more, **SETTINGS)
    assert ours["estimate"].iloc[0] == pytest.approx(theirs.tvalues["s"])
    assert p_value(ours) == pytest.approx(theirs.pvalues["s"])


def test_two_proportions(binary):
    sm = pytest.importorskip("statsmodels.stats.proportion")
    _, y, s = binary
    count, n = [y[s == 0].sum(), y[s == 1].sum()], [(s == 0).sum(), (s == 1).sum()]
    z, p = sm.proportions_ztest(count, n)
    ours = m.two_proportions_test_report(None, y, protected=s, **SETTINGS).iloc[0]
    assert (ours.estimate, ours.p_value) == pytest.approx((z, p))
    a, b = np.divide(count, n)
    wald = (a - b) / np.sqrt(a * (1 - a) / n[0] + b * (1 - b) / n[1])
    assert m.two_proportions_test(None, y, protected=s, pooled=False, **SETTINGS) == pytest.approx(
        wald
    )


def test_newcombe_and_woolf_intervals(binary):
    sm = pytest.importorskip("statsmodels.stats.api")
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    _, y, s = binary
    x0, x1, n0, n1 = y[s == 0].sum(), y[s == 1].sum(), (s == 0).sum(), (s == 1).sum()
    ours = m.mean_difference_report(None, y, protected=s, **SETTINGS).iloc[0]
    theirs = proportion.confint_proportions_2indep(x0, n0, x1, n1, method="newcomb", compare="diff")
    assert (ours.ci_low, ours.ci_high) == pytest.approx(theirs)
    ours = m.odds_ratio_report(None, y, protected=s, **SETTINGS).iloc[0]
    table = sm.Table2x2([[x0, n0 - x0], [x1, n1 - x1]])
    assert ours.estimate == pytest.approx(table.oddsratio)
    assert (ours.ci_low, ours.ci_high) == pytest.approx(table.oddsratio_confint())


def test_many_proportions():
    rng = np.random.default_rng(0)
    s, y = rng.integers(0, 4, 500), rng.integers(0, 2, 500)
    theirs = stats.chi2_contingency(pd.crosstab(s, y), correction=False)
    ours = m.many_proportions_test_report(None, y, protected=s).iloc[0]
    assert (ours.estimate, ours.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))


def test_rank_test(numbers, binary):
    for y, s in (numbers, binary[1:]):
        theirs = stats.mannwhitneyu(y[s == 0], y[s == 1], use_continuity=False, method="asymptotic")
        ours = m.rank_test_report(None, y, protected=s, **SETTINGS).iloc[0]
        assert ours.p_value == pytest.approx(theirs.pvalue)
        area = m.area_under_curve(None, y, protected=s, **SETTINGS)
        assert area == pytest.approx(theirs.statistic / ((s == 0).sum() * (s == 1).sum()))


def test_area_is_that_of_scikit_learn(numbers):
    y, s = numbers
    ours = m.area_under_curve(None, y, protected=s, **SETTINGS)
    assert ours == pytest.approx(metrics.roc_auc_score(s == 0, y))


def test_cochran_mantel_haenszel(binary):
    contingency = pytest.importorskip("statsmodels.stats.contingency_tables")
    _, y, s = binary
    z = np.random.default_rng(9).integers(0, 5, len(y))
    counts = np.bincount(z * 4 + s * 2 + y, minlength=20).reshape(5, 2, 2)
    tables = [counts[k].astype(float) for k in range(5)]
    theirs = contingency.StratifiedTable(tables).test_null_odds()
    ours = m.cochran_mantel_haenszel_test_report(
        None, y, protected=s, explanatory=z, **SETTINGS
    ).iloc[0]
    assert ours.estimate**2 == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlation(numbers, binary, method):
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    for y, s in (numbers, binary[1:]):
        ours = m.correlation(None, y, protected=s, method=method, **SETTINGS)
        assert ours == pytest.approx(theirs[method](1 - s, y).statistic)


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlation_with_a_protected_number(method):
    rng = np.random.default_rng(0)
    age = rng.normal(40, 10, 200)
    y = np.round(age / 20 + rng.normal(size=200), 1)
    theirs = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    ours = m.correlation(None, y, protected=age, method=method)
    assert ours == pytest.approx(theirs[method](age, y).statistic)


def test_mutual_information(binary):
    _, y, s = binary
    theirs = metrics.normalized_mutual_info_score(s, y, average_method="geometric")
    assert m.mutual_information(None, y, protected=s) == pytest.approx(theirs)
    bits = m.mutual_information(None, y, protected=s, normalized=False)
    assert bits == pytest.approx(metrics.mutual_info_score(s, y) / np.log(2))


def test_rates_of_labels_are_those_of_scikit_learn(binary):
    t, y, s = binary
    a, b = s == 0, s == 1
    tpr = [metrics.recall_score(t[g], y[g]) for g in (a, b)]
    fpr = [1 - metrics.recall_score(t[g], y[g], pos_label=0) for g in (a, b)]
    ppv = [metrics.precision_score(t[g], y[g]) for g in (a, b)]
    how = {"protected": s, **SETTINGS}
    assert m.equal_opportunity(t, y, **how) == pytest.approx(tpr[0] - tpr[1])
    assert m.predictive_parity(t, y, **how) == pytest.approx(ppv[1] - ppv[0])
    odds = m.average_odds_difference(t, y, **how)
    assert odds == pytest.approx((tpr[0] - tpr[1] + fpr[0] - fpr[1]) / 2)


def test_rates_of_groups(binary):
    t, y, s = binary
    table = m.group_rates(t, y, protected=s).set_index(["group", "rate"])["estimate"]
    for g in (0, 1):
        inside = s == g
        (tn, fp), (fn, tp) = metrics.confusion_matrix(t[inside], y[inside])
        assert table[g, "selection_rate"] == pytest.approx((tp + fp) / inside.sum())
        assert table[g, "base_rate"] == pytest.approx((tp + fn) / inside.sum())
        assert table[g, "true_positive_rate"] == pytest.approx(tp / (tp + fn))
        assert table[g, "false_positive_rate"] == pytest.approx(fp / (fp + tn))
        assert table[g, "positive_predictive_value"] == pytest.approx(tp / (tp + fp))
        assert table[g, "negative_predictive_value"] == pytest.approx(tn / (tn + fn))
        assert table[g, "accuracy"] == pytest.approx((tp + tn) / inside.sum())
    undefined = m.group_rates([0, 0, 1], [0, 1, 1], protected=[0, 0, 1])
    undefined = undefined.set_index(["group", "rate"])["estimate"]
    assert np.isnan(undefined[0, "true_positive_rate"])


@pytest.mark.extras("fairlearn")
def test_fairlearn_agrees(binary):
    from fairlearn import metrics as fairlearn

    t, y, s = binary
    theirs = fairlearn.demographic_parity_difference(t, y, sensitive_features=s)
    assert abs(m.mean_difference(None, y, protected=s)) == pytest.approx(theirs)
    ratio = m.impact_ratio(None, y, protected=s, reference="best")
    theirs = fairlearn.demographic_parity_ratio(t, y, sensitive_features=s)
    assert ratio == pytest.approx(theirs)
    theirs = fairlearn.equalized_odds_difference(t, y, sensitive_features=s)
    assert m.equalized_odds(t, y, protected=s) == pytest.approx(theirs)
    theirs = fairlearn.equal_opportunity_difference(t, y, sensitive_features=s)
    assert abs(m.equal_opportunity(t, y, protected=s)) == pytest.approx(theirs)


@pytest.mark.extras("fairlearn")
def test_fairlearn_agrees_with_several_groups():
    from fairlearn import metrics as fairlearn

    rng = np.random.default_rng(5)
    s, y = rng.integers(0, 5, 600), rng.integers(0, 2, 600)
    theirs = fairlearn.demographic_parity_difference(y, y, sensitive_features=s)
    ours = m.mean_difference(None, y, protected=s, reference="pairs")
    assert abs(ours) == pytest.approx(theirs)
    theirs = fairlearn.demographic_parity_difference(
        y, y, sensitive_features=s, method="to_overall"
    )
    ours = m.mean_difference(None, y, protected=s, reference="overall")
    assert abs(ours) == pytest.approx(theirs)


def test_logistic_regression_gives_the_odds_ratio(binary):
    sm = pytest.importorskip("statsmodels.api")
    _, y, s = binary
    fit = sm.Logit(y, sm.add_constant(1.0 - s)).fit(disp=0)
    ours = m.odds_ratio(None, y, protected=s, **SETTINGS)
    assert np.log(ours) == pytest.approx(fit.params[1], rel=1e-6)


def test_brier_skill_is_chi_squared(binary):
    _, y, s = binary
    ours = m.one_variable_prediction(None, y, protected=s)
    assert ours == pytest.approx(m.many_proportions_test(None, y, protected=s) / len(y))


def test_explained_variance_of_numbers(numbers):
    y, s = numbers
    theirs = stats.f_oneway(y[s == 0], y[s == 1])
    ours = m.one_variable_prediction_report(None, y, protected=s, n_resamples=9).iloc[0]
    assert ours.p_value == pytest.approx(theirs.pvalue)


def test_greenland_and_robins_in_one_stratum_is_the_risk_ratio(binary):
    _, y, s = binary
    z = np.zeros(len(y), dtype=int)
    ours = m.conditional_impact_ratio(None, y, protected=s, explanatory=z, **SETTINGS)
    assert ours == pytest.approx(m.impact_ratio(None, y, protected=s, **SETTINGS))
