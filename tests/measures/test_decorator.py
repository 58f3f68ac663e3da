"""What the decorator makes of a formula: signatures, documentation, examples."""

import doctest
import inspect
import pickle
import sys

import pytest

from skdisc import measures as m
from skdisc.measures._formula._catalogue import CATALOGUE
from skdisc.measures._formula._decorator import Measure

MEASURES = [name for name in CATALOGUE if hasattr(getattr(m, name), "plan")]
FREE = set(CATALOGUE) - set(MEASURES)


@pytest.mark.parametrize("name", MEASURES)
def test_examples_in_docstrings_hold(name):
    """Doctest looks for functions of a module, and a measure is made by the decorator."""
    measure = getattr(m, name)
    names = dict(vars(sys.modules[measure.__module__]))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    (test,) = doctest.DocTestFinder(recurse=False).find(measure, name, globs=names)
    assert test.examples
    results = doctest.DocTestRunner(optionflags=flags).run(test)
    assert results.failed == 0


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_and_its_report_share_parameters(name):
    measure, report = getattr(m, name), getattr(m, f"{name}_report")
    assert report is measure.report
    own, table = (inspect.signature(f).parameters for f in (measure, report))
    assert list(table)[: len(own)] == list(own)
    extra = {"significance", "correction", "n_resamples", "permutations", "random_state"}
    assert set(table) - set(own) == extra
    options = list(measure.plan.options)
    assert list(own)[len(own) - len(options) :] == options
    typed = inspect.signature(Measure.__call__).parameters
    assert set(own) - set(options) <= set(typed)
    for function in (measure, report):
        doc = function.__doc__
        for parameter in inspect.signature(function).parameters:
            assert (
                f"\n{parameter} : " in doc
                or f"\n{parameter}, " in doc
                or (f", {parameter} : " in doc)
            ), parameter
        assert "\nRaises\n------\nValueError\n" in doc


@pytest.mark.parametrize("name", sorted(FREE))
def test_other_measures_document_errors_too(name):
    for function in (getattr(m, name), getattr(m, f"{name}_report")):
        assert "Raises\n" in function.__doc__


def test_measures_are_found_by_name():
    assert pickle.loads(pickle.dumps(m.elift)) is m.elift
    assert pickle.loads(pickle.dumps(m.elift_report)) is m.elift_report
    assert m.elift.__module__ == "skdisc.measures._absolute"


def test_calls_are_checked_against_the_signature():
    with pytest.raises(TypeError, match="missing a required argument: 'protected'"):
        m.elift(None, [1, 0])
    with pytest.raises(TypeError, match=r"argument 'correction'\. Arguments: y_true, "):
        m.elift(None, [1, 0], protected=[0, 1], correction="bh")
    with pytest.raises(ValueError, match="average must be one of"):
        m.elift(None, [1, 0], protected=[0, 1], average="mean")
