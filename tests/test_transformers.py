"""Every transformer and sampler passes the checks of scikit-learn and of imbalanced-learn."""

import imblearn.utils.estimator_checks as imblearn_checks
import pytest
from imblearn.base import SamplerMixin
from sklearn.utils._test_common.instance_generator import _get_check_estimator_ids
from sklearn.utils.estimator_checks import parametrize_with_checks
from smallest import TRANSFORMERS, transformers

SAMPLERS = [make() for make in TRANSFORMERS.values() if isinstance(make(), SamplerMixin)]

# The checks have groups of one row each, which lack a label.
pytestmark = pytest.mark.filterwarnings("ignore::skdisc.exceptions.SkdiscWarning")


@pytest.mark.parametrize("name", transformers())
def test_it_has_an_entry(name):
    assert name in TRANSFORMERS, f"add {name} to TRANSFORMERS of tests/smallest.py"


@parametrize_with_checks([make() for make in TRANSFORMERS.values()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


IMBLEARN = [
    pair for sampler in SAMPLERS for pair in imblearn_checks.estimator_checks_generator(sampler)
]


@pytest.mark.parametrize(("estimator", "check"), IMBLEARN, ids=_get_check_estimator_ids)
def test_imbalanced_learn_checks(estimator, check):
    check(estimator)
