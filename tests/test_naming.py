"""A setting with a published or a misspelled name is answered with ours."""

import copy
import inspect
import pickle
import re

import pandas as pd
import pytest
from sklearn.base import clone

from skdisc import Audit, all_detectors
from skdisc._utils._published_names import FIELDS, PUBLISHED_NAMES, THREADS
from skdisc.base import BaseDetector


@pytest.mark.parametrize("name", PUBLISHED_NAMES)
def test_a_published_name_is_answered_with_ours(name):
    answered = 0
    for detector in all_detectors().values():
        settings = inspect.signature(detector).parameters
        ours = PUBLISHED_NAMES[name]
        if name in settings or ours not in settings:
            continue
        with pytest.raises(TypeError, match=rf"'{name}'; it is '{ours}' in skdisc\.$"):
            detector(**{name: 1})
        answered += 1
    assert answered, "no detector has the setting that is meant"


@pytest.mark.parametrize(
    ("name", "setting", "field"),
    [(n, s, f) for s, names in FIELDS.items() for n, f in names.items()],
)
def test_the_name_of_a_field_is_answered_with_its_object(name, setting, field):
    text = f"{setting}={setting.capitalize()}({field}=...)"
    takes_it = [d for d in all_detectors().values() if setting in inspect.signature(d).parameters]
    assert takes_it
    for detector in takes_it:
        with pytest.raises(TypeError, match=re.escape(f"'{name}'; write {text}.")):
            detector(**{name: 1})
        changed = detector().set_params(**{f"{setting}__{field}": None})
        assert getattr(changed, setting) is not None


@pytest.mark.parametrize("name", FIELDS["limits"])
def test_a_limit_of_an_audit_is_answered_with_its_object(name):
    said = re.escape(f"'{name}'; write limits=Limits({FIELDS['limits'][name]}=...).")
    with pytest.raises(TypeError, match=said):
        Audit(**{name: 5})
    X = pd.DataFrame({"sex": [0, 1] * 18})
    with pytest.raises(ValueError, match=f"no detector has {said}"):
        Audit(protected="sex", settings={name: 5}).fit(X, [0, 1, 1, 1] * 9)
    with pytest.raises(TypeError, match=rf"'{name}'\.$"):  # it has no limits
        all_detectors()["RankingDisparity"](**{name: 5})


@pytest.mark.parametrize("name", THREADS)
def test_threads_are_answered_with_those_of_the_model(name):
    with pytest.raises(TypeError, match=rf"'{name}'; .* BlackBox\(model, n_jobs=\.\.\.\)\)\.$"):
        all_detectors()["SliceFinder"](**{name: 2})


def test_a_misspelled_setting_is_answered():
    with pytest.raises(TypeError, match=r"argument 'min_suport'; did you mean 'min_support'\?$"):
        all_detectors()["DivExplorer"](min_suport=0.1)
    with pytest.raises(TypeError, match=r"DivExplorer.*unexpected keyword argument 'zzz'\.$"):
        all_detectors()["DivExplorer"](protected="sex", zzz=1)


@pytest.mark.parametrize("name", all_detectors())
def test_detectors_are_copied_and_pickled(name):
    detector = all_detectors()[name](protected=["sex"])
    for twin in (clone(detector), copy.deepcopy(detector), pickle.loads(pickle.dumps(detector))):
        assert type(twin) is type(detector)
        assert twin.get_params()["protected"] == ["sex"]
    assert "protected" in inspect.signature(type(detector)).parameters


class _FreeSettings(BaseDetector):
    """A detector that takes any setting, which Python allows."""

    def __init__(self, **settings):
        self.settings = settings

    def _discover(self, task):
        raise NotImplementedError

    def _remeasure(self, task):
        raise NotImplementedError


def test_a_class_may_take_any_setting():
    assert _FreeSettings(anything=1).settings == {"anything": 1}
