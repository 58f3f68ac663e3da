"""Docstrings with shared sections."""

import inspect

from skdisc._task._clustered import ClusteredMixin
from skdisc._utils._settings import HasSettings
from skdisc._utils._shared_sections import with_sections

SHARED = """
    Parameters
    ----------
    x : int
        A number.
    {more}

    Returns
    -------
    int
"""


def test_sections_stand_between_the_first_paragraph_and_the_notes():
    @with_sections(SHARED, more="\n    y : int\n        Another one.\n")
    def function(x, y):
        """Add.

        Notes
        -----
        It commutes.
        """

    assert function.__doc__ == (
        "Add.\n\nParameters\n----------\nx : int\n    A number.\ny : int\n    Another one.\n\n"
        "Returns\n-------\nint\n\nNotes\n-----\nIt commutes.\n"
    )


def test_a_function_without_a_docstring_is_left_as_it_is():
    def function():
        pass

    assert with_sections(SHARED, more="")(function).__doc__ is None


def test_every_parameter_of_fit_is_described():
    doc = inspect.getdoc(ClusteredMixin.fit)
    for name in list(inspect.signature(ClusteredMixin.fit).parameters)[1:]:
        assert doc.count(f"\n{name} : ") == 1, name


class Base(HasSettings):
    """A base.

    Attributes
    ----------
    a_ : int
        Of the base,
        in two lines.
    b_ : int
        Of the base.

    Raises
    ------
    ValueError
        Of the base.
    """


class Heir(Base):
    """An heir.

    Attributes
    ----------
    b_, c_ : int
        Of the heir.
    {inherited}

    Raises
    ------
    {inherited}

    Notes
    -----
    None.
    """


class GrandHeir(Heir):
    """One more.

    Attributes
    ----------
    {inherited}
    """


def test_a_section_has_the_entries_of_the_nearest_base_that_the_class_does_not_describe():
    assert Heir.__doc__ == (
        "An heir.\n\nAttributes\n----------\nb_, c_ : int\n    Of the heir.\n"
        "a_ : int\n    Of the base,\n    in two lines.\n\n"
        "Raises\n------\nValueError\n    Of the base.\n\nNotes\n-----\nNone."
    )
    assert GrandHeir.__doc__ == (
        "One more.\n\nAttributes\n----------\nb_, c_ : int\n    Of the heir.\n"
        "a_ : int\n    Of the base,\n    in two lines."
    )
