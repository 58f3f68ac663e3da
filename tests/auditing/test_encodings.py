"""The same table in several encodings: one report, but for how values are spelled."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from skdisc import Audit
from skdisc._results._shared_values import SharedValues
from skdisc.cli import main

CODED = ["minority", "union"]


def coded(n, share, gap, seed=0):
    """Return people with two columns of 0 and 1, each with a few missing cells, and outcomes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"minority": rng.random(n) < share, "union": rng.random(n) < 0.5}, dtype=float)
    y = np.where(rng.random(n) < 0.5 + gap * X["minority"], "yes", "no")
    X.loc[[0, 7, 11], "minority"] = X.loc[::90, "union"] = np.nan
    return X.assign(score=rng.normal(50, 10, n).round(1)), y


def as_objects(column, kind):
    values = [None if pd.isna(v) else kind(v) for v in column]
    return pd.Series(values, index=column.index, dtype=object)


ENCODINGS = {
    "float": lambda c: c,
    "float32": lambda c: c.astype("float32"),
    "Int64": lambda c: c.astype("Int64"),
    "boolean": lambda c: c.astype("boolean"),
    "category of floats": lambda c: c.astype("category"),
    "category of ints": lambda c: as_objects(c, int).astype("category"),
    "text": lambda c: as_objects(c, lambda v: str(int(v))),
    "text of floats": lambda c: as_objects(c, str),
    "object of ints": lambda c: as_objects(c, int),
    "object of bools": lambda c: as_objects(c, bool),
}


def tables(X):
    frames = {
        name: X.assign(**{c: encode(X[c]) for c in CODED}) for name, encode in ENCODINGS.items()
    }
    yield from frames.items()
    yield "polars", pytest.importorskip("polars").from_pandas(frames["Int64"])
    yield "Arrow", pytest.importorskip("pyarrow").Table.from_pandas(X, preserve_index=False)


def files(X, folder):
    """Yield the paths of a table in several kinds of file."""
    for kind, write in (("csv", X.to_csv), ("parquet", X.to_parquet), ("xlsx", X.to_excel)):
        path = folder / f"people.{kind}"
        write(path, index=False)
        yield path


def answers(document):
    """Return a document without what is not an answer, with one spelling of 0 and 1."""
    for name in ("skdisc", "fingerprints", "settings", "code", "source"):
        document.pop(name, None)
    for row in (document["about"], *document["log"]):
        del row["seconds"]
    text = json.dumps(document, indent=1)
    for one, spelled in (("1", "1|1.0|True"), ("0", "0|0.0|False")):
        pattern = rf"({'|'.join(CODED)})( ?= ?)'?(?:{spelled})'?(?![\w'])(?!\.\d)"
        text = re.sub(pattern, rf"\1\g<2>{one}", text)
    return text


@pytest.mark.slow
@pytest.mark.parametrize(("n", "share", "gap"), [(2000, 0.5, -0.2), (430, 0.13, -0.05)])
def test_a_report_is_the_same_for_every_encoding(n, share, gap):
    X, y = coded(n, share, gap)
    how = {"protected": "minority", "pos_label": "yes", "random_state": 0}
    audit = Audit(**how, detectors=["GroupDisparity", "DivExplorer"])
    several = {
        name: answers(json.loads(audit.fit(table, y).report_.to_json()))
        for name, table in tables(X)
    }
    first = several["float"]
    assert [name for name, text in several.items() if text != first] == []
    document = json.loads(first)
    shown = {row["group"]: row["n"] for row in document["groups"]}
    with_missing = X["minority"].fillna(X["minority"].mode()[0])  # few count with the largest group
    assert shown["minority = 1"] == (with_missing == 1).sum()
    assert not any(
        "groups of fewer than 10 people are open" in v["reason"] for v in document["verdicts"]
    )
    if n == 2000:
        assert document["verdicts"][0]["group"] == "minority = 1"
        assert "minority = 1" in {row["group"] for row in document["evidence"]}


def test_the_command_answers_alike_whatever_the_kind_of_file(tmp_path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    X, y = coded(2000, 0.5, -0.2)
    several = {}
    for path in files(X.assign(hired=y), tmp_path):
        report = tmp_path / "report.json"
        options = ["--target=hired", "--favorable=yes", "--protected=minority"]
        main(["audit", str(path), *options, f"--report={report}", "--detectors=GroupDisparity"])
        document = json.loads(report.read_text(encoding="utf-8"))
        several[path.suffix] = answers(document), document["verdicts"][0]["group"]
    assert [kind for kind, answer in several.items() if answer != several[".csv"]] == []
    assert several[".csv"][1].startswith("minority = 1")


@pytest.mark.parametrize("values", [[1.0], [1], [np.float64(1)]])
def test_a_value_is_known_however_a_text_spells_it(values):
    known = SharedValues({"g": values})
    for text in ("g = 1; too few", "g = 1.0: 3 of 5", "(g = 1)", "g = 1, g=1.", "g in {1, 1.0}"):
        assert known.describe(text), text
    for text in ("g = 10;", "g = 1.5", "g = '1'", "g = -1", "g = True", "g in {1, 2}", "g = 1x"):
        assert not known.describe(text), text


def test_the_beginning_of_a_value_is_not_the_value():
    known = SharedValues({"race": ["Black", "New Zealander"]})
    assert known.describe("race=Black: 3 of 5, race=New Zealander and sex=F")
    assert not known.describe("race=Black Caribbean: 1 of 2")
