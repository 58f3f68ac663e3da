"""Tables are read as users have them, and what was decided is said, with what changes it."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skdisc._counts._sources import _csv, source_of
from skdisc._utils._tables import TableOptions, _read_table, read_table
from skdisc._utils._tables._encoding import NotText, encoding_of
from skdisc._utils._tables._number_texts import NumberFormat, NumberTexts
from skdisc._utils._tables._reading import Reading

FRAME = pd.DataFrame({"name, full": ["Ann\nLee", "Bo"], "sex": ["F", "M"], "hired": [0, 1]})


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_csv_with_any_separator_bom_and_quoted_newline(tmp_path, separator, encoding):
    path = tmp_path / "people.csv"
    FRAME.to_csv(path, sep=separator, index=False, encoding=encoding)
    pd.testing.assert_frame_equal(read_table(path).frame, FRAME)


def test_gzip_and_parquet(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv.gz", index=False)
    FRAME.to_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "a.csv.gz").frame, FRAME)
    pd.testing.assert_frame_equal(
        read_table(tmp_path / "a.parquet").frame, FRAME, check_dtype=False
    )


def test_decimal_commas_in_a_file_with_semicolons(tmp_path):
    frame = FRAME.assign(income=[40.5, np.nan], points=["1,5", "2.5"], code=["1,2,3", "4"])
    path = tmp_path / "people.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False)
    pd.testing.assert_frame_equal(read_table(path).frame, frame)
    frame.to_csv(path, sep=";", index=False)
    pd.testing.assert_frame_equal(read_table(path).frame, frame)


def test_one_column_and_semicolons_inside_quotes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"a;b",c\n1,2\n', encoding="utf-8")
    assert list(read_table(path).frame) == ["a;b", "c"]
    path.write_text("only\n1\n", encoding="utf-8")
    assert list(read_table(path).frame) == ["only"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"a,b,a\n1,2,3\n", r"several columns named \['a'\]"),
        ("a.csv", b"", "'a.csv' is empty. Its first line must name the columns"),
        ("a.csv", b"a,b\n", "'a.csv' has names of columns, but no rows"),
        (
            "a.csv",
            b"B\x84cker,b\n1,2\n",
            "is not in UTF-8, and its encoding cannot be told",
        ),
        ("a.csv.gz", b"not gzip", "could not be read"),
        ("a.docx", b"", "cannot be read as a table; its name must end in"),
        ("a.xlsx", b"", "'a.xlsx' could not be read as a spreadsheet"),
        ("a.ods", b"PK", "'a.ods' could not be read as a spreadsheet"),
        ("a.dta", b"nothing", "'a.dta' could not be read"),
        ("a.sav", b"nothing", "'a.sav' could not be read"),
        ("a.jsonl", b"{", "'a.jsonl' could not be read as JSON Lines"),
        ("a.jsonl", b'{"a": {"b": 1}}', "has objects or lists in 'a'"),
        ("a.parquet", b"nothing", "'a.parquet' could not be read as Parquet"),
    ],
)
def test_unreadable_tables_are_refused(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / name)
    with pytest.raises(ValueError, match="There is no file"):
        read_table(tmp_path / "missing.csv")


def test_gzip_header_is_read_as_text(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("é;b\n1;2\n".encode()))
    assert list(read_table(path).frame) == ["é", "b"]


def test_a_header_longer_than_any_buffer(tmp_path):
    names = [f"a_column_with_a_long_name_{i}" for i in range(5000)]
    path = tmp_path / "wide.csv"
    pd.DataFrame([range(5000)], columns=names).to_csv(path, index=False)
    assert list(read_table(path).frame) == names
    path.write_text(path.read_text().replace(names[-1], names[0], 1), encoding="utf-8")
    with pytest.raises(ValueError, match="several columns named"):
        read_table(path)


def test_an_index_with_a_name_is_a_column_of_parquet(tmp_path):
    FRAME.set_index("sex").to_parquet(tmp_path / "a.parquet")
    assert set(read_table(tmp_path / "a.parquet").frame) == set(FRAME)


GERMAN = "Straße;Geschlecht\nBäckergasse;m\nÖlberg;f\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
def test_the_encoding_is_told_by_the_bytes(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(GERMAN.encode(encoding))
    frame, notes = read_table(path)
    assert frame["Straße"].tolist() == ["Bäckergasse", "Ölberg"]
    said = [str(note) for note in notes]
    assert said == [] if encoding.startswith("utf-8") else "--encoding" in said[0]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp850", "Bäckergasse"),
        ("mac_roman", "Bäckergasse, Küche"),
        ("cp1251", "Москва, Санкт-Петербург"),
        ("shift_jis", "東京都、大阪府"),
        ("gbk", "北京市，上海市"),
        ("cp1250", "Łódź, Kraków, Wałbrzych, Bełchatów"),
        ("utf-16-le", "Bäckergasse"),
    ],
)
def test_other_encodings_are_not_taken_for_western_european(tmp_path, encoding, text):
    path = tmp_path / "a.csv"
    path.write_bytes(f"town,sex\n{text}\n".encode(encoding))
    with pytest.raises(NotText):
        encoding_of(path)
    with pytest.raises(ValueError, match=r"'a.csv' .*--encoding"):
        read_table(path)
    frame = read_table(path, TableOptions(encoding=encoding, separator="|")).frame
    assert text in frame.iloc[0, 0]


def test_an_encoding_that_does_not_fit_or_exist_is_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a\n\xff\xfe\xff\n")
    with pytest.raises(ValueError, match=r"'a.csv' is not in utf-8: byte 0xff"):
        read_table(tmp_path / "a.csv", TableOptions(encoding="utf-8"))
    with pytest.raises(ValueError, match="--encoding 'klingon' is unknown"):
        TableOptions(encoding="klingon")
    with pytest.raises(ValueError, match="--sep must be one character"):
        TableOptions(separator="ab")


def column(*texts, options=None, separator=",", name="x"):
    """Return a column read from a file in memory, and what was said about it."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        frame = pd.DataFrame({name: texts, "other": "a"})
        frame.to_csv(path, index=False, sep=separator)
        frame, notes = read_table(path, options)
    return frame[name], [str(n) for n in notes]


@pytest.mark.parametrize(
    ("texts", "numbers", "said"),
    [
        (["45,123", "1,234,567", "12"], [45123, 1234567, 12], "read as numbers"),
        (["$45,123", "$5", "-$7.50"], [45123, 5, -7.5], "without \\$"),
        (["76,4 %", "5 %", "100,0 %"], [76.4, 5, 100], "read as percent"),
        (["1.234,50", "-2,5", "(7,25)"], [1234.5, -2.5, -7.25], "decimal mark ','"),
        (["1'234.5", "2"], [1234.5, 2], "decimal mark '.'"),
        (["1 234,5", "2"], [1234.5, 2], "decimal mark ','"),
        (["1\u202f234,5", "\u22122"], [1234.5, -2], "decimal mark ','"),
        (["3 €", "4,5 €"], [3, 4.5], "without €"),
        (["EUR 3.00", "EUR 4.50"], [3, 4.5], "without EUR"),
    ],
)
def test_numbers_that_are_written_as_text(texts, numbers, said):
    read, notes = column(*texts)
    assert read.tolist() == numbers
    assert read.dtype.kind in "if"
    assert any(said.replace("\\", "") in note and "--text 'x'" in note for note in notes)
    assert column(*texts, options=TableOptions(text=("x",)))[0].tolist() == texts


@pytest.mark.parametrize("gone", ["n.a.", "-", "?", "k.A.", "unbekannt"])
def test_one_rare_text_among_numbers_is_missing(gone):
    numbers = [str(i) for i in range(98)]
    read, notes = column(*numbers, gone, gone)
    assert read.isna().sum() == 2
    assert read[:98].tolist() == list(range(98))
    assert "one text in 2 rows counts as missing" in notes[0]  # that two have it is not printed
    read, notes = column(*numbers * 6, *[gone] * 12)
    assert f"'{gone}' in 12 rows counts as missing" in notes[0]


@pytest.mark.parametrize(
    ("texts", "hint"),
    [
        (["1,5", "2.5"] * 50, None),  # two decimal marks
        (["$5", "€5"] * 50, None),
        (["5 %", "5"] * 50, None),
        ([*map(str, range(98)), "90+", "90+"], "98 % of the values are numbers"),
        ([*map(str, range(98)), "-", "?"], "98 % of the values are numbers"),
        ([*map(str, range(90)), *["-"] * 10], "90 % of the values are numbers"),
        ([f"0{i}" for i in range(98)] + ["-", "-"], None),  # codes
        (["1.2.3", "4.5.6"], None),
        (["12:30", "13:30"], None),
        (["12a", "12b", "13"], None),
    ],
)
def test_what_is_not_numbers_stays_text(texts, hint):
    read, notes = column(*texts)
    assert read.tolist() == texts
    assert (notes == []) if hint is None else (hint in notes[0] and "--missing 'x=" in notes[0])


def test_the_decimal_mark_that_the_file_tells_and_the_one_that_the_user_names():
    assert column("45,123", "1,500")[0].tolist() == [45123, 1500]
    assert "--decimal ," in column("45,123", "1,500")[1][0]  # it could be 45.123
    assert column("45,123", "1,500", separator=";")[0].tolist() == [45.123, 1.5]
    given = TableOptions(decimal=",")
    assert column("45,123", "1,500", options=given)[0].tolist() == [45.123, 1.5]
    assert column("0,123", "1,500")[0].tolist() == [0.123, 1.5]  # no group begins with 0
    read, notes = column("1.5 %", "2.5 %", options=given)
    assert read.tolist() == ["1.5 %", "2.5 %"]
    assert "--decimal ." in notes[0]


def test_points_between_thousands_in_a_file_with_decimal_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("wage;rate;ratio\n2.590;1,5;0.5\n1.300;2,5;2.5\n", encoding="utf-8")
    frame, notes = read_table(path)
    assert frame["wage"].tolist() == [2590, 1300]
    assert frame["ratio"].tolist() == [0.5, 2.5]
    assert any("'wage'" in str(n) for n in notes)
    path.write_text("wage;rate\n2.590;1\n1.300;2\n", encoding="utf-8")
    assert read_table(path).frame["wage"].tolist() == [2.59, 1.3]  # nothing tells
    assert read_table(path, TableOptions(decimal=",")).frame["wage"].tolist() == [2590, 1300]


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=1, max_size=30),
    st.sampled_from([(".", ","), (",", "."), (",", " "), (".", "'")]),
    st.sampled_from(["{}", "{} %", "${}", "{} €"]),
)
def test_numbers_come_back_from_every_way_to_write_them(numbers, marks, unit):
    decimal, thousands = marks
    table = str.maketrans({",": thousands, ".": decimal})
    texts = [unit.format(f"{x:,.2f}".translate(table)) for x in numbers]
    learned = NumberTexts()
    learned.add(pd.Series(texts, dtype=str))
    assert learned.are_numbers
    assert learned.mark == decimal
    read = NumberFormat(decimal).read(pd.Series(texts, dtype=str))
    np.testing.assert_array_equal(read, np.array(numbers) + 0.0)


MESSY = pd.DataFrame(
    {
        "share": [*[f"{i},5 %" for i in range(60)], "k.A."],
        "wage": [f"{i + 1}.{i + 100},25" for i in range(61)],
        "late": [*map(str, range(58)), "?", "?", "60"],
        "born": [f"{1940 + i}-02-03" for i in range(61)],
        "age": [999, *range(60)],
        "word": ["a", "b c"] * 30 + ["k.A."],
        "whole": [f"{i},000" for i in range(1, 62)],
        "flag": [True, False] * 30 + [True],
    }
)


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_a_file_in_pieces_is_understood_as_a_whole_one(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(_csv, "_ROWS", rows)
    path = tmp_path / "t.csv"
    MESSY.to_csv(path, index=False, encoding="cp1252", sep=";")
    options = TableOptions(missing=("b c",), missing_in={"age": ("999",)})
    frame, notes = read_table(path, options)
    assert frame["share"].tolist()[:2] == [0.5, 1.5]
    assert frame["age"].isna().sum() == 1
    assert frame["word"].isna().sum() == 30
    assert frame["born"].dtype.kind == "M"
    source = source_of(path, options)
    again = pd.concat(source.map_add(lambda f: [f]), ignore_index=True)
    pd.testing.assert_frame_equal(again, frame, check_dtype=False)
    dtypes = [str(d) for d in frame.dtypes]
    assert [str(again[c].dtype) for c in frame] == dtypes
    assert set(map(str, source.notes)) == set(map(str, notes))


def test_texts_that_mean_missing(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame({"a": ["x", "-", "y"], "n": [999, 5, -1]}).to_csv(path, index=False)
    frame = read_table(path, TableOptions(missing=("-", "-1"))).frame
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["n"].isna().tolist() == [False, False, True]
    frame = read_table(path, TableOptions(missing_in={"n": ("999",)})).frame
    assert frame["n"].isna().tolist() == [True, False, False]
    assert frame["a"].tolist() == ["x", "-", "y"]
    with pytest.raises(ValueError, match=r"--missing names 'N', which is no column; did you mean"):
        read_table(path, TableOptions(missing_in={"N": ("999",)}))


def test_spreadsheets(tmp_path):
    pytest.importorskip("python_calamine")
    frame = pd.DataFrame({"sex": ["f", "m"], "pay": [1.5, 2.0], "hired": ["yes", np.nan]})
    path = tmp_path / "a.xlsx"
    frame.to_excel(path, index=False, engine="openpyxl")
    pd.testing.assert_frame_equal(read_table(path).frame, frame, check_dtype=False)
    with pd.ExcelWriter(path, engine="openpyxl") as book:
        frame.to_excel(book, index=False, sheet_name="2024")
        frame[:1].to_excel(book, index=False, sheet_name="2025")
        pd.DataFrame().to_excel(book, sheet_name="empty")
    with pytest.raises(ValueError, match=r"several sheets: '2024', '2025'\. Name one: --sheet"):
        read_table(path)
    assert len(read_table(path, TableOptions(sheet="2025")).frame) == 1
    with pytest.raises(ValueError, match=r"has no sheet '2026'. Its sheets: '2024', '2025'"):
        read_table(path, TableOptions(sheet="2026"))
    assert source_of(path, TableOptions(sheet="2024")).n_rows() == 2


ODS = """<?xml version="1.0" encoding="UTF-8"?><office:document-content
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="t">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""


def test_open_document(tmp_path):
    pytest.importorskip("python_calamine")
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = "".join(
        f"<table:table-row>{''.join(map(cell.format, row))}</table:table-row>"
        for row in (["sex", "pay"], ["f", "1,5"], ["m", "2,5"])
    )
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        file.writestr("content.xml", ODS.format(rows=rows))
        file.writestr("META-INF/manifest.xml", "<manifest/>")
    frame = read_table(tmp_path / "a.ods").frame
    assert frame.to_dict("list") == {"sex": ["f", "m"], "pay": [1.5, 2.5]}


def test_what_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_read_table, "_MOST_BYTES", 10_000)
    with zipfile.ZipFile(tmp_path / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("xl/workbook.xml", b"0" * 1_000_000)
    with pytest.raises(ValueError, match=r"'a.xlsx' unpacks to more than"):
        read_table(tmp_path / "a.xlsx")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 10_000))
    with pytest.raises(ValueError, match=r"'a.csv.gz' cannot be read: it has more than"):
        read_table(tmp_path / "a.csv.gz")
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n' * 10_000)
    with pytest.raises(ValueError, match=r"'a.jsonl' has more than"):
        read_table(tmp_path / "a.jsonl")


def test_a_cell_that_is_no_value_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"a,b\n1,{'x' * 100_001}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"text of 100,001 characters in the column 'b'"):
        read_table(path)
    with pytest.raises(ValueError, match=r"text of 100,001 characters in the column 'b'"):
        source_of(path)


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_files_of_stata_and_spss_have_labels(tmp_path, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"sex": [1.0, 2.0, 1.0], "age": [30.0, 40.0, 99.0], "name": list("abc")})
    labels = {"sex": {1: "male", 2: "female"}, "age": {99: "refused"}}
    write = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta
    how = {"variable_value_labels": labels}
    write(frame, str(tmp_path / f"a.{suffix}"), **how)
    read, notes = read_table(tmp_path / f"a.{suffix}")
    assert read["sex"].tolist() == ["male", "female", "male"]
    assert read["age"].tolist() == [30, 40, 99]
    assert ["--missing 'age=" in str(note) for note in notes] == [True]
    options = TableOptions(missing_in={"age": ("99",)})
    assert read_table(tmp_path / f"a.{suffix}", options).frame["age"].isna().sum() == 1


def test_json_lines_keep_their_types(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"zip": "01234", "n": 1}\n{"zip": "1234", "n": 2.5}\n', encoding="utf-8")
    assert read_table(path).frame.to_dict("list") == {"zip": ["01234", "1234"], "n": [1, 2.5]}


def test_ages_from_dates_of_birth(tmp_path):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({"born": ["1986-01-01", "1986-01-02", None], "sex": list("fmf")})
    for form in ("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"):
        dates = pd.to_datetime(frame["born"]).dt.strftime(form)
        frame.assign(born=dates, other=["13/12/2020"] * 3).to_csv(path, index=False)
        if form == "%m/%d/%Y":
            with pytest.raises(ValueError, match="do not tell the day from the month"):
                Reading(derive=("age=born@2026-01-01",)).read(path)
            continue
        read, notes = Reading(derive=("age=born@2026-01-01",)).read(path)
        assert read["age"].tolist()[:2] == [40, 39]
        assert read["age"].isna().tolist() == [False, False, True]
        assert "born" not in read
        assert "'age' is the age in whole years on 2026-01-01" in str(notes[-1])
    frame.assign(hired=["2010-01-01"] * 3).to_csv(path, index=False)
    read = Reading(derive=("age=born@hired",)).read(path).frame
    assert read["age"].tolist()[:2] == [24, 23]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", "is not of the form"),
        ("age=born", "is not of the form"),
        ("age=birth@2026-01-01", "there is no column 'birth'"),
        ("age=sex@2026-01-01", "holds no dates"),
        ("sex=born@2026-01-01", "is a column already"),
        ("age=born@1900-01-01", "were born after"),
        ("age=born@2026-02-31", "is not a day"),
    ],
)
def test_ages_that_cannot_be_are_refused(tmp_path, text, message):
    frame = pd.DataFrame({"born": ["1986-01-01", "1987-01-02"], "sex": list("fm")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=message):
        Reading(derive=(text,)).read(tmp_path / "a.csv")


def test_dates_of_many_people_are_dates_in_every_file(tmp_path):
    dates = pd.date_range("1950-01-01", periods=100, freq="100D")
    frame = pd.DataFrame({"born": dates.strftime("%d.%m.%Y"), "month": ["2020-01-01"] * 100})
    frame.to_csv(tmp_path / "a.csv", index=False)
    read, notes = read_table(tmp_path / "a.csv")
    assert (read["born"] == dates).all()
    assert read["month"].tolist() == ["2020-01-01"] * 100  # few values may be categories
    assert "--derive 'age=born@YYYY-MM-DD'" in str(notes[0])


def test_tables_of_counts(tmp_path):
    path = tmp_path / "a.csv"
    frame = pd.DataFrame({"sex": list("ffm"), "hired": [0, 1, 1], "n": [3, 0, 2]})
    frame.to_csv(path, index=False)
    read = Reading(counts="n").read(path).frame
    assert read.to_dict("list") == {"sex": list("fffmm"), "hired": [0, 0, 0, 1, 1]}
    for wrong in ([1, 2, -1], [1, 2, 0.5], [1, 2, None], [0, 0, 0], ["a", "b", "c"]):
        frame.assign(n=wrong).to_csv(path, index=False)
        with pytest.raises(ValueError, match=r"--counts 'n'"):
            Reading(counts="n").read(path)


def test_a_reading_comes_back_from_json():
    reading = Reading(
        TableOptions("cp1252", ";", ",", ("-",), {"a": ("9",)}, ("zip",), "s"), ("a=b@c",), "n"
    )
    assert Reading.from_dict(reading.to_dict()) == reading
    assert Reading.from_dict({}) == Reading()


def test_messy_table_of_a_stranger(data_dir):
    path = data_dir / "strangers" / "messy_cp1252.csv"
    if not path.is_file():
        pytest.skip(f"{path} is missing")
    frame, notes = read_table(path, TableOptions(missing_in={"Alter": ("999",)}))
    assert {"Straße", "Bäckergasse"} <= {*frame.columns, *frame["Straße"]}
    assert frame["Testergebnis"].dropna().between(0, 100).all()
    assert frame["Testergebnis"].isna().mean() == pytest.approx(0.02, abs=0.005)
    assert frame["Gehaltswunsch"].dtype == float
    assert frame["Alter"].max() < 100
    assert ["Testergebnis" in str(n) and "percent" in str(n) for n in notes].count(True) == 1


@pytest.mark.parametrize("text", ["NA", "N/A", "n/a", "NULL", ""])
def test_texts_that_are_missing_without_being_told(tmp_path, text):
    path = tmp_path / "people.csv"
    path.write_text(f"name,age,hired\nAnn,31,yes\nBo,{text},no\nCy,40,{text}\n")
    frame = read_table(path).frame
    assert frame["age"].tolist()[::2] == [31, 40]
    assert frame.isna().to_numpy().sum() == 2
    assert frame["hired"].isna().tolist() == [False, False, True]
