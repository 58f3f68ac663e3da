"""Notes on what an option has done to a table, in sentences that each language has."""

from typing import Any

from skdisc._utils._tables import TableNote
from skdisc.report._first_page import SENTENCES


def note_of(option: str, column: Any, seen: str, done: str, **fields: str) -> TableNote:
    """Return a note on what an option has done.

    `column`: None for the whole table. `seen`, `done`: names of `SENTENCES`. `fields`: what the
    first of them has places for.
    """
    by_option = SENTENCES["by option"].format(option=option)
    return TableNote(column, SENTENCES[seen].format(**fields), SENTENCES[done], by_option)
