"""`skdisc.read_table`: tables from files, for those who work in Python."""

from collections.abc import Mapping, Sequence

from skdisc._utils._tables import ReadTable, TableOptions
from skdisc._utils._tables import read_table as _read
from skdisc._utils._types import FilePath


def read_table(
    path: FilePath,
    *,
    encoding: str | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    missing: Sequence[str] | Mapping = (),
    text: Sequence[str] = (),
    sheet: str | None = None,
) -> ReadTable:
    r"""Read a table from a file, as `skdisc audit` reads it.

    CSV (also ``.gz``), Parquet, spreadsheets (``.xlsx``, ``.xls``, ``.ods``), Stata (``.dta``),
    SPSS (``.sav``) and JSON Lines (``.jsonl``), by the end of the name. What is None is told by the
    file.

    Parameters
    ----------
    path : str or Path
    encoding : str, default=None
        Encoding of a text file, such as "cp1252".
    separator : str, default=None
        Between the cells of a CSV file.
    decimal : {".", ","}, default=None
        Decimal mark of numbers.
    missing : sequence of str, or dict from column to sequence of str, default=()
        Texts that mean "missing", in all columns or in some.
    text : sequence of str, default=()
        Columns that stay text, as codes do.
    sheet : str, default=None
        Sheet of a spreadsheet.

    Returns
    -------
    frame : DataFrame
    notes : list of TableNote
        What was decided in reading; each is a sentence.

    Raises
    ------
    ImportError
        If a package is missing, with the extra that installs it.
    ValueError
        If the file does not exist, is not a table, or is ambiguous.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("sex;points\nf;76,4 %\nm;80,0 %\n")
    ...     frame, notes = read_table(path)
    >>> frame["points"].tolist()
    [76.4, 80.0]
    >>> print(notes[0].done)
    read as percent (5 % is 5)
    """
    by_column = missing if isinstance(missing, Mapping) else {}
    options = TableOptions(
        encoding=encoding,
        separator=separator,
        decimal=decimal,
        missing=() if by_column else _texts(missing),
        missing_in={column: _texts(texts) for column, texts in by_column.items()},
        text=_texts(text),
        sheet=sheet,
    )
    return _read(path, options)


def _texts(values):
    """Return one value, or several, as a tuple of texts."""
    several = [values] if isinstance(values, (str, int, float)) else values
    return tuple(map(str, several))
