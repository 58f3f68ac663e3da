"""Columns that a detector does not read may hold anything: a pipeline may need them."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from skdisc import AuditResult
from skdisc.group import GroupDisparity
from skdisc.individual import SituationTesting
from skdisc.subgroup import BiasScan, DivExplorer, SliceLine

N = 200
STRANGE = {
    "dates": pd.date_range("2020", periods=N),
    "durations": pd.to_timedelta(np.arange(N), unit="D"),
    "periods": pd.period_range("2020", periods=N, freq="D"),
    "intervals": pd.interval_range(0, N),
    "lists": [[1, 2]] * N,
    "decimals": [Decimal(i) for i in range(N)],
    "days": [datetime.date(2020, 1, 1 + i % 28) for i in range(N)],
}
READING_SOME = [
    GroupDisparity(protected="sex"),
    DivExplorer(protected="sex", features=["sex", "age"]),
    SliceLine(protected="sex", features=["sex", "age"]),
]


def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "age": rng.integers(18, 70, N)})
    X["points"] = rng.normal(size=N).round(2)
    return X, ((X["points"] + (X["sex"] == "m")) > 0.5).to_numpy().astype(int)


def figures(result):
    return result.verdict, [(str(f.subject), f.effect, f.p_value) for f in result]


@pytest.mark.every(3)
@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("detector", READING_SOME, ids=lambda d: type(d).__name__)
def test_they_change_nothing(detector, kind):
    X, y = people()
    more = X.assign(other=STRANGE[kind])
    bare, full = detector.fit(X, y).result_, detector.fit(more, y).result_
    assert figures(full) == figures(bare)
    assert figures(detector.audit(more, y)) == figures(bare)
    assert figures(AuditResult.from_json(full.to_json())) == figures(bare)


@pytest.mark.parametrize("kind", STRANGE)
@pytest.mark.parametrize("protected", ["other", ["sex", "other"]])
def test_they_are_refused_where_they_are_read(protected, kind):
    X, y = people()
    more = X.assign(other=STRANGE[kind])
    with pytest.raises(TypeError, match="Column 'other'"):
        GroupDisparity(protected=protected).fit(more, y)
    with pytest.raises(TypeError, match="Column 'other'"):
        DivExplorer(protected="sex", features=["sex", "other"]).fit(more, y)
    with pytest.raises(TypeError, match="Column 'other'"):
        BiasScan(protected="sex", features=["sex", "age"]).fit(more, y)  # compares with expected
    with pytest.raises(TypeError, match="Column 'other'"):
        SituationTesting(protected="sex", features=["age"]).fit(more, y)  # shows whole people


@pytest.mark.slow
def test_a_pipeline_may_read_them():
    X, y = people()
    X["since"] = STRANGE["dates"]
    year = FunctionTransformer(
        lambda d: d["since"].dt.day_of_year.to_frame(), feature_names_out=None
    )
    encode = make_column_transformer((OneHotEncoder(), ["sex"]), (year, ["since"]))
    model = make_pipeline(encode, LogisticRegression())
    result = GroupDisparity(model, protected="sex").fit(X, y).result_
    assert result.audited == "refit"
    assert any("trained here" in note for note in result.notes)
    fitted = model.fit(X, y)
    given = GroupDisparity(protected="sex").fit(X, y, fitted).result_
    rates = pd.Series(fitted.predict(X)).groupby(X["sex"]).mean()
    assert abs(given[0].effect) == pytest.approx(abs(rates["f"] - rates["m"]))
