"""The contract, kept by every detector that skdisc has."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from smallest import SMALLEST, WHAT_TO_ADD, entry, has, smallest

from skdisc import AuditResult, BlackBox, all_detectors
from skdisc._results._findings import ContextFindings

every = pytest.mark.parametrize("name", sorted(all_detectors()))


def make(name, estimator=None, **more):
    return smallest(name, estimator, **({"protected": ["sex"], "pos_label": "yes"} | more))


@pytest.fixture(scope="module")
def data():
    """Return people, and labels that depend on sex."""
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "town": pd.Categorical(rng.choice(list("abc"), n)),
            "points": rng.integers(0, 20, n),
        }
    )
    y = np.where(X["points"] + 5 * (X["sex"] == "M") + rng.normal(0, 2, n) > 11, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def forest(data):
    """Return a fitted pipeline with a length, which scikit-learn's searches take for data."""
    columns = make_column_transformer((OneHotEncoder(), ["sex", "town"]), remainder="passthrough")
    return make_pipeline(columns, RandomForestClassifier(10, random_state=0)).fit(*data)


@every
def test_literal_fit_uses_the_model_as_it_is(name, data, forest):
    X, y = data
    before = X.copy(), y.copy()
    detector = make(name).fit(X, y, forest)
    assert detector.audited_ == "model"
    assert detector.model_.model is forest
    assert detector.audit() is detector.result_
    assert np.isfinite(detector.score(X, y))
    pd.testing.assert_frame_equal(X, before[0])
    assert (y == before[1]).all()


@every
def test_without_a_model_what_is_audited_is_said(name, data):
    once = {"n_refits": 0} if has(name, "n_refits") else {}
    detector = make(name, **once).fit(*data)
    assert detector.audited_ == ("surrogate" if all_detectors()[name]._asks else "labels")
    unfitted = make_pipeline(OneHotEncoder(), LogisticRegression())
    assert make(name, **once).fit(*data, unfitted).audited_ == "refit"
    assert not hasattr(unfitted[-1], "coef_")
    assert make(name, FrozenEstimator(unfitted.fit(*data))).fit(data[0]).audited_ == "model"


@every
def test_no_seed_no_setting_and_no_order_of_work_changes_the_result(name, data, forest):
    X, y = data
    np.random.seed(0)  # noqa: NPY002
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    result = make(name).fit(X, y, forest).result_
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    assert make(name).fit(X, y, forest).result_ == result
    for box, n_jobs in ((BlackBox(forest, chunk_size=11), 1), (BlackBox(forest, chunk_size=37), 2)):
        assert make(name, n_jobs=n_jobs).fit(X, y, box).result_ == result
    assert make(name, verbose=True).fit(X, y, forest).result_ == result


@every
def test_permuted_rows_change_nothing(name, data, forest):
    """The split of ``confirm``, which goes by position, is the exception."""
    X, y = data
    order, whole = np.random.default_rng(1).permutation(len(X)), {}
    if has(name, "confirm"):
        whole["confirm"] = None
    pairs = (X, y), (X.iloc[order], y[order])
    results = [make(name, **whole).fit(A, b, forest).result_ for A, b in pairs]
    twin = X.groupby(list(X.columns), observed=True).ngroup().to_numpy()
    assert in_order(results[0], twin) == in_order(results[1], twin[order])


def in_order(result, twin):
    """Return the result with its rows named by what they are, for equal rows may change places."""
    data = json.loads(result._timeless())["discovery"]
    found = data["findings"]
    if found.get("row") is not None:
        found["row"] = sorted(twin[found["row"]].tolist())
    for table in data["tables"].values():
        named = [table["columns"].index(c) for c in ("row", "partner") if c in table["columns"]]
        for at in named:
            table["data"][at] = twin[table["data"][at]].tolist()
        if named:
            table["data"] = sorted(zip(*table["data"], strict=True), key=str)
    return data


@every
def test_labels_in_another_order_are_refused(name, data, forest):
    X, y = data
    labels, order = pd.Series(y, X.index), np.random.default_rng(1).permutation(len(X))
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        make(name).fit(X, labels.iloc[order], forest)
    both = make(name).fit(X, labels, forest)
    with pytest.raises(ValueError, match=r"y has .* Put both in the same order \(y.loc\[X.index"):
        both.audit(X, labels.iloc[order])


@every
def test_no_table_hides_a_view(name, data, forest):
    """`to_frame` has two rows for a case, and for a group beside its context; one for a group."""
    result = make(name).fit(*data, forest).result_
    assert not {"findings", "pairs", "subgroups"} & set(result.tables)
    views = [v for v in ("pairs", "subgroups") if _has_view(result, v)]
    assert len(views) == 1
    is_pair = views == ["pairs"] or isinstance(result.findings, ContextFindings)
    assert len(result.to_frame(views[0])) == len(result) * (1 + is_pair)


def _has_view(result, kind):
    try:
        result.to_frame(kind)
    except ValueError:
        return False
    return True


@every
def test_relabelled_protected_values_change_nothing(name, data, forest):
    X, y = data
    codes = {"F": "zz", "M": "aa"}
    back = {v: k for k, v in codes.items()}

    def relabelled(A):
        return forest.predict(A.assign(sex=A["sex"].map(back)))

    drawn = {"FACTS": {"choose_on": None}, "BiasScan": {"versus": "everyone"}}
    whole = drawn.get(name, {})  # by default, draws depend on the names
    result = make(name, **whole).fit(X, y, lambda A: forest.predict(A)).result_
    other = make(name, **whole).fit(X.assign(sex=X["sex"].map(codes)), y, relabelled).result_
    assert (result.n_tested, result.n_found) == (other.n_tested, other.n_found)
    assert result.findings.table["effect"].sum() == pytest.approx(
        other.findings.table["effect"].sum()
    )
    assert result.verdict == other.verdict


@every
def test_a_fair_model_gives_no_individual_case(name, data):
    X, y = data
    if all_detectors()[name].card.finds != "individual":
        pytest.skip("finds groups")
    fair = lambda A: np.where((A["points"] > 9) | (A["town"] == "a"), "yes", "no")  # noqa: E731
    detector = make(name).fit(X, y, fair)
    for result in (detector.result_, detector.audit(X)):
        assert (len(result), result.n_found) == (0, 0)
        assert result.n_tested > 0
        assert result.verdict != "disparity found"
    assert detector.score(X, y) == 0


@every
def test_a_second_fit_forgets_the_first(name, data, forest):
    X, y = data
    once = make(name).fit(X, y, forest)
    twice = make(name).fit(X[["points", "sex"]], y).fit(X, y, forest)
    assert twice.result_ == once.result_
    assert twice.audited_ == "model"
    assert twice.space_ == once.space_
    assert twice.n_features_in_ == 3


@every
def test_round_trips(name, data, forest):
    X, y = data
    detector = make(name).fit(X, y, forest)
    assert AuditResult.from_json(detector.result_.to_json()) == detector.result_
    again = pickle.loads(pickle.dumps(detector))
    assert again.result_ == detector.result_
    assert again.audit(X, y) == detector.audit(X, y)
    copy = clone(detector)
    assert not hasattr(copy, "result_")
    assert copy.fit(X, y, forest).result_ == detector.result_


@every
def test_grid_search_over_settings(name, data, forest):
    """A model in a box is routed to every fold, with metadata routing and without."""
    X, y = data
    frozen = GridSearchCV(make(name, FrozenEstimator(forest)), entry(name).grid, cv=2).fit(X, y)
    best = frozen.best_estimator_
    assert best.get_params().items() >= frozen.best_params_.items()
    alone = make(name, FrozenEstimator(forest), **frozen.best_params_).fit(X, y)
    assert best.audit() == alone.audit()
    scores = frozen.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    first = {setting: values[:1] for setting, values in entry(name).grid.items()}
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            boxed = GridSearchCV(make(name), first, cv=2, refit=False)
            boxed.fit(X, y, model=BlackBox(forest))
            assert scores[0] == pytest.approx(boxed.cv_results_["mean_test_score"][0])
            with pytest.raises(TypeError, match="Expected sequence or array-like"):
                GridSearchCV(make(name), entry(name).grid, cv=2).fit(X, y, model=forest)


@every
def test_pipeline_and_cross_validation(name, data, forest):
    X, y = data
    score = make(name).fit(X, y, forest).score(X, y)
    for routing, fit_params in ((False, {"audit__model": forest}), (True, {"model": forest})):
        with sklearn.config_context(enable_metadata_routing=routing):
            pipe = Pipeline([("rows", "passthrough"), ("audit", make(name))])
            pipe.fit(X, y, **fit_params)
            assert pipe[-1].audit().audited == "model"
            assert pipe.score(X, y) == pytest.approx(score)
    done = cross_validate(make(name, FrozenEstimator(forest)), X, y, cv=2, return_estimator=True)
    assert np.isfinite(done["test_score"]).all()
    assert all(e.audited_ == "model" for e in done["estimator"])


@every
def test_transformers_follow_set_output(name, data, forest):
    detector = make(name).set_params()
    if not hasattr(detector, "transform"):
        pytest.skip("has no transform")
    detector.set_output(transform="pandas").fit(*data, forest)
    marked = detector.transform(data[0])
    assert list(marked.columns) == list(detector.get_feature_names_out())
    assert set(marked.dtypes) == {np.dtype(bool)}


@every
def test_columns_are_picked_by_name_and_position(name, data, forest):
    X, y = data
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[["town"]], y)
    assert make(name).fit(X, y, model).audited_ == "model"
    by_position = make(name, protected=0).fit(X, y, forest)
    assert by_position.protected_ == ["sex"]


@every
def test_the_card_is_complete(name):
    card = all_detectors()[name].card
    assert card.finds in ("individual", "group", "subgroup")
    assert card.where in ("model", "data", "model or data")
    assert all(getattr(card, f) for f in card.__dataclass_fields__)


@every
def test_audits_draw_the_same_numbers_whatever_the_random_state(name, data, forest):
    X, y = data
    state = np.random.RandomState(0)
    detector = make(name, random_state=state).fit(X, y, forest)
    before = state.get_state()[1].copy()
    assert detector.audit(X, y) == detector.audit(X, y)
    assert (state.get_state()[1] == before).all()


@every
def test_progress_is_silent_unless_asked_for(name, data, forest, capfd, monkeypatch):
    from skdisc._task import _task

    monkeypatch.setattr(_task.time, "monotonic", iter(range(10**6)).__next__)
    make(name).fit(*data, forest)
    assert capfd.readouterr() == ("", "")
    make(name, verbose=True).fit(*data, forest)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"{name}: ")


@every
def test_it_has_an_entry(name):
    assert name in SMALLEST, WHAT_TO_ADD.format(name=name)
    assert set(SMALLEST) <= set(all_detectors()), "an entry in SMALLEST is of no detector"


@every
def test_it_has_a_test_file_of_its_own_name(name):
    *rooms, file = all_detectors()[name].__module__.split(".")[1:]
    own = Path(__file__).parent.joinpath(*rooms, f"test{file}.py")
    assert own.is_file(), (
        f"Put the tests of {name} into {own.relative_to(Path(__file__).parents[1])}"
    )
