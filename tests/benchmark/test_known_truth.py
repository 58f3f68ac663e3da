"""What is true of a draw: differences by hand, counterfactuals with causes."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from skdisc import Predicate, Subgroup
from skdisc._results._findings import CaseFindings
from skdisc.benchmark._known_truth import Differences, KnownTruth, as_audited
from skdisc.datasets import make_discrimination

ONE = {"n_pairs": 1, "null_fraction": 0.0, "granularity": 0, "intersectionality": 1}
ONE |= {"group_size": 300, "n_background": 900, "bias": 2.0, "n_values": 3, "signal": 0.0}
ONE |= {"n_attributes": 6}


@pytest.fixture(scope="module")
def made():
    return make_discrimination(**ONE, random_state=3)


def test_differences_are_those_of_an_enumeration(made):
    """No other column has an effect: p is p0, and p1 in the planted group."""
    (target,) = KnownTruth(made).targets
    ((column, value),) = ((p.column, p.values[0]) for p in target.subgroup.predicates)
    p = made.truth.rows["p"].to_numpy()
    inside = target.subgroup.mask(made.data)
    p1, p0 = p[inside].mean(), p[~inside].mean()
    of = KnownTruth(made).differences
    for group, gap in zip(of.family, of.gaps, strict=True):
        conditions = {q.column: q.values[0] for q in group.predicates}
        if column not in conditions:
            assert abs(gap) < 0.02
        elif len(conditions) == 1:
            others = made.data[column] != conditions[column]
            share = inside[others].mean()  # of the planted group among the others
            own = p1 if conditions[column] == value else p0
            assert gap == pytest.approx(own - (share * p1 + (1 - share) * p0), abs=0.02)


def test_the_population_of_the_audit_has_the_shares_of_its_data(made):
    new = as_audited(made, np.random.default_rng(0))
    for column in made.protected:
        shares = [f[column].value_counts(normalize=True) for f in (made.data, new)]
        assert (shares[0] - shares[1]).abs().max() < 0.05
    planted = [g.mask(made.data).mean() for g in made.truth.subgroups]
    assert [g.mask(new).mean() for g in made.truth.subgroups] == pytest.approx(planted, abs=0.01)


def test_a_group_and_its_rest_are_one_difference():
    X = pd.DataFrame({"s": ["a", "b"] * 500, "t": ["x"] * 500 + ["y"] * 500})
    of = Differences(X, (X["s"] == "a").to_numpy(dtype=float), ["s", "t"])
    assert len(of.family) == 2 + 2 + 4
    a, b = (Subgroup([Predicate.equals("s", v)]) for v in "ab")
    assert of.between([a, b]).tolist() == [1, -1]
    assert of.between([a], [b]).tolist() == [1]
    assert of.found([a]) == of.found([b]) == of.found([a, b]) == 1
    assert of.between([Subgroup([Predicate.equals("t", "x")])]).tolist() == [0]


def test_groups_too_small_and_numbers_are_no_targets():
    X = pd.DataFrame({"s": ["a"] * 995 + ["b"] * 5})
    assert list(map(str, Differences(X, np.zeros(1000), ["s"]).family)) == ["s = 'a'"]
    none = Differences(X, np.zeros(1000), [])
    assert (none.family, none.relevant) == ([], set())
    assert np.isnan(none.guess(3)).all()
    reference = pd.DataFrame({"age": np.arange(400) % 50, "x": list("pq") * 200})
    how = {"reference": reference, "protected": ["age"], "n_pairs": 1, "granularity": 1}
    made = make_discrimination(**how, intersectionality=1, n_background=200, random_state=0)
    assert KnownTruth(made).differences.family == []


def cases(made, rows, column, value):
    before = made.data.iloc[rows].reset_index(drop=True)
    nothing = np.zeros(len(rows))
    return CaseFindings(before, before.assign(**{column: value}), nothing, nothing)


@pytest.mark.parametrize(("bias_in", "held", "caused"), [("labels", 1, 1), ("proxy", 0, 1),
                                                         ("both", 0.5, 1)])  # fmt: skip
def test_what_acts_through_a_proxy_changes_with_the_cause_only(bias_in, held, caused):
    made = make_discrimination(**ONE, bias_in=bias_in, random_state=3)
    truth = KnownTruth(made)
    (target,) = truth.targets
    ((column, value),) = ((p.column, p.values[0]) for p in target.subgroup.predicates)
    other = next(v for v in made.data[column].unique() if v != value)
    rows = np.flatnonzero(target.subgroup.mask(made.data))[:5]
    found = cases(made, rows, column, other)
    p = made.truth.law.expected(found.original)
    for null, share in (("individual", held), ("counterfactual", caused)):
        gap = logit(p) - logit(p - truth.due_to_protected(found, null))
        assert gap == pytest.approx(np.full(5, share * 2.0 * target.sign))


def test_a_causal_model_of_the_truth_says_what_would_have_been(made):
    """It makes everyone the first member of the planted group; to hold columns is another world."""
    truth = KnownTruth(made)
    (target,) = truth.targets
    member = made.data[target.subgroup.mask(made.data)].iloc[0]

    class Model:
        def counterfactual(self, X, do, n_draws):
            self.asked = do
            return pd.concat([X] * n_draws).assign(**member.to_dict())

    rows = np.flatnonzero(~target.subgroup.mask(made.data))[:4]
    found = cases(made, rows, made.protected[0], made.data[made.protected[0]].iloc[rows[0]])
    held = truth.due_to_protected(found, "counterfactual")
    made.truth.scm = model = Model()
    try:
        gap = truth.due_to_protected(found, "counterfactual")
        assert (truth.due_to_protected(found, "individual") == held).all()
    finally:
        del made.truth.scm
    assert set(model.asked) == set(made.protected)
    p = made.truth.law.expected(pd.DataFrame([member] * 4))
    assert gap == pytest.approx(made.truth.law.expected(found.original) - p)
    assert (np.sign(gap) == -target.sign).all()
