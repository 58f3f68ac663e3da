"""Every detector takes a table that is not in memory: counted, or a stated sample of its rows."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils import check_random_state
from smallest import smallest
from tables_anywhere import everywhere

from skdisc import Audit, BlackBox, Counts, Limits, all_detectors
from skdisc._counts import _counted_table
from skdisc._counts._counted_table import SourceRows
from skdisc._counts._sources import source_of
from skdisc.auditing import verify
from skdisc.group import GroupDisparity
from skdisc.report._first_page import first_page

pytest.importorskip("pyarrow")
SEED = check_random_state(0).randint(2**31)
SAMPLING = [
    n
    for n, d in sorted(all_detectors().items())
    if "rows" in d.limit_fields and not d()._counts_rows
]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Return a folder with a table in parts, and a model of it."""
    rng, n = np.random.default_rng(0), 400
    frame = pd.DataFrame({"sex": rng.choice(["F", "M"], n), "town": rng.choice(list("abc"), n)})
    frame["points"] = rng.integers(0, 4, n)
    better = frame["points"] + 2 * (frame["sex"] == "M") + rng.normal(0, 1, n) > 2.5
    frame["hired"] = np.where(better, "yes", "no")
    folder = tmp_path_factory.mktemp("people")
    for i in range(3):
        frame.iloc[i::3].to_parquet(folder / f"{i}.parquet")
    columns = make_column_transformer((OneHotEncoder(), ["sex", "town"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression())
    return folder, model.fit(frame.drop(columns="hired"), frame["hired"])


def make(name, **more):
    return smallest(name, protected=["sex"], random_state=0, pos_label="yes", **more)


def found(result):
    """Return all of a result but time, notes, and what its rows were drawn from."""
    document = json.loads(result.to_json())
    if document.get("last_shown"):
        document["last_shown"] = found(result.last_shown)
    del document["total_time"], document["n_drawn_from"], document["discovery"]["notes"]
    document["discovery"]["tables"].pop("curve", None)  # of the search over time
    return document


@pytest.mark.every(6)
@pytest.mark.parametrize("name", sorted(all_detectors()))
def test_every_detector_takes_a_source(name, people):
    folder, model = people
    fitted = make(name).fit(folder, "hired", model)
    assert fitted.result_.n_samples == 400
    assert fitted.result_.n_drawn_from is None
    if not fitted._counts_rows:
        rows = SourceRows.read(folder, "hired").sample(400, ["sex"], SEED)
        assert found(fitted.result_) == found(make(name).fit(rows.X, rows.y, model).result_)


@pytest.mark.parametrize("name", SAMPLING)
def test_detectors_that_need_rows_draw_them_from_the_source(name, people):
    folder, model = people
    result = make(name, limits=Limits(rows=150)).fit(folder, "hired", model).result_
    rows = SourceRows.read(folder, "hired").sample(150, ["sex"], SEED)
    direct = make(name, limits=Limits(rows=150)).fit(rows.X, rows.y, model).result_
    assert found(result) == found(direct)
    assert (result.n_samples, result.n_drawn_from) == (150, 400)
    told = [note for note in result.notes if note not in direct.notes]
    assert len(told) == 1
    assert told[0].startswith("150 of 400 rows were used (limits.rows): a random sample")
    assert "of every group of sex" in told[0]


@pytest.mark.parametrize("pos_label", [0, 1])
def test_decisions_of_a_model_without_classes_are_counted_as_they_are(pos_label, tmp_path):
    X = pd.DataFrame({"sex": list("fmfmfm") * 10, "points": [0, 1, 1, 1, 0, 0] * 10})
    X.to_parquet(tmp_path / "people.parquet")
    box = BlackBox(lambda rows: rows["points"].to_numpy())
    detector = GroupDisparity(protected="sex", pos_label=pos_label)
    counted = detector.fit(tmp_path, model=box).result_.tables["family"]
    pd.testing.assert_frame_equal(
        counted, clone(detector).fit(X, model=box).result_.tables["family"]
    )
    assert abs(counted["estimate"].iloc[0]) == pytest.approx(1 / 3)


@pytest.fixture
def few_cells(monkeypatch):
    monkeypatch.setattr(_counted_table, "MOST_CELLS", 20)
    monkeypatch.setattr(_counted_table, "_COUNTED", 100)


@pytest.mark.parametrize("with_model", [False, True])
@pytest.mark.parametrize("name", ["GroupDisparity", "DivExplorer", "DisparityPursuit"])
def test_of_a_table_with_too_many_cells_a_sample_is_counted(name, with_model, people, few_cells):
    folder, model = people
    model = model if with_model else None
    fitted = make(name).fit(folder, "hired", model)
    result = fitted.result_
    assert (result.n_samples, result.n_drawn_from) == (100, 400)
    (note,) = (n for n in result.notes if "400 rows were used" in n)
    assert note.startswith("100 of 400 rows were used (the table has more than 20 combinations")
    drawn = source_of(folder).sample(100, ["sex"], SEED)
    schema = SourceRows.read(folder, "hired").schema(["sex"], getattr(fitted, "n_bins", 4))
    decide = {} if model is None else {"decide": model.predict}
    counts = Counts.of(drawn, schema=schema, **decide)
    assert found(result) == found(make(name).fit(counts).result_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask 2026.8 with pandas 3.1
def test_a_sample_is_counted_wherever_the_table_lies(people, few_cells, tmp_path):
    frame = pd.read_parquet(people[0])
    for name, table in everywhere(frame, tmp_path, 90):
        result = make("GroupDisparity").fit(table, "hired").result_
        assert result.n_samples == 100, name
        assert sum("100 of 400 rows were used (the table" in n for n in result.notes) == 1


def test_an_audit_of_a_table_with_too_many_cells(people, few_cells):
    """It says so, its other detectors draw from all rows, and it can be verified."""
    folder, model = people
    names = ["GroupDisparity", "DivExplorer", "KOSEI"]
    settings = {"KOSEI": {"limits": {"tests": 20}}}
    how = {"settings": settings, "limits": Limits(rows=150), "pos_label": "yes", "random_state": 0}
    audit = Audit(protected=["sex"], detectors=names, **how)
    document = audit.fit(folder, "hired", model).report_.document
    limits = " ".join(document["limits"])
    assert "100 of 400 rows were used (the table has more than 20 combinations of" in limits
    assert "KOSEI cannot use counts, and examined 150 of 400 rows" in limits
    assert "GroupDisparity" not in limits
    (paragraph,) = first_page(document)["columns"]
    assert paragraph["more"][-2:] == [
        "For gaps between whole groups, gaps in smaller groups and gaps at equal scores, 100 of "
        "400 people were drawn by chance and examined.",
        "For comparisons of single people, 150 of 400 people were drawn by chance and examined.",
    ]
    assert dict(paragraph["lines"])["People"].startswith("100")
    assert dict(paragraph["lines"])["People"].endswith("people, 150 drawn by chance")
    assert document["about"]["n_rows"] == 100
    assert verify(document, folder, "hired", model) == []


@pytest.mark.parametrize(("rows", "used"), [(None, 150), (200, 200), (math.inf, 400)])
def test_an_infinite_limit_draws_all_rows(people, monkeypatch, rows, used):
    monkeypatch.setattr(_counted_table, "SAMPLE", 150)
    folder, _ = people
    limits = None if rows is None else Limits(rows=rows)
    fitted = make("FlipTest", limits=limits).fit(folder, "hired")
    assert fitted.result_.n_samples == used
    asked = {"detectors": ["GroupDisparity", "FlipTest"], "pos_label": "yes", "limits": limits}
    document = Audit(protected="sex", random_state=0, **asked).fit(folder, "hired").report_.document
    examined = f"FlipTest cannot use counts, and examined {used} of 400 rows"
    assert (examined in " ".join(document["limits"])) == (used < 400)
