"""Every detector passes scikit-learn's checks, with the settings of tests/smallest.py."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from smallest import entry, for_numbers

from skdisc import all_detectors
from skdisc.subgroup import FairNaiveBayes


@parametrize_with_checks([*map(for_numbers, all_detectors()), FairNaiveBayes(protected=[0])])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow  # all together
@parametrize_with_checks([for_numbers(n, **o) for n in all_detectors() for o in entry(n).others])
def test_scikit_learn_checks_with_other_settings(estimator, check):
    check(estimator)
