"""BiasScan: published figures, planted subsets, null data, modes and scores."""

import numpy as np
import pandas as pd
import pytest
from published import BiasScan
from scipy import stats
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import BlackBox, Limits, Rule, Subgroup
from skdisc.exceptions import ModelError
from skdisc.report import to_html, to_markdown, to_text
from skdisc.subgroup._bias_scan._counted_outcome import poisson_binomial


def people(seed, n=1500):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("abcd"), n) for c in "uvw"})
    X["x"] = rng.normal(size=n)
    return X, rng


def planted(seed, n=1500, gap=0.35, base=0.6):
    """Fewer favorable outcomes where u is a or b, and v is c."""
    X, rng = people(seed, n)
    inside = X["u"].isin(["a", "b"]) & (X["v"] == "c")
    return X, (rng.random(n) < np.where(inside, base - gap, base)).astype(int), inside.to_numpy()


class Known:
    """A model whose probabilities are the same for all."""

    classes_ = np.array([0, 1])

    def __init__(self, p=0.6):
        self.p = p

    def predict_proba(self, X):
        return np.tile([1 - self.p, self.p], (len(X), 1))


FAST = {"n_restarts": 5, "n_resamples": 19, "random_state": 0, "pos_label": 1}


@pytest.mark.parametrize("model", [None, Known()])
def test_a_planted_subset_is_found_with_several_values_of_a_column(model):
    X, y, inside = planted(0)
    result = BiasScan(**FAST).fit(X, y, model).result_
    first = result[0]
    assert str(first.subject) == "u in {'a', 'b'} and v = 'c'"
    assert first.support == inside.sum()
    row = result.findings.table.iloc[0]
    expected = y.mean() if model is None else 0.6
    assert row.outcome == row.observed == pytest.approx(y[inside].mean())
    assert row.expected == pytest.approx(expected)
    assert row.effect == pytest.approx(y[inside].mean() - expected)
    assert row.ci_low < row.effect < row.ci_high < 0
    assert row.p_adjusted == pytest.approx(0.05)  # the least that 19 scans can show
    assert row.direction == "lower"
    assert result.verdict == "differs from everyone"
    n, s, p = inside.sum(), y[inside].mean(), expected
    kl = s * np.log(s / p) + (1 - s) * np.log((1 - s) / (1 - p))
    assert row.score == pytest.approx(n * kl - 3.0, abs=1e-5)  # three values at a penalty of 1
    columns = set(result.to_frame("subgroups").columns)
    assert {"direction", "score", "observed", "expected", "outcome", "diff_outcome"} <= columns
    assert result.to_frame("subgroups")["subgroup_key"][0] == "{0,1}|2|*|*"
    groups = result.tables["groups"]
    assert (groups["min_detectable_gap"] > 0).all()


def test_a_subset_of_several_values_expands_into_rows_of_one():
    X, y, _ = planted(0)
    result = BiasScan(direction="lower", k=1, **FAST).fit(X, y).result_
    one, many = result.to_frame("subgroups"), result.to_frame("subgroups", expand=True)
    assert one["u"].tolist() == ["u in {'a', 'b'}"]
    assert many["u"].tolist() == ["a", "b"]
    assert many["subgroup_key"].tolist() == ["0|2|*|*", "1|2|*|*"]
    assert (many["score"] == one["score"][0]).all()
    assert [len(chunk) for chunk in result.findings.expand(chunk_size=1)] == [1, 1]


def test_bias_against_people_with_a_missing_value_is_found():
    X, rng = people(1)
    gone = rng.random(len(X)) < 0.15
    X.loc[gone, "u"] = None
    y = (rng.random(len(X)) < np.where(gone, 0.3, 0.6)).astype(int)
    first = BiasScan(protected="u", **FAST).fit(X, y).result_[0]
    assert "u is missing" in str(first.subject)
    assert first.p_adjusted <= 0.05


def test_numeric_columns_come_in_ranges():
    X, rng = people(2)
    y = (rng.random(len(X)) < np.where(X["x"] > 0, 0.35, 0.65)).astype(int)
    X.loc[:9, "x"] = np.nan
    result = BiasScan(n_bins=6, **FAST).fit(X, y).result_
    texts = {str(p) for f in result for p in f.subject.predicates if p.column == "x"}
    assert any(t.startswith("x > ") or t.startswith("x <= ") for t in texts)
    assert all(
        p.values in (None, (None,)) for f in result for p in f.subject.predicates if p.column == "x"
    )


def test_rules_of_the_search():
    X, y, _ = planted(3)
    one = BiasScan(max_predicates=1, features=["v", "w"], **FAST).fit(X, y).result_
    assert len(one)
    assert all(len(f.subject) == 1 and f.subject.predicates[0].column in "vw" for f in one)
    large = BiasScan(min_support=0.3, **FAST).fit(X, y).result_
    assert all(f.support >= 0.3 * len(X) for f in large)
    lower = BiasScan(direction="lower", **FAST).fit(X, y).result_
    assert all(f.effect < 0 for f in lower)
    masks = [f.subject.mask(X) for f in BiasScan(**FAST).fit(X, y).result_]
    assert len(masks) > 1
    for i, a in enumerate(masks):
        assert all((a & b).sum() < 0.5 * (a | b).sum() for b in masks[:i])


def test_budgets_end_the_search_and_leave_no_verdict():
    X, y, _ = planted(0)
    for limits in (Limits(tests=40), Limits(seconds=0.0)):
        result = BiasScan(**FAST, limits=limits).fit(X, y).result_
        assert result.stopped_by == limits.changed()[0]
        assert result.verdict == "insufficient evidence"
        assert result.findings.table["p_adjusted"].isna().all()
    none = BiasScan(**FAST | {"n_resamples": 0}).fit(X, y).result_
    assert none.verdict == "insufficient evidence"
    assert any("no p-value" in note for note in none.notes)


@pytest.mark.statistics
@pytest.mark.slow
@pytest.mark.parametrize("model", [None, Known()])
def test_on_null_data_the_share_of_scans_that_find_something_is_at_most_the_level(model):
    found = 0
    for seed in range(100, 120):
        X, rng = people(seed, 300)
        y = (rng.random(300) < 0.6).astype(int)
        settings = FAST | {"random_state": seed, "n_restarts": 2}
        found += BiasScan(**settings).fit(X[["u", "v"]], y, model).result_.n_found > 0
    assert found <= 20 * (0.05 + 2 * np.sqrt(0.05 * 0.95 / 20))


@pytest.mark.statistics
@pytest.mark.slow
@pytest.mark.parametrize("model", [None, Known()])
def test_p_values_of_null_data_are_uniform(model):
    """Without a penalty some subset always stands out, so that every scan has a p-value."""
    p_values, settings = [], {"n_restarts": 1, "penalty": 0, "n_resamples": 9}
    for seed in range(40):
        X, rng = people(seed, 100)
        y = (rng.random(100) < 0.6).astype(int)
        scan = BiasScan(**FAST | settings | {"random_state": seed}).fit(X[["u", "v"]], y, model)
        p_values.append(scan.result_[0].p_value - rng.random() / 10)
    assert stats.kstest(p_values, "uniform").pvalue > 0.05


@pytest.mark.statistics
def test_held_out_intervals_cover_the_truth():
    """The effect against a known expectation is -0.35; intervals of 90 % miss it rarely."""
    hits, first = 0, 0
    for seed in range(30):
        X, y, _ = planted(seed, 800)
        own = FAST | {"n_resamples": 0, "random_state": seed}  # else all splits are one
        scan = BiasScan(confirm=0.5, rule=Rule(significance=0.1), direction="lower", **own)
        row = scan.fit(X[["u", "v"]], y, Known()).result_.to_frame().iloc[0]
        if row.subject == "u in {'a', 'b'} and v = 'c'":
            first += 1
            hits += row.held_out_ci_low <= -0.35 <= row.held_out_ci_high
    assert first >= 15
    assert hits >= first * 0.9 - 2.5 * np.sqrt(first * 0.09)


def test_an_audit_measures_the_same_subsets_on_new_rows():
    X, y, _ = planted(0)
    scan = BiasScan(**FAST).fit(X, y)
    X_new, y_new, inside = planted(1)
    again = scan.audit(X_new, y_new)
    assert again.findings.subgroups == scan.result_.findings.subgroups
    row = again.findings.table.iloc[0]
    assert row.effect == pytest.approx(y_new[inside].mean() - y_new.mean())
    table = [[y_new[m].sum(), (1 - y_new[m]).sum()] for m in (inside, ~inside)]
    assert row.p_value == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue)
    assert scan.score(X_new, y_new) == pytest.approx(-row.effect)
    assert again.n_found >= 1


def numeric(seed, n=1200):
    X, rng = people(seed, n)
    inside = ((X["u"] == "a") & (X["w"] != "d")).to_numpy()
    return X[["u", "v", "w"]], rng, inside


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("mode", "scoring"),
    [
        ("ordinal", "poisson"),
        ("ordinal", "mean_shift"),
        ("continuous", "gaussian"),
        ("continuous", "mean_shift"),
        ("continuous", "berk_jones"),
        ("binary", "poisson"),
        ("binary", "berk_jones"),
    ],
)
def test_every_mode_and_score_finds_what_was_planted(mode, scoring):
    X, rng, inside = numeric(0)
    mean = np.where(inside, 2.0, 4.0)
    y = rng.poisson(mean) if mode == "ordinal" else mean + rng.normal(0, 1.5, len(X))
    if mode == "binary":
        y = (rng.random(len(X)) < mean / 6).astype(int)
    settings = FAST if mode == "binary" else FAST | {"pos_label": "high"}
    scan = BiasScan(mode=mode, scoring=scoring, direction="lower", **settings).fit(X, y)
    assert str(scan.result_[0].subject) == "u = 'a' and w in {'a', 'b', 'c'}"
    assert scan.result_[0].effect < 0
    assert scan.result_[0].p_adjusted == pytest.approx(0.05)
    assert scan.score(X, y) > 0


def test_where_low_outcomes_are_favorable_worse_is_still_negative():
    X, rng, inside = numeric(1)
    y = rng.normal(np.where(inside, 5.0, 3.0), 1.0)
    settings = FAST | {"pos_label": "low"}
    first = BiasScan(mode="continuous", direction="lower", **settings).fit(X, y).result_[0]
    assert str(first.subject) == "u = 'a' and w in {'a', 'b', 'c'}"
    assert first.effect == pytest.approx(y.mean() - y[inside].mean())
    assert first.ci_low < first.effect < first.ci_high < 0
    by_value = BiasScan(mode="continuous", direction="lower", **FAST | {"pos_label": y.min()})
    assert by_value.fit(X, y).result_[0].effect == first.effect


def test_a_regressor_is_compared_with_the_numbers():
    X, rng, inside = numeric(2)
    x = rng.normal(size=len(X))
    y = 3 * x + rng.normal(0, 1, len(X)) - 2 * inside
    table = pd.DataFrame({"u": X["u"], "w": X["w"], "x": x})
    blind = lambda A: 3 * A["x"]  # noqa: E731
    settings = FAST | {"pos_label": "high"}
    scan = BiasScan(mode="continuous", features=["u", "w"], **settings).fit(table, y, blind)
    assert str(scan.result_[0].subject) == "u = 'a' and w in {'a', 'b', 'c'}"
    assert scan.result_[0].effect == pytest.approx((y - 3 * x)[inside].mean())
    fitted = BiasScan(LinearRegression(), mode="continuous", features=["x"], **settings)
    assert fitted.fit(table[["x"]], y).audited_ == "refit"


@pytest.mark.parametrize("scoring", ["poisson", "mean_shift"])
def test_a_classifier_of_numbers_expects_their_mean(scoring):
    """Predicted classes would be 0 for nearly all; the probabilities are those of the counts."""
    X, rng, inside = numeric(2)
    y = rng.poisson(np.where(inside, 0.2, 0.5)).clip(max=2)
    shares = [0.6, 0.3, 0.1]

    class Counting:
        classes_ = np.arange(3)

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

        def predict_proba(self, X):
            return np.tile(shares, (len(X), 1))

    scan = BiasScan(mode="ordinal", scoring=scoring, **FAST | {"pos_label": "high"})
    row = scan.fit(X, y, Counting()).result_.findings.table.iloc[0]
    assert row["expected"] == pytest.approx(0.5)
    assert row["direction"] == "lower"


def test_a_model_that_gives_no_numbers_is_refused():
    X, rng, _ = numeric(2)
    texts = lambda A: np.full(len(A), "high")  # noqa: E731
    with pytest.raises(ModelError, match="one finite number per row"):
        BiasScan(mode="continuous").fit(X, rng.normal(size=len(X)), texts)


@pytest.mark.parametrize("with_model", [False, True])
def test_each_class_of_a_nominal_outcome_is_scanned(with_model):
    X, rng, inside = numeric(3)
    shares = np.where(inside[:, None], [0.2, 0.2, 0.6], [0.4, 0.4, 0.2])
    y = np.array(["jail", "fine", "free"])[(rng.random((len(X), 1)) > shares.cumsum(1)).sum(1)]

    class Fixed:
        classes_ = np.array(["fine", "free", "jail"])

        def predict_proba(self, X):
            return np.tile([0.37, 0.26, 0.37], (len(X), 1))

    settings = FAST | {"pos_label": None}
    model = Fixed() if with_model else None
    result = BiasScan(mode="nominal", **settings).fit(X, y, model).result_
    first = result.findings.table.iloc[0]
    assert first.measure == "share of 'free'"
    assert first.direction == "higher"
    assert first.effect > 0.2
    assert first.p_adjusted <= 0.05
    assert set(result.tables["scans"]["measure"]) == {f"share of {c!r}" for c in set(y.tolist())}


def test_scores_of_the_released_package_on_compas(load):
    """AIF360 0.6.1 gives 94.8015 and 63.0824, against a regression on the prior convictions."""
    d = load("compas_discretized").astype({"#prior": str})
    X, y = d.drop(columns=["class", "predicted"]), d["class"].to_numpy()
    on_priors = make_column_transformer((OneHotEncoder(), ["#prior"]))
    model = make_pipeline(on_priors, LogisticRegression()).fit(X, y)
    expected = {
        "higher": ("age = '<25' and sex = 'Male'", 94.8015),
        "lower": ("age = '>45' and stay = '<week'", 63.0824),
    }
    settings = FAST | {"n_resamples": 0, "penalty": 0.5, "min_support": 0}
    for direction, (subject, score) in expected.items():
        first = BiasScan(direction=direction, **settings).fit(X, y, model).result_.to_frame()
        assert first["subject"][0] == subject
        assert first["score"][0] == pytest.approx(score, abs=2e-4)


def test_published_figures_on_compas(load):
    """AIF360's notebook: scores less penalty, shares and sizes of its four subsets."""
    d = load("compas")
    stay = d["days_b_screening_arrest"].between(-30, 30) & (d["is_recid"] != -1)
    d = d[stay & (d["c_charge_degree"] != "O")].reset_index(drop=True)
    y = d["two_year_recid"].to_numpy()
    X = pd.DataFrame(
        {
            "sex": d["sex"],
            "age": d["age_cat"],
            "race": d["race"],
            "charge": d["c_charge_degree"],
            "priors": pd.cut(d["priors_count"], [-1, 0, 5, 99], labels=["0", "1-5", ">5"]),
            "decile": d["decile_score"].astype(str),
        }
    ).astype({"priors": str})

    class OnDecile:
        classes_ = np.array([0, 1])

        def __init__(self, columns):
            self.columns = columns
            self.model = LogisticRegression(C=1e9).fit(self.numbers(X), y)

        def numbers(self, X):
            priors = X["priors"].map({"0": 0, "1-5": 1, ">5": 2})
            numbers = pd.DataFrame({"decile": X["decile"].astype(int), "priors": priors})
            return numbers[self.columns]

        def predict_proba(self, X):
            return self.model.predict_proba(self.numbers(X))

    decile, with_priors = OnDecile(["decile"]), OnDecile(["decile", "priors"])
    published = [
        (decile, "higher", 0.5, "priors = '>5'", 36.33, 1221, 0.7142, 0.6027),
        (decile, "lower", 0.5, "priors = '0'", 45.14, 2085, 0.2863, 0.3806),
        (
            with_priors,
            "higher",
            1.0,
            "age = 'Less than 25' and sex = 'Male'",
            24.49,
            1101,
            0.6004,
            0.4976,
        ),
        (
            with_priors,
            "lower",
            0.25,
            "charge = 'M' and decile in {'10', '2', '3', '6', '9'} and sex = 'Female'",
            12.16,
            202,
            0.2079,
            0.3696,
        ),
    ]
    for model, direction, penalty, subject, score, n, observed, expected in published:
        scan = BiasScan(
            direction=direction,
            penalty=penalty,
            min_support=0,
            **FAST | {"n_resamples": 0, "n_restarts": 50},
        )
        row = scan.fit(X, y, model).result_.to_frame().iloc[0]
        assert row.subject == subject
        assert row.support == n
        assert row.score == pytest.approx(score, abs=0.04)
        assert row.observed == pytest.approx(observed, abs=1e-4)
        assert row.expected == pytest.approx(expected, abs=2e-4)


@pytest.mark.slow
def test_wide_data_and_many_values():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.choice(list("ab"), (40, 50)), columns=[f"c{i}" for i in range(50)])
    y = rng.integers(0, 2, 40)
    assert BiasScan(**FAST | {"n_restarts": 2, "n_resamples": 0}).fit(wide, y).result_.n_tested > 0
    many = pd.DataFrame(rng.integers(0, 10, (2000, 30)).astype(str)).add_prefix("f")
    hit = many["f3"].isin(["1", "2", "3", "4"])
    y = (rng.random(2000) < np.where(hit, 0.15, 0.75)).astype(int)
    scan = BiasScan(direction="lower", penalty=3.0, **FAST | {"n_restarts": 2, "n_resamples": 0})
    assert str(scan.fit(many, y).result_[0].subject) == "f3 in {'1', '2', '3', '4'}"


def test_constant_columns_leave_nothing_to_scan():
    X = pd.DataFrame({"u": ["a"] * 40})
    result = BiasScan(**FAST).fit(X, np.arange(40) % 2).result_
    assert (len(result), result.n_tested) == (0, 0)
    assert result.verdict == "insufficient evidence"


def test_decisions_are_compared_with_their_mean():
    X, y, _ = planted(0)
    decided = BiasScan(**FAST).fit(X, None, BlackBox(decisions=y)).result_
    assert decided.audited == "decisions"
    assert decided[0].subject == BiasScan(**FAST).fit(X, y).result_[0].subject
    with pytest.raises(ValueError, match="needs both"):
        BiasScan(expected="model", **FAST).fit(X, y)
    with pytest.raises(ValueError, match="y is needed to audit new data"):
        BiasScan(**FAST).fit(X, y, Known()).audit(X)


def test_what_does_not_fit_is_refused():
    X, y, _ = planted(0, 100)
    with pytest.raises(ValueError, match="scoring='gaussian' is not defined for mode='binary'"):
        BiasScan(scoring="gaussian").fit(X, y)
    with pytest.raises(ValueError, match="outcomes >= 0"):
        BiasScan(mode="ordinal").fit(X, y - 1.0)
    with pytest.raises(ValueError, match="must be > 0"):
        BiasScan(mode="continuous", scoring="gaussian").fit(X, y - 1.0)
    with pytest.raises(ValueError, match="pos_label must be 'high', 'low'"):
        BiasScan(mode="continuous", pos_label="yes").fit(X, y * 1.5)
    with pytest.raises(ValueError, match="needs numbers in y"):
        BiasScan(mode="continuous").fit(X, np.where(y, "a", "b"))


def test_the_distribution_of_successes_is_that_of_all_outcomes():
    p = np.array([0.1, 0.5, 0.5, 0.83])
    mass = np.zeros(5)
    for bits in np.ndindex(2, 2, 2, 2):
        mass[sum(bits)] += np.prod(np.where(bits, p, 1 - p))
    np.testing.assert_allclose(poisson_binomial(p), mass, atol=1e-12)
    equal = poisson_binomial(np.full(200, 0.02))
    np.testing.assert_allclose(equal, stats.binom(200, 0.02).pmf(np.arange(201)), atol=1e-12)


def test_results_are_reported():
    X, y, _ = planted(0)
    result = BiasScan(**FAST).fit(X, y).result_
    for page in (to_text(result), to_markdown(result), to_html(result)):
        assert "u in" in page


def test_everyone_is_no_condition():
    X, y, _ = planted(0, gap=0.0)
    result = BiasScan(direction="higher", **FAST).fit(X, y, Known(0.3)).result_
    assert result[0].subject == Subgroup()


@pytest.mark.parametrize("scoring", ["berk_jones", "mean_shift", "gaussian"])
def test_a_constant_outcome_shows_nothing_and_could_have_shown_nothing(scoring):
    X = pd.DataFrame({"sex": ["F", "M"] * 50, "town": ["a"] * 20 + ["b"] * 80})
    scan = BiasScan(protected="sex", mode="continuous", scoring=scoring, n_resamples=9)
    result = scan.set_params(n_restarts=2, random_state=0).fit(X, np.full(100, 3.5)).result_
    assert (len(result), result.verdict) == (0, "insufficient evidence")
