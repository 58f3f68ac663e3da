"""Tables as LaTeX and Markdown text."""

import html
import math

_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {c: "\\" + c for c in "&%$#_{}"}


def escape(text):
    """Return text with the special characters of LaTeX escaped."""
    return "".join(_SPECIAL.get(c, c) for c in str(text))


def cell(value):
    """Return a value as text: floats with three digits, NaN as a dash."""
    if isinstance(value, float):
        return "–" if math.isnan(value) else f"{value:.3g}"
    return str(value)


def with_intervals(summary, scores):
    """Return a summary with each score and its interval in one cell.

    Where a score is not defined in all cells, their number follows.
    """
    table = summary.copy()
    for score in scores:
        columns = [score, *(f"{score}_{part}" for part in ("low", "high", "n"))]
        rows = table[[*columns, "n_cells"]].itertuples(index=False, name=None)
        table[score] = [_with_interval(*row) for row in rows]
        table = table.drop(columns=columns[1:])
    idle = [c for c in ("n_stopped", "n_missing") if not table[c].any()]
    idle += [] if table["n_null"].any() else ["n_null", "false_alarms"]
    return table.drop(columns=idle)


def _with_interval(mean, low, high, n, n_cells):
    """Return a mean and its interval as text."""
    if math.isnan(mean):
        return "–"
    text = f"{mean:.2f}" if math.isnan(low) else f"{mean:.2f} [{low:.2f}, {high:.2f}]"
    return text if n == n_cells else f"{text}, n = {n}"


def latex(table):
    """Return a DataFrame as a LaTeX tabular with booktabs rules."""
    columns = [escape(str(c).replace("_", " ")) for c in table.columns]
    lines = [r"\begin{tabular}{" + "l" * len(columns) + "}", r"\toprule"]
    lines += [" & ".join(columns) + r" \\", r"\midrule"]
    for row in table.itertuples(index=False, name=None):
        texts = (escape(cell(v)).replace("–", "--").replace("−", "$-$") for v in row)
        lines.append(" & ".join(texts) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def markdown(table):
    """Return a DataFrame as a Markdown table, with what HTML interprets escaped."""
    names = [str(c).replace("_", " ") for c in table.columns]
    rows = [names, ["---"] * len(names)]
    rows += [[cell(v) for v in row] for row in table.itertuples(index=False, name=None)]
    rows = [[_as_text(t) for t in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _as_text(value):
    """Return text on one line that neither Markdown's tables nor HTML interpret."""
    return html.escape(" ".join(value.split()), quote=False).replace("|", "\\|")
