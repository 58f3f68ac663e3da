"""The document of an audit inside its page, so that whoever has the page can check it."""

import binascii
import json
import re
import zlib
from base64 import b64decode, b64encode

NAME = "skdisc-audit"
_PLACE = re.compile(rf'(<meta name="{NAME}" content=")([A-Za-z0-9+/=]*)(">)')
_MOST = 100_000_000  # bytes of a document


def embedded(document: dict) -> str:
    """Return a document as the text of an attribute: JSON, compressed, in base 64."""
    text = json.dumps(document, separators=(",", ":"))
    return b64encode(zlib.compress(text.encode(), 9)).decode()


def document_in(page: str) -> dict:
    """Return the document inside a page.

    Parameters
    ----------
    page : str
        The text of a page that `audit_to_html` made.

    Raises
    ------
    ValueError
        If the page has none.
    """
    match = _PLACE.search(page)
    try:
        unpacked = zlib.decompressobj().decompress(b64decode(match[2]), _MOST) if match else b""
        document = json.loads(unpacked)
        if isinstance(document, dict):
            return document
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        pass
    raise ValueError(
        "The page does not contain the document of an audit: an older version of skdisc wrote it, "
        "it is the page of --details, or it was changed. Pass the .json of the audit, which "
        "--report audit.json writes."
    )


def without_document(page: str) -> str:
    """Return a page with an empty place for its document."""
    return _PLACE.sub(r"\1\3", page)
