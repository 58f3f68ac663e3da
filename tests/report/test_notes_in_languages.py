"""Notes above the answers: their English is of one catalog, and each text has a translation."""

import ast
import re
import string
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import skdisc
from skdisc import Audit, Limits
from skdisc._task._dependent_rows import alike_neighbors, repeated_rows
from skdisc.auditing import _notices
from skdisc.report._first_page import LANGUAGES, SENTENCES, in_language, noted, texts_of

CATALOGS = ("SENTENCES", "NOTE_TEXTS")
SAMPLES = {"n": "1,234", "value": "'v'", "mark": "','", "option": "--o 'c'", "attribute": "'sex'"}
SAMPLES |= {"values": "'a' (20), 'b' (10)", "groups": "sex = 'f'", "columns": " ('a')", "fine": "a"}
SAMPLES |= {"v": "0.91", "near": "0.31", "far": "0.02", "size": "5", "p": "0.02"}
ENGLISH = re.compile(r"\b(the|is|are|its|of|people|numbers?|groups? (compared|of))\b")
OTHERS = [language for language in LANGUAGES if language != "en"]


def fields_of(text):
    return [name for _, name, _, _ in string.Formatter().parse(text) if name]


def filled(text, language, start=""):
    """Return a text with fields, whose numbers are as in a language."""
    marks = import_module(f"skdisc.report._first_page.languages.{language}")
    values = {name: SAMPLES.get(name, "1,234") for name in fields_of(text)} | {"start": start}
    for name, value in values.items():
        if re.fullmatch(r"[\d,]+", value):
            values[name] = value.replace(",", marks.THOUSANDS)
        elif re.fullmatch(r"0\.\d+", value):
            values[name] = value.replace(".", marks.DECIMAL)
    return text.format(**values)


def forms(name, language):
    """Return a text with fields in English and in a language, with each beginning that it has."""
    texts = SENTENCES[name], texts_of({}, language).SENTENCES[name]
    starts = [("", "")]
    if "start" in fields_of(SENTENCES[name]):
        several = ["read as numbers", "read as percent", "read without unit"]
        several += ["with mark"] * (name != "with mark")
        starts = [pair for one in several for pair in forms(one, language)]
    return [
        (filled(texts[0], "en", ours), filled(texts[1], language, theirs))
        for ours, theirs in starts
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_told_in_each_language(language):
    """No text of the catalog is taken for another one that is more general."""
    texts = texts_of({}, language)
    for name in SENTENCES:
        for english, wanted in forms(name, language):
            assert in_language(texts, english) == wanted, english


def calls_of_notes():
    """Yield module, function and call for each note that is made and may stand above answers."""
    for path in sorted(Path(skdisc.__file__).parent.rglob("*.py")):
        code = path.read_text(encoding="utf-8")
        tree = ast.parse(code if "TableNote(" in code else "")
        for function in (f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)):
            for call in (c for c in ast.walk(function) if isinstance(c, ast.Call)):
                is_above = path.stem != "_notices" or any(k.arg == "above" for k in call.keywords)
                if getattr(call.func, "id", "") == "TableNote" and is_above:
                    yield tree, function, call


def is_in_catalog(node, function, tree):
    """Return whether an expression is made from the catalog, or is an option alone."""
    if isinstance(node, ast.Subscript):
        return getattr(node.value, "id", "") in CATALOGS
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr == "format" and is_in_catalog(node.func.value, function, tree)
        (helper,) = [f for f in tree.body if getattr(f, "name", "") == node.func.id]
        returns = [r.value for r in ast.walk(helper) if isinstance(r, ast.Return)]
        return all(is_in_catalog(value, helper, tree) for value in returns)
    if isinstance(node, ast.IfExp):
        return is_in_catalog(node.body, function, tree) and is_in_catalog(
            node.orelse, function, tree
        )
    if isinstance(node, ast.JoinedStr):
        return is_in_catalog(node.values[0], function, tree)
    if isinstance(node, ast.Constant):
        return not node.value or str(node.value).startswith("--")
    if isinstance(node, ast.Tuple):
        return all(is_in_catalog(part, function, tree) for part in node.elts)
    if isinstance(node, ast.GeneratorExp):
        return is_in_catalog(node.elt, function, tree)
    if isinstance(node, ast.Starred):
        return is_in_catalog(node.value, function, tree)
    values = list(assigned(node.id, function))
    return bool(values) and all(is_in_catalog(value, function, tree) for value in values)


def assigned(name, function):
    """Yield what is assigned to a name in a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.AugAssign) and node.target.id == name:
            yield ast.Constant("")
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if getattr(target, "id", "") == name and not is_format_of(node.value, name):
                yield node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for part, value in zip(target.elts, node.value.elts, strict=True):
                    if getattr(part, "id", "") == name:
                        yield value


def is_format_of(node, name):
    """Return whether an expression gives the fields of a text that another line assigns."""
    return ast.unparse(node).startswith(f"{name}.format(")


def test_all_notes_are_made_from_the_catalog():
    """A sentence written elsewhere would stay English on pages in other languages."""
    several = list(calls_of_notes())
    assert len(several) > 10  # two functions make most of them from names of the catalog
    for tree, function, call in several:
        if function.name == "copies":  # from notes of results: see below
            continue
        for part in call.args[1:]:
            assert is_in_catalog(part, function, tree), f"{function.name}: {ast.unparse(part)}"


def neighbors():
    """Return rows that follow each other in households."""
    rng = np.random.default_rng(0)
    y = np.repeat(rng.integers(0, 2, 300), 2)
    return pd.DataFrame({"age": rng.integers(0, 90, 600)}), y


def doubled():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(size=100), "town": rng.integers(0, 20, 100)})
    return pd.concat([X, X]), np.tile(rng.integers(0, 2, 100), 2)


def with_copies():
    X, y = doubled()
    return X[:120], y[:120]


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize(
    ("rows", "name"),
    [(neighbors, "neighbors"), (doubled, "copies"), (with_copies, "copies in all")],
)
def test_dependent_rows_are_told_in_each_language(rows, name, language):
    """These notices are made from notes of results."""
    X, y = rows()
    assert len(alike_neighbors(X, y) if name == "neighbors" else repeated_rows(X, y)) == 1
    (note,) = _notices.copies(X, y)
    texts = texts_of({}, language)
    first = texts.SENTENCES[name].partition("{")[0]
    assert in_language(texts, note.seen) != note.seen
    assert in_language(texts, note.seen).startswith(first)
    for part in (note.done, note.option):
        assert in_language(texts, part) in texts.SENTENCES.values()


@pytest.mark.parametrize(
    ("language", "line"),
    [
        (
            "de",
            "Labels, die sich nur in Groß- und Kleinschreibung oder Leerzeichen unterscheiden: "
            "'yes' (40), 'Yes' (12), 1 von weniger als 10 Personen; 'Yes' (12), 1 von weniger als "
            "10 Personen zählen als ungünstig (ohne --favorable-exact zählen sie als günstig; in "
            "Python alle nennen).",
        ),
        (
            "fr",
            "libellés qui ne diffèrent que par la casse ou les espaces : 'yes' (40), 'Yes' (12), "
            "1 de moins de 10 personnes; 'Yes' (12), 1 de moins de 10 personnes comptent comme "
            "défavorables (sans --favorable-exact, ils comptent comme favorables ; en Python, les "
            "nommer tous).",
        ),
    ],
)
def test_values_of_few_people_are_counted_in_each_language(language, line):
    labels = ["yes"] * 40 + ["Yes"] * 12 + ["YES"] * 3 + ["no"] * 20
    (note,) = _notices.favorable_spellings("label", labels, ["yes"], least=10)
    assert noted(texts_of({}, language), note.to_dict()) == line


def few(n, **columns):
    """Return people with columns, who are decided about by chance, and their outcomes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"sex": ["f", "m"] * (n // 2), "skill": rng.integers(0, 5, n), **columns})
    return X, rng.integers(0, 2, n)


def of_numbers(y):
    return Audit(protected="sex", output="value").fit(few(len(y))[0], y)


NOT_COMPARED = {
    "no time": lambda: Audit(protected="sex", limits=Limits(seconds=1e-9)).fit(*few(60)),
    "few people": lambda: Audit(protected="sex").fit(*few(12)),
    "one outcome": lambda: Audit(protected="sex").fit(*few(60), lambda X: np.ones(len(X))),
    "few clusters": lambda: Audit(protected="sex").fit(*few(60), groups=np.arange(60) % 3),
    "skewed": lambda: of_numbers(np.exp(np.random.default_rng(0).normal(0, 4, 60))),
    "equal numbers": lambda: of_numbers(np.array([1.0, 2.0] * 30)),
}


@pytest.mark.parametrize("world", NOT_COMPARED)
def test_why_nothing_is_known_is_told_in_each_language(world):
    """Reasons of questions, which the first page has in brackets."""
    document = NOT_COMPARED[world]().report_.document
    reasons = {row["reason"] for row in document["verdicts"] if row["bound"] is None}
    assert reasons
    for language in OTHERS:
        for reason in reasons:
            words = in_language(texts_of(document, language), reason)
            assert not ENGLISH.search(words), words
