"""Plan files: the settings of an audit, written before the data are read."""

import json

import numpy as np

from skdisc import __version__
from skdisc._utils._files import read_text, write_text
from skdisc._utils._json import jsonable
from skdisc._utils._types import FilePath
from skdisc.auditing._fingerprints import settings_fingerprint

SCHEMA = "skdisc-plan/2"


def make_plan_file(kind: str, values: dict) -> dict:
    """Return a plan.

    `kind` ({"settings", "options"}): parameters of an `Audit`, or options of the command line.
    Raises ValueError if a value is an object that a file cannot hold.
    """
    for name, value in values.items():
        if not _is_plain(value):
            raise ValueError(f"A plan file holds numbers and text; {name}={value!r} is neither.")
    return {"schema": SCHEMA, "skdisc": __version__, kind: jsonable(values)}


def write_plan(plan: dict, path: FilePath) -> None:
    """Write a plan as JSON, completely or not at all."""
    write_text(path, json.dumps(plan, indent=1, sort_keys=True) + "\n")


def read_plan(path: FilePath, kind: str) -> dict:
    """Return the plan in a file.

    `kind`: one of "settings", "options". Raises ValueError if the file cannot be read, or holds no
    such plan.
    """
    try:
        plan = json.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise ValueError(f"The plan {str(path)!r} cannot be read: {error}.") from error
    schema = plan.get("schema") if isinstance(plan, dict) else None
    if schema == "skdisc-plan/1":
        raise ValueError(
            f"{str(path)!r} is a plan of version 1 ({schema}), whose rule of verdicts this version "
            f"of skdisc no longer has; it reads {SCHEMA}. Audit with the skdisc that wrote it, or "
            "write the plan anew, before you look at the data."
        )
    if schema != SCHEMA:
        raise ValueError(
            f"{str(path)!r} is not a plan of this version: its schema is not {SCHEMA}."
        )
    if not isinstance(plan.get(kind), dict):
        by = {"settings": "Audit.from_plan", "options": "skdisc audit --plan"}
        right_reader = by["options" if kind == "settings" else "settings"]
        raise ValueError(f"{str(path)!r} holds no {kind}: it is a plan for {right_reader}.")
    return plan


def plan_sha256(plan: dict) -> str:
    """Return the SHA-256 of a plan in canonical JSON: sorted names, no space."""
    return settings_fingerprint(plan)


def _is_plain(value):
    """Return True if a value is a number, a text, or a collection of them."""
    if isinstance(value, dict):
        return all(isinstance(k, str) and _is_plain(v) for k, v in value.items())
    if isinstance(value, (list, tuple, np.ndarray)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, int, float, np.generic))
