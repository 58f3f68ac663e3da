"""Converters from the bytes of published files to the bytes of one CSV file."""

import csv
import io
import tarfile
import zipfile
import zlib

import pandas as pd

from skdisc._utils._optional import require

_ADULT = (
    "age,workclass,fnlwgt,education,education-num,marital-status,occupation,relationship,race,sex,"
    "capital-gain,capital-loss,hours-per-week,native-country,income,split"
)
_NAMES_OF_PEOPLE = {
    "name",
    "first",
    "last",
    "dob",
    "c_case_number",
    "r_case_number",
    "vr_case_number",
}


def plain(raw):
    """Keep the file, with LF line ends."""
    return raw.replace(b"\r\n", b"\n")


def adult(train, test):
    """Join the two files, name the columns, strip blanks and the full stop after test labels."""
    rows = [_ADULT.split(",")]
    for raw, split in ((train, "train"), (test, "test")):
        for line in raw.decode().splitlines():
            cells = [cell.strip() for cell in line.split(",")]
            if len(cells) == len(rows[0]) - 1:
                rows.append([*cells[:-1], cells[-1].rstrip("."), split])
    return _write(rows)


def compas(raw):
    """Drop the columns that identify people."""
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8"), newline="")))
    columns = [i for i, name in enumerate(rows[0]) if name not in _NAMES_OF_PEOPLE]
    return _write([row[i] for i in columns] for row in rows)


def bars(raw):
    """Replace the separator ``|`` by a comma."""
    return _write(csv.reader(io.StringIO(raw.decode("utf-8"), newline=""), delimiter="|"))


def bank(raw):
    """Extract ``bank-full.csv`` from the archive, and replace semicolons by commas."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        text = archive.read("bank-full.csv").decode()
    return _write(csv.reader(io.StringIO(text, newline=""), delimiter=";"))


def ad_campaign(raw):
    """Extract ``ad_campaign_data.csv`` from the archive."""
    try:
        with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
            names = {name.rpartition("/")[2]: name for name in archive.getnames()}
            return plain(archive.extractfile(names["ad_campaign_data.csv"]).read())
    except (tarfile.TarError, EOFError, KeyError, zlib.error) as error:
        raise OSError(f"the archive has no file 'ad_campaign_data.csv' ({error!r})") from error


def acs(test, validation):
    """Join the two Parquet files, and write numbers without a fraction as integers."""
    require("pyarrow", extra="io", purpose="Converting ACSIncome")
    parts = []
    for raw, split in ((test, "test"), (validation, "validation")):
        part = pd.read_parquet(io.BytesIO(raw)).reset_index(drop=True)
        integers = [n for n in part if part[n].notna().all() and (part[n] % 1 == 0).all()]
        parts.append(part.astype(dict.fromkeys(integers, "int64")).assign(split=split))
    return pd.concat(parts).to_csv(index=False, lineterminator="\n").encode()


def _write(rows):
    """Return rows of cells as the bytes of a CSV file."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


CONVERT = {
    "plain": plain,
    "adult": adult,
    "compas": compas,
    "bars": bars,
    "bank": bank,
    "ad_campaign": ad_campaign,
    "acs": acs,
}
