"""Every detector answers by the one mechanism: its family, its bound, and the rule."""

import re

import numpy as np
import pandas as pd
import pytest

from skdisc import BlackBox, Rule
from skdisc._results._judgment import FOUND, NOTHING, UNSURE
from skdisc.group import GroupDisparity, OutcomeTest, ProxyDisparity, RankingDisparity, VeriFair
from skdisc.individual import FlipTest, Themis
from skdisc.monitoring import DisparityMonitor
from skdisc.subgroup import (
    DivExplorer,
    GerrymanderingAudit,
    MultiaccuracyAudit,
    MulticalibrationAudit,
)

SEEDS = range(3)


def people(n, seed, rare=0.0):
    """Return people of three races; a share `rare` of them is of a fourth one."""
    rng = np.random.default_rng(seed)
    race = rng.choice(list("abc"), n)
    race = np.where(rng.random(n) < rare, "d", race)
    return pd.DataFrame({"race": race, "points": rng.integers(0, 40, n)}), rng


def labels(X, rng, gap):
    """Return labels whose rate is lower by a gap for those of race b."""
    return (rng.random(len(X)) < 0.5 - gap * (X["race"] == "b")).astype(int)


def fitted(detector, *, gap, n=4000, seed=0, rare=0.0, rule=None):
    """Return the result of a detector about people of whom one race has a lower rate by a gap."""
    X, rng = people(n, seed, rare)
    own = {"protected": "race", "rule": rule, "random_state": seed}
    if detector is DisparityMonitor:
        monitor = DisparityMonitor(pos_label=1, **own)
        for part in np.array_split(np.arange(n), 4):
            monitor.partial_fit(X.iloc[part], labels(X.iloc[part], rng, gap))
        return monitor.result_
    if detector is RankingDisparity:
        return detector(**own).fit(X, rng.random(n) - gap * (X["race"] == "b")).result_
    if detector is MulticalibrationAudit:
        y = labels(X, rng, gap)
        return detector(pos_label=1, **own).fit(X, y, Constant()).result_
    if detector is VeriFair:
        own["protected"] = "sex"
        X["sex"] = np.where(X["race"] == "b", "f", "m")
        decisions = BlackBox(decisions=labels(X, rng, gap))
        return detector(pos_label=1, max_draws=20_000, **own).fit(X, model=decisions).result_
    if detector is FlipTest:
        own |= {"reference": "rest", "n_permutations": 99}
        decisions = BlackBox(decisions=labels(X, rng, gap))
        return detector(pos_label=1, **own).fit(X, model=decisions).result_
    return detector(pos_label=1, **own).fit(X, labels(X, rng, gap)).result_


class Constant:
    """A model with one probability for everyone, apart from points, which say nothing."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def predict_proba(self, X):
        p = 0.45 + 0.1 * (np.asarray(X["points"]) > 20)
        return np.column_stack([1 - p, p])


# The size at which the detector can exclude the gap that matters, and a gap well beyond it.
DETECTORS = {
    OutcomeTest: (3000, 0.2),
    ProxyDisparity: (3000, 0.2),
    RankingDisparity: (4000, 0.4),
    VeriFair: (30_000, 0.2),
    DisparityMonitor: (6000, 0.25),
    GerrymanderingAudit: (4000, 0.2),
    MultiaccuracyAudit: (4000, 0.2),
    MulticalibrationAudit: (4000, 0.2),
}
GROUPS = [d for d in DETECTORS if d is not VeriFair]


@pytest.mark.every(4)
@pytest.mark.parametrize("detector", DETECTORS)
def test_no_disparity_found_never_stands_beside_an_interval_beyond_the_bound(detector):
    n, _ = DETECTORS[detector]
    verdicts = []
    for seed in SEEDS:
        result = fitted(detector, gap=0, n=n, seed=seed)
        verdicts.append(result.verdict)
        answer, family = result.answer, result.tables["family"]
        assert answer.verdict == result.verdict
        judged = family[family["judged"]]
        assert len(judged) == answer.n_family > 0
        if answer.bound is not None and result.verdict != FOUND:
            ends = judged[["low", "high"]].abs().to_numpy().max()
            assert ends <= answer.bound * (1 + 1e-9)
        if result.verdict == NOTHING:
            assert answer.bound <= answer.relevant_gap
            assert f"above {answer.bound:g}" in result.reason
    assert verdicts.count(NOTHING) >= 1
    assert verdicts.count(FOUND) <= 1


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("detector", DETECTORS)
def test_a_relevant_gap_is_never_cleared(detector):
    n, gap = DETECTORS[detector]
    verdicts = [fitted(detector, gap=gap, n=n, seed=seed).verdict for seed in SEEDS]
    assert NOTHING not in verdicts
    assert FOUND in verdicts
    few = [fitted(detector, gap=gap, n=max(n // 20, 200), seed=seed).verdict for seed in SEEDS]
    assert NOTHING not in few


@pytest.mark.every(4)
@pytest.mark.parametrize("detector", DETECTORS)
def test_the_relevant_gap_decides(detector):
    n, _ = DETECTORS[detector]
    for seed in SEEDS:  # the first without a false alarm, which stands whatever gap is relevant
        strict = fitted(detector, gap=0, n=n, seed=seed, rule=Rule(relevant_gap=0.001))
        if strict.verdict != FOUND:
            break
    assert strict.verdict == UNSURE
    assert strict.answer.relevant_gap == 0.001
    loose = fitted(detector, gap=0, n=n, seed=seed, rule=Rule(relevant_gap=0.5))
    assert loose.verdict in (NOTHING, FOUND)


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("detector", GROUPS)
def test_groups_below_the_relevant_size_are_not_judged(detector):
    n, _ = DETECTORS[detector]
    found = {}
    for size in (0.05, 0.01):
        rule = Rule(relevant_size=size)
        result = fitted(detector, gap=0, n=n, seed=1, rare=0.025, rule=rule)
        family = result.tables["family"]
        rare = family[family["group"].str.contains("'d'")]
        found[size] = rare["judged"].tolist()
        assert result.answer.relevant_size == size
        if size == 0.05:
            assert (rare["reason"][~rare["judged"]] == "under 5 %: not judged").all()
    assert not any(found[0.05])
    assert any(found[0.01])


# VeriFair draws until the gap that matters is excluded, whatever the level.
@pytest.mark.slow
@pytest.mark.parametrize("detector", GROUPS)
def test_the_level_moves_the_bound(detector):
    n, _ = DETECTORS[detector]
    bounds = [
        fitted(detector, gap=0, n=n, rule=Rule(significance=level)).answer.bound
        for level in (0.2, 0.05, 0.001)
    ]
    assert bounds[0] < bounds[1] < bounds[2]


def test_a_smaller_level_takes_more_draws():
    n, _ = DETECTORS[VeriFair]
    results = [
        fitted(VeriFair, gap=0, n=n, rule=Rule(significance=level)) for level in (0.2, 0.05, 0.001)
    ]
    n_draws = [result.n_tested for result in results]
    assert n_draws[0] < n_draws[1] < n_draws[2]
    assert all(r.answer.bound <= r.answer.relevant_gap for r in results if r.verdict == NOTHING)


@pytest.mark.parametrize("detector", [ProxyDisparity, DisparityMonitor, GerrymanderingAudit])
def test_ratios_count_in_marginal_questions(detector):
    n, _ = DETECTORS[detector]
    assert "relevant_ratio" in detector.rule_fields
    result = fitted(detector, gap=0, n=n, rule=Rule(relevant_ratio=0.99))
    assert result.verdict != NOTHING
    assert result.answer.open_by_ratio
    assert "ratio" in result.reason


@pytest.mark.parametrize(
    "detector", [OutcomeTest, RankingDisparity, MulticalibrationAudit, FlipTest]
)
def test_ratios_decide_nothing_elsewhere(detector):
    assert "relevant_ratio" not in detector.rule_fields


@pytest.mark.parametrize("detector", [OutcomeTest, ProxyDisparity, RankingDisparity])
def test_the_correction_of_the_rule_is_that_of_p_values(detector):
    p = {
        name: fitted(detector, gap=0.1, n=600, rule=Rule(correction=name)).to_frame()
        for name in ("none", "bonferroni")
    }
    raw, corrected = (frame.set_index("subject") for frame in p.values())
    expected = np.minimum(raw["p_value"] * len(raw), 1)
    assert corrected["p_adjusted"].loc[raw.index].tolist() == pytest.approx(expected.tolist())


@pytest.mark.slow
def test_flips_answer_by_their_net():
    for seed in range(2):
        fair = fitted(FlipTest, gap=0, n=600, seed=seed)
        assert fair.answer.n_family == 3
        assert fair.verdict == UNSURE
    assert fitted(FlipTest, gap=0.45, n=300).verdict == FOUND


@pytest.mark.parametrize(
    ("share", "verdict"), [(0.0, NOTHING), (0.004, NOTHING), (0.02, FOUND), (0.3, FOUND)]
)
def test_the_share_of_people_with_a_case(share, verdict):
    X = pd.DataFrame({"sex": ["f", "m"] * 500, "points": np.arange(1000)})

    def model(A):  # which does not return one outcome for all, as that would answer nothing
        has_case = (A["points"] < 1000 * share) & (A["sex"] == "f")
        return (has_case | (A["points"] >= 500)).astype(int)

    result = Themis(protected="sex", random_state=0).fit(X, model=model).result_
    assert result.verdict == verdict
    assert result.answer.relevant_gap == 0.01
    assert result.answer.bound == pytest.approx(share)
    everything = Themis(protected="sex", random_state=0, rule=Rule(relevant_share=0.5))
    assert everything.fit(X, model=model).result_.verdict == NOTHING


def test_a_monitor_keeps_its_gap_and_its_family():
    monitor = DisparityMonitor(protected="race", pos_label=1)
    X, rng = people(2000, 0, rare=0.1)
    y = (rng.random(2000) < 0.1).astype(int)
    monitor.partial_fit(X, y)
    assert monitor.result_.answer.relevant_gap == pytest.approx(0.06, abs=0.005)
    fixed = monitor.result_.answer.relevant_gap
    n_family = monitor.result_.answer.n_family
    for _ in range(3):
        X, rng = people(4000, 1)  # nobody of race d, who were enough at the first look
        monitor.partial_fit(X, (rng.random(4000) < 0.5).astype(int))
    assert monitor.result_.answer.relevant_gap == fixed
    assert monitor.result_.answer.n_family == n_family == 4
    again = DisparityMonitor.from_json(monitor.to_json())
    assert again.result_.answer == monitor.result_.answer


def test_a_monitor_without_different_outcomes_has_no_gap_yet():
    monitor = DisparityMonitor(protected="race", pos_label=1)
    X, rng = people(200, 0)
    monitor.partial_fit(X, np.append(np.zeros(199, dtype=int), 0))
    assert (monitor.result_.verdict, monitor.result_.reason) == (UNSURE, "all outcomes are equal")
    monitor.partial_fit(X, labels(X, rng, 0))
    assert monitor.result_.answer.relevant_gap is not None


@pytest.mark.parametrize("detector", [OutcomeTest, ProxyDisparity, GerrymanderingAudit])
def test_three_rows_are_insufficient_evidence(detector):
    X = pd.DataFrame({"race": ["a", "b", "c"], "points": [1, 2, 3]})
    result = detector(protected="race", pos_label=1, random_state=0).fit(X, [0, 1, 0]).result_
    assert result.verdict == UNSURE
    assert result.reason


def test_rates_of_zero_and_one_are_found():
    X = pd.DataFrame({"race": ["a"] * 100 + ["b"] * 100})
    for detector in (OutcomeTest, ProxyDisparity):
        y = [1] * 100 + [0] * 100
        result = detector(protected="race", pos_label=1, random_state=0).fit(X, y).result_
        assert result.verdict in (FOUND, UNSURE)
        assert result.answer.n_family == 1


def labelled(n, seed=0):
    """Fair decisions about people of whom three tenths have a favorable label."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("abcd"), n)})
    y = (rng.random(n) < 0.3).astype(int)
    return X, y, BlackBox(decisions=(rng.random(n) < 0.3 + 0.4 * y).astype(int))


def test_a_resolution_says_which_people_it_counts():
    X, y, box = labelled(4000)
    result = DivExplorer(protected="sex", metric="true_positive_rate").fit(X, y, box).result_
    sentence = r"those with ([\d,]+) people with a favorable label on each side or as good as that"
    n = int(re.search(sentence, result.reason)[1].replace(",", ""))
    cleared = result.tables["family"][lambda t: t["cleared"]]
    assert n == int(2 * cleared["comparison"].min()) < (y == 1).sum()

    how = {"protected": ["sex", "town"], "intersections": 1}
    rule = Rule(relevant_gap=0.06)
    detector = GroupDisparity(measures=["predictive_parity"], rule=rule, **how)
    result = detector.fit(X, y, box).result_
    said = "people, also those whom the rate is not about, on each side or as good as that"
    assert said in result.reason
    n = int(re.search(r"those with ([\d,]+) people", result.reason)[1].replace(",", ""))
    cleared = result.tables["family"][lambda t: t["cleared"]]
    assert n == int(2 * cleared["comparison"].min()) > (box.decisions == 1).sum() / 2

    result = GroupDisparity(measures=["mean_difference"], **how).fit(X[:1000], y[:1000]).result_
    assert " whom " not in result.reason
