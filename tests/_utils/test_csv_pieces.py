"""A CSV file read piece by piece has the rows and the errors of the file read whole."""

import gzip

import numpy as np
import pandas as pd
import pytest

from skdisc._utils._tables import CsvFile, TableOptions, read_table
from skdisc._utils._tables._encoding import telling

FRAME = pd.DataFrame({"a b": ["x", None, "None", "y, z"], "n": [1.5, 0.1, None, 4.0]})


@pytest.mark.parametrize("n_rows", [1, 3, 100])
def test_pieces_are_the_rows(tmp_path, n_rows):
    path = tmp_path / "t.csv.gz"
    FRAME.to_csv(path, index=False)
    pieces = list(CsvFile(path).pieces(n_rows, dtype={"a b": str, "n": float}))
    assert max(map(len, pieces)) <= n_rows
    pd.testing.assert_frame_equal(pd.concat(pieces), read_table(path).frame)


def test_columns_and_decimal_commas(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,5;x\n2,25;y\n", encoding="utf-8")
    file = CsvFile(path, TableOptions(decimal=","))
    assert (file.columns, file.separator) == (["a", "b"], ";")
    (piece,) = file.pieces(10, columns=["a"])
    assert piece["a"].tolist() == [1.5, 2.25]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b\n1,2\n" * 3 + b"1,2,3\n", "Expected 2 fields"),
        (b"a,b\nB\x84cker,2\n", "is not in UTF-8, and its encoding cannot be told"),
        (b"a,a\n1,2\n", "several columns named"),
        (b"", "is empty. Its first line must name the columns"),
    ],
)
def test_errors_name_the_file(tmp_path, content, message):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"t.csv.*{message}"):
        list(CsvFile(path).pieces(2))


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 100_000)[:-20])
    with pytest.raises(ValueError, match=r"t.csv.gz.*could not be read"):
        list(CsvFile(path).pieces(1000))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
@pytest.mark.parametrize("whole", [True, False])
def test_each_block_that_is_read_is_told(tmp_path, name, whole):
    """All bytes are told in blocks of at most one MiB, each time that the file is read."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=150_000), "b": rng.choice(["x", "é"], 150_000)})
    path = tmp_path / name
    frame.to_csv(path, index=False)
    size = path.stat().st_size
    assert size > 1_000_000
    blocks = []
    with telling(blocks.append):
        file = CsvFile(path)
        told_of_header = sum(blocks)
        read = file.read() if whole else pd.concat(file.pieces(20_000))
    assert size < told_of_header <= size + 4 * 2**18  # the encoding, and the first line
    assert sum(blocks) == told_of_header + size
    assert max(blocks) <= 2**20
    pd.testing.assert_frame_equal(read.reset_index(drop=True), frame)
    n = len(blocks)
    CsvFile(path)
    assert len(blocks) == n  # nobody is told any more
