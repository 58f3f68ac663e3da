"""Settings: each is written once, with its default, what is allowed, and its text.

A class lists its settings in its body, and inherits those of its bases:

    class Search(HasSettings):
        \"\"\"Search for groups.

        {parameters}
        \"\"\"

        min_support: float = setting(
            0.05, [Interval(Real, 0, 1, closed="right")], "Smallest share of the rows in a group."
        )

From this list follow, in one order, the signature and ``__init__``, scikit-learn's
``_parameter_constraints``, and the section of the docstring that stands for ``{parameters}``: first
what every class of the family begins with, then the settings of the class, then those of its bases.

The sections Attributes and Raises are those of the nearest base that has them. Where the class has
one of its own, a line ``{inherited}`` in it stands for the entries of the base that the class does
not describe itself.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, dataclass_transform

from sklearn.utils._param_validation import Interval, Options

from skdisc._utils._shared_object import TakesObjects
from skdisc._utils._shared_sections import with_inherited_entries

COUNT = Interval(Integral, 0, None, closed="left")
AT_LEAST_ONE = Interval(Integral, 1, None, closed="left")
AT_LEAST_TWO = Interval(Integral, 2, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="both")
INNER_SHARE = Interval(Real, 0, 1, closed="neither")  # neither 0 nor 1
_WORDS = {
    "boolean": "bool",
    "random_state": "int, RandomState instance or None",
    "verbose": "bool or int",
    Integral: "int",
    Real: "float",
    None: "None",
    callable: "callable",
}


@dataclass(frozen=True)
class SettingSpec:
    """One setting of a class; fields that are None are those of the base that has the setting."""

    default: Any
    allowed: Any = None
    text: str | Callable | None = None
    kind: str | None = None
    kw_only: bool = True
    leads: bool = False

    def but(self, **changes: Any) -> Any:
        """Return the setting with other fields, for a class in which it differs."""
        return replace(self, **changes)

    def described(self, name: str, owner: type) -> list[str]:
        """Return the lines of the setting in the section of parameters of a class."""
        kind = self.kind or _kind_of(self.allowed, self.default)
        if "default" not in kind:
            shown = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
            kind = f"{kind}, default={shown}"
        text = self.text if isinstance(self.text, str) else self.text(owner)
        return [
            f"{name} : {kind}",
            *(f"    {t}".rstrip() for t in inspect.cleandoc(text).splitlines()),
        ]


def setting(
    default: Any,
    allowed: Any = None,
    text: str | Callable | None = None,
    *,
    kind: str | None = None,
    kw_only: bool = True,
    leads: bool = False,
) -> Any:
    """Return a setting of the class in whose body it stands.

    Parameters
    ----------
    default : object
    allowed : list or "no_validation", optional
        What scikit-learn's ``validate_parameter_constraints`` takes. If a base has the setting,
        what is left out here is as there.
    text : str or callable, optional
        What the setting does; or a function of the class that returns it.
    kind : str, optional
        What it may be, in words, where the words that follow from `allowed` read badly.
    kw_only : bool, default=True
        Whether it may be passed by name only.
    leads : bool, default=False
        Whether it stands before the settings of subclasses.

    Returns
    -------
    SettingSpec
    """
    return SettingSpec(default, allowed, text, kind, kw_only, leads)


@dataclass_transform(kw_only_default=True, field_specifiers=(setting,))
class HasSettings(TakesObjects):
    """Base of classes whose settings are written in their bodies.

    A class with an ``__init__`` of its own keeps it, as scikit-learn's estimators have one.
    """

    _declared_settings: ClassVar[dict[str, SettingSpec]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the signature, the constraints and the section of parameters of a subclass."""
        super().__init_subclass__(**kwargs)
        has_own = any(isinstance(value, SettingSpec) for value in cls.__dict__.values())
        cls._declared_settings = _in_order(cls)
        if has_own and "__init__" not in cls.__dict__:
            cls.__init__ = _constructor(cls)
            cls._parameter_constraints = {n: s.allowed for n, s in cls._declared_settings.items()}
        doc = cls.__doc__ or ""
        if "{parameters}" in doc:
            lines = [t for n, s in cls._declared_settings.items() for t in s.described(n, cls)]
            section = "\n".join(["Parameters", "----------", *lines])
            cls.__doc__ = inspect.cleandoc(doc).replace("{parameters}", section)
        if "{parameters}" in doc or "{inherited}" in doc:
            cls.__doc__ = with_inherited_entries(cls)


def _in_order(cls):
    """Return the settings of a class by name: leading ones, its own, then those of its bases."""
    inherited = {}
    for base in cls.__mro__[1:]:
        for name, old in base.__dict__.get("_declared_settings", {}).items():
            inherited.setdefault(name, old)
    declared = {name: s for name, s in cls.__dict__.items() if isinstance(s, SettingSpec)}
    for name, new in declared.items():
        if name in inherited:
            old = inherited[name]
            missing = {
                f: getattr(old, f) for f in ("allowed", "text", "kind") if getattr(new, f) is None
            }
            declared[name] = replace(new, kw_only=old.kw_only, leads=old.leads, **missing)
        setattr(cls, name, new.default)
    settings = {**inherited, **declared}
    leading = [name for name, s in settings.items() if s.leads]
    return {name: settings[name] for name in dict.fromkeys([*leading, *declared, *inherited])}


def _constructor(cls):
    """Return the ``__init__`` of a class, which keeps each setting under its name."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    types = {n: t for c in reversed(cls.__mro__) for n, t in inspect.get_annotations(c).items()}
    parameters = [
        inspect.Parameter(n, kinds[s.kw_only], default=s.default, annotation=types[n])
        for n, s in cls._declared_settings.items()
    ]
    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    in_order = sorted([self_parameter, *parameters], key=lambda p: p.kind)
    signature = inspect.Signature(in_order, return_annotation=None)
    defaults = {n: s.default for n, s in cls._declared_settings.items()}

    def __init__(self, *args, **kwargs):  # noqa: N807
        try:
            passed = signature.bind(self, *args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{cls.__name__}: {error}") from None
        for name, default in defaults.items():
            setattr(self, name, passed.get(name, default))

    __init__.__signature__ = signature
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _kind_of(allowed, default):
    """Return in words what scikit-learn's constraints allow."""
    words = []
    for constraint in allowed if isinstance(allowed, list) else [allowed]:
        if isinstance(constraint, Options):
            names = sorted(constraint.options, key=lambda o: (o != default, str(o)))
            words.append("{" + ", ".join(f'"{o}"' for o in names) + "}")
        elif isinstance(constraint, Interval):
            words.append(_WORDS[constraint.type])
        else:
            words.append(_WORDS.get(constraint) or getattr(constraint, "__name__", str(constraint)))
    *first, last = dict.fromkeys(words)
    return f"{', '.join(first)} or {last}" if first else last
