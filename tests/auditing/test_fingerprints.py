"""Fingerprints: equal for equal values, however they are stored, and different for others."""

import io
import re
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc import Audit, BlackBox, __version__
from skdisc._counts._counts import Counts
from skdisc._counts._profile import Profile
from skdisc._utils._tables import read_table
from skdisc.auditing._fingerprints import (
    code_fingerprint,
    counts_fingerprint,
    data_fingerprint,
    model_fingerprint,
    settings_fingerprint,
)


def people(n=60, seed=0):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "sex": draw.choice(["f", "m"], n),
            "age": draw.integers(18, 80, n),
            "income": draw.normal(30_000, 9_000, n),
            "share": draw.random(n),
            "member": draw.random(n) < 0.5,
            "zip": draw.choice(["A-1", "01234", "99", "B"], n),
            "note": draw.choice(["<b>", "=1+1", "ü, \u00a0;", "None"], n),
        }
    )
    frame.loc[3, "share"] = np.nan
    frame.loc[5, "note"] = None
    return frame


HOW = {
    "CSV": lambda frame, path: frame.to_csv(path.with_suffix(".csv"), index=False),
    "CSV, packed": lambda frame, path: frame.to_csv(path.with_suffix(".csv.gz"), index=False),
    "Parquet": lambda frame, path: frame.to_parquet(path.with_suffix(".parquet")),
}


@pytest.mark.parametrize("how", HOW)
def test_the_file_format_does_not_matter(tmp_path, how):
    frame = people()
    HOW[how](frame, tmp_path / "people")
    (path,) = tmp_path.iterdir()
    assert data_fingerprint(read_table(path).frame) == data_fingerprint(frame)


def as_text(frame):
    return frame.map(lambda v: v if pd.isna(v) else str(v))


SAME = {
    "other order of rows": lambda f: f.sample(frac=1, random_state=1),
    "other order of columns": lambda f: f[list(f)[::-1]],
    "another index": lambda f: f.set_axis([f"p{i}" for i in range(len(f))]),
    "objects": lambda f: f.astype(object),
    "categories": lambda f: f.astype("category"),
    "nullable dtypes": lambda f: f.convert_dtypes(),
    "whole numbers as floats": lambda f: f.assign(age=f["age"].astype(float)),
    "small integers": lambda f: f.assign(age=f["age"].astype("int8")),
    "text": as_text,
    "text and numbers in one column": lambda f: f.assign(
        zip=f["zip"].astype(object).map(lambda v: 99 if v == "99" else v)
    ),
    "columns of Arrow": lambda f: f.convert_dtypes(dtype_backend="pyarrow"),
}


@pytest.mark.parametrize("change", SAME)
def test_the_way_of_reading_does_not_matter(change):
    frame = people()
    assert data_fingerprint(SAME[change](frame)) == data_fingerprint(frame)


def cell(column, value):
    def change(frame):
        frame = frame.astype({column: object})
        frame.loc[7, column] = value
        return frame

    return change


def swapped(frame):
    """Exchange two people's values of one column: every column keeps its values."""
    frame = frame.sort_values("age", ignore_index=True)
    frame.loc[[0, len(frame) - 1], "age"] = frame.loc[[len(frame) - 1, 0], "age"].to_numpy()
    return frame


OTHER = {
    "one number": cell("age", 17),
    "the last digit": cell("share", np.nextafter(people().loc[7, "share"], 1)),
    "one text": cell("zip", "C"),
    "a missing value": cell("sex", None),
    "a leading zero": lambda f: f.replace({"zip": {"01234": "1234"}}),
    "True becomes 1": lambda f: f.assign(member=f["member"].astype(int)),
    "a repeated row": lambda f: pd.concat([f, f.iloc[[9]]]),
    "a row less": lambda f: f.iloc[1:],
    "a renamed column": lambda f: f.rename(columns={"age": "years"}),
    "two columns exchanged": lambda f: f.rename(columns={"sex": "zip", "zip": "sex"}),
    "two people's ages exchanged": swapped,
    "a column more": lambda f: f.assign(more=1),
}


@pytest.mark.parametrize("change", OTHER)
def test_any_other_value_is_seen(change):
    frame = people()
    assert data_fingerprint(OTHER[change](frame)) != data_fingerprint(frame)


@pytest.mark.parametrize("role", ["y", "decisions", "sample_weight", "groups"])
def test_what_belongs_to_the_rows_counts(role):
    frame = people()
    values = pd.Series(np.arange(len(frame)) % 3)
    one = data_fingerprint(frame, **{role: values})
    assert one == data_fingerprint(frame, **{role: values.astype(float).tolist()})
    order = np.random.default_rng(0).permutation(len(frame))
    assert one == data_fingerprint(frame.iloc[order], **{role: values.to_numpy()[order]})
    assert one != data_fingerprint(frame)
    assert one != data_fingerprint(frame.iloc[order], **{role: values})
    assert one != data_fingerprint(frame, other=values)
    with pytest.raises(ValueError, match=f"{role} has 60 rows, but X has 59"):
        data_fingerprint(frame.iloc[1:], **{role: values})


cells = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.floats(allow_nan=False),
    st.sampled_from(["1", "1.0", "01", "-0", "1e3", "", "inf", "True", "9" * 6000, "\ud800"]),
    st.text(max_size=3),
)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6), st.randoms())
def test_any_table_has_a_fingerprint_whatever_its_order(rows, random):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    shuffled = random.sample(rows, len(rows))
    again = pd.DataFrame([r[::-1] for r in shuffled], columns=["b", "a"], dtype=object)
    assert data_fingerprint(frame) == data_fingerprint(again)


numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(2**53 - 3, 2**53 + 3),
    st.floats(allow_nan=False),
    st.sampled_from([0.0, -0.0, 0, 2**63, 2**64 - 1, -(2**63), 10**400, 2.0**64, 1e300]),
)


@given(numbers, numbers)
def test_numbers_are_told_apart_as_python_does_in_every_dtype(one, other):
    def mark(value, dtype):
        return data_fingerprint(pd.DataFrame({"a": pd.Series([value], dtype=dtype)}))

    assert (mark(one, object) == mark(other, object)) == (one == other)
    dtypes = ["float64", "Float64"] if isinstance(one, float) else []
    if isinstance(one, int):
        kinds = {"int64": (-(2**63), 2**63), "uint64": (0, 2**64), "Int64": (-(2**63), 2**63)}
        dtypes = [kind for kind, (low, high) in kinds.items() if low <= one < high]
    assert {mark(one, dtype) for dtype in dtypes} <= {mark(one, object)}


def test_numbers_are_not_read_one_by_one(monkeypatch):
    """600,000 numbers took 2.5 s when each was written as text."""
    seen = []
    monkeypatch.setattr("skdisc.auditing._fingerprints._canonical", lambda v: seen.append(v) or "")
    draw = np.random.default_rng(0)
    data_fingerprint(pd.DataFrame({"a": draw.normal(size=50), "b": np.arange(50), "c": np.nan}))
    assert not seen


@given(
    st.lists(
        st.one_of(st.none(), st.floats(width=32, allow_nan=False)),
        min_size=1,
        max_size=5,
    )
)
def test_narrow_floats_are_those_of_a_file(values):
    frame = pd.DataFrame({"x": np.array(values, dtype=np.float32), "n": 1})
    text = io.StringIO(frame.to_csv(index=False))
    exact = {"float_precision": "round_trip"} if pd.__version__ < "3" else {}  # there by default
    read = pd.read_csv(text, **exact)
    assert data_fingerprint(read) == data_fingerprint(frame)


def test_a_model_is_its_file(tmp_path):
    file = tmp_path / "model.skops"
    file.write_bytes(b"a model")
    assert model_fingerprint(file) == sha256(b"a model").hexdigest()
    assert model_fingerprint(None) is None


def test_settings_and_code():
    assert settings_fingerprint({"a": 1, "b": [2.5, None]}) == settings_fingerprint(
        {"b": (2.5, np.nan), "a": np.int64(1)}
    )
    assert settings_fingerprint({"random_state": 0}) != settings_fingerprint({"random_state": 1})
    assert re.fullmatch(re.escape(__version__) + " [0-9a-f]{64}", code_fingerprint())


def test_no_guess_about_outcomes_is_confirmed():
    """Of a group of five, 32 guesses would tell the outcomes of all if their hash were told."""
    draw = np.random.default_rng(0)
    X = pd.DataFrame({"sex": draw.choice(["f", "m"], 200), "origin": ["few"] * 5 + ["many"] * 195})
    y, audit = draw.integers(0, 2, 200), Audit(protected="sex", detectors=["GroupDisparity"])
    guess = np.where(X["origin"] == "few", 1 - y, y)
    given = {
        "labels": [(X, v, None) for v in (y, guess)],
        "decisions": [(X, y, BlackBox(decisions=v)) for v in (y, guess)],
        "model": [(X, y, lambda rows, v=v: v[: len(rows)]) for v in (y, guess)],
    }
    for kind, both in given.items():
        one, other = (audit.fit(*three).report_.document["fingerprints"] for three in both)
        assert one == other, kind
        assert one["data"] == data_fingerprint(X)
        assert set(one) == {"data", "model", "settings", "code"}
    schema = Profile.of(X.assign(y=y)).schema(protected="sex", label="y")
    counted = [Counts.of_frame(X.assign(y=v), schema) for v in (y, guess)]
    assert counts_fingerprint(counted[0]) == counts_fingerprint(counted[1])
    fewer = Counts.of_frame(X.assign(y=y)[1:], schema)
    assert counts_fingerprint(fewer) != counts_fingerprint(counted[0])
