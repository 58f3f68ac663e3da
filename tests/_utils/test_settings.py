"""Settings written in the body of a class: signature, ``__init__``, constraints and texts."""

import inspect
import pickle
from numbers import Real

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

from skdisc import all_detectors
from skdisc._utils._settings import HasSettings, setting

SHARE = setting(0.5, [Interval(Real, 0, 1, closed="both")], "A share.")


class Family(HasSettings, BaseEstimator):
    """What all have.

    {parameters}
    """

    model: object = setting(
        None, "no_validation", "The model.", kind="model", kw_only=False, leads=True
    )
    seed: int | None = setting(None, ["random_state"], "Seed of the draws.")
    share: float = SHARE

    def fit(self, X, y=None):
        """Check the settings."""
        self._validate_params()
        return self


class Search(Family):
    """Search for something.

    {parameters}

    Notes
    -----
    Found is found.
    """

    order: str = setting("up", [StrOptions({"up", "down"})], "Which comes first:\n\n- up or down.")
    share: float = setting(0.1)
    seed: int | None = setting(None, text=lambda owner: f"Seed of {owner.__name__}.")


class Written(Family):
    """A class with an ``__init__`` of its own."""

    _parameter_constraints = {**Family._parameter_constraints, "n": [int]}

    def __init__(self, n=3, model=None):
        self.n = n
        self.model = model


class Heir(Written):
    """A class without settings of its own."""


def test_the_signature_has_what_leads_then_what_is_new_then_what_is_inherited():
    parameters = inspect.signature(Search).parameters
    assert list(parameters) == ["model", "order", "share", "seed"]
    kinds = [p.kind for p in parameters.values()]
    assert kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD, *[inspect.Parameter.KEYWORD_ONLY] * 3]
    assert parameters["share"].default == 0.1
    assert parameters["order"].annotation is str


def test_what_a_class_does_not_say_of_a_setting_is_that_of_its_base():
    assert Search._parameter_constraints["share"] == Family._parameter_constraints["share"]
    assert list(inspect.signature(Family).parameters) == ["model", "seed", "share"]
    assert Family().share == Family.share == 0.5  # not changed by the class that has another


def test_the_docstring_has_a_section_of_parameters():
    assert inspect.getdoc(Search) == (
        "Search for something.\n\n"
        "Parameters\n----------\n"
        "model : model, default=None\n    The model.\n"
        'order : {"up", "down"}, default="up"\n    Which comes first:\n\n    - up or down.\n'
        "share : float, default=0.1\n    A share.\n"
        "seed : int, RandomState instance or None, default=None\n    Seed of Search.\n\n"
        "Notes\n-----\nFound is found."
    )


def test_an_instance_keeps_what_it_was_made_with():
    made = Search("m", share=0.3)
    assert made.get_params() == {"model": "m", "order": "up", "share": 0.3, "seed": None}
    assert clone(made).get_params() == pickle.loads(pickle.dumps(made)).get_params()
    assert made.set_params(order="down").order == "down"
    assert repr(made) == "Search(model='m', order='down', share=0.3)"


@pytest.mark.parametrize("settings", [{"share": 2.0}, {"order": "left"}])
def test_what_is_not_allowed_is_an_error_of_fit(settings):
    with pytest.raises(InvalidParameterError, match=next(iter(settings))):
        Search(**settings).fit(None)


def test_an_unknown_setting_or_one_by_position_is_an_error_with_the_name_of_the_class():
    with pytest.raises(TypeError, match="Search: got an unexpected keyword argument 'shares'"):
        Search(shares=0.1)
    with pytest.raises(TypeError, match="Search: too many positional arguments"):
        Search("m", "up")


def test_a_class_with_an_init_of_its_own_keeps_it_and_so_do_its_heirs():
    for cls in (Written, Heir):
        assert list(inspect.signature(cls).parameters) == ["n", "model"]
        assert cls(4).get_params() == {"n": 4, "model": None}
        assert "n" in cls._parameter_constraints


def test_a_shared_setting_may_differ_in_one_class():
    class Other(HasSettings):
        share: float = SHARE.but(default=0.9)

    assert Other().share == 0.9
    assert Family().share == 0.5


@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_each_setting_of_a_detector_has_a_text_and_what_is_allowed(name):
    detector = all_detectors()[name]
    for setting_name, spec in detector._declared_settings.items():
        assert spec.text, setting_name
        assert spec.allowed is not None, setting_name
        assert f"\n{setting_name} : " in inspect.getdoc(detector), setting_name
