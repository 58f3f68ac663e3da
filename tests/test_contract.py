"""The contract, kept by every detector that skdisc has."""

from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder
from smallest import entry, has, path_of_tests, smallest

from skdisc import BlackBox, all_detectors
from skdisc._results._findings import ContextFindings
from skdisc.testing import detector_checks
from skdisc.testing._detector_checks import made_up_people

pytestmark = pytest.mark.usefixtures("no_refits")

every = pytest.mark.parametrize("name", sorted(all_detectors()))


def make(name, estimator=None, **more):
    return smallest(name, estimator, **({"protected": ["sex"], "pos_label": "yes"} | more))


@pytest.fixture
def data():
    """Return people, and labels that depend on sex."""
    X, y, _ = made_up_people()
    return X, y


@pytest.fixture
def forest():
    """Return a fitted pipeline with a length, which scikit-learn's searches take for data."""
    return made_up_people().model


CHECKS = [name for name in detector_checks() if name != "false_alarms"]  # `test_calibration.py`
DRAWN = {"FACTS": {"learn_on": None}, "BiasScan": {"versus": "everyone"}}  # by the names, else


@pytest.mark.every(6)
@every
@pytest.mark.parametrize("check", CHECKS)
def test_what_every_detector_keeps_to(name, check):
    more = DRAWN.get(name, {}) if check == "names_of_values" else {}
    detector_checks()[check](smallest(name, **more))


@pytest.mark.every(6)
@every
def test_without_a_model_what_is_audited_is_said(name, data):
    detector = make(name).fit(*data)
    assert detector.audited_ == ("surrogate" if all_detectors()[name]._asks else "labels")
    unfitted = make_pipeline(OneHotEncoder(), LogisticRegression())
    assert make(name).fit(*data, unfitted).audited_ == "refit"
    assert not hasattr(unfitted[-1], "coef_")
    assert make(name, FrozenEstimator(unfitted.fit(*data))).fit(data[0]).audited_ == "model"


@pytest.mark.every(6)
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


@pytest.mark.every(12)
@every
def test_grid_search_over_settings(name, data, forest):
    """A model in a box is routed to every fold, with metadata routing and without."""
    X, y = data
    frozen = GridSearchCV(make(name, FrozenEstimator(forest)), entry(name).grid, cv=2).fit(X, y)
    best = frozen.best_estimator_
    chosen = {n: best.get_params()[n] for n in frozen.best_params_}
    assert str(chosen) == str(frozen.best_params_)  # a clone has a Rule of its own
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


@pytest.mark.every(12)
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


@pytest.mark.every(2)
@every
def test_transformers_follow_set_output(name, data, forest):
    detector = make(name).set_params()
    if not hasattr(detector, "transform"):
        pytest.skip("has no transform")
    detector.set_output(transform="pandas").fit(*data, forest)
    marked = detector.transform(data[0])
    assert list(marked.columns) == list(detector.get_feature_names_out())
    assert set(marked.dtypes) == {np.dtype(bool)}


@pytest.mark.every(4)
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
    assert all(getattr(card, f) for f in card.__dataclass_fields__ if f != "other_null")


@pytest.mark.every(6)
@every
def test_audits_draw_the_same_numbers_whatever_the_random_state(name, data, forest):
    X, y = data
    state = np.random.RandomState(0)
    detector = make(name, random_state=state).fit(X, y, forest)
    before = state.get_state()[1].copy()
    assert detector.audit(X, y) == detector.audit(X, y)
    assert (state.get_state()[1] == before).all()


@pytest.mark.every(6)
@every
def test_progress_is_silent_unless_asked_for(name, data, forest, capfd, monkeypatch):
    from skdisc._task import _progress

    monkeypatch.setattr(_progress.time, "monotonic", iter(range(10**6)).__next__)
    make(name).fit(*data, forest)
    assert capfd.readouterr() == ("", "")
    if not has(name, "verbose"):
        return  # its fits are short
    make(name, verbose=True).fit(*data, forest)
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"{name}: ")


@every
def test_it_has_a_test_file_of_its_own_name(name):
    own = path_of_tests(name)
    assert own.is_file(), (
        f"Put the tests of {name} into {own.relative_to(Path(__file__).parents[1])}"
    )
