"""Case: a person and a counterpart with another outcome."""

from dataclasses import dataclass

from skdisc._utils._validation import plain


@dataclass(frozen=True)
class Case:
    """One individual finding.

    Parameters
    ----------
    original : dict
        The row of the subject; maps column names to values.
    altered : dict
        The row of the counterpart: the same person with other protected values, or in a
        counterfactual world, or another person.
    outcome, altered_outcome : float
        Outcome of each: 1 for a favorable decision and 0 for another, or a probability or value.

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
    def changed(self) -> tuple:
        """Names of the columns in which the two rows differ."""
        rows = (self.original, self.altered)
        return tuple(c for c in self.original if len({plain(row[c]) for row in rows}) > 1)

    @property
    def effect(self) -> float:
        """Outcome of the subject minus outcome of the counterpart."""
        return self.outcome - self.altered_outcome

    def __hash__(self):
        return hash((frozenset(self.original.items()), frozenset(self.altered.items())))

    def __str__(self):
        before, after = self.original, self.altered
        changes = ", ".join(f"{c} {_text(before[c])} -> {_text(after[c])}" for c in self.changed)
        return f"{changes}: outcome {self.outcome:.3g} -> {self.altered_outcome:.3g}"


def _text(value):
    return "missing" if plain(value) is None else repr(value)
