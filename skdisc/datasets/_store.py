"""Public data on disk: downloaded once, verified, and written atomically."""

import gzip
import hashlib
import http.client
import io
import json
import os
import tempfile
import urllib.error
import urllib.request
import zlib
from functools import cache
from importlib.resources import files
from pathlib import Path

import pandas as pd

from skdisc._utils._files import write_bytes
from skdisc.datasets._convert import CONVERT

_TIMEOUT = 30  # seconds without a response


@cache
def registry():
    """Return the registry of data sets: sources, checksums, and the roles of columns."""
    return json.loads(files("skdisc.datasets").joinpath("registry.json").read_text("utf-8"))


def find_csv(name, data_home, download_if_missing=True):
    """Return the verified bytes of the CSV file of a data set.

    `name`: key of the registry. `data_home`: folder of the data; None stands for ``$SKDISC_DATA``,
    or else ``~/skdisc_data``. Raises OSError if the file is damaged, cannot be downloaded, or
    cannot be stored.
    """
    entry = registry()[name]
    home = Path(data_home or os.environ.get("SKDISC_DATA") or Path.home() / "skdisc_data")
    path = home.expanduser() / f"{entry['file']}.csv.gz"
    if path.is_file():
        return _read(path, entry)
    paths = [path.parent / _file_name(source) for source in entry["sources"]]
    if not all(map(Path.is_file, paths)):
        if not download_if_missing:
            raise OSError(f"{path.name!r} is not in {str(path.parent)!r}. {_by_hand(path, entry)}")
        _check_folder(path, entry)
    raw = [_source(*pair, path, entry) for pair in zip(entry["sources"], paths, strict=True)]
    try:
        table = CONVERT[entry["convert"]](*raw)
    except (OSError, ValueError) as error:
        raise OSError(
            f"{path.name!r} could not be created: {error}. {_by_hand(path, entry)}"
        ) from error
    if fault := _fault(table, entry):
        raise OSError(f"{path.name!r} could not be created: the converted file has {fault}.")
    _check_folder(path, entry)
    write_bytes(path, gzip.compress(table, mtime=0))
    return table


def _by_hand(path, entry):
    """Return the instructions for downloading the files by hand."""
    urls = " and ".join(source["url"] for source in entry["sources"])
    names = " and ".join(repr(_file_name(source)) for source in entry["sources"])
    return (
        f"Download {urls} and put {names} into {str(path.parent)!r}, or set data_home= or "
        f"SKDISC_DATA to the folder that holds '{entry['file']}.csv.gz'. "
        f"Archive of record: {entry['archive']}."
    )


def _file_name(source):
    """Return the file name at the end of the URL of a source."""
    return source["url"].rpartition("/")[2]


def _read(path, entry):
    """Return the verified bytes of a stored CSV file."""
    try:
        table = gzip.decompress(path.read_bytes())
    except (EOFError, zlib.error, OSError) as error:
        raise OSError(f"{str(path)!r} cannot be read ({error}). Remove it.") from error
    if fault := _fault(table, entry):
        raise OSError(f"{str(path)!r} is not the published data: its CSV has {fault}. Remove it.")
    return table


def _fault(table, entry):
    """Return how a CSV differs from the published one, by checksum or else by counts, or ''."""
    if "counts" not in entry:
        checksum, expected = hashlib.sha256(table).hexdigest(), entry["csv_sha256"]
        return f"the sha256 {checksum}, not {expected}" if checksum != expected else ""
    try:
        columns = pd.read_csv(io.BytesIO(table), usecols=list(entry["counts"]))
    except ValueError as error:
        return f"other columns ({error})"
    counts = {"rows": len(columns), **columns.sum().to_dict()}
    expected = {"rows": entry["rows"], **entry["counts"]}
    return f"{counts}, not {expected}" if counts != expected else ""


def _source(source, path, target, entry):
    """Return the bytes of a published file, from the folder or downloaded."""
    if path.is_file():
        raw, where, remedy = path.read_bytes(), str(path), "Remove it."
    else:
        where, remedy = source["url"], _by_hand(target, entry)
        try:
            with urllib.request.urlopen(where, timeout=_TIMEOUT) as answer:
                raw = answer.read()
        except (OSError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            raise OSError(f"{where} could not be downloaded ({error!r}). {remedy}") from error
    blob = hashlib.sha1(b"blob %d\0" % len(raw) + raw, usedforsecurity=False).hexdigest()
    if blob != source.get("blob", blob):
        raise OSError(
            f"{where} is not the published file: its checksum (git blob) is {blob}, not "
            f"{source['blob']}. {remedy}"
        )
    return raw


def _check_folder(path, entry):
    """Create the folder; raise OSError before the download if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"{path.name!r} cannot be stored in {str(path.parent)!r} ({error}). Pass a writable "
            f"folder by data_home= or SKDISC_DATA. {_by_hand(path, entry)}"
        ) from error
