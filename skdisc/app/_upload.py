"""An upload, streamed into a file of the private folder."""

import re
import shutil
from pathlib import Path

from python_multipart.exceptions import FormParserError, MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from skdisc._utils._tables import TABLES

_FREE = 200_000_000  # bytes that stay free on the disk
_ODD = re.compile(r"[^\w .()+-]", re.ASCII)


class RefusedError(ValueError):
    """An upload that is not kept.

    Parameters
    ----------
    message : str
    status : int
        Of the answer.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class OneFile:
    """The one file of a form, written as it arrives.

    Parameters
    ----------
    content_type : str
        That of the request.
    folder : Path
        Where the file is written, as ``data`` with the end of its name.
    most_bytes : int
        Largest size of the file.

    Attributes
    ----------
    name : str or None
        The name of the file that the browser tells, without folders, to be shown.
    path : Path or None
        Where it is; None without a file.
    """

    def __init__(self, content_type: str, folder: Path, most_bytes: int) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise RefusedError("The request is not the form of a file. Use the page of the app.")
        self.folder, self.most_bytes = folder, most_bytes
        self.name, self.path, self.n_bytes = None, None, 0
        self._file, self._headers, self._field, self._value, self._n_parts = None, {}, b"", b"", 0
        self._is_complete = False
        named = ("part_begin", "header_field", "header_value", "header_end", "headers_finished")
        named += ("part_data", "part_end", "end")
        callbacks = {f"on_{name}": getattr(self, f"_on_{name}") for name in named}
        try:
            self._parser = MultipartParser(options[b"boundary"], callbacks)
        except FormParserError as error:  # a boundary longer than any browser makes
            raise RefusedError("The form of the file is damaged. Send it again.") from error

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the request."""
        try:
            self._parser.write(chunk)
        except MultipartParseError as error:
            raise RefusedError("The form of the file is damaged. Send it again.") from error
        except OSError as error:
            raise RefusedError(f"The file could not be kept: {error.strerror}.", 507) from error

    def finish(self) -> None:
        """End the file; raise RefusedError if there is none, or a part of it only."""
        try:
            self._parser.finalize()
        except MultipartParseError:
            self._is_complete = False
        if not self._is_complete:
            raise RefusedError("The file did not arrive as a whole. Send it again.")
        if self.path is None:
            raise RefusedError("Choose a file first.")
        if not self.n_bytes:
            raise RefusedError(f"{self.name!r} is empty.")

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _on_part_begin(self):
        self._n_parts += 1
        self._headers, self._field, self._value = {}, b"", b""
        if self._n_parts > 1:
            raise RefusedError("Send one file at a time.")

    def _on_header_field(self, data, start, end):
        self._field += data[start:end]

    def _on_header_value(self, data, start, end):
        self._value += data[start:end]

    def _on_header_end(self):
        self._headers[self._field.lower()] = self._value
        self._field, self._value = b"", b""

    def _on_headers_finished(self):
        _, about = parse_options_header(self._headers.get(b"content-disposition", b""))
        if b"filename" not in about:
            raise RefusedError("The request is not the form of a file. Use the page of the app.")
        filename = about[b"filename"].decode("utf-8", "replace")
        if filename:
            self.name = shown_name(filename)
            self.path = self.folder / f"data{table_end(self.name)}"
            self._file = open(self.path, "xb")  # noqa: SIM115 - closed by close

    def _on_part_data(self, data, start, end):
        if self._file is None:
            return
        self.n_bytes += end - start
        if self.n_bytes > self.most_bytes:
            most = size_told(self.most_bytes)
            raise RefusedError(f"The file is larger than {most}: {_LARGER}", 413)
        check_free(self.folder)
        self._file.write(data[start:end])

    def _on_part_end(self):
        self.close()

    def _on_end(self):
        self._is_complete = True


_LARGER = "start the app with --max-upload, or with --data FILE, which copies nothing."


def check_free(folder: Path) -> None:
    """Raise RefusedError if the disk is nearly full."""
    if shutil.disk_usage(folder).free < _FREE:
        raise RefusedError(
            f"The disk of {str(folder.parent)!r} has less than {size_told(_FREE)} left. Make room, "
            "or set TMPDIR to a folder on another disk.",
            507,
        )


def shown_name(filename: str) -> str:
    """Return a name of a file without folders; it is shown, and never opened."""
    return re.split(r"[/\\]", filename)[-1].strip()[:120] or "file"


def plain_name(name: str) -> str:
    """Return a name for a file that is downloaded: ASCII, without what headers could mistake."""
    return _ODD.sub("_", name).strip(". ") or "file"


def table_end(name: str) -> str:
    """Return the end of a name that says which kind of table a file is.

    Raises
    ------
    RefusedError
        If it is none.
    """
    ends = [end for end in TABLES if name.lower().endswith(end)]
    if not ends:
        raise RefusedError(
            f"{name!r} is no table that can be read; its name must end in one of "
            f"{', '.join(TABLES)}. In a spreadsheet program, save it as .xlsx, .ods or .csv."
        )
    return max(ends, key=len)


def size_told(n_bytes: int) -> str:
    """Return a size for people."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}"
    return f"{n_bytes} bytes"


def bytes_of(text: str) -> int:
    """Return the number of bytes of a size such as 600MB.

    Raises
    ------
    ValueError
        If the text is no size.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(k|M|G)?B?", text.strip(), re.IGNORECASE)
    n = 0 if match is None else int(float(match[1]) * _UNITS[(match[2] or "").lower()])
    if n < 1:
        raise ValueError(f"--max-upload {text!r} is no size such as 600MB or 2GB.")
    return n


_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9}
