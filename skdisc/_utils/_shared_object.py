"""Settings that several classes share as fields of one object, such as `Rule` and `Limits`."""

from collections.abc import Collection, Iterable
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, clone


class SharedObject(BaseEstimator):
    """Base of objects whose fields are settings that several classes share.

    A class that takes one lists the fields that it uses; None stands for an object without changes.
    """

    def check(self) -> Self:
        """Raise ValueError if a field is not allowed; return the object.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a field is outside its limits.
        """
        self._validate_params()
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether the other is an object of this class with equal fields."""
        if type(other) is not type(self):
            return NotImplemented
        return self.get_params(deep=False) == other.get_params(deep=False)

    __hash__ = None  # fields may be set

    def changed(self) -> list[str]:
        """Return the fields that are not at their defaults, a list of str."""
        defaults = type(self)().get_params(deep=False)
        return [n for n, value in self.get_params(deep=False).items() if value != defaults[n]]

    def only(self, fields: Iterable[str]) -> Self:
        """Return an object with these fields, and all others at their defaults.

        Parameters
        ----------
        fields : iterable of str

        Returns
        -------
        Self
        """
        fields = set(fields)
        chosen = {n: v for n, v in self.get_params(deep=False).items() if n in fields}
        return type(self)(**chosen)

    def but(self, **fields: Any) -> Self:
        """Return an object that differs in these fields.

        Parameters
        ----------
        **fields : Any

        Returns
        -------
        Self

        Raises
        ------
        TypeError
            If there is no field of a name.
        """
        return type(self)(**self.get_params(deep=False) | fields)

    def to_dict(self) -> dict:
        """Return the fields, a JSON object; ``from_dict`` is the inverse.

        Returns
        -------
        dict
        """
        return self.get_params(deep=False)

    @classmethod
    def from_dict(cls, fields: dict) -> Self:
        """Return the object of a dict made by `to_dict`.

        Parameters
        ----------
        fields : dict

        Returns
        -------
        Self

        Raises
        ------
        TypeError
            If there is no field of a name.
        """
        return cls(**fields)


def with_object(estimator: Any, params: dict, name: str, kind: type[BaseEstimator]) -> dict:
    """Return parameters to set, with a changed copy of an object in place of its fields.

    ``set_params(rule__significance=0.01)`` then works where ``rule`` is None so far, and changes no
    other estimator that has the same object.
    """
    prefix = f"{name}__"
    fields = {key.removeprefix(prefix): v for key, v in params.items() if key.startswith(prefix)}
    if not fields:
        return params
    shared = params.get(name, getattr(estimator, name))
    changed = (kind() if shared is None else clone(shared)).set_params(**fields)
    rest = {key: v for key, v in params.items() if not key.startswith(prefix)}
    return rest | {name: changed}


class TakesObjects:
    """Lets `set_params` reach fields of settings that are objects, and None for their defaults.

    `_objects` maps each such setting to its class; a class adds its own to those of its bases.
    """

    _objects: ClassVar[dict[str, type]] = {}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also fields of an object that is None: ``rule__relevant_gap=0.05``.

        Parameters
        ----------
        **params : Any

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no parameter of a name.
        """
        for base in type(self).__mro__:
            for name, kind in base.__dict__.get("_objects", {}).items():
                params = with_object(self, params, name, kind)
        return super().set_params(**params)


def refuse_unused(shared: SharedObject, name: str, fields: Collection[str], owner: str) -> None:
    """Raise ValueError if an object sets a field that its owner does not use."""
    unused = [n for n in shared.changed() if n not in fields]
    if unused:
        raise ValueError(
            f"{name} has {unused[0]}={getattr(shared, unused[0])!r}, which {owner} does not use. "
            f"It uses {', '.join(fields)}."
        )
