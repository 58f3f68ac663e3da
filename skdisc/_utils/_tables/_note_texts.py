"""What notes on reading a table say, by name; the first page has the same in each language.

Texts that begin with another one come first, and the most general ones last: a note of a document
is of the first text that it can be.
"""

NOTE_TEXTS = {
    "one missing text": "{start}; one text in {n} rows counts as missing",
    "missing text": "{start}; {value} in {n} rows counts as missing",
    "one missing text once": "{start}; one text in 1 row counts as missing",
    "with mark": "{start}, with {mark} as decimal mark",
    "counts": "numbers of people",
    "people in rows": "{people} people in {n} rows",
    "without counts": "without --counts each row is a person",
    "read as numbers": "read as numbers",
    "read as text": "read as text",
    "decimal mark": "numbers with the decimal mark {mark}",
    "not UTF-8": "the file is not in UTF-8",
    "read as encoding West": "read as {value} (Western European)",
    "read as percent": "read as percent (5 % is 5)",
    "read without unit": "read as numbers, without {value}",
    "numbers": "numbers",
    "two marks": "numbers that fit the decimal marks {mark} and {value}",
    "other mark": "its numbers have the decimal mark {mark}",
    "some numbers": "{n} % of the values are numbers, the others are texts",
    "counts as missing": "{option} counts a text as missing",
    "other reading": "{option} reads them otherwise",
    "other encoding": "--encoding reads another",
    "dates": "dates",
    "dates not compared": "which are not compared; an age is made of dates of birth",
    "derived age": "{option}; {value} keeps the text",
    "dates of birth": "dates of birth",
    "age": "{value} is the age in whole years on {mark}",
    "another day": "--derive takes another day",
    "other sheets": "the other sheets are empty",
    "sheet": "sheet {value} was read",
    "some labels": "{n} of its {total} values have labels",
    "keeps text": "{option} keeps the text",
    "read as": "read as {value}",
}
