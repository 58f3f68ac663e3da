"""Files of every kind are one table, and errors name the file."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tables_anywhere import facts

from skdisc._counts._profile import Profile
from skdisc._counts._sources import _csv, _files, source_of
from skdisc._counts._sources._in_memory import FrameSource
from skdisc._utils._tables import read_table

FRAME = pd.DataFrame({"a": [1, 2, 3, 4], "b": ["x", "y", None, "x"]})


def same(source, frame):
    names = list(frame.columns)
    return facts(source.profile(names), names) == facts(Profile.of(frame), names)


def test_a_pattern_a_list_a_folder_and_a_path_are_the_same_table(tmp_path):
    for i in range(4):
        FRAME[i : i + 1].to_parquet(tmp_path / f"{i}.parquet")
    (tmp_path / "_SUCCESS").touch()
    several = tmp_path, str(tmp_path / "*.parquet"), sorted(tmp_path.glob("*.parquet"))
    for data in several:
        assert same(source_of(data), FRAME)
    assert same(source_of(tmp_path / "1.parquet"), FRAME[1:2])
    assert source_of(source_of(tmp_path)).columns == ["a", "b"]


def test_only_the_columns_that_are_needed_are_read(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    for path in ("t.parquet", "t.csv"):
        seen = []
        n_rows = source_of(tmp_path / path).map_add(
            lambda f, s=seen: s.append([*f]) or len(f), ["b"]
        )
        assert (n_rows, seen) == (4, [["b"]])


def test_text_comes_as_it_is_or_as_categories(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    source = source_of(tmp_path / "t.parquet")
    for compact in (False, True):
        (dtype,) = source.map_add(lambda f: [f["b"].dtype], compact=compact)
        assert isinstance(dtype, pd.CategoricalDtype) == compact


def test_a_named_index_is_a_column_and_stands_first(tmp_path):
    FRAME.set_index("b").to_parquet(tmp_path / "t.parquet")
    source = source_of(tmp_path / "t.parquet")
    assert source.columns == list(read_table(tmp_path / "t.parquet").frame.columns) == ["b", "a"]
    assert same(source, FRAME)
    FRAME.set_axis(list("wxyz")).to_parquet(tmp_path / "u.parquet")
    for data in (tmp_path / "u.parquet", pa.Table.from_pandas(FRAME.set_axis(list("wxyz")))):
        assert source_of(data).columns == ["a", "b"]
        assert same(source_of(data), FRAME)


def test_types_may_differ_where_the_values_do_not(tmp_path):
    columns = [
        pa.array([1, 2], pa.int8()),
        pa.array([1.0, None]),
        pa.array([None, None], pa.null()),
        pa.array([2, 3], pa.decimal128(5, 2)),
    ]
    for i, values in enumerate(columns):
        pq.write_table(pa.table({"n": values}), tmp_path / f"{i}.parquet")
    assert same(source_of(tmp_path), pd.DataFrame({"n": [1, 2, 1, None, None, None, 2, 3]}))


def test_ordered_categories_keep_their_order(tmp_path):
    grades = pd.DataFrame({"g": pd.Categorical(["low", "high"], ["low", "mid", "high"], True)})
    grades.to_parquet(tmp_path / "t.parquet")
    assert same(source_of(tmp_path), grades)
    assert source_of(tmp_path).profile().columns["g"].order == ("low", "mid", "high")


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"a": ["1"], "b": ["x"]}, "'a' holds text in '.*2.parquet' and numbers in a file before"),
        ({"a": [1], "b": [True]}, "'b' holds booleans in '.*2.parquet'"),
        ({"a": [1]}, "1.parquet' has the column 'b', '.*2.parquet' has not"),
        ({"a": [1], "b": ["x"], "c": [1]}, "2.parquet' has the column 'c', '.*1.parquet' has not"),
    ],
)
def test_other_columns_and_types_are_refused(tmp_path, second, message):
    FRAME.to_parquet(tmp_path / "1.parquet")
    pd.DataFrame(second).to_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=message):
        source_of(tmp_path)


def test_a_damaged_file_is_named(tmp_path):
    for i in range(3):
        FRAME.to_parquet(tmp_path / f"{i}.parquet")
    content = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(content[:-20])
    with pytest.raises(OSError, match=r"1\.parquet' cannot be read"):
        source_of(tmp_path)
    (tmp_path / "1.parquet").write_bytes(content[:4] + bytes(60) + content[64:])
    with pytest.raises(OSError, match=r"1\.parquet' cannot be read") as caught:
        source_of(tmp_path).profile()
    assert "1.parquet, row groups 0 to 0" in caught.value.__notes__[0]


def test_an_error_of_the_function_says_in_which_part(tmp_path):
    for i in range(3):
        FRAME.assign(a=i).to_parquet(tmp_path / f"{i}.parquet")

    def fail(frame):
        return 1 // (2 - int(frame["a"].iloc[0]))

    with pytest.raises(ZeroDivisionError) as caught:
        source_of(tmp_path).map_add(fail)
    assert "2.parquet" in caught.value.__notes__[0]
    with pytest.raises(ZeroDivisionError) as caught:
        FrameSource(FRAME.assign(a=2)).map_add(fail)
    assert caught.value.__notes__ == ["This happened in rows 0 to 3."]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_types_are_those_of_all_rows(tmp_path, monkeypatch, separator):
    monkeypatch.setattr(_csv, "_ROWS", 2)
    frame = pd.DataFrame(
        {
            "late text": ["1", "2", "3", "4", "x", "05"],
            "late number": [1, 2, 3, 4, 5, 6.5],
            "whole": range(6),
            "late missing": [1, 2, 3, 4, 5, None],
            "truth": [True, False, None, True, None, None],
            "all missing": [None] * 6,
            "text": ["a", "b", None, "None", "c", "d"],
        }
    )
    frame.to_csv(tmp_path / "1.csv", sep=separator, index=False)
    frame.to_csv(tmp_path / "2.csv.gz", sep=separator, index=False)
    assert same(source_of(tmp_path), pd.concat([frame, frame]))
    dtypes = source_of(tmp_path / "1.csv").map_add(lambda f: [dict(f.dtypes)])
    assert len(dtypes) == 3
    assert {str(d["whole"]) for d in dtypes} == {"int64"}
    assert {str(d["late number"]) for d in dtypes} == {"float64"}


def test_csv_with_decimal_commas(tmp_path, monkeypatch):
    monkeypatch.setattr(_csv, "_ROWS", 2)
    path = tmp_path / "t.csv"
    path.write_text("a;b;c\n1,5;x,y;1\n2;z;2\n3,25;u;3.5\n", encoding="utf-8")
    assert same(source_of(path), read_table(path).frame)
    assert source_of(path).map_add(lambda f: f["a"].tolist(), ["a"]) == [1.5, 2, 3.25]


def test_what_is_no_table_is_refused(tmp_path):
    for data in (5, {"a": 1}, None, np.eye(2)):
        with pytest.raises(TypeError, match="is no table"):
            source_of(data)
    for data in (tmp_path, tmp_path / "a.csv", str(tmp_path / "*.csv"), []):
        with pytest.raises(ValueError, match=r"There is no file|has no file of a table"):
            source_of(data)
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="must be Parquet, or all CSV"):
        source_of(tmp_path)
    (tmp_path / "a.docx").touch()
    with pytest.raises(ValueError, match=r"a\.docx' cannot be read"):
        source_of([tmp_path / "a.docx"])


def test_an_empty_table_and_unknown_columns_are_refused(tmp_path):
    FRAME[:0].to_parquet(tmp_path / "t.parquet")
    for source in (source_of(FRAME[:0]), source_of(tmp_path)):
        with pytest.raises(ValueError, match="no rows"):
            source.profile()
        with pytest.raises(ValueError, match="names \\['z'\\], not among"):
            source.profile(["z"])


def test_dates_are_refused_only_if_they_are_needed(tmp_path):
    dated = FRAME.assign(day=pd.Timestamp("2020-02-03"))
    dated.to_parquet(tmp_path / "t.parquet")
    for source in (source_of(dated), source_of(tmp_path)):
        with pytest.raises(TypeError, match="'day' holds dates"):
            source.profile()
        assert same(source, FRAME)


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(_files.require.__globals__, "import_module", _fail_to_import)
    with pytest.raises(ImportError, match=r"pip install \"skdisc\[io\]\""):
        source_of(tmp_path)
    with pytest.raises(ImportError, match=r"pip install \"skdisc\[ibis\]\""):
        source_of("postgres://host/base::t")
    assert same(source_of(FRAME), FRAME)


def _fail_to_import(name):
    raise ImportError(name)
