"""Every link of the documentation resolves, and doc/api.md names all that is public, once."""

import re
import runpy
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from skdisc import all_detectors

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "doc").rglob("*.md"))]
API = (ROOT / "doc" / "api.md").read_text(encoding="utf-8")
ROOMS = re.findall(r"^## (skdisc\S*)$", API, re.M)

TABLES = runpy.run_path(str(ROOT / "doc" / "detector_tables.py"))

ELSEWHERE = {"skdisc", "help", "measure", "measure_report", "truth", "data_home", "SKDISC_DATA"}
ELSEWHERE |= {"ax_", "table", "recourse_", "Pipeline"}  # explained there, no name of ours


def anchors(page):
    """Return what GitHub calls the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in (link for link in links if "://" not in link):
        path, _, anchor = link.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), link
        assert not anchor or anchor in anchors(there), link


def cells(text):
    """Return the cells of each detector in the tables of detectors of a page, by table."""
    found = {}
    for table in re.finditer(TABLES["TABLE"], text):
        for line in table[0].split("\n\n")[1].splitlines()[2:]:
            names, *row = line.strip("| ").split(" | ")
            found |= {(table[1], name): row for name in re.findall(r"`([^`]+)`", names)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_of_detectors_say_what_their_classes_say(page):
    """A row of a new detector may be missing until `python doc/detector_tables.py` adds it."""
    text = page.read_text(encoding="utf-8")
    assert cells(text).items() <= cells(TABLES["with_tables"](text)).items()


@pytest.mark.parametrize("table", sorted(TABLES["TABLES"]))
def test_every_detector_has_all_cells_of_a_table(table):
    rows = TABLES["TABLES"][table][1]()
    assert len(rows) == len(all_detectors())
    assert not [name for name, row in rows.items() if not all(row)], "fill in their card"


def test_every_package_with_public_names_has_one_section():
    rooms = [p.parent.name for p in ROOT.glob("skdisc/[!_]*/__init__.py")]
    assert sorted(ROOMS) == sorted(
        ["skdisc", "skdisc.exceptions", "skdisc.extending", *(f"skdisc.{r}" for r in rooms)]
    )


def section(room):
    return set(re.findall(r"`(\w+)", API.split(f"## {room}\n")[1].split("\n## ")[0]))


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_section_of_its_package(room):
    public = set(import_module(room).__all__) - {r.removeprefix("skdisc.") for r in ROOMS}
    reports = {n for n in public if n.removesuffix("_report") in public - {n}}  # said in general
    detectors = set(all_detectors())  # their complete list is that of ``skdisc detectors``
    assert public - reports - detectors <= section(room)


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_in_the_section_of_a_package_exists(room):
    public = {n: getattr(import_module(r), n) for r in ROOMS for n in import_module(r).__all__}
    members = {member for thing in public.values() for member in dir(thing)}
    assert section(room) <= members | set(public) | ELSEWHERE


@pytest.mark.parametrize("room", ROOMS)
def test_constants_are_explained_by_the_docstring_of_their_package(room):
    """They have no docstring, and no page, of their own."""
    module = import_module(room)
    things = {name: getattr(module, name) for name in module.__all__}
    constants = [n for n, t in things.items() if not (callable(t) or isinstance(t, ModuleType))]
    assert not [n for n in constants if f"``{n}``" not in module.__doc__]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_dotted_names_exist(page):
    for name in set(re.findall(r"\bskdisc(?:\.\w+)+", page.read_text(encoding="utf-8"))):
        if name.rpartition(".")[2] in {"md", "py", "git", "toml", "cfg"}:
            continue
        thing, parts = import_module("skdisc"), name.split(".")[1:]
        for i, part in enumerate(parts):
            if not hasattr(thing, part):
                import_module(".".join(["skdisc", *parts[: i + 1]]))
            thing = getattr(thing, part)
