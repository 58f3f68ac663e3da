"""FACTS in parts and blocks gives what it gives at once, and queries no row twice."""

import numpy as np
import pandas as pd
import pytest

from skdisc import Limits, Predicate, Subgroup
from skdisc.subgroup import FACTS, Actions
from skdisc.subgroup._facts import _flips, _subgroup_actions


class Remembers:
    """A model that remembers the rows it was queried about."""

    def __init__(self):
        self.asked = []

    def __call__(self, X):
        self.asked += list(X.itertuples(index=False, name=None))
        lower = 2 * (X["sex"] == "F") + (X["job"] == "a")
        return (X["hours"] / 10 + X["level"] - lower > 4).to_numpy().astype(int)


def people(n=200):
    rng = np.random.default_rng(0)
    columns = {"sex": list("FM"), "job": list("abc"), "town": list("pq")}
    X = pd.DataFrame({name: rng.choice(values, n) for name, values in columns.items()})
    return X.assign(hours=rng.choice([10, 20, 30, 40], n), level=rng.integers(0, 4, n))


SETTINGS = {
    "all": {},
    "subset": {"actions": Actions(columns="subset")},
    "confirmed": {"confirm": 0.4, "learn_on": None},
    "two columns": {"protected": ["sex", "town"]},
}


def fitted(settings, serial=False):
    model = Remembers()
    given = {"protected": "sex", "random_state": 0} | settings
    X = people().assign(serial=np.arange(200)) if serial else people()
    return FACTS(**given).fit(X, model=model), model


LIMITS = [(300, 2**22, 2**23), (2**24, 1, 1), (1, 5_000, 700)]


@pytest.mark.slow
@pytest.mark.usefixtures("no_repeats")
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_parts_and_blocks_change_nothing(monkeypatch, settings):
    whole, model = fitted(settings)
    for limits in LIMITS:
        assert_same_in_parts(monkeypatch, settings, limits, whole, model)


def assert_same_in_parts(monkeypatch, settings, limits, whole, model):
    """Compare what is found in one piece with what is found within limits."""
    monkeypatch.setattr(_flips, "_KEPT", limits[0])
    monkeypatch.setattr(_flips, "_CELLS", limits[1])
    monkeypatch.setattr(_subgroup_actions, "_WORDS", limits[2])
    again, other = fitted(settings)
    pd.testing.assert_frame_equal(again.result_.findings.table, whole.result_.findings.table)
    for name, recourse in whole.recourse_.items():
        pd.testing.assert_frame_equal(again.recourse_[name].rank(), recourse.rank())
        pd.testing.assert_frame_equal(again.recourse_[name].population(), recourse.population())
    assert set(other.asked) == set(model.asked)
    if limits[0] == 2**24:
        assert len(other.asked) == len(model.asked)
    if len(whole.recourse_) == 1 and "confirm" not in settings:
        assert len(other.asked) == len(model.asked) == len(set(model.asked))


@pytest.mark.slow
@pytest.mark.usefixtures("no_repeats")
def test_a_budget_is_kept_in_one_part(monkeypatch):
    monkeypatch.setattr(_flips, "_CELLS", 500)
    needed = len(fitted({}, serial=True)[1].asked)
    whole, model = fitted({"limits": Limits(queries=needed - 20)}, serial=True)
    assert len(model.asked) <= needed - 20
    everything = fitted({}, serial=True)[0].recourse_["sex"].plan
    assert 0 < len(whole.recourse_["sex"].plan.cost) < len(everything.cost)
    monkeypatch.setattr(_flips, "_KEPT", 50)
    again, _ = fitted({"limits": Limits(queries=needed - 20)}, serial=True)
    pd.testing.assert_frame_equal(again.result_.findings.table, whole.result_.findings.table)
    pd.testing.assert_frame_equal(again.recourse_["sex"].rank(), whole.recourse_["sex"].rank())


def test_a_subgroup_is_found_without_any_text(monkeypatch):
    recourse = fitted({})[0].recourse_["sex"]
    known = recourse.subgroups[-1]
    assert recourse.find(str(known)) == len(recourse) - 1

    def text(self):
        raise AssertionError("a text was made")

    monkeypatch.setattr(Subgroup, "__str__", text)
    monkeypatch.setattr(Predicate, "__str__", text)
    assert recourse.find(known) == recourse.find(len(recourse) - 1) == len(recourse) - 1
    assert recourse.find(Subgroup(known.predicates)) == len(recourse) - 1
    monkeypatch.undo()
    for other in (Subgroup([Predicate.equals("job", "z")]), "job = 'z'", -1, len(recourse)):
        with pytest.raises(KeyError, match="not among"):
            recourse.find(other)


@pytest.mark.parametrize(
    "settings",
    [
        {"intersections": 2, "protected": ["town", "sex"]},
        {"subgroups": [{"job": "a"}, {"job": "b", "town": "p"}, {"sex": "F", "job": "a"}]},
    ],
)
def test_texts_of_all_subgroups_are_those_of_each(settings):
    facts = FACTS(**{"protected": "sex", "random_state": 0, **settings})
    for recourse in facts.fit(people(), model=Remembers()).recourse_.values():
        assert len(recourse) > 1
        for group in recourse.groups:
            single = [str(subgroup & group) for subgroup in recourse.subgroups]
            assert recourse.plan.texts_with(group) == single
