"""Sections of docstrings that several functions or classes share: each is written once."""

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
SHARED = ("Parameters", "Returns", "Raises")
_HEADING = re.compile(
    r"^(Parameters|Other Parameters|Attributes|Returns|Yields|Raises|Warns|See Also|Notes|"
    r"References|Examples)\n-+\n",
    re.MULTILINE,
)


def with_sections(text: str | None) -> Callable[[Function], Function]:
    """Return a decorator that adds the entries of sections to those of a docstring.

    Where both have an entry of one name, or say what is returned, the function's stands. Parameters
    are those of the signature, in its order.

    `text`: the sections, or the docstring of the function that this one overrides or extends, of
    which those of `SHARED` are taken.
    """
    sections = _split(text or "")[1]
    shared = {title: body for title, body in sections.items() if title in SHARED}

    def decorate(function):
        if not function.__doc__:  # Python may run without docstrings
            return function
        start, own_sections = _split(function.__doc__)
        order = list(inspect.signature(function).parameters)
        sections = {}
        for title, body in shared.items():
            entries = _entries(own_sections.pop(title, ""))
            if title != "Returns" or not entries:
                entries = _merged(entries, _entries(body))
            if title == "Parameters":
                entries = [entry for entry in entries if _names(entry)[0] in order]
                entries.sort(key=lambda entry: order.index(_names(entry)[0]))
            sections[title] = "\n".join(entries)
        function.__doc__ = _joined(start, sections | own_sections)
        return function

    return decorate


def with_inherited_entries(cls: type) -> str:
    """Return the docstring of a class with the attributes and errors of the nearest base.

    They stand where the class has no such section, and else where ``{inherited}`` stands in it, but
    for the names that the class describes itself.
    """
    start, sections = _split(cls.__doc__)
    first = {title: sections.pop(title) for title in ("Parameters",) if title in sections}
    for title in ("Attributes", "Raises"):
        is_absent, entries = title not in sections, _entries(sections.pop(title, ""))
        if is_absent or "{inherited}" in entries:
            of_bases = (_split(base.__doc__ or "")[1] for base in cls.__mro__[1:])
            inherited = next((of_base[title] for of_base in of_bases if title in of_base), "")
            if not (inherited or is_absent):
                raise TypeError(
                    f"{cls.__name__}: no base has a section {title}, for which {{inherited}} "
                    "stands in the docstring. Leave the line out."
                )
            described = [entry for entry in entries if entry != "{inherited}"]
            entries = _merged(described, _entries(inherited))
        if entries:
            first[title] = "\n".join(entries)
    return _joined(start, first | sections)


def _split(doc):
    """Return what stands before the sections, and the text of each section by its title."""
    start, *parts = _HEADING.split(inspect.cleandoc(doc))
    return start.strip(), {t: p.strip("\n") for t, p in zip(parts[::2], parts[1::2], strict=True)}


def _joined(start, sections):
    """Return a docstring."""
    pages = (f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items())
    return "\n\n".join(filter(None, (start, *pages))) + "\n"


def _entries(body):
    """Return the entries of a section: each begins with a line that is not indented."""
    return re.split(r"\n+(?=\S)", body) if body else []


def _names(entry):
    """Return the names that an entry describes."""
    return entry.partition("\n")[0].partition(" : ")[0].split(", ")


def _merged(entries, shared):
    """Return the entries, then the shared entries of other names."""
    described = {name for entry in entries for name in _names(entry)}
    return [*entries, *(entry for entry in shared if described.isdisjoint(_names(entry)))]
