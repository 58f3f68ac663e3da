"""Limits: where a fit or audit ends, the same for detectors, audits and benchmarks."""

import math
import textwrap
from numbers import Real
from typing import ClassVar, Self

from sklearn.utils._param_validation import Interval, Options

from skdisc._utils._json import jsonable
from skdisc._utils._settings import AT_LEAST_ONE, COUNT, setting
from skdisc._utils._shared_object import SharedObject, TakesObjects, refuse_unused

_NO_LIMIT = Options(Real, {math.inf})


class Limits(SharedObject):
    """How much a fit may do: a search ends where the first of its limits is reached.

    Detectors, `Audit` and `skdisc.benchmark.run_benchmark` take one as ``limits``. A detector lists
    the fields that it uses in ``limit_fields``, and its own limits in ``own_limits``; another
    field, set on the detector itself, is an error. `Audit` hands down to each detector the fields
    that it uses. ``result_.stopped_by`` names the field that ended a search.

    Parameters
    ----------
    tests : int, inf or None, default=None
        Number of distinct inputs (searches for single cases) or candidate groups tested. In all
        fields None stands for the detector's own limit, and ``math.inf`` for no limit.
    queries : int, inf or None, default=None
        Number of distinct rows sent to the model.
    found : int, inf or None, default=None
        Number of cases found.
    seconds : float or None, default=None
        Seconds from the beginning of the call: reading rows, training, the search, and models that
        are trained again. It is checked between batches. How far a search comes in its time depends
        on the machine.
    rows : int, inf or None, default=None
        Number of rows under audit. Of more, a random sample is used.

    See Also
    --------
    skdisc.Audit : Shares the seconds among its detectors.
    skdisc.Budget : Counts what a run has used of its limits.

    Examples
    --------
    >>> from skdisc.individual import KOSEI
    >>> search = KOSEI(protected="sex", limits=Limits(tests=500))
    >>> search.set_params(limits__seconds=5).limits
    Limits(seconds=5, tests=500)
    """

    _parameter_constraints = {
        "tests": [COUNT, _NO_LIMIT, None],
        "queries": [COUNT, _NO_LIMIT, None],
        "found": [COUNT, _NO_LIMIT, None],
        "seconds": [Interval(Real, 0, None, closed="both"), None],
        "rows": [AT_LEAST_ONE, _NO_LIMIT, None],
    }

    def __init__(
        self,
        *,
        tests: float | None = None,
        queries: float | None = None,
        found: float | None = None,
        seconds: float | None = None,
        rows: float | None = None,
    ) -> None:
        self.tests = tests
        self.queries = queries
        self.found = found
        self.seconds = seconds
        self.rows = rows

    def to_dict(self) -> dict:
        """Return the fields, a JSON object with "inf" for no limit; `from_dict` is the inverse.

        Returns
        -------
        dict
        """
        return {name: jsonable(value) for name, value in super().to_dict().items()}

    @classmethod
    def from_dict(cls, fields: dict) -> Self:
        """Return the limits of a dict made by `to_dict`.

        Parameters
        ----------
        fields : dict

        Returns
        -------
        Limits

        Raises
        ------
        TypeError
            If there is no field of a name.
        """
        return cls(**{n: math.inf if value == "inf" else value for n, value in fields.items()})


QUERIES = "distinct rows sent to the model"
QUERIES_OF_ROWS = "rows queried; if X has more, nothing is audited"
SECONDS = "of all that the call does, checked between batches"
ROWS = (
    "rows under audit: of more, a random sample is, stratified by protected group, as a note says; "
    "an estimator is trained on all rows, and positions of rows in results are positions in the "
    "sample, ``sampled_rows_``"
)
_STOPPED = {"found": "findings"}  # words of a limit, where the field is none


def limits_text(cls: type) -> str:
    """Return what the setting `limits` of a class does: its fields, and its own limits."""
    lines = ["Where a fit ends; None: ``Limits()``. Its fields here:", ""]
    for name, text in cls.limit_fields.items():
        own_default = cls.own_limits.get(name)
        default = "" if own_default is None else f"; {own_default:,} by default"
        item = f"- `{name}`: {text}{default}."
        lines += textwrap.wrap(item, width=90, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines)


LIMITS = setting(None, [Limits, None], limits_text)


def limit_named(stopped_by: str) -> str:
    """Return in words the limit that ended a run, a field of `Limits`."""
    return f"the limit of {_STOPPED.get(stopped_by, stopped_by)}"


class LimitedMixin(TakesObjects):
    """Gives an estimator with a parameter ``limits`` its limits in force.

    `limit_fields` names the fields that the class uses, each with what it counts, and `own_limits`
    the class's limits where its object leaves them open.
    """

    _objects = {"limits": Limits}
    limits = None
    limit_fields: ClassVar[dict[str, str]] = {}
    own_limits: ClassVar[dict[str, float]] = {}

    def _limit(self, field):
        """Return a limit in force, by its field of `Limits`; None if there is no limit."""
        limit = None if self.limits is None else getattr(self.limits, field)
        limit = self.own_limits.get(field) if limit is None else limit
        return None if limit == math.inf else limit

    def _check_limits(self):
        """Raise ValueError if a limit is not allowed, or not used here."""
        if self.limits is not None:
            refuse_unused(self.limits.check(), "limits", self.limit_fields, type(self).__name__)

    def _limits_to_dict(self):
        """Return the fields that the class uses, with their values in force, a JSON object."""
        limits = (self.limits or Limits()).to_dict()
        defaults = {n: self.own_limits.get(n) for n in self.limit_fields}
        return {n: defaults[n] if limits[n] is None else limits[n] for n in self.limit_fields}
