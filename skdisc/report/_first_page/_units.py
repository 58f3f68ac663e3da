"""How gaps and means are written: in points, in the unit of numbers, or as ratios."""

import math
from collections.abc import Iterable
from typing import Any

from skdisc._space._conjunction_texts import conditions_in

_MEANS = ("selection_rate", "mean")  # measures of the outcomes themselves, and not of errors
_WIDE_POINTS = 0.4  # a bound of a gap of rates from which it excludes next to nothing


def units_of(document: dict, texts: Any) -> "Points":
    """Return how a page writes the gaps of a document, in the words of a language."""
    outcome = (document.get("about") or {}).get("outcome")
    if outcome is None or outcome.get("output") == "probability":
        kind = Points if outcome is None or outcome.get("scale") != "log" else Ratios
    else:
        kind = Ratios if outcome.get("scale") == "log" else Units
    return kind(texts, outcome or {})


def is_of_outcomes(measure: str | None) -> bool:
    """Return whether a measure compares outcomes, and not their errors."""
    return measure in _MEANS


class Points:
    """Rates and probabilities: gaps in points.

    Parameters
    ----------
    texts : Texts
    outcome : dict
        As in the document; empty for decisions.
    """

    def __init__(self, texts: Any, outcome: dict) -> None:
        self.texts, self.outcome = texts, outcome

    def mean(self, rate: float | None) -> str:
        """Return the rate of a side."""
        return percent(self.texts, rate, 1)

    def gap(self, size: float, reference: float | None, is_less: bool = True) -> str:
        """Return a gap, 0 or more, of a side that has less (or more) than the reference.

        Amounts in the unit of numbers stand in the tables, not behind each percentage.
        """
        # An estimate at equal columns, or its end, may lie beyond what rates can differ by.
        return self.texts.POINTS.format(n=number(self.texts, 100 * min(size, 1.0), 1))

    def bound(self, size: float | None) -> str:
        """Return a bound of gaps; it is rounded up already."""
        if size is None:
            return "–"
        points = _up(100 * min(size, 1.0), 1)  # those of a hundredth of a point are not 0
        return self.texts.POINTS.format(n=number(self.texts, points, 1 if points % 1 else 0))

    def is_too_wide(self, size: float | None) -> bool:
        """Return whether a bound says no more than that the people are too few.

        So it is from 40 points on, and from as much as the mean of all numbers on.
        """
        return size is not None and size >= _WIDE_POINTS

    def end(
        self, size: float, is_less: bool, reference: float | None, with_unit: bool = False
    ) -> str:
        """Return an end of the range of a gap; with its unit where none stands beside it."""
        if with_unit:
            return self.gap(size, reference)
        return number(self.texts, 100 * min(size, 1.0), 1)

    def sure(self) -> str:
        """Return how sure ranges are, and what the tables below have."""
        return self.texts.SURE


class Units(Points):
    """Numbers: gaps in percent of the mean of the others, or in their unit if it is not above 0."""

    def mean(self, rate: float | None) -> str:
        """Return the mean of a side."""
        return "–" if rate is None else self._plain(rate)

    def gap(self, size: float, reference: float | None, is_less: bool = True) -> str:
        """Return a gap in percent of the reference."""
        return self.end(size, is_less, reference)

    def bound(self, size: float | None) -> str:
        """Return a bound in percent of the mean of all."""
        if size is None:
            return "–"
        mean = self.outcome.get("mean")
        if not _is_positive(mean):
            return self._plain(_up(size, self._digits(size)))
        return percent(self.texts, _up(size / mean, 3))

    def is_too_wide(self, size: float | None) -> bool:
        """Return whether a bound is as large as the mean of all."""
        mean = self.outcome.get("mean")
        return size is not None and _is_positive(mean) and size >= mean

    def end(
        self, size: float, is_less: bool, reference: float | None, with_unit: bool = False
    ) -> str:
        """Return an end of a range, in percent where there is a reference."""
        if not _is_positive(reference):
            return self._plain(size)
        return percent(self.texts, size / reference, 1)

    def sure(self) -> str:
        """Return how sure ranges are, and what percentages are of."""
        mean = self.outcome.get("mean")
        return self.texts.SURE_NUMBERS.replace("{mean}", self.mean(mean))

    def _plain(self, value):
        """Return a number with as many decimals as show three digits of what numbers are like."""
        return number(self.texts, value, self._digits(value))

    def _digits(self, value):
        mean, deviation = (abs(self.outcome.get(n) or 0.0) for n in ("mean", "deviation"))
        # Where losses and gains cancel each other out, their mean is no size of them.
        size = (mean if mean > deviation / 100 else deviation) or abs(value) or 1.0
        return max(0, 2 - math.floor(math.log10(size)))


class Ratios(Points):
    """Logarithms: gaps as ratios of geometric means, in percent."""

    def mean(self, rate: float | None) -> str:
        """Return the geometric mean of a side."""
        if rate is None:
            return "–"
        value = math.exp(rate)
        shown = number(self.texts, value, max(0, 2 - math.floor(math.log10(value))))
        return self.texts.GEOMETRIC.format(mean=shown)

    def gap(self, size: float, reference: float | None, is_less: bool = True) -> str:
        """Return by what share the one side has less, or more, than the other."""
        return self.end(size, is_less, reference)

    def bound(self, size: float | None) -> str:
        """Return the larger share that a bound stands for."""
        return "–" if size is None else percent(self.texts, _up(math.expm1(size), 3))

    def is_too_wide(self, size: float | None) -> bool:
        """Return whether a bound is twice as much, or half."""
        return size is not None and math.expm1(size) >= 1.0

    def end(
        self, size: float, is_less: bool, reference: float | None, with_unit: bool = False
    ) -> str:
        """Return an end of a range as a share of the side that is compared with.

        Half as much is 50 % less, and twice as much 100 % more.
        """
        # Where less is better, what the sentences call less is printed as more.
        has_less = is_less != (self.outcome.get("better") == "low")
        return percent(self.texts, -math.expm1(-size) if has_less else math.expm1(size), 1)

    def sure(self) -> str:
        """Return how sure ranges are, and what percentages are of."""
        return self.texts.SURE_RATIOS


def percent(texts: Any, share: float | None, digits: int | None = None) -> str:
    """Return a share in percent, whole where it is."""
    if share is None:
        return "–"
    value = 100 * share
    if digits is None:
        digits = 0 if abs(value - round(value)) < 1e-6 else 1
    return texts.PERCENT.format(number(texts, value, digits)).replace(" ", "\u00a0")


def number(texts: Any, value: float, digits: int) -> str:
    """Return a number with the marks of a language."""
    text = f"{value:,.{digits}f}"
    if float(text.replace(",", "")) == 0:
        text = text.replace("-", "")
    return text.translate(str.maketrans({",": texts.THOUSANDS, ".": texts.DECIMAL, "-": "−"}))


def confidence(texts: Any, level: float | None) -> str:
    """Return the level of an interval in percent, rounded down to a decimal."""
    return "–" if level is None else percent(texts, math.floor(1000 * level + 1e-6) / 1000)


def in_a_row(names: Iterable[object], last: str = " and ") -> str:
    """Return names one after the other, with commas, and a word before the last one."""
    *first, final = map(str, names)
    return last.join([", ".join(first)] * bool(first) + [final])


def group_name(texts: Any, group: str | None) -> str | None:
    """Return the name of a group in a language: its conditions, whose values stay as they are."""
    if group is None:
        return None
    conditions = conditions_in(group)
    for ending, text in ((" is not missing", texts.NOT_MISSING), (" is missing", texts.MISSING)):
        conditions = [
            text.format(name=c.removesuffix(ending)) if c.endswith(ending) else c
            for c in conditions
        ]
    return texts.AND.join(conditions)


def labels_named(texts: Any, labels: Iterable[object]) -> str:
    """Return labels one after the other, each in one spelling, and that others count as well."""
    names = [str(label) for label in labels]
    first = _first_spellings(names)
    if len(first) < len(names):
        return texts.SPELLINGS.format(labels=", ".join(first.values()))
    has_blanks = any(name != name.strip() for name in names)
    return ", ".join(map(repr, names) if has_blanks else names)


def favorable_named(texts: Any, document: dict) -> tuple[str, bool]:
    """Return what the favorable decision is in words, and whether it is a score from a cut on."""
    source = document.get("source", {})
    if source.get("predictions") and source.get("threshold") is not None:
        cut = f"{source['threshold']:.15g}".replace(".", texts.DECIMAL)
        return f"{source['predictions']} ≥ {cut}", True
    return labels_named(texts, document["about"]["favorable"]), False


def have_spellings(labels: Iterable[object]) -> bool:
    """Return whether some labels differ by case or blanks alone."""
    names = [str(label) for label in labels]
    return len(_first_spellings(names)) < len(names)


def _first_spellings(names):
    """Return the first spelling of each name, by what spellings of it have in common."""
    first = {}
    for name in names:
        first.setdefault(name.strip().casefold(), name.strip())
    return first


def _up(value, digits):
    """Return a bound rounded up to some decimals; 1e-6 of the last one is no reason to round."""
    scale = 10.0**digits
    return math.ceil(value * scale - 1e-6) / scale


def _is_positive(reference):
    return reference is not None and reference > 0


class Texts:
    """The sentences of a language, with "less" and "more" in the direction of the outcomes.

    Gaps are stated from the worse-off side. Where less is better, as with prices, that is the side
    with more.

    Parameters
    ----------
    language : module
        One of `languages`.
    is_less_better : bool
    """

    def __init__(self, language: Any, is_less_better: bool) -> None:
        self._language, words = language, language.WORDS
        opposites = dict(zip(_PAIRS, _PAIRS[::-1], strict=True)) if is_less_better else {}
        self._words = {name: words[opposites.get(name, name)] for name in words}

    def __getattr__(self, name: str) -> Any:
        """Return a text, or a dict of texts, of the language."""
        text = getattr(self._language, name)
        if isinstance(text, str):
            for word, replacement in self._words.items():
                text = text.replace(f"{{{word}}}", replacement)
        return text


_PAIRS = ("less", "Less", "fewer", "greater", "More", "more")
