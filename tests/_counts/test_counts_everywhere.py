"""Adult and ACS: detectors give one result from rows, counts, and every source, bit for bit."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier
from tables_anywhere import cells

from skdisc import BlackBox, Counts, subgroup
from skdisc.group import GroupDisparity

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:fetch_:DeprecationWarning")]
NEITHER = ("total_time", "params", "n_queries")
TABLES = {
    "adult": (["sex", "race"], "income", ["fnlwgt", "split"]),
    "acs_income": (["SEX", "RAC1P"], "PINCP", ["POBP", "OCCP", "split"]),
}


def detectors(protected, favorable):
    """Return the detectors that count rows."""
    several = [
        subgroup.DivExplorer,
        subgroup.SliceLine,
        subgroup.SliceFinder,
        subgroup.DiscriminatoryRules,
        subgroup.DiscriminationPatterns,
    ]
    return [d(protected=protected, pos_label=favorable) for d in (GroupDisparity, *several)]


def document(result, counts):
    """Return all of a result that counts determine: not the values in bins, nor orders of ties."""
    found = {k: v for k, v in json.loads(result.to_json()).items() if k not in NEITHER}
    shared = {n: v for n, v in found["shared_values"].items() if n not in counts.schema.edges}
    return {**found, "shared_values": {name: sorted(shared[name], key=str) for name in shared}}


def everywhere(rows, folder):
    """Yield the table as every kind of source, in another order and another division each."""
    dd, duckdb, _, pl = map(pytest.importorskip, ("dask.dataframe", "duckdb", "ibis", "polars"))
    place = np.random.default_rng(0).integers(0, 5, len(rows))
    for i in range(5):
        rows[place == i].to_parquet(folder / f"{i}.parquet", row_group_size=20_000)
    with duckdb.connect(folder / "t.db") as connection:
        connection.execute(f"create table people as select * from '{folder}/*.parquet'")
    mixed = rows.sample(frac=1, random_state=0)
    yield "frame", mixed
    yield "folder", folder
    yield "pattern", str(folder / "*.parquet")
    yield "polars", pl.from_pandas(mixed).lazy()
    yield "DuckDB", f"duckdb:///{folder / 't.db'}::people"
    yield "Dask", dd.read_parquet(folder, index=False, split_row_groups=True)


@pytest.fixture(scope="module")
def workers():
    """A local cluster of four workers, which Dask uses while it is there."""
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    options = {"n_workers": 4, "threads_per_worker": 1, "dashboard_address": None}
    with warnings.catch_warnings(), dask.config.set({"logging.distributed": "critical"}):
        warnings.simplefilter("ignore")
        with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
            yield client


@pytest.mark.parametrize("name", TABLES)
def test_results_are_equal_from_everywhere(name, load, tmp_path, workers):
    """Counts are equal from all sources, and what detectors find in them is what rows have."""
    protected, label, without = TABLES[name]
    rows = load(name).drop(columns=without)
    codes = rows.drop(columns=label).apply(lambda column: pd.factorize(column, sort=True)[0])
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(codes, rows[label])
    rows["decision"] = tree.predict(codes)
    ends = {"label": label, "decision": "decision"}
    by_source = {
        kind: Counts.of(source, protected=protected, **ends)
        for kind, source in everywhere(rows, tmp_path)
    }
    counts = by_source["frame"]
    for kind, found in by_source.items():
        assert cells(found) == cells(counts), kind
    assert len(workers.scheduler_info()["workers"]) == 4
    assert counts.n_people == len(rows)
    X, given = rows.drop(columns=ends.values()), BlackBox(decisions=rows["decision"])
    favorable = max(rows[label].unique().tolist())
    for detector in detectors(protected, favorable):
        direct = document(detector.fit(X, rows[label], given).result_, counts)
        assert direct["discovery"]["n_tested"] > 0
        assert document(detector.fit(counts).result_, counts) == direct, type(detector).__name__
    counts = counts.undecided()
    detector = subgroup.DivExplorer(protected=protected, pos_label=favorable)
    direct = document(detector.fit(X, rows[label]).result_, counts)
    assert document(detector.fit(counts).result_, counts) == direct
