"""What the site adds to the pages of the repository: pages of public names, links, formulas."""

import os
import re
import subprocess
import tarfile
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import detector_tables
from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
ROOT = HERE.parent
MATHJAX = "mathjax@3.2.2"
PAGE = """{title}
{line}

.. automodule:: {room}
   :no-members:

.. currentmodule:: {room}

.. autosummary::
   :toctree: .

{names}
"""


def rooms():
    """Return the public packages and modules, each with its public names."""
    found = ["skdisc", "skdisc.exceptions", "skdisc.extending"]
    found += sorted(f"skdisc.{p.parent.name}" for p in ROOT.glob("skdisc/[!_]*/__init__.py"))
    return {room: import_module(room).__all__ for room in found}


@cache
def places():
    """Map every public name to its full name: that of the package for its users."""
    full = {}
    order = sorted(rooms().items(), key=lambda item: (item[0] == "skdisc.extending", item[0]))
    for room, names in order:
        for name in names:
            if has_page(room, name):
                full.setdefault(name, f"{room}.{name}")
    return {name: place for name, place in full.items() if place not in rooms()}


def has_page(room, name):
    """Return whether a name has a page: constants have no docstring, and stand in their room's."""
    thing = getattr(import_module(room), name)
    return callable(thing) or isinstance(thing, ModuleType)


def runnable_examples():
    """Return a pattern of the examples that can run: those on public data need the data."""
    examples = sorted(ROOT.glob("examples/plot_*.py"))
    if "SKDISC_DATA" not in os.environ:
        examples = [e for e in examples if "fetch_" not in e.read_text(encoding="utf-8")]
    return "|".join(re.escape(example.stem) for example in examples)


def connect(app):
    """Connect all that follows to a build."""
    app.add_role("code_or_name", _code_or_name)
    app.connect("config-inited", _write_pages)
    app.connect("source-read", _adapt)
    app.connect("autodoc-skip-member", _skip_foreign)


def _write_pages(app, config):
    """Write a page for every public package, and fetch what draws formulas."""
    folder = HERE / "generated" / "api"
    folder.mkdir(parents=True, exist_ok=True)
    own = places()
    for room, names in rooms().items():
        shown = sorted(name for name in names if own.get(name) == f"{room}.{name}")
        page = PAGE.format(
            title=room, line="=" * len(room), room=room, names="\n".join(f"   {n}" for n in shown)
        )
        _write(folder / f"{room}.rst", page)
    for name in ("CONTRIBUTING", "CODE_OF_CONDUCT"):
        text = (ROOT / f"{name}.md").read_text(encoding="utf-8").replace("](doc/", "](../")
        text = text.replace("](CODE_OF_CONDUCT.md)", "](code_of_conduct.md)")
        _write(HERE / "generated" / f"{name.lower()}.md", text)
    _fetch_mathjax(HERE / "generated" / "static" / "mathjax")


def _write(path, text):
    """Write a page unless it is there already, so that it is not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _fetch_mathjax(folder):
    """Take one file out of the npm package, which draws formulas without a network."""
    if (folder / "tex-svg.js").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "pack", "--silent", MATHJAX]
    packed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    archive = folder / packed.stdout.strip()
    with tarfile.open(archive) as files:
        source = files.extractfile("package/es5/tex-svg.js")
        (folder / "tex-svg.js").write_bytes(source.read())
    archive.unlink()


def _code_or_name(name, rawtext, text, lineno, inliner, options=None, content=()):
    """Render `name` as code, and as a link where it is a public name."""
    own = places()
    literal = nodes.literal(rawtext, text)
    first, _, rest = text.removesuffix("()").partition(".")
    target = own.get(first) if not text.startswith("skdisc.") else text.removesuffix("()")
    if target is None or (rest and not text.startswith("skdisc.")):
        return [literal], []
    link = addnodes.pending_xref(
        rawtext, refdomain="py", reftype="obj", reftarget=target, refexplicit=True
    )
    link += literal
    return [link], []


def _adapt(app, docname, content):
    """Make tables of detectors anew, and let links to files lead to pages of the site."""
    text = detector_tables.with_tables(content[0])
    up = "../" * docname.count("/")
    text = re.sub(r"\]\((?:\.\./)+CONTRIBUTING\.md", f"]({up}generated/contributing.md", text)
    text = re.sub(r"\]\((?:\.\./)+examples/(\w+)\.py\)", rf"]({up}auto_examples/\1.rst)", text)
    text = re.sub(r"\]\((?:\.\./)+examples\)", rf"]({up}auto_examples/index.rst)", text)
    if docname.endswith("article/article"):
        text = re.sub(r"\[@([^\]]+)\]", lambda m: f"{{cite}}`{re.sub('; *@', ',', m[1])}`", text)
    if docname == "api":
        pages = "\n".join(f"generated/api/{room}" for room in rooms())
        text = f"{_linked_names(text)}\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"
    content[0] = text


def _linked_names(text):
    """Let every name in a section of the overview lead to its page."""
    sections = re.split(r"(?m)^(?=## skdisc)", text)
    for i, section in enumerate(sections[1:], start=1):
        here = set(import_module(re.match(r"## (\S+)", section)[1]).__all__) & set(places())
        names = "|".join(sorted(here, key=len, reverse=True)) or "(?!)"
        sections[i] = re.sub(
            rf"`({names})`", lambda m: f"{{py:obj}}`{m[1]} <{places()[m[1]]}>`", section
        )
    return "".join(sections)


def _skip_foreign(app, what, name, thing, skip, options):
    """Leave out methods that scikit-learn and others document."""
    function = getattr(thing, "fget", thing)
    module = getattr(function, "__module__", None) or ""
    is_request = name.startswith("set_") and name.endswith("_request")
    if is_request or (callable(function) and not module.startswith("skdisc")):
        return True
    return None
