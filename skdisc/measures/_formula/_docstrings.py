"""Docstrings of measures and of their reports: what all have in common is written once."""

import re

_TEXTS = {
    "y_true": "array-like of shape (n,), labels, or None{labels}",
    "y_pred": "array-like of shape (n,), the decisions; past decisions are measured as `y_pred`",
    "protected": "array-like of shape (n,) or (n, n_columns), or DataFrame; the protected values",
    "reference": 'group, "largest", "best", "rest", "overall" or "pairs", default="largest"; what\n'
    "    each group is compared with: one group, the other rows, all rows, or each larger group;\n"
    "    best: the one with the highest rate of those with at least 2 % of the rows and `min_size`",
    "average": '{"max", "weighted", "defined"}, default="max"; for several groups: the value\n'
    "    furthest from no discrimination, or the mean weighted by the sizes of the groups; both\n"
    "    are NaN if one group is undefined; defined: the value furthest from no discrimination\n"
    "    among those that are defined",
    "intersections": "int, default=1; the largest number of protected columns that are combined",
    "missing": '{"category", "drop", "raise"}, default="category"; missing protected values',
    "min_size": "float, default=1; smaller groups are left out, and listed in the report",
    "sample_weight": "array-like of shape (n,), default=None; how much each row counts",
    "weights": '{"probability", "frequency"}, default="probability"; weights are inverse\n'
    "    probabilities of sampling, in any unit, or say how often a row occurs",
    "groups": "array-like of shape (n,), default=None; clusters of rows, such as households",
    "pos_label": 'label or set of labels, "auto", "high" or "low", default="auto"; the favorable\n'
    "    decision; auto: 1 or True of 0 and 1, -1 and 1, or booleans, others are refused; high,\n"
    "    low: the greatest or least of numeric labels; None: decisions are numbers",
    "significance": "float, default=0.05; one minus the confidence level of the intervals",
    "correction": '{"bh", "by", "holm", "bonferroni", "none"}, default="bh"; for several groups',
    "n_resamples": "int, default=999; bootstrap replicates, for intervals without a closed form",
    "permutations": "int, default=0; if positive, p-values come from that many permutations",
    "random_state": "int, RandomState instance or None, default=0",
}
_RAISES = """Raises
------
ValueError
    If an argument is invalid, has missing values or differs from the others in length, if there
    are no rows, or if the measure is not defined for decisions or protected columns of this
    type{labels}.
"""
_MEASURE = """{summary}

Parameters
----------
{parameters}

Returns
-------
value : float, NaN where undefined
    `{name}_report` has the values of all groups.

{raises}
Warns
-----
UndefinedMeasureWarning
    If the measure is undefined for a group. The value is then NaN; groups below `min_size`, and
    with ``average="defined"`` all undefined ones, are left out instead.

{sections}"""
_REPORT = """Value, interval and test of `{name}` for each group; excluded groups with the reason.

Parameters
----------
{parameters}

Returns
-------
table : DataFrame
    One row per comparison: attribute, group, reference, n, n_reference (sums of weights), estimate,
    ci_low, ci_high, p_value, p_adjusted, test, excluded, reason. Undefined values are NaN; the row
    is then `excluded`, with a reason. With probability weights, n adds up to the number of rows.
    With these weights or `groups`, variances are linearized and between clusters: rates have the
    intervals and tests of effective numbers of rows, measures of several groups a robust score
    test; some measures have no p-value then. Without a closed interval of {name}, intervals come
    from a bootstrap within groups, or of clusters.

{raises}
See Also
--------
{name} : The measure as one number.
"""
_HEADING = re.compile(r"^(Other Parameters|Notes|References|Examples)\n-+\n", re.MULTILINE)


def docstrings(doc, entry, names, more):
    """Return the docstrings of a measure and of its report.

    `doc`: the docstring of the formula; its options stand under "Other Parameters". `names`: common
    parameters of the measure. `more`: further parameters of the report.
    """
    summary, options, sections = _split(doc)
    used = "; required" if entry.needs_labels else ", not used"
    text = {name: f"{name} : {_TEXTS[name]}".replace("{labels}", used) for name in _TEXTS}
    measure_parameters = [*(text[name] for name in names), *options]
    filled = {
        "name": entry.name,
        "raises": _RAISES.format(labels=", or if y_true is None" if entry.needs_labels else ""),
        "summary": summary,
        "sections": sections,
    }
    parameters = measure_parameters, measure_parameters + [text[name] for name in more]
    pages = zip((_MEASURE, _REPORT), parameters, strict=True)
    return tuple(page.format(parameters="\n".join(lines), **filled) for page, lines in pages)


def _split(doc):
    """Split a docstring into its summary, the texts of its options, and the other sections."""
    first = _HEADING.search(doc)
    summary, body = doc[: first.start()].rstrip(), doc[first.end() :]
    if first[1] != "Other Parameters":
        return summary, [], doc[first.start() :]
    after = _HEADING.search(body).start()
    return summary, [body[:after].rstrip()], body[after:]
