"""A chart of score against gap, one point per model, as SVG text."""

from html import escape

from skdisc.report._svg import HEIGHT, WIDTH, axis


def frontier_svg(title, points, margin):
    """Draw the models, and a line at the score of the present model less the margin.

    Parameters
    ----------
    title : str
    points : list of (str, float, float, bool, bool)
        Name, score, gap, whether the model is shown to be an alternative, and whether it is the
        present one.
    margin : float

    Returns
    -------
    str
        An ``<svg>`` element; names are escaped.
    """
    left, right, bottom = 60, WIDTH - 16, HEIGHT - 40
    least = next((p[1] - margin for p in points if p[4]), None)
    scores = [p[1] for p in points] + ([] if least is None else [least])
    gaps = [p[2] for p in points]
    across, x = axis(min(0, *gaps, 0), max(gaps), left, right)
    up, y = axis(min(scores), max(scores), bottom, 28)
    parts = [
        f'<line class="grid" x1="{x(v):.1f}" x2="{x(v):.1f}" y1="20" y2="{bottom}"/>'
        f'<text class="tick" x="{x(v):.1f}" y="{bottom + 16}">{v:.10g}</text>'
        for v in across
    ]
    parts += [
        f'<line class="grid" x1="{left}" x2="{right}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
        f'<text class="tick" x="{left - 28}" y="{y(v) + 4:.1f}">{v:.10g}</text>'
        for v in up
    ]
    if least is not None:
        parts.append(
            f'<line class="zero" x1="{left}" x2="{right}" y1="{y(least):.1f}" y2="{y(least):.1f}">'
            "<title>the present score less the margin</title></line>"
        )
    for name, score, gap, is_shown, is_present in sorted(points, key=lambda p: (p[3], p[4])):
        text = escape(f"{name}: score {score:.3f}, gap {gap:.3f}")
        text += ", shown" if is_shown else ""
        size = 8 if is_present else 6
        kind = "sure" if is_shown or is_present else "unsure"
        parts.append(
            f'<circle class="{kind}" cx="{x(gap):.1f}" cy="{y(score):.1f}" r="{size}">'
            f"<title>{text}</title></circle>"
        )
        if is_present:
            parts.append(
                f'<text x="{x(gap) - 12:.1f}" y="{y(score) - 12:.1f}" text-anchor="end">present'
                "</text>"
            )
    parts.append(
        f'<text class="tick" x="{(left + right) / 2}" y="{HEIGHT - 6}">largest gap</text>'
        '<text class="tick" x="30" y="12">score</text>'
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
