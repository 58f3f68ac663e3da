"""Docstrings with shared sections."""

import inspect
import re

import pytest

from skdisc._task._clustered import ClusteredMixin, ClusteredRowsMixin, WeightedMixin
from skdisc._utils._settings import HasSettings
from skdisc._utils._shared_sections import with_sections
from skdisc.base import BaseDetector

SHARED = """
    Parameters
    ----------
    x : int
        A number.
    z : int
        Not of every function.
    y : int
        The other number.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If there is no sum.
"""


def test_shared_entries_stand_beside_those_of_the_function_in_the_order_of_its_signature():
    @with_sections(SHARED)
    def function(x, y, more=0):
        """Add.

        It is a sum.

        Parameters
        ----------
        more : int, default=0
            A third one.
        y : float
            Another one.

        Notes
        -----
        It commutes.
        """

    assert function.__doc__ == (
        "Add.\n\nIt is a sum.\n\nParameters\n----------\nx : int\n    A number.\n"
        "y : float\n    Another one.\nmore : int, default=0\n    A third one.\n\n"
        "Returns\n-------\nint\n\nRaises\n------\nValueError\n    If there is no sum.\n\n"
        "Notes\n-----\nIt commutes.\n"
    )


def test_what_a_function_says_it_returns_stands_alone():
    @with_sections(SHARED)
    def function(x):
        """Halve.

        Returns
        -------
        float
        """

    assert "Returns\n-------\nfloat\n\nRaises" in function.__doc__


def test_a_function_without_a_docstring_is_left_as_it_is():
    def function():
        pass

    assert with_sections(SHARED)(function).__doc__ is None


@pytest.mark.parametrize("owner", [BaseDetector, WeightedMixin, ClusteredMixin, ClusteredRowsMixin])
@pytest.mark.parametrize("method", ["fit", "audit"])
def test_the_parameters_of_fit_and_audit_are_those_of_the_signature(owner, method):
    function = getattr(owner, method)
    section = inspect.getdoc(function).split("\n\nReturns\n")[0].split("\nParameters\n---")[1]
    described = re.findall(r"^(\w+) : ", section, re.MULTILINE)
    assert described == list(inspect.signature(function).parameters)[1:]


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


def test_attributes_and_errors_are_those_of_the_nearest_base_that_the_class_does_not_describe():
    assert Heir.__doc__ == (
        "An heir.\n\nAttributes\n----------\nb_, c_ : int\n    Of the heir.\n"
        "a_ : int\n    Of the base,\n    in two lines.\n\n"
        "Raises\n------\nValueError\n    Of the base.\n\nNotes\n-----\nNone.\n"
    )
    assert GrandHeir.__doc__ == (
        "One more.\n\nAttributes\n----------\nb_, c_ : int\n    Of the heir.\n"
        "a_ : int\n    Of the base,\n    in two lines.\n\n"
        "Raises\n------\nValueError\n    Of the base.\n"
    )
