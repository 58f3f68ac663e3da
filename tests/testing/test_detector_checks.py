"""The checks of detectors pass what keeps to them, and name what does not."""

import numpy as np
import pytest

from skdisc import Rule
from skdisc.group import GroupDisparity
from skdisc.individual import Themis
from skdisc.subgroup import DivExplorer
from skdisc.testing import check_detector, detector_checks
from skdisc.testing._detector_checks import _first_unlike

SMALL = {"max_predicates": 1}
KEPT = [DivExplorer(**SMALL), GroupDisparity(intersections=1), Themis(margin=0.1)]


@pytest.mark.parametrize("detector", KEPT, ids=lambda d: type(d).__name__)
def test_false_alarms_are_rare(detector):
    detector_checks()["false_alarms"](detector)


class Changed(DivExplorer):
    """A detector whose results a subclass spoils."""

    def _discover(self, task):
        discovery = super()._discover(task)
        self._spoil(task, discovery.findings.table)
        return discovery


class WithAGlobalSeed(Changed):
    def _spoil(self, task, table):
        table["effect"] += np.random.random()  # noqa: NPY002


class ByTheFirstRow(Changed):
    def _spoil(self, task, table):
        table["effect"] += float(task.X["points"].iloc[0])


class ByTheNames(Changed):
    def _spoil(self, task, table):
        table["effect"] += float(ord(task.X["sex"].min()[0]))


class ByAnEarlierFit(Changed):
    def _spoil(self, task, table):
        table["effect"] += getattr(self, "n_fits_", 0)
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1


class WithoutABudget(DivExplorer):
    def _discover(self, task):
        task.budget.max_tests = None
        return super()._discover(task)


class OfAllLabels(Changed):
    def _spoil(self, task, table):
        table["effect"] += float(len(str(self.pos_label_[0])))


class OfAnySettings(DivExplorer):
    def _validate_params(self):
        pass

    def _check_rule(self):
        pass


@pytest.mark.parametrize(
    ("spoiled", "check", "said"),
    [
        (WithAGlobalSeed, "same_result", "NumPy's global random numbers"),
        (ByTheFirstRow, "order_of_rows", "the order of the rows: .* is .* and "),
        (ByTheNames, "names_of_values", "with renamed values"),
        (ByAnEarlierFit, "second_fit", "depends on the first"),
        (WithoutABudget, "budgets", r"n_tested is .* with Limits\(tests=0\)"),
        (OfAllLabels, "pos_label", "with labels 0 and 1"),
        (OfAnySettings, "clear_errors", "'significance'"),
    ],
)
def test_what_a_detector_does_not_keep_to_is_named(spoiled, check, said):
    others = [name for name in detector_checks() if name != check]
    with pytest.raises(AssertionError, match=f"{spoiled.__name__}, {check}: .*{said}"):
        check_detector(spoiled(**SMALL), skip=others)


def test_a_single_global_draw_is_seen_whatever_was_drawn_before():
    class Wasteful(DivExplorer):
        def _discover(self, task):
            np.random.random()  # noqa: NPY002
            return super()._discover(task)

    np.random.random()  # noqa: NPY002
    with pytest.raises(AssertionError, match="NumPy's global random numbers"):
        detector_checks()["same_result"](Wasteful(**SMALL))


def test_uncorrected_tests_are_false_alarms():
    detector = DivExplorer(max_predicates=2, rule=Rule(correction="none"))
    with pytest.raises(AssertionError, match=r"in \d+ of 20 data sets without one"):
        detector_checks()["false_alarms"](detector)


def test_a_case_in_a_fair_model_is_named():
    class Everyone(Themis):
        def _resolve_model(self, people, model):
            return super()._resolve_model(people, lambda X: X["sex"].map({"M": "yes", "F": "no"}))

    with pytest.raises(AssertionError, match="a model that does not read 'sex'"):
        detector_checks()["fair_model"](Everyone(margin=0.1))


def test_other_errors_name_the_check_and_unknown_checks_are_refused():
    class Broken(DivExplorer):
        def _search(self, task, rows):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as info:
        check_detector(Broken())
    assert info.value.__notes__ == ["raised in the check 'model_as_it_is' of Broken"]
    with pytest.raises(ValueError, match="skip names 'order'; the checks are model_as_it_is"):
        check_detector(DivExplorer(), skip=["order"])


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ({"x": [1, 2]}, {"x": [1, 2]}, ""),
        ({"x": [1, 2]}, {"x": [1, 3]}, "['x'][1] is 2 and 3"),
        ({"x": 1}, {"y": 1}, " has ['x'] and ['y']"),
        ([1], [1, 2], " is [1] and [1, 2]"),
    ],
)
def test_the_first_difference_is_said(a, b, said):
    assert _first_unlike(a, b) == said
