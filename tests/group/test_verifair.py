"""VeriFair: the bound, its arithmetic, and verdicts that are wrong at most as often as said."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import FeatureSpace, Limits, Rule
from skdisc.causal import StructuralCausalModel
from skdisc.datasets import GaussianCopula, schema_from_frame
from skdisc.group import VeriFair
from skdisc.group._verifair_concentration import DrawTally, Verification, radius
from skdisc.group._verifair_specification import FAIR, UNDECIDED, UNFAIR, Mean, ready_made

A, B = Mean("a"), Mean("b")


def test_the_bound_has_the_published_values():
    """Of Bastani et al.'s setting, 0.5e-10 per mean."""
    published = {10**3: 0.1324, 10**4: 0.0421, 10**5: 0.0134, 10**6: 0.0042}
    for n, value in published.items():
        assert radius(n, 0.5e-10) == pytest.approx(value, abs=5e-5)
    assert radius(0, 0.1) == math.inf


@pytest.mark.statistics
def test_means_are_within_the_bound_at_every_number_of_draws():
    """Even if one stops where the mean is furthest off; intervals of fixed n are not."""
    rng, delta, n = np.random.default_rng(0), 0.3, 1000
    size = np.arange(1, n + 1)
    bound = np.array([radius(i, delta) for i in size])
    off = np.abs((rng.random((1000, n)) < 0.4).cumsum(axis=1) / size - 0.4)
    assert (off > bound).any(axis=1).mean() <= delta
    fixed = 1.96 * np.sqrt(0.24 / size)
    assert (off > fixed)[:, 50:].any(axis=1).mean() > 0.2


rates, errors, offsets = st.floats(0.01, 1), st.floats(0.0001, 0.2), st.floats(-1, 1)


@given(rates, rates, errors, errors, offsets, offsets)
def test_terms_contain_what_the_means_may_truly_be(a, b, e, f, i, j):
    means = {A: (a, e), B: (b, f)}
    truth = {A: (a + i * e, 0.0), B: (b + j * f, 0.0)}
    for term in (A / B - 0.85, A - B + 0.1, A * B, -A + 2 * B, 1 / A, 1 - A * A / B):
        value, error = term.evaluate(means.get)
        if abs(truth[A][0]) > 1e-6 and abs(truth[B][0]) > 1e-6:
            true = term.evaluate(truth.get)[0]
            assert abs(true - value) <= error * (1 + 1e-9) + 1e-9


def test_the_ratio_has_the_published_error():
    a, b, e = 0.4, 0.6, 0.05
    value, error = (A / B - 0.85).evaluate({A: (a, e), B: (b, e)}.get)
    assert value == pytest.approx(a / b - 0.85)
    assert error == pytest.approx(e / b + e * (e + a) / (b * (b - e)))
    assert (A / B).evaluate({A: (a, e), B: (0.04, e)}.get)[1] == math.inf


def test_specifications_combine():
    means = {A: (0.5, 0.01), B: (0.6, 0.01)}.get
    yes, no, unsure = A >= 0.4, A >= 0.6, A >= 0.5
    assert [s.decide(means)[0] for s in (yes, no, unsure)] == [FAIR, UNFAIR, UNDECIDED]
    assert (yes & no).decide(means)[0] == UNFAIR
    assert (yes & unsure).decide(means)[0] == UNDECIDED
    assert (yes | unsure).decide(means)[0] == FAIR
    assert (no | unsure).decide(means)[0] == UNDECIDED
    assert (~yes).decide(means)[0] == UNFAIR
    assert (A <= 0.4).decide(means)[0] == UNFAIR
    assert unsure.decide(means, ambiguity=0.01)[0] == FAIR
    assert str(A / B >= 0.8) == "a / b >= 0.8"


def bernoulli(p, rng):
    return lambda n: rng.random(n) < p


@pytest.mark.parametrize(("a", "b"), [(0.4, 0.5), (0.45, 0.5), (0.5, 0.5)])
def test_wrong_verdicts_are_as_rare_as_said(a, b):
    spec, delta, wrong, decided = ready_made("demographic_parity", 0.15), 0.2, 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        tallies = {A: DrawTally(bernoulli(a, rng)), B: DrawTally(bernoulli(b, rng))}
        check = Verification(spec, tallies, delta)
        check.run(50, 60_000, lambda n: n)
        truth = [FAIR if r >= 0.85 else UNFAIR for r in (a / b, b / a)]
        found = [c.verdict for c in check.certificates]
        wrong += any(v not in (t, UNDECIDED) for v, t in zip(found, truth, strict=True))
        decided += UNDECIDED not in found
    assert wrong <= 60 * (delta + 2 * np.sqrt(delta * (1 - delta) / 60))
    assert decided >= 57


def test_ambiguity_ends_the_drawing_on_the_boundary():
    spec, rng = ready_made("causal", 0.125), np.random.default_rng(0)
    tallies = {Mean("a", "do"): DrawTally(bernoulli(0.375, rng))}
    tallies[Mean("b", "do")] = DrawTally(bernoulli(0.5, rng))
    check = Verification(spec, tallies, 0.05, ambiguity=0.05)
    check.run(200, 10**6, lambda n: n)
    assert check.certificates[0].verdict != UNDECIDED
    assert check.n_draws < 200_000


def people(seed=0, n=3000):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "race": rng.choice(["x", "y", "z"], n)})
    X["income"] = rng.integers(0, 100, n)
    return X, (X["income"] > 60).to_numpy().astype(int)


def biased(X):
    return (X["income"] + 30 * (X["sex"] == "M") > 60).astype(int)


SETTINGS = {"protected": "sex", "random_state": 0, "pos_label": 1}


def test_a_model_that_refuses_everybody_is_named_as_the_reason():
    X, _ = people()
    result = VeriFair(**SETTINGS).fit(X, model=lambda X: np.zeros(len(X))).result_
    assert result.verdict == "insufficient evidence"
    assert result.reason == "all outcomes drawn are equal"


def test_rows_of_data_give_exact_rates_and_every_pair_is_compared():
    X, y = people()
    detector = VeriFair(**SETTINGS | {"protected": ["race", "sex"]}).fit(X, y, biased)
    result, table = detector.result_, detector.result_.to_frame("subgroups")
    assert len(table) == 2 * (3 + 1)
    assert result.verdict == "disparity found"
    assert str(result[0].subject) == "sex = 'F'"
    rates = biased(X).groupby(X["sex"]).mean()
    gap = rates["F"] - rates["M"]
    top = table.iloc[0]
    assert top.exact_rate == pytest.approx(rates["F"])
    assert top.diff_outcome == pytest.approx(gap, abs=0.1)
    assert (top.group_key, table["group_key"][1]) == ("0|*|*-1|*|*", "1|*|*-0|*|*")
    published = {"rate", "nodes_visited", "verdict", "TSN", "DSN", "SUR", "DSS", "total_time"}
    assert published <= set(table.columns)
    assert result.metrics["nodes_visited"] == table["nodes_visited"][::2].sum()
    assert table["sex"].dropna().tolist() == ["F", "M"]
    full = result.to_frame()
    assert full["ci_low"][0] <= gap <= full["ci_high"][0] < 0
    assert full["p_adjusted"][0] <= 0.05
    assert (full["p_value"][1:] > 0.05 / 4).all()
    assert result.n_found == 1
    assert result.n_tested == full["nodes_visited"][::2].sum()
    certificates = result.tables["certificates"]
    assert certificates["group"][0].startswith("sex")  # it tells most of the outcome
    verdicts = dict(zip(certificates["group"], certificates["verdict"], strict=True))
    assert (verdicts["sex = 'F'"], verdicts["sex = 'M'"]) == ("unfair", "fair")
    assert detector.score(X, y) == pytest.approx(0.85 - rates["F"] / rates["M"], abs=0.1)


@pytest.mark.statistics
def test_rows_unfair_by_chance_are_not_found():
    """Rates of 15 and 25 people differ by more than the slack, and say nothing of others."""
    X = pd.DataFrame(
        {"sex": list("F" * 15 + "M" * 25), "pay": [1] * 6 + [0] * 9 + [1] * 14 + [0] * 11}
    )
    result = VeriFair(**SETTINGS).fit(X, model=lambda X: X["pay"].to_numpy()).result_
    assert result.to_frame()["verdict"].tolist() == ["unfair", "unfair"]
    assert (result.n_found, result.verdict) == (0, "insufficient evidence")
    assert any("too few to conclude" in note for note in result.notes)
    many = pd.concat([X] * 100, ignore_index=True)
    result = VeriFair(**SETTINGS).fit(many, model=lambda X: X["pay"].to_numpy()).result_
    assert (result.n_found, result.verdict) == (1, "disparity found")
    low, high = result.to_frame().loc[0, ["ci_low", "ci_high"]]
    assert low < 6 / 15 - 14 / 25 < high


def test_a_fair_model_is_certified_and_too_few_draws_are_no_verdict():
    X, y = people()
    fair = lambda A: (A["income"] > 40).astype(int)  # noqa: E731
    result = VeriFair(rule=Rule(relevant_gap=0.3), **SETTINGS).fit(X, y, fair).result_
    assert (result.verdict, result.n_found) == ("no disparity found", 0)
    assert set(result.findings.table["verdict"]) == {"fair"}
    strict = VeriFair(**SETTINGS).fit(X, y, fair).result_  # certified, but of few people
    assert (strict.verdict, strict.n_found) == ("insufficient evidence", 0)
    assert "the one that matters, is open" in strict.reason
    few = VeriFair(max_draws=200, **SETTINGS).fit(X, y, fair).result_
    assert few.verdict == "insufficient evidence"
    assert set(few.findings.table["verdict"]) == {"undecided"}
    assert any("undecided" in note for note in few.notes)
    short = VeriFair(limits=Limits(tests=300), **SETTINGS).fit(X, y, fair).result_
    assert (short.stopped_by, short.verdict) == ("tests", "insufficient evidence")
    assert VeriFair(limits=Limits(queries=5), **SETTINGS).fit(X, y, fair).result_.n_tested == 0


def test_missing_values_are_a_group():
    X, y = people(1)
    X.loc[np.random.default_rng(0).random(len(X)) < 0.2, "sex"] = None
    against = lambda A: ((A["income"] > 20) & A["sex"].notna()).astype(int)  # noqa: E731
    result = VeriFair(**SETTINGS).fit(X, y, against).result_
    assert str(result[0].subject) == "sex is missing"
    assert result.n_found == 2
    dropped = VeriFair(missing="drop", **SETTINGS)
    assert dropped.fit(X, y, against).result_.n_found == 0


def draw(n, rng):
    sex = rng.choice(["F", "M"], n, p=[0.2, 0.8])
    return pd.DataFrame({"income": rng.integers(0, 100, n), "sex": sex})


SPACE = FeatureSpace.from_domains({"income": (0, 99), "sex": ["F", "M"]}, protected="sex")


@pytest.mark.parametrize("sampler", [None, draw])
def test_people_come_from_the_space_or_a_sampler(sampler):
    result = VeriFair(sampler=sampler, random_state=0).fit(SPACE, model=biased).result_
    assert result.verdict == "disparity found"
    table = result.findings.table
    assert table["outcome"].tolist() == pytest.approx([0.39, 0.69], abs=0.08)
    assert table["exact_rate"].isna().all()
    men = lambda n, rng: draw(n, rng).assign(sex="M")  # noqa: E731
    with pytest.raises(ValueError, match="has returned too few people with sex = 'F'"):
        VeriFair(sampler=men).fit(SPACE, model=biased)


def test_a_fitted_copula_can_be_the_population():
    X, y = people(2, 800)
    copula = GaussianCopula(schema_from_frame(X, protected=["sex"]))
    result = VeriFair(sampler=copula, **SETTINGS).fit(X, y, biased).result_
    assert str(result[0].subject) == "sex = 'F'"
    assert result.verdict == "disparity found"


def test_equal_opportunity_looks_at_those_whose_label_is_favorable():
    X, y = people(3)
    settings = SETTINGS | {"spec": "equal_opportunity"}
    generous = lambda A: ((A["income"] > 60) | (A["sex"] == "M")).astype(int)  # noqa: E731
    assert VeriFair(**settings).fit(X, y, generous).result_.n_found == 0
    strict = lambda A: ((A["income"] > 80) | (A["sex"] == "M")).astype(int)  # noqa: E731
    result = VeriFair(**settings).fit(X, y, strict).result_
    inside = (y == 1) & (X["sex"] == "F")
    assert result.to_frame()["exact_rate"][0] == pytest.approx(strict(X)[inside].mean())
    assert result.n_found == 1
    with pytest.raises(ValueError, match="a sampler does not return labels"):
        VeriFair(sampler=draw, **settings).fit(X[["income", "sex"]], y, biased)


class World:
    """Sex lowers the job, and the job decides."""

    def sample(self, n, predicate=None, random_state=None):
        rng = np.random.default_rng(random_state)
        sex = rng.choice(["F", "M"], n)
        if predicate is not None:
            sex = np.full(n, predicate.values[0])
        return pd.DataFrame({"sex": sex, "job": rng.random(n) + 0.4 * (sex == "M")})

    def counterfactual(self, X, changes, keep):
        sex = changes["sex"]
        job = X["job"] + 0.4 * ((sex == "M") * 1.0 - (X["sex"] == "M"))
        return X.assign(sex=sex, job=X["job"] if "job" in keep else job)


def test_causal_specifications_follow_the_paths_that_are_asked_about():
    space = FeatureSpace.from_domains({"sex": ["F", "M"], "job": (0.0, 1.4)}, protected="sex")
    by_job = lambda X: X["job"] > 0.7  # noqa: E731
    settings = {"sampler": World(), "random_state": 0}
    total = VeriFair(spec="causal", **settings).fit(space, model=by_job).result_
    assert str(total[0].subject) == "sex = 'F'"
    assert total[0].effect == pytest.approx(-0.4, abs=0.12)
    assert total.n_found == 1
    kept = VeriFair(spec="path_specific", keep=["job"], **settings).fit(space, model=by_job).result_
    assert (kept.n_found, kept[0].effect) == (0, pytest.approx(0.0, abs=0.12))
    direct = VeriFair(spec="causal", random_state=0).fit(space, model=by_job).result_
    assert direct.n_found == 0  # without a counterfactual, all else stays
    with pytest.raises(ValueError, match="path_specific' needs a sampler with counterfactual"):
        VeriFair(spec="path_specific", keep=["job"]).fit(space, model=by_job)


def test_a_causal_model_gives_people_and_what_follows_from_their_values():
    """Sex lowers the job by 0.4, and the job decides: on paths through the job, and on no other."""
    X = World().sample(2000, random_state=1)
    scm = StructuralCausalModel([("sex", "job")])
    by_job = lambda X: X["job"] > 0.7  # noqa: E731
    settings = {"protected": "sex", "sampler": scm, "random_state": 0}
    total = VeriFair(spec="causal", **settings).fit(X, model=by_job).result_
    assert (total.n_found, str(total[0].subject)) == (1, "sex = 'F'")
    assert total[0].effect == pytest.approx(-0.4, abs=0.12)
    kept = VeriFair(spec="path_specific", keep=["job"], **settings).fit(X, model=by_job).result_
    assert (kept.n_found, kept[0].effect) == (0, pytest.approx(0.0, abs=0.12))
    changed = VeriFair(spec="individual", **settings).fit(X, model=by_job).result_
    assert changed.findings.table["outcome"].tolist() == pytest.approx([0.4, 0.4], abs=0.12)
    members = VeriFair(**settings).fit(X, model=by_job).result_
    assert members.n_found == 1
    assert members.findings.table["exact_rate"].isna().all()
    fitted = VeriFair(spec="causal", **settings | {"sampler": scm.fit(X)})
    space = FeatureSpace.from_frame(X, protected=["sex"])
    assert fitted.fit(space, model=by_job).result_.n_found == 1
    with pytest.raises(ValueError, match=r"without the columns \['town'\] of X"):
        VeriFair(**settings).fit(X.assign(town="a"), model=by_job)


def test_individual_fairness_is_the_share_whose_outcome_changes():
    settings = {"spec": "individual", "random_state": 0}
    result = VeriFair(slack=0.1, **settings).fit(SPACE, model=biased).result_
    assert result.n_found == 1
    assert result.findings.table["outcome"].tolist() == pytest.approx([0.3, 0.3], abs=0.1)
    assert VeriFair(slack=0.45, **settings).fit(SPACE, model=biased).result_.n_found == 0


def test_your_own_specification():
    a, b = VeriFair.means()
    spec = (a / b >= 0.5) & (a - b >= -0.5)
    X, y = people()
    result = VeriFair(spec=spec, **SETTINGS).fit(X, y, biased).result_
    assert result.n_found == 0
    assert "a / b >= 0.5" in result.measure
    assert VeriFair(spec=spec & (a >= 0.48), **SETTINGS).fit(X, y, biased).result_.n_found == 1


def test_numeric_attributes_are_compared_in_ranges_and_audited_in_the_same_ones():
    X, y = people()
    X["age"] = np.random.default_rng(1).normal(40, 12, len(X))
    young = lambda A: ((A["age"] < 32) | (A["income"] > 50)).astype(int)  # noqa: E731
    detector = VeriFair(**SETTINGS | {"protected": "age"}).fit(X, y, young)
    table = detector.result_.to_frame()
    assert len(table) == 2 * 6
    assert table["subject"].str.contains("age").all()
    assert detector.result_.n_found >= 3
    again = detector.audit(X.assign(age=X["age"] + 5), y)
    assert set(again.findings.subgroups) == set(detector.result_.findings.subgroups)
    only = X["age"] < 30
    few = detector.audit(X[only], y[only])
    assert len(few) == 0
    assert set(few.excluded["reason"]) == {"nobody whose outcome counts"}


def test_probabilities_and_reports():
    from skdisc.report import to_html, to_markdown, to_text

    X, y = people()

    class Model:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            p = 0.3 + 0.4 * (X["sex"] == "M").to_numpy()
            return np.column_stack([1 - p, p])

    result = VeriFair(output="probability", **SETTINGS).fit(X, y, Model()).result_
    assert result.findings.table["exact_rate"].tolist() == pytest.approx([0.3, 0.7])
    for page in (to_text(result), to_markdown(result), to_html(result)):
        assert "sex" in page


def test_weights_are_refused():
    X, y = people()
    with pytest.raises(ValueError, match="does not use sample_weight"):
        VeriFair(**SETTINGS).fit(X, y, biased).score(X, y, sample_weight=np.ones(len(X)))


def test_a_sampler_is_called_once_for_each_batch_when_the_share_of_a_group_is_known():
    asked, drawn = [], []

    def sampler(n, rng):
        drawn.append(n)
        return draw(n, rng)

    def model(X):
        asked.append(len(X))
        return biased(X)

    VeriFair(sampler=sampler, random_state=0).fit(SPACE, model=model)
    # The first batch of each group is called for twice, and few others are.
    assert len(drawn) <= 1.2 * len(asked) + 4
