"""The encoding of a text file, where its bytes leave one possibility only."""

import codecs
import gzip
import io
import re
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PIECE = 2**20
_TELL = ContextVar("tell", default=None)  # see `telling`
_LOOKED_AT = 20 * _PIECE  # of text with characters beyond ASCII
_MARKS = (  # at the beginning of a file; the longer one first
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UPPER, _LOWER = "À-ÖØ-ÞŒŠŽŸ", "ß-öø-ÿœšž"
_LETTER = f"A-Za-z{_UPPER}{_LOWER}"
# What Western European text does not have: a sign inside a word (as „ for ä of a DOS file), and a
# capital letter with an accent inside a word of small letters (as Š for ä of an old Macintosh), or
# two rare signs in a row (as in Chinese).
_ODD = re.compile(
    f"(?<=[{_LETTER}])[^\x00-\x7f{_LETTER}’‘´·\xa0\xad](?=[{_LETTER}])"
    f"|(?<=[a-z{_LOWER}])[{_UPPER}]"
    f"|(?<=[{_LETTER}])[{_UPPER}](?=[a-z{_LOWER}])"
    f"|[^\x00-\x7f{_LETTER}’‘“”„‚–—…«»€°\xa0]{{2}}"
)
_WORD = re.compile(f"[{_LETTER}]*[{_UPPER}{_LOWER}][{_LETTER}]*")
_ACCENTED = re.compile(f"[{_UPPER}{_LOWER}]")


class NotText(ValueError):  # noqa: N818 - a ValueError to those who read a table
    """The bytes of a file are not text in an encoding that can be recognized."""


def opened(path, mode="rb", **how):
    """Open a file for reading, which may be compressed by gzip."""
    file = io.BufferedReader(_ToldFile(path, _TELL.get()), _PIECE // 4)
    if Path(path).suffix.lower() == ".gz":
        raw, file = file, gzip.GzipFile(fileobj=file)
        file.myfileobj = raw  # which is closed with it
    return io.TextIOWrapper(file, **how) if mode == "rt" else file


@contextmanager
def telling(tell):
    """Call a function with the number of bytes of each read from a file that is opened within.

    `tell`: of CSV files it is called at least once for each MiB, as it lies on the disk.
    """
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


class _ToldFile(io.FileIO):
    """A file that tells how many bytes were read, unless there is nobody to tell."""

    def __init__(self, path, tell):
        super().__init__(path)
        self._tell = tell

    def readinto(self, buffer):
        """Read, and tell how much."""
        n = super().readinto(buffer)
        if self._tell is not None:
            self._tell(n)
        return n

    def readall(self):
        """Read all that is left, and tell how much."""
        content = super().readall()
        if self._tell is not None:
            self._tell(len(content))
        return content


def encoding_of(path, most_bytes=None):
    """Return the encoding of a text file.

    UTF-8 is recognized by its rules, UTF-16 and UTF-32 by their marks. Western European text in
    cp1252 (of which latin-1 is a part) is recognized by its words: other encodings of single bytes
    put signs or capitals inside them, and those of other scripts accented letters only.

    `path`: a text file, perhaps compressed by gzip. `most_bytes`: the largest size after
    decompression. Returns a str: "utf-8-sig", "utf-16", "utf-32" or "cp1252". Raises NotText if the
    encoding cannot be recognized. Raises ValueError if the file is larger.
    """
    with opened(path) as file:
        first = file.read(_PIECE)
        for mark, encoding in _MARKS:
            if first.startswith(mark):
                return encoding
        if b"\0" in first:
            raise NotText("it holds bytes of zero, as files that are not text, or UTF-16, do")
        decoder, size, is_utf8 = codecs.getincrementaldecoder("utf-8")(), 0, True
        western, piece = _Western(), first
        while piece or is_utf8:
            size += len(piece)
            if most_bytes is not None and size > most_bytes:
                raise ValueError(f"it has more than {most_bytes / 1e9:g} GB of text")
            if is_utf8:
                try:
                    decoder.decode(piece, final=not piece)
                except UnicodeDecodeError:
                    is_utf8 = False
            western.look_at(piece)
            if not piece:
                break
            piece = file.read(_PIECE)
    if is_utf8:
        return "utf-8-sig"
    if western.is_plausible:
        return "cp1252"
    raise NotText(f"its bytes are neither UTF-8 nor plausible as cp1252 ({western.why})")


class _Western:
    """Looks for what text in cp1252 does not have."""

    def __init__(self):
        self._n_looked_at = self._n_letters = self._n_accented = 0
        self._end, self.why = "", ""

    def look_at(self, piece):
        """Read on."""
        if self.why or piece.isascii():
            self._end = ""
            return
        try:
            text = self._end + piece.decode("cp1252")
        except UnicodeDecodeError as error:
            self.why = f"byte {error.object[error.start]:#x} means nothing there"
            return
        self._end = text[-50:].rpartition(" ")[2]  # a word may go on in the next piece
        if self._n_looked_at > _LOOKED_AT:
            return
        self._n_looked_at += len(text)
        if odd := _ODD.search(text):
            self.why = f"signs like {odd[0]!r} stand inside words"
            return
        for word in _WORD.findall(text):
            if len(word) > 2:
                self._n_letters += len(word)
                self._n_accented += len(_ACCENTED.findall(word))

    @property
    def is_plausible(self):
        """Whether everything read so far can be Western European text."""
        if not self.why and 2 * self._n_accented > self._n_letters:
            self.why = "words would consist of accented letters"
        return not self.why
