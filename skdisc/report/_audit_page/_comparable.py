"""Protected values at equal legitimate columns, in words."""

from skdisc._stats import STRONG_V
from skdisc.report._audit_page import _words as words
from skdisc.report._audit_page._pictures import axis


def comparable(rows):
    """Return each protected value against all others, raw and at equal legitimate columns.

    Parameters
    ----------
    rows : list of dict
        "comparable" of the document.

    Returns
    -------
    dict
        ``axis``, and ``rows``: dicts of attribute, group, people, ``gap`` and ``effect`` with
        intervals as text, and ``numbers`` (effect, ends) or None.
    """
    shown = [_comparable(row) for row in rows]
    ends = [v for row in shown for v in row["numbers"] or ()]
    return {"axis": axis(ends), "rows": shown}


def _comparable(row):
    """Return one row of the table."""
    gap = [row[n] for n in ("gap", "gap_ci_low", "gap_ci_high", "gap_ci_level")]
    numbers = [row[n] for n in ("effect", "ci_low", "ci_high")]
    is_compared = None not in numbers
    without_range = "not compared"
    if numbers[0] is not None:
        without_range = f"{words.number(numbers[0])} (range unknown)"
    return {
        "attribute": row["attribute"],
        "group": row["group"],
        "people": words.count(row["people"]),
        "gap": words.number(gap[0]),
        "gap_interval": words.interval(*gap[1:]),
        "effect": words.number(numbers[0]) if is_compared else without_range,
        "interval": words.interval(*numbers[1:], row["ci_level"]),
        "numbers": numbers if is_compared else None,
        "state": "differs" if is_compared and (numbers[1] > 0 or numbers[2] < 0) else "same",
        "sort": [row["people"], gap[0], numbers[0]],
    }


def legitimate(document):
    """Return sentences on the legitimate columns of each attribute, and what stands for it.

    Returns
    -------
    list of dict
        ``attribute``, ``columns`` (a sentence) and ``warning`` ('' if no column stands for it).
    """
    rows = []
    for row in document["legitimate"]:
        attribute, columns = row["attribute"], row["columns"]
        other_columns = [
            c for c in document["about"]["columns"] if c not in columns and c != attribute
        ]
        text = f"Legitimate columns in questions about {attribute}: {', '.join(columns) or 'none'}."
        text += f" Not adjusted for: {', '.join(other_columns)}." if other_columns else ""
        warning = _warning(row["associated"], attribute)
        rows.append({"attribute": attribute, "columns": text, "warning": warning})
    return rows


def _warning(associated, attribute):
    """Return the warning that columns stand for an attribute, or ''."""
    strong = [a for a in associated if a["cramers_v"] >= STRONG_V]
    if not strong:
        return ""
    named = ", ".join(f"{a['column']} ({a['cramers_v']:.2f} with {a['group']})" for a in strong)
    one = len(strong) == 1
    return (
        f"{named} {'goes' if one else 'go'} strongly with {attribute} (Cramér's V, 0 to 1). What "
        f"runs through {'it' if one else 'them'} does not count as a disparity in these answers: "
        "if decisions should not depend on "
        f"{'it' if one else 'them'}, leave {'it' if one else 'them'} out of the legitimate columns."
    )


def on_half(document):
    """Return the sentence on the rows held out, or '' if none are."""
    share = document["settings"].get("confirm")
    if not isinstance(share, float):
        return ""
    return (
        f"Groups were searched on {words.percent(1 - share)} of the rows, and gaps of single "
        f"protected values measured there; effects of findings are measured on the other "
        f"{words.percent(share)}. Each method divides the rows by itself, so that its numbers are "
        "of other people than those of another. Numbers of people are of all rows."
    )
