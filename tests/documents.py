"""A document made by hand, with every part of the contract, and the validator of the schema."""

import json
from pathlib import Path

import jsonschema

from skdisc import AuditReport

_TEXT = Path(__file__).with_name("document.json").read_text(encoding="utf-8")


def example():
    """Return a new copy of the document."""
    return json.loads(_TEXT)


def breaches(document, but=()):
    """List where a document is not as the schema has it; `but` are rules that are left out."""
    found = jsonschema.Draft202012Validator(AuditReport.schema()).iter_errors(document)
    return [f"{e.json_path}: {e.message}" for e in found if e.validator not in but]


def places(value, path=()):
    """Yield the path of every dict inside a document that is not free in its keys."""
    free = {"versions", "settings", "original", "altered", "binned"}
    if isinstance(value, dict):
        yield path
        for name, inner in value.items():
            if name not in free:
                yield from places(inner, (*path, name))
    elif isinstance(value, list):
        for i, inner in enumerate(value[:1]):
            yield from places(inner, (*path, i))


def at(document, path):
    """Return the part of a document at a path."""
    for step in path:
        document = document[step]
    return document
