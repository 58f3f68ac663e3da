"""Every public name is used by an example: of its docstring, of the gallery, or of a page."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ["skdisc", "skdisc.exceptions", "skdisc.extending"]
ROOMS += sorted(f"skdisc.{p.parent.name}" for p in ROOT.glob("skdisc/[!_]*/__init__.py"))
PAGES = [ROOT / "README.md", *ROOT.glob("doc/tutorials/*.md")]  # whose code the tests run
PAGES += [ROOT / "doc" / f"{name}.md" for name in ("audit", "how_to_read", "large_data", "repair")]
PAGES += [ROOT / "doc" / f"{name}.md" for name in ("adding_a_detector", "migration", "questions")]

WITHOUT = {  # and why
    "fetch_ad_campaign": "its source is an archive that has to be downloaded",
    "serve": "does not return until it is interrupted; tests/app starts the command",
    "replicate": "takes an hour on trained networks; figures in doc/searches.md",
}


def code_of_examples():
    """Return all code that CI runs or shows outside docstrings."""
    parts = [path.read_text(encoding="utf-8") for path in ROOT.glob("examples/plot_*.py")]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        parts += re.findall(r"^```(?:python|sh)\n(.*?)^```", text, re.S | re.M)
    return "\n".join(parts)


CODE = code_of_examples()


def is_shown(name, thing):
    """Return whether an example uses a name; a report of a measure is shown by the measure."""
    if ">>>" in (inspect.getdoc(thing) or ""):
        return True
    return re.search(rf"\b{re.escape(name)}\b", CODE) is not None


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_has_an_example(room):
    module = import_module(room)
    things = {name: getattr(module, name) for name in module.__all__}
    things = {n: t for n, t in things.items() if not inspect.ismodule(t)}
    reports = {n for n in things if n.removesuffix("_report") in set(things) - {n}}
    lacking = [n for n, t in things.items() if n not in reports and not is_shown(n, t)]
    lacking = [n for n in lacking if n not in WITHOUT]
    assert not lacking
