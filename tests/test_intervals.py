"""Columns of `pandas.cut` are ordered groups named by their text; models get the intervals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from smallest import entry

from skdisc import AuditResult, FeatureSpace, all_detectors
from skdisc.auditing import Audit, verify
from skdisc.measures import mean_difference
from skdisc.subgroup import DivExplorer

N = 200
SOME = ["DisparityMonitor", "DivExplorer", "FACTS", "FlipTest", "GroupDisparity", "KOSEI"]

rng = np.random.default_rng(0)
years = rng.integers(18, 80, N)
BINS = pd.Series(pd.cut(years, [17, 30, 45, 80]), name="age")
X = pd.DataFrame({"sex": rng.choice(["f", "m"], N), "points": rng.integers(0, 4, N), "age": BINS})
TEXT = X.assign(age=BINS.cat.rename_categories(str))
y = (X["points"] + 1.5 * (years < 40) + rng.normal(size=N) > 2).astype(int).to_numpy()


def middles(rows):
    """Return numbers of rows, which needs the intervals themselves."""
    assert rows["age"].dtype == BINS.dtype
    return pd.DataFrame({"age": [v.mid for v in rows["age"]], "points": rows["points"]})


def middles_of_text(rows):
    """Return the numbers that `middles` returns, of the texts of the intervals."""
    interval = {str(v): v for v in BINS.cat.categories}
    return middles(rows.assign(age=pd.Categorical(rows["age"].map(interval), dtype=BINS.dtype)))


def figures(result):
    return result.verdict, [(str(f.subject), f.effect, f.p_value) for f in result]


@pytest.mark.parametrize("protected", ["age", "sex"])
@pytest.mark.parametrize("name", SOME)
def test_detectors_find_what_they_find_among_texts(name, protected):
    detector = all_detectors()[name](**{**entry(name).settings, "protected": protected})
    if "random_state" in detector.get_params():
        detector.set_params(random_state=0)
    found = []
    for rows, read in ((TEXT, middles_of_text), (X, middles)):
        model = make_pipeline(FunctionTransformer(read), LogisticRegression()).fit(rows, y)
        result = detector.fit(rows, y, model).result_
        assert figures(AuditResult.from_json(result.to_json())) == figures(result)
        found.append((figures(result), figures(detector.audit(rows[::2], y[::2]))))
    assert found[0] == found[1]


def test_groups_are_found_in_the_rows_as_they_were_passed():
    result = DivExplorer(protected="age").fit(X, y).result_
    subject = result[0].subject
    np.testing.assert_array_equal(subject.mask(X), subject.mask(TEXT))
    assert 0 < subject.mask(X).sum() < N


def test_a_space_keeps_order_and_type_and_unused_bins():
    wide = BINS.cat.add_categories([pd.Interval(80, 99)])
    space = FeatureSpace.from_frame(wide.to_frame(), protected="age")
    assert space["age"].kind == "ordinal"
    assert space["age"].values == ("(17, 30]", "(30, 45]", "(45, 80]", "(80, 99]")
    codes = space.encode(wide.to_frame())
    pd.testing.assert_frame_equal(space.decode(codes), wide.to_frame())


def test_missing_bins_stay_missing():
    holes = BINS.where(years < 60).to_frame()
    space = FeatureSpace.from_frame(holes, protected="age")
    pd.testing.assert_frame_equal(space.decode(space.encode(holes)), holes)


@pytest.mark.slow
def test_audits_are_those_of_texts():
    audits = [Audit(protected="age", random_state=0).fit(rows, y).report_ for rows in (X, TEXT)]
    assert verify(audits[0].to_dict(), TEXT, y) == []
    assert audits[0].document["evidence"] == audits[1].document["evidence"]


def test_a_measure_of_bins():
    older = pd.cut(years, [17, 45, 80])
    text = older.rename_categories(str)
    assert mean_difference(y, y, protected=older) == mean_difference(y, y, protected=text)
