"""Every transformer and sampler passes the checks of scikit-learn and of imbalanced-learn."""

import imblearn.utils.estimator_checks as imblearn_checks
import pytest
from imblearn.base import SamplerMixin
from sklearn.utils.estimator_checks import estimator_checks_generator
from smallest import TRANSFORMERS, transformers

ALL = [make() for make in TRANSFORMERS.values()]
SAMPLERS = [one for one in ALL if isinstance(one, SamplerMixin)]


def each(generator, estimators):
    """Parametrize by estimators and checks, with names that are the same in every process."""
    pairs = [pair for one in estimators for pair in generator(one)]
    names = [
        f"{type(one).__name__}-{check.func.__name__}-{i}" for i, (one, check) in enumerate(pairs)
    ]
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=names)


# The checks have groups of one row each, which lack a label.
pytestmark = pytest.mark.filterwarnings("ignore::skdisc.exceptions.SkdiscWarning")


@pytest.mark.parametrize("name", transformers())
def test_it_has_an_entry(name):
    assert name in TRANSFORMERS, f"add {name} to TRANSFORMERS of tests/smallest.py"


@pytest.mark.every(6)
@each(estimator_checks_generator, ALL)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@each(imblearn_checks.estimator_checks_generator, SAMPLERS)
def test_imbalanced_learn_checks(estimator, check):
    check(estimator)
