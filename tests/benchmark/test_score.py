"""Scores: the truth scores 1 by every yardstick, random findings their baseline."""

import numpy as np
import pandas as pd
import pytest
from smallest import has, smallest

from skdisc import BlackBox, Limits, Predicate, Rule, Subgroup, all_detectors
from skdisc._results._audit_result import AuditResult
from skdisc._results._findings import CaseFindings, Discovery, GroupFindings
from skdisc.benchmark import run_benchmark
from skdisc.benchmark._known_truth import KnownTruth
from skdisc.benchmark._score import claimed_groups, random_cases, random_groups, score_result
from skdisc.datasets import make_discrimination
from skdisc.individual import KOSEI, Themis
from skdisc.subgroup import DivExplorer

SMALL = {
    "n_pairs": 4,
    "n_attributes": 5,
    "granularity": 1,
    "intersectionality": 1,
    "n_background": 300,
    "group_size": 150,
    "bias": (2.0, 3.0),
}
RATES = ("precision", "recall", "f1")


@pytest.fixture(scope="module")
def truth():
    return KnownTruth(make_discrimination(**SMALL, random_state=1))


def result_of(findings, made, null, audited="labels", **more):
    found = Discovery(findings, "selection_rate", 10, 1, 0.0, 0.1, **more)
    about = {"pos_label": [1], "protected": made.protected, "n_samples": len(made.data)}
    return AuditResult("Test", {}, audited, **about, n_queries=0, stopped_by=None, total_time=1.0,
                       discovery=found, null=null)  # fmt: skip


def groups_found(groups, effects, made, null="contextual", **more):
    n = len(groups)
    names = ("ci_low", "ci_high", "p_value", "p_adjusted", "outcome")
    table = pd.DataFrame({"effect": np.array(effects, dtype=float)}).assign(
        **dict.fromkeys(names, 0.0), test="", support=1
    )
    keys = [str(i) for i in range(n)]
    return result_of(GroupFindings(groups, table, list(made.data), keys), made, null, **more)


def score(found, truth, seed=0):
    return score_result(found, truth, np.random.default_rng(seed))


def true_cases(truth):
    """Return one case in each target: a member, and the same person outside the target."""
    made, before, after, outcome = truth.made, [], [], []
    for t in truth.targets:
        person = made.data[t.subgroup.mask(made.data)].iloc[[0]]
        (column,) = t.protected
        values = made.data[column].unique()
        others = [person.assign(**{column: v}) for v in values]
        twin = next(o for o in others if not truth.made.truth.law.person(o)[0].any())
        before.append(person)
        after.append(twin)
        outcome.append((t.sign + 1) / 2)
    outcome = np.array(outcome)
    frames = (pd.concat(f, ignore_index=True) for f in (before, after))
    return CaseFindings(*frames, outcome, 1 - outcome)


@pytest.mark.parametrize("null", ["contextual", "conditional"])
def test_the_planted_groups_score_one(truth, null):
    targets = truth.targets
    assert len(targets) == 2
    groups, signs = [t.subgroup for t in targets], [t.sign for t in targets]
    scores, hit = score(groups_found(groups, signs, truth.made, null), truth)
    assert hit.all()
    for name in (*RATES, *(f"own_{r}" for r in RATES), "average_precision", "recall_at_k"):
        assert scores[name] == 1, name
    scores, hit = score(groups_found([], [], truth.made, null), truth)
    assert not hit.any()
    assert np.isnan([scores["precision"], scores["own_precision"]]).all()
    assert (scores["recall"], scores["f1"], scores["own_recall"], scores["own_f1"]) == (0,) * 4


def test_their_mirror_images_and_groups_like_them_score_one(truth):
    """Each target: the others in its context, better off; or a group that names it as alike."""
    made, mirrors = truth.made, []
    for t in truth.targets:
        (column,) = t.protected
        (own,) = (p.values[0] for p in t.subgroup.predicates if p.column == column)
        rest = [p for p in t.subgroup.predicates if p.column != column]
        values = [v for v in made.data[column].unique() if v != own]
        mirrors.append(Subgroup([*rest, Predicate.isin(column, values)]))
    signs = [-t.sign for t in truth.targets]
    assert score(groups_found(mirrors, signs, made), truth)[0]["f1"] == 1
    assert score(groups_found(mirrors, [-s for s in signs], made), truth)[0]["f1"] == 0
    elsewhere = [Subgroup([Predicate.equals(c, made.data[c].iloc[0])]) for c in made.protected]
    planted = [t.subgroup for t in truth.targets], [-s for s in signs]
    for named, sign in ((mirrors, signs), planted, ([str(g) for g in mirrors], signs)):
        alike = {"indistinguishable": pd.DataFrame({"finding": [0, 1], "group": named})}
        assert score(groups_found(elsewhere, sign, made, tables=alike), truth)[0]["f1"] == 1
        turned = [-s for s in sign]
        assert score(groups_found(elsewhere, turned, made, tables=alike), truth)[0]["f1"] == 0
        alike["indistinguishable"]["effect"] = sign  # directions of their own
        assert score(groups_found(elsewhere, turned, made, tables=alike), truth)[0]["f1"] == 1


def test_shadows_of_planted_groups_are_true_and_no_planted_groups(truth):
    """The protected part alone differs from the others, as its members in a planted group do."""
    made, shadows = truth.made, []
    for t in truth.targets:
        shadows.append(Subgroup([p for p in t.subgroup.predicates if p.column in t.protected]))
    gaps = truth.differences.between(shadows)
    assert gaps.all()
    scores, _ = score(groups_found(shadows, np.sign(gaps), made), truth)
    assert (scores["true_claims"], scores["precision"]) == (1, 0)
    scores, _ = score(groups_found(shadows, -np.sign(gaps), made), truth)
    assert scores["true_claims"] == 0
    planted = [t.subgroup for t in truth.targets], [t.sign for t in truth.targets]
    assert score(groups_found(*planted, made), truth)[0]["true_claims"] == 1
    assert np.isnan(score(groups_found(*planted, made, "conditional"), truth)[0]["true_claims"])


def test_the_marginal_differences_score_one_as_marginal_findings(truth):
    of = truth.differences
    shown = [(g, np.sign(d)) for g, d in zip(of.family, of.gaps, strict=True) if abs(d) >= 0.05]
    assert 0 < len(shown) < len(of.family)
    groups, signs = zip(*shown, strict=True)
    rest = {"versus": "the rest of the people"}
    scores, _ = score(groups_found(groups, signs, truth.made, "marginal", **rest), truth)
    assert [scores[f"own_{name}"] for name in RATES] == [1, 1, 1]
    assert scores["precision"] < 0.5  # they are not the planted groups
    turned = [-s for s in signs]
    scores, _ = score(groups_found(groups, turned, truth.made, "marginal", **rest), truth)
    assert [scores[f"own_{name}"] for name in RATES] == [0, 0, 0]


@pytest.mark.parametrize("null", ["individual", "conditional", "counterfactual"])
def test_cases_of_the_law_score_one(truth, null):
    cases = true_cases(truth)
    scores, hit = score(result_of(cases, truth.made, null, "model"), truth)
    assert hit.all()
    assert [scores[name] for name in (*RATES, "own_precision", "own_recall")] == [1] * 5
    assert 0 <= scores["guess_precision"] < 0.5
    turned = CaseFindings(cases.original, cases.altered, cases.altered_outcome, cases.outcome)
    scores, _ = score(result_of(turned, truth.made, null, "model"), truth)
    assert (scores["precision"], scores["own_precision"], scores["own_recall"]) == (0, 0, 0)


@pytest.mark.parametrize(
    "search", [KOSEI(limits=Limits(tests=3000)), Themis(limits=Limits(tests=3000))]
)
def test_cases_of_the_oracle_are_true(search):
    done = run_benchmark({"search": search}, {"small": SMALL}, audited=["oracle"], n_repeats=2)
    cells = done.to_frame()
    assert (cells["n_claimed"] > 5).all()
    assert (cells["own_precision"] == 1).all()
    assert (cells["null"] == "individual").all()


def test_a_null_without_a_truth_has_no_score_of_its_own(truth):
    found = groups_found([t.subgroup for t in truth.targets], [1, 1], truth.made, "calibration")
    scores, _ = score(found, truth)
    assert np.isnan([scores[f"own_{name}"] for name in RATES]).all()
    assert scores["precision"] == scores["precision"]


@pytest.mark.statistics
@pytest.mark.slow
def test_random_groups_score_as_guessing(truth):
    own, guessed = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = random_groups(truth.made, 20, rng)
        found = groups_found(groups, rng.choice([-1, 1], len(groups)), truth.made)
        scores, _ = score_result(found, truth, rng)
        own.append(scores["recall"])
        guessed.append(scores["guess_recall"])
    assert 0 < np.mean(guessed) < 0.5
    error = np.std(own) / np.sqrt(len(own))
    assert abs(np.mean(own) - np.mean(guessed)) < 4 * error


@pytest.mark.statistics
def test_random_marginal_findings_score_their_known_baseline(truth):
    """Half of the groups with a difference, because signs are tosses; recall by enumeration."""
    of, n, own = truth.differences, 6, []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        groups = [of.family[i] for i in rng.integers(len(of.family), size=n)]
        signs = rng.choice([-1, 1], n)
        right = np.sign(of.between(groups)) == signs
        hit = of.found([g for g, is_right in zip(groups, right, strict=True) if is_right])
        own.append((right.mean(), hit / len(of.relevant)))
    known = of.guess(n)
    assert known[0] == np.mean(of.gaps != 0) / 2
    errors = np.std(own, axis=0) / np.sqrt(len(own))
    assert (np.abs(np.mean(own, axis=0) - known) < 4 * errors).all()


@pytest.mark.statistics
def test_random_cases_score_their_known_baseline(truth):
    """A case is right by chance if the law depends on the changed value, and the toss agrees."""
    made, own = truth.made, []
    cases = random_cases(made, 4000, np.random.default_rng(5))
    depends = truth.due_to_protected(cases, "individual") != 0
    for seed in range(40):
        found = result_of(random_cases(made, 50, np.random.default_rng(seed)), made, "individual")
        scores, _ = score(found, truth, seed)
        own.append((scores["own_precision"], scores["own_guess_precision"]))
    means, errors = np.mean(own, axis=0), np.std(own, axis=0) / np.sqrt(len(own))
    assert (np.abs(means - depends.mean() / 2) < 4 * errors + 0.005).all()


def test_random_cases_change_one_protected_column(truth):
    found = random_cases(truth.made, 50, np.random.default_rng(0))
    same = found.original == found.altered
    assert same.drop(columns=truth.made.protected).all(axis=None)
    assert (same.sum(axis=1) >= same.shape[1] - 1).all()


@pytest.mark.statistics
@pytest.mark.slow
def test_intervals_of_increments_cover(truth):
    """False-coverage-rate intervals against the increments of the law, also of rows picked."""
    done = run_benchmark(
        {"few": DivExplorer(max_predicates=2), "many": DivExplorer(max_predicates=2, k=1000)},
        {"strong": {**SMALL, "bias": 2.0}},
        audited=["labels"],
        n_repeats=12,
    )
    assert (done.to_frame()["n_claimed"] > 0).all()
    covered = done.to_frame().groupby("detector")["interval_coverage"].mean()
    assert (covered >= 0.95).all()
    assert done.to_frame()["interval_coverage"].notna().all()


def test_what_the_rows_held_out_say_is_what_is_claimed(truth):
    targets = truth.targets
    signs = np.array([t.sign for t in targets])
    found = groups_found([t.subgroup for t in targets], signs, truth.made)
    shown = found.findings.table
    for effect, p, p_held_out, n in (
        (signs, 1.0, 0.0, 2),
        (signs, 0.0, 1.0, 0),
        (signs, 0.0, np.nan, 0),
        (-signs, 0.0, 0.0, 0),
    ):
        shown["p_adjusted"], shown["held_out_p_adjusted"] = p, p_held_out
        shown["held_out_effect"] = effect.astype(float)
        scores, hit = score(found, truth)
        assert (scores["n_claimed"], hit.sum()) == (n, n)


CONFIRMING = {
    "BiasScan": {"n_restarts": 1, "n_resamples": 9},
    "DiscriminationPatterns": {"delta": 0.001},
    "DiscriminatoryRules": {"threshold": 1.01},
    "FACTS": {"max_predicates": 1},
    "SliceLine": {"min_rows": 5},
}


@pytest.mark.parametrize("name", [n for n in all_detectors() if has(n, "confirm")])
def test_what_a_detector_with_confirm_claims_is_what_it_found(name):
    """The rows searched say otherwise in this draw."""
    rng, n = np.random.default_rng(0), 400
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("abc"), n)})
    X["points"] = rng.integers(0, 20, n)
    y = rng.random(n) < np.where((X["sex"] == "F") & (X["town"] == "a"), 0.35, 0.6)
    settings = {"protected": ["sex"], "rule": Rule(significance=0.2), "confirm": 0.5}
    if "correction" in all_detectors()[name].rule_fields:
        settings["rule"] = Rule(significance=0.2, correction="none")
    result = smallest(name, **settings | CONFIRMING.get(name, {})).fit(X, y).result_
    sure = (result.findings.table["p_adjusted"] <= 0.2).to_numpy()
    searched = pd.Series(result.findings.subgroups, dtype=object)[sure].nunique()
    assert claimed_groups(result)[1].sum() == result.n_found != searched


@pytest.mark.slow
@pytest.mark.parametrize("name", ["BiasScan", "MultiaccuracyAudit"])
def test_errors_of_a_model_are_compared_with_its_true_errors(name):
    """A model that does not know the bias errs about the planted groups; the law does not err."""
    made = make_discrimination(**{**SMALL, "bias": 3.0, "group_size": 300}, random_state=1)
    detector = all_detectors()[name](protected=made.protected, random_state=0, pos_label=1)
    right = {}
    for kind in ("oracle", "fair_oracle"):
        model = getattr(made.truth, kind)
        result = detector.fit(made.data, made.target, BlackBox(model)).result_
        found, _ = score(result, KnownTruth(made, model))
        right[kind] = found["n_claimed"], found["own_n_right"]
        assert np.isnan(found["own_recall"])
    claims, correct = right["fair_oracle"]
    assert claims > 0
    assert correct == claims
    assert right["oracle"][1] == 0  # whatever is claimed is wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", ["OaxacaBlinder", "EffectDecomposition"])
def test_decompositions_are_right_about_direct_effects(name):
    """Sex moves pay through the work, too: what is unexplained is what the law does with it."""
    how = {"n_pairs": 2, "granularity": 0, "n_background": 1000, "group_size": 400, "bias": 3.0}
    made = make_discrimination(**how, random_state=2)
    detector = all_detectors()[name](protected=made.protected, pos_label=1, random_state=0)
    result = detector.fit(made.data, made.target).result_
    found, _ = score(result, KnownTruth(made))
    assert found["n_claimed"] > 0
    assert found["own_precision"] >= 0.75
    assert np.isnan(found["own_recall"])
    opposite = np.where(claimed_groups(result)[1], -1, 1) * result.findings.table["effect"]
    result.findings.table["effect"] = opposite
    assert score(result, KnownTruth(made))[0]["own_precision"] <= 0.25
    result.findings.table["reference"] = "29 < age <= 38"
    assert np.isnan(score(result, KnownTruth(made))[0]["own_precision"])


def test_differences_at_equal_columns_are_those_of_an_enumeration():
    made = make_discrimination(**SMALL, random_state=1)
    truth, names = KnownTruth(made), list(made.protected)
    column = names[0]
    pair = [Subgroup([Predicate.equals(column, v)]) for v in (0, 1)]
    gaps = truth.at_equal_columns(pair, pair[::-1])
    law, X = made.truth.law.expected, truth._audited
    for gap, group, other in zip(gaps, pair, pair[::-1], strict=True):
        inside, shares = X[group.mask(X)], X.loc[other.mask(X), names].value_counts(normalize=True)
        would_be = sum(
            share * law(inside.assign(**dict(zip(names, values, strict=True)))).mean()
            for values, share in shares.items()
        )
        assert gap == pytest.approx(law(inside).mean() - would_be, abs=0.01)
        assert abs(gap) > 0.02
    fair = KnownTruth(made, made.truth.fair_oracle)
    assert fair.at_equal_columns(pair, pair[::-1]).tolist() == [0, 0]
