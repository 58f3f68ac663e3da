"""The favorable label: one rule for detectors, measures, scorers and planted bias.

A label is favorable because the user says so. Only labels {0, 1}, {-1, 1}, and booleans need no
word: 1, or True, is favorable. Of numeric labels, "high" and "low" name the greatest and the least.
"""

import numpy as np
import pandas as pd

from skdisc._utils._frequency import count
from skdisc._utils._inputs import sorted_unique
from skdisc._utils._validation import (
    are_of_one_kind,
    check_decisions,
    closest,
    is_favorable,
    is_number,
    listed,
    plain,
)

MOST_NAMED = 10  # labels; of more, an error tells their number
AUTO = "auto"  # the default of measures, whose None is for numbers
ENDS = {"high": max, "low": min}


def favorable_labels(pos_label, classes, of_numbers=False):
    """Return the favorable labels as a list, and whether they follow from the codes.

    `classes`: the sorted labels, if they are known. `of_numbers`: whether the last class is meant
    without a word, as for outcomes that are numbers. Raises ValueError if a label does not occur
    among several, if all of several are named, or if none is and the labels are not codes.
    """
    if pos_label is None:
        if classes is None or len(classes) == 0:
            return [1], True
        return [classes[-1] if of_numbers else _coded(classes)], True
    if classes and names_end(pos_label, classes):
        # Of codes, the other one is known even if nobody has it.
        codes = [0, 1] if len(classes) == 1 and classes[0] in (0, 1) else []
        pos_label = ENDS[pos_label]([*codes, *classes])
    labels = list(pos_label) if pd.api.types.is_list_like(pos_label) else [pos_label]
    if not labels:
        raise ValueError(f"pos_label must name at least one label, got {pos_label!r}.")
    if classes is None:
        return sorted(map(plain, labels), key=str), False
    for label in labels:
        if plain(label) is None:
            raise ValueError(f"pos_label is missing ({label!r}), which no label is.")
        if label not in classes and len(classes) > 1:
            named = classes if len(classes) <= MOST_NAMED else []  # more tell about single people
            explanation = (
                f"Labels: {list(named)!r}." if named else f"There are {len(classes):,} labels."
            )
            raise ValueError(
                f"pos_label={label!r} never occurs{closest(label, named)} {explanation}"
            )
    if len(classes) == 1:  # perhaps the other one: nobody has the favorable label, or all do
        return sorted(map(plain, labels), key=str), False
    chosen = [c for c in classes if c in labels]
    if len(chosen) == len(classes) > 1:
        explanation = f" names all {len(classes):,} labels"
        if len(classes) <= MOST_NAMED:
            explanation = f"={pos_label!r} names every label {list(classes)!r}"
        raise ValueError(
            f"pos_label{explanation}: no decision is unfavorable. Leave at least one out."
        )
    return chosen, False


def folded(text):
    """Return a text without what case and blanks differ in."""
    return " ".join(text.split()).casefold()


def spelled_alike(favorable, values):
    """Return the favorable labels with those that differ from them by case or blanks alone.

    If that were all labels, their case has a meaning: then only those named are favorable.
    """
    texts = {folded(v) for v in favorable if isinstance(v, str)}
    unnamed = [v for v in values if v not in favorable]
    respelled = [v for v in unnamed if isinstance(v, str) and folded(v) in texts]
    return [*favorable, *respelled] if len(respelled) < len(unnamed) else list(favorable)


def unfavorable_values(what, values, favorable, frequency=None, least=1):
    """Return a sentence on which of several values count as unfavorable; a list of str.

    `what`: the name of the values. `frequency`: number of people of each row; None: 1. `least`:
    smallest number that is mentioned. Returns a list of str: empty if there are no more than two
    values.

    Examples
    --------
    >>> decisions = np.array(["yes", "no", "unknown", "no"])
    >>> print(unfavorable_values("decisions", decisions, ["yes"])[0].split(". ")[0])
    Counted as unfavorable among the decisions: 'no' (2), 'unknown' (1)
    """
    codes, distinct = pd.factorize(values, use_na_sentinel=True)
    if len(distinct) <= 2:
        return []
    n = count(codes, len(distinct), frequency)
    rest = [
        k for k in np.argsort(-n, kind="stable") if not is_favorable(distinct[[k]], favorable)[0]
    ]
    texts = [
        f"{plain(distinct[k])!r} ({f'{n[k]:,}' if n[k] >= least else f'fewer than {least}'})"
        for k in rest
    ]
    return [
        f"Counted as unfavorable among the {what}: {listed(texts)}. Leave out rows "
        "whose value is neither favorable nor unfavorable."
    ]


def known_classes(box, y):
    """Return the sorted labels of a model, else of y; None if neither is known.

    Where all decisions are the same, another one among the labels y is the other decision.
    """
    classes = box.classes if box is not None else check_decisions(y, least_classes=1)
    if y is None or (classes is not None and len(classes) != 1):
        return classes
    labels = sorted_unique(y)
    if classes is None:
        return labels
    others = [v for v in labels if v not in classes]
    is_other = len(others) == 1 and are_of_one_kind(classes[0], others[0])
    return sorted_unique(np.array([*classes, *others])) if is_other else classes


def are_codes(labels):
    """Return whether labels need no word about which one is favorable."""
    values = set(labels)
    return values <= {0, 1} or values <= {-1, 1}


def refuse_classes(classes, what="the labels are", also=""):
    """Raise a ValueError: no favorable label is given, and none follows from the classes."""
    classes = [plain(c) for c in classes]
    if len(classes) <= MOST_NAMED:
        description, example = f"{classes!r}", f", for example pos_label={classes[-1]!r}"
    else:  # names or numbers of single people, perhaps
        description, example = f"{len(classes):,} different values", ""
    raise ValueError(
        f"pos_label is not set, and {what} {description}: pass the favorable one, or several"
        f"{example}{also}. Only labels 0 and 1, -1 and 1, and booleans need no pos_label: 1 and "
        "True are favorable."
    )


def names_end(pos_label, classes):
    """Return whether "high" or "low" stands for the greatest or least of numeric labels."""
    is_word = isinstance(pos_label, str) and pos_label in ENDS
    return is_word and len(classes) > 0 and all(is_number(c) for c in classes)


def _coded(classes):
    """Return the favorable one of labels that are codes."""
    if not are_codes(classes):
        advice = ", or audit each class against the rest with skdisc.multiclass.OneVsRest"
        refuse_classes(classes, also=advice if len(classes) > 2 else "")
    return next((c for c in classes if c == 1), 1)
