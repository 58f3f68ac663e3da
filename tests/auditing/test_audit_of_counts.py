"""Audits of tables that are counted part by part: equal to those of the rows."""

import json
from itertools import islice

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from skdisc import Audit, BlackBox, Counts, Limits
from skdisc.auditing import verify

pytestmark = pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")  # Ibis with DuckDB 1.5
NAMES = ["sex", "race"]
COUNTING = ["GroupDisparity", "DivExplorer"]


def table(n=4000, seed=0):
    """Return people with a label and a decision; women of one town are hired less."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b"], n),
            "age": rng.integers(17, 90, n),
            "town": rng.choice(list("uvw"), n),
            "children": rng.integers(0, 3, n),
        }
    )
    label = rng.random(n) < 0.6 - 0.3 * ((X["sex"] == "F") & (X["town"] == "u"))
    decision = rng.random(n) < 0.2 + 0.5 * label
    return X.assign(
        **{"hired": np.where(label, "yes", "no"), "advice": np.where(decision, "yes", "no")}
    )


def everywhere(rows, folder):
    """Yield the table as every kind that is counted."""
    dd, duckdb, ibis, pl, pa = map(
        pytest.importorskip, ("dask.dataframe", "duckdb", "ibis", "polars", "pyarrow")
    )
    for i in range(4):
        rows.iloc[i::4].to_parquet(folder / f"{3 - i}.parquet")
    rows.to_csv(folder / "table.csv", index=False)
    with duckdb.connect(folder / "t.db") as connection:
        connection.execute(f"create table people as select * from '{folder}/*.parquet'")
    yield str(folder / "*.parquet")
    yield folder / "table.csv"
    yield f"duckdb:///{folder / 't.db'}::people"
    yield ibis.memtable(pa.Table.from_pandas(rows, preserve_index=False))
    yield pl.from_pandas(rows).lazy()
    yield dd.from_pandas(rows, npartitions=4)


def answers(report):
    """Return all of a document that does not say how the table was read."""
    document = json.loads(report.to_json())
    document["about"] = {
        n: v for n, v in document["about"].items() if n not in ("seconds", "counts")
    }
    document["limits"] = [text for text in document["limits"] if "reduced to counts" not in text]
    document["log"] = [line | {"seconds": None} for line in document["log"]]
    document["log"] = [line | {"n_queries": None} for line in document["log"]]
    del document["fingerprints"]
    return document


@pytest.mark.slow
@pytest.mark.every(4)
@pytest.mark.parametrize("detectors", [COUNTING, "auto"], ids=["counting", "auto"])
@pytest.mark.parametrize("audited", ["labels", "decisions"])
def test_the_audit_of_a_source_is_that_of_its_rows(tmp_path, audited, detectors):
    rows = table()
    rows = rows.drop(columns="advice") if audited == "labels" else rows
    how = {"protected": NAMES, "pos_label": "yes", "detectors": detectors}
    X, y = rows.drop(columns=["hired", "advice"], errors="ignore"), rows["hired"]
    model = BlackBox(decisions=rows["advice"]) if audited == "decisions" else None
    direct = answers(Audit(**how).fit(X, y, model).report_)
    assert direct["evidence"]
    hashes, sources = set(), everywhere(rows, tmp_path)
    if detectors == "auto":  # which takes long: half for labels, half for decisions
        sources = islice(sources, audited == "labels", None, 2)
    for source in sources:
        decided = None if audited == "labels" else "advice"
        report = Audit(**how).fit(source, "hired", decided).report_
        if detectors == COUNTING:
            assert answers(report) == direct
        else:  # all rows are the sample of detectors that need rows, in another order
            assert [v["verdict"] for v in report.document["verdicts"]] == [
                v["verdict"] for v in direct["verdicts"]
            ]
        hashes.add(report.document["fingerprints"]["data"])
        about = report.document["about"]
        assert about["counts"]["n_cells"] <= about["n_rows"] == len(rows)
        assert list(about["counts"]["edges"]) == ["age"]
        assert "reduced to counts" in report.to_text()
    assert len(hashes) == 1


@pytest.mark.slow
def test_counts_alone_leave_out_what_needs_rows():
    rows = table().drop(columns="advice")
    counts = Counts.of(rows, protected=NAMES, label="hired")
    report = Audit(protected=NAMES, detectors="all", pos_label="yes").fit(counts).report_
    reasons = {r["detector"]: r["reason"] for r in report.document["not_run"]}
    assert reasons["SituationTesting"] == "needs the rows of people, and there are only counts"
    assert not set(reasons) & set(COUNTING)
    with pytest.raises(ValueError, match="SituationTesting needs the rows of people"):
        Audit(protected=NAMES, detectors=["SituationTesting"], pos_label="yes").fit(counts)
    for given in ({"y": rows["hired"]}, {"model": lambda X: X}, {"sample_weight": [1]}):
        with pytest.raises(ValueError, match=f"An audit of counts takes no {next(iter(given))}"):
            Audit(protected=NAMES, pos_label="yes").fit(counts, **given)


@pytest.mark.slow
def test_detectors_that_need_rows_have_a_stated_sample(tmp_path):
    pytest.importorskip("pyarrow")
    table().drop(columns="advice").to_parquet(tmp_path / "people.parquet")
    settings = {"protected": "sex", "detectors": ["GroupDisparity", "SituationTesting"]}
    settings |= {"pos_label": "yes"}
    settings |= {"limits": Limits(rows=500)}
    report = Audit(**settings).fit(tmp_path, "hired").report_
    whole, sample = (report.results[name] for name in ("GroupDisparity sex", "SituationTesting"))
    assert (whole.n_samples, sample.n_samples) == (4000, 500)
    assert (whole.n_drawn_from, sample.n_drawn_from) == (None, 4000)
    told = " ".join(report.to_text().split())
    assert "SituationTesting cannot use counts, and examined 500 of 4,000 rows" in told
    again = Audit(**settings).fit(tmp_path, "hired").report_
    assert answers(again) == answers(report)


class Recording:
    """A model that counts what it is asked."""

    def __init__(self, names):
        self.names, self.asked = names, []

    def predict(self, X):
        """Decide by town, and keep the rows."""
        self.asked.append(X[self.names])
        return np.where(X["town"] == "u", "no", "yes")


@pytest.mark.slow
def test_a_model_is_asked_once_about_each_distinct_row(tmp_path):
    """Over all partitions, where the columns that it reads are counted value by value."""
    pytest.importorskip("pyarrow")
    rows, reads = table().drop(columns="advice"), ["sex", "race", "town", "children"]
    for i in range(4):
        rows.iloc[i::4].to_parquet(tmp_path / f"{i}.parquet")
    model = Recording(reads)
    model.feature_names_in_, model.classes_ = np.array(reads), np.array(["no", "yes"])
    audit = Audit(protected=NAMES, detectors=COUNTING, pos_label="yes")
    report = audit.fit(tmp_path, "hired", model).report_
    asked = pd.concat(model.asked)
    assert len(asked) == len(asked.drop_duplicates()) == len(rows[reads].drop_duplicates())
    X, y = rows.drop(columns="hired"), rows["hired"]
    direct = Audit(protected=NAMES, detectors=COUNTING, pos_label="yes").fit(X, y, model)
    assert answers(report)["evidence"] == answers(direct.report_)["evidence"]


def test_a_cache_and_a_model_that_cannot_be_pickled(tmp_path):
    """Decisions are counted again, as nothing tells it from another; the first pass is kept."""
    pytest.importorskip("pyarrow")
    table().drop(columns="advice").to_parquet(tmp_path / "people.parquet")
    how = {"protected": "sex", "detectors": COUNTING, "pos_label": "yes"}
    how["cache"] = str(tmp_path / "cache")
    people = tmp_path / "people.parquet"
    for least in (50, 30):
        model = lambda X: np.where(X["age"] > least, "yes", "no")  # noqa: E731, B023
        groups = Audit(**how).fit(people, "hired", model).report_.document["groups"]
        rate = next(g["rate"] for g in groups if g["measure"] == "selection_rate")
        assert rate == pytest.approx((89 - least) / 73, abs=0.05)
    assert len(list((tmp_path / "cache" / "counts").iterdir())) == 1


@pytest.mark.slow
def test_a_model_is_searched_and_audited_from_a_source(tmp_path):
    pytest.importorskip("pyarrow")
    rows = table().drop(columns="advice")
    X, y = rows.drop(columns=["hired", "age"]), rows["hired"]
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X, y)
    rows.drop(columns="age").to_parquet(tmp_path / "people.parquet")
    how = {"protected": NAMES, "limits": Limits(tests=200), "pos_label": "yes"}
    report = Audit(**how).fit(tmp_path, "hired", model).report_
    direct = Audit(**how).fit(X, y, model).report_
    assert report.document["about"]["audited"] == "model"
    found = [{v["null"]: v["verdict"] for v in r.document["verdicts"]} for r in (report, direct)]
    assert found[0] == found[1]
    with pytest.raises(ValueError, match="cannot train a model"):
        Audit(LogisticRegression(), protected=NAMES).fit(tmp_path, "hired")
    with pytest.raises(TypeError, match="y of a table that is read part by part is the name"):
        Audit(protected=NAMES).fit(tmp_path, y)


def test_billions_of_people_take_the_memory_of_their_rows():
    rows = table(1000)
    X, y = rows[["sex", "town"]], (rows["hired"] == "yes").to_numpy()
    people = np.full(len(rows), 10**7)
    how = {"protected": "sex", "detectors": COUNTING, "weights": "frequency"}
    report = Audit(**how).fit(X, y, sample_weight=people).report_
    assert report.document["about"]["n_rows"] == 10**10
    assert (
        sum(g["n"] for g in report.document["groups"] if g["measure"] == "selection_rate") == 10**10
    )


@pytest.mark.slow
def test_verify_counts_again_wherever_the_table_lies(tmp_path):
    rows = table().drop(columns="advice")
    how = {"protected": NAMES, "detectors": COUNTING, "pos_label": "yes"}
    for i, source in enumerate(everywhere(rows, tmp_path)):
        if not i:
            document = Audit(**how).fit(source, "hired").report_.to_dict()
        else:
            assert verify(document, source, "hired") == []
    other = rows.assign(hired=np.where(rows.index == 7, "no", rows["hired"]))
    assert rows["hired"][7] == "yes"
    other.to_csv(tmp_path / "other.csv", index=False)
    differences = verify(document, tmp_path / "other.csv", "hired")
    assert any(line.startswith("verdicts[0].effect") for line in differences)
    moved = rows[["town", "hired", "children", "race", "age", "sex"]]
    moved.to_csv(tmp_path / "moved.csv", index=False)
    assert verify(document, tmp_path / "moved.csv", "hired") == []
    with pytest.raises(ValueError, match="The table was counted"):
        verify(document, rows.drop(columns="hired"), rows["hired"])


def test_published_counts_of_billions():
    groups = {"attribute": "sex", "group": ["F", "M"], "n": [9 * 10**9, 11 * 10**9]}
    report = Audit.from_counts(groups | {"selected": [18 * 10**8, 44 * 10**8]})
    assert report.document["about"]["n_rows"] == 2 * 10**10
    assert report.verdict == "disparity found"
