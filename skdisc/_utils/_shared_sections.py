"""Sections of docstrings that several functions share: each is written once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def with_sections(text: str, **parts: str) -> Callable[[Function], Function]:
    """Return a decorator that adds sections to a docstring, after its first paragraph.

    Parameters
    ----------
    text : str
        The sections, in which ``{name}`` stands for the part of this name.
    **parts : str
    """

    def decorate(function):
        if function.__doc__:  # Python may run without docstrings
            summary, _, rest = inspect.cleandoc(function.__doc__).partition("\n\n")
            sections = inspect.cleandoc(text)
            for name, part in parts.items():
                sections = sections.replace(f"{{{name}}}", inspect.cleandoc(part))
            function.__doc__ = "\n\n".join(t for t in (summary, sections, rest) if t) + "\n"
        return function

    return decorate
