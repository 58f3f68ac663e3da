"""What a document tells in English sentences, in the words of a language."""

import re
from functools import cache

from skdisc.report._first_page._units import favorable_named, group_name, in_a_row, number
from skdisc.report._first_page.languages import en

_VERBATIM = ("option", "start", "value", "values", "groups", "columns", "fine", "attribute", "mark")
_GROUPED, _DECIMAL = r"\d{1,3}(,\d{3})+", r"-?\d*\.\d+"


def in_language(texts, text):
    """Return a sentence, or a part of one, of a document in a language.

    Returns
    -------
    str
        As it is, if it is none of `SENTENCES`.
    """
    text = str(text or "")
    end = "." if text.endswith(".") else ""
    for name, pattern in _patterns():
        match = pattern.fullmatch(text.removesuffix("."))
        if match:
            fields = {n: _number(texts, n, value) for n, value in match.groupdict().items()}
            if "start" in fields:
                fields["start"] = in_language(texts, fields["start"])
            if "groups" in fields:
                names = fields["groups"].split(", ")
                fields["groups"] = ", ".join(group_name(texts, name) for name in names)
            if "values" in fields:
                fields["values"] = _with_few(texts, fields["values"])
            return texts.SENTENCES[name].format(**fields) + end
    return text


def is_sentence(text, *names):
    """Return whether a sentence of a document is one of some of `SENTENCES`."""
    text = str(text or "").removesuffix(".")
    return any(pattern.fullmatch(text) for name, pattern in _patterns() if name in names)


def noted(texts, row):
    """Return what was noticed in a table as one line."""
    parts = [in_language(texts, row[name]) for name in ("seen", "done", "option")]
    column = row["column"]
    what = "" if column is None else f"{texts.PAY_TARGETS.get(column, column)!r}: "
    about = f"; {parts[1]} ({parts[2]})" if parts[1] and parts[2] else ""
    return f"{what}{parts[0] or '–'}{about}."


def opening(document, texts):
    """Return what was audited in a sentence of a language, from the fields of a document."""
    about = document["about"]
    outcome, kind = about.get("outcome"), about["audited"]
    fields = {
        "n": number(texts, about["n_rows"], 0),
        "names": in_a_row(about["protected"], texts.AND),
        "labels": favorable_named(texts, document)[0],
    }
    if outcome is None and not about["favorable"]:  # public reports of pay
        outcome = {"name": about["sentence"].partition(": ")[0]}
    if outcome is not None:
        words, name = texts.OPENING_WORDS, outcome.get("name")
        named = {
            "what": texts.PAY_TARGETS.get(name, name)
            or words.get(outcome.get("output"), words["value"])
        }
        named["compared"] = words[outcome.get("scale") or "difference"]
        fields |= named | {"better": words[outcome.get("better") or "high"]}
        text = texts.OPENING["numbers"]
    elif kind not in texts.OPENING:
        return about["sentence"]
    else:
        text = texts.OPENING[kind]
    refused = re.search(r"public document: ([\d,]+) group", about["sentence"])
    sentence = text.format(**fields)
    if refused is None:
        return sentence
    n = int(refused[1].replace(",", ""))
    return (
        f"{sentence} {texts.PUBLIC['one' if n == 1 else 'several'].format(n=number(texts, n, 0))}"
    )


def _with_few(texts, values):
    """Return the values that a note names, with the number of those of few people."""
    words = texts.SENTENCES["of few"]
    few = _pattern(en.SENTENCES["of few"], r"\d+")
    return few.sub(lambda match: words.format(**match.groupdict()), values)


@cache
def _patterns():
    """Return the English sentences as patterns, by name."""
    return [(name, _pattern(text.rstrip("."))) for name, text in en.SENTENCES.items()]


def _pattern(text, field=".*?"):
    """Return a text as a pattern that matches it with any fields."""
    parts = re.split(r"{(\w+)}", text)
    groups = [f"(?P<{name}>{field})" for name in parts[1::2]] + [""]
    words = map(re.escape, parts[::2])
    return re.compile("".join(w + group for w, group in zip(words, groups, strict=True)))


def _number(texts, name, value):
    """Return a number of an English text as a language writes it; other values as they are."""
    if name in _VERBATIM:
        return value
    if re.fullmatch(_GROUPED, value):
        return value.replace(",", texts.THOUSANDS)
    return value.replace(".", texts.DECIMAL) if re.fullmatch(_DECIMAL, value) else value
