"""The first page of an audit: a paragraph for each protected column, in words that need no manual.

`answers` takes from a document what the paragraphs say, as numbers and names; `first_page` says it
in a language. `SENTENCES` has what a document tells in English sentences.
"""

from skdisc.report._first_page._answers import STATES, answers, exit_code
from skdisc.report._first_page._paragraphs import LANGUAGES, first_page, texts_of
from skdisc.report._first_page._told import in_language, noted, opening
from skdisc.report._first_page._units import favorable_named, have_spellings, in_a_row
from skdisc.report._first_page.languages.en import SENTENCES

__all__ = [
    "LANGUAGES",
    "SENTENCES",
    "STATES",
    "answers",
    "exit_code",
    "favorable_named",
    "first_page",
    "have_spellings",
    "in_a_row",
    "in_language",
    "noted",
    "opening",
    "texts_of",
]
