"""What items contribute to divergences, quantitative outcomes, and supports of their own."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from published import DivExplorer
from skewed_pay import oracle

from skdisc import AuditResult, BlackBox, Rule


def compas(load):
    frame = load("compas_discretized").astype({"#prior": str})
    return frame.drop(columns=["class", "predicted"]), frame["class"], frame["predicted"]


def explained(X, y, decided, **settings):
    settings = {"must_include": None, "max_predicates": None, "pos_label": 1, **settings}
    return DivExplorer(explain=True, **settings).fit(X, y, BlackBox(decisions=decided)).result_


def test_published_contributions_on_compas(load):
    settings = {"metric": "false_positive_rate", "min_support": 0.1, "direction": "higher"}
    result = explained(*compas(load), **settings)
    first = result.to_frame("shapley").query("rank == 1").set_index("item")["contribution"]
    published = {"#prior = '>3'": 0.1423, "race = 'Afr-Am'": 0.0512, "age = '25-45'": 0.0191}
    for item, value in {**published, "sex = 'Male'": 0.0072}.items():
        assert first[item] == pytest.approx(value, abs=5e-5)
    assert first.sum() == pytest.approx(result[0].effect)
    overall = result.to_frame("global_divergence").set_index("item")["global_divergence"]
    expected = {"#prior = '>3'": 0.0126, "race = 'Afr-Am'": 0.0087, "age = '<25'": 0.0073}
    assert overall.nlargest(3).index.tolist() == list(expected)
    for item, value in expected.items():
        assert overall[item] == pytest.approx(value, abs=5e-5)


def test_redundancy_leaves_the_published_number_on_compas(load):
    X, y, decided = compas(load)
    settings = {"metric": "false_positive_rate", "min_support": 0.1, "redundancy": 0.05}
    detector = DivExplorer(
        must_include=None,
        max_predicates=None,
        pos_label=1,
        k=200,
        rule=Rule(significance=0.999),
        **settings,
    )
    # the published 6 count everyone as one
    assert len(detector.fit(X, y, BlackBox(decisions=decided)).result_) == 5


def table(seed=0, n=2000):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("ab"), n) for c in "uvw"})
    y = rng.integers(0, 2, n)
    wrong = rng.random(n) < 0.1 + 0.3 * ((X["u"] == "a") & (X["v"] == "b"))
    return X, y, np.where(wrong, 1 - y, y)


def test_shapley_values_are_mean_steps_over_all_orders():
    X, y, decided = table()
    result = explained(X, y, decided, metric="error_rate", k=50)
    error = decided != y

    def divergence(predicates):
        inside = np.all([np.ones(len(X)), *(p.mask(X) for p in predicates)], axis=0)
        return error[inside].mean() - error.mean()

    shapley = result.to_frame("shapley")
    for rank, group in enumerate(result.findings.subgroups, 1):
        own = shapley[shapley["rank"] == rank].set_index("item")["contribution"]
        for p in group.predicates:
            steps = []
            for order in permutations(group.predicates):
                before = order[: order.index(p)]
                steps.append(divergence([*before, p]) - divergence(before))
            assert own[str(p)] == pytest.approx(np.mean(steps))
        assert own.sum() == pytest.approx(result[rank - 1].effect)


def test_global_divergence_on_a_full_factorial():
    """With every combination frequent: the mean step over all orders and all other people's values.

    An additive rate gives every item its own share of the effect.
    """
    grid = pd.DataFrame([(u, v) for u in "ab" for v in "ab"], columns=["u", "v"])
    X = pd.concat([grid] * 100, ignore_index=True)
    rate = 10 + 40 * (X["u"] == "a") + 20 * (X["v"] == "a")
    decided = (np.arange(len(X)) // 4 < rate).astype(int)
    result = explained(X, None, decided, min_support=0.01)
    overall = result.to_frame("global_divergence").set_index("item")
    # D(u=a) = 0.2; from v to (u=a, v) always 0.2: (0.2 / 2 + (0.2 + 0.2) / (2 * 2)) / 2
    assert overall["divergence"]["u = 'a'"] == pytest.approx(0.2)
    assert overall["global_divergence"]["u = 'a'"] == pytest.approx(0.2 / 2)
    assert overall["global_divergence"]["v = 'b'"] == pytest.approx(-0.1 / 2)


def test_corrective_items_bring_a_group_back():
    X, y, decided = table()
    result = explained(X, y, decided, metric="error_rate")
    corrective, error = result.to_frame("corrective"), decided != y
    assert {"u = 'a'", "v = 'b'"} & set(corrective["group"])
    for row in corrective.itertuples():
        inside = X.eval(row.group.replace(" = ", " == ")).to_numpy()
        both = inside & X.eval(row.item.replace(" = ", " == ")).to_numpy()
        own, joint = (abs(error[m].mean() - error.mean()) for m in (inside, both))
        assert row.factor == pytest.approx(own - joint)
        assert row.factor > 0
        assert row.t > 2
    assert AuditResult.from_json(result.to_json()) == result


def income(labels, decisions):
    """Return a number per row, missing for some."""
    rng = np.random.default_rng(5)
    value = rng.lognormal(size=len(labels)) * np.where(labels, 2, 1)
    return np.where(rng.random(len(labels)) < 0.1, np.nan, value)


def test_means_of_numbers_beside_rates_in_one_pass():
    X, y, decided = table()
    box = BlackBox(decisions=decided)
    settings = {"must_include": None, "pos_label": 1, "k": 500}
    result = DivExplorer(metric=[income, "accuracy"], **settings).fit(X, y, box).result_
    value, frame = income(y == 1, None), result.to_frame()
    known = ~np.isnan(value)
    for i, row in frame[frame["measure"] == "income"].iterrows():
        inside = result[i].subject.mask(X)
        assert row.effect == pytest.approx(value[inside & known].mean() - value[known].mean())
        both = value[inside & known], value[~inside & known]
        assert row.p_value == pytest.approx(oracle(*both, both)[1])
        assert row.trials == (inside & known).sum()
        assert row.support == inside.sum()
    alone = DivExplorer(metric="accuracy", **settings).fit(X, y, box).result_.to_frame()
    both = frame[frame["measure"] == "accuracy"].merge(alone, on="subject")
    assert len(both) == len(alone) == 26
    for name in ("effect", "p_value", "t", "ci_low", "outcome_rest"):
        np.testing.assert_allclose(both[f"{name}_x"], both[f"{name}_y"])

    def infinite(labels, decisions):
        return np.full(len(labels), np.inf)

    with pytest.raises(ValueError, match="with infinite values"):
        DivExplorer(metric=infinite).fit(X, y)


def test_names_of_the_literature():
    X, y, decided = table()
    frame = explained(X, y, decided, metric="accuracy").to_frame("subgroups")
    assert (frame["metric"] == "accuracy").all()
    assert frame["rate"].equals(frame["outcome"])
    assert frame["divergence"].equals(frame["diff_outcome"])
    assert "t" in frame
