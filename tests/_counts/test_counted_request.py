"""Detectors fitted to counts: equal to those fitted to the rows."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skdisc import BlackBox, Counts, subgroup
from skdisc.group import GroupDisparity
from skdisc.individual import SituationTesting

NAMES = ["sex", "race"]
DETECTORS = [
    GroupDisparity(protected=NAMES),
    subgroup.DivExplorer(protected=NAMES, min_support=0.02),
    subgroup.DivExplorer(protected=NAMES, metric="all", versus="everyone", order="effect"),
    subgroup.SliceLine(protected=NAMES),
    subgroup.SliceFinder(protected=NAMES),
    subgroup.DiscriminatoryRules(protected=NAMES),
    subgroup.DiscriminationPatterns(protected=NAMES),
]
NEITHER = ("total_time", "params", "n_queries")  # time, bins, and distinct rows queried


def table(n=3000, seed=0):
    """Return people with numbers, missing values, a label and a decision."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "race": rng.choice(["a", "b", None], n, p=[0.6, 0.37, 0.03]),
            "age": rng.integers(17, 90, n),
            "income": np.where(rng.random(n) < 0.05, np.nan, rng.lognormal(10, 1, n).round(-3)),
            "town": rng.choice(list("uvw"), n),
            "old": rng.random(n) < 0.3,
            "children": rng.integers(0, 3, n),
        }
    )
    label = (rng.random(n) < 0.5 - 0.2 * ((X["sex"] == "F") & (X["town"] == "u"))).astype(int)
    return X.assign(label=label, decision=(rng.random(n) < 0.3 + 0.3 * label).astype(int))


def document(result):
    """Return all of a result that counts determine; of shared values not the order of ties."""
    found = {k: v for k, v in json.loads(result.to_json()).items() if k not in NEITHER}
    shared = found["shared_values"]
    return {**found, "shared_values": {name: sorted(shared[name], key=str) for name in shared}}


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda d: type(d).__name__)
@pytest.mark.parametrize("audited", ["labels", "decisions"])
def test_fit_to_counts_equals_fit_to_rows(detector, audited):
    """Findings, tables, p-values and the verdict are equal, bit for bit."""
    rows = table()
    if audited == "labels":
        rows = rows.drop(columns="decision")
        if detector.get_params().get("metric") == "all":
            pytest.skip("needs decisions")
    ends = {"label": "label", "decision": "decision" if audited == "decisions" else None}
    counts = Counts.of(rows, protected=NAMES, **ends)
    X = rows.drop(columns=[c for c in ends.values() if c])
    model = BlackBox(decisions=rows["decision"]) if audited == "decisions" else None
    direct = detector.fit(X, rows["label"], model).result_
    assert len(direct) or audited == "decisions"
    assert document(detector.fit(counts).result_) == document(direct)


@pytest.mark.slow
@given(cuts=st.lists(st.integers(1, 599), max_size=4, unique=True), seed=st.integers(0, 9))
@settings(max_examples=20, deadline=None)
def test_parts_in_any_order_give_equal_results(cuts, seed):
    """Counts of parts, added up in another order, give the result of the rows."""
    rows = table(600, seed).drop(columns="decision")
    schema = Counts.of(rows, protected=NAMES, label="label").schema
    parts = [rows.iloc[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 600], strict=True)]
    counts = Counts.sum(Counts.of(part, schema=schema) for part in reversed(parts))
    detector = subgroup.DivExplorer(protected=NAMES)
    direct = detector.fit(rows.drop(columns="label"), rows["label"]).result_
    assert document(detector.fit(counts).result_) == document(direct)


def test_file_and_saved_counts_give_equal_results(tmp_path):
    """A Parquet file, and counts written and read again."""
    pytest.importorskip("pyarrow")
    rows = table().drop(columns="decision")
    rows.to_parquet(tmp_path / "people.parquet")
    counts = Counts.of(tmp_path / "people.parquet", protected=NAMES, label="label")
    counts.to_parquet(tmp_path / "counts.parquet")
    detector = subgroup.DivExplorer(protected=NAMES)
    direct = document(detector.fit(rows.drop(columns="label"), rows["label"]).result_)
    assert document(detector.fit(counts).result_) == direct
    assert document(detector.fit(Counts.read(tmp_path / "counts.parquet")).result_) == direct


def test_audit_of_other_counts_measures_again():
    """New counts in the bins of fit are measured as their rows are; other bins are refused."""
    old, new = (table(seed=s).drop(columns="decision") for s in (0, 1))
    counts = Counts.of(old, protected=NAMES, label="label")
    detector = subgroup.DivExplorer(protected=NAMES).fit(counts)
    again = detector.audit(Counts.of(new, schema=counts.schema))
    assert document(again) == document(detector.audit(*_rows_as_binned(new)))
    with pytest.raises(ValueError, match="binned otherwise"):
        detector.audit(Counts.of(new, protected=NAMES, label="label"))


def _rows_as_binned(rows):
    return rows.drop(columns="label"), rows["label"]


@pytest.mark.parametrize("detector", [DETECTORS[0], DETECTORS[1]], ids=lambda d: type(d).__name__)
def test_billions_of_people(detector):
    """Ten billion people take the memory of their cells."""
    counts = Counts.of(table(), protected=NAMES, label="label", columns=["sex", "race", "town"])
    many = Counts(counts.schema, counts.keys, counts.n * 10**7)
    assert detector.fit(many).result_.n_samples == 3 * 10**10


def test_what_counts_cannot_do_is_said():
    """Rows that are needed, outcomes given twice, and models that cannot be asked."""
    counts = Counts.of(table(), protected=NAMES, label="label")
    with pytest.raises(TypeError, match="SituationTesting, as it is set, needs the rows"):
        SituationTesting(protected="sex").fit(counts)
    with pytest.raises(ValueError, match="GroupDisparity got y besides"):
        GroupDisparity(protected="sex").fit(counts, np.zeros(3))
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(ValueError, match="can't be asked about Counts"):
        GroupDisparity(LogisticRegression(), protected="sex").fit(counts)


def test_no_number_of_a_person_stands_for_the_highest_bin():
    """The number of the highest bin is none that occurs."""
    rows = table()
    counts = Counts.of(rows, protected=["sex", "age"], label="label")
    assert counts.frame()["age"].max() not in set(rows["age"])


@pytest.mark.slow
@pytest.mark.parametrize("world", ["planted", "noise"])
def test_permuted_errors_of_counts_give_the_p_values_of_rows(world):
    """Permutations are drawn anew for people of cells, so that p-values agree but for chance."""
    rows = table()[["sex", "race", "town", "label"]]
    if world == "noise":
        rows["label"] = np.random.default_rng(1).integers(0, 2, len(rows))
    counts = Counts.of(rows, protected=NAMES, label="label")
    more = {"versus": "everyone", "alpha": 0.99, "n_permutations": 199, "random_state": 0}
    detector = subgroup.SliceLine(protected=NAMES, **more)
    direct = detector.fit(rows.drop(columns="label"), rows["label"]).result_.findings
    found = detector.fit(counts).result_.findings
    assert found.subgroups == direct.subgroups
    found, direct = found.table, direct.table
    assert len(found)
    np.testing.assert_array_equal(found["slice_score"], direct["slice_score"])
    np.testing.assert_allclose(found["p_adjusted"], direct["p_adjusted"], atol=0.15)
    assert (found["p_adjusted"][0] == 0.005) == (world == "planted")
    with pytest.raises(TypeError, match="needs the rows of people"):
        detector.set_params(errors="loss").fit(counts)
