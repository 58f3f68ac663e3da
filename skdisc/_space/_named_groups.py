"""Groups that a user names: by values, by predicates, or as subgroups."""

from collections.abc import Hashable, Iterable

from skdisc._space._subgroup import Predicate, Subgroup
from skdisc._utils._validation import plain


def named_values(what, values, protected):
    """Return the values that name a group, as a dict by column.

    `what`: name of the setting, for messages. `values`: a single value suffices if there is one
    protected column. Raises ValueError if one value is passed for several columns, or a column is
    not protected.
    """
    if not isinstance(values, dict):
        if len(protected) > 1:
            raise ValueError(
                f"{what}={values!r} is one value, but there are several protected columns, "
                f"{list(protected)!r}. Pass a dict with one value per column."
            )
        return {protected[0]: values}
    unknown = [c for c in values if c not in protected]
    if unknown:
        raise ValueError(f"{what} names {unknown[0]!r}, not among protected, {list(protected)!r}.")
    return values


def named_group(what, column, value, predicates):
    """Return the predicate that is named by a value of a column.

    `what`: name of the setting, for messages. `value`: a predicate is returned unchanged.
    `predicates`: the groups of the column. Raises ValueError if no group of the column consists of
    this value.
    """
    if isinstance(value, Predicate):
        return value
    values_sought = (plain(value),) if isinstance(value, Hashable) else ()
    for predicate in predicates:
        if predicate.values == values_sought:
            return predicate
    values = [p.values[0] if p.values else str(p) for p in predicates]
    raise ValueError(
        f"{what} must be one of {values!r} for column {column!r}; got {value!r}, which does not "
        "occur in X."
    )


def as_subgroups(groups, what, features, hint=""):
    """Check groups that the user passed.

    `what`: name of the parameter. `features`: the allowed columns. `hint`: end of the message about
    a group without such conditions. Raises TypeError if one is neither a Subgroup nor a dict.
    Raises ValueError if one has no condition, or a condition on another column.
    """
    out = []
    if not isinstance(groups, (Subgroup, Predicate, Iterable)):
        raise TypeError(
            f"{what} must be Subgroup objects, or dicts of column to value; got {groups!r}."
        )
    for one in [groups] if isinstance(groups, (Subgroup, Predicate, dict)) else groups:
        if isinstance(one, dict):
            one = Subgroup([Predicate.equals(c, v) for c, v in one.items()])
        one = Subgroup([one]) if isinstance(one, Predicate) else one
        if not isinstance(one, Subgroup):
            raise TypeError(
                f"{what} must hold Subgroup objects, or dicts of column to value; got {one!r}."
            )
        strange = [p.column for p in one.predicates if p.column not in features]
        if strange or not len(one):
            problem = f"names {strange!r}" if strange else "has no condition"
            requirement = f"{what} must have conditions on the columns {features!r}"
            raise ValueError(f"{requirement}; '{one}' {problem}. {hint}")
        out.append(one)
    return out
