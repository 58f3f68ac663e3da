"""Which people count in a rate: not all of a group, where the rate is about some of them."""

from collections.abc import Iterable

from skdisc._stats._rates import FN, FP, RATES, TN, TP

_WHOM = {
    frozenset((TP, FN)): " with a favorable label",
    frozenset((FP, TN)): " with an unfavorable label",
    frozenset((TP, FP)): " with a favorable decision",
    frozenset((TN, FN)): " with an unfavorable decision",
}


def whom(measures: Iterable[str]) -> str:
    """Return which people count in rates, to stand behind "people"; "" if all do.

    `measures`: names of rates; all people count in a measure of another name.

    Examples
    --------
    >>> whom(["true_positive_rate"]), whom(["selection_rate"])
    (' with a favorable label', '')
    >>> whom(["true_positive_rate", "selection_rate"])
    ' whom the rate is about'
    """
    cells = [frozenset(sum(RATES.get(m, RATES["selection_rate"]), ())) for m in measures]
    words = {_WHOM.get(cell, "") for cell in cells}
    return " whom the rate is about" if len(words) > 1 else "".join(words)
