"""Case: a person, and the same person with other protected values, decided differently."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """One individual finding.

    Parameters
    ----------
    original : dict
        The row of the subject: column name to value.
    altered : dict
        The row of the counterpart, which differs in protected columns only.
    outcome, altered_outcome : float
        What the model said of each: 1 favourable, 0 not; or the probability of favourable.

    Examples
    --------
    >>> print(Case({"sex": "F", "age": 30}, {"sex": "M", "age": 30}, 0.0, 1.0))
    sex 'F' -> 'M': outcome 0 -> 1
    """

    original: dict
    altered: dict
    outcome: float
    altered_outcome: float

    @property
    def changed(self):
        """Names of the columns in which the two rows differ, a tuple."""
        return tuple(c for c in self.original if not _same(self.original[c], self.altered[c]))

    @property
    def effect(self):
        """Outcome of the subject minus outcome of the counterpart."""
        return self.outcome - self.altered_outcome

    def __hash__(self):
        return hash(
            (tuple(map(repr, self.original.values())), tuple(map(repr, self.altered.values())))
        )

    def __str__(self):
        changes = ", ".join(
            f"{c} {self.original[c]!r} -> {self.altered[c]!r}" for c in self.changed
        )
        return f"{changes}: outcome {self.outcome:.3g} -> {self.altered_outcome:.3g}"


def _same(a, b):
    return (a is None and b is None) or (a is not None and b is not None and a == b)
