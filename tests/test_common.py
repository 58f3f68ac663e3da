"""Every detector passes scikit-learn's checks, with the settings of tests/smallest.py."""

from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator
from smallest import entry, for_numbers

from skdisc import all_detectors
from skdisc.subgroup import FairNaiveBayes

pytestmark = pytest.mark.usefixtures("no_refits")


def checks(estimators):
    """Return one parameter for each check of each (name, estimator).

    ``parametrize_with_checks`` writes all settings of the estimator into each name, which costs
    more than all other parameters of the tests together.
    """
    return [
        pytest.param(estimator, check, id=f"{name}-{check.func.__name__}")
        for name, estimator in estimators
        for _, check in estimator_checks_generator(estimator)
    ]


DEFAULTS = [(name, for_numbers(name)) for name in all_detectors()]
OTHERS = [
    (f"{name}{i}", for_numbers(name, **settings))
    for name in all_detectors()
    for i, settings in enumerate(entry(name).others)
]


@pytest.mark.every(6)
@pytest.mark.parametrize(
    ("estimator", "check"),
    checks([*DEFAULTS, ("FairNaiveBayes", FairNaiveBayes(protected=[0]))]),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", [e for _, e in OTHERS], ids=[name for name, _ in OTHERS])
def test_scikit_learn_checks_with_other_settings(estimator):
    """All checks in one test: as many tests as there are checks take seconds to collect."""
    for _, check in estimator_checks_generator(estimator):
        try:
            check(estimator)
        except SkipTest:
            continue
        except Exception as error:
            error.add_note(f"raised in {check.func.__name__}")
            raise
