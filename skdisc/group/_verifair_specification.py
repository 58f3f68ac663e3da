r"""Specifications of fairness: expressions over means, evaluated on means with error bounds.

Terms are :math:`T ::= E[Z] \mid c \mid T + T \mid -T \mid T \cdot T \mid 1 / T`, specifications
:math:`\phi ::= T \ge 0 \mid \phi \wedge \phi \mid \phi \vee \phi \mid \neg \phi`.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

FAIR, UNDECIDED, UNFAIR = "fair", "undecided", "unfair"


class Certificate(NamedTuple):
    """The verdict on one specification, in one orientation of the two groups.

    Attributes
    ----------
    verdict : {"fair", "unfair", "undecided"}
    value, error : float
        The specification's term: with probability 1 - delta its true value is within error.
    """

    verdict: str
    value: float
    error: float


class _Expression:
    """A term or a specification, which may have others as parts."""

    def means(self):
        """Return the means in the expression, a set."""
        parts = (part for part in vars(self).values() if isinstance(part, _Expression))
        return set().union(*(part.means() for part in parts))


class Term(_Expression):
    """A term: ``+``, ``-``, ``*``, ``/`` with terms and numbers make terms, ``>=`` a `Spec`."""

    def __add__(self, other):
        return Sum(self, _term(other))

    def __mul__(self, other):
        return Product(self, _term(other))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + -_term(other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * Inverse(_term(other))

    def __rtruediv__(self, other):
        return Inverse(self) * other

    def __ge__(self, other):
        return AtLeast(self - other if other != 0 else self, f"{self} >= {_text(other)}")

    def __le__(self, other):
        return AtLeast(_term(other) - self, f"{self} <= {_text(other)}")

    __radd__, __rmul__ = __add__, __mul__


def _term(value):
    return value if isinstance(value, Term) else Constant(float(value))


def _text(value):
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


@dataclass(frozen=True, eq=False)
class Constant(Term):
    """A number."""

    value: float

    def evaluate(self, means):
        """Return the value and its error."""
        return self.value, 0.0

    def __str__(self):
        return f"{self.value:g}"


@dataclass(frozen=True)
class Mean(Term):
    """The mean outcome of one of the two groups compared.

    Parameters
    ----------
    group : {"a", "b"}
    kind : {"members", "favorable", "do", "changed"}
        Mean over its members; over members whose label is favorable; over everyone, with the
        protected value of the group; or the share of everyone whose outcome differs between the two
        values.
    keep : tuple
        With "do": columns that keep their value although they depend on the protected one.
    """

    group: str
    kind: str = "members"
    keep: tuple = ()

    def evaluate(self, means):
        """Return the value and its error."""
        return means(self)

    def means(self):
        """Return the means in the term, a set."""
        return {self}

    def swapped(self):
        """Return the same mean of the other group."""
        return replace(self, group="b" if self.group == "a" else "a")

    def __str__(self):
        return self.group if self.kind == "members" else f"{self.kind}({self.group})"


@dataclass(frozen=True, eq=False)
class Sum(Term):
    """A sum of two terms."""

    left: Term
    right: Term

    def evaluate(self, means):
        """Return the value and its error: errors are added."""
        (x, e), (y, f) = self.left.evaluate(means), self.right.evaluate(means)
        return x + y, e + f

    def __str__(self):
        return f"({self.left} + {self.right})"


@dataclass(frozen=True, eq=False)
class Product(Sum):
    """A product of two terms."""

    def evaluate(self, means):
        """Return the value and its error."""
        (x, e), (y, f) = self.left.evaluate(means), self.right.evaluate(means)
        if math.isinf(e) or math.isinf(f):
            return x * y, math.inf
        # |XY - xy| with |X - x| <= e and |Y - y| <= f
        return x * y, e * abs(y) + f * abs(x) + e * f

    def __str__(self):
        if isinstance(self.right, Inverse):
            return f"{self.left} / {self.right.term}"
        return f"{self.left} * {self.right}"


@dataclass(frozen=True, eq=False)
class Inverse(Term):
    """One divided by a term."""

    term: Term

    def evaluate(self, means):
        """Return the value and its error, infinite while the term may be 0."""
        x, e = self.term.evaluate(means)
        if abs(x) <= e or x == 0:
            return (1 / x if x else math.nan), math.inf
        # |1/X - 1/x| is largest for the X of the interval that is nearest to 0.
        return 1 / x, e / (abs(x) * (abs(x) - e))

    def __str__(self):
        return f"1 / {self.term}"


class Spec(_Expression):
    """A specification: ``&``, ``|`` and ``~`` make specifications."""

    def __and__(self, other):
        return Conjunction(self, other)

    def __or__(self, other):
        return ~(~self & ~other)

    def __invert__(self):
        return Not(self)


@dataclass(frozen=True, eq=False)
class AtLeast(Spec):
    """A term is at least 0."""

    term: Term
    text: str = ""

    def decide(self, means, ambiguity=0.0):
        """Return the `Certificate` of the term, given the means and their errors.

        Fair if the whole error interval is above 0, unfair if it is below 0. If the error is at
        most `ambiguity`, the interval may extend beyond 0 by that much.
        """
        value, error = self.term.evaluate(means)
        near = error <= ambiguity
        if value - error > 0 or (near and value - error >= -ambiguity):
            return Certificate(FAIR, value, error)
        if value + error < 0 or (near and value + error <= ambiguity):
            return Certificate(UNFAIR, value, error)
        return Certificate(UNDECIDED, value, error)

    def __str__(self):
        return self.text or f"{self.term} >= 0"


@dataclass(frozen=True, eq=False)
class Not(Spec):
    """The negation of a specification."""

    spec: Spec

    def decide(self, means, ambiguity=0.0):
        """Return the `Certificate`, given the means and their errors."""
        verdict, value, error = self.spec.decide(means, ambiguity)
        return Certificate({FAIR: UNFAIR, UNFAIR: FAIR}.get(verdict, verdict), -value, error)

    def __str__(self):
        return f"not ({self.spec})"


@dataclass(frozen=True, eq=False)
class Conjunction(Spec):
    """The conjunction of two specifications; the one that decides gives its value."""

    left: Spec
    right: Spec

    def decide(self, means, ambiguity=0.0):
        """Return the `Certificate`, given the means and their errors."""
        parts = [s.decide(means, ambiguity) for s in (self.left, self.right)]
        worst_first = (UNFAIR, UNDECIDED, FAIR)
        return min(parts, key=lambda p: (worst_first.index(p.verdict), p.value))

    def __str__(self):
        return f"({self.left}) and ({self.right})"


def ready_made(name, slack, keep=()):
    """Return a specification by name.

    demographic_parity, equal_opportunity: the ratio a / b of the groups' rates is at least
    1 - slack; causal, path_specific: setting the protected value to a lowers the rate by at most
    slack, compared with b (path_specific: the columns `keep` keep their values); individual: the
    outcome of at most a share slack of people depends on which of the two values they have.
    """
    if name in ("demographic_parity", "equal_opportunity"):
        kind = "members" if name == "demographic_parity" else "favorable"
        return Mean("a", kind) / Mean("b", kind) >= 1 - slack
    if name == "individual":
        return Mean("a", "changed") <= slack
    keep = tuple(keep) if name == "path_specific" else ()
    return Mean("a", "do", keep) - Mean("b", "do", keep) >= -slack


READY_MADE = ("demographic_parity", "equal_opportunity", "causal", "path_specific", "individual")
