"""Situation testing: what holds of the groups, the cases and the settings, on small data."""

import re
from inspect import getdoc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cdist
from situations import by_hand, people, share_refused, table
from sklearn.utils import get_tags

from skdisc import Rule, _stats
from skdisc._neighbors._nearest import shares
from skdisc.datasets import make_loan
from skdisc.individual import (
    CounterfactualSituationTesting,
    FlipTest,
    Similarity,
    SituationTesting,
)
from skdisc.individual._situation_testing import _statistics as statistics
from skdisc.individual._situation_testing._neighborhoods import _with_a_share
from skdisc.individual._situation_testing._report import joined
from skdisc.report import to_text


@pytest.mark.parametrize("decimals", [1, 9])
def test_groups_are_those_of_brute_force(decimals):
    X, y = people()
    X["x"] = X["x"].round(decimals)
    detector = SituationTesting(
        protected="sex", group="F", reference="M", n_neighbors=[5, 20], pos_label=1
    )
    found = table(detector, X, y)
    for k in (5, 20):
        p_c, p_t = by_hand(X, y, k)
        assert found.loc[k, "p_c"].to_numpy() == pytest.approx(p_c)
        assert found.loc[k, "p_t"].to_numpy() == pytest.approx(p_t)
        assert found.loc[k, ["n_c", "n_t"]].to_numpy() == pytest.approx(k)


def test_findings_carry_the_statistics_of_the_groups():
    X, y = people()
    result = SituationTesting(protected="sex", group="F", reference="M").fit(X, y).result_
    first, row = result[0], result.findings.row[0]
    assert result.verdict == "disparity found"
    mine = result.tables["people"].set_index("row").loc[row]
    assert first.effect == pytest.approx(mine["p_t"] - mine["p_c"])
    low, high = _stats.newcombe(15 * mine["p_c"], 15, 15 * mine["p_t"], 15)
    assert (first.ci_low, first.ci_high) == pytest.approx((-high, -low))
    assert first.p_adjusted <= 0.05
    assert first.subject.original["sex"] == "F"
    assert first.subject.altered["sex"] == "M"
    assert result.n_found == len(result) == result.tables["counts"]["case"][0]
    assert result.by_value["sex=F"] == (result.n_tested, result.n_found)
    judged = result.tables["people"].dropna(subset="delta")
    assert result.n_tested == len(judged)
    assert (judged["p_adjusted"] >= judged["p_value"]).all()


@pytest.mark.slow
def test_positive_discrimination_is_the_other_direction():
    X, y = people(gap=-1.0)
    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": 10}
    settings["similarity"] = Similarity(caliper=None)
    lower, higher, both = (
        SituationTesting(direction=d, **settings).fit(X, y).result_
        for d in ("lower", "higher", "both")
    )
    assert higher.n_found > 10 > lower.n_found
    assert all(f.direction == 1 for f in higher)
    assert lower.tables["counts"]["opposite"][0] == higher.tables["counts"]["gap"][0]
    p = [r.tables["people"]["p_value"].to_numpy() for r in (lower, higher, both)]
    assert p[2] == pytest.approx(np.minimum(1, 2 * np.minimum(p[0], p[1])))


def test_fisher_and_newcombe_inverted():
    x_c, n_c, x_t, n_t = (
        np.array(v, dtype=float) for v in ([9, 3, 7.5], [10] * 3, [2, 3, 1], [12] * 3)
    )
    asked = {"direction": "lower", "significance": 0.05}
    p = statistics.of_shares(x_c, n_c, x_t, n_t, threshold=0.0, **asked)[-1]
    for got, a, b in zip(p, (9, 3, 7), (2, 3, 1), strict=True):
        assert got == pytest.approx(stats.fisher_exact([[a, 10 - a], [b, 12 - b]], "greater")[1])
    p = statistics.of_shares(x_c, n_c, x_t, n_t, threshold=0.2, **asked)[-1]
    assert p[1] == 1
    low = _stats.newcombe(x_c, n_c, x_t, n_t, np.minimum(2 * p, 0.99))[0]
    assert low[[0, 2]] == pytest.approx(0.2, abs=1e-6)


def test_numbers_are_compared_by_welch():
    X, _ = people()
    y = X["x"] - (X["sex"] == "F")
    detector = SituationTesting(
        protected="sex", group="F", reference="M", output="value", n_neighbors=10, features=["x"]
    )
    found = table(detector, X, y).loc[10].iloc[0]
    row, at = found.name, X["x"].to_numpy()
    groups = []
    for sex in "FM":
        rows = np.flatnonzero((X["sex"] == sex) & (X.index != row))
        groups.append(y.to_numpy()[rows[np.argsort(np.abs(at[rows] - at[row]))[:10]]])
    expected = stats.ttest_ind(groups[1], groups[0], equal_var=False, alternative="greater")
    assert found["delta"] == pytest.approx(groups[1].mean() - groups[0].mean())
    assert found["p_value"] == pytest.approx(expected.pvalue)


@pytest.mark.slow
def test_several_classes_through_pos_label():
    X, y = people()
    three = np.where(y == 1, np.where(X["x"] > 1, "good", "fair"), "bad")
    settings = {"protected": "sex", "group": "F", "reference": "M"}
    two = table(SituationTesting(**settings, pos_label=1), X, y)
    found = table(SituationTesting(**settings, pos_label=["good", "fair"]), X, three)
    assert found.equals(two)


@pytest.mark.slow
def test_multiple_discrimination_is_a_case_in_every_column():
    X, y = people(600)
    X["race"] = np.random.default_rng(1).choice(["w", "b"], len(X))
    y = ((X["x"] - (X["sex"] == "F") - 0.8 * (X["race"] == "b")) > 0).astype(int)
    settings = {"reference": {"sex": "M", "race": "w"}, "group": {"sex": "F", "race": "b"}}
    settings |= {"features": ["x"], "criterion": "gap", "n_neighbors": 12}
    both = SituationTesting(protected=["sex", "race"], combine="multiple", **settings)
    cases = set(both.fit(X, y).result_.findings.row)
    single = []
    for column in ("sex", "race"):
        one = {k: v[column] for k, v in settings.items() if isinstance(v, dict)}
        detector = SituationTesting(protected=column, **{**settings, **one})
        single.append(set(detector.fit(X, y).result_.findings.row))
    assert cases == single[0] & single[1]
    assert 0 < len(cases) < min(map(len, single))


@pytest.mark.slow
def test_multiple_discrimination_with_columns_of_its_own_for_each_protected_one():
    X, y = people(600)
    rng = np.random.default_rng(1)
    X["race"], X["z"] = rng.choice(["w", "b"], len(X)), rng.normal(size=len(X))
    y = ((X["x"] - (X["sex"] == "F") - 0.8 * (X["race"] == "b")) > 0).astype(int)
    features = {"sex": ["x", "race"], "race": ["x", "z"]}
    settings = {"reference": {"sex": "M", "race": "w"}, "group": {"sex": "F", "race": "b"}}
    settings |= {"features": features, "criterion": "gap", "n_neighbors": 12}
    both = SituationTesting(protected=["sex", "race"], combine="multiple", **settings)
    cases, single = set(both.fit(X, y).result_.findings.row), []
    for column in ("sex", "race"):
        one = {k: v[column] for k, v in settings.items() if isinstance(v, dict)}
        detector = SituationTesting(protected=column, **{**settings, **one})
        single.append(set(detector.fit(X, y).result_.findings.row))
    assert cases == single[0] & single[1] != set()
    with pytest.raises(ValueError, match="list of columns for each protected column"):
        both.set_params(features={"sex": ["x"]}).fit(X, y)
    with pytest.raises(ValueError, match="unknown: \\['zz'\\]"):
        both.set_params(features={"sex": ["x"], "race": ["zz"]}).fit(X, y)
    with pytest.raises(ValueError, match="takes a dict"):
        both.set_params(combine="intersectional", features=features).fit(X, y)


@pytest.mark.slow
def test_who_is_compared_with_whom():
    X, y = people()
    names = {}
    for reference in ("best", "largest", "rest", "D"):
        detector = SituationTesting(protected="sex", reference=reference, n_neighbors=5)
        t = detector.fit(X, y).result_.tables["people"]
        names[reference] = set(zip(t["group"], t["reference"], strict=True))
    assert {r for _, r in names["largest"]} == {"sex = 'M'"}
    assert names["rest"] == {(f"sex = '{s}'", "the rest") for s in "DFM"}
    assert {r for _, r in names["D"]} == {"sex = 'D'"}
    assert len(names["best"]) == 2


@pytest.mark.slow
def test_complainants_and_new_people_meet_the_pools_of_fit():
    X, y = people()
    mask = ((X["sex"] == "F") & (X["x"] > 0)).to_numpy()
    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": 8}
    everybody = table(SituationTesting(**settings), X, y).loc[8]
    some = table(SituationTesting(complainants=mask, **settings), X, y).loc[8]
    assert some.index.tolist() == np.flatnonzero(mask).tolist()
    assert some["p_c"].tolist() == everybody.loc[some.index, "p_c"].tolist()
    published = settings | {"similarity": Similarity(metric="alvarez2023")}
    everybody = table(SituationTesting(**published), X, y).loc[8]
    some = table(SituationTesting(complainants=mask, **published), X, y).loc[8]
    of_all = everybody.loc[some.index].drop(columns="p_adjusted")  # corrected over complainants
    pd.testing.assert_frame_equal(some.drop(columns="p_adjusted"), of_all)
    known = X.assign(sex=X["sex"].where(np.arange(len(X)) % 7 > 0))
    settings["missing"] = "drop"
    everybody = SituationTesting(**settings).fit(known, y).result_.tables["people"]
    stays = np.flatnonzero(known["sex"].notna())
    for chosen in (mask, np.flatnonzero(mask)):  # they count the rows of X that are left out
        some = SituationTesting(complainants=chosen, **settings).fit(known, y).result_
        wanted = everybody[mask[stays[everybody["row"]]]]
        assert 0 < len(wanted) < len(everybody)
        assert some.tables["people"]["row"].tolist() == wanted["row"].tolist()
    detector = SituationTesting(**settings).fit(X, y)
    new = pd.DataFrame({"sex": ["F", "M", "F"], "x": [0.2, 0.2, -3.0], "job": ["a", "a", "b"]})
    judged = detector.audit(new, y[:3]).tables["people"]
    assert judged["row"].tolist() == [0, 2]
    groups = detector.neighbors(new.iloc[[0]])
    share = groups[groups["role"] == "control"]
    assert share["share"].sum() == pytest.approx(8)
    p_c = (share["share"] * (1 - share["outcome"])).sum() / 8
    assert judged["p_c"][0] == pytest.approx(p_c)


def test_groups_can_be_kept_for_the_card():
    X, y = people()
    detector = SituationTesting(protected="sex", group="F", reference="M", store_neighbors=True)
    result = detector.fit(X, y).result_
    kept = result.tables["neighbors"]
    assert kept["case_id"].nunique() == len(result)
    first = kept[kept["case_id"] == 0]
    assert first["role"].tolist()[:2] == ["person", "counterpart"]
    assert result.findings.row[0] not in set(first["at_fit"].dropna())
    for role, p in (("control", "p_c"), ("test", "p_t")):
        group = first[first["role"] == role]
        bad = (group["share"] * (1 - group["outcome"])).sum() / group["share"].sum()
        assert bad == pytest.approx(result.findings.table[p][0])


def test_a_radius_and_a_largest_distance():
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "features": ["x"]}
    settings["similarity"] = Similarity(max_distance=0.05)
    found = table(SituationTesting(n_neighbors=None, **settings), X, y).loc[0]
    x, unit = X["x"].to_numpy(), np.ptp(X["x"])
    for row in found.index[:20]:
        near = (np.abs(x - x[row]) / unit <= 0.05) & (X.index != row)
        assert found.loc[row, "n_c"] == (near & (X["sex"] == "F")).sum()
        assert found.loc[row, "n_t"] == (near & (X["sex"] == "M")).sum()
    few = table(SituationTesting(n_neighbors=30, **settings), X, y).loc[30]
    assert few["n_c"].to_numpy() == pytest.approx(np.minimum(30, found["n_c"]))


def test_a_callable_says_who_is_alike():
    X, y = people()

    def unlike(a, b):
        return (a["job"].to_numpy()[:, None] != b["job"].to_numpy()).astype(float)

    settings = {"protected": "sex", "group": "F", "reference": "M", "pos_label": 1}
    alike = Similarity(metric=unlike, max_distance=0.5)
    detector = SituationTesting(similarity=alike, n_neighbors=None, **settings)
    found = table(detector, X, y).loc[0]
    refused = 1 - y[X["sex"] == "M"].groupby(X["job"]).mean()
    assert found["p_t"].to_numpy() == pytest.approx(refused[X.loc[found.index, "job"]].to_numpy())


@pytest.mark.parametrize("metric", ["euclidean", "hvdm", "propensity"])
def test_metrics_by_name_agree_with_the_matrix_of_their_distances(metric):
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": 7}
    named = SituationTesting(similarity=Similarity(metric=metric), **settings)
    found = table(named, X, y)
    space = named._memory.pools[0].distances

    def matrix(a, b):
        return cdist(*(space.encode(f[["x", "job"]]) for f in (a, b)))

    same = SituationTesting(similarity=Similarity(metric=matrix), **settings)
    assert table(same, X, y)["p_c"].to_numpy() == (pytest.approx(found["p_c"].to_numpy()))


def test_hvdm_by_hand():
    X, y = people(60)
    hvdm = Similarity(metric="hvdm")
    detector = SituationTesting(protected="sex", similarity=hvdm, n_neighbors=1, reference="rest")
    detector.fit(X, y)
    points = detector._memory.pools[0].distances.encode(X[["x", "job"]])
    rate = (1 - y).groupby(X["job"]).mean()
    number = (X["x"][0] - X["x"][1]) / (4 * X["x"].std(ddof=0))
    named = 2 * (rate[X["job"][0]] - rate[X["job"][1]]) ** 2
    assert cdist(points[:1], points[1:2])[0, 0] == pytest.approx(np.sqrt(number**2 + named))


def test_small_pools():
    X, y = people()
    with pytest.raises(ValueError, match=r"n_neighbors=400 is more than the \d+ other people"):
        SituationTesting(protected="sex", group="F", n_neighbors=400).fit(X, y)
    with pytest.raises(ValueError, match=r"more than the 4\d people of the reference"):
        SituationTesting(protected="sex", reference="D", n_neighbors=60).fit(X, y)
    result = SituationTesting(protected="sex", reference="M", n_neighbors=60).fit(X, y).result_
    assert result.excluded["subject"].tolist() == ["sex = 'D'"]
    assert "60 is more than the" in result.excluded["reason"][0]


@pytest.mark.slow
def test_wording():
    X, y = people()
    for asked, message in (
        ({"group": "X"}, "group must be one of"),
        ({"group": {"job": "a"}}, "not among protected"),
        ({"features": ["q"]}, "must name columns of X"),
        ({"n_neighbors": None}, r"needs Similarity\(max_distance=\)"),
        ({"n_neighbors": [5, 0]}, "must be positive"),
        ({"complainants": [True]}, "mask of 1"),
        ({"complainants": [3, 1000]}, "positions from 0 to"),
        ({"complainants": ["F"]}, "positions from 0 to"),
        ({"output": "value", "similarity": Similarity(metric="alvarez2023")}, "compares decisions"),
        ({"similarity": Similarity(caliper=-1)}, "caliper"),
    ):
        with pytest.raises(ValueError, match=message):
            SituationTesting(protected="sex", **asked).fit(X, y)
    with pytest.raises(ValueError, match="needs protected"):
        SituationTesting().fit(X, y)
    frame = CounterfactualSituationTesting(protected="sex", counterfactuals=X, n_neighbors=5)
    with pytest.raises(ValueError, match="centers=True needs the decisions"):
        frame.set_params(centers=True).fit(X, y)
    with pytest.raises(ValueError, match="for the rows of fit and not for others"):
        frame.set_params(centers=False).fit(X, y).audit(X, y)
    with pytest.raises(ValueError, match="has no source for"):
        CounterfactualSituationTesting(protected="sex", counterfactuals={"job": X}).fit(X, y)
    with pytest.raises(ValueError, match="judges the people of fit only"):
        SituationTesting(protected="sex", similarity=Similarity(metric="alvarez2023")).fit(
            X, y
        ).audit(X, y)


@pytest.mark.slow
def test_groups_too_small_to_show_anything_are_no_proof_of_fairness():
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "features": ["x"]}
    nobody = (
        SituationTesting(similarity=Similarity(max_distance=1e-12), **settings).fit(X, y).result_
    )
    assert (nobody.n_tested, nobody.verdict) == (0, "insufficient evidence")
    few = SituationTesting(n_neighbors=2, **settings).fit(X, y).result_
    assert (len(few), few.verdict) == (0, "disparity found")  # by the mean gap
    assert few.reason.startswith("mean gap of sex = 'F': -0.")
    fair = (X["x"] > 0).astype(int)
    enough = SituationTesting(n_neighbors=15, **settings).fit(X, fair).result_
    assert (len(enough), enough.verdict) == (0, "no disparity found")


def test_the_report_says_with_whom_people_are_compared():
    X, y = people()
    result = SituationTesting(protected="sex", group="F", reference="M").fit(X, y).result_
    n = f"{result.n_found} of {result.n_tested} people tested"
    assert f"{n} have another outcome than {result.versus}." in " ".join(to_text(result).split())


@pytest.mark.slow
def test_gower_is_manhattan_where_nothing_is_missing():
    X, y = people()
    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": [5, 20]}
    for scale in ("range", "std"):
        found, plain = (
            table(SituationTesting(similarity=Similarity(metric=m, scale=scale), **settings), X, y)
            for m in ("gower", "manhattan")
        )
        pd.testing.assert_frame_equal(found, plain)


def test_gower_compares_what_both_people_have():
    X, y = people(120)
    rng = np.random.default_rng(1)
    X = X.assign(z=rng.normal(0, 1, 120))
    for name in ("x", "job", "z"):
        X[name] = X[name].where(rng.random(120) > 0.3)
    X.loc[0, ["sex", "x", "job", "z"]] = ["F", np.nan, None, np.nan]
    names, units = ["x", "job", "z"], {n: np.ptp(X[n].dropna()) for n in ("x", "z")}

    def distance(a, b):
        gaps = []
        for n in names:
            if not (pd.isna(a[n]) or pd.isna(b[n])):
                gaps.append(abs(a[n] - b[n]) / units[n] if n in units else float(a[n] != b[n]))
        return 3 * np.mean(gaps) if gaps else np.inf

    settings = {"protected": "sex", "group": "F", "reference": "M", "n_neighbors": 6}
    detector = SituationTesting(
        similarity=Similarity(metric="gower"), store_neighbors=True, **settings
    )
    found = table(detector, X, y).loc[6]
    men = X[X["sex"] == "M"]
    for row in found.index[1:15]:
        far = np.array([distance(X.loc[row], man) for _, man in men.iterrows()])
        near = share_refused(far[None, :], 1.0 - y[men.index].to_numpy(), 6)
        assert found.loc[row, "p_t"] == pytest.approx(near[0])
    assert found.loc[0, ["n_c", "n_t"]].tolist() == [0, 0]
    assert np.isnan(found.loc[0, "p_value"])
    groups = detector.neighbors(X.loc[[found.index[1]]])
    assert groups.loc[groups["role"] == "test", "share"].sum() == pytest.approx(6)
    with pytest.raises(ValueError, match="which SituationTesting does not accept"):
        SituationTesting(**settings).fit(X, y)


@pytest.mark.parametrize("detector", [SituationTesting(n_neighbors=3), FlipTest(n_permutations=0)])
def test_nobody_is_compared_with_their_own_group(detector):
    X, y = people(120)
    X = X.assign(town=np.resize(["a", "b", "c"], 120))
    detector.set_params(protected=["sex", "town"], group={"sex": "F"}, reference={"town": "a"})
    detector.set_params(combine="intersectional")
    with pytest.raises(ValueError, match=r"have \d+ people in common"):
        detector.fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    "detector",
    [SituationTesting(n_neighbors=3), FlipTest(n_permutations=0, solver="assignment")],
)
def test_missing_protected_values_are_a_group_or_left_out(detector):
    X, y = people(120)
    X.loc[::8, "sex"] = None
    detector.set_params(protected="sex", reference="M", random_state=0)
    result = detector.fit(X, y).result_
    assert "sex=missing" in result.metrics["dsn_by_attr_value"]
    assert detector.score(X, y) >= 0
    left = detector.set_params(missing="drop").fit(X, y).result_
    assert left.n_samples == X["sex"].notna().sum()
    assert "sex=missing" not in left.metrics["dsn_by_attr_value"]


@pytest.mark.slow
@pytest.mark.parametrize("detector", [SituationTesting(n_neighbors=3), FlipTest(n_permutations=0)])
def test_weights_are_those_of_the_rows_that_stay(detector):
    X, y = people(120)
    X.loc[:40, "sex"] = None
    detector.set_params(protected="sex", group="F", reference="M", missing="drop", random_state=0)
    if isinstance(detector, SituationTesting):
        detector.set_params(criterion="gap")
    stay = X["sex"].notna().to_numpy()
    weight = np.random.default_rng(0).integers(1, 9, 120)
    detector.fit(X, y)
    expected = detector.score(X[stay], y[stay], sample_weight=weight[stay])
    assert 0 < detector.score(X, y, sample_weight=weight) == pytest.approx(expected)


def test_who_cannot_be_compared_in_one_column_has_no_case_in_all():
    people = pd.DataFrame({"row": [0, 0, 1, 1], "n_neighbors": 5, "group": list("abab")})
    people["delta"], people["p_value"] = [0.9, np.nan, 0.9, 0.8], [1e-4, np.nan, 1e-4, 2e-4]
    people["_p_used"] = people["p_value"]
    weakest = joined([people[people["group"] == g] for g in "ab"], 2)
    assert weakest["group"].tolist() == ["b", "b"]
    assert weakest["p_value"].isna().tolist() == [True, False]


@pytest.mark.parametrize("metric", ["manhattan", "gower", "hvdm"])
def test_nullable_booleans_are_categories(metric):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"g": rng.choice(["f", "m"], 80), "x": rng.normal(size=80)})
    X, y = X.assign(b=rng.random(80) < 0.2), rng.integers(0, 2, 80)
    similar = Similarity(scale="std", metric=metric)
    how = {"n_neighbors": 5, "pos_label": 1, "similarity": similar}
    test = SituationTesting(protected="g", group="f", reference="m", **how)
    deltas = [
        test.fit(rows, y).result_.tables["people"]["delta"].to_numpy()
        for rows in (X, X.astype({"b": "boolean"}))
    ]
    np.testing.assert_array_equal(*deltas)


@given(st.integers(0, 2**32 - 1))
def test_the_neighbors_listed_are_all_that_share_a_place(seed):
    rng = np.random.default_rng(seed)
    distance = rng.integers(0, rng.integers(1, 30), (3, rng.integers(1, 40))).astype(float)
    distance[rng.random(distance.shape) < 0.1] = np.inf
    k = int(rng.integers(1, distance.shape[1] + 3))
    expected = shares(distance, k)
    for near, away, share, own, all_shares in zip(
        *_with_a_share(distance, k), distance, expected, strict=True
    ):
        rows = np.flatnonzero(all_shares)
        rows = rows[np.argsort(own[rows], kind="stable")]
        np.testing.assert_array_equal(near[share > 0], rows)
        np.testing.assert_array_equal(share[share > 0], all_shares[rows])
        np.testing.assert_array_equal(away, own[near])


def test_neighbors_with_centers_need_no_decision_about_the_counterfactual():
    X, y = make_loan(300, random_state=0, return_X_y=True)
    model = lambda X: (X["annual_salary"] > 60_000).astype(int)  # noqa: E731
    settings = {"protected": "gender", "counterfactuals": lambda X, do: X[["annual_salary"]]}
    settings |= {"group": "female"}
    detector = CounterfactualSituationTesting(n_neighbors=5, centers=True, **settings)
    groups = detector.fit(X, y, model).neighbors(X[X["gender"] == "female"].iloc[[0]])
    assert groups["role"].tolist() == ["person", "counterpart"] + ["control"] * 5 + ["test"] * 5


def test_neighbors_are_asked_for_one_person_and_a_number_of_them():
    X, y = make_loan(300, random_state=0, return_X_y=True)
    detector = SituationTesting(protected="gender", n_neighbors=5).fit(X, y)
    women = X[X["gender"] == "female"]
    assert detector.neighbors(women.iloc[[0]], 1)["role"].value_counts()["control"] >= 1
    for n_neighbors in (0, -1):
        with pytest.raises(ValueError, match=f"n_neighbors == {n_neighbors}, must be >= 1"):
            detector.neighbors(women.iloc[[0]], n_neighbors)
    with pytest.raises(ValueError, match="one person, one row; got 5 rows"):
        detector.neighbors(women.iloc[:5])


def texts_of_parameters(kind):
    """Return the lines about each parameter in the docstring of a class."""
    section = getdoc(kind).split("Parameters\n----------\n")[1].split("\nAttributes\n")[0]
    parts = re.split(r"^(\w+) : ", section, flags=re.M)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_both_situation_tests_say_the_same_about_the_settings_they_share():
    plain, causal = map(texts_of_parameters, (SituationTesting, CounterfactualSituationTesting))
    assert set(causal) - set(plain) == {"counterfactuals", "centers"}
    assert {name: causal[name] for name in plain} == plain


@pytest.mark.slow
def test_the_published_interval_follows_significance():
    X, y = people()
    settings = {
        "protected": "sex",
        "n_neighbors": 8,
        "similarity": Similarity(metric="alvarez2023"),
    }
    wide, usual, narrow = (
        table(SituationTesting(rule=Rule(significance=level), **settings), X, y).loc[8]
        for level in (0.01, 0.05, 0.2)
    )
    errors = [(t["ci_high"] - t["ci_low"]).to_numpy() / 2 for t in (wide, usual, narrow)]
    varied = errors[1] > 0.05
    for found, z in zip(errors, (2.3263, 1.645, 0.8416), strict=True):
        assert found[varied] / errors[1][varied] == pytest.approx(z / 1.645, rel=0.02)


@pytest.mark.parametrize("detector", [SituationTesting, CounterfactualSituationTesting, FlipTest])
@pytest.mark.parametrize("missing", ["category", "drop", "raise"])
def test_the_tag_says_whether_missing_protected_values_are_taken(detector, missing):
    X, y = people()
    X["sex"] = X["sex"].astype(object)
    gaps = X.assign(sex=X["sex"].where(X.index >= 30))
    taking = detector(protected="sex", missing=missing)
    if get_tags(taking).input_tags.allow_nan:
        taking.fit(gaps, y)
    else:
        with pytest.raises(ValueError, match=r"missing value in the protected columns \['sex'\]"):
            taking.fit(gaps, y)
    with pytest.raises(ValueError, match="column 'x' has missing values"):
        taking.fit(X.assign(x=X["x"].where(X.index > 3)), y)


@pytest.mark.parametrize("n_neighbors", [{}, {3: 1}, [1.5], [3, "a"]])
def test_numbers_of_neighbors_are_integers(n_neighbors):
    X = pd.DataFrame({"sex": ["f", "m"] * 10, "x": range(20)})
    test = SituationTesting(protected="sex", n_neighbors=n_neighbors)
    with pytest.raises(ValueError, match="n_neighbors must be an integer or a sequence of"):
        test.fit(X, [0, 1] * 10)


def admitted_to_easy_departments(n=2000, seed=0):
    """Return people among whom women have the better rate, and less than men of each department."""
    rng = np.random.default_rng(seed)
    dept = rng.choice(["easy", "hard"], n)
    woman = rng.random(n) < np.where(dept == "easy", 0.8, 0.2)
    chance = np.where(dept == "easy", 0.8, 0.3) - 0.15 * woman
    X = pd.DataFrame({"sex": np.where(woman, "F", "M"), "dept": dept})
    return X, (rng.random(n) < chance).astype(int), woman


def test_a_group_with_the_better_rate_may_be_worse_off_than_similar_people():
    X, y, woman = admitted_to_easy_departments()
    assert y[woman].mean() > y[~woman].mean() + 0.1
    result = SituationTesting(protected="sex", random_state=0).fit(X, y).result_
    (row,) = result.tables["gaps"].itertuples()
    assert (result.verdict, row.group, row.reference) == (
        "disparity found",
        "sex = 'F'",
        "sex = 'M'",
    )
    assert row.ci_low < -0.15 < row.ci_high < 0
    assert any(n.startswith("The reference is sex = 'M', whose people") for n in result.notes)
    named = SituationTesting(protected="sex", group="F", random_state=0).fit(X, y).result_
    pd.testing.assert_frame_equal(named.tables["people"], result.tables["people"])
    # Whom a user names, or who is looked for by advantages, stays the group.
    for settings in ({"reference": "F"}, {"group": "M"}, {"direction": "higher"}):
        kept = SituationTesting(protected="sex", random_state=0, **settings).fit(X, y).result_
        assert set(kept.tables["gaps"]["group"]) == {"sex = 'M'"}


def test_complaints_of_a_group_with_the_better_rate_are_answered():
    X, y, woman = admitted_to_easy_departments()
    for side, versus in ((woman, "sex = 'M'"), (~woman, "sex = 'F'")):
        row = int(np.flatnonzero(side & (y == 0))[0])
        detector = SituationTesting(protected="sex", complainants=[row], random_state=0)
        claims = detector.fit(X, y).result_.tables["claims"]
        assert (claims["row"].tolist(), claims["reference"].tolist()) == ([row], [versus])


def test_counterfactual_selves_of_a_group_with_the_better_rate_are_compared_too():
    X, y, _ = admitted_to_easy_departments()
    X["easy"] = (X.pop("dept") == "easy") * 1
    settings = {"protected": "sex", "counterfactuals": lambda X, do: X.assign(**do)}
    result = CounterfactualSituationTesting(random_state=0, **settings).fit(X, y).result_
    (row,) = result.tables["gaps"].itertuples()
    assert (result.verdict, row.group) == ("disparity found", "sex = 'F'")


def test_the_best_of_several_groups_is_so_among_similar_people():
    X, y, woman = admitted_to_easy_departments(3000, 1)
    X["sex"] = np.where(~woman & (np.arange(3000) % 3 == 0), "X", X["sex"])
    result = SituationTesting(protected="sex", random_state=0).fit(X, y).result_
    gaps = result.tables["gaps"].set_index("group")
    assert "sex = 'F'" in gaps.index
    assert gaps.loc["sex = 'F'", "p_adjusted"] < 0.05
    others = gaps.drop(index="sex = 'F'")
    assert (others["p_adjusted"] > 0.05).all()


def test_counterfactual_rows_that_were_given_are_those_of_one_reference():
    """Rows of everybody as women say nothing about women as men."""
    X, y, _ = admitted_to_easy_departments()
    X["easy"] = (X.pop("dept") == "easy") * 1
    settings = {"protected": "sex", "counterfactuals": X.assign(sex="F"), "random_state": 0}
    result = CounterfactualSituationTesting(**settings).fit(X, y).result_
    assert result.tables["gaps"]["group"].tolist() == ["sex = 'M'"]


def test_nobody_is_better_off_whose_values_the_other_group_lacks():
    """Men's salaries are round, women's are not: only men can have the salary that is the limit."""
    X, _ = make_loan(2000, random_state=1, return_X_y=True)
    result = SituationTesting(protected="gender").fit(X, X["annual_salary"] > 60_000).result_
    assert set(result.tables["gaps"]["reference"]) == {"gender = 'male'"}
    assert result.verdict != "disparity found"


def test_names_of_groups_do_not_decide_who_is_best_off():
    """One of four is alone in its department, so that nobody knows how it compares."""
    rng = np.random.default_rng(0)
    dept = rng.choice(["easy", "hard", "own"], 6000, p=[0.45, 0.45, 0.1])
    race = np.where(rng.random(6000) < np.where(dept == "easy", 0.8, 0.2), "A", "B")
    race = np.where((race == "B") & (rng.random(6000) < 0.5), "D", race)
    race = np.where(dept == "own", "C", race)
    more = pd.Series(race).map({"A": 0, "B": 0.25, "D": 0.15, "C": 0}).to_numpy()
    chance = np.where(dept == "easy", 0.7, 0.1) + more
    X = pd.DataFrame({"race": race, "dept": dept})
    y = (rng.random(6000) < chance).astype(int)
    swapped = X.assign(race=X["race"].map({"A": "A", "B": "D", "D": "B", "C": "C"}))
    for rows, best in ((X, "B"), (swapped, "D")):
        detector = SituationTesting(protected="race", random_state=0)
        gaps = detector.fit(rows, y).result_.tables["gaps"]
        assert set(gaps["reference"]) == {f"race = {best!r}"}


@pytest.mark.statistics
def test_the_choice_of_the_reference_keeps_the_level():
    """Nothing but the department decides, and who is the reference depends on outcomes."""
    found = 0
    for seed in range(200):
        X, _, _ = admitted_to_easy_departments(400, seed)
        rng = np.random.default_rng(10_000 + seed)
        y = (rng.random(400) < np.where(X["dept"] == "easy", 0.6, 0.5)).astype(int)
        result = SituationTesting(protected="sex", random_state=seed).fit(X, y).result_
        found += result.verdict == "disparity found"
    assert found <= 200 * 0.05 + 2 * np.sqrt(200 * 0.05 * 0.95)
