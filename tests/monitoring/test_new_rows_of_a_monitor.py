"""A monitor of batches has neither rows nor a model to audit or score others with."""

import numpy as np
import pandas as pd
import pytest

from skdisc.monitoring import DisparityMonitor

X = pd.DataFrame({"sex": ["F", "M"] * 50, "age": np.arange(100)})
Y = (X["age"] > 30).astype(int).to_numpy()


@pytest.mark.parametrize("method", ["audit", "score"])
def test_new_rows_are_to_be_added(method):
    monitor = DisparityMonitor(protected="sex").partial_fit(X, y_pred=Y)
    with pytest.raises(ValueError, match=r"add them with partial_fit\(X, y_pred=decisions\)"):
        getattr(monitor, method)(X, Y)
    assert monitor.audit() is monitor.result_


def test_after_fit_new_rows_are_audited():
    monitor = DisparityMonitor(protected="sex").fit(X, Y)
    assert monitor.audit(X, Y).n_samples == 100
