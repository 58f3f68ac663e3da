"""Groups that were found, measured again on other rows."""

import numpy as np
import pandas as pd
import pytest
from published import DivExplorer
from scipy import stats

from skdisc import BlackBox, Rule


def planted(seed, n=3000, gap=0.3):
    """Return people, their labels (fewer ones where u is a), and decisions."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({c: rng.choice(list("abc"), n) for c in "uvw"})
    X["n"] = rng.normal(size=n)
    y = rng.random(n) < np.where(X["u"] == "a", 0.6 - gap, 0.6)
    return X, y, rng.random(n) < 0.5


def test_an_audit_measures_the_same_groups_on_the_new_rows():
    X, y, decided = planted(0)
    detector = DivExplorer(protected="u", metric=["base_rate", "accuracy"], pos_label=True, k=8)
    model = lambda X: X["n"] > 0  # noqa: E731
    at_fit = detector.fit(X, y, model).result_
    X_new, y_new, _ = planted(1, 1500)
    result = detector.audit(X_new, y_new)
    assert result.findings.subgroups == at_fit.findings.subgroups
    decided = (X_new["n"] > 0).to_numpy()
    events = {"base_rate": y_new, "accuracy": decided == y_new}
    table = result.findings.table
    for i, group in enumerate(result.findings.subgroups):
        event, inside = events[table["measure"][i]], group.mask(X_new)
        assert table["support"][i] == inside.sum()
        assert table["effect"][i] == pytest.approx(event[inside].mean() - event.mean())
        assert table["outcome_rest"][i] == pytest.approx(event[~inside].mean())
    np.testing.assert_allclose(table["p_adjusted"], stats.false_discovery_control(table["p_value"]))
    assert table["effect_at_fit"].tolist() == at_fit.findings.table["effect"].tolist()
    assert result.n_tested == len(set(at_fit.findings.subgroups))
    assert result[0].effect < -0.1
    assert detector.score(X_new, y_new) == pytest.approx(-result[0].effect)


def test_only_what_shows_again_in_the_same_direction_counts_as_found():
    X, y, _ = planted(0)
    detector = DivExplorer(protected="u", max_predicates=1).fit(X, y)
    assert detector.result_.n_found == 3
    turned = X.assign(u=X["u"].map({"a": "b", "b": "a", "c": "c"}))
    again = detector.audit(turned, y)
    names = list(map(str, again.findings.subgroups))
    assert again.findings.table["p_adjusted"][names.index("u = 'a'")] < 0.05  # other way round
    counts = again.metrics["dsn_by_attr_value"]
    assert counts["u=a"]["DSN"] == counts["u=b"]["DSN"] == 0
    assert counts["u=c"]["DSN"] == again.n_found == 1


def test_confirmation_measures_on_rows_that_the_search_did_not_see():
    X, y, _ = planted(0)
    detector = DivExplorer(protected="u", confirm=0.4, random_state=0).fit(X, y)
    result, table = detector.result_, detector.result_.to_frame()
    top = table.iloc[0]
    inside = result[0].subject.mask(X)
    assert top.support + top.held_out_support == inside.sum()
    assert table["held_out_support"].max() < 0.4 * 3000
    assert top.held_out_effect == pytest.approx(top.effect, abs=0.1)
    assert top.held_out_p_adjusted < 0.01
    assert any("1800 rows and tested again on 1200 others" in note for note in result.notes)
    confirmed = (table["held_out_p_adjusted"] <= 0.05) & (
        np.sign(table["held_out_effect"]) == np.sign(table["effect"])
    )
    assert result.n_found == confirmed.sum()
    assert detector.set_params(random_state=1).fit(X, y).result_ != result
    assert detector.set_params(random_state=0).fit(X, y).result_ == result


@pytest.mark.statistics
def test_noise_is_not_confirmed():
    """Without correction the search finds something in nearly every table of noise."""
    found, confirmed = 0, 0
    for seed in range(30):
        X, y, _ = planted(seed, 1000, gap=0.0)
        raw = DivExplorer(must_include=None, rule=Rule(correction="none"), min_support=0.02)
        found += raw.fit(X, y).result_.n_found > 0
        held_out = DivExplorer(must_include=None, min_support=0.02, confirm=0.5, random_state=seed)
        confirmed += held_out.fit(X, y).result_.n_found > 0
    assert found >= 27
    assert confirmed <= 5


def test_groups_that_do_not_occur_again_are_undefined():
    X, y, _ = planted(0)
    detector = DivExplorer(protected="u", max_predicates=1).fit(X, y)
    rest = (X["u"] != "a").to_numpy()
    result = detector.audit(X[rest], y[rest])
    assert str(detector.result_[0].subject) == "u = 'a'"
    assert np.isnan(result[0].effect)
    assert np.isnan(result[0].p_adjusted)
    assert np.isnan(detector.score(X[rest], y[rest]))
    assert result.findings.table["support"][0] == 0
    assert result.verdict == "insufficient evidence"


def test_nothing_found_is_measured_again_without_complaint():
    X, y, _ = planted(0, 40, gap=0.0)
    detector = DivExplorer(protected="u", min_support=0.9).fit(X, y)
    assert len(detector.result_) == 0
    assert len(detector.audit(X, y)) == 0
    assert np.isnan(detector.score(X, y))
    assert detector.transform(X).shape == (40, 0)
    assert detector.get_feature_names_out().tolist() == []
    assert len(detector.set_params(confirm=0.5, random_state=0).fit(X, y).result_) == 0


def test_labels_and_decisions_must_be_there_again():
    X, y, decided = planted(0)
    labels = DivExplorer(protected="u").fit(X, y)
    with pytest.raises(ValueError, match="y is needed to audit new data"):
        labels.audit(X)
    given = DivExplorer(protected="u").fit(X, y, BlackBox(decisions=decided))
    with pytest.raises(ValueError, match="has decisions only for the rows of fit"):
        given.audit(X, y)
    assert given.audit() is given.result_


def test_several_rates_of_one_group_have_names_of_their_own():
    X, y, decided = planted(0)
    box = BlackBox(decisions=decided)
    detector = DivExplorer(protected="u", metric="all", max_predicates=1, k=36, pos_label=True)
    names = detector.fit(X, y, box).get_feature_names_out()
    assert len(set(names)) == len(names) == 36
    assert "u = 'a' [accuracy]" in names
    marked = detector.set_output(transform="pandas").fit_transform(X, y, model=box)
    assert marked["u = 'a' [accuracy]"].tolist() == (X["u"] == "a").tolist()
