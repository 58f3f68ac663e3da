"""Tables from files: CSV, Parquet, spreadsheets, Stata, SPSS and JSON Lines.

A table is read with what its files say about it, and every decision that was made in reading is a
`TableNote`, with the option that changes it.
"""

from skdisc._utils._tables._csv_files import PARTS, CsvFile
from skdisc._utils._tables._options import TableNote, TableOptions
from skdisc._utils._tables._read_table import TABLES, WHOLE, ReadTable, check_cells, read_table

__all__ = [
    "PARTS",
    "TABLES",
    "WHOLE",
    "CsvFile",
    "ReadTable",
    "TableNote",
    "TableOptions",
    "check_cells",
    "read_table",
]
