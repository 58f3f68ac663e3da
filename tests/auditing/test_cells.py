"""Tests of the correction over the questions of an audit."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from skdisc import Audit
from skdisc._verdicts._answer import FOUND, NOTHING, UNSURE, decide
from skdisc._verdicts._candidates import Candidates
from skdisc.auditing import _cells
from skdisc.auditing._cells import holm
from skdisc.auditing._plan import Plan

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.mark.slow
@given(P_VALUES)
def test_equal_weights_are_the_procedure_of_holm(p_values):
    n = len(p_values)
    expected = multipletests(p_values, method="holm")[1]
    assert holm(np.array(p_values), np.full(n, 1 / n)) == pytest.approx(expected, abs=1e-12)


@given(P_VALUES, st.randoms(use_true_random=False))
def test_the_first_rejection_is_that_of_weighted_bonferroni(p_values, random):
    weights = np.array([random.random() + 0.1 for _ in p_values])
    weights /= weights.sum()
    p = np.array(p_values)
    adjusted = holm(p, weights)
    assert adjusted.min() == pytest.approx(min(1.0, (p / weights).min()), rel=1e-9)
    assert (adjusted >= p - 1e-15).all()


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [((1e-9, 1e-9), 40), ((1e-9, 0.5), 80), ((0.5, 0.5), 80), ((None, None), 80)],
)
def test_refits_suffice_for_the_level_that_is_left(p_values, expected, monkeypatch):
    cells = [("a", "marginal"), ("b", "marginal"), ("a, b", "individual")]
    weights = dict(zip(cells, (0.375, 0.375, 0.25), strict=True))
    steps = [SimpleNamespace(role="lead", name=a, attribute=a, null=n) for a, n in cells]
    known = {
        a: SimpleNamespace(verdict=FOUND, p=p) for (a, _), p in zip(cells, p_values, strict=False)
    }
    monkeypatch.setattr(_cells, "lead_p", lambda result: 1.0 if result is None else result.p)
    plan = Plan(steps, [], weights)
    results = {a: r for a, r in known.items() if r.p is not None}
    assert _cells.refits_needed(plan, results, 0.05, cells[-1]) == expected


@pytest.mark.parametrize("verdict", [NOTHING, UNSURE])
def test_a_row_has_bound_and_facts_of_the_answer_of_its_lead(verdict):
    counts = ([410], [1000], [400], [1000]) if verdict == NOTHING else ([52], [99], [40], [99])
    answer = decide(Candidates.of_rates(*counts), relevant_gap=0.1)
    assert answer.verdict == verdict
    step = SimpleNamespace(detector="GroupDisparity")
    result = SimpleNamespace(answer=answer, verdict=verdict)
    row = _cells._row(("sex", "marginal"), "cell", step, result)
    assert row["bound"] == answer.bound
    assert (row["answer"]["n_family"], row["answer"]["resolution"]) == (1, answer.resolution)
    none = _cells._row(("sex", "marginal"), "cell", step, SimpleNamespace(answer=None))
    assert (none["bound"], none["answer"], none["aside"]) == (None, None, "")


@pytest.mark.slow
def test_gaps_above_the_bound_of_an_audit_are_as_rare_as_its_level():
    """A true gap near the margin leaves verdicts open, and their bound holds all the same."""
    rng, bounds, wrong = np.random.default_rng(0), 0, 0
    X = pd.DataFrame({"sex": np.repeat(["f", "m"], 500)})
    for _ in range(60):
        y = (rng.random(1000) < np.repeat([0.45, 0.5], 500)).astype(int)
        audit = Audit(protected="sex", detectors=["GroupDisparity"])
        (verdict,) = audit.fit(X, y).report_.document["verdicts"]
        bounds += verdict["bound"] is not None
        wrong += verdict["bound"] is not None and verdict["bound"] < 0.05
    assert bounds > 30
    assert wrong <= 7  # 3 are expected of 60, P(more than 7) = .01
