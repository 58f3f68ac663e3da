"""A subclass of SubgroupDetector without its methods says which one is missing."""

import pandas as pd
import pytest

from skdisc.extending import SubgroupDetector

X = pd.DataFrame({"sex": ["F", "M"] * 20, "age": range(40)})


class WithoutRows(SubgroupDetector):
    def __init__(self, estimator=None, *, protected=None):
        self.estimator, self.protected = estimator, protected

    pos_label = memory = random_state = None
    missing, significance, verbose, space, weights = "category", 0.05, False, None, "probability"


class WithoutSearch(WithoutRows):
    def _rows(self, task):
        return task


@pytest.mark.parametrize(
    ("detector", "method"), [(WithoutRows, "_rows"), (WithoutSearch, "_search")]
)
def test_the_missing_method_is_named(detector, method):
    with pytest.raises(TypeError, match=f"{detector.__name__} does not define {method}"):
        detector(protected="sex").fit(X, [0, 1] * 20)
