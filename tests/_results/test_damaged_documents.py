"""Documents that were damaged or made up are refused by a ValueError that names the place."""

import copy
import json
import random

import numpy as np
import pandas as pd
import pytest

from skdisc import AuditResult, Counts
from skdisc.datasets import make_loan
from skdisc.group import GroupDisparity
from skdisc.monitoring import DisparityMonitor
from skdisc.subgroup import DivExplorer

DEEP = ["[" * 600 + "]" * 600, '{"a":' * 600 + "1" + "}" * 600]
NO_DOCUMENTS = ["null", "3", "[]", '"a"', "{", "{}", *DEEP]
WRONG = (None, "x", -1, 1.5, [], {}, [None], [[1]], True, {"a": 1})


def places(value, at=()):
    """Yield the path of each part of a document."""
    yield at
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in parts:
        yield from places(part, (*at, name)) if isinstance(part, (dict, list)) else [(*at, name)]


def changed(document, at, value):
    document = copy.deepcopy(document)
    part = document
    for name in at[:-1]:
        part = part[name]
    part[at[-1]] = value
    return document


def damaged(document, n, seed=0):
    """Yield documents with one part changed."""
    rng, known = random.Random(seed), [at for at in places(document) if at]
    for _ in range(n):
        yield json.dumps(changed(document, rng.choice(known), rng.choice(WRONG)))


@pytest.mark.parametrize("detector", [GroupDisparity, DivExplorer])
def test_one_changed_value_of_a_result(detector):
    X, y = make_loan(200, random_state=0, return_X_y=True)
    document = json.loads(detector(protected="gender").fit(X, y).result_.to_json())
    n_read, told = 0, []
    for text in damaged(document, 60):
        try:
            result = AuditResult.from_json(text)
        except ValueError as error:
            told.append(str(error))
            continue
        n_read += 1
        result.to_frame(), result.to_json(), repr(result), result.metrics, result.without_people()
    assert n_read  # changes of texts and numbers that may be
    assert all(text.startswith(("result", "This is ")) for text in told)


@pytest.mark.parametrize("kind", [AuditResult, DisparityMonitor])
@pytest.mark.parametrize(
    "text",
    ["null", "3", "[]", '"a"', "{", "{}", "[" * 600 + "]" * 600, '{"a":' * 600 + "1" + "}" * 600],
)
def test_what_is_no_document(kind, text):
    with pytest.raises(ValueError, match=r"."):
        kind.from_json(text)


@pytest.mark.slow
def test_one_changed_value_of_a_state():
    rng, monitor = np.random.default_rng(0), DisparityMonitor(protected="sex")
    for _ in range(3):
        X = pd.DataFrame({"sex": rng.choice(["f", "m"], 100)})
        monitor.partial_fit(X, rng.random(100) < 0.5)
    document = json.loads(monitor.to_json())
    n_read = 0
    for text in damaged(document, 100):
        try:
            again = DisparityMonitor.from_json(text)
            n_read += 1
            again.partial_fit(X, rng.random(100) < 0.5).to_json()
        except ValueError:
            continue
    assert n_read


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: {**t, "n": [-1, *t["n"][1:]]}, "n must be numbers of people"),
        (lambda t: {**t, "n": [0.5, *t["n"][1:]]}, "n must be whole numbers"),
        (lambda t: {**t, "key 0": [10**6, *t["key 0"][1:]]}, "key 0 must be from 0 to"),
        (lambda t: {**t, "key 0": t["key 0"][::-1]}, "keys must increase"),
        (lambda t: {**t, "key 0": [t["key 0"][1], *t["key 0"][1:]]}, "keys must increase"),
        (lambda t: {"key 1": t["key 0"], **t}, "there are 2 keys"),
    ],
)
def test_impossible_counts(tmp_path, change, message):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "counts.parquet"
    Counts.of(pd.DataFrame({"a": [1, 2, 2], "b": list("xyx")})).to_parquet(path)
    table = pq.read_table(path)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    other = pa.table(change(columns)).replace_schema_metadata(table.schema.metadata)
    pq.write_table(other, path)
    with pytest.raises(ValueError, match=rf"counts.parquet: {message}"):
        Counts.read(path)


def test_damaged_schemas_of_counts(tmp_path):
    pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "counts.parquet"
    frame = pd.DataFrame({"a": range(20), "b": list("xy") * 10, "c": [0, 1] * 10})
    Counts.of(frame, protected="b", label="c").to_parquet(path)
    table = pq.read_table(path)
    schema = json.loads(table.schema.metadata[b"skdisc"])
    told = []
    for text in damaged(schema, 80):
        pq.write_table(table.replace_schema_metadata({"skdisc": text}), path)
        try:
            counts = Counts.read(path)
            counts.frame(), repr(counts), (counts + counts).codes
        except ValueError as error:
            told.append(str(error))
    assert told
    assert all("counts.parquet" in text for text in told)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"counts.parquet' cannot be read as Parquet"):
        Counts.read(path)
