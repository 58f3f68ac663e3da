"""Counterfactual fairness: published numbers, a loop over people, and what must hold anyway."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from skdisc import AuditResult, BlackBox, FeatureSpace, Limits, report
from skdisc.causal import StructuralCausalModel, sensitivity_worlds
from skdisc.exceptions import ModelError, RefitWarning
from skdisc.individual import CounterfactualFairness

LAW = [("Race", "GPA"), ("Race", "LSAT"), ("Gender", "GPA"), ("Gender", "LSAT")]
FLIP = {0: 1, 1: 0}
RACE, BOTH = {"Race": FLIP}, {"Race": FLIP, "Gender": FLIP}
BLACK, BLACK_WOMEN = {"Race": 1}, {"Race": 1, "Gender": 1}
STRAIGHT = StructuralCausalModel(LAW, regressor=LinearRegression())
BENT = StructuralCausalModel(LAW, regressor={"LSAT": LinearRegression()})  # GPA by group


@pytest.fixture(scope="module")
def law(load):
    """Return the students of the notebook, and their grades."""
    law = load("law_school")
    law = law[law["race"].isin(["White", "Black"])].reset_index(drop=True)
    race, gender = (law["race"] == "Black").astype(int), (law["sex"] == 1).astype(int)
    X = pd.DataFrame({"Race": race, "Gender": gender, "GPA": law["UGPA"], "LSAT": law["LSAT"]})
    return X, law["ZFYA"]


def mean_of(result, group, do=None):
    effects = result.tables["effects"]
    rows = effects[(effects["group"] == group) & (effects["do"] == (do or effects["do"][0]))]
    return rows.iloc[0]


def audit(law, model, scm, do, group, evaluate="model"):
    detector = CounterfactualFairness(
        protected=["Race", "Gender"],
        counterfactuals=scm,
        do=do,
        group=group,
        output="value",
        evaluate=evaluate,
        n_resamples=0,
    )
    result = detector.fit(*law, model).result_
    return result.tables["effects"]["mean"].iloc[1]


@pytest.mark.parametrize(
    ("do", "group", "fixed", "refit", "bent", "notebook", "sd"),
    [
        (RACE, BLACK, -0.4434, -0.5134, -0.5137, -0.501613, 0.0340),
        (BOTH, BLACK_WOMEN, -0.4275, -0.5091, -0.5096, -0.504505, 0.0332),
    ],
)
def test_numbers_of_the_notebook(law, do, group, fixed, refit, bent, notebook, sd):
    X, y = law
    model = LinearRegression().fit(X[["GPA", "LSAT"]], y)
    assert len(X) == 19567
    assert audit(law, model, STRAIGHT, do, group) == pytest.approx(fixed, abs=1e-4)
    again = audit(law, model, STRAIGHT, do, group, "refit")
    assert again == pytest.approx(refit, abs=1e-4)
    assert audit(law, model, BENT, do, group, "refit") == pytest.approx(bent, abs=1e-4)
    assert abs(again - notebook) < sd  # the notebook's sample of 5000 was not seeded


def test_the_aware_model_is_fair_by_an_identity_only(law):
    model = LinearRegression().fit(*law)
    assert audit(law, model, STRAIGHT, RACE, BLACK) == pytest.approx(-1.0389, abs=1e-4)
    with pytest.warns(RefitWarning, match="an identity and not a finding"):
        refit = audit(law, model, STRAIGHT, RACE, BLACK, "refit")
    assert abs(refit) < 1e-12

    def noise(X, do):
        values = np.random.default_rng(0).normal(size=(len(X), 2))
        return pd.DataFrame(values, columns=["GPA", "LSAT"])

    with pytest.warns(RefitWarning):
        assert abs(audit(law, model, noise, RACE, BLACK, "refit")) < 1e-12


def test_a_model_of_residuals_is_fair(law):
    X, y = law
    scm = StructuralCausalModel(LAW).fit(X)
    model = LinearRegression().fit(scm.abduct(X), y)
    residuals_only = lambda rows: model.predict(scm.abduct(rows))  # noqa: E731
    assert abs(audit(law, residuals_only, scm, RACE, BLACK)) < 1e-12


@pytest.mark.parametrize(
    ("world", "column", "cases"),
    [("doMale", "sex", 56), ("doWhite", "race_nonwhite", 231), ("doMaleWhite", "both", 113)],
)
def test_published_law_school_counterfactuals_as_a_file(load, world, column, cases):
    people, file = load("cst/clean_LawSchool"), load(f"cst/cf_LawSchool_lev3_{world}")
    X = people[["sex", "race_nonwhite", "LSAT", "UGPA"]]
    X = X.assign(both=(X["sex"] == "Female") & (X["race_nonwhite"] == "NonWhite"))
    decide = lambda X: (0.6 * X["UGPA"] + 0.4 * X["LSAT"] >= 20.8).astype(int)  # noqa: E731
    rows = file[["scf_LSAT", "scf_UGPA"]].set_axis(["LSAT", "UGPA"], axis=1)
    group = {column: {"sex": "Female", "race_nonwhite": "NonWhite", "both": True}[column]}
    for model, source in (
        (decide, rows),
        (BlackBox(decisions=decide(X)), (rows, decide(rows))),
    ):
        detector = CounterfactualFairness(
            protected=column, counterfactuals=source, group=group, n_resamples=0, pos_label=1
        )
        result = detector.fit(X, model=model).result_
        effects = result.tables["effects"].set_index("group").iloc[1]
        assert effects["gains"] == cases
        assert (result.findings.outcome == 0).sum() == cases


def test_published_loan_counterfactuals_as_a_file_and_as_a_model(load):
    X, file = load("cst/LoanApplication_v2"), load("cst/cf_LoanApplication_v2")
    names = ["AnnualSalary", "AccountBalance"]
    y, columns = X["LoanApproval"].to_numpy(), ["Gender", *names]
    bank = lambda X: np.sign(X[names[0]] + 5 * X[names[1]] - 225_000)  # noqa: E731
    dag = [("Gender", names[0]), ("Gender", names[1]), (names[0], names[1])]
    model = StructuralCausalModel(dag)
    for source in (file[names], (file[names], file["LoanApproval"]), model):
        do = {"Gender": 0} if source is model else None
        detector = CounterfactualFairness(
            protected="Gender", counterfactuals=source, do=do, n_resamples=0, pos_label=1
        )
        result = detector.fit(X[columns], y, bank).result_
        assert mean_of(result, "Gender = 1")["gains"] == 376
        assert result.n_found == 376 or source is not model


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 300
    sex, race = rng.choice(["F", "M"], n), rng.choice(["black", "brown", "white"], n)
    test = rng.normal(size=n) + (sex == "M") + 0.5 * (race == "white")
    X = pd.DataFrame({"sex": sex, "race": race, "test": test, "town": rng.choice(list("ab"), n)})
    y = (test + rng.normal(size=n) > 0.5).astype(int)
    return X, y


DAG = [("sex", "test"), ("race", "test")]


def test_a_loop_over_people_finds_the_same(people):
    X, y = people
    model = lambda X: (X["test"] > 0.7).astype(int)  # noqa: E731
    scm = StructuralCausalModel(DAG).fit(X)
    detector = CounterfactualFairness(
        protected=["sex", "race"], counterfactuals=scm, n_resamples=0, pos_label=1
    )
    result = detector.fit(X, y, model).result_
    cells = X.groupby(["sex", "race"])["test"].mean()
    own, worst, sums = X["test"] > 0.7, [], {}
    for i, person in X.iterrows():
        gaps = []
        for sex, race in cells.index:
            test = person["test"] + cells[sex, race] - cells[person["sex"], person["race"]]
            gaps.append(float(own[i]) - float(test > 0.7))
            if (sex, race) != (person["sex"], person["race"]) and person["sex"] == "F":
                sums.setdefault((sex, race), []).append(gaps[-1])
        worst.append(max(gaps, key=abs))
    assert sorted(result.findings.row) == np.flatnonzero(worst).tolist()
    assert result.findings.table["effect"].tolist() == [worst[i] for i in result.findings.row]
    for (sex, race), gaps in sums.items():
        row = mean_of(result, "sex = 'F'", f"sex := {sex!r} and race := {race!r}")
        assert (row["n"], row["mean"]) == (len(gaps), pytest.approx(np.mean(gaps)))
        assert (row["gains"], row["losses"]) == (gaps.count(-1.0), gaps.count(1.0))
    table = result.tables["counterfactual"]
    assert table["row"].tolist() == list(range(len(X)))
    assert table["difference"].tolist() == worst
    factual = result.tables["factual"]
    pd.testing.assert_frame_equal(factual[list(X.columns)], X)
    assert (factual["outcome"] == own).all()
    case = result[0].subject
    assert set(case.changed) & {"sex", "race"}
    assert AuditResult.from_json(result.to_json()) == result
    text = " ".join(report.to_text(result).split())
    assert "for other values of sex, race and resulting values of test." in text
    assert "Outcome minus outcome of the same people in the counterfactual world" in text


@pytest.mark.slow
def test_what_is_done_decides_what_is_seen(people):
    X, y = people
    model = lambda X: (X["test"] + (X["sex"] == "M") > 0.7).astype(int)  # noqa: E731
    scm = StructuralCausalModel(DAG)

    def cases(**settings):
        detector = CounterfactualFairness(
            protected="sex", n_resamples=0, pos_label=1, **settings
        ).fit(X, y, model)
        return set(detector.result_.findings.row.tolist())

    direct = cases()
    assert direct == cases(counterfactuals=scm, block=[("sex", "test")])
    total = cases(counterfactuals=scm)
    assert direct < total
    assert cases(counterfactuals=scm, do={"sex": X["sex"].to_numpy()}) == set()
    to_men = cases(counterfactuals=scm, do={"sex": "M"})
    assert to_men == {i for i in total if X["sex"][i] == "F"}
    by_row = np.where(X["sex"] == "F", "M", X["sex"])
    assert cases(counterfactuals=scm, do={"sex": by_row}) == to_men
    fitted = StructuralCausalModel(DAG).fit(X)
    callable_source = lambda X, do: fitted.counterfactual(X, do)  # noqa: E731
    assert cases(counterfactuals=callable_source) == total
    flip = {"sex": {"F": "M", "M": "F"}}
    assert cases(counterfactuals=fitted.counterfactual(X, flip)) == total


def test_a_mean_of_zero_hides_no_case():
    X = pd.DataFrame({"sex": ["F", "M"] * 50, "x": np.repeat([0, 1, 2, 3], 25)})
    model = lambda X: ((X["sex"] == "F") == (X["x"] % 2 == 0)).astype(int)  # noqa: E731
    result = CounterfactualFairness(protected="sex", n_resamples=0).fit(X, model=model).result_
    assert abs(mean_of(result, "everyone")["mean"]) < 0.05
    assert (mean_of(result, "everyone")["share"], result.verdict) == (1, "disparity found")
    assert "No causal model was given" in " ".join(result.notes)


@pytest.mark.slow
def test_worlds_report_the_spread_of_every_answer(people):
    X, y = people
    model = LogisticRegression().fit(X[["test"]], y)
    scm = StructuralCausalModel(DAG)
    worlds = sensitivity_worlds(scm, "sex", [-0.2, 0.0, 0.2])
    detector = CounterfactualFairness(
        protected="sex", worlds=worlds, output="probability", min_gap=0.05, n_resamples=5
    ).set_params(random_state=0)
    detector.fit(X, y, model)
    result = detector.result_
    effects = result.tables["effects"]
    means = effects[effects["group"] == "sex = 'F'"].set_index("world")["mean"]
    assert list(means.index) == list(worlds)
    assert means.is_monotonic_increasing  # the more is put down to confounding, the less to sex
    spread = result.tables["spread"].set_index("group").loc["sex = 'F'"]
    assert spread[["lowest", "highest"]].tolist() == [means.min(), means.max()]
    assert spread["spread"] == means.max() - means.min()
    assert (effects["ci_low"] < effects["ci_high"]).all()
    alone = CounterfactualFairness(protected="sex", counterfactuals=worlds[list(worlds)[2]])
    alone.set_params(output="probability", min_gap=0.05, n_resamples=5, random_state=0)
    ends = alone.fit(X, y, model).result_.tables["effects"][["ci_low", "ci_high"]]
    assert np.allclose(effects[["ci_low", "ci_high"]].iloc[-len(ends) :], ends)
    single = [
        CounterfactualFairness(protected="sex", counterfactuals=w, output="probability")
        .set_params(n_resamples=0)
        .fit(X, y, model)
        .result_.tables["counterfactual"]["outcome"]
        for w in worlds.values()
    ]
    table = result.tables["counterfactual"]
    assert np.allclose(table["spread"], np.ptp(np.array(single), axis=0))
    assert table["share_of_worlds"].between(0, 1).all()
    listed = CounterfactualFairness(
        protected="sex", counterfactuals=scm, worlds=[None], n_resamples=0
    )
    names = listed.fit(X, y, model).result_.tables["effects"]["world"].unique()
    assert names.tolist() == ["main", "world 1"]


@pytest.mark.statistics
def test_intervals_have_the_width_that_theory_gives():
    rng = np.random.default_rng(1)
    n = 2000
    a = rng.integers(0, 2, n)
    X = pd.DataFrame({"a": a, "x": a + rng.normal(size=n)})
    model = lambda X: 2 * X["x"]  # noqa: E731
    settings = {"protected": "a", "output": "value", "n_resamples": 100, "random_state": 0}
    scm = StructuralCausalModel([("a", "x")])
    found = CounterfactualFairness(counterfactuals=scm, **settings).fit(X, model=model)
    row = mean_of(found.result_, "a = 0")
    error = 2 * np.sqrt(sum(X["x"][a == v].var() / (a == v).sum() for v in (0, 1)))
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert row["ci_low"] < row["mean"] < row["ci_high"]
    assert row["p_value"] <= row["p_adjusted"] < 1e-6
    known = CounterfactualFairness(counterfactuals=scm.fit(X), **settings).fit(X, model=model)
    row = mean_of(known.result_, "a = 0")  # everybody moves alike, and the model is not refitted
    assert row["ci_high"] - row["ci_low"] < 1e-9
    again = CounterfactualFairness(
        counterfactuals=StructuralCausalModel([("a", "x")]), **settings
    ).fit(X, model=model)
    assert again.result_ == found.result_


def test_new_people_are_audited_with_the_model_of_fit(people):
    X, y = people
    model = lambda X: (X["test"] > 0.7).astype(int)  # noqa: E731
    scm = StructuralCausalModel(DAG)
    detector = CounterfactualFairness(protected="sex", counterfactuals=scm, pos_label=1)
    detector.set_params(n_resamples=0).fit(X, y, model)
    some = X.iloc[::7]
    result = detector.audit(some)
    own = detector.result_.tables["counterfactual"]["difference"].iloc[::7].to_numpy()
    assert (result.tables["counterfactual"]["difference"] == own).all()
    assert detector.score(some) == np.mean(own != 0)
    rows = scm.fit(X).counterfactual(X, {"sex": {"F": "M", "M": "F"}})
    given = CounterfactualFairness(protected="sex", counterfactuals=rows, pos_label=1)
    given.set_params(n_resamples=0).fit(X, y, model)
    assert given.audit(X).n_found == given.result_.n_found == detector.result_.n_found
    with pytest.raises(ValueError, match="for the rows of fit and not for others"):
        given.audit(some)


def test_budgets_end_an_audit_early(people):
    X, y = people
    detector = CounterfactualFairness(protected="sex", limits=Limits(queries=100), n_resamples=0)
    result = detector.fit(X, y, lambda X: (X["test"] > 0.7).astype(int)).result_
    assert (result.stopped_by, result.estimates["n"][0]) == ("queries", 50)
    nothing = detector.set_params(limits__queries=0).fit(X, y, lambda X: np.ones(len(X))).result_
    assert (nothing.n_queries, nothing.n_tested, len(nothing)) == (0, 0, 0)
    assert nothing.verdict == "insufficient evidence"


def test_a_budget_that_ends_before_the_bootstrap_leaves_no_intervals(people):
    X, y = people
    scm = StructuralCausalModel([("sex", "test")])
    detector = CounterfactualFairness(
        protected="sex", counterfactuals=scm, limits=Limits(queries=100)
    )
    result = detector.fit(X, y, lambda X: (X["test"] > 0.7).astype(int)).result_
    assert result.stopped_by == "queries"
    assert result.to_frame("effects")[["ci_low", "ci_high", "p_value"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"group": {"sex": "X"}}, "group names 'sex' = 'X'"),
        ({"group": {"wage": 1}}, "group names 'wage'"),
        ({"do": {"wage": 1}}, r"do names \['wage'\]"),
        ({"counterfactuals": 3}, "must be a StructuralCausalModel"),
        (
            {"counterfactuals": StructuralCausalModel([("sex", "wage")])},
            r"\['wage'\] of the causal model are not columns of X",
        ),
        ({"block": [("sex", "test")]}, "block= needs a StructuralCausalModel"),
        (
            {"block": np.inf},
            "The 'block' parameter of CounterfactualFairness must be an array-like",
        ),
        ({"evaluate": "refit"}, "needs y, and an estimator"),
        ({"output": "value"}, "returned an array"),
    ],
)
def test_what_cannot_be_is_refused(people, settings, message):
    X, _ = people
    model = lambda X: np.where(X["sex"] == "F", "no", "yes")  # noqa: E731
    detector = CounterfactualFairness(protected="sex", n_resamples=0, pos_label="yes", **settings)
    with pytest.raises((ValueError, TypeError, ModelError), match=message):
        detector.fit(X, None, model)


def test_what_lacks_its_model_is_refused(people):
    X, y = people
    with pytest.raises(ValueError, match="there is no surrogate"):
        CounterfactualFairness(protected="sex", output="value").fit(X, y)
    with pytest.raises(ValueError, match="output must be 'decision'"):
        CounterfactualFairness(
            protected="sex", counterfactuals=(X, y), output="probability", n_resamples=0
        ).fit(X, y, LogisticRegression().fit(X[["test"]], y))
    space = FeatureSpace.from_frame(X, protected=["sex"])
    with pytest.raises(TypeError, match="needs rows of X"):
        CounterfactualFairness().fit(space, model=lambda X: np.ones(len(X)))


def test_clipped_values_are_counted(people):
    X, y = people
    scm = StructuralCausalModel(DAG, clip={"test": (-1, 1)})
    detector = CounterfactualFairness(protected="sex", counterfactuals=scm, n_resamples=0)
    notes = detector.fit(X, y, lambda X: (X["test"] > 0.7).astype(int)).result_.notes
    assert any("values of test were clipped" in note for note in notes)


@pytest.mark.parametrize("dtype", ["float64", "Int64", "category", "str"])
def test_missing_is_a_value_like_others(dtype):
    rng = np.random.default_rng(0)
    a = pd.Series(rng.integers(0, 2, 120)).astype("str" if dtype == "category" else dtype)
    X = pd.DataFrame({"a": a.astype(dtype).where(rng.random(120) > 0.2)})
    gone = X["a"].isna()
    detector = CounterfactualFairness(protected="a", n_resamples=5, pos_label=1, random_state=0)
    result = detector.fit(X, model=lambda X: X["a"].isna().astype(int)).result_
    effects = result.tables["effects"].set_index(["do", "group"])
    assert effects.loc[("a := None", "a missing"), "n"] == 0
    assert effects.loc[("a := None", "everyone"), ["n", "gains"]].tolist() == [(~gone).sum()] * 2
    one = effects.loc[effects.index[effects["losses"] > 0]]
    assert one.xs("a missing", level="group")["losses"].tolist() == [gone.sum()] * 2
    assert (result.n_tested, result.n_found) == (1, 1)  # one input: nothing but a
    assert len(result.findings) == 120


def test_a_value_is_a_margin_where_there_is_one(people):
    X, y = people
    model = LogisticRegression().fit(X[["test"]], y)
    scm = StructuralCausalModel(DAG)
    detector = CounterfactualFairness(
        protected="sex", counterfactuals=scm, do={"sex": "M"}, output="value", n_resamples=0
    )
    table = detector.fit(X, y, model).result_.tables["counterfactual"]
    shift = scm.fit(X).counterfactual(X, {"sex": "M"})["test"] - X["test"]
    assert np.allclose(table["difference"], -model.coef_[0, 0] * shift)


def test_decisions_about_counterfactuals_are_compared_with_y():
    rng = np.random.default_rng(0)
    n = 300
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "points": rng.normal(size=n)})
    y, other = rng.integers(0, 2, n), rng.integers(0, 2, n)
    world = X.assign(sex=np.where(X["sex"] == "F", "M", "F"))
    result = CounterfactualFairness(protected="sex", counterfactuals=(world, other)).fit(X, y)
    assert result.audited_ == "decisions"
    assert result.result_.n_found == (y != other).sum()
    assert not any("surrogate" in note for note in result.result_.notes)
