"""Numbers as outcomes of an audit: pay, prices, and what a model predicts."""

import re
from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np
import pandas as pd

from skdisc._blackbox._outputs import read_values
from skdisc._blackbox._queries import Queries
from skdisc._space._feature_space import FeatureSpace
from skdisc._task._budget import Budget
from skdisc._utils._favorable import favorable_labels, known_classes
from skdisc._utils._inputs import rows_in_words
from skdisc._utils._types import ArrayLike
from skdisc._utils._validation import of_numbers
from skdisc._verdicts._relevant import PROBABILITY, relevant_gap_of
from skdisc._verdicts._rule import Rule, share_of_mean
from skdisc.auditing._pay._templates import OF_RATES, TEMPLATES

DECISION, VALUE = "decision", "value"
DIFFERENCE, LOG = "difference", "log"
MANY = 20  # different numbers, of which more are no classes
MEAN = "mean"  # the name of the measure in documents
_RATE = "selection_rate"
_DIRECTIONS = ("high", "low")
_DEFAULT_SHARE = "5%"
_CURRENCY = re.compile(r"[$€£¥₹]|\b[A-Z]{3}\b")
_BANDS = 20  # of numbers in public documents, at most
_FAR = 3.0  # interquartile ranges beyond the quartiles (Tukey 1977: "far out")


@dataclass(frozen=True)
class ComparedNumbers:
    """The numbers that an audit compares, one for each row.

    Parameters
    ----------
    raw : ndarray of float, shape (n_rows,)
        In their unit.
    output : {"value", "probability"}
    scale : {"difference", "log"}
        Whether means are compared, or means of logarithms.
    name : str or None
        What they are, such as the name of the column.
    is_automatic : bool, default=False
        Whether nobody said that y holds numbers.
    is_of_labels : bool, default=False
        Whether they are a model's probabilities of the favorable labels.
    """

    raw: np.ndarray
    output: str
    scale: str
    name: str | None
    is_less_better: bool
    is_automatic: bool = False
    is_of_labels: bool = False

    @property
    def compared(self) -> np.ndarray:
        """The numbers on the scale on which they are compared."""
        return np.log(self.raw) if self.scale == LOG else self.raw

    def rule(self, rule: Rule, weight: ArrayLike | None = None) -> Rule:
        """Return a rule whose relevant gap is a number on the scale.

        Raises ValueError if no share of the mean can be taken, because it is not positive.
        """
        if np.ptp(self.raw) == 0:
            return rule  # which detectors say
        requested = rule.relevant_gap
        if self.output == PROBABILITY and self.scale == DIFFERENCE:
            gap = relevant_gap_of(requested, self.raw, kind=PROBABILITY, weight=weight)
            return rule.but(relevant_gap=gap.size)
        requested = _DEFAULT_SHARE if requested is None else requested
        if not isinstance(requested, str):
            return rule.but(relevant_gap=float(requested))
        if self.scale == LOG:  # of 0.95 and 1.05, the latter is nearer to 1
            return rule.but(relevant_gap=log1p(share_of_mean(requested)))
        mean = float(np.average(self.raw, weights=weight))
        if not mean > 0:
            raise ValueError(
                f"A gap that matters of {requested} of the mean is not defined, because the mean "
                f"is {mean:.3g}: give one in the unit of the outcomes, by --relevant-gap, or "
                "Rule(relevant_gap=...) in Python."
            )
        return rule.but(relevant_gap=share_of_mean(requested) * mean)

    def to_dict(self, rule: Rule, weight: ArrayLike | None = None) -> dict:
        """Return what the document says about them."""
        weight = np.ones(len(self.raw)) if weight is None else np.asarray(weight, dtype=float)
        mean = np.average(self.raw, weights=weight)
        compared = self.compared
        center = np.average(compared, weights=weight)
        gap = None if np.ptp(self.raw) == 0 else self.rule(rule, weight).relevant_gap
        return {
            "output": self.output,
            "scale": self.scale,
            "name": None if self.name is None else str(self.name),
            "better": "low" if self.is_less_better else "high",
            "mean": float(mean),
            "deviation": float(np.sqrt(np.average((compared - center) ** 2, weights=weight))),
            "relevant_gap": gap,
        }


def numbers_of(
    audit: Any, frame: pd.DataFrame, y: Any, box: Any, **about: Any
) -> ComparedNumbers | None:
    """Return the numbers that an audit compares; None if it compares decisions.

    `box`: the model, if one is audited. `**about`: ``protected``, ``is_frame`` and ``kind`` as in
    `AuditedRows`, and ``name``, that of y. Raises ValueError if there are no numbers, or a setting
    is not for numbers. Shapes: `frame` (n_rows, n_columns).
    """
    output, is_automatic = audit.output, False
    if audit.template in TEMPLATES:
        output = VALUE
    if output == DECISION:
        if audit.outcome_scale != DIFFERENCE:
            raise ValueError(
                f"outcome_scale={audit.outcome_scale!r} is about numbers: pass output='value' too."
            )
        is_automatic = box is None and audit.pos_label is None and has_many_numbers(y)
        if not is_automatic:
            return None
        output = VALUE
    if audit.disclosure == "public" and box is not None:
        raise ValueError(
            "disclosure='public' compares numbers in y, and not those of a model: pass its "
            "predictions as y, and no model."
        )
    if audit.metric not in (_RATE, [_RATE]):
        raise ValueError(
            f"metric={audit.metric!r} is a rate of decisions, and means of numbers are compared: "
            "leave it out."
        )
    if audit.template in OF_RATES:
        raise ValueError(f"template={audit.template!r} is about decisions, not about numbers.")
    if about["kind"] == "refit":
        raise ValueError(
            f"output={output!r} audits a fitted model, and this one would be trained here: fit it "
            "on other rows, then pass it as model=."
        )
    is_of_classes = output != VALUE and box is not None and box.decisions is None
    is_direction = audit.pos_label is None or (
        isinstance(audit.pos_label, str) and audit.pos_label in _DIRECTIONS
    )
    if not is_of_classes and not is_direction:
        raise ValueError(
            f"pos_label={audit.pos_label!r} is no direction of numbers: 'high' (more is better, "
            "the default) or 'low'."
        )
    name = about["name"]
    if box is not None and box.decisions is None:
        raw, name = _predicted(frame, box, y, output, audit, about), None
    else:
        outcomes = y if box is None else np.asarray(box.decisions)
        what = repr(name) if name is not None else "y"
        raw = finite_numbers(outcomes, what if box is None else "the decisions")
        if output != VALUE and not ((raw >= 0) & (raw <= 1)).all():
            raise ValueError(
                "output='probability' needs a model, or probabilities between 0 and 1 as y; y has "
                f"numbers from {raw.min():.3g} to {raw.max():.3g}."
            )
    if audit.outcome_scale == LOG:
        _check_positive(raw)
    return ComparedNumbers(
        raw,
        output,
        audit.outcome_scale,
        name,
        is_less_better=not is_of_classes and is_direction and audit.pos_label == "low",
        is_automatic=is_automatic,
        is_of_labels=is_of_classes,
    )


def has_many_numbers(y: Any) -> bool:
    """Return whether y has more different numbers than classes could be."""
    values = pd.Series(np.asarray(y).ravel()) if y is not None else pd.Series(dtype=object)
    return of_numbers(values.dtype) and values.nunique() > MANY


def banded(raw: np.ndarray, least: int) -> np.ndarray:
    """Return numbers as those of their bands, in which many people are.

    Numbers are cut, from the lowest on, into bands of at least `least` people and a twentieth of
    all; equal numbers stay together. Each number becomes the median of its band, in three
    significant digits. So what is computed from the result depends on nobody's number but by its
    band, and the largest number, however large, counts as one in the middle of the highest band.

    Parameters
    ----------
    raw : ndarray of float, shape (n_rows,)
    least : int

    Returns
    -------
    ndarray of float, shape (n_rows,)
        The same, if it is banded again.
    """
    values, place, n = np.unique(raw, return_inverse=True, return_counts=True)
    size, band, people = max(least, -(-len(raw) // _BANDS)), np.zeros(len(values), dtype=int), 0
    above = len(raw) - np.cumsum(n)  # how many have a larger number
    for i, (more, left) in enumerate(zip(n[:-1], above[:-1], strict=True)):
        people += more
        is_full = people >= size or (people >= least and n[i + 1] >= size)
        band[i + 1] = band[i] + (is_full and left >= least)
        people *= band[i + 1] == band[i]
    out = np.empty(len(raw))
    for one in range(band[-1] + 1):
        members = band[place] == one
        out[members] = float(f"{np.median(raw[members]):.3g}")
    return out


def named_by_mean(rows: list[dict]) -> list[dict]:
    """Return rows of a document whose measure is the mean of numbers, where it is a rate."""
    return [row | {"measure": MEAN} if row.get("measure") == _RATE else row for row in rows]


def outliers(raw: np.ndarray) -> np.ndarray:
    """Return a mask of numbers farther from the quartiles than three times their distance.

    Numbers with a long tail, such as pay, are compared by their logarithms: where all are above 0,
    and the quartiles of these lie more evenly beside their median. Where half of all numbers are
    equal, such as fines of 0, quartiles do not tell which of the others are far.
    """
    if raw.min() > 0 and abs(_unevenness(np.log(raw))) < abs(_unevenness(raw)):
        raw = np.log(raw)
    low, high = np.quantile(raw, [0.25, 0.75])
    reach = _FAR * (high - low) if high > low else np.inf
    return (raw < low - reach) | (raw > high + reach)


def _unevenness(values):
    """Return the skewness of the quartiles (Bowley 1901), -1 to 1."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return (high + low - 2 * middle) / (high - low) if high > low else 0.0


def finite_numbers(y: ArrayLike, what: str) -> np.ndarray:
    """Return y as floats.

    `what`: what holds the numbers, for messages, which name no number of a person. Raises
    ValueError if it holds text, or what is not finite.
    """
    values = pd.Series(np.asarray(y).ravel())
    if pd.api.types.is_bool_dtype(values):
        raise ValueError(f"{what} holds True and False, and not numbers.")
    if not pd.api.types.is_numeric_dtype(values):
        numbers = pd.to_numeric(values, errors="coerce")
        texts = values[numbers.isna()].astype(str)
        if len(texts):
            raise ValueError(_about_texts(texts, what))
        values = numbers
    values = values.to_numpy(dtype=float)
    if not np.isfinite(values).all():
        raise ValueError(f"{what} holds {int((~np.isfinite(values)).sum()):,} infinite numbers.")
    return values


def _about_texts(texts, what):
    """Return the message on texts in place of numbers."""
    marks = sorted({mark for text in texts.unique() for mark in _CURRENCY.findall(text)})
    shape = re.sub(r"\d", "0", texts.iloc[0])
    if len(marks) > 1:
        do = f"amounts of several currencies ({', '.join(marks)}) cannot be compared: convert them"
        do += " to one, and write numbers alone"
    elif any(character.isdigit() for text in texts for character in text):
        do = "write numbers alone, without currency and blanks, with one decimal mark"
    else:
        do = "if it says that a number is missing, pass NaN (on the command line --missing TEXT); "
        do += "else write numbers alone"
    rows = rows_in_words(len(texts))
    return f"{what} holds text in place of numbers in {rows}, of the form {shape!r}: {do}."


def _check_positive(raw):
    """Raise ValueError if a number has no logarithm."""
    n = int((raw <= 0).sum())
    if n:
        rows = "1 row has" if n == 1 else f"{n:,} rows have"
        raise ValueError(
            f"outcome_scale='log' needs positive numbers, and {rows} 0 or less: leave them out if "
            "they are errors, or compare differences (outcome_scale='difference')."
        )


def _predicted(frame, box, y, output, audit, about):
    """Return what a fitted model predicts of each row."""
    favorable = []
    if output != VALUE:
        favorable, _ = favorable_labels(audit.pos_label, known_classes(box, y))
    space = FeatureSpace.from_frame(frame, protected=about["protected"], is_frame=about["is_frame"])
    predictions = Queries(box, favorable, space, Budget(), output).given(frame)
    return read_values(np.asarray(predictions), len(frame), type(box.model).__name__)
