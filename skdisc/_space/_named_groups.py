"""Groups that a user names by a value, or by one value for each column, as predicates."""

from skdisc._space._subgroup import Predicate
from skdisc._utils._validation import plain


def named_values(what, given, protected):
    """Return the values that a user names, a dict by column.

    Parameters
    ----------
    what : str
        Name of the setting, for messages.
    given : value, or dict of values by column
        A single value is enough where there is a single protected column.
    protected : sequence of column names

    Raises
    ------
    ValueError
        If one value is given for several columns, or a column is not protected.
    """
    if not isinstance(given, dict):
        if len(protected) > 1:
            raise ValueError(
                f"{what}={given!r} is one value and there are several protected columns, "
                f"{list(protected)!r}. Give a dict with a value for each."
            )
        return {protected[0]: given}
    unknown = [c for c in given if c not in protected]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, not among protected, {list(protected)!r}.")
    return given


def named_group(what, column, value, known):
    """Return the predicate that a user names by a value of a column.

    Parameters
    ----------
    what : str
        Name of the setting, for messages.
    column : hashable
    value : hashable or Predicate
        A predicate is returned as it is.
    known : sequence of Predicate
        The groups of the column.

    Raises
    ------
    ValueError
        If no group of the column has this value alone.
    """
    if isinstance(value, Predicate):
        return value
    wanted = (plain(value),)
    for predicate in known:
        if predicate.values == wanted:
            return predicate
    values = [p.values[0] if p.values else str(p) for p in known]
    raise ValueError(
        f"{what} must be one of {values!r} for column {column!r}, got {value!r}; no row of X has "
        "that value."
    )
