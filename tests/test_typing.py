"""Everything public is annotated: parameters and returns of functions, constructors and methods."""

import inspect
import pkgutil
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

import skdisc
from skdisc.measures._formula._decorator import Measure

ROOMS = sorted(m.name for m in pkgutil.iter_modules(skdisc.__path__) if m.name[0] != "_")
MODULES = ["skdisc", *(f"skdisc.{name}" for name in ROOMS)]


def public(module):
    """Yield the public functions and classes of a module by name."""
    here = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__]
    for name in getattr(module, "__all__", here):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            yield name, thing


def own(function):
    return (getattr(function, "__module__", "") or "").startswith("skdisc")


def functions_of(cls):
    """Yield constructor, call, public methods and properties of a class, if skdisc defines them."""
    for name, member in inspect.getmembers_static(cls):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        elif isinstance(member, property):
            member = member.fget
        elif isinstance(member, cached_property):
            member = member.func
        if inspect.isfunction(member) and own(member):
            yield name, member


def bare(function):
    """Return the parameters of a function without an annotation, and "return" if that has none."""
    signature = inspect.signature(function)
    found = [
        name
        for name, parameter in signature.parameters.items()
        if parameter.annotation is inspect.Parameter.empty and name not in ("self", "cls")
    ]
    has_return = signature.return_annotation is not inspect.Signature.empty
    return found if has_return else [*found, "return"]


def breaches(name, thing):
    """List what is not annotated in a public function or class.

    Measures get their signatures at run time; type checkers see the protocol `Measure`.
    """
    if hasattr(thing, "plan") or (name.endswith("_report") and hasattr(thing, "__signature__")):
        thing = Measure
    members = functions_of(thing) if inspect.isclass(thing) else [("", thing)]
    return [
        f"{name}.{member}: {', '.join(missing)}".replace(".:", ":")
        for member, function in members
        if (missing := bare(function))
    ]


@pytest.mark.parametrize("name", MODULES)
def test_everything_public_is_annotated(name):
    things = list(public(import_module(name)))
    found = [breach for thing in things for breach in breaches(*thing)]
    assert not found, "\n" + "\n".join(found)


def test_missing_annotations_are_found():
    class Box:
        """A box."""

        def __init__(self, size: int, name) -> None:
            self.size, self.name = size, name

        def open(self, how: str):
            return how

        @property
        def volume(self):
            return self.size

        @classmethod
        def of(cls, size):
            return cls(size, "")

        def _hidden(self, x):
            return x

    Box.__init__.__module__ = Box.open.__module__ = "skdisc.box"
    Box.volume.fget.__module__ = Box.of.__func__.__module__ = "skdisc.box"
    assert breaches("Box", Box) == [
        "Box.__init__: name",
        "Box.of: size, return",
        "Box.open: return",
        "Box.volume: return",
    ]


def test_the_package_says_that_it_is_typed():
    assert (Path(skdisc.__file__).parent / "py.typed").is_file()
