"""The page for those who come from a paper: each test that it names exists, and each name."""

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import skdisc
from skdisc import AuditResult, all_detectors
from skdisc._utils._published_names import FIELDS, PUBLISHED_NAMES
from skdisc.extending import Discovery

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "doc" / "sources.md").read_text(encoding="utf-8")
SOURCES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "skdisc").rglob("*.py"))]


def cells(line):
    """Return the cells of a row of a table, in which a bar that belongs to a cell is escaped."""
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows():
    """Return each row of the page as section, published name, our name and test or reason."""
    found, owner = [], None
    for line in PAGE.splitlines():
        if line.startswith("`skdisc."):
            owner = re.match(r"`skdisc\.([\w.]+)`", line)[1]
        elif line.startswith("| ") and not line.startswith("| Published"):
            found.append((owner, *cells(line)))
    return found


ROWS = rows()
TESTED = [row for row in ROWS if row[3].startswith("`")]


def test_the_counts_at_the_top_are_those_of_the_tables():
    n, works, otherwise = map(
        int, re.search(r"Of (\d+) items, (\d+) work, .* (\d+) are otherwise", PAGE, re.S).groups()
    )
    assert (n, works, otherwise) == (len(ROWS), len(TESTED), len(ROWS) - len(TESTED))


def test_what_has_no_test_is_so_by_choice_for_a_reason():
    for _, published, ours, reason in (row for row in ROWS if row not in TESTED):
        assert ours == "otherwise", published
        assert re.match(r"by choice: .{20,}", reason), published


@cache
def names_in(path):
    """Return the names of the tests in a file."""
    text = (ROOT / "tests" / path).read_text(encoding="utf-8")
    return set(re.findall(r"^def (test_\w+)\(", text, re.M))


def test_each_test_exists():
    for _, published, _, test in TESTED:
        path, _, name = test.strip("`").partition("::")
        assert name.startswith("test_"), published
        assert name in names_in(path), test


def owner_of(name):
    """Return what the settings of a section belong to: a class, or the function of a package."""
    package, _, own = name.partition(".")
    module = import_module(f"skdisc.{package}")
    if own:
        return getattr(module, own)
    return module.DisparityScorer if package == "measures" else module.make_discrimination


@cache
def source_of(test):
    """Return the source of a test, and of the constants of its module that it uses."""
    path, _, name = test.strip("`").partition("::")
    text = (ROOT / "tests" / path).read_text(encoding="utf-8")
    nodes = ast.parse(text).body
    (function,) = (n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == name)
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
    constants = [
        node
        for node in nodes
        if isinstance(node, ast.Assign) and used & {getattr(t, "id", None) for t in node.targets}
    ]
    return "\n".join(ast.unparse(node) for node in [function, *constants])


def is_known(name, owner, test):
    """Return whether a name is a setting or an attribute of the owner, public, or in the test.

    A word that the test of the row has not, such as a column that no line of it reads, would be
    missing without a failure.
    """
    if name in inspect.signature(owner).parameters or hasattr(owner, name):
        return True
    documented = rf"^ *(\w+, )*{re.escape(name)}(, \w+)* : "  # among the attributes
    if re.search(documented, f"{owner.__doc__}\n{AuditResult.__doc__}", re.M):
        return True
    if "." in name:
        package, _, rest = name.partition(".")
        found = getattr(import_module("skdisc"), package, None)
        for part in rest.split("."):
            found = getattr(found, part, None)
        return found is not None
    if name in dir(AuditResult) or name in inspect.signature(Discovery).parameters:
        return True
    if hasattr(skdisc, name) or name in all_detectors():
        return True
    if any(
        hasattr(import_module(f"skdisc.{p}"), name) for p in ("extending", "individual", "subgroup")
    ):
        return True
    return re.search(rf"\b{re.escape(name)}\b", source_of(test)) is not None


@cache
def texts():
    """Return all texts of one word in the code."""
    return {word for text in SOURCES for word in re.findall(r'"(\w+)"', text)}


@pytest.mark.parametrize("section", dict.fromkeys(row[0] for row in ROWS))
def test_each_name_is_one_of_ours(section):
    owner, n_names = owner_of(section), 0
    for own, published, ours, test in TESTED:
        for code in re.findall(r"`([^`]+)`", ours) if own == section else ():
            name = re.match(r"[A-Za-z_][\w.]*", code)[0]
            assert is_known(name, owner, test), (published, code)
            n_names += 1
            for value in re.findall(r"=\"(\w+)\"", code):
                assert value in texts(), (published, code)
    assert n_names


DEFAULTS = [
    (row[0], *found) for row in TESTED for found in re.findall(r"`(\w+)`, ([\d.]+)", row[2])
]


def test_defaults_are_as_the_page_says():
    assert len(DEFAULTS) > 25
    for section, name, default in DEFAULTS:
        own = inspect.signature(owner_of(section)).parameters[name].default
        assert own == float(default), (section, name)


@pytest.mark.parametrize("name", sorted(PUBLISHED_NAMES))
def test_each_published_name_that_is_answered_is_on_the_page(name):
    assert is_on_the_page(name, PUBLISHED_NAMES[name])


@pytest.mark.parametrize("name", ["max_runtime_seconds", "max_tsn"])
def test_each_published_limit_is_on_the_page(name):
    assert is_on_the_page(name, f"Limits({FIELDS['limits'][name]}=...)")


def is_on_the_page(published, ours):
    return any(f"`{published}`" in row[1] and f"`{ours}`" in row[2] for row in TESTED)
